//! Anki's search language: what a query asks for, and where it has a mistake.
//!
//! The grammar is that of Anki's manual, "Searching". A query is a tree of [`Node`]s over
//! [`Test`]s; how tests are answered is the store's business. Texts keep their wildcards and
//! escapes until then ([`pattern`]).

pub mod parse;
pub mod pattern;

pub use self::parse::{SearchSyntaxError, parse};

/// A query, or a part of one.
#[derive(Clone, Debug, PartialEq)]
pub enum Node {
    /// Every card.
    All,
    /// Cards that pass all of these.
    And(Vec<Node>),
    /// Cards that pass one of these.
    Or(Vec<Node>),
    /// Cards that do not pass this.
    Not(Box<Node>),
    /// Cards that pass a test.
    Test(Test),
}

/// One thing to ask of a card.
#[derive(Clone, Debug, PartialEq)]
pub enum Test {
    /// A text somewhere in its note.
    Text(String),
    /// A regular expression somewhere in its note.
    Regex(String),
    /// A text, accents apart.
    Unaccented(String),
    /// A whole word.
    Word(String),
    /// A text in a cloze, gaps filled in.
    ClozeText(String),
    /// One field of its note.
    Field {
        /// Which, with wildcards.
        name: String,
        /// What is in it.
        value: Matching,
    },
    /// Its deck, or one above it.
    Deck(String),
    /// The preset of its deck's options, by name.
    Preset(String),
    /// A key of what add-ons keep with it.
    CustomKey(String),
    /// A number that add-ons keep with it, by its key.
    CustomNumber(String, Comparison, f64),
    /// A text that add-ons keep with it, by its key.
    CustomText(String, Comparison, String),
    /// A tag of its note, or one above it.
    Tag(Matching),
    /// Its note type.
    NoteType(String),
    /// Its template, by place from 0.
    Ordinal(u32),
    /// Its template, by name.
    Template(String),
    /// Its flag.
    Flag(u8),
    /// What it is doing.
    State(State),
    /// A figure of its schedule.
    Property(Property, Comparison, f64),
    /// Answered in the last so many days, with this rating if any.
    Rated {
        /// Today is 1.
        days: i64,
        /// From 1 to 4; none for any.
        rating: Option<u8>,
    },
    /// Answered so many days from today, which is 0, with this rating if any.
    RatedOn {
        /// How the day is compared.
        comparison: Comparison,
        /// Never above 0.
        day: i64,
        /// From 1 to 4; none for any.
        rating: Option<u8>,
    },
    /// Rescheduled in the last so many days.
    Rescheduled(i64),
    /// Rescheduled so many days from today, which is 0.
    RescheduledOn(Comparison, i64),
    /// Made in the last so many days.
    Added(i64),
    /// Its note changed in the last so many days.
    Edited(i64),
    /// First answered in the last so many days.
    Introduced(i64),
    /// One of these cards.
    Cards(Vec<i64>),
    /// A card of one of these notes.
    Notes(Vec<i64>),
    /// In this deck, by id.
    DeckId(i64),
    /// Of this note type, by id.
    NoteTypeId(i64),
    /// Its first field is this, in notes of this type.
    Duplicate {
        /// The note type.
        note_type: i64,
        /// The first field.
        text: String,
    },
}

/// How a text is compared.
#[derive(Clone, Debug, PartialEq)]
pub enum Matching {
    /// With wildcards.
    Glob(String),
    /// As a regular expression.
    Regex(String),
    /// With wildcards, accents apart.
    Unaccented(String),
}

/// What a card is doing.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum State {
    /// Never answered.
    New,
    /// In review, or relearning.
    Review,
    /// In steps.
    Learning,
    /// To be answered today.
    Due,
    /// Suspended.
    Suspended,
    /// Buried, in whichever way.
    Buried,
    /// Buried by hand.
    BuriedByHand,
    /// Buried as a sibling.
    BuriedAsSibling,
    /// Made by an agent, waiting for approval. Not in Anki.
    Draft,
}

/// A figure of a card's schedule.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Property {
    /// Days from today until it is due.
    Due,
    /// Its interval in days.
    Interval,
    /// How often it was answered.
    Reps,
    /// How often it was forgotten.
    Lapses,
    /// Anki's ease.
    Ease,
    /// Its place among the new cards.
    Position,
    /// Stability in days.
    Stability,
    /// Difficulty on a scale from 0 to 1.
    Difficulty,
    /// The chance of recall now.
    Retrievability,
}

/// How two figures are compared.
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
    /// The sign, longer ones first when looking for one.
    pub const ALL: [(&'static str, Self); 6] = [
        ("<=", Self::AtMost),
        (">=", Self::AtLeast),
        ("!=", Self::Unequal),
        ("=", Self::Equal),
        ("<", Self::Below),
        (">", Self::Above),
    ];

    /// The sign.
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
