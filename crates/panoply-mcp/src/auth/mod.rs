//! Authentication over HTTP: maps API keys and bearer tokens to a [`Caller`].
//!
//! Credentials are accepted only in the `Authorization` header: query strings end up in logs and
//! histories. An invalid credential is always 401, without stating which part is invalid.

mod jwks;
mod keys;
mod tokens;

use std::sync::Arc;

use futures::future::BoxFuture;
use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderValue, StatusCode};
use panoply_contract::clock::Clock;
use panoply_contract::context::Caller;

pub use jwks::{JwksSource, JwksUnavailable};
pub use keys::{ApiKey, BadKey, KeyHash, KeyStore, KeysUnavailable};
pub use tokens::{Account, Accounts, Issuer, TokenVerifier};

/// Authenticates requests. Called once per request, before the body is read.
pub trait Admission: Send + Sync + 'static {
    /// Authenticates a credential. One step returns the caller, the tenants and, if the store has
    /// them, the versions of their data, so that a shared store needs one round trip. A store that
    /// cannot answer is [`NotAdmitted::Unavailable`], which is 503 and not 401.
    fn admit<'a>(
        &'a self,
        credential: Credential<'a>,
    ) -> BoxFuture<'a, Result<Admitted, NotAdmitted>>;

    /// Whether requests without a credential are currently admitted.
    fn is_open(&self) -> bool;

    /// The token issuer, if one is configured.
    fn issuer(&self) -> Option<&Issuer> {
        None
    }
}

/// Credential of a request.
#[derive(Clone, Copy, Debug)]
pub struct Credential<'a> {
    bearer: Bearer<'a>,
    /// Path of the request: the audience of a token may be one pack.
    path: &'a str,
}

#[derive(Clone, Copy, Debug)]
enum Bearer<'a> {
    Missing,
    Token(&'a str),
    Malformed(&'static str),
}

/// An authenticated caller.
#[derive(Clone, Debug)]
pub struct Admitted {
    /// The authenticated caller.
    pub caller: Caller,
    /// Method of authentication.
    pub proof: Proof,
}

/// Method of authentication.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Proof {
    /// Local access without a credential.
    Presence,
    /// API key, with fixed permissions.
    Key,
    /// Token, for which the issuer can grant more scopes.
    Token,
}

/// Authentication failure.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum NotAdmitted {
    /// No credential was sent.
    Missing,
    /// The credential is invalid; the reason goes to the log.
    Invalid(&'static str),
    /// The credential is valid but grants no permission here.
    Powerless,
    /// The token is valid, but its subject has no account here.
    NoAccount,
    /// The credential could not be checked: the key store or the issuer is unavailable.
    Unavailable,
}

/// Admits every request as the local owner. Only for loopback.
#[derive(Clone, Copy, Debug, Default)]
pub struct LocalOwner;

impl LocalOwner {
    /// The local owner, authenticated by local access.
    pub fn admitted() -> Admitted {
        Admitted { caller: Caller::local_owner(), proof: Proof::Presence }
    }
}

impl Admission for LocalOwner {
    fn admit<'a>(
        &'a self,
        _credential: Credential<'a>,
    ) -> BoxFuture<'a, Result<Admitted, NotAdmitted>> {
        Box::pin(std::future::ready(Ok(Self::admitted())))
    }

    fn is_open(&self) -> bool {
        true
    }
}

/// Admits callers with a valid key or token. At least one of the two must be configured.
pub struct Credentials {
    /// API keys.
    pub keys: Option<Arc<dyn KeyStore>>,
    /// Tokens of an OAuth 2.1 issuer.
    pub tokens: Option<Arc<TokenVerifier>>,
    /// Clock for expiry.
    pub clock: Arc<dyn Clock>,
}

impl Admission for Credentials {
    fn admit<'a>(
        &'a self,
        credential: Credential<'a>,
    ) -> BoxFuture<'a, Result<Admitted, NotAdmitted>> {
        Box::pin(self.check(credential))
    }

    fn is_open(&self) -> bool {
        self.keys.is_none() && self.tokens.is_none()
    }

    fn issuer(&self) -> Option<&Issuer> {
        self.tokens.as_deref().map(TokenVerifier::issuer)
    }
}

