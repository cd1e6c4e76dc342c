//! `compare_runs`: key figures of two runs, their parameters, and where they diverge.

use std::collections::BTreeSet;

use panoply_contract::prelude::*;
use serde_json::{Value, json};

use super::money::{Amounts, Conversion, GivenRate, WireRate};
use super::page;
use super::params::RunId;
use super::query_spec::QuerySpec;
use super::service::{BacktestService, tool_error};
use crate::event::EventType;
use crate::position::to_f64;
use crate::query::aggregate::AggregateQuery;
use crate::query::divergence::{Additional, Divergence};
use crate::query::reader::{SealedRun, StoredEvent};
use crate::query::snapshot::View;

/// Maximum differing parameters, and differing properties of an event, in a reply.
const MAX_PARAMETERS: usize = 50;

pub(super) const SPEC: ToolSpec = QuerySpec {
    name: "compare_runs",
    title: "Compare two runs",
    description: Description {
        does: "Compares two backtest runs side by side: events by type, profit and loss at the end, trades, commissions, the parameters that differ, and the first event in which the runs differ.",
        when: "Use this when a change of the strategy or of its settings changed the result and you want to see where.",
        returns: "Returns one row for each figure with its value in both runs and the difference; the differing parameters; the first divergence with both events and an explanation.",
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
    /// Also convert profit and commissions to this currency, with `rates` or with the last prices of
    /// currency pairs in each log.
    #[schemars(length(max = 32))]
    currency: Option<String>,
    /// Rates for the conversion.
    #[schemars(length(max = 50))]
    rates: Option<Vec<GivenRate>>,
}

/// The comparison of two runs.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// One row per figure.
    figures: Vec<Row>,
    /// Whether the strategies' configurations differ, where both are known.
    configuration_differs: bool,
    /// Parameters and settings whose values differ.
    parameters: Vec<ParameterDifference>,
    /// The first event in which the runs differ; null when all events agree. Ids do not count.
    first_divergence: Option<WireDivergence>,
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

/// A value that differs.
#[derive(Debug, Serialize, JsonSchema)]
struct ParameterDifference {
    /// Its name; dots separate nested names.
    name: String,
    /// In the first run; null when it has none.
    first: Value,
    /// In the second run; null when it has none.
    second: Value,
}

/// The first event in which two runs differ.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct WireDivergence {
    /// Number of leading events that agree.
    common_events: u32,
    /// The next event of the first run; null when it has no more.
    first: Option<DivergentEvent>,
    /// The next event of the second run; null when it has no more.
    second: Option<DivergentEvent>,
    /// The properties that differ; empty if one event is additional.
    differences: Vec<ParameterDifference>,
    /// In words.
    explanation: String,
}

/// An event at which runs differ.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct DivergentEvent {
    /// The event's id.
    event_id: String,
    /// Simulated time.
    timestamp: String,
    /// The event type.
    event_type: super::params::EventType,
    /// Properties as logged.
    properties: Value,
}

/// The compared runs.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ComparisonMetadata {
    /// The first run.
    run_id: String,
    /// The second run.
    other_run_id: String,
    /// The rates of the conversion in the first run, if amounts were converted.
    #[serde(skip_serializing_if = "Option::is_none")]
    rates: Option<Vec<WireRate>>,
    /// Those in the second run.
    #[serde(skip_serializing_if = "Option::is_none")]
    other_rates: Option<Vec<WireRate>>,
}

/// The figures of one run, and the rates of its conversion.
struct RunFigures {
    rows: Vec<(String, Option<f64>)>,
    rates: Option<Vec<WireRate>>,
}

