//! `get_rmf_peer_rank`: rank of a fund within its AIMC group.

use std::sync::Arc;

use panoply_contract::prelude::*;

use super::locale::{fixed, signed_percent};
use super::service::{CACHE_POLICY, KEYWORDS, READ_PERMISSIONS, ReplyExt, RmfService, related};
use super::wire::{Day, Figure, figure};
use crate::fund::Fund;
use crate::peers::{PeerRank, rank};
use crate::period::Period;
use crate::store::FundStore;

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
    permissions: READ_PERMISSIONS,
    category: Category::Analysis,
    response_time: ResponseTime::Fast,
    cache: CACHE_POLICY,
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

/// Fund and period.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// The fund's code, such as `ABAPAC-RMF`.
    #[schemars(length(min = 1, max = 160))]
    fund_code: String,
    /// The period up to the factsheet's date.
    #[serde(default)]
    period: PeerPeriod,
}

/// Periods that peers are ranked over.
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
    /// One year.
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

/// Rank within the peer group.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// The fund's code.
    fund_code: String,
    /// Period.
    period: &'static str,
    /// AIMC group.
    group: String,
    /// 1 is best; ties share the better rank.
    rank: usize,
    /// Number of funds of the group with a return, share classes counted once.
    peers: usize,
    /// Percentage of the other funds that did not do better; null when there is no other.
    percentile: Option<Figure>,
    /// Quartile, 1 is best.
    quartile: u8,
    /// The fund's return, in percent.
    performance: Figure,
    /// Median return of the group, in percent.
    group_median: Figure,
    /// Best return of the group, in percent.
    group_best: Figure,
    /// Worst return of the group, in percent.
    group_worst: Figure,
    /// Share classes excluded because their fund counts once.
    classes_left_out: usize,
    /// Date that the returns are stated for.
    perf_as_of: Option<Day>,
}

pub(crate) struct GetRmfPeerRank {
    pub(crate) store: Arc<FundStore>,
}

impl Tool for GetRmfPeerRank {
    type Params = Params;
    type Output = Output;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, params: Params, cx: &CallContext) -> Result<Reply<Output>, ToolError> {
        let service = RmfService::open(&self.store, cx);
        let fund = service.fund(&params.fund_code)?;
        let period = params.period.period();
        let standing = rank(service.catalog.funds(), fund, period)
            .map_err(|error| service.locale.no_rank(&error))?;
        let in_group = service
            .catalog
            .funds()
            .iter()
            .filter(|peer| crate::peers::group_of(peer) == Some(standing.group.as_str()))
            .count();
        let counted = standing.peers + standing.classes_left_out;
        let evidence =
            service.evidence_from_returns(&[fund]).complete(counted as u64, in_group as u64);
        let text = sentence(&service, fund, period, &standing);
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
        let reply = Reply::new(output, text, evidence)
            .related(related(fund))
            .assuming("share classes of one fund count once");
        Ok(reply.with_provenance(&service, None, [fund]))
    }
}

fn sentence(service: &RmfService, fund: &Fund, period: Period, standing: &PeerRank) -> String {
    let locale = service.locale;
    let PeerRank { rank, peers, quartile, .. } = standing;
    let group = locale.class(&standing.group);
    let (symbol, name) = (&fund.symbol, locale.period(period));
    let gained = signed_percent(standing.performance);
    let median = signed_percent(standing.median);
    let dated = service.returns_as_of(crate::catalog::returns_dates([fund]));
    let percentile = standing.percentile.map(|percentile| fixed(percentile, 0));
    match locale.0 {
        Lang::En => {
            let ahead = percentile.map_or_else(String::new, |percentile| {
                format!(", percentile {percentile} (100 is best)")
            });
            format!(
                "{symbol} ranks {rank} of {peers} funds in group {group} by {name} return: {gained}, group median {median}{ahead}, quartile {quartile}; {dated}. {}",
                locale.past_performance()
            )
        }
        Lang::Th => {
            let ahead = percentile.map_or_else(String::new, |percentile| {
                format!(" เปอร์เซ็นไทล์ {percentile} (100 คือดีที่สุด)")
            });
            format!(
                "{symbol} อยู่อันดับ {rank} จาก {peers} กองทุนในกลุ่ม {group} ตามผลตอบแทน {name}: {gained} ค่ามัธยฐานของกลุ่ม {median}{ahead} ควอร์ไทล์ {quartile}; {dated} {}",
                locale.past_performance()
            )
        }
    }
}
