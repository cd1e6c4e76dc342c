//! Filters of trades by an expression, and groups by the value of an indicator at entry.

use std::collections::BTreeMap;

use panoply_contract::prelude::*;
use rust_decimal::Decimal;

use super::service::tool_error;
use crate::number::Number;
use crate::performance::Trade;
use crate::query::expression::{Expression, Literal, Operand};
use crate::query::reader::SealedRun;
use crate::query::typed_literal::WEEKDAYS;
use crate::timestamp::weekday;

const HOUR: i64 = 3_600_000_000_000;
/// Prefix of the name of an indicator in an expression.
const INDICATORS: &str = "indicators.";
/// Names of figures in an expression.
const FIGURES: [&str; 13] = [
    "profit",
    "mae",
    "mfe",
    "holdingSeconds",
    "size",
    "commission",
    "entryPrice",
    "exitPrice",
    "fills",
    "securitySymbol",
    "direction",
    "currency",
    "isOpen",
];

/// Groups by the value of an indicator at the first fill.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ByIndicator {
    /// Name of the indicator.
    #[schemars(length(min = 1, max = 200))]
    name: String,
    /// Ascending limits between the groups, such as 30 and 70; default: the quartiles of the values.
    #[schemars(length(min = 1, max = 20))]
    edges: Option<Vec<f64>>,
}

/// Parses the filter, and rejects names that no trade has.
pub(super) fn parse(text: Option<&str>) -> Result<Option<Expression>, ToolError> {
    let Some(text) = text.filter(|text| !text.trim().is_empty()) else { return Ok(None) };
    let problem = |message: String| {
        ToolError::validation("INVALID_PARAMETER", format!("`where`: {message}"))
            .hint(format!(
                "compare {}, hour, weekday, timeOfDay or indicators.NAME, as in `profit < -100 and holdingSeconds > 3600`",
                FIGURES.join(", ")
            ))
            .detail("parameter", "where")
    };
    let expression = Expression::parse(text).map_err(|error| problem(error.to_string()))?;
    let mut unknown = None;
    // Both outcomes of a test name their operands, whatever the others give.
    expression.operands(&mut |operand| match operand {
        Operand::Path(path)
            if !FIGURES.contains(&path.as_str()) && !path.starts_with(INDICATORS) =>
        {
            unknown.get_or_insert_with(|| format!("a trade has no `{path}`"));
        }
        Operand::Severity | Operand::Category => {
            unknown.get_or_insert_with(|| "a trade has no severity or category".to_owned());
        }
        _ => {}
    });
    unknown.map_or(Ok(Some(expression)), |message| Err(problem(message)))
}

/// Whether a trade matches.
pub(super) fn holds(
    run: &SealedRun,
    filter: &Expression,
    trade: &Trade,
) -> Result<bool, ToolError> {
    let mut failure = None;
    let is_match = filter.holds(&mut |operand| {
        value(run, trade, operand).unwrap_or_else(|error| {
            failure.get_or_insert(error);
            None
        })
    });
    failure.map_or(Ok(is_match), Err)
}

fn value(run: &SealedRun, trade: &Trade, operand: &Operand) -> Result<Option<Literal>, ToolError> {
    let opened = trade.opened;
    Ok(match operand {
        Operand::Literal(literal) => Some(literal.clone()),
        Operand::Hour => {
            let hour = opened.nanos().rem_euclid(24 * HOUR) / HOUR;
            Some(Literal::Number(Number::Exact { mantissa: hour, scale: 0 }))
        }
        Operand::Weekday => Some(Literal::Text(weekday_of(trade).to_owned())),
        Operand::TimeOfDay => {
            Some(Literal::Text(opened.to_string().chars().skip(11).take(8).collect()))
        }
        Operand::Severity | Operand::Category => None,
        Operand::Path(path) => match path.strip_prefix(INDICATORS) {
            Some(name) => {
                indicator(run, trade, name)?.map(|value| Literal::Number(Number::Double(value)))
            }
            None => figure(trade, path),
        },
    })
}

