//! Edits one table of a TOML text with `toml_edit`, which preserves comments, order and spacing.
//!
//! `toml_edit` writes LF only, so CRLF is converted before and after; a file that mixes both is
//! refused. The result is verified as in `json_text`.

use serde_json::{Map, Value};
use toml_edit::{Array, DocumentMut, InlineTable, Item, Table};

use super::json_text::Refused;

const MARK: &str = "\u{feff}";

/// Parses the document.
pub(super) fn read(text: &str) -> Result<Value, Refused> {
    parse(text.trim_start_matches(MARK)).map(|document| json_of(document.as_item()))
}

fn parse(text: &str) -> Result<DocumentMut, Refused> {
    text.parse()
        .map_err(|error: toml_edit::TomlError| Refused::NotParsed(error.message().to_owned()))
}

/// The document as JSON, with its members in order.
fn json_of(item: &Item) -> Value {
    match item {
        Item::None => Value::Null,
        Item::Value(value) => json_value(value),
        Item::Table(table) => members(table.iter().map(|(name, item)| (name, json_of(item)))),
        Item::ArrayOfTables(tables) => tables
            .iter()
            .map(|table| members(table.iter().map(|(name, item)| (name, json_of(item)))))
            .collect(),
    }
}

fn json_value(value: &toml_edit::Value) -> Value {
    match value {
        toml_edit::Value::String(text) => text.value().as_str().into(),
        toml_edit::Value::Integer(number) => (*number.value()).into(),
        toml_edit::Value::Float(number) => number.value().to_string().into(),
        toml_edit::Value::Boolean(value) => (*value.value()).into(),
        toml_edit::Value::Datetime(time) => time.value().to_string().into(),
        toml_edit::Value::Array(values) => values.iter().map(json_value).collect(),
        toml_edit::Value::InlineTable(table) => {
            members(table.iter().map(|(name, value)| (name, json_value(value))))
        }
    }
}

fn members<'a>(members: impl Iterator<Item = (&'a str, Value)>) -> Value {
    Value::Object(members.map(|(name, value)| (name.to_owned(), value)).collect())
}

/// Sets `section.name` to `entry`.
pub(super) fn set(text: &str, section: &str, name: &str, entry: &Value) -> Result<String, Refused> {
    let mut wanted = read(text)?;
    let entry = entry.as_object().ok_or(Refused::NotAnObject)?;
    let sections = wanted.as_object_mut().ok_or(Refused::NotAnObject)?;
    let entries = sections.entry(section).or_insert_with(|| Value::Object(Map::new()));
    let entries = entries.as_object_mut().ok_or(Refused::NotAnObject)?;
    entries.insert(name.to_owned(), Value::Object(entry.clone()));
    edit(text, &wanted, |document| {
        let servers = document.entry(section).or_insert_with(|| {
            let mut table = Table::new();
            table.set_implicit(true);
            Item::Table(table)
        });
        let servers = servers.as_table_like_mut()?;
        let server = servers.entry(name).or_insert_with(|| Item::Table(Table::new()));
        let server = server.as_table_like_mut()?;
        for (member, value) in entry {
            let value = toml_value(value)?;
            match server.get_mut(member).and_then(Item::as_value_mut) {
                // Keeps the comment behind the value.
                Some(there) => {
                    let decor = there.decor().clone();
                    *there = value;
                    *there.decor_mut() = decor;
                }
                None => {
                    server.insert(member, Item::Value(value));
                }
            }
        }
        Some(())
    })
}

/// Removes `section.name`; `None` when it does not exist.
pub(super) fn remove(text: &str, section: &str, name: &str) -> Result<Option<String>, Refused> {
    let mut wanted = read(text)?;
    let entries = wanted.get_mut(section).and_then(Value::as_object_mut);
    if entries.and_then(|entries| entries.shift_remove(name)).is_none() {
        return Ok(None);
    }
    let removed = edit(text, &wanted, |document| {
        document.get_mut(section)?.as_table_like_mut()?.remove(name).map(|_| ())
    });
    removed.map(Some)
}

/// Applies a change and verifies that the result is the wanted document.
fn edit(
    text: &str,
    wanted: &Value,
    change: impl FnOnce(&mut DocumentMut) -> Option<()>,
) -> Result<String, Refused> {
    let (mark, body) = match text.strip_prefix(MARK) {
        Some(body) => (MARK, body),
        None => ("", text),
    };
    let is_crlf = body.contains("\r\n");
    let lines = body.replace("\r\n", "\n");
    if is_crlf && lines.replace('\n', "\r\n") != body {
        return Err(Refused::MixedLineEnds);
    }
    let mut document = parse(&lines)?;
    change(&mut document).ok_or(Refused::NotAnObject)?;
    let mut changed = document.to_string();
    if is_crlf {
        changed = changed.replace('\n', "\r\n");
    }
    // An emptied section leaves no trace: without it the document means the same.
    let found = read(&changed)?;
    let is_wanted = found == *wanted || without_empty(found) == without_empty(wanted.clone());
    if is_wanted { Ok(format!("{mark}{changed}")) } else { Err(Refused::Ambiguous) }
}

fn without_empty(mut document: Value) -> Value {
    if let Some(members) = document.as_object_mut() {
        members.retain(|_, value| !value.as_object().is_some_and(Map::is_empty));
    }
    document
}

/// Converts a member of an entry; TOML has no null.
fn toml_value(value: &Value) -> Option<toml_edit::Value> {
    Some(match value {
        Value::Null => return None,
        Value::Bool(value) => (*value).into(),
        Value::Number(value) => match value.as_i64() {
            Some(value) => value.into(),
            None => value.as_f64()?.into(),
        },
        Value::String(value) => value.as_str().into(),
        Value::Array(values) => {
            toml_edit::Value::Array(values.iter().map(toml_value).collect::<Option<Array>>()?)
        }
        Value::Object(members) => {
            let mut table = InlineTable::new();
            for (name, value) in members {
                table.insert(name, toml_value(value)?);
            }
            toml_edit::Value::InlineTable(table)
        }
    })
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use serde_json::json;

    use super::*;

    #[test]
    fn comments_and_order_are_preserved() {
        let text = "# mine\nmodel = \"o3\" # best\n\n[mcp_servers.other]\ncommand = 'x'\n\n[profiles.a]\nx = 1_000\n";
        let entry = json!({"command": "/bin/panoply", "args": ["stdio"], "env": {"A": "b"}});
        let changed = set(text, "mcp_servers", "panoply", &entry).unwrap();
        expect![[r#"
            # mine
            model = "o3" # best

            [mcp_servers.other]
            command = 'x'

            [mcp_servers.panoply]
            command = "/bin/panoply"
            args = ["stdio"]
            env = { A = "b" }

            [profiles.a]
            x = 1_000
        "#]]
        .assert_eq(&changed);
        assert_eq!(remove(&changed, "mcp_servers", "panoply").unwrap().as_deref(), Some(text));
        assert_eq!(remove(text, "mcp_servers", "panoply"), Ok(None));
    }

    #[test]
    fn mixed_line_ends_and_other_shapes_are_refused() {
        let entry = json!({"command": "p"});
        assert_eq!(set("a = 1\r\nb = 2\n", "s", "p", &entry), Err(Refused::MixedLineEnds));
        assert_eq!(set("s = 1\n", "s", "p", &entry), Err(Refused::NotAnObject));
        assert!(matches!(set("= 1", "s", "p", &entry), Err(Refused::NotParsed(_))));
    }
}
