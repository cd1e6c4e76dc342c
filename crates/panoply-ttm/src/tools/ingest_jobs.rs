//! `ingest_jobs`: status and results of ingest jobs.

use panoply_contract::prelude::*;

use super::common::{KEYWORDS, READ};
use super::job_wire::{JobOut, evidence, job_service, sentence};
use crate::jobs::{Job, JobService};

const SPEC: ToolSpec = ToolSpec {
    name: "ingest_jobs",
    title: "Import jobs",
    description: Description {
        does: "Shows the jobs started by ingest_run: progress, planned or applied changes, and errors.",
        when: "Use this when ingest_run answered with a job that was still running, or when someone asks what was imported and when.",
        returns: "Returns jobs, the newest first, or the one of `job_id` with its report. `log_uri` has every step.",
        asks: &["Is my paper in yet?", "Which documents were added last week?"],
    },
    version: "1.0.0",
    aliases: &["tool.ingest.jobs"],
    permissions: READ,
    category: Category::Query,
    response_time: ResponseTime::Fast,
    cache: CachePolicy::Never,
    idempotent: true,
    data: &["ttm"],
    examples: &[Example {
        shows: "all jobs",
        params: "{}",
        expect: Expect::Data(r#"{"jobs": []}"#),
    }],
    tags: KEYWORDS,
    rate_limit: None,
    deprecated: None,
    annotations: Annotations::CLOSED,
    listing: Listing::Extra,
    widget: None,
}
.checked();

/// Maximum number of jobs in a list.
const MAX_JOBS_LISTED: usize = 50;
/// Maximum number of facts shown per job; `job_uri` has all.
const MAX_FACTS_LISTED: usize = 100;

/// Parameters.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Params {
    /// One job, by its id; all by default.
    #[schemars(length(min = 1, max = 100), regex(pattern = r"^[0-9A-Za-z-]+$"))]
    job_id: Option<String>,
}

/// Jobs.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct Output {
    /// Jobs, newest first. Lists omit the facts.
    jobs: Vec<JobOut>,
    /// Total number of jobs; at most 50 are listed.
    total: usize,
}

pub(crate) struct IngestJobs {
    pub(crate) jobs: Option<JobService>,
}

impl Tool for IngestJobs {
    type Params = Params;
    type Output = Output;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, params: Params, _: &CallContext) -> Result<Reply<Output>, ToolError> {
        if let Some(id) = &params.job_id {
            let job = job_service(self.jobs.as_ref())?.job(id)?;
            let output = Output { jobs: vec![JobOut::of(&job, MAX_FACTS_LISTED)], total: 1 };
            return Ok(Reply::new(output, sentence(&job), evidence()));
        }
        let jobs = self.jobs.as_ref().map_or(Ok(Vec::new()), JobService::jobs)?;
        let total = jobs.len();
        let running = jobs.iter().filter(|job| !job.status.is_over()).count();
        let text = format!("{total} jobs, {running} unfinished.");
        let listed = jobs.iter().take(MAX_JOBS_LISTED).map(|job: &Job| JobOut::of(job, 0));
        Ok(Reply::new(Output { jobs: listed.collect(), total }, text, evidence()))
    }
}
