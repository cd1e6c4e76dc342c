//! `get_rmf_data_status`: source, dates, coverage and quality of the figures.

use std::collections::BTreeMap;
use std::sync::Arc;

use panoply_contract::prelude::*;
use serde_json::json;

use super::service::{KEYWORDS, READ_PERMISSIONS, ReplyExt, RmfService};
use super::wire::Day;
use crate::fund::Fund;
use crate::period::Period;
use crate::store::{FundStore, Origin};

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
    permissions: READ_PERMISSIONS,
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

/// No parameters.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Params {}

/// Status of the figures.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// Origin: bundled with the program or synced.
    origin: &'static str,
    /// Publisher.
    source: String,
    /// Terms of use.
    licence: String,
    /// SHA-256 of the dataset.
    checksum: String,
    /// Time of the latest fetch, ISO 8601.
    fetched_at: String,
    /// Earliest date among the funds' latest NAVs.
    nav_from: Option<Day>,
    /// Latest date among the funds' latest NAVs.
    nav_to: Option<Day>,
    /// Latest date that returns are stated for.
    returns_as_of: Option<Day>,
    /// Earliest date that returns are stated for.
    returns_from: Option<Day>,
    /// Funds whose newer figures failed a check, with the reason; they keep the previous ones.
    quarantined: BTreeMap<String, String>,
    /// Age of the newest NAV, in days.
    age_days: Option<i32>,
    /// Record counts.
    totals: Totals,
    /// Number of funds per available figure.
    coverage: BTreeMap<&'static str, usize>,
    /// Number of funds per quality flag.
    flags: BTreeMap<&'static str, usize>,
}

/// Record counts.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Totals {
    /// Funds, each share class counted.
    funds: usize,
    /// Funds, share classes counted once.
    distinct_funds: usize,
    /// Asset management companies.
    companies: usize,
    /// Daily NAVs.
    nav_records: usize,
}

pub(crate) struct GetRmfDataStatus {
    pub(crate) store: Arc<FundStore>,
}

impl Tool for GetRmfDataStatus {
    type Params = Params;
    type Output = Output;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, _: Params, cx: &CallContext) -> Result<Reply<Output>, ToolError> {
        let (catalog, origin) = self.store.current();
        let service = RmfService::open(&self.store, cx);
        let funds = catalog.funds();
        let distinct = |key: fn(&Fund) -> &str| {
            funds.iter().map(key).collect::<std::collections::BTreeSet<_>>().len()
        };
        let nav = catalog.nav_dates();
        let age = nav.map(|(_, last)| (service.today() - last).get_days());
        let output = Output {
            origin: match origin {
                Origin::Bundled => "bundled",
                Origin::Synced => "synced",
            },
            source: catalog.provenance.source.clone(),
            licence: catalog.provenance.licence.clone(),
            checksum: catalog.checksum.clone(),
            fetched_at: catalog.provenance.fetched_at.clone(),
            nav_from: nav.map(|(first, _)| Day(first)),
            nav_to: nav.map(|(_, last)| Day(last)),
            returns_as_of: catalog.returns_dates().map(|(_, last)| Day(last)),
            returns_from: catalog.returns_dates().map(|(first, _)| Day(first)),
            quarantined: quarantined(funds),
            age_days: age,
            totals: Totals {
                funds: funds.len(),
                distinct_funds: distinct(|fund| &fund.fund_id),
                companies: distinct(|fund| &fund.company.name),
                nav_records: funds.iter().map(|fund| fund.nav.points().len()).sum(),
            },
            coverage: coverage(funds),
            flags: catalog
                .flag_counts()
                .iter()
                .map(|(flag, count)| (flag.as_str(), *count))
                .collect(),
        };
        let evidence = service.evidence_from_nav(nav.map(|(_, last)| last));
        let (count, navs) = (output.totals.funds, output.totals.nav_records);
        let age = age.map_or_else(|| service.locale.missing().to_owned(), |age| age.to_string());
        let text = match service.locale.0 {
            Lang::En => format!(
                "{count} RMF funds and {navs} daily NAVs from {}. {} The newest NAV is {age} days old. Run `panoply rmf sync` on the server for newer figures.",
                catalog.provenance.source,
                service.as_of(&[])
            ),
            Lang::Th => format!(
                "กองทุน RMF {count} กองทุน และ NAV รายวัน {navs} รายการ จาก {} {} NAV ล่าสุดมีอายุ {age} วัน อัปเดตได้ด้วยคำสั่ง `panoply rmf sync` บนเครื่องแม่ข่าย",
                catalog.provenance.source,
                service.as_of(&[])
            ),
        };
        let table = output.coverage.iter().fold(
            Table::new([
                service.locale.pick("figure", "ข้อมูล"),
                service.locale.pick("funds", "กองทุน"),
            ]),
            |table, (name, count)| table.row([(*name).to_owned(), count.to_string()]),
        );
        let reply = Reply::new(output, text, evidence).table(table).next(NextAction::new(
            "get_rmf_funds",
            json!({}),
            service.locale.pick("browse the funds", "ดูกองทุน"),
        ));
        Ok(reply.with_provenance(&service, None, []))
    }
}

fn quarantined(funds: &[Fund]) -> BTreeMap<String, String> {
    let kept = |fund: &Fund| {
        let quarantine = fund.quarantine.as_ref()?;
        let reason = format!("since {}: {}", quarantine.since, quarantine.reason);
        Some((fund.symbol.clone(), reason))
    };
    funds.iter().filter_map(kept).collect()
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
