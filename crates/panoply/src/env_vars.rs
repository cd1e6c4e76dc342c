//! Every environment variable there is, and the only place that reads them.
//!
//! The rest of the program gets an [`Environment`] handed in, so a test can make one up. The
//! same table makes the list at the end of `panoply --help`.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

/// A variable and what it is for.
#[derive(Clone, Copy, Debug)]
pub struct Variable {
    /// Its name.
    pub name: &'static str,
    /// What it description, in one line.
    pub description: &'static str,
}

/// The folder where everything is kept.
pub const HOME: Variable = Variable {
    name: "PANOPLY_HOME",
    description: "folder for settings, audit log, keys and what packs keep",
};
/// Which packs to serve.
pub const PACKS: Variable = Variable {
    name: "PANOPLY_PACKS",
    description: "packs to serve, separated by commas; all if not set",
};
/// Which tools to list.
pub const TOOLS: Variable =
    Variable { name: "PANOPLY_TOOLS", description: "which tools to list: core, all or lazy" };
/// Whether mutations are hidden.
pub const READ_ONLY: Variable = Variable {
    name: "PANOPLY_READ_ONLY",
    description: "1 hides and refuses every tool that changes data",
};
/// What is logged.
pub const LOG: Variable = Variable {
    name: "PANOPLY_LOG",
    description: "error, warn, info, debug, or a filter such as panoply_mcp=debug",
};
/// How it is logged.
pub const LOG_FORMAT: Variable =
    Variable { name: "PANOPLY_LOG_FORMAT", description: "json (one object a line) or text" };
/// Where HTTP listens.
pub const LISTEN: Variable = Variable {
    name: "PANOPLY_LISTEN",
    description: "address of `panoply http`, such as 127.0.0.1:8642",
};
/// Names the server is reached by.
pub const ALLOWED_HOSTS: Variable = Variable {
    name: "PANOPLY_ALLOWED_HOSTS",
    description: "names the HTTP server is reached by, separated by commas",
};
/// Web pages that may use the server.
pub const ALLOWED_ORIGINS: Variable = Variable {
    name: "PANOPLY_ALLOWED_ORIGINS",
    description: "origins of web pages that may use it, separated by commas",
};
/// Whose tokens are accepted.
pub const OAUTH_ISSUER: Variable = Variable {
    name: "PANOPLY_OAUTH_ISSUER",
    description: "OAuth issuer whose tokens are accepted, as in their `iss`",
};
/// Our own address in tokens.
pub const OAUTH_RESOURCE: Variable = Variable {
    name: "PANOPLY_OAUTH_RESOURCE",
    description: "this server's address as clients know it, as in the tokens' `aud`",
};
/// Where the issuer's keys are.
pub const OAUTH_JWKS_URL: Variable =
    Variable { name: "PANOPLY_OAUTH_JWKS_URL", description: "where the issuer publishes its keys" };

/// Where operators ask.
pub const ADMIN_ADDR: Variable = Variable {
    name: "PANOPLY_ADMIN_ADDR",
    description: "a second address for /healthz, /readyz and /metrics, without keys",
};
/// How long SIGTERM is only announced.
pub const LAME_DUCK: Variable = Variable {
    name: "PANOPLY_LAME_DUCK",
    description: "seconds that HTTP goes on accepting after SIGTERM, for balancers",
};

/// Our own variables, in the order of the help.
pub const OURS: [Variable; 14] = [
    HOME,
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
];

/// Variables of the system that say where a user's folders are, and where programs are.
const SYSTEM: [&str; 7] =
    ["HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "PATH"];

/// The environment as it was when the program started.
#[derive(Clone, Debug, Default)]
pub struct Environment(BTreeMap<&'static str, OsString>);

impl Environment {
    /// Reads the real one. An empty variable counts as not set.
    pub fn read() -> Self {
        let names = OURS.iter().map(|variable| variable.name).chain(SYSTEM);
        #[expect(clippy::disallowed_methods, reason = "this is the one place")]
        let set = names.filter_map(|name| Some((name, std::env::var_os(name)?)));
        Self(set.filter(|(_, value)| !value.is_empty()).collect())
    }

    /// The value of one of our variables, if it is set; bytes that are not UTF-8 are replaced.
    pub fn text(&self, variable: Variable) -> Option<String> {
        self.0.get(variable.name).map(|value| value.to_string_lossy().into_owned())
    }

    /// The value of one of our variables as a path.
    pub fn path(&self, variable: Variable) -> Option<PathBuf> {
        self.0.get(variable.name).map(PathBuf::from)
    }

    /// A secret under a name that the user chose. It is read when asked for, so that it is kept
    /// nowhere.
    pub fn secret(&self, name: &str) -> Option<String> {
        #[expect(clippy::disallowed_methods, reason = "this is the one place")]
        let value = std::env::var(name).ok();
        value.map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
    }

    /// The user's own folder.
    pub fn user_folder(&self) -> Option<PathBuf> {
        self.system("HOME").or_else(|| self.system("USERPROFILE"))
    }

    /// Where programs of this platform keep data: the folder for us inside it.
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

    /// Where programs of this platform keep a user's settings.
    pub fn settings_folder(&self) -> Option<PathBuf> {
        if cfg!(target_os = "macos") {
            self.user_folder().map(|home| home.join("Library/Application Support"))
        } else if cfg!(windows) {
            self.system("APPDATA")
        } else {
            self.system("XDG_CONFIG_HOME")
                .or_else(|| self.user_folder().map(|home| home.join(".config")))
        }
    }

    /// Where programs are looked for.
    pub fn search_path(&self) -> Option<OsString> {
        self.0.get("PATH").cloned()
    }

    fn system(&self, name: &str) -> Option<PathBuf> {
        self.0.get(name).map(PathBuf::from)
    }
}

#[cfg(test)]
impl Environment {
    /// A made-up environment.
    pub(crate) fn of(variables: &[(&'static str, &str)]) -> Self {
        Self(variables.iter().map(|(name, value)| (*name, OsString::from(value))).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_variable_says_what_it_does_in_one_line() {
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
