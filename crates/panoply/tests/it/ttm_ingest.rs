//! `ingest_run` and `panoply ttm ingest`: plan, hash, job and rollback.

use serde_json::{Value, json};

use crate::place::Place;

const TEXT: &str = "บันทึกของข้าพเจ้า\n\nขมิ้นชันมีสารเคอร์คูมิน\n\nGinger contains curcumin.\n";

fn call(client: &mut panoply_testkit::client::StdioClient, tool: &str, input: Value) -> Value {
    client.result("tools/call", json!({"name": tool, "arguments": input}))
}

#[test]
fn ingest_plan_is_printed_applied_and_rolled_back() {
    let place = Place::new();
    let file = place.file("home/ttm/inbox/note.txt", TEXT);
    let batch =
        json!([{"uri": format!("file://{}", file.display()), "lang": "auto", "doc_type": "text"}]);
    let mut server = place.stdio(&["ttm", "--tools", "all"]);
    server.initialize("2025-11-25");
    let input = json!({
        "dry_run": true, "batch": batch, "ocr": {"provider": "auto", "params": {"dpi": "300"}},
        "ner": {"provider": "dictionary", "params": {"k": "v"}}, "wait_seconds": 50,
    });
    let plan = call(&mut server, "tool.ingest.run", input)["structuredContent"].clone();
    assert_eq!(plan["status"], "done", "{plan}");
    assert_eq!(plan["audit"]["status"], "ok");
    assert_eq!(plan["report"]["counts"]["new"], 1, "ginger is new, turmeric is known: {plan}");
    let ginger = &plan["report"]["facts"][1];
    assert_eq!((&ginger["subject"], &ginger["known"]), (&json!("H:ginger"), &json!(false)));
    assert_eq!(ginger["said"]["quote"], "Ginger contains curcumin");
    let documents = |place: &Place| {
        let said = place.run(&["call", "hybrid_search", "--json", "--arg", "query=บันทึกของข้าพเจ้า"]);
        let hits = said.json()["hits"].as_array().unwrap().clone();
        hits.iter().filter(|hit| hit["type"] == "chunk").count()
    };
    assert_eq!(documents(&place), 0, "a dry run adds nothing");

    let hash = plan["plan_hash"].clone();
    let bare = json!({"dry_run": false, "batch": batch});
    let refused = call(&mut server, "ingest_run", bare);
    assert!(refused["content"][0]["text"].as_str().unwrap().contains("plan_hash"), "{refused}");
    let real = json!({"dry_run": false, "batch": batch, "plan_hash": hash, "wait_seconds": 50});
    let done = call(&mut server, "ingest_run", real.clone())["structuredContent"].clone();
    assert_eq!(done["status"], "done", "{done}");
    assert!(done["report"]["recall_at_10"]["after"].as_f64().unwrap() > 0.8, "{done}");
    let again = call(&mut server, "ingest_run", real)["structuredContent"].clone();
    assert_eq!(again["detail"], "unchanged", "{again}");
    let walk = json!({
        "start": {"type": "herb", "id": "H:ginger"}, "pattern": "herb->constituent",
        "filters": {"limit": 200},
    });
    let paths = call(&mut server, "query_kg", walk)["structuredContent"]["paths"].clone();
    let path = paths.as_array().unwrap().iter().find(|path| path[1]["id"] == "C:curcumin").unwrap();
    assert_eq!(path[1]["edge"]["verified"], false);
    assert_eq!(path[1]["edge"]["said"][0]["quote"], "Ginger contains curcumin");
    let log = server.result("resources/read", json!({"uri": done["log_uri"]}));
    assert!(log["contents"][0]["text"].as_str().unwrap().contains("1 documents added"), "{log}");
    assert_eq!(documents(&place), 1, "another process sees it");

    let id = done["job_id"].as_str().unwrap();
    let said = place.run(&["ttm", "jobs", id, "--roll-back"]).good();
    assert!(said.contains("rolled_back"), "{said}");
    assert_eq!(documents(&place), 0);
    let twice = place.run(&["ttm", "jobs", id, "--roll-back"]);
    assert!(twice.err.contains("is already rolled back"), "{twice:?}");
    let undo = call(&mut server, "ingest_undo", json!({"job_id": plan["job_id"]}));
    assert!(undo["content"][0]["text"].as_str().unwrap().contains("was a dry run"), "{undo}");
    let jobs = call(&mut server, "ingest_jobs", json!({}))["structuredContent"].clone();
    assert_eq!(jobs["total"], 3, "{jobs}");
}

