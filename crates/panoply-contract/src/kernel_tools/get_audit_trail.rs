//! `get-audit-trail`: the calls that were made, with the hashes that prove them.

use std::sync::Arc;

use serde_json::json;

use crate::audit::{Audit, AuditFilter, AuditLog, AuditRow, AuditView};
use crate::params::Limit;
use crate::prelude::*;

const SPEC: ToolSpec = ToolSpec {
    name: "get-audit-trail",
    title: "Audit trail",
    description: Description {
        does: "Lists calls that this server has answered, newest first, with the hashes of what went in and came out.",
        when: "Use this to see what was called, by whom, and whether it failed. Not for counters: see `get-tool-metrics`.",
        returns: "Returns rows with time, tool, caller, trace id, status, duration and SHA-256 hashes; no inputs or outputs.",
        asks: &["Which calls failed today?", "What did the last calls do?"],
    },
    version: "1.0.0",
    aliases: &[],
    permissions: &["audit:read"],
    category: Category::Query,
    response_time: ResponseTime::Medium,
    cache: CachePolicy::Never,
    idempotent: false,
    data: &[],
    examples: &[Example {
        shows: "the last failed calls",
        params: r#"{"errorsOnly": true, "limit": 5}"#,
        expect: Expect::Data("{}"),
    }],
    tags: &["audit", "operations"],
    rate_limit: Some(RateLimit { max_calls: 120, window: Duration::from_secs(60) }),
    deprecated: None,
    annotations: Annotations::CLOSED,
    listing: Listing::Extra,
    widget: None,
}
.checked();

/// Which calls.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// Only calls of this tool, by its published name.
    #[schemars(length(min = 1, max = 128))]
    tool: Option<String>,
    /// Only calls of this trace.
    #[schemars(length(min = 1, max = 64), regex(pattern = r"^[0-9A-Za-z-]+$"))]
    trace_id: Option<String>,
    /// Only calls that failed.
    #[serde(default)]
    errors_only: bool,
    /// Only rows before this sequence number: how to page back.
    #[schemars(range(min = 1, max = 9_007_199_254_740_991_u64))]
    before: Option<u64>,
    /// How many rows to return at most.
    #[serde(default)]
    limit: Limit,
}

/// The calls.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// Newest first.
    rows: Vec<Row>,
    /// Pass as `before` for the next page; null at the end.
    next_before: Option<u64>,
}

/// One call.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Row {
    /// Its place in the log, from 1.
    sequence: u64,
    /// When it came; ISO 8601, UTC.
    at: String,
    /// The tool.
    tool: String,
    /// The version of its contract.
    tool_version: String,
    /// Whose call it was.
    caller: String,
    /// The client program.
    agent_id: String,
    /// The trace.
    trace_id: String,
    /// The client's address; null for stdio and the command line.
    address: Option<String>,
    /// The key (name and id) or the token issuer that the caller showed; null for the local owner.
    credential: Option<String>,
    /// How many events the row stands for; more than 1 for refused logins of one address.
    count: u64,
    /// The error's code; null when it was answered.
    error_code: Option<String>,
    /// Hashes, duration, status.
    audit: Audit,
}

pub(crate) struct GetAuditTrail {
    log: Arc<dyn AuditLog>,
}

impl GetAuditTrail {
    pub(crate) const fn new(log: Arc<dyn AuditLog>) -> Self {
        Self { log }
    }
}

impl Tool for GetAuditTrail {
    type Params = Params;
    type Output = Output;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, params: Params, cx: &CallContext) -> Result<Reply<Output>, ToolError> {
        let limit = params.limit.get();
        let filter = AuditFilter {
            tool: params.tool,
            trace_id: params.trace_id,
            view: AuditView::of(&cx.caller),
            errors_only: params.errors_only,
            before: params.before,
            limit: limit + 1,
        };
        let mut found = self.log.read(filter).await?;
        let more = found.len() > limit;
        found.truncate(limit);
        let next_before = found.last().filter(|_| more).map(|row| row.sequence);
        let rows: Vec<Row> = found.into_iter().map(row).collect();
        let failed = rows.iter().filter(|row| row.error_code.is_some()).count();
        let text = format!(
            "{} calls, {failed} of them failed{}.",
            rows.len(),
            if more { "; there are more" } else { "" }
        );
        let table =
            rows.iter().fold(Table::new(["#", "at", "tool", "status", "ms"]), |table, row| {
                let status = row.error_code.as_deref().unwrap_or("ok");
                table.row([
                    &row.sequence.to_string(),
                    &row.at,
                    &row.tool,
                    status,
                    &row.audit.latency_ms.to_string(),
                ])
            });
        let evidence = Evidence::from(Source::new(SourceClass::Exact, "the audit log"))
            .changes(NextChange::WithNextAction);
        let mut reply = Reply::new(Output { rows, next_before }, text, evidence).table(table);
        if let Some(before) = next_before {
            reply = reply.next(NextAction::new(
                "get-audit-trail",
                json!({"before": before, "limit": limit}),
                "see earlier calls",
            ));
        }
        Ok(reply)
    }
}

fn row(AuditRow { sequence, entry }: AuditRow) -> Row {
    Row {
        sequence,
        at: entry.at.to_string(),
        tool: entry.tool.into_owned(),
        tool_version: entry.tool_version.into_owned(),
        caller: entry.partition,
        agent_id: entry.agent_id,
        trace_id: entry.trace_id,
        address: entry.provenance.address.map(|address| address.to_string()),
        credential: entry.provenance.credential.map(|credential| credential.to_string()),
        count: entry.count,
        error_code: entry.error_code,
        audit: entry.audit,
    }
}
