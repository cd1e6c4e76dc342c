//! Tool arguments as table rows, from the input schema, for `describe` and `docs`.

use serde_json::Value;

/// One argument; those of nested objects have dotted names.
#[derive(Debug, Eq, PartialEq)]
pub(super) struct Parameter {
    pub(super) name: String,
    /// Type with choices or limits.
    pub(super) kind: String,
    pub(super) required: bool,
    pub(super) default: Option<String>,
    pub(super) description: String,
}

/// Every argument, in the order of the schema.
pub(super) fn of(schema: &Value) -> Vec<Parameter> {
    let mut found = Vec::new();
    collect(schema, "", &mut found);
    found
}

fn collect(schema: &Value, prefix: &str, found: &mut Vec<Parameter>) {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return };
    let required = schema.get("required").and_then(Value::as_array);
    for (name, below) in properties {
        let is_required =
            required.is_some_and(|names| names.iter().any(|other| other.as_str() == Some(name)));
        let full_name = format!("{prefix}{name}");
        found.push(Parameter {
            kind: kind(below),
            required: is_required,
            default: below.get("default").map(shown),
            description: text(below, "description"),
            name: full_name.clone(),
        });
        collect(below, &format!("{full_name}."), found);
    }
}

fn kind(schema: &Value) -> String {
    if let Some(choices) = schema.get("enum").and_then(Value::as_array) {
        return choices.iter().map(shown).collect::<Vec<_>>().join(" | ");
    }
    if let Some(choices) = schema.get("anyOf").or_else(|| schema.get("oneOf")) {
        let kinds = choices.as_array().into_iter().flatten().map(kind);
        return kinds.collect::<Vec<_>>().join(" or ");
    }
    let limits = limits(schema);
    match schema.get("type").and_then(Value::as_str) {
        Some("array") => match schema.get("items") {
            Some(items) => format!("list of {}{limits}", kind(items)),
            None => format!("list{limits}"),
        },
        Some(kind) => format!("{kind}{limits}"),
        None => "any".to_owned(),
    }
}

/// `, 1 to 100`, of values for numbers and of lengths for the rest.
fn limits(schema: &Value) -> String {
    let bound = |names: [&str; 3]| names.iter().find_map(|name| schema.get(*name)).map(shown);
    let least = bound(["minimum", "minLength", "minItems"]);
    let most = bound(["maximum", "maxLength", "maxItems"]);
    let of = match schema.get("type").and_then(Value::as_str) {
        Some("string") => " characters",
        Some("array") => " items",
        _ => "",
    };
    match (least, most) {
        (Some(least), Some(most)) => format!(", {least} to {most}{of}"),
        (Some(least), None) => format!(", at least {least}{of}"),
        (None, Some(most)) => format!(", at most {most}{of}"),
        (None, None) => String::new(),
    }
}

fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn text(schema: &Value, member: &str) -> String {
    let text = schema.get(member).and_then(Value::as_str).unwrap_or_default();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use serde_json::json;

    use super::*;

    #[test]
    fn nested_choices_and_limits_are_listed() {
        let schema = json!({
            "required": ["range"],
            "properties": {
                "limit": {"type": "integer", "minimum": 1, "maximum": 100, "default": 20},
                "range": {"type": "object", "description": "When.\nBoth ends count.", "properties": {
                    "from": {"type": "string", "maxLength": 10},
                }},
                "sort": {"enum": ["asc", "desc"], "type": "string"},
                "symbols": {"type": "array", "items": {"type": "string"}, "maxItems": 5},
                "id": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
            },
        });
        let lines: Vec<String> = of(&schema)
            .iter()
            .map(|row| {
                format!(
                    "{} [{}] {} {:?} {}",
                    row.name, row.kind, row.required, row.default, row.description
                )
            })
            .collect();
        expect![[r#"
            limit [integer, 1 to 100] false Some("20") 
            range [object] true None When. Both ends count.
            range.from [string, at most 10 characters] false None 
            sort [asc | desc] false None 
            symbols [list of string, at most 5 items] false None 
            id [string or integer] false None "#]]
        .assert_eq(&lines.join("\n"));
    }
}
