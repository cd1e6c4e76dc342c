//! `ingest_run`: imports user documents into the graph. A real run needs the plan hash of a dry
//! run.

use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Instant;

use panoply_contract::prelude::*;
use serde_json::{Map, Value, json};

use super::common::KEYWORDS;
use super::job_wire::{JobOut, evidence, job_service, sentence};
use crate::ingest::reader::{FileKind, OcrProvider};
use crate::jobs::{HOW_TO_ALLOW, Item, Job, JobService, PendingRecord, Request};
use crate::roots::Refused;

const SPEC: ToolSpec = ToolSpec {
    name: "ingest_run",
    title: "Import documents",
    description: Description {
        does: "Imports PDFs and text files of the user: extracts text (text layer or OCR), finds statements about herbs and formulations, and adds them as unverified facts with page and span, and the text as searchable chunks.",
        when: "Use this when someone wants papers or books of their own in the graph. Call it first with `dry_run` (the default), show what it would add, and only when they agree call it again with `dry_run` false and the `plan_hash` of the dry run. Files are `file://` URIs in allowed folders. Not for PubMed records: those are imported with `panoply ttm import-papers`.",
        returns: "Returns a job with `job_id`, `status` and `log_uri`, what was or would be added, and `plan_hash`. A longer job continues in the background: query it with `ingest_jobs`. A real run is atomic and is rejected if R@10 of the curated questions would fall by more than 0.02; `ingest_undo` rolls it back.",
        asks: &["Add this paper on turmeric to the graph", "นำหนังสือสมุนไพรเล่มนี้เข้าฐานความรู้", "What would this PDF add?"],
    },
    version: "1.0.0",
    aliases: &["tool.ingest.run"],
    permissions: &["kg:write"],
    category: Category::Mutation,
    response_time: ResponseTime::Slow,
    cache: CachePolicy::Never,
    idempotent: false,
    data: &["ttm"],
    examples: &[
        Example {
            shows: "an unknown provider; the error lists the known ones",
            params: r#"{"batch": [{"uri": "file:///books/herbs.pdf", "lang": "th", "doc_type": "pdf"}], "ocr": {"provider": "abbyy"}}"#,
            expect: Expect::Error("INVALID_ARG"),
        },
        Example {
            shows: "network access is not supported",
            params: r#"{"dry_run": true, "batch": [{"uri": "https://example.org/paper.pdf"}]}"#,
            expect: Expect::Error("INVALID_ARG"),
        },
    ],
    tags: KEYWORDS,
    rate_limit: Some(RateLimit { max_calls: 60, window: Duration::from_secs(60) }),
    deprecated: None,
    annotations: Annotations::CLOSED,
    listing: Listing::Core,
    widget: None,
}
.checked();

/// Maximum number of facts in a reply; `job_uri` has all.
const MAX_FACTS_LISTED: usize = 40;
/// Default time to wait for the job.
const DEFAULT_WAIT_SECONDS: u8 = 20;

/// Parameters.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Params {
    /// Show the plan and add nothing.
    #[serde(default = "yes")]
    dry_run: bool,
    /// Files.
    #[schemars(length(min = 1, max = 20))]
    batch: Vec<BatchItem>,
    /// Text extraction.
    #[schemars(extend("x-listed" = false))]
    ocr: Option<Provider>,
    /// Entity recognition.
    #[schemars(extend("x-listed" = false))]
    ner: Option<Provider>,
    /// For a real run: `plan_hash` of the approved dry run.
    #[schemars(length(min = 1, max = 64))]
    plan_hash: Option<String>,
    /// Seconds to wait for the job, from 0 to 50; it continues in the background after that.
    #[schemars(range(min = 0, max = 50))]
    #[serde(default = "default_wait_seconds")]
    wait_seconds: u8,
}

const fn yes() -> bool {
    true
}

const fn default_wait_seconds() -> u8 {
    DEFAULT_WAIT_SECONDS
}

/// A file.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct BatchItem {
    /// URI such as `file:///folder/name.pdf`, in an allowed folder.
    #[schemars(length(min = 1, max = 2000), example = "file:///home/me/inbox/paper.pdf")]
    uri: String,
    /// Language; `auto` detects it.
    #[serde(default)]
    lang: ItemLang,
    /// File type: PDF, or plain text in UTF-8.
    #[serde(default)]
    doc_type: DocType,
}

/// A language, or automatic detection.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum ItemLang {
    /// Thai.
    Th,
    /// English.
    En,
    /// Automatic detection.
    #[default]
    Auto,
}

/// File type.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum DocType {
    /// PDF.
    #[default]
    Pdf,
    /// Plain text in UTF-8; a form feed starts a page.
    Text,
}

/// A provider with its parameters.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Provider {
    /// For OCR: `auto` (text layer if legible, else tesseract), `textlayer` or `tesseract`. For
    /// entities: `dictionary`.
    #[schemars(length(min = 1, max = 40))]
    provider: String,
    /// Parameters of the provider. For OCR `dpi` from 100 to 400 is read; others are ignored.
    params: Option<Map<String, Value>>,
}

pub(crate) struct IngestRun {
    pub(crate) jobs: Option<JobService>,
}

impl Tool for IngestRun {
    type Params = Params;
    type Output = JobOut;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, params: Params, cx: &CallContext) -> Result<Reply<JobOut>, ToolError> {
        let wait = Duration::from_secs(params.wait_seconds.min(50).into());
        let request = request(params, cx.dry_run)?;
        let service = job_service(self.jobs.as_ref())?;
        check_readable(&request, service)?;
        // Made by the server, also for a dry run: the client chooses the trace id.
        let call_id = cx.call_id.ok_or_else(|| ToolError::system("a mutation without an id"))?;
        let id = format!("J-{call_id}");
        let job = start_and_wait(service, &id, request, wait, cx)?;
        Ok(reply(&job))
    }
}

