//! The contract kernel: the definition of a tool and the pipeline that calls it.
//!
//! A tool is a file with a [`ToolSpec`](spec::ToolSpec), its parameters, its output and a
//! handler. A [`Pack`](pack::Pack) groups tools, the [`Registry`](registry::Registry) holds all
//! packs, and [`pipeline::call`] is the only way to invoke a handler. MCP, the command line,
//! GraphQL and gRPC all use it.
//!
//! This crate performs no I/O and reads no clock; both are injected as traits ([`clock::Clock`],
//! [`audit::AuditLog`], [`mutation::MutationLog`]). It does not depend on MCP.

#[doc(hidden)]
pub use {schemars, serde};

pub mod audit;
pub mod calculus;
mod canonical;
pub mod clock;
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
mod lazy_schema;
pub mod listed_schema;
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
pub mod preferences;
pub mod prompt;
pub mod registry;
pub mod reply;
pub mod resource;
pub mod schema;
pub mod sharing;
pub mod spec;
mod spec_checks;
pub mod supervise;
pub mod table;
pub mod tenant;
pub mod testing;
pub mod tool;

/// Common imports of a tool file.
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
