//! GraphQL and gRPC: the reads of the ttm contract for programs that do not speak MCP.
//!
//! Both are routes for the HTTP server that is there already, so that hosts, keys, limits and
//! permissions are the same. Every read takes the one way to a handler: tools by
//! [`pipeline::call`](panoply_contract::pipeline::call), documents by
//! [`Kernel::read_resource`]. A reply has the same document, and so the same `out_hash`, as over
//! MCP.

mod calls;
pub mod graphql;
pub mod grpc;
mod time_limit;

use std::sync::Arc;

use axum::{Router, middleware};
use panoply_contract::kernel::Kernel;

/// The pack whose reads these are.
pub const PACK: &str = "ttm";

/// How the routes are set up.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Whether a browser that opens `/graphql` gets GraphiQL. For loopback only.
    pub page: bool,
}

/// The routes, by what has to stand before them.
pub struct Routes {
    /// `/graphql` and the gRPC services. Each request must carry its
    /// [`Caller`](panoply_contract::context::Caller) as an extension.
    pub protected: Router,
    /// Reflection of gRPC, whose requests are a stream. Needs a caller too.
    pub streaming: Router,
    /// Health of gRPC, for everybody.
    pub public: Router,
}

/// All routes.
pub fn routes(kernel: &Arc<Kernel>, options: Options) -> Routes {
    Routes {
        protected: graphql::routes(kernel, options).merge(grpc::routes(kernel)),
        streaming: grpc::reflection().layer(middleware::from_fn(time_limit::limit)),
        public: grpc::health().layer(middleware::from_fn(time_limit::limit)),
    }
}
