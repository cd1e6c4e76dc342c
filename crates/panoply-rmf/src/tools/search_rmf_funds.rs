//! `search_rmf_funds`: funds matching all filters.

use std::sync::Arc;

use panoply_contract::params::SortOrder;
use panoply_contract::prelude::*;
use serde_json::json;

use super::data_age::DataAge;
use super::listing::{first_fund_text, table_of};
use super::locale::Locale;
use super::service::{CACHE_POLICY, FUND_LIST, KEYWORDS, READ_PERMISSIONS, ReplyExt, RmfService};
use super::wire::{
    Figure, FundRow, SortBy, decimal, direction, funds_by_flag, optional_whole, order_name, whole,
};
use crate::fund::RiskLevel;
use crate::query::{self, Filter, FoundFunds};
use crate::store::FundStore;

const SPEC: ToolSpec = ToolSpec {
    name: "search_rmf_funds",
    title: "Search RMF funds",
    description: Description {
        does: "Finds Thai Retirement Mutual Funds (RMF) by name or code, managing company, risk, return since the start of the year, and category, all together.",
        when: "Use this when someone names what the fund should be like: low risk, a company, equity, gold, a least return. Give at least one filter. Do not use it to look up one known fund code (use get_rmf_fund_detail), nor for Thai stocks, REITs, crypto or funds of other countries.",
        returns: "Returns the funds that fit, sorted, with how many there are in all and the filters that were applied; an empty list when none fits. Keywords: RMF, retirement, mutual fund, Thailand, tax, NAV, performance.",
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

/// Searches of `tasks.tsv`, `held_out.tsv` and `held_out_2.tsv` in `tests/search` whose reply has every
/// relevant fund and no other, and the number of all. `panoply contract calibration` compares the rate
/// with two other sets.
const JUDGED_SEARCHES: (u64, u64) = (388, 403);

/// Search filters.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// What the fund should be about, in English or Thai: words of its name or code, a topic
    /// (`gold`, `หุ้นโลก`, `S&P 500`, `REIT`), a company, or several of them.
    #[schemars(length(min = 1, max = 200))]
    search: Option<String>,
    /// Company, by name or short name in English or Thai: `Krungsri`, `KTAM`, `บัวหลวง`.
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
    /// EQUITY, FIXED, MIXED or ALTERNATIVE by the SEC's policy, PROPERTY, COMMODITY, or the beginning
    /// of an AIMC class such as `EQAS` or `FIXMID`; case is ignored. Funds without an AIMC class are
    /// classed by name and benchmark.
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
    /// Funds that fit but for the year-to-date return, which they lack.
    left_out_without_ytd: usize,
    /// Dates and ages of these figures.
    data_age: DataAge,
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
        let (filter, applied) = filter_of(service.locale, &params)?;
        let FoundFunds { funds: mut found, words_left_out } = filter.find(&service.catalog);
        query::sort(&mut found, params.sort_by.key(), direction(params.sort_order));
        let total = found.len();
        found.truncate(params.limit as usize);
        let left_out = filter.left_out_without_ytd(&service.catalog);
        let shown = found.len();
        let text = sentence(&service, &params, &applied, &found, [total, left_out])
            + &service.locale.words_left_out(&words_left_out);
        let sorted_by = |fund: &&crate::fund::Fund| match params.sort_by.key() {
            query::SortKey::Return(period) => fund.returns.get(period).is_some(),
            query::SortKey::Nav => fund.nav.latest().is_some(),
            query::SortKey::Risk | query::SortKey::Name => true,
        };
        let known = found.iter().copied().filter(sorted_by).count();
        let mut evidence =
            service.evidence_from_returns(&found).complete(known as u64, shown as u64);
        let texts = [&params.search, &params.amc, &params.category];
        if texts.into_iter().any(Option::is_some) {
            let (right, searches) = JUDGED_SEARCHES;
            evidence = evidence.judged(right, searches);
        }
        let data_age = DataAge::of(&service, &found);
        let output = Output {
            funds: found.iter().map(|fund| FundRow::of(fund, &data_age)).collect(),
            total_count: total,
            applied_filters: applied,
            left_out_without_ytd: left_out,
            data_age,
        };
        let filters = json!({
            "sortBy": params.sort_by.as_str(), "sortOrder": order_name(params.sort_order),
            "limit": params.limit,
        });
        let reply = Reply::new(output, text, evidence)
            .table(table_of(&service, &found, params.sort_by.key()))
            .meta("filters", filters)
            .meta("dataFlags", funds_by_flag(found.iter().copied()));
        let next = match found.as_slice() {
            [first, ..] => NextAction::new(
                "get_rmf_fund_detail",
                json!({"fundCode": first.symbol}),
                service.locale.pick("details of the first fund", "ดูกองทุนแรก"),
            ),
            [] => NextAction::new(
                "get_rmf_funds",
                json!({}),
                service.locale.pick("browse all funds", "ดูกองทุนทั้งหมด"),
            ),
        };
        let reply = reply.next(next);
        Ok(reply.with_provenance(&service, Some(&FUND_LIST), []))
    }
}

