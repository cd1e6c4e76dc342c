//! Connections over TLS: encrypted, and only to a server whose certificate is verified.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use panoply_postgres::{Postgres, Settings};
use panoply_store::StoreError;

use crate::database::Database;

/// A pool over TLS to a name of this machine.
fn pool(database: &Database, host: &str, authorities: Option<&Path>) -> Arc<Postgres> {
    let url = database.server.app_url();
    let url = url.replace("127.0.0.1", host).replace("sslmode=disable", "sslmode=require");
    let settings = Settings { authorities: authorities.map(Into::into), ..Settings::of(&url) };
    Postgres::new(&settings).unwrap()
}

/// Whether the server says that the connection is encrypted.
fn is_encrypted(postgres: &Arc<Postgres>) -> Result<bool, StoreError> {
    let sql = "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()";
    let rows =
        postgres.run(|server| async move { server.connection().await?.script(sql).await })?;
    Ok(rows[0].get(0) == Some("t"))
}

#[test]
fn only_a_verified_server_is_connected_to_and_encrypted() {
    let database = Database::start();
    assert!(!is_encrypted(&database.postgres).unwrap());
    let authority = database.server.encrypt();
    let authority = authority.as_path();
    let deadline = Instant::now() + Duration::from_secs(20);
    // The server reloads its settings when it gets to it.
    while is_encrypted(&pool(&database, "localhost", Some(authority))).is_err() {
        assert!(Instant::now() < deadline, "the server does not offer TLS");
    }
    assert!(is_encrypted(&pool(&database, "localhost", Some(authority))).unwrap());
    // Another authority, and another name than that of the certificate.
    for (host, authorities) in [("localhost", None), ("127.0.0.1", Some(authority))] {
        let refused = is_encrypted(&pool(&database, host, authorities)).unwrap_err();
        let text = format!("{refused:?}");
        assert!(text.contains("certificate") || text.contains("Certificate"), "{host}: {text}");
    }
}

#[test]
fn required_encryption_is_never_left_out() {
    let database = Database::start();
    let refused = is_encrypted(&pool(&database, "localhost", None)).unwrap_err();
    assert!(format!("{refused:?}").contains("server does not support TLS"), "{refused:?}");
}
