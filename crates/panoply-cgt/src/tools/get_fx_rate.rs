//! `get_fx_rate`: HMRC's monthly rate of a currency.

use std::sync::Arc;

use panoply_contract::prelude::*;
use serde_json::json;

use super::dialect::EXAMPLE_KEY;
use super::service::CgtService;
use crate::currency::Currency;
use crate::fx::Month;

const SPEC: ToolSpec = ToolSpec {
    name: "get_fx_rate",
    title: "HMRC exchange rate",
    description: Description {
        does: "Gives HMRC's monthly exchange rate for a currency: how many units a pound bought, as published.",
        when: "Use this to check or explain how a foreign amount became pounds. A month without a published rate is an error; no other month is taken instead.",
        returns: "Returns rate, currency and period, and the months for which rates are bundled.",
        asks: &["What was HMRC's dollar rate in March 2024?", "Which rate was used for my euro purchase?"],
    },
    version: "1.0.0",
    aliases: &[],
    permissions: &["cgt:read"],
    category: Category::Query,
    response_time: ResponseTime::Fast,
    cache: CachePolicy::Tenant(Duration::from_secs(3600)),
    idempotent: true,
    data: &["hmrc-rates"],
    examples: &[
        Example {
            shows: "a published rate",
            params: r#"{"currency": "USD", "year": 2024, "month": 3}"#,
            expect: Expect::Data(r#"{"rate": "1.2614", "currency": "USD", "period": "2024-03"}"#),
        },
        Example {
            shows: "a month before the first",
            params: r#"{"currency": "USD", "year": 2010, "month": 1}"#,
            expect: Expect::Error("FX_RATE_NOT_FOUND"),
        },
    ],
    tags: &["tax", "uk", "currency", "rates"],
    rate_limit: None,
    deprecated: None,
    annotations: Annotations::CLOSED,
    listing: Listing::Core,
    widget: None,
}
.checked();

/// Currency and month.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Params {
    /// ISO 4217 currency code, such as `USD`, case-insensitive.
    #[schemars(length(min = 1, max = 12))]
    currency: String,
    /// Year.
    #[schemars(range(min = 1900, max = 2100))]
    year: i16,
    /// Month, from 1 to 12.
    #[schemars(range(min = 1, max = 12))]
    month: i8,
}

/// Exchange rate.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// Units of the currency per pound.
    rate: String,
    /// Currency.
    currency: String,
    /// Month, YYYY-MM.
    period: String,
    /// Source of the rate.
    source: String,
    /// First month with HMRC rates.
    available_from: Option<String>,
    /// Last month with HMRC rates.
    available_to: Option<String>,
}

pub(crate) struct GetFxRate {
    service: Arc<CgtService>,
}

impl GetFxRate {
    pub(super) const fn new(service: Arc<CgtService>) -> Self {
        Self { service }
    }
}

impl Tool for GetFxRate {
    type Params = Params;
    type Output = Output;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, params: Params, _cx: &CallContext) -> Result<Reply<Output>, ToolError> {
        let currency = Currency::parse(params.currency.trim()).map_err(|unknown| {
            ToolError::not_found("UNKNOWN_CURRENCY", unknown.to_string())
                .hint(unknown.hint())
                .detail("value", params.currency.clone())
                .detail(EXAMPLE_KEY, json!({"currency": "USD", "year": 2024, "month": 3}))
        })?;
        let month = Month::new(params.year, params.month)
            .ok_or_else(|| ToolError::system("the schema accepted an invalid month"))?;
        let rate = self.service.rates.monthly(currency, month)?;
        let span = self.service.rates.span();
        let text = match currency.is_foreign() {
            true => format!(
                "£1 was {} {currency} in {month} ({}).",
                rate.units_per_pound,
                rate.source.as_str()
            ),
            false => "The rate of pounds is 1.".to_owned(),
        };
        let output = Output {
            rate: rate.units_per_pound.to_string(),
            currency: currency.to_string(),
            period: month.to_string(),
            source: rate.source.as_str().to_owned(),
            available_from: span.map(|(first, _)| first.to_string()),
            available_to: span.map(|(_, last)| last.to_string()),
        };
        let evidence =
            Evidence::from(Source::new(SourceClass::Authoritative, "HMRC monthly exchange rates"));
        Ok(Reply::new(output, text, evidence))
    }
}
