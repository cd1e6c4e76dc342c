//! `search-tools`: finds tools by words, listed or not.

use std::sync::OnceLock;

use serde_json::json;

use super::KernelHandle;
use super::search_index::SearchIndex;
use crate::kernel::Scope;
use crate::params::Limit;
use crate::prelude::*;
use crate::registry::ToolEntry;

const SPEC: ToolSpec = ToolSpec {
    name: "search-tools",
    title: "Search tools",
    description: Description {
        does: "Finds tools of this server by everyday words in English or Thai.",
        when: "Use this when no listed tool fits the task: some tools are not listed but can be found here and called.",
        returns: "Returns the best matches with name, pack, what they do and a score, best first.",
        asks: &["Is there a tool for tax on shares?", "What can you do with flash cards?"],
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
            shows: "a search by purpose",
            params: r#"{"query": "the audit trail", "limit": 1}"#,
            expect: Expect::Data(r#"{"matches": [{"name": "get-audit-trail", "pack": "kernel"}]}"#),
        },
        Example {
            shows: "a search without words",
            params: r#"{"query": ""}"#,
            expect: Expect::Error("INVALID_INPUT"),
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

/// What to look for.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Params {
    /// Words that say what the tool should do.
    #[schemars(length(min = 1, max = 500))]
    query: String,
    /// Only tools of this pack.
    #[schemars(length(min = 1, max = 40))]
    pack: Option<String>,
    /// How many matches to return at most.
    #[serde(default)]
    limit: Limit,
}

/// Search results.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// The best matches, best first.
    matches: Vec<ToolMatch>,
    /// How many tools were searched.
    searched: usize,
}

/// A tool that fits.
#[derive(Debug, Serialize, JsonSchema)]
struct ToolMatch {
    /// Its name, to be called with.
    name: String,
    /// Its name for people.
    title: String,
    /// The pack it belongs to.
    pack: String,
    /// What it does.
    does: String,
    /// How well it fits, from rare words and where they stand.
    #[schemars(range(min = 0.0, max = 1.0))]
    score: f64,
}

pub(crate) struct SearchTools {
    kernel_handle: KernelHandle,
    index: OnceLock<SearchIndex>,
}

impl SearchTools {
    pub(crate) const fn new(kernel_handle: KernelHandle) -> Self {
        Self { kernel_handle, index: OnceLock::new() }
    }
}

impl Tool for SearchTools {
    type Params = Params;
    type Output = Output;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, params: Params, cx: &CallContext) -> Result<Reply<Output>, ToolError> {
        let kernel = self.kernel_handle.kernel()?;
        let scope = params.pack.map_or(Scope::All, Scope::Pack);
        let scores =
            self.index.get_or_init(|| SearchIndex::of(kernel.registry())).scores(&params.query);
        let score = |entry: &ToolEntry| scores.get(entry.index.0).copied().unwrap_or_default();
        let mut matches: Vec<ToolMatch> = kernel
            .callable(&scope, &cx.caller)
            .map(|entry| match_of(entry, score(entry)))
            .collect();
        let searched = matches.len();
        matches.retain(|found| found.score > 0.0);
        matches.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.name.cmp(&b.name)));
        matches.truncate(params.limit.get());
        let source = Source::new(SourceClass::Exact, "this server's registry");
        let mut evidence = Evidence::from(source);
        if let [best, rest @ ..] = matches.as_slice() {
            evidence = evidence.matched(best.score, rest.first().map_or(0.0, |next| next.score));
        }
        let text = match matches.first() {
            Some(best) => format!(
                "{} of {searched} tools fit; best: {} ({}).",
                matches.len(),
                best.name,
                best.does.trim_end_matches('.')
            ),
            None => format!("None of {searched} tools fits; try other words."),
        };
        let table = matches.iter().fold(Table::new(["tool", "pack", "does"]), |table, found| {
            table.row([&found.name, &found.pack, &found.does])
        });
        let best = matches.first().map(|best| best.name.clone());
        let mut reply = Reply::new(Output { matches, searched }, text, evidence).table(table);
        if let Some(name) = best {
            reply = reply.next(NextAction::new(
                "describe-tool",
                json!({"name": name}),
                "read its full contract before calling it",
            ));
        }
        Ok(reply)
    }
}

fn match_of(entry: &ToolEntry, score: f64) -> ToolMatch {
    let spec = entry.spec;
    ToolMatch {
        name: spec.name.to_owned(),
        title: spec.title.to_owned(),
        pack: entry.pack.to_owned(),
        does: spec.description.does.to_owned(),
        score,
    }
}
