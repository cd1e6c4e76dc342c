//! Who is asking: API keys and bearer tokens over HTTP, turned into a [`Caller`].
//!
//! Credentials travel in the `Authorization` header and nowhere else: a query ends up in
//! logs and histories. A bad credential is always 401, and never says which part was bad.

mod jwks;
mod keys;
mod tokens;

use std::sync::Arc;

use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderValue, StatusCode};
use panoply_contract::clock::Clock;
use panoply_contract::context::Caller;

pub use jwks::{JwksSource, JwksUnavailable};
pub use keys::{ApiKey, BadKey, KeyHash, KeyStore};
pub use tokens::{Issuer, TokenVerifier};

/// Who may use the server.
pub enum Access {
    /// Everyone who reaches it is the local owner. Only allowed on loopback.
    LocalOwner,
    /// A valid key or token is needed.
    Credentials(Credentials),
}

/// The kinds of credential a server accepts. One at least must be there.
pub struct Credentials {
    /// API keys.
    pub keys: Option<Arc<dyn KeyStore>>,
    /// Tokens of an OAuth 2.1 issuer.
    pub tokens: Option<Arc<TokenVerifier>>,
    /// Decides what has expired.
    pub clock: Arc<dyn Clock>,
}

/// How a caller was recognised.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Proof {
    /// By being on this machine.
    Presence,
    /// By an API key, whose rights are fixed.
    Key,
    /// By a token, which the issuer may give more scopes.
    Token,
}

/// Why a request was turned away.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Denied {
    /// No credential came.
    Missing,
    /// One came and was not good; the reason is for the log.
    Invalid(&'static str),
    /// It is good, and allows nothing here.
    Powerless,
    /// It could not be checked, because the issuer's keys cannot be had.
    Unavailable,
}

impl Access {
    /// Whether anybody is let in without proof.
    pub(crate) const fn is_open(&self) -> bool {
        match self {
            Self::LocalOwner => true,
            Self::Credentials(credentials) => {
                credentials.keys.is_none() && credentials.tokens.is_none()
            }
        }
    }

    /// The issuer of tokens, where there is one.
    pub(crate) fn issuer(&self) -> Option<&Issuer> {
        match self {
            Self::LocalOwner => None,
            Self::Credentials(credentials) => {
                credentials.tokens.as_deref().map(TokenVerifier::issuer)
            }
        }
    }

    /// The caller behind a request to the resource at `path`.
    pub(crate) async fn caller(
        &self,
        headers: &HeaderMap,
        path: &str,
    ) -> Result<(Caller, Proof), Denied> {
        match self {
            Self::LocalOwner => Ok((Caller::local_owner(), Proof::Presence)),
            Self::Credentials(credentials) => credentials.caller(headers, path).await,
        }
    }
}

impl Credentials {
    async fn caller(&self, headers: &HeaderMap, path: &str) -> Result<(Caller, Proof), Denied> {
        let token = bearer_token(headers)?;
        let (caller, proof) = match (&self.keys, &self.tokens) {
            (Some(keys), _) if keys::looks_like_key(token) => {
                (keys::check(keys.as_ref(), token, self.clock.now())?, Proof::Key)
            }
            (_, Some(tokens)) => {
                (tokens.check(token, path, self.clock.as_ref()).await?, Proof::Token)
            }
            (_, None) => return Err(Denied::Invalid("not one of our keys, and no issuer is set")),
        };
        let grants_nothing = caller.grants.to_string().is_empty();
        if grants_nothing { Err(Denied::Powerless) } else { Ok((caller, proof)) }
    }
}

impl Denied {
    pub(crate) const fn status(&self) -> StatusCode {
        match self {
            Self::Missing | Self::Invalid(_) => StatusCode::UNAUTHORIZED,
            Self::Powerless => StatusCode::FORBIDDEN,
            Self::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    pub(crate) const fn message(&self) -> &'static str {
        match self {
            Self::Missing => "send a key or token in the `Authorization: Bearer` header",
            Self::Invalid(_) => "the key or token is not valid",
            Self::Powerless => "the token carries no scope that this server knows",
            Self::Unavailable => "tokens cannot be checked at the moment; try again",
        }
    }

    /// The `WWW-Authenticate` of RFC 6750 and RFC 9728.
    pub(crate) fn challenge(&self, issuer: Option<&Issuer>, path: &str) -> Option<HeaderValue> {
        let error = match self {
            Self::Missing => "",
            Self::Invalid(_) => "invalid_token",
            Self::Powerless => "insufficient_scope",
            Self::Unavailable => return None,
        };
        Some(challenge(error, issuer, None, path))
    }
}

/// A `Bearer` challenge. Clients start their login from the metadata it names; without
/// `scopes` they are told all that exist. Without credentials there is no `error`.
pub(crate) fn challenge(
    error: &str,
    issuer: Option<&Issuer>,
    scopes: Option<&[&str]>,
    path: &str,
) -> HeaderValue {
    let mut parts = Vec::new();
    if !error.is_empty() {
        parts.push(format!("error=\"{error}\""));
    }
    if let Some(issuer) = issuer {
        parts.push(format!("resource_metadata=\"{}\"", issuer.metadata_url(path)));
        let scopes = scopes.map_or_else(|| issuer.scopes.join(" "), |scopes| scopes.join(" "));
        parts.push(format!("scope=\"{scopes}\""));
    }
    let text =
        if parts.is_empty() { "Bearer".to_owned() } else { format!("Bearer {}", parts.join(", ")) };
    HeaderValue::try_from(text).unwrap_or(HeaderValue::from_static("Bearer"))
}

fn bearer_token(headers: &HeaderMap) -> Result<&str, Denied> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let value = values.next().ok_or(Denied::Missing)?;
    if values.next().is_some() {
        return Err(Denied::Invalid("two Authorization headers"));
    }
    let text = value.to_str().map_err(|_| Denied::Invalid("header is not ASCII"))?;
    let (scheme, token) = text.split_once(' ').ok_or(Denied::Invalid("no scheme"))?;
    if !scheme.eq_ignore_ascii_case("bearer") {
        return Err(Denied::Invalid("scheme is not Bearer"));
    }
    let token = token.trim();
    let is_one_word = !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic());
    if is_one_word { Ok(token) } else { Err(Denied::Invalid("not one word")) }
}
