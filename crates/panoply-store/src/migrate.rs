//! Schema migrations, with a backup before an upgrade.
//!
//! `user_version` is the number of applied migrations. Released migrations are never edited; a
//! schema change is a new migration. Files of a newer program version are refused.

use std::path::{Path, PathBuf};
use std::time::Duration;

use panoply_contract::audit::AuditEntry;
use panoply_contract::clock::Clock as _;
use panoply_contract::mutation::MutationRecord;
use rusqlite::backup::Backup;
use rusqlite::{Connection, TransactionBehavior};

use crate::clock::SystemClock;
use crate::error::StoreError;
use crate::mutations::MutationTable;
use crate::sqlite::{self, Durability};

/// One schema migration.
#[derive(Clone, Copy, Debug)]
pub struct Migration {
    /// Short description, for error messages.
    pub name: &'static str,
    /// SQL statements.
    pub sql: &'static str,
}

/// Outcome of a migration.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum MigrationOutcome {
    /// The schema was current.
    UpToDate,
    /// The file was new.
    Created,
    /// The schema was older; the file was backed up first.
    Upgraded {
        /// The previous schema version.
        from: u32,
        /// Path of the backup.
        backup: PathBuf,
    },
}

/// Opens a file and applies the missing `migrations`.
///
/// While another process creates the same file, SQLite can return BUSY without calling the busy
/// handler: when it switches to WAL, and when the last connection removes the log. Opening a new
/// file is therefore retried with backoff.
pub fn open(
    file: &Path,
    durability: Durability,
    migrations: &[Migration],
) -> Result<Connection, StoreError> {
    for attempt in 1..=BUSY_RETRIES {
        match open_once(file, durability, migrations) {
            Err(StoreError::Locked { .. }) if is_being_made(file) => {
                std::thread::sleep(BUSY_DELAY * attempt);
            }
            done => return done,
        }
    }
    open_once(file, durability, migrations)
}

const BUSY_RETRIES: u32 = 6;
const BUSY_DELAY: Duration = Duration::from_millis(20);

/// Whether a file is so small that it may have just been created.
fn is_being_made(file: &Path) -> bool {
    std::fs::metadata(file).is_ok_and(|found| found.len() < 256 << 10)
}

fn open_once(
    file: &Path,
    durability: Durability,
    migrations: &[Migration],
) -> Result<Connection, StoreError> {
    let is_new = std::fs::metadata(file).is_ok_and(|found| found.len() == 0) || !file.exists();
    // A migration lost with the power is repeated at the next start, so it does not have to be
    // synced. The first durable commit syncs all earlier ones.
    let mut connection = sqlite::open(file, Durability::Normal)?;
    if is_new {
        let relax = connection.pragma_update(None, "synchronous", "OFF");
        relax.map_err(sqlite::about(file))?;
    }
    migrate(&mut connection, file, migrations)?;
    sqlite::set_durability(&connection, durability).map_err(sqlite::about(file))?;
    Ok(connection)
}

/// Reads the schema version of a file, for `panoply doctor`.
pub fn schema_version(file: &Path) -> Result<u32, StoreError> {
    let connection = sqlite::open_read_only(file)?;
    connection
        .pragma_query_value(None, "user_version", |row| row.get(0))
        .map_err(sqlite::about(file))
}

/// Applies the missing migrations in one transaction.
pub fn migrate(
    connection: &mut Connection,
    file: &Path,
    migrations: &[Migration],
) -> Result<MigrationOutcome, StoreError> {
    let about = sqlite::about(file);
    // Fast path. Outside a transaction two reads may straddle the creation of the file by another
    // process, so this only decides whether there is nothing to do.
    let found: i64 =
        connection.pragma_query_value(None, "user_version", |row| row.get(0)).map_err(&about)?;
    if usize::try_from(found).is_ok_and(|found| found > 0 && found == migrations.len()) {
        return Ok(MigrationOutcome::UpToDate);
    }
    let transaction =
        connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(&about)?;
    // Another process may have migrated the file while we waited for the lock. No process writes
    // while we hold it, so the backup is of exactly this version.
    let from = version(&transaction, file, migrations)?;
    if from as usize == migrations.len() {
        return Ok(MigrationOutcome::UpToDate);
    }
    let backup = (from > 0).then(|| back_up(file, from)).transpose()?;
    for (to, migration) in (1u32..).zip(migrations).skip(from as usize) {
        let step = || {
            transaction.execute_batch(migration.sql)?;
            transaction.pragma_update(None, "user_version", to)
        };
        step().map_err(|source| migration_error(file, to, migration, source))?;
    }
    if backup.is_some() {
        record(&transaction, file, from, migrations.len())?;
    }
    transaction.commit().map_err(&about)?;
    Ok(match backup {
        None => MigrationOutcome::Created,
        Some(backup) => MigrationOutcome::Upgraded { from, backup },
    })
}

