//! `plan_disposals`: what to sell before the end of a tax year.

use std::sync::Arc;

use panoply_contract::prelude::*;
use serde_json::json;

use super::arguments::{NumberText, YearText, only_year, pounds_of, price_of, unknown_year};
use super::content::{self, Content};
use super::earlier_losses::LossesGiven;
use super::explain_matching::{date_of, ticker_of};
use super::portfolios::PortfolioId;
use super::service::CgtService;
use crate::engine::report::{Rounding, report};
use crate::engine::{Options, SameDaySplit};
use crate::estimate::{Estimate, Situation, estimate};
use crate::harvest::{
    PlannedSale, Price, Purpose, first_safe_day, plan, plan_with_band, with_sales,
};
use crate::losses::EarlierLosses;
use crate::money::Money;
use crate::tax_year::TaxYear;
use crate::transaction::Row;

const SPEC: ToolSpec = ToolSpec {
    name: "plan_disposals",
    title: "Plan sales before 5 April",
    description: Description {
        does: "Says what to sell before the end of a tax year: shares whose gain fits into the unused exempt amount (and into the rest of the basic rate band, on request), or, when gains are already above it, shares whose loss brings them down to it; with the tax before and after, computed by adding the sales to the transactions.",
        when: "Use this when the user wants to use the exempt amount, harvest losses, or asks what they could sell without tax. Give current prices in pounds; holdings without a price are left alone.",
        returns: "Returns the sales with their purpose and expected gain, tax before and after, what is left of the exempt amount and of the basic rate band, and the first day of a repurchase that is not matched.",
        asks: &["What can I sell before 5 April without tax?", "Which losses should I realise this year?", "How do I use my annual exempt amount?"],
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
            shows: "gains within the exempt amount of 2025/26",
            params: r#"{"cgt_content": "2020-01-01 BUY A 1000 @ 10", "year": 2025, "taxable_income": "60000", "prices": [{"ticker": "A", "price": "16"}]}"#,
            expect: Expect::Data(r#"{"period": "2025/26", "tax_before": "0.00", "tax_after": "0.00", "exempt_amount_left": "0.00"}"#),
        },
        Example {
            shows: "a year whose rates are not known",
            params: r#"{"cgt_content": "2020-01-01 BUY A 100 @ 10", "year": 2040, "taxable_income": "0", "prices": []}"#,
            expect: Expect::Error("YEAR_NOT_KNOWN"),
        },
    ],
    tags: &["tax", "uk", "shares", "capital-gains", "plan"],
    rate_limit: None,
    deprecated: None,
    annotations: Annotations::CLOSED,
    listing: Listing::Extra,
    widget: None,
}
.checked();

/// Holdings, prices and the taxpayer's income and losses.
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
    /// Tax year, by the year it starts in: 2025 is 2025/26.
    year: YearText,
    /// Day of the sales, YYYY-MM-DD; by default 5 April at the end of the year.
    #[schemars(length(min = 1, max = 40))]
    date: Option<String>,
    /// Current prices.
    #[schemars(length(max = 500))]
    prices: Vec<PriceParam>,
    /// Income of that year after allowances and reliefs, in pounds, such as "37700".
    taxable_income: NumberText,
    /// Claimed and unused losses of earlier years by the person's own records, in pounds.
    losses_brought_forward: Option<NumberText>,
    /// Whether losses of earlier years in the transactions were claimed in time.
    earlier_losses: Option<EarlierLosses>,
    /// Tax years whose losses were not claimed in time, when all others were.
    #[serde(default)]
    #[schemars(length(max = 30), extend("x-listed" = false))]
    unclaimed_loss_years: Vec<YearText>,
    /// Also fill the rest of the basic rate band with gains, after the exempt amount.
    #[serde(default)]
    use_basic_rate_band: bool,
    /// Match sales exceeding the holding with later purchases instead of rejecting them.
    #[serde(default)]
    allow_short: bool,
    /// Order of a split and trades on the same day; default `refuse`.
    #[serde(default)]
    same_day_split: SameDaySplit,
}

/// Price of a holding.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct PriceParam {
    /// Ticker, case-insensitive.
    #[schemars(length(min = 1, max = 50))]
    ticker: String,
    /// Price per share, in pounds.
    price: NumberText,
}

