//! `compare_rmf_holdings`: what two to ten funds have in common, and what changed in each.

use std::sync::Arc;

use panoply_contract::prelude::*;
use serde_json::json;

use super::compare_rmf_funds::resolve_all;
use super::data_age::DataAge;
use super::service::{CACHE_POLICY, KEYWORDS, READ_PERMISSIONS, ReplyExt, RmfService};
use super::wire::{Day, Figure, figure};
use crate::classify::classify;
use crate::fund::Fund;
use crate::overlap::{Relation, changes, overlap};
use crate::store::FundStore;

const SPEC: ToolSpec = ToolSpec {
    name: "compare_rmf_holdings",
    title: "Overlap of RMF funds",
    description: Description {
        does: "Looks through two to ten Thai Retirement Mutual Funds (RMF): same fund, master fund, benchmark or class, the share of common holdings of each pair, and what changed since the report before.",
        when: "Use this when someone asks whether their funds hold the same things. Do not use it to compare returns or fees (use compare_rmf_funds).",
        returns: "Returns each fund's master fund, ISIN and largest holdings, and each pair's overlap in percent; null where a fund publishes no holdings, which the bundled figures lack and a sync fetches.",
        asks: &["Do my RMF funds overlap?", "Which master fund do these feeders share?", "กองทุน RMF ของฉันซ้ำซ้อนกันไหม"],
    },
    version: "1.0.0",
    aliases: &[],
    permissions: READ_PERMISSIONS,
    category: Category::Analysis,
    response_time: ResponseTime::Fast,
    cache: CACHE_POLICY,
    idempotent: true,
    data: &["rmf"],
    examples: &[
        Example {
            shows: "two share classes of one fund",
            params: r#"{"fundCodes": ["TGOLDRMF-A", "TGOLDRMF-P"]}"#,
            expect: Expect::Data(r#"{"pairs": [{"relation": "same_fund"}]}"#),
        },
        Example {
            shows: "one fund alone",
            params: r#"{"fundCodes": ["ABAPAC-RMF"]}"#,
            expect: Expect::Error("BAD_REQUEST"),
        },
    ],
    tags: KEYWORDS,
    rate_limit: None,
    deprecated: None,
    annotations: Annotations::CLOSED,
    listing: Listing::Extra,
    widget: None,
}
.checked();

/// Funds to look through.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// Two to ten distinct fund codes.
    #[schemars(length(min = 2, max = 10), inner(length(min = 1, max = 160)))]
    fund_codes: Vec<String>,
}

/// Funds and pairs.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// The funds, in the order given.
    funds: Vec<FundRow>,
    /// Each pair of them.
    pairs: Vec<PairRow>,
    /// Dates and ages of these figures.
    data_age: DataAge,
}

/// A fund's look-through.
#[derive(Debug, Serialize, JsonSchema)]
struct FundRow {
    /// Code.
    symbol: String,
    /// Master fund of a feeder fund.
    master_fund: Option<String>,
    /// ISIN of this share class.
    isin: Option<String>,
    /// Date of the holdings.
    holdings_as_of: Option<Day>,
    /// Largest holdings; null when none are published.
    holdings: Option<Vec<Holding>>,
    /// Changes since the report before.
    changes: Vec<Change>,
}

/// A holding.
#[derive(Debug, Serialize, JsonSchema)]
struct Holding {
    /// Name.
    name: String,
    /// Share of net assets, in percent.
    percent: Figure,
}

/// A change of a holding.
#[derive(Debug, Serialize, JsonSchema)]
struct Change {
    /// Name.
    name: String,
    /// Share before, in percent; null when new.
    before: Option<Figure>,
    /// Share now, in percent; null when it left the list.
    after: Option<Figure>,
}

/// What two funds have in common.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct PairRow {
    /// First fund.
    a: String,
    /// Second fund.
    b: String,
    /// same_fund, same_master_fund, same_benchmark, same_class or none.
    relation: &'static str,
    /// Share of common holdings among the published ones, in percent; null when not known.
    overlap_percent: Option<Figure>,
    /// Common holdings.
    common: Vec<String>,
}

pub(crate) struct CompareRmfHoldings {
    pub(crate) store: Arc<FundStore>,
}

