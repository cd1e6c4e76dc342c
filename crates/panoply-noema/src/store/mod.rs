//! Where a collection is kept.
//!
//! [`StoreReader`] reads, [`StoreWriter`] writes, and a [`Store`] hands them out: one to look, the other
//! for one action at a time, which is kept whole or not at all and can be undone. The domain
//! speaks these traits; SQL is in [`sqlite`] only.

pub mod sqlite;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;

use crate::card::{Card, Review, ReviewKind};
use crate::deck::Deck;
use crate::error::NoemaError;
use crate::fsrs::{Calendar, Micros, Phase};
use crate::ids::{ActionId, CardId, DeckId, NoteId, NoteTypeId, SessionId};
use crate::note::{Note, NoteType, PastContent};
use crate::search::Node;

#[cfg(feature = "tools")]
pub use self::sqlite::OpenError;
pub use self::sqlite::SqliteStore;

/// A collection that can be looked at and changed.
pub trait Store: Send + Sync + 'static {
    /// Lets `look` see the collection as it is.
    fn with_reader(
        &self,
        look: &mut dyn FnMut(&dyn StoreReader) -> Result<(), NoemaError>,
    ) -> Result<(), NoemaError>;

    /// Lets `act` change the collection, as one action that can be undone and whose id it is told.
    /// With `commit` false everything is rolled back in the end.
    fn with_writer(
        &self,
        action: &NewAction<'_>,
        commit: bool,
        act: &mut dyn FnMut(&mut dyn StoreWriter, ActionId) -> Result<(), NoemaError>,
    ) -> Result<ActionId, NoemaError>;

    /// A number that changes with every change, whoever makes it.
    fn version(&self) -> u64;
}

impl dyn Store {
    /// Looks at the collection.
    pub fn read<T>(
        &self,
        look: impl FnOnce(&dyn StoreReader) -> Result<T, NoemaError>,
    ) -> Result<T, NoemaError> {
        let (mut look, mut found) = (Some(look), None);
        self.with_reader(&mut |reader| {
            found = look.take().map(|look| look(reader)).transpose()?;
            Ok(())
        })?;
        found.ok_or(NoemaError::store("the store did not call back"))
    }

    /// Changes the collection; gives back the action that undoes it.
    pub fn change<T>(
        &self,
        action: &NewAction<'_>,
        commit: bool,
        act: impl FnOnce(&mut dyn StoreWriter, ActionId) -> Result<T, NoemaError>,
    ) -> Result<(T, ActionId), NoemaError> {
        let (mut act, mut done) = (Some(act), None);
        let id = self.with_writer(action, commit, &mut |writer, id| {
            done = act.take().map(|act| act(writer, id)).transpose()?;
            Ok(())
        })?;
        done.map(|done| (done, id)).ok_or(NoemaError::store("the store did not call back"))
    }
}

/// What somebody is about to do.
#[derive(Clone, Copy, Debug)]
pub struct NewAction<'a> {
    /// The tool.
    pub tool: &'a str,
    /// What it does, for people.
    pub summary: &'a str,
    /// When.
    pub at: Micros,
    /// Who: the partition of the caller.
    pub actor: &'a str,
}

/// Written in the transaction of an action, such as the record of the call that asked for it.
pub trait Attachment {
    /// Writes it.
    fn write(&self, connection: &rusqlite::Connection) -> rusqlite::Result<()>;
}

/// Something that was done.
#[derive(Clone, Debug, PartialEq)]
pub struct Action {
    /// Its id.
    pub id: ActionId,
    /// The tool.
    pub tool: String,
    /// What it did, for people.
    pub summary: String,
    /// When.
    pub at: Micros,
    /// When it was undone.
    pub undone: Option<Micros>,
    /// How many things it changed.
    pub changes: u64,
    /// Who did it: the partition of the caller.
    pub actor: String,
}

/// Cards of one deck in one state.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct LaneCount {
    /// What holds them back, as [`Hold::code`](crate::card::Hold::code).
    pub hold: i64,
    /// Where they are in their life.
    pub phase: Phase,
    /// How many.
    pub cards: i64,
    /// How many of them are due by the moment asked for.
    pub due: i64,
}

/// A card as the queue needs it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct QueuedCard {
    /// The card.
    pub card: CardId,
    /// Its note.
    pub note: NoteId,
    /// Its deck.
    pub deck: DeckId,
    /// Which card of the note.
    pub ordinal: u32,
    /// When it is due, or its place among the new.
    pub due: Micros,
}

/// What was studied in a deck on a day.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Tally {
    /// New cards begun.
    pub new: u32,
    /// Reviews answered.
    pub reviews: u32,
}

