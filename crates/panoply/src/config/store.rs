//! `[store]`: the database server of the stores.

use std::path::PathBuf;

use serde::Deserialize;

use crate::env_vars::{self, Environment};

/// The database server of the stores.
#[derive(Clone, Debug, PartialEq)]
pub struct StoreSettings {
    /// URL with role, hosts and database.
    pub url: String,
    /// File with the password, if the URL has none.
    pub password_file: Option<PathBuf>,
    /// PEM file of certificate authorities; Mozilla's roots if there is none.
    pub authorities: Option<PathBuf>,
    /// Maximum number of connections.
    pub connections: usize,
}

/// The table in `config.toml`.
#[derive(Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct StoreTable {
    url: Option<String>,
    password_file: Option<PathBuf>,
    authorities: Option<PathBuf>,
    connections: usize,
}

impl Default for StoreTable {
    fn default() -> Self {
        Self { url: None, password_file: None, authorities: None, connections: 16 }
    }
}

impl StoreTable {
    /// The settings; variables override the file.
    pub(super) fn or_environment(self, environment: &Environment) -> Option<StoreSettings> {
        let password_file = environment.path(env_vars::STORE_PASSWORD_FILE);
        Some(StoreSettings {
            url: environment.text(env_vars::STORE).or(self.url)?,
            password_file: password_file.or(self.password_file),
            authorities: self.authorities,
            connections: self.connections,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variable_overrides_the_file_and_nothing_is_sqlite() {
        let set = Environment::of(&[("PANOPLY_STORE", "postgres://a@h/d")]);
        let table =
            || StoreTable { url: Some("postgres://b@h/d".to_owned()), ..StoreTable::default() };
        let url = |found: Option<StoreSettings>| found.map(|found| found.url);
        assert_eq!(url(table().or_environment(&set)).as_deref(), Some("postgres://a@h/d"));
        let unset = Environment::default();
        assert_eq!(url(table().or_environment(&unset)).as_deref(), Some("postgres://b@h/d"));
        assert_eq!(StoreTable::default().or_environment(&unset), None);
    }
}
