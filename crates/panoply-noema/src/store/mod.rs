//! Persistence of a collection.
//!
//! A [`Store`] runs read transactions on a [`StoreReader`] and write transactions on a
//! [`StoreWriter`]. A write transaction is one action: atomic, recorded and undoable. The domain
//! depends on these traits only; SQL is in [`sqlite`].

pub mod sqlite;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

#[cfg(feature = "tools")]
use panoply_contract::mutation::{MutationLog, MutationRecord};

use crate::card::{Card, Hold, Review, ReviewKind};
use crate::deck::Deck;
use crate::error::{NoemaError, Result};
use crate::fsrs::{Calendar, Micros, Phase, Zone};
use crate::ids::{ActionId, CardId, DeckId, NoteId, NoteTypeId, SessionId};
use crate::learner::LearnerSettings;
use crate::media::MediaFile;
use crate::note::{Note, NoteType, PastContent};
use crate::search::Node;

#[cfg(feature = "tools")]
pub use self::sqlite::OpenError;
pub use self::sqlite::SqliteStore;

/// An empty collection in memory whose tokens are signed with this secret.
pub fn in_memory(secret: &[u8]) -> Result<Arc<dyn Store>> {
    Ok(Arc::new(SqliteStore::in_memory()?.with_secret(secret)?))
}

/// A collection with transactions.
pub trait Store: Send + Sync + 'static {
    /// Runs a read transaction.
    fn with_reader(&self, read: &mut dyn FnMut(&dyn StoreReader) -> Result<()>) -> Result<()>;

    /// Runs a write transaction as one undoable action and passes its id. Rolls back unless
    /// `commit`.
    fn with_writer(
        &self,
        action: &NewAction<'_>,
        commit: bool,
        write: &mut dyn FnMut(&mut dyn StoreWriter, ActionId) -> Result<()>,
    ) -> Result<ActionId>;

    /// Data version: changes with every write, also by other processes.
    fn version(&self) -> u64;

    /// A read-only store with these decks of the collection and their subdecks.
    #[cfg(feature = "tools")]
    fn shared(&self, decks: &[DeckId]) -> Result<Arc<dyn Store>>;

    /// The log of the records that [`StoreWriter::record_call`] stores.
    #[cfg(feature = "tools")]
    fn mutation_log(self: Arc<Self>) -> Arc<dyn MutationLog>;
}

impl dyn Store {
    /// Runs a read transaction.
    pub fn read<T>(&self, read: impl FnOnce(&dyn StoreReader) -> Result<T>) -> Result<T> {
        let (mut read, mut result) = (Some(read), None);
        self.with_reader(&mut |reader| {
            result = read.take().map(|read| read(reader)).transpose()?;
            Ok(())
        })?;
        result.ok_or(NoemaError::store("the store did not run the transaction"))
    }

    /// Runs a write transaction; returns the result and the action id.
    pub fn change<T>(
        &self,
        action: &NewAction<'_>,
        commit: bool,
        write: impl FnOnce(&mut dyn StoreWriter, ActionId) -> Result<T>,
    ) -> Result<(T, ActionId)> {
        let (mut write, mut result) = (Some(write), None);
        let id = self.with_writer(action, commit, &mut |writer, id| {
            result = write.take().map(|write| write(writer, id)).transpose()?;
            Ok(())
        })?;
        result
            .map(|result| (result, id))
            .ok_or(NoemaError::store("the store did not run the transaction"))
    }
}

/// An action about to run.
#[derive(Clone, Copy, Debug)]
pub struct NewAction<'a> {
    /// Tool name.
    pub tool: &'a str,
    /// Summary for display.
    pub summary: &'a str,
    /// Timestamp.
    pub at: Micros,
    /// Partition of the caller.
    pub actor: &'a str,
}

