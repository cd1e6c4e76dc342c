//! `search_rmf_funds`: funds matching all filters.

use std::sync::Arc;

use panoply_contract::params::SortOrder;
use panoply_contract::prelude::*;
use serde_json::json;

use super::listing::{table_of, top_funds_text};
use super::service::{CACHE_POLICY, FUND_LIST, KEYWORDS, READ_PERMISSIONS, ReplyExt, RmfService};
use super::wire::{
    Figure, FundRow, SortBy, decimal, direction, funds_by_flag, optional_whole, order_name, whole,
};
use crate::fund::RiskLevel;
use crate::query::{self, Filter};
use crate::store::FundStore;

const SPEC: ToolSpec = ToolSpec {
    name: "search_rmf_funds",
    title: "Search RMF funds",
    description: Description {
        does: "Finds Thai Retirement Mutual Funds (RMF) by name or code, managing company, risk, return since the start of the year, and category, all together.",
        when: "Use this when someone names what the fund should be like: low risk, a company, equity, gold, a least return. Give at least one filter. Do not use it to look up one known fund code (use get_rmf_fund_detail), nor for Thai stocks, REITs, crypto or funds of other countries.",
        returns: "Returns the funds that fit, sorted, with how many there are in all and the filters that were applied; an empty list when none fits.",
        asks: &["Find low-risk RMF funds from Krungsri", "Show me equity RMF funds", "กองทุน RMF ทองคำ"],
    },
    version: "1.0.0",
    aliases: &[],
    permissions: READ_PERMISSIONS,
    category: Category::Query,
    response_time: ResponseTime::Fast,
    cache: CACHE_POLICY,
    idempotent: true,
    data: &["rmf"],
    examples: &[
        Example {
            shows: "a company's funds of low risk",
            params: r#"{"amc": "Krungsri", "maxRiskLevel": 5, "sortBy": "ytd", "limit": 10}"#,
            expect: Expect::Data(r#"{"appliedFilters": {"amc": "Krungsri", "maxRiskLevel": 5}}"#),
        },
        Example {
            shows: "words that nothing has",
            params: r#"{"search": "no fund is called this"}"#,
            expect: Expect::Data(r#"{"funds": [], "totalCount": 0}"#),
        },
        Example {
            shows: "no filter at all",
            params: r#"{"limit": 5}"#,
            expect: Expect::Error("BAD_REQUEST"),
        },
    ],
    tags: KEYWORDS,
    rate_limit: None,
    deprecated: None,
    annotations: Annotations::CLOSED,
    listing: Listing::Core,
    widget: Some(FUND_LIST.widget),
}
.checked();

/// Search filters.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// Words in the fund's name or code, in English or Thai; partial words match, case is ignored.
    #[schemars(length(min = 1, max = 200))]
    search: Option<String>,
    /// Substring of the company's English name, such as `Krungsri`.
    #[schemars(length(min = 1, max = 200))]
    amc: Option<String>,
    /// Minimum risk level, from 1 (lowest) to 8 (highest).
    #[serde(default, deserialize_with = "optional_whole")]
    #[schemars(range(min = 1, max = 8))]
    min_risk_level: Option<u32>,
    /// Maximum risk level, from 1 (lowest) to 8 (highest).
    #[serde(default, deserialize_with = "optional_whole")]
    #[schemars(range(min = 1, max = 8))]
    max_risk_level: Option<u32>,
    /// Minimum year-to-date return in percent: 5 for 5 %.
    #[schemars(range(min = -100.0, max = 10_000.0))]
    min_ytd_return: Option<f64>,
    /// Prefix of the AIMC classification, such as `EQ`, `EQAS` or `FIXMID`, or one of EQUITY,
    /// FIXED, MIXED, PROPERTY, COMMODITY; case is ignored.
    #[schemars(length(min = 1, max = 40))]
    category: Option<String>,
    /// Sort key. Funds without the figure come last; ties are sorted by code.
    #[serde(default)]
    sort_by: SortBy,
    /// Sort direction.
    #[serde(default)]
    sort_order: SortOrder,
    /// Maximum number of funds to return.
    #[serde(default = "twenty", deserialize_with = "whole")]
    #[schemars(range(min = 1, max = 100))]
    limit: u32,
}

const fn twenty() -> u32 {
    20
}

/// Matching funds.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// Matching funds up to `limit`.
    funds: Vec<FundRow>,
    /// Number of matching funds.
    total_count: usize,
    /// Filters applied.
    applied_filters: AppliedFilters,
}

/// Filters applied.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct AppliedFilters {
    /// Words in name or code.
    #[serde(skip_serializing_if = "Option::is_none")]
    search: Option<String>,
    /// Substring of the company name.
    #[serde(skip_serializing_if = "Option::is_none")]
    amc: Option<String>,
    /// Minimum risk level.
    #[serde(skip_serializing_if = "Option::is_none")]
    min_risk_level: Option<u32>,
    /// Maximum risk level.
    #[serde(skip_serializing_if = "Option::is_none")]
    max_risk_level: Option<u32>,
    /// Minimum year-to-date return, in percent.
    #[serde(skip_serializing_if = "Option::is_none")]
    min_ytd_return: Option<Figure>,
    /// Classification prefix or alias.
    #[serde(skip_serializing_if = "Option::is_none")]
    category: Option<String>,
}

