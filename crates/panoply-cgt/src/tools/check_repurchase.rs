//! `check_repurchase`: the 30-day window in which a repurchase changes a sale's gain.

use std::sync::Arc;

use jiff::ToSpan;
use jiff::civil::Date;
use panoply_contract::prelude::*;
use serde_json::json;

use super::arguments::{price_of, quantity_of};
use super::content::{self, Content};
use super::explain_matching::{date_of, find, ticker_of};
use super::portfolios::PortfolioId;
use super::service::CgtService;
use crate::engine::{Disposal, Options, Rule, SameDaySplit};
use crate::ratio::Ratio;
use crate::scenario::with_purchase;

const SPEC: ToolSpec = ToolSpec {
    name: "check_repurchase",
    title: "Check buying back",
    description: Description {
        does: "Says on which days buying shares back would be matched with a sale by the 30-day rule, how many shares that could touch, and what it would do to the gain.",
        when: "Use this before the user buys back what they sold, or when they want to realise a loss or a gain and keep the holding. Needs the transactions, the date of the sale and the ticker; with a quantity and price the new gain is worked out.",
        returns: "Returns the window of days, the first safe day, how many shares are still open to be re-matched, and the gain before and after.",
        asks: &["When can I buy my shares back?", "Would buying back next week undo my loss?"],
    },
    version: "1.0.0",
    aliases: &[],
    permissions: &["cgt:read"],
    category: Category::Analysis,
    response_time: ResponseTime::Medium,
    cache: CachePolicy::Never,
    idempotent: true,
    data: &["hmrc-rates", "portfolios", "uk-parameters"],
    examples: &[
        Example {
            shows: "a sale that is still open",
            params: r#"{"cgt_content": "2024-01-02 BUY A 100 @ 10\n2024-05-01 SELL A 100 @ 6", "disposal_date": "2024-05-01", "ticker": "A", "quantity": "100", "price": "6.50"}"#,
            expect: Expect::Data(r#"{"window_from": "2024-05-02", "window_to": "2024-05-31", "first_safe_day": "2024-06-01", "open_quantity": "100", "gain_or_loss_now": "-400.00", "gain_or_loss_after": "-50.00"}"#),
        },
        Example {
            shows: "a day without a sale",
            params: r#"{"cgt_content": "2024-01-02 BUY A 100 @ 10", "disposal_date": "2024-05-01", "ticker": "A"}"#,
            expect: Expect::Error("DISPOSAL_NOT_FOUND"),
        },
    ],
    tags: &["tax", "uk", "shares", "capital-gains", "planning"],
    rate_limit: None,
    deprecated: None,
    annotations: Annotations::CLOSED,
    listing: Listing::Extra,
    widget: None,
}
.checked();

/// Sale, and the intended repurchase.
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
    /// Number of shares to buy back; by default all unmatched ones.
    #[schemars(length(min = 1, max = 30))]
    quantity: Option<String>,
    /// Price per share in pounds; required for the new gain.
    #[schemars(length(min = 1, max = 30))]
    price: Option<String>,
    /// Date of the repurchase, YYYY-MM-DD; by default the day after the sale.
    #[schemars(length(min = 1, max = 40))]
    buy_date: Option<String>,
    /// Match sales exceeding the holding with later purchases instead of rejecting them.
    #[serde(default)]
    allow_short: bool,
    /// Order of a split and trades on the same day; default `refuse`.
    #[serde(default)]
    same_day_split: SameDaySplit,
}

/// The window and the effect of a repurchase. Amounts are decimal strings in pounds.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// Date of the sale.
    disposal_date: String,
    /// Ticker.
    ticker: String,
    /// First day on which a purchase would be matched with the sale.
    window_from: String,
    /// Last day of that window.
    window_to: String,
    /// First day after the window.
    first_safe_day: String,
    /// Shares of the sale that a purchase in the window could still match.
    open_quantity: String,
    /// Shares already bought back.
    already_bought_back: String,
    /// Current gain of the sale; a loss is negative.
    gain_or_loss_now: String,
    /// Gain of the sale after the repurchase; null without a price.
    gain_or_loss_after: Option<String>,
    /// Whether the gain would change; null without a price.
    changes: Option<bool>,
    /// Statutory reference.
    law: String,
}

