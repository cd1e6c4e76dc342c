//! `panoply users export`: everything that is a person's, in open formats.
//!
//! | file | what |
//! |---|---|
//! | `account.json` | name, workspaces, keys without secrets, shares |
//! | `cards.apkg`, `cards.csv` | the collection with its review history, and its notes as text |
//! | `portfolios.jsonl`, `transactions.jsonl` | portfolios of `cgt` with accounts, and their transactions with provenance |
//! | `runs.jsonl`, `runs/ID.jsonl` | runs, and the events of each completed one |
//! | `documents.jsonl`, `chunks.jsonl`, `facts.jsonl`, `papers.jsonl`, `jobs.jsonl` | of `ttm` |
//! | `audit.jsonl` | the person's calls |
//!
//! Data of a workspace that several persons share are not a person's.

use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::Path;

use panoply_backtest::error::LogError;
use panoply_backtest::query::cache::Cache;
use panoply_backtest::query::reader::SealedRun;
use panoply_backtest::run::Status;
use panoply_backtest::store::Store as _;
use panoply_cgt::store::SqlitePortfolios;
use panoply_contract::audit::{AuditFilter, AuditLog as _, AuditView};
use panoply_contract::sharing::ShareStore as _;
use panoply_contract::tenant::TenantId;
use panoply_noema::store::{SqliteStore, Store};
use panoply_noema::text_notes::{self, TextFormat};
use panoply_noema::{anki, collection, statistics};
use panoply_store::users::TenantRecord;
use panoply_store::{ApiKeys, Home, KernelDb, SqliteAuditLog, Users};
use panoply_ttm::jobs::JobStore as _;
use panoply_ttm::papers::PaperStore as _;
use panoply_ttm::store::SqliteUserStore;
use panoply_ttm::user_data::DocumentStore as _;
use serde::Serialize;
use serde_json::{Value, json};

use super::super::{audit, block_on};
use crate::app;
use crate::failure::Failure;
use crate::packs;

/// Writes the files into a new folder and returns their names.
pub(super) fn export(
    home: &Home,
    users: &Users,
    person: &TenantRecord,
    folder: &Path,
) -> Result<Vec<String>, Failure> {
    let target = Target { folder, written: Vec::new() };
    fs::create_dir(folder).map_err(|error| target.failed(&error))?;
    let mut target = target;
    account(home, users, person, &mut target)?;
    let own = home.tenant(&person.id);
    cards(&own, &mut target)?;
    portfolios(&own, &mut target)?;
    runs(&own, &mut target)?;
    documents(&own, &mut target)?;
    calls(home, &person.id, &mut target)?;
    Ok(target.written)
}

/// The folder, and the names of the files in it.
struct Target<'a> {
    folder: &'a Path,
    written: Vec<String>,
}

impl Target<'_> {
    fn create(&mut self, name: &str) -> Result<BufWriter<File>, Failure> {
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
    users: &Users,
    person: &TenantRecord,
    target: &mut Target<'_>,
) -> Result<(), Failure> {
    let keys = ApiKeys::open(&home.keys()).and_then(|keys| keys.list()).map_err(unread)?;
    let own = keys.iter().filter(|key| key.tenants.person == person.id);
    let keys: Vec<Value> = own
        .map(|key| json!({"id": key.id, "name": key.label, "profile": key.profile.as_str()}))
        .collect();
    let workspaces = users.workspaces(&person.id).map_err(unread)?;
    let shares = KernelDb::open(&home.kernel()).map_err(unread)?.0.granted_by(&person.id);
    let shares = shares.map_err(|error| Failure::work(error.message))?;
    let shares: Vec<Value> = shares
        .iter()
        .map(|share| {
            let (recipient, since) = (share.recipient.as_str(), share.created.to_string());
            json!({"pack": share.pack, "id": share.item, "recipient": recipient, "since": since})
        })
        .collect();
    let account = json!({
        "name": person.name, "tenant": person.id.as_str(), "created": person.created.to_string(),
        "workspaces": workspaces, "keys": keys, "shares": shares,
    });
    target.bytes("account.json", account.to_string().as_bytes())
}

fn cards(own: &Home, target: &mut Target<'_>) -> Result<(), Failure> {
    let file = own.pack("noema");
    if !file.exists() {
        return Ok(());
    }
    let store = SqliteStore::open(&file).map_err(unread)?;
    let store: &dyn Store = &store;
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
    target.bytes("cards.csv", text.as_bytes())
}

fn portfolios(own: &Home, target: &mut Target<'_>) -> Result<(), Failure> {
    let file = own.pack("cgt");
    if !file.exists() {
        return Ok(());
    }
    let store = SqlitePortfolios::at(file);
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

fn runs(own: &Home, target: &mut Target<'_>) -> Result<(), Failure> {
    let file = own.pack("backtest");
    if !file.exists() {
        return Ok(());
    }
    let store = packs::backtest_store(&file)?;
    let runs = store.runs().map_err(unread)?;
    let rows: Vec<Value> = runs
        .iter()
        .map(|run| {
            let (id, status) = (run.id.to_string(), run.status.as_str());
            json!({"runId": id, "status": status, "events": run.events, "header": run.header})
        })
        .collect();
    target.lines("runs.jsonl", &rows)?;
    fs::create_dir(target.folder.join("runs")).map_err(|error| target.failed(&error))?;
    for run in runs.iter().filter(|run| run.status == Status::Completed) {
        let blobs = store.sealed(run.id).map_err(unread)?;
        let sealed = SealedRun::open(run.id, blobs, Cache::new(16 << 20)).map_err(unread)?;
        let mut file = target.create(&format!("runs/{}.jsonl", run.id))?;
        sealed
            .export(|line| writeln!(file, "{line}").map_err(LogError::Source))
            .and_then(|()| file.flush().map_err(LogError::Source))
            .map_err(unread)?;
    }
    Ok(())
}

fn documents(own: &Home, target: &mut Target<'_>) -> Result<(), Failure> {
    let file = own.pack("ttm");
    if !file.exists() {
        return Ok(());
    }
    let store = SqliteUserStore::at(file);
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
    let jobs = store.jobs().map_err(unread)?;
    let jobs: Vec<Value> = jobs
        .iter()
        .map(|job| json!({"id": job.id, "status": job.status.as_str(), "created": job.created}))
        .collect();
    target.lines("jobs.jsonl", &jobs)
}

fn calls(home: &Home, person: &TenantId, target: &mut Target<'_>) -> Result<(), Failure> {
    let log = SqliteAuditLog::open(&home.audit_log()).map_err(unread)?;
    let view = AuditView::Person(person.clone());
    let filter = AuditFilter { view, limit: usize::MAX >> 1, ..AuditFilter::default() };
    let rows = block_on(log.read(filter))?.map_err(|error| Failure::work(error.message))?;
    log.close();
    target.lines("audit.jsonl", &rows.iter().map(audit::as_json).collect::<Vec<_>>())
}

fn unread(error: impl std::fmt::Display) -> Failure {
    Failure::work(format!("the data of the user cannot be read: {error}"))
        .hint("run `panoply doctor`")
}
