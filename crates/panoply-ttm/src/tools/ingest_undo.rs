//! `ingest_undo`: cancels a running job, or rolls back a finished one.

use panoply_contract::prelude::*;

use super::common::KEYWORDS;
use super::job_wire::{JobOut, evidence, job_service, sentence};
use crate::jobs::{Job, JobService};

const SPEC: ToolSpec = ToolSpec {
    name: "ingest_undo",
    title: "Cancel or roll back a job",
    description: Description {
        does: "Cancels an unfinished job of ingest_run, or removes all documents, chunks and facts that a finished one added.",
        when: "Use this when someone wants to remove an imported document or cancel a job. Bundled data are never changed.",
        returns: "Returns the job as it is now: `detail` is `cancelled` (after its reader has stopped) or `rolled_back`.",
        asks: &["Take that paper out again", "Stop the import"],
    },
    version: "1.0.0",
    aliases: &["tool.ingest.undo"],
    permissions: &["kg:write"],
    category: Category::Mutation,
    response_time: ResponseTime::Medium,
    cache: CachePolicy::Never,
    idempotent: false,
    data: &["ttm"],
    examples: &[Example {
        shows: "an id that no job can have",
        params: r#"{"job_id": "the last one"}"#,
        expect: Expect::Error("INVALID_ARG"),
    }],
    tags: KEYWORDS,
    rate_limit: None,
    deprecated: None,
    annotations: Annotations { destructive: true, open_world: false },
    listing: Listing::Extra,
    widget: None,
}
.checked();

/// Parameters.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Params {
    /// Job id.
    #[schemars(length(min = 1, max = 100), regex(pattern = r"^[0-9A-Za-z-]+$"))]
    job_id: String,
}

pub(crate) struct IngestUndo {
    pub(crate) jobs: Option<JobService>,
}

impl Tool for IngestUndo {
    type Params = Params;
    type Output = JobOut;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, params: Params, cx: &CallContext) -> Result<Reply<JobOut>, ToolError> {
        let service = job_service(self.jobs.as_ref())?;
        let job = service.job(&params.job_id)?;
        let record = |job: &Job| {
            cx.mutation.as_ref().map(|mutation| mutation.record(&reply(job))).transpose()
        };
        let (job, record) = match (cx.dry_run, job.status.is_over()) {
            (true, _) => (job, None),
            (false, true) => service.roll_back(&job.id, record)?,
            (false, false) => service.cancel(&job.id, record)?,
        };
        if let (Some(mutation), Some(record)) = (&cx.mutation, record) {
            mutation.committed(record);
        }
        Ok(reply(&job))
    }
}

fn reply(job: &Job) -> Reply<JobOut> {
    Reply::new(JobOut::of(job, 0), sentence(job), evidence())
}
