//! The audit log as evidence: callers, refused logins, segments and checkpoints.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::path::PathBuf;
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use panoply_testkit::client::{HttpClient, HttpServer};
use serde_json::{Value, json};

use crate::place::Place;

fn with_key(server: &HttpServer, key: &str) -> HttpClient {
    server.client().with_header("authorization", &format!("Bearer {}", key.trim()))
}

fn search(client: &HttpClient) -> Value {
    let call = json!({"name": "search-tools", "arguments": {"query": "card"}});
    client.rpc("/mcp", "tools/call", call)
}

/// Stops a server and returns the rows of the log, oldest first.
fn rows_after(mut server: HttpServer, place: &Place) -> Vec<Value> {
    server.signal("TERM");
    server.wait();
    let mut rows = place.run(&["audit", "show", "--limit", "1000", "--json"]).json();
    let rows = rows.as_array_mut().unwrap();
    rows.reverse();
    // The keys of the tests are made by commands, which have rows of their own.
    rows.retain(|row| !row["tool"].as_str().unwrap().starts_with("panoply keys "));
    rows.clone()
}

fn segment_files(place: &Place) -> Vec<PathBuf> {
    let entries = fs::read_dir(place.home().join("audit-segments")).unwrap();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|end| end == "gz"));
    files.sort();
    files
}

#[test]
fn audit_rows_have_address_and_key_and_count_refused_logins() {
    let place = Place::new();
    let owner = place.run(&["keys", "create", "laptop", "--profile", "owner"]).good();
    let revoked = place.run(&["keys", "create", "old", "--profile", "reader"]).good();
    let id = |key: &str| key.split('_').nth(1).unwrap().to_owned();
    place.run(&["keys", "revoke", &id(&revoked)]).good();
    let server = place.http(&[]);
    search(&with_key(&server, &owner));
    let wrong = format!("pnp_{}_{}", id(&owner), "A".repeat(43));
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    for _ in 0..5 {
        assert_eq!(with_key(&server, &wrong).post("/mcp", &body).status, 401);
    }
    assert_eq!(with_key(&server, &revoked).post("/mcp", &body).status, 401);
    assert_eq!(server.client().post("/mcp", &body).status, 401);
    let trail = json!({"name": "get-audit-trail", "arguments": {"tool": "login_refused"}});
    let seen = with_key(&server, &owner).rpc("/mcp", "tools/call", trail);
    assert!(seen.to_string().contains("KEY_REVOKED"), "the owner sees them at once: {seen}");
    let rows = rows_after(server, &place);
    let told: Vec<_> = rows
        .iter()
        .map(|row| {
            let text = |field: &str| row[field].as_str().unwrap_or("-").to_owned();
            (
                text("tool"),
                text("errorCode"),
                text("address"),
                text("credential"),
                row["count"].clone(),
            )
        })
        .collect();
    let laptop = format!("key laptop ({})", id(&owner));
    let row = |tool: &str, code: &str, credential: &str, count: u64| {
        let address = "127.0.0.1".to_owned();
        (tool.to_owned(), code.to_owned(), address, credential.to_owned(), json!(count))
    };
    let refused = |code, credential, count| row("login_refused", code, credential, count);
    let expected = [
        row("search-tools", "-", &laptop, 1),
        refused("KEY_UNKNOWN", "-", 1),
        refused("KEY_REVOKED", &format!("key {}", id(&revoked)), 1),
        refused("CREDENTIAL_MISSING", "-", 1),
        row("get-audit-trail", "-", &laptop, 1),
        refused("KEY_UNKNOWN", "-", 4),
    ];
    assert_eq!(told, expected);
    let everything = place.run(&["audit", "export"]).good();
    for key in [&owner, &revoked, &wrong] {
        let secret = key.trim().splitn(3, '_').nth(2).unwrap();
        assert!(!everything.contains(secret), "a secret is in the log");
    }
    place.run(&["audit", "verify"]).good();
}

