//! `calc_rmf_tax_benefit`: remaining RMF allowance and the tax a purchase saves.

use std::collections::BTreeMap;
use std::sync::Arc;

use panoply_contract::prelude::*;
use serde_json::json;

use super::locale::fixed;
use super::service::{KEYWORDS, READ_PERMISSIONS, RmfService};
use super::wire::{Figure, decimal, figure, optional_whole, tax_year};
use crate::deductions::{CHECKED_ON, Saving, ltf_part};
use crate::store::FundStore;
use crate::tax::{self, BandAmount, Benefit, RuleSource, SavingLine, Situation, Split, best_split};

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
            params: r#"{"annualIncome": 4000000, "providentFund": 600000, "taxYear": 2025}"#,
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
    #[schemars(extend("x-listed" = false))]
    expenses: Option<f64>,
    /// Deductions other than the personal allowance of 60,000 and the savings below: family,
    /// insurance, interest, donations; in baht.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 10_000_000_000.0))]
    #[schemars(extend("x-listed" = false))]
    other_deductions: f64,
    /// Paid into a provident fund, in baht.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 10_000_000.0))]
    provident_fund: f64,
    /// Paid into the Government Pension Fund, in baht.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 10_000_000.0))]
    #[schemars(extend("x-listed" = false))]
    government_pension_fund: f64,
    /// Paid for pension life insurance, in baht.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 10_000_000.0))]
    pension_insurance: f64,
    /// Paid into the private teachers' fund, in baht.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 10_000_000.0))]
    #[schemars(extend("x-listed" = false))]
    private_teacher_fund: f64,
    /// Paid into the National Savings Fund, in baht.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 10_000_000.0))]
    #[schemars(extend("x-listed" = false))]
    national_savings_fund: f64,
    /// SSF units bought (deductible up to tax year 2024), in baht.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 10_000_000.0))]
    #[schemars(extend("x-listed" = false))]
    ssf: f64,
    /// Thai ESG units bought this year (tax years 2023 to 2026), in baht.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 10_000_000.0))]
    #[schemars(extend("x-listed" = false))]
    thai_esg: f64,
    /// Thai ESGX units bought with new money in May and June 2025, in baht.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 10_000_000.0))]
    #[schemars(extend("x-listed" = false))]
    thai_esgx: f64,
    /// Part of the LTF units moved to Thai ESGX that is claimed this year, in baht.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 10_000_000.0))]
    #[schemars(extend("x-listed" = false))]
    ltf_to_esgx: f64,
    /// Value of all LTF units moved to Thai ESGX by June 2025, in baht: the part of this year is worked
    /// out, at most 500,000 over 2025 to 2029.
    #[schemars(range(min = 0.0, max = 1_000_000_000.0))]
    #[schemars(extend("x-listed" = false))]
    ltf_moved: Option<f64>,
    /// Money to split between RMF and Thai ESG, in baht; by default what still lowers the tax.
    #[schemars(range(min = 0.0, max = 1_000_000_000.0))]
    #[schemars(extend("x-listed" = false))]
    budget: Option<f64>,
    /// Age of the buyer, which decides what is free earlier.
    #[serde(default, deserialize_with = "optional_whole")]
    #[schemars(range(min = 15, max = 120))]
    age: Option<u32>,
    /// RMF units already bought this year, in baht.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1_000_000_000.0))]
    already_bought: f64,
    /// Planned RMF purchase, in baht; by default the whole remaining allowance.
    #[schemars(range(min = 0.0, max = 1_000_000_000.0))]
    planned_purchase: Option<f64>,
    /// Calendar year, of the common or the Buddhist era: 2025 or 2568. By default the current year.
    #[serde(default, deserialize_with = "optional_whole")]
    #[schemars(range(min = 2020, max = 2643))]
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
    /// Deductible part of the other savings that share the cap with RMF.
    other_retirement_savings: Figure,
    /// Other savings: paid, cap and what counts.
    savings: Vec<SavingRow>,
    /// Deductible Thai ESG purchases that are still possible.
    thai_esg_room: Figure,
    /// Purchases that still lower the tax, of all kinds together; more saves nothing.
    useful_amount: Figure,
    /// How to split a budget between RMF and Thai ESG.
    best_split: SplitRow,
    /// Taxable income by band, without the purchase.
    bands_before: Vec<BandRow>,
    /// Taxable income by band, with the purchase.
    bands_after: Vec<BandRow>,
    /// What the law or the sources leave open.
    unclear: Vec<&'static str>,
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

