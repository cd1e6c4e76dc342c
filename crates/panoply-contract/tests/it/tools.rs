//! Fixture tools with configurable behaviour, and helpers to call them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use panoply_contract::dialect::{Envelope, Published, Unified};
use panoply_contract::kernel::{Kernel, Settings};
use panoply_contract::pack::{Pack, PackInfo};
use panoply_contract::prelude::*;
use panoply_contract::testing::{FixedClock, SAMPLE_SPEC, call_as_owner, kernel_in_memory, noon};
use serde_json::Value;

pub(crate) const MINUTE: Duration = Duration::from_secs(60);

/// The parameters of every fixture tool.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// A text.
    #[schemars(length(min = 1, max = 40))]
    pub(crate) text: String,
    /// A number of things.
    #[schemars(range(min = 1, max = 10))]
    pub(crate) how_many: Option<u32>,
    /// A direction.
    pub(crate) direction: Option<Direction>,
}

/// A direction.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Direction {
    /// Up.
    Up,
    /// Down.
    Down,
}

/// The output of every fixture tool.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// The text.
    pub(crate) text: String,
    /// How often the handler has run.
    pub(crate) runs: u64,
}

/// Handler of a fixture tool.
pub(crate) type Behaviour = fn(&Params, &CallContext, Output) -> Result<Reply<Output>, ToolError>;

/// A tool with any spec and any behaviour.
pub(crate) struct Sample {
    spec: &'static ToolSpec,
    behaviour: Behaviour,
    pub(crate) runs: Arc<AtomicU64>,
}

impl Sample {
    pub(crate) fn new(spec: &'static ToolSpec, behaviour: Behaviour) -> Self {
        Self { spec, behaviour, runs: Arc::default() }
    }
}

impl Tool for Sample {
    type Params = Params;
    type Output = Output;

    fn spec(&self) -> &'static ToolSpec {
        self.spec
    }

    async fn call(&self, params: Params, cx: &CallContext) -> Result<Reply<Output>, ToolError> {
        let runs = self.runs.fetch_add(1, Ordering::SeqCst) + 1;
        // Lets concurrent identical calls start.
        tokio::task::yield_now().await;
        let output = Output { text: params.text.clone(), runs };
        (self.behaviour)(&params, cx, output)
    }
}

pub(crate) fn echo(
    params: &Params,
    _: &CallContext,
    output: Output,
) -> Result<Reply<Output>, ToolError> {
    let _ = (params.how_many, params.direction);
    Ok(Reply::new(output, "Echoed.", Evidence::from(Source::new(SourceClass::Exact, "the input"))))
}

/// Leaks a spec to get a static lifetime.
pub(crate) fn spec(spec: ToolSpec) -> &'static ToolSpec {
    Box::leak(Box::new(spec))
}

pub(crate) const INFO: PackInfo =
    PackInfo { name: "sample", title: "Samples", instructions: "For tests." };

pub(crate) fn published() -> Pack {
    Pack::new(INFO, Published::default())
}

pub(crate) fn unified() -> Pack {
    Pack::new(INFO, Unified)
}

/// A kernel with one echo tool of this spec, and its clock.
pub(crate) fn kernel_with(
    tool_spec: ToolSpec,
    behaviour: Behaviour,
) -> (Arc<Kernel>, Arc<FixedClock>) {
    kernel_of(published().with(Sample::new(spec(tool_spec), behaviour)))
}

pub(crate) fn kernel_of(pack: Pack) -> (Arc<Kernel>, Arc<FixedClock>) {
    let clock = FixedClock::at(noon());
    let kernel = kernel_in_memory(vec![pack], clock.clone(), Settings::default()).unwrap();
    (kernel, clock)
}

pub(crate) fn sample_kernel() -> (Arc<Kernel>, Arc<FixedClock>) {
    kernel_with(SAMPLE_SPEC, echo)
}

pub(crate) async fn call(kernel: &Kernel, input: Value) -> Envelope {
    call_as_owner(kernel, "get-sample", input).await
}

/// The structured content of a successful reply.
pub(crate) fn structured(envelope: &Envelope) -> Value {
    match envelope {
        Envelope::Result { structured: Some(structured), is_error: false, .. } => {
            structured.value()
        }
        other => panic!("expected an answer, got {other:?}"),
    }
}

/// One member of the result's `_meta`.
pub(crate) fn meta(envelope: &Envelope, key: &str) -> Value {
    match envelope {
        Envelope::Result { meta, .. } => meta.value(key),
        Envelope::Refusal { data, .. } => data.clone(),
    }
}

/// The error object of a failed reply.
pub(crate) fn error(envelope: &Envelope) -> Value {
    match envelope {
        Envelope::Result { is_error: true, structured: None, .. } => {
            meta(envelope, "panoply/error").get("error").cloned().unwrap_or_default()
        }
        other => panic!("expected an error, got {other:?}"),
    }
}