/// A recorded action.
#[derive(Clone, Debug, PartialEq)]
pub struct Action {
    /// Identifier.
    pub id: ActionId,
    /// Tool name.
    pub tool: String,
    /// Summary for display.
    pub summary: String,
    /// Timestamp.
    pub at: Micros,
    /// When it was undone.
    pub undone: Option<Micros>,
    /// Number of changed rows.
    pub changes: u64,
    /// Partition of the caller.
    pub actor: String,
}

/// Card count of one lane: cards of a deck with the same hold and phase.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct LaneCount {
    /// Hold of the cards.
    pub hold: Hold,
    /// Phase.
    pub phase: Phase,
    /// Number of cards.
    pub cards: i64,
    /// Number of cards due by the given time.
    pub due: i64,
}

/// The columns of a card that the queue needs.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct QueuedCard {
    /// Card.
    pub card: CardId,
    /// Note id.
    pub note: NoteId,
    /// Deck.
    pub deck: DeckId,
    /// Index of the card within its note.
    pub ordinal: u32,
    /// Due time, or position among new cards.
    pub due: Micros,
}

/// Cards studied in a deck on a day, counted against its limits.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Tally {
    /// New cards started.
    pub new: u32,
    /// Reviews, including new cards.
    pub reviews: u32,
}

/// A study session.
#[derive(Clone, Debug, PartialEq)]
pub struct Session {
    /// Identifier.
    pub id: SessionId,
    /// Root deck; `None` for the whole collection.
    pub deck: Option<DeckId>,
    /// Start time.
    pub started: Micros,
    /// End time.
    pub ended: Option<Micros>,
    /// Maximum number of cards.
    pub card_limit: Option<u32>,
    /// Number of reviews.
    pub answered: u32,
    /// Number of reviews not rated `again`.
    pub passed: u32,
    /// Answer time in milliseconds.
    pub taken_ms: i64,
}

/// Time context of a search.
#[derive(Clone, Copy, Debug)]
pub struct SearchContext {
    /// Current time.
    pub now: Micros,
    /// The calendar that counts study days.
    pub calendar: Calendar,
}

/// The result of a search.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct SearchResult {
    /// The cards of the page.
    pub cards: Vec<CardId>,
    /// Total number of matches.
    pub total: u64,
}

/// Existing ids, including deleted rows.
#[derive(Debug, Default)]
pub struct ExistingIds {
    /// Note ids.
    pub notes: HashSet<i64>,
    /// Card ids.
    pub cards: HashSet<i64>,
    /// Review ids.
    pub reviews: HashSet<i64>,
    /// Ids of undeleted notes by guid.
    pub guids: HashMap<String, NoteId>,
}

/// The columns of a review log entry that statistics need.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogEntry {
    /// Timestamp.
    pub at: Micros,
    /// Card.
    pub card: CardId,
    /// Rating from 1 to 4; 0 for a manual change.
    pub rating: u8,
    /// State of the card at the review.
    pub kind: ReviewKind,
    /// Previous interval; days if positive.
    pub last_interval: i32,
    /// Answer time in milliseconds.
    pub taken_ms: i32,
}

/// Sums over a quarter of an hour.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct QuarterHour {
    /// Start time.
    pub start: Micros,
    /// Number of reviews.
    pub answers: u64,
    /// Number of those recalled.
    pub passed: u64,
    /// Answer time in milliseconds.
    pub taken_ms: i64,
    /// Reviews by rating, from again to easy.
    pub ratings: [u64; 4],
    /// Reviews of young cards in review, and how many were recalled.
    pub young: (u64, u64),
    /// The same for mature cards.
    pub mature: (u64, u64),
    /// Cards reviewed for the first time.
    pub introduced: u64,
}

/// Sort order of search results.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum SortOrder {
    /// By creation time.
    #[default]
    Created,
    /// By due time; new cards last.
    Due,
    /// By modification time, latest first.
    Modified,
    /// By difficulty, hardest first.
    Difficulty,
    /// By lapses, most first.
    Lapses,
}

