//! `describe-tool`: one tool's whole contract.

use serde_json::{Value, json};

use super::KernelHandle;
use crate::prelude::*;
use crate::registry::ToolEntry;
use crate::spec::Expect as Expected;

const SPEC: ToolSpec = ToolSpec {
    name: "describe-tool",
    title: "Describe a tool",
    description: Description {
        does: "Shows the whole contract of one tool: schemas, permissions, limits, caching and examples.",
        when: "Use this when a tool was found by `search-tools`, or when its arguments are not clear from the listing.",
        returns: "Returns description, input and output schema, category, version, aliases and worked examples.",
        asks: &["How do I call get-tool-metrics?", "Which arguments does this tool take?"],
    },
    version: "1.0.0",
    aliases: &[],
    permissions: &[],
    category: Category::Query,
    response_time: ResponseTime::Fast,
    cache: CachePolicy::Never,
    idempotent: true,
    data: &[],
    examples: &[
        Example {
            shows: "a tool that exists",
            params: r#"{"name": "search-tools"}"#,
            expect: Expect::Data(r#"{"name": "search-tools", "category": "query", "cacheTtlSeconds": null}"#),
        },
        Example {
            shows: "a name that was mistyped",
            params: r#"{"name": "serch-tools"}"#,
            expect: Expect::Error("UNKNOWN_TOOL"),
        },
    ],
    tags: &["discovery"],
    rate_limit: Some(RateLimit { max_calls: 600, window: Duration::from_secs(60) }),
    deprecated: None,
    annotations: Annotations::CLOSED,
    listing: Listing::Core,
    widget: None,
}
.checked();

/// Which tool.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Params {
    /// The tool's name or one of its aliases.
    #[schemars(length(min = 1, max = 128))]
    name: String,
}

/// A tool's contract.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// Its published name.
    name: String,
    /// Its name for people.
    title: String,
    /// The pack it belongs to.
    pack: String,
    /// What it does, when to use it, what it returns.
    description: String,
    /// Version of its contract.
    version: String,
    /// Other names it answers to.
    aliases: Vec<String>,
    /// What the caller must be allowed.
    permissions: Vec<String>,
    /// What kind of work it does.
    category: Category,
    /// How long it usually takes.
    response_time: ResponseTime,
    /// Cache time to live of a reply; null if not cached.
    cache_ttl_seconds: Option<u64>,
    /// Whether the same input gives the same output.
    idempotent: bool,
    /// How often it may be called; null when there is no limit.
    rate_limit: Option<RateLimitInfo>,
    /// Words to find it by.
    tags: Vec<String>,
    /// What replaces it; null unless it is on its way out.
    deprecated: Option<DeprecationInfo>,
    /// Schema of its arguments.
    input_schema: Value,
    /// Schema of its structured reply.
    output_schema: Value,
    /// Calls that show how it is used.
    examples: Vec<ExampleCall>,
}

/// How often a tool may be called.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct RateLimitInfo {
    /// How many calls.
    max_calls: u32,
    /// In how many milliseconds.
    window_ms: u64,
}

/// Deprecation of a tool.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct DeprecationInfo {
    /// The version that deprecated it.
    since: String,
    /// The tool to use instead.
    replacement: String,
    /// The first day on which calls are refused.
    removal_date: String,
}

/// A worked example.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ExampleCall {
    /// What it shows.
    description: String,
    /// The arguments.
    params: Value,
    /// What comes back: part of the data, or an error's code.
    expected_result: Value,
}

pub(crate) struct DescribeTool {
    kernel_handle: KernelHandle,
}

impl DescribeTool {
    pub(crate) const fn new(kernel_handle: KernelHandle) -> Self {
        Self { kernel_handle }
    }
}

impl Tool for DescribeTool {
    type Params = Params;
    type Output = Output;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, params: Params, cx: &CallContext) -> Result<Reply<Output>, ToolError> {
        let described = self.kernel_handle.with_tool(&params.name, cx, describe)?;
        let text = format!(
            "{} ({} pack, version {}): {}",
            described.name, described.pack, described.version, described.description
        );
        let evidence = Evidence::from(Source::new(SourceClass::Exact, "this server's registry"));
        Ok(Reply::new(described, text, evidence))
    }
}

fn describe(entry: &ToolEntry) -> Output {
    let spec = entry.spec;
    let owned = |texts: &[&str]| texts.iter().map(ToString::to_string).collect::<Vec<_>>();
    Output {
        name: spec.name.to_owned(),
        title: spec.title.to_owned(),
        pack: entry.pack.to_owned(),
        description: entry.description.clone(),
        version: spec.version.to_owned(),
        aliases: owned(spec.aliases),
        permissions: owned(spec.permissions),
        category: spec.category,
        response_time: spec.response_time,
        cache_ttl_seconds: spec.cache.ttl().map(|ttl| ttl.as_secs()),
        idempotent: spec.idempotent,
        rate_limit: spec.rate_limit.map(|limit| RateLimitInfo {
            max_calls: limit.max_calls,
            window_ms: u64::try_from(limit.window.as_millis()).unwrap_or(u64::MAX),
        }),
        tags: owned(spec.tags),
        deprecated: spec.deprecated.as_ref().map(|outgoing| DeprecationInfo {
            since: outgoing.since.to_owned(),
            replacement: outgoing.replacement.to_owned(),
            removal_date: outgoing.removal_date.to_owned(),
        }),
        input_schema: entry.input_schema().clone(),
        output_schema: entry.output_schema().clone(),
        examples: spec.examples.iter().map(example_call).collect(),
    }
}

fn example_call(example: &Example) -> ExampleCall {
    let parse = |text: &str| serde_json::from_str(text).unwrap_or_default();
    ExampleCall {
        description: example.shows.to_owned(),
        params: parse(example.params),
        expected_result: match example.expect {
            Expected::Data(data) => parse(data),
            Expected::Error(code) => json!({"error": {"code": code}}),
        },
    }
}
