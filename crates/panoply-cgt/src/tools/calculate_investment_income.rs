//! `calculate_investment_income`: dividends, interest and excess reportable income of a tax year.

use std::sync::Arc;

use panoply_contract::prelude::*;

use super::arguments::{NumberText, YearText, pounds_of, pounds_or_none};
use super::content::Content;
use super::pagination::{self, PageInfo, paginate};
use super::portfolios::PortfolioId;
use super::service::CgtService;
use crate::engine::{Options, SameDaySplit};
use crate::eri;
use crate::income::{
    self, IncomeEntry, IncomeTax, IncomeTotal, Origin, Relief, TaxableIncome, reliefs, tax, totals,
};
use crate::money::Money;
use crate::security::{Country, IncomeKind};
use crate::tax_year::TaxYear;

const SPEC: ToolSpec = ToolSpec {
    name: "calculate_investment_income",
    title: "Investment income",
    description: Description {
        does: "Adds up dividends, interest and excess reportable income of a tax year in pounds, by country, with allowances, tax and relief for foreign tax.",
        when: "Use this when the user asks for dividends or interest on the tax return, form SA106, the dividend or savings allowance, or foreign tax. Name securities by SECURITY lines with their ISIN: it gives the country and the excess reportable income of funds.",
        returns: "Returns totals, the rows of form SA106 by country, boxes of form SA100, each payment, and with `other_income` the tax and the relief for foreign tax.",
        asks: &["What dividends do I declare?", "How much foreign tax can I claim back?", "Is my interest within the savings allowance?"],
    },
    version: "1.0.0",
    aliases: &[],
    permissions: &["cgt:read"],
    category: Category::Analysis,
    response_time: ResponseTime::Medium,
    cache: CachePolicy::Never,
    idempotent: true,
    data: &["eri", "hmrc-rates", "portfolios", "uk-parameters"],
    examples: &[
        Example {
            // gov.uk, tax on dividends: wages of £29,570 leave £17,000 taxable, dividends of £3,000.
            shows: "dividends above the allowance",
            params: r#"{"cgt_content": "2024-01-01 BUY A 100 @ 10\n2025-06-01 DIVIDEND A TOTAL 3000", "year": 2025, "other_income": "17000"}"#,
            expect: Expect::Data(r#"{"period": "2025/26", "dividends": {"uk": "3000.00", "allowance": "500.00"}, "tax": {"dividend_tax": "218.75"}}"#),
        },
        Example {
            shows: "a US dividend with tax withheld",
            params: r#"{"cgt_content": "2024-01-01 SECURITY AAPL ISIN US0378331005\n2024-07-01 DIVIDEND AAPL TOTAL 100 TAX 15", "year": 2024}"#,
            expect: Expect::Data(r#"{"foreign": [{"country": "USA", "kind": "dividend", "income": "100.00", "foreign_tax": "15.00", "treaty_percent": 15}]}"#),
        },
        Example {
            shows: "text that is no transaction",
            params: r#"{"cgt_content": "hello", "year": 2024}"#,
            expect: Expect::Error("PARSE_ERROR"),
        },
    ],
    tags: &["tax", "uk", "funds", "income", "return"],
    rate_limit: None,
    deprecated: None,
    annotations: Annotations::CLOSED,
    listing: Listing::Extra,
    widget: None,
}
.checked();

/// Bytes of the list of payments.
const ENTRIES_BUDGET: usize = pagination::BYTE_BUDGET / 2;

/// Tax year, transactions and other income.
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
    /// Tax year, by the year it starts in: 2024 is 2024/25.
    year: YearText,
    /// Other taxable income of the year in pounds, after the personal allowance and without these dividends and interest; needed for the tax.
    other_income: Option<NumberText>,
    /// Personal allowance that other income does not use, in pounds; default 0.
    personal_allowance_left: Option<NumberText>,
    /// Basic rate band in pounds, when extended by Gift Aid or pension contributions.
    basic_rate_band: Option<NumberText>,
    /// Highest tax on dividends by the treaties with countries; overrides the known ones.
    #[serde(default)]
    #[schemars(length(max = 60))]
    treaty_rates: Vec<TreatyRate>,
    /// Number of payments to skip.
    #[serde(default)]
    #[schemars(range(min = 0, max = 10_000_000))]
    offset: usize,
    /// Match sales exceeding the holding with later purchases instead of rejecting them.
    #[serde(default)]
    allow_short: bool,
    /// Order of a split and trades on the same day; default `refuse`.
    #[serde(default)]
    same_day_split: SameDaySplit,
}

/// Treaty rate of a country.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TreatyRate {
    /// Country by its two letters, such as DE.
    #[schemars(length(min = 2, max = 2))]
    country: String,
    /// Highest tax on dividends, in percent.
    #[schemars(range(min = 0, max = 100))]
    percent: u32,
}

