//! `compare_scenarios`: a sale on another day instead.

use std::sync::Arc;

use panoply_contract::prelude::*;
use serde_json::json;

use super::content::{self, Content};
use super::desk::Desk;
use super::explain_matching::{date_of, ticker_of};
use super::options::{SameDaySplitParam, options};
use super::person::{price_of, quantity_of};
use crate::engine::Computation;
use crate::engine::report::{Rounding, report};
use crate::money::Money;
use crate::scenario::{CannotMove, Move, moved};
use crate::tax_year::TaxYear;
use crate::transaction::Row;

const SPEC: ToolSpec = ToolSpec {
    name: "compare_scenarios",
    title: "Compare sale dates",
    description: Description {
        does: "Works out what would change if a sale, or part of it, had been made on another day or at another price: gains and taxable gains of every tax year, side by side.",
        when: "Use this when the user asks whether to sell before or after 5 April, or to split a sale over two tax years. Needs the transactions with the sale as planned, and the other days to look at.",
        returns: "Returns each scenario with net and taxable gain by tax year, and the difference from the plan.",
        asks: &["Should I sell half after 5 April?", "What if I had sold in May instead?"],
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
            shows: "half of a sale in the next tax year",
            params: r#"{"cgt_content": "2020-01-01 BUY A 1000 @ 1\n2024-04-01 SELL A 1000 @ 11", "ticker": "A", "disposal_date": "2024-04-01", "alternatives": [{"date": "2024-04-08", "quantity": "300"}]}"#,
            expect: Expect::Data(r#"{"baseline": {"taxable_gain": "4000.00"}, "alternatives": [{"date": "2024-04-08", "taxable_gain": "1000.00", "taxable_difference": "-3000.00"}]}"#),
        },
        Example {
            shows: "a day without a sale",
            params: r#"{"cgt_content": "2020-01-01 BUY A 1000 @ 1", "ticker": "A", "disposal_date": "2024-04-01", "alternatives": [{"date": "2024-04-08"}]}"#,
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

/// Which sale, and what else could be done.
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
    /// The other days to look at.
    #[schemars(length(min = 1, max = 12))]
    alternatives: Vec<AlternativeParam>,
    /// Match sales of more than was held with later purchases instead of refusing them.
    #[serde(default)]
    allow_short: bool,
    /// What to do with a split on a day with trades; `refuse` unless given.
    #[serde(default)]
    same_day_split: SameDaySplitParam,
}

/// A sale on another day.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct AlternativeParam {
    /// The other day, YYYY-MM-DD.
    #[schemars(length(min = 1, max = 40))]
    date: String,
    /// How many shares to sell then instead; all of that sale unless given.
    #[schemars(length(min = 1, max = 30))]
    quantity: Option<String>,
    /// The price each on that day, in pounds; the same as in the plan unless given.
    #[schemars(length(min = 1, max = 30))]
    price: Option<String>,
}

/// The scenarios. Amounts are decimal strings in pounds.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// The transactions as given.
    baseline: ScenarioOut,
    /// The alternatives, in the order given.
    alternatives: Vec<AlternativeOut>,
}

/// Gains over all years.
#[derive(Debug, Serialize, JsonSchema)]
struct ScenarioOut {
    /// Net gains of all years; a loss is negative.
    net_gain: String,
    /// What is above the exempt amounts of all years; null when one is not known.
    taxable_gain: Option<String>,
    /// By tax year.
    tax_years: Vec<YearOut>,
}

/// An alternative.
#[derive(Debug, Serialize, JsonSchema)]
struct AlternativeOut {
    /// The other day.
    date: String,
    /// How many shares are sold then.
    quantity: String,
    /// Net gains of all years; a loss is negative.
    net_gain: String,
    /// What is above the exempt amounts of all years; null when one is not known.
    taxable_gain: Option<String>,
    /// Less or more than the plan.
    taxable_difference: Option<String>,
    /// By tax year.
    tax_years: Vec<YearOut>,
}

/// A tax year of a scenario.
#[derive(Debug, Serialize, JsonSchema)]
struct YearOut {
    /// Such as 2024/25.
    period: String,
    /// Gains less losses.
    net_gain: String,
    /// What is above the exempt amount; null when that is not known.
    taxable_gain: Option<String>,
}

/// The figures of a scenario.
struct Figures {
    net: Money,
    taxable: Option<Money>,
    years: Vec<(TaxYear, Money, Option<Money>)>,
}

/// See the module.
pub(crate) struct CompareScenarios {
    desk: Arc<Desk>,
}

impl CompareScenarios {
    pub(super) const fn new(desk: Arc<Desk>) -> Self {
        Self { desk }
    }
}

