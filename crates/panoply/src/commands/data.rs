//! `panoply data`: newer figures of a pack from signed data packs.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read as _;
use std::process::ExitCode;
use std::time::Duration;

use jiff::civil::Date;
use panoply_cgt::figures::NewerFigures;
use panoply_contract::clock::Clock as _;
use panoply_contract::operation::OperationSpec;
use panoply_rmf::catalog::{BUNDLED, nav_dates};
use panoply_rmf::dataset::Dataset;
use panoply_rmf::store::Generations;
use panoply_store::audit_log::{PublicKey, SigningKey};
use panoply_store::{Home, SystemClock};
use serde_json::{Value, json};

use super::{Session, operation, rmf};
use crate::cli::{Data, DataBuild, DataUpdate};
use crate::data_packs::{BadDataPack, DataPack, Installed, MAX_BYTES};
use crate::failure::Failure;
use crate::out::{BAD, FAINT, GOOD, Out};

/// Packs with figures that change without a new program.
const PACKS: [&str; 2] = ["cgt", "rmf"];
/// File of a data pack of `rmf`.
const FUNDS: &str = "rmf.tsv";
const TIMEOUT: Duration = Duration::from_secs(300);

pub(super) fn run(data: &Data, session: &Session) -> Result<ExitCode, Failure> {
    match data {
        Data::List { json } => list(session, *json)?,
        Data::Update(arguments) => update(arguments, session)?,
        Data::Verify { keys } => return verify(keys, session),
        Data::Rollback { pack } => rollback(known(pack)?, session)?,
        Data::Build(arguments) => build(arguments)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn known(pack: &str) -> Result<&'static str, Failure> {
    let found = PACKS.into_iter().find(|known| *known == pack);
    found.ok_or_else(|| Failure::unknown("pack", pack, PACKS, "data packs are for cgt and rmf"))
}

/// The records of `rmf` are in `kernel.db`, so that a pack with damaged figures can go back.
const fn operation(name: &'static str) -> OperationSpec {
    OperationSpec { name, pack: "rmf", permissions: &["figures:update"], data: &["figures"] }
}

fn home(session: &Session) -> Result<Home, Failure> {
    session.config()?.home.required()
}

fn list(session: &Session, json: bool) -> Result<(), Failure> {
    let home = home(session)?;
    let mut out = Out::new();
    let mut all = Vec::new();
    for pack in PACKS {
        let installed = Installed::of(&home, pack);
        let active = installed.active().map_err(|error| failed(pack, &error.into()))?;
        let versions = installed.versions().map_err(|error| failed(pack, &error.into()))?;
        let described: Vec<Value> = versions
            .iter()
            .map(|version| match installed.read(version) {
                Ok(data) => json!({
                    "version": version,
                    "active": active.as_ref() == Some(version),
                    "created": data.manifest.created.to_string(),
                    "about": data.manifest.about,
                    "files": data.manifest.files.len(),
                }),
                Err(error) => json!({"version": version, "damaged": error.to_string()}),
            })
            .collect();
        if !json {
            let now = active.as_deref().unwrap_or("the figures of the program");
            out.line(format_args!("{pack}: {now}"))?;
            for one in &described {
                let text = |name: &str| one.get(name).and_then(Value::as_str).unwrap_or_default();
                let what = match one.get("damaged") {
                    Some(_) => format!("{BAD}damaged: {}{BAD:#}", text("damaged")),
                    None => format!("{} {FAINT}{}{FAINT:#}", text("about"), text("created")),
                };
                out.line(format_args!("  {:20} {what}", text("version")))?;
            }
        }
        all.push(json!({"pack": pack, "active": active, "installed": described}));
    }
    if json {
        out.json(&all)?;
    }
    out.finish()
}

fn update(arguments: &DataUpdate, session: &Session) -> Result<(), Failure> {
    let home = home(session)?;
    let keys = trusted(&arguments.keys, session)?;
    let archive = fetch(&arguments.source)?;
    let refused = |error: &BadDataPack| failed(&arguments.source, error);
    let data = DataPack::read(&archive).map_err(|error| refused(&error))?;
    data.verify(&keys).map_err(|error| {
        refused(&error)
            .hint("name the key of its publisher with --key or `[data] keys` in config.toml")
    })?;
    let pack = known(&data.manifest.pack)?;
    check(pack, &data)?;
    let installed = Installed::of(&home, pack);
    let active = installed.read_active().map_err(|error| failed(pack, &error))?;
    let older = active.filter(|active| data.manifest.version < active.manifest.version);
    if let Some(active) = older.filter(|_| !arguments.allow_older) {
        let (given, there) = (&data.manifest.version, &active.manifest.version);
        return Err(Failure::work(format!("{given} is older than {there}, which is in use"))
            .hint("go back with `panoply data rollback`, or install it with --allow-older"));
    }
    let manifest = &data.manifest;
    let input = json!({"pack": pack, "version": manifest.version, "source": arguments.source});
    operation::run(session, &operation("data/update"), &input, || {
        if pack == "rmf" {
            swap_funds(&home, &data, arguments.allow_older)?;
        }
        installed.install(&data, &archive).map_err(|error| failed(pack, &error.into()))?;
        Ok(((), json!({"version": data.manifest.version})))
    })?;
    let mut out = Out::new();
    out.line(format_args!(
        "{GOOD}{pack} {} is in use{GOOD:#}: {}",
        manifest.version, manifest.about
    ))?;
    out.line(format_args!("{FAINT}go back with `panoply data rollback {pack}`{FAINT:#}"))?;
    out.finish()
}

/// Loads the figures as the pack would.
fn check(pack: &str, data: &DataPack) -> Result<(), Failure> {
    let wrong = |what: String| Failure::work(format!("the figures cannot be used: {what}"));
    if pack == "cgt" {
        let read = NewerFigures::read(&data.files, data.fingerprint());
        return read.map(|_| ()).map_err(|bad| wrong(bad.join("; ")));
    }
    funds(data).map(|_| ())
}

fn funds(data: &DataPack) -> Result<Dataset, Failure> {
    let wrong = |what: String| Failure::work(format!("the figures cannot be used: {what}"));
    match (data.files.get(FUNDS), data.files.len()) {
        (Some(text), 1) => Dataset::read(text.as_bytes()).map_err(|error| wrong(error.to_string())),
        _ => Err(wrong(format!("a data pack of rmf has one file, `{FUNDS}`"))),
    }
}

/// Replaces the dataset as a sync does: the one before is kept as a generation. NAVs do not go back
/// unless that is asked for.
fn swap_funds(home: &Home, data: &DataPack, allow_older: bool) -> Result<(), Failure> {
    let packs = home.packs();
    let unwritten = |error: std::io::Error| failed("rmf", &error.into());
    fs::create_dir_all(&packs).map_err(unwritten)?;
    let _lock = rmf::lock(&packs)?;
    let generations = Generations::of(&packs);
    let last = |dataset: &Dataset| nav_dates(&dataset.funds).map(|(_, last)| last);
    let new = funds(data)?;
    let old = match rmf::active(&generations)? {
        None => Dataset::read(BUNDLED).ok(),
        synced => synced,
    };
    let (given, there) = (last(&new), old.as_ref().and_then(last));
    if !allow_older && given < there {
        let day = |date: Option<Date>| date.map_or("none".to_owned(), |date| date.to_string());
        return Err(Failure::work(format!(
            "its NAVs end on {}, those in use on {}",
            day(given),
            day(there)
        ))
        .hint("install it with --allow-older if that is meant"));
    }
    generations.swap(&new).map_err(unwritten)
}

/// Restores the dataset before that of the data pack, unless a sync has replaced it since.
fn restore_funds(home: &Home, data: &DataPack) -> Result<(), Failure> {
    let packs = home.packs();
    let _lock = rmf::lock(&packs)?;
    let generations = Generations::of(&packs);
    let active = rmf::active(&generations)?.map(|dataset| dataset.packed());
    if active != Some(funds(data)?.packed()) {
        return Err(Failure::work("the funds were synced since the data pack was installed")
            .hint("choose a generation with `panoply rmf history` and `panoply rmf rollback`"));
    }
    generations
        .rollback(None)
        .map(|_| ())
        .map_err(|error| Failure::work(error.to_string()).hint("see `panoply rmf history`"))
}

fn rollback(pack: &'static str, session: &Session) -> Result<(), Failure> {
    let home = home(session)?;
    let installed = Installed::of(&home, pack);
    let wrong = |error: std::io::Error| failed(pack, &error.into());
    let Some(active) = installed.active().map_err(wrong)? else {
        return Err(Failure::work(format!("{pack} uses the figures of the program already")));
    };
    let versions = installed.versions().map_err(wrong)?;
    let before = versions.into_iter().rfind(|version| *version < active);
    let input = json!({"pack": pack, "from": active, "to": before});
    operation::run(session, &operation("data/rollback"), &input, || {
        if pack == "rmf" {
            let data = installed.read(&active).map_err(|error| failed(pack, &error))?;
            restore_funds(&home, &data)?;
        }
        installed.activate(before.as_deref()).map_err(wrong)?;
        Ok(((), json!({"version": before})))
    })?;
    let mut out = Out::new();
    let now = before.as_deref().unwrap_or("the figures of the program");
    out.line(format_args!("{pack}: {now}; {active} stays installed"))?;
    out.finish()
}

fn verify(keys: &[String], session: &Session) -> Result<ExitCode, Failure> {
    let home = home(session)?;
    let keys = trusted(keys, session)?;
    let mut out = Out::new();
    let mut status = ExitCode::SUCCESS;
    for pack in PACKS {
        let installed = Installed::of(&home, pack);
        for version in installed.versions().map_err(|error| failed(pack, &error.into()))? {
            let verdict = installed.read(&version).and_then(|data| {
                data.verify(&keys)?;
                Ok(data.manifest.files.len())
            });
            match verdict {
                Ok(files) => out.line(format_args!("{pack} {version}: {files} files as signed"))?,
                Err(error) => {
                    status = ExitCode::FAILURE;
                    out.line(format_args!("{BAD}{pack} {version}: {error}{BAD:#}"))?;
                }
            }
        }
    }
    out.finish()?;
    Ok(status)
}

fn build(arguments: &DataBuild) -> Result<(), Failure> {
    let pack = known(&arguments.pack)?;
    let folder = arguments.folder.display();
    let unreadable =
        |error: std::io::Error| Failure::work(format!("cannot read {folder}: {error}"));
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(&arguments.folder).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let text = fs::read_to_string(entry.path()).map_err(unreadable)?;
        files.insert(entry.file_name().to_string_lossy().into_owned(), text);
    }
    let key = SigningKey::open_or_create_named(&arguments.signing_key, "panoply-data")
        .map_err(|error| Failure::work(error.to_string()))?;
    let DataBuild { version, about, out: target, .. } = arguments;
    let now = SystemClock::new().now();
    let archive = DataPack::build(pack, version, about, now, &files, &key)
        .map_err(|error| failed("the data pack", &error))?;
    let data = DataPack::read(&archive).map_err(|error| failed("the data pack", &error))?;
    check(pack, &data)?;
    fs::write(target, &archive)
        .map_err(|error| Failure::work(format!("cannot write {}: {error}", target.display())))?;
    let mut out = Out::new();
    out.line(format_args!("{}: {} files, {} bytes", target.display(), files.len(), archive.len()))?;
    out.line(format_args!("public key: {}", key.public()))?;
    out.finish()
}

