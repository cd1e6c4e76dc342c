//! SQLite stays behind the traits of the stores, so that another backend changes no other file:
//! `rusqlite` is named only in modules `sqlite`, and their types only where stores are assembled.

use super::{Problem, Repository, SourceFile};

/// Code outside modules `sqlite` that may name `rusqlite`, with the reason.
const RUSQLITE: &[(&str, &str)] = &[
    ("crates/panoply-noema/src/anki/", "an Anki package contains a SQLite database"),
    ("crates/panoply-store/src/audit_log", "a log in SQLite; the trait is contract's `AuditLog`"),
    ("crates/panoply-store/src/kernel_db.rs", "has the trait `KernelStore` and its SQLite store"),
    ("crates/panoply-store/src/mutations", "a log in SQLite; the trait is contract's"),
    ("crates/panoply-store/src/preferences.rs", "a store in SQLite; the trait is contract's"),
    ("crates/panoply-store/src/shares.rs", "a store in SQLite; the trait is contract's"),
    ("crates/panoply-store/src/migrate.rs", "works on SQLite files"),
    ("crates/panoply-store/src/backup.rs", "works on SQLite files"),
    ("crates/panoply-store/src/check.rs", "works on SQLite files"),
    ("crates/panoply-store/src/dump.rs", "works on SQLite files"),
    ("crates/panoply-store/src/page_checksums.rs", "works on SQLite files"),
    ("crates/panoply-testkit/", "names it in rules"),
];

/// The program and the packs: they name a SQLite type only in these places.
const ASSEMBLE: &[(&str, &[&str])] = &[
    ("crates/panoply/src/", &["crates/panoply/src/stores.rs"]),
    ("crates/panoply-backtest/src/", &["crates/panoply-backtest/src/store/"]),
    ("crates/panoply-cgt/src/", &["crates/panoply-cgt/src/store/"]),
    ("crates/panoply-noema/src/", &["crates/panoply-noema/src/store/"]),
    ("crates/panoply-ttm/src/", &["crates/panoply-ttm/src/store/"]),
];

/// Every mention of `rusqlite` or of a SQLite type in code that must know the traits only.
pub fn mentions(repository: &Repository) -> Vec<Problem> {
    let is_code = |file: &&SourceFile| file.path.ends_with(".rs") && file.path.contains("/src/");
    repository.files.iter().filter(is_code).flat_map(of_file).collect()
}

fn of_file(file: &SourceFile) -> Vec<Problem> {
    let path = file.path.as_str();
    let mut found = Vec::new();
    let is_sqlite = path.contains("/sqlite/") || path.ends_with("/sqlite.rs");
    if !is_sqlite && !RUSQLITE.iter().any(|(start, _)| path.starts_with(start)) {
        let what = "`rusqlite` outside a module `sqlite`; let it convert its types and errors";
        found.extend(lines_with(file, "rusqlite", what));
    }
    let assembles = |(crate_folder, places): &(&str, &[&str])| {
        path.starts_with(crate_folder) && !places.iter().any(|place| path.starts_with(place))
    };
    if ASSEMBLE.iter().any(assembles) {
        let what = "a SQLite type where only the trait of the store may be known";
        found.extend(lines_with(file, "Sqlite", what));
    }
    found
}

/// Lines before the tests that contain a word, other than comments.
fn lines_with(file: &SourceFile, word: &str, what: &str) -> Vec<Problem> {
    let code = file.text.split("#[cfg(test)]").next().unwrap_or_default();
    let is_hit = |line: &str| line.contains(word) && !line.trim_start().starts_with("//");
    let lines = code.lines().enumerate().filter(|(_, line)| is_hit(line));
    lines.map(|(number, _)| Problem::at(&file.path, number + 1, what.to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> usize {
        mentions(&Repository::sample(&[(path, text)])).len()
    }

    #[test]
    fn rusqlite_outside_a_module_sqlite_is_found() {
        let text = "fn write(&self, connection: &rusqlite::Connection);";
        let cases = [
            ("crates/panoply-noema/src/store/mod.rs", 1),
            ("crates/panoply-cgt/src/store/mod.rs", 1),
            ("crates/panoply-ttm/src/tools/mod.rs", 1),
            ("crates/panoply/src/packs.rs", 1),
            ("crates/panoply-store/src/error.rs", 1),
            ("crates/panoply-store/src/keys.rs", 1),
            ("crates/panoply-store/src/sqlite/keys.rs", 0),
            ("crates/panoply-backtest/src/store/sqlite.rs", 0),
            ("crates/panoply-noema/src/store/sqlite/write.rs", 0),
            ("crates/panoply-noema/tests/it/crash.rs", 0),
        ];
        for (path, expected) in cases {
            assert_eq!(found(path, text), expected, "{path}");
        }
        assert_eq!(found("crates/panoply/src/packs.rs", "// what rusqlite does"), 0);
    }

    #[test]
    fn sqlite_store_is_named_only_where_stores_are_assembled() {
        let text = "fn pack(store: Arc<SqliteStore>) -> Pack;";
        let cases = [
            ("crates/panoply-noema/src/tools/mod.rs", 1),
            ("crates/panoply-cgt/src/tools/service.rs", 1),
            ("crates/panoply/src/packs.rs", 1),
            ("crates/panoply/src/commands/noema.rs", 1),
            ("crates/panoply/src/stores.rs", 0),
            ("crates/panoply-noema/src/store/mod.rs", 0),
            ("crates/panoply-bench/src/noema/mod.rs", 0),
        ];
        for (path, expected) in cases {
            assert_eq!(found(path, text), expected, "{path}");
        }
    }
}
