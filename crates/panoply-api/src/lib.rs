//! GraphQL and gRPC over the read tools and resources of the ttm pack.
//!
//! Both are routes of the existing HTTP server, so host checks, keys, limits and permissions are
//! shared. Every read goes through [`pipeline::call`](panoply_contract::pipeline::call) or
//! [`Kernel::read_resource`], so the document and its `out_hash` equal those over MCP.

mod calls;
pub mod graphql;
pub mod grpc;
mod time_limit;

use std::sync::Arc;

use axum::{Router, middleware};
use panoply_contract::kernel::Kernel;

/// The pack that these routes expose.
pub const PACK: &str = "ttm";

/// Route options.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Serves GraphiQL at `GET /graphql`. For loopback only.
    pub graphiql: bool,
}

/// The routes, grouped by the middleware they need.
pub struct Routes {
    /// `/graphql` and the gRPC services. Each request must carry its
    /// [`Caller`](panoply_contract::context::Caller) as an extension.
    pub protected: Router,
    /// gRPC reflection: streaming requests, also authenticated.
    pub streaming: Router,
    /// gRPC health, unauthenticated.
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
