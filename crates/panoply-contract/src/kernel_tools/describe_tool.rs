//! `describe-tool`: one tool's whole contract.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::KernelHandle;
use crate::prelude::*;
use crate::registry::ToolEntry;
use crate::spec::{Expect as Expected, SampleCall};

const SPEC: ToolSpec = ToolSpec {
    name: "describe-tool",
    title: "Describe a tool",
    description: Description {
        does: "Shows the whole contract of one tool: schemas, permissions, limits, caching and examples.",
        when: "Use this when a tool was found by `search-tools`, or when its arguments are not clear from the listing.",
        returns: "Returns description, input and output schema, category, version, aliases and worked examples.",
        asks: &["How do I call get-tool-metrics?", "Which arguments does this tool take?"],
    },
    version: "2.0.0",
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
            expect: Expect::Data(r#"{"name": "search-tools", "category": "query", "cacheable": false, "cacheTTL": null}"#),
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
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// The tool's name or one of its aliases.
    #[schemars(length(min = 1, max = 128))]
    name: String,
    /// Also returns the schema of the reply.
    #[serde(default)]
    output_schema: bool,
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
    /// Whether replies are cached.
    cacheable: bool,
    /// Cache time to live of a reply in seconds; null if not cached.
    #[serde(rename = "cacheTTL")]
    cache_ttl: Option<u64>,
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
    /// Schema of its structured reply, if asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    output_schema: Option<Value>,
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
    /// Calls that create what the arguments refer to. Skip them if it exists; else replace each
    /// literal by the value of the reply.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    prepare: Vec<Preparation>,
    /// The arguments.
    params: Value,
    /// What comes back: part of the data, or an error's code.
    expected_result: Value,
}

/// A call that creates what an example refers to.
#[derive(Debug, Serialize, JsonSchema)]
struct Preparation {
    /// The tool.
    tool: &'static str,
    /// Its arguments; may contain literals of earlier calls.
    params: Value,
    /// JSON pointer into the data of the reply to the value that each literal stands for.
    literals: BTreeMap<&'static str, &'static str>,
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
        let kernel = self.kernel_handle.kernel()?;
        let mut described = self.kernel_handle.with_tool(&params.name, cx, |entry| {
            let pack = kernel.registry().pack_of(entry);
            describe(entry, pack.map_or(&[][..], |pack| pack.samples))
        })?;
        if !params.output_schema {
            described.output_schema = None;
        }
        let text = format!(
            "{} ({} pack, version {}): {}",
            described.name, described.pack, described.version, described.description
        );
        let evidence = Evidence::from(Source::new(SourceClass::Exact, "this server's registry"));
        Ok(Reply::new(described, text, evidence))
    }
}

fn describe(entry: &ToolEntry, samples: &[SampleCall]) -> Output {
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
        cacheable: spec.cache.ttl().is_some(),
        cache_ttl: spec.cache.ttl().map(|ttl| ttl.as_secs()),
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
        output_schema: Some(entry.output_schema().clone()),
        examples: spec.examples.iter().map(|example| example_call(example, samples)).collect(),
    }
}

fn example_call(example: &Example, samples: &[SampleCall]) -> ExampleCall {
    let parse = |text: &str| serde_json::from_str(text).unwrap_or_default();
    let expected = match example.expect {
        Expected::Data(data) => data.to_owned(),
        Expected::Error(code) => json!({"error": {"code": code}}).to_string(),
    };
    ExampleCall {
        description: example.shows.to_owned(),
        prepare: preparation(format!("{}{expected}", example.params), samples),
        params: parse(example.params),
        expected_result: parse(&expected),
    }
}

/// The samples whose literals occur in `text`, and those that they refer to, in their order.
fn preparation(mut text: String, samples: &[SampleCall]) -> Vec<Preparation> {
    let mut needed = Vec::new();
    for sample in samples.iter().rev() {
        if sample.literals.iter().any(|(literal, _)| text.contains(literal)) {
            text.push_str(sample.params);
            needed.push(Preparation {
                tool: sample.tool,
                params: serde_json::from_str(sample.params).unwrap_or_default(),
                literals: sample.literals.iter().copied().collect(),
            });
        }
    }
    needed.reverse();
    needed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_are_prepared_by_the_samples_that_they_refer_to() {
        let samples = [
            SampleCall { tool: "a", params: "{}", literals: &[("deck_1", "/id")] },
            SampleCall { tool: "b", params: "{}", literals: &[("deck_2", "/id")] },
            SampleCall { tool: "c", params: r#"{"in": "deck_1"}"#, literals: &[("card_1", "/id")] },
        ];
        let tools = |text: &str| -> Vec<&str> {
            preparation(text.to_owned(), &samples).iter().map(|call| call.tool).collect()
        };
        assert_eq!(tools(r#"{"card": "card_1"}"#), ["a", "c"]);
        assert_eq!(tools(r#"{"deck": "deck_2"}"#), ["b"]);
        assert_eq!(tools("{}"), [""; 0]);
    }
}
