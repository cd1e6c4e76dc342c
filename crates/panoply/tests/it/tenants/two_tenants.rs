//! A server with two callers whose data have the same names, ids and document bytes.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use panoply_testkit::client::{HttpClient, HttpServer};
use serde_json::{Value, json};

use crate::place::Place;

/// An Anki package that both tenants have.
const PACKAGE: &[u8] =
    include_bytes!("../../../../panoply-noema/tests/golden/sample_anki26_latest.apkg");

/// An empty picture in base64.
pub(crate) const SVG: &str = "PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciLz4=";

/// A run that both tenants have.
pub(crate) const RUN: &str = "11111111-1111-4111-8111-111111111111";

/// The server and its two callers.
pub(crate) struct TwoTenants {
    pub(crate) place: Place,
    pub(crate) server: HttpServer,
    pub(crate) actors: [Actor; 2],
}

/// A caller.
pub(crate) struct Actor {
    pub(crate) client: HttpClient,
    /// Occurs in this tenant's data only.
    pub(crate) canary: String,
    pub(crate) tenant: String,
}

impl TwoTenants {
    /// Two users with an owner's key each.
    pub(crate) fn separate() -> Self {
        Self::in_place(Place::new())
    }

    /// The same over a home with settings.
    pub(crate) fn in_place(place: Place) -> Self {
        Self::with_keys(place, true)
    }

    /// Two owner's keys of the local tenant.
    pub(crate) fn shared() -> Self {
        Self::with_keys(Place::new(), false)
    }

    fn with_keys(place: Place, separate: bool) -> Self {
        let key = |name: &str| {
            let create = ["keys", "create", name, "--profile", "owner"];
            if !separate {
                return (place.run(&create).good(), String::new());
            }
            let added = place.run(&["users", "add", name, "--json"]).json();
            let create: Vec<&str> = create.into_iter().chain(["--user", name]).collect();
            (place.run(&create).good(), added["tenant"].as_str().unwrap().to_owned())
        };
        let keys = [key("ann"), key("bob")];
        let mut command = place.panoply(&["http", "--listen", "127.0.0.1:0", "--tools", "all"]);
        // The log lists the routes.
        command.env("PANOPLY_LOG", "warn,panoply_mcp::transport::http=debug");
        let server = HttpServer::spawn(&mut command);
        let actor = |(key, tenant): &(String, String), canary: &str| Actor {
            client: bearer(&server, key.trim()),
            canary: canary.to_owned(),
            tenant: tenant.clone(),
        };
        let actors = [actor(&keys[0], "zqalphazq"), actor(&keys[1], "zqbravozq")];
        let world = Self { place, server, actors };
        world.actors.iter().for_each(fill);
        world
    }

    /// A further caller with a new key.
    pub(crate) fn key(&self, arguments: &[&str]) -> Actor {
        let all: Vec<&str> =
            ["keys", "create", "more"].into_iter().chain(arguments.iter().copied()).collect();
        let key = self.place.run(&all).good();
        Actor {
            client: bearer(&self.server, key.trim()),
            canary: "zqnobodyzq".to_owned(),
            tenant: String::new(),
        }
    }

    /// Imports one Anki package for both: notes, cards and media with the same GUIDs and names.
    /// Each tags its copy with its canary.
    pub(crate) fn with_package(self) -> Self {
        for actor in &self.actors {
            let added = actor.import_package();
            assert!(added["notesAdded"].as_u64().is_some_and(|notes| notes > 0), "{added}");
            let media = json!({"name": format!("{}.svg", actor.canary), "contentBase64": SVG});
            let stored = actor.call("add-media", media);
            assert_eq!(stored["isError"], json!(false), "{stored}");
            let cards = actor.ids("search-cards", "card_");
            let tag = json!({"cardIds": cards, "tags": [actor.canary]});
            let tagged = actor.call("tag-cards", tag);
            assert_eq!(tagged["isError"], json!(false), "{tagged}");
        }
        self
    }

    /// Imports documents for both.
    pub(crate) fn with_documents(self) -> Self {
        self.actors.iter().for_each(|actor| self.ingest(actor));
        self
    }

    /// Imports a document with the canary, and one with the same bytes for both.
    fn ingest(&self, actor: &Actor) {
        let own = format!("Confidential {}. Ginger contains curcumin.\n", actor.canary);
        let name = format!("{}.txt", actor.canary);
        let files = [(name.as_str(), own.as_str()), ("same.txt", "Ginger contains piperine.\n")];
        self.ingest_files(actor, &files);
    }

    /// Imports documents; the id of the job.
    pub(crate) fn ingest_files(&self, actor: &Actor, files: &[(&str, &str)]) -> String {
        let home = format!("home/tenants/{}", actor.tenant);
        let uri = |(name, text): &(&str, &str)| {
            let file = self.place.file(&format!("{home}/ttm/inbox/{name}"), text);
            json!({"uri": format!("file://{}", file.display()), "doc_type": "text"})
        };
        let batch: Vec<Value> = files.iter().map(uri).collect();
        let plan = actor.call("ingest_run", json!({"batch": batch, "wait_seconds": 50}));
        let hash = &plan["structuredContent"]["plan_hash"];
        let apply =
            json!({"dry_run": false, "batch": batch, "plan_hash": hash, "wait_seconds": 50});
        let done = actor.call("ingest_run", apply);
        assert_eq!(done["structuredContent"]["status"], "done", "{plan} {done}");
        let job = done["structuredContent"]["job_id"].as_str();
        job.unwrap_or_else(|| panic!("no job: {done}")).to_owned()
    }
}