pub(crate) struct SearchRmfFunds {
    pub(crate) store: Arc<FundStore>,
}

impl Tool for SearchRmfFunds {
    type Params = Params;
    type Output = Output;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, params: Params, cx: &CallContext) -> Result<Reply<Output>, ToolError> {
        let service = RmfService::open(&self.store, cx);
        let (filter, applied) = filter_of(&params)?;
        let mut found = filter.apply(service.catalog.funds());
        query::sort(&mut found, params.sort_by.key(), direction(params.sort_order));
        let total = found.len();
        found.truncate(params.limit as usize);
        let best = top_funds_text(&service, &found, params.sort_by.key(), 3);
        let shown = found.len();
        let text = match (service.locale.0, total) {
            (Lang::En, 0) => {
                format!("No RMF fund fits these filters; loosen one of them. {}", service.as_of())
            }
            (Lang::Th, 0) => {
                format!("ไม่พบกองทุน RMF ที่ตรงกับเงื่อนไข ลองผ่อนเงื่อนไขบางข้อ {}", service.as_of())
            }
            (Lang::En, _) => {
                format!("Found {total} RMF funds, showing {shown}. {best}{}", service.as_of())
            }
            (Lang::Th, _) => {
                format!("พบกองทุน RMF {total} กองทุน แสดง {shown} {best}{}", service.as_of())
            }
        };
        let sorted_by = |fund: &&crate::fund::Fund| match params.sort_by.key() {
            query::SortKey::Return(period) => fund.returns.get(period).is_some(),
            query::SortKey::Nav => fund.nav.latest().is_some(),
            query::SortKey::Risk | query::SortKey::Name => true,
        };
        let known = found.iter().copied().filter(sorted_by).count();
        let evidence = service.evidence_from_returns().complete(known as u64, shown as u64);
        let output = Output {
            funds: found.iter().map(|fund| FundRow::of(fund)).collect(),
            total_count: total,
            applied_filters: applied,
        };
        let filters = json!({
            "sortBy": params.sort_by.as_str(), "sortOrder": order_name(params.sort_order),
            "limit": params.limit,
        });
        let mut reply = Reply::new(output, text, evidence)
            .table(table_of(&service, &found, params.sort_by.key()))
            .meta("filters", filters)
            .meta("dataFlags", funds_by_flag(found.iter().copied()));
        if let [first, second, ..] = found.as_slice() {
            let codes: Vec<&str> = found.iter().take(3).map(|fund| fund.symbol.as_str()).collect();
            reply = reply
                .next(NextAction::new(
                    "get_rmf_fund_detail",
                    json!({"fundCode": first.symbol}),
                    service
                        .locale
                        .pick("see everything about the first fund", "ดูรายละเอียดกองทุนแรก"),
                ))
                .next(NextAction::new(
                    "compare_rmf_funds",
                    json!({"fundCodes": codes}),
                    format!(
                        "{} {} / {}",
                        service.locale.pick("compare", "เปรียบเทียบ"),
                        first.symbol,
                        second.symbol
                    ),
                ));
        } else if found.is_empty() {
            reply = reply.next(NextAction::new(
                "get_rmf_funds",
                json!({}),
                service.locale.pick("browse all funds", "ดูกองทุนทั้งหมด"),
            ));
        }
        Ok(reply.with_provenance(&service, Some(&FUND_LIST), []))
    }
}

fn filter_of(params: &Params) -> Result<(Filter, AppliedFilters), ToolError> {
    let given = |text: &Option<String>| text.clone().filter(|text| !text.trim().is_empty());
    let applied = AppliedFilters {
        search: given(&params.search),
        amc: given(&params.amc),
        min_risk_level: params.min_risk_level,
        max_risk_level: params.max_risk_level,
        min_ytd_return: params.min_ytd_return.map(decimal).transpose()?.map(Figure),
        category: given(&params.category),
    };
    let nothing = applied.search.is_none()
        && applied.amc.is_none()
        && applied.min_risk_level.is_none()
        && applied.max_risk_level.is_none()
        && applied.min_ytd_return.is_none()
        && applied.category.is_none();
    if nothing {
        return Err(ToolError::validation("BAD_REQUEST", "no filter was given")
            .hint("give at least one of search, amc, minRiskLevel, maxRiskLevel, minYtdReturn, category; to browse all funds use `get_rmf_funds`")
            .detail("example", json!({"amc": "Krungsri", "maxRiskLevel": 5})));
    }
    if let (Some(least), Some(most)) = (applied.min_risk_level, applied.max_risk_level)
        && least > most
    {
        return Err(ToolError::validation(
            "BAD_REQUEST",
            format!("`minRiskLevel` {least} is above `maxRiskLevel` {most}"),
        )
        .hint("give a range from 1 to 8 whose lower end is not above its upper end")
        .detail("example", json!({"minRiskLevel": most, "maxRiskLevel": least})));
    }
    let level = |level: Option<u32>| {
        level.and_then(|level| u8::try_from(level).ok()).and_then(RiskLevel::new)
    };
    let filter = Filter {
        search: applied.search.clone(),
        company: applied.amc.clone(),
        min_risk: level(applied.min_risk_level),
        max_risk: level(applied.max_risk_level),
        min_ytd: applied.min_ytd_return.map(|figure| figure.0),
        category: applied.category.clone(),
    };
    Ok((filter, applied))
}