/// The figures of one run, by name. Money has one figure per currency, and one in the requested
/// currency.
fn figures(
    run: &SealedRun,
    conversion: &Conversion,
    cx: &CallContext,
) -> Result<RunFigures, ToolError> {
    let stop = || cx.cancel.is_cancelled();
    let head = run.head();
    let mut found = vec![("events".to_owned(), Some(f64::from(head.events)))];
    for kind in EventType::ALL {
        found.push((format!("{kind} events"), Some(head.count_of(*kind) as f64)));
    }
    for (name, path) in [("traded quantity", "Quantity"), ("slippage", "Slippage")] {
        let range = run.between(None, None).map_err(tool_error)?;
        let query = AggregateQuery { event_type: EventType::TradeExecution, path, range };
        let (_, stats) = run.aggregate(&query, &stop).map_err(tool_error)?;
        found.push((name.to_owned(), (stats.count > 0).then(|| stats.sum.to_f64())));
    }
    let view = View { symbol: None, indicators: false, orders: Some(0) };
    let end = run.snapshot_at(head.events.checked_sub(1), &view, &stop).map_err(tool_error)?;
    let named = |name: &str, currency: &str| match currency {
        "" => name.to_owned(),
        currency => format!("{name} ({currency})"),
    };
    for pnl in &end.pnl {
        let mut total = pnl.realized;
        total.merge(pnl.unrealized);
        for (name, amount) in
            [("profit and loss", total), ("realized", pnl.realized), ("unrealized", pnl.unrealized)]
        {
            found.push((named(name, &pnl.currency), Some(amount.to_f64())));
        }
    }
    for own in &head.summary.currencies {
        let returns = own.returns.as_ref();
        for (name, value) in [
            ("commission", Some(to_f64(own.commission))),
            ("trades", Some(own.trades as f64)),
            ("win rate", own.win_rate()),
            ("profit factor", own.profit_factor()),
            ("max drawdown", Some(to_f64(own.max_drawdown))),
            ("sharpe", returns.and_then(|returns| returns.sharpe)),
        ] {
            found.push((named(name, &own.currency), value));
        }
    }
    let amounts: Vec<Amounts> = end.pnl.iter().map(Amounts::from).collect();
    let rates = converted(run, conversion, &amounts, &mut found)?;
    found.push(("open orders at the end".to_owned(), Some(end.open_orders as f64)));
    found.push(("events with errors".to_owned(), Some(head.problems[0] as f64)));
    Ok(RunFigures { rows: found, rates })
}

/// Adds profit and commissions in the requested currency; returns the rates.
fn converted(
    run: &SealedRun,
    conversion: &Conversion,
    amounts: &[Amounts],
    found: &mut Vec<(String, Option<f64>)>,
) -> Result<Option<Vec<WireRate>>, ToolError> {
    let Some(currency) = conversion.currency() else { return Ok(None) };
    let last = run.head().events.saturating_sub(1);
    let (pnl, rates) = conversion.pnl(run, last, amounts)?;
    let all = &run.head().summary.currencies;
    let commissions: Vec<(&str, rust_decimal::Decimal)> =
        all.iter().map(|own| (own.currency.as_str(), own.commission)).collect();
    for (name, value) in [
        ("profit and loss", pnl.total),
        ("realized", pnl.realized),
        ("unrealized", pnl.unrealized),
        ("commission", conversion.sum(run, last, &commissions)?),
    ] {
        found.push((format!("{name}, all in {currency}"), value));
    }
    Ok(rates)
}

/// Figures of both runs side by side, in the order of the first run.
fn rows(first: Vec<(String, Option<f64>)>, second: Vec<(String, Option<f64>)>) -> Vec<Row> {
    let of = |all: &[(String, Option<f64>)], name: &str| {
        all.iter().find(|(own, _)| own == name).and_then(|(_, value)| *value)
    };
    let is_new = |name: &&String| first.iter().all(|(own, _)| own != *name);
    let names: Vec<String> = first
        .iter()
        .map(|(name, _)| name)
        .chain(second.iter().map(|(name, _)| name).filter(is_new))
        .cloned()
        .collect();
    let row = |figure: String| {
        let (first, second) = (of(&first, &figure), of(&second, &figure));
        let difference = first.zip(second).map(|(first, second)| second - first);
        Row { figure, first, second, difference }
    };
    names.into_iter().map(row).collect()
}

/// Settings whose values differ.
fn parameters(first: &SealedRun, second: &SealedRun) -> Vec<ParameterDifference> {
    let settings = (first.head().header.settings(), second.head().header.settings());
    let names: BTreeSet<&String> = settings.0.keys().chain(settings.1.keys()).collect();
    let differing = names.into_iter().filter(|name| settings.0.get(*name) != settings.1.get(*name));
    differing
        .take(MAX_PARAMETERS)
        .map(|name| ParameterDifference {
            name: name.clone(),
            first: settings.0.get(name).cloned().unwrap_or_default(),
            second: settings.1.get(name).cloned().unwrap_or_default(),
        })
        .collect()
}

