//! No Rust file lies about unread: each is a crate root or is declared by one through `mod`.

use std::collections::BTreeSet;

use super::{Problem, Repository, SourceFile, normal_path};

/// Folders whose files are compiled one by one by a test: cases that must not compile.
const CASES: [&str; 3] = ["/compile_fail/", "/ui/", "/fixtures/"];

/// Files that no crate root reaches, and `mod` lines that lead nowhere.
pub fn orphans(repository: &Repository) -> Vec<Problem> {
    let mut reached = BTreeSet::new();
    let mut problems = Vec::new();
    for file in repository.rust().filter(|file| is_root(&file.path)) {
        reach(repository, file, &mut reached, &mut problems);
    }
    let lost = repository.rust().filter(|file| {
        !reached.contains(&file.path) && !CASES.iter().any(|folder| file.path.contains(folder))
    });
    problems.extend(lost.map(|file| {
        Problem::of(&file.path, "no `mod` line leads here, so the compiler never sees it")
    }));
    problems
}

fn reach(
    repository: &Repository,
    file: &SourceFile,
    reached: &mut BTreeSet<String>,
    problems: &mut Vec<Problem>,
) {
    if !reached.insert(file.path.clone()) {
        return;
    }
    for (line, name, path) in declarations(file) {
        let candidates = match path {
            Some(path) => vec![normal_path(&format!("{}/{path}", folder_of(&file.path)))],
            None => places_of(&file.path, &name),
        };
        match candidates.iter().find_map(|path| repository.file(path)) {
            Some(child) => reach(repository, child, reached, problems),
            None => {
                problems.push(Problem::at(&file.path, line, format!("`mod {name}` has no file")));
            }
        }
    }
}

/// The `mod name;` lines of a file with the `#[path]` above them, if any.
fn declarations(file: &SourceFile) -> Vec<(usize, String, Option<String>)> {
    let mut found = Vec::new();
    let mut path = None;
    for (number, line) in file.lines() {
        let line = line.trim();
        if let Some(rest) = line.strip_prefix("#[path = \"") {
            path = rest.split('"').next().map(str::to_owned);
        } else if let Some(name) = declared(line) {
            found.push((number, name.to_owned(), path.take()));
        }
    }
    found
}

/// The name in `mod name;`, whatever its visibility.
fn declared(line: &str) -> Option<&str> {
    let (before, rest) = line.split_once("mod ")?;
    let visible = matches!(before.trim(), "" | "pub") || before.starts_with("pub(");
    let name = rest.strip_suffix(';')?;
    let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    (visible && plain).then_some(name)
}

fn places_of(path: &str, name: &str) -> Vec<String> {
    let stem = path.trim_end_matches(".rs");
    let folder = if is_root(path) || path.ends_with("/mod.rs") {
        folder_of(path).to_owned()
    } else {
        stem.to_owned()
    };
    vec![format!("{folder}/{name}.rs"), format!("{folder}/{name}/mod.rs")]
}

fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// Whether cargo finds this file by itself.
fn is_root(path: &str) -> bool {
    let parts: Vec<&str> = path.split('/').collect();
    let (["crates", _, inside @ ..] | ["fuzz", inside @ ..]) = parts.as_slice() else {
        return false;
    };
    match inside {
        ["build.rs"] | ["src", "lib.rs" | "main.rs"] => true,
        ["src", "bin", _] | ["src", "bin", _, "main.rs"] => true,
        ["tests" | "benches" | "examples" | "fuzz_targets", name] => name.ends_with(".rs"),
        ["tests" | "benches" | "examples", _, "main.rs"] => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_nobody_declares_is_an_orphan() {
        let sample = Repository::sample(&[
            ("crates/a/src/lib.rs", "pub mod used;\nmod folder;\n// mod gone;\nmod inline {}\n"),
            ("crates/a/src/used.rs", "#[cfg(test)]\nmod deep;"),
            ("crates/a/src/used/deep.rs", ""),
            ("crates/a/src/folder/mod.rs", "pub(crate) mod leaf;"),
            ("crates/a/src/folder/leaf.rs", ""),
            ("crates/a/src/lost.rs", ""),
            ("crates/a/tests/it/main.rs", "#[path = \"../common/mod.rs\"]\nmod common;"),
            ("crates/a/tests/common/mod.rs", "//! A helper"),
            ("crates/a/tests/compile_fail/no_tag.rs", ""),
        ]);
        let found = orphans(&sample);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].place, "crates/a/src/lost.rs");
    }

    #[test]
    fn a_declaration_without_a_file_is_named() {
        let sample = Repository::sample(&[("crates/a/src/lib.rs", "//! A.\nmod nowhere;")]);
        assert_eq!(
            orphans(&sample),
            [Problem::at("crates/a/src/lib.rs", 2, "`mod nowhere` has no file")]
        );
    }
}