/// Makes a deck, cards, a portfolio and a run with the canary.
fn fill(actor: &Actor) {
    fill_deck(actor);
    fill_portfolio(actor);
    actor.fill_run(RUN);
}

/// Makes a deck, if it is not there, and cards with the canary.
pub(crate) fn fill_deck(actor: &Actor) {
    actor.call("create-deck", json!({"name": "Same name"}));
    let deck = actor.deck();
    let text = format!("secret {}", actor.canary);
    let note = json!({"front": text, "back": text, "tags": ["same"], "source": text});
    actor.call("create-cards", json!({"deckId": deck, "notes": [note, {"front": "same"}]}));
}

/// Makes a portfolio with the canary in its name, account and ticker.
fn fill_portfolio(actor: &Actor) {
    let name = format!("Same name {}", actor.canary);
    let made = actor.call("create_portfolio", json!({"name": name}));
    let id = &made["structuredContent"]["portfolio_id"];
    let lines = format!("2020-01-01 BUY {0} 10 @ 1\n2024-05-01 SELL {0} 5 @ 3", actor.canary);
    let add = json!({"portfolio_id": id, "account": actor.canary, "cgt_content": lines});
    let added = actor.call("add_transactions", add);
    assert_eq!(added["structuredContent"]["total"], 2, "{made} {added}");
}

pub(crate) fn bearer(server: &HttpServer, token: &str) -> HttpClient {
    server.client().with_header("authorization", &format!("Bearer {token}"))
}

impl Actor {
    /// Calls a tool.
    pub(crate) fn call(&self, tool: &str, arguments: Value) -> Value {
        let reply =
            self.client.rpc("/mcp", "tools/call", json!({"name": tool, "arguments": arguments}));
        if reply["result"].is_null() { reply } else { reply["result"].clone() }
    }

    /// Imports the Anki package; the counts of the reply.
    pub(crate) fn import_package(&self) -> Value {
        let content = STANDARD.encode(PACKAGE);
        let reply = self.call("import-package", json!({"contentBase64": content}));
        assert_eq!(reply["isError"], json!(false), "{reply}");
        reply["structuredContent"]["data"].clone()
    }

    /// The deck that both tenants have under this name.
    pub(crate) fn deck(&self) -> String {
        let reply = self.call("list-decks", json!({}));
        let decks = reply["structuredContent"]["data"]["decks"].as_array();
        let deck = decks.into_iter().flatten().find(|deck| deck["name"] == "Same name");
        deck.and_then(|deck| deck["deckId"].as_str())
            .unwrap_or_else(|| panic!("{reply}"))
            .to_owned()
    }

    /// The ids in the reply of a search for everything.
    pub(crate) fn ids(&self, tool: &str, prefix: &str) -> Vec<String> {
        let mut found = Vec::new();
        strings(&self.call(tool, json!({"query": ""})), &mut |text| {
            if text.starts_with(prefix) && !found.contains(&text.to_owned()) {
                found.push(text.to_owned());
            }
        });
        assert!(!found.is_empty(), "{tool} finds no {prefix}");
        found
    }

    /// Streams a run with the canary and seals it.
    pub(crate) fn fill_run(&self, run: &str) {
        let path = format!("/backtest/runs/{run}");
        let header = json!({"strategyName": format!("strategy {}", self.canary)});
        let put = self.client.request("PUT", &path, &[], header.to_string().as_bytes());
        // A key of the same tenant may have filled it before.
        let is_done = |status: u16| status < 300 || status == 409;
        assert!(is_done(put.status), "{}", put.text());
        let events: String = (0..3).map(|number| self.event(run, number)).collect();
        let ndjson = [("content-type", "application/x-ndjson")];
        let sent =
            self.client.request("POST", &format!("{path}/events"), &ndjson, events.as_bytes());
        assert!(is_done(sent.status), "{}", sent.text());
        let sealed = self.client.request("POST", &format!("{path}/seal"), &[], b"");
        assert_eq!(sealed.status, 200, "{}", sealed.text());
    }

    fn event(&self, run: &str, number: u64) -> String {
        let event = json!({
            "eventId": format!("00000000-0000-4000-8000-{number:012x}"), "runId": run,
            "timestamp": "2025-01-01T00:00:00.000Z", "eventType": "RiskEvent",
            "severity": "Info", "category": "Risk",
            "properties": {"RiskType": self.canary}, "parentEventId": null, "validationErrors": null,
        });
        format!("{event}\n")
    }
}

/// Visits every text of a JSON value.
pub(crate) fn strings(value: &Value, visit: &mut impl FnMut(&str)) {
    match value {
        Value::String(text) => visit(text),
        Value::Array(items) => items.iter().for_each(|item| strings(item, visit)),
        Value::Object(members) => members.values().for_each(|member| strings(member, visit)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
