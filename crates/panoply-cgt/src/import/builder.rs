//! Common part of all importers: parses fields, builds transactions, collects warnings.

use std::collections::BTreeMap;

use jiff::civil::Date;
use rust_decimal::Decimal;

use super::{FileName, Imported};
use crate::currency::Currency;
use crate::dsl;
use crate::transaction::{Amount, Kind, Quantity, Row, SourceLocation, Ticker, Transaction};

/// Transactions and warnings of one file.
pub(super) struct ImportBuilder {
    file: FileName,
    rows: Vec<Row>,
    warnings: Vec<String>,
    skipped: BTreeMap<String, usize>,
}

/// Fields of a trade as exported.
pub(super) struct Trade<'a> {
    pub(super) date: Option<Date>,
    pub(super) ticker: &'a str,
    pub(super) sells: bool,
    pub(super) quantity: &'a str,
    pub(super) price: &'a str,
    pub(super) currency: &'a str,
    pub(super) fees: Vec<(&'a str, &'a str)>,
}

impl ImportBuilder {
    pub(super) fn new(file: &str) -> Self {
        Self { file: file.into(), rows: Vec::new(), warnings: Vec::new(), skipped: BTreeMap::new() }
    }

    pub(super) fn finish(mut self) -> Imported {
        self.rows.sort_by_key(|row| row.transaction.date);
        Imported {
            rows: self.rows,
            warnings: self.warnings,
            skipped: self.skipped,
            duplicates: Vec::new(),
        }
    }

    /// Adds a warning for manual review.
    pub(super) fn warn(&mut self, line: u32, message: impl AsRef<str>) {
        let location = SourceLocation { file: Some(self.file.clone()), line };
        self.warnings.push(format!("{location}: {}", message.as_ref()));
    }

    /// Warns that the file is not in the expected format.
    pub(super) fn not_recognised(&mut self, expected: &str) {
        self.warn(1, format!("the file is not in the broker's format: {expected}"));
    }

    /// Counts a row that is not about shares.
    pub(super) fn skip(&mut self, what: &str) {
        *self.skipped.entry(what.to_owned()).or_default() += 1;
    }

    pub(super) fn push(&mut self, line: u32, date: Date, ticker: Ticker, kind: Kind) {
        let transaction = Transaction { date, ticker, kind };
        self.rows.push(Row {
            transaction,
            location: SourceLocation { file: Some(self.file.clone()), line },
        });
    }

    /// Adds a purchase or sale, or warns about the fields that cannot be parsed.
    pub(super) fn trade(&mut self, line: u32, trade: &Trade<'_>) {
        let Some((date, ticker)) = self.date_and_ticker(line, trade.date, trade.ticker) else {
            return;
        };
        let quantity = amount(trade.quantity).map(|number| number.abs()).and_then(Quantity::new);
        let price = self.money(trade.price, trade.currency);
        let fees = self.fees(line, &trade.fees);
        let (Some(quantity), Some(price)) = (quantity, price) else {
            let (quantity, price, currency) = (trade.quantity, trade.price, trade.currency);
            return self.warn(line, format!("a trade of {ticker} is left out: quantity `{quantity}` or price `{price} {currency}` cannot be read"));
        };
        for (quantity, fees) in portions(quantity, fees) {
            let kind = if trade.sells {
                Kind::Sell { quantity, price, fees }
            } else {
                Kind::Buy { quantity, price, fees }
            };
            self.push(line, date, ticker.clone(), kind);
        }
    }

    /// Sums the fees per currency.
    fn fees(&mut self, line: u32, fees: &[(&str, &str)]) -> Vec<Amount> {
        let mut sums: Vec<Amount> = Vec::new();
        for (text, currency) in fees.iter().filter(|(text, _)| !is_blank_or_zero(text)) {
            let Some(fee) = self.money(text, currency) else {
                self.warn(
                    line,
                    format!("the fee `{text} {currency}` cannot be read and is left out"),
                );
                continue;
            };
            let same = sums.iter_mut().find(|sum| sum.currency() == fee.currency());
            match same.map(|sum| (add(*sum, fee), sum)) {
                Some((Some(total), sum)) => *sum = total,
                Some((None, _)) => {
                    self.warn(line, format!("the fee `{text}` is too large and left out"));
                }
                None => sums.push(fee),
            }
        }
        sums
    }

    /// Adds a dividend, or warns.
    pub(super) fn dividend(
        &mut self,
        line: u32,
        date: Option<Date>,
        ticker: &str,
        total: (&str, &str),
        tax: (&str, &str),
    ) {
        let Some((date, ticker)) = self.date_and_ticker(line, date, ticker) else { return };
        let Some(total_amount) = self.money(total.0, total.1) else {
            return self.warn(
                line,
                format!(
                    "a dividend of {ticker} is left out: `{} {}` cannot be read",
                    total.0, total.1
                ),
            );
        };
        let tax_amount =
            if is_blank_or_zero(tax.0) { Some(Amount::NONE) } else { self.money(tax.0, tax.1) };
        let tax = tax_amount.unwrap_or_else(|| {
            self.warn(
                line,
                format!("the tax `{} {}` on a dividend of {ticker} is left out", tax.0, tax.1),
            );
            Amount::NONE
        });
        self.push(line, date, ticker, Kind::Dividend { total: total_amount, tax });
    }