#[test]
fn denied_call_is_audited_under_the_tool() {
    let place = Place::new();
    let reader = place.run(&["keys", "create", "reader", "--profile", "reader"]).good();
    let server = place.http(&[]);
    let call = json!({"name": "create-deck", "arguments": {"name": "x"}});
    with_key(&server, &reader).rpc("/mcp", "tools/call", call);
    // It sees only its own row.
    assert_eq!(server.client().post("/mcp", &json!({})).status, 401);
    let trail = json!({"name": "get-audit-trail", "arguments": {}});
    let seen = with_key(&server, &reader).rpc("/mcp", "tools/call", trail).to_string();
    assert!(seen.contains("create-deck") && seen.contains("127.0.0.1"), "{seen}");
    assert!(!seen.contains("login_refused"), "{seen}");
    let rows = rows_after(server, &place);
    assert_eq!(rows.len(), 3, "{rows:?}");
    assert_eq!(
        (&rows[0]["tool"], &rows[0]["errorCode"]),
        (&json!("create-deck"), &json!("FORBIDDEN"))
    );
    assert!(rows[0]["credential"].as_str().unwrap().starts_with("key reader ("), "{rows:?}");
}

#[test]
fn rows_are_sealed_pruned_and_backed_up_while_a_server_runs() {
    let place = Place::new();
    let server = place.http(&[]);
    for _ in 0..20 {
        search(&server.client());
    }
    let sealed = place.run(&["audit", "seal", "--json"]).json();
    assert_eq!(sealed[0]["first"], json!(1), "{sealed}");
    search(&server.client());
    let nothing = place.run(&["audit", "seal", "--before", "2020-01-01"]).good();
    assert!(nothing.contains("nothing"), "{nothing}");
    let found = place.run(&["audit", "verify", "--json"]).json();
    assert_eq!((&found["intact"], found["segments"].as_array().unwrap().len()), (&json!(true), 1));

    let (folder, home) = (place.path("backup"), place.path("restored"));
    place.run(&["backup", folder.to_str().unwrap()]).good();
    let over = |words: &[&str]| {
        let all: Vec<&str> =
            words.iter().copied().chain(["--home", home.to_str().unwrap()]).collect();
        place.run(&all)
    };
    over(&["restore", folder.to_str().unwrap()]).good();
    let restored = over(&["audit", "verify", "--json"]).json();
    assert_eq!(
        (&restored["intact"], restored["segments"].as_array().unwrap().len()),
        (&json!(true), 1)
    );

    // A segment removed without `prune` is reported; a pruned one is not.
    let file = segment_files(&place).remove(0);
    let bytes = fs::read(&file).unwrap();
    fs::remove_file(&file).unwrap();
    let broken = place.run(&["audit", "verify"]);
    let name = file.file_name().unwrap().to_str().unwrap();
    assert_eq!(broken.status, Some(1), "{broken:?}");
    assert!(broken.out.contains("was removed") && broken.out.contains(name), "{broken:?}");
    for depth in [&["doctor"][..], &["doctor", "--deep"]] {
        let said = place.run(depth);
        assert_eq!(said.status, Some(1), "{said:?}");
        assert!(said.out.contains("sealed segment that begins with row 1"), "{said:?}");
    }
    fs::write(&file, bytes).unwrap();
    place.run(&["audit", "verify"]).good();
    place.run(&["audit", "prune", "--before", "2999-01-01"]).good();
    assert!(segment_files(&place).is_empty());
    let verified = place.run(&["audit", "verify"]).good();
    assert!(verified.contains("rows 1 to") && verified.contains("were pruned on"), "{verified}");
    assert_eq!(place.run(&["doctor", "--deep", "--json"]).json()["healthy"], json!(true));
    search(&server.client());
    let rows = rows_after(server, &place);
    let tools: Vec<&str> = rows.iter().map(|row| row["tool"].as_str().unwrap()).collect();
    assert!(
        tools.contains(&"panoply audit seal") && tools.contains(&"panoply audit prune"),
        "{tools:?}"
    );
    place.run(&["audit", "verify"]).good();
}

