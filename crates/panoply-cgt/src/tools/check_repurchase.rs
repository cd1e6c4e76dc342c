//! `check_repurchase`: on which days buying back would change a sale, and how.

use std::sync::Arc;

use jiff::ToSpan;
use jiff::civil::Date;
use panoply_contract::prelude::*;
use serde_json::json;

use super::content::{self, Content};
use super::desk::Desk;
use super::explain_matching::{date_of, find, ticker_of};
use super::options::{SameDaySplitParam, options};
use super::person::{price_of, quantity_of};
use crate::engine::{Disposal, Rule};
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
    data: &["hmrc-rates", "uk-parameters"],
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

/// Which sale, and what would be bought back.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Params {
    /// The transactions: lines of text, JSON text, or a JSON array. Required, here or as `transactions`.
    cgt_content: Option<Content>,
    /// Another name for `cgt_content`.
    transactions: Option<Content>,
    /// The day of the sale, YYYY-MM-DD.
    #[schemars(length(min = 1, max = 40))]
    disposal_date: String,
    /// The holding, in any case.
    #[schemars(length(min = 1, max = 50))]
    ticker: String,
    /// How many shares would be bought back; all that are open unless given.
    #[schemars(length(min = 1, max = 30))]
    quantity: Option<String>,
    /// At what price each, in pounds; without it no new gain is worked out.
    #[schemars(length(min = 1, max = 30))]
    price: Option<String>,
    /// On which day, YYYY-MM-DD; the day after the sale unless given.
    #[schemars(length(min = 1, max = 40))]
    buy_date: Option<String>,
    /// Match sales of more than was held with later purchases instead of refusing them.
    #[serde(default)]
    allow_short: bool,
    /// What to do with a split on a day with trades; `refuse` unless given.
    #[serde(default)]
    same_day_split: SameDaySplitParam,
}

/// The days, and what buying back would do. Amounts are decimal strings in pounds.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// The day of the sale.
    disposal_date: String,
    /// The holding.
    ticker: String,
    /// The first day on which a purchase would be re-matched.
    window_from: String,
    /// The last.
    window_to: String,
    /// The first day on which it would not.
    first_safe_day: String,
    /// How many shares of the sale a purchase in the window could still be matched with.
    open_quantity: String,
    /// How many were bought back already.
    already_bought_back: String,
    /// The gain of the sale as things stand; a loss is negative.
    gain_or_loss_now: String,
    /// The gain of the sale after buying back; null when no price was given.
    gain_or_loss_after: Option<String>,
    /// Whether the sale's gain would change; null when no price was given.
    changes: Option<bool>,
    /// The law.
    law: String,
}

/// See the module.
pub(crate) struct CheckRepurchase {
    desk: Arc<Desk>,
}

impl CheckRepurchase {
    pub(super) const fn new(desk: Arc<Desk>) -> Self {
        Self { desk }
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
        let parsed = Content::read_some(params.cgt_content.as_ref(), params.transactions.as_ref())?;
        let options = options(params.allow_short, params.same_day_split);
        let computation = self.desk.compute(&parsed.rows, options)?;
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
                let changed = self.desk.compute(&rows, options)?;
                Some(find(&changed, date, &ticker)?.gain())
            }
        };
        let now = disposal.gain();
        let text = in_words(disposal, from, to, safe, &open);
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
        let mut reply = Reply::new(output, text, self.desk.evidence(parsed.rows.len()))
            .assuming("whoever buys back is UK resident then (TCGA 1992 s.106A(5A)), and buys in the same capacity");
        let more = json!({"disposal_date": date.to_string(), "ticker": ticker.as_str()});
        if let Some(arguments) =
            content::again(&parsed, params.allow_short, params.same_day_split, more)
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

/// How many shares of a disposal were matched by these rules.
fn shares(disposal: &Disposal, rules: &[Rule]) -> String {
    let legs = disposal.legs.iter().filter(|leg| rules.contains(&leg.rule));
    let sum = legs.map(|leg| leg.quantity).try_fold(Ratio::ZERO, Ratio::plus);
    sum.map_or_else(|| "?".to_owned(), |sum| sum.to_string())
}

fn in_words(disposal: &Disposal, from: Date, to: Date, safe: Date, open: &str) -> String {
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
