//! Runs a mutating command as a kernel operation: with the permissions of the local owner, refused
//! in read-only mode, and with an audit row that survives a crash.

use panoply_contract::context::CallContext;
use panoply_contract::error::ToolError;
use panoply_contract::ids::TraceId;
use panoply_contract::operation::OperationSpec;
use serde_json::{Value, json};

use super::{LogReader, Session, start_log};
use crate::app::App;
use crate::failure::Failure;

/// Runs `work` as the operation `spec`. Its output goes to the audit log and to the caller.
pub(super) fn run<T>(
    session: &Session,
    spec: &OperationSpec,
    input: &Value,
    work: impl FnOnce() -> Result<(T, Value), Failure>,
) -> Result<T, Failure> {
    let mut config = session.config()?;
    config.packs = vec![spec.pack.to_owned()];
    let _log = start_log(&config, LogReader::Person)?;
    let app = App::open(&config)?;
    let trace = TraceId::new(uuid::Uuid::new_v4());
    let mut cx = CallContext::local(std::sync::Arc::clone(app.kernel.clock()), trace);
    cx.agent_id = "panoply-cli".to_owned();
    cx.agent_version = env!("CARGO_PKG_VERSION").to_owned();
    let operation = app.kernel.begin(spec, &cx, input).map_err(refused)?;
    let done = work();
    let (output, code) = match &done {
        Ok((_, output)) => (output.clone(), None),
        Err(failure) => (json!({"error": failure.message()}), Some("COMMAND_FAILED")),
    };
    let recorded = operation.finish_blocking(&output, code).map_err(refused);
    app.close();
    let (done, _) = done?;
    recorded.map(|()| done)
}

fn refused(error: ToolError) -> Failure {
    let failure = Failure::work(error.message);
    match error.hint {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}
