//! Common part of all importers: parses fields, builds transactions, collects warnings.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use jiff::civil::Date;
use rust_decimal::Decimal;

use super::{File, FileName, Imported, Origin, RateChoice};
use crate::currency::Currency;
use crate::dsl;
use crate::fx::{Month, Rates};
use crate::transaction::{Amount, Kind, Quantity, Row, SourceLocation, Ticker, Transaction};

/// Transactions and warnings of one file.
pub(super) struct ImportBuilder {
    file: FileName,
    rows: Vec<(Row, Origin)>,
    warnings: Vec<String>,
    skipped: BTreeMap<String, usize>,
    unsupported: BTreeMap<String, Unsupported>,
    /// Identity of the record that is being read.
    origin: Origin,
    rates: RateChoice,
    hmrc: OnceCell<Rates>,
}

/// Rows about instruments that are not imported.
struct Unsupported {
    first_line: u32,
    count: usize,
    symbols: BTreeSet<String>,
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
    /// Units of the currency per pound by the broker; empty when it is not stated.
    pub(super) rate: &'a str,
}

impl ImportBuilder {
    pub(super) fn new(file: &File<'_>) -> Self {
        Self {
            file: file.name.into(),
            rows: Vec::new(),
            warnings: Vec::new(),
            skipped: BTreeMap::new(),
            unsupported: BTreeMap::new(),
            origin: Origin::default(),
            rates: file.rates,
            hmrc: OnceCell::new(),
        }
    }

    pub(super) fn finish(mut self) -> Imported {
        for (what, found) in std::mem::take(&mut self.unsupported) {
            let symbols: Vec<&str> = found.symbols.iter().take(5).map(String::as_str).collect();
            let (count, symbols) = (found.count, symbols.join(", "));
            self.warn(found.first_line, format!("{count} trades of {what} are left out ({symbols}): they can be chargeable, and must be computed separately"));
        }
        self.rows.sort_by_key(|(row, _)| row.transaction.date);
        let (rows, origins) = self.rows.into_iter().unzip();
        Imported {
            rows,
            origins,
            warnings: self.warnings,
            skipped: self.skipped,
            duplicates: Vec::new(),
            keys: Vec::new(),
        }
    }

    /// Sets the identity of the record whose rows follow.
    pub(super) fn record(&mut self, id: &str, time: &str, account: &str, isin: &str) {
        let given = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
        // A date without a time does not identify a trade.
        let time = given(time).filter(|time| time.len() > 10);
        let isin = given(isin).filter(|isin| isin.len() == 12).map(|isin| isin.to_uppercase());
        self.origin = Origin { id: given(id), time, account: given(account), isin };
    }

    /// Counts a trade of an instrument that is not imported; it becomes a warning.
    pub(super) fn unsupported(&mut self, line: u32, what: &str, symbol: &str) {
        let found = self.unsupported.entry(what.to_owned()).or_insert_with(|| Unsupported {
            first_line: line,
            count: 0,
            symbols: BTreeSet::new(),
        });
        found.count += 1;
        found.symbols.insert(symbol.to_owned());
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
        let location = SourceLocation { file: Some(self.file.clone()), line };
        self.rows.push((Row { transaction, location }, self.origin.clone()));
    }

    /// Adds a purchase or sale, or warns about the fields that cannot be parsed.
    pub(super) fn trade(&mut self, line: u32, trade: &Trade<'_>) {
        let Some((date, ticker)) = self.date_and_ticker(line, trade.date, trade.ticker) else {
            return;
        };
        let quantity = amount(trade.quantity).map(|number| number.abs()).and_then(Quantity::new);
        let rate = self.broker_rate(line, trade, date);
        let at_rate = |amount: Amount, price: Option<Amount>| {
            let same = price.is_some_and(|price| price.currency() == amount.currency());
            if same { amount.at_rate(rate) } else { amount }
        };
        let price = self.money(trade.price, trade.currency);
        let fees = self.fees(line, &trade.fees);
        let fees = fees.into_iter().map(|fee| at_rate(fee, price)).collect();
        let price = price.map(|amount| at_rate(amount, price));
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

    /// The broker's rate, when it is wanted and plausible: some exports state it the other way
    /// round, or between other currencies.
    fn broker_rate(&mut self, line: u32, trade: &Trade<'_>, date: Date) -> Option<Quantity> {
        let stated = amount(trade.rate).and_then(Quantity::new)?;
        let currency = Currency::parse(trade.currency.trim()).ok()?;
        if self.rates == RateChoice::Hmrc || !currency.is_foreign() {
            return None;
        }
        let hmrc = self.hmrc.get_or_init(Rates::default);
        let Ok(published) = hmrc.monthly(currency, Month::of(date)) else { return Some(stated) };
        let published = published.units_per_pound;
        let near =
            |rate: Decimal| (rate - published).abs() * Decimal::TEN <= published * Decimal::TWO;
        let inverse = (Decimal::ONE / stated.get()).round_dp(RATE_DECIMALS).normalize();
        if near(stated.get()) {
            Some(stated)
        } else if near(inverse) {
            Quantity::new(inverse)
        } else {
            self.warn(
                line,
                format!(
                    "the rate {} of {currency} is far from HMRC's {published} and is not used",
                    trade.rate
                ),
            );
            None
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

    /// Adds interest, or warns. Interest on an account has the ticker [`CASH`].
    pub(super) fn interest(
        &mut self,
        line: u32,
        date: Option<Date>,
        ticker: &str,
        total: (&str, &str),
    ) {
        let ticker = if ticker.trim().is_empty() { CASH } else { ticker };
        let Some((date, ticker)) = self.date_and_ticker(line, date, ticker) else { return };
        if amount(total.0).is_some_and(|number| number.is_sign_negative()) {
            return self.warn(
                line,
                format!(
                    "interest of `{} {}` was charged or reversed and is left out",
                    total.0, total.1
                ),
            );
        }
        match self.money(total.0, total.1).filter(|total| !total.value().is_zero()) {
            Some(total) => {
                self.push(line, date, ticker, Kind::Interest { total, tax: Amount::NONE });
            }
            None => self.warn(
                line,
                format!("interest is left out: `{} {}` cannot be read", total.0, total.1),
            ),
        }
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
            "" => Amount::new(number, Currency::GBP),
            "p" => Amount::in_unit(number, "GBX").ok(),
            code => Amount::in_unit(number, code).ok(),
        }
    }
}

/// Ticker of interest on a cash account.
const CASH: &str = "CASH";

/// Decimals of an inverted rate.
const RATE_DECIMALS: u32 = 10;

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

/// `15/01/2024`; a date in ISO format is unambiguous and accepted too.
pub(super) fn day_first(text: &str) -> Option<Date> {
    if let Some(date) = iso_date(text) {
        return Some(date);
    }
    let mut parts = text.trim().split(['/', '-', '.']);
    let (day, month, year) = (parts.next()?, parts.next()?, parts.next()?);
    dsl::read_date(&format!("{year:0>4}-{month:0>2}-{day:0>2}"))
}

/// `01/15/2024`; a date in ISO format is unambiguous and accepted too.
pub(super) fn month_first(text: &str) -> Option<Date> {
    if let Some(date) = iso_date(text) {
        return Some(date);
    }
    let mut parts = text.trim().split(['/', '-']);
    let (month, day, year) = (parts.next()?, parts.next()?, parts.next()?);
    dsl::read_date(&format!("{year:0>4}-{month:0>2}-{day:0>2}"))
}
