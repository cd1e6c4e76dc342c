//! Text of the report document, shared by the HTML and PDF renderers.

use std::collections::BTreeSet;

use crate::engine::report::{Report, Rounding};
use crate::engine::{Disposal, Occasion, Rule};
use crate::money::Money;

pub(crate) const TITLE: &str = "Capital Gains Tax report";

/// Heading of the document.
#[derive(Clone, Debug)]
pub struct Heading<'a> {
    /// Taxpayer's name.
    pub name: Option<&'a str>,
    /// Number of transactions.
    pub transactions: usize,
    /// Date on which the exempt amounts were verified.
    pub parameters_as_of: String,
}

impl Heading<'_> {
    /// Describes the input and the rounding.
    pub(crate) fn about(&self, rounding: Rounding) -> String {
        let rounded = match rounding {
            Rounding::PerLeg => "Figures are rounded to the penny, match by match.",
            Rounding::Exact => "Figures are not rounded; ten decimals are shown.",
            Rounding::WholePounds => "Figures are in whole pounds: proceeds down, costs up.",
        };
        format!(
            "Made from {} transactions. Amounts are in pounds sterling. {rounded} Exempt amounts as of {}.",
            self.transactions, self.parameters_as_of
        )
    }
}

/// Columns of the summary.
pub(crate) const COLUMNS: [&str; 9] =
    ["tax year", "disposals", "proceeds", "costs", "gains", "losses", "net", "exempt", "taxable"];

/// Summary, one row per tax year.
pub(crate) fn summary(report: &Report<'_>, rounding: Rounding) -> Vec<[String; 9]> {
    let unknown = || "unknown".to_owned();
    let row = |year: &crate::engine::report::YearReport<'_>| {
        let text = |amount| rounding.text(amount);
        [
            year.year.to_string(),
            year.disposals.len().to_string(),
            text(year.gross_proceeds),
            text(year.allowable_cost + year.selling_costs),
            text(year.total_gain),
            text(year.total_loss),
            text(year.net_gain),
            year.exempt_amount.map_or_else(unknown, text),
            year.taxable_gain.map_or_else(unknown, text),
        ]
    };
    report.years.iter().map(row).collect()
}

/// What happened, to which holding and when.
pub(crate) fn disposal_title(disposal: &Disposal) -> String {
    let Disposal { date, ticker, quantity, .. } = disposal;
    match disposal.occasion {
        Occasion::Sale => format!("{ticker} on {date}: {quantity} shares sold"),
        Occasion::CapitalDistribution => format!("{ticker} on {date}: capital distribution"),
        Occasion::TakeoverCash => format!("{ticker} on {date}: cash in a takeover"),
        Occasion::NegligibleValue => format!("{ticker} on {date}: claim of negligible value"),
    }
}

/// `gain £5.00` or `loss £5.00`.
pub(crate) fn result(gain: Money, rounding: Rounding) -> String {
    match gain.is_negative() {
        true => format!("loss £{}", rounding.text(-gain)),
        false => format!("gain £{}", rounding.text(gain)),
    }
}

/// Title of the holdings.
pub(crate) fn holdings_title(report: &Report<'_>) -> String {
    match report.holdings_at {
        Some(date) => format!("Section 104 holdings at the end of {date}"),
        None => "Section 104 holdings after the last transaction".to_owned(),
    }
}

/// One sentence per tax year with dividends.
pub(crate) fn dividends(report: &Report<'_>, rounding: Rounding) -> Vec<String> {
    let years = report.years.iter().filter(|year| !year.dividends.income.is_zero());
    years
        .map(|year| {
            let (income, tax) =
                (rounding.text(year.dividends.income), rounding.text(year.dividends.tax));
            format!("Dividends in {}: £{income}, tax withheld £{tax}.", year.year)
        })
        .collect()
}

/// Notes: statutory references and warnings.
pub(crate) fn notes(report: &Report<'_>) -> Vec<String> {
    let used: BTreeSet<Rule> = report
        .years
        .iter()
        .flat_map(|year| &year.disposals)
        .flat_map(|disposal| &disposal.legs)
        .map(|leg| leg.leg.rule)
        .collect();
    let mut notes: Vec<String> =
        used.iter().map(|rule| format!("{}: {}.", rule.title(), rule.law())).collect();
    notes.push("Foreign amounts are converted at HMRC's rate for the month of the transaction, unless another rate is named.".to_owned());
    notes.push("Taxable is the net gain above the exempt amount, before losses of earlier years. This is not tax advice.".to_owned());
    notes.extend(report.warnings.iter().map(|warning| format!("Note: {warning}.")));
    notes
}