/// `Found 8 RMF funds from Krungsri with risk level ≤ 5. Top performer: ….`; the counts are of all
/// matches and of funds left out for lack of a return.
fn sentence(
    service: &RmfService,
    params: &Params,
    applied: &AppliedFilters,
    found: &[&crate::fund::Fund],
    [total, left_out]: [usize; 2],
) -> String {
    let (key, order) = (params.sort_by.key(), direction(params.sort_order));
    let best = first_fund_text(service, found, key, order);
    let (conditions, dated) = (conditions(service, applied), service.as_of(found));
    let shown = found.len();
    let missing = match (left_out, service.locale.0) {
        (0, _) => String::new(),
        (count, Lang::En) => format!(" {count} more have no YTD return and were left out."),
        (count, Lang::Th) => format!(" อีก {count} กองทุนไม่มีผลตอบแทนตั้งแต่ต้นปีจึงไม่แสดง"),
    };
    let part = if shown < total { format!(", showing {shown}") } else { String::new() };
    match (service.locale.0, total) {
        (Lang::En, 0) => format!("No RMF fund fits{conditions}; loosen a filter.{missing} {dated}"),
        (Lang::Th, 0) => format!("ไม่พบกองทุน RMF{conditions} ลองผ่อนเงื่อนไขบางข้อ{missing} {dated}"),
        (Lang::En, _) => {
            format!("Found {total} RMF funds{conditions}{part}.{missing} {best}{dated}")
        }
        (Lang::Th, _) => {
            format!("พบกองทุน RMF {total} กองทุน{conditions} แสดง {shown}{missing} {best}{dated}")
        }
    }
}

/// ` from Krungsri with risk level ≤ 5`.
fn conditions(service: &RmfService, applied: &AppliedFilters) -> String {
    let locale = service.locale;
    let mut parts = Vec::new();
    let mut add = |english: String, thai: String| {
        parts.push(match locale.0 {
            Lang::En => english,
            Lang::Th => thai,
        });
    };
    if let Some(search) = &applied.search {
        add(format!("matching \"{search}\""), format!("ที่ตรงกับ \"{search}\""));
    }
    if let Some(amc) = &applied.amc {
        add(format!("from {amc}"), format!("ของ {amc}"));
    }
    if let Some(category) = &applied.category {
        add(format!("in category {category}"), format!("ประเภท {category}"));
    }
    match (applied.min_risk_level, applied.max_risk_level) {
        (Some(least), Some(most)) => {
            add(
                format!("with risk level {least} to {most}"),
                format!("ความเสี่ยง {least} ถึง {most}"),
            );
        }
        (Some(least), None) => {
            add(format!("with risk level ≥ {least}"), format!("ความเสี่ยง ≥ {least}"));
        }
        (None, Some(most)) => {
            add(format!("with risk level ≤ {most}"), format!("ความเสี่ยง ≤ {most}"));
        }
        (None, None) => {}
    }
    if let Some(Figure(least)) = applied.min_ytd_return {
        add(
            format!("with a YTD return of {least}% or more"),
            format!("ผลตอบแทนตั้งแต่ต้นปี ≥ {least}%"),
        );
    }
    parts.iter().map(|part| format!(" {part}")).collect()
}

fn filter_of(locale: Locale, params: &Params) -> Result<(Filter, AppliedFilters), ToolError> {
    let given = |text: &Option<String>| text.clone().filter(|text| !text.trim().is_empty());
    let applied = AppliedFilters {
        search: given(&params.search),
        amc: given(&params.amc),
        min_risk_level: params.min_risk_level,
        max_risk_level: params.max_risk_level,
        min_ytd_return: params
            .min_ytd_return
            .map(|least| decimal(locale, least))
            .transpose()?
            .map(Figure),
        category: given(&params.category),
    };
    let nothing = applied.search.is_none()
        && applied.amc.is_none()
        && applied.min_risk_level.is_none()
        && applied.max_risk_level.is_none()
        && applied.min_ytd_return.is_none()
        && applied.category.is_none();
    if nothing {
        return Err(locale.no_filter());
    }
    if let (Some(least), Some(most)) = (applied.min_risk_level, applied.max_risk_level)
        && least > most
    {
        return Err(locale.backward_risk_range(least, most));
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
