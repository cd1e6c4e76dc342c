//! Bearer tokens over HTTP: valid ones of each algorithm, and forgeries.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use futures::future::BoxFuture;
use jsonwebtoken::{Algorithm, EncodingKey, Header};
use panoply_contract::tenant::{Principal, Tenants, workspace_key};
use panoply_contract::testing::{FixedClock, noon};
use panoply_mcp::auth::{
    Account, Accounts, Credentials, Issuer, JwksSource, JwksUnavailable, KeysUnavailable,
    TokenVerifier,
};
use serde_json::{Value, json};

use crate::key_pairs::*;
use crate::support::{Http, call, http, request};

const ISSUER: &str = "https://login.example.com/";
const RESOURCE: &str = "https://tools.example.com/mcp";

/// An issuer's key set that a test can change or make unavailable.
#[derive(Clone)]
struct KeySet {
    text: Arc<Mutex<Option<String>>>,
    fetches: Arc<AtomicUsize>,
}

impl KeySet {
    fn new(keys: &Value) -> Self {
        Self {
            text: Arc::new(Mutex::new(Some(json!({"keys": keys}).to_string()))),
            fetches: Arc::default(),
        }
    }

    fn become_(&self, text: Option<&str>) {
        *self.text.lock().unwrap() = text.map(str::to_owned);
    }

    fn fetched(&self) -> usize {
        self.fetches.load(Ordering::SeqCst)
    }
}

impl JwksSource for KeySet {
    fn fetch(&self) -> BoxFuture<'_, Result<String, JwksUnavailable>> {
        self.fetches.fetch_add(1, Ordering::SeqCst);
        let text = self.text.lock().unwrap().clone();
        Box::pin(std::future::ready(text.ok_or_else(|| JwksUnavailable("down".to_owned()))))
    }
}

/// Every subject has an account but one, and the accounts of one cannot be read.
struct SomeAccounts;

impl Accounts for SomeAccounts {
    fn account(
        &self,
        subject: &Principal,
        workspace: Option<&str>,
    ) -> Result<Option<Account>, KeysUnavailable> {
        let is = |name: &str| *subject == Principal::of_subject(ISSUER, name);
        if is("unreadable@example.com") {
            return Err(KeysUnavailable);
        }
        let known = !is("stranger@example.com")
            && workspace.is_none_or(|key| key == workspace_key(ISSUER, "blue"));
        Ok(known.then(|| Account { tenants: Tenants::default(), operator: false }))
    }
}

fn all_keys() -> Value {
    json!([
        {"kty": "RSA", "kid": "rsa", "n": RSA_N, "e": RSA_E, "use": "sig", "alg": "RS256"},
        {"kty": "EC", "kid": "ec", "crv": "P-256", "x": EC_X, "y": EC_Y},
        {"kty": "OKP", "kid": "ed", "crv": "Ed25519", "x": ED_X},
        {"kty": "RSA", "kid": "enc", "n": RSA_N, "e": RSA_E, "use": "enc"},
        {"kty": "oct", "kid": "shared", "k": "c2VjcmV0"},
        {"kty": "quantum", "kid": "future"},
    ])
}

fn private(text: &str) -> Vec<u8> {
    STANDARD.decode(text).unwrap()
}

fn claims() -> Value {
    let now = noon().as_second();
    json!({
        "iss": ISSUER, "sub": "ann@example.com", "aud": RESOURCE, "exp": now + 600, "nbf": now - 10, "iat": now - 10,
        "scope": "openid notes:read",
    })
}

fn with(name: &str, value: Value) -> Value {
    let mut claims = claims();
    claims[name] = value;
    claims
}

fn without(name: &str) -> Value {
    let mut claims = claims();
    claims.as_object_mut().unwrap().remove(name);
    claims
}

fn sign(algorithm: Algorithm, kid: Option<&str>, claims: &Value, key: &EncodingKey) -> String {
    let mut header = Header::new(algorithm);
    header.kid = kid.map(str::to_owned);
    jsonwebtoken::encode(&header, claims, key).unwrap()
}

fn rsa(claims: &Value) -> String {
    sign(Algorithm::RS256, Some("rsa"), claims, &EncodingKey::from_rsa_der(&private(RSA_PRIVATE)))
}

/// A token with custom header and claims, signed with RS256.
fn rsa_with_header(header: &Value, claims: &str) -> String {
    let signed = rsa(&self::claims());
    let signature = signed.rsplit('.').next().unwrap();
    format!("{}.{}.{signature}", encode(header.to_string()), encode(claims))
}

