//! One place commits a transaction of PostgreSQL. tokio-postgres reports a `COMMIT` that the server
//! answered with `ROLLBACK` as success, so its transactions are not used, and a `COMMIT` is sent by
//! the function that asks what became of it.

use super::{Problem, Repository, SourceFile};

/// Files that may send a `COMMIT`, with the reason.
const COMMITS: &[(&str, &str)] = &[
    ("crates/panoply-postgres/src/transaction.rs", "the function that asks what became of it"),
    ("crates/panoply-postgres/src/audit_verify.rs", "ends a transaction that only reads"),
    ("crates/panoply-postgres/src/server.rs", "ends a transaction that only reads"),
    ("crates/panoply-postgres/src/schema.rs", "ends a migration, whose version is read again"),
];

/// Ways to a transaction of tokio-postgres.
const TRANSACTIONS: [&str; 4] =
    [".transaction()", ".build_transaction()", "tokio_postgres::Transaction", "GenericClient"];

/// Every commit that does not go through `Transaction::commit` of panoply-postgres.
pub fn elsewhere(repository: &Repository) -> Vec<Problem> {
    let is_code = |file: &&SourceFile| {
        let path = file.path.as_str();
        let is_sqlite = path.contains("/sqlite/") || path.ends_with("/sqlite.rs");
        path.starts_with("crates/panoply-postgres/src/") && path.ends_with(".rs") && !is_sqlite
    };
    repository.files.iter().filter(is_code).flat_map(of_file).collect()
}

fn of_file(file: &SourceFile) -> Vec<Problem> {
    let code = file.text.split("#[cfg(test)]").next().unwrap_or_default();
    let may_commit = COMMITS.iter().any(|(path, _)| file.path == *path);
    let is_hit = |line: &str| {
        let commits = line.contains("COMMIT") && !may_commit;
        commits || TRANSACTIONS.iter().any(|one| line.contains(one))
    };
    let lines = code.lines().enumerate();
    let hits = lines.filter(|(_, line)| !line.trim_start().starts_with("//") && is_hit(line));
    let what = "a commit outside `Transaction::commit`, which asks what became of it";
    hits.map(|(number, _)| Problem::at(&file.path, number + 1, what.to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commit_outside_its_function_is_found() {
        let ours = "crates/panoply-postgres/src/keys.rs";
        let cases = [
            (ours, "let transaction = client.transaction().await?;", 1),
            (ours, "client.build_transaction().read_only(true)", 1),
            (ours, "client.batch_execute(\"COMMIT\")", 1),
            (ours, "// a COMMIT that the server refuses", 0),
            (ours, "transaction.commit().await", 0),
            ("crates/panoply-postgres/src/transaction.rs", "let sql = \"COMMIT\";", 0),
            ("crates/panoply-postgres/src/transaction.rs", "client.transaction().await", 1),
            ("crates/panoply-postgres/src/working_copy/sqlite/rows.rs", "sqlite.transaction()", 0),
            ("crates/panoply-store/src/sqlite.rs", "connection.transaction()", 0),
        ];
        for (path, text, expected) in cases {
            let found = elsewhere(&Repository::sample(&[(path, text)]));
            assert_eq!(found.len(), expected, "{path}: {text}");
        }
    }
}
