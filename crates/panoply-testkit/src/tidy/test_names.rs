//! The names of all tests, read from the sources without building anything.
//!
//! It relies on rustfmt: an inline module ends with a brace at the indentation it started with.

use std::collections::BTreeSet;

use super::{Repository, SourceFile};

/// Every test as `crate::module::name`. The customary `mod tests` is left out of the path.
pub fn all(repository: &Repository) -> BTreeSet<String> {
    repository
        .rust()
        .filter_map(|file| Some((file, module_of(&file.path)?)))
        .flat_map(in_file)
        .collect()
}

/// Names as they are compared: without `tests` in the middle, and with `_` for `-`.
pub fn normal(name: &str) -> String {
    let parts = name.split("::").filter(|part| *part != "tests");
    parts.collect::<Vec<_>>().join("::").replace('-', "_")
}

fn in_file((file, module): (&SourceFile, String)) -> Vec<String> {
    let mut inline: Vec<(usize, &str)> = Vec::new();
    let mut names = Vec::new();
    let mut attribute = Attribute::None;
    for line in file.text.lines() {
        let text = line.trim_start();
        let indent = line.len() - text.len();
        if text.starts_with('}') {
            inline.retain(|(started, _)| *started != indent);
        } else if let Some(name) = text.strip_suffix(" {").and_then(inline_module) {
            inline.push((indent, name));
        } else if text.starts_with("#[") {
            attribute = attribute.and(text);
        } else if let Some(name) = function(text) {
            if attribute == Attribute::Test {
                let path = inline.iter().map(|(_, name)| *name);
                let parts: Vec<&str> =
                    [module.as_str()].into_iter().chain(path).chain([name]).collect();
                names.push(normal(&parts.join("::")));
            }
            attribute = Attribute::None;
        }
    }
    names
}

/// What the attributes above a function make of it.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Attribute {
    None,
    Test,
    /// It is a test, but nobody runs it.
    Ignored,
}

impl Attribute {
    fn and(self, line: &str) -> Self {
        let test = line.starts_with("#[test]") || line.starts_with("#[tokio::test");
        match self {
            _ if line.starts_with("#[ignore") => Self::Ignored,
            Self::None if test => Self::Test,
            Self::None | Self::Test | Self::Ignored => self,
        }
    }
}

fn inline_module(line: &str) -> Option<&str> {
    let (before, name) = line.split_once("mod ")?;
    (before.is_empty() || before.starts_with("pub")).then_some(name)
}

fn function(line: &str) -> Option<&str> {
    let line = line.trim_start_matches("pub ").trim_start_matches("async ");
    line.strip_prefix("fn ")?.split(['(', '<']).next()
}

/// `crates/panoply-mcp/src/http/auth.rs` is `panoply_mcp::http::auth`.
fn module_of(path: &str) -> Option<String> {
    let (krate, inside) = path.strip_prefix("crates/")?.split_once('/')?;
    let inside = inside.strip_prefix("src/").or_else(|| inside.strip_prefix("tests/"))?;
    let inside = inside.trim_end_matches(".rs");
    let parts = inside.split('/').filter(|part| !matches!(*part, "lib" | "main" | "mod"));
    let all: Vec<&str> = [krate].into_iter().chain(parts).collect();
    Some(all.join("::").replace('-', "_"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_found_with_their_modules() {
        let sample = Repository::sample(&[
            (
                "crates/panoply-mcp/src/http/auth.rs",
                "fn helper() {}\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn one() {\n    }\n\n    \
                 mod inner {\n        #[tokio::test(flavor = \"x\")]\n        #[should_panic]\n        \
                 async fn two() {}\n    }\n    #[test]\n    #[ignore]\n    fn three() {}\n}\n",
            ),
            (
                "crates/panoply-mcp/tests/it/main.rs",
                "proptest! {\n    #[test]\n    fn law(x in 0..9) {\n    }\n}",
            ),
            ("crates/panoply/src/lib.rs", "#[test]\nfn root() {}\n#[inline]\nfn not_a_test() {}"),
            ("tests/outside/x.rs", "#[test]\nfn elsewhere() {}"),
        ]);
        let names: Vec<String> = all(&sample).into_iter().collect();
        assert_eq!(
            names,
            [
                "panoply::root",
                "panoply_mcp::http::auth::inner::two",
                "panoply_mcp::http::auth::one",
                "panoply_mcp::it::law",
            ]
        );
    }

    #[test]
    fn names_are_compared_without_the_customary_module() {
        assert_eq!(normal("panoply-mcp::http::tests::one"), "panoply_mcp::http::one");
    }
}
