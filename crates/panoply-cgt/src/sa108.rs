//! Entries of form SA108, and whether a return is required.
//!
//! The form takes whole pounds. Each entry is a total in pence, rounded once in the taxpayer's
//! favour: proceeds and gains down, costs and losses up. Rounding each disposal first would move the
//! totals of an active trader by hundreds of pounds. Allowable costs include costs of disposal.

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

/// How the entries are rounded.
pub const ROUNDING: &str = "totals of pence, each rounded once to whole pounds: proceeds and gains down, costs and losses up; box 51 in pence";

/// What is known about the taxpayer.
#[derive(Clone, Copy, Debug)]
pub struct Known {
    /// The income of the year.
    pub income: bool,
    /// Whether losses of earlier years were claimed.
    pub losses: bool,
}

/// Fills the boxes of a year, which must be rounded to the penny.
pub fn boxes(
    year: &YearReport<'_>,
    estimate: Option<&Estimate>,
    known: Known,
    parameters: &Parameters,
) -> Vec<FilledBox> {
    let form = &parameters.sa108;
    let down = |amount: Money| Some(whole(amount.pounds_down()));
    let up = |amount: Money| Some(whole(amount.pounds_up()));
    let adjustment = estimate.map(|estimate| estimate.tax - estimate.tax_at_first_rates);
    let two_rates = estimate.is_some_and(|estimate| estimate.periods.len() > 1);
    let answered = !two_rates || (known.income && known.losses);
    let adjustment = adjustment.filter(|_| answered).map(|amount| amount.to_string());
    let losses = estimate.filter(|_| known.losses);
    let filled = |number: &str, label, entry| FilledBox { number: number.to_owned(), label, entry };
    vec![
        filled(
            &form.number_of_disposals,
            "Number of disposals",
            Some(year.disposals.len().to_string()),
        ),
        filled(&form.disposal_proceeds, "Disposal proceeds", down(year.gross_proceeds)),
        filled(
            &form.allowable_costs,
            "Allowable costs (including purchase price)",
            up(year.allowable_cost + year.selling_costs),
        ),
        filled(
            &form.gains_before_losses,
            "Gains in the year, before losses",
            down(year.total_gain),
        ),
        filled(&form.losses_in_the_year, "Losses in the year", up(year.total_loss)),
        filled(
            &form.losses_brought_forward_used,
            "Losses brought forward and used in-year",
            losses.map(|estimate| whole(estimate.losses_used.pounds_up())),
        ),
        filled(
            &form.losses_to_carry_forward,
            "Losses available to be carried forward",
            losses.map(|estimate| whole(estimate.losses_carried_forward.pounds_up())),
        ),
        filled(
            &form.adjustment_to_capital_gains_tax,
            "Adjustment to Capital Gains Tax",
            adjustment,
        ),
    ]
}

/// Reasons why a year must be reported; empty when it need not be. `taxable` is the gain above the
/// exempt amount on all assets, before losses of earlier years.
pub fn reasons_to_report(
    year: &YearReport<'_>,
    taxable: Option<Money>,
    losses_used: Money,
    parameters: &Parameters,
) -> Vec<String> {
    let mut reasons = Vec::new();
    if let Some(taxable) = taxable
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

    const KNOWN: Known = Known { income: true, losses: true };

    #[test]
    fn boxes_of_many_small_disposals_differ_from_the_pence_by_less_than_a_pound() {
        // 300 sales with a gain of £1.40 each: £420, where rounding each sale gave £300.
        let mut text = String::from("2022-01-01 BUY A 300 @ 1.30\n");
        for day in 0..300 {
            let (month, day) = (5 + day / 28, 1 + day % 28);
            let (year, month) = if month > 12 { (2024, month - 12) } else { (2023, month) };
            text += &format!("{year}-{month:02}-{day:02} SELL A 1 @ 2.70\n");
        }
        let computation =
            compute(&dsl::parse(&text).unwrap(), &Rates::default(), Options::default()).unwrap();
        let parameters = Parameters::bundled().unwrap();
        let year = TaxYear::parse("2023").unwrap();
        let report = report(&computation, parameters, Some(year), Rounding::PerLeg);
        let of_year = &report.years[0];
        let entries = boxes(of_year, None, KNOWN, parameters);
        let gains = entries.iter().find(|filled| filled.number == "26").unwrap();
        let expected = of_year.disposals.len() * 140 / 100;
        assert_eq!(gains.entry, Some(expected.to_string()));
    }

    #[test]
    fn boxes_round_in_the_taxpayers_favour() {
        let text = "2022-01-01 BUY A 100 @ 10.005\n2024-12-01 SELL A 100 @ 200.259 FEES 9.95";
        let computation =
            compute(&dsl::parse(text).unwrap(), &Rates::default(), Options::default()).unwrap();
        let parameters = Parameters::bundled().unwrap();
        let year = TaxYear::parse("2024").unwrap();
        let report = report(&computation, parameters, Some(year), Rounding::PerLeg);
        let situation = Situation {
            taxable_income: Money::pounds(60_000),
            losses_brought_forward: Money::ZERO,
            basic_rate_band: None,
            other: &[],
        };
        let estimate = estimate(&report.years[0], parameters, situation).unwrap();
        let entries: Vec<(String, String)> =
            boxes(&report.years[0], Some(&estimate), KNOWN, parameters)
                .into_iter()
                .map(|filled| (filled.number, filled.entry.unwrap()))
                .collect();
        let expected = [
            ("23", "1"),
            ("24", "20025"),
            ("25", "1011"),
            ("26", "19015"),
            ("27", "0"),
            ("45", "0"),
            ("47", "0"),
            ("51", "640.62"),
        ];
        // 20,025.90 down; 1,000.50 + 9.95 = 1,010.45 up; 20,025.90 - 1,010.45 = 19,015.45 down;
        // (19,015.45 - 3,000) x (24 - 20) % = 640.62.
        assert_eq!(entries, expected.map(|(number, entry)| (number.to_owned(), entry.to_owned())));
        assert_eq!(
            reasons_to_report(
                &report.years[0],
                report.years[0].taxable_gain,
                Money::ZERO,
                parameters
            )
            .len(),
            1
        );
    }
}
