//! The names of all tests, read from the sources without building anything.
//!
//! It relies on rustfmt: an inline module ends with a brace at the indentation it started with.

use std::collections::BTreeSet;

use super::{Problem, Repository, SourceFile};

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

/// Tests that `./test` or the configuration of nextest selects by a name that no test has: such a
/// step runs nothing and passes.
pub fn missing_selections(repository: &Repository) -> Vec<Problem> {
    let is_function = |name: &str| {
        repository.rust().any(|file| {
            file.text
                .lines()
                .filter_map(|line| function(line.trim_start()))
                .any(|found| found.starts_with(name))
        })
    };
    let files = ["test", ".config/nextest.toml"].map(|path| repository.file(path));
    let mut problems = Vec::new();
    for file in files.into_iter().flatten() {
        for (number, line) in file.lines() {
            for name in selections(line).filter(|name| !is_function(name)) {
                let what = format!("no test is named `{name}`");
                problems.push(Problem::at(&file.path, number, what));
            }
        }
    }
    problems
}

/// The names in `test(NAME)` and behind `--ignored`.
fn selections(line: &str) -> impl Iterator<Item = &str> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let until = move |text: &str| text.find(|c| !is_name(c)).unwrap_or(text.len());
    let filters = line.split("test(").skip(1);
    let arguments = line.split("--ignored ").skip(1);
    filters
        .chain(arguments)
        .filter_map(move |text| text.get(..until(text)))
        .filter(|name| !name.is_empty())
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

    #[test]
    fn selection_of_a_missing_test_is_a_problem() {
        let script =
            "nextest -E 'test(gone)'\nnextest -E 'test(known)'\ncargo test -- --ignored lost";
        let sample = Repository::sample(&[
            ("test", script),
            ("crates/a/tests/it.rs", "#[test]\nfn known_property() {}\n"),
        ]);
        let found = missing_selections(&sample);
        let places: Vec<&str> = found.iter().map(|problem| problem.place.as_str()).collect();
        assert_eq!(places, ["test:1", "test:3"]);
    }
}