/// Investment income. Amounts are decimal strings in pounds.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// Tax year, such as 2024/25.
    period: String,
    /// Dividends, with excess reportable income of that kind.
    dividends: KindOut,
    /// Interest, with excess reportable income of that kind.
    interest: KindOut,
    /// Excess reportable income in both.
    excess_reportable_income: String,
    /// Rows of form SA106: foreign income by kind and country.
    foreign: Vec<ForeignOut>,
    /// Boxes of form SA100, page 3.
    boxes: Vec<BoxOut>,
    /// Tax on both; null without `other_income` or before 2016/17.
    tax: Option<TaxOut>,
    /// Payments of the year, by date.
    payments: Vec<PaymentOut>,
    /// Page of the payments.
    page: PageInfo,
    /// Latest period end in the table of excess reportable income.
    reported_income_to: Option<String>,
    /// Statutory references.
    law: Vec<String>,
    /// Warnings for the reader.
    warnings: Vec<String>,
}

/// Income of one kind.
#[derive(Debug, Serialize, JsonSchema)]
struct KindOut {
    /// From the UK.
    uk: String,
    /// From other countries.
    foreign: String,
    /// Both, before tax.
    total: String,
    /// Tax withheld.
    tax_withheld: String,
    /// Allowance of the year; that on interest depends on the income. Null when it is not known.
    allowance: Option<String>,
}

/// Row of form SA106.
#[derive(Debug, Serialize, JsonSchema)]
struct ForeignOut {
    /// Country code of the form, column A; null when the country is not known.
    country: Option<String>,
    /// Kind of income.
    kind: IncomeKind,
    /// Income before tax, column B.
    income: String,
    /// Foreign tax taken off, column C.
    foreign_tax: String,
    /// Highest tax by the treaty, in percent; null when it is not known or for interest.
    treaty_percent: Option<u32>,
    /// Foreign tax that the treaty allows.
    admissible_tax: String,
    /// Relief: at most the UK tax on the income; null without `other_income`.
    relief: Option<String>,
}

/// Box of the form.
#[derive(Debug, Serialize, JsonSchema)]
struct BoxOut {
    /// Box number.
    number: &'static str,
    /// Label of the box.
    label: &'static str,
    /// Entry in whole pounds.
    entry: String,
}

/// Tax on interest and dividends.
#[derive(Debug, Serialize, JsonSchema)]
struct TaxOut {
    /// Interest that is not taxed: allowances and the starting rate.
    interest_untaxed: String,
    /// Dividends that are not taxed.
    dividends_untaxed: String,
    /// Tax on interest.
    interest_tax: String,
    /// Tax on dividends.
    dividend_tax: String,
    /// Relief for foreign tax.
    relief: String,
    /// Tax on both after relief and tax withheld in the UK.
    tax_due: String,
}

