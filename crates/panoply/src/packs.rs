//! Pack registry. A new pack is an entry in [`ALL`] with a build function; its commands go to
//! `cli/` and `commands/`.

use std::path::PathBuf;
use std::sync::Arc;

use panoply_cgt::figures::NewerFigures;
use panoply_contract::error::{ErrorKind, ToolError};
use panoply_contract::pack::Pack;
use panoply_contract::sharing::ShareStore;
use panoply_contract::supervise::Supervisor;
use panoply_contract::tenant::TenantId;
use panoply_store::Home;
use panoply_store::roots::Roots;

use crate::config::Config;
use crate::data_packs::Installed;
use crate::env_vars::Environment;
use crate::failure::Failure;
use crate::quota::{PackQuota, Quotas};
use crate::stores::{self, WithLog};
use crate::supervisor::Open;
use crate::tenant_supervisor::{TenantFiles, TenantSupervisor};

/// All packs, in the order in which they are listed.
pub(crate) const ALL: &[PackDef] = &[
    PackDef { name: "rmf", build: rmf, files: &[] },
    PackDef { name: "cgt", build: cgt, files: &["cgt.db"] },
    PackDef { name: "backtest", build: backtest, files: &["backtest.db"] },
    PackDef { name: "noema", build: noema, files: &["noema.db"] },
    PackDef { name: "ttm", build: ttm, files: &["ttm.db", "ttm-eval.db"] },
    #[cfg(feature = "conformance")]
    PackDef { name: CONFORMANCE, build: conformance, files: &[] },
];

/// A pack that can be named on the command line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PackDef {
    /// Name on the command line and in URLs.
    pub(crate) name: &'static str,
    pub(crate) build: BuildPack,
    /// Databases of the pack, which are supervised while it serves.
    pub(crate) files: &'static [&'static str],
}

/// Builds a pack; fails on invalid settings or unusable data.
pub(crate) type BuildPack = fn(&PackConfig) -> Result<Pack, Failure>;

/// Input of a build function.
#[derive(Clone, Debug)]
pub(crate) struct PackConfig {
    pub(crate) data: PackData,
    /// Home of the server, where data packs are; `None` without files.
    pub(crate) server: Option<Home>,
    /// Settings table `[pack.NAME]`.
    pub(crate) settings: toml::Table,
    /// Whose data; `data` is the storage of this tenant.
    pub(crate) tenant: TenantId,
    pub(crate) quotas: Quotas,
}

/// Storage of the packs.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum PackData {
    /// Files in the folder `packs` of this home, prefixed with the name of the pack.
    Persistent(Home),
    /// Memory only, because there is no home; mutations are refused.
    Ephemeral,
    /// Sample data of the tools' examples, for checks and documentation.
    Sample,
}

impl PackConfig {
    /// Path of a file of the pack, if storage is persistent.
    fn file(&self, name: &str) -> Option<PathBuf> {
        match &self.data {
            PackData::Persistent(home) => Some(home.packs().join(name)),
            PackData::Ephemeral | PackData::Sample => None,
        }
    }
}

