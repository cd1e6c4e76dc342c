//! Random calls of all tools, resources, prompts and routes that a server publishes. Tools are
//! taken from `tools/list` and their arguments from schemas and examples, routes from the router,
//! so a new one is covered without being named. Items of the first caller are shared with the
//! second and withdrawn in between.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::examples;
use super::shares::Item;
use super::surfaces::Surfaces;
use super::two_tenants::{Actor, RUN, TwoTenants, fill_deck, strings};

/// Ids taken from replies to both callers; each uses the other's.
const MAX_IDS: usize = 300;

pub(super) struct RandomCalls<'a> {
    world: &'a TwoTenants,
    tools: Vec<Value>,
    examples: BTreeMap<String, Vec<Value>>,
    templates: Vec<String>,
    resources: Vec<String>,
    /// As listed, with their arguments.
    prompts: Vec<Value>,
    surfaces: Surfaces,
    /// Items of the first caller, and whether the second may read them now.
    items: Vec<(Item, bool)>,
    ids: BTreeSet<String>,
    random: Random,
    found: Found,
}

/// Result of a run.
#[derive(Default)]
pub(super) struct Found {
    /// Replies with a canary of the other tenant.
    pub(super) leaks: Vec<String>,
    /// Successful calls by tool.
    succeeded: BTreeMap<String, usize>,
    called: BTreeMap<String, usize>,
    /// Calls, without their arguments, whose reply had the caller's own canary although the call
    /// had not.
    with_data: BTreeMap<String, usize>,
    /// Replies to the second caller with the canary of a shared item, by its pack.
    shared: BTreeMap<&'static str, usize>,
}

impl Found {
    /// Every kind of item was read while it was shared.
    pub(super) fn assert_shared(&self) {
        let packs: Vec<&str> = self.shared.keys().copied().collect();
        assert_eq!(packs, ["backtest", "noema", "ttm"], "shared items seen: {:?}", self.shared);
    }

    /// A run that only gets errors, or replies without data of a tenant, would show nothing.
    pub(super) fn assert_coverage(&self) {
        assert!(self.with_data.len() >= 8, "replies with data: {:?}", self.with_data);
        let succeeded = self.succeeded.len();
        let silent: Vec<&String> =
            self.called.keys().filter(|tool| !self.succeeded.contains_key(*tool)).collect();
        assert!(
            succeeded * 100 >= self.called.len() * 80,
            "{succeeded} of {} tools succeeded; never: {silent:?}",
            self.called.len()
        );
    }
}

impl<'a> RandomCalls<'a> {
    pub(super) fn new(world: &'a TwoTenants, seed: u64) -> Self {
        let client = &world.actors[0].client;
        let list = |method: &str, member: &str| {
            let reply = client.rpc("/mcp", method, json!({}));
            assert!(reply["result"]["nextCursor"].is_null(), "{method} has pages");
            reply["result"][member].as_array().cloned().unwrap_or_default()
        };
        let text = |items: Vec<Value>, member: &str| -> Vec<String> {
            items.iter().filter_map(|item| item[member].as_str().map(str::to_owned)).collect()
        };
        let tools = list("tools/list", "tools");
        assert!(tools.len() > 60, "{} tools", tools.len());
        let mut calls = Self {
            world,
            examples: BTreeMap::new(),
            templates: text(list("resources/templates/list", "resourceTemplates"), "uriTemplate"),
            resources: text(list("resources/list", "resources"), "uri"),
            prompts: list("prompts/list", "prompts"),
            surfaces: Surfaces::of(world),
            items: Vec::new(),
            tools,
            ids: BTreeSet::from([RUN.to_owned()]),
            random: Random(seed),
            found: Found::default(),
        };
        calls.examples = calls.tools.iter().map(|tool| calls.examples_of(tool)).collect();
        calls
    }

