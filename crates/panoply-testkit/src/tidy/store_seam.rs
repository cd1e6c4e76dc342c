//! SQLite stays behind the stores: in a pack, only its store, and the reader and writer of a file
//! format that is a SQLite database, name `rusqlite`. A second backend then changes no other file.

use super::{Problem, Repository, SourceFile};

/// Folders and files of packs that know SQLite.
const BEHIND: &[&str] = &[
    "crates/panoply-backtest/src/store/",
    "crates/panoply-cgt/src/store/",
    "crates/panoply-noema/src/store/sqlite/",
    "crates/panoply-ttm/src/store/",
    // An Anki package contains a SQLite database.
    "crates/panoply-noema/src/anki/",
];

/// Crates without a database of their own kind, and the store itself.
const EXEMPT: &[&str] = &["crates/panoply-store/", "crates/panoply-testkit/"];

/// Every mention of `rusqlite` outside the stores and tests.
pub fn mentions(repository: &Repository) -> Vec<Problem> {
    let is_code = |file: &&SourceFile| file.path.ends_with(".rs") && file.path.contains("/src/");
    let is_in =
        |file: &SourceFile, list: &[&str]| list.iter().any(|start| file.path.starts_with(start));
    repository
        .files
        .iter()
        .filter(is_code)
        .filter(|file| !is_in(file, BEHIND) && !is_in(file, EXEMPT))
        .flat_map(of_file)
        .collect()
}

fn of_file(file: &SourceFile) -> Vec<Problem> {
    let code = file.text.split("#[cfg(test)]").next().unwrap_or_default();
    let lines = code.lines().enumerate().filter(|(_, line)| line.contains("rusqlite"));
    lines
        .map(|(number, _)| {
            let what = "`rusqlite` outside a store; let the store convert its types and errors";
            Problem::at(&file.path, number + 1, what.to_owned())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sqlite_outside_a_store_is_found() {
        let text = "fn write(&self, connection: &rusqlite::Connection);";
        let found = |path: &str| mentions(&Repository::sample(&[(path, text)])).len();
        assert_eq!(found("crates/panoply-noema/src/store/mod.rs"), 1);
        assert_eq!(found("crates/panoply-ttm/src/tools/mod.rs"), 1);
        assert_eq!(found("crates/panoply/src/packs.rs"), 1);
        assert_eq!(found("crates/panoply-noema/src/store/sqlite/write.rs"), 0);
        assert_eq!(found("crates/panoply-noema/tests/it/crash.rs"), 0);
    }
}
