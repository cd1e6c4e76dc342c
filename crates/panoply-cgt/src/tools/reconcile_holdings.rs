//! `reconcile_holdings`: compares recorded holdings with those that a broker states.

use std::sync::Arc;

use panoply_contract::prelude::*;

use super::arguments::{NumberText, quantity_of};
use super::content::Content;
use super::explain_matching::{date_of, ticker_of};
use super::portfolios::{PortfolioId, unreadable};
use super::service::CgtService;
use crate::engine::{Options, SameDaySplit};
use crate::portfolio::{self, Entry, Reconciled, StatedHolding, reconcile};
use crate::transaction::Row;

const SPEC: ToolSpec = ToolSpec {
    name: "reconcile_holdings",
    title: "Compare with a broker's statement",
    description: Description {
        does: "Compares the number of shares that the transactions leave on a date with the holdings on a broker's statement.",
        when: "Use this when the user has a statement or sees another number at the broker: a difference means that transactions are missing, most often a split. With a stored portfolio it can look at one account.",
        returns: "Returns each holding with recorded and stated number, the difference and its likely reason.",
        asks: &["Do my records agree with my broker's statement?", "My broker shows 400 shares, you show 100"],
    },
    version: "1.0.0",
    aliases: &[],
    permissions: &["cgt:read"],
    category: Category::Analysis,
    response_time: ResponseTime::Medium,
    cache: CachePolicy::Never,
    idempotent: true,
    data: &["portfolios"],
    examples: &[
        Example {
            shows: "a split that the records lack",
            params: r#"{"cgt_content": "2020-01-15 BUY AAPL 100 @ 150", "stated": [{"ticker": "AAPL", "quantity": "400"}]}"#,
            expect: Expect::Data(
                r#"{"agrees": false, "holdings": [{"ticker": "AAPL", "recorded": "100", "stated": "400", "difference": "300", "reason": "a SPLIT with RATIO 4 is missing"}]}"#,
            ),
        },
        Example {
            shows: "a stored portfolio",
            params: r#"{"portfolio_id": "pf_sample", "account": "Broker", "stated": [{"ticker": "AAPL", "quantity": 50}, {"ticker": "MSFT", "quantity": 10}]}"#,
            expect: Expect::Data(r#"{"agrees": true}"#),
        },
    ],
    tags: super::portfolios::TAGS,
    rate_limit: None,
    deprecated: None,
    annotations: Annotations::CLOSED,
    listing: Listing::Extra,
    widget: None,
}
.checked();

/// What to compare.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Params {
    /// Stored portfolio; only its general accounts, unless `account` is given.
    portfolio_id: Option<PortfolioId>,
    /// The transactions: lines of text, JSON text, or a JSON array. Required, unless a portfolio is given.
    cgt_content: Option<Content>,
    /// Alias of `cgt_content`.
    #[schemars(extend("x-listed" = false))]
    transactions: Option<Content>,
    /// Account of the portfolio.
    #[schemars(length(min = 1, max = 100))]
    account: Option<String>,
    /// Date of the statement; by default the end of the records.
    #[schemars(length(min = 10, max = 10))]
    date: Option<String>,
    /// Holdings on the statement.
    #[schemars(length(min = 1, max = 1000))]
    stated: Vec<StatedParam>,
    /// How splits on the day of a trade are ordered; see `calculate_report`.
    #[serde(default)]
    #[schemars(extend("x-listed" = false))]
    same_day_split: SameDaySplit,
}

/// A stated holding.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct StatedParam {
    /// Ticker.
    #[schemars(length(min = 1, max = 50))]
    ticker: String,
    /// Number of shares.
    quantity: NumberText,
}

/// Result of the comparison.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// Whether all holdings agree.
    agrees: bool,
    /// Holdings, by ticker.
    holdings: Vec<HoldingOut>,
}

/// A holding in the records and on the statement.
#[derive(Debug, Serialize, JsonSchema)]
struct HoldingOut {
    /// Ticker.
    ticker: String,
    /// Number of shares in the records.
    recorded: String,
    /// Number on the statement; null when it does not name the holding.
    stated: Option<String>,
    /// Stated less recorded.
    difference: String,
    /// Likely reason of a difference.
    reason: Option<String>,
}

pub(crate) struct ReconcileHoldings {
    service: Arc<CgtService>,
}

impl ReconcileHoldings {
    pub(super) const fn new(service: Arc<CgtService>) -> Self {
        Self { service }
    }

    fn rows(&self, params: &Params) -> Result<Vec<Row>, ToolError> {
        let (Some(id), Some(account)) = (&params.portfolio_id, &params.account) else {
            let given = self.service.transactions(
                params.cgt_content.as_ref(),
                params.transactions.as_ref(),
                params.portfolio_id.as_ref(),
            )?;
            return Ok(given.rows);
        };
        let portfolio = self.service.portfolios.load(id.as_str())?;
        if !portfolio.summary.accounts.iter().any(|known| known.name == *account) {
            return Err(crate::store::PortfolioError::NoAccount(account.clone()).into());
        }
        let own: Vec<Entry> =
            portfolio.entries.into_iter().filter(|entry| entry.account == *account).collect();
        portfolio::rows(&own).map_err(|_| unreadable())
    }
}

impl Tool for ReconcileHoldings {
    type Params = Params;
    type Output = Output;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, params: Params, _: &CallContext) -> Result<Reply<Output>, ToolError> {
        let mut rows = self.rows(&params)?;
        if let Some(date) = params.date.as_deref().map(|text| date_of("date", text)).transpose()? {
            rows.retain(|row| row.transaction.date <= date);
        }
        let stated = params.stated.iter().map(stated_of).collect::<Result<Vec<_>, _>>()?;
        // Shares that were sold before the first recorded purchase are a difference, not an error.
        let options = Options {
            allow_short: true,
            same_day_split: params.same_day_split,
            ..Options::default()
        };
        let computation = self.service.compute(&rows, options)?;
        let found = reconcile(&computation.holdings, &stated);
        let holdings: Vec<HoldingOut> = found.iter().map(holding_out).collect();
        let wrong = found.iter().filter(|one| !one.difference().is_zero()).count();
        let text = match wrong {
            0 => format!("All {} holdings agree with the statement.", holdings.len()),
            _ => format!("{wrong} of {} holdings differ from the statement.", holdings.len()),
        };
        let table = holdings.iter().fold(
            Table::new(["ticker", "recorded", "stated", "reason"]),
            |table, one| {
                let stated = one.stated.clone().unwrap_or_default();
                let reason = one.reason.clone().unwrap_or_default();
                table.row([one.ticker.clone(), one.recorded.clone(), stated, reason])
            },
        );
        let evidence = self.service.evidence(rows.len());
        Ok(Reply::new(Output { agrees: wrong == 0, holdings }, text, evidence).table(table))
    }
}

fn holding_out(one: &Reconciled) -> HoldingOut {
    HoldingOut {
        ticker: one.ticker.to_string(),
        recorded: one.recorded.normalize().to_string(),
        stated: one.stated.map(|stated| stated.normalize().to_string()),
        difference: one.difference().normalize().to_string(),
        reason: one.reason.clone(),
    }
}

fn stated_of(param: &StatedParam) -> Result<StatedHolding, ToolError> {
    let ticker = ticker_of(&param.ticker)?;
    let quantity = match param.quantity.as_str().trim() {
        "0" => rust_decimal::Decimal::ZERO,
        text => quantity_of("quantity", text)?.get(),
    };
    Ok(StatedHolding { ticker, quantity })
}
