//! Report as PDF: totals, disposals with matches and statutory references, remaining holdings, entries
//! of the return, exchange rates and transactions.

mod fallback;
mod writer;

use std::io::{self, Write};

use crate::document::{
    COLUMNS, Heading, TITLE, disposal_title, dividends, holding_name, holdings_title, notes,
    result, summary, too_many,
};
use crate::engine::report::{Report, RoundedDisposal, Rounding, YearReport};
use crate::money::Money;
use crate::security::Securities;
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
        write_disposals(&mut writer, report, year, rounding);
    }
    write_holdings(&mut writer, report, rounding);
    write_boxes(&mut writer, heading);
    write_rates(&mut writer, heading);
    write_transactions(&mut writer, heading);
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

fn write_disposals(
    writer: &mut PdfWriter<'_>,
    report: &Report<'_>,
    year: &YearReport<'_>,
    rounding: Rounding,
) {
    if year.disposals.is_empty() {
        return;
    }
    writer.gap(12);
    writer.reserve(80);
    writer.write(Style::Heading, &format!("Disposals in {}", year.year));
    for (number, disposal) in (1..).zip(&year.disposals) {
        write_disposal(writer, (number, disposal), report.securities, rounding);
    }
}

fn write_disposal(
    writer: &mut PdfWriter<'_>,
    (number, rounded): (usize, &RoundedDisposal<'_>),
    securities: &Securities,
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
            disposal_title(disposal, securities),
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
                "{:>24}{:>24}   {}",
                held.quantity.to_string(),
                format!("cost {}", rounding.text(held.cost)),
                holding_name(&held.ticker, report.securities)
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

fn write_boxes(writer: &mut PdfWriter<'_>, heading: &Heading<'_>) {
    for (year, boxes) in &heading.boxes {
        writer.gap(12);
        writer.reserve(110);
        writer.write(Style::Heading, &format!("Entries of form SA108 for {year}"));
        let mut section = "";
        for filled in boxes {
            if filled.section != section {
                section = filled.section;
                writer.write(Style::RowHead, section);
            }
            let entry = filled.entry.as_deref().unwrap_or_default();
            let line = format!("{:>6}  {:<60}{entry:>16}", filled.number, filled.label);
            writer.write(Style::Row, &line);
        }
    }
}

fn write_rates(writer: &mut PdfWriter<'_>, heading: &Heading<'_>) {
    if heading.rates.is_empty() {
        return;
    }
    writer.gap(12);
    writer.reserve(60);
    writer.write(Style::Heading, "Exchange rates used");
    for used in &heading.rates {
        let (units, source) = (used.rate.units_per_pound.to_string(), used.rate.source.as_str());
        let (currency, month) = (used.currency.to_string(), used.month.to_string());
        writer.write(Style::Row, &format!("{currency}  {month}  {units:>14} a pound  ({source})"));
    }
}

fn write_transactions(writer: &mut PdfWriter<'_>, heading: &Heading<'_>) {
    writer.gap(12);
    writer.reserve(60);
    writer.write(Style::Heading, "Transactions");
    match heading.transactions() {
        Some(lines) => lines.for_each(|line| writer.write(Style::Row, &line)),
        None => writer.write(Style::Text, &too_many(heading)),
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
        let parameters = Parameters::bundled().unwrap();
        let report = report(&computation, parameters, None, Rounding::PerLeg);
        let rates = Rates::default();
        let heading = Heading::of(&report, Some("A (Person)"), &rows, &rates, parameters);
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
            "2024-06-20 SELL AAPL 50 @ 180 USD FEES 5 USD",
            "Listed shares and securities",
            "USD  2024-06",
        ] {
            assert!(text.contains(word), "{word} is not in it");
        }
        assert_eq!(bytes, pdf(), "the same bytes every time");
    }
}
