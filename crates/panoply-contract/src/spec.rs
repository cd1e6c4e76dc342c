//! The declaration of a tool: the "Tool Definition" of the contract.
//!
//! A [`ToolSpec`] is a struct literal without `Default`, so a forgotten field is a compile
//! error. [`ToolSpec::checked`] is a `const fn`, so a broken rule is a compile error too, provided
//! the spec is a free `const` (an associated const is only evaluated where it is used).

use std::time::Duration;

use crate::spec_checks;

/// All declarations that the contract requires of a tool.
#[derive(Debug)]
pub struct ToolSpec {
    /// The published name, `verb-noun` or `verb_noun`; it never changes once published.
    pub name: &'static str,
    /// Display name.
    pub title: &'static str,
    /// Structured description.
    pub description: Description,
    /// Semantic version of this tool's own contract.
    pub version: &'static str,
    /// Other names that `tools/call` accepts.
    pub aliases: &'static [&'static str],
    /// Required permissions, as `resource:action`.
    pub permissions: &'static [&'static str],
    /// Decides caching, retries and availability in read-only mode.
    pub category: Category,
    /// Usual duration; sets the deadline.
    pub response_time: ResponseTime,
    /// Whether replies are cached.
    pub cache: CachePolicy,
    /// Whether the same input gives the same output.
    pub idempotent: bool,
    /// The data it reads (queries) or changes (mutations). A mutation advances their epochs, which
    /// invalidates cached replies.
    pub data: &'static [&'static str],
    /// Example calls; each is replayed as a test.
    pub examples: &'static [Example],
    /// Search keywords.
    pub tags: &'static [&'static str],
    /// Rate limit per caller.
    pub rate_limit: Option<RateLimit>,
    /// Set for a deprecated tool.
    pub deprecated: Option<Deprecation>,
    /// MCP annotations that do not follow from the category.
    pub annotations: Annotations,
    /// Whether a server lists it by default.
    pub listing: Listing,
    /// Widget that renders the reply.
    pub widget: Option<Widget>,
}

/// The parts of a description that the contract requires.
#[derive(Debug)]
pub struct Description {
    /// What it does, in a sentence.
    pub does: &'static str,
    /// When to use it ("Use this when …") and, where it matters, when not to.
    pub when: &'static str,
    /// What comes back.
    pub returns: &'static str,
    /// Questions a user might ask that this tool answers.
    pub asks: &'static [&'static str],
}

impl Description {
    /// The text an agent reads in `tools/list`.
    pub fn text(&self) -> String {
        let asks: Vec<String> = self.asks.iter().map(|ask| format!("\"{ask}\"")).collect();
        format!("{} {} {} Examples: {}.", self.does, self.when, self.returns, asks.join("; "))
    }
}

/// What kind of work a tool does.
#[derive(
    Clone,
    Copy,
    Debug,
    Eq,
    PartialEq,
    Hash,
    Ord,
    PartialOrd,
    serde::Serialize,
    serde::Deserialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Category {
    /// Reads.
    Query,
    /// Writes.
    Mutation,
    /// Computes from what is stored or given.
    Analysis,
    /// Makes new text or media.
    Generation,
}

impl Category {
    /// The word the contract uses.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Query => "query",
            Self::Mutation => "mutation",
            Self::Analysis => "analysis",
            Self::Generation => "generation",
        }
    }

    /// Whether calls of this kind change stored data.
    pub const fn mutates(self) -> bool {
        matches!(self, Self::Mutation)
    }
}

/// How long a call usually takes.
#[derive(
    Clone, Copy, Debug, Eq, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum ResponseTime {
    /// Under 100 ms. Runs where it is polled, so it must not block.
    Fast,
    /// Up to a second. Runs on the blocking pool.
    Medium,
    /// Longer. Runs on the blocking pool and should report progress.
    Slow,
}

impl ResponseTime {
    /// The word the contract uses.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Fast => "fast",
            Self::Medium => "medium",
            Self::Slow => "slow",
        }
    }

    /// Deadline of this class: ten times the usual duration, 60 s for slow tools.
    pub const fn deadline(self) -> Duration {
        match self {
            Self::Fast => Duration::from_secs(1),
            Self::Medium => Duration::from_secs(10),
            Self::Slow => Duration::from_secs(60),
        }
    }
}

/// Caching of replies.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum CachePolicy {
    /// Never cached.
    Never,
    /// Cached for this duration, per caller.
    For(Duration),
    /// Cached for this duration, shared by all callers of a tenant: the reply depends on its data
    /// only.
    Tenant(Duration),
    /// Cached for this duration, shared by all callers: the data are public. Refused for tools of
    /// packs with data of tenants.
    Shared(Duration),
}

