//! `explain_matching`: how a sale was matched and its gain computed.

use std::sync::Arc;

use jiff::ToSpan;
use panoply_contract::prelude::*;
use serde_json::json;

use super::arguments::AbsenceParam;
use super::calculate_report::gain_or_loss;
use super::content::Content;
use super::dialect::EXAMPLE_KEY;
use super::portfolios::PortfolioId;
use super::service::CgtService;
use super::wire::{OriginalOut, originals};
use crate::dsl;
use crate::engine::{
    Computation, Disposal, Leg, Occasion, Options, PoolChange, PoolEntry, PoolState, Rule,
    SameDaySplit,
};
use crate::money::Money;
use crate::tax_year::TaxYear;
use crate::transaction::Ticker;

/// Maximum number of disposals listed in an error.
const MAX_LISTED: usize = 30;
/// Maximum number of purchases listed with a pool.
const MAX_PURCHASES: usize = 100;

const SPEC: ToolSpec = ToolSpec {
    name: "explain_matching",
    title: "Explain a sale",
    description: Description {
        does: "Explains how one sale was matched: which rule applied to which shares, what they had cost, the pool before and after with its average cost, and the law behind it.",
        when: "Use this when the user asks why a gain or loss is what it is, or whether buying back within 30 days mattered. Needs the same transactions as `calculate_report`, the date of the sale and the ticker.",
        returns: "Returns each match with rule, quantity, cost, gain, the window of dates, the pool and a sentence in plain words.",
        asks: &["Why is the gain on my Apple sale so small?", "Which shares did I sell on 20 June?", "Did the 30-day rule apply?"],
    },
    version: "1.0.0",
    aliases: &[],
    permissions: &["cgt:read"],
    category: Category::Analysis,
    response_time: ResponseTime::Medium,
    cache: CachePolicy::Never,
    idempotent: true,
    data: &["hmrc-rates", "portfolios"],
    examples: &[
        Example {
            shows: "a sale matched on the same day",
            params: r#"{"cgt_content": "2024-05-01 BUY A 10 @ 5\n2024-05-01 SELL A 10 @ 6", "disposal_date": "2024-05-01", "ticker": "A"}"#,
            expect: Expect::Data(
                r#"{"disposal_date": "2024-05-01", "ticker": "A", "quantity": "10", "total_gain_or_loss": "10.00"}"#,
            ),
        },
        Example {
            shows: "a day without a sale",
            params: r#"{"cgt_content": "2024-05-01 BUY A 10 @ 5\n2024-05-01 SELL A 10 @ 6", "disposal_date": "2024-05-02", "ticker": "A"}"#,
            expect: Expect::Error("DISPOSAL_NOT_FOUND"),
        },
    ],
    tags: &["tax", "uk", "shares", "capital-gains", "explanation"],
    rate_limit: None,
    deprecated: None,
    annotations: Annotations::CLOSED,
    listing: Listing::Core,
    widget: None,
}
.checked();

/// Sale to explain.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Params {
    /// The transactions: lines of text, JSON text, or a JSON array. Required, unless `portfolio_id` is given.
    cgt_content: Option<Content>,
    /// Alias of `cgt_content`.
    #[schemars(extend("x-listed" = false))]
    transactions: Option<Content>,
    /// Stored portfolio, in place of `cgt_content`.
    #[schemars(extend("x-listed" = false))]
    portfolio_id: Option<PortfolioId>,
    /// Date of the sale, YYYY-MM-DD.
    #[schemars(length(min = 1, max = 40))]
    disposal_date: String,
    /// Ticker, case-insensitive.
    #[schemars(length(min = 1, max = 50))]
    ticker: String,
    /// Match sales exceeding the holding with later purchases instead of rejecting them.
    #[serde(default)]
    #[schemars(extend("x-listed" = false))]
    allow_short: bool,
    /// Order of a split and trades on the same day; default `refuse`.
    #[serde(default)]
    #[schemars(extend("x-listed" = false))]
    same_day_split: SameDaySplit,
    /// Time of non-residence: no 30-day rule for purchases in it, and gains of it are charged on a return within five years.
    #[schemars(extend("x-listed" = false))]
    non_resident: Option<AbsenceParam>,
}

