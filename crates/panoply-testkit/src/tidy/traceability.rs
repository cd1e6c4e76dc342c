//! `docs/traceability.md` is true: every test it names exists, and no line of a spec was dropped.

use std::collections::{BTreeMap, BTreeSet};

use super::{Problem, Repository, test_names};

/// Where the table is.
pub const DOCUMENT: &str = "docs/traceability.md";

/// How many lines each spec has. The document may say more, never less.
pub const RECORDED: [(&str, usize); 6] =
    [("TC", 167), ("RMF", 84), ("CGT", 58), ("TTM", 52), ("BT", 75), ("NO", 44)];

/// One line of a spec and what shows that we keep it.
#[derive(Clone, Debug, Eq, PartialEq)]
struct Row {
    line: usize,
    id: String,
    evidence: String,
}

/// Rows that name a test or a file that does not exist, repeated ids, and specs cut short.
pub fn problems(repository: &Repository, recorded: &[(&str, usize)]) -> Vec<Problem> {
    let Some(document) = repository.file(DOCUMENT) else {
        return vec![Problem::of(DOCUMENT, "it is missing")];
    };
    let rows: Vec<Row> = document.lines().filter_map(|(number, line)| row(number, line)).collect();
    let tests = test_names::all(repository);
    let mut problems = Vec::new();
    let mut seen = BTreeSet::new();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for row in &rows {
        if !seen.insert(&row.id) {
            problems.push(Problem::at(DOCUMENT, row.line, format!("`{}` stands twice", row.id)));
        }
        let spec = row.id.split('-').next().unwrap_or_default();
        *counts.entry(spec).or_default() += 1;
        let wrong = unproven(&row.evidence, repository, &tests).into_iter();
        problems.extend(
            wrong.map(|what| Problem::at(DOCUMENT, row.line, format!("{}: {what}", row.id))),
        );
    }
    for (spec, expected) in recorded {
        let count = counts.get(spec).copied().unwrap_or_default();
        if count < *expected {
            let what = format!("{count} lines of {spec}, and there were {expected}");
            problems.push(Problem::of(DOCUMENT, what));
        }
    }
    problems
}

/// `| TC-001 | what | evidence |`.
fn row(number: usize, line: &str) -> Option<Row> {
    let cells: Vec<&str> = line.trim().strip_prefix('|')?.strip_suffix('|')?.split('|').collect();
    let [id, _, evidence] = cells.as_slice() else { return None };
    let id = id.trim();
    let (spec, serial) = id.split_once('-')?;
    let named = spec.chars().all(|c| c.is_ascii_uppercase()) && !spec.is_empty();
    let numbered = serial.starts_with(|c: char| c.is_ascii_digit());
    (named && numbered).then(|| Row {
        line: number,
        id: id.to_owned(),
        evidence: evidence.trim().to_owned(),
    })
}

/// What is wrong with a cell, which names tests and files in backticks.
fn unproven(evidence: &str, repository: &Repository, tests: &BTreeSet<String>) -> Vec<String> {
    let names: Vec<&str> = evidence.split('`').skip(1).step_by(2).collect();
    if names.is_empty() {
        return vec!["name a test or a file".to_owned()];
    }
    let exists = |name: &str| {
        if name.contains("::") {
            tests.contains(&test_names::normal(name))
        } else {
            repository.file(name).is_some()
        }
    };
    let missing = names.into_iter().filter(|name| !exists(name));
    missing.map(|name| format!("`{name}` does not exist")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(document: &str) -> Vec<String> {
        let sample = Repository::sample(&[
            (DOCUMENT, document),
            ("crates/a/src/lib.rs", "#[cfg(test)]\nmod tests {\n    #[test]\n    fn shown() {}\n}"),
            ("tests/outside/judge.py", ""),
        ]);
        problems(&sample, &[("TC", 1)]).into_iter().map(|problem| problem.what).collect()
    }

    #[test]
    fn a_true_document_passes() {
        let document = "# Head\n| id | line | shown by |\n|---|---|---|\n\
            | TC-1 | a | `a::shown`, `a::tests::shown` |\n\
            | TC-2 | b | `tests/outside/judge.py` |\n";
        assert_eq!(judge(document), [] as [&str; 0]);
    }

    #[test]
    fn each_untruth_is_found() {
        let cases = [
            ("| TC-1 | a | `a::gone` |", "TC-1: `a::gone` does not exist"),
            ("| TC-1 | a | `tests/gone.py` |", "TC-1: `tests/gone.py` does not exist"),
            ("| TC-1 | a | |", "TC-1: name a test or a file"),
            ("| TC-1 | a | `a::shown` |\n| TC-1 | b | `a::shown` |", "`TC-1` stands twice"),
            ("| BT-1 | a | `a::shown` |", "0 lines of TC, and there were 1"),
        ];
        for (document, expected) in cases {
            assert_eq!(judge(document), [expected], "document: {document}");
        }
    }
}
