//! `query_runs`: parameters and key figures of many runs as a table.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use panoply_contract::prelude::*;
use serde_json::Value;

use super::events;
use super::money::non_empty;
use super::query_spec::QuerySpec;
use super::service::BacktestService;
use super::walk_forward::{self, WalkForward, WalkForwardReply};
use crate::performance::deflated;
use crate::performance::{CurrencyFigures, PERIODS_PER_YEAR};
use crate::position::to_f64;
use crate::run::{RunRecord, Status};

/// Bytes of all rows: a reply has at most 80,000.
const ROWS_BYTES: usize = 70_000;

pub(super) const SPEC: ToolSpec = QuerySpec {
    name: "query_runs",
    title: "Runs as a table",
    description: Description {
        does: "Lists sealed backtest runs with their parameters and key figures, filtered and sorted by any of them: the table of an optimisation or of a walk-forward analysis.",
        when: "Use this to find the best of many runs, or how a parameter affects the result. It reads stored summaries, never events. The best of many trials looks better than it is: see `deflatedSharpe`.",
        returns: "Returns a row per run, or means per value of a parameter or tag with groupBy, or with walkForward the run chosen in each fold beside its result out of sample; for the run with the best Sharpe ratio the probability that it is not luck, given how many runs were tried.",
        asks: &["Which of my 500 runs has the best Sharpe ratio?", "How does the fast period affect the drawdown?"],
    },
    aliases: &["backtest_query_runs"],
    category: Category::Analysis,
    examples: &[
        Example {
            shows: "the runs with the highest profit",
            params: r#"{"sortBy": "profit", "descending": true, "limit": 5}"#,
            expect: Expect::Data("{}"),
        },
        Example {
            shows: "a name that no run has",
            params: r#"{"sortBy": "no_such_figure"}"#,
            expect: Expect::Error("INVALID_PARAMETER"),
        },
    ],
    tags: &["backtest", "comparison", "optimisation"],
    listing: Listing::Extra,
    widget: None,
}
.checked();

/// The runs to return.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// Only runs whose strategy, source, tags or id contain this, case-insensitive.
    #[schemars(length(max = 200))]
    query: Option<String>,
    /// Conditions on parameters, tags or figures; all must hold.
    #[schemars(length(max = 20))]
    filters: Option<Vec<Condition>>,
    /// A figure, parameter or tag to sort by; default: time of import.
    #[schemars(length(max = 200))]
    sort_by: Option<String>,
    /// Sort in descending order.
    #[serde(default)]
    descending: bool,
    /// A parameter or tag; returns means per value instead of runs.
    #[schemars(length(max = 200))]
    group_by: Option<String>,
    /// Pairs the best run in sample of each fold with its partner out of sample, instead of rows.
    walk_forward: Option<WalkForward>,
    /// The currency of the figures; needed for runs with several.
    #[schemars(length(max = 32))]
    currency: Option<String>,
    /// Maximum rows; default 20. A reply that is full has fewer, and `hasMore`.
    #[schemars(range(min = 1, max = 200))]
    limit: Option<u64>,
    /// Number of rows to skip.
    #[schemars(range(min = 0, max = 1_000_000))]
    #[serde(default)]
    offset: u64,
}

/// A condition.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Condition {
    /// A figure, parameter or tag.
    #[schemars(length(min = 1, max = 200))]
    name: String,
    /// The comparison.
    op: Comparison,
    /// A number or text to compare with.
    #[schemars(length(max = 200))]
    value: String,
}

/// A comparison.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Deserialize, JsonSchema)]
#[schemars(inline)]
enum Comparison {
    /// Equal.
    #[serde(rename = "=")]
    Equal,
    /// Not equal.
    #[serde(rename = "!=")]
    NotEqual,
    /// Less.
    #[serde(rename = "<")]
    Less,
    /// Less or equal.
    #[serde(rename = "<=")]
    AtMost,
    /// Greater.
    #[serde(rename = ">")]
    Greater,
    /// Greater or equal.
    #[serde(rename = ">=")]
    AtLeast,
}

/// Runs as a table.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// One row per run; empty when groups were requested.
    runs: Vec<RunRow>,
    /// Means per value, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    groups: Option<Vec<GroupRow>>,
    /// The folds of a walk-forward analysis, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    walk_forward: Option<WalkForwardReply>,
    /// The run with the best Sharpe ratio among all matching ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    best: Option<Best>,
    /// The page's position in the result.
    metadata: RunsMetadata,
}

/// A run.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct RunRow {
    /// The run's id.
    run_id: String,
    /// The strategy, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    strategy_name: Option<String>,
    /// Parameters and tags that differ between the matching runs.
    parameters: BTreeMap<String, Value>,
    /// Key figures: profit, maxDrawdown, maxDrawdownPercent, trades, winRate, profitFactor,
    /// commission, exposureSeconds, totalReturn, annualReturn, volatility, sharpe, sortino, calmar.
    figures: BTreeMap<String, f64>,
}

