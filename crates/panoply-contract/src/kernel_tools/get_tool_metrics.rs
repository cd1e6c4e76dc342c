//! `get-tool-metrics`: how often tools were called, how long they took, how they ended.

use serde_json::json;

use super::KernelHandle;
use crate::kernel::Scope;
use crate::prelude::*;
use crate::registry::ToolEntry;

const SPEC: ToolSpec = ToolSpec {
    name: "get-tool-metrics",
    title: "Tool metrics",
    description: Description {
        does: "Shows how the tools of this server perform: calls, errors, durations and cache hits since it started.",
        when: "Use this when a tool seems slow or failing, or to see which tools are used. Not for the calls themselves: see `get-audit-trail`.",
        returns: "Returns one row for each tool that was called, most called first.",
        asks: &["Which tools fail most?", "How fast is search-tools?"],
    },
    version: "1.0.0",
    aliases: &[],
    permissions: &["metrics:read"],
    category: Category::Analysis,
    response_time: ResponseTime::Fast,
    cache: CachePolicy::Never,
    idempotent: false,
    data: &[],
    examples: &[Example {
        shows: "one tool",
        params: r#"{"tool": "get-tool-metrics"}"#,
        expect: Expect::Data("{}"),
    }],
    tags: &["analytics", "operations"],
    rate_limit: Some(RateLimit { max_calls: 600, window: Duration::from_secs(60) }),
    deprecated: None,
    annotations: Annotations::CLOSED,
    listing: Listing::Extra,
    widget: None,
}
.checked();

/// Which tools.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Params {
    /// Only this tool, by name or alias.
    #[schemars(length(min = 1, max = 128))]
    tool: Option<String>,
}

/// The counters.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// One row for each tool that was called, most called first.
    tools: Vec<Row>,
}

/// One tool's counters since the server started.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Row {
    /// The tool.
    tool: String,
    /// Calls that ended.
    calls: u64,
    /// Share of calls that failed.
    error_rate: f64,
    /// Failures by class.
    errors: Errors,
    /// Calls refused for coming too often.
    rate_limited: u64,
    /// Share of cacheable calls served from the cache; null for tools that are not cached.
    cache_hit_rate: Option<f64>,
    /// Half of the calls took at most this many milliseconds (upper end of a bucket).
    p50_ms: Option<f64>,
    /// 99 in 100 calls took at most this many milliseconds (upper end of a bucket).
    p99_ms: Option<f64>,
}

/// Failures by class.
#[derive(Debug, Serialize, JsonSchema)]
struct Errors {
    /// The caller's input.
    validation: u64,
    /// The domain's rules.
    business: u64,
    /// Ours.
    system: u64,
}

pub(crate) struct GetToolMetrics {
    kernel_handle: KernelHandle,
}

impl GetToolMetrics {
    pub(crate) const fn new(kernel_handle: KernelHandle) -> Self {
        Self { kernel_handle }
    }
}

impl Tool for GetToolMetrics {
    type Params = Params;
    type Output = Output;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, params: Params, cx: &CallContext) -> Result<Reply<Output>, ToolError> {
        cx.caller.require_metrics()?;
        let mut tools = match &params.tool {
            Some(name) => vec![self.kernel_handle.with_tool(name, cx, row)?],
            None => {
                let kernel = self.kernel_handle.kernel()?;
                kernel
                    .callable(&Scope::All, &cx.caller)
                    .map(row)
                    .filter(|row| row.calls > 0)
                    .collect()
            }
        };
        tools.sort_by(|a, b| b.calls.cmp(&a.calls).then_with(|| a.tool.cmp(&b.tool)));
        let calls: u64 = tools.iter().map(|row| row.calls).sum();
        let text = format!("{calls} calls of {} tools since the server started.", tools.len());
        let table = tools.iter().fold(
            Table::new(["tool", "calls", "errors", "p50 ms", "p99 ms"]),
            |table, row| {
                let millis = |value: Option<f64>| {
                    value.map_or_else(|| "-".to_owned(), |value| value.to_string())
                };
                table.row([
                    row.tool.clone(),
                    row.calls.to_string(),
                    format!("{:.1} %", row.error_rate * 100.0),
                    millis(row.p50_ms),
                    millis(row.p99_ms),
                ])
            },
        );
        let failing = tools.iter().find(|row| row.errors.system > 0).map(|row| row.tool.clone());
        let evidence = Evidence::from(Source::new(SourceClass::Exact, "this process's counters"));
        let mut reply = Reply::new(Output { tools }, text, evidence)
            .table(table)
            .assuming("counters start at zero when the server starts and are of this process only");
        if let Some(tool) = failing {
            reply = reply.next(NextAction::new(
                "get-audit-trail",
                json!({"tool": tool, "errorsOnly": true}),
                "see the failed calls",
            ));
        }
        Ok(reply)
    }
}

fn row(entry: &ToolEntry) -> Row {
    let snapshot = entry.meter.snapshot();
    let millis = |share: f64| snapshot.quantile(share).map(|duration| duration.as_secs_f64() * 1e3);
    let [validation, business, system] = snapshot.errors;
    Row {
        tool: entry.spec.name.to_owned(),
        calls: snapshot.calls,
        error_rate: (snapshot.error_rate() * 1e4).round() / 1e4,
        errors: Errors { validation, business, system },
        rate_limited: snapshot.rate_limited,
        cache_hit_rate: snapshot.cache_hit_rate().map(|rate| (rate * 1e4).round() / 1e4),
        p50_ms: millis(0.5),
        p99_ms: millis(0.99),
    }
}
