//! Every environment variable is declared in one file, so that an operator can read them there.

use super::{Problem, Repository, SourceFile};

/// Where they are declared.
pub const DECLARED_IN: &str = "crates/panoply/src/env_vars.rs";
/// What our own variables start with.
const PREFIX: &str = "PANOPLY_";

/// Reads of the environment elsewhere, and names that the file does not declare.
pub fn undeclared(repository: &Repository) -> Vec<Problem> {
    let declared = repository.file(DECLARED_IN).map(names).unwrap_or_default();
    let mut problems = Vec::new();
    for file in repository.files.iter().filter(|file| file.path != DECLARED_IN) {
        // A build script learns from cargo this way where to write; no operator runs it.
        let asks_cargo = file.path.ends_with("/build.rs");
        if file.path.ends_with(".rs") && !file.is_for_tests() && !asks_cargo {
            problems.extend(reads(file));
        }
        // What steers a test or a script of ours is not the operator's business.
        if file.path.starts_with("data/") || file.is_for_tests() {
            continue;
        }
        for (number, line) in file.lines() {
            for name in names_in(line).filter(|name| !declared.contains(name)) {
                let what = format!("`{name}` is not declared in {DECLARED_IN}");
                problems.push(Problem::at(&file.path, number, what));
            }
        }
    }
    problems
}

fn reads(file: &SourceFile) -> Vec<Problem> {
    let calls = ["env::var(", "env::var_os(", "env::vars(", "env::vars_os("];
    let found = file.production_lines().filter(|(_, line)| {
        calls.iter().any(|call| line.contains(call)) && !line.trim_start().starts_with("//")
    });
    found
        .map(|(number, _)| {
            let what = format!("read the environment in {DECLARED_IN} and pass the value on");
            Problem::at(&file.path, number, what)
        })
        .collect()
}

fn names(file: &SourceFile) -> Vec<String> {
    file.text.lines().flat_map(names_in).collect()
}

/// The names on a line that start with our prefix; the bare prefix is not a name.
fn names_in(line: &str) -> impl Iterator<Item = String> {
    line.match_indices(PREFIX).filter_map(move |(start, _)| {
        let before = line.get(..start)?.chars().next_back();
        if before.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_') {
            return None;
        }
        let name: String = line
            .get(start..)?
            .chars()
            .take_while(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || *c == '_')
            .collect();
        (name != PREFIX).then_some(name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_not_declared_is_found_in_code_and_prose() {
        let sample = Repository::sample(&[
            (DECLARED_IN, "pub const HOME: &str = \"PANOPLY_HOME\";"),
            ("README.md", "Set `PANOPLY_HOME`, or `PANOPLY_HOUSE` if you must."),
            ("crates/a/src/lib.rs", "starts_with(\"PANOPLY_\"); MY_PANOPLY_X"),
        ]);
        let found = undeclared(&sample);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].place, "README.md:1");
        assert!(found[0].what.contains("PANOPLY_HOUSE"));
    }

    #[test]
    fn the_environment_is_read_in_one_file() {
        let read = "let x = std::env::var(\"X\");\nlet args = env::args();";
        let sample = Repository::sample(&[
            ("crates/a/src/lib.rs", read),
            ("crates/a/tests/it.rs", read),
            (DECLARED_IN, read),
        ]);
        let found = undeclared(&sample);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].place, "crates/a/src/lib.rs:1");
    }
}
