//! Row-level security, tried with psql as the application role.

use panoply_backtest::event::Guid;
use panoply_backtest::ingest::OpenRun;
use panoply_backtest::run::RunHeader;
use panoply_backtest::timestamp::Timestamp;
use panoply_cgt::store::PortfolioError;
use panoply_contract::preferences::{PreferenceStore as _, Preferences};
use panoply_postgres::PostgresKernelStore;
use panoply_ttm::papers::Record;
use panoply_ttm::search::PaperImport as _;

use crate::backtest::runs;
use crate::cgt::portfolios;
use crate::database::{Database, person};
use crate::noema::{cards, make_cards};
use crate::ttm::documents;

#[test]
fn without_a_tenant_is_an_error_and_with_another_there_is_no_row() {
    let database = Database::start();
    let (ann, bob) = (person(1), person(2));
    let folder = tempfile::tempdir().unwrap();
    make_cards(&cards(&database.postgres, &ann, folder.path()), 2);
    let shares = portfolios(&database.postgres, &ann, folder.path());
    let made: Result<(), PortfolioError> = shares.change(true, |writer| {
        writer.create("pf_1", "Shares", 1)?;
        writer.ensure_account("pf_1", "Main", None)?;
        writer.begin("pf_1", 2, "nothing").map(drop)
    });
    made.unwrap();
    let blobs = runs(&database.postgres, &ann, folder.path());
    OpenRun::open(blobs, Guid::new(7), RunHeader::default(), Timestamp::from_nanos(0)).unwrap();
    let papers = documents(&database.postgres, &ann, folder.path());
    let record = Record { pmid: "1".to_owned(), ..Record::default() };
    papers.import_papers(&mut |keep| keep(record.clone())).unwrap();
    let store = PostgresKernelStore(std::sync::Arc::clone(&database.postgres));
    store
        .set(&ann, &Preferences { study_minutes: Some(7), ..Preferences::default() }, None)
        .unwrap();
    let mut filled = 0;
    for table in tables_with_a_tenant(&database) {
        let count = format!("SELECT count(*) FROM {table}");
        match database.app(&count) {
            Err(error) => assert!(error.contains("no tenant is set"), "{table}: {error}"),
            // PostgreSQL asks for the tenant with the first row.
            Ok(_) => assert_eq!(database.admin(&count), "0", "{table} is read without a tenant"),
        }
        let as_tenant = |tenant: &str| {
            let sql = format!("SET panoply.tenant = '{tenant}'; {count}");
            database.app(&sql).unwrap()
        };
        assert_eq!(as_tenant(bob.as_str()), "0", "{table}");
        filled += u32::from(as_tenant(ann.as_str()) != "0");
        let wrong = format!(
            "SET panoply.tenant = '{bob}'; WITH gone AS (DELETE FROM {table} RETURNING 1) SELECT count(*) FROM gone"
        );
        assert_eq!(database.app(&wrong).unwrap(), "0", "{table}");
    }
    assert!(filled >= 13, "{filled} tables have rows of a tenant");
    // A row for another tenant cannot be written.
    let sql = format!(
        "SET panoply.tenant = '{bob}'; INSERT INTO kernel.preferences (tenant, version, members) VALUES ('{ann}x', 1, '')"
    );
    assert!(database.app(&sql).unwrap_err().contains("row-level security"));
}

/// Every table with data of tenants, from the catalog, so that a new one is tried as well.
fn tables_with_a_tenant(database: &Database) -> Vec<String> {
    let sql = "SELECT DISTINCT format('%I.%I', table_schema, table_name) \
               FROM information_schema.columns WHERE column_name IN ('tenant', 'owner') \
               AND table_schema NOT IN ('pg_catalog', 'information_schema') ORDER BY 1";
    let found: Vec<String> = database.admin(sql).lines().map(str::to_owned).collect();
    assert!(found.len() > 20, "{found:?}");
    found
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
