//! Computation options shared by several tools.

use panoply_contract::prelude::*;

use crate::engine::report::Rounding;
use crate::engine::{Options, SameDaySplit};

/// Order of a split and trades on the same day.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum SameDaySplitParam {
    /// Reject: the order is ambiguous.
    #[default]
    Refuse,
    /// The split comes first; that day's trades are in new shares.
    BeforeTrades,
    /// The split comes last; that day's trades are in old shares.
    AfterTrades,
}

/// Rounding of figures.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum RoundingParam {
    /// To the penny, per leg; totals are sums of rounded figures.
    #[default]
    PerLeg,
    /// No rounding; ten decimals are shown.
    Exact,
    /// To whole pounds: proceeds down and costs up, as in HMRC's examples.
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

pub(super) const fn options(allow_short: bool, same_day_split: SameDaySplitParam) -> Options {
    let same_day_split = match same_day_split {
        SameDaySplitParam::Refuse => SameDaySplit::Refuse,
        SameDaySplitParam::BeforeTrades => SameDaySplit::BeforeTrades,
        SameDaySplitParam::AfterTrades => SameDaySplit::AfterTrades,
    };
    Options { allow_short, same_day_split }
}