/// The packs to serve and the supervisors of their data, by pack name.
#[derive(Default)]
pub(crate) struct PackSet {
    pub(crate) packs: Vec<Pack>,
    pub(crate) supervisors: Vec<(&'static str, Arc<dyn Supervisor>)>,
}

/// Builds the selected packs. A pack whose data cannot be opened is included and answers with an
/// error until it can be opened.
pub(crate) fn build(
    config: &Config,
    data: &PackData,
    shares: &Arc<dyn ShareStore>,
) -> Result<PackSet, Failure> {
    let mut built = PackSet::default();
    let selected = select(&config.packs)?;
    for def in selected {
        let settings = config.pack_settings.get(def.name).cloned().unwrap_or_default();
        let over = |data: &PackData| PackConfig {
            data: data.clone(),
            server: match data {
                PackData::Persistent(home) => Some(home.clone()),
                PackData::Ephemeral | PackData::Sample => None,
            },
            settings: settings.clone(),
            tenant: TenantId::local(),
            quotas: config.quotas,
        };
        let (pack, supervisor) = match data {
            PackData::Persistent(_) if def.name == "rmf" => {
                let (pack, supervisor) = supervised_rmf(&over(data))?;
                (pack, Some(supervisor))
            }
            PackData::Persistent(home) if !def.files.is_empty() => {
                let (pack, supervisor) = supervised(def, home, over, config.open_tenants, shares)?;
                (pack, Some(supervisor))
            }
            PackData::Persistent(_) | PackData::Ephemeral | PackData::Sample => {
                ((def.build)(&over(data))?, None)
            }
        };
        built.packs.push(pack);
        built.supervisors.extend(supervisor.map(|supervisor| (def.name, supervisor)));
    }
    Ok(built)
}

/// Supervises a pack whose files each tenant has for itself.
fn supervised(
    def: &'static PackDef,
    home: &Home,
    over: impl Fn(&PackData) -> PackConfig,
    capacity: usize,
    shares: &Arc<dyn ShareStore>,
) -> Result<(Pack, Arc<dyn Supervisor>), Failure> {
    let PackConfig { settings, quotas, .. } = over(&PackData::Ephemeral);
    let server = home.clone();
    let open = Box::new(move |tenant: &TenantId, home: &Home| {
        let data = PackData::Persistent(home.clone());
        let (settings, tenant) = (settings.clone(), tenant.clone());
        let server = Some(server.clone());
        let config = PackConfig { data, server, settings, tenant, quotas };
        Box::new(move || (def.build)(&config)) as Open
    });
    let shape = || (def.build)(&over(&PackData::Ephemeral));
    let figures = Installed::of(home, def.name).active_file();
    let files = TenantFiles { name: def.name, home: home.clone(), files: def.files, figures };
    TenantSupervisor::start(files, open, capacity, Arc::clone(shares), shape)
}

/// Fails on an unknown pack name.
pub(crate) fn check_names(names: &[String]) -> Result<(), Failure> {
    select(names).map(|_| ())
}

/// Returns each named pack once, in the order of [`ALL`]; without names, all but the fixture.
fn select(names: &[String]) -> Result<Vec<&'static PackDef>, Failure> {
    let all = || ALL.iter().map(|def| def.name);
    if let Some(unknown) = names.iter().find(|name| !all().any(|known| known == *name)) {
        let otherwise = format!("use one of: {}", all().collect::<Vec<_>>().join(", "));
        return Err(Failure::unknown("pack", unknown, all(), &otherwise));
    }
    let selected = |def: &&PackDef| match names {
        [] => def.name != CONFORMANCE,
        names => names.iter().any(|name| name == def.name),
    };
    Ok(ALL.iter().filter(selected).collect())
}

/// Served only when named: the fixture of the conformance suites.
const CONFORMANCE: &str = "conformance";

#[cfg(feature = "conformance")]
fn conformance(_config: &PackConfig) -> Result<Pack, Failure> {
    Ok(panoply_mcp::conformance::pack())
}

fn rmf(config: &PackConfig) -> Result<Pack, Failure> {
    Ok(panoply_rmf::tools::pack(rmf_store(config)?))
}

fn rmf_store(config: &PackConfig) -> Result<Arc<panoply_rmf::store::FundStore>, Failure> {
    let settings: crate::rmf_schedule::RmfSettings =
        config.settings.clone().try_into().map_err(|error| bad_settings("rmf", &error))?;
    settings.schedule()?;
    let store = panoply_rmf::store::FundStore::at(config.file("rmf.tsv"))
        .map_err(|error| Failure::work(format!("cannot read the bundled dataset: {error}")))?;
    Ok(Arc::new(store))
}

/// Supervises the synced dataset, which a sync may replace at any time.
struct SyncedFigures {
    store: Arc<panoply_rmf::store::FundStore>,
    pack: Arc<Pack>,
}

impl Supervisor for SyncedFigures {
    fn pack(&self, _: &TenantId) -> Result<Arc<Pack>, ToolError> {
        let Some(damage) = self.store.load_error() else { return Ok(Arc::clone(&self.pack)) };
        let message = "the synced figures of the pack `rmf` are damaged; other packs serve on";
        Err(ToolError::new(ErrorKind::Storage, "PACK_DAMAGED", message)
            .hint("ask the operator to run `panoply rmf rollback`, or to delete `packs/rmf.tsv` and serve the bundled figures")
            .detail("pack", "rmf")
            .cause(damage))
    }

    fn examine(&self, _: &TenantId) -> Result<(), ToolError> {
        Ok(())
    }
}

fn supervised_rmf(config: &PackConfig) -> Result<(Pack, Arc<dyn Supervisor>), Failure> {
    let store = rmf_store(config)?;
    let pack = Arc::new(panoply_rmf::tools::pack(Arc::clone(&store)));
    let supervisor: Arc<dyn Supervisor> =
        Arc::new(SyncedFigures { store, pack: Arc::clone(&pack) });
    Ok((Pack::supervised(&pack, Arc::clone(&supervisor)), supervisor))
}

