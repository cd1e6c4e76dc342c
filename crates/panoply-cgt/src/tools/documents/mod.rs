//! MCP resources: the transaction language and the matching rules.

use futures::FutureExt;
use futures::future::BoxFuture;
use panoply_contract::context::CallContext;
use panoply_contract::error::ToolError;
use panoply_contract::resource::{Resource, ResourceBody, ResourceContent, ResourceProvider};

use crate::dsl::grammar::FORMS;

const TYPE: &str = "text/markdown";
const TAX_RULES: &str = include_str!("tax_rules.md");
const SYNTAX: &str = include_str!("dsl_syntax.md");
/// Placeholder of the table of actions.
const ACTIONS: &str = "{{actions}}\n";

pub(super) struct Documents;

struct Document {
    uri: &'static str,
    name: &'static str,
    title: &'static str,
    description: &'static str,
}

const DOCUMENTS: [Document; 2] = [
    Document {
        uri: "cgt://docs/tax-rules",
        name: "tax-rules",
        title: "Share matching rules",
        description: "How HMRC matches sales of shares with purchases, with the law behind each rule.",
    },
    Document {
        uri: "cgt://docs/dsl-syntax",
        name: "dsl-syntax",
        title: "Transaction language",
        description: "How transactions are written, as text and as JSON, with examples.",
    },
];

impl Document {
    fn text(&self) -> String {
        match self.name {
            "tax-rules" => TAX_RULES.to_owned(),
            _ => SYNTAX.replace(ACTIONS, &actions()),
        }
    }
}

/// Table of actions, generated from the grammar.
fn actions() -> String {
    let rows: Vec<String> = FORMS
        .iter()
        .map(|form| {
            format!(
                "| `{}` | {} | `{}` |\n",
                form.form.replace('|', "\\|"),
                form.means,
                form.example
            )
        })
        .collect();
    format!("| after the date | meaning | example |\n|---|---|---|\n{}", rows.concat())
}

impl ResourceProvider for Documents {
    fn resources(&self) -> Vec<Resource> {
        let resource = |document: &Document| Resource {
            uri: document.uri.to_owned(),
            name: document.name.to_owned(),
            title: document.title.to_owned(),
            description: document.description.to_owned(),
            mime_type: TYPE.to_owned(),
            size: u64::try_from(document.text().len()).ok(),
        };
        DOCUMENTS.iter().map(resource).collect()
    }

    fn read<'a>(
        &'a self,
        uri: &'a str,
        _cx: &'a CallContext,
    ) -> BoxFuture<'a, Option<Result<ResourceContent, ToolError>>> {
        let found = DOCUMENTS.iter().find(|document| document.uri == uri);
        let content = found.map(|document| {
            Ok(ResourceContent {
                uri: uri.to_owned(),
                mime_type: TYPE.to_owned(),
                body: ResourceBody::Text(document.text()),
                meta: serde_json::Map::new(),
            })
        });
        async move { content }.boxed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn syntax_document_examples_parse() {
        let text = DOCUMENTS[1].text();
        assert!(!text.contains("{{"), "a blank was left");
        let mut blocks = 0;
        for block in text.split("```text\n").skip(1) {
            let lines = block.split("```").next().unwrap();
            assert!(crate::dsl::parse(lines).is_ok(), "{lines}: {:?}", crate::dsl::parse(lines));
            blocks += 1;
        }
        for block in text.split("```json\n").skip(1) {
            let json = block.split("```").next().unwrap();
            assert!(crate::json::parse(json).is_ok(), "{json}");
            blocks += 1;
        }
        assert!(blocks >= 3);
    }
}
