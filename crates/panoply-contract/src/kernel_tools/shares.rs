//! What the tools of sharing have in common: the arguments, the reply, and the commit.

use crate::kernel::Kernel;
use crate::prelude::*;
use crate::registry::PackEntry;
use crate::sharing::{Share, ShareStore};
use crate::spec::ToolSpec;
use crate::tenant::TenantId;

/// What the specs of `share-item` and `withdraw-share` have in common.
pub(super) const MUTATION: ToolSpec = ToolSpec {
    name: "",
    title: "",
    description: Description { does: "", when: "", returns: "", asks: &[] },
    version: "1.0.0",
    aliases: &[],
    permissions: &["shares:admin"],
    category: Category::Mutation,
    response_time: ResponseTime::Medium,
    cache: CachePolicy::Never,
    idempotent: true,
    data: &["shares"],
    examples: &[],
    tags: &["sharing"],
    rate_limit: Some(RateLimit { max_calls: 120, window: Duration::from_secs(60) }),
    deprecated: None,
    annotations: Annotations::CLOSED,
    listing: Listing::Extra,
    widget: None,
};

/// An item and a recipient.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Params {
    /// The pack: `backtest` for a run, `noema` for a deck with its subdecks, `ttm` for the
    /// documents of an import job.
    #[schemars(length(min = 1, max = 40))]
    pub(super) pack: String,
    /// Id of the run, deck or import job.
    #[schemars(length(min = 1, max = 200), regex(pattern = r"\S"))]
    pub(super) id: String,
    /// Tenant id of the recipient, who finds it with `list-shares`.
    #[schemars(length(min = 1, max = 60))]
    pub(super) recipient: String,
}

/// A share.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ShareView {
    /// The pack.
    pack: String,
    /// Id of the item.
    id: String,
    /// Tenant id of the owner.
    owner: String,
    /// Tenant id of the recipient.
    recipient: String,
    /// Since when; ISO 8601, UTC.
    since: String,
}

impl ShareView {
    pub(super) fn of(share: &Share) -> Self {
        Self {
            pack: share.pack.clone(),
            id: share.item.clone(),
            owner: share.owner.to_string(),
            recipient: share.recipient.to_string(),
            since: share.created.to_string(),
        }
    }
}

/// The share that the arguments describe, and its pack.
pub(super) fn share_of<'a>(
    kernel: &'a Kernel,
    params: &Params,
    cx: &CallContext,
) -> Result<(Share, &'a PackEntry), ToolError> {
    let packs = kernel.registry().packs();
    let pack = packs.iter().find(|pack| pack.info.name == params.pack && pack.sharing.is_some());
    let Some(pack) = pack else {
        let known = packs.iter().filter(|pack| pack.sharing.is_some()).map(|pack| pack.info.name);
        let known: Vec<&str> = known.collect();
        let shown: String = params.pack.chars().take(40).collect();
        let message = format!("nothing of `{shown}` can be shared on this server");
        return Err(ToolError::validation("NOT_SHAREABLE", message)
            .hint(format!("name one of the packs that can: {}", known.join(", "))));
    };
    pack.serves(&cx.caller)?;
    let owner = pack.tenancy.tenant(&cx.caller.tenants);
    // Everybody knows the id of the local tenant, and nobody should receive what they did not ask for.
    let recipient = TenantId::parse(&params.recipient).filter(|tenant| !tenant.is_local());
    let recipient = recipient.ok_or_else(|| {
        let shown: String = params.recipient.chars().take(60).collect();
        ToolError::validation("BAD_RECIPIENT", format!("`{shown}` is not the tenant id of a user")).hint(
            "ask the recipient for the tenant id that `list-shares` shows them, such as `person-` and 32 digits",
        )
    })?;
    if recipient == owner {
        return Err(ToolError::validation("BAD_RECIPIENT", "the recipient is the owner")
            .hint("name another tenant"));
    }
    let (pack_name, item) = (params.pack.clone(), params.id.clone());
    let share = Share { pack: pack_name, item, owner, recipient, created: cx.timestamp };
    Ok((share, pack))
}

/// Commits a change of the shares together with the record of the call, unless it is a dry run.
pub(super) fn commit<O: Serialize>(
    cx: &CallContext,
    reply: Reply<O>,
    change: impl FnOnce(Option<&crate::mutation::MutationRecord>) -> Result<bool, ToolError>,
) -> Result<Reply<O>, ToolError> {
    if cx.dry_run {
        return Ok(reply);
    }
    let record = cx.mutation.as_ref().map(|mutation| mutation.record(&reply)).transpose()?;
    change(record.as_ref())?;
    if let (Some(mutation), Some(record)) = (&cx.mutation, record) {
        mutation.committed(record);
    }
    Ok(reply)
}

/// Whether the share exists.
pub(super) fn exists(shares: &dyn ShareStore, share: &Share) -> Result<bool, ToolError> {
    let granted = shares.granted_by(&share.owner)?;
    Ok(granted.iter().any(|known| Share { created: share.created, ..known.clone() } == *share))
}

pub(super) fn evidence() -> Evidence {
    Evidence::from(Source::new(SourceClass::Exact, "the shares of this server"))
        .changes(NextChange::WithNextAction)
}
