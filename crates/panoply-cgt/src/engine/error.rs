//! Why transactions cannot be computed.

use jiff::civil::Date;

use crate::fx::FxError;
use crate::money::Money;
use crate::ratio::Ratio;
use crate::transaction::{SourceLocation, Ticker};

/// Why transactions cannot be computed.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum EngineError {
    /// A disposal exceeds the holding.
    #[error("{ticker}, {date}: {sold} shares were disposed of, but only {held} were held{also_bought}", also_bought = also_bought(*bought))]
    ExceedsHolding {
        /// Source location.
        location: SourceLocation,
        /// Date.
        date: Date,
        /// Ticker.
        ticker: Ticker,
        /// Number of shares disposed of.
        sold: Ratio,
        /// Number of shares held at the start of the day.
        held: Ratio,
        /// Number of shares acquired on the day.
        bought: Ratio,
    },
    /// A short sale is never covered.
    #[error("{ticker}, {date}: {open} shares were sold short and never bought back")]
    NeverCovered {
        /// Source location.
        location: SourceLocation,
        /// Date.
        date: Date,
        /// Ticker.
        ticker: Ticker,
        /// Number of uncovered shares.
        open: Ratio,
    },
    /// A split and a trade on one day.
    #[error(
        "{ticker}, {date}: a split and a trade on the same day; it is not clear which came first"
    )]
    AmbiguousSplit {
        /// Source location of the split.
        location: SourceLocation,
        /// Date.
        date: Date,
        /// Ticker.
        ticker: Ticker,
    },
    /// An accumulation on an empty holding.
    #[error("{ticker}, {date}: an accumulation, but no shares were held")]
    AccumulationWithoutHolding {
        /// Source location.
        location: SourceLocation,
        /// Date.
        date: Date,
        /// Ticker.
        ticker: Ticker,
    },
    /// A capital return exceeds the pooled cost.
    #[error("{ticker}, {date}: a capital return of £{returned} exceeds the pooled cost of £{cost}")]
    CapitalReturnExceedsCost {
        /// Source location.
        location: SourceLocation,
        /// Date.
        date: Date,
        /// Ticker.
        ticker: Ticker,
        /// Amount returned, after fees.
        returned: Money,
        /// Pooled cost.
        cost: Money,
    },
    /// A capital distribution or takeover cash above the limit for small ones, without a value.
    #[error(
        "{ticker}, {date}: a distribution of £{amount} is above £3,000, and the value of what remained is not given"
    )]
    ValueRequired {
        /// Source location.
        location: SourceLocation,
        /// Date.
        date: Date,
        /// Ticker.
        ticker: Ticker,
        /// Amount distributed.
        amount: Money,
    },
    /// A corporate action on an empty holding.
    #[error("{ticker}, {date}: {event}, but no shares were held")]
    EventWithoutHolding {
        /// Source location.
        location: SourceLocation,
        /// Date.
        date: Date,
        /// Ticker.
        ticker: Ticker,
        /// Corporate action.
        event: &'static str,
    },
    /// Demergers or takeovers of one day form a circle.
    #[error(
        "{ticker}, {date}: demergers and takeovers of that day lead back to where they started"
    )]
    CircularExchange {
        /// Source location.
        location: SourceLocation,
        /// Date.
        date: Date,
        /// Ticker.
        ticker: Ticker,
    },
    /// A disposal before the current rules.
    #[error("{ticker}, {date}: a disposal before 6 April 2008, to which other rules applied")]
    BeforeApril2008 {
        /// Source location.
        location: SourceLocation,
        /// Date.
        date: Date,
        /// Ticker.
        ticker: Ticker,
    },
    /// No exchange rate for a foreign amount.
    #[error("{ticker}, {date}: {error}")]
    MissingRate {
        /// Source location.
        location: SourceLocation,
        /// Date.
        date: Date,
        /// Ticker.
        ticker: Ticker,
        /// Cause.
        error: FxError,
    },
    /// A number exceeds the range of exact computation.
    #[error(
        "{ticker}, {date}: a number is too large or has too many decimals to compute with exactly"
    )]
    TooLarge {
        /// Source location.
        location: SourceLocation,
        /// Date.
        date: Date,
        /// Ticker.
        ticker: Ticker,
    },
}

impl EngineError {
    /// Source location of the cause.
    pub const fn location(&self) -> &SourceLocation {
        match self {
            Self::ExceedsHolding { location, .. }
            | Self::NeverCovered { location, .. }
            | Self::AmbiguousSplit { location, .. }
            | Self::AccumulationWithoutHolding { location, .. }
            | Self::CapitalReturnExceedsCost { location, .. }
            | Self::ValueRequired { location, .. }
            | Self::EventWithoutHolding { location, .. }
            | Self::CircularExchange { location, .. }
            | Self::BeforeApril2008 { location, .. }
            | Self::MissingRate { location, .. }
            | Self::TooLarge { location, .. } => location,
        }
    }
}

fn also_bought(bought: Ratio) -> String {
    if bought.is_zero() { String::new() } else { format!(" and {bought} bought that day") }
}
