//! The commit, the pool and the timeouts.

use std::sync::Arc;
use std::time::{Duration, Instant};

use panoply_postgres::transaction::Transaction;
use panoply_postgres::{Postgres, Settings, values};
use panoply_store::StoreError;

use crate::database::{Database, person};

#[test]
fn commit_after_a_failed_statement_is_an_error() {
    let database = Database::start();
    let done = database.postgres.run(|server| async move {
        let transaction = server.begin(None).await?;
        let failed = transaction.connection()?.script("SELECT 1 / 0").await;
        assert!(failed.is_err());
        transaction.commit().await
    });
    // The server answers COMMIT with ROLLBACK here, which is not an error of the protocol.
    assert!(matches!(done, Err(StoreError::ServerBusy { .. })), "{done:?}");
}

#[test]
fn lost_connection_during_a_commit_is_resolved() {
    let database = Database::start();
    let ann = person(1);
    let insert = "INSERT INTO kernel.preferences (tenant, version, members) VALUES ($1, 1, '{}')";
    // A commit that waits for a standby that is not there hangs until its backend is ended, after
    // it is durable: the connection is lost, and the change is made.
    database.admin("ALTER SYSTEM SET synchronous_standby_names = 'nobody'");
    database.admin("SELECT pg_reload_conf()");
    let of = ann.clone();
    let admin = std::thread::scope(|scope| {
        let commit = scope.spawn(|| {
            database.postgres.run(|server| async move {
                let transaction = server.begin(Some(&of)).await?;
                transaction.execute(insert, values![of.to_string()]).await?;
                transaction.commit().await
            })
        });
        let started = Instant::now();
        let waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
        while database.admin(waiting) == "0" {
            assert!(started.elapsed() < Duration::from_secs(10), "no commit waits");
        }
        database.admin(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'",
        );
        commit.join().unwrap()
    });
    assert!(admin.is_ok(), "{admin:?}");
    assert_eq!(database.admin("SELECT count(*) FROM kernel.preferences"), "1");
}

#[test]
fn full_pool_answers_busy_with_a_time() {
    let database = Database::start();
    let settings = Settings { connections: 2, ..Settings::of(&database.server.app_url()) };
    let postgres = Postgres::new(&settings).unwrap();
    let taken: Vec<Transaction> = (0..2)
        .map(|_| postgres.run(|server| async move { server.begin(None).await }).unwrap())
        .collect();
    let started = Instant::now();
    let refused = postgres.run(|server| async move { server.begin(None).await.map(|_| ()) });
    let error = refused.unwrap_err().tool_error();
    assert_eq!(error.code, "STORE_BUSY");
    assert_eq!(error.retry_after, Some(Duration::from_secs(1)));
    assert!(started.elapsed() < Duration::from_secs(3), "it waits for a second");
    postgres
        .run(|_| async move {
            for transaction in taken {
                transaction.rollback().await;
            }
            Ok(())
        })
        .unwrap();
    assert!(postgres.run(|server| async move { server.begin(None).await.map(|_| ()) }).is_ok());
}

#[test]
fn locked_row_and_slow_statement_are_given_up() {
    let database = Database::start();
    let settings = Settings {
        lock_timeout: Duration::from_millis(200),
        statement_timeout: Duration::from_millis(400),
        ..Settings::of(&database.server.app_url())
    };
    let postgres = Postgres::new(&settings).unwrap();
    database.admin(
        "INSERT INTO kernel.tenant (id, kind, name, created) VALUES ('a', 'person', 'a', '')",
    );
    let lock = "UPDATE kernel.tenant SET name = 'b' WHERE id = 'a'";
    let holder = postgres
        .run(|server| async move {
            let transaction = server.begin(None).await?;
            transaction.execute(lock, values![]).await?;
            Ok(transaction)
        })
        .unwrap();
    for sql in [lock, "SELECT pg_sleep(5)"] {
        let refused = postgres
            .run(|server| async move { server.begin(None).await?.execute(sql, values![]).await });
        assert_eq!(refused.unwrap_err().tool_error().code, "STORE_BUSY", "{sql}");
    }
    drop(holder);
}

#[test]
fn dropped_transaction_leaves_nothing_in_its_connection() {
    let database = Database::start();
    let ann = person(1);
    for _ in 0..20 {
        let of = ann.clone();
        let dropped = database.postgres.run(|server| async move {
            let transaction = server.begin(Some(&of)).await?;
            let sql =
                "INSERT INTO kernel.preferences (tenant, version, members) VALUES ($1, 1, '')";
            transaction.execute(sql, values![of.to_string()]).await
        });
        assert_eq!(dropped.unwrap(), 1);
    }
    assert_eq!(database.admin("SELECT count(*) FROM kernel.preferences"), "0");
    let unset = Arc::clone(&database.postgres).run(|server| async move {
        let connection = server.connection().await?;
        connection.script("INSERT INTO kernel.preferences VALUES ('x', 1, '')").await.map(drop)
    });
    assert!(unset.is_err(), "no tenant is left in a connection");
}
