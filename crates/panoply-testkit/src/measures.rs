//! Measures of the tree: lines, files, functions and public items per crate, as Markdown.
//!
//! Counted from the text, relying on rustfmt: a function ends with a brace at the indentation it
//! started with. `docs/measures.md` holds the last count, so that growth shows in a diff.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::tidy::{Repository, SourceFile};

/// A function longer than this is worth a second look.
const LONG_FUNCTION: usize = 60;

/// What is counted in one crate.
#[derive(Default)]
struct Measures {
    files: usize,
    code: usize,
    comments: usize,
    tests: usize,
    public: usize,
    longest_file: usize,
    /// Lines of each production function.
    functions: Vec<usize>,
}

/// The table for `docs/measures.md`.
pub fn table(repository: &Repository) -> String {
    let mut crates: BTreeMap<&str, Measures> = BTreeMap::new();
    for file in repository.rust() {
        let Some(name) = file.path.strip_prefix("crates/").and_then(|path| path.split('/').next())
        else {
            continue;
        };
        crates.entry(name).or_default().add(file);
    }
    let mut out = String::from(
        "| crate | files | code | comments | tests | public items | functions | p99 | over 60 | longest file |\n\
         |---|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n",
    );
    let mut all = Measures::default();
    for (name, measures) in &crates {
        row(&mut out, name, measures);
        all.merge(measures);
    }
    row(&mut out, "**all**", &all);
    out
}

fn row(out: &mut String, name: &str, measures: &Measures) {
    let mut lengths = measures.functions.clone();
    lengths.sort_unstable();
    let p99 = lengths.get((lengths.len() * 99 / 100).min(lengths.len().saturating_sub(1)));
    let over = lengths.iter().filter(|length| **length > LONG_FUNCTION).count();
    let _ = writeln!(
        out,
        "| {name} | {} | {} | {} | {} | {} | {} | {} | {over} | {} |",
        measures.files,
        measures.code,
        measures.comments,
        measures.tests,
        measures.public,
        lengths.len(),
        p99.copied().unwrap_or_default(),
        measures.longest_file,
    );
}

impl Measures {
    fn add(&mut self, file: &SourceFile) {
        self.files += 1;
        self.longest_file = self.longest_file.max(file.text.lines().count());
        if is_test_file(&file.path) {
            self.tests += file.text.lines().filter(|line| !line.trim().is_empty()).count();
            return;
        }
        let production = file.production_lines().count();
        let mut open: Option<(usize, usize)> = None;
        for (number, line) in file.lines() {
            let text = line.trim();
            if text.is_empty() {
                continue;
            }
            if number > production {
                self.tests += 1;
                continue;
            }
            if text.starts_with("//") {
                self.comments += 1;
                continue;
            }
            self.code += 1;
            if text.starts_with("pub ") {
                self.public += 1;
            }
            let indent = line.len() - line.trim_start().len();
            match open {
                None if is_function(text) && !text.ends_with(';') => open = Some((number, indent)),
                Some((start, at)) if at == indent && text.starts_with('}') => {
                    self.functions.push(number - start + 1);
                    open = None;
                }
                _ => {}
            }
        }
    }

    fn merge(&mut self, other: &Self) {
        self.files += other.files;
        self.code += other.code;
        self.comments += other.comments;
        self.tests += other.tests;
        self.public += other.public;
        self.longest_file = self.longest_file.max(other.longest_file);
        self.functions.extend(&other.functions);
    }
}

/// Integration tests, and unit tests in a file of their own.
fn is_test_file(path: &str) -> bool {
    let in_tests = path.split('/').any(|part| part == "tests");
    in_tests || path.ends_with("/tests.rs")
}

fn is_function(text: &str) -> bool {
    let words = text.split_whitespace().take_while(|word| !word.contains('('));
    words.into_iter().any(|word| word == "fn") || text.contains(" fn ") || text.starts_with("fn ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_comments_tests_and_functions_are_counted_apart() {
        let source = "//! Purpose.\n\n/// Doc.\npub fn a(\n    b: u8,\n) -> u8 {\n    b\n}\n\n\
                      #[cfg(test)]\nmod tests {\n    fn c() {}\n}\n";
        let sample = Repository::sample(&[
            ("crates/x/src/lib.rs", source),
            ("crates/x/tests/it.rs", "fn d() {}\n"),
        ]);
        let table = table(&sample);
        let expected = "| x | 2 | 5 | 2 | 5 | 1 | 1 | 5 | 0 | 13 |";
        assert!(table.contains(expected), "{table}");
    }
}