/// A saving other than RMF, in baht.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct SavingRow {
    /// Argument name.
    kind: &'static str,
    /// Paid.
    paid: Figure,
    /// Cap of this saving in the year; zero when it is not deductible.
    cap: Figure,
    /// Part that counts, before the joint cap.
    counted: Figure,
    /// Whether it shares the joint cap with RMF.
    joint_cap: bool,
    /// Source of the cap; null in a year without this deduction.
    source: Option<&'static str>,
}

/// A split between RMF and Thai ESG, in baht.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct SplitRow {
    /// Thai ESG purchases.
    thai_esg: Figure,
    /// RMF purchases.
    rmf: Figure,
    /// Tax saved by both.
    tax_saved: Figure,
    /// Part of the budget that saves no tax.
    without_benefit: Figure,
    /// Whether Thai ESG comes first, because its money is free earlier.
    esg_first: bool,
}

/// Taxable income within one band, in baht.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct BandRow {
    /// Rate in percent.
    rate: i64,
    /// Upper limit; null for the last band.
    up_to: Option<i64>,
    /// Income within the band.
    amount: Figure,
    /// Tax on it.
    tax: Figure,
}

impl SavingRow {
    fn of(line: &SavingLine, year: i16) -> Self {
        Self {
            kind: line.saving.as_str(),
            paid: Figure(line.paid),
            cap: Figure(line.cap),
            counted: Figure(line.counted),
            joint_cap: line.saving.shares_joint_cap(),
            source: line.saving.cap(year).map(|cap| cap.source),
        }
    }
}

impl SplitRow {
    const fn of(split: &Split) -> Self {
        Self {
            thai_esg: Figure(split.thai_esg),
            rmf: Figure(split.rmf),
            tax_saved: Figure(split.tax_saved),
            without_benefit: Figure(split.without_benefit),
            esg_first: split.esg_first,
        }
    }
}

/// What the sources leave open about the savings in this case.
fn unclear(situation: &Situation, found: &Benefit) -> Vec<&'static str> {
    let paid = found.lines.iter().filter(|line| !line.paid.is_zero());
    let mut notes: Vec<&'static str> =
        paid.filter_map(|line| line.saving.cap(situation.year)?.unclear).collect();
    if found.beyond_checked {
        notes.push("rates, allowances, the RMF limit and the joint cap of this tax year were not verified; those of the last verified year are used");
    }
    if situation.year == 2026 {
        notes.push("tax year 2026: sources state the Thai ESG limit (purchases to 2026-12-31) and the LTF instalments; a reform of the saving deductions (TISA) was reported as under review, and its adoption was not verified");
    }
    notes
}

impl BandRow {
    fn all(bands: &[BandAmount]) -> Vec<Self> {
        let row = |band: &BandAmount| Self {
            rate: band.rate,
            up_to: band.up_to,
            amount: Figure(band.amount),
            tax: Figure(band.tax),
        };
        bands.iter().map(row).collect()
    }
}

/// Rules applied.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Rules {
    /// First tax year of the rules.
    from_year: i16,
    /// Last tax year the rules were verified for.
    checked_to: i16,
    /// Date of the check.
    checked_on: &'static str,
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
        let situation = situation(&service, &params)?;
        let found = tax::benefit(&situation)
            .map_err(|unknown| service.locale.not_a_tax_year(unknown.year))?;
        let budget = params.budget.map(|budget| decimal(service.locale, budget)).transpose()?;
        let age = params.age.and_then(|age| i16::try_from(age).ok());
        let split = best_split(&found, budget, age);
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
            other_retirement_savings: Figure(found.joint_counted),
            savings: found.lines.iter().map(|line| SavingRow::of(line, situation.year)).collect(),
            thai_esg_room: Figure(found.esg_room),
            useful_amount: Figure(found.useful),
            best_split: SplitRow::of(&split),
            bands_before: BandRow::all(&found.bands_before),
            bands_after: BandRow::all(&found.bands_after),
            unclear: unclear(&situation, &found),
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
                checked_on: CHECKED_ON,
                percent_of_income: found.rules.percent_of_income,
                sources: sources.iter().map(RuleSourceRow::of).collect(),
            },
            disclaimer: disclaimer(&service).to_owned(),
        };
        let mut reply = Reply::new(output, text, evidence)
            .assuming("wages equal the assessable income")
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