impl Tool for CompareScenarios {
    type Params = Params;
    type Output = Output;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, params: Params, cx: &CallContext) -> Result<Reply<Output>, ToolError> {
        let from = date_of("disposal_date", &params.disposal_date)?;
        let ticker = ticker_of(&params.ticker)?;
        let parsed = Content::read_some(params.cgt_content.as_ref(), params.transactions.as_ref())?;
        let options = options(params.allow_short, params.same_day_split);
        let figures =
            |rows: &[Row]| Ok::<_, ToolError>(self.figures(&self.desk.compute(rows, options)?));
        let baseline = figures(&parsed.rows)?;
        let mut alternatives = Vec::new();
        let mut best: Option<(Money, String)> = None;
        for alternative in &params.alternatives {
            cx.check_cancelled()?;
            let to_move = Move {
                ticker: ticker.clone(),
                from,
                to: date_of("date", &alternative.date)?,
                quantity: alternative
                    .quantity
                    .as_deref()
                    .map(|text| quantity_of("quantity", text))
                    .transpose()?,
                price: alternative
                    .price
                    .as_deref()
                    .map(|text| price_of("price", text))
                    .transpose()?,
            };
            let rows = moved(&parsed.rows, &to_move).map_err(|error| cannot_move(&error))?;
            let found = figures(&rows)?;
            let difference = found.taxable.zip(baseline.taxable).map(|(other, plan)| other - plan);
            if let Some(difference) = difference
                && best.as_ref().is_none_or(|(least, _)| difference < *least)
            {
                best = Some((difference, to_move.to.to_string()));
            }
            alternatives.push(AlternativeOut {
                date: to_move.to.to_string(),
                quantity: alternative.quantity.clone().unwrap_or_else(|| "all".to_owned()),
                net_gain: found.net.to_string(),
                taxable_gain: found.taxable.map(|amount| amount.to_string()),
                taxable_difference: difference.map(|amount| amount.to_string()),
                tax_years: years_out(&found),
            });
        }
        let text = match &best {
            Some((difference, date)) if difference.is_negative() => {
                format!("Selling on {date} instead would lower the taxable gain by £{}.", -*difference)
            }
            Some(_) => "None of the alternatives lowers the taxable gain.".to_owned(),
            None => "The alternatives were worked out; an exempt amount is not known, so taxable gains cannot be compared.".to_owned(),
        };
        let table = alternatives.iter().fold(
            Table::new(["sell on", "shares", "net gain", "taxable", "difference"]),
            |table, other| {
                let shown =
                    |amount: &Option<String>| amount.clone().unwrap_or_else(|| "?".to_owned());
                table.row([
                    other.date.clone(),
                    other.quantity.clone(),
                    other.net_gain.clone(),
                    shown(&other.taxable_gain),
                    shown(&other.taxable_difference),
                ])
            },
        );
        let plan = ScenarioOut {
            net_gain: baseline.net.to_string(),
            taxable_gain: baseline.taxable.map(|amount| amount.to_string()),
            tax_years: years_out(&baseline),
        };
        let output = Output { baseline: plan, alternatives };
        let mut reply = Reply::new(output, text, self.desk.evidence(parsed.rows.len()))
            .table(table)
            .assuming("the price on another day is the same unless one was given");
        let more = json!({"disposal_date": from.to_string(), "ticker": ticker.as_str()});
        if let Some(arguments) =
            content::again(&parsed, params.allow_short, params.same_day_split, more)
        {
            reply = reply.next(NextAction::new(
                "explain_matching",
                arguments,
                "see how the sale is matched as planned",
            ));
        }
        Ok(reply)
    }
}

impl CompareScenarios {
    fn figures(&self, computation: &Computation) -> Figures {
        let report = report(computation, &self.desk.parameters, None, Rounding::PerLeg);
        Figures {
            net: report.years.iter().map(|year| year.net_gain).sum(),
            taxable: report.years.iter().map(|year| year.taxable_gain).sum(),
            years: report
                .years
                .iter()
                .map(|year| (year.year, year.net_gain, year.taxable_gain))
                .collect(),
        }
    }
}

fn years_out(figures: &Figures) -> Vec<YearOut> {
    let out = |(year, net, taxable): &(TaxYear, Money, Option<Money>)| YearOut {
        period: year.to_string(),
        net_gain: net.to_string(),
        taxable_gain: taxable.map(|amount| amount.to_string()),
    };
    figures.years.iter().map(out).collect()
}

fn cannot_move(error: &CannotMove) -> ToolError {
    let code = match error {
        CannotMove::NoSale { .. } => "DISPOSAL_NOT_FOUND",
        CannotMove::TooMany { .. } => "MORE_THAN_SOLD",
    };
    ToolError::not_found(code, error.to_string())
        .hint("give the day and size of a sale that is in the transactions")
}
