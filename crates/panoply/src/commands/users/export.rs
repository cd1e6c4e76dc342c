//! `panoply users export`: everything that is a person's, in open formats.
//!
//! | file | what |
//! |---|---|
//! | `account.json` | name, workspaces, keys without secrets, shares, preferences |
//! | `cards.apkg`, `cards.csv` | the collection with its review history, and its notes as text |
//! | `media/NAME` | pictures, sounds and other files of notes |
//! | `settings.json` | settings of the learner |
//! | `portfolios.jsonl`, `transactions.jsonl` | portfolios of `cgt` with accounts, and their transactions with provenance |
//! | `runs.jsonl`, `runs/ID.jsonl` | runs, and the events of each, sealed or open |
//! | `documents.jsonl`, `chunks.jsonl`, `facts.jsonl`, `papers.jsonl` | of `ttm` |
//! | `jobs.jsonl`, `job_log.jsonl` | imports, and their logs |
//! | `tables/DATABASE/TABLE.jsonl` | every table of every database, also what has no file above |
//! | `files/PATH` | every other file of the person, such as the inbox |
//! | `audit.jsonl` | the person's calls, with those in sealed segments |
//!
//! `tables` and `files` are made by walking the tenant's folder, so that a store
//! which a later version adds is exported without being named. Data of a workspace that several
//! persons share are not a person's.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::fs::{self, File};
use std::io::{self, BufWriter, Read as _, Write as _};
use std::path::Path;

use panoply_backtest::error::LogError;
use panoply_backtest::ingest::OpenRun;
use panoply_backtest::query::cache::Cache;
use panoply_backtest::query::reader::SealedRun;
use panoply_backtest::run::Status;
use panoply_contract::audit::AuditView;
use panoply_contract::error::ToolError;
use panoply_contract::sharing::Share;
use panoply_contract::tenant::TenantId;
use panoply_noema::store::Store;
use panoply_noema::text_notes::{self, TextFormat};
use panoply_noema::{anki, collection, statistics};
use panoply_store::dump::{self, DumpError};
use panoply_store::users::TenantRecord;
use panoply_store::{Home, Users, audit_log};
use panoply_ttm::jobs::JobStore;
use serde::Serialize;
use serde_json::{Value, json};

use crate::app;
use crate::failure::Failure;
use crate::stores::{self, database::TableRows};

/// Writes the files into a new folder and returns their names.
pub(super) fn export(
    home: &Home,
    users: &dyn Users,
    person: &TenantRecord,
    folder: &Path,
) -> Result<Vec<String>, Failure> {
    let target = Target { folder, written: Vec::new() };
    fs::create_dir(folder).map_err(|error| target.failed(&error))?;
    let mut target = target;
    account(home, users, person, &mut target)?;
    let own = home.tenant(&person.id);
    cards(&own, &person.id, &mut target)?;
    portfolios(&own, &person.id, &mut target)?;
    runs(&own, &person.id, &mut target)?;
    documents(&own, &person.id, &mut target)?;
    everything_else(&own, &mut target)?;
    match stores::database::server() {
        Some(server) => {
            server_rows(
                server.rows(&person.id).map_err(|error| unread(error.chain()))?,
                &mut target,
            )?;
        }
        None => {
            idempotency_records(home, &person.id, &mut target)?;
            calls(home, &person.id, &mut target)?;
        }
    }
    Ok(target.written)
}

/// The folder, and the names of the files in it.
struct Target<'a> {
    folder: &'a Path,
    written: Vec<String>,
}

impl Target<'_> {
    fn create(&mut self, name: &str) -> Result<BufWriter<File>, Failure> {
        if let Some(folder) = self.folder.join(name).parent() {
            fs::create_dir_all(folder).map_err(|error| self.failed(&error))?;
        }
        let mut options = File::options();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(self.folder.join(name)).map_err(|error| self.failed(&error))?;
        self.written.push(name.to_owned());
        Ok(BufWriter::new(file))
    }

    fn bytes(&mut self, name: &str, bytes: &[u8]) -> Result<(), Failure> {
        let mut file = self.create(name)?;
        file.write_all(bytes).and_then(|()| file.flush()).map_err(|error| self.failed(&error))
    }

    /// One JSON value per line.
    fn lines<T: Serialize>(&mut self, name: &str, rows: &[T]) -> Result<(), Failure> {
        let mut file = self.create(name)?;
        for row in rows {
            let line = serde_json::to_string(row).map_err(|error| self.failed(&error))?;
            writeln!(file, "{line}").map_err(|error| self.failed(&error))?;
        }
        file.flush().map_err(|error| self.failed(&error))
    }

    fn failed(&self, error: &dyn std::fmt::Display) -> Failure {
        Failure::work(format!("cannot export to `{}`: {error}", self.folder.display()))
            .hint("name a new folder on a disk with free space")
    }
}

