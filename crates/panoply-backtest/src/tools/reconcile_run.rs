//! `reconcile_run`: fills against positions against balance: where do they first part?

use std::sync::Arc;

use panoply_contract::prelude::*;

use super::page;
use super::params::RunId;
use super::service::{BacktestService, tool_error};
use crate::position::to_f64;
use crate::query::reader::SealedRun;
use crate::query::reconcile::{Discrepancy, Reconciliation, Uncompared};

const SPEC: ToolSpec = ToolSpec {
    name: "reconcile_run",
    title: "Reconcile a run",
    description: Description {
        does: "Works positions and realized profit out from the fills, and compares them with the position updates of the log, security by security, and with what it says of profit, balance and equity.",
        when: "Use this when profit or positions look wrong, or before trusting a run: it finds lost events and wrong bookkeeping of the engine.",
        returns: "Returns for each security and for each telling of money whether the books agree, the first event where they part, with what the fills say and what the log says, and fills that no position update followed.",
        asks: &["Do the fills add up to the positions?", "Where did the log lose an event?"],
    },
    version: "1.0.0",
    aliases: &["backtest_reconcile_run"],
    permissions: &["backtests:read"],
    category: Category::Analysis,
    response_time: ResponseTime::Medium,
    cache: CachePolicy::For(Duration::from_secs(3600)),
    idempotent: true,
    data: &["backtests"],
    examples: &[
        Example {
            shows: "the sample run: fills, positions and profit agree to the cent",
            params: r#"{"runId": "d91a7ddb-8986-54b3-8bd4-42d1dab9869e"}"#,
            expect: Expect::Data(r#"{"agrees": true, "firstParting": null, "balances": [{"what": "pnl", "disagreements": 0, "last": -11843.1}]}"#),
        },
    ],
    tags: &["backtest", "data quality"],
    rate_limit: None,
    deprecated: None,
    annotations: Annotations::CLOSED,
    listing: Listing::Extra,
    widget: None,
}
.checked();

/// Which run.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// Unique identifier of the backtest run (GUID).
    run_id: RunId,
    /// Only this security.
    #[schemars(length(max = 200))]
    security_symbol: Option<String>,
}

/// Whether the books agree.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// The run.
    run_id: String,
    /// Whether they agree for every security and every telling of money.
    agrees: bool,
    /// The earliest event where any two books part; null when they agree.
    #[serde(rename = "firstParting")]
    first_discrepancy: Option<FirstDiscrepancy>,
    /// One row a security.
    securities: Vec<SecurityResult>,
    /// What the log says of money; empty when it says nothing, or for one security alone.
    balances: Vec<Balance>,
    /// What was compared.
    metadata: ReconciliationMetadata,
}

/// The earliest event where any two books part.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct FirstDiscrepancy {
    /// What differs: `quantity`, `realized`, `pnl`, `balance` or `equity`.
    what: String,
    /// The security, for quantity and realized profit.
    #[serde(skip_serializing_if = "Option::is_none")]
    security_symbol: Option<String>,
    /// The currency, for money that the log names one for.
    #[serde(skip_serializing_if = "Option::is_none")]
    currency: Option<String>,
    /// Where, and what both say.
    #[serde(flatten)]
    at: Disagreement,
}

/// The books of one security.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct SecurityResult {
    /// The security.
    security_symbol: String,
    /// What its prices and its profit are in, where the log says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    currency: Option<String>,
    /// How many fills were counted.
    fills: u64,
    /// How many position updates were compared.
    updates: u64,
    /// How many updates have another quantity than the fills before them.
    disagreements: u64,
    /// The first of those.
    first_disagreement: Option<Disagreement>,
    /// How many updates tell another change of realized profit than the fills since the last one.
    profit_disagreements: u64,
    /// The first of those; amounts are changes since the update before.
    first_profit_disagreement: Option<Disagreement>,
    /// Moments with fills that no position update followed; an engine may write none.
    fills_without_update: u64,
    /// The first of those fills.
    #[serde(skip_serializing_if = "Option::is_none")]
    first_fill_without_update: Option<String>,
    /// Realized profit by average cost from the fills, commissions in its currency taken off.
    realized_from_fills: f64,
    /// Realized profit as the last position update says; null when there is none.
    realized_in_log: Option<f64>,
}

/// What the log says of money, beside what the fills realized.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Balance {
    /// `pnl` (realized profit), `balance`, or `equity` (compared while nothing is held).
    what: String,
    /// The currency, where the log names one; each is compared for itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    currency: Option<String>,
    /// How often it could be compared.
    compared: u64,
    /// Whether only moments count at which nothing was held, because most others differ: the
    /// engine books by lots, or commissions when a trade is closed.
    only_when_flat: bool,
    /// How often it changed by another amount than the fills realized.
    disagreements: u64,
    /// The first of those; amounts are changes since the telling before.
    first_disagreement: Option<Disagreement>,
    /// The first amount told.
    first: f64,
    /// The last amount told.
    last: f64,
    /// What the fills realized in between.
    change_by_fills: f64,
}

/// Where the books part.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Disagreement {
    /// The event that says something else than the fills.
    event_id: String,
    /// When.
    timestamp: String,
    /// What the fills say.
    by_fills: f64,
    /// What it says.
    in_log: f64,
}

