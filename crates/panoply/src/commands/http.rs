//! `panoply http`: serves clients over HTTP and prints how to connect one.

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures::future::BoxFuture;
use panoply_contract::context::Caller;
use panoply_contract::kernel::{Kernel, Scope};
use panoply_mcp::McpServer;
use panoply_mcp::auth::{
    Accounts, Admission, Admitted, Credential, Credentials, Issuer, KeyStore, LocalOwner,
    NotAdmitted, TokenVerifier,
};
use panoply_mcp::lifecycle::{Shutdown, Signals};
use panoply_mcp::observe;
use panoply_mcp::transport::http::{HttpError, HttpLimits, HttpOptions, HttpServer};
use panoply_store::Home;
use tokio_util::sync::CancellationToken;

use super::backtest::http_routes::{self, RunStores, RunWriter};
use super::keys::{self, StoredKeys};
use super::media_route;
use super::setup::clients::http_configuration;
use super::user_routes;
use super::{LogReader, Session, start_log};
use crate::app::{App, Storage};
use crate::cli::Http;
use crate::config::{Config, Limits, OAuth};
use crate::failure::Failure;
use crate::fleet::Fleet;
use crate::issuer::JwksUrl;
use crate::out::{BOLD, FAINT, WARN, notice};
use crate::stores;

pub(super) fn run(http: Http, session: &Session) -> Result<ExitCode, Failure> {
    let mut config = session.config()?.with_flags(&http.serving);
    config.listen = http.listen.unwrap_or(config.listen);
    config.admin_addr = http.admin_addr.or(config.admin_addr);
    config.lame_duck = http.lame_duck.map_or(config.lame_duck, Duration::from_secs);
    config.allowed_hosts.extend(http.allowed_host);
    config.allowed_origins.extend(http.allowed_origin);
    let _log = start_log(&config, LogReader::Operator)?;
    super::serve(|signals| serve(&config, signals))?
}

async fn serve(config: &Config, signals: Signals) -> Result<ExitCode, Failure> {
    let shutdown = Shutdown::default();
    shutdown.on_request(signals, config.lame_duck);
    raise_descriptor_limit();
    let fleet = Arc::new(Fleet::join(config).await?);
    let mut app = App::open_in(config, Some(&fleet))?;
    app.start_audit_maintenance(config);
    crate::rmf_schedule::start(config, &app.kernel)?;
    let admission = Arc::new(HttpAdmission::of(config, &app)?);
    // The first key of a fleet may be made while its servers run.
    let must_have_key = !config.listen.ip().is_loopback() && !stores::is_server();
    if admission.is_locked_out() && must_have_key {
        return Err(Failure::usage(format!(
            "refusing to listen on `{}`: every key is revoked, expired or deleted, so no request could be admitted",
            config.listen
        ))
        .hint("create a key with `panoply keys create NAME`"));
    }
    let home = config.home.folder.as_ref().map(Home::at);
    let runs = Arc::new(RunStores::new(home, config.open_tenants));
    let options = options(config, &app, &fleet, &admission, &runs, &shutdown);
    let server = McpServer::new(Arc::clone(&app.kernel), "panoply")
        .with_presentation(config.presentation)
        .bind_http(options, shutdown.stop)
        .await
        .map_err(refused)?;
    notice(startup_message(&server, &app, !admission.is_open()));
    if admission.is_locked_out() {
        notice(format_args!(
            "{WARN}every key is revoked, expired or deleted: no request is admitted; create one with `panoply keys create NAME`{WARN:#}"
        ));
    }
    let maintenance = tokio::spawn(maintain_tenants(Arc::clone(&app.kernel), runs));
    server.serve().await;
    maintenance.abort();
    fleet.leave().await;
    app.close();
    Ok(ExitCode::SUCCESS)
}

/// How often the files of erased tenants are closed.
const TENANT_SWEEP: Duration = Duration::from_secs(5);

/// Recovers the audit rows of all tenants after a crash, then closes the files of erased tenants.
async fn maintain_tenants(kernel: Arc<Kernel>, runs: Arc<RunStores>) {
    let own = Arc::clone(&kernel);
    let runtime = tokio::runtime::Handle::current();
    let recovered =
        tokio::task::spawn_blocking(move || runtime.block_on(own.recover_tenants())).await;
    match recovered {
        Ok(Ok(0)) => {}
        Ok(Ok(entries)) => tracing::info!(entries, "audit entries of tenants were recovered"),
        Ok(Err(error)) => {
            let cause = error.cause_chain();
            tracing::error!(cause, "audit entries of tenants could not be recovered");
        }
        Err(error) => tracing::error!(%error, "audit entries of tenants could not be recovered"),
    }
    loop {
        tokio::time::sleep(TENANT_SWEEP).await;
        let (kernel, runs) = (Arc::clone(&kernel), Arc::clone(&runs));
        let sweep = move || {
            kernel.close_erased();
            runs.close_erased();
        };
        let _swept = tokio::task::spawn_blocking(sweep).await;
    }
}