/// Plan. Amounts are decimal strings in pounds.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// Tax year, such as 2025/26.
    period: String,
    /// Day of the sales.
    date: String,
    /// Sales, in the order in which they were chosen.
    sales: Vec<SaleOut>,
    /// Net gain of the year without the sales, after losses of earlier years.
    net_gain_before: String,
    /// Net gain of the year with the sales.
    net_gain_after: String,
    /// Tax of the year without the sales.
    tax_before: String,
    /// Tax of the year with the sales.
    tax_after: String,
    /// Exempt amount that stays unused after the sales.
    exempt_amount_left: String,
    /// Further gains that would be taxed at the basic rate.
    basic_rate_band_left: String,
    /// First day on which a repurchase is not matched with the sales; a spouse, or an ISA, may buy at once.
    first_safe_repurchase: Option<String>,
    /// Statutory reference of the 30 days.
    law: &'static str,
    /// Warnings for the reader.
    warnings: Vec<String>,
}

/// A sale of the plan.
#[derive(Debug, Serialize, JsonSchema)]
struct SaleOut {
    /// Ticker.
    ticker: String,
    /// Number of shares.
    quantity: String,
    /// Price per share.
    price: String,
    /// `use_exempt_amount`, `use_basic_rate_band` or `reduce_taxable_gain`.
    purpose: &'static str,
    /// Gain by the average cost; a loss is negative.
    expected_gain: String,
}

pub(crate) struct PlanDisposals {
    service: Arc<CgtService>,
}

impl PlanDisposals {
    pub(super) const fn new(service: Arc<CgtService>) -> Self {
        Self { service }
    }
}

/// A year with or without the sales.
struct Outcome {
    net: Money,
    exempt: Money,
    estimate: Estimate,
    warnings: Vec<String>,
}

impl PlanDisposals {
    fn outcome(
        &self,
        params: &Params,
        rows: &[Row],
        year: TaxYear,
        options: Options,
    ) -> Result<Outcome, ToolError> {
        let parameters = &self.service.parameters;
        let computation = self.service.compute(rows, options)?;
        let report = report(&computation, parameters, Some(year), Rounding::PerLeg);
        let of_year = only_year(&report)?;
        let losses = LossesGiven::of(
            params.losses_brought_forward.as_ref(),
            params.earlier_losses,
            &params.unclaimed_loss_years,
            (&report.losses, of_year, parameters),
        )?;
        let situation = Situation {
            taxable_income: pounds_of("taxable_income", params.taxable_income.as_str())?,
            losses_brought_forward: losses.brought_forward,
            basic_rate_band: None,
            other: &[],
        };
        let estimate = estimate(of_year, parameters, situation)
            .ok_or_else(|| unknown_year(year, parameters))?;
        Ok(Outcome {
            net: of_year.net_gain - estimate.losses_used,
            exempt: of_year.exempt_amount.unwrap_or_default(),
            estimate,
            warnings: losses.warnings(of_year),
        })
    }
}

