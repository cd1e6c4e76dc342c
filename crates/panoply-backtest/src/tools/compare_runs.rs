//! `compare_runs`: key figures of two runs.

use panoply_contract::prelude::*;

use super::params::RunId;
use super::query_spec::QuerySpec;
use super::service::{BacktestService, tool_error};
use super::{page, state};
use crate::event::EventType;
use crate::query::aggregate::AggregateQuery;
use crate::query::reader::SealedRun;
use crate::query::snapshot::View;

pub(super) const SPEC: ToolSpec = QuerySpec {
    name: "compare_runs",
    title: "Compare two runs",
    description: Description {
        does: "Compares two backtest runs side by side: events by type, profit and loss at the end, trades, commissions and what differs in their configuration.",
        when: "Use this when a change of the strategy or of its settings changed the result and you want to see where.",
        returns: "Returns one row for each figure with its value in both runs and the difference.",
        asks: &["How does this run differ from the last one?", "Did the new parameters trade more?"],
    },
    aliases: &["backtest_compare_runs"],
    category: Category::Analysis,
    examples: &[
        Example {
            shows: "a run with itself",
            params: r#"{"runId": "d91a7ddb-8986-54b3-8bd4-42d1dab9869e", "otherRunId": "d91a7ddb-8986-54b3-8bd4-42d1dab9869e"}"#,
            expect: Expect::Data(r#"{"configurationDiffers": false}"#),
        },
    ],
    tags: &["backtest", "comparison"],
    listing: Listing::Extra,
    widget: None,
}
.checked();

/// The runs to compare.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// Unique identifier of the backtest run (GUID).
    run_id: RunId,
    /// The run to compare it with (GUID).
    other_run_id: RunId,
}

/// The comparison of two runs.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// One row per figure.
    figures: Vec<Row>,
    /// Whether the strategies' configurations differ, where both are known.
    configuration_differs: bool,
    /// The compared runs.
    metadata: ComparisonMetadata,
}

/// A figure of both runs.
#[derive(Debug, Serialize, JsonSchema)]
struct Row {
    /// Name of the figure.
    figure: String,
    /// Value in the first run; null when it has none.
    first: Option<f64>,
    /// Value in the second run; null when it has none.
    second: Option<f64>,
    /// Second minus first.
    difference: Option<f64>,
}

/// The compared runs.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ComparisonMetadata {
    /// The first run.
    run_id: String,
    /// The second run.
    other_run_id: String,
}

/// The figures of one run, by name.
fn figures(run: &SealedRun, cx: &CallContext) -> Result<Vec<(String, Option<f64>)>, ToolError> {
    let stop = || cx.cancel.is_cancelled();
    let head = run.head();
    let mut found = vec![("events".to_owned(), Some(f64::from(head.events)))];
    for kind in EventType::ALL {
        found.push((format!("{kind} events"), Some(head.count_of(*kind) as f64)));
    }
    for (name, path) in
        [("traded quantity", "Quantity"), ("commission", "Commission"), ("slippage", "Slippage")]
    {
        let range = run.between(None, None).map_err(tool_error)?;
        let query = AggregateQuery { event_type: EventType::TradeExecution, path, range };
        let (_, stats) = run.aggregate(&query, &stop).map_err(tool_error)?;
        found.push((name.to_owned(), (stats.count > 0).then(|| stats.sum.to_f64())));
    }
    let view = View { symbol: None, indicators: false, orders: Some(0) };
    let end = run.snapshot_at(head.events.checked_sub(1), &view, &stop).map_err(tool_error)?;
    let pnl = state::pnl(&end);
    found.push(("profit and loss".to_owned(), Some(pnl.total)));
    found.push(("realized".to_owned(), Some(pnl.realized)));
    found.push(("unrealized".to_owned(), Some(pnl.unrealized)));
    found.push(("open orders at the end".to_owned(), Some(end.open_orders as f64)));
    found.push(("events with errors".to_owned(), Some(head.problems[0] as f64)));
    Ok(found)
}

pub(super) fn call(
    service: &BacktestService,
    params: Params,
    cx: &CallContext,
) -> Result<Reply<Output>, ToolError> {
    let first = service.run(&params.run_id.0)?;
    let second = service.run(&params.other_run_id.0)?;
    let rows: Vec<Row> = figures(&first, cx)?
        .into_iter()
        .zip(figures(&second, cx)?)
        .map(|((figure, first), (_, second))| Row {
            figure,
            first,
            second,
            difference: first.zip(second).map(|(first, second)| second - first),
        })
        .collect();
    let headers = (&first.head().header, &second.head().header);
    let differs = headers.0.config != headers.1.config
        || headers.0.strategy_config_hash != headers.1.strategy_config_hash;
    let different = rows.iter().filter(|row| row.first != row.second).count();
    let text = format!("{different} of {} figures differ.", rows.len());
    let show = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| value.to_string());
    let table =
        rows.iter().fold(Table::new(["figure", "first", "second", "difference"]), |table, row| {
            table.row([row.figure.clone(), show(row.first), show(row.second), show(row.difference)])
        });
    let metadata = ComparisonMetadata {
        run_id: first.id().to_string(),
        other_run_id: second.id().to_string(),
    };
    let data = Output { figures: rows, configuration_differs: differs, metadata };
    let source = Source::new(SourceClass::Exact, format!("sealed run {}", second.id()));
    Ok(Reply::new(data, text, page::evidence(&first).and_source(source)).table(table))
}