fn encode(text: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(text)
}

async fn server(keys: &KeySet, clock: Arc<FixedClock>) -> Http {
    let issuer = Issuer {
        issuer: ISSUER.to_owned(),
        resource: RESOURCE.to_owned(),
        scopes: vec!["notes:read".to_owned(), "notes:create".to_owned()],
    };
    let source: Arc<dyn JwksSource> = Arc::new(keys.clone());
    let tokens = TokenVerifier::new(issuer, source, Arc::new(SomeAccounts))
        .with_workspace_claim(Some("org".to_owned()));
    let tokens = Some(Arc::new(tokens));
    let credentials = Credentials { keys: None, tokens, clock };
    http(|options| {
        options.access = Arc::new(credentials);
        // The refusal must not depend on the rate limit.
        options.limits.bad_credentials = 10_000;
    })
    .await
}

async fn knock(server: &Http, path: &str, token: &str) -> crate::support::Reply {
    let header = format!("Bearer {token}");
    server.post(path, &[("Authorization", &header)], &request(1, "ping", json!({}))).await
}

#[tokio::test]
async fn tokens_of_each_allowed_algorithm_are_accepted() {
    let server = server(&KeySet::new(&all_keys()), FixedClock::at(noon())).await;
    let now = noon().as_second();
    let good = [
        ("RS256", "/mcp", rsa(&claims())),
        (
            "ES256",
            "/mcp",
            sign(
                Algorithm::ES256,
                Some("ec"),
                &claims(),
                &EncodingKey::from_ec_der(&private(EC_PRIVATE)),
            ),
        ),
        (
            "EdDSA",
            "/mcp",
            sign(
                Algorithm::EdDSA,
                Some("ed"),
                &claims(),
                &EncodingKey::from_ed_der(&private(ED_PRIVATE)),
            ),
        ),
        (
            "several audiences",
            "/mcp",
            rsa(&with("aud", json!(["https://other.example", RESOURCE]))),
        ),
        (
            "a pack's own audience",
            "/mcp/fixture",
            rsa(&with("aud", json!(format!("{RESOURCE}/fixture")))),
        ),
        ("just expired", "/mcp", rsa(&with("exp", json!(now - 59)))),
        ("nearly valid", "/mcp", rsa(&with("nbf", json!(now + 59)))),
        ("no nbf", "/mcp", rsa(&without("nbf"))),
        ("scp", "/mcp", rsa(&with("scp", json!(["notes:create"])))),
    ];
    for (name, path, token) in good {
        let reply = knock(&server, path, &token).await;
        assert_eq!(reply.status, 200, "token: {name}: {reply:?}");
    }
}

