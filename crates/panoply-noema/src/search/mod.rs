//! Anki's search language: syntax tree and syntax errors.
//!
//! The grammar is that of "Searching" in Anki's manual. A query is a tree of [`Node`]s over
//! [`Test`]s; the store evaluates them. Texts keep their wildcards and escapes ([`pattern`]).

pub mod parse;
pub mod pattern;

pub use self::parse::{SearchSyntaxError, parse};

/// A node of the syntax tree.
#[derive(Clone, Debug, PartialEq)]
pub enum Node {
    /// Matches every card.
    All,
    /// Matches if all children match.
    And(Vec<Node>),
    /// Matches if any child matches.
    Or(Vec<Node>),
    /// Matches if the child does not.
    Not(Box<Node>),
    /// A single condition.
    Test(Test),
}

/// A condition on a card.
#[derive(Clone, Debug, PartialEq)]
pub enum Test {
    /// Text anywhere in the note.
    Text(String),
    /// Regular expression anywhere in the note.
    Regex(String),
    /// Text, ignoring accents.
    Unaccented(String),
    /// Whole word.
    Word(String),
    /// Text in a cloze note with its deletions expanded.
    ClozeText(String),
    /// A field of the note.
    Field {
        /// Field name with wildcards.
        name: String,
        /// Field content.
        value: Matching,
    },
    /// Deck or one of its ancestors.
    Deck(String),
    /// Preset name of the deck's options.
    Preset(String),
    /// Key in the custom data of add-ons.
    CustomKey(String),
    /// Numeric value in the custom data of add-ons.
    CustomNumber(String, Comparison, f64),
    /// Text value in the custom data of add-ons.
    CustomText(String, Comparison, String),
    /// Tag of the note or one of its ancestors.
    Tag(Matching),
    /// Note type by name.
    NoteType(String),
    /// Template by index.
    Ordinal(u32),
    /// Template by name.
    Template(String),
    /// Flag.
    Flag(u8),
    /// Study state.
    State(State),
    /// Scheduling property.
    Property(Property, Comparison, f64),
    /// Reviewed in the last days.
    Rated {
        /// Number of days; today is 1.
        days: i64,
        /// Rating from 1 to 4; `None` for any.
        rating: Option<u8>,
    },
    /// Reviewed on a day relative to today.
    RatedOn {
        /// Comparison of the day.
        comparison: Comparison,
        /// Day relative to today: 0 or negative.
        day: i64,
        /// Rating from 1 to 4; `None` for any.
        rating: Option<u8>,
    },
    /// Rescheduled in the last days.
    Rescheduled(i64),
    /// Rescheduled on a day relative to today.
    RescheduledOn(Comparison, i64),
    /// Created in the last days.
    Added(i64),
    /// Note changed in the last days.
    Edited(i64),
    /// First reviewed in the last days.
    Introduced(i64),
    /// One of these card ids.
    Cards(Vec<i64>),
    /// A card of one of these note ids.
    Notes(Vec<i64>),
    /// Deck by id.
    DeckId(i64),
    /// Note type by id.
    NoteTypeId(i64),
    /// Notes of a type with this first field.
    Duplicate {
        /// Note type id.
        note_type: i64,
        /// First field.
        text: String,
    },
}

/// How a text is matched.
#[derive(Clone, Debug, PartialEq)]
pub enum Matching {
    /// Wildcards.
    Glob(String),
    /// Regular expression.
    Regex(String),
    /// Wildcards, ignoring accents.
    Unaccented(String),
}

/// Study state of a card.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum State {
    /// Never reviewed.
    New,
    /// In review or relearning.
    Review,
    /// In learning steps.
    Learning,
    /// Due today.
    Due,
    /// Suspended.
    Suspended,
    /// Buried in any way.
    Buried,
    /// Buried manually.
    BuriedByHand,
    /// Buried as a sibling.
    BuriedAsSibling,
    /// Draft awaiting approval. Not in Anki.
    Draft,
}

/// Scheduling property of a card.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Property {
    /// Days until due, relative to today.
    Due,
    /// Interval in days.
    Interval,
    /// Number of reviews.
    Reps,
    /// Number of lapses.
    Lapses,
    /// Anki's ease factor.
    Ease,
    /// Position among new cards.
    Position,
    /// Stability in days.
    Stability,
    /// Difficulty scaled to 0 to 1.
    Difficulty,
    /// Current probability of recall.
    Retrievability,
}

/// Comparison operator.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Comparison {
    /// `<=`
    AtMost,
    /// `>=`
    AtLeast,
    /// `!=`
    Unequal,
    /// `=`
    Equal,
    /// `<`
    Below,
    /// `>`
    Above,
}

impl Comparison {
    /// Operators with their symbols, longer symbols first for prefix matching.
    pub const ALL: [(&'static str, Self); 6] = [
        ("<=", Self::AtMost),
        (">=", Self::AtLeast),
        ("!=", Self::Unequal),
        ("=", Self::Equal),
        ("<", Self::Below),
        (">", Self::Above),
    ];

    /// The operator symbol.
    pub const fn sign(self) -> &'static str {
        match self {
            Self::AtMost => "<=",
            Self::AtLeast => ">=",
            Self::Unequal => "!=",
            Self::Equal => "=",
            Self::Below => "<",
            Self::Above => ">",
        }
    }
}