/// Raises the soft limit of open files, usually 1,024, to the hard limit.
#[cfg(unix)]
fn raise_descriptor_limit() {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    if let Err(error) = setrlimit(Resource::Nofile, limit) {
        tracing::debug!(%error, "cannot raise the limit of open files");
    }
}

/// Windows has no such limit.
#[cfg(not(unix))]
fn raise_descriptor_limit() {}

/// Admission of `panoply http`: open on loopback until the first key is created, then only keys and
/// tokens. It stays closed when the last key is revoked, expired or deleted: a server that required
/// keys must not become open again.
struct HttpAdmission {
    keys: Arc<StoredKeys>,
    usable_keys: usize,
    credentials: Credentials,
    /// Latched: never reset while the process runs.
    closed: AtomicBool,
}

impl HttpAdmission {
    fn of(config: &Config, app: &App) -> Result<Self, Failure> {
        let clock = Arc::clone(app.kernel.clock());
        let keys = Arc::new(StoredKeys::new(config));
        let listed = keys.list();
        // A database server that is gone at the start comes back.
        let is_unknown = listed.is_err() && stores::is_server();
        let records = match listed {
            Err(_) if is_unknown => Vec::new(),
            listed => listed.map_err(|error| Failure::work(error.chain()))?,
        };
        if !records.is_empty() && !keys.are_required() {
            // Keys of an older version without the marker.
            keys::require_keys(config)?;
        }
        let now = clock.now();
        let tokens =
            config.oauth.as_ref().map(|oauth| Arc::new(verifier(oauth, &app.kernel, &keys)));
        let closed = !records.is_empty() || tokens.is_some() || stores::is_server();
        let usable = records.iter().filter(|key| key.works_at(now)).count();
        Ok(Self {
            usable_keys: usable.max(usize::from(is_unknown)),
            credentials: Credentials {
                keys: Some(Arc::clone(&keys) as Arc<dyn KeyStore>),
                tokens,
                clock,
            },
            keys,
            closed: AtomicBool::new(closed),
        })
    }

    /// Whether no request can be admitted until a key is created.
    fn is_locked_out(&self) -> bool {
        !self.is_open() && self.usable_keys == 0 && self.credentials.tokens.is_none()
    }
}

impl Admission for HttpAdmission {
    fn admit<'a>(
        &'a self,
        credential: Credential<'a>,
    ) -> BoxFuture<'a, Result<Admitted, NotAdmitted>> {
        if self.is_open() {
            return Box::pin(std::future::ready(Ok(LocalOwner::admitted())));
        }
        self.credentials.admit(credential)
    }

    fn is_open(&self) -> bool {
        if self.closed.load(Ordering::Relaxed) {
            return false;
        }
        let closed = self.keys.are_required();
        self.closed.fetch_or(closed, Ordering::Relaxed);
        !closed
    }

    fn issuer(&self) -> Option<&Issuer> {
        self.credentials.issuer()
    }
}

fn verifier(oauth: &OAuth, kernel: &Kernel, users: &Arc<StoredKeys>) -> TokenVerifier {
    let permissions = kernel.registry().get_all().iter().flat_map(|entry| entry.spec.permissions);
    let mut scopes: Vec<String> = permissions.map(ToString::to_string).collect();
    scopes.sort_unstable();
    scopes.dedup();
    let issuer = Issuer { issuer: oauth.issuer.clone(), resource: oauth.resource.clone(), scopes };
    let accounts = Arc::clone(users) as Arc<dyn Accounts>;
    TokenVerifier::new(issuer, Arc::new(JwksUrl::new(oauth.jwks_url.clone())), accounts)
        .with_workspace_claim(oauth.workspace_claim.clone())
}

