//! `withdraw-share`: ends a share.

use super::KernelHandle;
use super::shares::{self, MUTATION, Params, ShareView};
use crate::prelude::*;

const SPEC: ToolSpec = ToolSpec {
    name: "withdraw-share",
    title: "End sharing",
    description: Description {
        does: "Ends the read access of another user or workspace to a run, a deck or documents of yours.",
        when: "Use this when the owner no longer wants to share something that `list-shares` shows. It takes effect with the recipient's next call; what they have read before, they know.",
        returns: "Returns the share that has ended.",
        asks: &["Stop sharing my Thai deck with Bob"],
    },
    examples: &[Example {
        shows: "a pack without anything to share",
        params: r#"{"pack": "kernel", "id": "1", "recipient": "person-00000000000000000000000000000001"}"#,
        expect: Expect::Error("NOT_SHAREABLE"),
    }],
    ..MUTATION
}
.checked();

/// The ended share.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// The share.
    share: ShareView,
}

pub(crate) struct WithdrawShare {
    pub(super) kernel_handle: KernelHandle,
}

impl Tool for WithdrawShare {
    type Params = Params;
    type Output = Output;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, params: Params, cx: &CallContext) -> Result<Reply<Output>, ToolError> {
        let kernel = self.kernel_handle.kernel()?;
        let (share, _) = shares::share_of(&kernel, &params, cx)?;
        let store = kernel.services.shares.as_ref();
        if !shares::exists(store, &share)? {
            let shown: String = share.item.chars().take(60).collect();
            let message = format!("`{shown}` is not shared with {}", share.recipient);
            return Err(ToolError::not_found("SHARE_NOT_FOUND", message)
                .hint("see what is shared with `list-shares`"));
        }
        let ended = if cx.dry_run { "Would end" } else { "Ended" };
        let text = format!("{ended} the access of {} to `{}`.", share.recipient, share.item);
        let reply = Reply::new(Output { share: ShareView::of(&share) }, text, shares::evidence());
        shares::commit(cx, reply, |record| store.remove(&share, record))
    }
}
