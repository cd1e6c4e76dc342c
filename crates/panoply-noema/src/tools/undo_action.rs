//! `undo-action`: takes back any change that was made with a tool of this pack: the last one, or the one with this id.

use super::service::{
    APPROVE, Change, NoemaService, exact_evidence, require_permission, with_next,
};
use super::wire::ActionId;
use crate::error::NoemaError;
use crate::store::Action;
use panoply_contract::prelude::*;

const SPEC: ToolSpec = ToolSpec {
    name: "undo-action",
    title: "Undo a change",
    description: Description {
        does: "Takes back any change that was made with a tool of this pack: the last one, or the one with this id.",
        when: "Use this when a change was a mistake. What was changed again since is not overwritten; undo that first.",
        returns: "Returns what was taken back. Undoing the undoing does it again.",
        asks: &["Undo that", "Bring back what I just deleted"],
    },
    version: "1.0.0",
    aliases: &["rollback-batch"],
    permissions: &["actions:update"],
    category: Category::Mutation,
    response_time: ResponseTime::Medium,
    cache: CachePolicy::Never,
    idempotent: false,
    data: &["cards", "decks", "schedule", "reviews", "sessions"],
    examples: &[
        Example { shows: "the last change", params: r##"{}"##, expect: Expect::Data(r##"{"tool": "tag-cards", "dryRun": true}"##) },
        Example { shows: "a change that is not there", params: r##"{"actionId": "action_1"}"##, expect: Expect::Error("ACTION_NOT_FOUND") },
    ],
    tags: &["content", "operations"],
    rate_limit: Some(RateLimit { max_calls: 300, window: Duration::from_secs(60) }),
    deprecated: None,
    annotations: Annotations::CLOSED,
    listing: Listing::Core,
    widget: None,
}
.checked();

/// Which change.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// The change, as its reply named it; without it the last one.
    action_id: Option<ActionId>,
}

/// What was taken back.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// The change that was taken back.
    undone: ActionId,
    /// The tool that had made it.
    tool: String,
    /// What it had done.
    summary: String,
    /// How many things became as they were.
    restored: u64,
    /// Whether something was changed, and how to take it back.
    #[serde(flatten)]
    change: Change,
}

/// See the module.
pub(super) struct UndoAction {
    pub(super) service: NoemaService,
}

impl Tool for UndoAction {
    type Params = Params;
    type Output = Output;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, params: Params, cx: &CallContext) -> Result<Reply<Output>, ToolError> {
        let action = self.service.read(|reader| match &params.action_id {
            Some(id) => reader.action(id.domain())?.ok_or(NoemaError::ActionNotFound(id.domain())),
            None => reader
                .actions(200)?
                .into_iter()
                .find(|action| {
                    action.undone.is_none() && action.tool != SPEC.name && is_own(cx, action)
                })
                .ok_or(NoemaError::NothingToUndo),
        })?;
        if !is_own(cx, &action) {
            require_permission(cx, OTHERS_ACTIONS, "undoing a change that another caller made")?;
        }
        for permission in needed_to_undo(&action.tool) {
            require_permission(cx, permission, &format!("undoing what `{}` did", action.tool))?;
        }
        let summary = format!("took back: {}", action.summary);
        self.service.change(
            cx,
            SPEC.name,
            &summary,
            |writer, now| writer.undo(action.id, now),
            |restored, change| {
                let text = format!(
                    "{}: {}.",
                    if cx.dry_run { "Would take back" } else { "Took back" },
                    action.summary
                );
                let undo = change.undo();
                let output = Output {
                    undone: ActionId::of(action.id),
                    tool: action.tool,
                    summary: action.summary,
                    restored,
                    change,
                };
                Ok(with_next(Reply::new(output, text, exact_evidence("the log of changes")), undo))
            },
        )
    }
}

/// Held by the owner: who has it reaches the changes of every caller.
const OTHERS_ACTIONS: &str = "actions:admin";

/// Whether the caller may undo the action as its own.
pub(super) fn is_own(cx: &CallContext, action: &Action) -> bool {
    action.actor == cx.caller.partition || cx.caller.grants.allow(OTHERS_ACTIONS)
}

/// The permissions of what undoing does: undoing a creation deletes, undoing a deletion restores.
fn needed_to_undo(tool: &str) -> &'static [&'static str] {
    match tool {
        "create-card" | "create-cards" | "import-cards" => &["cards:delete"],
        "create-deck" => &["decks:delete"],
        "import-package" => &["cards:delete", "decks:delete"],
        "approve-drafts" => &[APPROVE],
        "update-deck" | "delete-deck" => &["decks:update"],
        "delete-cards" | "restore-cards" | "update-card" | "move-cards" | "tag-cards"
        | "untag-cards" | "suspend-cards" | "unsuspend-cards" | "bury-cards" => &["cards:update"],
        "reschedule-cards" => &["schedule:update"],
        "submit-review" | "undo-review" => &["reviews:create"],
        "start-session" | "end-session" => &["sessions:update"],
        // Undoing an undo does again whatever that was.
        _ => &["cards:delete", "decks:delete", APPROVE],
    }
}
