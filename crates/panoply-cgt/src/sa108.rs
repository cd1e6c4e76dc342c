//! Entries of form SA108, and whether a return is required.
//!
//! The form takes whole pounds. Each entry is a total in pence, rounded once in the taxpayer's
//! favour: proceeds and gains down, costs and losses up. Rounding each disposal first would move the
//! totals of an active trader by hundreds of pounds. Allowable costs include costs of disposal.

use std::collections::BTreeMap;

use crate::engine::report::{RoundedDisposal, YearReport};
use crate::estimate::{Estimate, OtherGain};
use crate::money::Money;
use crate::parameters::{AssetClass, Parameters, Sa108Boxes, Section};
use crate::security::Securities;

/// A box with its entry.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct FilledBox {
    /// Section of the form.
    pub section: &'static str,
    /// Box number; empty when those of the year's form are not known.
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

/// Labels of a section's boxes.
const LABELS: [&str; 5] = [
    "Number of disposals",
    "Disposal proceeds",
    "Allowable costs (including purchase price)",
    "Gains in the year, before losses",
    "Losses in the year",
];

/// Fills the boxes of a year, which must be rounded to the penny. The section of listed shares is
/// always there, the others when they have disposals.
pub fn boxes(
    year: &YearReport<'_>,
    (securities, other): (&Securities, &[OtherGain]),
    estimate: Option<&Estimate>,
    known: Known,
    parameters: &Parameters,
) -> Vec<FilledBox> {
    let form = &parameters.sa108;
    let adjustment = estimate.map(|estimate| estimate.tax - estimate.tax_at_first_rates);
    let two_rates = estimate.is_some_and(|estimate| estimate.periods.len() > 1);
    let answered = !two_rates || (known.income && known.losses);
    let adjustment = adjustment.filter(|_| answered).map(|amount| amount.to_string());
    let losses = estimate.filter(|_| known.losses);
    let mut boxes = property(other, form);
    for (section, figures) in sections(year, securities, form) {
        let entries = figures.entries().into_iter().zip(form.boxes(section));
        boxes.extend(entries.zip(LABELS).map(|((entry, number), label)| FilledBox {
            section: section.title(),
            number: number.clone(),
            label,
            entry: Some(entry),
        }));
    }
    let last = [
        (
            "Losses and adjustments",
            &form.losses_brought_forward_used,
            "Losses brought forward and used in-year",
            losses.map(|estimate| whole(estimate.losses_used.pounds_up())),
        ),
        (
            "Losses and adjustments",
            &form.losses_to_carry_forward,
            "Losses available to be carried forward",
            losses.map(|estimate| whole(estimate.losses_carried_forward.pounds_up())),
        ),
        (
            "Losses and adjustments",
            &form.adjustment_to_capital_gains_tax,
            "Adjustment to Capital Gains Tax",
            adjustment,
        ),
    ];
    boxes.extend(last.into_iter().map(|(section, number, label, entry)| FilledBox {
        section,
        number: number.clone(),
        label,
        entry,
    }));
    if !form.has_numbers(year.year) {
        boxes.iter_mut().for_each(|filled| filled.number.clear());
    }
    boxes
}

/// Sums of a section.
#[derive(Clone, Copy, Debug, Default)]
struct Figures {
    disposals: usize,
    proceeds: Money,
    costs: Money,
    gains: Money,
    losses: Money,
}

impl Figures {
    fn add(&mut self, disposal: &RoundedDisposal<'_>) {
        self.disposals += 1;
        self.proceeds += disposal.gross;
        self.costs += disposal.legs.iter().map(|leg| leg.cost).sum();
        self.costs += disposal.disposal.fees.to_pence();
        match disposal.gain.is_negative() {
            true => self.losses -= disposal.gain,
            false => self.gains += disposal.gain,
        }
    }

    /// Entries in the order of [`LABELS`].
    fn entries(&self) -> [String; 5] {
        [
            self.disposals.to_string(),
            whole(self.proceeds.pounds_down()),
            whole(self.costs.pounds_up()),
            whole(self.gains.pounds_down()),
            whole(self.losses.pounds_up()),
        ]
    }
}

/// Sums of the sections with disposals, and of listed shares, in the order of the form.
fn sections(
    year: &YearReport<'_>,
    securities: &Securities,
    form: &Sa108Boxes,
) -> BTreeMap<Section, Figures> {
    let mut sections = BTreeMap::from([(Section::Listed, Figures::default())]);
    for disposal in &year.disposals {
        let class = securities.class(&disposal.disposal.ticker);
        if let Some(section) = form.section(class, year.year) {
            sections.entry(section).or_default().add(disposal);
        }
    }
    sections
}

