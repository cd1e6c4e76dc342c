//! What every tool of this pack works at: the collection, the time, and one way to change things.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use panoply_contract::evidence::Sample;
use panoply_contract::prelude::*;

use super::wire::ActionId;
use crate::fsrs::fit::{self, Plan, Simulated};
use crate::fsrs::{DAY, Micros, Parameters};
use crate::insight::Calibration;
use crate::library;
use crate::numbers::count;
use crate::problem::Problem;
use crate::queue::Warm;
use crate::store::{Ledger, NewAction, Records, Store};

/// The collection.
#[derive(Clone)]
pub(crate) struct Desk {
    pub(crate) store: Arc<dyn Store>,
    /// What is to be studied today, as far as somebody asked.
    pub(crate) warm: Arc<Warm>,
    /// When what was deleted long ago was last forgotten.
    tidied: Arc<AtomicI64>,
}

impl Desk {
    pub(crate) fn over(store: Arc<dyn Store>) -> Self {
        Self { store, warm: Arc::default(), tidied: Arc::new(AtomicI64::new(Micros::MIN)) }
    }

    /// Forgets what was deleted long ago: with the first change of a program, and then once a
    /// day. Looking at a collection never changes it.
    fn tidy(&self, now: Micros) -> Result<(), Problem> {
        let last = self.tidied.load(Ordering::Relaxed);
        if now.saturating_sub(last) < DAY && now >= last {
            return Ok(());
        }
        self.tidied.store(now, Ordering::Relaxed);
        library::forget_deleted(&*self.store, now).map(|_| ())
    }

    /// Looks at the collection.
    pub(crate) fn read<T>(
        &self,
        look: impl FnOnce(&dyn Records) -> Result<T, Problem>,
    ) -> Result<T, ToolError> {
        Ok(self.store.read(look)?)
    }

    /// Changes the collection, or only tries to when the caller asked for a dry run.
    pub(crate) fn change<T>(
        &self,
        cx: &CallContext,
        tool: &str,
        summary: &str,
        act: impl FnOnce(&mut dyn Ledger, Micros) -> Result<T, Problem>,
    ) -> Result<(T, Change), ToolError> {
        let now = now(cx);
        if !cx.dry_run {
            self.tidy(now)?;
        }
        let action = NewAction { tool, summary, at: now };
        let (done, id) = self.store.change(&action, !cx.dry_run, |ledger| act(ledger, now))?;
        let action_id = (!cx.dry_run).then(|| ActionId::of(id));
        Ok((done, Change { dry_run: cx.dry_run, action_id }))
    }
}

/// Whether something was changed, and how to take it back.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Change {
    /// True when this was only tried.
    pub(crate) dry_run: bool,
    /// Give it to `undo-action` to take the change back; null for a dry run.
    pub(crate) action_id: Option<ActionId>,
}

impl Change {
    /// The call that takes it back.
    pub(crate) fn undo(&self) -> Option<NextAction> {
        let id = self.action_id.as_ref()?;
        let arguments = serde_json::json!({"actionId": id.as_str()});
        Some(NextAction::new("undo-action", arguments, "take this change back"))
    }
}

/// The time of the call.
pub(crate) fn now(cx: &CallContext) -> Micros {
    cx.clock.now().as_microsecond()
}

/// Evidence of what was read from the collection as it stands.
pub(crate) fn stored(what: &str) -> Evidence {
    Evidence::from(Source::new(SourceClass::Exact, what))
}

/// Adds suggestions.
pub(crate) fn with_next<T: Serialize>(
    reply: Reply<T>,
    next: impl IntoIterator<Item = NextAction>,
) -> Reply<T> {
    next.into_iter().fold(reply, Reply::next)
}

