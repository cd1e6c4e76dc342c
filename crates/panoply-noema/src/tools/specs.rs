//! Spec fields that tools of one category share; a tool overrides the ones that differ.

use panoply_contract::prelude::*;

/// A query over the collection. The empty fields and the malformed permission fail
/// [`ToolSpec::checked`], so a tool that forgets its own does not compile.
pub(super) const QUERY: ToolSpec = ToolSpec {
    name: "",
    title: "",
    description: Description { does: "", when: "", returns: "", asks: &[] },
    version: "1.0.0",
    aliases: &[],
    permissions: &["undeclared"],
    category: Category::Query,
    response_time: ResponseTime::Fast,
    cache: CachePolicy::Never,
    idempotent: true,
    data: &[],
    examples: &[],
    tags: &[],
    rate_limit: per_minute(600),
    deprecated: None,
    annotations: Annotations::CLOSED,
    listing: Listing::Extra,
    widget: None,
};

/// An analysis of the collection or the review log.
pub(super) const ANALYSIS: ToolSpec = ToolSpec {
    category: Category::Analysis,
    response_time: ResponseTime::Medium,
    rate_limit: per_minute(120),
    ..QUERY
};

/// A change of the collection.
pub(super) const MUTATION: ToolSpec = ToolSpec {
    category: Category::Mutation,
    response_time: ResponseTime::Medium,
    idempotent: false,
    rate_limit: per_minute(300),
    ..QUERY
};

/// One change of up to 500 cards.
pub(super) const BATCH: ToolSpec = ToolSpec { data: &["cards", "decks", "schedule"], ..MUTATION };

/// A limit on the calls of one caller.
pub(super) const fn per_minute(max_calls: u32) -> Option<RateLimit> {
    Some(RateLimit { max_calls, window: Duration::from_secs(60) })
}
