//! Report as CSV: one row per match, in the order of the report.

use std::io::{self, Write};

use crate::engine::report::{Report, Rounding};

const COLUMNS: [&str; 15] = [
    "tax_year",
    "date",
    "ticker",
    "occasion",
    "shares",
    "gross_proceeds",
    "selling_costs",
    "gain_or_loss",
    "rule",
    "matched_shares",
    "acquired",
    "allowable_cost",
    "match_gain_or_loss",
    "pool_shares_before",
    "pool_cost_before",
];

/// Writes the report.
pub fn write(report: &Report<'_>, rounding: Rounding, out: &mut dyn Write) -> io::Result<()> {
    let mut csv = csv::Writer::from_writer(out);
    csv.write_record(COLUMNS)?;
    for year in &report.years {
        for rounded in &year.disposals {
            let disposal = rounded.disposal;
            for leg in &rounded.legs {
                let before = leg.leg.pool.as_ref().map(|pool| pool.before);
                csv.write_record([
                    year.year.to_string(),
                    disposal.date.to_string(),
                    disposal.ticker.to_string(),
                    disposal.occasion.as_str().to_owned(),
                    disposal.quantity.to_string(),
                    rounding.text(rounded.gross),
                    rounding.text(disposal.fees),
                    rounding.text(rounded.gain),
                    leg.leg.rule.as_str().to_owned(),
                    leg.leg.quantity.to_string(),
                    leg.leg.acquired.map_or_else(String::new, |date| date.to_string()),
                    rounding.text(leg.cost),
                    rounding.text(leg.gain),
                    before.map_or_else(String::new, |pool| pool.quantity.to_string()),
                    before.map_or_else(String::new, |pool| rounding.text(pool.cost)),
                ])?;
            }
        }
    }
    csv.flush()
}
