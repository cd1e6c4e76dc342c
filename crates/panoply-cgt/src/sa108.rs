//! Entries of form SA108, and whether a return is required.
//!
//! The form takes whole pounds, rounded in the taxpayer's favour: proceeds and gains down, costs
//! and losses up. Allowable costs include costs of disposal.

use crate::engine::report::YearReport;
use crate::estimate::Estimate;
use crate::money::Money;
use crate::parameters::Parameters;

/// A box with its entry.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct FilledBox {
    /// Box number.
    pub number: String,
    /// Label of the box.
    pub label: &'static str,
    /// Entry; `None` when more information is needed.
    pub entry: Option<String>,
}

/// Fills the boxes of a year, which must be rounded to whole pounds.
pub fn boxes(
    year: &YearReport<'_>,
    estimate: Option<&Estimate>,
    income_known: bool,
    parameters: &Parameters,
) -> Vec<FilledBox> {
    let form = &parameters.sa108;
    let pounds = |amount: Money| Some(whole(amount));
    let adjustment = estimate.map(|estimate| estimate.tax - estimate.tax_at_first_rates);
    let needs_income =
        adjustment.is_some() && estimate.is_some_and(|estimate| estimate.periods.len() > 1);
    let adjustment = match needs_income && !income_known {
        true => None,
        false => adjustment.map(|amount| amount.to_string()),
    };
    let filled = |number: &str, label, entry| FilledBox { number: number.to_owned(), label, entry };
    vec![
        filled(
            &form.number_of_disposals,
            "Number of disposals",
            Some(year.disposals.len().to_string()),
        ),
        filled(&form.disposal_proceeds, "Disposal proceeds", pounds(year.gross_proceeds)),
        filled(
            &form.allowable_costs,
            "Allowable costs (including purchase price)",
            pounds(year.allowable_cost + year.selling_costs),
        ),
        filled(
            &form.gains_before_losses,
            "Gains in the year, before losses",
            pounds(year.total_gain),
        ),
        filled(&form.losses_in_the_year, "Losses in the year", pounds(year.total_loss)),
        filled(
            &form.losses_brought_forward_used,
            "Losses brought forward and used in-year",
            estimate.map(|estimate| whole(estimate.losses_used.pounds_up())),
        ),
        filled(
            &form.losses_to_carry_forward,
            "Losses available to be carried forward",
            estimate.map(|estimate| whole(estimate.losses_carried_forward.pounds_up())),
        ),
        filled(
            &form.adjustment_to_capital_gains_tax,
            "Adjustment to Capital Gains Tax",
            adjustment,
        ),
    ]
}

/// Reasons why a year must be reported; empty when it need not be.
pub fn reasons_to_report(
    year: &YearReport<'_>,
    losses_used: Money,
    parameters: &Parameters,
) -> Vec<String> {
    let mut reasons = Vec::new();
    if let Some(taxable) = year.taxable_gain
        && !taxable.is_zero()
    {
        reasons.push(format!("the net gain is £{taxable} above the exempt amount"));
    }
    if let Some(limit) = parameters.proceeds_limit(year.year)
        && year.gross_proceeds > limit
    {
        reasons.push(format!(
            "proceeds of £{} are above £{limit}; they are reported by those who send a Self Assessment return anyway",
            year.gross_proceeds
        ));
    }
    if !year.total_loss.is_zero() {
        reasons.push(format!(
            "losses of £{} count only once they are claimed, within four years",
            year.total_loss
        ));
    }
    if !losses_used.is_zero() {
        reasons.push(format!("losses of £{losses_used} from earlier years are used"));
    }
    reasons
}

fn whole(amount: Money) -> String {
    let text = amount.to_string();
    text.strip_suffix(".00").map_or_else(|| text.clone(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dsl;
    use crate::engine::report::{Rounding, report};
    use crate::engine::{Options, compute};
    use crate::estimate::{Situation, estimate};
    use crate::fx::Rates;
    use crate::tax_year::TaxYear;

    #[test]
    fn boxes_round_in_the_taxpayers_favour() {
        let text = "2022-01-01 BUY A 100 @ 10.005\n2024-12-01 SELL A 100 @ 200.259 FEES 9.95";
        let computation =
            compute(&dsl::parse(text).unwrap(), &Rates::default(), Options::default()).unwrap();
        let parameters = Parameters::bundled().unwrap();
        let year = TaxYear::parse("2024").unwrap();
        let report = report(&computation, parameters, Some(year), Rounding::WholePounds);
        let situation = Situation {
            taxable_income: Money::pounds(60_000),
            losses_brought_forward: Money::ZERO,
            basic_rate_band: None,
        };
        let estimate = estimate(&report.years[0], parameters, situation).unwrap();
        let entries: Vec<(String, String)> =
            boxes(&report.years[0], Some(&estimate), true, parameters)
                .into_iter()
                .map(|filled| (filled.number, filled.entry.unwrap()))
                .collect();
        let expected = [
            ("23", "1"),
            ("24", "20025"),
            ("25", "1011"),
            ("26", "19014"),
            ("27", "0"),
            ("45", "0"),
            ("47", "0"),
            ("51", "640.56"),
        ];
        // 20,025.90 down; 1,000.50 and 9.95 up; (19,014 - 3,000) x (24 - 20) % = 640.56.
        assert_eq!(entries, expected.map(|(number, entry)| (number.to_owned(), entry.to_owned())));
        assert_eq!(reasons_to_report(&report.years[0], Money::ZERO, parameters).len(), 1);
    }
}
