//! `get_excess_reportable_income`: reported income of an offshore fund, as transactions.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::civil::Date;
use panoply_contract::prelude::*;
use rust_decimal::Decimal;
use serde_json::json;

use super::arguments::YearText;
use super::content::Content;
use super::explain_matching::ticker_of;
use super::portfolios::PortfolioId;
use super::service::CgtService;
use crate::dsl;
use crate::engine::{Computation, Options, SameDaySplit};
use crate::eri::{self, ReportedIncome, ReportedIncomeTable};
use crate::fx::{Month, Rates};
use crate::money::Money;
use crate::number;
use crate::ratio::Ratio;
use crate::tax_year::TaxYear;
use crate::transaction::{Amount, Kind, Quantity, Row, Ticker, Transaction};

const SPEC: ToolSpec = ToolSpec {
    name: "get_excess_reportable_income",
    title: "Excess reportable income",
    description: Description {
        does: "Looks up the excess reportable income that an offshore fund or ETF published per unit, by ISIN, and turns the units held at each period's end, counted from the transactions or given, into transactions and taxable income.",
        when: "Use this when the user holds Irish or Luxembourg ETFs or funds outside an ISA: the income counts as paid six months after the period's end and adds to the cost of the units. Figures are bundled and end in 2025; the setting `reported_income` adds newer lists. With a SECURITY line that has the ISIN, the other tools add the income to the cost themselves.",
        returns: "Returns each period with income per unit, the day it counts as income and, with transactions or units, the amount, the pounds and an ACCUMULATION line dated at the period's end.",
        asks: &["What excess reportable income did my iShares ETF have?", "How does ERI change my cost?"],
    },
    version: "1.0.0",
    aliases: &[],
    permissions: &["cgt:read"],
    category: Category::Query,
    response_time: ResponseTime::Fast,
    cache: CachePolicy::Never,
    idempotent: true,
    data: &["eri", "portfolios"],
    examples: &[
        Example {
            shows: "a fund with two periods",
            params: r#"{"isin": "IE00004FVB93", "units": "10", "ticker": "FUND"}"#,
            expect: Expect::Data(r#"{"isin": "IE00004FVB93", "periods": [{"period_end": "2023-11-30", "currency": "USD", "per_unit": "6.43330", "income_date": "2024-05-31", "amount": "64.333", "pounds": "51.64", "transaction": "2023-11-30 ACCUMULATION FUND 10 TOTAL 64.333 USD RATE 1.2457"}, {"period_end": "2024-11-30"}]}"#),
        },
        Example {
            shows: "units counted from the transactions, those bought back soon after the period included",
            params: r#"{"isin": "IE00004FVB93", "ticker": "FUND", "cgt_content": "2023-01-05 BUY FUND 10 @ 100 USD\n2023-11-20 SELL FUND 4 @ 110 USD\n2023-12-10 BUY FUND 3 @ 105 USD"}"#,
            expect: Expect::Data(r#"{"periods": [{"period_end": "2023-11-30", "units": "9", "units_bought_back": "3", "amount": "57.8997", "transaction": "2023-11-30 ACCUMULATION FUND 9 TOTAL 57.8997 USD RATE 1.2457"}, {"period_end": "2024-11-30", "units": "9", "units_bought_back": "0"}]}"#),
        },
        Example {
            shows: "a fund that is not in the table",
            params: r#"{"isin": "XX0000000000"}"#,
            expect: Expect::Error("FUND_NOT_FOUND"),
        },
    ],
    tags: &["tax", "uk", "funds", "income"],
    rate_limit: None,
    deprecated: None,
    annotations: Annotations::CLOSED,
    listing: Listing::Extra,
    widget: None,
}
.checked();

/// Fund, and units or transactions.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Params {
    /// The fund's ISIN, twelve characters.
    #[schemars(length(min = 12, max = 12))]
    isin: String,
    /// Units held at every period end, when constant; otherwise give the transactions.
    #[schemars(length(min = 1, max = 30))]
    units: Option<String>,
    /// Transactions from which the units at each period end are counted: lines of text, JSON text,
    /// or a JSON array.
    cgt_content: Option<Content>,
    /// Alias of `cgt_content`.
    #[schemars(extend("x-listed" = false))]
    transactions: Option<Content>,
    /// Stored portfolio, in place of `cgt_content`.
    #[schemars(extend("x-listed" = false))]
    portfolio_id: Option<PortfolioId>,
    /// Ticker of the holding in the transactions; default: the ISIN.
    #[schemars(length(min = 1, max = 50))]
    ticker: Option<String>,
    /// Only periods whose income falls in the tax year that starts in this year.
    year: Option<YearText>,
    /// Match sales exceeding the holding with later purchases instead of rejecting them.
    #[serde(default)]
    allow_short: bool,
    /// Order of a split and trades on the same day; default `refuse`.
    #[serde(default)]
    same_day_split: SameDaySplit,
}

/// Reporting periods of the fund.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// ISIN of the fund.
    isin: String,
    /// Periods, in order.
    periods: Vec<PeriodOut>,
    /// Statutory reference.
    law: String,
    /// Source of the figures.
    source: String,
}