impl Tool for PlanDisposals {
    type Params = Params;
    type Output = Output;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, params: Params, _cx: &CallContext) -> Result<Reply<Output>, ToolError> {
        let year = params.year.year()?;
        let date = params.date.as_deref().map(|text| date_of("date", text)).transpose()?;
        let date = date.unwrap_or_else(|| year.last_day());
        if TaxYear::of(date) != year {
            return Err(ToolError::validation(
                "INVALID_DATE",
                format!("`{date}` is not in {year}"),
            )
            .hint("give a day of the tax year, or leave it out for its last")
            .detail("value", date.to_string()));
        }
        let mut prices =
            params.prices.iter().map(PriceParam::read).collect::<Result<Vec<Price>, _>>()?;
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
        let held =
            self.service.compute(&parsed.rows, Options { holdings_at: Some(date), ..options })?;
        // Sales of gilts and qualifying corporate bonds neither use the exempt amount nor make losses.
        prices.retain(|price| !held.securities.class(&price.ticker).is_exempt());
        let before = self.outcome(&params, &parsed.rows, year, options)?;
        let sales = match params.use_basic_rate_band {
            false => plan(&held.holdings, &prices, before.net, before.exempt),
            true => {
                let exempt_left = before.exempt - before.net;
                plan_with_band(&held.holdings, &prices, exempt_left, band_unused(&before.estimate))
            }
        };
        let after =
            self.outcome(&params, &with_sales(&parsed.rows, &sales, date), year, options)?;
        let text = summary(&sales, &before, &after, year);
        let table = sales.iter().fold(
            Table::new(["sell", "shares", "price", "gain or loss"]),
            |table, sale| {
                table.row([
                    sale.ticker.to_string(),
                    sale.quantity.to_string(),
                    sale.price.value().to_string(),
                    sale.expected_gain.to_string(),
                ])
            },
        );
        let output = Output {
            period: year.to_string(),
            date: date.to_string(),
            sales: sales.iter().map(sale_out).collect(),
            net_gain_before: before.net.to_string(),
            net_gain_after: after.net.to_string(),
            tax_before: before.estimate.tax.to_string(),
            tax_after: after.estimate.tax.to_string(),
            exempt_amount_left: (after.exempt - after.net.at_least(Money::ZERO))
                .at_least(Money::ZERO)
                .to_string(),
            basic_rate_band_left: band_unused(&after.estimate).to_string(),
            first_safe_repurchase: first_safe_day(date).map(|day| day.to_string()),
            law: "TCGA 1992 s.106A(5), s.1K",
            warnings: before.warnings,
        };
        let reply = Reply::new(output, text, self.service.evidence(parsed.rows.len()))
            .table(table)
            .assuming("nothing is bought back within 30 days of the sales")
            .assuming("dealing costs are left out");
        let more = json!({"year": content::year_argument(year)});
        let again =
            content::repeat_arguments(&parsed, params.allow_short, params.same_day_split, more);
        Ok(match again {
            Some(arguments) => reply.next(NextAction::new(
                "calculate_report",
                arguments,
                "see the year without the sales",
            )),
            None => reply,
        })
    }
}

impl PriceParam {
    fn read(&self) -> Result<Price, ToolError> {
        Ok(Price {
            ticker: ticker_of(&self.ticker)?,
            each: price_of("price", self.price.as_str())?,
        })
    }
}

/// Basic rate band that neither income nor gains use.
fn band_unused(estimate: &Estimate) -> Money {
    let used = estimate.periods.iter().map(|period| period.at_basic).sum();
    (estimate.band_left - used).at_least(Money::ZERO)
}

fn summary(sales: &[PlannedSale], before: &Outcome, after: &Outcome, year: TaxYear) -> String {
    let purposes: Vec<Purpose> = sales.iter().map(|sale| sale.purpose).collect();
    if purposes.contains(&Purpose::UseBasicRateBand) {
        return format!(
            "Sales use the exempt amount and the basic rate band of {year}: the net gain goes from £{} to £{}, the tax from £{} to £{}.",
            before.net, after.net, before.estimate.tax, after.estimate.tax
        );
    }
    match purposes.first() {
        None => {
            format!("No sale at these prices helps in {year}; the tax is £{}.", before.estimate.tax)
        }
        Some(Purpose::UseExemptAmount | Purpose::UseBasicRateBand) => format!(
            "Sales of {} holdings use the exempt amount of {year}: the net gain goes from £{} to £{}, the tax stays £{}.",
            sales.len(),
            before.net,
            after.net,
            after.estimate.tax
        ),
        Some(Purpose::ReduceTaxableGain) => format!(
            "Losses on {} holdings reduce the tax of {year} from £{} to £{}.",
            sales.len(),
            before.estimate.tax,
            after.estimate.tax
        ),
    }
}

fn sale_out(sale: &PlannedSale) -> SaleOut {
    SaleOut {
        ticker: sale.ticker.to_string(),
        quantity: sale.quantity.to_string(),
        price: sale.price.value().to_string(),
        purpose: match sale.purpose {
            Purpose::UseExemptAmount => "use_exempt_amount",
            Purpose::UseBasicRateBand => "use_basic_rate_band",
            Purpose::ReduceTaxableGain => "reduce_taxable_gain",
        },
        expected_gain: sale.expected_gain.to_string(),
    }
}
