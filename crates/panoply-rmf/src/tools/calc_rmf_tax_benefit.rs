//! `calc_rmf_tax_benefit`: remaining RMF allowance and the tax a purchase saves.

use std::sync::Arc;

use panoply_contract::prelude::*;
use rust_decimal::Decimal;
use serde_json::json;

use super::locale::fixed;
use super::service::{KEYWORDS, READ_PERMISSIONS, RmfService};
use super::wire::{Figure, decimal, figure, optional_whole};
use crate::store::FundStore;
use crate::tax::{self, Benefit, FIRST_YEAR, RuleSource, Situation, UnknownTaxYear};

const SPEC: ToolSpec = ToolSpec {
    name: "calc_rmf_tax_benefit",
    title: "Tax saved by buying RMF",
    description: Description {
        does: "Works out how much of a Thai Retirement Mutual Fund (RMF) a person may still buy this tax year and how much personal income tax that saves, from dated rules with their sources.",
        when: "Use this when someone asks how much RMF to buy or how much tax it saves. Ask for yearly income and other retirement savings first. Do not use it for other countries' taxes, for company tax, or as tax advice.",
        returns: "Returns both limits, room left, what of a planned purchase counts, tax before and after, the saving, the rates and the sources of the rules. Not tax advice.",
        asks: &["How much tax would an RMF save me on 1.2 million baht?", "How much RMF can I still buy this year?", "เงินเดือน 100,000 ซื้อ RMF ได้เท่าไร ลดภาษีเท่าไร"],
    },
    version: "1.0.0",
    aliases: &[],
    permissions: READ_PERMISSIONS,
    category: Category::Analysis,
    response_time: ResponseTime::Fast,
    cache: CachePolicy::Never,
    idempotent: true,
    data: &[],
    examples: &[
        Example {
            shows: "a salary of 1.2 million baht",
            params: r#"{"annualIncome": 1200000, "plannedPurchase": 300000, "taxYear": 2025}"#,
            expect: Expect::Data(r#"{"taxBefore": 125000, "taxAfter": 63500, "taxSaved": 61500, "roomLeft": 360000}"#),
        },
        Example {
            shows: "a cap that others have used up",
            params: r#"{"annualIncome": 3000000, "providentFund": 500000, "taxYear": 2025}"#,
            expect: Expect::Data(r#"{"roomLeft": 0, "taxSaved": 0}"#),
        },
        Example {
            shows: "an income below nothing",
            params: r#"{"annualIncome": -1}"#,
            expect: Expect::Error("BAD_REQUEST"),
        },
    ],
    tags: KEYWORDS,
    rate_limit: None,
    deprecated: None,
    annotations: Annotations::CLOSED,
    listing: Listing::Core,
    widget: None,
}
.checked();

/// Income and savings of a tax year, in baht.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// Assessable income of the tax year, before deductions, in baht.
    #[schemars(range(min = 0.0, max = 10_000_000_000.0))]
    annual_income: f64,
    /// Expenses to deduct, in baht; by default an employee's 50 % of income up to 100,000.
    #[schemars(range(min = 0.0, max = 10_000_000_000.0))]
    expenses: Option<f64>,
    /// Deductions other than the personal allowance of 60,000 and retirement savings: family,
    /// insurance, interest, donations, Thai ESG; in baht.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 10_000_000_000.0))]
    other_deductions: f64,
    /// Paid into a provident fund, in baht.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 10_000_000.0))]
    provident_fund: f64,
    /// Paid into the Government Pension Fund, in baht.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 10_000_000.0))]
    government_pension_fund: f64,
    /// Paid for pension life insurance, in baht.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 10_000_000.0))]
    pension_insurance: f64,
    /// Paid into the private teachers' fund, in baht.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 10_000_000.0))]
    private_teacher_fund: f64,
    /// Paid into the National Savings Fund, in baht.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 10_000_000.0))]
    national_savings_fund: f64,
    /// SSF units bought (deductible up to tax year 2024), in baht.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 10_000_000.0))]
    ssf: f64,
    /// RMF units already bought this year, in baht.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1_000_000_000.0))]
    already_bought: f64,
    /// Planned RMF purchase, in baht; by default the whole remaining allowance.
    #[schemars(range(min = 0.0, max = 1_000_000_000.0))]
    planned_purchase: Option<f64>,
    /// Calendar year of the common era: 2025 is 2568. By default the current year.
    #[serde(default, deserialize_with = "optional_whole")]
    #[schemars(range(min = 2020, max = 2100))]
    tax_year: Option<u32>,
}

/// Tax saved by the purchase. Amounts are in baht.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// Tax year.
    tax_year: i16,
    /// Allowance by percentage of income.
    income_limit: Figure,
    /// Cap on all retirement savings together.
    group_cap: Figure,
    /// Contributions to other retirement savings that share the cap.
    other_retirement_savings: Figure,
    /// RMF units already bought.
    already_bought: Figure,
    /// Remaining deductible amount.
    room_left: Figure,
    /// Planned purchase.
    planned_purchase: Figure,
    /// Deductible part of the purchase.
    deductible: Figure,
    /// Part of the purchase that is not deductible.
    excess: Figure,
    /// Taxable income without the purchase.
    taxable_income_before: Figure,
    /// Taxable income with the purchase.
    taxable_income_after: Figure,
    /// Tax without the purchase.
    tax_before: Figure,
    /// Tax with the purchase.
    tax_after: Figure,
    /// Tax saved.
    tax_saved: Figure,
    /// Marginal tax rate, in percent.
    marginal_rate: i64,
    /// Tax saved in percent of the deductible part; null when nothing is deductible.
    saved_percent: Option<Figure>,
    /// Rules applied and their sources.
    rules: Rules,
    /// Disclaimer.
    disclaimer: String,
}

