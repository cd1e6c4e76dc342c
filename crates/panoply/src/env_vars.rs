//! All environment variables, and the only module that reads them.
//!
//! The rest of the program receives an [`Environment`], so that tests can construct one. The table
//! also generates the list at the end of `panoply --help`.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

/// An environment variable.
#[derive(Clone, Copy, Debug)]
pub struct Variable {
    /// Name.
    pub name: &'static str,
    /// What it description, in one line.
    pub description: &'static str,
}

/// The home folder.
pub const HOME: Variable = Variable {
    name: "PANOPLY_HOME",
    description: "home folder: settings, audit log, keys and pack data",
};
/// Database server of the stores.
pub const STORE: Variable = Variable {
    name: "PANOPLY_STORE",
    description: "URL of a PostgreSQL database; without it, files in the home folder",
};
/// File with the password of the database.
pub const STORE_PASSWORD_FILE: Variable = Variable {
    name: "PANOPLY_STORE_PASSWORD_FILE",
    description: "file with the password for PANOPLY_STORE",
};
/// Shared rate limits.
pub const CACHE: Variable = Variable {
    name: "PANOPLY_CACHE",
    description: "URL of a Redis or Valkey server, for rate limits over all replicas",
};
/// File with the password of the cache.
pub const CACHE_PASSWORD_FILE: Variable = Variable {
    name: "PANOPLY_CACHE_PASSWORD_FILE",
    description: "file with the password for PANOPLY_CACHE",
};
/// Name of this replica.
pub const REPLICA: Variable = Variable {
    name: "PANOPLY_REPLICA",
    description: "name of this server among its replicas; the host's name if unset",
};
/// Number of replicas.
pub const REPLICA_COUNT: Variable = Variable {
    name: "PANOPLY_REPLICA_COUNT",
    description: "how many replicas are deployed, to divide limits without the cache",
};
/// Packs to serve.
pub const PACKS: Variable = Variable {
    name: "PANOPLY_PACKS",
    description: "packs to serve, separated by commas; all if unset",
};
/// Tools to list.
pub const TOOLS: Variable =
    Variable { name: "PANOPLY_TOOLS", description: "which tools to list: core, all or lazy" };
/// Whether mutations are hidden.
pub const READ_ONLY: Variable = Variable {
    name: "PANOPLY_READ_ONLY",
    description: "1 hides and refuses all tools that change data",
};
/// Log filter.
pub const LOG: Variable = Variable {
    name: "PANOPLY_LOG",
    description: "error, warn, info, debug, or a filter such as panoply_mcp=debug",
};
/// Log format.
pub const LOG_FORMAT: Variable =
    Variable { name: "PANOPLY_LOG_FORMAT", description: "json (one object per line) or text" };
/// HTTP listen address.
pub const LISTEN: Variable = Variable {
    name: "PANOPLY_LISTEN",
    description: "address of `panoply http`, such as 127.0.0.1:8642",
};
/// Allowed host names.
pub const ALLOWED_HOSTS: Variable = Variable {
    name: "PANOPLY_ALLOWED_HOSTS",
    description: "allowed host names of the HTTP server, separated by commas",
};
/// Allowed origins.
pub const ALLOWED_ORIGINS: Variable = Variable {
    name: "PANOPLY_ALLOWED_ORIGINS",
    description: "allowed origins of web pages, separated by commas",
};
/// Accepted token issuer.
pub const OAUTH_ISSUER: Variable = Variable {
    name: "PANOPLY_OAUTH_ISSUER",
    description: "accepted OAuth issuer, as in `iss` of the tokens",
};
/// OAuth resource: public URL of this server.
pub const OAUTH_RESOURCE: Variable = Variable {
    name: "PANOPLY_OAUTH_RESOURCE",
    description: "public URL of this server, as in `aud` of the tokens",
};
/// JWKS URL of the issuer.
pub const OAUTH_JWKS_URL: Variable =
    Variable { name: "PANOPLY_OAUTH_JWKS_URL", description: "JWKS URL of the issuer" };
/// Accounts for unknown subjects.
pub const OAUTH_NEW_USERS: Variable = Variable {
    name: "PANOPLY_OAUTH_NEW_USERS",
    description: "1: a subject without an account gets one with its first token",
};
/// Claim with the caller's workspace.
pub const OAUTH_WORKSPACE_CLAIM: Variable = Variable {
    name: "PANOPLY_OAUTH_WORKSPACE_CLAIM",
    description: "claim of the tokens that names the caller's workspace",
};

/// Admin address.
pub const ADMIN_ADDR: Variable = Variable {
    name: "PANOPLY_ADMIN_ADDR",
    description: "second address for /healthz, /readyz and /metrics, without keys",
};
/// Lame-duck period after SIGTERM.
pub const LAME_DUCK: Variable = Variable {
    name: "PANOPLY_LAME_DUCK",
    description: "seconds to keep accepting after SIGTERM, for load balancers",
};

