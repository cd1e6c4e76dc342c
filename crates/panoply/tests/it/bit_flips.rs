//! Bit flips in each kind of file: an error or the same reply, never a different one.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::place::Place;

/// Flips for each file in `./test`; `./test --long` runs [`thousand_bit_flips_of_each_file`].
const FEW: usize = 8;

/// Linear congruential generator with a fixed seed, for reproducible failures.
struct Random(u64);

impl Random {
    fn below(&mut self, below: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % below
    }
}

enum Ask {
    Pack(&'static str),
    Command(&'static [&'static str]),
}

/// Calls whose replies depend on a file of the home.
struct Kind {
    /// Its path below the home.
    file: String,
    /// A tool call or a command.
    ask: Ask,
    questions: Vec<(&'static str, Value)>,
}

const OPEN: &str = "11111111-1111-4111-8111-111111111111";
const SEALED: &str = "22222222-2222-4222-8222-222222222222";

fn kinds(home: &Path) -> Vec<Kind> {
    let only = |folder: &str| {
        let mut found: Vec<String> = fs::read_dir(home.join(folder))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| !name.starts_with('.'))
            .collect();
        assert_eq!(found.len(), 1, "{folder}: {found:?}");
        format!("{folder}/{}", found.remove(0))
    };

    let events = |run| json!({"runId": run, "eventType": "RiskEvent", "pageSize": 50});
    let search = |query| json!({"query": query, "filters": {"source": "imported"}});
    let kind = |file: &str, pack, questions| Kind {
        file: file.to_owned(),
        ask: Ask::Pack(pack),
        questions,
    };
    let told = |file: &str, command| Kind {
        file: file.to_owned(),
        ask: Ask::Command(command),
        questions: Vec::new(),
    };
    vec![
        kind(
            "packs/noema.db",
            "noema",
            vec![
                ("list-decks", json!({})),
                ("search-cards", json!({"query": "", "limit": 100})),
                ("search-cards", json!({"query": "front:*1*", "limit": 100})),
            ],
        ),
        kind("packs/backtest.db", "backtest", vec![("list_backtest_runs", json!({}))]),
        // An open run cannot be queried before it is sealed.
        told("packs/backtest/11111111-1111-4111-8111-111111111111.open", &["doctor", "--deep"]),
        kind(
            "packs/backtest/22222222-2222-4222-8222-222222222222.run",
            "backtest",
            vec![("get_events_by_type", events(SEALED))],
        ),
        kind(
            "packs/ttm.db",
            "ttm",
            vec![
                ("hybrid_search", search("kaempferia extract")),
                ("hybrid_search", search("ginger in rats")),
            ],
        ),
        kind("packs/cgt.db", "cgt", vec![("list_portfolios", json!({}))]),
        kind("packs/rmf.tsv", "rmf", vec![("get_rmf_funds", json!({}))]),
        kind(
            "audit.db",
            "cgt",
            vec![("get-audit-trail", json!({"limit": 5, "tool": "create-deck"}))],
        ),
        told("keys.db", &["keys", "list", "--json"]),
        told("kernel.db", &["doctor", "--deep"]),
        told(&only("audit-segments"), &["audit", "verify", "--json"]),
        told(&format!("{}/packs/noema.db", only("tenants")), &["doctor", "--deep"]),
    ]
}