/// Matching of a sale. Amounts are decimal strings in pounds.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// Date.
    disposal_date: String,
    /// Ticker.
    ticker: String,
    /// Tax year.
    tax_year: String,
    /// Sale, CapitalDistribution, TakeoverCash or NegligibleValue.
    occasion: &'static str,
    /// Number of shares; 0 for a part disposal.
    quantity: String,
    /// Gross proceeds, before costs.
    gross_proceeds: String,
    /// Costs of disposal.
    fees: String,
    /// Net proceeds, after costs.
    proceeds: String,
    /// Matches, in statutory order.
    matches: Vec<MatchOut>,
    /// Gain of the sale; a loss is negative.
    total_gain_or_loss: String,
    /// Explanation of the whole sale.
    explanation: String,
    /// Amounts before conversion; absent when all were in pounds.
    #[serde(skip_serializing_if = "Option::is_none")]
    original: Option<Vec<OriginalOut>>,
}

/// Shares matched by one rule.
#[derive(Debug, Serialize, JsonSchema)]
struct MatchOut {
    /// Same Day, Bed & Breakfast, Section 104, Later Acquisition, Part Disposal, Small Distribution above Cost or Negligible Value.
    rule: String,
    /// Number of shares, as of the disposal.
    quantity: String,
    /// Proportion of the net proceeds.
    proceeds: String,
    /// Allowable cost.
    allowable_cost: String,
    /// Gain; a loss is negative.
    gain_or_loss: String,
    /// Unrounded cost.
    exact_cost: String,
    /// Unrounded gain.
    exact_gain_or_loss: String,
    /// Acquisition date; absent for the pool.
    #[serde(skip_serializing_if = "Option::is_none")]
    acquisition_date: Option<String>,
    /// Days on which the rule looks for purchases; absent for the pool.
    #[serde(skip_serializing_if = "Option::is_none")]
    window: Option<Window>,
    /// Pool before and after; only for Section 104.
    #[serde(skip_serializing_if = "Option::is_none")]
    pool: Option<PoolOut>,
    /// Statutory reference.
    law: String,
    /// Explanation of the match.
    explanation: String,
    /// The whole day's purchase before conversion; absent when all was in pounds.
    #[serde(skip_serializing_if = "Option::is_none")]
    original: Option<Vec<OriginalOut>>,
}

/// Range of days, both ends included.
#[derive(Debug, Serialize, JsonSchema)]
struct Window {
    /// First day.
    from: String,
    /// Last day; null when open-ended.
    to: Option<String>,
}

/// Pool before and after the sale.
#[derive(Debug, Serialize, JsonSchema)]
struct PoolOut {
    /// Before the sale.
    before: PoolStateOut,
    /// After the sale.
    after: PoolStateOut,
    /// Average cost per share.
    average_cost: String,
    /// Purchases that entered the pool up to the sale, the latest 100; absent when all were in pounds.
    #[serde(skip_serializing_if = "Option::is_none")]
    purchases: Option<Vec<PurchaseOut>>,
}

/// Purchase that entered the pool.
#[derive(Debug, Serialize, JsonSchema)]
struct PurchaseOut {
    /// Date.
    date: String,
    /// Number of shares, as of that day.
    quantity: String,
    /// Cost in pounds.
    cost: String,
    /// The whole day's purchase before conversion; absent when all was in pounds.
    #[serde(skip_serializing_if = "Option::is_none")]
    original: Option<Vec<OriginalOut>>,
}

/// State of the pool.
#[derive(Debug, Serialize, JsonSchema)]
struct PoolStateOut {
    /// Number of shares.
    quantity: String,
    /// Pooled cost.
    total_cost: String,
}

pub(crate) struct ExplainMatching {
    service: Arc<CgtService>,
}

impl ExplainMatching {
    pub(super) const fn new(service: Arc<CgtService>) -> Self {
        Self { service }
    }
}

