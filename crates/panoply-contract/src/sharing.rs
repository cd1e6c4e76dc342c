//! Sharing: a tenant grants another one read access to a run, a deck or a collection of documents,
//! and withdraws it.
//!
//! - The owner's pack builds a read-only pack over the shared items alone ([`Shareable::view`]): a
//!   handler on it cannot reach anything else.
//! - A query about an id that the caller's own data do not have is repeated on the views of those
//!   who share with the caller. If none has it either, the first answer stands, so an id that is
//!   not shared is answered as an unknown one.
//! - Replies from a view are never cached: a withdrawal takes effect with the next call.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;

use crate::error::ToolError;
use crate::mutation::MutationRecord;
use crate::pack::Pack;
use crate::tenant::TenantId;

/// An item that a tenant may read although it is another's.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Share {
    /// Name of the pack.
    pub pack: String,
    /// Id of the item in that pack.
    pub item: String,
    /// Whose it is.
    pub owner: TenantId,
    /// Who may read it.
    pub recipient: TenantId,
    /// Since when.
    pub created: Timestamp,
}

/// Stores shares. Methods may block: they run in a lane.
pub trait ShareStore: Send + Sync + 'static {
    /// Adds a share, with the record of the call; whether it is new.
    fn add(&self, share: &Share, record: Option<&MutationRecord>) -> Result<bool, ToolError>;

    /// Removes a share, with the record of the call; whether it was there. The time is ignored.
    fn remove(&self, share: &Share, record: Option<&MutationRecord>) -> Result<bool, ToolError>;

    /// The shares of an owner, ordered.
    fn granted_by(&self, owner: &TenantId) -> Result<Vec<Share>, ToolError>;

    /// The shares with a recipient, ordered.
    fn received_by(&self, recipient: &TenantId) -> Result<Vec<Share>, ToolError>;
}

/// Shares in memory, for tests and servers without a home.
#[derive(Debug, Default)]
pub struct MemoryShareStore(Mutex<BTreeSet<Share>>);

impl MemoryShareStore {
    fn matching(&self, matches: impl Fn(&Share) -> bool) -> Vec<Share> {
        lock(&self.0).iter().filter(|share| matches(share)).cloned().collect()
    }
}

impl ShareStore for MemoryShareStore {
    fn add(&self, share: &Share, _: Option<&MutationRecord>) -> Result<bool, ToolError> {
        let mut shares = lock(&self.0);
        let is_new = !shares.iter().any(|known| same_item(known, share));
        if is_new {
            shares.insert(share.clone());
        }
        Ok(is_new)
    }

    fn remove(&self, share: &Share, _: Option<&MutationRecord>) -> Result<bool, ToolError> {
        let mut shares = lock(&self.0);
        let before = shares.len();
        shares.retain(|known| !same_item(known, share));
        Ok(shares.len() < before)
    }

    fn granted_by(&self, owner: &TenantId) -> Result<Vec<Share>, ToolError> {
        Ok(self.matching(|share| share.owner == *owner))
    }

    fn received_by(&self, recipient: &TenantId) -> Result<Vec<Share>, ToolError> {
        Ok(self.matching(|share| share.recipient == *recipient))
    }
}

fn same_item(one: &Share, other: &Share) -> bool {
    let of = |share: &Share| {
        (share.pack.clone(), share.item.clone(), share.owner.clone(), share.recipient.clone())
    };
    of(one) == of(other)
}

/// The items of one tenant that a pack can share.
pub trait Shareable: Send + Sync + 'static {
    /// What the items are called, in the singular.
    fn kind(&self) -> &'static str;

    /// The name of an item; `None` if there is no such item.
    fn name_of(&self, item: &str) -> Result<Option<String>, ToolError>;

    /// The same pack, with the same tools, over these items alone and without a way to change them.
    /// An item that does not exist, or no longer does, is left out.
    fn view(&self, items: &BTreeSet<String>) -> Result<Pack, ToolError>;
}

/// Views that stay open per owner. Those who receive the same items share a view.
const MAX_VIEWS: usize = 4;

/// The shareable items of a pack, with its open views, the most recently used last.
pub(crate) struct Sharing {
    pub(crate) items: Arc<dyn Shareable>,
    views: Mutex<Vec<(BTreeSet<String>, Arc<Pack>)>>,
}

impl Sharing {
    pub(crate) fn new(items: impl Shareable) -> Self {
        Self { items: Arc::new(items), views: Mutex::default() }
    }

    /// The view on these items. Concurrent callers wait for one that is being opened.
    pub(crate) fn view(&self, items: &BTreeSet<String>) -> Result<Arc<Pack>, ToolError> {
        let mut views = lock(&self.views);
        let open = match views.iter().position(|(known, _)| known == items) {
            Some(place) => views.remove(place),
            None => (items.clone(), Arc::new(self.items.view(items)?)),
        };
        let view = Arc::clone(&open.1);
        views.push(open);
        let excess = views.len().saturating_sub(MAX_VIEWS);
        let closed: Vec<_> = views.drain(..excess).collect();
        drop(views);
        drop(closed);
        Ok(view)
    }
}

/// The items that one owner shares with a recipient in one pack.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SharedItems {
    /// Whose they are.
    pub owner: TenantId,
    /// Their ids.
    pub items: BTreeSet<String>,
}

/// Groups the shares of one pack by owner.
pub fn by_owner(shares: Vec<Share>, pack: &str) -> Vec<SharedItems> {
    let mut groups: Vec<SharedItems> = Vec::new();
    for share in shares.into_iter().filter(|share| share.pack == pack) {
        match groups.iter_mut().find(|group| group.owner == share.owner) {
            Some(group) => {
                group.items.insert(share.item);
            }
            None => {
                groups
                    .push(SharedItems { owner: share.owner, items: BTreeSet::from([share.item]) });
            }
        }
    }
    groups
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
