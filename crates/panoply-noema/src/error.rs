//! Domain errors. `tools/service.rs` maps them to the error codes of the contract.

use crate::choice::InvalidChoices;
use crate::collection::note_types::InvalidNoteType;
use crate::deck::InvalidDeckName;
use crate::ids::{ActionId, CardId, DeckId, NoteId, SessionId};
use crate::media::InvalidMedia;
use crate::search::SearchSyntaxError;

/// The result of a domain operation.
pub type Result<T, E = NoemaError> = std::result::Result<T, E>;

/// A domain error.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum NoemaError {
    /// The deck does not exist.
    #[error("deck `{0}` does not exist")]
    DeckNotFound(String),
    /// The card does not exist.
    #[error("card `{0}` does not exist")]
    CardNotFound(CardId),
    /// The note does not exist.
    #[error("note `{0}` does not exist")]
    NoteNotFound(NoteId),
    /// The session does not exist or has ended.
    #[error("session `{0}` does not exist or has ended")]
    SessionNotFound(SessionId),
    /// The action does not exist.
    #[error("action `{0}` does not exist")]
    ActionNotFound(ActionId),
    /// No action can be undone.
    #[error("there is nothing to undo")]
    NothingToUndo,
    /// The action is already undone.
    #[error("action `{0}` has been undone already")]
    AlreadyUndone(ActionId),
    /// A row changed after the action.
    #[error("action `{action}` cannot be undone: {what} was changed since")]
    ChangedSince {
        /// Action to undo.
        action: ActionId,
        /// Row that changed.
        what: String,
    },
    /// A deck with this name exists.
    #[error("deck `{0}` already exists")]
    DeckExists(String),
    /// The deck name is invalid.
    #[error(transparent)]
    DeckName(#[from] InvalidDeckName),
    /// Filtered decks cannot contain cards.
    #[error("deck `{0}` is filtered: it shows cards of other decks and contains none")]
    FilteredDeck(DeckId),
    /// The note generates no card.
    #[error("the note generates no card: {0}")]
    NoCards(&'static str),
    /// The options of a multiple-choice card are invalid.
    #[error(transparent)]
    Choices(#[from] InvalidChoices),
    /// The note type is refused.
    #[error(transparent)]
    NoteType(#[from] InvalidNoteType),
    /// The media file is refused.
    #[error(transparent)]
    Media(#[from] InvalidMedia),
    /// Optimistic locking failed.
    #[error("card `{card}` has version {current}, you changed version {given}")]
    StaleVersion {
        /// Card.
        card: CardId,
        /// Version in the store.
        current: i64,
        /// Version the caller sent.
        given: i64,
    },
    /// The search has a syntax error.
    #[error(transparent)]
    Search(#[from] SearchSyntaxError),
    /// The token has an invalid signature or format.
    #[error("the token was not issued by `get-next-card` or `reveal-answer`")]
    InvalidToken,
    /// The answer has not been revealed.
    #[error("the answer of card `{0}` has not been revealed")]
    AnswerNotRevealed(CardId),
    /// The card's schedule changed after the token was issued.
    #[error("card `{0}` was answered or rescheduled since this token was given")]
    TokenSpent(CardId),
    /// The token was already used with another rating.
    #[error("this token was used with the rating `{first}`, not `{second}`")]
    AlreadyRated {
        /// Rating on record.
        first: &'static str,
        /// Rating of this call.
        second: &'static str,
    },
    /// The card is suspended or a draft.
    #[error("card `{card}` is {state} and cannot be reviewed")]
    CardHeld {
        /// Card.
        card: CardId,
        /// State of the card.
        state: &'static str,
    },
    /// The review log is too short to fit weights.
    #[error("there are {have} reviews, {need} are needed")]
    TooFewReviews {
        /// Reviews available.
        have: usize,
        /// Reviews required.
        need: usize,
    },
    /// The cards differ from those that the person approved.
    #[error("the cards have changed since a person was shown them")]
    ApprovalStale,
    /// A file cannot be read.
    #[error("{0}")]
    File(String),
    /// The store failed; for the log only.
    #[error("the store failed: {0}")]
    Store(StoreFailure),
}

/// A failure of the store.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{message}")]
pub struct StoreFailure {
    /// Message.
    pub message: String,
    /// Error of the backend; `None` for data that this program never writes.
    #[cfg(feature = "tools")]
    pub cause: Option<std::sync::Arc<panoply_store::StoreError>>,
}

impl PartialEq for StoreFailure {
    fn eq(&self, other: &Self) -> bool {
        self.message == other.message
    }
}

impl NoemaError {
    /// The store contains data that this program never writes.
    pub fn store(message: impl Into<String>) -> Self {
        Self::Store(StoreFailure {
            message: message.into(),
            #[cfg(feature = "tools")]
            cause: None,
        })
    }
}