#[test]
fn server_seals_and_prunes_by_its_settings() {
    let place = Place::new();
    for query in ["query=one", "query=two"] {
        place.run(&["call", "search-tools", "--arg", query]).good();
    }
    place.file("home/config.toml", "[audit]\nseal_after = \"0s\"\n");
    let segments = || {
        let found = place.run(&["audit", "verify", "--json"]).json();
        assert_eq!(found["intact"], json!(true), "{found}");
        found["segments"].as_array().unwrap().clone()
    };
    let server = place.http(&[]);
    wait_for("rows are sealed at start", || !segments().is_empty());
    rows_after(server, &place);
    assert_eq!((&segments()[0]["last"], &segments()[0]["prunedAt"]), (&json!(2), &json!(null)));
    place.file("home/config.toml", "[audit]\nretain = \"0s\"\n");
    let server = place.http(&["--read-only"]);
    std::thread::sleep(Duration::from_millis(500));
    rows_after(server, &place);
    assert_eq!(segments()[0]["prunedAt"], json!(null), "a read-only server keeps everything");
    let server = place.http(&[]);
    wait_for("segments are pruned at start", || {
        segments().iter().all(|one| one["prunedAt"].is_string())
    });
    rows_after(server, &place);
    assert!(segment_files(&place).is_empty());
    let bad = place.file("home/config.toml", "[audit]\nretain = \"forever\"\n");
    let said = place.run(&["audit", "verify"]);
    assert_eq!(said.status, Some(2), "{said:?} {}", bad.display());
}

#[test]
fn segment_removed_while_stopped_degrades_readiness() {
    let place = Place::new();
    place.run(&["call", "search-tools", "--arg", "query=x"]).good();
    place.run(&["audit", "seal"]).good();
    fs::remove_file(segment_files(&place).remove(0)).unwrap();
    let server = place.http(&[]);
    let reply = server.client().get("/readyz");
    assert_eq!((reply.status, &reply.json()["status"]), (200, &json!("degraded")));
    assert!(reply.text().contains("AUDIT_CHAIN_BROKEN"), "{}", reply.text());
}

/// A server that accepts POSTs after `refusals` replies of 503.
fn sink(listener: TcpListener, mut refusals: usize) -> Receiver<String> {
    let (sender, received) = mpsc::channel();
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let mut reader = BufReader::new(stream);
            let mut length = 0;
            loop {
                let mut line = String::new();
                if reader.read_line(&mut line).unwrap_or(0) == 0 || line == "\r\n" {
                    break;
                }
                if let Some((name, value)) = line.split_once(':')
                    && name.eq_ignore_ascii_case("content-length")
                {
                    length = value.trim().parse().unwrap();
                }
            }
            let mut body = vec![0; length];
            reader.read_exact(&mut body).unwrap();
            let status = if refusals > 0 { "503 Later" } else { "204 Taken" };
            let reply =
                format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
            reader.get_mut().write_all(reply.as_bytes()).unwrap();
            if refusals > 0 {
                refusals -= 1;
            } else if sender.send(String::from_utf8(body).unwrap()).is_err() {
                return;
            }
        }
    });
    received
}