impl From<Problem> for ToolError {
    fn from(problem: Problem) -> Self {
        let message = problem.to_string();
        match problem {
            Problem::NoDeck(_) => Self::not_found("DECK_NOT_FOUND", message).hint("find decks with `list-decks` or `search-decks`"),
            Problem::NoCard(_) | Problem::NoNote(_) => Self::not_found("CARD_NOT_FOUND", message).hint("find cards with `search-cards`"),
            Problem::NoSession(_) => Self::not_found("SESSION_NOT_FOUND", message).hint("begin one with `start-session`"),
            Problem::NoAction(_) => Self::not_found("ACTION_NOT_FOUND", message).hint("use the `actionId` that a change answered with, or leave it out for the last one"),
            Problem::NothingToUndo => Self::business("NOTHING_TO_UNDO", message).hint("change something first"),
            Problem::AlreadyUndone(_) => Self::conflict("ALREADY_UNDONE", message).hint("undo the undoing action to do it again"),
            Problem::ChangedSince { .. } => Self::conflict("CHANGED_SINCE", message).hint("undo the later change first"),
            Problem::DeckExists(_) => Self::conflict("DECK_EXISTS", message).hint("choose another name, or change that deck with `update-deck`"),
            Problem::DeckName(_) => Self::validation("BAD_DECK_NAME", message).hint("name it like `Languages::Thai`"),
            Problem::FilteredDeck(_) => Self::business("FILTERED_DECK", message).hint("choose a deck that is not filtered; `list-decks` shows which are"),
            Problem::NoCards(_) => Self::validation("NO_CARDS", message).hint("give a front with some text, and for a cloze a gap such as `{{c1::Bangkok}}`"),
            Problem::StaleVersion { current, .. } => Self::conflict("STALE_VERSION", message)
                .hint("read the card again with `get-card`, then send your change with its version")
                .detail("currentVersion", current),
            Problem::Search(ref mistake) => Self::validation("BAD_SEARCH", message)
                .hint("mend the search there; a search that works is `deck:Thai -is:suspended (tag:verb or tag:noun)`")
                .detail("position", mistake.position)
                .detail("expected", mistake.expected.clone()),
            Problem::ForeignToken => Self::validation("BAD_TOKEN", message).hint("take the token from `get-next-card` or `reveal-answer`, unchanged"),
            Problem::NotRevealed(_) => Self::business("ANSWER_NOT_REVEALED", message).hint("call `reveal-answer` with this token first, and rate with the token it gives"),
            Problem::SpentToken(_) => Self::conflict("TOKEN_SPENT", message).hint("ask for the next card with `get-next-card`"),
            Problem::OtherRating { .. } => Self::conflict("ALREADY_RATED", message).hint("take the first rating back with `undo-review` if it was wrong"),
            Problem::Held { .. } => Self::business("CARD_HELD", message).hint("let it go with `unsuspend-cards` or `approve-drafts` first"),
            Problem::TooFewReviews { .. } => Self::business("TOO_FEW_REVIEWS", message).hint("study on, or import a log of reviews with `import-package`"),
            Problem::File(_) => Self::validation("BAD_FILE", message).hint("look at what can be read with `preview-import`"),
            Problem::Store(cause) => Self::system(cause),
        }
    }
}

/// For evidence: the answer changes at that moment.
pub(crate) fn until(at: Micros) -> NextChange {
    jiff::Timestamp::from_microsecond(at).map_or(NextChange::NotScheduled, NextChange::At)
}

/// Evidence of a prediction about memory: how far predictions have held for this learner, and
/// on how many answers that rests.
pub(crate) fn memory_evidence(calibration: &Calibration) -> Evidence {
    let held = u64::from(count((1.0 - calibration.expected_error()) * 10_000.0));
    Evidence::from(Source::new(SourceClass::Derived, "FSRS-6 over the learner's log"))
        .agreed(held, 10_000)
        .sampled(Sample::Proportion { successes: calibration.recalled, n: calibration.reviews })
}

/// A simulation, or why there is none. An empty collection has an empty future.
pub(crate) fn simulation(
    parameters: &Parameters,
    retention: f64,
    plan: &Plan,
) -> Result<Simulated, ToolError> {
    if plan.new_cards + plan.studied.len() == 0 {
        let nothing = vec![0; plan.days];
        return Ok(Simulated {
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
