//! `undo-action`: undoes a change of this pack, by default the last one.

use super::service::{APPROVE, Change, NoemaService, exact_evidence, require_permission};
use super::specs::MUTATION;
use super::wire::ActionId;
use crate::error::NoemaError;
use crate::store::Action;
use panoply_contract::prelude::*;

pub(super) const SPEC: ToolSpec = ToolSpec {
    name: "undo-action",
    title: "Undo a change",
    description: Description {
        does: "Undoes a change made by a tool of this pack: the last one, or the one with this id.",
        when: "Use this when a change was a mistake. Later changes are not overwritten; undo them first.",
        returns: "Returns the undone change. Undoing an undo redoes it.",
        asks: &["Undo that", "Restore what I just deleted"],
    },
    aliases: &["rollback-batch"],
    permissions: &["actions:update"],
    data: &["cards", "decks", "schedule", "reviews", "sessions"],
    examples: &[
        Example { shows: "the last change", params: r##"{}"##, expect: Expect::Data(r##"{"tool": "tag-cards"}"##) },
        Example { shows: "a change that does not exist", params: r##"{"actionId": "action_1"}"##, expect: Expect::Error("ACTION_NOT_FOUND") },
    ],
    tags: &["content", "operations"],
    listing: Listing::Core,
    ..MUTATION
}
.checked();

/// The change to undo.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// Id of the change from its reply; default is the last one.
    action_id: Option<ActionId>,
}

/// The undone change.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// Id of the undone change.
    undone: ActionId,
    /// Tool that made the change.
    tool: String,
    /// Summary of the change.
    summary: String,
    /// Number of restored rows.
    restored: u64,
    /// Dry-run flag and undo id.
    #[serde(flatten)]
    change: Change,
}

pub(super) fn call(
    service: &NoemaService,
    params: Params,
    cx: &CallContext,
) -> Result<Reply<Output>, ToolError> {
    let action = service.read(|reader| match &params.action_id {
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
        require_permission(cx, UNDO_ALL_PERMISSION, "undoing a change that another caller made")?;
    }
    for permission in permissions_to_undo(&action.tool) {
        require_permission(cx, permission, &format!("undoing what `{}` did", action.tool))?;
    }
    let summary = format!("undid: {}", action.summary);
    service.change(
        cx,
        SPEC.name,
        &summary,
        |writer, now| writer.undo(action.id, now),
        |restored, change| {
            let text =
                format!("{}: {}.", if cx.dry_run { "Would undo" } else { "Undid" }, action.summary);
            let output = Output {
                undone: ActionId::of(action.id),
                tool: action.tool,
                summary: action.summary,
                restored,
                change,
            };
            Ok(Reply::new(output, text, exact_evidence("the log of changes")))
        },
    )
}

/// Permission to undo the changes of all callers.
const UNDO_ALL_PERMISSION: &str = "actions:admin";

/// Whether the caller may undo the action as its own.
pub(super) fn is_own(cx: &CallContext, action: &Action) -> bool {
    action.actor == cx.caller.partition || cx.caller.grants.allow(UNDO_ALL_PERMISSION)
}

/// Permissions that an undo requires: undoing a creation deletes, undoing a deletion restores.
fn permissions_to_undo(tool: &str) -> &'static [&'static str] {
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
        // Undoing an undo may redo any change.
        _ => &["cards:delete", "decks:delete", APPROVE],
    }
}
