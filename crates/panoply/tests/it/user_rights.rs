//! A person's rights: export in open formats, erasure, and quotas.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use crate::place::Place;
use crate::tenants::two_tenants::{Actor, RUN, SVG, TwoTenants};
use crate::tenants::{self, two_tenants};

/// All bytes of the files below a folder that contain a text.
fn files_with(folder: &Path, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if contains(&fs::read(&path).unwrap(), text) {
                found.push(path.display().to_string());
            }
        }
    }
    found
}

fn contains(bytes: &[u8], text: &str) -> bool {
    text.is_empty() || bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

/// A run without a seal, with its lines as they were sent.
const OPEN_RUN: &str = "66666666-6666-4666-8666-666666666666";

/// Words of one's own in every kind of data that a person can have.
struct Everything {
    words: Vec<String>,
}

impl Everything {
    /// Gives the first tenant data of every kind.
    fn of(world: &TwoTenants) -> Self {
        let (ann, bob) = (&world.actors[0], &world.actors[1]);
        let mut words = vec![ann.canary.clone()];
        let mut word = |kind: &str| {
            words.push(format!("zq{kind}zq"));
            words.last().unwrap().clone()
        };
        // An undone note is history.
        let note = json!({"front": word("history"), "back": "x"});
        let made = ann.call("create-cards", json!({"deckId": ann.deck(), "notes": [note]}));
        assert_eq!(made["isError"], json!(false), "{made}");
        let undone = ann.call("undo-action", json!({}));
        assert_eq!(undone["isError"], json!(false), "{undone}");
        let media = json!({"name": format!("{}.svg", word("media")), "contentBase64": SVG});
        let question = json!({"query": word("question"), "relevant": ["H:ginger"]}).to_string();
        let eval = json!({"set": "custom", "metrics": ["R@5"], "params": {"lines": question}});
        for (tool, arguments) in [
            ("add-media", media),
            ("update-settings", json!({"timeZone": "Asia/Bangkok"})),
            ("eval_run", eval),
        ] {
            let done = ann.call(tool, arguments);
            assert_eq!(done["isError"], json!(false), "{tool}: {done}");
        }
        open_run(ann, &word("openrun"));
        let home = format!("home/tenants/{}", ann.tenant);
        world.place.file(&format!("{home}/noema/files/own.txt"), &word("file"));
        world.place.file(&format!("{home}/ttm/inbox/later.lock"), &word("inbox"));
        // The idempotency record of a kernel tool is in the kernel's own database.
        let share = json!({"pack": "noema", "id": ann.deck(), "recipient": bob.tenant});
        let meta = json!({"panoply/idempotencyKey": word("key")});
        let share = json!({"name": "share-item", "arguments": share, "_meta": meta});
        let shared = ann.client.rpc("/mcp", "tools/call", share);
        assert_eq!(shared["result"]["isError"], json!(false), "{shared}");
        Self { words }
    }
}

fn open_run(actor: &Actor, word: &str) {
    let path = format!("/backtest/runs/{OPEN_RUN}");
    assert_eq!(actor.client.request("PUT", &path, &[], b"").status, 201);
    let ndjson = [("content-type", "application/x-ndjson")];
    let line = format!("{}\n", open_event(word));
    let sent = actor.client.request("POST", &format!("{path}/events"), &ndjson, line.as_bytes());
    assert_eq!(sent.status, 200, "{}", sent.text());
}

fn open_event(word: &str) -> Value {
    json!({
        "eventId": "00000000-0000-4000-8000-000000000009", "runId": OPEN_RUN,
        "timestamp": "2025-01-01T00:00:00.000Z", "eventType": "RiskEvent", "severity": "Info",
        "category": "Risk", "properties": {"RiskType": word}, "parentEventId": null,
        "validationErrors": null,
    })
}

#[test]
fn an_export_has_everything_of_a_person_and_nothing_of_another() {
    let world = TwoTenants::separate().with_documents();
    let (ann, bob) = (&world.actors[0], &world.actors[1]);
    let everything = Everything::of(&world);
    // Calls so far go to a sealed segment.
    world.place.run(&["audit", "seal", "--before", "2100-01-01T00:00:00Z"]).good();
    let target = world.place.path("export");
    world.place.run(&["users", "export", "ann", target.to_str().unwrap()]).good();
    let read = |name: &str| {
        fs::read_to_string(target.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    };
    assert!(read("cards.csv").contains(&ann.canary));
    assert!(fs::read(target.join("cards.apkg")).unwrap().starts_with(b"PK"));
    assert!(read("portfolios.jsonl").contains(&ann.canary));
    assert_eq!(read("transactions.jsonl").lines().count(), 2);
    assert!(read("runs.jsonl").contains(RUN));
    let events = lines(&read(&format!("runs/{RUN}.jsonl")));
    assert_eq!(events.len(), 3);
    assert_eq!(events[0]["properties"]["RiskType"], json!(ann.canary));
    let open = lines(&read(&format!("runs/{OPEN_RUN}.jsonl")));
    assert_eq!(open, [open_event("zqopenrunzq")]);
    let account: Value = serde_json::from_str(&read("account.json")).unwrap();
    assert_eq!((&account["name"], &account["tenant"]), (&json!("ann"), &json!(ann.tenant)));
    assert!(read("settings.json").contains("Asia/Bangkok"));
    assert!(read("media/zqmediazq.svg").starts_with("<svg"));
    assert_eq!(read("files/noema/files/own.txt"), "zqfilezq");
    assert_eq!(read("files/ttm/inbox/later.lock"), "zqinboxzq");
    assert!(read(&format!("files/ttm/inbox/{}.txt", ann.canary)).contains("Confidential"));
    assert!(read("chunks.jsonl").contains(&ann.canary));
    let jobs = lines(&read("jobs.jsonl"));
    let log = lines(&read("job_log.jsonl"));
    assert!(
        !jobs.is_empty() && jobs.iter().all(|job| log.iter().any(|line| line["job"] == job["id"]))
    );
    assert!(read("audit.jsonl").contains("create-cards"));
    assert!(!read("audit.jsonl").contains(&bob.tenant));
    for word in &everything.words {
        assert!(!files_with(&target, word).is_empty(), "{word} is not in the export");
    }
    assert_eq!(files_with(&target, &bob.canary), Vec::<String>::new());
    let again = world.place.run(&["users", "export", "ann", target.to_str().unwrap()]);
    assert_eq!(again.status, Some(1), "an existing folder is not written into");
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn erasing_a_person_deletes_all_data_and_keeps_the_audit_chain() {
    let mut world = TwoTenants::separate().with_documents();
    let everything = Everything::of(&world);
    let tenant = world.actors[0].tenant.clone();
    world.place.run(&["keys", "create", "zqlabelzq", "--user", "ann"]).good();
    for word in &everything.words {
        let found = files_with(&world.place.home(), word);
        assert!(!found.is_empty(), "{word} was never there");
    }
    let said = world.place.run(&["users", "erase", "ann", "--yes"]).good();
    assert!(said.contains(&tenant), "{said}");
    // The key is gone, also in the running server.
    assert_eq!(world.actors[0].client.get("/metrics").status, 401);
    assert!(world.actors[1].call("list-decks", json!({})).to_string().contains("Same name"));
    world.server.signal("TERM");
    world.server.wait();
    for text in everything.words.iter().map(String::as_str).chain(["zqlabelzq"]) {
        assert_eq!(files_with(&world.place.home(), text), Vec::<String>::new(), "{text}");
    }
    assert!(!world.place.home().join("tenants").join(&tenant).exists());
    let users = world.place.run(&["users", "list", "--json"]).json();
    assert_eq!(users.as_array().unwrap().len(), 1, "{users}");
    world.place.run(&["audit", "verify"]).good();
    let rows = world.place.run(&["audit", "show", "--limit", "1000", "--json"]).good();
    assert!(rows.contains(&tenant) && rows.contains("panoply users erase"), "{rows}");
    assert!(!rows.contains("\"ann\""), "{rows}");
    let gone = world.place.run(&["users", "erase", "ann", "--yes"]);
    assert!(gone.err.contains("there is no user `ann`"), "{gone:?}");
}

/// Killed after the data are gone and before the name is: the command goes on where it stopped.
#[test]
fn an_interrupted_erasure_can_be_repeated() {
    let place = Place::new();
    let added = place.run(&["users", "add", "ann", "--json"]).json();
    let tenant = added["tenant"].as_str().unwrap();
    place.file(&format!("home/tenants/{tenant}.erased"), "");
    place.file(&format!("home/tenants/{tenant}/packs/rest.db-wal"), "rest");
    place.run(&["users", "remove", "ann"]).good();
    let list = place.run(&["users", "list"]).good();
    assert!(list.contains("removed"), "{list}");
    place.run(&["users", "erase", "ann", "--yes"]).good();
    assert!(!place.home().join("tenants").join(tenant).exists());
    assert!(!place.run(&["users", "list"]).good().contains("ann"));
}

#[test]
fn a_tenant_over_its_quota_can_delete_but_not_add() {
    let place = Place::new();
    place.file("home/config.toml", "[tenants.quota]\ncards = 2\nruns = 1\ntransactions = 2\n");
    let world = TwoTenants::in_place(place);
    let ann = &world.actors[0];
    let cards = json!({"deckId": ann.deck(), "notes": [{"front": "one more"}]});
    let refused = ann.call("create-cards", cards.clone()).to_string();
    assert!(refused.contains("QUOTA_EXCEEDED") && refused.contains("2 cards"), "{refused}");
    let more = "/backtest/runs/77777777-7777-4777-8777-777777777777";
    let put = ann.client.request("PUT", more, &[], b"");
    assert_eq!(put.status, 403, "{}", put.text());
    assert_eq!(put.json()["error"]["code"], "QUOTA_EXCEEDED");
    let refused = ann.call("create_portfolio", json!({"name": "one more"})).to_string();
    assert!(refused.contains("QUOTA_EXCEEDED") && refused.contains("2 transactions"), "{refused}");
    let listed = ann.call("list_portfolios", json!({}));
    let portfolio = &listed["structuredContent"]["portfolios"][0]["portfolio_id"];
    let trade = json!({"portfolio_id": portfolio, "cgt_content": "2021-01-01 BUY A 1 @ 1"});
    let refused = ann.call("add_transactions", trade).to_string();
    assert!(refused.contains("QUOTA_EXCEEDED") && refused.contains("2 transactions"), "{refused}");
    let card = ann.ids("search-cards", "card_").remove(0);
    let deleted = ann.call("delete-cards", json!({"cardIds": [card]}));
    assert_eq!(deleted["isError"], json!(false), "{deleted}");
    let added = ann.call("create-cards", cards);
    assert_eq!(added["isError"], json!(false), "{added}");
    // What is there can be edited and sealed; above the quota only deleting is possible.
    let card = json!(ann.ids("search-cards", "card_")[0]);
    let edited = ann.call("update-card", json!({"cardId": card, "tags": ["edited"]}));
    assert_eq!(edited["isError"], json!(false), "{edited}");
    let approved = ann.call("approve-drafts", json!({"cardIds": [card]}));
    assert_eq!(approved["isError"], json!(false), "{approved}");
    let restored = ann
        .call("undo-action", json!({"actionId": deleted["structuredContent"]["data"]["actionId"]}));
    assert_eq!(restored["isError"], json!(false), "{restored}");
    let edited = ann.call("update-card", json!({"cardId": card, "tags": ["again"]}));
    assert_eq!(tenants::code(&edited), "QUOTA_EXCEEDED", "{edited}");
    // Studying is not adding.
    let data = |tool: &str, arguments: Value| {
        let reply = ann.call(tool, arguments);
        assert_eq!(reply["isError"], json!(false), "{tool}: {reply}");
        reply["structuredContent"]["data"].clone()
    };
    let next = data("get-next-card", json!({}));
    assert!(next["card"].is_object(), "{next}");
    let shown = data("reveal-answer", json!({"token": next["card"]["token"]}));
    data("submit-review", json!({"token": shown["token"], "rating": "good"}));
    let gone = ann.client.request("DELETE", &format!("/backtest/runs/{RUN}"), &[], b"");
    assert_eq!(gone.status, 200, "{}", gone.text());
    assert_eq!(ann.client.request("PUT", more, &[], b"").status, 201);
}

/// A megabyte that cannot be compressed below a half.
fn noise(seed: u32) -> String {
    let mut state = u64::from(seed) + 1;
    let mut next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        format!("{:016x}", state ^ (state >> 29))
    };
    (0..62_500).map(|_| next()).collect()
}

/// A stream without end stops at the quota, and the run can be deleted.
#[test]
fn a_stream_ends_at_the_quota_of_bytes() {
    let place = Place::new();
    place.file("home/config.toml", "[tenants.quota]\nmegabytes = 2\n");
    let world = TwoTenants::in_place(place);
    let ann = &world.actors[0];
    let run = "/backtest/runs/77777777-7777-4777-8777-777777777777";
    assert_eq!(ann.client.request("PUT", run, &[], b"").status, 201);
    let line = |number: u32| {
        let event = json!({
            "eventId": format!("00000000-0000-4000-8000-{number:012x}"),
            "timestamp": "2025-01-01T00:00:00.000Z", "eventType": "RiskEvent",
            "severity": "Info", "category": "Risk",
            "properties": {"RiskType": noise(number)},
        });
        format!("{event}\n")
    };
    let lines: String = (1..=40).map(line).collect();
    let sent = ann.client.request("POST", &format!("{run}/events"), &[], lines.as_bytes());
    assert!(sent.text().contains("QUOTA_EXCEEDED"), "{}", sent.text());
    let files = world.place.home().join("tenants").join(&ann.tenant);
    let size = |text: &str| {
        files_with(&files, text).iter().map(|file| fs::metadata(file).unwrap().len()).sum::<u64>()
    };
    assert!(size("") < 20_000_000, "{}", size(""));
    let agent = world.key(&["--user", "ann", "--profile", "agent"]);
    assert_eq!(agent.client.request("DELETE", run, &[], b"").status, 403);
    assert_eq!(ann.client.request("DELETE", run, &[], b"").status, 200);
    assert_eq!(ann.client.request("DELETE", run, &[], b"").status, 404);
    let put = || Some(ann.client.request("PUT", run, &[], b"")).filter(|put| put.status == 201);
    within_seconds(10, put);
}

/// One tenant cannot take all streams of a server.
#[test]
fn a_tenant_has_a_share_of_the_event_streams() {
    let world = TwoTenants::separate();
    let (ann, bob) = (&world.actors[0], &world.actors[1]);
    let key = world.place.run(&["keys", "create", "streams", "--user", "ann"]).good();
    let path = |number: u32| format!("/backtest/runs/88888888-8888-4888-8888-{number:012}");
    let open = |number: u32| {
        assert_eq!(ann.client.request("PUT", &path(number), &[], b"").status, 201);
        let mut stream = TcpStream::connect(&world.server.address).unwrap();
        let head = format!(
            "POST {}/events HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n\
             Transfer-Encoding: chunked\r\n\r\n",
            path(number),
            world.server.address,
            key.trim()
        );
        stream.write_all(head.as_bytes()).unwrap();
        // The reply begins when the stream has its lease.
        let mut status = [0; 12];
        stream.read_exact(&mut status).unwrap();
        assert_eq!(&status, b"HTTP/1.1 200");
        stream
    };
    let streams: Vec<TcpStream> = (0..8).map(open).collect();
    let refused = ann.client.request("PUT", &path(8), &[], b"");
    assert_eq!(refused.status, 429, "{}", refused.text());
    assert_eq!(bob.client.request("PUT", &path(8), &[], b"").status, 201);
    drop(streams);
    let put = || Some(ann.client.request("PUT", &path(8), &[], b"")).filter(|it| it.status == 201);
    within_seconds(10, put);
}

/// A stream lasts for hours: what comes after its key was revoked is not written.
#[test]
fn a_stream_ends_when_its_key_is_revoked() {
    let world = TwoTenants::separate();
    let place = &world.place;
    let created = place.run(&["keys", "create", "streams", "--user", "ann", "--json"]).good();
    let key: Value = serde_json::from_str(&created).unwrap();
    let path = "/backtest/runs/99999999-9999-4999-8999-999999999999";
    let ann = &world.actors[0].client;
    assert_eq!(ann.request("PUT", path, &[], b"").status, 201);
    let mut stream = TcpStream::connect(&world.server.address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let head = format!(
        "POST {path}/events HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n\
         Transfer-Encoding: chunked\r\n\r\n",
        world.server.address,
        key["key"].as_str().unwrap()
    );
    stream.write_all(head.as_bytes()).unwrap();
    place.run(&["keys", "revoke", key["id"].as_str().unwrap()]).good();
    // The server closes the stream while the lines still come.
    let mut copy = stream.try_clone().unwrap();
    let sender = std::thread::spawn(move || {
        let chunk = b"b\r\n          \n\r\n";
        (0..600).any(|_| {
            std::thread::sleep(Duration::from_millis(100));
            copy.write_all(chunk).is_err()
        })
    });
    let mut reply = String::new();
    while !reply.contains("UNAUTHORIZED") {
        let mut piece = [0; 4096];
        let read = stream.read(&mut piece).unwrap();
        assert!(read > 0, "{reply}");
        reply.push_str(&String::from_utf8_lossy(&piece[..read]));
    }
    drop(stream);
    assert!(sender.join().unwrap(), "the server keeps the connection");
    // The run is free again for its tenant.
    let put = || Some(ann.request("PUT", path, &[], b"")).filter(|it| it.status == 200);
    within_seconds(10, put);
}

/// No owner is left to withdraw the shares of a workspace without members: they end with the last.
#[test]
fn a_workspace_without_members_shares_nothing_and_can_be_exported_and_erased() {
    let world = TwoTenants::separate();
    let bob = &world.actors[1];
    world.place.run(&["users", "grant", "ann", "--workspace", "blue"]).good();
    let blue = world.key(&["--user", "ann", "--workspace", "blue", "--profile", "owner"]);
    let blue = Actor { canary: "zqbluezq".to_owned(), ..blue };
    blue.fill_run(OPEN_RUN);
    let shared = blue
        .call("share-item", json!({"pack": "backtest", "id": OPEN_RUN, "recipient": bob.tenant}));
    assert_eq!(shared["isError"], json!(false), "{shared}");
    let read = || bob.call("describe_run", json!({"runId": OPEN_RUN})).to_string();
    assert!(read().contains("zqbluezq"), "{}", read());
    let refused = world.place.run(&["users", "erase", "blue", "--yes"]);
    assert_eq!(refused.status, Some(1), "{}", refused.err);
    assert!(refused.err.contains("members"), "{}", refused.err);
    world.place.run(&["users", "remove", "ann"]).good();
    assert!(!read().contains("zqbluezq"), "{}", read());
    let folder = world.place.path("blue-export");
    world.place.run(&["users", "export", "blue", folder.to_str().unwrap()]).good();
    assert!(!files_with(&folder, "zqbluezq").is_empty());
    fs::remove_dir_all(&folder).unwrap();
    world.place.run(&["users", "erase", "blue", "--yes"]).good();
    assert_eq!(files_with(&world.place.home(), "zqbluezq"), Vec::<String>::new());
}

/// An agent corrects what is stored, but neither removes nor undoes it.
#[test]
fn an_agent_cannot_remove_or_undo_transactions() {
    let world = TwoTenants::separate();
    let ann = &world.actors[0];
    let listed = ann.call("list_portfolios", json!({}));
    let id = &listed["structuredContent"]["portfolios"][0]["portfolio_id"];
    let agent = world.key(&["--user", "ann", "--profile", "agent"]);
    for (tool, arguments) in [
        ("undo_portfolio_change", json!({"portfolio_id": id})),
        ("edit_transactions", json!({"portfolio_id": id, "edits": [{"id": 1, "remove": true}]})),
    ] {
        let refused = agent.call(tool, arguments.clone());
        assert!(refused.to_string().contains("FORBIDDEN"), "{tool}: {refused}");
        let done = ann.call(tool, arguments);
        assert!(!done.to_string().contains("FORBIDDEN"), "{tool}: {done}");
    }
}

#[test]
fn the_quota_of_documents_refuses_an_import_until_one_is_undone() {
    let place = Place::new();
    place.file("home/config.toml", "[tenants.quota]\ndocuments = 1\n");
    let world = TwoTenants::in_place(place);
    let ann = &world.actors[0];
    let job = world.ingest_files(ann, &[("one.txt", "Ginger contains gingerol.\n")]);
    let home = format!("home/tenants/{}", ann.tenant);
    let file = world.place.file(&format!("{home}/ttm/inbox/two.txt"), "Garlic contains allicin.\n");
    let batch = json!([{"uri": format!("file://{}", file.display()), "doc_type": "text"}]);
    let refused = ann.call("ingest_run", json!({"batch": batch, "dry_run": false}));
    assert_eq!(tenants::code(&refused), "QUOTA_EXCEEDED", "{refused}");
    assert!(refused.to_string().contains("1 documents"), "{refused}");
    // The quota is of a tenant, not of the server.
    world.ingest_files(&world.actors[1], &[("one.txt", "Ginger contains gingerol.\n")]);
    let undone = ann.call("ingest_undo", json!({"job_id": job}));
    assert_eq!(undone["structuredContent"]["detail"], json!("rolled_back"), "{undone}");
    world.ingest_files(ann, &[("two.txt", "Garlic contains allicin.\n")]);
}

#[test]
fn the_quota_of_megabytes_counts_all_files_of_a_tenant() {
    let place = Place::new();
    place.file("home/config.toml", "[tenants.quota]\nmegabytes = 16\n");
    let world = TwoTenants::in_place(place);
    let (ann, bob) = (&world.actors[0], &world.actors[1]);
    let added = std::cell::Cell::new(0);
    let add = |actor: &Actor| {
        added.set(added.get() + 1);
        let note = json!({"front": format!("one more {}", added.get())});
        actor.call("create-cards", json!({"deckId": actor.deck(), "notes": [note]}))
    };
    assert_eq!(add(ann)["isError"], json!(false));
    let files = world.place.home().join("tenants").join(&ann.tenant).join("noema/files");
    let large = files.join("large.bin");
    fs::write(&large, vec![0; 17 << 20]).unwrap();
    let refused =
        within_seconds(10, || Some(add(ann)).filter(|reply| reply["isError"] == json!(true)));
    assert_eq!(tenants::code(&refused), "QUOTA_EXCEEDED", "{refused}");
    assert!(refused.to_string().contains("16777216 bytes"), "{refused}");
    let more = "/backtest/runs/77777777-7777-4777-8777-777777777777";
    let put = || Some(ann.client.request("PUT", more, &[], b"")).filter(|put| put.status == 403);
    assert_eq!(within_seconds(10, put).json()["error"]["code"], "QUOTA_EXCEEDED");
    let card = ann.ids("search-cards", "card_").remove(0);
    let deleted = ann.call("delete-cards", json!({"cardIds": [card]}));
    assert_eq!(deleted["isError"], json!(false), "{deleted}");
    assert_eq!(add(bob)["isError"], json!(false), "the quota is of one tenant");
    fs::remove_file(&large).unwrap();
    within_seconds(10, || Some(add(ann)).filter(|reply| reply["isError"] == json!(false)));
}

/// Repeats until there is a value: sizes are measured every two seconds.
fn within_seconds<T>(seconds: u32, mut attempt: impl FnMut() -> Option<T>) -> T {
    for _ in 0..seconds * 4 {
        if let Some(value) = attempt() {
            return value;
        }
        std::thread::sleep(std::time::Duration::from_millis(250));
    }
    panic!("nothing within {seconds} s");
}

#[test]
fn a_backup_and_the_doctor_cover_all_tenants() {
    let world = TwoTenants::separate();
    let backup = world.place.path("backup");
    world.place.run(&["backup", backup.to_str().unwrap()]).good();
    for actor in &world.actors {
        let packs = backup.join("tenants").join(&actor.tenant).join("packs");
        for file in ["noema.db", "backtest.db", "cgt.db"] {
            assert!(packs.join(file).exists(), "{file}");
        }
        let found = files_with(&packs, &actor.canary);
        assert!(!found.is_empty(), "{}", actor.canary);
    }
    let told = world.place.run(&["doctor", "--json"]).json();
    let about = told["findings"].to_string();
    assert!(world.actors.iter().all(|actor| about.contains(&actor.tenant)), "{about}");
}

/// A damaged file is one tenant's problem.
#[test]
fn damage_of_one_tenant_does_not_affect_another() {
    let mut world = TwoTenants::separate();
    world.server.signal("TERM");
    world.server.wait();
    let packs = world.place.home().join("tenants").join(&world.actors[0].tenant).join("packs");
    let file = packs.join("noema.db");
    let bytes = fs::read(&file).unwrap();
    fs::write(&file, &bytes[..bytes.len() / 2]).unwrap();
    let server = world.place.http(&["--tools", "all"]);
    let actors = ["ann", "bob"].map(|name| {
        let key = world.place.run(&["keys", "create", "again", "--user", name]).good();
        Actor {
            client: two_tenants::bearer(&server, key.trim()),
            canary: String::new(),
            tenant: String::new(),
        }
    });
    let damaged = actors[0].call("search-cards", json!({"query": ""})).to_string();
    assert!(damaged.contains("PACK_DAMAGED"), "{damaged}");
    let intact = actors[1].call("search-cards", json!({"query": ""})).to_string();
    assert!(intact.contains(&world.actors[1].canary), "{intact}");
    assert_eq!(server.client().get("/readyz").status, 200);
}
