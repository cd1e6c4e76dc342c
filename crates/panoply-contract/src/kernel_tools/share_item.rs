//! `share-item`: grants another tenant read access to a run, a deck or documents.

use serde_json::json;

use super::KernelHandle;
use super::shares::{self, MUTATION, Params, ShareView};
use crate::prelude::*;

/// Shares that one tenant may grant.
const MAX_SHARES: usize = 1_000;

const SPEC: ToolSpec = ToolSpec {
    name: "share-item",
    title: "Share with another user",
    description: Description {
        does: "Lets another user or workspace of this server read a run, a deck with its subdecks, schedule and reviews, or the documents of an import job.",
        when: "Use this only when the owner asks for it. The recipient reads it by its id until it is withdrawn with `withdraw-share`, and cannot change it.",
        returns: "Returns the share.",
        asks: &["Share my last backtest with the research team"],
    },
    examples: &[Example {
        shows: "a pack without anything to share",
        params: r#"{"pack": "kernel", "id": "1", "recipient": "person-00000000000000000000000000000001"}"#,
        expect: Expect::Error("NOT_SHAREABLE"),
    }],
    ..MUTATION
}
.checked();

/// The share.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// The share.
    share: ShareView,
    /// What the item is: `run`, `deck` or `document collection`.
    kind: &'static str,
    /// Name of the item.
    name: String,
    /// Whether it was shared before.
    was_shared: bool,
}

pub(crate) struct ShareItem {
    pub(super) kernel_handle: KernelHandle,
}

impl Tool for ShareItem {
    type Params = Params;
    type Output = Output;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, params: Params, cx: &CallContext) -> Result<Reply<Output>, ToolError> {
        let kernel = self.kernel_handle.kernel()?;
        let (share, pack) = shares::share_of(&kernel, &params, cx)?;
        let sharing = pack.sharing(&share.owner)?;
        let items = sharing.ok_or_else(|| ToolError::system("a pack has lost its items"))?;
        let kind = items.items.kind();
        let name = items.items.name_of(&share.item)?.ok_or_else(|| {
            let shown: String = share.item.chars().take(60).collect();
            ToolError::not_found("ITEM_NOT_FOUND", format!("there is no {kind} `{shown}`"))
                .hint("check the id with the tools of that pack")
        })?;
        let store = kernel.services.shares.as_ref();
        let was_shared = shares::exists(store, &share)?;
        if !was_shared && store.granted_by(&share.owner)?.len() >= MAX_SHARES {
            let message = format!("there are {MAX_SHARES} shares, which is the most");
            return Err(ToolError::business("TOO_MANY_SHARES", message)
                .hint("withdraw shares that are no longer needed with `withdraw-share`"));
        }
        let shares = if cx.dry_run { "Would share" } else { "Shared" };
        let text = format!("{shares} the {kind} `{name}` with {}, to read.", share.recipient);
        let withdraw = json!({"pack": share.pack, "id": share.item, "recipient": params.recipient});
        let output = Output { share: ShareView::of(&share), kind, name, was_shared };
        let reply = Reply::new(output, text, shares::evidence()).next(NextAction::new(
            "withdraw-share",
            withdraw,
            "end it",
        ));
        shares::commit(cx, reply, |record| store.add(&share, record))
    }
}
