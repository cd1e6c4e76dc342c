//! `reconcile_run`: compares fills, position updates and account amounts of a run.

use panoply_contract::prelude::*;

use super::page;
use super::params::RunId;
use super::query_spec::QuerySpec;
use super::service::{BacktestService, tool_error};
use crate::position::to_f64;
use crate::query::reader::SealedRun;
use crate::query::reconcile::{Discrepancy, Reconciliation, SecurityLedger, Uncompared};

pub(super) const SPEC: ToolSpec = QuerySpec {
    name: "reconcile_run",
    title: "Reconcile a run",
    description: Description {
        does: "Computes positions and realized profit from the fills and compares them with the position updates of the log, security by security, and with its profit, balance and equity.",
        when: "Use this when profit or positions look wrong, or before trusting a run: it finds lost events and wrong bookkeeping of the engine.",
        returns: "Returns for each security and each account amount whether log and fills agree, the first event where they differ with both values, and fills without a position update.",
        asks: &["Do the fills add up to the positions?", "Where did the log lose an event?"],
    },
    aliases: &["backtest_reconcile_run"],
    category: Category::Analysis,
    examples: &[
        Example {
            shows: "the sample run: fills, positions and profit agree to the cent",
            params: r#"{"runId": "d91a7ddb-8986-54b3-8bd4-42d1dab9869e"}"#,
            expect: Expect::Data(r#"{"agrees": true, "firstParting": null, "balances": [{"what": "pnl", "disagreements": 0, "last": -11843.1}]}"#),
        },
    ],
    tags: &["backtest", "data quality"],
    listing: Listing::Extra,
    widget: None,
}
.checked();

/// The run to reconcile.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// Unique identifier of the backtest run (GUID).
    run_id: RunId,
    /// Only this security.
    #[schemars(length(max = 200))]
    security_symbol: Option<String>,
}

/// The result of a reconciliation.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// The run's id.
    run_id: String,
    /// Whether all comparisons agree.
    agrees: bool,
    /// The earliest discrepancy; null when all comparisons agree.
    #[serde(rename = "firstParting")]
    first_discrepancy: Option<FirstDiscrepancy>,
    /// One row per security.
    securities: Vec<SecurityResult>,
    /// Account amounts; empty when the log has none, or when one security was requested.
    balances: Vec<Balance>,
    /// Scope of the comparison.
    metadata: ReconciliationMetadata,
}

/// The earliest discrepancy.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct FirstDiscrepancy {
    /// The differing amount: `quantity`, `realized`, `pnl`, `balance` or `equity`.
    what: String,
    /// The security, for quantity and realized profit.
    #[serde(skip_serializing_if = "Option::is_none")]
    security_symbol: Option<String>,
    /// The currency, if the log names one.
    #[serde(skip_serializing_if = "Option::is_none")]
    currency: Option<String>,
    /// Event, time and both values.
    #[serde(flatten)]
    at: Disagreement,
}

/// The comparison for one security.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct SecurityResult {
    /// The security.
    security_symbol: String,
    /// Currency of prices and profit, if the log names one.
    #[serde(skip_serializing_if = "Option::is_none")]
    currency: Option<String>,
    /// Number of fills.
    fills: u64,
    /// Number of position updates.
    updates: u64,
    /// Updates whose quantity differs from the fills.
    disagreements: u64,
    /// The first of them.
    first_disagreement: Option<Disagreement>,
    /// Updates whose realized profit changed by another amount than the fills realized.
    profit_disagreements: u64,
    /// The first of them; amounts are changes since the previous update.
    first_profit_disagreement: Option<Disagreement>,
    /// Fills that no position update follows, by links and times; some engines write none.
    fills_without_update: u64,
    /// The first of those fills.
    #[serde(skip_serializing_if = "Option::is_none")]
    first_fill_without_update: Option<String>,
    /// Realized profit computed from the fills by average cost, net of commissions in its currency.
    realized_from_fills: f64,
    /// Realized profit in the last position update; null when there is none.
    realized_in_log: Option<f64>,
}

