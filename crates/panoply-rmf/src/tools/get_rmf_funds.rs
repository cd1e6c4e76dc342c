//! `get_rmf_funds`: paginated list of all funds.

use std::sync::Arc;

use panoply_contract::params::SortOrder;
use panoply_contract::prelude::*;
use serde_json::json;

use super::data_age::DataAge;
use super::listing::{table_of, top_funds_text};
use super::service::{CACHE_POLICY, FUND_LIST, KEYWORDS, READ_PERMISSIONS, ReplyExt, RmfService};
use super::wire::{FundRow, SortBy, direction, funds_by_flag, order_name, whole};
use crate::query::{self, Filter, FoundFunds};
use crate::store::FundStore;

const SPEC: ToolSpec = ToolSpec {
    name: "get_rmf_funds",
    title: "List RMF funds",
    description: Description {
        does: "Lists Thai Retirement Mutual Funds (RMF) a page at a time, by default the best year-to-date return first.",
        when: "Use this when someone wants to browse RMF funds or see the top ones. Do not use it for filters such as risk, company or category (use search_rmf_funds), nor for Thai stocks, REITs, ordinary mutual funds or other countries' funds.",
        returns: "Returns code, name, company, NAV with its date and change, risk 1-8, returns YTD and 1 year, and classification of each fund, with totals and pages. Keywords: RMF, retirement, mutual fund, Thailand, tax, NAV, performance.",
        asks: &["Show me top RMF funds", "List retirement funds with best returns", "กองทุน RMF มีอะไรบ้าง"],
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
            shows: "the best of the year",
            params: r#"{"page": 1, "pageSize": 2, "sortBy": "ytd", "sortOrder": "desc"}"#,
            expect: Expect::Data(r#"{"page": 1, "pageSize": 2}"#),
        },
        Example {
            shows: "a page that is too large",
            params: r#"{"pageSize": 51}"#,
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

/// Page, sort order and search.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// Page number, counted from 1.
    #[serde(default = "first", deserialize_with = "whole")]
    #[schemars(range(min = 1, max = 100_000))]
    page: u32,
    /// Page size.
    #[serde(default = "twenty", deserialize_with = "whole")]
    #[schemars(range(min = 1, max = 50))]
    page_size: u32,
    /// Sort key. Funds without the figure come last; ties are sorted by code.
    #[serde(default)]
    sort_by: SortBy,
    /// Sort direction.
    #[serde(default)]
    sort_order: SortOrder,
    /// Reserved: all funds here are RMF.
    #[serde(default)]
    #[expect(dead_code, reason = "reserved by the contract; its type says what is accepted")]
    fund_type: FundType,
    /// Words in the fund's name or code, in English or Thai; case does not matter.
    #[schemars(length(min = 1, max = 200))]
    search: Option<String>,
}

/// The only fund type.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, JsonSchema)]
enum FundType {
    /// Retirement Mutual Fund.
    #[default]
    #[serde(rename = "RMF")]
    Rmf,
}

const fn first() -> u32 {
    1
}

const fn twenty() -> u32 {
    20
}

/// Page of funds.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// Funds on this page.
    funds: Vec<FundRow>,
    /// Number of funds on all pages.
    total_count: usize,
    /// Page number, counted from 1.
    page: u32,
    /// Page size.
    page_size: u32,
    /// Number of pages.
    total_pages: usize,
    /// Dates and ages of these figures.
    data_age: DataAge,
}

pub(crate) struct GetRmfFunds {
    pub(crate) store: Arc<FundStore>,
}

impl Tool for GetRmfFunds {
    type Params = Params;
    type Output = Output;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, params: Params, cx: &CallContext) -> Result<Reply<Output>, ToolError> {
        let service = RmfService::open(&self.store, cx);
        let filter = Filter { search: params.search.clone(), ..Filter::default() };
        let FoundFunds { funds: mut found, words_left_out } = filter.find(&service.catalog);
        query::sort(&mut found, params.sort_by.key(), direction(params.sort_order));
        let page = query::page(&found, params.page as usize, params.page_size as usize);
        let shown = page.funds.len();
        let total = page.total;
        let (number, pages) = (params.page, page.pages);
        let best = top_funds_text(
            &service,
            &page.funds,
            params.sort_by.key(),
            direction(params.sort_order),
            3,
        );
        let past_end = match (number as usize > pages, service.locale.0) {
            (false, _) => String::new(),
            (true, Lang::En) => format!("The last page is {pages}. "),
            (true, Lang::Th) => format!("หน้าสุดท้ายคือหน้า {pages} "),
        };
        let text = match service.locale.0 {
            Lang::En => format!(
                "Found {total} RMF funds. Showing page {number} ({shown} funds). {best}{} {past_end}These funds offer tax benefits up to 500,000 THB per year.",
                service.as_of(&page.funds)
            ),
            Lang::Th => format!(
                "พบกองทุน RMF {total} กองทุน แสดงหน้า {number} ({shown} กองทุน) {best}{} {past_end}ลดหย่อนภาษีได้สูงสุด 500,000 บาทต่อปี",
                service.as_of(&page.funds)
            ),
        };
        let text = text + &service.locale.words_left_out(&words_left_out);
        let known = page.funds.iter().filter(|fund| fund.nav.latest().is_some()).count();
        let evidence =
            service.evidence_from_returns(&page.funds).complete(known as u64, shown as u64);
        let data_age = DataAge::of(&service, &page.funds);
        let output = Output {
            funds: page.funds.iter().map(|fund| FundRow::of(fund, &data_age)).collect(),
            total_count: total,
            page: number,
            page_size: params.page_size,
            total_pages: pages,
            data_age,
        };
        let mut filters = json!({
            "sortBy": params.sort_by.as_str(), "sortOrder": order_name(params.sort_order),
        });
        if let (Some(search), Some(object)) = (&params.search, filters.as_object_mut()) {
            object.insert("search".to_owned(), search.as_str().into());
        }
        let mut reply = Reply::new(output, text, evidence)
            .table(table_of(&service, &page.funds, params.sort_by.key()))
            .meta("filters", filters)
            .meta("dataFlags", funds_by_flag(page.funds.iter().copied()));
        if let Some(first) = page.funds.first() {
            let why = service.locale.pick("details of the first fund", "ดูกองทุนแรก");
            reply = reply.next(NextAction::new(
                "get_rmf_fund_detail",
                json!({"fundCode": first.symbol}),
                why,
            ));
        }
        Ok(reply.with_provenance(&service, Some(&FUND_LIST), []))
    }
}