/// What was compared.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ReconciliationMetadata {
    /// Fills that could not be used: no security, direction, quantity or price.
    unusable_fills: u64,
    /// The currencies that the log names.
    currencies: Vec<String>,
    /// Money that was not compared, and why; empty when all was.
    not_compared: Vec<String>,
    /// Whether securities were left out because the reply was full.
    truncated: bool,
}

/// Securities shown at most.
const MAX_SECURITIES: usize = 150;

/// See the module.
pub(crate) struct ReconcileRun {
    pub(crate) service: Arc<BacktestService>,
}

impl Tool for ReconcileRun {
    type Params = Params;
    type Output = Output;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, params: Params, cx: &CallContext) -> Result<Reply<Output>, ToolError> {
        let run = self.service.run(&params.run_id.0)?;
        let stop = || cx.cancel.is_cancelled();
        let found = run.reconcile(params.security_symbol.as_deref(), &stop).map_err(tool_error)?;
        let first_discrepancy = first_discrepancy(&run, &found)?;
        let truncated = found.securities.len() > MAX_SECURITIES;
        let checks = found.securities.len() + found.accounts.len();
        let differing =
            found.securities.values().filter(|ledger| ledger.has_disagreement()).count()
                + found
                    .accounts
                    .values()
                    .filter(|account| account.money.verdict().0.disagreements > 0)
                    .count();
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
                first_disagreement: disagreement(&run, change.first)?,
                first: to_f64(first),
                last: to_f64(last),
                change_by_fills: to_f64(account.by_fills),
            });
        }
        let mut securities = Vec::new();
        for (symbol, ledger) in found.securities.into_iter().take(MAX_SECURITIES) {
            let fills_without_update =
                ledger.first_fill_without_update.filter(|_| ledger.updates > 0);
            let fills_without_update =
                fills_without_update.map(|seq| run.id_at(seq)).transpose().map_err(tool_error)?;
            let (profit, _) = ledger.profit.verdict();
            securities.push(SecurityResult {
                security_symbol: symbol,
                currency: non_empty(&ledger.currency),
                fills: ledger.fills,
                updates: ledger.updates,
                disagreements: ledger.quantity.disagreements,
                first_disagreement: disagreement(&run, ledger.quantity.first)?,
                profit_disagreements: profit.disagreements,
                first_profit_disagreement: disagreement(&run, profit.first)?,
                fills_without_update: ledger.fills_without_update,
                first_fill_without_update: fills_without_update.map(|id| id.to_string()),
                realized_from_fills: to_f64(ledger.position.realized),
                realized_in_log: ledger.realized_in_log.map(to_f64),
            });
        }
        let not_compared: Vec<String> = found.uncompared.iter().map(uncompared_reason).collect();
        let mut text = match &first_discrepancy {
            None => format!("Fills, positions and money agree in all {checks} books."),
            Some(first) => format!(
                "The books part in {differing} of {checks} places, first at {}: {} is {} by the fills and {} in the log.",
                first.at.timestamp, first.what, first.at.by_fills, first.at.in_log
            ),
        };
        for uncompared_reason in &not_compared {
            text.push_str(&format!(" Not compared: {uncompared_reason}."));
        }
        let table = securities.iter().fold(
            Table::new([
                "symbol",
                "fills",
                "updates",
                "disagreements",
                "first at",
                "without update",
            ]),
            |table, ledger| {
                let first = ledger
                    .first_disagreement
                    .as_ref()
                    .or(ledger.first_profit_disagreement.as_ref());
                table.row([
                    ledger.security_symbol.clone(),
                    ledger.fills.to_string(),
                    ledger.updates.to_string(),
                    (ledger.disagreements + ledger.profit_disagreements).to_string(),
                    first.map(|first| first.timestamp.clone()).unwrap_or_default(),
                    ledger.fills_without_update.to_string(),
                ])
            },
        );
        let metadata = ReconciliationMetadata {
            unusable_fills: found.unusable,
            currencies: found.currencies.into_iter().collect(),
            not_compared,
            truncated,
        };
        let agreeing = (checks - differing) as u64;
        let evidence = page::evidence(&run).agreed(agreeing, checks.max(1) as u64);
        let data = Output {
            run_id: run.id().to_string(),
            agrees: first_discrepancy.is_none(),
            first_discrepancy,
            securities,
            balances,
            metadata,
        };
        Ok(Reply::new(data, text, evidence).table(table))
    }
}

/// A name, when there is one.
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

/// The earliest difference of all books.
fn first_discrepancy(
    run: &SealedRun,
    found: &Reconciliation,
) -> Result<Option<FirstDiscrepancy>, ToolError> {
    let of_securities = found.securities.iter().flat_map(|(symbol, ledger)| {
        let symbol = Some(symbol.clone());
        [
            ("quantity", symbol.clone(), None, ledger.quantity.first),
            ("realized", symbol, non_empty(&ledger.currency), ledger.profit.verdict().0.first),
        ]
    });
    let of_money = found.accounts.iter().map(|((source, currency), account)| {
        (source.as_str(), None, non_empty(currency), account.money.verdict().0.first)
    });
    // At one moment the quantity says most, then the security's own profit, then the account's.
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