fn account(
    home: &Home,
    users: &dyn Users,
    person: &TenantRecord,
    target: &mut Target<'_>,
) -> Result<(), Failure> {
    let keys = stores::keys(home).and_then(|keys| keys.list()).map_err(unread)?;
    let own = keys.iter().filter(|key| key.tenants.person == person.id);
    let keys: Vec<Value> = own
        .map(|key| json!({"id": key.id, "name": key.label, "profile": key.profile.as_str()}))
        .collect();
    let workspaces = users.workspaces(&person.id).map_err(unread)?;
    let kernel_db = stores::kernel(home).map_err(unread)?;
    let as_json = |shares: Vec<Share>| -> Vec<Value> {
        let shares = shares.iter().map(|share| {
            let (recipient, since) = (share.recipient.as_str(), share.created.to_string());
            json!({
                "pack": share.pack, "id": share.item, "owner": share.owner.as_str(),
                "recipient": recipient, "since": since,
            })
        });
        shares.collect()
    };
    let failed = |error: ToolError| Failure::work(error.message);
    let granted = kernel_db.granted_by(&person.id).map(as_json).map_err(failed)?;
    let received = kernel_db.received_by(&person.id).map(as_json).map_err(failed)?;
    let preferences = kernel_db.get(&person.id).map_err(failed)?.preferences;
    let account = json!({
        "name": person.name, "tenant": person.id.as_str(), "created": person.created.to_string(),
        "operator": person.operator, "fromToken": person.from_token,
        "workspaces": workspaces, "keys": keys, "shares": granted, "received": received,
        "preferences": preferences,
    });
    target.bytes("account.json", account.to_string().as_bytes())
}

fn cards(own: &Home, tenant: &TenantId, target: &mut Target<'_>) -> Result<(), Failure> {
    if !stores::has_data(own, "noema") {
        return Ok(());
    }
    let store = stores::cards(own, tenant).map_err(unread)?;
    let now = app::clock().now().as_microsecond();
    let (package, text) = store
        .read(|reader| {
            let (decks, _) = statistics::scope(reader, None)?;
            let (package, _) = anki::export(reader, &decks, now, &mut |_, _| Ok(()))?;
            let notes = collection::notes_as_text(reader, &decks)?;
            Ok((package, text_notes::write(&notes, TextFormat::Csv)?))
        })
        .map_err(unread)?;
    target.bytes("cards.apkg", &package)?;
    target.bytes("cards.csv", text.as_bytes())?;
    let settings = store.read(|reader| reader.learner()).map_err(unread)?;
    let settings = serde_json::to_string(&settings).map_err(unread)?;
    target.bytes("settings.json", settings.as_bytes())?;
    media(store.as_ref(), target)
}

/// Files of notes. A name that is no file name here is in the tables only.
fn media(store: &dyn Store, target: &mut Target<'_>) -> Result<(), Failure> {
    let files = store.read(|reader| reader.media_files()).map_err(unread)?;
    let is_plain = |name: &str| {
        Path::new(name).file_name().is_some_and(|plain| plain == name) && !name.contains('\\')
    };
    for file in files.iter().filter(|file| is_plain(&file.name)) {
        let content = store.read(|reader| reader.media(&file.name)).map_err(unread)?;
        target.bytes(&format!("media/{}", file.name), &content.unwrap_or_default())?;
    }
    Ok(())
}

