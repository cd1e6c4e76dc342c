//! `list_backtest_runs`: the stored runs.

use panoply_contract::prelude::*;
use serde_json::json;

use super::query_spec::QuerySpec;
use super::service::BacktestService;
use crate::run::RunRecord;

pub(super) const SPEC: ToolSpec = QuerySpec {
    name: "list_backtest_runs",
    title: "Backtest runs",
    description: Description {
        does: "Lists the backtest runs that are stored, newest first, with their period, strategy and number of events.",
        when: "Use this first: every other backtest tool needs a runId.",
        returns: "Returns the runs with their status; only completed ones can be queried.",
        asks: &["Which backtests do I have?", "What is the id of my last run?"],
    },
    aliases: &["backtest_list_backtest_runs"],
    category: Category::Query,
    examples: &[
        Example {
            shows: "the first run",
            params: r#"{"limit": 1}"#,
            expect: Expect::Data("{}"),
        },
    ],
    tags: &["backtest", "discovery"],
    listing: Listing::Core,
    widget: None,
}
.checked();

/// Filter and paging of the list.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// Only runs whose strategy, source or id contains this, case-insensitive.
    #[schemars(length(max = 200))]
    query: Option<String>,
    /// Maximum runs to list; default 50.
    #[schemars(range(min = 1, max = 200))]
    limit: Option<u64>,
    /// Number of runs to skip.
    #[schemars(range(min = 0, max = 1_000_000))]
    #[serde(default)]
    offset: u64,
}

/// A page of the list of runs.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// The runs, newest first.
    runs: Vec<Run>,
    /// The page's position in the list.
    metadata: RunsMetadata,
}

/// A stored run.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Run {
    /// The run's id.
    run_id: String,
    /// `completed` runs can be queried, `running` ones cannot.
    status: String,
    /// The strategy, if known.
    strategy_name: Option<String>,
    /// The engine, if known.
    source: Option<String>,
    /// Time of the first event; of an open run, the declared start.
    start_time: Option<String>,
    /// Time of the last event; of an open run, the declared end.
    end_time: Option<String>,
    /// Number of events.
    events: u64,
}

/// The page's position in the list.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct RunsMetadata {
    /// Number of matching runs.
    total_count: usize,
    /// Number of runs on this page.
    returned_count: usize,
    /// Whether later pages have runs.
    has_more: bool,
}

fn shown(record: RunRecord) -> Run {
    let (first, last) = record.span.unzip();
    Run {
        run_id: record.id.to_string(),
        status: record.status.as_str().to_owned(),
        strategy_name: record.header.strategy_name,
        source: record.header.source,
        start_time: first.map(|time| time.to_string()).or(record.header.start_time),
        end_time: last.map(|time| time.to_string()).or(record.header.end_time),
        events: record.events,
    }
}

fn matches(run: &Run, query: &str) -> bool {
    let texts = [Some(&run.run_id), run.strategy_name.as_ref(), run.source.as_ref()];
    texts.into_iter().flatten().any(|text| text.to_lowercase().contains(&query.to_lowercase()))
}

pub(super) fn call(
    service: &BacktestService,
    params: Params,
    _: &CallContext,
) -> Result<Reply<Output>, ToolError> {
    let mut runs: Vec<Run> = service.runs()?.into_iter().map(shown).collect();
    if let Some(query) = &params.query {
        runs.retain(|run| matches(run, query));
    }
    let total = runs.len();
    let count = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
    let limit = count(params.limit.unwrap_or(50));
    runs = runs.into_iter().skip(count(params.offset)).take(limit).collect();
    let text = format!("{} of {total} runs.", runs.len());
    let table = runs.iter().fold(
        Table::new(["run", "status", "strategy", "events", "from", "to"]),
        |table, run| {
            table.row([
                run.run_id.clone(),
                run.status.clone(),
                run.strategy_name.clone().unwrap_or_default(),
                run.events.to_string(),
                run.start_time.clone().unwrap_or_default(),
                run.end_time.clone().unwrap_or_default(),
            ])
        },
    );
    let first = runs.iter().find(|run| run.status == "completed").map(|run| run.run_id.clone());
    let metadata = RunsMetadata {
        total_count: total,
        returned_count: runs.len(),
        has_more: count(params.offset).saturating_add(runs.len()) < total,
    };
    let evidence = Evidence::from(Source::new(SourceClass::Exact, "the catalog of runs"));
    let mut reply = Reply::new(Output { runs, metadata }, text, evidence).table(table);
    if let Some(run) = first {
        reply = reply.next(NextAction::new(
            "describe_run",
            json!({"runId": run}),
            "see what is in the run",
        ));
    }
    Ok(reply)
}