/// Means of the runs that share a value.
#[derive(Debug, Serialize, JsonSchema)]
struct GroupRow {
    /// The shared value; null for runs without it.
    value: Value,
    /// Number of runs.
    runs: usize,
    /// Mean of each figure over the runs that have it.
    means: BTreeMap<String, f64>,
}

/// The run with the best Sharpe ratio, and how likely it is luck.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Best {
    /// The run's id.
    run_id: String,
    /// Its annualised Sharpe ratio of daily returns.
    sharpe: f64,
    /// Number of matching runs with a Sharpe ratio.
    trials: usize,
    /// The annualised Sharpe ratio that the best of as many runs without skill is expected to have.
    expected_by_chance: Option<f64>,
    /// Probability that the true Sharpe ratio exceeds that (Bailey and López de Prado 2014).
    deflated_sharpe: Option<f64>,
    /// What to conclude.
    warning: String,
}

/// The page's position in the result.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct RunsMetadata {
    /// Number of matching runs.
    total_count: usize,
    /// Number of rows returned.
    returned_count: usize,
    /// Whether rows or groups follow the last one returned.
    has_more: bool,
    /// Runs without figures in the requested currency: older formats, several currencies, no trades.
    without_figures: usize,
}

/// A run with its settings and figures by name.
pub(super) struct Candidate {
    pub(super) record: RunRecord,
    pub(super) settings: BTreeMap<String, Value>,
    pub(super) figures: BTreeMap<String, f64>,
    moments: Option<(u64, f64, f64)>,
}

impl Candidate {
    fn of(record: RunRecord, currency: Option<&str>) -> Self {
        let mut settings = record.header.settings();
        match &record.header.tags {
            Some(Value::Object(tags)) => {
                for (name, value) in tags {
                    settings.entry(name.clone()).or_insert_with(|| value.clone());
                }
            }
            Some(tags) => {
                settings.entry("tags".to_owned()).or_insert_with(|| tags.clone());
            }
            None => {}
        }
        let all = record.summary.as_ref().map_or(&[][..], |own| own.currencies.as_slice());
        let own = match (currency, all) {
            (Some(wanted), all) => all.iter().find(|own| own.currency == wanted),
            (None, [only]) => Some(only),
            (None, _) => None,
        };
        let mut figures = own.map(figures_of).unwrap_or_default();
        if let Some(summary) = record.summary.as_ref().filter(|_| own.is_some()) {
            figures.insert("exposureSeconds".to_owned(), summary.in_market as f64 / 1e9);
        }
        let returns = own.and_then(|own| own.returns.as_ref());
        let moments = returns.and_then(|own| Some((own.periods, own.skewness?, own.kurtosis?)));
        Self { record, settings, figures, moments }
    }

    fn value(&self, name: &str) -> Option<Value> {
        let figure = self.figures.get(name).map(|value| Value::from(*value));
        figure.or_else(|| self.settings.get(name).cloned())
    }

    fn contains(&self, text: &str) -> bool {
        let header = &self.record.header;
        let tags = header.tags.as_ref().map(ToString::to_string);
        let id = self.record.id.to_string();
        [Some(&id), header.strategy_name.as_ref(), header.source.as_ref(), tags.as_ref()]
            .into_iter()
            .flatten()
            .any(|own| own.to_lowercase().contains(text))
    }

    fn satisfies(&self, condition: &Condition) -> bool {
        use std::cmp::Ordering::{Equal, Greater, Less};
        let Some(own) = self.value(&condition.name) else { return false };
        let order = match (number(&own), condition.value.parse::<f64>()) {
            (Some(own), Ok(wanted)) => own.partial_cmp(&wanted),
            _ => Some(plain(&own).as_str().cmp(condition.value.as_str())),
        };
        match condition.op {
            Comparison::Equal => order == Some(Equal),
            Comparison::NotEqual => order != Some(Equal),
            Comparison::Less => order == Some(Less),
            Comparison::AtMost => matches!(order, Some(Less | Equal)),
            Comparison::Greater => order == Some(Greater),
            Comparison::AtLeast => matches!(order, Some(Greater | Equal)),
        }
    }
}

pub(super) fn number(value: &Value) -> Option<f64> {
    value.as_f64().or_else(|| value.as_str()?.parse().ok())
}

