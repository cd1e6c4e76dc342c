//! Schema of the database: `panoply db init`, `migrate` and `check`.
//!
//! A role without login, `DATABASE_owner`, owns the tables. Servers log in as the application role,
//! which can neither change tables nor read rows of a tenant that is not set. Migrations are run by
//! a member of the owner role, as a step of the deployment and never at the start of a server.
//!
//! A migration first expands: the tables of the version before keep working. `compatible_from` is
//! the oldest program that can still use the schema, so that two releases run side by side.

use std::sync::Arc;
use std::time::Duration;

use panoply_store::StoreError;

use crate::server::{Connection, Postgres, Settings};

/// One migration. Released migrations are never edited.
struct Migration {
    name: &'static str,
    sql: &'static str,
    /// The oldest program, by its number of migrations, that can use the schema.
    compatible_from: i32,
}

const MIGRATIONS: &[Migration] = &[
    Migration { name: "the kernel", sql: include_str!("schema/kernel.sql"), compatible_from: 1 },
    Migration { name: "flashcards", sql: include_str!("schema/noema.sql"), compatible_from: 2 },
    Migration { name: "portfolios", sql: include_str!("schema/cgt.sql"), compatible_from: 3 },
    Migration { name: "runs", sql: include_str!("schema/backtest.sql"), compatible_from: 3 },
    Migration { name: "documents", sql: include_str!("schema/ttm.sql"), compatible_from: 3 },
];

/// The schema version that this program writes.
pub fn known() -> i32 {
    i32::try_from(MIGRATIONS.len()).unwrap_or(i32::MAX)
}

/// Locks out a second migration.
const MIGRATION_LOCK: i64 = 0x7061_6e6f_706c_7901;
const LOCK_RETRIES: u32 = 15;

/// What a command did, in lines for people.
pub type Lines = Vec<String>;

/// The role and the database of a URL.
#[derive(Clone, Debug)]
pub struct Names {
    /// The application role.
    pub role: String,
    /// The database.
    pub database: String,
    password: Option<String>,
}

impl Names {
    /// Reads them from the settings of the servers.
    pub fn of(settings: &Settings) -> Result<Self, StoreError> {
        let config = settings.config()?;
        let missing = |what: &str| {
            StoreError::NotSetUp(format!(
                "the URL of the database names no {what}: expected postgres://ROLE@HOST/DATABASE"
            ))
        };
        let password = config.get_password().map(|text| String::from_utf8_lossy(text).into_owned());
        Ok(Self {
            role: config.get_user().ok_or_else(|| missing("role"))?.to_owned(),
            database: config.get_dbname().ok_or_else(|| missing("database"))?.to_owned(),
            password,
        })
    }

    fn owner(&self) -> String {
        format!("{}_owner", self.database)
    }
}

/// Creates roles and database with the rights of `administrator`, then the tables.
pub fn init(administrator: &Settings, names: &Names) -> Result<Lines, StoreError> {
    let server = Postgres::new(administrator)?;
    let own = names.clone();
    let mut lines = server.run(move |server| async move {
        let connection = server.unchecked().await?;
        create(&connection, &own).await
    })?;
    lines.extend(migrate(administrator, names)?);
    Ok(lines)
}

async fn create(connection: &Connection, names: &Names) -> Result<Lines, StoreError> {
    let mut lines = Lines::new();
    let owner = names.owner();
    let (role, database) = (identifier(&names.role), identifier(&names.database));
    if !exists(connection, "pg_roles", "rolname", &owner).await? {
        connection.script(&format!("CREATE ROLE {} NOLOGIN", identifier(&owner))).await?;
        lines.push(format!("created the role `{owner}`, which owns the tables"));
    }
    if !exists(connection, "pg_roles", "rolname", &names.role).await? {
        let password = names.password.as_deref().map(|text| format!(" PASSWORD {}", literal(text)));
        connection
            .script(&format!("CREATE ROLE {role} LOGIN{}", password.unwrap_or_default()))
            .await?;
        lines.push(format!("created the role `{}`, with which servers log in", names.role));
    }
    if !exists(connection, "pg_database", "datname", &names.database).await? {
        // Created by template0: the others may have another collation.
        connection
            .script(&format!(
                "CREATE DATABASE {database} OWNER {} TEMPLATE template0 ENCODING 'UTF8' \
                 LC_COLLATE 'C' LC_CTYPE 'C.UTF-8'",
                identifier(&owner)
            ))
            .await?;
        lines.push(format!("created the database `{}`", names.database));
    }
    connection.script(&format!("REVOKE ALL ON DATABASE {database} FROM PUBLIC")).await?;
    connection.script(&format!("GRANT CONNECT ON DATABASE {database} TO {role}")).await?;
    Ok(lines)
}

async fn exists(
    connection: &Connection,
    table: &str,
    column: &str,
    name: &str,
) -> Result<bool, StoreError> {
    let sql = format!("SELECT 1 FROM {table} WHERE {column} = {}", literal(name));
    Ok(!connection.script(&sql).await?.is_empty())
}

