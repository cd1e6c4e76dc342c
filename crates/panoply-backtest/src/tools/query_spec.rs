//! The declaration shared by the tools of this pack: each is a read-only query.

use panoply_contract::prelude::*;
use panoply_contract::spec::Widget;

/// The fields of a [`ToolSpec`] in which the tools of this pack differ.
pub(super) struct QuerySpec {
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    pub(super) description: Description,
    pub(super) aliases: &'static [&'static str],
    pub(super) category: Category,
    pub(super) examples: &'static [Example],
    pub(super) tags: &'static [&'static str],
    pub(super) listing: Listing,
    pub(super) widget: Option<Widget>,
}

impl QuerySpec {
    /// Adds the fields that all tools of the pack share. A sealed run never changes, so replies
    /// stay cacheable until the catalog's version changes.
    pub(super) const fn checked(self) -> ToolSpec {
        ToolSpec {
            name: self.name,
            title: self.title,
            description: self.description,
            version: "1.0.0",
            aliases: self.aliases,
            permissions: &["backtests:read"],
            category: self.category,
            response_time: ResponseTime::Medium,
            cache: CachePolicy::For(Duration::from_secs(3600)),
            idempotent: true,
            data: &["backtests"],
            examples: self.examples,
            tags: self.tags,
            rate_limit: None,
            deprecated: None,
            annotations: Annotations::CLOSED,
            listing: self.listing,
            widget: self.widget,
        }
        .checked()
    }
}
