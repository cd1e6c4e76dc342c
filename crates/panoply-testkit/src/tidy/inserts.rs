//! INSERT statements name their columns: a positional one breaks, or writes into the wrong column,
//! when a migration adds a column. Migrations themselves are frozen `.sql` files.

use super::{Problem, Repository, SourceFile};

/// Every INSERT without a list of columns, outside tests.
pub fn positional(repository: &Repository) -> Vec<Problem> {
    let is_code = |file: &&SourceFile| {
        file.path.ends_with(".rs")
            && file.path.contains("/src/")
            && !file.path.ends_with("tests.rs")
    };
    repository.files.iter().filter(is_code).flat_map(of_file).collect()
}

fn of_file(file: &SourceFile) -> Vec<Problem> {
    let code = file.text.split("#[cfg(test)]").next().unwrap_or_default();
    let statements = code.match_indices("INSERT ").filter_map(|(place, _)| {
        let (_, target) = code.get(place..)?.split_once("INTO ")?;
        let target = target.trim_start();
        let name = target.find(|one: char| !(one.is_alphanumeric() || "_.{}".contains(one)))?;
        let rest = target.get(name..)?.trim_start_matches(['\\', '\n', ' ']);
        let is_positional = rest.starts_with("VALUES") || rest.starts_with("SELECT");
        is_positional.then_some(place)
    });
    statements
        .map(|place| {
            let line = code.get(..place).map_or(0, |before| before.lines().count().max(1));
            let what = "an INSERT without column names; write `INSERT INTO table (column, …)`";
            Problem::at(&file.path, line, what.to_owned())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positional_inserts_are_found_and_named_ones_are_not() {
        let cases = [
            ("\"INSERT INTO card VALUES (?1)\"", 1),
            ("\"INSERT OR IGNORE INTO card\n    SELECT id FROM note\"", 1),
            ("\"INSERT INTO {table} VALUES ({all})\"", 1),
            ("\"INSERT INTO card (id) VALUES (?1)\"", 0),
            ("\"INSERT OR REPLACE INTO card \\\n    (id) SELECT 1\"", 0),
            ("#[cfg(test)]\nmod tests { \"INSERT INTO card VALUES (1)\" }", 0),
        ];
        for (text, expected) in cases {
            let found = positional(&Repository::sample(&[("crates/a/src/b.rs", text)]));
            assert_eq!(found.len(), expected, "{text}");
        }
        let elsewhere = [("crates/a/tests/b.rs", cases[0].0), ("crates/a/src/b.sql", cases[0].0)];
        assert_eq!(positional(&Repository::sample(&elsewhere)), []);
    }
}
