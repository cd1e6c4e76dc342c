//! Import and export of Anki packages.
//!
//! A package is a zip. `meta` names the format of its collection: legacy 1 (`collection.anki2`) and
//! legacy 2 (`collection.anki21`) are SQLite databases with JSON columns, latest
//! (`collection.anki21b`) is a zstd-compressed SQLite database with protocol buffers. All three are
//! read; legacy 2 is written. Packages are untrusted: all sizes are limited, and no name becomes a
//! path.

mod container;
mod export;
mod import;
mod note_types;
mod presets;
mod proto;
mod tables;

pub use self::container::{PackageLimits, PackageMedia, PackageSource, open, read};
pub use self::export::{ExportSummary, export};
pub use self::import::{ImportSummary, import};

use crate::card::Review;
use crate::deck::DeckOptions;
use crate::fsrs::Calendar;
use crate::note::NoteType;

/// The content of a package.
#[derive(Debug, Default)]
pub struct Package {
    /// Creation time of the collection in Unix seconds; due days count from it.
    pub created: i64,
    /// Rollover hour and UTC offset of the collection.
    pub calendar: Calendar,
    /// Note types.
    pub note_types: Vec<NoteType>,
    /// The decks.
    pub decks: Vec<PackagedDeck>,
    /// The notes.
    pub notes: Vec<PackagedNote>,
    /// The cards.
    pub cards: Vec<PackagedCard>,
    /// Review log.
    pub reviews: Vec<Review>,
    /// Media files, read from the package when they are needed.
    pub media: PackageMedia,
    /// Skipped parts with the reason.
    pub left_out: Vec<String>,
}

/// A deck in a package.
#[derive(Clone, Debug, PartialEq)]
pub struct PackagedDeck {
    /// Anki's id.
    pub id: i64,
    /// Name with parts joined by `::`.
    pub name: String,
    /// Search query of a filtered deck.
    pub search: Option<String>,
    /// Description.
    pub description: String,
    /// Deck options; `None` for an unchanged default preset.
    pub options: Option<DeckOptions>,
}

/// A note in a package.
#[derive(Clone, Debug, PartialEq)]
pub struct PackagedNote {
    /// Anki's id: the creation time in Unix milliseconds.
    pub id: i64,
    /// Globally unique id.
    pub guid: String,
    /// Anki's id of the note type.
    pub note_type: i64,
    /// Modification time in Unix seconds.
    pub modified: i64,
    /// Tags separated by spaces.
    pub tags: String,
    /// Fields separated by 0x1f.
    pub fields: String,
}

/// A card in a package, with Anki's raw values.
#[derive(Clone, Debug, PartialEq)]
pub struct PackagedCard {
    /// Anki's id: the creation time in Unix milliseconds.
    pub id: i64,
    /// Note id.
    pub note: i64,
    /// Deck.
    pub deck: i64,
    /// Index of the card within its note.
    pub ordinal: i64,
    /// Modification time in Unix seconds.
    pub modified: i64,
    /// 0 new, 1 learning, 2 review, 3 relearning.
    pub kind: i64,
    /// 1 learning, 2 review, 3 learning with a step of a day or more, -1 suspended, -2 and -3
    /// buried.
    pub queue: i64,
    /// A position, a day number or a Unix timestamp, depending on `queue` and `kind`.
    pub due: i64,
    /// Days if positive, seconds if negative.
    pub interval: i64,
    /// Ease factor in permille.
    pub ease: i64,
    /// Number of reviews.
    pub reps: i64,
    /// Number of lapses.
    pub lapses: i64,
    /// Remaining learning steps.
    pub left: i64,
    /// Original due value while the card is in a filtered deck.
    pub own_due: i64,
    /// Original deck while the card is in a filtered deck.
    pub own_deck: i64,
    /// Flag in the lowest three bits.
    pub flags: i64,
    /// JSON with the FSRS memory state and custom data.
    pub data: String,
}
