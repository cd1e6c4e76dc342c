//! The apps: pages for people at `/`, `/rmf`, `/cgt`, `/study`, `/runs` and `/herbs`.
//!
//! One document for all of them; its script reads the address. The files are public and hold no
//! data: a page calls the tools through `/mcp`, which requires a key where the server has keys.

use axum::Router;
use axum::extract::Path;
use axum::response::Response;
use axum::routing::get;
use http::StatusCode;
use rmcp::model::ErrorCode;

use super::console::{CSS, HTML, JAVASCRIPT, file};
use super::reply;

/// CSP of the apps: own scripts and styles only, connections to this server only, pictures and
/// sounds of cards as data, the service worker of Study, no framing.
const APP_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
     connect-src 'self'; img-src 'self' data:; media-src data:; worker-src 'self'; \
     manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const PATHS: [&str; 6] = ["/", "/rmf", "/cgt", "/study", "/runs", "/herbs"];

const DOCUMENT: &str = include_str!("../../../../../widgets/dist/app.html");

/// Scripts and styles by name, as `widgets/build.mjs` writes them.
const FILES: [(&str, &str, &str); 9] = [
    ("app.css", CSS, include_str!("../../../../../widgets/dist/app.css")),
    ("app.js", JAVASCRIPT, include_str!("../../../../../widgets/dist/app.js")),
    ("app-funds.js", JAVASCRIPT, include_str!("../../../../../widgets/dist/app-funds.js")),
    ("app-herbs.js", JAVASCRIPT, include_str!("../../../../../widgets/dist/app-herbs.js")),
    ("app-math.js", JAVASCRIPT, include_str!("../../../../../widgets/dist/app-math.js")),
    ("app-runs.js", JAVASCRIPT, include_str!("../../../../../widgets/dist/app-runs.js")),
    ("app-study.js", JAVASCRIPT, include_str!("../../../../../widgets/dist/app-study.js")),
    ("app-tax.js", JAVASCRIPT, include_str!("../../../../../widgets/dist/app-tax.js")),
    ("icon.svg", SVG, include_str!("../../../../../widgets/dist/icon.svg")),
];

const SVG: &str = "image/svg+xml";
const MANIFEST: &str = "application/manifest+json";

/// Makes Study installable.
const MANIFEST_FILE: &str = include_str!("../../../../../widgets/dist/manifest.webmanifest");

/// The service worker of Study, at the root so that it may keep `/study`.
const WORKER: &str = include_str!("../../../../../widgets/dist/sw.js");

/// Routes of the apps and their files.
pub(super) fn routes() -> Router {
    let document = || std::future::ready(file(HTML, APP_POLICY, DOCUMENT));
    PATHS
        .into_iter()
        .fold(Router::new(), |router, path| router.route(path, get(document)))
        .route("/app/{file}", get(asset))
        .route("/sw.js", get(async || file(JAVASCRIPT, APP_POLICY, WORKER)))
        .route("/manifest.webmanifest", get(async || file(MANIFEST, APP_POLICY, MANIFEST_FILE)))
}

async fn asset(Path(name): Path<String>) -> Response {
    match FILES.iter().find(|(known, ..)| *known == name) {
        Some((_, kind, text)) => file(kind, APP_POLICY, text),
        None => reply::refusal(
            StatusCode::NOT_FOUND,
            ErrorCode::INVALID_REQUEST,
            "no such file; the apps are at `/`",
        ),
    }
}
