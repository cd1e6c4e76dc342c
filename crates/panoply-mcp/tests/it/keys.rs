//! API keys over HTTP: permissions of each profile, and refusals without a key.

use std::sync::{Arc, Mutex};

use panoply_contract::permission::{Grants, Profile};
use panoply_contract::tenant::{Principal, Tenants};
use panoply_mcp::auth::{ApiKey, Credentials, KeyHash, KeyStore, KeysUnavailable};
use serde_json::{Value, json};

use crate::support::{Http, call, clock, http, request};

/// In-memory keys that a test can revoke.
#[derive(Clone, Default)]
struct Keys(Arc<Mutex<Vec<ApiKey>>>);

impl KeyStore for Keys {
    fn key(&self, id: &str) -> Result<Option<ApiKey>, KeysUnavailable> {
        Ok(self.0.lock().unwrap().iter().find(|key| key.id == id).cloned())
    }
}

impl Keys {
    fn add(&self, id: &str, grants: Grants) -> String {
        let text = ApiKey::text(id, [7; 32]).unwrap();
        self.0.lock().unwrap().push(ApiKey {
            name: "test".to_owned(),
            id: id.to_owned(),
            hash: KeyHash::of(&text),
            principal: Principal::of_key(&format!("user_{id}")),
            tenants: Tenants::default(),
            operator: false,
            grants,
            expires: None,
            revoked: false,
        });
        format!("Bearer {text}")
    }
}

async fn server(keys: &Keys) -> Http {
    let store: Arc<dyn KeyStore> = Arc::new(keys.clone());
    let credentials = Credentials { keys: Some(store), tokens: None, clock: clock() };
    http(|options| options.access = Arc::new(credentials)).await
}

#[tokio::test]
async fn key_determines_the_caller_and_its_tools() {
    let keys = Keys::default();
    let agent = keys.add("agent", Grants::of(Profile::Agent));
    let reader = keys.add("reader", Grants::of(Profile::Reader));
    let server = server(&keys).await;
    let list = request(1, "tools/list", json!({}));
    let note = call(2, "keep-note", json!({"text": "x"}));
    for (key, writes) in [(&agent, true), (&reader, false)] {
        let headers = [("Authorization", key.as_str())];
        let listed = server.post("/mcp", &headers, &list).await;
        assert_eq!(listed.body.contains("keep-note"), writes, "key: {key}");
        let reply = server.post("/mcp", &headers, &note).await;
        // A key cannot get more scopes, so this is an ordinary error.
        assert_eq!(reply.status, 200);
        assert_eq!(reply.json()["result"]["isError"], json!(!writes), "key: {key}: {reply:?}");
    }
    let headers = [("Authorization", agent.as_str())];
    let reply =
        server.post("/mcp", &headers, &call(3, "echo-text", json!({"text": "x"}))).await.json();
    assert_eq!(reply["result"]["structuredContent"]["userId"], "user_agent");
}

#[tokio::test]
async fn without_a_valid_key_only_health_answers() {
    let keys = Keys::default();
    let good = keys.add("good", Grants::of(Profile::Owner));
    let server = server(&keys).await;
    let ping = request(1, "ping", json!({}));
    let wrong = good.replace("pnp_good_", "pnp_good_A");
    let double = format!("{good}, {good}");
    let bad: [&[(&str, &str)]; 9] = [
        &[],
        &[("Authorization", "")],
        &[("Authorization", "Bearer")],
        &[("Authorization", "Bearer ")],
        &[("Authorization", "Basic dXNlcjpwYXNz")],
        &[("Authorization", "Bearer pnp_good_")],
        &[("Authorization", &wrong)],
        &[("Authorization", &double)],
        &[("Authorization", &good), ("Authorization", &good)],
    ];
    for headers in bad {
        let reply = server.post("/mcp", headers, &ping).await;
        assert_eq!(reply.status, 401, "headers: {headers:?}: {reply:?}");
        assert!(reply.headers["www-authenticate"].starts_with("Bearer"), "headers: {headers:?}");
    }
    let secret = good.strip_prefix("Bearer ").unwrap();
    let in_query =
        server.post(&format!("/mcp?access_token={secret}&api_key={secret}"), &[], &ping).await;
    assert_eq!(in_query.status, 401);
    assert_eq!(server.get("/metrics").await.status, 401);
    assert_eq!(server.get("/healthz").await.status, 200);
    assert_eq!(server.get("/.well-known/oauth-protected-resource").await.status, 404);
    assert_eq!(server.post("/mcp", &[("authorization", &good)], &ping).await.status, 200);
    assert_eq!(
        server
            .post("/mcp", &[("authorization", &good.replace("Bearer", "bearer"))], &ping)
            .await
            .status,
        200
    );
}

#[tokio::test]
async fn revoked_key_stops_working_at_once() {
    let keys = Keys::default();
    let key = keys.add("k", Grants::of(Profile::Owner));
    let server = server(&keys).await;
    let ping = request(1, "ping", json!({}));
    assert_eq!(server.post("/mcp", &[("Authorization", &key)], &ping).await.status, 200);
    keys.0.lock().unwrap()[0].revoked = true;
    assert_eq!(server.post("/mcp", &[("Authorization", &key)], &ping).await.status, 401);
}

#[tokio::test]
async fn public_address_is_allowed_with_keys() {
    let keys = Keys::default();
    let key = keys.add("k", Grants::of(Profile::Owner));
    let store: Arc<dyn KeyStore> = Arc::new(keys);
    let credentials = Credentials { keys: Some(store), tokens: None, clock: clock() };
    let server = http(|options| {
        options.access = Arc::new(credentials);
        options.listen = "0.0.0.0:0".parse().unwrap();
    })
    .await;
    let server = Http { address: ([127, 0, 0, 1], server.address.port()).into(), ..server };
    let headers = [("Authorization", key.as_str()), ("Host", "127.0.0.1")];
    let reply = server.post("/mcp", &headers, &request(1, "ping", json!({}))).await;
    assert_eq!(reply.json()["result"], json!({}));
    assert_eq!(reply.json().get("error"), None::<&Value>);
}

struct Unreadable;

impl KeyStore for Unreadable {
    fn key(&self, _id: &str) -> Result<Option<ApiKey>, KeysUnavailable> {
        Err(KeysUnavailable)
    }
}

#[tokio::test]
async fn unreadable_key_store_is_unavailable_not_unauthorized() {
    let credentials =
        Credentials { keys: Some(Arc::new(Unreadable)), tokens: None, clock: clock() };
    let server = http(|options| options.access = Arc::new(credentials)).await;
    let key = format!("Bearer {}", ApiKey::text("k", [7; 32]).unwrap());
    let ping = request(1, "ping", json!({}));
    let reply = server.post("/mcp", &[("Authorization", &key)], &ping).await;
    assert_eq!(reply.status, 503, "{reply:?}");
    assert!(
        reply.headers.contains_key("retry-after")
            && !reply.headers.contains_key("www-authenticate")
    );
}
