//! `call-tool`: calls any tool by name, for clients that refuse names outside their list.
//!
//! The pipeline replaces a call of it by the call of its target, so permissions, limits, audit and
//! result are those of the target. The handler below runs only when there is no such target.

use std::time::Duration;

use serde_json::{Map, Value};

use super::KernelHandle;
use crate::kernel::Kernel;
use crate::meters::CacheUse;
use crate::pipeline::Request;
use crate::prelude::*;
use crate::registry::ToolEntry;

/// Published name.
pub const CALL_TOOL: &str = SPEC.name;

const SPEC: ToolSpec = ToolSpec {
    name: "call-tool",
    title: "Call a tool by name",
    description: Description {
        does: "Calls any tool of this server by name, also one that is not listed.",
        when: "Use this when `search-tools` found a tool that your client does not offer.",
        returns: "Returns exactly what the called tool returns.",
        asks: &["Call forecast-reviews although it is not in my list."],
    },
    version: "1.0.0",
    aliases: &[],
    permissions: &[],
    category: Category::Query,
    response_time: ResponseTime::Fast,
    cache: CachePolicy::Never,
    idempotent: false,
    data: &[],
    examples: &[
        Example {
            shows: "a call of a tool found by search-tools",
            params: r#"{"name": "search-tools", "arguments": {"query": "the audit trail", "limit": 1}}"#,
            expect: Expect::Data(r#"{"matches": [{"name": "get-audit-trail", "pack": "kernel"}]}"#),
        },
        Example {
            shows: "a name that was mistyped",
            params: r#"{"name": "serch-tools"}"#,
            expect: Expect::Error("UNKNOWN_TOOL"),
        },
    ],
    tags: &["discovery"],
    rate_limit: None,
    deprecated: None,
    annotations: Annotations::CLOSED,
    listing: Listing::Core,
    widget: None,
}
.checked();

/// The tool and its arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Params {
    /// The tool's name or one of its aliases.
    #[schemars(length(min = 1, max = 128))]
    name: String,
    /// Its arguments, as `describe-tool` shows them.
    #[serde(default)]
    #[expect(dead_code, reason = "only the target's own validation reads them")]
    arguments: Map<String, Value>,
}

pub(crate) struct CallTool {
    kernel_handle: KernelHandle,
}

impl CallTool {
    pub(crate) const fn new(kernel_handle: KernelHandle) -> Self {
        Self { kernel_handle }
    }
}

impl Tool for CallTool {
    type Params = Params;
    type Output = Map<String, Value>;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(
        &self,
        params: Params,
        cx: &CallContext,
    ) -> Result<Reply<Map<String, Value>>, ToolError> {
        self.kernel_handle.with_tool(&params.name, cx, |_| ())?;
        Err(ToolError::validation("UNSUITABLE_TOOL", format!("`{}` cannot be called", params.name))
            .hint("name another tool of this server; `search-tools` finds them"))
    }
}

/// The call that `request` asks for, the target of `call-tool` or `request` itself, and its tool.
pub(crate) fn target<'a>(
    kernel: &'a Kernel,
    request: Request<'a>,
) -> (Request<'a>, Option<&'a ToolEntry>) {
    let Some(entry) = kernel.resolve(request.tool, request.scope) else { return (request, None) };
    if entry.spec.name != CALL_TOOL {
        return (request, Some(entry));
    }
    let name = request.input.get("name").and_then(Value::as_str).unwrap_or_default();
    let target = kernel.resolve(name, request.scope).filter(|target| target.spec.name != CALL_TOOL);
    match (target, arguments(&request.input)) {
        (Some(target), Some(arguments)) => {
            entry.meter.count(Duration::ZERO, None, CacheUse::None, false);
            let request =
                Request { tool: target.spec.name, input: arguments, scope: request.scope };
            (request, Some(target))
        }
        _ => (request, Some(entry)),
    }
}

/// The target's arguments; `None` if the input has other members. A model may write the object as
/// a JSON string.
fn arguments(input: &Value) -> Option<Value> {
    let members = input.as_object()?;
    if members.keys().any(|name| name != "name" && name != "arguments") {
        return None;
    }
    match members.get("arguments") {
        None | Some(Value::Null) => Some(Value::Object(Map::new())),
        Some(Value::Object(arguments)) => Some(Value::Object(arguments.clone())),
        Some(Value::String(text)) => {
            serde_json::from_str(text).ok().filter(serde_json::Value::is_object)
        }
        Some(_) => None,
    }
}
