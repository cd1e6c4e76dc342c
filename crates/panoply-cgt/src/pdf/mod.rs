//! The report on paper: totals, every disposal with its matches and their law, what is left.

mod paper;

use crate::document::{COLUMNS, Heading, TITLE, dividends, notes, summary};
use crate::engine::report::{Report, RoundedDisposal, Rounding, YearReport};
use crate::money::Money;
use paper::{Paper, Style};

/// The report as a PDF document.
pub fn pdf(report: &Report<'_>, rounding: Rounding, heading: &Heading<'_>) -> Vec<u8> {
    let mut paper = Paper::new();
    opening(&mut paper, report, rounding, heading);
    for year in &report.years {
        disposals(&mut paper, year, rounding);
    }
    holdings(&mut paper, report, rounding);
    closing(&mut paper, report);
    paper.finish(TITLE)
}

fn opening(paper: &mut Paper, report: &Report<'_>, rounding: Rounding, heading: &Heading<'_>) {
    paper.write(Style::Title, TITLE);
    paper.gap(4);
    if let Some(name) = heading.name {
        paper.write(Style::Text, &format!("For {name}"));
    }
    paper.write(Style::Text, &heading.about(rounding));
    paper.gap(8);
    paper.write(Style::Heading, "Summary");
    paper.write(Style::RowHead, &row(&COLUMNS));
    for cells in summary(report, rounding) {
        paper.write(Style::Row, &row(&cells.each_ref().map(String::as_str)));
    }
    if report.years.is_empty() {
        paper.write(Style::Text, "Nothing was sold.");
    }
    for sentence in dividends(report, rounding) {
        paper.write(Style::Text, &sentence);
    }
}

fn disposals(paper: &mut Paper, year: &YearReport<'_>, rounding: Rounding) {
    if year.disposals.is_empty() {
        return;
    }
    paper.gap(12);
    paper.keep_together(80);
    paper.write(Style::Heading, &format!("Disposals in {}", year.year));
    for (number, disposal) in (1..).zip(&year.disposals) {
        one(paper, number, disposal, rounding);
    }
}

fn one(paper: &mut Paper, number: usize, rounded: &RoundedDisposal<'_>, rounding: Rounding) {
    let disposal = rounded.disposal;
    let text = |amount: Money| rounding.text(amount);
    paper.gap(5);
    paper.keep_together(40);
    let fees = match disposal.fees.is_zero() {
        true => String::new(),
        false => format!(", costs of selling £{}", text(disposal.fees)),
    };
    paper.write(
        Style::RowHead,
        &format!(
            "{number}. {}  {} {}  for £{}{fees}:  {}",
            disposal.date,
            disposal.quantity,
            disposal.ticker,
            text(rounded.gross),
            result(rounded.gain, rounding)
        ),
    );
    for original in disposal.originals.iter().flat_map(|originals| originals.iter()) {
        paper.write(
            Style::Row,
            &format!(
                "   {} {} at {} a pound ({})",
                original.gross,
                original.currency,
                original.rate.units_per_pound,
                original.rate.source.as_str()
            ),
        );
    }
    for leg in &rounded.legs {
        let from = match (leg.leg.acquired, &leg.leg.pool) {
            (Some(date), _) => format!("bought {date}"),
            (None, Some(pool)) => format!(
                "pool of {} that had cost £{}",
                pool.before.quantity,
                text(pool.before.cost)
            ),
            (None, None) => "pool".to_owned(),
        };
        let (rule, quantity) = (leg.leg.rule.title(), leg.leg.quantity);
        paper.write(
            Style::Row,
            &format!(
                "   {rule}: {quantity}, {from}; cost £{}, {}",
                text(leg.cost),
                result(leg.gain, rounding)
            ),
        );
    }
}

fn holdings(paper: &mut Paper, report: &Report<'_>, rounding: Rounding) {
    let held: Vec<_> = report.holdings.iter().filter(|held| !held.quantity.is_zero()).collect();
    paper.gap(12);
    paper.keep_together(60);
    paper.write(Style::Heading, "Section 104 holdings at the end");
    if held.is_empty() {
        paper.write(Style::Text, "None.");
    }
    for held in held {
        paper.write(
            Style::Row,
            &format!(
                "{:<24}{:>24}{:>24}",
                held.ticker.as_str(),
                held.quantity.to_string(),
                format!("cost {}", rounding.text(held.cost))
            ),
        );
    }
    if !report.transfers.is_empty() {
        paper.gap(12);
        paper.write(Style::Heading, "Transfers to the spouse or civil partner");
    }
    for transfer in &report.transfers {
        paper.write(
            Style::Row,
            &format!(
                "{}  {} {}  at a cost of £{}",
                transfer.date,
                transfer.quantity,
                transfer.ticker,
                rounding.text(transfer.cost)
            ),
        );
    }
}

fn closing(paper: &mut Paper, report: &Report<'_>) {
    paper.gap(12);
    paper.keep_together(90);
    paper.write(Style::Heading, "Notes");
    for note in notes(report) {
        paper.write(Style::Text, &note);
    }
}

/// `gain £5.00` or `loss £5.00`.
fn result(gain: Money, rounding: Rounding) -> String {
    match gain.is_negative() {
        true => format!("loss £{}", rounding.text(-gain)),
        false => format!("gain £{}", rounding.text(gain)),
    }
}

/// Cells of a table: the first to the left, the others to the right.
fn row(cells: &[&str]) -> String {
    let mut text = String::new();
    for (place, cell) in cells.iter().enumerate() {
        match place {
            0 => text += &format!("{cell:<9}"),
            1 => text += &format!("{cell:>10}"),
            _ => text += &format!(" {cell:>11}"),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dsl;
    use crate::engine::report::report;
    use crate::engine::{Options, compute};
    use crate::fx::Rates;
    use crate::parameters::Parameters;

    #[test]
    fn pdf_report_shows_the_figures() {
        let rows = dsl::parse("2024-01-15 BUY AAPL 100 @ 150 USD FEES 10 USD\n2024-06-20 SELL AAPL 50 @ 180 USD FEES 5 USD\n2024-06-25 BUY AAPL 10 @ 170 USD").unwrap();
        let computation = compute(&rows, &Rates::default(), Options::default()).unwrap();
        let report = report(&computation, Parameters::bundled().unwrap(), None, Rounding::PerLeg);
        let heading = Heading {
            name: Some("A (Person)"),
            transactions: rows.len(),
            parameters_as_of: "2026-11-15".to_owned(),
        };
        let bytes = pdf(&report, Rounding::PerLeg, &heading);
        let text: String = bytes.iter().map(|byte| char::from(*byte)).collect();
        for word in [
            "994.16",
            "7081.60",
            "1337.63",
            "4745.87",
            "bought 2024-06-25",
            "1.2709",
            "For A \\(Person\\)",
            "7118.80",
            "s.106A",
            "2024/25",
        ] {
            assert!(text.contains(word), "{word} is not in it");
        }
        assert_eq!(bytes, pdf(&report, Rounding::PerLeg, &heading), "the same bytes every time");
    }
}