/// A read transaction.
pub trait StoreReader {
    /// Data version: changes with every write, also by other processes. A write of this process
    /// increments it by one.
    fn version(&self) -> Result<u64>;
    /// A deck, deleted or not.
    fn deck(&self, id: DeckId) -> Result<Option<Deck>>;
    /// The undeleted deck with this [folded](crate::deck::DeckName::folded) name.
    fn deck_by_name(&self, folded: &str) -> Result<Option<Deck>>;
    /// All undeleted decks by name.
    fn decks(&self) -> Result<Vec<Deck>>;
    /// A note type.
    fn note_type(&self, id: NoteTypeId) -> Result<Option<NoteType>>;
    /// All note types by id.
    fn note_types(&self) -> Result<Vec<NoteType>>;
    /// A note, deleted or not.
    fn note(&self, id: NoteId) -> Result<Option<Note>>;
    /// The undeleted note with this guid.
    fn note_by_guid(&self, guid: &str) -> Result<Option<Note>>;
    /// Undeleted notes with this checksum of their first field.
    fn notes_with_checksum(&self, checksum: i64) -> Result<Vec<Note>>;
    /// Earlier contents of a note, latest first.
    fn past_contents(&self, note: NoteId) -> Result<Vec<PastContent>>;
    /// A card, deleted or not.
    fn card(&self, id: CardId) -> Result<Option<Card>>;
    /// Undeleted cards of a note by ordinal.
    fn cards_of(&self, note: NoteId) -> Result<Vec<Card>>;
    /// Undeleted cards of a deck by id.
    fn cards_in(&self, deck: DeckId) -> Result<Vec<Card>>;
    /// Passes every undeleted note to `visit`, by id.
    fn for_each_note(&self, visit: &mut dyn FnMut(Note) -> Result<()>) -> Result<()>;
    /// Undeleted cards with at least one review, by id.
    fn answered_cards(&self) -> Result<Vec<Card>>;
    /// Cards that match a query.
    fn search(
        &self,
        query: &Node,
        context: SearchContext,
        order: SortOrder,
        offset: u64,
        limit: u64,
    ) -> Result<SearchResult>;
    /// Lane counts of a deck, with the number of cards due by `until`.
    fn lanes(&self, deck: DeckId, until: Micros) -> Result<Vec<LaneCount>>;
    /// Cards whose burial ended by `now`.
    fn ended_burials(&self, now: Micros) -> Result<Vec<Card>>;
    /// Available cards of a deck in a phase at `now`, due by `until`, in queue order.
    fn queued_cards(
        &self,
        deck: DeckId,
        phase: Phase,
        now: Micros,
        until: Micros,
        limit: u64,
    ) -> Result<Vec<QueuedCard>>;
    /// Due times of available cards in learning or review, up to `until`.
    fn due_dates(&self, deck: Option<DeckId>, until: Micros) -> Result<Vec<Micros>>;
    /// Cards studied in a deck on a day, counted against its limits.
    fn tally(&self, deck: DeckId, day: i64) -> Result<Tally>;
    /// The review log of a card, oldest first.
    fn reviews_of(&self, card: CardId) -> Result<Vec<Review>>;
    /// Log entries from `from` to `to`, oldest first, of cards in these decks or all.
    fn log(&self, from: Micros, to: Micros, decks: Option<&[DeckId]>) -> Result<Vec<LogEntry>>;
    /// Quarter-hour sums from `from` to `to`.
    fn quarter_hours(&self, from: Micros, to: Micros) -> Result<Vec<QuarterHour>>;
    /// The complete log from `from` to `to`, oldest first, with the deck of each card.
    fn reviews_between(&self, from: Micros, to: Micros) -> Result<Vec<(Review, DeckId)>>;
    /// The review that was submitted with a token.
    fn review_with_token(&self, card: CardId, token: &str) -> Result<Option<Review>>;
    /// Time of the last review.
    fn last_review_time(&self) -> Result<Option<Micros>>;
    /// A session.
    fn session(&self, id: SessionId) -> Result<Option<Session>>;
    /// An action.
    fn action(&self, id: ActionId) -> Result<Option<Action>>;
    /// The latest actions, latest first.
    fn actions(&self, limit: u32) -> Result<Vec<Action>>;
    /// All tags with their number of notes.
    fn tags(&self) -> Result<BTreeMap<String, u64>>;
    /// All media files by name.
    fn media_files(&self) -> Result<Vec<MediaFile>>;
    /// A media file by name.
    fn media_file(&self, name: &str) -> Result<Option<MediaFile>>;
    /// The content of a media file.
    fn media(&self, name: &str) -> Result<Option<Vec<u8>>>;
    /// Secret that signs review tokens.
    fn secret(&self) -> Result<Vec<u8>>;
    /// The learner's settings.
    fn learner(&self) -> Result<LearnerSettings>;
    /// The learner's time zone: the one of the settings, or else of the machine.
    fn learner_zone(&self) -> Result<Zone>;
    /// The next due time after `after` of available cards of a deck in learning or review.
    fn next_due(&self, deck: DeckId, after: Micros) -> Result<Option<Micros>>;
}

