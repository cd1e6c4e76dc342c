//! An event of a backtest: id, time, type, severity, category, parent and raw JSON properties.

use std::borrow::Cow;
use std::fmt;

use crate::timestamp::Timestamp;

/// A GUID: the id of a run or of an event.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Guid(u128);

impl Guid {
    /// A GUID from its 128 bits.
    pub const fn new(bits: u128) -> Self {
        Self(bits)
    }

    /// The 128 bits, most significant first in the printed form.
    pub const fn bits(self) -> u128 {
        self.0
    }

    /// Parses the hyphenated form, in either case.
    pub fn parse(text: &str) -> Option<Self> {
        let bytes: &[u8; 36] = text.as_bytes().try_into().ok()?;
        let [a, b, c, d, e] = [(0, 8), (9, 13), (14, 18), (19, 23), (24, 36)].map(|(from, to)| {
            let digits = bytes.get(from..to).unwrap_or_default();
            let mut value = 0_u64;
            let mut seen = 0_u8;
            for byte in digits {
                let digit = HEX_VALUES.get(usize::from(*byte)).copied().unwrap_or(NO_DIGIT);
                seen |= digit;
                value = value << 4 | u64::from(digit & 15);
            }
            (value, seen)
        });
        let hyphens = [8, 13, 18, 23].iter().all(|place| bytes.get(*place) == Some(&b'-'));
        if !hyphens || (a.1 | b.1 | c.1 | d.1 | e.1) & NO_DIGIT != 0 {
            return None;
        }
        let (high, low) = (a.0 << 32 | b.0 << 16 | c.0, d.0 << 48 | e.0);
        Some(Self(u128::from(high) << 64 | u128::from(low)))
    }

    /// A deterministic GUID for a name in a namespace (RFC 9562, version 5).
    pub fn named(space: Self, name: &str) -> Self {
        let space = uuid::Uuid::from_u128(space.0);
        Self(uuid::Uuid::new_v5(&space, name.as_bytes()).as_u128())
    }

    /// Appends the hyphenated form in lower case.
    pub fn write_to(self, out: &mut String) {
        let mut text = [b'-'; 36];
        let places = (0..36).filter(|place| !matches!(place, 8 | 13 | 18 | 23));
        let digits = self.0.to_be_bytes().into_iter().flat_map(|byte| [byte >> 4, byte & 15]);
        for (place, digit) in places.zip(digits) {
            if let Some(slot) = text.get_mut(place) {
                *slot = HEX_DIGITS.get(usize::from(digit)).copied().unwrap_or(b'0');
            }
        }
        out.push_str(std::str::from_utf8(&text).unwrap_or_default());
    }
}

const HEX_DIGITS: &[u8; 16] = b"0123456789abcdef";
/// Marks a byte that is not a hexadecimal digit.
const NO_DIGIT: u8 = 128;
/// The value of each byte as a hexadecimal digit of either case.
#[expect(clippy::indexing_slicing, reason = "checked when this is compiled")]
const HEX_VALUES: [u8; 256] = {
    let mut values = [NO_DIGIT; 256];
    let mut digit = 0;
    while digit < 16 {
        let byte = HEX_DIGITS[digit as usize];
        values[byte as usize] = digit;
        values[byte.to_ascii_uppercase() as usize] = digit;
        digit += 1;
    }
    values
};

impl fmt::Display for Guid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::with_capacity(36);
        self.write_to(&mut text);
        f.write_str(&text)
    }
}