    pub(super) fn date_and_ticker(
        &mut self,
        line: u32,
        date: Option<Date>,
        ticker: &str,
    ) -> Option<(Date, Ticker)> {
        let parsed = Ticker::parse(ticker);
        match (date, parsed) {
            (Some(date), Ok(ticker)) => Some((date, ticker)),
            (None, _) => {
                self.warn(line, "a row is left out: its date cannot be read");
                None
            }
            (_, Err(bad)) => {
                self.warn(line, format!("a row is left out: {bad}"));
                None
            }
        }
    }

    /// Parses an amount; pence become pounds.
    pub(super) fn money(&self, text: &str, currency: &str) -> Option<Amount> {
        let number = amount(text)?.abs();
        match currency.trim() {
            "GBX" | "GBp" | "p" => {
                Amount::new((number / Decimal::ONE_HUNDRED).normalize(), Currency::GBP)
            }
            "" => Amount::new(number, Currency::GBP),
            code => Amount::new(number, Currency::parse(code).ok()?),
        }
    }
}

/// Whether a field is empty, a dash or zero.
pub(super) fn is_blank_or_zero(text: &str) -> bool {
    matches!(text.trim(), "" | "-" | "--" | "n/a" | "N/A")
        || amount(text).is_some_and(|number| number.is_zero())
}

/// Parses a number as formatted by brokers: `$1,234.50`, `-12`, `(3.20)`, `USD 5`.
pub(super) fn amount(text: &str) -> Option<Decimal> {
    let text = text.trim();
    let negative = text.starts_with(['-', '−', '(']) || text.contains("-£") || text.contains("-$");
    let digits: String = text.chars().filter(|c| c.is_ascii_digit() || *c == '.').collect();
    let strange = text
        .chars()
        .any(|c| !(c.is_ascii_digit() || ".,-−()+£$€ ".contains(c) || c.is_ascii_uppercase()));
    let digits = digits.trim_end_matches('.');
    let digits = if digits.starts_with('.') { format!("0{digits}") } else { digits.to_owned() };
    let number = crate::number::parse(&digits).ok().filter(|_| !strange)?;
    Some(if negative { -number } else { number })
}

/// Sums two fees of one currency.
fn add(fees: Amount, fee: Amount) -> Option<Amount> {
    Amount::new(fees.value().checked_add(fee.value())?, fees.currency())
}

/// A transaction holds fees in one currency. Fees in several currencies are split over as many
/// transactions of the day, which are one trade in law (TCGA 1992 s.105(1)(a)).
fn portions(quantity: Quantity, fees: Vec<Amount>) -> Vec<(Quantity, Amount)> {
    let mut rest = quantity;
    let mut portions = Vec::new();
    let last = fees.len().saturating_sub(1);
    for (index, fee) in fees.into_iter().enumerate() {
        let half = Quantity::new((rest.get() / Decimal::TWO).normalize());
        let other = half.and_then(|half| Quantity::new((rest.get() - half.get()).normalize()));
        match (half, other) {
            (Some(half), Some(other)) if index < last => {
                portions.push((half, fee));
                rest = other;
            }
            _ => portions.push((rest, fee)),
        }
    }
    if portions.is_empty() { vec![(quantity, Amount::NONE)] } else { portions }
}

/// `2024-01-15`, optionally followed by a time.
pub(super) fn iso_date(text: &str) -> Option<Date> {
    dsl::read_date(text.trim().get(..10)?)
}

/// `20240115`, optionally followed by a time.
pub(super) fn compact_date(text: &str) -> Option<Date> {
    let text = text.trim();
    let (year, month, day) = (text.get(..4)?, text.get(4..6)?, text.get(6..8)?);
    dsl::read_date(&format!("{year}-{month}-{day}"))
}

/// `15/01/2024`.
pub(super) fn day_first(text: &str) -> Option<Date> {
    let mut parts = text.trim().split(['/', '-', '.']);
    let (day, month, year) = (parts.next()?, parts.next()?, parts.next()?);
    dsl::read_date(&format!("{year:0>4}-{month:0>2}-{day:0>2}"))
}

/// `01/15/2024`.
pub(super) fn month_first(text: &str) -> Option<Date> {
    let mut parts = text.trim().split(['/', '-']);
    let (month, day, year) = (parts.next()?, parts.next()?, parts.next()?);
    dsl::read_date(&format!("{year:0>4}-{month:0>2}-{day:0>2}"))
}