/// The comparison of one account amount with the realized profit of the fills.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Balance {
    /// `pnl` (realized profit), `balance`, or `equity` (compared only while flat).
    what: String,
    /// The currency, if the log names one; currencies are compared separately.
    #[serde(skip_serializing_if = "Option::is_none")]
    currency: Option<String>,
    /// Number of comparisons.
    compared: u64,
    /// Whether only reports at flat positions count, because most others differ: the engine
    /// matches lots, or books commissions when a trade closes.
    only_when_flat: bool,
    /// Number of reports whose change differs from the realized profit of the fills.
    disagreements: u64,
    /// The first of them; amounts are changes since the previous report.
    first_disagreement: Option<Disagreement>,
    /// First reported amount.
    first: f64,
    /// Last reported amount.
    last: f64,
    /// Realized profit of the fills between them.
    change_by_fills: f64,
}

/// A discrepancy.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Disagreement {
    /// The event whose value differs.
    event_id: String,
    /// Its time.
    timestamp: String,
    /// The value computed from the fills.
    by_fills: f64,
    /// The value in the log.
    in_log: f64,
}

/// Scope of the comparison.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ReconciliationMetadata {
    /// Fills without security, direction, quantity or price.
    unusable_fills: u64,
    /// Currencies that the log names.
    currencies: Vec<String>,
    /// Amounts that were not compared, with the reason.
    not_compared: Vec<String>,
    /// Whether securities were omitted because the reply was full.
    truncated: bool,
}

/// Maximum securities in a reply.
const MAX_SECURITIES: usize = 150;

pub(super) fn call(
    service: &BacktestService,
    params: Params,
    cx: &CallContext,
) -> Result<Reply<Output>, ToolError> {
    let run = service.run(&params.run_id.0)?;
    let stop = || cx.cancel.is_cancelled();
    let found = run.reconcile(params.security_symbol.as_deref(), &stop).map_err(tool_error)?;
    let first_discrepancy = first_discrepancy(&run, &found)?;
    let checks = found.securities.len() + found.accounts.len();
    let differing_accounts =
        found.accounts.values().filter(|account| account.money.verdict().0.disagreements > 0);
    let differing = found.securities.values().filter(|ledger| ledger.has_disagreement()).count()
        + differing_accounts.count();
    let not_compared: Vec<String> = found.uncompared.iter().map(uncompared_reason).collect();
    let mut text = match &first_discrepancy {
        None => format!("Fills, positions and account amounts agree in all {checks} comparisons."),
        Some(first) => format!(
            "{differing} of {checks} comparisons differ, first at {}: {} is {} by the fills and {} in the log.",
            first.at.timestamp, first.what, first.at.by_fills, first.at.in_log
        ),
    };
    for reason in &not_compared {
        text.push_str(&format!(" Not compared: {reason}."));
    }
    let balances = balances(&run, &found)?;
    let truncated = found.securities.len() > MAX_SECURITIES;
    let securities = found.securities.into_iter().take(MAX_SECURITIES);
    let securities = securities
        .map(|((symbol, _), ledger)| security_result(&run, symbol, &ledger))
        .collect::<Result<Vec<_>, _>>()?;
    let table = table(&securities);
    let evidence = page::evidence(&run).agreed((checks - differing) as u64, checks.max(1) as u64);
    let data = Output {
        run_id: run.id().to_string(),
        agrees: first_discrepancy.is_none(),
        first_discrepancy,
        securities,
        balances,
        metadata: ReconciliationMetadata {
            unusable_fills: found.unusable,
            currencies: found.currencies.into_iter().collect(),
            not_compared,
            truncated,
        },
    };
    Ok(Reply::new(data, text, evidence).table(table))
}

fn balances(run: &SealedRun, found: &Reconciliation) -> Result<Vec<Balance>, ToolError> {
    let mut balances = Vec::new();
    for ((source, currency), account) in &found.accounts {
        let Some((first, last)) = account.span else { continue };
        let (change, all_compared) = account.money.verdict();
        balances.push(Balance {
            what: source.as_str().to_owned(),
            currency: non_empty(currency),
            compared: change.compared,
            only_when_flat: !all_compared,
            disagreements: change.disagreements,
            first_disagreement: disagreement(run, change.first)?,
            first: to_f64(first),
            last: to_f64(last),
            change_by_fills: to_f64(account.by_fills),
        });
    }
    Ok(balances)
}