/// A home with data of every persistent pack, without WAL files.
fn furnished() -> Place {
    let place = Place::new();
    place.run(&["call", "search-tools", "--arg", "query=deck"]).good();
    place.run(&["audit", "seal"]).good();
    place.run(&["call", "create-deck", "--arg", "name=Thai"]).good();
    let decks = place.run(&["call", "list-decks", "--json"]).out;
    let start = decks.find("deck_").unwrap();
    let id = |c: &char| c.is_ascii_alphanumeric() || *c == '_';
    let deck: String = decks[start..].chars().take_while(id).collect();
    let note = |n: usize| json!({"front": format!("word {n}"), "back": "meaning ".repeat(n)});
    let notes: Vec<Value> = (1..60).map(note).collect();
    let arguments = json!({"deckId": deck, "notes": notes}).to_string();
    place.run(&["call", "create-cards", &arguments]).good();
    fill_portfolio(&place);
    let papers: String = (0..40)
        .map(|n| {
            format!(
                "PMID- {}\nTI  - Kaempferia extract {n} and ginger in rats\n\
                 AB  - Rats were given extract {n}. {}\nAU  - Jaidee S\nDP  - 2020\n\n",
                90_000_000 + n,
                "It did them good. ".repeat(n),
            )
        })
        .collect();
    let papers = place.file("papers.nbib", &papers).display().to_string();
    place.run(&["ttm", "import-papers", &papers]).good();
    let figures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/rmf/rmf.tsv");
    fs::copy(figures, place.home().join("packs/rmf.tsv")).unwrap();
    let mut server = place.http(&["backtest"]);
    let client = server.client();
    for run in [OPEN, SEALED] {
        let header = br#"{"strategyName": "Flipped", "startTime": "2025-01-01T00:00:00Z"}"#;
        let path = format!("/backtest/runs/{run}");
        assert_eq!(client.request("PUT", &path, &[], header).status, 201);
        let events: String = (0..1500).map(|n| event(run, n)).collect();
        let headers = [("content-type", "application/x-ndjson")];
        let sent = client.request("POST", &format!("{path}/events"), &headers, events.as_bytes());
        assert_eq!(sent.status, 200);
    }
    let sealed = client.request("POST", &format!("/backtest/runs/{SEALED}/seal"), &[], b"");
    assert_eq!(sealed.status, 200, "{}", sealed.text());
    server.signal("TERM");
    server.wait();
    // The collection of a user is a copy of the local one.
    let user = place.run(&["users", "add", "ann", "--json"]).json();
    let packs = place.home().join("tenants").join(user["tenant"].as_str().unwrap()).join("packs");
    fs::create_dir_all(&packs).unwrap();
    fs::copy(place.home().join("packs/noema.db"), packs.join("noema.db")).unwrap();
    // Created last: a server requires a key once one exists.
    place.run(&["keys", "create", "k"]).good();
    place
}

fn fill_portfolio(place: &Place) {
    let made = place.run(&["call", "create_portfolio", "--arg", "name=Shares", "--json"]).json();
    let id = &made["portfolio_id"];
    let lines: Vec<String> = (1..29)
        .map(|day| format!("2024-02-{day:02} BUY A {day} @ 1 # {}", "x".repeat(40)))
        .collect();
    let add = json!({"portfolio_id": id, "cgt_content": lines.join("\n")}).to_string();
    place.run(&["call", "add_transactions", &add]).good();
}

fn event(run: &str, number: u64) -> String {
    let event = json!({
        "eventId": format!("00000000-0000-4000-8000-{number:012x}"),
        "runId": run,
        "timestamp": "2025-01-01T00:00:00.000Z",
        "eventType": "RiskEvent",
        "severity": "Info",
        "category": "Risk",
        "properties": {"RiskType": format!("kind {number}")},
        "parentEventId": null,
        "validationErrors": null,
    });
    format!("{event}\n")
}

/// Replies as text, without values that differ between calls.
fn answers(place: &Place, kind: &Kind) -> Vec<Result<String, String>> {
    let pack = match kind.ask {
        Ask::Pack(pack) => pack,
        Ask::Command(command) => {
            let said = place.run(command);
            return vec![if said.status == Some(0) { Ok(said.out) } else { Err(said.err) }];
        }
    };
    let mut client = place.stdio(&[pack]);
    // Errors of every pack are results of the tool from this version on.
    client.initialize("2025-11-25");
    let answers = kind.questions.iter().map(|(tool, arguments)| {
        // A damaged pack may be answered with an error of the protocol.
        let call = json!({"name": tool, "arguments": arguments});
        let reply = client.request("tools/call", call)["result"].take();
        if reply["isError"] == json!(false) {
            Ok(without_times(&reply["content"][0]["text"]))
        } else {
            Err(reply.to_string())
        }
    });
    let answers = answers.collect();
    client.end();
    answers
}

