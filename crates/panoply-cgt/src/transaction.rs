//! Transactions on a holding.

use std::fmt;
use std::sync::Arc;

use jiff::civil::Date;
use rust_decimal::Decimal;

use crate::currency::{Currency, UnknownCurrency};
use crate::security::Security;

/// A transaction on one holding on one day.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Transaction {
    /// Date.
    pub date: Date,
    /// Ticker.
    pub ticker: Ticker,
    /// Kind and amounts.
    pub kind: Kind,
}

/// Kind of transaction. Omitted `fees` and `tax` are zero pounds.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Kind {
    /// Purchase.
    Buy {
        /// Number of shares.
        quantity: Quantity,
        /// Price per share.
        price: Amount,
        /// Incidental costs.
        fees: Amount,
    },
    /// Sale.
    Sell {
        /// Number of shares.
        quantity: Quantity,
        /// Price per share.
        price: Amount,
        /// Incidental costs.
        fees: Amount,
    },
    /// Cash dividend; the cost of the holding does not change.
    Dividend {
        /// Gross amount.
        total: Amount,
        /// Tax withheld.
        tax: Amount,
    },
    /// Interest; the cost of the holding does not change.
    Interest {
        /// Gross amount.
        total: Amount,
        /// Tax withheld.
        tax: Amount,
    },
    /// Income reinvested within the fund: it adds to the cost.
    Accumulation {
        /// Number of shares; informational.
        quantity: Decimal,
        /// Total amount.
        total: Amount,
        /// Tax withheld; informational.
        tax: Amount,
    },
    /// Capital distribution: a small one reduces the cost, another one is a part disposal
    /// (TCGA 1992 s.122).
    CapReturn {
        /// Number of shares; informational.
        quantity: Quantity,
        /// Total amount.
        total: Amount,
        /// Incidental costs.
        fees: Amount,
        /// Market value of the remaining shares just after the distribution.
        value: Option<Box<Amount>>,
    },
    /// Equalisation of a fund: a refund of part of the price, which reduces the cost.
    Equalisation {
        /// Number of units; informational.
        quantity: Quantity,
        /// Total amount.
        total: Amount,
    },
    /// Shares taken up in a rights issue: part of the original holding (TCGA 1992 s.126, s.127).
    Rights {
        /// Number of shares.
        quantity: Quantity,
        /// Price per share.
        price: Amount,
        /// Incidental costs.
        fees: Amount,
    },
    /// Bonus issue: `new` free shares for each `held` shares (TCGA 1992 s.126, s.127).
    Bonus {
        /// Shares held.
        held: Quantity,
        /// Free shares for them.
        new: Quantity,
    },
    /// Stock dividend: shares acquired for the cash equivalent, which is income (TCGA 1992 s.142).
    Scrip {
        /// Number of shares.
        quantity: Quantity,
        /// Cash equivalent.
        total: Amount,
    },
    /// Demerger: shares in another company for the same holding (TCGA 1992 s.127, s.192).
    Demerger(Box<Demerger>),
    /// Takeover: the whole holding is exchanged for shares, and perhaps cash (TCGA 1992 s.135).
    Takeover(Box<Takeover>),
    /// Change of ticker: the same shares under another name.
    Rename {
        /// New ticker.
        into: Ticker,
    },
    /// Claim that the holding has become of negligible value: deemed sale and reacquisition
    /// (TCGA 1992 s.24).
    Negligible {
        /// Value of the whole holding stated in the claim.
        value: Amount,
    },
    /// Split: each share becomes `ratio` shares.
    Split {
        /// New shares per old share.
        ratio: Quantity,
    },
    /// Consolidation: `ratio` shares become one.
    Unsplit {
        /// Old shares per new share.
        ratio: Quantity,
    },
    /// Reorganisation: `old` shares become `new` shares.
    Restruct {
        /// Shares before.
        old: Quantity,
        /// Shares after.
        new: Quantity,
    },
    /// Transfer to the spouse or civil partner: no gain, no loss (TCGA 1992 s.58).
    SpouseOut {
        /// Number of shares.
        quantity: Quantity,
    },
    /// Transfer from the spouse or civil partner at their cost (TCGA 1992 s.58).
    SpouseIn {
        /// Number of shares.
        quantity: Quantity,
        /// Transferor's cost.
        total: Amount,
    },
    /// Section 104 holding brought forward from earlier records.
    Opening {
        /// Number of shares.
        quantity: Quantity,
        /// Cost of the pool.
        cost: Amount,
    },
    /// Facts about the security; nothing happens to the holding.
    Security(Box<Security>),
}