fn reply(job: &Job) -> Reply<JobOut> {
    let reply = Reply::new(JobOut::of(job, MAX_FACTS_LISTED), sentence(job), evidence());
    if !job.status.is_over() {
        let look = json!({"job_id": job.id});
        return reply.next(NextAction::new("ingest_jobs", look, "see how far it is"));
    }
    reply
}

/// Validates the parameters, or reports everything that is wrong.
fn request(params: Params, dry_run: bool) -> Result<Request, ToolError> {
    let mut wrong = Vec::new();
    let (mut ocr, mut dpi) = (OcrProvider::Auto, None);
    if let Some(given) = &params.ocr {
        match OcrProvider::parse(&given.provider) {
            Some(known) => ocr = known,
            None => {
                let known = OcrProvider::ALL.map(|one| format!("`{}`", one.as_str())).join(", ");
                wrong.push(format!(
                    "`ocr.provider`: there is no `{}`; use one of {known}",
                    shown(&given.provider)
                ));
            }
        }
        // Parameters of other providers are ignored: the contract leaves their shape open.
        if let Some(value) = given.params.as_ref().and_then(|params| params.get("dpi")) {
            let number = value.as_u64().or_else(|| value.as_str()?.parse().ok());
            match number.and_then(|dpi| u16::try_from(dpi).ok()) {
                Some(given @ 100..=400) => dpi = Some(given),
                _ => wrong.push("`ocr.params.dpi` must be from 100 to 400".to_owned()),
            }
        }
    }
    if let Some(given) = params.ner.as_ref().filter(|given| given.provider != "dictionary") {
        wrong.push(format!(
            "`ner.provider`: there is no `{}`; use `dictionary`",
            shown(&given.provider)
        ));
    }
    for item in params.batch.iter().filter(|item| !item.uri.starts_with("file://")) {
        let uri = shown(&item.uri);
        wrong.push(format!("`{uri}` is not a `file://` URI; network access is not supported"));
    }
    let dry_run = params.dry_run || dry_run;
    if !dry_run && params.plan_hash.is_none() {
        wrong.push("`plan_hash` is missing: a real run needs that of a dry run".to_owned());
    }
    if !wrong.is_empty() {
        return Err(ToolError::validation("BAD_INGEST", wrong.join("; "))
            .hint("correct these and call again; start with `dry_run`"));
    }
    let batch = params.batch.into_iter().map(|item| Item {
        uri: item.uri,
        lang: match item.lang {
            ItemLang::Th => Some("th".to_owned()),
            ItemLang::En => Some("en".to_owned()),
            ItemLang::Auto => None,
        },
        kind: match item.doc_type {
            DocType::Pdf => FileKind::Pdf,
            DocType::Text => FileKind::Text,
        },
    });
    Ok(Request { dry_run, batch: batch.collect(), ocr, dpi, plan_hash: params.plan_hash })
}

/// Rejects files outside the allowed roots before a job is created.
fn check_readable(request: &Request, service: &JobService) -> Result<(), ToolError> {
    let (roots, largest) = (&service.settings().roots, service.settings().limits.file_bytes);
    let refused = request.batch.iter().filter_map(|item| {
        match roots.open(&item.uri, largest) {
            // The job checks the size, because its log can explain the problem.
            Ok(_) | Err(Refused::TooLarge(..)) => None,
            Err(refused) => Some(refused.to_string()),
        }
    });
    let refused: Vec<String> = refused.collect();
    if refused.is_empty() {
        return Ok(());
    }
    Err(ToolError::validation("NOT_ALLOWED", refused.join("; ")).hint(HOW_TO_ALLOW))
}

/// Runs a job in its own thread and forwards progress while waiting.
#[expect(clippy::disallowed_methods, reason = "a wait is limited by wall-clock time")]
fn start_and_wait(
    service: &JobService,
    id: &str,
    request: Request,
    wait: Duration,
    cx: &CallContext,
) -> Result<Job, ToolError> {
    let until = Instant::now() + wait;
    let accepted = service.accept(id, request)?;
    let (sender, updates) = channel();
    let runner = service.clone();
    let pending = match &cx.mutation {
        Some(mutation) => PendingRecord::of(
            Arc::clone(mutation),
            Box::new(|mutation, job| mutation.record(&reply(job))),
        ),
        None => PendingRecord::default(),
    };
    let own = pending.clone();
    let started = std::thread::Builder::new().name("ttm-ingest".to_owned()).spawn(move || {
        // The job records its own outcome; the receiver may be gone.
        let _ = runner.run(accepted, &own, &mut |done, all, what| {
            let _ = sender.send((done, all, what.to_owned()));
        });
    });
    started.map_err(|error| ToolError::system("cannot start a thread for the job").cause(error))?;
    let left = || until.saturating_duration_since(Instant::now());
    // Ends at the timeout or when the job finishes.
    while let Ok((done, all, what)) = updates.recv_timeout(left()) {
        cx.report_progress(done.into(), (all > 0).then_some(all.into()), &what);
    }
    if cx.mutation.is_some() && !pending.withdraw() {
        // The job is committing the record of this call with its changes: wait for it.
        while updates.recv().is_ok() {}
    }
    Ok(service.job(id)?)
}

fn shown(name: &str) -> String {
    name.chars().take(80).collect()
}
