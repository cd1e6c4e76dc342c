//! `panoply db init`, `migrate` and `check`.

use panoply_postgres::schema::{self, Names, Verdict};
use panoply_postgres::{Postgres, PostgresUsers, Settings};
use panoply_store::{StoreError, Users as _};

use crate::database::Database;

#[test]
fn init_is_idempotent_and_check_finds_only_the_missing_standby() {
    let database = Database::start();
    let admin = Settings::of(&database.server.admin_url());
    let names = Names::of(&Settings::of(&database.server.app_url())).unwrap();
    let again = schema::init(&admin, &names).unwrap();
    assert_eq!(again, [format!("the schema is up to date ({})", schema::known())]);
    let findings = schema::check(&database.postgres).unwrap();
    let not_good: Vec<_> =
        findings.iter().filter(|finding| finding.verdict != Verdict::Good).collect();
    assert_eq!(not_good.len(), 1, "{not_good:?}");
    assert_eq!(not_good[0].name, "a synchronous standby");
    assert_eq!(not_good[0].verdict, Verdict::Warning);
}

#[test]
fn check_finds_wrong_collation_rights_and_unforced_security() {
    let database = Database::start();
    let bad = |database: &str, server: &panoply_testkit::postgres::PostgresServer| {
        let url = server.url("panoply_app", database);
        let findings = schema::check(&Postgres::new(&Settings::of(&url)).unwrap()).unwrap();
        let bad = findings.into_iter().filter(|finding| finding.verdict == Verdict::Bad);
        bad.map(|finding| finding.name).collect::<Vec<_>>()
    };
    assert_eq!(bad("panoply", &database.server), Vec::<&str>::new());
    database.admin("ALTER TABLE kernel.preferences NO FORCE ROW LEVEL SECURITY");
    assert_eq!(bad("panoply", &database.server), ["row-level security is forced"]);
    database.admin("ALTER TABLE kernel.preferences FORCE ROW LEVEL SECURITY");
    database.admin("GRANT CREATE ON SCHEMA kernel TO panoply_app");
    assert_eq!(bad("panoply", &database.server), ["role cannot create tables"]);
    database.admin("REVOKE CREATE ON SCHEMA kernel FROM panoply_app");
    database.admin("ALTER ROLE panoply_app BYPASSRLS");
    assert_eq!(bad("panoply", &database.server), ["role is no superuser"]);
    database.admin("ALTER ROLE panoply_app NOBYPASSRLS");
    database.admin("CREATE DATABASE plain TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'");
    let found = bad("plain", &database.server);
    assert!(found.contains(&"schema"), "{found:?}");
    assert!(found.contains(&"kinds of characters (LC_CTYPE)"), "{found:?}");
}

#[test]
fn schemas_outside_the_range_of_the_program_are_refused() {
    let database = Database::start();
    let list = || {
        let postgres = database.replica();
        PostgresUsers(postgres).list().map_err(|error| match error {
            StoreError::NotSetUp(message) => message,
            other => panic!("{other:?}"),
        })
    };
    assert_eq!(list().unwrap(), []);
    let known = schema::known();
    let set = |version: i32, from: i32| {
        database.admin(&format!(
            "UPDATE kernel.schema_version SET version = {version}, compatible_from = {from}"
        ));
    };
    // A newer release migrated, and says that this one can go on.
    set(known + 1, known);
    assert_eq!(list().unwrap(), []);
    set(known + 1, known + 1);
    assert!(list().unwrap_err().contains("upgrade it"));
    set(known - 1, 1);
    assert!(list().unwrap_err().contains("panoply db migrate"));
}

#[test]
fn unreachable_server_is_busy_and_a_wrong_role_is_told() {
    let nobody = Settings::of("postgres://a@127.0.0.1:1/b?sslmode=disable");
    let error = PostgresUsers(Postgres::new(&nobody).unwrap()).list().unwrap_err();
    let told = error.tool_error();
    assert_eq!(told.code, "STORE_BUSY");
    assert!(told.retry_after.is_some());
    let database = Database::start();
    let stranger = Settings::of(&database.server.url("stranger", "panoply"));
    let error = PostgresUsers(Postgres::new(&stranger).unwrap()).list().unwrap_err();
    assert!(matches!(error, StoreError::NotSetUp(_)), "{error:?}");
}

#[test]
fn second_host_of_a_url_is_used_when_the_first_is_gone() {
    let database = Database::start();
    let port = database.server.port();
    let url = format!(
        "postgres://panoply_app@127.0.0.1:1,127.0.0.1:{port}/panoply?sslmode=disable&target_session_attrs=read-write"
    );
    assert_eq!(PostgresUsers(Postgres::new(&Settings::of(&url)).unwrap()).list().unwrap(), []);
}
