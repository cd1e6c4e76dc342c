//! Parameter types shared by several tools.

use std::borrow::Cow;

use panoply_contract::prelude::*;
use panoply_contract::schemars::{Schema, SchemaGenerator, json_schema};

use crate::event;
use crate::query::selection;

/// Declares a wire enum and its conversions to and from the domain enum.
macro_rules! wire_words {
    ($(#[$doc:meta])* $name:ident => $domain:path { $($word:ident),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Eq, PartialEq, Deserialize, Serialize, JsonSchema)]
        #[schemars(inline)]
        pub(crate) enum $name {
            $($word),+
        }

        impl From<$name> for $domain {
            fn from(word: $name) -> Self {
                match word {
                    $($name::$word => Self::$word),+
                }
            }
        }

        impl From<$domain> for $name {
            fn from(word: $domain) -> Self {
                match word {
                    $(<$domain>::$word => Self::$word),+
                }
            }
        }
    };
}

wire_words! {
    /// An event type.
    EventType => event::EventType {
        TradeExecution, OrderRejection, IndicatorCalculation, PositionUpdate, StateChange,
        MarketDataEvent, RiskEvent,
    }
}

wire_words! {
    /// The severity of an event.
    Severity => event::Severity { Error, Warning, Info, Debug }
}

wire_words! {
    /// The category of an event.
    Category => event::Category { Execution, MarketData, Indicators, Risk, Performance }
}

/// An indexed entity of events.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Deserialize, JsonSchema)]
#[schemars(inline)]
pub(crate) enum EntityType {
    /// An order, by its GUID or the engine's own id.
    OrderId,
    /// A security.
    SecuritySymbol,
    /// A position.
    PositionId,
    /// An indicator.
    IndicatorName,
}

impl EntityType {
    pub(crate) const fn entity(self) -> selection::Entity {
        match self {
            Self::OrderId => selection::Entity::Order,
            Self::SecuritySymbol => selection::Entity::Symbol,
            Self::PositionId => selection::Entity::Position,
            Self::IndicatorName => selection::Entity::Indicator,
        }
    }
}

/// Implements an inline JSON schema.
macro_rules! inline_schema {
    ($name:ident, $schema:tt) => {
        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn inline_schema() -> bool {
                true
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!($schema)
            }
        }
    };
}

/// Declares a text with a pattern and a maximum length.
macro_rules! pattern_text {
    ($(#[$doc:meta])* $name:ident, $pattern:literal, $longest:literal, $description:literal) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Eq, PartialEq, Deserialize)]
        pub(crate) struct $name(pub(crate) String);

        inline_schema!($name, {
            "type": "string", "pattern": $pattern, "maxLength": $longest,
            "description": $description,
        });
    };
}

pattern_text!(
    /// The id of a run.
    RunId,
    "^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$",
    36,
    "Unique identifier of the backtest run (GUID)"
);
pattern_text!(
    /// An event id or handle.
    EventRef,
    "^([0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}|e[0-9]{1,10})$",
    36,
    "An event id (GUID), or its short handle such as e17"
);
pattern_text!(
    /// The path of a numeric property.
    PropertyPath,
    "^\\$\\.[a-zA-Z0-9_\\.]+$",
    200,
    "JSON path to the property to aggregate (e.g., '$.Price', '$.Quantity')"
);

/// Declares an integer with a range and a default.
macro_rules! bounded {
    ($(#[$doc:meta])* $name:ident, $least:literal ..= $most:literal, $default:literal, $description:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Eq, PartialEq, Deserialize, Serialize)]
        pub(crate) struct $name(pub(crate) u64);

        impl Default for $name {
            fn default() -> Self {
                Self($default)
            }
        }

        inline_schema!($name, {
            "type": "integer", "minimum": $least, "maximum": $most,
            "default": $default, "description": $description,
        });
    };
}

bounded!(
    /// Events per page.
    PageSize, 1..=1000, 100, "Number of events per page"
);
bounded!(
    /// Sequences per page.
    SequencePageSize, 1..=100, 50, "Number of sequences per page"
);
bounded!(
    /// Page index.
    PageIndex, 0..=9_007_199_254_740_991_u64, 0, "Zero-based page index"
);
bounded!(
    /// Maximum depth of a chain.
    MaxDepth, 1..=50, 10, "Maximum depth of event chain to traverse"
);
bounded!(
    /// Token budget of a reply.
    MaxTokens, 200..=200_000, 20_000,
    "Budget for the reply, in tokens of 2.5 bytes; a longer page is truncated and says how to continue. Many clients truncate replies of more than 20,000 tokens"
);
