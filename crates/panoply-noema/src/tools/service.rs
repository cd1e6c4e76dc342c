//! Shared state and helpers of the tools: transactions, evidence and error mapping.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use panoply_contract::error::ErrorKind;
use panoply_contract::evidence::Sample;
use panoply_contract::mutation::MutationLog;
use panoply_contract::prelude::*;
use panoply_store::roots::Roots;

use super::wire::ActionId;
use crate::collection::{self, note_types::InvalidNoteType};
use crate::error::{NoemaError, Result, StoreFailure};
use crate::fsrs::fit::{self, SimulationInput, SimulationResult};
use crate::fsrs::{DAY, Micros, Parameters};
use crate::media::InvalidMedia;
use crate::numbers::round_to_u32;
use crate::queue::QueueCache;
use crate::statistics::Calibration;
use crate::store::{NewAction, Store, StoreReader, StoreWriter};

/// The service that all tools share.
#[derive(Clone)]
pub(crate) struct NoemaService {
    pub(crate) store: Arc<dyn Store>,
    mutations: Arc<dyn MutationLog>,
    /// Folders whose files callers may name.
    pub(crate) roots: Arc<Roots>,
    /// Cached study queues.
    pub(crate) queue_cache: Arc<QueueCache>,
    /// Time of the last purge.
    purged: Arc<AtomicI64>,
}

impl NoemaService {
    pub(crate) fn new(store: Arc<dyn Store>, roots: Roots) -> Self {
        Self {
            mutations: Arc::clone(&store).mutation_log(),
            store,
            roots: Arc::new(roots),
            queue_cache: Arc::default(),
            purged: Arc::new(AtomicI64::new(Micros::MIN)),
        }
    }

    /// Whether to purge expired soft-deleted rows: with the first change of the process, then
    /// daily. Reads never purge.
    fn is_purge_due(&self, now: Micros) -> bool {
        let last = self.purged.load(Ordering::Relaxed);
        now.saturating_sub(last) >= DAY || now < last
    }

    /// Runs a read transaction.
    pub(crate) fn read<T>(
        &self,
        read: impl FnOnce(&dyn StoreReader) -> Result<T>,
    ) -> Result<T, ToolError> {
        Ok(self.store.read(read)?)
    }

    /// Runs a write transaction; a dry run is rolled back. The change, the reply that `shape`
    /// builds and the audit record are committed together.
    pub(crate) fn change<T, O: Serialize>(
        &self,
        cx: &CallContext,
        tool: &str,
        summary: &str,
        write: impl FnOnce(&mut dyn StoreWriter, Micros) -> Result<T>,
        shape: impl FnOnce(T, Change) -> Result<Reply<O>, ToolError>,
    ) -> Result<Reply<O>, ToolError> {
        let now = now(cx);
        let purges = !cx.dry_run && self.is_purge_due(now);
        let action = NewAction { tool, summary, at: now, actor: &cx.caller.partition };
        let (mut refused, mut record) = (None, None);
        let changed = self.store.change(&action, !cx.dry_run, |writer, id| {
            let done = write(writer, now)?;
            if purges {
                writer.purge(now - collection::DELETED_RETENTION)?;
            }
            let changed = writer.changes() > 0;
            let action_id = (!cx.dry_run && changed).then(|| ActionId::of(id));
            let shaped = shape(done, Change { dry_run: cx.dry_run, action_id });
            let recorded = shaped.and_then(|reply| {
                record = cx.mutation.as_ref().map(|one| one.record(&reply)).transpose()?;
                Ok(reply)
            });
            let reply = recorded.map_err(|error| {
                refused = Some(error);
                NoemaError::store("the reply could not be built")
            })?;
            if let Some(record) = &record {
                writer.record_call(record)?;
            }
            Ok(reply)
        });
        match (changed, refused) {
            (_, Some(error)) => Err(error),
            (Err(problem), None) => Err(problem.into()),
            (Ok((reply, _)), None) => {
                if purges {
                    self.purged.store(now, Ordering::Relaxed);
                }
                if let (Some(mutation), Some(record)) = (&cx.mutation, record) {
                    mutation.committed(record);
                }
                Ok(reply)
            }
        }
    }
}