/// Applies the missing migrations with the rights of `administrator`, who must be a superuser or a
/// member of the owner role.
pub fn migrate(administrator: &Settings, names: &Names) -> Result<Lines, StoreError> {
    let server = Postgres::new(&in_database(administrator, names))?;
    let names = names.clone();
    server.run(move |server| async move {
        let connection = server.unchecked().await?;
        let set_up = format!(
            "SET ROLE {}; SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0",
            identifier(&names.owner())
        );
        connection.script(&set_up).await?;
        let done = apply(&connection, &names).await;
        // Never back to the pool with the rights of the owner.
        drop(deadpool_postgres::Object::take(connection.client));
        done
    })
}

/// The same server and login, with the database of the program.
fn in_database(administrator: &Settings, names: &Names) -> Settings {
    let mut settings = administrator.clone();
    settings.url = with_database(&administrator.url, &names.database);
    settings
}

fn with_database(url: &str, database: &str) -> String {
    let (address, options) = match url.split_once('?') {
        Some((address, options)) => (address, format!("?{options}")),
        None => (url, String::new()),
    };
    let after_scheme = address.find("://").map_or(0, |at| at + 3);
    let host_end = address
        .get(after_scheme..)
        .and_then(|rest| rest.find('/'))
        .map_or(address.len(), |at| after_scheme + at);
    format!("{}/{database}{options}", address.get(..host_end).unwrap_or(address))
}

async fn apply(connection: &Connection, names: &Names) -> Result<Lines, StoreError> {
    let mut lines = Lines::new();
    lock(connection).await?;
    let from = version(connection).await?.map_or(0, |(version, _)| version);
    if from > known() {
        return Err(StoreError::NotSetUp(format!(
            "the schema {from} is newer than this program, which knows {}",
            known()
        )));
    }
    for (number, migration) in (1..).zip(MIGRATIONS).skip(usize::try_from(from).unwrap_or(0)) {
        let sql = format!(
            "BEGIN; {}\nINSERT INTO kernel.schema_version (one, version, compatible_from) \
             VALUES (1, {number}, {}) ON CONFLICT (one) DO UPDATE SET version = excluded.version, \
             compatible_from = excluded.compatible_from, migrated_at = now(); COMMIT",
            migration.sql, migration.compatible_from
        );
        if let Err(error) = connection.script(&sql).await {
            connection.script("ROLLBACK").await.ok();
            return Err(StoreError::NotSetUp(format!(
                "the schema could not be migrated to {number} ({}) and was not changed: {}",
                migration.name,
                error.chain()
            )));
        }
        lines.push(format!("migrated to schema {number}: {}", migration.name));
    }
    let grants = include_str!("schema/grants.sql").replace(":app", &identifier(&names.role));
    connection.script(&grants).await?;
    if lines.is_empty() {
        lines.push(format!("the schema is up to date ({})", known()));
    }
    Ok(lines)
}

/// Waits for a migration by another process. The lock ends with the connection.
async fn lock(connection: &Connection) -> Result<(), StoreError> {
    for _ in 0..LOCK_RETRIES {
        let taken =
            connection.script(&format!("SELECT pg_try_advisory_lock({MIGRATION_LOCK})")).await?;
        if taken.first().and_then(|row| row.get(0)) == Some("t") {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_secs(2)).await;
    }
    Err(StoreError::NotSetUp("another migration is running: wait for its end".to_owned()))
}

/// Version and `compatible_from`; `None` for an empty database.
async fn version(connection: &Connection) -> Result<Option<(i32, i32)>, StoreError> {
    let there = connection.script("SELECT to_regclass('kernel.schema_version')").await?;
    if there.first().and_then(|row| row.get(0)).is_none() {
        return Ok(None);
    }
    let rows =
        connection.script("SELECT version, compatible_from FROM kernel.schema_version").await?;
    let number = |row: &tokio_postgres::SimpleQueryRow, column| row.get(column)?.parse().ok();
    Ok(rows.first().and_then(|row| Some((number(row, 0)?, number(row, 1)?))))
}

/// Fails unless this program can use the schema.
pub(crate) async fn require(connection: &Connection) -> Result<(), StoreError> {
    fits(version(connection).await?, known()).map_err(StoreError::NotSetUp)
}

fn fits(found: Option<(i32, i32)>, known: i32) -> Result<(), String> {
    match found {
        None => Err("the database is empty: run `panoply db init`".to_owned()),
        Some((version, _)) if version < known => Err(format!(
            "the schema is {version}, and this program needs {known}: run `panoply db migrate`"
        )),
        Some((version, compatible_from)) if compatible_from > known => Err(format!(
            "the schema is {version} and needs a program that knows {compatible_from} or later; this one knows {known}: upgrade it"
        )),
        Some(_) => Ok(()),
    }
}

/// One finding of [`check`].
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Finding {
    /// What was checked.
    pub name: &'static str,
    /// Whether it is as it must be.
    pub verdict: Verdict,
    /// What was found.
    pub detail: String,
}

/// Verdict of a check.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Verdict {
    /// As it must be.
    Good,
    /// Works, with a risk.
    Warning,
    /// Must be changed.
    Bad,
}

