//! `reconcile_run`: fills against positions against balance: where do they first part?

use std::sync::Arc;

use panoply_contract::prelude::*;

use super::page;
use super::service::{Backtests, tool_error};
use super::words::RunId;
use crate::books::to_f64;
use crate::query::reader::SealedRun;
use crate::query::reconcile::{LeftOut, Parting, Reconciliation};

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
    first_parting: Option<FirstParting>,
    /// One row a security.
    securities: Vec<Books>,
    /// What the log says of money; empty when it says nothing, or for one security alone.
    balances: Vec<Balance>,
    /// What was compared.
    metadata: ReconciliationMetadata,
}

/// The earliest event where any two books part.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct FirstParting {
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
struct Books {
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
const MOST: usize = 150;

/// See the module.
pub(crate) struct ReconcileRun {
    pub(crate) backtests: Arc<Backtests>,
}

impl Tool for ReconcileRun {
    type Params = Params;
    type Output = Output;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, params: Params, cx: &CallContext) -> Result<Reply<Output>, ToolError> {
        let run = self.backtests.run(&params.run_id.0)?;
        let stop = || cx.cancel.is_cancelled();
        let found = run.reconcile(params.security_symbol.as_deref(), &stop).map_err(tool_error)?;
        let first_parting = first_parting(&run, &found)?;
        let truncated = found.securities.len() > MOST;
        let checks = found.securities.len() + found.accounts.len();
        let parted = found.securities.values().filter(|books| books.part()).count()
            + found
                .accounts
                .values()
                .filter(|account| account.money.verdict().0.disagreements > 0)
                .count();
        let mut balances = Vec::new();
        for ((telling, currency), account) in &found.accounts {
            let Some((first, last)) = account.span else { continue };
            let (change, every_telling) = account.money.verdict();
            balances.push(Balance {
                what: telling.as_str().to_owned(),
                currency: told(currency),
                compared: change.compared,
                only_when_flat: !every_telling,
                disagreements: change.disagreements,
                first_disagreement: disagreement(&run, change.first)?,
                first: to_f64(first),
                last: to_f64(last),
                change_by_fills: to_f64(account.by_fills),
            });
        }
        let mut securities = Vec::new();
        for (symbol, books) in found.securities.into_iter().take(MOST) {
            let unanswered = books.first_unanswered.filter(|_| books.updates > 0);
            let unanswered =
                unanswered.map(|seq| run.id_at(seq)).transpose().map_err(tool_error)?;
            let (profit, _) = books.profit.verdict();
            securities.push(Books {
                security_symbol: symbol,
                currency: told(&books.currency),
                fills: books.fills,
                updates: books.updates,
                disagreements: books.quantity.disagreements,
                first_disagreement: disagreement(&run, books.quantity.first)?,
                profit_disagreements: profit.disagreements,
                first_profit_disagreement: disagreement(&run, profit.first)?,
                fills_without_update: books.unanswered,
                first_fill_without_update: unanswered.map(|id| id.to_string()),
                realized_from_fills: to_f64(books.position.realized),
                realized_in_log: books.realized_in_log.map(to_f64),
            });
        }
        let not_compared: Vec<String> = found.left_out.iter().map(reason).collect();
        let mut text = match &first_parting {
            None => format!("Fills, positions and money agree in all {checks} books."),
            Some(first) => format!(
                "The books part in {parted} of {checks} places, first at {}: {} is {} by the fills and {} in the log.",
                first.at.timestamp, first.what, first.at.by_fills, first.at.in_log
            ),
        };
        for reason in &not_compared {
            text.push_str(&format!(" Not compared: {reason}."));
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
            |table, books| {
                let first =
                    books.first_disagreement.as_ref().or(books.first_profit_disagreement.as_ref());
                table.row([
                    books.security_symbol.clone(),
                    books.fills.to_string(),
                    books.updates.to_string(),
                    (books.disagreements + books.profit_disagreements).to_string(),
                    first.map(|first| first.timestamp.clone()).unwrap_or_default(),
                    books.fills_without_update.to_string(),
                ])
            },
        );
        let metadata = ReconciliationMetadata {
            unusable_fills: found.unusable,
            currencies: found.currencies.into_iter().collect(),
            not_compared,
            truncated,
        };
        let agreeing = (checks - parted) as u64;
        let evidence = page::evidence(&run).agreed(agreeing, checks.max(1) as u64);
        let data = Output {
            run_id: run.id().to_string(),
            agrees: first_parting.is_none(),
            first_parting,
            securities,
            balances,
            metadata,
        };
        Ok(Reply::new(data, text, evidence).table(table))
    }
}

/// A name, when there is one.
fn told(currency: &str) -> Option<String> {
    (!currency.is_empty()).then(|| currency.to_owned())
}

fn reason(left_out: &LeftOut) -> String {
    match left_out {
        LeftOut::FillsWithoutCurrency(fills) => format!(
            "money, because the log has several currencies and {fills} fills name none (`Currency`)"
        ),
        LeftOut::WithoutCurrency(telling) => format!(
            "{}, because the log has several currencies and it names none (`StateAfter.Currency`)",
            telling.as_str()
        ),
        LeftOut::TooManyCurrencies => "currencies beyond the first 32".to_owned(),
    }
}

/// The earliest difference of all books.
fn first_parting(
    run: &SealedRun,
    found: &Reconciliation,
) -> Result<Option<FirstParting>, ToolError> {
    let of_securities = found.securities.iter().flat_map(|(symbol, books)| {
        let symbol = Some(symbol.clone());
        [
            ("quantity", symbol.clone(), None, books.quantity.first),
            ("realized", symbol, told(&books.currency), books.profit.verdict().0.first),
        ]
    });
    let of_money = found.accounts.iter().map(|((telling, currency), account)| {
        (telling.as_str(), None, told(currency), account.money.verdict().0.first)
    });
    // At one moment the quantity says most, then the security's own profit, then the account's.
    let mut partings = Vec::new();
    for (rank, (what, symbol, currency, first)) in of_securities.chain(of_money).enumerate() {
        let Some(first) = first else { continue };
        let time = run.event(first.seq).map_err(tool_error)?.timestamp();
        partings.push(((time, what != "quantity", rank), what, symbol, currency, first));
    }
    let earliest = partings.into_iter().min_by_key(|(place, ..)| *place);
    let Some((_, what, security_symbol, currency, first)) = earliest else { return Ok(None) };
    let at = disagreement(run, Some(first))?;
    Ok(at.map(|at| FirstParting { what: what.to_owned(), security_symbol, currency, at }))
}

fn disagreement(
    run: &SealedRun,
    parting: Option<Parting>,
) -> Result<Option<Disagreement>, ToolError> {
    let Some(parting) = parting else { return Ok(None) };
    let event = run.event(parting.seq).map_err(tool_error)?;
    Ok(Some(Disagreement {
        event_id: event.id().to_string(),
        timestamp: event.timestamp().with_millis(),
        by_fills: to_f64(parting.by_fills),
        in_log: to_f64(parting.in_log),
    }))
}
