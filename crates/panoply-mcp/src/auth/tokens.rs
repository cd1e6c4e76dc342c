//! JWT bearer tokens: signature, audience and validity (RFC 9068, RFC 8707).
//!
//! Only RS256, ES256 and EdDSA are accepted, each with its own key type, so a public key can
//! never be used as an HMAC secret. Keys come only from the issuer's key set: `jku`, `x5u` and
//! `jwk` in a token header are ignored.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::{Algorithm, Validation};
use panoply_contract::clock::Clock;
use panoply_contract::context::{Caller, Provenance};
use panoply_contract::permission::Grants;
use panoply_contract::tenant::{DataVersions, Principal, Tenants, workspace_key};
use serde::Deserialize;
use serde_json::Value;

use super::NotAdmitted;
use super::jwks::{Jwks, JwksSource, KeyLookup};
use super::keys::{KeysUnavailable, look_up};

/// The authorization server whose tokens are accepted.
#[derive(Clone, Debug)]
pub struct Issuer {
    /// Issuer identifier, compared exactly with `iss`.
    pub issuer: String,
    /// Public URL of this server, such as `https://tools.example.com/mcp`. The audience of a
    /// token must be this URL or the URL of a pack below it.
    pub resource: String,
    /// Supported scopes: the permissions of the tools.
    pub scopes: Vec<String>,
}

/// Accounts of token subjects. Queried for every token, so a removed user stops working at once.
pub trait Accounts: Send + Sync + 'static {
    /// The account of a subject; `None` if it has none. `workspace` identifies the workspace that
    /// the token names.
    fn account(
        &self,
        subject: &Principal,
        workspace: Option<&str>,
    ) -> Result<Option<Account>, KeysUnavailable>;
}

/// Account of a token subject.
#[derive(Clone, Debug)]
pub struct Account {
    /// Whose data its calls read and change.
    pub tenants: Tenants,
    /// Whether the user operates the server.
    pub operator: bool,
}

/// Verifies tokens of one issuer.
pub struct TokenVerifier {
    issuer: Issuer,
    /// Name of the issuer in the audit log.
    label: Arc<str>,
    keys: Jwks,
    accounts: Arc<dyn Accounts>,
    workspace_claim: Option<String>,
}

/// Tokens have one or two kilobytes. Longer ones are refused before any parsing.
const MAX_TOKEN_BYTES: usize = 8 * 1024;
/// Allowed clock skew in seconds.
const LEEWAY: f64 = 60.0;

impl TokenVerifier {
    /// Creates a verifier that fetches the issuer's keys from `source` for the first token.
    pub fn new(issuer: Issuer, source: Arc<dyn JwksSource>, accounts: Arc<dyn Accounts>) -> Self {
        let label = format!("issuer {}", issuer.issuer).into();
        Self { issuer, label, keys: Jwks::new(source), accounts, workspace_claim: None }
    }

    /// Names the claim with the caller's workspace.
    #[must_use]
    pub fn with_workspace_claim(mut self, claim: Option<String>) -> Self {
        self.workspace_claim = claim;
        self
    }

    /// The accepted issuer.
    pub(super) const fn issuer(&self) -> &Issuer {
        &self.issuer
    }

    /// Verifies a token that was sent to the resource at `path` and returns its caller.
    pub(super) async fn check(
        &self,
        token: &str,
        path: &str,
        clock: &dyn Clock,
    ) -> Result<Caller, NotAdmitted> {
        if token.len() > MAX_TOKEN_BYTES {
            return Err(NotAdmitted::Invalid("token is too long"));
        }
        let header = read_header(token)?;
        let algorithm = header.algorithm()?;
        let key_id = header.kid.ok_or(NotAdmitted::Invalid("no key id"))?;
        let key = match self.keys.find(&key_id, clock).await {
            KeyLookup::Key(key) => key,
            KeyLookup::Unknown => return Err(NotAdmitted::Invalid("unknown key id")),
            KeyLookup::Unavailable => return Err(NotAdmitted::Unavailable),
        };
        if key.algorithm != algorithm {
            return Err(NotAdmitted::Invalid("algorithm is not the key's"));
        }
        let claims = jsonwebtoken::decode::<Claims>(token, &key.key, &signature_only(algorithm))
            .map_err(|_| NotAdmitted::Invalid("signature or claims are malformed"))?
            .claims;
        self.check_claims(&claims, path, clock.now().as_second())?;
        self.caller(claims).await
    }

    fn check_claims(&self, claims: &Claims, path: &str, now: i64) -> Result<(), NotAdmitted> {
        #[expect(clippy::cast_precision_loss, reason = "seconds since 1970 fit a double")]
        let now = now as f64;
        if claims.iss != self.issuer.issuer {
            return Err(NotAdmitted::Invalid("wrong issuer"));
        }
        if !claims.aud.names(&self.issuer.resource)
            && !claims.aud.names(&self.issuer.resource_at(path))
        {
            return Err(NotAdmitted::Invalid("wrong audience"));
        }
        if claims.exp + LEEWAY <= now {
            return Err(NotAdmitted::Invalid("expired"));
        }
        let not_yet = |time: Option<f64>| time.is_some_and(|time| time - LEEWAY > now);
        if not_yet(claims.nbf) || not_yet(claims.iat) {
            return Err(NotAdmitted::Invalid("not valid yet"));
        }
        Ok(())
    }