fn cgt(config: &PackConfig) -> Result<Pack, Failure> {
    let settings = cgt_settings(&config.settings, config.server.as_ref())?;
    let portfolios = match &config.data {
        PackData::Persistent(home) => stores::portfolios(home, &config.tenant),
        PackData::Ephemeral => panoply_cgt::store::in_memory(),
        PackData::Sample => panoply_cgt::tools::sample::store()
            .map_err(|error| Failure::work(format!("cannot make the sample: {error}")))?,
    };
    let counted = Arc::clone(&portfolios);
    let pack = panoply_cgt::tools::pack_with(&settings, portfolios)
        .map_err(|error| bad_settings("cgt", &error))?;
    let count = move || {
        let transactions = counted.list()?.iter().map(|portfolio| portfolio.entries).sum::<usize>();
        Ok(u64::try_from(transactions).unwrap_or(u64::MAX))
    };
    Ok(with_quota(pack, config, ("transactions", config.quotas.transactions), count))
}

/// Parses `[pack.cgt]` and adds the figures of a data pack.
pub(crate) fn cgt_settings(
    settings: &toml::Table,
    server: Option<&Home>,
) -> Result<panoply_cgt::tools::Settings, Failure> {
    let mut settings: panoply_cgt::tools::Settings =
        settings.clone().try_into().map_err(|error| bad_settings("cgt", &error))?;
    let Some(home) = server else { return Ok(settings) };
    let unusable = |why: String| {
        Failure::work(format!("the data pack of cgt cannot be used: {why}"))
            .hint("run `panoply data verify`; go back with `panoply data rollback cgt`")
    };
    let active = Installed::of(home, "cgt").read_active();
    if let Some(data) = active.map_err(|error| unusable(error.to_string()))? {
        settings.figures = NewerFigures::read(&data.files, data.fingerprint())
            .map_err(|bad| unusable(bad.join("; ")))?;
    }
    Ok(settings)
}

fn noema(config: &PackConfig) -> Result<Pack, Failure> {
    use panoply_noema::tools;
    let settings: NoemaSettings =
        config.settings.clone().try_into().map_err(|error| bad_settings("noema", &error))?;
    let failed =
        |error: &dyn std::fmt::Display| Failure::work(format!("cannot open the cards: {error}"));
    let store = match &config.data {
        PackData::Persistent(home) => stores::cards(home, &config.tenant).map_err(|error| {
            let failure = failed(&error).hint("run `panoply doctor`");
            match error.into_store_error() {
                Some(error) => failure.of_store(error),
                None => failure,
            }
        })?,
        PackData::Ephemeral => stores::cards_in_memory().map_err(|error| failed(&error))?,
        PackData::Sample => tools::sample::store().map_err(|error| failed(&error))?,
    };
    let roots = match &config.data {
        PackData::Persistent(home) => noema_roots(&settings, home, &config.tenant)?,
        PackData::Ephemeral | PackData::Sample => Roots::default(),
    };
    let counted = Arc::clone(&store);
    let pack = tools::pack_with(store, roots);
    let count = move || {
        let cards = counted.read(|reader| {
            let decks = reader.decks()?;
            let lanes = decks.iter().map(|deck| reader.lanes(deck.id, 0));
            let lanes = lanes.collect::<Result<Vec<_>, _>>()?;
            Ok(lanes.iter().flatten().map(|lane| lane.cards).sum::<i64>())
        })?;
        Ok(u64::try_from(cards).unwrap_or(0))
    };
    Ok(with_quota(pack, config, ("cards", config.quotas.cards), count))
}

/// Adds the quota of a tenant's pack.
fn with_quota(
    pack: Pack,
    config: &PackConfig,
    most: (&'static str, u64),
    count: impl Fn() -> Result<u64, ToolError> + Send + Sync + 'static,
) -> Pack {
    let PackData::Persistent(home) = &config.data else { return pack };
    let quota = PackQuota::of(&config.tenant, home, config.quotas.megabytes, most, count);
    match quota {
        Some(quota) => pack.with_quota(move |growth| quota.check(growth)),
        None => pack,
    }
}

/// `[pack.noema]`.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct NoemaSettings {
    /// Folders that calls may read, in addition to `noema/files` of the home.
    #[serde(default)]
    roots: Vec<PathBuf>,
}