/// A reporting period.
#[derive(Debug, Serialize, JsonSchema)]
struct PeriodOut {
    /// Last day of the period.
    period_end: String,
    /// Currency of the figures.
    currency: String,
    /// Excess reportable income per unit.
    per_unit: String,
    /// Date of the deemed income.
    income_date: Option<String>,
    /// Tax year of the income.
    tax_year: Option<String>,
    /// Units that count as held at the period end; null when neither units nor transactions were
    /// given.
    units: Option<String>,
    /// Units sold before and bought back within 30 days, but after the period end.
    units_bought_back: Option<String>,
    /// Income of those units, in the currency; null without units.
    amount: Option<String>,
    /// The same in pounds, at HMRC's rate for the month of `income_date`; null when it is not published.
    pounds: Option<String>,
    /// ACCUMULATION line for the transactions; null without units.
    transaction: Option<String>,
    /// Fund manager.
    provider: String,
}

/// Units that count as held at a period end.
struct Counted {
    units: Decimal,
    bought_back: Option<Ratio>,
}

/// Source of the number of units.
enum Units {
    /// Neither units nor transactions were given.
    Unknown,
    /// Constant at every period end.
    Same(Decimal),
    /// Counted from transactions.
    From { rows: Vec<Row>, computation: Box<Computation>, options: Options },
}

impl Units {
    fn at(&self, ticker: &Ticker, end: Date) -> Result<Option<Counted>, ToolError> {
        match self {
            Self::Unknown => Ok(None),
            Self::Same(units) => Ok(Some(Counted { units: *units, bought_back: None })),
            Self::From { rows, computation, options } => {
                let found = eri::units_at(rows, computation, ticker, end, *options);
                let counted = found.and_then(|units| {
                    let all = units.all()?.to_string().parse().ok()?;
                    Some(Counted { units: all, bought_back: Some(units.bought_back) })
                });
                counted.map(Some).ok_or_else(|| {
                    ToolError::validation(
                        "NUMBER_TOO_LARGE",
                        format!("the units of {ticker} on {end} cannot be counted exactly"),
                    )
                })
            }
        }
    }
}

pub(crate) struct GetExcessReportableIncome {
    service: Arc<CgtService>,
}

impl GetExcessReportableIncome {
    pub(super) const fn new(service: Arc<CgtService>) -> Self {
        Self { service }
    }

    fn units(&self, params: &Params, ticker: &Ticker) -> Result<Units, ToolError> {
        let given = params.cgt_content.is_some()
            || params.transactions.is_some()
            || params.portfolio_id.is_some();
        match (&params.units, given) {
            (Some(_), true) => Err(ToolError::validation(
                "UNITS_OR_TRANSACTIONS",
                "both `units` and transactions were given",
            )
            .hint("give `units` or `cgt_content`, not both")),
            (Some(text), false) => Ok(Units::Same(units_of(text)?)),
            (None, false) => Ok(Units::Unknown),
            (None, true) => {
                let parsed = self.service.transactions(
                    params.cgt_content.as_ref(),
                    params.transactions.as_ref(),
                    params.portfolio_id.as_ref(),
                )?;
                let own = |row: &Row| row.transaction.ticker == *ticker;
                let (rows, others): (Vec<Row>, Vec<Row>) = parsed.rows.into_iter().partition(own);
                if rows.is_empty() {
                    return Err(not_in_transactions(ticker, &others));
                }
                let options = Options {
                    allow_short: params.allow_short,
                    same_day_split: params.same_day_split,
                    ..Options::default()
                };
                let computation = Box::new(self.service.compute(&rows, options)?);
                Ok(Units::From { rows, computation, options })
            }
        }
    }
}