/// Declares an enum whose variants have a published word and a stored code.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$word_doc:meta])* $word:ident = $code:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
        pub enum $name {
            $($(#[$word_doc])* $word),+
        }

        impl $name {
            /// All variants, in the order of their codes.
            pub const ALL: &[Self] = &[$(Self::$word),+];

            /// The published word.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$word => stringify!($word)),+
                }
            }

            /// The stored code.
            pub const fn code(self) -> u8 {
                match self {
                    $(Self::$word => $code),+
                }
            }

            /// The variant with this code.
            pub const fn of_code(code: u8) -> Option<Self> {
                match code {
                    $($code => Some(Self::$word),)+
                    _ => None,
                }
            }

            /// The variant with this word.
            pub fn parse(word: &str) -> Option<Self> {
                match word {
                    $(stringify!($word) => Some(Self::$word),)+
                    _ => None,
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}

words! {
    /// The type of an event.
    EventType {
        /// An order was filled, fully or partially.
        TradeExecution = 0,
        /// An order was rejected.
        OrderRejection = 1,
        /// An indicator value was computed.
        IndicatorCalculation = 2,
        /// A position changed.
        PositionUpdate = 3,
        /// The state of an order, of the account, or of profit and loss changed.
        StateChange = 4,
        /// A bar, a tick or an order book.
        MarketDataEvent = 5,
        /// A risk rule was triggered.
        RiskEvent = 6,
    }
}

words! {
    /// The severity of an event.
    Severity {
        /// A failure.
        Error = 0,
        /// A possible problem.
        Warning = 1,
        /// Normal operation.
        Info = 2,
        /// Detail for debugging.
        Debug = 3,
    }
}

words! {
    /// The category of an event.
    Category {
        /// Orders and fills.
        Execution = 0,
        /// Prices.
        MarketData = 1,
        /// Indicators.
        Indicators = 2,
        /// Risk.
        Risk = 3,
        /// Positions and profit.
        Performance = 4,
    }
}

impl Category {
    /// Like [`parse`](Self::parse), and accepts three names of an older data model.
    pub fn parse_mapped(word: &str) -> Option<Self> {
        match word {
            "Data" => Some(Self::MarketData),
            "Analysis" => Some(Self::Indicators),
            "Portfolio" => Some(Self::Performance),
            other => Self::parse(other),
        }
    }
}

impl EventType {
    /// The default severity of this event type.
    pub const fn usual_severity(self) -> Severity {
        match self {
            Self::OrderRejection => Severity::Error,
            Self::RiskEvent => Severity::Warning,
            Self::IndicatorCalculation | Self::MarketDataEvent => Severity::Debug,
            Self::TradeExecution | Self::PositionUpdate | Self::StateChange => Severity::Info,
        }
    }

    /// The default category of this event type.
    pub const fn usual_category(self) -> Category {
        match self {
            Self::TradeExecution | Self::OrderRejection => Category::Execution,
            Self::IndicatorCalculation => Category::Indicators,
            Self::PositionUpdate | Self::StateChange => Category::Performance,
            Self::MarketDataEvent => Category::MarketData,
            Self::RiskEvent => Category::Risk,
        }
    }
}

/// One parsed event.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Event<'a> {
    /// Unique in its run.
    pub id: Guid,
    /// Simulated time.
    pub timestamp: Timestamp,
    /// The type.
    pub event_type: EventType,
    /// The severity.
    pub severity: Severity,
    /// The category.
    pub category: Category,
    /// JSON, byte for byte as in the source.
    pub properties: Cow<'a, str>,
    /// The causing event.
    pub parent: Parent,
    /// The source line, unless [`format_line`](crate::line::format_line) reproduces it.
    pub original: Option<Cow<'a, str>>,
}

/// The reference of an event to its cause.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Parent {
    /// No parent is named.
    None,
    /// A GUID, which may or may not be an event of the run.
    Id(Guid),
    /// A value that is not a GUID.
    Unreadable,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guid_parses_either_case_and_prints_lower_case() {
        let cases = [
            ("a1b2c3d4-e5f6-7890-abcd-ef1234567890", Some("a1b2c3d4-e5f6-7890-abcd-ef1234567890")),
            ("A1B2C3D4-E5F6-7890-ABCD-EF1234567890", Some("a1b2c3d4-e5f6-7890-abcd-ef1234567890")),
            ("a1b2c3d4e5f67890abcdef1234567890", None),
            ("a1b2c3d4-e5f6-7890-abcd-ef123456789g", None),
            ("a1b2c3d4-e5f6-7890-abcd-ef12345678901", None),
            ("invalid-guid", None),
            ("", None),
        ];
        for (input, expected) in cases {
            let printed = Guid::parse(input).map(|guid| guid.to_string());
            assert_eq!(printed.as_deref(), expected, "input: {input:?}");
        }
    }

    #[test]
    fn named_guid_matches_rfc_9562_version_5_vector() {
        // RFC 9562, appendix A.4: the name "www.example.com" in the DNS space.
        let dns = Guid::parse("6ba7b810-9dad-11d1-80b4-00c04fd430c8").unwrap();
        let named = Guid::named(dns, "www.example.com");
        assert_eq!(named.to_string(), "2ed6657d-e927-568b-95e1-2665a8aea6a2");
    }

    #[test]
    fn enum_words_and_codes_round_trip() {
        for kind in EventType::ALL {
            assert_eq!(EventType::parse(kind.as_str()), Some(*kind));
            assert_eq!(EventType::of_code(kind.code()), Some(*kind));
        }
        assert_eq!(EventType::parse("OrderPlaced"), None, "virtual, in patterns only");
        assert_eq!(Category::parse_mapped("Portfolio"), Some(Category::Performance));
        assert_eq!(Category::parse_mapped("Nonsense"), None);
    }
}