/// Adds the audit entry of an upgrade to the mutation table, in the transaction of the upgrade;
/// the recovery at the start of the program appends it to the audit log. A database without that
/// table, such as the audit log itself, has only the backup as evidence.
fn record(transaction: &Connection, file: &Path, from: u32, to: usize) -> Result<(), StoreError> {
    let about = sqlite::about(file);
    let has_table = transaction
        .prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'mutation'")
        .and_then(|mut statement| statement.exists(()))
        .map_err(&about)?;
    if !has_table {
        return Ok(());
    }
    let name = file.file_name().map(|name| name.to_string_lossy().into_owned());
    let upgrade = serde_json::json!({"file": name, "from": from, "to": to});
    let at = SystemClock::new().now();
    let entry = AuditEntry::of_maintenance("panoply migrate", &upgrade, at)
        .map_err(|error| about(rusqlite::Error::ToSqlConversionFailure(error.message.into())))?;
    let row = MutationRecord { key: None, entry, reply: None };
    MutationTable::default().insert(transaction, &row).map_err(&about)
}

fn version(
    connection: &Connection,
    file: &Path,
    migrations: &[Migration],
) -> Result<u32, StoreError> {
    let about = sqlite::about(file);
    let found: i64 =
        connection.pragma_query_value(None, "user_version", |row| row.get(0)).map_err(&about)?;
    let known = u32::try_from(migrations.len()).unwrap_or(u32::MAX);
    let count_tables = "SELECT count(*) FROM sqlite_schema";
    match u32::try_from(found) {
        Ok(0) => {
            let tables: i64 =
                connection.query_row(count_tables, (), |row| row.get(0)).map_err(&about)?;
            if tables == 0 { Ok(0) } else { Err(StoreError::Foreign { file: file.to_owned() }) }
        }
        Ok(found) if found <= known => Ok(found),
        Ok(found) => Err(StoreError::NewerSchema { file: file.to_owned(), found, known }),
        Err(_) => Err(StoreError::Foreign { file: file.to_owned() }),
    }
}

/// Reports a full disk or a lock as itself: the message then names the remedy.
fn migration_error(
    file: &Path,
    to: u32,
    migration: &Migration,
    source: rusqlite::Error,
) -> StoreError {
    match sqlite::store_error(file, source) {
        StoreError::Sql { file, source } => {
            StoreError::Migration { file, to, name: migration.name, source }
        }
        other => other,
    }
}

