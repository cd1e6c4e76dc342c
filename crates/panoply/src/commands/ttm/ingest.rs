//! `panoply ttm ingest` and `panoply ttm jobs`: document ingest and its jobs.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use panoply_contract::operation::OperationSpec;
use panoply_contract::tenant::TenantId;
use panoply_ttm::ingest::reader::{FileKind, OcrProvider, Options, worker};
use panoply_ttm::jobs::{Item, Job, JobError, JobService, PendingRecord, Request, Status};
use panoply_ttm::roots::file_uri;
use serde_json::{Value, json};
use uuid::Uuid;

use super::super::{Session, operation};
use crate::cli::{TtmIngest, TtmJobs, TtmLang, TtmOcr, TtmRead};
use crate::failure::Failure;
use crate::out::{BAD, BOLD, FAINT, GOOD, Out, WARN};
use crate::packs;
use crate::progress_bar::ProgressBar;
use crate::stores;

const fn change(name: &'static str) -> OperationSpec {
    OperationSpec { name, pack: "ttm", permissions: &["kg:write"], data: &["ttm"] }
}

const INGEST: OperationSpec = change("ttm/ingest");
const UNDO: OperationSpec = change("ttm/ingest-undo");

/// Maximum number of printed facts; `--json` has all.
const SHOWN: usize = 25;