/// Variables of this program, in the order of the help.
pub const OURS: [Variable; 22] = [
    HOME,
    STORE,
    STORE_PASSWORD_FILE,
    CACHE,
    CACHE_PASSWORD_FILE,
    REPLICA,
    REPLICA_COUNT,
    PACKS,
    TOOLS,
    READ_ONLY,
    LOG,
    LOG_FORMAT,
    LISTEN,
    ADMIN_ADDR,
    LAME_DUCK,
    ALLOWED_HOSTS,
    ALLOWED_ORIGINS,
    OAUTH_ISSUER,
    OAUTH_RESOURCE,
    OAUTH_JWKS_URL,
    OAUTH_NEW_USERS,
    OAUTH_WORKSPACE_CLAIM,
];

/// System variables for the user's folders and the search path.
const SYSTEM: [&str; 7] =
    ["HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "PATH"];

/// The time zone of the machine: `TZ`, or else the system's setting; UTC if there is neither.
pub fn time_zone() -> jiff::tz::TimeZone {
    jiff::tz::TimeZone::system()
}

/// Name of this machine; in a container that of the container.
pub fn host_name() -> Option<String> {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").ok()?;
    Some(name.trim().to_owned()).filter(|name| !name.is_empty())
}

/// Snapshot of the environment at startup.
#[derive(Clone, Debug, Default)]
pub struct Environment(BTreeMap<&'static str, OsString>);

impl Environment {
    /// Reads the process environment. An empty variable counts as unset.
    pub fn read() -> Self {
        let names = OURS.iter().map(|variable| variable.name).chain(SYSTEM);
        #[expect(clippy::disallowed_methods, reason = "this is the one place")]
        let set = names.filter_map(|name| Some((name, std::env::var_os(name)?)));
        Self(set.filter(|(_, value)| !value.is_empty()).collect())
    }

    /// Returns the value of a variable, if set; invalid UTF-8 is replaced.
    pub fn text(&self, variable: Variable) -> Option<String> {
        self.0.get(variable.name).map(|value| value.to_string_lossy().into_owned())
    }

    /// Returns the value of a variable as a path.
    pub fn path(&self, variable: Variable) -> Option<PathBuf> {
        self.0.get(variable.name).map(PathBuf::from)
    }

    /// Reads a secret from a variable that the user named. Read on demand and not stored.
    pub fn secret(&self, name: &str) -> Option<String> {
        #[expect(clippy::disallowed_methods, reason = "this is the one place")]
        let value = std::env::var(name).ok();
        value.map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
    }

    /// The user's home directory.
    pub fn user_folder(&self) -> Option<PathBuf> {
        // A shell on Windows may set HOME to a path that programs with a window do not use.
        let names = if cfg!(windows) { ["USERPROFILE", "HOME"] } else { ["HOME", "USERPROFILE"] };
        names.iter().find_map(|name| self.system(name))
    }

    /// `~/.config` on macOS too, for programs that do not follow the platform's convention there.
    pub fn dot_config_folder(&self) -> Option<PathBuf> {
        if cfg!(target_os = "macos") {
            self.user_folder().map(|home| home.join(".config"))
        } else {
            self.settings_folder()
        }
    }

    /// Data folder of this program by the conventions of the platform.
    pub fn data_folder(&self) -> Option<PathBuf> {
        let base = if cfg!(target_os = "macos") {
            self.user_folder().map(|home| home.join("Library/Application Support"))
        } else if cfg!(windows) {
            self.system("LOCALAPPDATA")
        } else {
            self.system("XDG_DATA_HOME")
                .or_else(|| self.user_folder().map(|home| home.join(".local/share")))
        };
        base.map(|base| base.join("panoply"))
    }

    /// Settings folder of the user by the conventions of the platform.
    pub fn settings_folder(&self) -> Option<PathBuf> {
        if cfg!(target_os = "macos") {
            self.user_folder().map(|home| home.join("Library/Application Support"))
        } else if cfg!(windows) {
            self.system("APPDATA")
        } else {
            // The specification says to ignore a relative path.
            self.system("XDG_CONFIG_HOME")
                .filter(|folder| folder.is_absolute())
                .or_else(|| self.user_folder().map(|home| home.join(".config")))
        }
    }

    /// The search path of programs.
    pub fn search_path(&self) -> Option<OsString> {
        self.0.get("PATH").cloned()
    }

    fn system(&self, name: &str) -> Option<PathBuf> {
        self.0.get(name).map(PathBuf::from)
    }
}

#[cfg(test)]
impl Environment {
    /// Constructs an environment for tests.
    pub(crate) fn of(variables: &[(&'static str, &str)]) -> Self {
        Self(variables.iter().map(|(name, value)| (*name, OsString::from(value))).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_variable_has_a_one_line_description() {
        for variable in OURS {
            assert!(variable.name.starts_with("PANOPLY_"), "{}", variable.name);
            assert!((10..100).contains(&variable.description.len()), "{}", variable.name);
            assert!(!variable.description.contains('\n'), "{}", variable.name);
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn folders_follow_the_platform() {
        let plain = Environment::of(&[("HOME", "/home/ann")]);
        assert_eq!(plain.data_folder(), Some("/home/ann/.local/share/panoply".into()));
        assert_eq!(plain.settings_folder(), Some("/home/ann/.config".into()));
        let moved = Environment::of(&[("HOME", "/home/ann"), ("XDG_DATA_HOME", "/data")]);
        assert_eq!(moved.data_folder(), Some("/data/panoply".into()));
        assert_eq!(Environment::default().data_folder(), None);
    }
}
