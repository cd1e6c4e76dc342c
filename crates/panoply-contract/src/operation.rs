//! A change that is no tool call: a stream of events over HTTP, an import or a sync on the command
//! line. It has the same gates as a mutation (permission, read-only, a log that can be written)
//! and the same audit row.
//!
//! Its work spans many transactions and files, so an intent is committed before the first of them.
//! After a crash the recovery makes it a row with the code `INTERRUPTED`.

use std::sync::Arc;

use serde_json::Value;

use crate::audit::{Audit, AuditEntry, Fingerprint, Status};
use crate::context::CallContext;
use crate::error::ToolError;
use crate::kernel::{Kernel, forbidden, read_only};
use crate::mutation::{MutationLog, MutationRecord};

/// What an operation is and who may start it.
#[derive(Clone, Copy, Debug)]
pub struct OperationSpec {
    /// Its name in the audit log, such as `backtest/import`.
    pub name: &'static str,
    /// The pack whose store it changes.
    pub pack: &'static str,
    /// What its caller needs.
    pub permissions: &'static [&'static str],
    /// The data it changes, as tools name them.
    pub data: &'static [&'static str],
}

/// An operation that has begun. Dropped without [`finish`](Self::finish), it leaves its intent
/// behind, which the next start records as interrupted.
pub struct Operation {
    kernel: Arc<Kernel>,
    spec: OperationSpec,
    entry: AuditEntry,
    started: std::time::Duration,
}

impl Kernel {
    /// Begins an operation, or says why this caller may not. Blocks on the pack's store.
    pub fn begin(
        &self,
        spec: &OperationSpec,
        cx: &CallContext,
        input: &Value,
    ) -> Result<Operation, ToolError> {
        if self.settings.read_only {
            return Err(read_only(spec.name));
        }
        if !cx.caller.grants.allow_all(spec.permissions) {
            return Err(forbidden(&cx.caller, spec.permissions));
        }
        self.world.audit.ready()?;
        let kernel =
            self.shared().ok_or_else(|| ToolError::system("the kernel is being dropped"))?;
        let (input, _) = Fingerprint::of(input)?;
        let entry = AuditEntry {
            call_id: Some(self.next_call_id()),
            at: self.world.clock.now(),
            tool: spec.name.to_owned(),
            tool_version: self.settings.service_version.to_owned(),
            partition: cx.caller.partition.clone(),
            agent_id: cx.agent_id.clone(),
            trace_id: cx.trace_id.to_string(),
            provenance: cx.caller.provenance.clone(),
            count: 1,
            audit: Audit {
                in_hash: input.hex(),
                out_hash: input.hex(),
                latency_ms: 0,
                seed: input.seed(),
                status: Status::Error,
            },
            error_code: Some("INTERRUPTED".to_owned()),
            mutation: true,
        };
        let started = self.world.clock.monotonic();
        let operation = Operation { kernel, spec: *spec, entry, started };
        operation.log().commit(&operation.record())?;
        Ok(operation)
    }
}

impl Operation {
    /// Ends it: what it did, or the code of the error that ended it. The row is durable when this
    /// returns.
    pub async fn finish(mut self, output: &Value, error: Option<&str>) -> Result<(), ToolError> {
        let (output, _) = Fingerprint::of(output)?;
        let elapsed = self.kernel.world.clock.monotonic().saturating_sub(self.started);
        self.entry.audit.out_hash = output.hex();
        self.entry.audit.latency_ms = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
        self.entry.audit.status = if error.is_none() { Status::Ok } else { Status::Error };
        self.entry.error_code = error.map(str::to_owned);
        self.kernel.advance_epochs_of(self.spec.data);
        // First the log, then the intent: in between the next start appends nothing, because the
        // log knows the call.
        self.kernel.world.audit.append(self.entry.clone()).await?;
        self.entry.call_id.into_iter().for_each(|call_id| self.log().audited(call_id));
        Ok(())
    }

    /// The same for code that has no runtime.
    pub fn finish_blocking(self, output: &Value, error: Option<&str>) -> Result<(), ToolError> {
        futures::executor::block_on(self.finish(output, error))
    }

    fn record(&self) -> MutationRecord {
        MutationRecord { key: None, entry: self.entry.clone(), reply: None }
    }

    fn log(&self) -> &dyn MutationLog {
        self.kernel.mutation_log_of(self.spec.pack)
    }
}
