//! `estimate_tax`: Capital Gains Tax of a year.

use std::sync::Arc;

use panoply_contract::prelude::*;
use serde_json::json;

use super::arguments::{only_year, pounds_of, pounds_or_none, unknown_year};
use super::calculate_report::year_of;
use super::content::{self, Content};
use super::service::CgtService;
use crate::engine::report::{Rounding, report};
use crate::engine::{Options, SameDaySplit};
use crate::estimate::{Estimate, Period, Situation, estimate};
use crate::money::Money;

const SPEC: ToolSpec = ToolSpec {
    name: "estimate_tax",
    title: "Estimate the tax",
    description: Description {
        does: "Estimates the Capital Gains Tax of a year from the transactions, the person's taxable income and losses brought forward, with losses and the exempt amount set where they save most, also across the change of rates on 30 October 2024.",
        when: "Use this when the user asks what they will have to pay, or how losses help. Give income after allowances: it decides how much of the basic rate band is left. Shares only; England, Wales, Scotland and Northern Ireland have the same bands for gains.",
        returns: "Returns the tax, how gains of each period were taxed, losses used and carried forward, and what the return would compute by itself.",
        asks: &["How much Capital Gains Tax do I owe for 2024/25?", "What if I earn 60,000?", "How much do my old losses save?"],
    },
    version: "1.0.0",
    aliases: &[],
    permissions: &["cgt:read"],
    category: Category::Analysis,
    response_time: ResponseTime::Medium,
    cache: CachePolicy::Never,
    idempotent: true,
    data: &["hmrc-rates", "uk-parameters"],
    examples: &[
        Example {
            shows: "a higher-rate taxpayer in the year of the change",
            params: r#"{"cgt_content": "2020-01-01 BUY A 100 @ 10\n2024-12-01 SELL A 100 @ 110", "year": 2024, "taxable_income": "60000"}"#,
            expect: Expect::Data(r#"{"tax_due": "1680.00", "taxable_gain": "7000.00", "return_adjustment": "280.00"}"#),
        },
        Example {
            shows: "a year whose rates are not known",
            params: r#"{"cgt_content": "2020-01-01 BUY A 100 @ 10", "year": 2040, "taxable_income": "0"}"#,
            expect: Expect::Error("YEAR_NOT_KNOWN"),
        },
    ],
    tags: &["tax", "uk", "shares", "capital-gains", "estimate"],
    rate_limit: None,
    deprecated: None,
    annotations: Annotations::CLOSED,
    listing: Listing::Core,
    widget: None,
}
.checked();

/// Tax year, transactions and the taxpayer's income and losses.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Params {
    /// The transactions: lines of text, JSON text, or a JSON array. Required, here or as `transactions`.
    cgt_content: Option<Content>,
    /// Alias of `cgt_content`.
    transactions: Option<Content>,
    /// Tax year, by the year it starts in: 2024 is 2024/25.
    #[schemars(range(min = 1900, max = 2100))]
    year: i64,
    /// Income of that year after allowances and reliefs, in pounds, such as "37700".
    #[schemars(length(min = 1, max = 30))]
    taxable_income: String,
    /// Claimed and unused losses of earlier years, in pounds; default 0.
    #[schemars(length(min = 1, max = 30))]
    losses_brought_forward: Option<String>,
    /// Basic rate band in pounds, when extended by Gift Aid or pension contributions.
    #[schemars(length(min = 1, max = 30))]
    basic_rate_band: Option<String>,
    /// Match sales exceeding the holding with later purchases instead of rejecting them.
    #[serde(default)]
    allow_short: bool,
    /// Order of a split and trades on the same day; default `refuse`.
    #[serde(default)]
    same_day_split: SameDaySplit,
}

/// Estimate. Amounts are decimal strings in pounds.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// Tax year, such as 2024/25.
    period: String,
    /// Total gains.
    total_gain: String,
    /// Losses of the year.
    total_loss: String,
    /// Losses of earlier years used.
    losses_brought_forward_used: String,
    /// Losses carried forward.
    losses_carried_forward: String,
    /// Exempt amount used.
    exempt_amount_used: String,
    /// Taxable gain.
    taxable_gain: String,
    /// Basic rate band remaining for gains after income.
    basic_rate_band_left: String,
    /// One period, or two when rates changed within the year.
    rate_periods: Vec<PeriodOut>,
    /// Tax due.
    tax_due: String,
    /// Tax at the year's first rates: the amount that the return computes.
    tax_computed_by_return: String,
    /// Adjustment for box 51 of SA108.
    return_adjustment: String,
    /// Statutory references of rates, band and exempt amount.
    law: Vec<String>,
}