/// A write transaction: one action.
pub trait StoreWriter: StoreReader {
    /// Inserts or replaces a deck.
    fn put_deck(&mut self, deck: &Deck) -> Result<()>;
    /// Inserts or replaces a note type.
    fn put_note_type(&mut self, note_type: &NoteType) -> Result<()>;
    /// Deletes a note type that no note uses.
    fn delete_note_type(&mut self, id: NoteTypeId) -> Result<()>;
    /// Changes the template of a card.
    fn put_ordinal(&mut self, card: CardId, ordinal: u32) -> Result<()>;
    /// Inserts or replaces a note.
    fn put_note(&mut self, note: &Note) -> Result<()>;
    /// Stores an earlier content of a note.
    fn put_past_content(&mut self, note: NoteId, past: &PastContent) -> Result<()>;
    /// Inserts or replaces a card.
    fn put_card(&mut self, card: &Card) -> Result<()>;
    /// Appends to the review log.
    fn put_review(&mut self, review: &Review) -> Result<()>;
    /// Replaces an entry of the review log.
    fn replace_review(&mut self, review: &Review) -> Result<()>;
    /// Sets the tally of a deck for a day.
    fn put_tally(&mut self, deck: DeckId, day: i64, tally: Tally) -> Result<()>;
    /// Inserts or replaces a session.
    fn put_session(&mut self, session: &Session) -> Result<()>;
    /// Stores the learner's settings.
    fn put_learner(&mut self, settings: &LearnerSettings) -> Result<()>;
    /// Number of rows this action has written.
    fn changes(&self) -> u64;
    /// Stores a media file under a name that no other file has.
    fn put_media(&mut self, name: &str, bytes: &[u8], now: Micros) -> Result<MediaFile>;
    /// Deletes a media file; returns false if there is none.
    fn delete_media(&mut self, name: &str, now: Micros) -> Result<bool>;
    /// An unused id: the current millisecond or the next free one.
    fn next_id(&mut self, now: Micros) -> Result<i64>;
    /// Starts a bulk import of about `rows` rows, which are undone together. Returns the existing
    /// ids.
    fn begin_bulk(&mut self, rows: usize) -> Result<Rc<ExistingIds>>;
    /// Undoes an action; returns the number of restored rows.
    fn undo(&mut self, action: ActionId, now: Micros) -> Result<u64>;
    /// Stores the audit record of the call in the same transaction.
    #[cfg(feature = "tools")]
    fn record_call(&mut self, record: &MutationRecord) -> Result<()>;
    /// Deletes rows permanently that were soft-deleted before `before`.
    fn purge(&mut self, before: Micros) -> Result<u64>;
}