impl Tool for ExplainMatching {
    type Params = Params;
    type Output = Output;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, params: Params, _cx: &CallContext) -> Result<Reply<Output>, ToolError> {
        let date = date_of("disposal_date", &params.disposal_date)?;
        let ticker = ticker_of(&params.ticker)?;
        let parsed = self.service.transactions(
            params.cgt_content.as_ref(),
            params.transactions.as_ref(),
            params.portfolio_id.as_ref(),
        )?;
        let options = Options {
            allow_short: params.allow_short,
            same_day_split: params.same_day_split,
            absence: params.non_resident.as_ref().map(AbsenceParam::absence).transpose()?,
            pool_entries: true,
            ..Options::default()
        };
        let computation = self.service.compute(&parsed.rows, options)?;
        let disposal = find(&computation, date, &ticker)?;
        let output = build_output(disposal, &computation.pool_entries);
        let text = output.explanation.clone();
        let table = disposal.legs.iter().fold(
            Table::new(["rule", "shares", "cost", "gain or loss", "bought"]),
            |table, leg| {
                let bought =
                    leg.acquired.map_or_else(|| "pool".to_owned(), |date| date.to_string());
                table.row([
                    leg.rule.title().to_owned(),
                    leg.quantity.to_string(),
                    leg.cost.to_string(),
                    leg.gain().to_string(),
                    bought,
                ])
            },
        );
        Ok(Reply::new(output, text, self.service.evidence(parsed.rows.len())).table(table))
    }
}

/// Parses a date argument.
pub(super) fn date_of(name: &str, text: &str) -> Result<jiff::civil::Date, ToolError> {
    dsl::read_date(text.trim()).ok_or_else(|| {
        ToolError::validation(
            "INVALID_DATE",
            format!("`{name}` is `{text}`, which is not a date as YYYY-MM-DD"),
        )
        .hint("write the year first, such as 2024-06-20")
        .detail("value", text)
        .detail(EXAMPLE_KEY, json!({name: "2024-06-20"}))
    })
}

/// Parses a ticker argument.
pub(super) fn ticker_of(text: &str) -> Result<Ticker, ToolError> {
    Ticker::parse(text.trim()).map_err(|bad| {
        ToolError::validation("INVALID_TICKER", bad.to_string())
            .hint("give the ticker as it is written in the transactions")
            .detail("value", text)
    })
}

/// Finds a disposal, or returns an error that lists the existing ones.
pub(super) fn find<'a>(
    computation: &'a Computation,
    date: jiff::civil::Date,
    ticker: &Ticker,
) -> Result<&'a Disposal, ToolError> {
    let disposals = &computation.disposals;
    let found =
        disposals.iter().find(|disposal| disposal.date == date && disposal.ticker == *ticker);
    if let Some(disposal) = found {
        return Ok(disposal);
    }
    if computation.securities.class(ticker).is_exempt() {
        return Err(ToolError::not_found(
            "DISPOSAL_NOT_FOUND",
            format!("{ticker} is exempt: its disposals have no chargeable gain (TCGA 1992 s.115)"),
        )
        .hint("ask about a holding that is not of the class `gilt` or `qcb`")
        .detail("value", ticker.as_str())
        .detail(EXAMPLE_KEY, json!({"disposal_date": date.to_string(), "ticker": "VOD"})));
    }
    let of_ticker = || disposals.iter().filter(|disposal| disposal.ticker == *ticker);
    let dates: Vec<String> = of_ticker().map(|disposal| disposal.date.to_string()).collect();
    let own: Vec<String> = of_ticker()
        .map(|disposal| format!("{} ({} shares)", disposal.date, disposal.quantity))
        .collect();
    let message = format!("{ticker} was not sold on {date}");
    if !own.is_empty() {
        let listed = own.iter().take(MAX_LISTED).cloned().collect::<Vec<_>>().join(", ");
        return Err(ToolError::not_found(
            "DISPOSAL_NOT_FOUND",
            format!("{message}; it was sold on {listed}"),
        )
        .hint("give one of those dates as `disposal_date`")
        .detail(EXAMPLE_KEY, json!({"disposal_date": dates.first(), "ticker": ticker.as_str()}))
        .detail("available_disposals", own)
        .detail("value", date.to_string()));
    }
    let mut tickers: Vec<&str> =
        disposals.iter().map(|disposal| disposal.ticker.as_str()).collect();
    tickers.sort_unstable();
    tickers.dedup();
    let message = match tickers.as_slice() {
        [] => format!("{message}; there are no disposals"),
        _ => format!(
            "{message} or on any other day; holdings with disposals: {}",
            tickers.join(", ")
        ),
    };
    let first = disposals.first();
    let example = first.map_or(
        json!({"disposal_date": "2024-06-20", "ticker": "AAPL"}),
        |first| json!({"disposal_date": first.date.to_string(), "ticker": first.ticker.as_str()}),
    );
    Err(ToolError::not_found("DISPOSAL_NOT_FOUND", message)
        .hint("give the ticker of a holding that was sold")
        .detail(EXAMPLE_KEY, example)
        .detail("available_tickers", tickers.into_iter().map(str::to_owned).collect::<Vec<_>>())
        .detail("value", ticker.as_str()))
}

