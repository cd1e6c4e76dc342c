//! What has been published stays: names, parameters and fields that agents may rely on.
//!
//! `docs/published.json` records every tool as it was published. A tool may gain optional
//! parameters and fields at any time. What would break a caller needs a new major version of the
//! tool, and a new name where callers cannot follow.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::tidy::Problem;

/// Where the record is kept.
pub const RECORD: &str = "docs/published.json";

/// Every published tool by name.
pub type Record = BTreeMap<String, Published>;

/// What callers of a tool may rely on.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct Published {
    /// The version of the tool's contract.
    pub version: String,
    /// The parameters it takes.
    pub parameters: BTreeSet<String>,
    /// Those that a caller must give.
    pub required: BTreeSet<String>,
    /// The fields of its structured reply.
    pub fields: BTreeSet<String>,
}

/// Makes the record of what `tools/list` says. The version is read from the tool's `_meta`.
pub fn record(tools: &[Value]) -> Record {
    let entry = |tool: &Value| {
        let (input, output) = (tool.get("inputSchema"), tool.get("outputSchema"));
        let published = Published {
            version: version_of(tool).unwrap_or_default(),
            parameters: keys(input.and_then(|schema| schema.get("properties"))),
            required: texts(input.and_then(|schema| schema.get("required"))),
            fields: keys(output.and_then(|schema| schema.get("properties"))),
        };
        Some((tool.get("name")?.as_str()?.to_owned(), published))
    };
    tools.iter().filter_map(entry).collect()
}

/// What callers relied on and no longer have.
pub fn broken(before: &Record, now: &Record) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (name, old) in before {
        let Some(new) = now.get(name) else {
            let what =
                "a published name never changes; deprecate the tool and keep it until its date";
            problems.push(Problem::of(name, what));
            continue;
        };
        if major(&new.version) > major(&old.version) {
            continue;
        }
        let breaches = [
            ("no longer takes", old.parameters.difference(&new.parameters)),
            ("now requires", new.required.difference(&old.required)),
            ("no longer answers", old.fields.difference(&new.fields)),
        ];
        for (what, names) in breaches {
            problems.extend(names.map(|field| {
                Problem::of(name, format!("{what} `{field}`; that is a new major version"))
            }));
        }
    }
    problems
}

fn version_of(tool: &Value) -> Option<String> {
    tool.get("_meta")?.get("panoply/version")?.as_str().map(str::to_owned)
}

fn major(version: &str) -> u32 {
    version.split('.').next().and_then(|number| number.parse().ok()).unwrap_or_default()
}

fn keys(object: Option<&Value>) -> BTreeSet<String> {
    object
        .and_then(Value::as_object)
        .into_iter()
        .flat_map(|members| members.keys().cloned())
        .collect()
}

fn texts(list: Option<&Value>) -> BTreeSet<String> {
    let items = list.and_then(Value::as_array).into_iter().flatten();
    items.filter_map(Value::as_str).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn tool(version: &str, parameters: &[&str], required: &[&str], fields: &[&str]) -> Record {
        let named =
            |names: &[&str]| names.iter().map(|name| ((*name).to_owned(), json!({}))).collect();
        let properties = |names: &[&str]| Value::Object(named(names));
        record(&[json!({
            "name": "get-card",
            "inputSchema": {"properties": properties(parameters), "required": required},
            "outputSchema": {"properties": properties(fields)},
            "_meta": {"panoply/version": version},
        })])
    }

    #[test]
    fn only_what_breaks_a_caller_is_a_breach() {
        let before = tool("1.0.0", &["a", "b"], &["a"], &["x"]);
        let cases = [
            (tool("1.1.0", &["a", "b", "c"], &["a"], &["x", "y"]), vec![]),
            (tool("1.1.0", &["a"], &["a"], &["x"]), vec!["no longer takes `b`"]),
            (tool("1.1.0", &["a", "b"], &["a", "b"], &["x"]), vec!["now requires `b`"]),
            (tool("1.1.0", &["a", "b"], &["a"], &[]), vec!["no longer answers `x`"]),
            (tool("2.0.0", &["b"], &["b"], &[]), vec![]),
            (Record::new(), vec!["a published name never changes"]),
        ];
        for (now, expected) in cases {
            let found = broken(&before, &now);
            assert_eq!(found.len(), expected.len(), "{now:?}: {found:?}");
            for (problem, expected) in found.iter().zip(expected) {
                assert!(problem.what.starts_with(expected), "{problem}");
            }
        }
    }
}