/// Prints the plan of an ingest, or applies it.
pub(super) fn ingest(arguments: &TtmIngest, session: &Session) -> Result<ExitCode, Failure> {
    let files = arguments.files.iter().map(|file| whole(file)).collect::<Result<Vec<_>, _>>()?;
    let job_service =
        job_service(session, files.iter().filter_map(|file| file.parent().map(Path::to_owned)))?;
    let batch = files.iter().map(|file| Item {
        uri: file_uri(file),
        lang: match arguments.lang {
            TtmLang::Th => Some("th".to_owned()),
            TtmLang::En => Some("en".to_owned()),
            TtmLang::Auto => None,
        },
        kind: kind_of(file),
    });
    let request = Request {
        dry_run: arguments.apply.is_none(),
        batch: batch.collect(),
        ocr: match arguments.ocr {
            TtmOcr::Auto => OcrProvider::Auto,
            TtmOcr::Textlayer => OcrProvider::TextLayer,
            TtmOcr::Tesseract => OcrProvider::Tesseract,
        },
        dpi: None,
        plan_hash: arguments.apply.clone(),
    };
    let input = json!({"request": request});
    let job = operation::run(session, &INGEST, &input, || {
        let taken =
            job_service.accept(&format!("J-{}", Uuid::new_v4()), request).map_err(failed)?;
        let mut bar = ProgressBar::new("");
        let job = job_service.run(taken, &PendingRecord::default(), &mut |done, all, what| {
            bar.show_as(what, done.into(), all.into());
        });
        bar.clear();
        let job = job.map_err(failed)?;
        let told = job_json(&job);
        Ok((job, told))
    })?;
    let mut out = Out::new();
    if arguments.json {
        out.json(&job_json(&job))?;
    } else {
        print(&job, &mut out)?;
        if job.status == Status::Done
            && job.request.dry_run
            && let Some(hash) = job.report.as_ref().and_then(|report| report["plan_hash"].as_str())
        {
            out.line(format_args!(
                "{FAINT}to add this, run it again with{FAINT:#} --apply {hash}"
            ))?;
        }
    }
    out.finish()?;
    Ok(if job.status == Status::Done { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Lists jobs, or shows, cancels or rolls back one.
pub(super) fn jobs(arguments: &TtmJobs, session: &Session) -> Result<ExitCode, Failure> {
    let job_service = job_service(session, std::iter::empty())?;
    let mut out = Out::new();
    match (&arguments.id, arguments.cancel, arguments.roll_back, arguments.log) {
        (Some(id), true, ..) => {
            let job = operation::run(session, &UNDO, &json!({"cancel": id}), || {
                let (job, _) = job_service.cancel(id, |_| Ok(None)).map_err(failed)?;
                let told = job_json(&job);
                Ok((job, told))
            })?;
            show(&job, arguments.json, &mut out)?;
        }
        (Some(id), _, true, _) => {
            let job = operation::run(session, &UNDO, &json!({"rollBack": id}), || {
                let (job, _) = job_service.roll_back(id, |_| Ok(None)).map_err(failed)?;
                let told = job_json(&job);
                Ok((job, told))
            })?;
            show(&job, arguments.json, &mut out)?;
        }
        (Some(id), _, _, true) => out.write(job_service.log(id).map_err(failed)?)?,
        (Some(id), ..) => show(&job_service.job(id).map_err(failed)?, arguments.json, &mut out)?,
        (None, ..) => {
            let jobs = job_service.jobs().map_err(failed)?;
            if arguments.json {
                out.json(&jobs.iter().map(job_json).collect::<Vec<_>>())?;
            } else {
                jobs.iter().try_for_each(|job| out.line(line(job)))?;
            }
        }
    }
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}

/// Child process that reads a file: see `panoply_ttm::ingest::reader`.
pub(super) fn read(arguments: &TtmRead) -> Result<ExitCode, Failure> {
    let options: Options = serde_json::from_str(&arguments.options)
        .map_err(|error| Failure::usage(format!("invalid reader options: {error}")))?;
    worker::run(&options, &arguments.scratch, std::io::stdin().lock(), std::io::stdout().lock());
    Ok(ExitCode::SUCCESS)
}

/// Job service of the home. Files named on the command line are readable in place.
fn job_service(
    session: &Session,
    roots: impl Iterator<Item = PathBuf>,
) -> Result<JobService, Failure> {
    let home = session.required_home()?;
    let config = session.config()?;
    let settings = config.pack_settings.get("ttm").cloned().unwrap_or_default();
    let roots: Vec<PathBuf> = roots.collect();
    let settings = packs::ttm_ingest(&packs::ttm_settings(&settings)?, &home, &roots)?;
    Ok(JobService::new(
        stores::documents(&home, &TenantId::local()).store,
        settings,
        crate::app::clock(),
    ))
}

/// Canonicalises the parent folder; a link in the last component is not followed.
fn whole(file: &Path) -> Result<PathBuf, Failure> {
    let cannot = |error: &dyn std::fmt::Display| {
        Failure::work(format!("`{}` cannot be read: {error}", file.display()))
    };
    let name = file.file_name().ok_or_else(|| cannot(&"it names no file"))?;
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or_else(|| Path::new(".")).canonicalize();
    Ok(folder.map_err(|error| cannot(&error))?.join(name))
}

fn kind_of(file: &Path) -> FileKind {
    let extension = file.extension().and_then(|one| one.to_str()).unwrap_or_default();
    let text = ["txt", "text", "md"].iter().any(|one| extension.eq_ignore_ascii_case(one));
    if text { FileKind::Text } else { FileKind::Pdf }
}

fn show(job: &Job, as_json: bool, out: &mut Out) -> Result<(), Failure> {
    if as_json { out.json(&job_json(job)) } else { print(job, out) }
}

fn print(job: &Job, out: &mut Out) -> Result<(), Failure> {
    out.line(line(job))?;
    if let Some(error) = &job.error {
        let text = |name: &str| error[name].as_str().unwrap_or_default().to_owned();
        out.line(format_args!("  {BAD}{}{BAD:#}", text("message")))?;
        out.line(format_args!("  {FAINT}→ {}{FAINT:#}", text("hint")))?;
    }
    let Some(report) = &job.report else { return Ok(()) };
    let list = |name: &str| report[name].as_array().cloned().unwrap_or_default();
    for document in &list("documents") {
        let text = |name: &str| document[name].as_str().unwrap_or_default().to_owned();
        out.line(format_args!(
            "  {BOLD}{}{BOLD:#} {} ({}, {} pages, {} pieces, {} facts)",
            text("id"),
            text("title"),
            text("lang"),
            document["pages"],
            document["chunks"],
            document["facts"]
        ))?;
    }
    for known in &list("already") {
        let text = |name: &str| known[name].as_str().unwrap_or_default().to_owned();
        out.line(format_args!(
            "  {} is there already as {}, from {}",
            text("file"),
            text("document"),
            text("job")
        ))?;
    }
    let facts = list("facts");
    for fact in facts.iter().take(SHOWN) {
        out.line(format_args!("  {}", fact_line(fact)))?;
    }
    let counts = &report["counts"];
    let rest = counts["facts"].as_u64().unwrap_or(0).saturating_sub(SHOWN as u64);
    if rest > 0 {
        out.line(format_args!("  and {rest} more"))?;
    }
    for page in &list("unreadable") {
        out.line(format_args!(
            "  {WARN}page {} was not read{WARN:#}: {}",
            page["page"],
            page["why"].as_str().unwrap_or_default()
        ))?;
    }
    out.line(format_args!(
        "  {} facts, {} new, {} known; {} unsure and {} denied were left out",
        counts["facts"], counts["new"], counts["known"], counts["unsure"], counts["denied"]
    ))?;
    if let Some(recall) = report.get("recall_at_10") {
        out.line(format_args!(
            "  R@10 of the curated questions: {} before, {} after",
            recall["before"], recall["after"]
        ))?;
    }
    Ok(())
}

fn fact_line(fact: &Value) -> String {
    let claim = &fact["claim"];
    let object =
        ["constituent", "icd", "code", "drug"].iter().find_map(|name| claim[name].as_str());
    let (says, said) = (claim["says"].as_str().unwrap_or_default(), &fact["said"]);
    let new = if fact["known"] == true { "known" } else { "new  " };
    format!(
        "{new} {} {says} {}  p. {} [{}–{}] {} %  “{}”",
        fact["subject"].as_str().unwrap_or_default(),
        object.unwrap_or_default(),
        said["page"],
        said["start"],
        said["end"],
        said["certainty"],
        said["quote"].as_str().unwrap_or_default().chars().take(80).collect::<String>()
    )
}

fn line(job: &Job) -> String {
    let style = match job.status {
        Status::Done => GOOD,
        Status::Error => BAD,
        Status::Queued | Status::Running => WARN,
    };
    let detail = job.detail.as_ref().map(|detail| format!(" ({detail})")).unwrap_or_default();
    let what = if job.request.dry_run { "dry run" } else { "run" };
    let files: Vec<&str> =
        job.request.batch.iter().filter_map(|item| item.uri.rsplit('/').next()).collect();
    format!(
        "{}  {style}{}{style:#}{detail}  {what}  {} of {} pages  {}  {}",
        job.id,
        job.status.as_str(),
        job.done_pages,
        job.all_pages,
        job.created,
        files.join(", ")
    )
}

fn job_json(job: &Job) -> Value {
    json!({
        "job_id": job.id, "status": job.status.as_str(), "detail": job.detail,
        "dry_run": job.request.dry_run,
        "progress": {"pages_done": job.done_pages, "pages": job.all_pages},
        "report": job.report, "error": job.error,
        "created": job.created, "started": job.started, "ended": job.ended,
        "log_uri": panoply_ttm::jobs::log_uri(&job.id),
    })
}

fn failed(error: JobError) -> Failure {
    let hint = match &error {
        JobError::Unknown(_) => "list them with `panoply ttm jobs`",
        JobError::NotNow(_) => "look at it with `panoply ttm jobs ID`",
        JobError::Store(_) | JobError::Folder(_) | JobError::Record(_) => "run `panoply doctor`",
    };
    Failure::work(error.to_string()).hint(hint)
}
