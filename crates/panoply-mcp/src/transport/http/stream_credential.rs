//! Streamed bodies whose credential is checked again while they arrive: a stream can last for
//! hours, and a key that is revoked meanwhile must not write on.

use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, BodyDataStream};
use bytes::Bytes;
use futures::StreamExt as _;
use http::HeaderMap;
use http::header::AUTHORIZATION;
use http::request::Parts;
use panoply_contract::context::Caller;
use tokio::time::Instant;

use crate::auth::{Admission, Credential, NotAdmitted};

/// Longest time between two checks of the credential of a stream from which data arrive.
const RECHECK: Duration = Duration::from_secs(5);

/// The credential of a stream is no longer valid for the caller whom it began as.
#[derive(Debug)]
pub struct CredentialEnded;

impl fmt::Display for CredentialEnded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the key or token of this stream is no longer valid")
    }
}

impl Error for CredentialEnded {}

impl CredentialEnded {
    /// Whether this is the cause of an error of a body.
    pub fn caused(error: &(dyn Error + 'static)) -> bool {
        error.is::<Self>() || error.source().is_some_and(Self::caused)
    }
}

/// The credential that a stream began with.
struct StreamCredential {
    access: Arc<dyn Admission>,
    headers: HeaderMap,
    path: String,
    caller: Caller,
    checked: Instant,
}

/// The body of a request that was admitted as `caller`. It fails with [`CredentialEnded`] when its
/// credential is refused or has come to mean another caller.
pub(super) fn checked_body(
    access: Arc<dyn Admission>,
    parts: &Parts,
    caller: &Caller,
    body: Body,
) -> Body {
    let bearer = parts.headers.get(AUTHORIZATION).map(|value| (AUTHORIZATION, value.clone()));
    let credential = StreamCredential {
        access,
        headers: bearer.into_iter().collect(),
        path: parts.uri.path().to_owned(),
        caller: caller.clone(),
        checked: Instant::now(),
    };
    let open = Some((body.into_data_stream(), credential));
    Body::from_stream(futures::stream::unfold(open, next_piece))
}

type Open = Option<(BodyDataStream, StreamCredential)>;

async fn next_piece(open: Open) -> Option<(Result<Bytes, axum::Error>, Open)> {
    let (mut pieces, mut credential) = open?;
    let piece = pieces.next().await?;
    if piece.is_ok() && !credential.is_still_valid().await {
        return Some((Err(axum::Error::new(CredentialEnded)), None));
    }
    Some((piece, Some((pieces, credential))))
}

impl StreamCredential {
    async fn is_still_valid(&mut self) -> bool {
        if self.checked.elapsed() < RECHECK {
            return true;
        }
        self.checked = Instant::now();
        match self.access.admit(Credential::of(&self.headers, &self.path)).await {
            Ok(admitted) => {
                let (now, then) = (&admitted.caller, &self.caller);
                now.partition == then.partition && now.tenants == then.tenants
            }
            // A store that cannot answer refuses no stream; the next check decides.
            Err(NotAdmitted::Unavailable) => true,
            Err(_) => false,
        }
    }
}