/// Gains of a period with uniform rates.
#[derive(Debug, Serialize, JsonSchema)]
struct PeriodOut {
    /// First day.
    from: String,
    /// Rate within the basic rate band, in percent.
    basic_rate_percent: u32,
    /// Rate above it, in percent.
    higher_rate_percent: u32,
    /// Gains before deductions.
    gains: String,
    /// Losses and exempt amount deducted.
    deducted: String,
    /// Amount taxed at the basic rate.
    taxed_at_basic_rate: String,
    /// Amount taxed at the higher rate.
    taxed_at_higher_rate: String,
    /// Tax on both.
    tax: String,
}

pub(crate) struct EstimateTax {
    service: Arc<CgtService>,
}

impl EstimateTax {
    pub(super) const fn new(service: Arc<CgtService>) -> Self {
        Self { service }
    }
}

impl Tool for EstimateTax {
    type Params = Params;
    type Output = Output;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, params: Params, _cx: &CallContext) -> Result<Reply<Output>, ToolError> {
        let year = year_of(params.year)?;
        let situation = Situation {
            taxable_income: pounds_of("taxable_income", &params.taxable_income)?,
            losses_brought_forward: pounds_or_none(
                "losses_brought_forward",
                params.losses_brought_forward.as_deref(),
            )?,
            basic_rate_band: params
                .basic_rate_band
                .as_deref()
                .map(|text| pounds_of("basic_rate_band", text))
                .transpose()?,
        };
        let parsed = Content::read_some(params.cgt_content.as_ref(), params.transactions.as_ref())?;
        let computation = self.service.compute(
            &parsed.rows,
            Options { allow_short: params.allow_short, same_day_split: params.same_day_split },
        )?;
        let parameters = &self.service.parameters;
        let report = report(&computation, parameters, Some(year), Rounding::PerLeg);
        let of_year = only_year(&report)?;
        let estimate = estimate(of_year, parameters, situation)
            .ok_or_else(|| unknown_year(year, parameters))?;
        let text = format!(
            "The tax on gains of {year} comes to about £{}: £{} is taxable after £{} of losses and £{} of the exempt amount.",
            estimate.tax,
            estimate.taxable,
            estimate.losses_in_year + estimate.losses_used,
            estimate.exempt_amount_used
        );
        let table = estimate.periods.iter().fold(
            Table::new(["from", "rates %", "gains", "deducted", "at basic", "at higher", "tax"]),
            |table, period| table.row(row_of(period)),
        );
        let output = Output {
            period: year.to_string(),
            law: vec![
                parameters.rates_law().to_owned(),
                parameters.basic_rate_band_law().to_owned(),
                parameters.exempt_amount_law().to_owned(),
            ],
            ..build_output(&estimate, of_year.total_gain)
        };
        let mut reply = Reply::new(output, text, self.service.evidence(parsed.rows.len()))
            .table(table)
            .assuming("these are the year's only gains, all on shares and none at business or trustee rates")
            .assuming("losses brought forward were claimed in time");
        let more = json!({
            "year": year.start(),
            "taxable_income": params.taxable_income,
            "losses_brought_forward": params.losses_brought_forward,
        });
        if let Some(arguments) =
            content::repeat_arguments(&parsed, params.allow_short, params.same_day_split, more)
        {
            reply = reply.next(NextAction::new(
                "sa108_summary",
                arguments,
                "see what to enter on the return",
            ));
        }
        Ok(reply)
    }
}

fn build_output(estimate: &Estimate, total_gain: Money) -> Output {
    Output {
        period: String::new(),
        total_gain: total_gain.to_string(),
        total_loss: estimate.losses_in_year.to_string(),
        losses_brought_forward_used: estimate.losses_used.to_string(),
        losses_carried_forward: estimate.losses_carried_forward.to_string(),
        exempt_amount_used: estimate.exempt_amount_used.to_string(),
        taxable_gain: estimate.taxable.to_string(),
        basic_rate_band_left: estimate.band_left.to_string(),
        rate_periods: estimate.periods.iter().map(period_out).collect(),
        tax_due: estimate.tax.to_string(),
        tax_computed_by_return: estimate.tax_at_first_rates.to_string(),
        return_adjustment: (estimate.tax - estimate.tax_at_first_rates).to_string(),
        law: Vec::new(),
    }
}

fn period_out(period: &Period) -> PeriodOut {
    PeriodOut {
        from: period.from.to_string(),
        basic_rate_percent: period.rates.basic,
        higher_rate_percent: period.rates.higher,
        gains: period.gains.to_string(),
        deducted: period.deducted.to_string(),
        taxed_at_basic_rate: period.at_basic.to_string(),
        taxed_at_higher_rate: period.at_higher.to_string(),
        tax: period.tax.to_string(),
    }
}

fn row_of(period: &Period) -> [String; 7] {
    [
        period.from.to_string(),
        format!("{}/{}", period.rates.basic, period.rates.higher),
        period.gains.to_string(),
        period.deducted.to_string(),
        period.at_basic.to_string(),
        period.at_higher.to_string(),
        period.tax.to_string(),
    ]
}
