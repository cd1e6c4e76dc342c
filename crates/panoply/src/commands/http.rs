//! `panoply http`: serves clients over HTTP and tells how to connect one.

use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;

use panoply_contract::clock::Clock;
use panoply_contract::context::Caller;
use panoply_contract::kernel::{Kernel, Scope};
use panoply_mcp::McpServer;
use panoply_mcp::auth::{Access, Credentials, Issuer, KeyStore, TokenVerifier};
use panoply_mcp::lifecycle::{self, Parent};
use panoply_mcp::observe;
use panoply_mcp::transport::http::{HttpError, HttpOptions};
use panoply_store::{ApiKeys, Home};
use tokio_util::sync::CancellationToken;

use super::backtest::over_http::{self, Desk};
use super::setup::clients::http_configuration;
use super::{LogReader, Session, block_on, keys, start_log};
use crate::cli::Http;
use crate::config::{Config, OAuth};
use crate::failure::Failure;
use crate::issuer::JwksUrl;
use crate::out::{BOLD, FAINT, WARN, say};
use crate::packs;
use crate::world::{House, Storage};

/// Runs it.
pub(super) fn run(http: Http, session: &Session) -> Result<ExitCode, Failure> {
    let mut config = session.config()?.with_flags(&http.serving);
    config.listen = http.listen.unwrap_or(config.listen);
    config.allowed_hosts.extend(http.allowed_host);
    config.allowed_origins.extend(http.allowed_origin);
    let _log = start_log(&config, LogReader::Operator)?;
    block_on(serve(&config))?
}

async fn serve(config: &Config) -> Result<ExitCode, Failure> {
    let stop = CancellationToken::new();
    lifecycle::stop_on_request(stop.clone(), Parent::Ignored)
        .map_err(|error| Failure::work(format!("cannot listen for signals: {error}")))?;
    let house = House::open(config)?;
    let door = Door::of(config, &house)?;
    if door.is_shut() && !config.listen.ip().is_loopback() {
        return Err(Failure::usage(format!(
            "refusing to listen on `{}`: every key is revoked or expired, so nobody could come in",
            config.listen
        ))
        .hint("make a key with `panoply keys create NAME`"));
    }
    let (credentials_needed, shut) = (door.needs_credentials(), door.is_shut());
    let server = McpServer::new(Arc::clone(&house.kernel), "panoply")
        .bind_http(options(config, &house, door, &stop)?, stop)
        .await
        .map_err(refused)?;
    say(welcome(server.address(), &house, credentials_needed));
    if shut {
        say(format_args!(
            "{WARN}every key is revoked or expired: nobody can come in; make one with `panoply keys create NAME`{WARN:#}"
        ));
    }
    server.serve().await;
    house.close();
    Ok(ExitCode::SUCCESS)
}

/// Who may come in.
struct Door {
    keys: Option<Arc<ApiKeys>>,
    usable_keys: usize,
    tokens: Option<Arc<TokenVerifier>>,
    clock: Arc<dyn Clock>,
}

impl Door {
    /// Keys that were revoked or have expired still shut the door: a server that asked for keys
    /// must not open to everybody because the last one ran out.
    fn of(config: &Config, house: &House) -> Result<Self, Failure> {
        let clock = Arc::clone(house.kernel.clock());
        let store = keys::open_if_there(config)?;
        let records = match &store {
            Some(store) => store.list().map_err(|error| Failure::work(error.chain()))?,
            None => Vec::new(),
        };
        let now = clock.now();
        Ok(Self {
            usable_keys: records.iter().filter(|key| key.works_at(now)).count(),
            keys: store.filter(|_| !records.is_empty()),
            tokens: config.oauth.as_ref().map(|oauth| Arc::new(verifier(oauth, &house.kernel))),
            clock,
        })
    }

    fn needs_credentials(&self) -> bool {
        self.keys.is_some() || self.tokens.is_some()
    }

    fn is_shut(&self) -> bool {
        self.keys.is_some() && self.usable_keys == 0 && self.tokens.is_none()
    }

    fn access(self) -> Access {
        if !self.needs_credentials() {
            return Access::LocalOwner;
        }
        Access::Credentials(Credentials {
            keys: self.keys.map(|keys| Arc::new(keys::Stored(keys)) as Arc<dyn KeyStore>),
            tokens: self.tokens,
            clock: self.clock,
        })
    }
}

fn verifier(oauth: &OAuth, kernel: &Kernel) -> TokenVerifier {
    let permissions = kernel.registry().get_all().iter().flat_map(|entry| entry.spec.permissions);
    let mut scopes: Vec<String> = permissions.map(ToString::to_string).collect();
    scopes.sort_unstable();
    scopes.dedup();
    let issuer = Issuer { issuer: oauth.issuer.clone(), resource: oauth.resource.clone(), scopes };
    TokenVerifier::new(issuer, Arc::new(JwksUrl::new(oauth.jwks_url.clone())))
}