impl Tool for CompareRmfHoldings {
    type Params = Params;
    type Output = Output;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, params: Params, cx: &CallContext) -> Result<Reply<Output>, ToolError> {
        let service = RmfService::open(&self.store, cx);
        let funds = resolve_all(&service, &params.fund_codes)?;
        let class = |fund: &Fund| {
            let index = service.catalog.indexed().find(|(other, _)| other.symbol == fund.symbol);
            index.map(|(fund, index)| classify(fund, index).code)
        };
        let classes: Vec<Option<String>> = funds.iter().map(|fund| class(fund)).collect();
        let mut pairs = Vec::new();
        for (at, (a, class)) in funds.iter().zip(&classes).enumerate() {
            for (b, other) in funds.iter().zip(&classes).skip(at + 1) {
                let found = overlap(a, b, class == other);
                pairs.push((
                    found.relation,
                    PairRow {
                        a: a.symbol.clone(),
                        b: b.symbol.clone(),
                        relation: found.relation.as_str(),
                        overlap_percent: figure(found.percent),
                        common: found.common,
                    },
                ));
            }
        }
        let known = funds.iter().filter(|fund| fund.holdings.is_some()).count();
        let evidence = service
            .evidence_from_returns(&funds)
            .complete((known + funds.len()) as u64, 2 * funds.len() as u64);
        let text = sentence(&service, &pairs, known, funds.len());
        let output = Output {
            funds: funds.iter().map(|fund| FundRow::of(fund)).collect(),
            pairs: pairs.into_iter().map(|(_, pair)| pair).collect(),
            data_age: DataAge::of(&service, &funds),
        };
        let codes: Vec<&str> = funds.iter().take(5).map(|fund| fund.symbol.as_str()).collect();
        let reply = Reply::new(output, text, evidence).next(NextAction::new(
            "compare_rmf_funds",
            json!({"fundCodes": codes}),
            service.locale.pick("compare returns and fees", "เปรียบเทียบผลตอบแทนและค่าธรรมเนียม"),
        ));
        Ok(reply.with_provenance(&service, None, funds.iter().copied()))
    }
}

impl FundRow {
    fn of(fund: &Fund) -> Self {
        Self {
            symbol: fund.symbol.clone(),
            master_fund: fund.master_fund.clone(),
            isin: fund.isin.clone(),
            holdings_as_of: fund.holdings.as_ref().and_then(|report| report.as_of).map(Day),
            holdings: fund.holdings.as_ref().map(|report| {
                let row = |part: &crate::fund::Allocation| Holding {
                    name: part.asset_class.clone(),
                    percent: Figure(part.percent),
                };
                report.holdings.iter().map(row).collect()
            }),
            changes: changes(fund)
                .into_iter()
                .map(|change| Change {
                    name: change.name,
                    before: figure(change.before),
                    after: figure(change.after),
                })
                .collect(),
        }
    }
}

fn sentence(
    service: &RmfService,
    pairs: &[(Relation, PairRow)],
    known: usize,
    funds: usize,
) -> String {
    let locale = service.locale;
    let related: Vec<String> = pairs
        .iter()
        .filter(|(relation, _)| *relation != Relation::None)
        .map(|(relation, pair)| {
            let bond = match relation {
                Relation::SameFund => {
                    locale.pick("one fund, two classes", "กองทุนเดียวกัน คนละชนิดหน่วย")
                }
                Relation::SameMaster => locale.pick("same master fund", "กองทุนหลักเดียวกัน"),
                Relation::SameBenchmark => locale.pick("same benchmark", "ดัชนีชี้วัดเดียวกัน"),
                Relation::SameClass | Relation::None => locale.pick("same class", "ประเภทเดียวกัน"),
            };
            let share = pair.overlap_percent.map_or_else(String::new, |Figure(percent)| {
                format!(", {}%", super::locale::fixed(percent, 1))
            });
            format!("{} / {}: {bond}{share}", pair.a, pair.b)
        })
        .collect();
    let related = if related.is_empty() {
        locale.pick("no pair has anything known in common", "ไม่พบสิ่งที่เหมือนกัน").to_owned()
    } else {
        related.join("; ")
    };
    match locale.0 {
        Lang::En => format!(
            "{related}. {known} of {funds} funds publish holdings here; overlap counts published top holdings only, so the true overlap is larger or equal."
        ),
        Lang::Th => format!(
            "{related} มีข้อมูลหลักทรัพย์ที่ถือ {known} จาก {funds} กองทุน ส่วนที่ซ้อนกันคิดจากหลักทรัพย์อันดับต้นที่เปิดเผยเท่านั้น"
        ),
    }
}
