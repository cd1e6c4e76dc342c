//! Settings: `config.toml` in the home folder, overridden by the environment, then by flags.

mod audit;
mod fleet;
mod store;

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use panoply_contract::context::Lang;
use panoply_contract::kernel::{Offer, Settings};
use panoply_mcp::presentation::Presentation;
use serde::Deserialize;

pub use self::audit::{AuditSettings, Every, Span};
pub use self::fleet::{CacheSettings, Replica};
pub use self::store::StoreSettings;
use crate::cli::{Serving, ToolsOffer};
use crate::env_vars::{self, Environment, Variable};
use crate::failure::Failure;
pub use crate::quota::Quotas;

/// Name of the settings file in the home folder.
pub const FILE: &str = "config.toml";

/// Default HTTP listen address.
const LISTEN: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 8642);

/// Effective settings.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// The home folder.
    pub home: Home,
    /// The database server of the stores; `None` for files in the home.
    pub store: Option<StoreSettings>,
    /// The server of shared rate limits; `None` for limits of this process.
    pub cache: Option<CacheSettings>,
    /// This server among its replicas.
    pub replica: Replica,
    /// Packs to serve; empty for all.
    pub packs: Vec<String>,
    /// Tools to list.
    pub offer: Offer,
    /// Whether mutations are hidden.
    pub read_only: bool,
    /// Default language of replies.
    pub lang: Lang,
    /// Log filter; each command has its own default.
    pub log: Option<String>,
    /// Log format; each command has its own default.
    pub log_format: Option<LogFormat>,
    /// HTTP listen address.
    pub listen: SocketAddr,
    /// Second address for health and metrics.
    pub admin_addr: Option<SocketAddr>,
    /// Lame-duck period after SIGTERM.
    pub lame_duck: Duration,
    /// Limits of the HTTP server.
    pub limits: Limits,
    /// Timeout of elicitation; zero disables it.
    pub consent_time: Duration,
    /// Allowed host names.
    pub allowed_hosts: Vec<String>,
    /// Allowed origins.
    pub allowed_origins: Vec<String>,
    /// Accepted token issuer.
    pub oauth: Option<OAuth>,
    /// Checkpoints and retention of the audit log.
    pub audit: AuditSettings,
    /// Maximum number of tenants per pack whose files are kept open.
    pub open_tenants: usize,
    /// The most that a tenant other than the local one may have.
    pub quotas: Quotas,
    /// How results are presented to clients.
    pub presentation: Presentation,
    /// Public keys that may sign data packs.
    pub data_keys: Vec<String>,
    /// Settings tables of the packs.
    pub pack_settings: BTreeMap<String, toml::Table>,
}

/// The home folder and its origin.
#[derive(Clone, Debug, PartialEq)]
pub struct Home {
    /// The folder; `None` when the platform has no data folder.
    pub folder: Option<PathBuf>,
    /// Whether a flag or variable set it: a client's configuration must then set it too.
    pub chosen: bool,
}

/// Configurable limits of the HTTP server; `None` for the default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Concurrent connections.
    pub connections: Option<usize>,
    /// Connections per non-loopback address.
    pub connections_per_address: Option<usize>,
    /// Concurrent requests.
    pub requests: Option<usize>,
    /// Concurrent requests per caller.
    pub requests_per_caller: Option<usize>,
    /// Idle timeout of a connection in seconds.
    pub idle_seconds: Option<u64>,
}

/// Log format.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// One JSON object per line.
    Json,
    /// Text for humans.
    Text,
}

/// OAuth settings.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OAuth {
    /// Issuer identifier, equal to `iss` of the tokens.
    pub issuer: String,
    /// Public URL of this server, equal to `aud` of the tokens.
    pub resource: String,
    /// JWKS URL of the issuer.
    pub jwks_url: String,
    /// Whether a subject without an account gets one with its first token.
    #[serde(default)]
    pub new_users: bool,
    /// Claim with the name of the caller's workspace.
    #[serde(default)]
    pub workspace_claim: Option<String>,
}

impl Config {
    /// Loads the settings from file and environment. `home` is the value of `--home`.
    pub fn load(environment: &Environment, home: Option<&Path>) -> Result<Self, Failure> {
        let home = Home::find(environment, home);
        let file = match home.file(FILE) {
            Some(path) => File::read(&path)?,
            None => File::default(),
        };
        Self::decide(file, environment, home)
    }