/// Checks the database as the application role.
pub fn check(server: &Arc<Postgres>) -> Result<Vec<Finding>, StoreError> {
    server.run(|server| async move {
        let connection = server.unchecked().await?;
        let schema = fits(version(&connection).await?, known());
        let mut findings = vec![Finding {
            name: "schema",
            verdict: if schema.is_ok() { Verdict::Good } else { Verdict::Bad },
            detail: schema.err().unwrap_or_else(|| format!("version {}", known())),
        }];
        for Question { name, sql, expected, otherwise } in QUESTIONS {
            let rows = connection.script(sql).await?;
            let found = rows.first().and_then(|row| row.get(0)).unwrap_or_default().to_owned();
            let good = expected.iter().any(|one| *one == found)
                || (expected.is_empty() && !found.is_empty());
            let verdict = if good { Verdict::Good } else { *otherwise };
            let detail = if found.is_empty() { "none".to_owned() } else { found };
            findings.push(Finding { name, verdict, detail });
        }
        Ok(findings)
    })
}

struct Question {
    name: &'static str,
    sql: &'static str,
    /// Good answers; empty for any text.
    expected: &'static [&'static str],
    otherwise: Verdict,
}

const QUESTIONS: &[Question] = &[
    Question {
        name: "encoding",
        sql: "SELECT pg_encoding_to_char(encoding) FROM pg_database WHERE datname = current_database()",
        expected: &["UTF8"],
        otherwise: Verdict::Bad,
    },
    Question {
        name: "order of texts (LC_COLLATE)",
        sql: "SELECT datcollate FROM pg_database WHERE datname = current_database()",
        expected: &["C", "POSIX"],
        otherwise: Verdict::Warning,
    },
    Question {
        // With C, PostgreSQL finds no letters beyond ASCII.
        name: "kinds of characters (LC_CTYPE)",
        sql: "SELECT CASE WHEN datctype IN ('C', 'POSIX') THEN '' ELSE datctype END \
              FROM pg_database WHERE datname = current_database()",
        expected: &[],
        otherwise: Verdict::Bad,
    },
    Question {
        name: "role is no superuser",
        sql: "SELECT (NOT rolsuper AND NOT rolbypassrls AND NOT rolcreaterole AND NOT rolcreatedb)::text \
              FROM pg_roles WHERE rolname = current_user",
        expected: &["true"],
        otherwise: Verdict::Bad,
    },
    Question {
        name: "role cannot create tables",
        sql: "SELECT bool_and(NOT has_schema_privilege(oid, 'CREATE'))::text FROM pg_namespace \
              WHERE nspname !~ '^pg_' AND nspname <> 'information_schema'",
        expected: &["true"],
        otherwise: Verdict::Bad,
    },
    Question {
        name: "row-level security is forced",
        sql: "SELECT coalesce(string_agg(c.oid::regclass::text, ', '), 'on every table with a tenant') \
              FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
              JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname IN ('tenant', 'owner') \
              WHERE n.nspname !~ '^pg_' AND n.nspname <> 'information_schema' \
                AND c.relkind IN ('r', 'p') AND NOT (c.relrowsecurity AND c.relforcerowsecurity)",
        expected: &["on every table with a tenant"],
        otherwise: Verdict::Bad,
    },
    Question {
        name: "commits are durable (synchronous_commit)",
        sql: "SHOW synchronous_commit",
        expected: &["on", "remote_apply", "remote_write", "local"],
        otherwise: Verdict::Bad,
    },
    Question {
        name: "pages reach the disk (fsync)",
        sql: "SHOW fsync",
        expected: &["on"],
        otherwise: Verdict::Bad,
    },
    Question {
        name: "a synchronous standby",
        sql: "SHOW synchronous_standby_names",
        expected: &[],
        otherwise: Verdict::Warning,
    },
];

fn identifier(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

fn literal(text: &str) -> String {
    // Backslashes have no meaning with standard_conforming_strings, the default.
    format!("'{}'", text.replace('\'', "''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn program_and_schema_fit_within_their_ranges() {
        let cases = [
            (None, 2, false),
            (Some((1, 1)), 2, false),
            (Some((2, 1)), 2, true),
            (Some((3, 2)), 2, true),
            (Some((3, 3)), 2, false),
        ];
        for (found, known, expected) in cases {
            assert_eq!(fits(found, known).is_ok(), expected, "{found:?} with {known}");
        }
    }

    #[test]
    fn database_of_a_url_is_replaced() {
        let cases = [
            ("postgres://a@h/x", "postgres://a@h/p"),
            ("postgres://a@h", "postgres://a@h/p"),
            (
                "postgres://a:b@h1:1,h2:2/x?sslmode=disable",
                "postgres://a:b@h1:1,h2:2/p?sslmode=disable",
            ),
            ("postgres://a@%2Ftmp:5/x", "postgres://a@%2Ftmp:5/p"),
        ];
        for (url, expected) in cases {
            assert_eq!(with_database(url, "p"), expected);
        }
    }

    #[test]
    fn names_are_quoted() {
        assert_eq!(identifier("a\"b"), "\"a\"\"b\"");
        assert_eq!(literal("it's"), "'it''s'");
    }
}