    async fn caller(&self, claims: Claims) -> Result<Caller, NotAdmitted> {
        if claims.sub.is_empty() {
            return Err(NotAdmitted::Invalid("no subject"));
        }
        let scopes = claims.scope.into_iter().chain(claims.scp.map(OneOrMany::joined));
        let scopes = scopes.collect::<Vec<_>>().join(" ");
        let grants = Grants::from_patterns(scopes.split_ascii_whitespace());
        let workspace = self.workspace(&claims.iss, &claims.others)?;
        let principal = Principal::of_subject(&claims.iss, &claims.sub);
        let (accounts, subject) = (Arc::clone(&self.accounts), principal.clone());
        let account = look_up(move || {
            let found = accounts.account(&subject, workspace.as_deref());
            found.map_err(|KeysUnavailable| NotAdmitted::Unavailable)
        });
        let account = account.await?.ok_or(NotAdmitted::NoAccount)?;
        Ok(Caller {
            partition: account.tenants.partition("sub"),
            principal: Some(principal),
            tenants: account.tenants,
            data_versions: DataVersions::default(),
            // The issuer alone does not make an operator.
            operator: account.operator && grants.allow("audit:admin"),
            grants,
            provenance: Provenance { address: None, credential: Some(Arc::clone(&self.label)) },
        })
    }

    /// The key of the workspace that a token names.
    fn workspace(
        &self,
        issuer: &str,
        claims: &serde_json::Map<String, Value>,
    ) -> Result<Option<String>, NotAdmitted> {
        let Some(claim) = &self.workspace_claim else { return Ok(None) };
        match claims.get(claim) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(name)) if !name.is_empty() => Ok(Some(workspace_key(issuer, name))),
            Some(_) => Err(NotAdmitted::Invalid("the workspace claim is not a text")),
        }
    }
}

impl Issuer {
    /// Returns the OAuth resource of `path`; `/mcp/rmf` is a separate resource.
    pub(crate) fn resource_at(&self, path: &str) -> String {
        match path.strip_prefix("/mcp/").filter(|pack| !pack.is_empty() && !pack.contains('/')) {
            Some(pack) => format!("{}/{pack}", self.resource.trim_end_matches('/')),
            None => self.resource.clone(),
        }
    }

    /// Returns the metadata URL of that resource (RFC 9728 §3.1).
    pub(crate) fn metadata_url(&self, path: &str) -> String {
        let resource = self.resource_at(path);
        let after_scheme = resource.find("://").map_or(0, |at| at + 3);
        let path_at = resource
            .get(after_scheme..)
            .and_then(|rest| rest.find('/'))
            .map(|at| after_scheme + at);
        let (origin, path) = resource.split_at(path_at.unwrap_or(resource.len()));
        format!("{origin}/.well-known/oauth-protected-resource{path}")
    }
}

#[derive(Deserialize)]
struct Header {
    alg: String,
    kid: Option<String>,
    crit: Option<Value>,
}

impl Header {
    fn algorithm(&self) -> Result<Algorithm, NotAdmitted> {
        if self.crit.is_some() {
            return Err(NotAdmitted::Invalid("unknown critical header"));
        }
        match self.alg.as_str() {
            "RS256" => Ok(Algorithm::RS256),
            "ES256" => Ok(Algorithm::ES256),
            "EdDSA" => Ok(Algorithm::EdDSA),
            _ => Err(NotAdmitted::Invalid("algorithm is not allowed")),
        }
    }
}

/// `derive` refuses duplicate claims, which parsers resolve differently.
#[derive(Deserialize)]
struct Claims {
    iss: String,
    sub: String,
    aud: OneOrMany,
    exp: f64,
    nbf: Option<f64>,
    iat: Option<f64>,
    scope: Option<String>,
    scp: Option<OneOrMany>,
    #[serde(flatten)]
    others: serde_json::Map<String, Value>,
}

/// A string or a list of strings.
#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

impl OneOrMany {
    fn names(&self, word: &str) -> bool {
        match self {
            Self::One(only) => only == word,
            Self::Many(all) => all.iter().any(|one| one == word),
        }
    }

    fn joined(self) -> String {
        match self {
            Self::One(only) => only,
            Self::Many(all) => all.join(" "),
        }
    }
}

fn read_header(token: &str) -> Result<Header, NotAdmitted> {
    let parts = token.split('.').collect::<Vec<_>>();
    let [header, _claims, _signature] = parts.as_slice() else {
        return Err(NotAdmitted::Invalid("not three parts"));
    };
    let json = URL_SAFE_NO_PAD
        .decode(header)
        .map_err(|_| NotAdmitted::Invalid("header is not base64url"))?;
    serde_json::from_slice(&json).map_err(|_| NotAdmitted::Invalid("header is malformed"))
}

/// Verifies the signature only; claims are checked in this module with an injectable clock.
fn signature_only(algorithm: Algorithm) -> Validation {
    let mut validation = Validation::new(algorithm);
    validation.required_spec_claims.clear();
    validation.validate_exp = false;
    validation.validate_nbf = false;
    validation.validate_aud = false;
    validation
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resource_metadata_url_is_below_the_origin() {
        let cases = [
            (
                "https://t.example/mcp",
                "/mcp",
                "https://t.example/.well-known/oauth-protected-resource/mcp",
            ),
            (
                "https://t.example/mcp",
                "/mcp/rmf",
                "https://t.example/.well-known/oauth-protected-resource/mcp/rmf",
            ),
            ("https://t.example", "/mcp", "https://t.example/.well-known/oauth-protected-resource"),
            (
                "https://t.example:8443/a/mcp",
                "/metrics",
                "https://t.example:8443/.well-known/oauth-protected-resource/a/mcp",
            ),
        ];
        for (resource, path, expected) in cases {
            let issuer =
                Issuer { issuer: String::new(), resource: resource.to_owned(), scopes: Vec::new() };
            assert_eq!(issuer.metadata_url(path), expected, "resource: {resource}, path: {path}");
        }
    }
}