fn build_output(disposal: &Disposal, entries: &[PoolEntry]) -> Output {
    let gain: Money = disposal.legs.iter().map(|leg| leg.gain().to_pence()).sum();
    let (what, size) = gain_or_loss(gain);
    let parts: Vec<String> = disposal.legs.iter().map(|leg| sentence(disposal, leg)).collect();
    Output {
        disposal_date: disposal.date.to_string(),
        ticker: disposal.ticker.to_string(),
        tax_year: TaxYear::of(disposal.date).to_string(),
        quantity: disposal.quantity.to_string(),
        gross_proceeds: disposal.gross.to_string(),
        fees: disposal.fees.to_string(),
        proceeds: disposal.proceeds().to_string(),
        matches: disposal.legs.iter().map(|leg| match_out(disposal, leg, entries)).collect(),
        total_gain_or_loss: gain.to_string(),
        explanation: format!(
            "{} {} Together that is a {what} of £{size}.",
            opening_sentence(disposal),
            parts.join(" ")
        ),
        occasion: disposal.occasion.as_str(),
        original: originals(disposal.originals.as_deref()),
    }
}

fn opening_sentence(disposal: &Disposal) -> String {
    let Disposal { ticker, date, quantity, .. } = disposal;
    let proceeds = disposal.proceeds();
    match disposal.occasion {
        Occasion::Sale => {
            format!("{quantity} {ticker} shares sold on {date} for £{proceeds} after costs.")
        }
        Occasion::CapitalDistribution => {
            format!("A capital distribution of £{proceeds} after costs on {ticker}, {date}.")
        }
        Occasion::TakeoverCash => {
            format!("£{proceeds} in cash for {ticker} in the takeover of {date}.")
        }
        Occasion::NegligibleValue => {
            format!("{ticker} was claimed to be of negligible value on {date}.")
        }
    }
}

fn match_out(disposal: &Disposal, leg: &Leg, entries: &[PoolEntry]) -> MatchOut {
    MatchOut {
        rule: leg.rule.title().to_owned(),
        quantity: leg.quantity.to_string(),
        proceeds: leg.proceeds.to_string(),
        allowable_cost: leg.cost.to_string(),
        gain_or_loss: leg.gain().to_string(),
        exact_cost: leg.cost.exact(),
        exact_gain_or_loss: leg.gain().exact(),
        acquisition_date: leg.acquired.map(|date| date.to_string()),
        window: window(disposal, leg.rule),
        pool: leg.pool.as_ref().map(|pool| pool_out(pool, purchases(disposal, entries))),
        law: leg.rule.law().to_owned(),
        explanation: sentence(disposal, leg),
        original: originals(leg.originals.as_deref()),
    }
}