    /// Applies the flags of a server command.
    #[must_use]
    pub fn with_flags(mut self, serving: &Serving) -> Self {
        if !serving.packs.is_empty() {
            self.packs.clone_from(&serving.packs);
        }
        if let Some(tools) = serving.tools {
            self.offer = tools.into();
        }
        self.read_only |= serving.read_only;
        self
    }

    fn decide(file: File, environment: &Environment, home: Home) -> Result<Self, Failure> {
        let words = |variable| environment.text(variable).map(|text| split_words(&text));
        let tools = parsed(environment, env_vars::TOOLS, "core, all or lazy", tools_offer)?;
        let read_only = parsed(environment, env_vars::READ_ONLY, "1 or 0", boolean)?;
        let format = parsed(environment, env_vars::LOG_FORMAT, "json or text", log_format)?;
        let listen =
            parsed(environment, env_vars::LISTEN, "127.0.0.1:8642", |text| text.parse().ok())?;
        let admin_addr =
            parsed(environment, env_vars::ADMIN_ADDR, "127.0.0.1:8643", |text| text.parse().ok())?;
        let lame_duck = parsed(environment, env_vars::LAME_DUCK, "a number of seconds", |text| {
            text.parse().ok()
        })?;
        Ok(Self {
            home,
            store: file.store.or_environment(environment),
            cache: file.cache.or_environment(environment),
            replica: file.replica.or_environment(environment)?,
            packs: words(env_vars::PACKS).unwrap_or(file.packs),
            offer: tools.or(file.tools).map_or(Offer::Core, Offer::from),
            read_only: read_only.unwrap_or(file.read_only),
            lang: file.lang.map_or(Lang::En, Lang::from),
            log: environment.text(env_vars::LOG).or(file.log),
            log_format: format.or(file.log_format),
            listen: listen.or(file.http.listen).unwrap_or(LISTEN),
            admin_addr: admin_addr.or(file.http.admin_addr),
            lame_duck: Duration::from_secs(lame_duck.or(file.http.lame_duck_seconds).unwrap_or(0)),
            limits: file.http.limits,
            consent_time: Duration::from_secs(file.elicitation.seconds),
            allowed_hosts: words(env_vars::ALLOWED_HOSTS).unwrap_or(file.http.allowed_hosts),
            allowed_origins: words(env_vars::ALLOWED_ORIGINS).unwrap_or(file.http.allowed_origins),
            oauth: oauth(environment, file.oauth)?,
            audit: file.audit,
            open_tenants: file.tenants.open,
            quotas: file.tenants.quota,
            presentation: file.mcp,
            data_keys: file.data.keys,
            pack_settings: file.pack,
        })
    }
}

impl Home {
    /// Finds the home: flag, variable, or the platform's data folder.
    pub fn find(environment: &Environment, flag: Option<&Path>) -> Self {
        let chosen = flag.map(Path::to_owned).or_else(|| environment.path(env_vars::HOME));
        // A client may start the program in another working directory.
        let absolute = chosen.map(|path| std::path::absolute(&path).unwrap_or(path));
        let was_chosen = absolute.is_some();
        Self { folder: absolute.or_else(|| environment.data_folder()), chosen: was_chosen }
    }

    /// The home as a store, or a usage error where the platform has no data folder.
    pub fn required(&self) -> Result<panoply_store::Home, Failure> {
        self.folder.as_ref().map(panoply_store::Home::at).ok_or_else(|| {
            Failure::usage("the platform has no data folder").hint("set PANOPLY_HOME to a folder")
        })
    }

    /// Path of a file in the home.
    pub fn file(&self, name: &str) -> Option<PathBuf> {
        self.folder.as_ref().map(|folder| folder.join(name))
    }
}

/// Schema of `config.toml`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct File {
    packs: Vec<String>,
    store: store::StoreTable,
    cache: fleet::CacheTable,
    replica: fleet::ReplicaTable,
    tools: Option<ToolsOffer>,
    read_only: bool,
    lang: Option<Language>,
    log: Option<String>,
    log_format: Option<LogFormat>,
    elicitation: ElicitationTable,
    http: HttpTable,
    oauth: Option<OAuth>,
    audit: AuditSettings,
    tenants: TenantsTable,
    mcp: Presentation,
    data: DataTable,
    pack: BTreeMap<String, toml::Table>,
}