pub(super) fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn figures_of(own: &CurrencyFigures) -> BTreeMap<String, f64> {
    let returns = own.returns.as_ref();
    let figures = [
        ("profit", Some(to_f64(own.profit()))),
        ("maxDrawdown", Some(to_f64(own.max_drawdown))),
        ("maxDrawdownPercent", own.max_drawdown_percent),
        ("trades", Some(own.trades as f64)),
        ("winRate", own.win_rate()),
        ("profitFactor", own.profit_factor()),
        ("commission", Some(to_f64(own.commission))),
        ("totalReturn", returns.map(|own| own.total)),
        ("annualReturn", returns.map(|own| own.annual)),
        ("volatility", returns.and_then(|own| own.volatility)),
        ("sharpe", returns.and_then(|own| own.sharpe)),
        ("sortino", returns.and_then(|own| own.sortino)),
        ("calmar", returns.and_then(|own| own.calmar)),
    ];
    let known = figures.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    known.filter(|(_, value)| value.is_finite()).collect()
}

pub(super) fn call(
    service: &BacktestService,
    params: Params,
    cx: &CallContext,
) -> Result<Reply<Output>, ToolError> {
    let currency = params.currency.as_deref().filter(|own| !own.is_empty());
    let mut found = service.candidates(currency, || {
        let records = service.runs()?.into_iter().filter(|run| run.status == Status::Completed);
        Ok(records.map(|record| Arc::new(Candidate::of(record, currency))).collect())
    })?;
    cx.check_cancelled()?;
    require_known(&found, &params)?;
    if let Some(query) = &params.query {
        let query = query.to_lowercase();
        found.retain(|own| own.contains(&query));
    }
    for condition in params.filters.iter().flatten() {
        found.retain(|own| own.satisfies(condition));
    }
    if let Some(name) = &params.sort_by {
        sort(&mut found, name, params.descending);
    }
    let count = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
    let (offset, limit) = (count(params.offset), count(params.limit.unwrap_or(20)));
    let best = best_of(&found);
    let walk_forward =
        params.walk_forward.as_ref().map(|own| walk_forward::analyse(&found, own)).transpose()?;
    let groups = params.group_by.as_ref().map(|name| grouped(&found, name));
    let varying = varying_settings(&found);
    let rows: Vec<RunRow> = if groups.is_some() || walk_forward.is_some() {
        Vec::new()
    } else {
        let rows = found.iter().skip(offset).take(limit).map(|own| row(own, &varying));
        fitting(rows)
    };
    let total_rows = groups.as_ref().map_or(found.len(), Vec::len);
    let groups: Option<Vec<GroupRow>> =
        groups.map(|all| fitting(all.into_iter().skip(offset).take(limit)));
    let returned = groups.as_ref().map_or(rows.len(), Vec::len);
    let metadata = RunsMetadata {
        total_count: found.len(),
        returned_count: returned,
        has_more: walk_forward.is_none() && offset.saturating_add(returned) < total_rows,
        without_figures: found.iter().filter(|own| own.figures.is_empty()).count(),
    };
    let text = match &best {
        Some(best) => format!("{returned} of {} runs. {}", found.len(), best.warning),
        None => format!("{returned} of {} runs.", found.len()),
    };
    let evidence = Evidence::from(Source::new(SourceClass::Exact, "the summaries of sealed runs"));
    let groups = groups.and_then(non_empty);
    Ok(Reply::new(Output { runs: rows, groups, walk_forward, best, metadata }, text, evidence))
}

/// The first rows, as many as fit into a reply; `hasMore` says that others follow.
fn fitting<T: Serialize>(rows: impl Iterator<Item = T>) -> Vec<T> {
    let mut left = ROWS_BYTES;
    rows.map_while(|row| {
        left = left.checked_sub(events::size_of_json(&row) + 1)?;
        Some(row)
    })
    .collect()
}

/// Fails for a name that neither a figure nor a setting of any run has.
fn require_known(found: &[Arc<Candidate>], params: &Params) -> Result<(), ToolError> {
    let of_filters = params.filters.iter().flatten().map(|own| &own.name);
    let names = of_filters.chain(&params.sort_by).chain(&params.group_by);
    for name in names {
        if found.iter().all(|own| own.value(name).is_none()) {
            let figures: BTreeSet<&String> = found
                .iter()
                .flat_map(|own| own.figures.keys().chain(own.settings.keys()))
                .collect();
            let known: Vec<&str> = figures.iter().take(40).map(|name| name.as_str()).collect();
            let message = format!("no run has a figure, parameter or tag `{name}`");
            return Err(ToolError::validation("INVALID_PARAMETER", message)
                .hint(format!("use one of {}", known.join(", "))));
        }
    }
    Ok(())
}

