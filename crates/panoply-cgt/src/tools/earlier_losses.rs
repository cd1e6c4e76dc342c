//! Losses of earlier years as arguments and in replies: by the person's records, or by the
//! transactions once it is said whether they were claimed.

use panoply_contract::prelude::*;
use serde_json::json;

use super::arguments::{NumberText, YearText, pounds_of};
use super::dialect::EXAMPLE_KEY;
use crate::engine::report::{Report, YearReport};
use crate::losses::{EarlierLosses, LossYear, available_without, made_before};
use crate::money::Money;
use crate::parameters::Parameters;

/// Losses brought forward to a year.
pub(super) struct LossesGiven {
    /// Losses to deduct.
    pub(super) brought_forward: Money,
    /// Losses in the transactions that were neither declared claimed nor unclaimed.
    pub(super) open: Option<Money>,
    claimed: Option<EarlierLosses>,
    /// Losses in the transactions that differ from the person's records.
    differs: bool,
}

impl LossesGiven {
    /// Losses of the years `unclaimed` were not claimed, when all others were.
    pub(super) fn of(
        own_records: Option<&NumberText>,
        claimed: Option<EarlierLosses>,
        unclaimed: &[YearText],
        (ledger, year, parameters): (&[LossYear], &YearReport<'_>, &Parameters),
    ) -> Result<Self, ToolError> {
        let in_history = match unclaimed {
            [] => year.earlier_losses,
            years if claimed == Some(EarlierLosses::Claimed) => {
                let years = years.iter().map(YearText::year).collect::<Result<Vec<_>, _>>()?;
                available_without(ledger, year.year, &years, parameters)
            }
            _ => {
                return Err(ToolError::validation(
                    "INVALID_INPUT",
                    "`unclaimed_loss_years` needs `earlier_losses` to be `claimed`",
                )
                .hint("say that the losses were claimed, and name the years that were not")
                .detail(
                    EXAMPLE_KEY,
                    json!({"earlier_losses": "claimed", "unclaimed_loss_years": [2020]}),
                ));
            }
        };
        match (own_records, claimed) {
            (Some(_), Some(_)) => Err(ToolError::validation(
                "INVALID_INPUT",
                "both `losses_brought_forward` and `earlier_losses` are given",
            )
            .hint("give `losses_brought_forward` if the person knows the figure, otherwise `earlier_losses`")
            .detail(EXAMPLE_KEY, json!({"earlier_losses": "claimed"}))),
            (Some(text), None) => {
                let brought_forward = pounds_of("losses_brought_forward", text.as_str())?;
                let differs = brought_forward != in_history && !in_history.is_zero();
                Ok(Self { brought_forward, open: None, claimed, differs })
            }
            (None, Some(EarlierLosses::Claimed)) => {
                Ok(Self { brought_forward: in_history, open: None, claimed, differs: false })
            }
            (None, said) => {
                let open = (said.is_none() && !in_history.is_zero()).then_some(in_history);
                Ok(Self { brought_forward: Money::ZERO, open, claimed, differs: false })
            }
        }
    }

    pub(super) fn warnings(&self, year: &YearReport<'_>) -> Vec<String> {
        let available = year.earlier_losses;
        if self.open.is_some() {
            vec![format!(
                "these transactions have £{available} of unused losses of earlier years, which are not deducted: say with `earlier_losses` whether they were claimed"
            )]
        } else if self.differs {
            vec![format!(
                "these transactions have £{available} of unused losses of earlier years, which differs from `losses_brought_forward` (£{})",
                self.brought_forward
            )]
        } else {
            Vec::new()
        }
    }
}

/// Losses of earlier years in the transactions. Amounts are decimal strings in pounds.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(super) struct EarlierLossesOut {
    /// Unused at the start of the year.
    available: String,
    /// `claimed` or `not_claimed` as declared; null without a declaration.
    claimed: Option<EarlierLosses>,
    /// Years in which they were made.
    made: Vec<LossYearOut>,
}

/// Net loss of a year.
#[derive(Debug, Serialize, JsonSchema)]
struct LossYearOut {
    /// Tax year.
    period: String,
    /// Net loss.
    loss: String,
    /// Last day of the claim (TMA 1970 s.43).
    claim_by: Option<String>,
}

impl EarlierLossesOut {
    pub(super) fn of(report: &Report<'_>, year: &YearReport<'_>, given: &LossesGiven) -> Self {
        let out = |entry: &LossYear| LossYearOut {
            period: entry.year.to_string(),
            loss: entry.made.to_string(),
            claim_by: entry.claim_by.map(|date| date.to_string()),
        };
        Self {
            available: year.earlier_losses.to_string(),
            claimed: given.claimed,
            made: made_before(&report.losses, year.year).map(out).collect(),
        }
    }
}