fn situation(service: &RmfService, params: &Params) -> Result<Situation, ToolError> {
    let decimal = |value| decimal(service.locale, value);
    let year = params
        .tax_year
        .map_or_else(|| Ok(service.today().year()), |year| tax_year(service.locale, year))?;
    let moved = params.ltf_moved.map(decimal).transpose()?.map(|moved| ltf_part(moved, year));
    let claimed = Some(decimal(params.ltf_to_esgx)?).filter(|claimed| !claimed.is_zero());
    let ltf = [moved, claimed].into_iter().flatten().min().unwrap_or_default();
    let given = [
        (Saving::ProvidentFund, params.provident_fund),
        (Saving::GovernmentPensionFund, params.government_pension_fund),
        (Saving::PensionInsurance, params.pension_insurance),
        (Saving::PrivateTeacherFund, params.private_teacher_fund),
        (Saving::NationalSavingsFund, params.national_savings_fund),
        (Saving::Ssf, params.ssf),
        (Saving::ThaiEsg, params.thai_esg),
        (Saving::ThaiEsgx, params.thai_esgx),
    ];
    let mut savings = given
        .into_iter()
        .map(|(saving, amount)| Ok((saving, decimal(amount)?)))
        .collect::<Result<BTreeMap<_, _>, ToolError>>()?;
    savings.insert(Saving::LtfToEsgx, ltf);
    Ok(Situation {
        year,
        income: decimal(params.annual_income)?,
        expenses: params.expenses.map(decimal).transpose()?,
        other_deductions: decimal(params.other_deductions)?,
        savings,
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
    let effect = match (found.deductible.is_zero(), locale.0) {
        (false, Lang::En) => format!(
            "Buying {deductible} lowers tax from {before} to {after} and saves {saved}{share}."
        ),
        (false, Lang::Th) => {
            format!("การซื้อ {deductible} ลดภาษีจาก {before} เหลือ {after} ประหยัด {saved}{share}")
        }
        (true, Lang::En) => format!("An RMF would not lower the tax of {before}."),
        (true, Lang::Th) => format!("การซื้อ RMF ไม่ช่วยลดภาษี {before}"),
    };
    let more = advice(service, situation, found);
    match locale.0 {
        Lang::En => format!(
            "Tax year {year}, income {income}: room left for RMF is {room}. {effect}{excess}{more} Rules as of {checked}. {}",
            disclaimer(service)
        ),
        Lang::Th => format!(
            "ปีภาษี {year} เงินได้ {income}: ซื้อ RMF เพิ่มได้อีก {room} {effect}{excess}{more} ตามหลักเกณฑ์ถึงปี {checked} {}",
            disclaimer(service)
        ),
    }
}

/// What else matters: savings over their cap, purchases without benefit, Thai ESG, unknown rules.
fn advice(service: &RmfService, situation: &Situation, found: &Benefit) -> String {
    let locale = service.locale;
    let mut parts = Vec::new();
    for line in found.lines.iter().filter(|line| line.paid > line.counted) {
        let (kind, counted) = (line.saving.as_str(), locale.baht(line.counted));
        parts.push(match locale.0 {
            Lang::En => format!("Of `{kind}` only {counted} counts."),
            Lang::Th => format!("`{kind}` นับได้เพียง {counted}"),
        });
    }
    if found.useful < found.planned {
        let useful = locale.baht(found.useful);
        parts.push(match locale.0 {
            Lang::En => format!("More than {useful} saves no tax: do not buy more for the tax."),
            Lang::Th => format!("ซื้อเกิน {useful} ไม่ช่วยลดภาษี"),
        });
    }
    if !found.esg_room.is_zero() {
        let room = locale.baht(found.esg_room);
        parts.push(match locale.0 {
            Lang::En => format!("Besides, Thai ESG has room for {room}."),
            Lang::Th => format!("นอกจากนี้ซื้อ Thai ESG ได้อีก {room}"),
        });
    }
    if found.beyond_checked {
        let (year, known) = (locale.year(situation.year), locale.year(found.rules.checked_to));
        parts.push(match locale.0 {
            Lang::En => {
                format!("The rules of {year} are not known here; those of {known} are used.")
            }
            Lang::Th => format!("ยังไม่ทราบหลักเกณฑ์ของปี {year} จึงใช้ของปี {known}"),
        });
    }
    parts.iter().map(|part| format!(" {part}")).collect()
}