fn security_result(
    run: &SealedRun,
    security_symbol: String,
    ledger: &SecurityLedger,
) -> Result<SecurityResult, ToolError> {
    let first_fill = ledger.first_fill_without_update.filter(|_| ledger.updates > 0);
    let first_fill = first_fill.map(|seq| run.id_at(seq)).transpose().map_err(tool_error)?;
    let (profit, _) = ledger.profit.verdict();
    Ok(SecurityResult {
        security_symbol,
        currency: non_empty(&ledger.currency),
        fills: ledger.fills,
        updates: ledger.updates,
        disagreements: ledger.quantity.disagreements,
        first_disagreement: disagreement(run, ledger.quantity.first)?,
        profit_disagreements: profit.disagreements,
        first_profit_disagreement: disagreement(run, profit.first)?,
        fills_without_update: ledger.fills_without_update,
        first_fill_without_update: first_fill.map(|id| id.to_string()),
        realized_from_fills: to_f64(ledger.position.realized),
        realized_in_log: ledger.realized_in_log.map(to_f64),
    })
}

fn table(securities: &[SecurityResult]) -> Table {
    let names = ["symbol", "fills", "updates", "disagreements", "first at", "without update"];
    securities.iter().fold(Table::new(names), |table, security| {
        let first =
            security.first_disagreement.as_ref().or(security.first_profit_disagreement.as_ref());
        table.row([
            security.security_symbol.clone(),
            security.fills.to_string(),
            security.updates.to_string(),
            (security.disagreements + security.profit_disagreements).to_string(),
            first.map(|first| first.timestamp.clone()).unwrap_or_default(),
            security.fills_without_update.to_string(),
        ])
    })
}

fn non_empty(currency: &str) -> Option<String> {
    (!currency.is_empty()).then(|| currency.to_owned())
}

fn uncompared_reason(uncompared: &Uncompared) -> String {
    match uncompared {
        Uncompared::FillsWithoutCurrency(fills) => format!(
            "money, because the log has several currencies and {fills} fills name none (`Currency`)"
        ),
        Uncompared::WithoutCurrency(source) => format!(
            "{}, because the log has several currencies and it names none (`StateAfter.Currency`)",
            source.as_str()
        ),
        Uncompared::TooManyCurrencies => "currencies beyond the first 32".to_owned(),
    }
}

/// The earliest discrepancy of all comparisons.
fn first_discrepancy(
    run: &SealedRun,
    found: &Reconciliation,
) -> Result<Option<FirstDiscrepancy>, ToolError> {
    let of_securities = found.securities.iter().flat_map(|((symbol, listed_in), ledger)| {
        let symbol = Some(symbol.clone());
        [
            ("quantity", symbol.clone(), listed_in.clone(), ledger.quantity.first),
            ("realized", symbol, non_empty(&ledger.currency), ledger.profit.verdict().0.first),
        ]
    });
    let of_money = found.accounts.iter().map(|((source, currency), account)| {
        (source.as_str(), None, non_empty(currency), account.money.verdict().0.first)
    });
    // At one timestamp: quantities first, then profit by security, then account amounts.
    let mut discrepancies = Vec::new();
    for (rank, (what, symbol, currency, first)) in of_securities.chain(of_money).enumerate() {
        let Some(first) = first else { continue };
        let time = run.event(first.seq).map_err(tool_error)?.timestamp();
        discrepancies.push(((time, what != "quantity", rank), what, symbol, currency, first));
    }
    let earliest = discrepancies.into_iter().min_by_key(|(place, ..)| *place);
    let Some((_, what, security_symbol, currency, first)) = earliest else { return Ok(None) };
    let at = disagreement(run, Some(first))?;
    Ok(at.map(|at| FirstDiscrepancy { what: what.to_owned(), security_symbol, currency, at }))
}

fn disagreement(
    run: &SealedRun,
    discrepancy: Option<Discrepancy>,
) -> Result<Option<Disagreement>, ToolError> {
    let Some(discrepancy) = discrepancy else { return Ok(None) };
    let event = run.event(discrepancy.seq).map_err(tool_error)?;
    Ok(Some(Disagreement {
        event_id: event.id().to_string(),
        timestamp: event.timestamp().with_millis(),
        by_fills: to_f64(discrepancy.by_fills),
        in_log: to_f64(discrepancy.in_log),
    }))
}