fn portfolios(own: &Home, tenant: &TenantId, target: &mut Target<'_>) -> Result<(), Failure> {
    if !stores::has_data(own, "cgt") {
        return Ok(());
    }
    let store = stores::portfolios(own, tenant);
    let (mut heads, mut entries) = (Vec::new(), Vec::new());
    for portfolio in store.list().map_err(unread)? {
        let accounts: Vec<Value> = portfolio
            .accounts
            .iter()
            .map(|account| json!({"name": account.name, "wrapper": account.wrapper.as_str()}))
            .collect();
        heads.push(
            json!({"portfolioId": portfolio.id, "name": portfolio.name, "accounts": accounts}),
        );
        for entry in store.load(&portfolio.id).map_err(unread)?.entries {
            let from = entry.provenance;
            entries.push(json!({
                "portfolioId": portfolio.id, "id": entry.id, "account": entry.account,
                "transaction": entry.line, "file": from.file, "line": from.line,
                "broker": from.broker, "brokerId": from.broker_id, "isin": from.isin,
            }));
        }
    }
    target.lines("portfolios.jsonl", &heads)?;
    target.lines("transactions.jsonl", &entries)
}

fn runs(own: &Home, tenant: &TenantId, target: &mut Target<'_>) -> Result<(), Failure> {
    if !stores::has_data(own, "backtest") {
        return Ok(());
    }
    let store = stores::runs(own, tenant)?.store;
    let runs = store.runs().map_err(unread)?;
    let rows: Vec<Value> = runs
        .iter()
        .map(|run| {
            let (id, status) = (run.id.to_string(), run.status.as_str());
            json!({"runId": id, "status": status, "events": run.events, "header": run.header})
        })
        .collect();
    target.lines("runs.jsonl", &rows)?;
    for run in &runs {
        let mut file = target.create(&format!("runs/{}.jsonl", run.id))?;
        let line = |line: &str| writeln!(file, "{line}").map_err(LogError::Source);
        match run.status {
            Status::Completed => {
                let blobs = store.sealed(run.id).map_err(unread)?;
                let sealed = SealedRun::open(run.id, blobs, Cache::new(16 << 20));
                sealed.and_then(|sealed| sealed.export(line)).map_err(unread)?;
            }
            Status::Running => OpenRun::export(store.as_ref(), run.id, line).map_err(unread)?,
        }
        file.flush().map_err(|error| target.failed(&error))?;
    }
    Ok(())
}

fn documents(own: &Home, tenant: &TenantId, target: &mut Target<'_>) -> Result<(), Failure> {
    if !stores::has_data(own, "ttm") {
        return Ok(());
    }
    let store = stores::documents(own, tenant).store;
    target.lines("documents.jsonl", &store.documents().map_err(unread)?)?;
    target.lines("chunks.jsonl", &store.chunks(None).map_err(unread)?)?;
    target.lines("facts.jsonl", &store.facts(None).map_err(unread)?)?;
    let papers = store.papers().map_err(unread)?;
    let papers: Vec<Value> = papers
        .iter()
        .map(|paper| {
            json!({
                "pmid": paper.pmid, "title": paper.title, "abstract": paper.abstract_text,
                "authors": paper.authors, "journal": paper.journal, "year": paper.year,
                "doi": paper.doi, "mesh": paper.mesh,
            })
        })
        .collect();
    target.lines("papers.jsonl", &papers)?;
    jobs(store.as_ref(), target)
}

fn jobs(store: &dyn JobStore, target: &mut Target<'_>) -> Result<(), Failure> {
    let jobs = store.jobs().map_err(unread)?;
    let rows: Vec<Value> = jobs
        .iter()
        .map(|job| {
            json!({
                "id": job.id, "status": job.status.as_str(), "detail": job.detail,
                "request": job.request, "report": job.report, "error": job.error,
                "created": job.created, "started": job.started, "ended": job.ended,
            })
        })
        .collect();
    target.lines("jobs.jsonl", &rows)?;
    let mut lines = Vec::new();
    for job in &jobs {
        let log = store.log_of(&job.id).map_err(unread)?;
        lines.extend(log.iter().map(|(at, line)| json!({"job": job.id, "at": at, "line": line})));
    }
    target.lines("job_log.jsonl", &lines)
}

/// Tables of databases and copies of all other files.
fn everything_else(own: &Home, target: &mut Target<'_>) -> Result<(), Failure> {
    // The blobs of a run are its events, which are exported above.
    let runs = own.packs().join("backtest");
    // Copies of what a database server has.
    let copies = own.folder().join("cache");
    let mut folders = vec![own.folder().to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(unread(error)),
        };
        for entry in entries {
            let entry = entry.map_err(unread)?;
            let (path, kind) = (entry.path(), entry.file_type().map_err(unread)?);
            if kind.is_dir() && path != runs && path != copies {
                folders.push(path);
            } else if kind.is_file() {
                file(own, &path, target)?;
            }
        }
    }
    Ok(())
}