fn divergence(first: &SealedRun, second: &SealedRun) -> Result<Option<WireDivergence>, ToolError> {
    let Some(found) = first.divergence(second).map_err(tool_error)? else { return Ok(None) };
    let properties = if found.additional.is_none() { found.properties() } else { Vec::new() };
    let differences = properties.iter().take(MAX_PARAMETERS).map(|own| {
        let value = |json: &Option<String>| {
            json.as_deref().map_or(Value::Null, super::events::lossless_value)
        };
        ParameterDifference {
            name: own.path.clone(),
            first: value(&own.first),
            second: value(&own.second),
        }
    });
    let differences: Vec<ParameterDifference> = differences.collect();
    let explanation = explain(&found, &differences);
    let brief = |event: &StoredEvent| DivergentEvent {
        event_id: event.id().to_string(),
        timestamp: event.timestamp().with_millis(),
        event_type: event.event_type().into(),
        properties: super::events::lossless_value(event.properties()),
    };
    Ok(Some(WireDivergence {
        common_events: found.common,
        first: found.first.as_ref().map(brief),
        second: found.second.as_ref().map(brief),
        differences,
        explanation,
    }))
}

fn explain(found: &Divergence, differences: &[ParameterDifference]) -> String {
    let common = found.common;
    let extra = match found.additional {
        Some(Additional::InFirst(count)) => Some(("first", count, &found.first)),
        Some(Additional::InSecond(count)) => Some(("second", count, &found.second)),
        None => None,
    };
    if let Some((which, count, Some(event))) = extra {
        let (events, kind) = (if count == 1 { "event" } else { "events" }, event.event_type());
        return format!(
            "After {common} equal events only the {which} run has {count} {events} from {}, a {kind} first; then both go on with the same event.",
            event.timestamp(),
        );
    }
    match (&found.first, &found.second) {
        (Some(first), Some(second)) if first.timestamp() != second.timestamp() => {
            let (earlier, which) = if first.timestamp() < second.timestamp() {
                (first, "first")
            } else {
                (second, "second")
            };
            format!(
                "After {common} equal events only the {which} run has an event at {}: {}.",
                earlier.timestamp(),
                earlier.event_type()
            )
        }
        (Some(first), Some(second)) if first.event_type() != second.event_type() => format!(
            "After {common} equal events, at {}, the first run has a {} and the second a {}.",
            first.timestamp(),
            first.event_type(),
            second.event_type()
        ),
        (Some(first), Some(_)) => {
            let names: Vec<&str> = differences.iter().map(|own| own.name.as_str()).collect();
            let what =
                if names.is_empty() { "severity or category".into() } else { names.join(", ") };
            format!(
                "After {common} equal events, at {}, a {} differs in {what}.",
                first.timestamp(),
                first.event_type()
            )
        }
        (Some(_), None) => format!("The second run ends after {common} equal events."),
        (None, _) => format!("The first run ends after {common} equal events."),
    }
}

pub(super) fn call(
    service: &BacktestService,
    params: Params,
    cx: &CallContext,
) -> Result<Reply<Output>, ToolError> {
    let first = service.run(&params.run_id.0)?;
    let second = service.run(&params.other_run_id.0)?;
    let conversion = Conversion::new(params.currency.as_deref(), params.rates.as_deref())?;
    let of_first = figures(&first, &conversion, cx)?;
    let of_second = figures(&second, &conversion, cx)?;
    let rows = rows(of_first.rows, of_second.rows);
    let parameters = parameters(&first, &second);
    let headers = (&first.head().header, &second.head().header);
    let differs =
        !parameters.is_empty() || headers.0.strategy_config_hash != headers.1.strategy_config_hash;
    let first_divergence = divergence(&first, &second)?;
    let different = rows.iter().filter(|row| row.first != row.second).count();
    let mut text = format!("{different} of {} figures differ.", rows.len());
    if let Some(divergence) = &first_divergence {
        text.push(' ');
        text.push_str(&divergence.explanation);
    }
    let show = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| value.to_string());
    let table =
        rows.iter().fold(Table::new(["figure", "first", "second", "difference"]), |table, row| {
            table.row([row.figure.clone(), show(row.first), show(row.second), show(row.difference)])
        });
    let next = first_divergence
        .as_ref()
        .and_then(|divergence| divergence.first.as_ref())
        .map(|event| json!({"runId": first.id().to_string(), "eventId": event.event_id}));
    let metadata = ComparisonMetadata {
        run_id: first.id().to_string(),
        other_run_id: second.id().to_string(),
        rates: of_first.rates,
        other_rates: of_second.rates,
    };
    let data = Output {
        figures: rows,
        configuration_differs: differs,
        parameters,
        first_divergence,
        metadata,
    };
    let source = Source::new(SourceClass::Exact, format!("sealed run {}", second.id()));
    let mut reply = Reply::new(data, text, page::evidence(&first).and_source(source)).table(table);
    if let Some(arguments) = next {
        reply = reply.next(NextAction::new(
            "get_context",
            arguments,
            "see the state before it diverges",
        ));
    }
    Ok(reply)
}
