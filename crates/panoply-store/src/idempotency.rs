//! Idempotency keys in SQLite: a repeated change happens once, also across restarts and
//! processes.
//!
//! A claim belongs to whoever made it until its lease ends; then the next caller takes it over,
//! because the first has died or hangs. Whoever finishes first is remembered.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use futures::future::BoxFuture;
use jiff::Timestamp;
use panoply_contract::error::ToolError;
use panoply_contract::pipeline::{
    Begun, IdempotencyKey, IdempotencyStore, KEY_LIFETIME, StoredReply,
};
use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};

use crate::error::StoreError;
use crate::migrate::{self, Migration};
use crate::sqlite::Durability;

const MIGRATIONS: &[Migration] = &[Migration {
    name: "idempotency keys",
    sql: "
        -- Times are microseconds since 1970. A claim without data is still being worked on.
        CREATE TABLE idempotency (
            partition  TEXT NOT NULL,
            tool       TEXT NOT NULL,
            key        TEXT NOT NULL,
            input_hash TEXT NOT NULL,
            claimed    INTEGER NOT NULL,
            lease_end  INTEGER NOT NULL,
            data       TEXT,
            text       TEXT,
            PRIMARY KEY (partition, tool, key)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX idempotency_by_age ON idempotency (claimed);
    ",
}];

/// Idempotency keys in a SQLite file.
#[derive(Clone)]
pub struct SqliteIdempotencyStore {
    file: Arc<PathBuf>,
    connection: Arc<Mutex<Connection>>,
}

impl SqliteIdempotencyStore {
    /// Opens the file, making it if need be.
    pub fn open(file: &Path) -> Result<Self, StoreError> {
        let connection = migrate::open(file, Durability::Full, MIGRATIONS)?;
        let connection = Arc::new(Mutex::new(connection));
        Ok(Self { file: Arc::new(file.to_owned()), connection })
    }

    /// Runs `work` where it may block.
    fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> BoxFuture<'static, Result<T, ToolError>> {
        let (file, connection) = (Arc::clone(&self.file), Arc::clone(&self.connection));
        let locked = move || {
            let mut connection = connection.lock().unwrap_or_else(PoisonError::into_inner);
            work(&mut connection).map_err(StoreError::about(&file))
        };
        Box::pin(async move {
            match tokio::task::spawn_blocking(locked).await {
                Ok(done) => Ok(done?),
                Err(error) => Err(ToolError::system("the idempotency store failed").cause(error)),
            }
        })
    }
}

impl IdempotencyStore for SqliteIdempotencyStore {
    fn begin(
        &self,
        key: IdempotencyKey,
        input_hash: String,
        now: Timestamp,
        lease_end: Timestamp,
    ) -> BoxFuture<'static, Result<Begun, ToolError>> {
        self.run(move |connection| begin(connection, &key, &input_hash, now, lease_end))
    }

    fn finish(
        &self,
        key: IdempotencyKey,
        reply: StoredReply,
    ) -> BoxFuture<'static, Result<(), ToolError>> {
        self.run(move |connection| {
            // Only the first result counts: the caller of a claim that was taken over may
            // finish late.
            connection
                .prepare_cached(
                    "UPDATE idempotency SET data = ?4, text = ?5 \
                     WHERE partition = ?1 AND tool = ?2 AND key = ?3 AND data IS NULL",
                )?
                .execute(params![
                    key.partition,
                    key.tool,
                    key.key,
                    reply.data.to_string(),
                    reply.text
                ])
                .map(drop)
        })
    }

    fn abandon(&self, key: IdempotencyKey) -> BoxFuture<'static, Result<(), ToolError>> {
        self.run(move |connection| {
            connection
                .prepare_cached(
                    "DELETE FROM idempotency \
                     WHERE partition = ?1 AND tool = ?2 AND key = ?3 AND data IS NULL",
                )?
                .execute(params![key.partition, key.tool, key.key])
                .map(drop)
        })
    }
}