/// Folders that callers may name. Those of the settings belong to the local tenant.
fn noema_roots(settings: &NoemaSettings, home: &Home, tenant: &TenantId) -> Result<Roots, Failure> {
    let files = home.folder().join("noema").join("files");
    // An unwritable home has no such folder and needs none.
    let _ = std::fs::create_dir_all(&files);
    let own = files.is_dir().then_some(files);
    let shared = settings.roots.iter().filter(|_| tenant.is_local()).cloned();
    let all: Vec<PathBuf> = own.into_iter().chain(shared).collect();
    Roots::of(&all).map_err(|error| {
        let message = format!("`roots` in `[pack.noema]`: a folder cannot be used: {error}");
        Failure::usage(message).hint("use existing folders with absolute paths")
    })
}

fn backtest(config: &PackConfig) -> Result<Pack, Failure> {
    no_settings("backtest", config)?;
    let PackData::Persistent(home) = &config.data else {
        let store = panoply_backtest::store::memory::MemoryStore::default();
        return Ok(panoply_backtest::tools::pack(Arc::new(store)));
    };
    let WithLog { store, log } = stores::runs(home, &config.tenant)?;
    let counted = Arc::clone(&store);
    let pack = panoply_backtest::tools::pack(store).with_mutation_log(log);
    let count = move || {
        let runs = counted.runs().map_err(|error| {
            ToolError::system("the runs cannot be counted").cause(error.to_string())
        })?;
        Ok(u64::try_from(runs.len()).unwrap_or(u64::MAX))
    };
    Ok(with_quota(pack, config, ("runs", config.quotas.runs), count))
}

fn ttm(config: &PackConfig) -> Result<Pack, Failure> {
    use panoply_ttm::{jobs::JobService, papers::NoPapers, tools};
    let settings = ttm_settings(&config.settings)?;
    let reports = match &config.data {
        PackData::Persistent(home) => stores::reports(home),
        PackData::Ephemeral | PackData::Sample => {
            Arc::new(panoply_ttm::eval::MemoryReportStore::default())
        }
    };
    let secret = |name: &str| Environment::default().secret(name);
    let built = match &config.data {
        PackData::Persistent(home) => {
            let WithLog { store: user_store, log } = stores::documents(home, &config.tenant);
            let ingest = match config.tenant.is_local() {
                true => ttm_ingest(&settings, home, &[])?,
                // The folders of the settings belong to the local tenant.
                false => {
                    let inbox = home.folder().join("ttm").join("inbox");
                    // An unwritable home has no such folder and needs none.
                    let _ = std::fs::create_dir_all(&inbox);
                    let own = panoply_ttm::tools::Settings { roots: None, ..settings.clone() };
                    ttm_ingest(&own, home, &[])?
                }
            };
            let jobs = JobService::new(Arc::clone(&user_store), ingest, crate::app::clock());
            let counted = Arc::clone(&user_store);
            let count = move || {
                let documents = counted.documents().map_err(|error| {
                    ToolError::system("the documents cannot be counted").cause(error.to_string())
                })?;
                Ok(u64::try_from(documents.len()).unwrap_or(u64::MAX))
            };
            tools::pack_with_jobs(user_store, reports, &settings, secret, Some(jobs))
                .map(|pack| pack.with_mutation_log(log))
                .map(|pack| with_quota(pack, config, ("documents", config.quotas.documents), count))
        }
        PackData::Ephemeral | PackData::Sample => {
            tools::pack_with(Arc::new(NoPapers), reports, &settings, secret)
        }
    };
    built.map_err(|error| bad_settings("ttm", &error))
}

/// Parses `[pack.ttm]`.
pub(crate) fn ttm_settings(
    settings: &toml::Table,
) -> Result<panoply_ttm::tools::Settings, Failure> {
    settings.clone().try_into().map_err(|error: toml::de::Error| bad_settings("ttm", &error))
}

