//! What can be wrong with what a learner or an agent asks for.

use crate::deck::InvalidDeckName;
use crate::ids::{ActionId, CardId, DeckId, NoteId, SessionId};
use crate::search::SearchSyntaxError;

/// Something that could not be done, in the words of this field.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum NoemaError {
    /// There is no such deck.
    #[error("deck `{0}` does not exist")]
    DeckNotFound(String),
    /// There is no such card.
    #[error("card `{0}` does not exist")]
    CardNotFound(CardId),
    /// There is no such note.
    #[error("note `{0}` does not exist")]
    NoteNotFound(NoteId),
    /// There is no such session.
    #[error("session `{0}` does not exist or has ended")]
    SessionNotFound(SessionId),
    /// There is no such action.
    #[error("action `{0}` does not exist")]
    ActionNotFound(ActionId),
    /// There is nothing to undo.
    #[error("there is nothing to undo")]
    NothingToUndo,
    /// It has been undone.
    #[error("action `{0}` has been undone already")]
    AlreadyUndone(ActionId),
    /// Something was changed since.
    #[error("action `{action}` cannot be undone: {what} was changed since")]
    ChangedSince {
        /// The action.
        action: ActionId,
        /// What was changed.
        what: String,
    },
    /// A deck of that name exists.
    #[error("there is a deck `{0}` already")]
    DeckExists(String),
    /// A name that cannot be one.
    #[error(transparent)]
    DeckName(#[from] InvalidDeckName),
    /// A filtered deck cannot hold cards.
    #[error("deck `{0}` is filtered: it shows cards of other decks and holds none itself")]
    FilteredDeck(DeckId),
    /// The note would make no card.
    #[error("this note would make no card: {0}")]
    NoCards(&'static str),
    /// Somebody else was faster.
    #[error("card `{card}` has version {current}, you changed version {given}")]
    StaleVersion {
        /// The card.
        card: CardId,
        /// The version it has.
        current: i64,
        /// The version that was given.
        given: i64,
    },
    /// A search with a mistake.
    #[error(transparent)]
    Search(#[from] SearchSyntaxError),
    /// A token that we did not make.
    #[error("this is not a token that `get-next-card` or `reveal-answer` gave")]
    InvalidToken,
    /// The front was not turned yet.
    #[error("the answer of card `{0}` has not been revealed")]
    AnswerNotRevealed(CardId),
    /// A token for what has been answered since.
    #[error("card `{0}` was answered or rescheduled since this token was given")]
    TokenSpent(CardId),
    /// A repetition that is none.
    #[error("this token was used with the rating `{first}`, not `{second}`")]
    AlreadyRated {
        /// The rating that counts.
        first: &'static str,
        /// The one that was given now.
        second: &'static str,
    },
    /// It cannot be studied now.
    #[error("card `{card}` is {state} and cannot be reviewed")]
    CardHeld {
        /// The card.
        card: CardId,
        /// Why not.
        state: &'static str,
    },
    /// Not enough to go by.
    #[error("there are {have} reviews, {need} are needed")]
    TooFewReviews {
        /// How many there are.
        have: usize,
        /// How many are needed.
        need: usize,
    },
    /// A person agreed to something else.
    #[error("the cards have changed since a person was shown them")]
    NotAsShown,
    /// A file that cannot be read.
    #[error("{0}")]
    File(String),
    /// The store failed; for the log.
    #[error("the store failed: {0}")]
    Store(StoreFailure),
}

/// Why the store failed, for the log, and SQLite's code for it where it said one.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct StoreFailure {
    /// SQLite's extended result code.
    pub code: Option<i32>,
    /// What happened.
    pub message: String,
}

impl NoemaError {
    /// The store holds what this program never writes.
    pub fn store(message: impl Into<String>) -> Self {
        Self::Store(StoreFailure { code: None, message: message.into() })
    }
}

impl From<rusqlite::Error> for NoemaError {
    fn from(error: rusqlite::Error) -> Self {
        let code = error.sqlite_extended_error_code();
        Self::Store(StoreFailure { code, message: error.to_string() })
    }
}
