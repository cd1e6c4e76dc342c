//! Anki's packages, both ways.
//!
//! A package is a zip. `meta` says which of three formats the collection inside has: legacy 1
//! (`collection.anki2`) and legacy 2 (`collection.anki21`) are SQLite with JSON in it, the
//! latest (`collection.anki21b`) is SQLite under zstd with protocol buffers in it. We read all
//! three and write legacy 2, which every Anki since 2.1 opens. A package is a stranger: every
//! size is limited, and nothing in it becomes a path.

mod container;
mod export;
mod import;
mod presets;
mod proto;
mod tables;

pub use self::container::{PackageLimits, read};
pub use self::export::{ExportSummary, export};
pub use self::import::{ImportSummary, import};

use crate::card::Review;
use crate::deck::DeckOptions;
use crate::fsrs::Calendar;
use crate::note::NoteType;

/// What is in a package.
#[derive(Clone, Debug, Default)]
pub struct Package {
    /// When the collection was made, in seconds: due days are counted from then.
    pub created: i64,
    /// When its days begin, and how far its clock is ahead of UTC.
    pub calendar: Calendar,
    /// The note types.
    pub note_types: Vec<NoteType>,
    /// The decks.
    pub decks: Vec<PackagedDeck>,
    /// The notes.
    pub notes: Vec<PackagedNote>,
    /// The cards.
    pub cards: Vec<PackagedCard>,
    /// The log of reviews.
    pub reviews: Vec<Review>,
    /// Media by name.
    pub media: Vec<(String, Vec<u8>)>,
    /// What was left out, and why.
    pub left_out: Vec<String>,
}

/// A deck in a package.
#[derive(Clone, Debug, PartialEq)]
pub struct PackagedDeck {
    /// Its id there.
    pub id: i64,
    /// Its name, parts joined by `::`.
    pub name: String,
    /// The search of a filtered deck.
    pub search: Option<String>,
    /// What it is for.
    pub description: String,
    /// How it is studied; nothing where nobody has said.
    pub options: Option<DeckOptions>,
}

/// A note in a package.
#[derive(Clone, Debug, PartialEq)]
pub struct PackagedNote {
    /// Its id there: when it was made, in milliseconds.
    pub id: i64,
    /// Its id everywhere.
    pub guid: String,
    /// Its type's id there.
    pub note_type: i64,
    /// When it was changed, in seconds.
    pub modified: i64,
    /// Its tags, separated by blanks.
    pub tags: String,
    /// Its fields, separated by 0x1f.
    pub fields: String,
}

/// A card in a package, with Anki's numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct PackagedCard {
    /// Its id there: when it was made, in milliseconds.
    pub id: i64,
    /// Its note.
    pub note: i64,
    /// Its deck.
    pub deck: i64,
    /// Which card of the note.
    pub ordinal: i64,
    /// When it was changed, in seconds.
    pub modified: i64,
    /// 0 new, 1 learning, 2 review, 3 relearning.
    pub kind: i64,
    /// 1 in steps, 2 in review, 3 in steps of a day or more, -1 suspended, -2 and -3 buried.
    pub queue: i64,
    /// A place, a day or a moment, by queue and kind.
    pub due: i64,
    /// Days when positive, seconds when negative.
    pub interval: i64,
    /// Ease in permille.
    pub ease: i64,
    /// Answers.
    pub reps: i64,
    /// Lapses.
    pub lapses: i64,
    /// Steps that are left.
    pub left: i64,
    /// Due in its own deck, while in a filtered one.
    pub own_due: i64,
    /// Its own deck, while in a filtered one.
    pub own_deck: i64,
    /// Flag, in the lowest three bits.
    pub flags: i64,
    /// JSON with the memory.
    pub data: String,
}