impl CachePolicy {
    /// The time to live; `None` if not cached.
    pub const fn ttl(self) -> Option<Duration> {
        match self {
            Self::Never => None,
            Self::For(ttl) | Self::Tenant(ttl) | Self::Shared(ttl) => Some(ttl),
        }
    }
}

/// An example call.
#[derive(Debug)]
pub struct Example {
    /// Description.
    pub shows: &'static str,
    /// The input, as JSON.
    pub params: &'static str,
    /// Expected result.
    pub expect: Expect,
}

/// Expected result of an example.
#[derive(Debug)]
pub enum Expect {
    /// JSON that the data must contain: every member named here, with this value.
    Data(&'static str),
    /// An error with this code.
    Error(&'static str),
}

/// A call that creates what examples of a pack refer to. A caller with an empty home makes these
/// calls first and replaces the literals by the values of the replies.
#[derive(Debug)]
pub struct SampleCall {
    /// The tool to call.
    pub tool: &'static str,
    /// Its arguments, as JSON; may contain literals of earlier calls.
    pub params: &'static str,
    /// Literals in examples, such as `deck_456`, with the JSON pointer into the reply's data to the
    /// value that they stand for; an empty pointer if they stand for themselves.
    pub literals: &'static [(&'static str, &'static str)],
}

/// At most `max_calls` in `window`, per caller.
#[derive(Clone, Copy, Debug)]
pub struct RateLimit {
    /// How many calls.
    pub max_calls: u32,
    /// In how long.
    pub window: Duration,
}

/// Deprecation of a tool.
#[derive(Debug)]
pub struct Deprecation {
    /// The version that deprecated it.
    pub since: &'static str,
    /// The day that version came out, `YYYY-MM-DD`.
    pub announced: &'static str,
    /// The tool to use instead.
    pub replacement: &'static str,
    /// The first day on which calls are refused, at least 90 days after `announced`.
    pub removal_date: &'static str,
}

/// MCP hints that do not follow from category and `idempotent`.
#[derive(Clone, Copy, Debug)]
pub struct Annotations {
    /// Whether it may destroy user data.
    pub destructive: bool,
    /// Whether it accesses systems outside this server.
    pub open_world: bool,
}

impl Annotations {
    /// Neither destructive nor open-world: the default of most tools.
    pub const CLOSED: Self = Self { destructive: false, open_world: false };
}

/// Whether a tool is listed by default.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Listing {
    /// In every listing.
    Core,
    /// Only with `--tools all`; always searchable and callable.
    Extra,
}

/// The widget that renders a tool's reply.
#[derive(Clone, Copy, Debug)]
pub struct Widget {
    /// The `ui://` resource, with its version in the name.
    pub resource_uri: &'static str,
    /// What a host shows while the tool runs, at most 64 characters.
    pub invoking: &'static str,
    /// What a host shows when it has run, at most 64 characters.
    pub invoked: &'static str,
}

impl ToolSpec {
    /// Returns the spec, or fails the build if it violates the contract.
    ///
    /// ```
    /// use panoply_contract::{spec::ToolSpec, testing::SAMPLE_SPEC};
    /// const GOOD: ToolSpec = ToolSpec { tags: &["anything"], ..SAMPLE_SPEC }.checked();
    /// # assert_eq!(GOOD.tags.len(), 1);
    /// ```
    ///
    /// No tag:
    /// ```compile_fail,E0080
    /// use panoply_contract::{spec::ToolSpec, testing::SAMPLE_SPEC};
    /// const BAD: ToolSpec = ToolSpec { tags: &[], ..SAMPLE_SPEC }.checked();
    /// # assert_eq!(BAD.tags.len(), 0);
    /// ```
    ///
    /// A cached mutation:
    /// ```compile_fail,E0080
    /// use panoply_contract::{spec::*, testing::SAMPLE_SPEC};
    /// const BAD: ToolSpec = ToolSpec {
    ///     category: Category::Mutation,
    ///     cache: CachePolicy::For(std::time::Duration::from_secs(60)),
    ///     data: &["cards"],
    ///     ..SAMPLE_SPEC
    /// }
    /// .checked();
    /// # assert_eq!(BAD.tags.len(), 1);
    /// ```
    ///
    /// A forgotten field:
    /// ```compile_fail,E0063
    /// use panoply_contract::spec::ToolSpec;
    /// const BAD: ToolSpec = ToolSpec { name: "get-card", title: "Get a card" }.checked();
    /// # assert_eq!(BAD.name, "get-card");
    /// ```
    #[must_use]
    pub const fn checked(self) -> Self {
        if let Some(breach) = self.breach() {
            spec_checks::fail_build(breach);
        }
        self
    }

    /// The first rule this spec breaks, for `checked` and for specs made at run time.
    pub const fn breach(&self) -> Option<&'static str> {
        spec_checks::first_breach(self)
    }

    /// Deadline of a call.
    pub const fn deadline(&self) -> Duration {
        self.response_time.deadline()
    }
}