/// What a claim says.
struct Claim {
    input_hash: String,
    lease_end: i64,
    reply: Option<StoredReply>,
}

fn begin(
    connection: &mut Connection,
    key: &IdempotencyKey,
    input_hash: &str,
    now: Timestamp,
    lease_end: Timestamp,
) -> rusqlite::Result<Begun> {
    // Immediate, so that of two callers one sees the claim of the other.
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let oldest = (now - KEY_LIFETIME).as_microsecond();
    transaction
        .prepare_cached("DELETE FROM idempotency WHERE claimed <= ?1")?
        .execute(params![oldest])?;
    let begun = match claim(&transaction, key)? {
        Some(claim) if claim.input_hash != input_hash => Begun::OtherInput,
        Some(Claim { reply: Some(reply), .. }) => Begun::Done(reply),
        Some(claim) if claim.lease_end > now.as_microsecond() => Begun::Running,
        _ => {
            let lease_end = lease_end.as_microsecond();
            transaction
                .prepare_cached(
                    "INSERT OR REPLACE INTO idempotency \
                     (partition, tool, key, input_hash, claimed, lease_end) \
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                )?
                .execute(params![
                    key.partition,
                    key.tool,
                    key.key,
                    input_hash,
                    now.as_microsecond(),
                    lease_end
                ])?;
            Begun::Fresh
        }
    };
    transaction.commit()?;
    Ok(begun)
}

fn claim(connection: &Connection, key: &IdempotencyKey) -> rusqlite::Result<Option<Claim>> {
    let read = |row: &rusqlite::Row<'_>| {
        let data: Option<String> = row.get(2)?;
        let parsed = data.map(|data| serde_json::from_str(&data)).transpose().map_err(|error| {
            let text = rusqlite::types::Type::Text;
            rusqlite::Error::FromSqlConversionFailure(2, text, Box::new(error))
        })?;
        let text: Option<String> = row.get(3)?;
        let reply = parsed.map(|data| StoredReply { data, text: text.unwrap_or_default() });
        Ok(Claim { input_hash: row.get(0)?, lease_end: row.get(1)?, reply })
    };
    connection
        .prepare_cached(
            "SELECT input_hash, lease_end, data, text FROM idempotency \
             WHERE partition = ?1 AND tool = ?2 AND key = ?3",
        )?
        .query_row(params![key.partition, key.tool, key.key], read)
        .optional()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use panoply_contract::pipeline::MemoryIdempotencyStore;
    use panoply_contract::testing::noon;
    use serde_json::json;

    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);

    fn key(name: &str) -> IdempotencyKey {
        let (partition, tool) = ("local".to_owned(), "add-card".to_owned());
        IdempotencyKey { partition, tool, key: name.to_owned() }
    }

    fn reply(text: &str) -> StoredReply {
        // Larger than 2^53 and with a fraction: what comes back must be the same JSON.
        StoredReply {
            data: json!({"id": 18_446_744_073_709_551_615_u64, "x": 0.1}),
            text: text.to_owned(),
        }
    }

    async fn begin_at(
        store: &dyn IdempotencyStore,
        name: &str,
        hash: &str,
        now: Timestamp,
    ) -> Begun {
        store.begin(key(name), hash.to_owned(), now, now + MINUTE).await.unwrap()
    }

    #[tokio::test]
    async fn the_store_in_sqlite_behaves_as_the_one_in_memory() {
        let folder = tempfile::tempdir().unwrap();
        let sqlite = SqliteIdempotencyStore::open(&folder.path().join("kernel.db")).unwrap();
        let memory = MemoryIdempotencyStore::default();
        let stores: [&dyn IdempotencyStore; 2] = [&sqlite, &memory];
        for store in stores {
            let start = noon();
            assert_eq!(begin_at(store, "a", "h1", start).await, Begun::Fresh);
            assert_eq!(begin_at(store, "a", "h1", start).await, Begun::Running);
            assert_eq!(begin_at(store, "a", "h2", start).await, Begun::OtherInput);
            assert_eq!(begin_at(store, "b", "h1", start).await, Begun::Fresh, "another key");
            store.finish(key("a"), reply("done")).await.unwrap();
            assert_eq!(begin_at(store, "a", "h1", start).await, Begun::Done(reply("done")));
            store.abandon(key("b")).await.unwrap();
            assert_eq!(begin_at(store, "b", "h9", start).await, Begun::Fresh, "given back");
            let later = start + MINUTE;
            assert_eq!(begin_at(store, "b", "h9", later).await, Begun::Fresh, "lease has ended");
            assert_eq!(begin_at(store, "b", "h9", later).await, Begun::Running, "taken over");
            let tomorrow = start + KEY_LIFETIME;
            assert_eq!(begin_at(store, "a", "h2", tomorrow).await, Begun::Fresh, "forgotten");
        }
    }

    #[tokio::test]
    async fn keys_of_other_callers_and_tools_are_other_keys() {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteIdempotencyStore::open(&folder.path().join("kernel.db")).unwrap();
        let others = [
            key("a"),
            IdempotencyKey { partition: "key:x".to_owned(), ..key("a") },
            IdempotencyKey { tool: "delete-card".to_owned(), ..key("a") },
        ];
        for other in others {
            let begun = store.begin(other, "h".to_owned(), noon(), noon() + MINUTE).await.unwrap();
            assert_eq!(begun, Begun::Fresh);
        }
    }

    #[tokio::test]
    async fn a_result_outlives_the_process_that_made_it() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("kernel.db");
        let first = SqliteIdempotencyStore::open(&file).unwrap();
        assert_eq!(begin_at(&first, "a", "h", noon()).await, Begun::Fresh);
        first.finish(key("a"), reply("before the restart")).await.unwrap();
        assert_eq!(begin_at(&first, "b", "h", noon()).await, Begun::Fresh);
        drop(first);
        let second = SqliteIdempotencyStore::open(&file).unwrap();
        let done = Begun::Done(reply("before the restart"));
        assert_eq!(begin_at(&second, "a", "h", noon()).await, done);
        assert_eq!(
            begin_at(&second, "b", "h", noon()).await,
            Begun::Running,
            "until the lease ends"
        );
        assert_eq!(begin_at(&second, "b", "h", noon() + MINUTE).await, Begun::Fresh);
    }

    #[tokio::test]
    async fn who_was_taken_over_cannot_undo_the_result() {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteIdempotencyStore::open(&folder.path().join("kernel.db")).unwrap();
        begin_at(&store, "a", "h", noon()).await;
        assert_eq!(begin_at(&store, "a", "h", noon() + MINUTE).await, Begun::Fresh, "second");
        store.finish(key("a"), reply("second")).await.unwrap();
        store.finish(key("a"), reply("first, too late")).await.unwrap();
        store.abandon(key("a")).await.unwrap();
        assert_eq!(begin_at(&store, "a", "h", noon() + MINUTE).await, Begun::Done(reply("second")));
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    async fn of_many_at_once_exactly_one_goes_ahead() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("kernel.db");
        for round in 0..10 {
            // Each has its own connection, as processes have.
            let tasks: Vec<_> = (0..8)
                .map(|_| {
                    let store = SqliteIdempotencyStore::open(&file).unwrap();
                    let name = format!("round {round}");
                    tokio::spawn(async move { begin_at(&store, &name, "h", noon()).await })
                })
                .collect();
            let mut fresh = 0;
            for task in tasks {
                match task.await.unwrap() {
                    Begun::Fresh => fresh += 1,
                    other => assert_eq!(other, Begun::Running),
                }
            }
            assert_eq!(fresh, 1, "round {round}");
        }
    }
}
