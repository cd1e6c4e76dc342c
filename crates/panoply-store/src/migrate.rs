//! Brings a file to the schema this program knows, step by step, with a backup first.
//!
//! `user_version` counts the steps taken. Steps are never edited once released; a change is a
//! new step. A file from a newer program is refused, because an older one would misread it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::backup::Backup;
use rusqlite::{Connection, TransactionBehavior};

use crate::error::StoreError;
use crate::sqlite::{self, Durability};

/// One step of a schema.
#[derive(Clone, Copy, Debug)]
pub struct Migration {
    /// What it does, in a few words.
    pub name: &'static str,
    /// Statements that do it.
    pub sql: &'static str,
}

/// What had to be done.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Migrated {
    /// Nothing.
    UpToDate,
    /// The file was new.
    Created,
    /// It was older, and a copy of what it was has been kept.
    Upgraded {
        /// The schema it had.
        from: u32,
        /// The copy.
        backup: PathBuf,
    },
}

/// Opens a file and brings it to the newest of `migrations`.
///
/// While another process makes the same file, SQLite answers BUSY in a few moments without asking
/// the busy handler: when it turns to WAL, and when a last connection removes the log. So a file
/// that is being made is tried again, with backoff.
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

/// Whether a file has hardly more than a schema.
fn is_being_made(file: &Path) -> bool {
    std::fs::metadata(file).is_ok_and(|found| found.len() < 256 << 10)
}

fn open_once(
    file: &Path,
    durability: Durability,
    migrations: &[Migration],
) -> Result<Connection, StoreError> {
    let is_new = std::fs::metadata(file).is_ok_and(|found| found.len() == 0) || !file.exists();
    // A step that a loss of power undoes is taken again at the next start, so it need not wait
    // for the disk. The first commit that must last takes all before it along.
    let mut connection = sqlite::open(file, Durability::Normal)?;
    if is_new {
        let relax = connection.pragma_update(None, "synchronous", "OFF");
        relax.map_err(StoreError::about(file))?;
    }
    migrate(&mut connection, file, migrations)?;
    sqlite::set_durability(&connection, durability).map_err(StoreError::about(file))?;
    Ok(connection)
}

/// The schema a file has, for `panoply doctor`. The file is only read.
pub fn schema_version(file: &Path) -> Result<u32, StoreError> {
    let connection = sqlite::open_read_only(file)?;
    connection
        .pragma_query_value(None, "user_version", |row| row.get(0))
        .map_err(StoreError::about(file))
}

/// Takes the steps that are missing, all or none.
pub fn migrate(
    connection: &mut Connection,
    file: &Path,
    migrations: &[Migration],
) -> Result<Migrated, StoreError> {
    let about = StoreError::about(file);
    // Two reads outside of a transaction may see a file before and after another process made it,
    // so this one only says whether there is nothing to do.
    let found: i64 =
        connection.pragma_query_value(None, "user_version", |row| row.get(0)).map_err(&about)?;
    if usize::try_from(found).is_ok_and(|found| found > 0 && found == migrations.len()) {
        return Ok(Migrated::UpToDate);
    }
    let transaction =
        connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(&about)?;
    // Another process may have been faster while we waited for the lock. Under the lock nobody
    // writes, so the copy is of this very version.
    let from = version(&transaction, file, migrations)?;
    if from as usize == migrations.len() {
        return Ok(Migrated::UpToDate);
    }
    let backup = (from > 0).then(|| back_up(file, from)).transpose()?;
    for (to, migration) in (1u32..).zip(migrations).skip(from as usize) {
        let step = || {
            transaction.execute_batch(migration.sql)?;
            transaction.pragma_update(None, "user_version", to)
        };
        step().map_err(|source| migration_error(file, to, migration, source))?;
    }
    transaction.commit().map_err(&about)?;
    Ok(match backup {
        None => Migrated::Created,
        Some(backup) => Migrated::Upgraded { from, backup },
    })
}

fn version(
    connection: &Connection,
    file: &Path,
    migrations: &[Migration],
) -> Result<u32, StoreError> {
    let about = StoreError::about(file);
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

/// A full disk or a lock is no fault of the migration, and says better what to do.
fn migration_error(
    file: &Path,
    to: u32,
    migration: &Migration,
    source: rusqlite::Error,
) -> StoreError {
    match StoreError::of(file, source) {
        StoreError::Sql { file, source } => {
            StoreError::Migration { file, to, name: migration.name, source }
        }
        other => other,
    }
}

/// Copies the file as it is now, through SQLite, so that the log beside it is included.
fn back_up(file: &Path, version: u32) -> Result<PathBuf, StoreError> {
    let mut name = file.as_os_str().to_owned();
    name.push(format!(".v{version}.bak"));
    let backup = PathBuf::from(name);
    // SQLite copies nothing out of a connection that is writing; a reader sees the same.
    let original = sqlite::open_read_only(file)?;
    // One that is there already is what remains of an attempt that died. It is made again.
    let mut copy = sqlite::open(&backup, Durability::Full)?;
    Backup::new(&original, &mut copy)
        .and_then(|work| work.run_to_completion(256, Duration::ZERO, None))
        // One file, without a log beside it, is easier to move.
        .and_then(|()| copy.pragma_update(None, "journal_mode", "DELETE"))
        .map_err(StoreError::about(&backup))?;
    Ok(backup)
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn a_new_file_takes_every_step_and_then_none() {
        let folder = tempfile::tempdir().unwrap();
        let (mut connection, file) = opened(&folder);
        let steps = [FIRST, SECOND];
        assert_eq!(migrate(&mut connection, &file, &steps).unwrap(), Migrated::Created);
        assert_eq!(migrate(&mut connection, &file, &steps).unwrap(), Migrated::UpToDate);
        connection.execute("INSERT INTO deck (name, colour) VALUES ('a', 'red')", ()).unwrap();
    }

    #[test]
    fn an_old_file_is_copied_before_it_is_changed() {
        let folder = tempfile::tempdir().unwrap();
        let (mut connection, file) = opened(&folder);
        migrate(&mut connection, &file, &[FIRST]).unwrap();
        connection.execute("INSERT INTO deck (name) VALUES ('kept')", ()).unwrap();
        let done = migrate(&mut connection, &file, &[FIRST, SECOND]).unwrap();
        let Migrated::Upgraded { from: 1, backup } = done else { panic!("{done:?}") };
        let copy = sqlite::open_read_only(&backup).unwrap();
        let name: String = copy.query_row("SELECT name FROM deck", (), |row| row.get(0)).unwrap();
        assert_eq!(name, "kept");
        assert!(copy.prepare("SELECT colour FROM deck").is_err(), "the copy has the old schema");
    }

    #[test]
    fn a_step_that_fails_leaves_the_file_as_it_was() {
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
    fn files_of_newer_and_of_other_programs_are_refused() {
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
    fn many_processes_may_start_at_once() {
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
