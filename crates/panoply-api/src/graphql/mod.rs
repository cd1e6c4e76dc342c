//! GraphQL at `/graphql`.
//!
//! A query asks for as many reads as it has root fields, so each costs: the whole may cost
//! [`MOST_COMPLEXITY`]. Size, nesting and expanded fields are bounded before anything is
//! executed, and execution has a deadline, off the threads that serve.

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
use crate::calls::Asker;

/// The deepest query; the usual query for the schema itself has thirteen levels.
pub const DEEPEST: usize = 16;
/// What a query may cost: a read costs fifty, a field one.
pub const MOST_COMPLEXITY: usize = 600;
/// The largest body of a request, in bytes.
pub const LARGEST_BODY: usize = 64 * 1024;

/// How long a query may take; the slowest read has ten seconds.
pub const DEADLINE: Duration = Duration::from_secs(30);
/// Queries executed at a time; more wait, within their deadline.
const AT_A_TIME: usize = 8;
/// Queries that one caller may send at once, and in each second after that.
const BURST: u32 = 100;
const PER_SECOND: u32 = 50;
/// Callers that are remembered before those with a full budget are forgotten.
const MOST_CALLERS: usize = 10_000;

type Service = Schema<Query, EmptyMutation, EmptySubscription>;

/// `/graphql`.
pub(crate) fn routes(kernel: &Arc<Kernel>, options: Options) -> Router {
    let endpoint = Arc::new(Endpoint::new(kernel));
    let answer = move |request: Request| {
        let endpoint = Arc::clone(&endpoint);
        async move { endpoint.answer(request).await.unwrap_or_else(|refusal| refusal) }
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

struct Endpoint {
    kernel: Arc<Kernel>,
    schema: Service,
    room: Semaphore,
    budget: DefaultKeyedRateLimiter<String>,
}

impl Endpoint {
    fn new(kernel: &Arc<Kernel>) -> Self {
        let number = |number| NonZeroU32::new(number).unwrap_or(NonZeroU32::MIN);
        let quota = Quota::per_second(number(PER_SECOND)).allow_burst(number(BURST));
        Self {
            kernel: Arc::clone(kernel),
            schema: schema(),
            room: Semaphore::new(AT_A_TIME),
            budget: RateLimiter::keyed(quota),
        }
    }

    async fn answer(&self, request: Request) -> Result<Response, Response> {
        let (parts, body) = request.into_parts();
        let asker = Asker::of(&self.kernel, &parts.headers, &parts.extensions, "graphql").map_err(
            |_| refused(StatusCode::INTERNAL_SERVER_ERROR, "the server failed to answer"),
        )?;
        if !is_json(&parts.headers) {
            let message = "send `Content-Type: application/json`";
            return Err(refused(StatusCode::UNSUPPORTED_MEDIA_TYPE, message));
        }
        if self.budget.len() > MOST_CALLERS {
            self.budget.retain_recent();
        }
        if self.budget.check_key(&asker.partition().to_owned()).is_err() {
            return Err(later(StatusCode::TOO_MANY_REQUESTS, "too many queries; wait a second"));
        }
        let body = to_bytes(body, LARGEST_BODY).await.map_err(|_| {
            let message = format!("the request has more than {LARGEST_BODY} bytes");
            refused(StatusCode::PAYLOAD_TOO_LARGE, &message)
        })?;
        let query: async_graphql::Request = serde_json::from_slice(&body).map_err(|error| {
            let message = format!("the body is not a GraphQL request: {error}");
            refused(StatusCode::BAD_REQUEST, &message)
        })?;
        let query = match affordable(query) {
            Ok(query) => query,
            Err(message) => {
                asker.record_refusal(&body, "QUERY_TOO_COSTLY").await;
                return Err(refused(StatusCode::BAD_REQUEST, &message));
            }
        };
        let executed = tokio::time::timeout(DEADLINE, self.execute(query.data(asker.clone())));
        match executed.await {
            Ok(Some(text)) => Ok(response(StatusCode::OK, "application/json", text)),
            Ok(None) => {
                Err(refused(StatusCode::INTERNAL_SERVER_ERROR, "the server failed to answer"))
            }
            Err(_elapsed) => {
                asker.record_refusal(&body, "QUERY_TIMEOUT").await;
                Err(later(StatusCode::SERVICE_UNAVAILABLE, "the query took too long; ask for less"))
            }
        }
    }

    /// Executes on a thread of its own: resolving and shaping a reply never waits, and must not
    /// keep the threads that serve from serving.
    async fn execute(&self, query: async_graphql::Request) -> Option<String> {
        let _room = self.room.acquire().await.ok()?;
        let (schema, runtime) = (self.schema.clone(), tokio::runtime::Handle::current());
        let work = move || {
            let executing = tokio::time::timeout(DEADLINE, schema.execute(query));
            let reply = runtime.block_on(executing).ok()?;
            serde_json::to_string(&reply).ok()
        };
        tokio::task::spawn_blocking(work).await.ok()?
    }
}

/// The query with its document parsed, if that costs no more than is allowed. A document that
/// does not parse is left to the execution, which says where it is wrong.
fn affordable(mut query: async_graphql::Request) -> Result<async_graphql::Request, String> {
    cost::check_nesting(&query.query).map_err(|error| error.to_string())?;
    if let Ok(document) = parse_query(&query.query) {
        cost::check_fields(&document).map_err(|error| error.to_string())?;
        query.set_parsed_query(document);
    }
    Ok(query)
}

/// A form of a web page could send `text/plain` without asking first, so only JSON is taken.
fn is_json(headers: &HeaderMap) -> bool {
    let media_type =
        headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let essence = media_type.split(';').next().unwrap_or_default();
    essence.trim().eq_ignore_ascii_case("application/json")
}

fn later(status: StatusCode, message: &str) -> Response {
    let mut response = refused(status, message);
    response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("1"));
    response
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