/// A sitting.
#[derive(Clone, Debug, PartialEq)]
pub struct Session {
    /// Its id.
    pub id: SessionId,
    /// What is studied; everything without it.
    pub deck: Option<DeckId>,
    /// When it began.
    pub started: Micros,
    /// When it ended.
    pub ended: Option<Micros>,
    /// Stop after so many cards.
    pub card_limit: Option<u32>,
    /// Answers so far.
    pub answered: u32,
    /// Answers that were not `again`.
    pub passed: u32,
    /// Milliseconds of answering.
    pub taken_ms: i64,
}

/// What a search needs to know about time.
#[derive(Clone, Copy, Debug)]
pub struct SearchContext {
    /// Now.
    pub now: Micros,
    /// How days are counted.
    pub calendar: Calendar,
}

/// What was found.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct SearchResult {
    /// The cards of the page.
    pub cards: Vec<CardId>,
    /// How many there are in all.
    pub total: u64,
}

/// Ids that are taken, deleted things included.
#[derive(Debug, Default)]
pub struct ExistingIds {
    /// Of notes.
    pub notes: HashSet<i64>,
    /// Of cards.
    pub cards: HashSet<i64>,
    /// Of reviews.
    pub reviews: HashSet<i64>,
    /// Notes that are not deleted, by guid.
    pub guids: HashMap<String, NoteId>,
}

/// An entry of the log, as far as sums over many of them need it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogEntry {
    /// When.
    pub at: Micros,
    /// The card.
    pub card: CardId,
    /// From 1 to 4; 0 for a change by hand.
    pub rating: u8,
    /// What the card was doing.
    pub kind: ReviewKind,
    /// The interval before, in days when positive.
    pub last_interval: i32,
    /// Milliseconds it took.
    pub taken_ms: i32,
}

/// What was answered in a quarter of an hour.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct QuarterHour {
    /// When it began.
    pub start: Micros,
    /// Answers.
    pub answers: u64,
    /// How many of them were recalled.
    pub passed: u64,
    /// Milliseconds of answering.
    pub taken_ms: i64,
    /// Answers by rating, from again to easy.
    pub ratings: [u64; 4],
    /// Answers to cards in review that were not mature, and how many of them were recalled.
    pub young: (u64, u64),
    /// The same for mature ones.
    pub mature: (u64, u64),
    /// Cards answered for the first time.
    pub introduced: u64,
}

/// How what was found is sorted.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum SortOrder {
    /// By when the card was made.
    #[default]
    Created,
    /// By when it is due; cards that are not come last.
    Due,
    /// By when it was last changed, latest first.
    Modified,
    /// By difficulty, hardest first.
    Difficulty,
    /// By lapses, most first.
    Lapses,
}

