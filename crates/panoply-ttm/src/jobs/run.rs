//! Executes a job: read, extract, check, and commit in one transaction.

use std::time::Duration;

use percent_encoding::percent_decode_str;
use serde_json::{Value, json};

use super::lock::Lock;
use super::record::PendingRecord;
use super::service::{AcceptedJob, HOW_TO_ALLOW, JobError, JobService};
use super::{Item, Job, Status, detail};
use crate::arithmetic::round4;
use crate::catalog::HerbCatalog;
use crate::claims::poses_as_official;
use crate::eval::retrieval;
use crate::eval::sets::Bundled;
use crate::ingest::gazetteer::Gazetteer;
use crate::ingest::plan::{Plan, ReadFile};
use crate::ingest::reader::{Options, ReadError};
use crate::knowledge::Knowledge;
use crate::papers::UserStoreError;
use crate::roots::Refused;
use crate::search::{Tuning, engine_over};
use crate::user_data::{Chunk, Fact, UserData, UserDocument, document_uri};

/// Maximum tolerated loss of R@10 on the curated questions.
pub const MAX_RECALL_LOSS: f64 = 0.02;
/// Maximum number of facts in a report.
const MAX_LISTED: usize = 500;
/// Polling interval while waiting for the run lock.
const LOCK_POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Receives pages done, total pages, and the current activity.
pub type Progress<'p> = &'p mut dyn FnMut(u32, u32, &str);

/// Why a job stops early.
enum Stop {
    /// A problem to report to the caller.
    Rejected { code: String, message: String, hint: String, detail: Option<&'static str> },
    /// An internal failure.
    Job(JobError),
}

impl Stop {
    fn rejected(code: &str, message: impl Into<String>, hint: &str) -> Self {
        Self::Rejected {
            code: code.to_owned(),
            message: message.into(),
            hint: hint.to_owned(),
            detail: None,
        }
    }

    fn cancelled() -> Self {
        Self::Rejected {
            code: "CANCELLED".to_owned(),
            message: "the job was cancelled; nothing was added".to_owned(),
            hint: "run it again".to_owned(),
            detail: Some(detail::CANCELLED),
        }
    }
}

impl<E: Into<JobError>> From<E> for Stop {
    fn from(error: E) -> Self {
        Self::Job(error.into())
    }
}

impl JobService {
    /// Runs a job to its end. Problems with its files are recorded in the job, not returned as
    /// errors.
    pub fn run(
        &self,
        taken: AcceptedJob,
        pending: &PendingRecord,
        progress: Progress<'_>,
    ) -> Result<Job, JobError> {
        let AcceptedJob { mut job, _alive } = taken;
        let ended = self.work(&mut job, pending, progress);
        self.remove_scratch(&job.id);
        match ended {
            Ok(()) => {}
            Err(Stop::Rejected { code, message, hint, detail }) => {
                job.status = Status::Error;
                job.detail = detail.map(str::to_owned);
                job.error = Some(json!({"code": code, "message": message, "hint": hint}));
                job.ended = Some(self.now());
                self.store.save_job(&job)?;
                self.note(&job.id, &format!("error {code}: {message}"))?;
            }
            Err(Stop::Job(error)) => {
                job.status = Status::Error;
                let message = "the job failed; nothing was added";
                job.error = Some(json!({
                    "code": "SYSTEM", "message": message, "hint": "run `panoply doctor`",
                }));
                job.ended = Some(self.now());
                // If the store is broken, the first error is more informative.
                if self.store.save_job(&job).is_err() {
                    return Err(error);
                }
                self.note(&job.id, &format!("error: {error}"))?;
            }
        }
        progress(job.done_pages, job.all_pages, job.status.as_str());
        Ok(job)
    }

    fn work(
        &self,
        job: &mut Job,
        pending: &PendingRecord,
        progress: Progress<'_>,
    ) -> Result<(), Stop> {
        let _turn = self.acquire_run_lock(job, progress)?;
        job.status = Status::Running;
        job.started = Some(self.now());
        self.store.save_job(job)?;
        let what = if job.request.dry_run { "dry run" } else { "run" };
        self.note(&job.id, &format!("{what} of {} files", job.request.batch.len()))?;
        let knowledge =
            Knowledge::bundled().map_err(|error| Stop::rejected("SYSTEM", error, ""))?;
        let gazetteer = Gazetteer::new(&knowledge.catalog)
            .map_err(|error| Stop::rejected("SYSTEM", error.to_string(), ""))?;
        let mut plan = Plan::default();
        let mut already = Vec::new();
        for item in job.request.batch.clone() {
            let file = self.read(job, &item, progress)?;
            let here = plan.extracts.iter().any(|one| one.document.sha256 == file.sha256);
            if let Some(known) = self.store.document_of(&file.sha256)? {
                self.note(
                    &job.id,
                    &format!(
                        "{}: already imported as {} by job {}",
                        file.name, known.id, known.job
                    ),
                )?;
                already.push(json!({"file": file.name, "document": known.id, "job": known.job}));
            } else if here {
                self.note(&job.id, &format!("{}: duplicate file", file.name))?;
            } else {
                plan.add(&file, &job.id, item.lang.as_deref(), &knowledge.catalog, &gazetteer);
            }
        }
        let hash = plan.hash();
        let report = report(&plan, &hash, &already, &knowledge.catalog);
        job.report = Some(report);
        self.note(
            &job.id,
            &format!("plan {hash}: {} facts, {} of them known", plan.facts(), plan.known),
        )?;
        if job.request.dry_run {
            return self.finish(job, &Plan::default(), pending);
        }
        if plan.extracts.is_empty() {
            // Repeating a job is a no-op.
            job.detail = Some(detail::UNCHANGED.to_owned());
            return self.finish(job, &plan, pending);
        }
        Self::check_plan_hash(job, &hash)?;
        progress(job.done_pages, job.all_pages, "checking search quality");
        self.check_recall(job, &plan, &knowledge.catalog)?;
        if self.store.is_cancelled(&job.id)? {
            return Err(Stop::cancelled());
        }
        self.finish(job, &plan, pending)
    }

