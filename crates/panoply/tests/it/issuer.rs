//! Tokens of an issuer with a JWKS URL.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jsonwebtoken::{Algorithm, EncodingKey, Header};
use panoply_testkit::client::HttpServer;
use serde_json::{Value, json};

use crate::place::Place;

pub(crate) const ISSUER: &str = "https://login.example.com/";
const RESOURCE: &str = "https://tools.example.com/mcp";
/// A key pair for this test only: PKCS #8 in base64, and the public half as a JWK has it.
const PRIVATE: &str = "MC4CAQAwBQYDK2VwBCIEIOKzVjhoySi676SaF0HGsmelcPzbWK1/srFGlYiJRwd9";
const PUBLIC: &str = "0lCMgXzT0CVhhOYANAkD2cVFn8nPfOxZjS0JE_QWNqY";

/// Answers every request with this status and body, and counts them.
pub(crate) fn issuer(status: &'static str, body: String) -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/keys", listener.local_addr().unwrap());
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            count.fetch_add(1, Ordering::SeqCst);
            let mut head = BufReader::new(&stream).lines();
            while head.next().is_some_and(|line| line.is_ok_and(|line| !line.is_empty())) {}
            let _ = write!(
                &stream,
                "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
                body.len()
            );
        }
    });
    (url, asked)
}

fn token(kid: &str) -> String {
    token_with(kid, &json!({"sub": "ann@example.com", "scope": "tools:read metrics:read"}))
}

/// A token with these claims besides the usual ones.
pub(crate) fn token_with(kid: &str, claims: &Value) -> String {
    // Far in the future: the program uses the system clock.
    let mut all = json!({"iss": ISSUER, "aud": RESOURCE, "exp": 4_000_000_000_u64});
    for (name, value) in claims.as_object().unwrap() {
        all[name] = value.clone();
    }
    let header = Header { kid: Some(kid.to_owned()), ..Header::new(Algorithm::EdDSA) };
    let key = EncodingKey::from_ed_der(&STANDARD.decode(PRIVATE).unwrap());
    jsonwebtoken::encode(&header, &all, &key).unwrap()
}

/// The key set of the issuer.
pub(crate) fn key_set() -> Value {
    json!({"keys": [{"kty": "OKP", "kid": "ed", "crv": "Ed25519", "x": PUBLIC}]})
}

fn serve(place: &Place, keys: &str) -> HttpServer {
    serve_with(place, &["cgt"], keys, &[("PANOPLY_OAUTH_NEW_USERS", "1")])
}

pub(crate) fn serve_with(
    place: &Place,
    arguments: &[&str],
    keys: &str,
    variables: &[(&str, &str)],
) -> HttpServer {
    let start = ["http", "--listen", "127.0.0.1:0"];
    let all: Vec<&str> = start.into_iter().chain(arguments.iter().copied()).collect();
    let mut command = place.panoply(&all);
    command.env("PANOPLY_OAUTH_ISSUER", ISSUER).env("PANOPLY_OAUTH_RESOURCE", RESOURCE);
    command.envs(variables.iter().copied());
    HttpServer::spawn(command.env("PANOPLY_OAUTH_JWKS_URL", keys))
}

fn ask(server: &HttpServer, kid: &str) -> u16 {
    let client = server.client().with_header("authorization", &format!("Bearer {}", token(kid)));
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}});
    client.post("/mcp", &list).status
}

#[test]
fn issuer_keys_are_fetched_by_url_and_cached() {
    let (url, asked) = issuer("200 OK", key_set().to_string());
    let (place, before) = (Place::new(), Arc::clone(&asked));
    let server = serve(&place, &url);
    assert_eq!(before.load(Ordering::SeqCst), 0, "nothing is fetched before the first token");
    assert_eq!((ask(&server, "ed"), ask(&server, "ed")), (200, 200), "{}", server.log());
    assert_eq!(asked.load(Ordering::SeqCst), 1, "fetched once");
    assert_eq!(ask(&server, "stranger"), 401);
    audit_names_the_issuer(server, &place);
}

/// The audit log names the issuer of a token, and has a row for an invalid token.
fn audit_names_the_issuer(mut server: HttpServer, place: &Place) {
    let client = server.client().with_header("authorization", &format!("Bearer {}", token("ed")));
    let call = json!({"name": "search-tools", "arguments": {"query": "gain"}});
    client.rpc("/mcp", "tools/call", call);
    server.signal("TERM");
    server.wait();
    let rows = place.run(&["audit", "show", "--json"]).json();
    let told = |row: usize| (rows[row]["tool"].clone(), rows[row]["credential"].clone());
    assert_eq!(told(0), (json!("search-tools"), json!(format!("issuer {ISSUER}"))), "{rows}");
    assert_eq!(told(1), (json!("login_refused"), json!(null)), "{rows}");
    assert_eq!(rows[1]["errorCode"], json!("TOKEN_INVALID"));
    let signature = token("stranger").rsplit('.').next().unwrap().to_owned();
    assert!(!place.run(&["audit", "export"]).good().contains(&signature));
}

#[test]
fn unavailable_or_oversized_key_set_admits_no_token() {
    let too_much = format!("{{\"keys\":[],\"x\":\"{}\"}}", "x".repeat(2 << 20));
    let cases =
        [("500 Oops", "{}".to_owned()), ("200 OK", "no JSON".to_owned()), ("200 OK", too_much)];
    for (status, body) in cases {
        let (url, _) = issuer(status, body);
        let place = Place::new();
        assert_eq!(ask(&serve(&place, &url), "ed"), 503, "issuer: {status}");
    }
    let place = Place::new();
    // The port of a closed listener refuses connections.
    let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    assert_eq!(ask(&serve(&place, &format!("http://{gone}/keys")), "ed"), 503);
}
