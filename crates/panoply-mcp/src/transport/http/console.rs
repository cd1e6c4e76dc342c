//! The console: a page at `/console` for calling every tool without an agent.
//!
//! The page is public and holds no data. It fetches its content from `/mcp`, which requires a key
//! where the server has keys.

use axum::Router;
use axum::body::Body;
use axum::extract::Path;
use axum::response::Response;
use axum::routing::get;
use http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderMap, HeaderValue, StatusCode};
use rmcp::model::ErrorCode;

use super::reply;
use crate::widgets;

/// CSP of the console: own scripts and styles only, connections to this server only, frames of
/// widget pages only, and no framing of the console.
const CONSOLE_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
     connect-src 'self'; img-src 'self' data:; frame-src 'self'; base-uri 'none'; \
     form-action 'none'; frame-ancestors 'none'";
/// CSP of widget pages: one file with an inline script, an opaque origin, no network, framed only
/// by the console.
const PAGE_POLICY: &str = "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; \
     style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; \
     frame-ancestors 'self'";

pub(super) const HTML: &str = "text/html; charset=utf-8";
pub(super) const CSS: &str = "text/css; charset=utf-8";
pub(super) const JAVASCRIPT: &str = "text/javascript; charset=utf-8";

/// Routes of the console, its script and style, and the widget pages.
pub(super) fn routes() -> Router {
    let own = |kind, text| move || std::future::ready(file(kind, CONSOLE_POLICY, text));
    Router::new()
        .route("/console", get(own(HTML, include_str!("../../../../../widgets/dist/console.html"))))
        .route(
            "/console.js",
            get(own(JAVASCRIPT, include_str!("../../../../../widgets/dist/console.js"))),
        )
        .route(
            "/console.css",
            get(own(CSS, include_str!("../../../../../widgets/dist/console.css"))),
        )
        .route("/console/pages/{file}", get(page))
}

async fn page(Path(name): Path<String>) -> Response {
    match widgets::html_of(&name) {
        Some(html) => file(HTML, PAGE_POLICY, html),
        None => reply::refusal(
            StatusCode::NOT_FOUND,
            ErrorCode::INVALID_REQUEST,
            "no such page; the console is at `/console`",
        ),
    }
}

pub(super) fn file(kind: &'static str, policy: &'static str, text: &'static str) -> Response {
    let mut response = Response::new(Body::from(text));
    let headers: &mut HeaderMap = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(policy));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    // The files change with the program, but their names do not.
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response
}