#[test]
fn unreadable_path_is_refused_with_a_hint() {
    let place = Place::new();
    let outside = place.file("elsewhere/note.txt", TEXT);
    std::fs::create_dir_all(place.home().join("ttm/inbox")).unwrap();
    let mut server = place.stdio(&["ttm"]);
    server.initialize("2025-11-25");
    let cases = [
        (
            format!("file://{}", outside.display()),
            "is not under a folder that the operator allowed",
        ),
        ("https://example.org/a.pdf".to_owned(), "network access is not supported"),
        ("file:///etc/../etc/passwd".to_owned(), "`..`"),
    ];
    for (uri, expected) in cases {
        let refused = call(&mut server, "ingest_run", json!({"batch": [{"uri": uri}]}));
        let text = refused["content"][0]["text"].as_str().unwrap();
        assert!(text.contains(expected) && text.contains("INVALID_ARG"), "{uri}: {text}");
    }
    let unknown = json!({"batch": [{"uri": "file:///a.pdf"}], "ner": {"provider": "gpt"}});
    let refused = call(&mut server, "ingest_run", unknown);
    assert!(refused["content"][0]["text"].as_str().unwrap().contains("use `dictionary`"));
    let readers = place.stdio(&["ttm", "--read-only"]);
    let mut readers = readers;
    readers.initialize("2025-11-25");
    let tools = readers.result("tools/list", json!({})).to_string();
    assert!(!tools.contains("ingest_run"), "who may only read is not offered it");
}

#[test]
fn cli_ingest_reads_files_in_place_and_prints_the_plan() {
    let place = Place::new();
    place.file("my notes/บันทึก 1.txt", TEXT);
    let said = place.run(&["ttm", "ingest", "my notes/บันทึก 1.txt"]).good();
    assert!(said.contains("new   H:ginger holds C:curcumin"), "{said}");
    let hash = said.rsplit("--apply ").next().unwrap().trim();
    let done = place.run(&["ttm", "ingest", "my notes/บันทึก 1.txt", "--apply", hash]).good();
    assert!(done.contains("R@10"), "{done}");
    let wrong = place.run(&["ttm", "ingest", "my notes/missing.pdf"]);
    assert!(wrong.out.contains("cannot be read") && wrong.status == Some(1), "{wrong:?}");
    let list = place.run(&["ttm", "jobs"]).good();
    assert_eq!(list.lines().count(), 3, "{list}");
    let log = place.run(&["ttm", "jobs", list.split("  ").next().unwrap(), "--log"]).good();
    assert!(log.contains("NOT_ALLOWED"), "{log}");
    let unknown = place.run(&["ttm", "jobs", "J-0"]);
    assert!(unknown.err.contains("there is no job `J-0`"), "{unknown:?}");
}

/// Every herb paired with every indication: a document that would flood the graph.
#[test]
fn ingest_that_degrades_search_is_rolled_back() {
    let names = |file: &str| -> Vec<String> {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/ttm");
        let rows = std::fs::read_to_string(format!("{folder}/{file}.jsonl")).unwrap();
        let name = |row: &str| {
            let row: Value = serde_json::from_str(row).unwrap();
            row["names"]["th"].as_str().unwrap().split(' ').next().unwrap().to_owned()
        };
        rows.lines().map(name).collect()
    };
    let (herbs, complaints) = (names("herbs"), names("indications"));
    let claims = herbs
        .iter()
        .flat_map(|herb| complaints.iter().map(move |one| format!("{herb}ใช้รักษา{one}\n\n")));
    let place = Place::new();
    place.file("panacea.txt", &claims.collect::<String>());
    let plan = place.run(&["ttm", "ingest", "panacea.txt"]).good();
    let hash = plan.rsplit("--apply ").next().unwrap().trim();
    let refused = place.run(&["ttm", "ingest", "panacea.txt", "--apply", hash, "--json"]);
    assert_eq!(refused.status, Some(1), "{refused:?}");
    let job = refused.json();
    assert_eq!((&job["status"], &job["detail"]), (&json!("error"), &json!("rolled_back")));
    assert_eq!(job["error"]["code"], "SEARCH_WORSE", "{job}");
    let claim = format!("{}ใช้รักษา{}", herbs[0], complaints[0]);
    let found = place.run(&["ttm", "search", &claim, "--json"]).json();
    let hits = found["hits"].as_array().unwrap();
    assert!(hits.iter().all(|hit| hit["type"] != "chunk"), "nothing of it is left: {found}");
}