/// Keys of the settings and of the command line.
fn trusted(given: &[String], session: &Session) -> Result<Vec<PublicKey>, Failure> {
    let config = session.config()?;
    let all = config.data_keys.iter().chain(given);
    all.map(|text| {
        PublicKey::parse(text).map_err(|error| Failure::usage(format!("`{text}`: {error}")))
    })
    .collect()
}

fn fetch(source: &str) -> Result<Vec<u8>, Failure> {
    let unread =
        |error: &dyn std::fmt::Display| Failure::work(format!("cannot read {source}: {error}"));
    let mut bytes = Vec::new();
    if source.starts_with("http://") || source.starts_with("https://") {
        let settings = ureq::Agent::config_builder().timeout_global(Some(TIMEOUT)).build();
        let agent: ureq::Agent = settings.into();
        let mut reply = agent.get(source).call().map_err(|error| unread(&error))?;
        let body = reply.body_mut().as_reader();
        body.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(|error| unread(&error))?;
    } else {
        let file = fs::File::open(source).map_err(|error| unread(&error))?;
        file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(|error| unread(&error))?;
    }
    if u64::try_from(bytes.len()).is_ok_and(|length| length > MAX_BYTES) {
        return Err(unread(&format!("it has more than {} MB", MAX_BYTES >> 20)));
    }
    Ok(bytes)
}

fn failed(what: &str, error: &BadDataPack) -> Failure {
    Failure::work(format!("{what}: {error}"))
}