/// Text of a reply without timestamps.
fn without_times(text: &Value) -> String {
    let words = text.as_str().unwrap_or_default().split_whitespace();
    words.filter(|word| !word.contains(':')).collect::<Vec<_>>().join(" ")
}

fn flip(whole: &[u8], random: &mut Random) -> (Vec<u8>, String) {
    let length = 1 + random.below(16);
    let at = random.below(whole.len() - length);
    let mut bytes = whole.to_vec();
    for byte in &mut bytes[at..at + length] {
        *byte ^= u8::try_from(1 + random.below(255)).unwrap();
    }
    (bytes, format!("{length} bytes at {at}"))
}

fn without_logs(file: &Path) {
    for ending in ["-wal", "-shm"] {
        let mut name = file.as_os_str().to_owned();
        name.push(ending);
        let _ = fs::remove_file(PathBuf::from(name));
    }
}

fn flip_each_file(times: usize) {
    let place = furnished();
    for kind in kinds(&place.home()) {
        let file = place.home().join(&kind.file);
        let expected = answers(&place, &kind);
        assert!(expected.iter().all(Result::is_ok), "{}: {expected:?}", kind.file);
        let whole = fs::read(&file).unwrap();
        let mut random = Random(19);
        let (mut found, mut unchanged) = (0, 0);
        for _ in 0..times {
            let (bytes, what) = flip(&whole, &mut random);
            without_logs(&file);
            fs::write(&file, bytes).unwrap();
            let answers = answers(&place, &kind);
            for (answer, expected) in answers.iter().zip(&expected) {
                match answer {
                    Ok(answer) => {
                        assert_eq!(Ok(answer), expected.as_ref(), "{}: {what}", kind.file);
                    }
                    Err(_) => found += 1,
                }
            }
            unchanged += usize::from(answers.iter().all(Result::is_ok));
            without_logs(&file);
            fs::write(&file, &whole).unwrap();
        }
        assert!(found > 0, "{}: {times} flips, {unchanged} changed nothing", kind.file);
    }
}

/// Flips in the write-ahead log that a killed server leaves, where SQLite alone would drop the
/// changes after the damaged frame.
fn flip_write_ahead_log(times: usize) {
    let place = Place::new();
    let mut client = place.stdio(&["noema"]);
    client.initialize("2025-06-18");
    for name in ["Thai", "Lao", "Khmer", "Burmese", "Malay", "Mon"] {
        client.call_tool("create-deck", json!({"name": name}));
    }
    client.signal("KILL");
    drop(client);
    let files = ["packs/noema.db", "packs/noema.db-wal"].map(|name| place.home().join(name));
    let [database, log] = files.each_ref().map(|file| fs::read(file).unwrap());
    let kind = Kind {
        file: "packs/noema.db-wal".to_owned(),
        ask: Ask::Pack("noema"),
        questions: vec![("list-decks", json!({}))],
    };
    let ask = |log: &[u8]| {
        without_logs(&files[0]);
        fs::write(&files[0], &database).unwrap();
        fs::write(&files[1], log).unwrap();
        answers(&place, &kind)
    };
    let expected = ask(&log);
    assert!(expected.iter().all(|reply| reply.as_ref().is_ok_and(|text| text.contains("Mon"))));
    let mut random = Random(23);
    let mut found = 0;
    for _ in 0..times {
        let (flipped, what) = flip(&log, &mut random);
        let replies = ask(&flipped);
        found += replies.iter().filter(|reply| reply.is_err()).count();
        assert!(replies.iter().all(Result::is_err) || replies == expected, "{what}: {replies:?}");
    }
    assert!(found > 0, "{times} flips");
}

#[test]
fn bit_flip_is_an_error_or_changes_no_reply() {
    flip_each_file(FEW);
    flip_write_ahead_log(FEW);
}

#[test]
#[ignore = "takes many minutes: ./test --long"]
fn thousand_bit_flips_of_each_file() {
    flip_each_file(1000);
    flip_write_ahead_log(1000);
}