/// Payment, or deemed payment.
#[derive(Debug, Serialize, JsonSchema)]
struct PaymentOut {
    /// Day on which it counts as income.
    date: String,
    /// Ticker.
    ticker: String,
    /// dividend, interest, stock_dividend, accumulation or excess_reportable_income.
    source: &'static str,
    /// Kind for tax.
    kind: IncomeKind,
    /// Country code; `GBR` for the UK, null when it is not known.
    country: Option<String>,
    /// Before tax.
    income: String,
    /// Tax withheld.
    tax: String,
}

pub(crate) struct CalculateInvestmentIncome {
    service: Arc<CgtService>,
}

impl CalculateInvestmentIncome {
    pub(super) const fn new(service: Arc<CgtService>) -> Self {
        Self { service }
    }

    /// Income of all years, with excess reportable income.
    fn entries(
        &self,
        params: &Params,
        rows: &[crate::transaction::Row],
    ) -> Result<Vec<IncomeEntry>, ToolError> {
        let options = Options {
            allow_short: params.allow_short,
            same_day_split: params.same_day_split,
            ..Options::default()
        };
        let CgtService { rates, reported_income, .. } = self.service.as_ref();
        let added = eri::with_reported_income(rows, rates, reported_income, options);
        let found = added.and_then(|(with_income, _)| {
            let rows = if with_income.is_empty() { rows } else { with_income.as_slice() };
            income::entries(rows, rates, reported_income)
        });
        found.map_err(|errors| super::errors::engine_error(&errors))
    }

    fn taxed(
        &self,
        params: &Params,
        year: TaxYear,
        totals: &[IncomeTotal],
    ) -> Result<Option<(IncomeTax, Vec<Relief>)>, ToolError> {
        let parameters = &self.service.parameters;
        let (Some(other), Some(rules)) = (&params.other_income, parameters.income_tax(year)) else {
            return Ok(None);
        };
        let band = match &params.basic_rate_band {
            Some(text) => pounds_of("basic_rate_band", text.as_str())?,
            None => rules.standard_band(),
        };
        let of = |kind: IncomeKind| {
            totals.iter().filter(|total| total.kind == kind).map(|total| total.gross).sum()
        };
        let income = TaxableIncome {
            other: pounds_of("other_income", other.as_str())?,
            allowance_left: pounds_or_none(
                "personal_allowance_left",
                params.personal_allowance_left.as_ref(),
            )?,
            interest: of(IncomeKind::Interest),
            dividends: of(IncomeKind::Dividend),
        };
        let reliefs =
            reliefs(totals, |total| self.treaty_percent(params, total), &rules, band, income);
        Ok(Some((tax(&rules, band, income), reliefs)))
    }

    fn treaty_percent(&self, params: &Params, total: &IncomeTotal) -> Option<u32> {
        let Origin::Foreign(country) = total.origin else { return None };
        let is_own = |rate: &&TreatyRate| Country::parse(&rate.country) == Some(country);
        let own = params.treaty_rates.iter().find(is_own);
        let known = || self.service.parameters.treaty_dividend_percent(country.as_str());
        let percent = own.map(|rate| rate.percent.min(100)).or_else(known);
        percent.filter(|_| total.kind == IncomeKind::Dividend)
    }
}