impl NoemaService {
    /// Commits the audit record of a call whose effect is a file outside the collection.
    pub(crate) fn commit_audit_record<O: Serialize>(
        &self,
        cx: &CallContext,
        reply: &Reply<O>,
    ) -> Result<(), ToolError> {
        let Some(mutation) = &cx.mutation else { return Ok(()) };
        let record = mutation.record(reply)?;
        self.mutations.commit(&record)?;
        mutation.committed(record);
        Ok(())
    }
}

/// Dry-run flag and undo id.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Change {
    /// True if nothing was committed.
    pub(crate) dry_run: bool,
    /// Pass it to `undo-action` to undo the change; null for a dry run and if nothing changed.
    pub(crate) action_id: Option<ActionId>,
}

/// Time of the call.
pub(crate) fn now(cx: &CallContext) -> Micros {
    cx.clock.now().as_microsecond()
}

/// Evidence for data read from the collection.
pub(crate) fn exact_evidence(what: &str) -> Evidence {
    Evidence::from(Source::new(SourceClass::Exact, what))
}

/// Adds suggested next actions.
pub(crate) fn with_next<T: Serialize>(
    reply: Reply<T>,
    next: impl IntoIterator<Item = NextAction>,
) -> Reply<T> {
    next.into_iter().fold(reply, Reply::next)
}

impl From<NoemaError> for ToolError {
    fn from(problem: NoemaError) -> Self {
        let message = problem.to_string();
        match problem {
            NoemaError::DeckNotFound(_) => Self::not_found("DECK_NOT_FOUND", message).hint("find decks with `list-decks` or `search-decks`"),
            NoemaError::CardNotFound(_) | NoemaError::NoteNotFound(_) => Self::not_found("CARD_NOT_FOUND", message).hint("find cards with `search-cards`"),
            NoemaError::SessionNotFound(_) => Self::not_found("SESSION_NOT_FOUND", message).hint("start one with `start-session`"),
            NoemaError::ActionNotFound(_) => Self::not_found("ACTION_NOT_FOUND", message).hint("use the `actionId` from the reply of a change, or omit it for the last one"),
            NoemaError::NothingToUndo => Self::business("NOTHING_TO_UNDO", message).hint("change something first"),
            NoemaError::AlreadyUndone(_) => Self::conflict("ALREADY_UNDONE", message).hint("undo the undo action to redo it"),
            NoemaError::ChangedSince { .. } => Self::conflict("CHANGED_SINCE", message).hint("undo the later change first"),
            NoemaError::DeckExists(_) => Self::conflict("DECK_EXISTS", message).hint("choose another name, or change that deck with `update-deck`"),
            NoemaError::DeckName(_) => Self::validation("BAD_DECK_NAME", message).hint("name it like `Languages::Thai`"),
            NoemaError::FilteredDeck(_) => Self::business("FILTERED_DECK", message).hint("choose a deck that is not filtered; `list-decks` shows which are"),
            NoemaError::Choices(_) => Self::validation("BAD_CHOICES", message).hint("give 2 to 26 different `choices`, and one of them as `back`"),
            NoemaError::Media(InvalidMedia::NameTaken(_)) => Self::conflict("MEDIA_EXISTS", message).hint("choose another name"),
            NoemaError::Media(_) => Self::validation("BAD_MEDIA", message).hint("send a PNG, JPEG, GIF, WebP, AVIF, BMP or SVG picture, an MP3, Ogg, WAV, FLAC or M4A sound, or an MP4, WebM or Ogg video, with the matching extension"),
            NoemaError::NoteType(InvalidNoteType::NotFound(_)) => Self::not_found("NOTE_TYPE_NOT_FOUND", message).hint("find note types with `list-note-types`"),
            NoemaError::NoteType(InvalidNoteType::NameTaken(_) | InvalidNoteType::InUse { .. }) => Self::conflict("NOTE_TYPE_IN_USE", message).hint("choose another name, or change the notes first"),
            NoemaError::NoteType(_) => Self::validation("BAD_NOTE_TYPE", message).hint("a valid type has `fields` such as [\"Word\", \"Meaning\"] and a template with the question `{{Word}}` and the answer `{{FrontSide}}<hr id=answer>{{Meaning}}`"),
            NoemaError::NoCards(_) => Self::validation("NO_CARDS", message).hint("enter a front with text, and for a cloze a deletion such as `{{c1::Bangkok}}`"),
            NoemaError::StaleVersion { current, .. } => Self::conflict("STALE_VERSION", message)
                .hint("read the card again with `get-card`, then send your change with its version")
                .detail("currentVersion", current),
            NoemaError::Search(ref mistake) => Self::validation("BAD_SEARCH", message)
                .hint("fix the query at that position; a valid query is `deck:Thai -is:suspended (tag:verb or tag:noun)`")
                .detail("position", mistake.position)
                .detail("expected", mistake.expected.clone()),
            NoemaError::InvalidToken => Self::validation("BAD_TOKEN", message).hint("take the token from `get-next-card` or `reveal-answer`, unchanged"),
            NoemaError::AnswerNotRevealed(_) => Self::business("ANSWER_NOT_REVEALED", message).hint("call `reveal-answer` with this token first, and rate with the token it gives"),
            NoemaError::TokenSpent(_) => Self::conflict("TOKEN_SPENT", message).hint("ask for the next card with `get-next-card`"),
            NoemaError::AlreadyRated { .. } => Self::conflict("ALREADY_RATED", message).hint("undo the first rating with `undo-review` if it was wrong"),
            NoemaError::CardHeld { .. } => Self::business("CARD_HELD", message).hint("release it with `unsuspend-cards` or `approve-drafts` first"),
            NoemaError::TooFewReviews { .. } => Self::business("TOO_FEW_REVIEWS", message).hint("continue studying, or import a log of reviews with `import-package`"),
            NoemaError::ApprovalStale => Self::conflict("APPROVAL_STALE", message).hint("call again: the person is asked about the current cards"),
            NoemaError::File(_) => Self::validation("BAD_FILE", message).hint("check the file with `preview-import`"),
            NoemaError::Store(StoreFailure { cause: Some(error), .. }) => {
                error.pack_error("noema")
            }
            NoemaError::Store(StoreFailure { cause: None, message }) => Self::system(message),
        }
    }
}

