//! Text of the report document, shared by the HTML and PDF renderers.

use std::collections::BTreeSet;

use crate::currency::Currency;
use crate::dsl;
use crate::engine::report::{Report, Rounding};
use crate::engine::{Disposal, Occasion, Rule};
use crate::fx::{Month, Rate, Rates};
use crate::money::Money;
use crate::parameters::Parameters;
use crate::sa108::{self, FilledBox, Known};
use crate::security::Securities;
use crate::tax_year::TaxYear;
use crate::transaction::{Row, Ticker};

pub(crate) const TITLE: &str = "Capital Gains Tax report";

/// What the document has beside the report.
#[derive(Clone, Debug)]
pub struct Heading<'a> {
    /// Taxpayer's name.
    pub name: Option<&'a str>,
    /// The transactions.
    pub rows: &'a [Row],
    /// Date on which the exempt amounts were verified.
    pub parameters_as_of: String,
    /// Entries of form SA108, by year.
    pub boxes: Vec<(TaxYear, Vec<FilledBox>)>,
    /// Published exchange rates that were used.
    pub rates: Vec<RateUsed>,
}

/// A published exchange rate.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RateUsed {
    /// Currency.
    pub currency: Currency,
    /// Month.
    pub month: Month,
    /// Rate and its source.
    pub rate: Rate,
}

/// Transactions that a document lists; those of longer histories are in the person's own files.
const MAX_TRANSACTIONS: usize = 20_000;

impl<'a> Heading<'a> {
    /// Collects entries and rates of a report.
    pub fn of(
        report: &Report<'_>,
        name: Option<&'a str>,
        rows: &'a [Row],
        rates: &Rates,
        parameters: &Parameters,
    ) -> Self {
        Self {
            name,
            rows,
            parameters_as_of: parameters.as_of.to_string(),
            boxes: return_boxes(report, parameters),
            rates: rates_used(rows, rates),
        }
    }

    /// Describes the input and the rounding.
    pub(crate) fn about(&self, rounding: Rounding) -> String {
        let rounded = match rounding {
            Rounding::PerLeg => "Figures are rounded to the penny, match by match.",
            Rounding::Exact => "Figures are not rounded; ten decimals are shown.",
            Rounding::WholePounds => "Figures are in whole pounds: proceeds down, costs up.",
        };
        format!(
            "Made from {} transactions. Amounts are in pounds sterling. {rounded} Exempt amounts as of {}.",
            self.rows.len(),
            self.parameters_as_of
        )
    }

    /// The transactions by date, in canonical form; `None` when they are too many to list.
    pub(crate) fn transactions(&self) -> Option<impl Iterator<Item = String> + use<'a>> {
        let mut rows: Vec<&Row> = self.rows.iter().collect();
        rows.sort_by_key(|row| row.transaction.date);
        (rows.len() <= MAX_TRANSACTIONS)
            .then(|| rows.into_iter().map(|row| dsl::line(&row.transaction)))
    }
}

/// Says that the transactions are too many to list.
pub(crate) fn too_many(heading: &Heading<'_>) -> String {
    format!(
        "The {} transactions are more than the {MAX_TRANSACTIONS} that a document lists; they are in the files given.",
        heading.rows.len()
    )
}

/// Entries of the years with disposals. Those that need the person's income or losses are left out.
fn return_boxes(report: &Report<'_>, parameters: &Parameters) -> Vec<(TaxYear, Vec<FilledBox>)> {
    let known = Known { income: false, losses: false };
    let years = report.years.iter().filter(|year| !year.disposals.is_empty());
    years
        .map(|year| {
            let boxes = sa108::boxes(year, (report.securities, &[]), None, known, parameters);
            (year.year, boxes.into_iter().filter(|filled| filled.entry.is_some()).collect())
        })
        .collect()
}

/// Published rates of the transactions, by currency and month. A rate that is written on a
/// transaction is shown with it.
fn rates_used(rows: &[Row], rates: &Rates) -> Vec<RateUsed> {
    let mut used = BTreeSet::new();
    for row in rows {
        let month = Month::of(row.transaction.date);
        row.transaction.kind.for_each_amount(|amount| {
            if amount.currency().is_foreign()
                && amount.rate().is_none()
                && !amount.value().is_zero()
            {
                used.insert((amount.currency(), month));
            }
        });
    }
    used.into_iter()
        .filter_map(|(currency, month)| {
            Some(RateUsed { currency, month, rate: rates.monthly(currency, month).ok()? })
        })
        .collect()
}

/// Ticker, with the name of the security when it is known.
pub(crate) fn holding_name(ticker: &Ticker, securities: &Securities) -> String {
    match securities.get(ticker).and_then(|security| security.name.as_deref()) {
        Some(name) => format!("{ticker} ({name})"),
        None => ticker.to_string(),
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
pub(crate) fn disposal_title(disposal: &Disposal, securities: &Securities) -> String {
    let Disposal { date, ticker, quantity, .. } = disposal;
    let ticker = holding_name(ticker, securities);
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
