//! The routes, GraphQL fields and gRPC methods that a server publishes: from its router, its schema
//! and the service definition.

use serde_json::{Value, json};

use super::two_tenants::TwoTenants;

/// The services of gRPC.
const PROTO: &str = include_str!("../../../../panoply-api/proto/ttm/core/v1/ttm.proto");
const METHODS: [&str; 4] = ["GET", "PUT", "POST", "DELETE"];

pub(super) struct Surfaces {
    paths: Vec<String>,
    pub(super) fields: Vec<Field>,
}

/// A field of the GraphQL query type.
pub(super) struct Field {
    name: String,
    /// Names and types of the arguments that it requires.
    arguments: Vec<(String, String)>,
    /// Members of its value without members of their own.
    members: Vec<String>,
}

impl Surfaces {
    pub(super) fn of(world: &TwoTenants) -> Self {
        let log = world.server.log();
        let line = log.lines().find(|line| line.contains("/mcp/{pack}"));
        let line = line.unwrap_or_else(|| panic!("no routes in the log: {log}"));
        let words = line.split([' ', '"', '=']).filter(|word| word.starts_with('/'));
        let paths: Vec<String> = words.flat_map(with_methods).collect();
        assert!(paths.len() > 20, "{paths:?}");
        let fields = fields(world);
        assert!(fields.len() > 5, "{} fields", fields.len());
        Self { paths, fields }
    }

    /// Every path with every method.
    pub(super) fn all(&self) -> Vec<(&'static str, String)> {
        let of_path = |path: &String| METHODS.map(|method| (method, path.clone()));
        self.paths.iter().flat_map(of_path).collect()
    }

    /// A path with an id in place of its variables.
    pub(super) fn filled(&self, path: &str, id: &str) -> String {
        let mut filled = String::new();
        for part in path.split('{') {
            match part.split_once('}') {
                Some(("pack", rest)) => filled.extend(["noema", rest]),
                Some((_, rest)) => filled.extend([id, rest]),
                None => filled.push_str(part),
            }
        }
        filled
    }

    /// A body that the route at a path understands.
    pub(super) fn body(
        &self,
        path: &str,
        texts: &[String; 3],
    ) -> (Vec<(&'static str, &'static str)>, Vec<u8>) {
        let [id, word, run] = texts;
        if path.contains(".v1.") {
            return (vec![("content-type", "application/grpc"), ("te", "trailers")], frame(id));
        }
        let json = vec![
            ("content-type", "application/json"),
            ("accept", "application/json, text/event-stream"),
        ];
        let params = match path.len() % 2 {
            0 => json!({"name": "search-cards", "arguments": {"query": word}}),
            _ => json!({"name": "describe_run", "arguments": {"runId": run}}),
        };
        let body = match path {
            path if path.starts_with("/mcp") => {
                json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
            }
            path if path.starts_with("/graphql") => {
                json!({"query": format!("{{ hybridSearch(query: {}) {{ json }} }}", json!(word))})
            }
            _ => return (Vec::new(), Vec::new()),
        };
        (json, body.to_string().into_bytes())
    }
}

/// The paths of a service are those of its methods.
fn with_methods(path: &str) -> Vec<String> {
    let Some(service) = path.strip_suffix("/{*method}") else { return vec![path.to_owned()] };
    let name = service.rsplit('.').next().unwrap_or_default();
    let body = PROTO.split_once(&format!("service {name} {{")).map_or("", |(_, rest)| rest);
    let body = body.split_once("\n}").map_or("", |(body, _)| body);
    let rpcs = body.lines().filter_map(|line| line.trim().strip_prefix("rpc "));
    let methods: Vec<String> =
        rpcs.filter_map(|rpc| Some(format!("{service}/{}", rpc.split_once('(')?.0))).collect();
    if methods.is_empty() { vec![format!("{service}/Check")] } else { methods }
}

/// A gRPC message whose first field is a text.
pub(super) fn frame(text: &str) -> Vec<u8> {
    let text = text.as_bytes();
    let field = [&[0x0a, u8::try_from(text.len()).unwrap_or(0)], text].concat();
    let length = u32::try_from(field.len()).unwrap().to_be_bytes();
    [&[0], length.as_slice(), &field].concat()
}

fn fields(world: &TwoTenants) -> Vec<Field> {
    let of_type = "type { kind name ofType { kind name } }";
    let query = format!(
        "{{ __schema {{ queryType {{ fields {{ name args {{ name {of_type} }} {of_type} }} }} \
         types {{ name fields {{ name {of_type} }} }} }} }}"
    );
    let reply = world.actors[0].client.post("/graphql", &json!({"query": query})).json();
    let schema = &reply["data"]["__schema"];
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let name_of = |of_type: &Value| match &of_type["name"] {
        Value::Null => text(&of_type["ofType"]["name"]),
        name => text(name),
    };
    let is_plain = |of_type: &Value| {
        [&of_type["kind"], &of_type["ofType"]["kind"]].iter().all(|kind| **kind != json!("OBJECT"))
    };
    let types = list(&schema["types"]);
    let made = list(&schema["queryType"]["fields"]);
    assert!(!made.is_empty(), "{reply}");
    made.iter()
        .map(|field| {
            let required = |argument: &Value| argument["type"]["kind"] == json!("NON_NULL");
            let arguments = list(&field["args"]).into_iter().filter(required);
            let own = types.iter().find(|one| text(&one["name"]) == name_of(&field["type"]));
            let members = own.map(|own| list(&own["fields"])).unwrap_or_default();
            let members = members.iter().filter(|member| is_plain(&member["type"]));
            Field {
                name: text(&field["name"]),
                arguments: arguments
                    .map(|argument| (text(&argument["name"]), name_of(&argument["type"])))
                    .collect(),
                members: members.map(|member| text(&member["name"])).collect(),
            }
        })
        .collect()
}

impl Field {
    /// A query of this field, with a text for each required argument.
    pub(super) fn query(&self, text: &str) -> String {
        let value = |of_type: &str| match of_type {
            "String" | "ID" => json!(text).to_string(),
            "Int" => "1".to_owned(),
            "Boolean" => "true".to_owned(),
            // A list or an input object.
            _ => "[]".to_owned(),
        };
        let given: Vec<String> =
            self.arguments.iter().map(|(name, kind)| format!("{name}: {}", value(kind))).collect();
        let given =
            if given.is_empty() { String::new() } else { format!("({})", given.join(", ")) };
        let members = self.members.join(" ");
        let members = if members.is_empty() { String::new() } else { format!(" {{ {members} }}") };
        format!("{}{given}{members}", self.name)
    }
}
