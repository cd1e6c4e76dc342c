//! `get_rmf_peer_rank`: where a fund stands among funds of its AIMC group.

use std::sync::Arc;

use panoply_contract::prelude::*;
use serde_json::json;

use super::answer::{Desk, Dressed, KEPT, KEYWORDS, READ, related};
use super::wire::{Day, Figure, figure};
use super::words::{fixed, signed_percent};
use crate::fund::Fund;
use crate::peers::{NoRank, PeerRank, rank};
use crate::period::Period;
use crate::store::Shelf;

const SPEC: ToolSpec = ToolSpec {
    name: "get_rmf_peer_rank",
    title: "Rank of an RMF fund among its peers",
    description: Description {
        does: "Ranks one Thai Retirement Mutual Fund (RMF) among the RMF funds of its AIMC group over a period; share classes of one fund count once.",
        when: "Use this when someone asks whether a fund is good for its kind. Do not use it to compare funds of different kinds (use compare_rmf_funds).",
        returns: "Returns rank, number of peers, percentile (100 is best), quartile (1 is best), and the group's median, best and worst return.",
        asks: &["Is ABAPAC-RMF good for an Asian equity fund?", "How does this RMF rank among its peers?", "กองทุนนี้อยู่อันดับที่เท่าไรในกลุ่ม"],
    },
    version: "1.0.0",
    aliases: &[],
    permissions: READ,
    category: Category::Analysis,
    response_time: ResponseTime::Fast,
    cache: KEPT,
    idempotent: true,
    data: &["rmf"],
    examples: &[
        Example {
            shows: "a year among Asian equity funds",
            params: r#"{"fundCode": "ABAPAC-RMF", "period": "1y"}"#,
            expect: Expect::Data(r#"{"fundCode": "ABAPAC-RMF", "period": "1y", "group": "EQASxJP"}"#),
        },
        Example {
            shows: "a fund that is too young",
            params: r#"{"fundCode": "B-USPASSIVERMF", "period": "1y"}"#,
            expect: Expect::Error("NOT_FOUND"),
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

/// Which fund, which period.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// The fund's code, such as `ABAPAC-RMF`.
    #[schemars(length(min = 1, max = 60))]
    fund_code: String,
    /// The period up to the factsheet's date.
    #[serde(default)]
    period: PeerPeriod,
}

/// The periods that peers are ranked over.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, JsonSchema)]
enum PeerPeriod {
    /// Since the start of the year.
    #[serde(rename = "ytd")]
    Ytd,
    /// Three months.
    #[serde(rename = "3m")]
    M3,
    /// Six months.
    #[serde(rename = "6m")]
    M6,
    /// A year.
    #[default]
    #[serde(rename = "1y")]
    Y1,
    /// Three years, per year.
    #[serde(rename = "3y")]
    Y3,
    /// Five years, per year.
    #[serde(rename = "5y")]
    Y5,
    /// Ten years, per year.
    #[serde(rename = "10y")]
    Y10,
}

impl PeerPeriod {
    const fn period(self) -> Period {
        match self {
            Self::Ytd => Period::Ytd,
            Self::M3 => Period::M3,
            Self::M6 => Period::M6,
            Self::Y1 => Period::Y1,
            Self::Y3 => Period::Y3,
            Self::Y5 => Period::Y5,
            Self::Y10 => Period::Y10,
        }
    }
}

/// Where the fund stands.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// The fund's code.
    fund_code: String,
    /// The period.
    period: &'static str,
    /// The AIMC group.
    group: String,
    /// 1 is best; equals share the better rank.
    rank: usize,
    /// How many funds of the group have a figure, share classes counted once.
    peers: usize,
    /// Share of the other funds that did not do better, in percent; null when there is no other.
    percentile: Option<Figure>,
    /// Quarter of the group, 1 is best.
    quartile: u8,
    /// The fund's return, in percent.
    performance: Figure,
    /// The middle of the group, in percent.
    group_median: Figure,
    /// The best of the group, in percent.
    group_best: Figure,
    /// The worst of the group, in percent.
    group_worst: Figure,
    /// Share classes that were left out because their fund counts once.
    classes_left_out: usize,
    /// The day the returns run up to.
    perf_as_of: Option<Day>,
}

/// See the module.
pub(crate) struct GetRmfPeerRank {
    pub(crate) shelf: Arc<Shelf>,
}

impl Tool for GetRmfPeerRank {
    type Params = Params;
    type Output = Output;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, params: Params, cx: &CallContext) -> Result<Reply<Output>, ToolError> {
        let desk = Desk::open(&self.shelf, cx);
        let fund = desk.fund(&params.fund_code)?;
        let period = params.period.period();
        let standing = rank(desk.book.funds(), fund, period)?;
        let in_group = desk
            .book
            .funds()
            .iter()
            .filter(|peer| crate::peers::group_of(peer) == Some(standing.group.as_str()))
            .count();
        let counted = standing.peers + standing.classes_left_out;
        let evidence = desk.resting_on_returns().complete(counted as u64, in_group as u64);
        let text = sentence(&desk, fund, period, &standing);
        let group = standing.group.clone();
        let output = Output {
            fund_code: fund.symbol.clone(),
            period: period.as_str(),
            group: standing.group,
            rank: standing.rank,
            peers: standing.peers,
            percentile: figure(standing.percentile),
            quartile: standing.quartile,
            performance: Figure(standing.performance),
            group_median: Figure(standing.median),
            group_best: Figure(standing.best),
            group_worst: Figure(standing.worst),
            classes_left_out: standing.classes_left_out,
            perf_as_of: fund.returns_as_of.map(Day),
        };
        let mut reply = Reply::new(output, text, evidence)
            .related(related(fund))
            .assuming("share classes of one fund count once");
        if fund.classification.is_some() {
            reply = reply.next(NextAction::new(
                "search_rmf_funds",
                json!({"category": group}),
                desk.words.pick("see the funds of the group", "ดูกองทุนในกลุ่ม"),
            ));
        }
        Ok(reply.dressed(&desk, None, [fund]))
    }
}

fn sentence(desk: &Desk, fund: &Fund, period: Period, standing: &PeerRank) -> String {
    let words = desk.words;
    let PeerRank { group, rank, peers, quartile, .. } = standing;
    let (symbol, name) = (&fund.symbol, words.period(period));
    let gained = signed_percent(standing.performance);
    let median = signed_percent(standing.median);
    let dated = desk.returns_as_of(fund.returns_as_of);
    let percentile = standing.percentile.map(|percentile| fixed(percentile, 0));
    match words.0 {
        Lang::En => {
            let ahead = percentile.map_or_else(String::new, |percentile| {
                format!(", percentile {percentile} (100 is best)")
            });
            format!(
                "{symbol} ranks {rank} of {peers} funds in group {group} by {name} return: {gained}, group median {median}{ahead}, quartile {quartile}; {dated}. {}",
                words.past_performance()
            )
        }
        Lang::Th => {
            let ahead = percentile.map_or_else(String::new, |percentile| {
                format!(" เปอร์เซ็นไทล์ {percentile} (100 คือดีที่สุด)")
            });
            format!(
                "{symbol} อยู่อันดับ {rank} จาก {peers} กองทุนในกลุ่ม {group} ตามผลตอบแทน {name}: {gained} ค่ามัธยฐานของกลุ่ม {median}{ahead} ควอร์ไทล์ {quartile}; {dated} {}",
                words.past_performance()
            )
        }
    }
}

impl From<NoRank> for ToolError {
    fn from(error: NoRank) -> Self {
        let hint = match &error {
            NoRank::NoGroup { .. } => {
                "compare it with funds of your choice by `compare_rmf_funds` instead"
            }
            NoRank::NoFigure { .. } => "ask for a shorter period, such as `3m`",
        };
        Self::not_found("NOT_FOUND", error.to_string()).hint(hint)
    }
}
