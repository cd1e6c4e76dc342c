//! `get_rmf_data_status`: what the figures are, of when, and how complete.

use std::collections::BTreeMap;
use std::sync::Arc;

use panoply_contract::prelude::*;
use serde_json::json;

use super::answer::{Desk, Dressed, KEYWORDS, READ};
use super::wire::Day;
use crate::fund::Fund;
use crate::period::Period;
use crate::store::{Origin, Shelf};

const SPEC: ToolSpec = ToolSpec {
    name: "get_rmf_data_status",
    title: "State of the RMF figures",
    description: Description {
        does: "Says where the figures about Thai Retirement Mutual Funds (RMF) come from, of which days they are, how complete they are, and what is known to be wrong with them.",
        when: "Use this when someone doubts a figure or asks how fresh the data are. Do not use it for figures of a fund.",
        returns: "Returns source, licence, checksum, dates, number of funds and NAVs, coverage of each figure, and how many funds carry each quality flag.",
        asks: &["How old is this data?", "Where do these RMF figures come from?", "ข้อมูลกองทุนเป็นของวันไหน"],
    },
    version: "1.0.0",
    aliases: &[],
    permissions: READ,
    category: Category::Query,
    response_time: ResponseTime::Fast,
    cache: CachePolicy::Never,
    idempotent: true,
    data: &["rmf"],
    examples: &[Example {
        shows: "the state of the figures",
        params: "{}",
        expect: Expect::Data(r#"{"totals": {}}"#),
    }],
    tags: KEYWORDS,
    rate_limit: None,
    deprecated: None,
    annotations: Annotations::CLOSED,
    listing: Listing::Extra,
    widget: None,
}
.checked();

/// Nothing to say.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Params {}

/// The state of the figures.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// Whether they ship with the program or a sync brought them: bundled, synced.
    origin: &'static str,
    /// Who published them.
    source: String,
    /// What one may do with them.
    licence: String,
    /// SHA-256 of the data set.
    checksum: String,
    /// When the last of them was fetched, ISO 8601.
    fetched_at: String,
    /// The oldest of the funds' last NAVs.
    nav_from: Option<Day>,
    /// The newest of them.
    nav_to: Option<Day>,
    /// The day the returns run up to.
    returns_as_of: Option<Day>,
    /// How old the newest NAV is, in days.
    age_days: Option<i32>,
    /// How many of what.
    totals: Totals,
    /// How many funds have each figure.
    coverage: BTreeMap<&'static str, usize>,
    /// How many funds carry each quality flag.
    flags: BTreeMap<&'static str, usize>,
}

/// How many of what.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Totals {
    /// Funds, share classes counted one by one.
    funds: usize,
    /// Funds, share classes counted once.
    distinct_funds: usize,
    /// Managing companies.
    companies: usize,
    /// Daily NAVs.
    nav_records: usize,
}

/// See the module.
pub(crate) struct GetRmfDataStatus {
    pub(crate) shelf: Arc<Shelf>,
}

impl Tool for GetRmfDataStatus {
    type Params = Params;
    type Output = Output;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, _: Params, cx: &CallContext) -> Result<Reply<Output>, ToolError> {
        let (book, origin) = self.shelf.current();
        let desk = Desk::open(&self.shelf, cx);
        let funds = book.funds();
        let distinct = |key: fn(&Fund) -> &str| {
            funds.iter().map(key).collect::<std::collections::BTreeSet<_>>().len()
        };
        let nav = book.nav_dates();
        let age = nav.map(|(_, last)| (desk.today() - last).get_days());
        let output = Output {
            origin: match origin {
                Origin::Bundled => "bundled",
                Origin::Synced => "synced",
            },
            source: book.about.source.clone(),
            licence: book.about.licence.clone(),
            checksum: book.checksum.clone(),
            fetched_at: book.about.fetched_at.clone(),
            nav_from: nav.map(|(first, _)| Day(first)),
            nav_to: nav.map(|(_, last)| Day(last)),
            returns_as_of: book.returns_as_of().map(Day),
            age_days: age,
            totals: Totals {
                funds: funds.len(),
                distinct_funds: distinct(|fund| &fund.fund_id),
                companies: distinct(|fund| &fund.company.name),
                nav_records: funds.iter().map(|fund| fund.nav.points().len()).sum(),
            },
            coverage: coverage(funds),
            flags: book.flag_counts().iter().map(|(flag, count)| (flag.as_str(), *count)).collect(),
        };
        let evidence = desk.resting_on_nav(nav.map(|(_, last)| last));
        let (count, navs) = (output.totals.funds, output.totals.nav_records);
        let age = age.map_or_else(|| desk.words.missing().to_owned(), |age| age.to_string());
        let text = match desk.words.0 {
            Lang::En => format!(
                "{count} RMF funds and {navs} daily NAVs from {}. {} The newest NAV is {age} days old. Run `panoply rmf sync` on the server for newer figures.",
                book.about.source,
                desk.as_of()
            ),
            Lang::Th => format!(
                "กองทุน RMF {count} กองทุน และ NAV รายวัน {navs} รายการ จาก {} {} NAV ล่าสุดมีอายุ {age} วัน อัปเดตได้ด้วยคำสั่ง `panoply rmf sync` บนเครื่องแม่ข่าย",
                book.about.source,
                desk.as_of()
            ),
        };
        let table = output.coverage.iter().fold(
            Table::new([desk.words.pick("figure", "ข้อมูล"), desk.words.pick("funds", "กองทุน")]),
            |table, (name, count)| table.row([(*name).to_owned(), count.to_string()]),
        );
        let reply = Reply::new(output, text, evidence).table(table).next(NextAction::new(
            "get_rmf_funds",
            json!({}),
            desk.words.pick("browse the funds", "ดูกองทุน"),
        ));
        Ok(reply.dressed(&desk, None, []))
    }
}

fn coverage(funds: &[Fund]) -> BTreeMap<&'static str, usize> {
    let count = |has: &dyn Fn(&Fund) -> bool| funds.iter().filter(|fund| has(fund)).count();
    BTreeMap::from([
        ("nav", count(&|fund| fund.nav.latest().is_some())),
        ("perf_ytd", count(&|fund| fund.returns.get(Period::Ytd).is_some())),
        ("perf_1y", count(&|fund| fund.returns.get(Period::Y1).is_some())),
        ("perf_3y", count(&|fund| fund.returns.get(Period::Y3).is_some())),
        ("perf_5y", count(&|fund| fund.returns.get(Period::Y5).is_some())),
        ("perf_10y", count(&|fund| fund.returns.get(Period::Y10).is_some())),
        ("benchmark_name", count(&|fund| fund.benchmark.name.is_some())),
        ("fund_classification", count(&|fund| fund.classification.is_some())),
        ("asset_allocation", count(&|fund| fund.allocation.is_some())),
        ("fee_values", count(&|fund| fund.fees.iter().any(|fee| fee.value.is_some()))),
        ("volatility_1y", count(&|fund| fund.volatility_1y.is_some())),
        ("tracking_error", count(&|fund| fund.tracking_error.is_some())),
    ])
}