    fn examples_of(&self, tool: &Value) -> (String, Vec<Value>) {
        let name = tool["name"].as_str().unwrap().to_owned();
        let told = self.world.actors[0].call("describe-tool", json!({"name": name}));
        let examples = told["structuredContent"]["data"]["examples"].as_array().cloned();
        (name, examples.unwrap_or_default())
    }

    /// Calls every tool with examples of its contract until one succeeds; the callers by turns.
    fn every_tool(&mut self) {
        for (place, (tool, examples)) in self.examples.clone().into_iter().enumerate() {
            let who = place % 2;
            for example in examples.iter().filter(|example| examples::succeeds(example)) {
                let (call, reply) = examples::call(self.actor(who), &tool, example);
                self.check(who, &(call, reply.to_string()));
                if self.count(&tool, &reply) {
                    break;
                }
            }
        }
    }

    /// Counts a call of a tool; whether it succeeded.
    fn count(&mut self, tool: &str, reply: &Value) -> bool {
        *self.found.called.entry(tool.to_owned()).or_default() += 1;
        let is_good = reply["isError"] == json!(false);
        if is_good {
            *self.found.succeeded.entry(tool.to_owned()).or_default() += 1;
        }
        is_good
    }

    /// Shares and withdraws these items of the first caller between the calls.
    pub(super) fn with_items(mut self, items: Vec<Item>) -> Self {
        self.items = items.into_iter().map(|item| (item, false)).collect();
        self
    }

    pub(super) fn run(mut self, operations: usize) -> Found {
        self.every_tool();
        for (method, path) in self.surfaces.all() {
            for who in 0..2 {
                let reply = self.request(who, method, &path);
                self.check(who, &reply);
            }
        }
        for number in 0..operations {
            if number % 20 == 0 {
                // Random calls delete and undo what there is.
                self.world.actors.iter().for_each(fill_deck);
                self.share_or_withdraw();
            }
            let who = self.random.below(2);
            let reply = match self.random.below(10) {
                0 => self.route(who),
                1 => self.resource_or_prompt(who),
                2 => self.graphql(who),
                3 if !self.items.is_empty() => self.item(who),
                _ => self.tool(who),
            };
            self.check(who, &reply);
        }
        self.found
    }