    /// Jobs run one at a time: OCR uses all cores.
    fn acquire_run_lock(&self, job: &Job, progress: Progress<'_>) -> Result<Lock, Stop> {
        let file = self.settings.folder.join("running.lock");
        loop {
            if let Some(turn) = Lock::take(&file)? {
                return Ok(turn);
            }
            if self.store.is_cancelled(&job.id)? {
                return Err(Stop::cancelled());
            }
            progress(0, 0, "waiting for another job");
            std::thread::sleep(LOCK_POLL_INTERVAL);
        }
    }

    fn read(&self, job: &mut Job, item: &Item, progress: Progress<'_>) -> Result<ReadFile, Stop> {
        let largest = self.settings.limits.file_bytes;
        let file =
            self.settings.roots.open(&item.uri, largest).map_err(|refused| match &refused {
                Refused::TooLarge(..) => {
                    Stop::rejected("FILE_TOO_LARGE", refused.to_string(), "split the file")
                }
                _ => Stop::rejected("NOT_ALLOWED", refused.to_string(), HOW_TO_ALLOW),
            })?;
        let name = item.uri.rsplit('/').next().unwrap_or_default();
        let name = percent_decode_str(name).decode_utf8_lossy().into_owned();
        let options = Options {
            kind: item.kind,
            ocr: job.request.ocr,
            dpi: job.request.dpi.unwrap_or(Options::default().dpi),
            limits: self.settings.limits,
            ..Options::default()
        };
        let scratch = self.scratch(&job.id);
        std::fs::create_dir_all(&scratch)?;
        let (before, all) = (job.done_pages, job.all_pages);
        let mut saved: Result<(), UserStoreError> = Ok(());
        let read = self.settings.reader.read(file, &options, &scratch, &mut |done, pages| {
            let moved = (before + done, all + pages) != (job.done_pages, job.all_pages);
            if moved {
                (job.done_pages, job.all_pages) = (before + done, all + pages);
                progress(job.done_pages, job.all_pages, &name);
                if let Err(error) = self.store.save_job(job) {
                    saved = Err(error);
                    return false;
                }
            }
            // If the store cannot be queried, it cannot store the result either: stop.
            !self.store.is_cancelled(&job.id).unwrap_or(true)
        });
        saved?;
        let mut read = read.map_err(|ReadError { code, message, hint }| match code.as_str() {
            "CANCELLED" => Stop::cancelled(),
            _ => Stop::rejected(&code, format!("`{name}`: {message}"), &hint),
        })?;
        read.name = name;
        self.check_legibility(job, &read)?;
        Ok(read)
    }

    /// A file without any readable page is an error; single unreadable pages are logged.
    fn check_legibility(&self, job: &Job, read: &ReadFile) -> Result<(), Stop> {
        for (page, why) in &read.unreadable {
            self.note(&job.id, &format!("{}: page {page}: {why}", read.name))?;
        }
        let ocr = read.texts.iter().filter(|page| page.reader == "tesseract").count();
        self.note(
            &job.id,
            &format!(
                "{}: {} of {} pages read, {ocr} by OCR",
                read.name,
                read.texts.len(),
                read.pages
            ),
        )?;
        if read.texts.iter().any(|page| !page.text.is_empty()) {
            return Ok(());
        }
        let why = read.unreadable.first().map_or("it has no text", |(_, why)| why.as_str());
        let message = format!("`{}`: no readable page; first problem: {why}", read.name);
        Err(Stop::rejected(
            "NOTHING_LEGIBLE",
            message,
            "provide a file with text, or install the OCR programs",
        ))
    }