impl Tool for CalculateInvestmentIncome {
    type Params = Params;
    type Output = Output;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, params: Params, _cx: &CallContext) -> Result<Reply<Output>, ToolError> {
        let year = params.year.year()?;
        let parsed = self.service.transactions(
            params.cgt_content.as_ref(),
            params.transactions.as_ref(),
            params.portfolio_id.as_ref(),
        )?;
        let entries = self.entries(&params, &parsed.rows)?;
        let totals = totals(&entries, year);
        let taxed = self.taxed(&params, year, &totals)?;
        let foreign: Vec<ForeignOut> = foreign_rows(&totals, taxed.as_ref())
            .map(|(total, relief)| foreign_out(total, self.treaty_percent(&params, total), relief))
            .collect();
        let of_year: Vec<&IncomeEntry> =
            entries.iter().filter(|entry| TaxYear::of(entry.date) == year).collect();
        let (payments, page) = paginate(
            of_year.iter().map(|entry| payment_out(entry)),
            params.offset,
            None,
            ENTRIES_BUDGET,
        );
        let parameters = &self.service.parameters;
        let rules = parameters.income_tax(year);
        let dividend_allowance = rules.map(|rules| rules.dividend_allowance());
        let savings_allowance = taxed.as_ref().map(|(tax, _)| tax.savings_allowance);
        let reported = of_year
            .iter()
            .filter(|entry| entry.source == income::IncomeSource::ExcessReportable)
            .map(|entry| entry.gross)
            .sum::<Money>();
        let output = Output {
            period: year.to_string(),
            dividends: kind_out(&totals, IncomeKind::Dividend, dividend_allowance),
            interest: kind_out(&totals, IncomeKind::Interest, savings_allowance),
            excess_reportable_income: reported.to_pence().to_string(),
            boxes: boxes(&totals),
            tax: taxed.as_ref().map(|(tax, reliefs)| tax_out(tax, reliefs, &totals)),
            payments,
            page,
            reported_income_to: self
                .service
                .reported_income
                .extent()
                .1
                .map(|date| date.to_string()),
            law: vec![
                parameters.income_tax_law().to_owned(),
                "TIOPA 2010 s.18, s.33, s.36".to_owned(),
                parameters.treaty_law().to_owned(),
                "Offshore Funds (Tax) Regulations 2009 (SI 2009/3001) reg.94".to_owned(),
            ],
            warnings: warnings(&foreign, parsed.notices),
            foreign,
        };
        let text = format!(
            "Dividends of {year} are £{}, interest is £{}, of which £{} are excess reportable income of funds.",
            output.dividends.total, output.interest.total, output.excess_reportable_income
        );
        let table = table_of(&totals);
        let mut reply = Reply::new(output, text, self.service.evidence(parsed.rows.len()))
            .table(table)
            .assuming("income in pounds without tax withheld and without a known country is from the UK")
            .assuming("funds pay dividends unless `SECURITY … INCOME interest` says that they hold more than 60 % bonds or cash")
            .assuming("an ACCUMULATION is income of its day, or excess reportable income when it is dated at the end of a reporting period of its ISIN");
        if params.other_income.is_none() {
            reply = reply.needing(
                "other taxable income of the year (`other_income`), for the tax and the relief",
            );
        }
        Ok(reply)
    }
}

/// Foreign totals with their reliefs.
fn foreign_rows<'a>(
    totals: &'a [IncomeTotal],
    taxed: Option<&'a (IncomeTax, Vec<Relief>)>,
) -> impl Iterator<Item = (&'a IncomeTotal, Option<Relief>)> {
    let relief = move |index: usize| taxed.and_then(|(_, reliefs)| reliefs.get(index).copied());
    totals
        .iter()
        .enumerate()
        .filter(|(_, total)| total.origin != Origin::Uk)
        .map(move |(index, total)| (total, relief(index)))
}

fn foreign_out(total: &IncomeTotal, percent: Option<u32>, relief: Option<Relief>) -> ForeignOut {
    let by_treaty = percent.map(|percent| total.gross.percent(percent).to_pence());
    let admissible = by_treaty.map_or(total.tax, |most| total.tax.min(most));
    ForeignOut {
        country: code_of(total.origin),
        kind: total.kind,
        income: total.gross.to_string(),
        foreign_tax: total.tax.to_string(),
        treaty_percent: percent,
        admissible_tax: admissible.to_string(),
        relief: relief.map(|relief| relief.relief.to_string()),
    }
}

fn code_of(origin: Origin) -> Option<String> {
    match origin {
        Origin::Uk => Some("GBR".to_owned()),
        Origin::Foreign(country) => Some(country.return_code().to_owned()),
        Origin::Unknown => None,
    }
}