/// Language of replies.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Language {
    En,
    Th,
}

impl From<Language> for Lang {
    fn from(language: Language) -> Self {
        match language {
            Language::En => Self::En,
            Language::Th => Self::Th,
        }
    }
}

/// Elicitation settings.
#[derive(Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct ElicitationTable {
    seconds: u64,
}

impl Default for ElicitationTable {
    fn default() -> Self {
        Self { seconds: Settings::default().consent_time.as_secs() }
    }
}

/// Settings of data packs.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct DataTable {
    keys: Vec<String>,
}

/// Settings of tenants.
#[derive(Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct TenantsTable {
    open: usize,
    quota: Quotas,
}

impl Default for TenantsTable {
    fn default() -> Self {
        Self { open: 128, quota: Quotas::default() }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct HttpTable {
    listen: Option<SocketAddr>,
    admin_addr: Option<SocketAddr>,
    lame_duck_seconds: Option<u64>,
    limits: Limits,
    allowed_hosts: Vec<String>,
    allowed_origins: Vec<String>,
}

impl File {
    fn read(path: &Path) -> Result<Self, Failure> {
        match std::fs::read_to_string(path) {
            Ok(text) => Self::parse(&text, path),
            // An inaccessible home counts as a home without settings; the stores report the
            // error.
            Err(error)
                if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) =>
            {
                Ok(Self::default())
            }
            Err(error) => Err(Failure::usage(format!("cannot read `{}`: {error}", path.display()))
                .hint("make it readable, or name another folder with --home")),
        }
    }

    fn parse(text: &str, path: &Path) -> Result<Self, Failure> {
        toml::from_str(text).map_err(|error| {
            Failure::usage(format!(
                "`{}` has a mistake\n{}",
                path.display(),
                error.to_string().trim()
            ))
            .hint("see docs/operating.md for what can be set")
        })
    }
}

fn oauth(environment: &Environment, file: Option<OAuth>) -> Result<Option<OAuth>, Failure> {
    let variables = [env_vars::OAUTH_ISSUER, env_vars::OAUTH_RESOURCE, env_vars::OAUTH_JWKS_URL];
    let new_users = parsed(environment, env_vars::OAUTH_NEW_USERS, "1 or 0", boolean)?;
    if variables.iter().all(|variable| environment.text(*variable).is_none()) {
        return Ok(file.map(|oauth| OAuth {
            new_users: new_users.unwrap_or(oauth.new_users),
            workspace_claim: environment
                .text(env_vars::OAUTH_WORKSPACE_CLAIM)
                .or(oauth.workspace_claim),
            ..oauth
        }));
    }
    let value = |variable: Variable, of_file: Option<String>| {
        environment.text(variable).or(of_file).ok_or_else(|| {
            Failure::usage(format!(
                "`{}` is not set, but the other settings of the issuer are",
                variable.name
            ))
            .hint("set all three of them, or none")
        })
    };
    let of_file = |part: fn(OAuth) -> String| file.clone().map(part);
    Ok(Some(OAuth {
        issuer: value(env_vars::OAUTH_ISSUER, of_file(|oauth| oauth.issuer))?,
        resource: value(env_vars::OAUTH_RESOURCE, of_file(|oauth| oauth.resource))?,
        jwks_url: value(env_vars::OAUTH_JWKS_URL, of_file(|oauth| oauth.jwks_url))?,
        new_users: new_users.unwrap_or(file.as_ref().is_some_and(|oauth| oauth.new_users)),
        workspace_claim: environment
            .text(env_vars::OAUTH_WORKSPACE_CLAIM)
            .or_else(|| file.and_then(|oauth| oauth.workspace_claim)),
    }))
}

fn parsed<T>(
    environment: &Environment,
    variable: Variable,
    expected: &str,
    parse: impl FnOnce(&str) -> Option<T>,
) -> Result<Option<T>, Failure> {
    let Some(text) = environment.text(variable) else { return Ok(None) };
    parse(text.trim()).map(Some).ok_or_else(|| {
        Failure::usage(format!("`{}` is `{text}`", variable.name))
            .hint(format!("set it to {expected}"))
    })
}

fn split_words(text: &str) -> Vec<String> {
    text.split(',').map(str::trim).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

fn tools_offer(text: &str) -> Option<ToolsOffer> {
    clap::ValueEnum::from_str(text, true).ok()
}

fn log_format(text: &str) -> Option<LogFormat> {
    match text {
        "json" => Some(LogFormat::Json),
        "text" => Some(LogFormat::Text),
        _ => None,
    }
}

fn boolean(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "1" | "true" | "yes" | "on" => Some(true),
        "0" | "false" | "no" | "off" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn home() -> Home {
        Home { folder: Some("/h".into()), chosen: false }
    }

    fn decide(file: &str, variables: &[(&'static str, &str)]) -> Result<Config, Failure> {
        let file = File::parse(file, Path::new("/h/config.toml"))?;
        Config::decide(file, &Environment::of(variables), home())
    }

    #[test]
    fn defaults_serve_all_packs_on_loopback() {
        let config = decide("", &[]).unwrap();
        assert_eq!(config.packs, Vec::<String>::new());
        assert_eq!(config.offer, Offer::Core);
        assert_eq!(config.listen.to_string(), "127.0.0.1:8642");
        assert!(config.listen.ip().is_loopback() && !config.read_only && config.oauth.is_none());
    }

    #[test]
    fn the_language_of_replies_can_be_set() {
        assert_eq!(decide("", &[]).unwrap().lang, Lang::En);
        assert_eq!(decide("lang = 'th'", &[]).unwrap().lang, Lang::Th);
        assert!(decide("lang = 'fr'", &[]).unwrap_err().message().contains("fr"));
    }

    #[test]
    fn flags_override_variables_and_variables_override_the_file() {
        let file = "packs = ['rmf']\ntools = 'all'\n[http]\nlisten = '127.0.0.1:1'";
        let config = decide(file, &[]).unwrap();
        assert_eq!((config.packs[0].as_str(), config.offer), ("rmf", Offer::All));
        let variables = [("PANOPLY_PACKS", "cgt, ttm,"), ("PANOPLY_LISTEN", "127.0.0.1:2")];
        let config = decide(file, &variables).unwrap();
        assert_eq!(config.packs, ["cgt", "ttm"]);
        assert_eq!(config.listen.port(), 2);
        let serving = Serving {
            packs: vec!["noema".to_owned()],
            tools: Some(ToolsOffer::Lazy),
            read_only: true,
        };
        let config = config.with_flags(&serving);
        assert_eq!((config.packs[0].as_str(), config.offer), ("noema", Offer::Lazy));
        assert!(config.read_only);
    }

    #[test]
    fn absent_flag_does_not_override_a_setting() {
        let config = decide("read_only = true", &[]).unwrap().with_flags(&Serving::default());
        assert!(config.read_only);
    }

    #[test]
    fn settings_error_names_the_position_and_expected_value() {
        type Variables = &'static [(&'static str, &'static str)];
        let cases: [(&str, Variables, &str); 5] = [
            ("tols = 'all'", &[], "unknown field `tols`"),
            ("tools = 'some'", &[], "unknown variant `some`"),
            ("packs = [", &[], "line 1"),
            ("", &[("PANOPLY_TOOLS", "most")], "`PANOPLY_TOOLS` is `most`"),
            ("", &[("PANOPLY_OAUTH_ISSUER", "https://i")], "`PANOPLY_OAUTH_RESOURCE` is not set"),
        ];
        for (file, variables, expected) in cases {
            let failure = decide(file, variables).unwrap_err();
            assert!(failure.message().contains(expected), "{file:?}: {}", failure.message());
            assert!(failure.what_to_do().is_some(), "file: {file:?}");
        }
    }

    #[test]
    fn named_home_is_absolute() {
        let named = Home::find(&Environment::default(), Some(Path::new("here")));
        assert!(named.chosen && named.folder.unwrap().is_absolute());
        let found = Home::find(&Environment::of(&[("PANOPLY_HOME", "/p")]), None);
        assert_eq!(found, Home { folder: Some("/p".into()), chosen: true });
    }
}