/// Demerger of a company.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Demerger {
    /// Ticker of the demerged company.
    pub into: Ticker,
    /// Number of its shares received.
    pub quantity: Quantity,
    /// Their market value.
    pub value: Amount,
    /// Market value of the original shares afterwards. Cost is divided in proportion to both
    /// values (TCGA 1992 s.129, s.130).
    pub remaining: Amount,
}

/// Takeover of a company.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Takeover {
    /// Ticker of the acquiring company.
    pub into: Ticker,
    /// Number of its shares received.
    pub quantity: Quantity,
    /// Cash received beside the shares.
    pub cash: Amount,
    /// Market value of the shares received; required when the cash is not small.
    pub value: Option<Amount>,
}

impl Kind {
    /// Action keyword of the transaction language.
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
            Self::Equalisation { .. } => "EQUALISATION",
            Self::Rights { .. } => "RIGHTS",
            Self::Bonus { .. } => "BONUS",
            Self::Scrip { .. } => "SCRIP",
            Self::Demerger(_) => "DEMERGER",
            Self::Takeover(_) => "TAKEOVER",
            Self::Rename { .. } => "RENAME",
            Self::Negligible { .. } => "NEGLIGIBLE",
            Self::Interest { .. } => "INTEREST",
            Self::Security(_) => "SECURITY",
        }
    }

    /// Calls `each` with every amount of the transaction.
    pub fn for_each_amount(&self, mut each: impl FnMut(Amount)) {
        match self {
            Self::Buy { price, fees, .. }
            | Self::Sell { price, fees, .. }
            | Self::Rights { price, fees, .. } => [*price, *fees].into_iter().for_each(each),
            Self::Dividend { total, tax }
            | Self::Interest { total, tax }
            | Self::Accumulation { total, tax, .. } => [*total, *tax].into_iter().for_each(each),
            Self::CapReturn { total, fees, value, .. } => {
                [*total, *fees].into_iter().chain(value.as_deref().copied()).for_each(each);
            }
            Self::Equalisation { total, .. }
            | Self::Scrip { total, .. }
            | Self::SpouseIn { total, .. }
            | Self::Opening { cost: total, .. }
            | Self::Negligible { value: total } => each(*total),
            Self::Demerger(demerger) => {
                [demerger.value, demerger.remaining].into_iter().for_each(each);
            }
            Self::Takeover(takeover) => {
                std::iter::once(takeover.cash).chain(takeover.value).for_each(each);
            }
            Self::Bonus { .. }
            | Self::Rename { .. }
            | Self::Split { .. }
            | Self::Unsplit { .. }
            | Self::Restruct { .. }
            | Self::SpouseOut { .. }
            | Self::Security(_) => {}
        }
    }

    /// The other holding of a demerger, takeover or change of ticker.
    pub fn into_ticker(&self) -> Option<&Ticker> {
        match self {
            Self::Demerger(demerger) => Some(&demerger.into),
            Self::Takeover(takeover) => Some(&takeover.into),
            Self::Rename { into } => Some(into),
            Self::Buy { .. }
            | Self::Sell { .. }
            | Self::Dividend { .. }
            | Self::Accumulation { .. }
            | Self::CapReturn { .. }
            | Self::Equalisation { .. }
            | Self::Rights { .. }
            | Self::Bonus { .. }
            | Self::Scrip { .. }
            | Self::Split { .. }
            | Self::Unsplit { .. }
            | Self::Restruct { .. }
            | Self::SpouseOut { .. }
            | Self::SpouseIn { .. }
            | Self::Opening { .. }
            | Self::Interest { .. }
            | Self::Security(_)
            | Self::Negligible { .. } => None,
        }
    }
}

/// Ticker of a holding, in upper case.
#[derive(Clone, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Ticker(Arc<str>);

/// The text is not a valid ticker.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("`{0}` is not a ticker")]
pub struct InvalidTicker(pub String);