/// Rules applied.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Rules {
    /// First tax year of the rules.
    from_year: i16,
    /// Last tax year the rules were verified for.
    checked_to: i16,
    /// Maximum deduction in percent of assessable income.
    percent_of_income: i64,
    /// Legal sources.
    sources: Vec<RuleSourceRow>,
}

/// A rule and its source.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RuleSourceRow {
    /// Rule.
    rule: &'static str,
    /// Citation.
    source: &'static str,
}

impl RuleSourceRow {
    pub(crate) const fn of(source: &RuleSource) -> Self {
        Self { rule: source.rule, source: source.citation }
    }
}

pub(crate) struct CalcRmfTaxBenefit {
    pub(crate) store: Arc<FundStore>,
}

impl Tool for CalcRmfTaxBenefit {
    type Params = Params;
    type Output = Output;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, params: Params, cx: &CallContext) -> Result<Reply<Output>, ToolError> {
        let service = RmfService::open(&self.store, cx);
        let situation = situation(&params, service.today().year())?;
        let found = tax::benefit(&situation)?;
        let sources = [found.rules.sources, &[found.rates.source]].concat();
        let mut evidence =
            Evidence::from(Source::new(SourceClass::UserSupplied, "the figures given")).and_source(
                Source::new(SourceClass::Authoritative, "Thai tax rules, dated tables"),
            );
        // Defaulted inputs count as unknown; income is always given.
        let given = [
            params.expenses.is_some(),
            params.planned_purchase.is_some(),
            params.tax_year.is_some(),
        ];
        let known = 1 + given.iter().filter(|given| **given).count() as u64;
        evidence = evidence.complete(known.max(3), 4);
        let text = sentence(&service, &situation, &found);
        let output = Output {
            tax_year: situation.year,
            income_limit: Figure(found.income_limit),
            group_cap: Figure(found.rules.group_cap.into()),
            other_retirement_savings: Figure(situation.other_retirement),
            already_bought: Figure(situation.bought),
            room_left: Figure(found.room_left),
            planned_purchase: Figure(found.planned),
            deductible: Figure(found.deductible),
            excess: Figure(found.excess),
            taxable_income_before: Figure(found.taxable_before),
            taxable_income_after: Figure(found.taxable_after),
            tax_before: Figure(found.tax_before),
            tax_after: Figure(found.tax_after),
            tax_saved: Figure(found.tax_saved),
            marginal_rate: found.marginal_rate,
            saved_percent: figure(found.saved_percent),
            rules: Rules {
                from_year: found.rules.from_year,
                checked_to: found.rules.checked_to,
                percent_of_income: found.rules.percent_of_income,
                sources: sources.iter().map(RuleSourceRow::of).collect(),
            },
            disclaimer: disclaimer(&service).to_owned(),
        };
        let mut reply = Reply::new(output, text, evidence)
            .assuming("amounts of other retirement savings are within their own limits")
            .next(NextAction::new(
                "get_rmf_fund_performance",
                json!({"period": "1y", "limit": 10}),
                service.locale.pick("see which RMF funds did well", "ดูกองทุน RMF ที่ผลตอบแทนดี"),
            ));
        if params.expenses.is_none() {
            reply = reply.assuming("expenses of an employee: 50 % of income, at most 100,000 baht");
        }
        if found.beyond_checked {
            reply = reply.assuming(format!(
                "the rules of {} still hold in {}",
                found.rules.checked_to, situation.year
            ));
        }
        Ok(reply)
    }
}

