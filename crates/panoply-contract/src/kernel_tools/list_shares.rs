//! `list-shares`: what the caller shares, what others share with the caller, and the caller's
//! tenant ids.

use super::KernelHandle;
use super::shares::{self, ShareView};
use crate::prelude::*;
use crate::sharing::Share;
use crate::tenant::TenantId;

const SPEC: ToolSpec = ToolSpec {
    name: "list-shares",
    title: "List shares",
    description: Description {
        does: "Lists what you share with other users of this server, what they share with you, and the tenant ids by which they can share with you.",
        when: "Use this to find the id of something that another user has shared, or your own tenant id for them to share with.",
        returns: "Returns both lists and your tenant ids. A shared run, deck or document is read by its id, with the same tools as your own.",
        asks: &["What has Ann shared with me?", "What is my tenant id?"],
    },
    permissions: &["shares:read"],
    category: Category::Query,
    data: &[],
    examples: &[Example {
        shows: "a server on which nothing is shared",
        params: "{}",
        expect: Expect::Data(r#"{"granted": [], "received": [], "person": "local"}"#),
    }],
    ..shares::MUTATION
}
.checked();

/// No arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Params {}

/// The shares.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// Your tenant id as a person, for decks.
    person: String,
    /// Tenant id of your workspace, for runs and documents.
    workspace: String,
    /// What you share.
    granted: Vec<ShareView>,
    /// What others share with you.
    received: Vec<ShareView>,
}

pub(crate) struct ListShares {
    pub(super) kernel_handle: KernelHandle,
}

impl Tool for ListShares {
    type Params = Params;
    type Output = Output;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, _: Params, cx: &CallContext) -> Result<Reply<Output>, ToolError> {
        let kernel = self.kernel_handle.kernel()?;
        let store = &kernel.services.shares;
        let tenants = &cx.caller.tenants;
        // A pack uses one of the two tenants of a caller, and a share with the other is no use.
        let of_pack = |share: &Share, tenant: &TenantId| {
            let packs = kernel.registry().packs();
            let pack = packs.iter().find(|pack| pack.info.name == share.pack);
            pack.is_some_and(|pack| pack.tenancy.tenant(tenants) == *tenant)
        };
        let (mut granted, mut received) = (Vec::new(), Vec::new());
        let both = [&tenants.person, &tenants.workspace];
        let count = if tenants.person == tenants.workspace { 1 } else { 2 };
        for tenant in both.into_iter().take(count) {
            granted.extend(store.granted_by(tenant)?);
            let others = store.received_by(tenant)?;
            received.extend(others.into_iter().filter(|share| of_pack(share, tenant)));
        }
        let text =
            format!("You share {} items; {} are shared with you.", granted.len(), received.len());
        let output = Output {
            person: tenants.person.to_string(),
            workspace: tenants.workspace.to_string(),
            granted: granted.iter().map(ShareView::of).collect(),
            received: received.iter().map(ShareView::of).collect(),
        };
        Ok(Reply::new(output, text, shares::evidence()))
    }
}
