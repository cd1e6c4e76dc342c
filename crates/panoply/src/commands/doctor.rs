//! `panoply doctor`: checks installation, home, stores and optional programs.
//!
//! It changes and repairs nothing; the one file that it creates, to test whether the home is
//! writable, is removed at once. Each finding with a problem has a hint.

use std::path::Path;
use std::process::ExitCode;

use panoply_contract::clock::Clock as _;
use panoply_store::check::{self, CheckDepth};
use panoply_store::{Home, SystemClock, audit_log};
use serde::Serialize;
use serde_json::json;

use super::Session;
use super::setup::clients::{ClientFile, WITH_FILE, program_of};
use super::setup::{connected_entries, word_of};
use crate::app::App;
use crate::checkpoints::CheckpointState;
use crate::cli::{Client, Doctor};
use crate::config::{Config, FILE};
use crate::failure::Failure;
use crate::out::{BAD, BOLD, FAINT, GOOD, Out, WARN};
use crate::stores;

/// Result of one check.
#[derive(Debug, Serialize)]
struct Finding {
    about: String,
    state: State,
    says: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    todo: Option<String>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
enum State {
    /// No problem.
    Well,
    /// Works, with a remark.
    Note,
    /// Failed.
    Ill,
}

/// Status 1 when a check failed.
pub(super) fn run(doctor: &Doctor, session: &Session) -> Result<ExitCode, Failure> {
    let depth = if doctor.deep { CheckDepth::Deep } else { CheckDepth::Quick };
    let findings = examine(session, depth);
    let ill = findings.iter().any(|finding| finding.state == State::Ill);
    let mut out = Out::new();
    if doctor.json {
        out.json(
            &json!({"healthy": !ill, "version": env!("CARGO_PKG_VERSION"), "findings": findings}),
        )?;
    } else {
        print(&findings, &mut out)?;
    }
    out.finish()?;
    Ok(if ill { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn print(findings: &[Finding], out: &mut Out) -> Result<(), Failure> {
    let widest = findings.iter().map(|finding| finding.about.len()).max().unwrap_or(0);
    for finding in findings {
        let (style, sign) = match finding.state {
            State::Well => (GOOD, "✓"),
            State::Note => (WARN, "!"),
            State::Ill => (BAD, "✗"),
        };
        out.line(format_args!(
            "{style}{sign}{style:#} {BOLD}{:widest$}{BOLD:#}  {}",
            finding.about, finding.says
        ))?;
        if let Some(todo) = &finding.todo {
            out.line(format_args!("  {:widest$}  {FAINT}→ {todo}{FAINT:#}", ""))?;
        }
    }
    Ok(())
}

fn examine(session: &Session, depth: CheckDepth) -> Vec<Finding> {
    let mut findings = vec![program()];
    let place = session.home();
    let config = session.config();
    match &place.folder {
        Some(folder) => findings.push(home(folder)),
        None => findings.push(Finding::failed(
            "home",
            "the platform has no data folder",
            "set PANOPLY_HOME to a folder",
        )),
    }
    findings.push(settings(&config, place.file(FILE).as_deref()));
    findings.extend(pack_findings(config.as_ref().ok()));
    if config.as_ref().is_ok_and(|config| serves(config, "rmf")) {
        let today = super::rmf::sync::bangkok_date(SystemClock::new().now());
        findings.push(rmf_age(place.folder.as_deref(), today));
    }
    findings.push(ocr(session));
    if let Some(folder) = place.folder.as_deref().filter(|folder| folder.is_dir()) {
        let home = Home::at(folder);
        findings.extend(files(&home, depth));
        findings.push(audit_chain(&home, depth));
        findings.extend(config.as_ref().ok().and_then(|config| checkpoints(&home, config)));
        findings.push(keys(&home));
    }
    if let Ok(config) = &config {
        findings.push(http(config));
    }
    let clients: Vec<Finding> =
        WITH_FILE.iter().filter_map(|client| connected(*client, session)).collect();
    if clients.is_empty() {
        findings.push(Finding::ok("clients", "none found here; `panoply setup` lists them"));
    }
    findings.extend(clients);
    findings
}

impl Finding {
    fn new(about: impl Into<String>, state: State, says: impl Into<String>) -> Self {
        Self { about: about.into(), state, says: says.into(), todo: None }
    }

    fn ok(about: impl Into<String>, says: impl Into<String>) -> Self {
        Self::new(about, State::Well, says)
    }

    fn note(about: impl Into<String>, says: impl Into<String>, todo: impl Into<String>) -> Self {
        Self { todo: Some(todo.into()), ..Self::new(about, State::Note, says) }
    }

    fn failed(about: impl Into<String>, says: impl Into<String>, todo: impl Into<String>) -> Self {
        Self { todo: Some(todo.into()), ..Self::new(about, State::Ill, says) }
    }
}

fn program() -> Finding {
    let place = std::env::current_exe().map(|path| path.display().to_string());
    let place = place.unwrap_or_else(|error| format!("unknown place: {error}"));
    Finding::ok("program", format!("panoply {} at {place}", env!("CARGO_PKG_VERSION")))
}

fn home(folder: &Path) -> Finding {
    let shown = folder.display();
    let about = match std::fs::metadata(folder) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Finding::ok("home", format!("{shown} (created on first use)"));
        }
        Err(error) => {
            return Finding::failed("home", format!("{shown} is not accessible: {error}"), NO_HOME);
        }
        Ok(about) => about,
    };
    if !about.is_dir() {
        return Finding::failed("home", format!("{shown} is not a folder"), NO_HOME);
    }
    if !is_writable(folder) {
        return Finding::failed(
            "home",
            format!(
                "{shown} cannot be written: calls are recorded in memory only, and tools that change data are off"
            ),
            NO_HOME,
        );
    }
    match others_may_read(&about) {
        Some(mode) => Finding::note(
            "home",
            format!("{shown} is open to other users of this machine (mode {mode:o})"),
            format!("run `chmod 700 {shown}`"),
        ),
        None => Finding::ok("home", shown.to_string()),
    }
}

const NO_HOME: &str = "give this user a folder of its own, and name it with PANOPLY_HOME or --home";

/// Whether a file can be created. A permission check would not detect a read-only disk, and root
/// passes every permission check.
fn is_writable(folder: &Path) -> bool {
    let trial = folder.join(format!(".doctor-{}", uuid::Uuid::new_v4().simple()));
    let made = std::fs::File::create_new(&trial).is_ok();
    // The file may not exist.
    let _ = std::fs::remove_file(&trial);
    made
}

#[cfg(unix)]
fn others_may_read(about: &std::fs::Metadata) -> Option<u32> {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = about.permissions().mode() & 0o777;
    (mode & 0o077 != 0).then_some(mode)
}

#[cfg(not(unix))]
fn others_may_read(_about: &std::fs::Metadata) -> Option<u32> {
    None
}

fn serves(config: &Config, pack: &str) -> bool {
    config.packs.is_empty() || config.packs.iter().any(|name| name == pack)
}

fn settings(config: &Result<Config, Failure>, file: Option<&Path>) -> Finding {
    match (config, file) {
        (Err(failure), _) => Finding::failed(
            "settings",
            failure.message().replace('\n', " "),
            failure.what_to_do().unwrap_or("mend it"),
        ),
        (Ok(_), Some(file)) if file.exists() => Finding::ok("settings", file.display().to_string()),
        (Ok(_), Some(file)) => {
            Finding::ok("settings", format!("none; {} would be read", file.display()))
        }
        (Ok(_), None) => Finding::ok("settings", "none"),
    }
}

fn pack_findings(config: Option<&Config>) -> Vec<Finding> {
    let Some(config) = config else { return Vec::new() };
    let mut findings = Vec::new();
    match App::in_memory(config) {
        Ok(app) => {
            let registry = app.kernel.registry();
            for pack in registry.packs() {
                let tools =
                    registry.get_all().iter().filter(|entry| entry.pack == pack.info.name).count();
                let says = format!("{}, {tools} tools", pack.info.title);
                findings.push(Finding::ok(format!("pack {}", pack.info.name), says));
            }
        }
        Err(failure) => findings.push(Finding::failed(
            "packs",
            failure.message(),
            failure.what_to_do().unwrap_or("report it"),
        )),
    }
    findings
}

/// Programs that `ingest_run` of the ttm pack needs for OCR.
fn ocr(session: &Session) -> Finding {
    let path = session.environment.search_path();
    let missing = panoply_ttm::ingest::reader::missing_programs(path.as_deref());
    if missing.is_empty() {
        return Finding::ok(
            "ocr",
            "pdftoppm and tesseract are installed: scanned pages can be read",
        );
    }
    let programs: Vec<&str> = missing.iter().map(|(program, _)| *program).collect();
    let packages: Vec<&str> = missing.iter().map(|(_, package)| *package).collect();
    Finding::note(
        "ocr",
        format!(
            "{} not found: PDFs with a text layer can be imported, scanned pages cannot",
            programs.join(" and ")
        ),
        format!("install {}, if you need it", packages.join(" and ")),
    )
}

/// Checks every existing file of the home.
fn files(home: &Home, depth: CheckDepth) -> Vec<Finding> {
    let kernel = home.kernel_files().into_iter().filter(|(_, file)| file.exists());
    let kernel = kernel.map(|(what, file)| (what.to_owned(), file));
    kernel.chain(home.all_pack_files()).map(|(what, file)| one_file(what, &file, depth)).collect()
}

fn one_file(what: String, file: &Path, depth: CheckDepth) -> Finding {
    let shown = file.display();
    if file.extension().is_some_and(|end| end == "tsv") {
        return figures(what, file);
    }
    match check::check(file, depth) {
        Ok(checked) if checked.faults.is_empty() => {
            let read = match depth {
                CheckDepth::Quick => "",
                CheckDepth::Deep => ", every row read",
            };
            Finding::ok(what, format!("{shown}, schema {}{read}", checked.schema))
        }
        Ok(checked) => {
            let says = format!("{shown} is damaged: {}", checked.faults.join("; "));
            Finding::failed(what, says, RESTORE)
        }
        Err(error) => Finding::failed(what, error.chain(), RESTORE),
    }
}

const RESTORE: &str =
    "stop the server, keep a copy of the file, and restore it with `panoply restore BACKUP`";

/// Checks the synced dataset of the rmf pack.
fn figures(what: String, file: &Path) -> Finding {
    let shown = file.display();
    let store = panoply_rmf::store::FundStore::at(Some(file.to_owned()));
    match store.map(|store| store.load_error()) {
        Ok(None) => Finding::ok(what, format!("{shown}, checksum valid")),
        Ok(Some(damage)) => Finding::failed(
            what,
            format!("{shown} is damaged: {damage}"),
            "run `panoply rmf rollback`, or delete the file to use the bundled figures",
        ),
        Err(error) => Finding::failed(what, error.to_string(), "report it"),
    }
}

/// Age of the figures that the rmf pack serves.
fn rmf_age(home: Option<&Path>, today: jiff::civil::Date) -> Finding {
    const ABOUT: &str = "rmf figures";
    const SYNC: &str = "run `panoply rmf sync`, or schedule it: see docs/packs/rmf.md";
    let file = home.map(|home| Home::at(home).packs().join("rmf.tsv"));
    let store = match panoply_rmf::store::FundStore::at(file) {
        Ok(store) => store,
        Err(error) => return Finding::failed(ABOUT, error.to_string(), "report it"),
    };
    let (catalog, origin) = store.current();
    let origin = match origin {
        panoply_rmf::store::Origin::Bundled => "bundled",
        panoply_rmf::store::Origin::Synced => "synced",
    };
    let (Some((first, last)), Some((_, returns))) = (catalog.nav_dates(), catalog.returns_dates())
    else {
        return Finding::note(ABOUT, "no fund has a NAV or a return", SYNC);
    };
    let days = (today - last).get_days();
    let quarantined = catalog.quarantined();
    let says = format!(
        "{origin}, NAV {first} to {last} ({days} days old), returns to {returns}, {quarantined} funds in quarantine"
    );
    if days > panoply_rmf::catalog::STALE_DAYS || quarantined > 0 {
        return Finding::note(ABOUT, says, SYNC);
    }
    Finding::ok(ABOUT, says)
}

/// Rows of the audit chain to verify without `--deep`.
const TAIL: u32 = 10_000;

fn audit_chain(home: &Home, depth: CheckDepth) -> Finding {
    let file = home.audit_log();
    if !file.exists() {
        return Finding::ok("audit chain", "no call was recorded yet");
    }
    let walked = match depth {
        CheckDepth::Quick => audit_log::verify_tail(&file, TAIL),
        CheckDepth::Deep => audit_log::verify(&file, None),
    };
    match walked {
        Ok(found) => match found.fault {
            None if depth == CheckDepth::Quick && found.rows > u64::from(TAIL) => Finding::ok(
                "audit chain",
                format!("{} rows, the last {TAIL} are intact; `--deep` walks all", found.rows),
            ),
            None => Finding::ok("audit chain", format!("{}, intact", extent(&found))),
            Some(fault) => Finding::failed(
                "audit chain",
                fault.to_string(),
                "keep the file as evidence, find out who can write it, and move it away to start a new one",
            ),
        },
        Err(error) => Finding::failed("audit chain", error.chain(), RESTORE),
    }
}

/// Size of a log.
fn extent(found: &audit_log::Verification) -> String {
    match found.segments.len() {
        0 => format!("{} rows", found.rows),
        segments => format!("{} rows, {segments} sealed segments among them", found.rows),
    }
}

/// State of the last checkpoint, if checkpoints are configured.
fn checkpoints(home: &Home, config: &Config) -> Option<Finding> {
    config.audit.checkpoint_to.as_ref()?;
    let about = "audit checkpoints";
    let state = CheckpointState::read(home);
    Some(match (state.at, state.error) {
        (_, Some(error)) => Finding::note(
            about,
            format!("{error}; the last one that was sent names row {}", state.sequence),
            "see that the file or server of `checkpoint_to` can be written, then run `panoply audit checkpoint`",
        ),
        (Some(at), None) => {
            Finding::ok(about, format!("the last one names row {}, on {at}", state.sequence))
        }
        (None, None) => Finding::ok(about, "none was made yet"),
    })
}

fn keys(home: &Home) -> Finding {
    if !home.keys().exists() {
        return Finding::ok("keys", "none: over HTTP, on loopback only, every client is the owner");
    }
    let now = SystemClock::new().now();
    match stores::keys(home).and_then(|keys| keys.list()) {
        Ok(records) => {
            let working = records.iter().filter(|record| record.works_at(now)).count();
            let says = format!("{working} of {} work", records.len());
            if working == 0 && !records.is_empty() {
                Finding::note(
                    "keys",
                    says,
                    "create one with `panoply keys create NAME`: HTTP admits no client without a key",
                )
            } else {
                Finding::ok("keys", says)
            }
        }
        Err(error) => Finding::failed("keys", error.chain(), RESTORE),
    }
}

fn http(config: &Config) -> Finding {
    let issuer = match &config.oauth {
        Some(oauth) => format!("tokens of {}", oauth.issuer),
        None => "no token issuer".to_owned(),
    };
    Finding::ok("http", format!("would listen on {}, {issuer}", config.listen))
}

/// A client that was found here: which entries start this program, and whether it is there.
fn connected(client: Client, session: &Session) -> Option<Finding> {
    let file = ClientFile::of(client, &session.environment)?;
    let path = file.path.as_deref().filter(|_| file.is_installed())?;
    let about = file.title;
    let again = format!("run `panoply setup {} --write`", word_of(client));
    Some(match connected_entries(&file) {
        Ok(entries) if entries.is_empty() => Finding::note(about, "not connected", again),
        Ok(entries) => {
            let missing = entries.iter().filter_map(|(_, entry)| program_of(entry));
            match missing.into_iter().find(|program| program.is_absolute() && !program.exists()) {
                Some(program) => Finding::failed(
                    about,
                    format!(
                        "{} starts `{}`, which is not there",
                        path.display(),
                        program.display()
                    ),
                    again,
                ),
                None => {
                    let names: Vec<&str> = entries.iter().map(|(name, _)| name.as_str()).collect();
                    let says = format!("connected in {} as {}", path.display(), names.join(", "));
                    Finding::ok(about, says)
                }
            }
        }
        Err(failure) => {
            Finding::note(about, failure.message(), failure.what_to_do().unwrap_or("fix the file"))
        }
    })
}