/// Copies the file through SQLite, which includes the contents of the WAL.
fn back_up(file: &Path, version: u32) -> Result<PathBuf, StoreError> {
    let mut name = file.as_os_str().to_owned();
    name.push(format!(".v{version}.bak"));
    let backup = PathBuf::from(name);
    // SQLite cannot back up from a connection with an open write transaction. A reader sees the
    // same data.
    let original = sqlite::open_read_only(file)?;
    // An existing file was left by a crash; overwrite it.
    let mut copy = sqlite::open(&backup, Durability::Full)?;
    Backup::new(&original, &mut copy)
        .and_then(|work| work.run_to_completion(256, Duration::ZERO, None))
        // A single file without a WAL is easier to move.
        .and_then(|()| copy.pragma_update(None, "journal_mode", "DELETE"))
        .map_err(sqlite::about(&backup))?;
    Ok(backup)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mutations;

    const FIRST: Migration =
        Migration { name: "decks", sql: "CREATE TABLE deck (name TEXT) STRICT;" };
    const SECOND: Migration =
        Migration { name: "colours", sql: "ALTER TABLE deck ADD COLUMN colour TEXT;" };
    const BROKEN: Migration =
        Migration { name: "broken", sql: "CREATE TABLE half (x TEXT) STRICT; SELECT nonsense;" };

    fn opened(folder: &tempfile::TempDir) -> (Connection, PathBuf) {
        let file = folder.path().join("decks.db");
        (sqlite::open(&file, Durability::Full).unwrap(), file)
    }

    #[test]
    fn a_new_file_gets_every_migration_once() {
        let folder = tempfile::tempdir().unwrap();
        let (mut connection, file) = opened(&folder);
        let steps = [FIRST, SECOND];
        assert_eq!(migrate(&mut connection, &file, &steps).unwrap(), MigrationOutcome::Created);
        assert_eq!(migrate(&mut connection, &file, &steps).unwrap(), MigrationOutcome::UpToDate);
        connection.execute("INSERT INTO deck (name, colour) VALUES ('a', 'red')", ()).unwrap();
    }

    #[test]
    fn an_older_file_is_backed_up_before_migration() {
        let folder = tempfile::tempdir().unwrap();
        let (mut connection, file) = opened(&folder);
        migrate(&mut connection, &file, &[FIRST]).unwrap();
        connection.execute("INSERT INTO deck (name) VALUES ('kept')", ()).unwrap();
        let done = migrate(&mut connection, &file, &[FIRST, SECOND]).unwrap();
        let MigrationOutcome::Upgraded { from: 1, backup } = done else { panic!("{done:?}") };
        let copy = sqlite::open_read_only(&backup).unwrap();
        let name: String = copy.query_row("SELECT name FROM deck", (), |row| row.get(0)).unwrap();
        assert_eq!(name, "kept");
        assert!(copy.prepare("SELECT colour FROM deck").is_err(), "the copy has the old schema");
    }

    #[test]
    fn upgrade_adds_its_audit_entry_to_the_mutation_table() {
        let folder = tempfile::tempdir().unwrap();
        let (mut connection, file) = opened(&folder);
        let count = "SELECT count(*), max(tool) FROM mutation WHERE audited = 0";
        let rows = |connection: &Connection| {
            let row = connection.query_row(count, (), |row| Ok((row.get(0)?, row.get(1)?)));
            row.unwrap()
        };
        migrate(&mut connection, &file, &[mutations::MIGRATION]).unwrap();
        assert_eq!(rows(&connection), (0, None::<String>), "a new file has no history");
        migrate(&mut connection, &file, &[mutations::MIGRATION, FIRST]).unwrap();
        assert_eq!(rows(&connection), (1, Some("panoply migrate".to_owned())));
        migrate(&mut connection, &file, &[mutations::MIGRATION, FIRST]).unwrap();
        assert_eq!(rows(&connection).0, 1, "once");
    }

    #[test]
    fn a_failed_migration_is_rolled_back() {
        let folder = tempfile::tempdir().unwrap();
        let (mut connection, file) = opened(&folder);
        migrate(&mut connection, &file, &[FIRST]).unwrap();
        let error = migrate(&mut connection, &file, &[FIRST, SECOND, BROKEN]).unwrap_err();
        assert!(matches!(error, StoreError::Migration { to: 3, name: "broken", .. }), "{error:?}");
        assert_eq!(version(&connection, &file, &[FIRST]).unwrap(), 1);
        assert!(connection.prepare("SELECT colour FROM deck").is_err());
        assert!(connection.prepare("SELECT x FROM half").is_err());
    }

    #[test]
    fn files_of_newer_versions_and_other_programs_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let (mut connection, file) = opened(&folder);
        migrate(&mut connection, &file, &[FIRST, SECOND]).unwrap();
        let error = migrate(&mut connection, &file, &[FIRST]).unwrap_err();
        assert!(matches!(error, StoreError::NewerSchema { found: 2, known: 1, .. }), "{error:?}");
        assert!(error.to_string().contains("upgrade this program"), "{error}");

        let other = folder.path().join("other.db");
        let mut connection = sqlite::open(&other, Durability::Full).unwrap();
        connection.execute_batch("CREATE TABLE bookmarks (url TEXT) STRICT;").unwrap();
        let error = migrate(&mut connection, &other, &[FIRST]).unwrap_err();
        assert!(matches!(error, StoreError::Foreign { .. }), "{error:?}");
    }

    #[test]
    fn concurrent_processes_can_create_the_same_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("decks.db");
        std::thread::scope(|scope| {
            let open = || open(&file, Durability::Full, &[FIRST, SECOND]).map(|_| ());
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(open)).collect();
            for thread in threads {
                thread.join().unwrap().unwrap();
            }
        });
    }
}