fn window(disposal: &Disposal, rule: Rule) -> Option<Window> {
    let after = |days: i64| disposal.date.checked_add(days.days()).map(|date| date.to_string());
    match rule {
        Rule::SameDay => {
            let day = disposal.date.to_string();
            Some(Window { from: day.clone(), to: Some(day) })
        }
        Rule::BedAndBreakfast => Some(Window { from: after(1).ok()?, to: after(30).ok() }),
        Rule::Section104 | Rule::PartDisposal | Rule::CostElection | Rule::NegligibleValue => None,
        Rule::LaterAcquisition => Some(Window { from: after(31).ok()?, to: None }),
    }
}

/// Purchases of the holding before the disposal; `None` when none was in a foreign currency.
fn purchases(disposal: &Disposal, entries: &[PoolEntry]) -> Option<Vec<PurchaseOut>> {
    let of_pool =
        |entry: &&PoolEntry| entry.ticker == disposal.ticker && entry.date < disposal.date;
    let found: Vec<&PoolEntry> = entries.iter().filter(of_pool).collect();
    if found.iter().all(|entry| entry.originals.is_none()) {
        return None;
    }
    let latest = found.get(found.len().saturating_sub(MAX_PURCHASES)..).unwrap_or_default();
    let out = |entry: &&PoolEntry| PurchaseOut {
        date: entry.date.to_string(),
        quantity: entry.quantity.to_string(),
        cost: entry.cost.to_string(),
        original: originals(entry.originals.as_deref()),
    };
    Some(latest.iter().map(out).collect())
}

fn pool_out(pool: &PoolChange, purchases: Option<Vec<PurchaseOut>>) -> PoolOut {
    let state = |state: &PoolState| PoolStateOut {
        quantity: state.quantity.to_string(),
        total_cost: state.cost.to_string(),
    };
    PoolOut {
        before: state(&pool.before),
        after: state(&pool.after),
        average_cost: average(&pool.before),
        purchases,
    }
}

/// Average cost per share of a pool.
fn average(pool: &PoolState) -> String {
    let each = pool.cost.share(pool.quantity.denominator(), pool.quantity.numerator());
    each.map_or_else(|| "0.00".to_owned(), Money::exact)
}

fn sentence(disposal: &Disposal, leg: &Leg) -> String {
    let (what, size) = gain_or_loss(leg.gain().to_pence());
    let (quantity, cost) = (leg.quantity, leg.cost);
    let bought = leg.acquired.map(|date| date.to_string()).unwrap_or_default();
    let came_from = match (leg.rule, &leg.pool) {
        (Rule::SameDay, _) => {
            format!("{quantity} were bought on the same day for £{cost} (same-day rule)")
        }
        (Rule::BedAndBreakfast, _) => {
            let days = leg.acquired.and_then(|acquired| disposal.date.until(acquired).ok());
            let days = days.map_or(0, |span| span.get_days());
            format!(
                "{quantity} were bought back {days} days later, on {bought}, for £{cost} (30-day rule)"
            )
        }
        (Rule::Section104, Some(pool)) => format!(
            "{quantity} came from the Section 104 pool of {} shares that had cost £{}, £{} each on average, so £{cost}",
            pool.before.quantity,
            pool.before.cost,
            average(&pool.before)
        ),
        (Rule::Section104, None) => {
            format!("{quantity} came from the Section 104 pool and had cost £{cost}")
        }
        (Rule::LaterAcquisition, _) => {
            format!("{quantity} were sold short and covered on {bought} for £{cost}")
        }
        (Rule::PartDisposal, pool) => {
            let pool = pool.map_or(Money::ZERO, |pool| pool.before.cost);
            format!(
                "It is not small, so it is a part disposal: £{cost} of the pool's cost of £{pool} belongs to it, in proportion to the £{} received and the value of what remained",
                disposal.gross
            )
        }
        (Rule::CostElection, _) => format!(
            "It is small but above the whole cost of £{cost}, which an election sets against it"
        ),
        (Rule::NegligibleValue, _) => format!(
            "The claim treats all {quantity} shares of the pool, which had cost £{cost}, as sold and bought again for £{}",
            disposal.gross
        ),
    };
    format!("{came_from}: a {what} of £{size}.")
}
