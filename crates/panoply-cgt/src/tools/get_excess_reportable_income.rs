//! `get_excess_reportable_income`: income that an offshore fund kept, as transactions.

use panoply_contract::prelude::*;
use serde_json::json;

use super::explain_matching::ticker_of;
use crate::dsl;
use crate::eri::{self, ReportedIncome};
use crate::number;
use crate::tax_year::TaxYear;
use crate::transaction::{Amount, Kind, Transaction};

const SPEC: ToolSpec = ToolSpec {
    name: "get_excess_reportable_income",
    title: "Excess reportable income",
    description: Description {
        does: "Looks up the excess reportable income that an offshore fund or ETF published per unit, by ISIN, and turns units held at a period's end into transactions and taxable income.",
        when: "Use this when the user holds Irish or Luxembourg ETFs or funds outside an ISA: the income counts as paid six months after the period's end and adds to the cost of the units. Figures are bundled and end in 2025; check the fund manager's report for later periods.",
        returns: "Returns each period with income per unit, the day it counts as income and, with units, the amount and an ACCUMULATION line dated at the period's end.",
        asks: &["What excess reportable income did my iShares ETF have?", "How does ERI change my cost?"],
    },
    version: "1.0.0",
    aliases: &[],
    permissions: &["cgt:read"],
    category: Category::Query,
    response_time: ResponseTime::Fast,
    cache: CachePolicy::Never,
    idempotent: true,
    data: &["eri"],
    examples: &[
        Example {
            shows: "a fund with two periods",
            params: r#"{"isin": "IE00004FVB93", "units": "10", "ticker": "FUND"}"#,
            expect: Expect::Data(r#"{"isin": "IE00004FVB93", "periods": [{"period_end": "2023-11-30", "currency": "USD", "per_unit": "6.43330", "income_date": "2024-05-30", "amount": "64.333", "transaction": "2023-11-30 ACCUMULATION FUND 10 TOTAL 64.333 USD"}, {"period_end": "2024-11-30"}]}"#),
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

/// Which fund.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Params {
    /// The fund's ISIN, twelve characters.
    #[schemars(length(min = 12, max = 12))]
    isin: String,
    /// Units held at each period's end; without them only the figures per unit are returned.
    #[schemars(length(min = 1, max = 30))]
    units: Option<String>,
    /// What the holding is called in the transactions; the ISIN unless given.
    #[schemars(length(min = 1, max = 50))]
    ticker: Option<String>,
    /// Only periods whose income counts in the tax year that starts in this year.
    #[schemars(range(min = 1900, max = 2100))]
    year: Option<i64>,
}

/// The fund's periods.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// The fund.
    isin: String,
    /// Its periods, in order.
    periods: Vec<PeriodOut>,
    /// The law.
    law: String,
    /// Whose figures these are.
    source: String,
}

/// A reporting period.
#[derive(Debug, Serialize, JsonSchema)]
struct PeriodOut {
    /// Its last day.
    period_end: String,
    /// The currency of the figures.
    currency: String,
    /// Excess reportable income for each unit.
    per_unit: String,
    /// The day it counts as income.
    income_date: Option<String>,
    /// The tax year it is income of.
    tax_year: Option<String>,
    /// For the units given; null without them.
    amount: Option<String>,
    /// The line for the transactions; null without units.
    transaction: Option<String>,
    /// Who manages the fund.
    provider: String,
}

/// See the module.
pub(crate) struct GetExcessReportableIncome;

impl Tool for GetExcessReportableIncome {
    type Params = Params;
    type Output = Output;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, params: Params, _cx: &CallContext) -> Result<Reply<Output>, ToolError> {
        let isin = params.isin.trim().to_ascii_uppercase();
        let ticker = ticker_of(params.ticker.as_deref().unwrap_or(&isin))?;
        let units = params.units.as_deref().map(units_of).transpose()?;
        let year = params.year.map(super::calculate_report::year_of).transpose()?;
        let all = eri::of_fund(&isin);
        if all.is_empty() {
            let (funds, last) = eri::extent();
            let last = last.map_or_else(String::new, |last| format!(", period ends up to {last}"));
            return Err(ToolError::not_found("FUND_NOT_FOUND", format!("there is no reported income for `{isin}`; the table has {funds} funds{last}"))
                .hint("check the ISIN, or take the figure from the fund manager's report and write an ACCUMULATION")
                .detail("value", isin));
        }
        let in_year = |income: &&ReportedIncome| {
            year.is_none_or(|year| income.income_date().map(TaxYear::of) == Some(year))
        };
        let periods: Vec<PeriodOut> = all
            .iter()
            .filter(in_year)
            .map(|income| {
                let total =
                    units.and_then(|units| Some(units.checked_mul(income.per_unit)?.normalize()));
                let transaction = total.zip(units).and_then(|(total, units)| {
                    let kind = Kind::Accumulation {
                        quantity: units,
                        total: Amount::new(total, income.currency)?,
                        tax: Amount::NONE,
                    };
                    Some(dsl::line(&Transaction {
                        date: income.period_end,
                        ticker: ticker.clone(),
                        kind,
                    }))
                });
                PeriodOut {
                    period_end: income.period_end.to_string(),
                    currency: income.currency.to_string(),
                    per_unit: income.per_unit.to_string(),
                    income_date: income.income_date().map(|date| date.to_string()),
                    tax_year: income.income_date().map(|date| TaxYear::of(date).to_string()),
                    amount: total.map(|total| total.to_string()),
                    transaction,
                    provider: income.provider.to_owned(),
                }
            })
            .collect();
        let text = format!("{isin} has {} reporting periods in the table.", periods.len());
        let table = periods.iter().fold(
            Table::new(["period end", "per unit", "currency", "income on", "amount"]),
            |table, period| {
                let shown = |text: &Option<String>| text.clone().unwrap_or_default();
                table.row([
                    period.period_end.clone(),
                    period.per_unit.clone(),
                    period.currency.clone(),
                    shown(&period.income_date),
                    shown(&period.amount),
                ])
            },
        );
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
            .assuming("the fund is a reporting fund, and the same number of units was held at each period's end");
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

fn units_of(text: &str) -> Result<rust_decimal::Decimal, ToolError> {
    number::parse(text.trim()).map_err(|bad| {
        ToolError::validation("INVALID_QUANTITY", format!("`units` is `{text}`, which {bad}"))
            .hint(bad.hint())
            .detail("value", text)
    })
}