fn sum(totals: &[IncomeTotal], kind: IncomeKind, is_uk: bool) -> Money {
    let of = |total: &&IncomeTotal| total.kind == kind && (total.origin == Origin::Uk) == is_uk;
    totals.iter().filter(of).map(|total| total.gross).sum()
}

fn kind_out(totals: &[IncomeTotal], kind: IncomeKind, allowance: Option<Money>) -> KindOut {
    let (uk, foreign) = (sum(totals, kind, true), sum(totals, kind, false));
    let withheld: Money =
        totals.iter().filter(|total| total.kind == kind).map(|total| total.tax).sum();
    KindOut {
        uk: uk.to_string(),
        foreign: foreign.to_string(),
        total: (uk + foreign).to_string(),
        tax_withheld: withheld.to_string(),
        allowance: allowance.map(|allowance| allowance.to_string()),
    }
}

/// Entries of UK income; foreign income goes on form SA106.
fn boxes(totals: &[IncomeTotal]) -> Vec<BoxOut> {
    let whole = |amount: Money| {
        let text = amount.pounds_down().to_string();
        text.strip_suffix(".00").map_or_else(|| text.clone(), str::to_owned)
    };
    vec![
        BoxOut {
            number: "2",
            label: "Untaxed UK interest",
            entry: whole(sum(totals, IncomeKind::Interest, true)),
        },
        BoxOut {
            number: "4",
            label: "Dividends from UK companies; those of UK unit trusts and open-ended companies go in box 5",
            entry: whole(sum(totals, IncomeKind::Dividend, true)),
        },
    ]
}

fn tax_out(tax: &IncomeTax, reliefs: &[Relief], totals: &[IncomeTotal]) -> TaxOut {
    let relief: Money = reliefs.iter().map(|relief| relief.relief).sum();
    let withheld: Money =
        totals.iter().filter(|total| total.origin == Origin::Uk).map(|total| total.tax).sum();
    TaxOut {
        interest_untaxed: tax.interest_untaxed.to_string(),
        dividends_untaxed: tax.dividends_untaxed.to_string(),
        interest_tax: tax.interest_tax.to_string(),
        dividend_tax: tax.dividend_tax.to_string(),
        relief: relief.to_string(),
        tax_due: (tax.total() - relief - withheld).to_string(),
    }
}

fn payment_out(entry: &IncomeEntry) -> PaymentOut {
    PaymentOut {
        date: entry.date.to_string(),
        ticker: entry.ticker.to_string(),
        source: entry.source.as_str(),
        kind: entry.kind,
        country: code_of(entry.origin),
        income: entry.gross.to_string(),
        tax: entry.tax.to_string(),
    }
}

fn warnings(foreign: &[ForeignOut], notices: Vec<String>) -> Vec<String> {
    let mut warnings = notices;
    for row in foreign {
        match (&row.country, row.treaty_percent, row.kind) {
            (None, ..) => warnings.push(format!(
                "income of £{} is foreign by its currency or tax, but its country is not known: add `SECURITY … ISIN …` or `COUNTRY …`",
                row.income
            )),
            (Some(country), None, IncomeKind::Dividend) if row.foreign_tax != "0.00" => {
                warnings.push(format!(
                    "the treaty rate on dividends from {country} is not known: look it up and give `treaty_rates`; until then all tax withheld counts as admissible"
                ));
            }
            (Some(_), ..) => {}
        }
    }
    warnings
}

fn table_of(totals: &[IncomeTotal]) -> Table {
    let headings = ["kind", "country", "income", "tax withheld"];
    totals.iter().fold(Table::new(headings), |table, total| {
        table.row([
            total.kind.as_str().to_owned(),
            code_of(total.origin).unwrap_or_else(|| "?".to_owned()),
            total.gross.to_string(),
            total.tax.to_string(),
        ])
    })
}
