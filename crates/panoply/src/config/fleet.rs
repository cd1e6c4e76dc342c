//! `[cache]` and `[replica]`: one server among several.

use std::path::PathBuf;

use serde::Deserialize;

use super::parsed;
use crate::env_vars::{self, Environment};
use crate::failure::Failure;

/// The server of shared rate limits.
#[derive(Clone, Debug, PartialEq)]
pub struct CacheSettings {
    /// `redis://` or `rediss://` with host and database.
    pub url: String,
    /// File with the password, if the URL has none.
    pub password_file: Option<PathBuf>,
    /// PEM file of certificate authorities; Mozilla's roots if there is none.
    pub authorities: Option<PathBuf>,
}

/// This server among its replicas.
#[derive(Clone, Debug, PartialEq)]
pub struct Replica {
    /// Its name, in metrics.
    pub name: String,
    /// The number of replicas that are deployed.
    pub count: u32,
}

/// The table `[cache]` in `config.toml`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct CacheTable {
    url: Option<String>,
    password_file: Option<PathBuf>,
    authorities: Option<PathBuf>,
}

/// The table `[replica]` in `config.toml`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct ReplicaTable {
    name: Option<String>,
    count: Option<u32>,
}

impl CacheTable {
    /// The settings; variables override the file.
    pub(super) fn or_environment(self, environment: &Environment) -> Option<CacheSettings> {
        let password_file = environment.path(env_vars::CACHE_PASSWORD_FILE);
        Some(CacheSettings {
            url: environment.text(env_vars::CACHE).or(self.url)?,
            password_file: password_file.or(self.password_file),
            authorities: self.authorities,
        })
    }
}

impl ReplicaTable {
    /// The settings; variables override the file, and the host's name stands in for a missing one.
    pub(super) fn or_environment(self, environment: &Environment) -> Result<Replica, Failure> {
        let count = parsed(environment, env_vars::REPLICA_COUNT, "a number such as 3", |text| {
            text.parse().ok()
        })?;
        let name = environment.text(env_vars::REPLICA).or(self.name);
        Ok(Replica {
            name: name.or_else(env_vars::host_name).unwrap_or_else(|| "panoply".to_owned()),
            count: count.or(self.count).unwrap_or(1).max(1),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_override_the_file_and_limits_are_local_without_a_cache() {
        let set = Environment::of(&[
            ("PANOPLY_CACHE", "redis://a"),
            ("PANOPLY_REPLICA", "one"),
            ("PANOPLY_REPLICA_COUNT", "5"),
        ]);
        let cache = || CacheTable { url: Some("redis://b".to_owned()), ..CacheTable::default() };
        let url = |found: Option<CacheSettings>| found.map(|found| found.url);
        assert_eq!(url(cache().or_environment(&set)).as_deref(), Some("redis://a"));
        let unset = Environment::default();
        assert_eq!(url(cache().or_environment(&unset)).as_deref(), Some("redis://b"));
        assert_eq!(CacheTable::default().or_environment(&unset), None);

        let replica = || ReplicaTable { name: Some("two".to_owned()), count: Some(3) };
        let one = Replica { name: "one".to_owned(), count: 5 };
        assert_eq!(replica().or_environment(&set).ok(), Some(one));
        let two = Replica { name: "two".to_owned(), count: 3 };
        assert_eq!(replica().or_environment(&unset).ok(), Some(two));
        let alone = ReplicaTable::default().or_environment(&unset).unwrap();
        assert_eq!((alone.count, alone.name.is_empty()), (1, false));
        let wrong = Environment::of(&[("PANOPLY_REPLICA_COUNT", "three")]);
        assert!(replica().or_environment(&wrong).is_err());
    }
}