pub(crate) struct CheckRepurchase {
    service: Arc<CgtService>,
}

impl CheckRepurchase {
    pub(super) const fn new(service: Arc<CgtService>) -> Self {
        Self { service }
    }
}

impl Tool for CheckRepurchase {
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
            ..Options::default()
        };
        let computation = self.service.compute(&parsed.rows, options)?;
        let disposal = find(&computation, date, &ticker)?;
        let days = |count: i64| {
            date.checked_add(count.days()).map_err(|_| {
                ToolError::validation(
                    "INVALID_DATE",
                    format!("the 30 days after {date} go beyond the calendar"),
                )
                .hint("check the year of the sale")
                .detail("value", date.to_string())
            })
        };
        let (from, to, safe) = (days(1)?, days(30)?, days(31)?);
        let open = shares(disposal, &[Rule::Section104, Rule::LaterAcquisition]);
        let after = match &params.price {
            None => None,
            Some(_) if open == "0" && params.quantity.is_none() => Some(disposal.gain()),
            Some(price) => {
                let price = price_of("price", price)?;
                let quantity =
                    quantity_of("quantity", params.quantity.as_deref().unwrap_or(&open))?;
                let buy_date = match &params.buy_date {
                    Some(text) => date_of("buy_date", text)?,
                    None => from,
                };
                let rows = with_purchase(&parsed.rows, &ticker, buy_date, quantity, price);
                let changed = self.service.compute(&rows, options)?;
                Some(find(&changed, date, &ticker)?.gain())
            }
        };
        let now = disposal.gain();
        let text = summary_text(disposal, from, to, safe, &open);
        let output = Output {
            disposal_date: date.to_string(),
            ticker: ticker.to_string(),
            window_from: from.to_string(),
            window_to: to.to_string(),
            first_safe_day: safe.to_string(),
            open_quantity: open,
            already_bought_back: shares(disposal, &[Rule::BedAndBreakfast]),
            gain_or_loss_now: now.to_string(),
            gain_or_loss_after: after.map(|after| after.to_string()),
            changes: after.map(|after| after.to_pence() != now.to_pence()),
            law: Rule::BedAndBreakfast.law().to_owned(),
        };
        let mut reply = Reply::new(output, text, self.service.evidence(parsed.rows.len()))
            .assuming("whoever buys back is UK resident then (TCGA 1992 s.106A(5A)), and buys in the same capacity");
        let more = json!({"disposal_date": date.to_string(), "ticker": ticker.as_str()});
        if let Some(arguments) =
            content::repeat_arguments(&parsed, params.allow_short, params.same_day_split, more)
        {
            reply = reply.next(NextAction::new(
                "explain_matching",
                arguments,
                "see how the sale is matched now",
            ));
        }
        Ok(reply)
    }
}

/// Number of shares of a disposal matched by these rules.
fn shares(disposal: &Disposal, rules: &[Rule]) -> String {
    let legs = disposal.legs.iter().filter(|leg| rules.contains(&leg.rule));
    let sum = legs.map(|leg| leg.quantity).try_fold(Ratio::ZERO, Ratio::plus);
    sum.map_or_else(|| "?".to_owned(), |sum| sum.to_string())
}

fn summary_text(disposal: &Disposal, from: Date, to: Date, safe: Date, open: &str) -> String {
    let ticker = &disposal.ticker;
    if open == "0" {
        return format!(
            "All {ticker} shares of this sale are already matched with purchases of the same day or the 30 days after: buying more changes nothing."
        );
    }
    format!(
        "Buying {ticker} from {from} to {to} would be matched with up to {open} shares of this sale; from {safe} on it would not."
    )
}
