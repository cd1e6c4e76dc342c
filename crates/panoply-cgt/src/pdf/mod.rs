//! Report as PDF: totals, disposals with matches and statutory references, remaining holdings.

mod writer;

use std::io::{self, Write};

use crate::document::{
    COLUMNS, Heading, TITLE, disposal_title, dividends, holdings_title, notes, result, summary,
};
use crate::engine::report::{Report, RoundedDisposal, Rounding, YearReport};
use crate::money::Money;
use writer::{PdfWriter, Style};

/// Writes the report, page by page.
pub fn write(
    report: &Report<'_>,
    rounding: Rounding,
    heading: &Heading<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut writer = PdfWriter::new(TITLE, out);
    write_summary(&mut writer, report, rounding, heading);
    for year in &report.years {
        write_disposals(&mut writer, year, rounding);
    }
    write_holdings(&mut writer, report, rounding);
    write_notes(&mut writer, report);
    writer.finish()
}

fn write_summary(
    writer: &mut PdfWriter<'_>,
    report: &Report<'_>,
    rounding: Rounding,
    heading: &Heading<'_>,
) {
    writer.write(Style::Title, TITLE);
    writer.gap(4);
    if let Some(name) = heading.name {
        writer.write(Style::Text, &format!("For {name}"));
    }
    writer.write(Style::Text, &heading.about(rounding));
    writer.gap(8);
    writer.write(Style::Heading, "Summary");
    writer.write(Style::RowHead, &row(&COLUMNS));
    for cells in summary(report, rounding) {
        writer.write(Style::Row, &row(&cells.each_ref().map(String::as_str)));
    }
    if report.years.is_empty() {
        writer.write(Style::Text, "Nothing was sold.");
    }
    for sentence in dividends(report, rounding) {
        writer.write(Style::Text, &sentence);
    }
}

fn write_disposals(writer: &mut PdfWriter<'_>, year: &YearReport<'_>, rounding: Rounding) {
    if year.disposals.is_empty() {
        return;
    }
    writer.gap(12);
    writer.reserve(80);
    writer.write(Style::Heading, &format!("Disposals in {}", year.year));
    for (number, disposal) in (1..).zip(&year.disposals) {
        write_disposal(writer, number, disposal, rounding);
    }
}

fn write_disposal(
    writer: &mut PdfWriter<'_>,
    number: usize,
    rounded: &RoundedDisposal<'_>,
    rounding: Rounding,
) {
    let disposal = rounded.disposal;
    let text = |amount: Money| rounding.text(amount);
    writer.gap(5);
    writer.reserve(40);
    let fees = match disposal.fees.is_zero() {
        true => String::new(),
        false => format!(", costs of selling £{}", text(disposal.fees)),
    };
    writer.write(
        Style::RowHead,
        &format!(
            "{number}. {} for £{}{fees}:  {}",
            disposal_title(disposal),
            text(rounded.gross),
            result(rounded.gain, rounding)
        ),
    );
    for original in disposal.originals.iter().flat_map(|originals| originals.iter()) {
        writer.write(
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
        writer.write(
            Style::Row,
            &format!(
                "   {rule}: {quantity}, {from}; cost £{}, {}",
                text(leg.cost),
                result(leg.gain, rounding)
            ),
        );
    }
}

fn write_holdings(writer: &mut PdfWriter<'_>, report: &Report<'_>, rounding: Rounding) {
    let held: Vec<_> = report.holdings.iter().filter(|held| !held.quantity.is_zero()).collect();
    writer.gap(12);
    writer.reserve(60);
    writer.write(Style::Heading, &holdings_title(report));
    if held.is_empty() {
        writer.write(Style::Text, "None.");
    }
    for held in held {
        writer.write(
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
        writer.gap(12);
        writer.write(Style::Heading, "Transfers to the spouse or civil partner");
    }
    for transfer in &report.transfers {
        writer.write(
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

fn write_notes(writer: &mut PdfWriter<'_>, report: &Report<'_>) {
    writer.gap(12);
    writer.reserve(90);
    writer.write(Style::Heading, "Notes");
    for note in notes(report) {
        writer.write(Style::Text, &note);
    }
}

/// Formats a table row: first cell left-aligned, the others right-aligned.
fn row(cells: &[&str]) -> String {
    let mut text = String::new();
    for (index, cell) in cells.iter().enumerate() {
        match index {
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
        let pdf = || {
            let mut bytes = Vec::new();
            write(&report, Rounding::PerLeg, &heading, &mut bytes).unwrap();
            bytes
        };
        let bytes = pdf();
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
        assert_eq!(bytes, pdf(), "the same bytes every time");
    }
}
