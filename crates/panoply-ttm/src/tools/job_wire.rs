//! Jobs in replies and resources.

use panoply_contract::prelude::*;
use serde_json::Value;

use crate::jobs::{Job, JobError, JobService, job_uri, log_uri};

/// A job.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct JobOut {
    /// Job id.
    pub(crate) job_id: String,
    /// `queued`, `running`, `done` or `error`.
    pub(crate) status: &'static str,
    /// URI of the log.
    pub(crate) log_uri: String,
    /// URI of the job with all its facts.
    pub(crate) job_uri: String,
    /// Additional state: `cancelled`, `rolled_back`, `interrupted` or `unchanged`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) detail: Option<String>,
    /// Whether it is a dry run.
    pub(crate) dry_run: bool,
    /// Progress.
    pub(crate) progress: PagesOut,
    /// Hash of the plan; a real run must present it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) plan_hash: Option<String>,
    /// Planned or applied changes: documents, facts with page and span, counts, unreadable pages,
    /// and R@10 of the curated questions before and after.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) report: Option<Value>,
    /// Error with `code`, `message` and `hint`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<Value>,
    /// Creation time.
    pub(crate) created: String,
    /// End time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) ended: Option<String>,
}

/// Page progress.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct PagesOut {
    /// Number of pages read.
    pub(crate) pages_done: u32,
    /// Total number of pages, as far as known.
    pub(crate) pages: u32,
}

impl JobOut {
    /// Converts a job with at most `most_facts` facts; `job_uri` has all.
    pub(crate) fn of(job: &Job, most_facts: usize) -> Self {
        let mut report = job.report.clone();
        for list in ["facts", "unsure"] {
            let facts = report.as_mut().and_then(|report| report.get_mut(list));
            if let Some(Value::Array(facts)) = facts {
                facts.truncate(most_facts);
            }
        }
        let hash = report.as_ref().and_then(|report| report["plan_hash"].as_str());
        Self {
            job_id: job.id.clone(),
            status: job.status.as_str(),
            log_uri: log_uri(&job.id),
            job_uri: job_uri(&job.id),
            detail: job.detail.clone(),
            dry_run: job.request.dry_run,
            progress: PagesOut { pages_done: job.done_pages, pages: job.all_pages },
            plan_hash: hash.map(str::to_owned),
            error: job.error.clone(),
            created: job.created.clone(),
            ended: job.ended.clone(),
            report,
        }
    }
}

/// Reads a count from the report of a job.
pub(crate) fn counted(job: &Job, what: &str) -> u64 {
    let report = job.report.as_ref();
    let number = report.and_then(|report| report.get("counts")?.get(what)?.as_u64());
    number.unwrap_or(0)
}

/// Summarises a job in a sentence.
pub(crate) fn sentence(job: &Job) -> String {
    let facts = counted(job, "facts");
    let (new, documents) = (
        counted(job, "new"),
        job.report.as_ref().map_or(0, |report| report["documents"].as_array().map_or(0, Vec::len)),
    );
    let error =
        |name: &str| job.error.as_ref().and_then(|error| error[name].as_str()).unwrap_or("");
    match (job.status.as_str(), job.detail.as_deref(), job.request.dry_run) {
        ("done", _, true) => format!(
            "A dry run: {documents} documents would add {facts} facts, {new} of them new; nothing was added."
        ),
        ("done", Some("unchanged"), _) => {
            "All documents were already imported; nothing was added.".to_owned()
        }
        ("done", Some("rolled_back"), _) => "The changes of the job were rolled back.".to_owned(),
        ("done", ..) => format!(
            "{documents} documents were added with {facts} facts, {new} of them new; all are unverified."
        ),
        ("error", ..) => format!("The job failed: {}. To do: {}.", error("message"), error("hint")),
        (status, ..) => format!(
            "The job is {status}: {} of {} pages read. See `{}`.",
            job.done_pages,
            job.all_pages,
            job_uri(&job.id)
        ),
    }
}

impl From<JobError> for ToolError {
    fn from(error: JobError) -> Self {
        match &error {
            JobError::Unknown(_) => {
                Self::not_found("NOT_FOUND", error.to_string()).hint("list jobs with `ingest_jobs`")
            }
            JobError::NotNow(_) => {
                Self::conflict("NOT_NOW", error.to_string()).hint("look at it with `ingest_jobs`")
            }
            JobError::Store(_) | JobError::Folder(_) | JobError::Record(_) => {
                Self::system("cannot read or write the jobs").cause(error)
            }
        }
    }
}

/// Returns the job service, or an error if there is no home directory.
pub(crate) fn job_service(jobs: Option<&JobService>) -> Result<&JobService, ToolError> {
    jobs.ok_or_else(|| {
        ToolError::business("NOT_KEPT", "there is no home directory to store documents in")
            .hint("set a writable home directory; see `panoply doctor`")
    })
}

/// Evidence of a job reply.
pub(crate) fn evidence() -> Evidence {
    Evidence::from(Source::new(SourceClass::Derived, "ingest jobs of this home directory"))
}