impl Credentials {
    async fn check(&self, credential: Credential<'_>) -> Result<Admitted, NotAdmitted> {
        let token = match credential.bearer {
            Bearer::Missing => return Err(NotAdmitted::Missing),
            Bearer::Malformed(why) => return Err(NotAdmitted::Invalid(why)),
            Bearer::Token(token) => token,
        };
        let (caller, proof) = match (&self.keys, &self.tokens) {
            (Some(keys), _) if keys::looks_like_key(token) => {
                (keys::check(keys, token, self.clock.now()).await?, Proof::Key)
            }
            (_, Some(tokens)) => {
                let path = credential.path;
                (tokens.check(token, path, self.clock.as_ref()).await?, Proof::Token)
            }
            (_, None) => {
                return Err(NotAdmitted::Invalid("not one of our keys, and no issuer is set"));
            }
        };
        let grants_nothing = caller.grants.to_string().is_empty();
        if grants_nothing { Err(NotAdmitted::Powerless) } else { Ok(Admitted { caller, proof }) }
    }
}

impl<'a> Credential<'a> {
    /// Returns the id of a refused key if the key exists. The id of an unknown key is withheld:
    /// it may be part of a secret that was pasted by mistake.
    pub(crate) fn known_key_id(&self, denied: &NotAdmitted) -> Option<&'a str> {
        let is_ours = matches!(denied, NotAdmitted::Invalid(keys::REVOKED | keys::EXPIRED));
        match self.bearer {
            Bearer::Token(token) if is_ours => keys::id_of(token),
            Bearer::Token(_) | Bearer::Missing | Bearer::Malformed(_) => None,
        }
    }

    /// Parses the `Authorization` header of a request to `path`.
    pub(crate) fn of(headers: &'a HeaderMap, path: &'a str) -> Self {
        let mut values = headers.get_all(AUTHORIZATION).iter();
        let bearer = match (values.next(), values.next()) {
            (None, _) => Bearer::Missing,
            (Some(_), Some(_)) => Bearer::Malformed("two Authorization headers"),
            (Some(value), None) => Bearer::of(value),
        };
        Self { bearer, path }
    }
}

impl<'a> Bearer<'a> {
    fn of(value: &'a HeaderValue) -> Self {
        let Ok(text) = value.to_str() else { return Self::Malformed("header is not ASCII") };
        let Some((scheme, token)) = text.split_once(' ') else {
            return Self::Malformed("no scheme");
        };
        if !scheme.eq_ignore_ascii_case("bearer") {
            return Self::Malformed("scheme is not Bearer");
        }
        let token = token.trim();
        let is_one_word = !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic());
        if is_one_word { Self::Token(token) } else { Self::Malformed("not one word") }
    }
}

impl NotAdmitted {
    /// Code for the audit log; `None` for a failure of the server.
    pub(crate) fn audit_code(&self) -> Option<&'static str> {
        match self {
            Self::Missing => Some("CREDENTIAL_MISSING"),
            Self::Invalid(keys::UNKNOWN) => Some("KEY_UNKNOWN"),
            Self::Invalid(keys::REVOKED) => Some("KEY_REVOKED"),
            Self::Invalid(keys::EXPIRED) => Some("KEY_EXPIRED"),
            Self::Invalid(_) => Some("TOKEN_INVALID"),
            Self::Powerless => Some("SCOPE_MISSING"),
            Self::NoAccount => Some("ACCOUNT_MISSING"),
            Self::Unavailable => None,
        }
    }

    pub(crate) const fn status(&self) -> StatusCode {
        match self {
            Self::Missing | Self::Invalid(_) => StatusCode::UNAUTHORIZED,
            Self::Powerless | Self::NoAccount => StatusCode::FORBIDDEN,
            Self::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    pub(crate) const fn message(&self) -> &'static str {
        match self {
            Self::Missing => "send a key or token in the `Authorization: Bearer` header",
            Self::Invalid(_) => "the key or token is not valid",
            Self::Powerless => "the token carries no scope that this server knows",
            Self::NoAccount => {
                "the subject of the token has no account on this server; ask its operator to add it"
            }
            Self::Unavailable => "keys and tokens cannot be checked now; try again",
        }
    }

    /// Value of `WWW-Authenticate` (RFC 6750, RFC 9728).
    pub(crate) fn challenge(&self, issuer: Option<&Issuer>, path: &str) -> Option<HeaderValue> {
        let error = match self {
            Self::Missing => "",
            Self::Invalid(_) => "invalid_token",
            Self::Powerless => "insufficient_scope",
            Self::NoAccount | Self::Unavailable => return None,
        };
        Some(challenge(error, issuer, None, path))
    }
}

/// Formats a `Bearer` challenge. Clients start their login from the metadata URL; without
/// `scopes` all supported scopes are listed. Without credentials there is no `error`.
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
