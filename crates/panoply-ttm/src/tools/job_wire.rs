//! Jobs as replies and documents show them.

use panoply_contract::prelude::*;
use serde_json::Value;

use crate::jobs::{Job, JobError, JobService, job_uri, log_uri};

/// A job.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct JobOut {
    /// Its id.
    pub(crate) job_id: String,
    /// `queued`, `running`, `done` or `error`.
    pub(crate) status: &'static str,
    /// Where its log can be read, as a resource.
    pub(crate) log_uri: String,
    /// Where the job itself can be read, with all that it found.
    pub(crate) job_uri: String,
    /// More than the status says: `cancelled`, `rolled_back`, `interrupted` or `unchanged`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) detail: Option<String>,
    /// Whether it only showed what it would add.
    pub(crate) dry_run: bool,
    /// How far it is.
    pub(crate) progress: PagesOut,
    /// The hash of what was or would be added; a real run must be given it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) plan_hash: Option<String>,
    /// What was or would be added: documents, facts with page and span, counts, pages that could
    /// not be read, and R@10 of the curated questions before and after.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) report: Option<Value>,
    /// What went wrong: `code`, `message`, `hint`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<Value>,
    /// When it was asked for.
    pub(crate) created: String,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) ended: Option<String>,
}

/// Pages.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct PagesOut {
    /// Pages that were read.
    pub(crate) pages_done: u32,
    /// Pages to read, as far as they are counted.
    pub(crate) pages: u32,
}

impl JobOut {
    /// A job with at most so many of its facts: the whole is at `job_uri`.
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

/// A number out of a job's report.
pub(crate) fn counted(job: &Job, what: &str) -> u64 {
    let report = job.report.as_ref();
    let number = report.and_then(|report| report.get("counts")?.get(what)?.as_u64());
    number.unwrap_or(0)
}

/// A job in a sentence.
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
            "A dry run: {documents} documents would bring {facts} facts, {new} of them new; nothing was added."
        ),
        ("done", Some("unchanged"), _) => {
            "All documents were there already; nothing was added.".to_owned()
        }
        ("done", Some("rolled_back"), _) => "What the job added was taken away again.".to_owned(),
        ("done", ..) => format!(
            "{documents} documents were added with {facts} facts, {new} of them new; all are unverified."
        ),
        ("error", ..) => format!("The job failed: {}. To do: {}.", error("message"), error("hint")),
        (status, ..) => format!(
            "The job is {status}: {} of {} pages are read. Look again at `{}`.",
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
                Self::system("the jobs cannot be read or written").cause(error)
            }
        }
    }
}

/// The desk, where there is a place to keep jobs.
pub(crate) fn service(jobs: Option<&JobService>) -> Result<&JobService, ToolError> {
    jobs.ok_or_else(|| {
        ToolError::business("NOT_KEPT", "nothing can be kept here, so no document can be taken in")
            .hint("give the program a home that can be written; see `panoply doctor`")
    })
}

/// Where what is said of a job comes from.
pub(crate) fn evidence() -> Evidence {
    Evidence::from(Source::new(SourceClass::Derived, "the jobs of this home"))
}