fn figure(trade: &Trade, name: &str) -> Option<Literal> {
    let text = |text: &str| Some(Literal::Text(text.to_owned()));
    let amount = |amount: Decimal| Number::parse(&amount.normalize().to_string());
    let number = match name {
        "securitySymbol" => return text(&trade.symbol),
        "direction" => return text(if trade.is_long { "long" } else { "short" }),
        "currency" => return text(&trade.currency),
        "isOpen" => return Some(Literal::Bool(trade.closed.is_none())),
        "profit" => amount(trade.profit()),
        "mae" => trade.excursion.and_then(|own| amount(own.0)),
        "mfe" => trade.excursion.and_then(|own| amount(own.1)),
        "holdingSeconds" => trade
            .closed
            .map(|end| Number::Double((end.nanos() - trade.opened.nanos()) as f64 / 1e9)),
        "size" => amount(trade.size),
        "commission" => amount(trade.commission),
        "entryPrice" => amount(trade.entry),
        "exitPrice" => trade.exit_price().and_then(amount),
        "fills" => Some(Number::Double(trade.fills.len() as f64)),
        _ => None,
    };
    number.map(Literal::Number)
}

/// The last value of an indicator of the security at the first fill.
fn indicator(run: &SealedRun, trade: &Trade, name: &str) -> Result<Option<f64>, ToolError> {
    match trade.fills.first() {
        None => Ok(None),
        Some(entry) => run.indicator_at(name, &trade.symbol, *entry).map_err(tool_error),
    }
}

/// The day of the week of the first fill.
pub(super) fn weekday_of(trade: &Trade) -> &'static str {
    let day = usize::try_from(weekday(trade.opened.nanos().div_euclid(24 * HOUR)));
    WEEKDAYS.get(day.unwrap_or_default()).copied().unwrap_or_default()
}

/// The group of each trade by the value of an indicator at entry, by place.
pub(super) fn groups(
    run: &SealedRun,
    by: &ByIndicator,
    trades: &[&Trade],
) -> Result<Vec<String>, ToolError> {
    let values = trades.iter().map(|trade| indicator(run, trade, &by.name));
    let values: Vec<Option<f64>> = values.collect::<Result<_, _>>()?;
    let mut known: Vec<f64> = values.iter().flatten().copied().collect();
    if known.is_empty() && !trades.is_empty() {
        let message = format!("no matching trade has a value of `{}` at entry", by.name);
        return Err(ToolError::validation("INVALID_PARAMETER", message)
            .hint("ask `describe_run` for the indicators of the run"));
    }
    known.sort_by(f64::total_cmp);
    let edges = match &by.edges {
        None => quartiles(&known),
        Some(edges) if edges.is_sorted_by(|a, b| a < b) => edges.clone(),
        Some(_) => {
            return Err(ToolError::validation("INVALID_PARAMETER", "`edges` are not ascending")
                .hint("give each limit once, in ascending order"));
        }
    };
    // The number sorts the groups.
    let mut names: BTreeMap<usize, String> = BTreeMap::new();
    let mut name = |value: Option<f64>| -> String {
        let Some(value) = value else { return "no value".to_owned() };
        let place = edges.partition_point(|edge| *edge <= value);
        let low = place.checked_sub(1).and_then(|below| edges.get(below));
        let own = names.entry(place).or_insert_with(|| match (low, edges.get(place)) {
            (None, Some(high)) => format!("{}: below {high}", place + 1),
            (Some(low), Some(high)) => format!("{}: {low} to below {high}", place + 1),
            (Some(low), None) => format!("{}: {low} or more", place + 1),
            (None, None) => "all".to_owned(),
        });
        own.clone()
    };
    Ok(values.into_iter().map(&mut name).collect())
}

/// The distinct quartiles, at the closest rank above.
fn quartiles(sorted: &[f64]) -> Vec<f64> {
    let at = |quarter: usize| sorted.get(sorted.len() * quarter / 4).copied();
    let mut edges: Vec<f64> = (1..4).filter_map(at).collect();
    edges.dedup();
    edges
}