fn options(
    config: &Config,
    app: &App,
    fleet: &Arc<Fleet>,
    admission: &Arc<HttpAdmission>,
    runs: &Arc<RunStores>,
    shutdown: &Shutdown,
) -> HttpOptions {
    let kernel = &app.kernel;
    let health = Arc::clone(&app.health);
    let measured = Arc::clone(kernel);
    let mut options = HttpOptions::new(config.listen, Arc::clone(admission) as Arc<dyn Admission>);
    options.admin = config.admin_addr;
    options.allowed_hosts.clone_from(&config.allowed_hosts);
    options.allowed_origins.clone_from(&config.allowed_origins);
    options.limits = limits(&config.limits);
    options.draining = shutdown.draining.clone();
    options.force = shutdown.force.clone();
    let (fleet, watched) = (Arc::clone(fleet), Arc::clone(&health));
    options.ready = Arc::new(move || health.readiness());
    options.metrics = Arc::new(move || {
        let of_tools = observe::metrics::render(&measured);
        of_tools + &fleet.metrics(watched.database_is_up())
    });
    options.protected = user_routes::routes(&admission.keys);
    let serves = |name: &str| kernel.registry().packs().iter().any(|pack| pack.info.name == name);
    if serves("noema") {
        options.protected = options.protected.merge(media_route::routes(kernel));
    }
    if serves(panoply_api::PACK) {
        let page = config.listen.ip().is_loopback();
        let routes = panoply_api::routes(kernel, panoply_api::Options { graphiql: page });
        options.protected = options.protected.merge(routes.protected);
        options.streaming = routes.streaming;
        options.public = routes.public;
    }
    if let Some(writer) = run_writer(app, runs, &shutdown.stop) {
        let routes = http_routes::routes(writer);
        options.protected = options.protected.merge(routes.whole);
        options.streaming = options.streaming.merge(routes.streaming);
    }
    options
}

fn limits(chosen: &Limits) -> HttpLimits {
    let usual = HttpLimits::default();
    let per_address = chosen.connections_per_address;
    HttpLimits {
        connections: chosen.connections.unwrap_or(usual.connections).max(1),
        connections_per_address: per_address.unwrap_or(usual.connections_per_address).max(1),
        requests: chosen.requests.unwrap_or(usual.requests).max(1),
        requests_per_caller: chosen.requests_per_caller.unwrap_or(usual.requests_per_caller).max(1),
        idle: chosen.idle_seconds.map_or(usual.idle, Duration::from_secs),
        ..usual
    }
}

/// Write access to runs, if the backtest pack is served.
fn run_writer(app: &App, runs: &Arc<RunStores>, stop: &CancellationToken) -> Option<RunWriter> {
    let kernel = &app.kernel;
    let is_served = kernel.registry().packs().iter().any(|pack| pack.info.name == "backtest");
    is_served.then(|| RunWriter {
        stores: Arc::clone(runs),
        kernel: Arc::clone(kernel),
        stop: stop.clone(),
        writing: Arc::default(),
    })
}

fn refused(error: HttpError) -> Failure {
    match &error {
        HttpError::Unprotected(address) => Failure::usage(format!(
            "refusing to listen on `{address}` without keys or a token issuer: every client that reaches it would be the owner"
        ))
        .hint("create a key with `panoply keys create NAME`, set an issuer, or listen on 127.0.0.1"),
        HttpError::UnprotectedName(name) => Failure::usage(format!(
            "refusing to serve `{name}` without keys or a token issuer: every client that reaches it by that name would be the owner"
        ))
        .hint("create a key with `panoply keys create NAME`, or set an issuer"),
        HttpError::Host(_) | HttpError::Origin(_) => Failure::usage(error.to_string()),
        HttpError::Bind { address, source } => {
            Failure::work(format!("cannot listen on `{address}`: {source}"))
                .hint(format!("choose another port, such as --listen {}:0", address.ip()))
        }
    }
}

/// Startup message with URLs and client configuration.
fn startup_message(server: &HttpServer, app: &App, key_needed: bool) -> String {
    let (kernel, address) = (&app.kernel, server.address());
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
    if let Some(admin) = server.admin_address() {
        text.push_str(&format!(
            "\nHealth and metrics for operators, without a key: {BOLD}http://{admin}/healthz{BOLD:#}\n"
        ));
    }
    if key_needed {
        text.push_str(&format!(
            "\n{WARN}A key or token is needed:{WARN:#} see `panoply keys list`.\n"
        ));
    }
    if let Storage::Memory(why) | Storage::Waiting(why) = &app.storage {
        text.push_str(&format!(
            "\n{WARN}The home is unavailable{WARN:#} ({why}): calls are recorded in memory only, and mutations are refused.\n"
        ));
    }
    text
}