impl InvalidTicker {
    /// Description of valid tickers.
    pub const EXPECTED: &str =
        "a letter or digit, then letters, digits or any of . : - _ / ^ & +, at most 50 in all";
}

impl Ticker {
    /// Parses a ticker, ignoring case.
    pub fn parse(text: &str) -> Result<Self, InvalidTicker> {
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || b".:-_/^&+".contains(&byte);
        let starts_well = text.bytes().next().is_some_and(|first| first.is_ascii_alphanumeric());
        if starts_well && text.len() <= 50 && text.bytes().all(fits) {
            Ok(Self(text.to_ascii_uppercase().into()))
        } else {
            Err(InvalidTicker(text.to_owned()))
        }
    }

    /// The ticker in upper case.
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

/// Positive number, as written.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Quantity(Decimal);

impl Quantity {
    /// Returns `None` unless the number is positive.
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

/// Non-negative amount in a currency, as written.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Amount {
    value: Decimal,
    currency: Currency,
    rate: Option<Quantity>,
}

impl Amount {
    /// Zero pounds.
    pub const NONE: Self = Self { value: Decimal::ZERO, currency: Currency::GBP, rate: None };

    /// Returns `None` for a negative value.
    pub fn new(value: Decimal, currency: Currency) -> Option<Self> {
        (!value.is_sign_negative() || value.is_zero()).then_some(Self {
            value: value.abs(),
            currency,
            rate: None,
        })
    }

    /// Amount in a currency by its code, or in pence (`GBp`, `GBX`), which become pounds.
    pub fn in_unit(value: Decimal, code: &str) -> Result<Self, UnknownCurrency> {
        let (value, currency) = match code {
            // Exchanges and data vendors distinguish pence from pounds by the case of one letter.
            "GBp" => (pounds_of_pence(value), Currency::GBP),
            code if code.eq_ignore_ascii_case("GBX") => (pounds_of_pence(value), Currency::GBP),
            code => (value, Currency::parse(code)?),
        };
        Ok(Self { value: value.abs(), currency, rate: None })
    }

    /// Sets an exchange rate in units per pound. Ignored for pounds.
    #[must_use]
    pub fn at_rate(mut self, rate: Option<Quantity>) -> Self {
        self.rate = rate.filter(|_| self.currency.is_foreign());
        self
    }

    /// Numeric value.
    pub const fn value(self) -> Decimal {
        self.value
    }

    /// Currency.
    pub const fn currency(self) -> Currency {
        self.currency
    }

    /// Exchange rate given on the transaction.
    pub const fn rate(self) -> Option<Quantity> {
        self.rate
    }

    /// Whether the amount is zero pounds, which stands for an omitted amount.
    pub fn is_none(self) -> bool {
        self.value.is_zero() && !self.currency.is_foreign()
    }
}

fn pounds_of_pence(pence: Decimal) -> Decimal {
    (pence / Decimal::ONE_HUNDRED).normalize()
}

/// A transaction and its source location.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Row {
    /// The transaction.
    pub transaction: Transaction,
    /// Source location.
    pub location: SourceLocation,
}

/// Location in the input.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct SourceLocation {
    /// File name, when there are several files.
    pub file: Option<Arc<str>>,
    /// Line, counted from 1; the element number for JSON arrays.
    pub line: u32,
}

impl fmt::Display for SourceLocation {
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
    fn pence_become_pounds() {
        for (code, value) in
            [("GBp", "1.205"), ("GBX", "1.205"), ("gbx", "1.205"), ("GBP", "120.5")]
        {
            let amount = Amount::in_unit("120.5".parse().unwrap(), code).unwrap();
            assert_eq!(
                (amount.value().to_string().as_str(), amount.currency()),
                (value, Currency::GBP)
            );
        }
        assert!(Amount::in_unit(Decimal::ONE, "PNC").is_err());
    }

    #[test]
    fn pound_amounts_have_no_rate() {
        let rate = Quantity::new(Decimal::TWO);
        let pounds = Amount::new(Decimal::ONE, Currency::GBP).unwrap().at_rate(rate);
        assert_eq!(pounds.rate(), None);
        assert_eq!(Amount::new(-Decimal::ONE, Currency::GBP), None);
    }
}