/// Reads a collection.
pub trait StoreReader {
    /// A number that changes with every change, whoever makes it. The next change made through
    /// this store makes it one larger.
    fn version(&self) -> Result<u64, NoemaError>;
    /// A deck, deleted or not.
    fn deck(&self, id: DeckId) -> Result<Option<Deck>, NoemaError>;
    /// The deck with this [folded](crate::deck::DeckName::folded) name that is not deleted.
    fn deck_by_name(&self, folded: &str) -> Result<Option<Deck>, NoemaError>;
    /// All decks that are not deleted, by name.
    fn decks(&self) -> Result<Vec<Deck>, NoemaError>;
    /// A note type.
    fn note_type(&self, id: NoteTypeId) -> Result<Option<NoteType>, NoemaError>;
    /// All note types, by id.
    fn note_types(&self) -> Result<Vec<NoteType>, NoemaError>;
    /// A note, deleted or not.
    fn note(&self, id: NoteId) -> Result<Option<Note>, NoemaError>;
    /// The note with this guid that is not deleted.
    fn note_by_guid(&self, guid: &str) -> Result<Option<Note>, NoemaError>;
    /// Notes that are not deleted with this checksum of their first field.
    fn notes_with_checksum(&self, checksum: i64) -> Result<Vec<Note>, NoemaError>;
    /// What a note was before, latest first.
    fn past_contents(&self, note: NoteId) -> Result<Vec<PastContent>, NoemaError>;
    /// A card, deleted or not.
    fn card(&self, id: CardId) -> Result<Option<Card>, NoemaError>;
    /// The cards of a note that are not deleted, by ordinal.
    fn cards_of(&self, note: NoteId) -> Result<Vec<Card>, NoemaError>;
    /// Cards of a deck that are not deleted, by id.
    fn cards_in(&self, deck: DeckId) -> Result<Vec<Card>, NoemaError>;
    /// Shows `see` every note that is not deleted, by id.
    fn for_each_note(
        &self,
        see: &mut dyn FnMut(Note) -> Result<(), NoemaError>,
    ) -> Result<(), NoemaError>;
    /// Cards that were answered at least once and are not deleted, by id.
    fn answered_cards(&self) -> Result<Vec<Card>, NoemaError>;
    /// Cards that a query finds.
    fn search(
        &self,
        query: &Node,
        context: SearchContext,
        order: SortOrder,
        offset: u64,
        limit: u64,
    ) -> Result<SearchResult, NoemaError>;
    /// Cards of a deck by state, and how many are due by `until`.
    fn lanes(&self, deck: DeckId, until: Micros) -> Result<Vec<LaneCount>, NoemaError>;
    /// Cards whose burial has ended by `now`: nothing holds them back any more.
    fn ended_burials(&self, now: Micros) -> Result<Vec<Card>, NoemaError>;
    /// Cards of a deck in a phase that nothing holds back at `now`, due by `until`, in order.
    fn queued_cards(
        &self,
        deck: DeckId,
        phase: Phase,
        now: Micros,
        until: Micros,
        limit: u64,
    ) -> Result<Vec<QueuedCard>, NoemaError>;
    /// Due dates of cards in review that nothing holds back, up to `until`.
    fn due_dates(&self, deck: Option<DeckId>, until: Micros) -> Result<Vec<Micros>, NoemaError>;
    /// What was studied in a deck on a day.
    fn tally(&self, deck: DeckId, day: i64) -> Result<Tally, NoemaError>;
    /// The log of a card, oldest first.
    fn reviews_of(&self, card: CardId) -> Result<Vec<Review>, NoemaError>;
    /// What is in the log from `from` up to `to`, oldest first: of cards in these decks, or of all.
    fn log(
        &self,
        from: Micros,
        to: Micros,
        decks: Option<&[DeckId]>,
    ) -> Result<Vec<LogEntry>, NoemaError>;
    /// What was answered in the quarters of an hour from `from` up to `to`.
    fn quarter_hours(&self, from: Micros, to: Micros) -> Result<Vec<QuarterHour>, NoemaError>;
    /// The whole log from `from` up to `to`, oldest first, with each card's deck.
    fn reviews_between(
        &self,
        from: Micros,
        to: Micros,
    ) -> Result<Vec<(Review, DeckId)>, NoemaError>;
    /// The review that was submitted with a token.
    fn review_with_token(&self, card: CardId, token: &str) -> Result<Option<Review>, NoemaError>;
    /// The moment of the last answer.
    fn last_review_time(&self) -> Result<Option<Micros>, NoemaError>;
    /// A session.
    fn session(&self, id: SessionId) -> Result<Option<Session>, NoemaError>;
    /// An action.
    fn action(&self, id: ActionId) -> Result<Option<Action>, NoemaError>;
    /// The latest actions, latest first.
    fn actions(&self, limit: u32) -> Result<Vec<Action>, NoemaError>;
    /// All tags with how many notes have them.
    fn tags(&self) -> Result<BTreeMap<String, u64>, NoemaError>;
    /// Names of the media.
    fn media_names(&self) -> Result<Vec<String>, NoemaError>;
    /// One medium.
    fn media(&self, name: &str) -> Result<Option<Vec<u8>>, NoemaError>;
    /// What review tokens are signed with.
    fn secret(&self) -> Result<Vec<u8>, NoemaError>;
}

/// Changes a collection, within one action.
pub trait StoreWriter: StoreReader {
    /// Makes or replaces a deck.
    fn put_deck(&mut self, deck: &Deck) -> Result<(), NoemaError>;
    /// Makes or replaces a note type.
    fn put_note_type(&mut self, note_type: &NoteType) -> Result<(), NoemaError>;
    /// Makes or replaces a note.
    fn put_note(&mut self, note: &Note) -> Result<(), NoemaError>;
    /// Keeps what a note was.
    fn put_past_content(&mut self, note: NoteId, past: &PastContent) -> Result<(), NoemaError>;
    /// Makes or replaces a card.
    fn put_card(&mut self, card: &Card) -> Result<(), NoemaError>;
    /// Adds a review to the log.
    fn put_review(&mut self, review: &Review) -> Result<(), NoemaError>;
    /// Sets what was studied in a deck on a day.
    fn put_tally(&mut self, deck: DeckId, day: i64, tally: Tally) -> Result<(), NoemaError>;
    /// Makes or replaces a session.
    fn put_session(&mut self, session: &Session) -> Result<(), NoemaError>;
    /// Keeps a medium; one of that name stays as it is.
    fn put_media(&mut self, name: &str, bytes: &[u8]) -> Result<(), NoemaError>;
    /// An id that nothing has yet: the moment in milliseconds, or the next that is free.
    fn next_id(&mut self, now: Micros) -> Result<i64, NoemaError>;
    /// From here on about so many new rows come at once: they are undone together. Says what
    /// there was before.
    fn begin_bulk(&mut self, rows: usize) -> Result<Rc<ExistingIds>, NoemaError>;
    /// Takes an action back.
    fn undo(&mut self, action: ActionId, now: Micros) -> Result<u64, NoemaError>;
    /// Commits `attachment` with the action.
    fn attach(&mut self, attachment: &dyn Attachment) -> Result<(), NoemaError>;
    /// Removes for good what was deleted before `before`.
    fn purge(&mut self, before: Micros) -> Result<u64, NoemaError>;
}