/// Residential property and carried interest as entered: gains and losses only.
fn property(other: &[OtherGain], form: &Sa108Boxes) -> Vec<FilledBox> {
    let of = |class: AssetClass| other.iter().filter(move |other| other.class == class);
    let sum = |class: AssetClass| -> (Money, Money) {
        (of(class).map(|other| other.gain).sum(), of(class).map(|other| other.loss).sum())
    };
    let filled = |number: &str, label, entry: Option<String>| FilledBox {
        section: Section::Property.title(),
        number: number.to_owned(),
        label,
        entry,
    };
    let mut boxes = Vec::new();
    if of(AssetClass::ResidentialProperty).next().is_some() {
        let (gains, losses) = sum(AssetClass::ResidentialProperty);
        let count = of(AssetClass::ResidentialProperty).count().to_string();
        let known = [
            Some(count),
            None,
            None,
            Some(whole(gains.pounds_down())),
            Some(whole(losses.pounds_up())),
        ];
        let numbered = form.property.iter().zip(LABELS).zip(known);
        boxes.extend(numbered.map(|((number, label), entry)| filled(number, label, entry)));
    }
    if of(AssetClass::CarriedInterest).next().is_some() {
        let (gains, _) = sum(AssetClass::CarriedInterest);
        boxes.push(filled(
            &form.carried_interest,
            "Carried interest",
            Some(whole(gains.pounds_down())),
        ));
    }
    boxes
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
        let entries = boxes(of_year, (report.securities, &[]), None, KNOWN, parameters);
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
            boxes(&report.years[0], (report.securities, &[]), Some(&estimate), KNOWN, parameters)
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

    fn filled(text: &str, year: &str, other: &[OtherGain]) -> Vec<(String, String)> {
        let rows = dsl::parse(text).unwrap();
        let computation = compute(&rows, &Rates::default(), Options::default()).unwrap();
        let parameters = Parameters::bundled().unwrap();
        let year = TaxYear::parse(year).unwrap();
        let report = report(&computation, parameters, Some(year), Rounding::PerLeg);
        boxes(&report.years[0], (report.securities, other), None, KNOWN, parameters)
            .into_iter()
            .filter_map(|filled| Some((filled.number, filled.entry?)))
            .collect()
    }

    #[test]
    fn each_class_has_its_section_of_the_years_form() {
        let lines = |year: &str| {
            format!(
                "2015-01-01 BUY L 1 @ 10\n2015-01-01 BUY U 1 @ 20\n2015-01-01 BUY BTC 1 @ 30\n2015-01-01 BUY G 1 @ 90\n2015-01-01 SECURITY U CLASS unlisted\n2015-01-01 SECURITY BTC CLASS crypto\n2015-01-01 SECURITY G CLASS gilt\n{year}-06-01 SELL L 1 @ 11\n{year}-06-01 SELL U 1 @ 15\n{year}-06-01 SELL BTC 1 @ 100\n{year}-06-01 SELL G 1 @ 100"
            )
        };
        let pairs = |found: &[(&str, &str)]| -> Vec<(String, String)> {
            found
                .iter()
                .map(|(number, entry)| ((*number).to_owned(), (*entry).to_owned()))
                .collect()
        };
        let shares = [
            ("23", "1"),
            ("24", "11"),
            ("25", "10"),
            ("26", "1"),
            ("27", "0"),
            ("31", "1"),
            ("32", "15"),
            ("33", "20"),
            ("34", "0"),
            ("35", "5"),
        ];
        // HMRC's form of 2024/25 has a section for cryptoassets; before, they were other assets.
        let crypto =
            [("13.1", "1"), ("13.2", "100"), ("13.3", "30"), ("13.4", "70"), ("13.5", "0")];
        assert_eq!(
            filled(&lines("2024"), "2024", &[]),
            pairs(&[&crypto[..], &shares[..]].concat())
        );
        let other = [("14", "1"), ("15", "100"), ("16", "30"), ("17", "70"), ("19", "0")];
        assert_eq!(filled(&lines("2023"), "2023", &[]), pairs(&[&other[..], &shares[..]].concat()));
        let unknown = filled(&lines("2015"), "2015", &[]);
        assert!(unknown.iter().all(|(number, _)| number.is_empty()), "{unknown:?}");
    }

    #[test]
    fn property_and_carried_interest_are_entered_as_given() {
        let flat = OtherGain {
            class: AssetClass::ResidentialProperty,
            date: None,
            gain: Money::pounds(20_000),
            loss: Money::ZERO,
        };
        let carried = OtherGain { class: AssetClass::CarriedInterest, ..flat };
        let found = filled("2015-01-01 BUY L 1 @ 10", "2023", &[flat, carried]);
        let start: Vec<(&str, &str)> =
            found.iter().take(4).map(|(number, entry)| (number.as_str(), entry.as_str())).collect();
        assert_eq!(start, [("3", "1"), ("6", "20000"), ("7", "0"), ("13", "20000")]);
    }
}
