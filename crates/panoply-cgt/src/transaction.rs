//! What happened to a holding: purchases, sales and everything else that changes it.

use std::fmt;
use std::sync::Arc;

use jiff::civil::Date;
use rust_decimal::Decimal;

use crate::currency::Currency;

/// One thing that happened on one day to one holding.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Transaction {
    /// The day.
    pub date: Date,
    /// The holding.
    pub ticker: Ticker,
    /// What happened.
    pub kind: Kind,
}

/// What happened. `fees` and `tax` are nought pounds when none were given.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Kind {
    /// Shares came in for money.
    Buy {
        /// How many.
        quantity: Quantity,
        /// For each.
        price: Amount,
        /// What the trade cost beside.
        fees: Amount,
    },
    /// Shares went out for money.
    Sell {
        /// How many.
        quantity: Quantity,
        /// For each.
        price: Amount,
        /// What the trade cost beside.
        fees: Amount,
    },
    /// Cash came in and the holding stayed what it was.
    Dividend {
        /// All of it, before tax.
        total: Amount,
        /// Tax kept back.
        tax: Amount,
    },
    /// Income that was reinvested inside the fund: it counts as cost.
    Accumulation {
        /// On how many shares it was paid; for the record.
        quantity: Decimal,
        /// All of it.
        total: Amount,
        /// Tax kept back; for the record.
        tax: Amount,
    },
    /// Money that came back out of the capital: it lowers the cost.
    CapReturn {
        /// On how many shares it was paid; for the record.
        quantity: Quantity,
        /// All of it.
        total: Amount,
        /// What it cost.
        fees: Amount,
    },
    /// Each share became `ratio` shares.
    Split {
        /// New shares for an old one.
        ratio: Quantity,
    },
    /// `ratio` shares became one.
    Unsplit {
        /// Old shares for a new one.
        ratio: Quantity,
    },
    /// `old` shares became `new` shares.
    Restruct {
        /// Before.
        old: Quantity,
        /// After.
        new: Quantity,
    },
    /// Shares went to the spouse or civil partner: no gain, no loss (TCGA 1992 s.58).
    SpouseOut {
        /// How many.
        quantity: Quantity,
    },
    /// Shares came from the spouse or civil partner at their cost (TCGA 1992 s.58).
    SpouseIn {
        /// How many.
        quantity: Quantity,
        /// What they had cost.
        total: Amount,
    },
    /// A Section 104 holding brought forward from earlier records.
    Opening {
        /// How many.
        quantity: Quantity,
        /// What they had cost.
        cost: Amount,
    },
}

impl Kind {
    /// Every action word, in the order they are explained in.
    pub const WORDS: [&str; 11] = [
        "BUY",
        "SELL",
        "DIVIDEND",
        "ACCUMULATION",
        "CAPRETURN",
        "SPLIT",
        "UNSPLIT",
        "RESTRUCT",
        "SPOUSE_OUT",
        "SPOUSE_IN",
        "OPENING",
    ];

    /// Its word in the transaction language.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Buy { .. } => "BUY",
            Self::Sell { .. } => "SELL",
            Self::Dividend { .. } => "DIVIDEND",
            Self::Accumulation { .. } => "ACCUMULATION",
            Self::CapReturn { .. } => "CAPRETURN",
            Self::Split { .. } => "SPLIT",
            Self::Unsplit { .. } => "UNSPLIT",
            Self::Restruct { .. } => "RESTRUCT",
            Self::SpouseOut { .. } => "SPOUSE_OUT",
            Self::SpouseIn { .. } => "SPOUSE_IN",
            Self::Opening { .. } => "OPENING",
        }
    }
}

/// A holding's short name, in upper case.
#[derive(Clone, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Ticker(Arc<str>);

/// A text that is not a ticker.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("`{0}` is not a ticker")]
pub struct BadTicker(pub String);

impl BadTicker {
    /// What a ticker is.
    pub const EXPECTED: &str =
        "a letter or digit, then letters, digits or any of . : - _ / ^ & +, at most 50 in all";
}

impl Ticker {
    /// Reads a ticker in any case.
    pub fn parse(text: &str) -> Result<Self, BadTicker> {
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || b".:-_/^&+".contains(&byte);
        let starts_well = text.bytes().next().is_some_and(|first| first.is_ascii_alphanumeric());
        if starts_well && text.len() <= 50 && text.bytes().all(fits) {
            Ok(Self(text.to_ascii_uppercase().into()))
        } else {
            Err(BadTicker(text.to_owned()))
        }
    }

    /// As text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Ticker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl fmt::Debug for Ticker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A number above zero, as it was written.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Quantity(Decimal);

impl Quantity {
    /// A number above zero, or nothing.
    pub fn new(number: Decimal) -> Option<Self> {
        (number > Decimal::ZERO).then_some(Self(number))
    }

    /// The number.
    pub const fn get(self) -> Decimal {
        self.0
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Money in some currency, as it was written; never below zero.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Amount {
    value: Decimal,
    currency: Currency,
    rate: Option<Quantity>,
}

impl Amount {
    /// No pounds.
    pub const NONE: Self = Self { value: Decimal::ZERO, currency: Currency::GBP, rate: None };

    /// An amount; `None` below zero.
    pub fn new(value: Decimal, currency: Currency) -> Option<Self> {
        (!value.is_sign_negative() || value.is_zero()).then_some(Self {
            value: value.abs(),
            currency,
            rate: None,
        })
    }

    /// The same at a rate of its own: so many units a pound. Pounds have no rate.
    #[must_use]
    pub fn at_rate(mut self, rate: Option<Quantity>) -> Self {
        self.rate = rate.filter(|_| self.currency.is_foreign());
        self
    }

    /// The number.
    pub const fn value(self) -> Decimal {
        self.value
    }

    /// The currency.
    pub const fn currency(self) -> Currency {
        self.currency
    }

    /// The rate that was written beside it.
    pub const fn rate(self) -> Option<Quantity> {
        self.rate
    }

    /// Nought pounds: what stands where nothing was written.
    pub fn is_none(self) -> bool {
        self.value.is_zero() && !self.currency.is_foreign()
    }
}

/// A transaction and where it was written.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Row {
    /// What was written.
    pub transaction: Transaction,
    /// Where.
    pub place: Place,
}

/// Where something was written.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Place {
    /// The file, where there are several.
    pub file: Option<Arc<str>>,
    /// The line, counted from 1; the element's number where the input is a list.
    pub line: u32,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.file {
            Some(file) => write!(f, "{file}, line {}", self.line),
            None => write!(f, "line {}", self.line),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tickers_allow_digits_and_punctuation_but_no_spaces() {
        let cases = [
            ("aapl", Some("AAPL")),
            ("BRK.B", Some("BRK.B")),
            ("LON:VOD", Some("LON:VOD")),
            ("3IN", Some("3IN")),
            ("^FTSE", None),
            ("", None),
            ("A B", None),
            ("A#", None),
            ("é", None),
        ];
        for (text, expected) in cases {
            let parsed = Ticker::parse(text).ok();
            assert_eq!(parsed.as_ref().map(Ticker::as_str), expected, "ticker: {text:?}");
        }
    }

    #[test]
    fn pound_amounts_have_no_rate() {
        let rate = Quantity::new(Decimal::TWO);
        let pounds = Amount::new(Decimal::ONE, Currency::GBP).unwrap().at_rate(rate);
        assert_eq!(pounds.rate(), None);
        assert_eq!(Amount::new(-Decimal::ONE, Currency::GBP), None);
    }
}