    fn actor(&self, who: usize) -> &'a Actor {
        &self.world.actors[who]
    }

    fn tool(&mut self, who: usize) -> (String, String) {
        let reads = |tool: &&Value| tool["annotations"]["readOnlyHint"] == json!(true);
        let readers = self.tools.iter().filter(reads).count();
        // Two of three calls read: a change shows less of the data.
        let tool = match self.random.below(3) {
            0 => self.tools[self.random.below(self.tools.len())].clone(),
            _ => {
                let place = self.random.below(readers);
                self.tools.iter().filter(reads).nth(place).cloned().unwrap()
            }
        };
        let name = tool["name"].as_str().unwrap().to_owned();
        let examples = self.examples.get(&name).cloned().unwrap_or_default();
        let arguments = match self.random.below(3) {
            0 => self.value(&tool["inputSchema"], &tool["inputSchema"], "", who),
            _ if examples.is_empty() => json!({}),
            _ => {
                let example = &examples[self.random.below(examples.len())]["params"];
                self.with_other_ids(example, "", who)
            }
        };
        let shown = format!("{name} {arguments}");
        let is_shared = |(item, _): &(Item, bool)| {
            shown.contains(&item.id) || item.ids.iter().any(|id| shown.contains(id))
        };
        if who == 0 && !reads(&&tool) && self.items.iter().any(is_shared) {
            // What the owner puts into a shared item is rightly seen by the other.
            return (shown, String::new());
        }
        let reply = self.actor(who).call(&name, arguments);
        self.count(&name, &reply);
        (shown, reply.to_string())
    }

    fn resource_or_prompt(&mut self, who: usize) -> (String, String) {
        let client = &self.actor(who).client;
        let (method, params) = match self.random.below(4) {
            0 if !self.prompts.is_empty() => {
                let prompt = self.prompts[self.random.below(self.prompts.len())].clone();
                let named = prompt["arguments"].as_array().cloned().unwrap_or_default();
                let arguments: Map<String, Value> = named
                    .iter()
                    .filter_map(|argument| argument["name"].as_str())
                    .map(|name| {
                        let value = if name == "runId" { self.run_id() } else { self.id("") };
                        (name.to_owned(), json!(value))
                    })
                    .collect();
                ("prompts/get", json!({"name": prompt["name"], "arguments": arguments}))
            }
            1 => {
                let uri = &self.resources[self.random.below(self.resources.len())];
                ("resources/read", json!({"uri": uri}))
            }
            2 => {
                let template = &self.templates[self.random.below(self.templates.len())];
                let names = variables(template);
                let name = names[self.random.below(names.len())];
                let typed = ["", "z", "H:"][self.random.below(3)];
                let of = json!({"type": "ref/resource", "uri": template});
                let argument = json!({"name": name, "value": typed});
                ("completion/complete", json!({"ref": of, "argument": argument}))
            }
            _ => {
                let template = self.templates[self.random.below(self.templates.len())].clone();
                ("resources/read", json!({"uri": self.filled(&template)}))
            }
        };
        (format!("{method} {params}"), client.rpc("/mcp", method, params).to_string())
    }

    /// Replaces every variable of a URI template by an id.
    fn filled(&mut self, template: &str) -> String {
        let mut uri = String::new();
        for part in template.split('{') {
            match part.split_once('}') {
                Some((_, rest)) => {
                    uri.push_str(&self.id(""));
                    uri.push_str(rest);
                }
                None => uri.push_str(part),
            }
        }
        uri
    }

    fn route(&mut self, who: usize) -> (String, String) {
        let all = self.surfaces.all();
        let (method, path) = all[self.random.below(all.len())].clone();
        self.request(who, method, &path)
    }

    /// Requests a route, with ids for the variables of its path and a body that suits it.
    fn request(&mut self, who: usize, method: &str, path: &str) -> (String, String) {
        let run = if self.random.below(2) == 0 { RUN.to_owned() } else { self.id("") };
        let path = self.surfaces.filled(path, &run).replace(' ', "%20");
        let (id, word) = (self.id(""), self.word(who));
        let (headers, body) = self.surfaces.body(&path, &[id, word, run]);
        let reply = self.actor(who).client.request(method, &path, &headers, &body);
        (format!("{method} {path}"), reply.text())
    }

    fn graphql(&mut self, who: usize) -> (String, String) {
        let place = self.random.below(self.surfaces.fields.len());
        let text = if self.random.below(2) == 0 { self.id("") } else { self.word(who) };
        let query = format!("{{ {} }}", self.surfaces.fields[place].query(&text));
        let reply = self.actor(who).client.post("/graphql", &json!({"query": query}));
        (query, reply.text())
    }

    /// Reads a shareable item by its ids.
    fn item(&mut self, who: usize) -> (String, String) {
        let place = self.random.below(self.items.len());
        let reads = self.items[place].0.reads();
        let (method, params) = reads[self.random.below(reads.len())].clone();
        let call = format!("{method} {params}");
        (call, self.actor(who).client.rpc("/mcp", method, params).to_string())
    }

    /// Begins or ends the sharing of a random item.
    fn share_or_withdraw(&mut self) {
        if self.items.is_empty() {
            return;
        }
        let place = self.random.below(self.items.len());
        let [owner, recipient] = &self.world.actors;
        let (item, is_shared) = &mut self.items[place];
        let done = match *is_shared {
            true => item.withdraw(owner, recipient),
            false => item.share(owner, recipient),
        };
        // The owner may have deleted it meanwhile.
        *is_shared = !*is_shared && done["isError"] == json!(false);
    }

    /// Notes a reply with the canary of an item, which is a leak unless it is shared.
    fn check_items(&mut self, who: usize, call: &str, reply: &str) {
        for (item, is_shared) in self.items.iter().filter(|(item, _)| reply.contains(&item.canary))
        {
            match (who, is_shared) {
                (0, _) => {}
                (_, true) => *self.found.shared.entry(item.pack).or_default() += 1,
                (_, false) => self.found.leaks.push(format!("not shared: {call} -> {reply}")),
            }
        }
    }

    /// Notes a leak, and collects ids for later calls of both.
    fn check(&mut self, who: usize, (call, reply): &(String, String)) {
        let other = &self.actor(1 - who).canary;
        if reply.to_lowercase().contains(other.as_str()) {
            self.found.leaks.push(format!("{call} -> {reply}"));
        }
        self.check_items(who, call, reply);
        let own = &self.actor(who).canary;
        if reply.contains(own.as_str()) && !call.contains(own.as_str()) {
            let name = call.split([' ', '(']).next().unwrap_or_default();
            *self.found.with_data.entry(name.to_owned()).or_default() += 1;
        }
        let Ok(reply) = serde_json::from_str::<Value>(reply) else { return };
        let mut ids = Vec::new();
        strings(&reply, &mut |text| {
            let is_id = (3..60).contains(&text.len())
                && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_:".contains(&byte))
                && text.bytes().any(|byte| byte.is_ascii_digit());
            if is_id && !text.contains("zq") {
                ids.push(text.to_owned());
            }
        });
        for id in ids {
            if self.ids.len() < MAX_IDS || self.random.below(8) == 0 {
                self.ids.insert(id);
            }
        }
        while self.ids.len() > MAX_IDS {
            if let Some(id) = self.ids.iter().nth(self.random.below(MAX_IDS)).cloned() {
                self.ids.remove(&id);
            }
        }
    }

    /// A random id with this beginning.
    fn id(&mut self, prefix: &str) -> String {
        let of_items: Vec<String> = self
            .items
            .iter()
            .flat_map(|(item, _)| item.ids.iter().chain([&item.id]))
            .filter(|id| id.starts_with(prefix))
            .cloned()
            .collect();
        if !of_items.is_empty() && self.random.below(4) == 0 {
            return of_items[self.random.below(of_items.len())].clone();
        }
        let fitting: Vec<String> =
            self.ids.iter().filter(|id| id.starts_with(prefix)).cloned().collect();
        match fitting.is_empty() {
            true => format!("{prefix}1794744000000"),
            false => fitting[self.random.below(fitting.len())].clone(),
        }
    }

    /// The run that both have, or that of a shareable item.
    fn run_id(&mut self) -> String {
        let shareable = self.items.iter().find(|(item, _)| item.pack == "backtest");
        match shareable.map(|(item, _)| item.id.clone()) {
            Some(run) if self.random.below(3) == 0 => run,
            _ => RUN.to_owned(),
        }
    }

    /// A text that both tenants use, or the caller's own canary.
    fn word(&mut self, who: usize) -> String {
        let own = self.actor(who).canary.clone();
        let words = ["Same name", "same", "secret", "confidential", "ginger", "", "RiskEvent"];
        match self.random.below(words.len() + 1) {
            place if place < words.len() => words[place].to_owned(),
            _ => own,
        }
    }

    /// The example with ids of either tenant in place of its own, and other texts.
    fn with_other_ids(&mut self, example: &Value, name: &str, who: usize) -> Value {
        match example {
            Value::Object(members) => {
                let replaced = members.iter().map(|(name, value)| {
                    let value = self.with_other_ids(value, name, who);
                    (name.clone(), value)
                });
                Value::Object(replaced.collect::<Map<String, Value>>())
            }
            Value::Array(items) => {
                items.iter().map(|item| self.with_other_ids(item, name, who)).collect()
            }
            Value::String(text) if name == "runId" || name.ends_with("RunId") => {
                let _of_the_sample = text;
                json!(self.run_id())
            }
            Value::String(text) => match text.split_once('_') {
                Some((prefix, _)) if name.ends_with("Id") || name.ends_with("Ids") => {
                    json!(self.id(&format!("{prefix}_")))
                }
                _ if name == "eventType" => json!("RiskEvent"),
                _ if ["query", "text", "front", "question"].contains(&name) => {
                    json!(self.word(who))
                }
                _ => example.clone(),
            },
            other => other.clone(),
        }
    }

    /// A value that the schema allows, most of the time.
    fn value(&mut self, schema: &Value, root: &Value, name: &str, who: usize) -> Value {
        if let Some(place) = schema["$ref"].as_str() {
            let found = root.pointer(place.trim_start_matches('#')).cloned().unwrap_or_default();
            return self.value(&found, root, name, who);
        }
        if let Some(options) = schema["enum"].as_array() {
            return options[self.random.below(options.len())].clone();
        }
        for any in ["anyOf", "oneOf", "allOf"] {
            if let Some(options) = schema[any].as_array() {
                let option = options[self.random.below(options.len())].clone();
                return self.value(&option, root, name, who);
            }
        }
        let kind = match &schema["type"] {
            Value::Array(kinds) => kinds[0].as_str().unwrap_or("string").to_owned(),
            kind => kind.as_str().unwrap_or("string").to_owned(),
        };
        match kind.as_str() {
            "object" => self.object(schema, root, who),
            "array" => {
                let count = 1 + self.random.below(2);
                (0..count).map(|_| self.value(&schema["items"], root, name, who)).collect()
            }
            "boolean" => json!(self.random.below(2) == 0),
            "integer" | "number" => {
                let least = schema["minimum"].as_i64().unwrap_or(1);
                json!(least + i64::try_from(self.random.below(5)).unwrap())
            }
            "null" => Value::Null,
            _ => match schema["pattern"].as_str().and_then(|pattern| prefix_of(pattern)) {
                Some(prefix) => json!(self.id(prefix)),
                None if name == "runId" => json!(self.run_id()),
                None if name == "source" => json!(self.id("J-")),
                None if name.ends_with("Id") || name == "id" => json!(self.id("")),
                None => json!(self.word(who)),
            },
        }
    }

    fn object(&mut self, schema: &Value, root: &Value, who: usize) -> Value {
        let required: Vec<&str> = schema["required"]
            .as_array()
            .map(|names| names.iter().filter_map(Value::as_str).collect())
            .unwrap_or_default();
        let mut made = Map::new();
        for (name, of) in schema["properties"].as_object().cloned().unwrap_or_default() {
            // Paths and passwords of other systems are not the subject.
            let wanted = required.contains(&name.as_str()) || self.random.below(4) == 0;
            if wanted {
                let value = self.value(&of, root, &name, who);
                made.insert(name, value);
            }
        }
        Value::Object(made)
    }
}

/// Names of the variables of a URI template: `id` and `page` of `doc://{id}{?page}`.
fn variables(template: &str) -> Vec<&str> {
    let expressions = template.split('{').skip(1).filter_map(|part| part.split('}').next());
    let names: Vec<&str> = expressions
        .flat_map(|expression| {
            expression.trim_start_matches(['+', '#', '.', '/', ';', '?', '&']).split(',')
        })
        .map(|name| name.trim_end_matches('*'))
        .collect();
    assert!(!names.is_empty(), "no variable in {template}");
    names
}

/// `deck_` of `^deck_[0-9A-Za-z_-]{1,64}$`.
fn prefix_of(pattern: &str) -> Option<&str> {
    pattern.strip_prefix('^')?.split('[').next().filter(|prefix| prefix.ends_with('_'))
}

/// SplitMix64: the same seed makes the same calls.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % bound as u64).unwrap()
    }
}