fn wait_for(what: &str, mut condition: impl FnMut() -> bool) {
    for _ in 0..300 {
        if condition() {
            return;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    panic!("{what}");
}

#[test]
fn server_sends_checkpoints_and_reports_failures() {
    let place = Place::new();
    // The port is bound, but does not accept yet.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let settings =
        format!("[audit]\ncheckpoint_to = \"http://{address}/\"\ncheckpoint_every = \"3 rows\"\n");
    place.file("home/config.toml", &settings);
    let server = place.http(&[]);
    for _ in 0..4 {
        search(&server.client());
    }
    wait_for("a checkpoint that fails is told", || {
        server.client().get("/readyz").text().contains("CHECKPOINT_FAILED")
    });
    assert_eq!(server.client().get("/readyz").status, 200, "calls go on");
    assert!(search(&server.client())["result"]["isError"] == json!(false));
    let doctor = place.run(&["doctor"]).good();
    assert!(
        doctor.contains("audit checkpoints") && doctor.contains("did not take one"),
        "{doctor}"
    );

    let received = sink(TcpListener::bind(address).unwrap(), 1);
    let first = received.recv_timeout(Duration::from_secs(30)).unwrap();
    wait_for("the fault is over", || {
        !server.client().get("/readyz").text().contains("CHECKPOINT_FAILED")
    });
    // One row is below the interval of three, so only the shutdown sends it.
    search(&server.client());
    let rows = rows_after(server, &place);
    let last = received.recv_timeout(Duration::from_secs(5)).unwrap();
    let sequence = |note: &str| note.lines().nth(1).unwrap().parse::<u64>().unwrap();
    assert!(sequence(&first) < sequence(&last), "{first}{last}");
    assert_eq!(sequence(&last), rows.len() as u64);

    let notes = place.file("notes", &format!("{first}\n{last}\n"));
    let key = place.run(&["audit", "public-key"]).good();
    let verify = |key: &str| {
        let file = notes.to_str().unwrap();
        place.run(&["audit", "verify", "--checkpoints", file, "--public-key", key])
    };
    assert!(verify(key.trim()).good().contains("2 checkpoints are signed and agree"));
}

#[test]
fn checkpoints_detect_rewrites_that_the_chain_cannot() {
    let place = Place::new();
    let notes = place.path("notes");
    let file = notes.to_str().unwrap().to_owned();
    for query in ["query=one", "query=two", "query=three"] {
        place.run(&["call", "search-tools", "--arg", query]).good();
        place.run(&["audit", "checkpoint", "--to", &file]).good();
    }
    let key = place.run(&["audit", "public-key"]).good().trim().to_owned();
    let verify = |file: &str, key: &str| {
        place.run(&["audit", "verify", "--checkpoints", file, "--public-key", key])
    };
    verify(&file, &key).good();

    // Another key: that of another home.
    let elsewhere = place.path("elsewhere");
    let other = place.run(&["audit", "public-key", "--home", elsewhere.to_str().unwrap()]).good();
    let said = verify(&file, other.trim());
    assert_eq!(said.status, Some(1), "{said:?}");
    assert!(said.out.contains("checkpoint 1: it is not signed by this key"), "{said:?}");
    let nonsense = verify(&file, "nonsense");
    assert_eq!(nonsense.status, Some(2), "{nonsense:?}");

    let forged = fs::read_to_string(&notes).unwrap().replacen("\n2\n", "\n3\n", 1);
    let forged = place.file("forged", &forged);
    let said = verify(forged.to_str().unwrap(), &key);
    assert_eq!(said.status, Some(1), "{said:?}");
    assert!(said.out.contains("checkpoint 2: its signature is forged"), "{said:?}");
    let empty = place.file("empty", "");
    let said = verify(empty.to_str().unwrap(), &key);
    assert!(said.status == Some(1) && said.out.contains("holds no checkpoint"), "{said:?}");

    // A valid but replaced log, longer than before; then a missing log.
    let remove = || {
        for name in ["audit.db", "audit.db-wal", "audit.db-shm"] {
            let _ = fs::remove_file(place.home().join(name));
        }
    };
    remove();
    let gone = verify(&file, &key);
    assert!(gone.status == Some(1) && gone.out.contains("the whole log is gone"), "{gone:?}");
    place.run(&["call", "search-tools", "--arg", "query=one"]).good();
    place.run(&["audit", "verify"]).good();
    let fresh = verify(&file, &key);
    assert_eq!(fresh.status, Some(1), "{fresh:?}");
    assert!(fresh.out.contains("row 1 or one before it was rewritten"), "{fresh:?}");
}
