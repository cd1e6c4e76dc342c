//! Row-level security, tried with psql as the application role.

use panoply_contract::preferences::{PreferenceStore as _, Preferences};
use panoply_postgres::PostgresKernelStore;

use crate::database::{Database, person};
use crate::noema::{cards, make_cards};

#[test]
fn without_a_tenant_is_an_error_and_with_another_there_is_no_row() {
    let database = Database::start();
    let (ann, bob) = (person(1), person(2));
    let folder = tempfile::tempdir().unwrap();
    make_cards(&cards(&database.postgres, &ann, folder.path()), 2);
    let store = PostgresKernelStore(std::sync::Arc::clone(&database.postgres));
    store
        .set(&ann, &Preferences { study_minutes: Some(7), ..Preferences::default() }, None)
        .unwrap();
    for table in
        ["noema.card", "noema.note", "noema.action", "noema.collection", "kernel.preferences"]
    {
        let count = format!("SELECT count(*) FROM {table}");
        let error = database.app(&count).unwrap_err();
        assert!(error.contains("no tenant is set"), "{table}: {error}");
        let as_tenant = |tenant: &str| {
            let sql = format!("SET panoply.tenant = '{tenant}'; {count}");
            database.app(&sql).unwrap()
        };
        assert_eq!(as_tenant(bob.as_str()), "0", "{table}");
        assert_ne!(as_tenant(ann.as_str()), "0", "{table}");
        let wrong = format!(
            "SET panoply.tenant = '{bob}'; WITH gone AS (DELETE FROM {table} RETURNING 1) SELECT count(*) FROM gone"
        );
        assert_eq!(database.app(&wrong).unwrap(), "0", "{table}");
    }
    // A row for another tenant cannot be written.
    let sql = format!(
        "SET panoply.tenant = '{bob}'; INSERT INTO kernel.preferences (tenant, version, members) VALUES ('{ann}x', 1, '')"
    );
    assert!(database.app(&sql).unwrap_err().contains("row-level security"));
}

#[test]
fn application_role_changes_neither_tables_nor_audit_rows() {
    let database = Database::start();
    let refused = [
        "CREATE TABLE kernel.mine (x int)",
        "CREATE TABLE public.mine (x int)",
        "CREATE SCHEMA mine",
        "ALTER TABLE kernel.audit DISABLE TRIGGER ALL",
        "DROP POLICY own ON noema.card",
        "SET ROLE panoply_owner",
        "SET ROLE postgres",
        "UPDATE kernel.audit SET tool = ''",
        "DELETE FROM kernel.audit",
        "TRUNCATE kernel.audit",
        "DELETE FROM kernel.audit_chain",
        "UPDATE kernel.audit_chain SET chain = ''",
        "DELETE FROM kernel.audit_checkpoint",
        "DELETE FROM kernel.recorded_call",
        "UPDATE kernel.schema_version SET version = 0",
    ];
    for sql in refused {
        let error = database.app(sql).expect_err(sql);
        assert!(
            error.contains("permission denied") || error.contains("must be owner"),
            "{sql}: {error}"
        );
    }
}