/// Sorts by a value; runs without it come last.
fn sort(found: &mut Vec<Arc<Candidate>>, name: &str, descending: bool) {
    let mut keyed: Vec<(Option<Value>, Arc<Candidate>)> =
        found.drain(..).map(|own| (own.value(name), own)).collect();
    keyed.sort_by(|(a, _), (b, _)| {
        let order = match (a, b) {
            (None, None) => return std::cmp::Ordering::Equal,
            (None, Some(_)) => return std::cmp::Ordering::Greater,
            (Some(_), None) => return std::cmp::Ordering::Less,
            (Some(a), Some(b)) => match (number(a), number(b)) {
                (Some(a), Some(b)) => a.total_cmp(&b),
                _ => plain(a).cmp(&plain(b)),
            },
        };
        if descending { order.reverse() } else { order }
    });
    found.extend(keyed.into_iter().map(|(_, own)| own));
}

/// Settings with different values among the runs; all if there is one run.
fn varying_settings(found: &[Arc<Candidate>]) -> BTreeSet<String> {
    let names: BTreeSet<&String> = found.iter().flat_map(|own| own.settings.keys()).collect();
    let varies = |name: &&&String| {
        let first = found.first().and_then(|own| own.settings.get(**name));
        found.len() < 2 || found.iter().any(|own| own.settings.get(**name) != first)
    };
    names.iter().filter(varies).map(|name| (*name).clone()).collect()
}

fn row(own: &Candidate, varying: &BTreeSet<String>) -> RunRow {
    let parameters = own.settings.iter().filter(|(name, _)| varying.contains(*name));
    RunRow {
        run_id: own.record.id.to_string(),
        strategy_name: own.record.header.strategy_name.clone(),
        parameters: parameters.map(|(name, value)| (name.clone(), value.clone())).collect(),
        figures: own.figures.clone(),
    }
}

fn grouped(found: &[Arc<Candidate>], name: &str) -> Vec<GroupRow> {
    let mut groups: BTreeMap<String, (Value, Vec<&Candidate>)> = BTreeMap::new();
    for own in found {
        let value = own.value(name).unwrap_or_default();
        groups.entry(plain(&value)).or_insert_with(|| (value, Vec::new())).1.push(own);
    }
    let row = |(value, runs): (Value, Vec<&Candidate>)| {
        let names: BTreeSet<&String> = runs.iter().flat_map(|own| own.figures.keys()).collect();
        let mean = |name: &&String| {
            let values: Vec<f64> =
                runs.iter().filter_map(|own| own.figures.get(*name).copied()).collect();
            ((*name).clone(), values.iter().sum::<f64>() / values.len().max(1) as f64)
        };
        GroupRow { runs: runs.len(), means: names.iter().map(mean).collect(), value }
    };
    let mut rows: Vec<GroupRow> = groups.into_values().map(row).collect();
    rows.sort_by(|a, b| match (number(&a.value), number(&b.value)) {
        (Some(a), Some(b)) => a.total_cmp(&b),
        _ => plain(&a.value).cmp(&plain(&b.value)),
    });
    rows
}

/// The best run by Sharpe ratio, deflated for the number of trials.
fn best_of(found: &[Arc<Candidate>]) -> Option<Best> {
    let sharpe = |own: &&Arc<Candidate>| own.figures.get("sharpe").copied();
    let ratios: Vec<f64> = found.iter().filter_map(|own| sharpe(&own)).collect();
    if ratios.len() < 2 {
        return None;
    }
    let best = found.iter().max_by(|a, b| {
        let of = |own| sharpe(own).unwrap_or(f64::NEG_INFINITY);
        of(a).total_cmp(&of(b))
    })?;
    let annual = sharpe(&best)?;
    let n = ratios.len() as f64;
    let mean = ratios.iter().sum::<f64>() / n;
    let variance = ratios.iter().map(|own| (own - mean).powi(2)).sum::<f64>() / (n - 1.0);
    let per_period = |annual: f64| annual / PERIODS_PER_YEAR.sqrt();
    let expected = deflated::expected_maximum(variance / PERIODS_PER_YEAR, ratios.len() as u64);
    let deflated_sharpe = expected.zip(best.moments).and_then(|(expected, moments)| {
        let (periods, skewness, kurtosis) = moments;
        deflated::probabilistic(per_period(annual), expected, periods, skewness, kurtosis)
    });
    let trials = ratios.len();
    let warning = match deflated_sharpe {
        Some(probability) if probability < 0.95 => format!(
            "The best of {trials} trials has Sharpe {annual:.2}, which may be luck: probability {probability:.2} that it exceeds what chance gives."
        ),
        Some(probability) => format!(
            "The best of {trials} trials has Sharpe {annual:.2}; probability {probability:.2} that it exceeds what chance gives."
        ),
        None => {
            format!("The best of {trials} trials has Sharpe {annual:.2}, too few returns to judge.")
        }
    };
    Some(Best {
        run_id: best.record.id.to_string(),
        sharpe: annual,
        trials,
        expected_by_chance: expected.map(|own| own * PERIODS_PER_YEAR.sqrt()),
        deflated_sharpe,
        warning,
    })
}
