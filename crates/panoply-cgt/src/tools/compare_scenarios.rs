//! `compare_scenarios`: effect of moving a sale to another day.

use std::sync::Arc;

use jiff::civil::Date;
use panoply_contract::prelude::*;
use serde_json::json;

use super::arguments::{NumberText, pounds_of, price_of, quantity_of};
use super::content::{self, Content};
use super::estimate_tax::payment_due;
use super::explain_matching::{date_of, ticker_of};
use super::portfolios::PortfolioId;
use super::service::CgtService;
use crate::engine::report::{Rounding, YearReport, report};
use crate::engine::{Options, SameDaySplit};
use crate::estimate::{Situation, estimate};
use crate::losses::EarlierLosses;
use crate::money::Money;
use crate::scenario::{MoveError, SaleMove, move_sale};
use crate::tax_year::TaxYear;
use crate::transaction::{Row, Ticker};

const SPEC: ToolSpec = ToolSpec {
    name: "compare_scenarios",
    title: "Compare sale dates",
    description: Description {
        does: "Works out what would change if a sale, or part of it, had been made on another day or at another price: gains, taxable gains and, with the income, tax of every tax year, side by side.",
        when: "Use this when the user asks whether to sell before or after 5 April, or to split a sale over two tax years. Needs the transactions with the sale as planned, and the other days to look at; give `taxable_income` to compare the tax.",
        returns: "Returns each scenario with net and taxable gain, tax and its day of payment by tax year, and the difference from the plan.",
        asks: &["Should I sell half after 5 April?", "What if I had sold in May instead?"],
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
            shows: "half of a sale in the next tax year",
            params: r#"{"cgt_content": "2020-01-01 BUY A 1000 @ 1\n2024-04-01 SELL A 1000 @ 11", "ticker": "A", "disposal_date": "2024-04-01", "alternatives": [{"date": "2024-04-08", "quantity": "300"}]}"#,
            expect: Expect::Data(r#"{"baseline": {"taxable_gain": "4000.00"}, "alternatives": [{"date": "2024-04-08", "taxable_gain": "1000.00", "taxable_difference": "-3000.00"}]}"#),
        },
        Example {
            shows: "a day without a sale",
            params: r#"{"cgt_content": "2020-01-01 BUY A 1000 @ 1", "ticker": "A", "disposal_date": "2024-04-01", "alternatives": [{"date": "2024-04-08"}]}"#,
            expect: Expect::Error("DISPOSAL_NOT_FOUND"),
        },
        Example {
            shows: "the tax of a sale in the next tax year",
            params: r#"{"cgt_content": "2020-01-01 BUY A 1000 @ 1\n2024-04-01 SELL A 1000 @ 11", "ticker": "A", "disposal_date": "2024-04-01", "alternatives": [{"date": "2024-04-08", "quantity": "300"}], "taxable_income": 60000}"#,
            expect: Expect::Data(r#"{"baseline": {"tax": "800.00"}, "alternatives": [{"tax": "200.00", "tax_difference": "-600.00"}]}"#),
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

/// Sale and alternatives.
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
    /// Alternative dates.
    #[schemars(length(min = 1, max = 12))]
    alternatives: Vec<AlternativeParam>,
    /// Income of each year after allowances and reliefs, in pounds; without it no tax is computed.
    taxable_income: Option<NumberText>,
    /// Whether losses of earlier years in the transactions were claimed in time; without it they are not deducted.
    earlier_losses: Option<EarlierLosses>,
    /// Match sales exceeding the holding with later purchases instead of rejecting them.
    #[serde(default)]
    allow_short: bool,
    /// Order of a split and trades on the same day; default `refuse`.
    #[serde(default)]
    same_day_split: SameDaySplit,
}

/// Alternative date of the sale.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct AlternativeParam {
    /// Alternative date, YYYY-MM-DD.
    #[schemars(length(min = 1, max = 40))]
    date: String,
    /// Number of shares to sell then; by default the whole sale.
    #[schemars(length(min = 1, max = 30))]
    quantity: Option<String>,
    /// Price per share on that day, in pounds; by default unchanged.
    #[schemars(length(min = 1, max = 30))]
    price: Option<String>,
}

/// Scenarios. Amounts are decimal strings in pounds.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// Transactions as given.
    baseline: ScenarioOut,
    /// Alternatives, in the order given.
    alternatives: Vec<AlternativeOut>,
}

/// Gains over all years.
#[derive(Debug, Serialize, JsonSchema)]
struct ScenarioOut {
    /// Net gain of all years; a loss is negative.
    net_gain: String,
    /// Gains above the exempt amounts of all years; null when one is unknown.
    taxable_gain: Option<String>,
    /// Tax of all years; null without `taxable_income` or when rates are unknown.
    tax: Option<String>,
    /// By tax year.
    tax_years: Vec<YearOut>,
}

/// An alternative.
#[derive(Debug, Serialize, JsonSchema)]
struct AlternativeOut {
    /// Alternative date.
    date: String,
    /// Number of shares sold then.
    quantity: String,
    /// Net gain of all years; a loss is negative.
    net_gain: String,
    /// Gains above the exempt amounts of all years; null when one is unknown.
    taxable_gain: Option<String>,
    /// Difference of the taxable gain from the baseline.
    taxable_difference: Option<String>,
    /// Tax of all years; null without `taxable_income` or when rates are unknown.
    tax: Option<String>,
    /// Difference of the tax from the baseline.
    tax_difference: Option<String>,
    /// By tax year.
    tax_years: Vec<YearOut>,
}

/// A tax year of a scenario.
#[derive(Debug, Serialize, JsonSchema)]
struct YearOut {
    /// Tax year, such as 2024/25.
    period: String,
    /// Gains minus losses.
    net_gain: String,
    /// Gain above the exempt amount; null when unknown.
    taxable_gain: Option<String>,
    /// Tax; null without `taxable_income` or when rates are unknown.
    tax: Option<String>,
    /// Day by which the tax is due.
    payment_due: String,
}

struct Figures {
    net: Money,
    taxable: Option<Money>,
    tax: Option<Money>,
    years: Vec<YearFigures>,
}

struct YearFigures {
    year: TaxYear,
    net: Money,
    taxable: Option<Money>,
    tax: Option<Money>,
}

/// What the tax depends on beside the transactions.
#[derive(Clone, Copy)]
struct Taxpayer {
    income: Option<Money>,
    claimed: bool,
}

pub(crate) struct CompareScenarios {
    service: Arc<CgtService>,
}

impl CompareScenarios {
    pub(super) const fn new(service: Arc<CgtService>) -> Self {
        Self { service }
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
        let income = params.taxable_income.as_ref();
        let income = income.map(|text| pounds_of("taxable_income", text.as_str())).transpose()?;
        let claimed = params.earlier_losses == Some(EarlierLosses::Claimed);
        let taxpayer = Taxpayer { income, claimed };
        let baseline = self.figures(&parsed.rows, options, taxpayer)?;
        let mut alternatives = Vec::new();
        let mut best: Option<(Money, Date)> = None;
        for alternative in &params.alternatives {
            cx.check_cancelled()?;
            let sale = alternative.sale_move(&ticker, from)?;
            let rows = move_sale(&parsed.rows, &sale).map_err(|error| move_error(&error))?;
            let figures = self.figures(&rows, options, taxpayer)?;
            let difference = figures.taxable.zip(baseline.taxable).map(|(new, plan)| new - plan);
            let tax_difference = figures.tax.zip(baseline.tax).map(|(new, plan)| new - plan);
            if let Some(difference) = tax_difference.or(difference)
                && best.is_none_or(|(least, _)| difference < least)
            {
                best = Some((difference, sale.to));
            }
            alternatives.push(AlternativeOut {
                date: sale.to.to_string(),
                quantity: alternative.quantity.clone().unwrap_or_else(|| "all".to_owned()),
                net_gain: figures.net.to_string(),
                taxable_gain: figures.taxable.map(|amount| amount.to_string()),
                taxable_difference: difference.map(|amount| amount.to_string()),
                tax: figures.tax.map(|amount| amount.to_string()),
                tax_difference: tax_difference.map(|amount| amount.to_string()),
                tax_years: years_out(&figures),
            });
        }
        let table = table_of(&alternatives);
        let plan = ScenarioOut {
            net_gain: baseline.net.to_string(),
            taxable_gain: baseline.taxable.map(|amount| amount.to_string()),
            tax: baseline.tax.map(|amount| amount.to_string()),
            tax_years: years_out(&baseline),
        };
        let output = Output { baseline: plan, alternatives };
        let evidence = self.service.evidence(parsed.rows.len());
        let mut reply = Reply::new(output, summary_text(best, baseline.tax.is_some()), evidence)
            .table(table)
            .assuming("the price on another day is the same unless one was given")
            .assuming("the income is the same in each year");
        let more = json!({"disposal_date": from.to_string(), "ticker": ticker.as_str()});
        if let Some(arguments) =
            content::repeat_arguments(&parsed, params.allow_short, params.same_day_split, more)
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

impl AlternativeParam {
    fn sale_move(&self, ticker: &Ticker, from: Date) -> Result<SaleMove, ToolError> {
        let quantity = self.quantity.as_deref().map(|text| quantity_of("quantity", text));
        let price = self.price.as_deref().map(|text| price_of("price", text));
        Ok(SaleMove {
            ticker: ticker.clone(),
            from,
            to: date_of("date", &self.date)?,
            quantity: quantity.transpose()?,
            price: price.transpose()?,
        })
    }
}

/// Names the alternative with the lowest tax or taxable gain, if it is below the plan's.
fn summary_text(best: Option<(Money, Date)>, with_tax: bool) -> String {
    let what = if with_tax { "tax" } else { "taxable gain" };
    match best {
        Some((difference, date)) if difference.is_negative() => {
            format!("Selling on {date} instead would lower the {what} by £{}.", -difference)
        }
        Some(_) => format!("None of the alternatives lowers the {what}."),
        None => "The alternatives were computed; an exempt amount is not known, so taxable gains cannot be compared.".to_owned(),
    }
}

fn table_of(alternatives: &[AlternativeOut]) -> Table {
    let shown = |amount: &Option<String>| amount.clone().unwrap_or_else(|| "?".to_owned());
    let table = Table::new(["sell on", "shares", "net gain", "taxable", "difference", "tax"]);
    alternatives.iter().fold(table, |table, other| {
        table.row([
            other.date.clone(),
            other.quantity.clone(),
            other.net_gain.clone(),
            shown(&other.taxable_gain),
            shown(&other.taxable_difference),
            shown(&other.tax),
        ])
    })
}

impl CompareScenarios {
    fn figures(
        &self,
        rows: &[Row],
        options: Options,
        taxpayer: Taxpayer,
    ) -> Result<Figures, ToolError> {
        let computation = self.service.compute(rows, options)?;
        let parameters = &self.service.parameters;
        let report = report(&computation, parameters, None, Rounding::PerLeg);
        let tax_of = |year: &YearReport<'_>| {
            let losses = if taxpayer.claimed { year.earlier_losses } else { Money::ZERO };
            let situation = Situation {
                taxable_income: taxpayer.income?,
                losses_brought_forward: losses,
                basic_rate_band: None,
                other: &[],
            };
            estimate(year, parameters, situation).map(|estimate| estimate.tax)
        };
        let figures = |year: &YearReport<'_>| YearFigures {
            year: year.year,
            net: year.net_gain,
            taxable: year.taxable_gain,
            tax: tax_of(year),
        };
        let years: Vec<YearFigures> = report.years.iter().map(figures).collect();
        Ok(Figures {
            net: years.iter().map(|year| year.net).sum(),
            taxable: years.iter().map(|year| year.taxable).sum(),
            tax: taxpayer.income.and_then(|_| years.iter().map(|year| year.tax).sum()),
            years,
        })
    }
}

fn years_out(figures: &Figures) -> Vec<YearOut> {
    let out = |year: &YearFigures| YearOut {
        period: year.year.to_string(),
        net_gain: year.net.to_string(),
        taxable_gain: year.taxable.map(|amount| amount.to_string()),
        tax: year.tax.map(|amount| amount.to_string()),
        payment_due: payment_due(year.year),
    };
    figures.years.iter().map(out).collect()
}

fn move_error(error: &MoveError) -> ToolError {
    let code = match error {
        MoveError::NoSale { .. } => "DISPOSAL_NOT_FOUND",
        MoveError::TooMany { .. } => "MORE_THAN_SOLD",
    };
    ToolError::not_found(code, error.to_string())
        .hint("give the day and size of a sale that is in the transactions")
}
