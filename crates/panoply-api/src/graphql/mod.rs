//! GraphQL at `/graphql`.
//!
//! Each root field is one read and costs accordingly, up to [`MAX_COMPLEXITY`] per query. Size,
//! nesting and expanded fields are checked before execution. Execution has a deadline and runs on
//! the blocking pool.

pub mod cost;
mod query;
mod types;

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use async_graphql::parser::parse_query;
use async_graphql::{EmptyMutation, EmptySubscription, Schema};
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::response::Response;
use axum::routing::{get, post};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};
use http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderMap, HeaderValue, StatusCode};
use panoply_contract::kernel::Kernel;
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use self::query::Query;
use crate::Options;
use crate::calls::RequestContext;

/// Deepest query; the standard introspection query has 13 levels.
pub const MAX_DEPTH: usize = 16;
/// Highest query complexity: a read costs 50, a field 1.
pub const MAX_COMPLEXITY: usize = 600;
/// Largest request body in bytes.
pub const MAX_BODY_BYTES: usize = 64 * 1024;

/// Deadline of a query; the slowest read has ten seconds.
pub const QUERY_TIMEOUT: Duration = Duration::from_secs(30);
/// Queries executed concurrently; others wait within their deadline.
const MAX_CONCURRENT_QUERIES: usize = 8;
/// Requests that one caller may burst, and its sustained rate per second.
const BURST_QUERIES: u32 = 100;
const QUERIES_PER_SECOND: u32 = 50;
/// Callers tracked before idle rate-limit buckets are dropped.
const MAX_TRACKED_CALLERS: usize = 10_000;

type Service = Schema<Query, EmptyMutation, EmptySubscription>;

/// The `/graphql` route.
pub(crate) fn routes(kernel: &Arc<Kernel>, options: Options) -> Router {
    let endpoint = Arc::new(Endpoint::new(kernel));
    let answer = move |request: Request| {
        let endpoint = Arc::clone(&endpoint);
        async move { endpoint.answer(request).await.unwrap_or_else(|refusal| refusal) }
    };
    let router = Router::new().route("/graphql", post(answer));
    if options.graphiql { router.merge(graphiql()) } else { router }
}

/// The schema with its limits.
pub fn schema() -> Service {
    Schema::build(Query, EmptyMutation, EmptySubscription)
        .limit_depth(MAX_DEPTH)
        .limit_complexity(MAX_COMPLEXITY)
        .limit_recursive_depth(32)
        .limit_directives(8)
        .finish()
}

struct Endpoint {
    kernel: Arc<Kernel>,
    schema: Service,
    permits: Semaphore,
    rate_limiter: DefaultKeyedRateLimiter<String>,
}

impl Endpoint {
    fn new(kernel: &Arc<Kernel>) -> Self {
        let number = |number| NonZeroU32::new(number).unwrap_or(NonZeroU32::MIN);
        let quota =
            Quota::per_second(number(QUERIES_PER_SECOND)).allow_burst(number(BURST_QUERIES));
        Self {
            kernel: Arc::clone(kernel),
            schema: schema(),
            permits: Semaphore::new(MAX_CONCURRENT_QUERIES),
            rate_limiter: RateLimiter::keyed(quota),
        }
    }