impl Tool for GetExcessReportableIncome {
    type Params = Params;
    type Output = Output;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, params: Params, _cx: &CallContext) -> Result<Reply<Output>, ToolError> {
        let isin = params.isin.trim().to_ascii_uppercase();
        let ticker = ticker_of(params.ticker.as_deref().unwrap_or(&isin))?;
        let year = params.year.as_ref().map(YearText::year).transpose()?;
        let all = self.service.reported_income.of_fund(&isin);
        if all.is_empty() {
            return Err(not_in_table(&isin, &self.service.reported_income));
        }
        let units = self.units(&params, &ticker)?;
        let in_year = |income: &&ReportedIncome| {
            year.is_none_or(|year| income.income_date().map(TaxYear::of) == Some(year))
        };
        let periods = all
            .iter()
            .filter(in_year)
            .map(|income| {
                Ok(period_out(
                    income,
                    &ticker,
                    units.at(&ticker, income.period_end)?,
                    &self.service.rates,
                ))
            })
            .collect::<Result<Vec<PeriodOut>, ToolError>>()?;
        let text = format!("{isin} has {} reporting periods in the table.", periods.len());
        let table = table_of(&periods);
        let lines: Vec<String> =
            periods.iter().filter_map(|period| period.transaction.clone()).collect();
        let output = Output {
            isin,
            periods,
            law: "Offshore Funds (Tax) Regulations 2009 (SI 2009/3001) reg.94, reg.99".to_owned(),
            source: "fund managers' reports, collected by KapJI/capital-gains-calculator (MIT)"
                .to_owned(),
        };
        let evidence = Evidence::from(Source::new(
            SourceClass::Derived,
            "fund managers' reports, collected by others",
        ));
        let mut reply = Reply::new(output, text, evidence)
            .table(table)
            .assuming("the fund is a reporting fund");
        reply = match units {
            Units::From { .. } => {
                reply.assuming("the transactions are the whole history of the holding")
            }
            Units::Same(_) | Units::Unknown => {
                reply.assuming("the same number of units was held at each period's end")
            }
        };
        if !lines.is_empty() && lines.len() <= 40 {
            reply = reply.next(NextAction::new(
                "parse_transactions",
                json!({"cgt_content": lines.join("\n")}),
                "check the lines before adding them to the transactions",
            ));
        }
        Ok(reply)
    }
}

fn period_out(
    income: &ReportedIncome,
    ticker: &Ticker,
    counted: Option<Counted>,
    rates: &Rates,
) -> PeriodOut {
    let rate =
        income.income_date().and_then(|date| rates.monthly(income.currency, Month::of(date)).ok());
    let rate = rate.and_then(|rate| Quantity::new(rate.units_per_pound));
    let units = counted.as_ref().map(|counted| counted.units);
    let total = units.and_then(|units| Some(units.checked_mul(income.per_unit)?.normalize()));
    let transaction = total.zip(units).filter(|(_, units)| !units.is_zero());
    let transaction = transaction.and_then(|(total, units)| {
        let kind = Kind::Accumulation {
            quantity: units,
            total: Amount::new(total, income.currency)?.at_rate(rate),
            tax: Amount::NONE,
        };
        let (date, ticker) = (income.period_end, ticker.clone());
        Some(dsl::line(&Transaction { date, ticker, kind }))
    });
    let pounds = total.zip(rate).and_then(|(total, rate)| total.checked_div(rate.get()));
    let pounds = pounds.and_then(Money::of).map(Money::to_pence);
    let bought_back = counted.and_then(|counted| counted.bought_back);
    PeriodOut {
        period_end: income.period_end.to_string(),
        currency: income.currency.to_string(),
        per_unit: income.per_unit.to_string(),
        income_date: income.income_date().map(|date| date.to_string()),
        tax_year: income.income_date().map(|date| TaxYear::of(date).to_string()),
        units: units.map(|units| units.normalize().to_string()),
        units_bought_back: bought_back.map(|units| units.to_string()),
        amount: total.map(|total| total.to_string()),
        pounds: pounds.map(|pounds| pounds.to_string()),
        transaction,
        provider: income.provider.to_string(),
    }
}

fn table_of(periods: &[PeriodOut]) -> Table {
    let headings = ["period end", "per unit", "currency", "units", "income on", "amount"];
    periods.iter().fold(Table::new(headings), |table, period| {
        let shown = |text: &Option<String>| text.clone().unwrap_or_default();
        table.row([
            period.period_end.clone(),
            period.per_unit.clone(),
            period.currency.clone(),
            shown(&period.units),
            shown(&period.income_date),
            shown(&period.amount),
        ])
    })
}

fn not_in_table(isin: &str, table: &ReportedIncomeTable) -> ToolError {
    let (funds, last) = table.extent();
    let last = last.map_or_else(String::new, |last| format!(", period ends up to {last}"));
    ToolError::not_found(
        "FUND_NOT_FOUND",
        format!("there is no reported income for `{isin}`; the table has {funds} funds{last}"),
    )
    .hint("check the ISIN, or take the figure from the fund manager's report and write an ACCUMULATION")
    .detail("value", isin)
}

fn not_in_transactions(ticker: &Ticker, rows: &[Row]) -> ToolError {
    let known: BTreeSet<&str> =
        rows.iter().map(|row| row.transaction.ticker.as_str()).take(MAX_LISTED).collect();
    let known: Vec<&str> = known.into_iter().collect();
    ToolError::not_found("HOLDING_NOT_FOUND", format!("{ticker} is not in the transactions"))
        .hint(format!("name the holding by `ticker`, one of {}", known.join(", ")))
        .detail("value", ticker.as_str())
}

/// Maximum number of tickers listed in an error.
const MAX_LISTED: usize = 50;

fn units_of(text: &str) -> Result<Decimal, ToolError> {
    number::parse(text.trim()).map_err(|bad| {
        ToolError::validation("INVALID_QUANTITY", format!("`units` is `{text}`, which {bad}"))
            .hint(bad.hint())
            .detail("value", text)
    })
}
