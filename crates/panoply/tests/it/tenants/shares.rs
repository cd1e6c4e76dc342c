//! Items of the first tenant that can be shared with the second: a run, a deck and documents, each
//! with a canary of its own.

use serde_json::{Value, json};

use super::two_tenants::{Actor, TwoTenants, strings};

/// An item of the first tenant.
pub(crate) struct Item {
    pub(crate) pack: &'static str,
    pub(crate) id: String,
    /// Occurs in this item only.
    pub(crate) canary: String,
    /// Further ids by which it is read.
    pub(crate) ids: Vec<String>,
}

impl Item {
    fn arguments(&self, recipient: &Actor) -> Value {
        json!({"pack": self.pack, "id": self.id, "recipient": recipient.tenant})
    }

    /// Requests that return the canary to who may read the item: method and parameters.
    pub(crate) fn reads(&self) -> Vec<(&'static str, Value)> {
        let tool = |name: &str, arguments: Value| {
            ("tools/call", json!({"name": name, "arguments": arguments}))
        };
        match self.pack {
            "backtest" => {
                let events = json!({"runId": self.id, "eventType": "RiskEvent"});
                let run = json!({"runId": self.id});
                vec![tool("describe_run", run), tool("get_events_by_type", events)]
            }
            "noema" => {
                let all = json!({"query": "", "deckId": self.id});
                let cards = self.ids.iter().filter(|id| id.starts_with("card_"));
                let cards = cards.map(|card| tool("get-card", json!({"cardId": card})));
                let deck = tool("get-deck", json!({"deckId": self.id}));
                [tool("search-cards", all), deck].into_iter().chain(cards).collect()
            }
            _ => {
                let words = json!({"query": self.canary, "filters": {"source": self.id}});
                vec![tool("hybrid_search", words), ("resources/read", json!({"uri": self.ids[0]}))]
            }
        }
    }

    pub(crate) fn share(&self, owner: &Actor, recipient: &Actor) -> Value {
        owner.call("share-item", self.arguments(recipient))
    }

    pub(crate) fn withdraw(&self, owner: &Actor, recipient: &Actor) -> Value {
        owner.call("withdraw-share", self.arguments(recipient))
    }
}

/// Makes a run, a deck and documents of the first tenant.
pub(crate) fn items(world: &TwoTenants) -> Vec<Item> {
    vec![run(world), deck(world), documents(world)]
}

/// Makes a run and a deck, which is quick.
pub(crate) fn run_and_deck(world: &TwoTenants) -> [Item; 2] {
    [run(world), deck(world)]
}

fn run(world: &TwoTenants) -> Item {
    let (id, canary) = ("77777777-7777-4777-8777-777777777777", "zqsharedrunzq");
    let ann = &world.actors[0];
    Actor { canary: canary.to_owned(), client: ann.client.clone(), tenant: String::new() }
        .fill_run(id);
    Item { pack: "backtest", id: id.to_owned(), canary: canary.to_owned(), ids: Vec::new() }
}

fn deck(world: &TwoTenants) -> Item {
    let (ann, canary) = (&world.actors[0], "zqshareddeckzq");
    let make = |name: &str| {
        let made = ann.call("create-deck", json!({"name": name}));
        made["structuredContent"]["data"]["deck"]["deckId"].as_str().unwrap().to_owned()
    };
    let name = format!("Shared {canary}");
    let (deck, sub) = (make(&name), make(&format!("{name}::Sub")));
    // Not a subdeck, although its name begins as one.
    let other = make(&format!("{name}:Not"));
    let mut cards = Vec::new();
    for (deck, text) in [(&deck, canary), (&sub, canary), (&other, ann.canary.as_str())] {
        let note = json!({"front": format!("{text} in {deck}"), "back": text});
        let made = ann.call("create-cards", json!({"deckId": deck, "notes": [note]}));
        if *deck == other {
            break;
        }
        strings(&made, &mut |text| {
            if text.starts_with("card_") && !cards.contains(&text.to_owned()) {
                cards.push(text.to_owned());
            }
        });
    }
    let ids = cards.into_iter().chain([sub]).collect();
    Item { pack: "noema", id: deck, canary: canary.to_owned(), ids }
}

fn documents(world: &TwoTenants) -> Item {
    let canary = "zqsharedtextzq";
    let text = format!("Shared {canary}. Ginger contains gingerol.\n");
    let job = world.ingest_files(&world.actors[0], &[("shared.txt", &text)]);
    let found = world.actors[0]
        .call("hybrid_search", json!({"query": canary, "filters": {"source": job.clone()}}));
    let mut uri = None;
    strings(&found, &mut |text| {
        if text.starts_with("doc://") {
            uri = Some(text.to_owned());
        }
    });
    let uri = uri.unwrap_or_else(|| panic!("no document: {found}"));
    let path = uri.trim_start_matches("doc://").split('/').next().unwrap_or_default().to_owned();
    Item { pack: "ttm", id: job, canary: canary.to_owned(), ids: vec![uri, path] }
}