    async fn answer(&self, request: Request) -> Result<Response, Response> {
        let (parts, body) = request.into_parts();
        let context =
            RequestContext::of(&self.kernel, &parts.headers, &parts.extensions, "graphql")
                .map_err(|_| {
                    error_response(StatusCode::INTERNAL_SERVER_ERROR, "the server failed to answer")
                })?;
        if !is_json(&parts.headers) {
            let message = "send `Content-Type: application/json`";
            return Err(error_response(StatusCode::UNSUPPORTED_MEDIA_TYPE, message));
        }
        if self.rate_limiter.len() > MAX_TRACKED_CALLERS {
            self.rate_limiter.retain_recent();
        }
        if self.rate_limiter.check_key(&context.partition().to_owned()).is_err() {
            return Err(retry_later(
                StatusCode::TOO_MANY_REQUESTS,
                "too many queries; wait a second",
            ));
        }
        let body = to_bytes(body, MAX_BODY_BYTES).await.map_err(|_| {
            let message = format!("the request has more than {MAX_BODY_BYTES} bytes");
            error_response(StatusCode::PAYLOAD_TOO_LARGE, &message)
        })?;
        let query: async_graphql::Request = serde_json::from_slice(&body).map_err(|error| {
            let message = format!("the body is not a GraphQL request: {error}");
            error_response(StatusCode::BAD_REQUEST, &message)
        })?;
        let query = match check_cost(query) {
            Ok(query) => query,
            Err(message) => {
                context.record_refusal(&body, "QUERY_TOO_COSTLY").await;
                return Err(error_response(StatusCode::BAD_REQUEST, &message));
            }
        };
        let executed =
            tokio::time::timeout(QUERY_TIMEOUT, self.execute(query.data(context.clone())));
        match executed.await {
            Ok(Some(text)) => Ok(response(StatusCode::OK, "application/json", text)),
            Ok(None) => Err(error_response(
                StatusCode::INTERNAL_SERVER_ERROR,
                "the server failed to answer",
            )),
            Err(_elapsed) => {
                context.record_refusal(&body, "QUERY_TIMEOUT").await;
                Err(retry_later(
                    StatusCode::SERVICE_UNAVAILABLE,
                    "the query took too long; ask for less",
                ))
            }
        }
    }

    /// Executes on the blocking pool: resolvers are CPU-bound and must not occupy the runtime's
    /// worker threads.
    async fn execute(&self, query: async_graphql::Request) -> Option<String> {
        let _permit = self.permits.acquire().await.ok()?;
        let (schema, runtime) = (self.schema.clone(), tokio::runtime::Handle::current());
        let work = move || {
            let executing = tokio::time::timeout(QUERY_TIMEOUT, schema.execute(query));
            let reply = runtime.block_on(executing).ok()?;
            serde_json::to_string(&reply).ok()
        };
        tokio::task::spawn_blocking(work).await.ok()?
    }
}

/// Parses the document and checks its cost. A syntax error is left to execution, which reports its
/// position.
fn check_cost(mut query: async_graphql::Request) -> Result<async_graphql::Request, String> {
    cost::check_nesting(&query.query).map_err(|error| error.to_string())?;
    if let Ok(document) = parse_query(&query.query) {
        cost::check_fields(&document).map_err(|error| error.to_string())?;
        query.set_parsed_query(document);
    }
    Ok(query)
}

/// Accepts only JSON: a web form can send `text/plain` cross-origin without a CORS preflight.
fn is_json(headers: &HeaderMap) -> bool {
    let media_type =
        headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let essence = media_type.split(';').next().unwrap_or_default();
    essence.trim().eq_ignore_ascii_case("application/json")
}

fn retry_later(status: StatusCode, message: &str) -> Response {
    let mut response = error_response(status, message);
    response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("1"));
    response
}

fn error_response(status: StatusCode, message: &str) -> Response {
    let body: Value = json!({"errors": [{"message": message}]});
    response(status, "application/json", body.to_string())
}

/// GraphiQL: page, script and style sheet, self-contained.
fn graphiql() -> Router {
    let file = |content_type, text: &'static str| {
        get(async move || {
            let mut file = response(StatusCode::OK, content_type, text.to_owned());
            file.headers_mut()
                .insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(GRAPHIQL_CSP));
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

/// The editor injects inline styles; its fonts are embedded in the style sheet.
const GRAPHIQL_CSP: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; \
    font-src data:; img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; \
    frame-ancestors 'none'";

fn response(status: StatusCode, content_type: &'static str, body: String) -> Response {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}