fn file(own: &Home, path: &Path, target: &mut Target<'_>) -> Result<(), Failure> {
    let name = path.strip_prefix(own.folder()).unwrap_or(path);
    let Some(name) = name.to_str() else {
        return Err(unread(format!("the name of `{}` is not UTF-8", path.display())));
    };
    let is_of_a_pack = path.starts_with(own.packs());
    // Parts of a database that is open, and locks.
    let is_part = ["-wal", "-shm", "-journal", ".lock"].iter().any(|end| name.ends_with(end));
    if is_of_a_pack && is_part {
        return Ok(());
    }
    let mut opened = File::open(path).map_err(unread)?;
    let mut start = Vec::new();
    (&mut opened).take(16).read_to_end(&mut start).map_err(unread)?;
    if is_of_a_pack && dump::is_database(&start) {
        return tables(path, name, target);
    }
    let mut copy = target.create(&format!("files/{name}"))?;
    io::copy(&mut start.as_slice().chain(opened), &mut copy)
        .and_then(|_| copy.flush())
        .map_err(|error| target.failed(&error))
}

/// The key that signs review tokens is the server's.
const SECRETS: [(&str, &str); 1] = [("packs/noema.db", "meta")];

fn tables(path: &Path, name: &str, target: &mut Target<'_>) -> Result<(), Failure> {
    let database = name.trim_start_matches("packs/").trim_end_matches(".db");
    let mut files = BTreeMap::new();
    dump::dump(path, |table, row| {
        if SECRETS.contains(&(name, table)) {
            return Ok(());
        }
        if !files.contains_key(table) {
            let file = target.create(&format!("tables/{database}/{table}.jsonl"))?;
            files.insert(table.to_owned(), file);
        }
        match files.get_mut(table) {
            Some(file) => writeln!(file, "{row}").map_err(|error| target.failed(&error)),
            None => Ok(()),
        }
    })
    .map_err(|error| match error {
        DumpError::Store(error) => unread(error),
        DumpError::Receiver(failure) => failure,
    })?;
    let mut files = files.into_values();
    files.try_for_each(|mut file| file.flush()).map_err(|error| target.failed(&error))
}

/// Rows of a database server: every table, and the person's calls.
fn server_rows(tables: Vec<TableRows>, target: &mut Target<'_>) -> Result<(), Failure> {
    for TableRows { schema, table, rows } in tables {
        let name = match (schema.as_str(), table.as_str()) {
            ("kernel", "audit") => "audit.jsonl".to_owned(),
            (schema, table) => format!("tables/{schema}/{table}.jsonl"),
        };
        let mut file = target.create(&name)?;
        for row in rows {
            writeln!(file, "{row}").map_err(|error| target.failed(&error))?;
        }
        file.flush().map_err(|error| target.failed(&error))?;
    }
    Ok(())
}

/// Records of the person's calls in the kernel's database, which all tenants share.
fn idempotency_records(
    home: &Home,
    person: &TenantId,
    target: &mut Target<'_>,
) -> Result<(), Failure> {
    let (file, mut rows) = (home.kernel(), Vec::new());
    if file.exists() {
        let view = AuditView::Person(person.clone());
        dump::dump(&file, |table, row| {
            let partition = row.get("partition").and_then(Value::as_str);
            if table == "mutation" && partition.is_some_and(|partition| view.includes(partition)) {
                rows.push(row.clone());
            }
            Ok::<_, Infallible>(())
        })
        .map_err(unread)?;
    }
    target.lines("tables/kernel/mutation.jsonl", &rows)
}

/// The person's calls, as `panoply audit export` writes them.
fn calls(home: &Home, person: &TenantId, target: &mut Target<'_>) -> Result<(), Failure> {
    let mut file = target.create("audit.jsonl")?;
    let log = home.audit_log();
    if log.exists() {
        audit_log::export(&log, &AuditView::Person(person.clone()), &mut file).map_err(unread)?;
    }
    file.flush().map_err(|error| target.failed(&error))
}

fn unread(error: impl std::fmt::Display) -> Failure {
    Failure::work(format!("the data of the user cannot be read: {error}"))
        .hint("run `panoply doctor`")
}