#[tokio::test]
async fn forged_and_invalid_tokens_get_the_same_refusal() {
    let server = server(&KeySet::new(&all_keys()), FixedClock::at(noon())).await;
    let now = noon().as_second();
    let public_key = json!({"kty": "RSA", "n": RSA_N, "e": RSA_E}).to_string();
    let stranger = EncodingKey::from_rsa_der(&private(STRANGER_PRIVATE));
    let rs = json!({"alg": "RS256", "kid": "rsa"});
    let jwk = json!({"kty": "RSA", "n": STRANGER_N, "e": RSA_E});
    let good = rsa(&claims());
    let (head_and_claims, signature) = good.rsplit_once('.').unwrap();
    let duplicated = format!("{{\"aud\":\"https://evil.example\",{}", &claims().to_string()[1..]);
    let mut embedded = Header::new(Algorithm::RS256);
    embedded.kid = Some("stranger".to_owned());
    embedded.jku = Some("https://evil.example/keys".to_owned());
    embedded.jwk = serde_json::from_value(jwk).ok();
    let embedded = jsonwebtoken::encode(&embedded, &claims(), &stranger).unwrap();

    let bad: Vec<(&str, String)> = vec![
        (
            "alg none",
            format!(
                "{}.{}.",
                encode(json!({"alg": "none", "kid": "rsa"}).to_string()),
                encode(claims().to_string())
            ),
        ),
        (
            "alg None",
            format!(
                "{}.{}.{signature}",
                encode(json!({"alg": "None", "kid": "rsa"}).to_string()),
                encode(claims().to_string())
            ),
        ),
        (
            "public key as shared secret",
            sign(
                Algorithm::HS256,
                Some("rsa"),
                &claims(),
                &EncodingKey::from_secret(public_key.as_bytes()),
            ),
        ),
        (
            "shared secret of the set",
            sign(Algorithm::HS256, Some("shared"), &claims(), &EncodingKey::from_secret(b"secret")),
        ),
        (
            "algorithm not allowed",
            sign(
                Algorithm::RS384,
                Some("rsa"),
                &claims(),
                &EncodingKey::from_rsa_der(&private(RSA_PRIVATE)),
            ),
        ),
        (
            "algorithm of another key",
            sign(
                Algorithm::RS256,
                Some("ec"),
                &claims(),
                &EncodingKey::from_rsa_der(&private(RSA_PRIVATE)),
            ),
        ),
        (
            "key for encryption",
            sign(
                Algorithm::RS256,
                Some("enc"),
                &claims(),
                &EncodingKey::from_rsa_der(&private(RSA_PRIVATE)),
            ),
        ),
        ("unknown key id", sign(Algorithm::RS256, Some("nobody"), &claims(), &stranger)),
        (
            "no key id",
            sign(
                Algorithm::RS256,
                None,
                &claims(),
                &EncodingKey::from_rsa_der(&private(RSA_PRIVATE)),
            ),
        ),
        (
            "a stranger's key under our id",
            sign(Algorithm::RS256, Some("rsa"), &claims(), &stranger),
        ),
        ("embedded foreign key", embedded),
        (
            "critical header",
            rsa_with_header(
                &json!({"alg": "RS256", "kid": "rsa", "crit": ["b64"]}),
                &claims().to_string(),
            ),
        ),
        ("claims changed", rsa_with_header(&rs, &with("scope", json!("*:admin")).to_string())),
        ("claim twice", rsa_with_header(&rs, &duplicated)),
        ("signature missing", format!("{head_and_claims}.")),
        ("signature cut", good[..good.len() - 4].to_owned()),
        ("wrong audience", rsa(&with("aud", json!("https://tools.example.com")))),
        ("audience of another pack", rsa(&with("aud", json!(format!("{RESOURCE}/other"))))),
        ("no audience", rsa(&without("aud"))),
        ("wrong issuer", rsa(&with("iss", json!("https://login.example.com")))),
        ("no issuer", rsa(&without("iss"))),
        ("expired", rsa(&with("exp", json!(now - 61)))),
        ("no expiry", rsa(&without("exp"))),
        ("expiry as text", rsa(&with("exp", json!("never")))),
        ("not yet valid", rsa(&with("nbf", json!(now + 61)))),
        ("issued in the future", rsa(&with("iat", json!(now + 3600)))),
        ("no subject", rsa(&without("sub"))),
        ("empty subject", rsa(&with("sub", json!("")))),
        ("huge", rsa(&with("pad", json!("x".repeat(9000))))),
        ("two parts", head_and_claims.to_owned()),
        ("five parts", format!("{good}.x.y")),
        ("not base64", "!!!.!!!.!!!".to_owned()),
        ("a word", "token".to_owned()),
        ("unknown API key", "pnp_a_b".to_owned()),
    ];
    assert!(bad.len() >= 24);
    for (name, token) in bad {
        let reply = knock(&server, "/mcp", &token).await;
        assert_eq!(reply.status, 401, "token: {name}: {reply:?}");
        let challenge = &reply.headers["www-authenticate"];
        let metadata = "resource_metadata=\"https://tools.example.com/.well-known/oauth-protected-resource/mcp\"";
        assert!(
            challenge.contains(metadata) && challenge.contains("scope=\"notes:read notes:create\""),
            "{challenge}"
        );
        assert!(challenge.contains("error=\"invalid_token\""), "token: {name}: {challenge}");
        assert!(
            !reply.body.contains("audience") && !reply.body.contains("signature"),
            "token: {name}: {reply:?}"
        );
    }
}