    fn check_plan_hash(job: &Job, hash: &str) -> Result<(), Stop> {
        if job.request.plan_hash.as_deref() == Some(hash) {
            return Ok(());
        }
        let shown = job.request.plan_hash.as_deref().unwrap_or("none");
        Err(Stop::rejected(
            "PLAN_CHANGED",
            format!("the plan hash is now `{hash}`, but `{shown}` was approved; nothing was added"),
            "start a new dry run and pass its `plan_hash`",
        ))
    }

    /// Measures R@10 on the curated questions before and after the change, and rejects a
    /// regression.
    fn check_recall(&self, job: &mut Job, plan: &Plan, bundled: &HerbCatalog) -> Result<(), Stop> {
        let mut user_data = UserData {
            version: self.store.version(),
            documents: self.store.documents()?,
            facts: self.store.facts(None)?,
        };
        let recall = |user_data: &UserData, documents: &[UserDocument], chunks: Vec<Chunk>| {
            let system =
                |error: &dyn std::fmt::Display| Stop::rejected("SYSTEM", error.to_string(), "");
            let catalog = bundled.with_user_data(user_data.clone());
            let engine = engine_over(&catalog, &*self.store, documents, chunks)
                .map_err(|error| system(&error))?;
            let questions = Bundled::Tune.questions().map_err(|error| system(&error))?;
            let found = retrieval(&engine, &Tuning::default(), questions, 10)?;
            Ok::<f64, Stop>(found.mean().recall)
        };
        let before = recall(&user_data, &[], Vec::new())?;
        let (mut documents, mut chunks) = (Vec::new(), Vec::new());
        for extract in &plan.extracts {
            documents.push(extract.document.clone());
            user_data.facts.extend(extract.facts.iter().cloned());
            chunks.extend(extract.chunks.iter().cloned());
        }
        user_data.documents.extend(documents.iter().cloned());
        let after = recall(&user_data, &documents, chunks)?;
        if let Some(report) = &mut job.report {
            let recall = json!({"before": round4(before), "after": round4(after)});
            put(report, "recall_at_10", recall);
        }
        self.note(
            &job.id,
            &format!("R@10 of the curated questions: {before:.4} before, {after:.4} after"),
        )?;
        if before - after <= MAX_RECALL_LOSS {
            return Ok(());
        }
        Err(Stop::Rejected {
            code: "SEARCH_WORSE".to_owned(),
            message: format!(
                "R@10 of the curated questions would fall from {before:.3} to {after:.3}, by more than {MAX_RECALL_LOSS}; nothing was added"
            ),
            hint: "omit the file with the most facts and inspect its dry run".to_owned(),
            detail: Some(detail::ROLLED_BACK),
        })
    }

    fn finish(&self, job: &mut Job, plan: &Plan, pending: &PendingRecord) -> Result<(), Stop> {
        job.status = Status::Done;
        job.ended = Some(self.now());
        let pending = pending.take();
        let record = pending.as_ref().map(|one| one.record(job)).transpose();
        let record = record.map_err(JobError::from)?;
        let added = self.store.finish_job(job, &plan.extracts, record.as_ref())?;
        if let (Some(pending), Some(record)) = (pending, record) {
            pending.committed(record);
        }
        self.note(&job.id, &format!("done: {added} documents added"))?;
        Ok(())
    }
}

fn report(plan: &Plan, hash: &str, already: &[Value], bundled: &HerbCatalog) -> Value {
    let documents = plan.extracts.iter().map(|extract| {
        let document = &extract.document;
        json!({
            "id": document.id, "uri": document_uri(&document.id), "name": document.name,
            "title": document.title, "lang": document.lang, "pages": document.pages,
            "sha256": document.sha256, "chunks": extract.chunks.len(), "facts": extract.facts.len(),
            "poses_as_official": extract.chunks.iter().any(|chunk| poses_as_official(&chunk.text)),
        })
    });
    let listed = |fact: &Fact| {
        let mut value = serde_json::to_value(fact).unwrap_or_default();
        put(&mut value, "known", json!(fact.is_known(bundled)));
        value
    };
    let facts = plan.extracts.iter().flat_map(|extract| &extract.facts);
    let unreadable = plan.unreadable.iter();
    json!({
        "plan_hash": hash,
        "already": already,
        "documents": documents.collect::<Vec<_>>(),
        "facts": facts.take(MAX_LISTED).map(listed).collect::<Vec<_>>(),
        "counts": {
            "facts": plan.facts(), "known": plan.known, "new": plan.facts() - plan.known,
            "unsure": plan.unsure.len(), "denied": plan.denied,
            "chunks": plan.extracts.iter().map(|extract| extract.chunks.len()).sum::<usize>(),
        },
        "unsure": plan.unsure.iter().take(MAX_LISTED / 5).map(listed).collect::<Vec<_>>(),
        "unreadable": unreadable
            .map(|(file, page, why)| json!({"file": file, "page": page, "why": why}))
            .collect::<Vec<_>>(),
    })
}

fn put(into: &mut Value, name: &str, value: Value) {
    if let Some(members) = into.as_object_mut() {
        members.insert(name.to_owned(), value);
    }
}
