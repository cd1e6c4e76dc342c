//! The contract kernel: what a tool is, and the one way to call it.
//!
//! A tool is a file with a [`ToolSpec`](spec::ToolSpec), its parameters, its output and a
//! handler. Tools come in [`Pack`](pack::Pack)s, packs are gathered in a
//! [`Registry`](registry::Registry), and [`pipeline::call`] is the only way to a handler:
//! MCP, the command line, GraphQL and gRPC all take it.
//!
//! Nothing here does I/O or reads a clock; both are handed in as traits ([`clock::Clock`],
//! [`audit::AuditLog`], [`mutation::MutationLog`]). Nothing here knows MCP.

#[doc(hidden)]
pub use {schemars, serde};

pub mod audit;
pub mod calculus;
mod canonical;
pub mod clock;
mod compiled;
pub mod compliance;
pub mod consent;
pub mod context;
pub mod dialect;
pub mod error;
pub mod evidence;
pub mod hints;
pub mod ids;
pub mod json;
pub mod kernel;
pub mod kernel_tools;
pub mod login;
pub mod meta;
pub mod meters;
pub mod mutation;
pub mod observe;
pub mod operation;
pub mod pack;
pub mod params;
pub mod permission;
pub mod pipeline;
pub mod prompt;
pub mod registry;
pub mod reply;
pub mod resource;
pub mod schema;
pub mod spec;
mod spec_checks;
pub mod supervise;
pub mod table;
pub mod testing;
pub mod tool;

/// What a tool file needs, in one line.
pub mod prelude {
    pub use std::time::Duration;

    pub use schemars::JsonSchema;
    pub use serde::{Deserialize, Serialize};

    pub use crate::context::{CallContext, Lang};
    pub use crate::error::ToolError;
    pub use crate::evidence::{Evidence, NextChange, Source, SourceClass};
    pub use crate::reply::{NextAction, Reply};
    pub use crate::spec::{
        Annotations, CachePolicy, Category, Description, Example, Expect, Listing, RateLimit,
        ResponseTime, ToolSpec,
    };
    pub use crate::table::Table;
    pub use crate::tool::Tool;
}