/// The time at which the reply changes, for evidence.
pub(crate) fn changes_at(at: Micros) -> NextChange {
    jiff::Timestamp::from_microsecond(at).map_or(NextChange::NotScheduled, NextChange::At)
}

/// Evidence of a prediction: the learner's calibration and its sample size.
pub(crate) fn memory_evidence(calibration: &Calibration) -> Evidence {
    let held = u64::from(round_to_u32((1.0 - calibration.expected_error()) * 10_000.0));
    Evidence::from(Source::new(SourceClass::Derived, "FSRS-6 over the learner's log"))
        .agreed(held, 10_000)
        .sampled(Sample::Proportion { successes: calibration.recalled, n: calibration.reviews })
}

/// Runs a simulation; an empty collection yields zeros.
pub(crate) fn simulate(
    parameters: &Parameters,
    retention: f64,
    plan: &SimulationInput,
) -> Result<SimulationResult, ToolError> {
    if plan.new_cards + plan.studied.len() == 0 {
        let nothing = vec![0; plan.days];
        return Ok(SimulationResult {
            reviews: nothing.clone(),
            new: nothing,
            minutes: vec![0.0; plan.days],
            remembered: vec![0.0; plan.days],
        });
    }
    fit::simulate(parameters, retention, plan).map_err(|error| {
        ToolError::business("NOT_SIMULATED", error.to_string())
            .hint("ask for fewer days or other options")
    })
}

/// Refuses a caller without a permission that only some inputs need.
pub(crate) fn require_permission(
    cx: &CallContext,
    permission: &str,
    what: &str,
) -> Result<(), ToolError> {
    if cx.caller.grants.allow(permission) {
        return Ok(());
    }
    let message = format!("{what} needs the permission `{permission}`, which this caller lacks");
    Err(ToolError::new(ErrorKind::Forbidden, "FORBIDDEN", message)
        .hint("ask the owner to do it: on the page, with `panoply call`, or with an owner's key")
        .detail("missingPermissions", [permission]))
}

/// Permission to create cards that are not drafts.
pub(crate) const APPROVE: &str = "cards:approve";
