//! Mutations that are not tool calls: an event stream over HTTP, an import or a sync on the command
//! line. They have the same checks as a mutation (permission, read-only mode, a writable audit log)
//! and the same audit row.
//!
//! An operation spans many transactions and files, so an intent is committed first. After a crash
//! the recovery converts it into an audit row with the code `INTERRUPTED`.

use std::sync::Arc;

use serde_json::Value;

use crate::audit::{Audit, AuditEntry, Fingerprint, Status};
use crate::context::CallContext;
use crate::error::ToolError;
use crate::kernel::{Kernel, forbidden, read_only};
use crate::mutation::{MutationLog, MutationRecord};
use crate::tenant::Tenants;

/// Definition of an operation.
#[derive(Clone, Copy, Debug)]
pub struct OperationSpec {
    /// Name in the audit log, such as `backtest/import`.
    pub name: &'static str,
    /// The pack whose store it changes.
    pub pack: &'static str,
    /// Required permissions.
    pub permissions: &'static [&'static str],
    /// The data it changes, as tools name them.
    pub data: &'static [&'static str],
}

/// A running operation. If it is dropped without [`finish`](Self::finish), the next start records
/// it as interrupted.
pub struct Operation {
    kernel: Arc<Kernel>,
    spec: OperationSpec,
    tenants: Tenants,
    entry: AuditEntry,
    started: std::time::Duration,
}

impl Kernel {
    /// Begins an operation after checking permissions. The caller checks the quota of one that adds
    /// data, with [`Kernel::check_quota`]. Blocks on the pack's store.
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
        if let Some(pack) = self.registry.packs().iter().find(|one| one.info.name == spec.pack) {
            pack.serves(&cx.caller)?;
        }
        self.services.audit.ready()?;
        let kernel =
            self.shared().ok_or_else(|| ToolError::system("the kernel is being dropped"))?;
        let (input, _) = Fingerprint::of(input)?;
        let entry = AuditEntry {
            call_id: Some(self.next_call_id()),
            at: self.services.clock.now(),
            tool: spec.name.into(),
            tool_version: self.settings.service_version.into(),
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
        let started = self.services.clock.monotonic();
        let tenants = cx.caller.tenants.clone();
        let operation = Operation { kernel, spec: *spec, tenants, entry, started };
        operation.log()?.commit(&operation.record())?;
        Ok(operation)
    }
}

impl Operation {
    /// Ends the operation with its output or error code. The audit row is durable on return.
    pub async fn finish(mut self, output: &Value, error: Option<&str>) -> Result<(), ToolError> {
        let (output, _) = Fingerprint::of(output)?;
        let elapsed = self.kernel.services.clock.monotonic().saturating_sub(self.started);
        self.entry.audit.out_hash = output.hex();
        self.entry.audit.latency_ms = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
        self.entry.audit.status = if error.is_none() { Status::Ok } else { Status::Error };
        self.entry.error_code = error.map(str::to_owned);
        self.kernel.advance_epochs(self.spec.pack, self.spec.data, &self.tenants);
        // Log first, then remove the intent: after a crash in between, the audit log deduplicates
        // the call id.
        self.kernel.services.audit.append(self.entry.clone()).await?;
        if let (Some(call_id), Ok(log)) = (self.entry.call_id, self.log()) {
            log.audited(call_id);
        }
        Ok(())
    }

    /// [`finish`](Self::finish) for code without an async runtime.
    pub fn finish_blocking(self, output: &Value, error: Option<&str>) -> Result<(), ToolError> {
        futures::executor::block_on(self.finish(output, error))
    }

    fn record(&self) -> MutationRecord {
        MutationRecord { key: None, entry: self.entry.clone(), reply: None }
    }

    fn log(&self) -> Result<Arc<dyn MutationLog>, ToolError> {
        self.kernel.mutation_log(self.spec.pack, &self.tenants)
    }
}