fn situation(params: &Params, this_year: i16) -> Result<Situation, ToolError> {
    let others = [
        params.provident_fund,
        params.government_pension_fund,
        params.pension_insurance,
        params.private_teacher_fund,
        params.national_savings_fund,
        params.ssf,
    ];
    let mut other_retirement = Decimal::ZERO;
    for amount in others {
        other_retirement += decimal(amount)?;
    }
    let year = params.tax_year.map_or(Ok(this_year), i16::try_from).unwrap_or(i16::MAX);
    Ok(Situation {
        year,
        income: decimal(params.annual_income)?,
        expenses: params.expenses.map(decimal).transpose()?,
        other_deductions: decimal(params.other_deductions)?,
        other_retirement,
        bought: decimal(params.already_bought)?,
        planned: params.planned_purchase.map(decimal).transpose()?,
    })
}

pub(crate) const fn disclaimer(service: &RmfService) -> &'static str {
    service.locale.pick(
        "This is not tax advice. Check with the Revenue Department or a tax adviser.",
        "ข้อมูลนี้ไม่ใช่คำแนะนำทางภาษี โปรดตรวจสอบกับกรมสรรพากรหรือที่ปรึกษาภาษี",
    )
}

fn sentence(service: &RmfService, situation: &Situation, found: &Benefit) -> String {
    let locale = service.locale;
    let year = locale.year(situation.year);
    let income = locale.baht(situation.income);
    let room = locale.baht(found.room_left);
    let deductible = locale.baht(found.deductible);
    let saved = locale.baht(found.tax_saved);
    let (before, after) = (locale.baht(found.tax_before), locale.baht(found.tax_after));
    let excess = if found.excess.is_zero() {
        String::new()
    } else {
        let amount = locale.baht(found.excess);
        match locale.0 {
            Lang::En => format!(" {amount} of the plan is over the limit and saves nothing."),
            Lang::Th => format!(" ส่วนที่เกินสิทธิ {amount} ไม่ช่วยลดภาษี"),
        }
    };
    let share = found
        .saved_percent
        .map_or_else(String::new, |percent| format!(" ({}%)", fixed(percent, 2)));
    let checked = locale.year(found.rules.checked_to);
    match locale.0 {
        Lang::En => format!(
            "Tax year {year}, income {income}: room left for RMF is {room}. Buying {deductible} lowers tax from {before} to {after} and saves {saved}{share}.{excess} Rules as of {checked}. {}",
            disclaimer(service)
        ),
        Lang::Th => format!(
            "ปีภาษี {year} เงินได้ {income}: ซื้อ RMF เพิ่มได้อีก {room} การซื้อ {deductible} ลดภาษีจาก {before} เหลือ {after} ประหยัด {saved}{share}{excess} ตามหลักเกณฑ์ถึงปี {checked} {}",
            disclaimer(service)
        ),
    }
}

impl From<UnknownTaxYear> for ToolError {
    fn from(error: UnknownTaxYear) -> Self {
        Self::validation("BAD_REQUEST", error.to_string())
            .hint(format!("ask for a tax year from {FIRST_YEAR} on; 2025 is the Thai year 2568"))
    }
}