/// Ingest settings of a home. Files under `more` are readable too.
pub(crate) fn ttm_ingest(
    settings: &panoply_ttm::tools::Settings,
    home: &Home,
    more: &[PathBuf],
) -> Result<panoply_ttm::jobs::Settings, Failure> {
    use panoply_ttm::ingest::reader::{Limits, child::ReaderCommand};
    let inbox = home.folder().join("ttm").join("inbox");
    let mut allowed = match &settings.roots {
        Some(roots) => roots.clone(),
        // The inbox is optional.
        None if inbox.is_dir() => vec![inbox],
        None => Vec::new(),
    };
    allowed.extend_from_slice(more);
    let roots = Roots::of(&allowed).map_err(|error| {
        let message = format!("`roots` in `[pack.ttm]`: a folder cannot be used: {error}");
        Failure::usage(message).hint("use existing folders with absolute paths")
    })?;
    let set = &settings.ingest;
    let program = std::env::current_exe()
        .map_err(|error| Failure::work(format!("cannot locate the program: {error}")))?;
    let usual = Limits::default();
    let megabytes = |set: Option<u64>, usual| set.map_or(usual, |set| set.saturating_mul(1 << 20));
    Ok(panoply_ttm::jobs::Settings {
        roots,
        limits: Limits {
            file_bytes: megabytes(set.file_mb, usual.file_bytes),
            pages: set.pages.unwrap_or(usual.pages),
            memory_bytes: megabytes(set.memory_mb, usual.memory_bytes),
            cpu_seconds: set.cpu_seconds.unwrap_or(usual.cpu_seconds),
            wall_seconds: set.wall_seconds.unwrap_or(usual.wall_seconds),
            ..usual
        },
        reader: ReaderCommand {
            program,
            arguments: vec!["ttm".to_owned(), "read-document".to_owned()],
        },
        folder: home.packs().join("ttm-jobs"),
    })
}

fn bad_settings(pack: &str, error: &dyn std::error::Error) -> Failure {
    Failure::usage(format!("`[pack.{pack}]` in config.toml: {}", error.to_string().trim()))
        .hint("see docs/operating.md for what can be set")
}

/// For packs without settings: an ignored setting would hide a mistake.
fn no_settings(pack: &str, config: &PackConfig) -> Result<(), Failure> {
    match config.settings.keys().next() {
        None => Ok(()),
        Some(key) => Err(Failure::usage(format!("`{key}` in `[pack.{pack}]` is not a setting"))
            .hint("remove it from config.toml")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(names: &[&str]) -> Result<Vec<&'static str>, String> {
        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
        select(&names).map(|packs| packs.iter().map(|def| def.name).collect()).map_err(|failure| {
            format!("{}; {}", failure.message(), failure.what_to_do().unwrap_or("-"))
        })
    }

    #[test]
    fn repeated_pack_name_is_served_once() {
        assert_eq!(chosen(&["cgt", "cgt"]), Ok(vec!["cgt"]));
    }

    #[test]
    fn without_names_all_packs_but_the_fixture_are_served() {
        let expected: Vec<&str> =
            ALL.iter().map(|def| def.name).filter(|name| *name != CONFORMANCE).collect();
        assert_eq!(chosen(&[]), Ok(expected));
    }

    #[test]
    fn settings_of_a_pack_are_checked() {
        let built = |build: BuildPack, settings: &str| {
            let settings = settings.parse().unwrap();
            let tenant = TenantId::local();
            let quotas = Quotas::default();
            let data = PackData::Sample;
            let config = PackConfig { data, server: None, settings, tenant, quotas };
            build(&config).map(|pack| pack.info().name)
        };
        assert_eq!(built(cgt, "errors = 'result'").unwrap(), "cgt");
        let cases = [
            (cgt as BuildPack, "errors = 'loud'", "unknown variant `loud`"),
            (cgt, "erors = 'result'", "unknown field `erors`"),
            (cgt, "exempt_amounts = {'20x4' = 1}", "20x4"),
            (ttm, "answer_conf_tau = 1.5", "not from 0 to 1"),
            (ttm, "chat = {base_url = 'ftp://x', model = 'm'}", "not an http address"),
            (ttm, "chat = {base_url = 'http://x/v1'}", "missing field `model`"),
            (ttm, "embedder = {kind = 'file', folder = '/no/such'}", "no folder `/no/such`"),
            (rmf, "x = 1", "unknown field `x`"),
            (rmf, "sync = 'weekly'", "`sync` in `[pack.rmf]` is `weekly`"),
        ];
        for (build, settings, expected) in cases {
            let failure = built(build, settings).unwrap_err();
            assert!(failure.message().contains(expected), "{settings}: {}", failure.message());
        }
    }

    #[test]
    fn unknown_pack_name_gets_a_similar_suggestion() {
        let told = chosen(&["cgtt"]).unwrap_err();
        assert_eq!(told, "there is no pack `cgtt`; did you mean `cgt`?");
    }
}
