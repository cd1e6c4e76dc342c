//! Arguments about the computation that several tools share.

use panoply_contract::prelude::*;

use crate::engine::report::Rounding;
use crate::engine::{Options, SameDaySplit};

/// What to do with a split on a day with trades.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum SameDaySplitParam {
    /// Ask: nobody can tell which came first.
    #[default]
    Refuse,
    /// The split came first; that day's trades are in new shares.
    BeforeTrades,
    /// The split came last; that day's trades are in old shares.
    AfterTrades,
}

/// How figures are rounded.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum RoundingParam {
    /// To the penny, leg by leg; sums are sums of rounded figures.
    #[default]
    PerLeg,
    /// Not at all; ten decimals are shown.
    Exact,
    /// Proceeds down and costs up to whole pounds, as HMRC's examples do.
    WholePounds,
}

impl From<RoundingParam> for Rounding {
    fn from(rounding: RoundingParam) -> Self {
        match rounding {
            RoundingParam::PerLeg => Self::PerLeg,
            RoundingParam::Exact => Self::Exact,
            RoundingParam::WholePounds => Self::WholePounds,
        }
    }
}

/// The engine's options.
pub(super) const fn options(allow_short: bool, same_day_split: SameDaySplitParam) -> Options {
    let same_day_split = match same_day_split {
        SameDaySplitParam::Refuse => SameDaySplit::Refuse,
        SameDaySplitParam::BeforeTrades => SameDaySplit::BeforeTrades,
        SameDaySplitParam::AfterTrades => SameDaySplit::AfterTrades,
    };
    Options { allow_short, same_day_split }
}
