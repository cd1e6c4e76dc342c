//! GraphQL at `/graphql`.
//!
//! A query asks for as many reads as it has root fields, so each costs: the whole may cost
//! [`MOST_COMPLEXITY`]. Depth, size and recursion are bounded too.

mod query;
mod types;

use std::sync::Arc;

use async_graphql::{EmptyMutation, EmptySubscription, Schema};
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::response::Response;
use axum::routing::{get, post};
use http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use http::{HeaderValue, StatusCode};
use panoply_contract::kernel::Kernel;
use serde_json::{Value, json};

use self::query::Query;
use crate::Options;
use crate::calls::Asker;

/// The deepest query; the usual query for the schema itself has thirteen levels.
pub const DEEPEST: usize = 16;
/// What a query may cost: a read costs fifty, a field one.
pub const MOST_COMPLEXITY: usize = 600;
/// The largest body of a request, in bytes.
pub const LARGEST_BODY: usize = 64 * 1024;

type Service = Schema<Query, EmptyMutation, EmptySubscription>;

/// `/graphql`.
pub(crate) fn routes(kernel: &Arc<Kernel>, options: Options) -> Router {
    let schema = schema();
    let kernel = Arc::clone(kernel);
    let answer = move |request: Request| {
        let (schema, kernel) = (schema.clone(), Arc::clone(&kernel));
        async move { answer(&schema, &kernel, request).await }
    };
    let router = Router::new().route("/graphql", post(answer));
    if options.page { router.merge(graphiql()) } else { router }
}

/// The schema with its limits.
pub fn schema() -> Service {
    Schema::build(Query, EmptyMutation, EmptySubscription)
        .limit_depth(DEEPEST)
        .limit_complexity(MOST_COMPLEXITY)
        .limit_recursive_depth(32)
        .limit_directives(8)
        .finish()
}

async fn answer(schema: &Service, kernel: &Arc<Kernel>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let Ok(asker) = Asker::of(kernel, &parts.headers, &parts.extensions, "graphql") else {
        return refused(StatusCode::INTERNAL_SERVER_ERROR, "the server failed to answer");
    };
    let Ok(body) = to_bytes(body, LARGEST_BODY).await else {
        let message = format!("the request has more than {LARGEST_BODY} bytes, or ended early");
        return refused(StatusCode::PAYLOAD_TOO_LARGE, &message);
    };
    let query: async_graphql::Request = match serde_json::from_slice(&body) {
        Ok(query) => query,
        Err(error) => {
            let message = format!("the body is not a GraphQL request: {error}");
            return refused(StatusCode::BAD_REQUEST, &message);
        }
    };
    let reply = schema.execute(query.data(asker)).await;
    let text = serde_json::to_string(&reply).unwrap_or_default();
    response(StatusCode::OK, "application/json", text)
}

fn refused(status: StatusCode, message: &str) -> Response {
    let body: Value = json!({"errors": [{"message": message}]});
    response(status, "application/json", body.to_string())
}

/// GraphiQL: its page, its script and its style, which load nothing from anywhere else.
fn graphiql() -> Router {
    let file = |content_type, text: &'static str| {
        get(async move || {
            let mut file = response(StatusCode::OK, content_type, text.to_owned());
            file.headers_mut().insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
            file
        })
    };
    let [html, script, style] =
        ["text/html; charset=utf-8", "text/javascript; charset=utf-8", "text/css; charset=utf-8"];
    Router::new()
        .route("/graphql", file(html, include_str!("../../../../widgets/dist/graphiql.html")))
        .route(
            "/graphql/graphiql.js",
            file(script, include_str!("../../../../widgets/dist/graphiql.js")),
        )
        .route(
            "/graphql/graphiql.css",
            file(style, include_str!("../../../../widgets/dist/graphiql.css")),
        )
}

/// Styles are put in by its editor, and its fonts are inside of its style sheet.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; \
    font-src data:; img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; \
    frame-ancestors 'none'";

fn response(status: StatusCode, content_type: &'static str, body: String) -> Response {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}