#[tokio::test]
async fn token_determines_the_caller_and_missing_scopes_are_named() {
    let server = server(&KeySet::new(&all_keys()), FixedClock::at(noon())).await;
    let header = format!("Bearer {}", rsa(&claims()));
    let headers = [("Authorization", header.as_str())];
    let reply =
        server.post("/mcp", &headers, &call(1, "echo-text", json!({"text": "x"}))).await.json();
    let user = reply["result"]["structuredContent"]["userId"].as_str().unwrap();
    assert!(user.starts_with("user_") && !user.contains("ann"), "{user}");
    let refused = server.post("/mcp", &headers, &call(2, "keep-note", json!({"text": "x"}))).await;
    assert_eq!(refused.status, 403);
    let challenge = &refused.headers["www-authenticate"];
    assert!(
        challenge.contains("insufficient_scope") && challenge.contains("scope=\"notes:create\""),
        "{challenge}"
    );
    assert_eq!(refused.json()["result"]["isError"], true);
    let powerless = knock(&server, "/mcp", &rsa(&with("scope", json!("openid email")))).await;
    assert_eq!(powerless.status, 403);
    assert!(powerless.headers["www-authenticate"].contains("insufficient_scope"));
}

#[tokio::test]
async fn resource_metadata_names_the_issuer() {
    let server = server(&KeySet::new(&all_keys()), FixedClock::at(noon())).await;
    let cases = [
        ("", RESOURCE.to_owned()),
        ("/mcp", RESOURCE.to_owned()),
        ("/mcp/fixture", format!("{RESOURCE}/fixture")),
    ];
    for (suffix, resource) in cases {
        let reply = server.get(&format!("/.well-known/oauth-protected-resource{suffix}")).await;
        let document = reply.json();
        assert_eq!(document["resource"], json!(resource), "suffix: {suffix}");
        assert_eq!(document["authorization_servers"], json!([ISSUER]));
        assert_eq!(document["scopes_supported"], json!(["notes:read", "notes:create"]));
        assert_eq!(document["bearer_methods_supported"], json!(["header"]));
    }
}

#[tokio::test]
async fn key_set_fetches_are_rate_limited_and_survive_outages() {
    let keys = KeySet::new(&all_keys());
    let clock = FixedClock::at(noon());
    let server = server(&keys, Arc::clone(&clock)).await;
    let good = rsa(&claims());
    let unknown = sign(
        Algorithm::RS256,
        Some("new"),
        &claims(),
        &EncodingKey::from_rsa_der(&private(RSA_PRIVATE)),
    );
    for _ in 0..5 {
        assert_eq!(knock(&server, "/mcp", &good).await.status, 200);
        assert_eq!(knock(&server, "/mcp", &unknown).await.status, 401);
    }
    assert_eq!(keys.fetched(), 1, "unknown ids within 30 s cause no fetch");

    clock.advance(Duration::from_secs(31));
    assert_eq!(knock(&server, "/mcp", &unknown).await.status, 401);
    assert_eq!(keys.fetched(), 2);

    for outage in [None, Some("<html>"), Some("{\"keys\": 5}")] {
        keys.become_(outage);
        clock.advance(Duration::from_secs(31));
        assert_eq!(knock(&server, "/mcp", &unknown).await.status, 401, "outage: {outage:?}");
        assert_eq!(knock(&server, "/mcp", &good).await.status, 200, "outage: {outage:?}");
    }

    let renewed =
        json!({"keys": [{"kty": "RSA", "kid": "new", "n": RSA_N, "e": RSA_E}]}).to_string();
    keys.become_(Some(&renewed));
    clock.advance(Duration::from_secs(31));
    assert_eq!(knock(&server, "/mcp", &unknown).await.status, 200);
    assert_eq!(knock(&server, "/mcp", &good).await.status, 401, "a withdrawn key stops working");
}

#[tokio::test]
async fn tokens_are_unverifiable_before_the_first_key_set() {
    let keys = KeySet::new(&all_keys());
    keys.become_(None);
    let server = server(&keys, FixedClock::at(noon())).await;
    let reply = knock(&server, "/mcp", &rsa(&claims())).await;
    assert_eq!(reply.status, 503);
    assert!(reply.headers.contains_key("retry-after"));
}

#[tokio::test]
async fn a_subject_without_an_account_is_refused() {
    let server = server(&KeySet::new(&all_keys()), FixedClock::at(noon())).await;
    let cases = [
        (with("sub", json!("stranger@example.com")), 403),
        (with("sub", json!("unreadable@example.com")), 503),
        (with("org", json!("blue")), 200),
        (with("org", json!("red")), 403),
        (with("org", json!("")), 401),
        (with("org", json!(["blue"])), 401),
        (with("org", Value::Null), 200),
    ];
    for (claims, status) in cases {
        let reply = knock(&server, "/mcp", &rsa(&claims)).await;
        assert_eq!(reply.status, status, "{claims}");
    }
}
