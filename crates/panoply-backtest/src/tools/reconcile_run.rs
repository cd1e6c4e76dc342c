//! `reconcile_run`: fills against positions: where do they first part?

use std::sync::Arc;

use panoply_contract::prelude::*;

use super::page;
use super::service::{Backtests, tool_error};
use super::words::RunId;

const SPEC: ToolSpec = ToolSpec {
    name: "reconcile_run",
    title: "Reconcile a run",
    description: Description {
        does: "Works positions out from the fills and compares them with the position updates of the log, security by security.",
        when: "Use this when profit or positions look wrong, or before trusting a run: it finds lost events and wrong bookkeeping of the engine.",
        returns: "Returns for each security whether fills and position updates agree, and the first update where they part, with both quantities.",
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
            shows: "the sample run, from which three updates were taken out",
            params: r#"{"runId": "d91a7ddb-8986-54b3-8bd4-42d1dab9869e"}"#,
            expect: Expect::Data(r#"{"runId": "d91a7ddb-8986-54b3-8bd4-42d1dab9869e"}"#),
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
    /// Whether they agree for every security.
    agrees: bool,
    /// One row a security.
    securities: Vec<Books>,
    /// What was compared.
    metadata: ReconciliationMetadata,
}

/// The books of one security.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Books {
    /// The security.
    security_symbol: String,
    /// How many fills were counted.
    fills: u64,
    /// How many position updates were compared.
    updates: u64,
    /// How many updates have another quantity than the fills before them.
    disagreements: u64,
    /// The first of those.
    first_disagreement: Option<Disagreement>,
    /// Realized profit by average cost from the fills, commissions taken off.
    realized_from_fills: f64,
    /// Realized profit as the last position update says; null when there is none.
    realized_in_log: Option<f64>,
}

/// Where the books part.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Disagreement {
    /// The position update.
    event_id: String,
    /// When.
    timestamp: String,
    /// The quantity by the fills so far.
    by_fills: f64,
    /// The quantity it says.
    in_log: f64,
}

/// What was compared.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ReconciliationMetadata {
    /// Fills that could not be used: no security, direction, quantity or price.
    unusable_fills: u64,
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
        let truncated = found.securities.len() > MOST;
        let agreeing = found.securities.values().filter(|books| books.disagreements == 0).count();
        let checks = found.securities.len();
        let mut securities = Vec::new();
        for (symbol, books) in found.securities.into_iter().take(MOST) {
            let first = match &books.first {
                None => None,
                Some((seq, by_fills, in_log)) => {
                    let event = run.event(*seq).map_err(tool_error)?;
                    Some(Disagreement {
                        event_id: event.id().to_string(),
                        timestamp: event.timestamp().with_millis(),
                        by_fills: *by_fills,
                        in_log: *in_log,
                    })
                }
            };
            securities.push(Books {
                security_symbol: symbol,
                fills: books.fills,
                updates: books.updates,
                disagreements: books.disagreements,
                first_disagreement: first,
                realized_from_fills: books.realized,
                realized_in_log: books.realized_in_log,
            });
        }
        let agrees = agreeing == checks;
        let text = if agrees {
            format!("Fills and position updates agree for all {checks} securities.")
        } else {
            format!(
                "Fills and position updates part for {} of {checks} securities.",
                checks - agreeing
            )
        };
        let table = securities.iter().fold(
            Table::new(["symbol", "fills", "updates", "disagreements", "first at"]),
            |table, books| {
                let first = books.first_disagreement.as_ref().map(|first| first.timestamp.clone());
                table.row([
                    books.security_symbol.clone(),
                    books.fills.to_string(),
                    books.updates.to_string(),
                    books.disagreements.to_string(),
                    first.unwrap_or_default(),
                ])
            },
        );
        let metadata = ReconciliationMetadata { unusable_fills: found.unusable, truncated };
        let evidence = page::evidence(&run).agreed(agreeing as u64, checks.max(1) as u64);
        let data = Output { run_id: run.id().to_string(), agrees, securities, metadata };
        Ok(Reply::new(data, text, evidence).table(table))
    }
}
