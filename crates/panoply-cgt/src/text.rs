//! Report as plain text, for the terminal.

use std::io::{self, Write};

use crate::document::{COLUMNS, dividends, holdings_title, result, summary};
use crate::engine::report::{Report, Rounding};

/// Writes the report.
pub fn write(report: &Report<'_>, rounding: Rounding, out: &mut dyn Write) -> io::Result<()> {
    if report.years.is_empty() {
        writeln!(out, "Nothing was sold.")?;
    } else {
        row(&COLUMNS, out)?;
    }
    for cells in summary(report, rounding) {
        row(&cells.each_ref().map(String::as_str), out)?;
    }
    for sentence in dividends(report, rounding) {
        writeln!(out, "{sentence}")?;
    }
    for year in report.years.iter().filter(|year| !year.disposals.is_empty()) {
        writeln!(out, "\nDisposals in {}", year.year)?;
        for rounded in &year.disposals {
            let disposal = rounded.disposal;
            let rules: Vec<&str> = rounded.legs.iter().map(|leg| leg.leg.rule.title()).collect();
            writeln!(
                out,
                "{}  {:<12} {:>14}  {:>14}  {:<20} {}",
                disposal.date,
                disposal.ticker,
                disposal.quantity.to_string(),
                rounding.text(rounded.gross),
                result(rounded.gain, rounding),
                rules.join(", ")
            )?;
        }
    }
    writeln!(out, "\n{}", holdings_title(report))?;
    for held in report.holdings.iter().filter(|held| !held.quantity.is_zero()) {
        let (shares, cost) = (held.quantity.to_string(), rounding.text(held.cost));
        writeln!(out, "{:<12} {shares:>16}  cost {cost:>14}", held.ticker)?;
    }
    for warning in &report.warnings {
        writeln!(out, "note: {warning}")?;
    }
    Ok(())
}

fn row(cells: &[&str], out: &mut dyn Write) -> io::Result<()> {
    for (index, cell) in cells.iter().enumerate() {
        match index {
            0 => write!(out, "{cell:<9}")?,
            _ => write!(out, " {cell:>13}")?,
        }
    }
    writeln!(out)
}
