//! `GET /users` of `panoply http`: the users and workspaces of this server, for its operators.
//! Users are changed on the command line only.

use std::sync::Arc;

use axum::extract::{Extension, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use axum::{Json, Router};
use panoply_contract::context::Caller;
use serde_json::json;

use super::keys::StoredKeys;

pub(super) fn routes(users: &Arc<StoredKeys>) -> Router {
    Router::new().route("/users", get(list)).with_state(Arc::clone(users))
}

async fn list(
    State(users): State<Arc<StoredKeys>>,
    Extension(caller): Extension<Caller>,
) -> Response {
    if let Err(error) = caller.require_users() {
        return refusal(StatusCode::FORBIDDEN, &error.code, &error.message);
    }
    let listed = tokio::task::spawn_blocking(move || users.list_users()).await;
    let unread = |cause: &dyn std::fmt::Display| {
        tracing::error!(%cause, "users cannot be read");
        refusal(StatusCode::SERVICE_UNAVAILABLE, "UNAVAILABLE", "the users cannot be read")
    };
    match listed {
        Ok(Ok(users)) => Json(json!({"users": users})).into_response(),
        Ok(Err(error)) => unread(&error.chain()),
        Err(error) => unread(&error),
    }
}

pub(super) fn refusal(status: StatusCode, code: &str, message: &str) -> Response {
    (status, Json(json!({"error": {"code": code, "message": message}}))).into_response()
}