fn options(
    config: &Config,
    house: &House,
    door: Door,
    stop: &CancellationToken,
) -> Result<HttpOptions, Failure> {
    let kernel = &house.kernel;
    let health = Arc::clone(&house.health);
    let measured = Arc::clone(kernel);
    let mut options = HttpOptions::new(config.listen, door.access());
    options.allowed_hosts.clone_from(&config.allowed_hosts);
    options.allowed_origins.clone_from(&config.allowed_origins);
    options.ready = Arc::new(move || health.readiness());
    let packs = kernel.registry().packs();
    if packs.iter().any(|pack| pack.info.name == panoply_api::PACK) {
        let page = config.listen.ip().is_loopback();
        options.protected = panoply_api::router(kernel, panoply_api::Options { page });
    }
    options.metrics = Arc::new(move || observe::metrics::render(&measured));
    if let Some(desk) = desk(config, house, stop)? {
        options.protected = options.protected.merge(over_http::router(desk));
    }
    Ok(options)
}

/// Where engines hand in runs, when the pack is served.
fn desk(config: &Config, house: &House, stop: &CancellationToken) -> Result<Option<Desk>, Failure> {
    let kernel = &house.kernel;
    if !kernel.registry().packs().iter().any(|pack| pack.info.name == "backtest") {
        return Ok(None);
    }
    let folder = config.home.folder.as_ref();
    let catalog = folder.map(|folder| Home::at(folder).packs().join("backtest.db"));
    let (store, damaged) = match packs::backtest_store(catalog) {
        Ok(store) => (store, false),
        // The pack says what is wrong; engines hear it too.
        Err(_) => (packs::backtest_store(None)?, true),
    };
    let shut = match folder {
        None => Some("nothing can be kept on this server"),
        Some(_) if damaged => Some("the runs of this server cannot be opened; see `/readyz`"),
        Some(_) if config.read_only => Some("this server changes no data"),
        Some(_) => None,
    };
    Ok(Some(Desk {
        store,
        clock: Arc::clone(kernel.clock()),
        audit: Arc::clone(kernel.audit()),
        stop: stop.clone(),
        shut,
        writing: Arc::default(),
    }))
}

fn refused(error: HttpError) -> Failure {
    match &error {
        HttpError::Unprotected(address) => Failure::usage(format!(
            "refusing to listen on `{address}` without keys or a token issuer: everybody who reaches it would be the owner"
        ))
        .hint("make a key with `panoply keys create NAME`, set an issuer, or listen on 127.0.0.1"),
        HttpError::Host(_) | HttpError::Origin(_) => Failure::usage(error.to_string()),
        HttpError::Bind { address, source } => {
            Failure::work(format!("cannot listen on `{address}`: {source}"))
                .hint(format!("choose another port, such as --listen {}:0", address.ip()))
        }
    }
}

/// What the person who started the server needs to know.
fn welcome(address: SocketAddr, house: &House, key_needed: bool) -> String {
    let kernel = &house.kernel;
    let url = format!("http://{address}/mcp");
    let listed = kernel.listed(&Scope::All, &Caller::local_owner()).len();
    let packs: Vec<&str> = kernel.registry().packs().iter().map(|pack| pack.info.name).collect();
    let configuration =
        serde_json::to_string_pretty(&http_configuration("panoply", &url, key_needed))
            .unwrap_or_default();
    let mut text = format!(
        "{BOLD}Panoply {}{BOLD:#} serves {listed} tools at {BOLD}{url}{BOLD:#}\n\
         Try them in a browser: {BOLD}http://{address}/{BOLD:#}\n\n\
         Cursor (.cursor/mcp.json) and Claude Code (.mcp.json) take this:\n\n{configuration}\n\n\
         {FAINT}VS Code: `servers` instead of `mcpServers`. One pack alone: {url}/PACK ({}).\n\
         Clients that start a program: `panoply setup claude`. Stop with Ctrl-C.{FAINT:#}\n",
        kernel.settings().service_version,
        packs.join(", "),
    );
    if key_needed {
        text.push_str(&format!(
            "\n{WARN}A key or token is needed:{WARN:#} see `panoply keys list`.\n"
        ));
    }
    if let Storage::Memory(why) | Storage::Waiting(why) = &house.storage {
        text.push_str(&format!(
            "\n{WARN}Nothing can be kept{WARN:#} ({why}): calls are recorded in memory only, and nothing can be changed.\n"
        ));
    }
    text
}
