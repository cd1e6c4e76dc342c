//! A server among its replicas: shared rate limits, and its name in metrics.

use std::fmt::Write as _;
use std::sync::Arc;

use panoply_contract::pipeline::Limiter;
use panoply_redis::{Settings, SharedLimiter, Status};

use crate::app;
use crate::config::{CacheSettings, Config};
use crate::failure::Failure;

/// This server among its replicas.
pub(crate) struct Fleet {
    name: String,
    limits: Option<Arc<SharedLimiter>>,
}

impl Fleet {
    /// Connects to the cache of the settings, if there is one. A cache that does not answer is
    /// retried.
    pub(crate) async fn join(config: &Config) -> Result<Self, Failure> {
        let limits = match &config.cache {
            None => None,
            Some(cache) => {
                let settings = settings(cache, config.replica.count)?;
                let limiter = SharedLimiter::start(&settings, app::clock()).await;
                let limiter = limiter.map_err(|error| {
                    Failure::usage(error.to_string()).hint("set PANOPLY_CACHE or `[cache] url`")
                })?;
                Some(Arc::new(limiter))
            }
        };
        Ok(Self { name: config.replica.name.clone(), limits })
    }

    /// The limiter that all replicas share; `None` for one of this process.
    pub(crate) fn limiter(&self) -> Option<Arc<dyn Limiter>> {
        self.limits.clone().map(|limits| limits as _)
    }

    /// State of the cache; `None` without one.
    pub(crate) fn cache(&self) -> Option<Status> {
        self.limits.as_ref().map(|limits| limits.status())
    }

    /// Metrics of this replica in the Prometheus text format. `database` is whether the database
    /// server answers, if there is one.
    pub(crate) fn metrics(&self, database: Option<bool>) -> String {
        page(&self.name, database, self.cache())
    }

    /// Leaves the other replicas.
    pub(crate) async fn leave(&self) {
        if let Some(limits) = &self.limits {
            limits.leave().await;
        }
    }
}

fn settings(cache: &CacheSettings, replicas: u32) -> Result<Settings, Failure> {
    let password = match &cache.password_file {
        None => None,
        Some(file) => {
            let text = std::fs::read_to_string(file).map_err(|error| {
                Failure::usage(format!("cannot read `{}`: {error}", file.display()))
                    .hint("name a file with the password of the cache")
            })?;
            Some(text.trim_end_matches(['\r', '\n']).to_owned())
        }
    };
    let (url, authorities) = (cache.url.clone(), cache.authorities.clone());
    Ok(Settings { url, password, authorities, replicas })
}

fn page(name: &str, database: Option<bool>, cache: Option<Status>) -> String {
    let name = name.replace('\\', r"\\").replace('"', "\\\"").replace('\n', "\\n");
    let mut page = String::new();
    let mut gauge = |metric: &str, kind: &str, help: &str, samples: &[(String, u64)]| {
        let _infallible = writeln!(page, "# HELP {metric} {help}\n# TYPE {metric} {kind}");
        for (labels, value) in samples {
            let _infallible = writeln!(page, "{metric}{labels} {value}");
        }
    };
    let plain = |value: u64| [(String::new(), value)];
    let info = [(format!("{{replica=\"{name}\"}}"), 1)];
    gauge("panoply_replica_info", "gauge", "Name of this server among its replicas.", &info);
    if let Some(up) = database {
        let help = "Whether the database server answers.";
        gauge("panoply_database_up", "gauge", help, &plain(u64::from(up)));
    }
    if let Some(status) = cache {
        let help = "Whether the cache answers; without it each replica enforces its share.";
        gauge("panoply_cache_up", "gauge", help, &plain(u64::from(status.up)));
        let help = "Replicas between which limits are divided without the cache.";
        gauge("panoply_replicas", "gauge", help, &plain(u64::from(status.replicas)));
        let by = |who: &str, count| (format!("{{by=\"{who}\"}}"), count);
        let checks = [by("cache", status.shared), by("replica", status.alone)];
        let help = "Checks of rate limits, by who decided.";
        gauge("panoply_limit_checks_total", "counter", help, &checks);
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_name_the_replica_and_the_parts_that_are_set_up() {
        let status = Status { up: false, replicas: 3, shared: 7, alone: 2 };
        let text = page("a\"b", Some(true), Some(status));
        let samples: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
        let expected = [
            "panoply_replica_info{replica=\"a\\\"b\"} 1",
            "panoply_database_up 1",
            "panoply_cache_up 0",
            "panoply_replicas 3",
            "panoply_limit_checks_total{by=\"cache\"} 7",
            "panoply_limit_checks_total{by=\"replica\"} 2",
        ];
        assert_eq!(samples, expected);
        assert_eq!(page("a", None, None).lines().count(), 3);
    }
}
