//! `simulate_rmf_plan`: range of outcomes of regular or single payments into a fund.

use std::sync::Arc;

use panoply_contract::prelude::*;
use rust_decimal::Decimal;
use serde_json::json;

use super::data_age::DataAge;
use super::locale::{Locale, fixed, signed_percent};
use super::service::{KEYWORDS, READ_PERMISSIONS, ReplyExt, RmfService, SAVING_PLAN, related};
use super::wire::{Day, Figure, decimal, optional_whole};
use crate::fund::Fund;
use crate::period::Period;
use crate::simulate::{
    BackTest, Phase, Plan, Projection, YearEnd, back_test, mean_inflation, project,
};
use crate::store::FundStore;

const SPEC: ToolSpec = ToolSpec {
    name: "simulate_rmf_plan",
    title: "Simulate an RMF saving plan",
    description: Description {
        does: "Simulates paying into a Thai Retirement Mutual Fund (RMF) monthly or at once, with fees, a switch to another fund, the tax saved paid in again, and Thai inflation: range of outcomes by year up to a number of years or an age.",
        when: "Use this when someone asks what saving 5,000 baht a month may become, or what a lump sum may be worth at 55 or 60. Do not use it as a promise: it is an estimate from past return and volatility.",
        returns: "Returns the values that 10 %, 50 % and 90 % of the outcomes stay below, by year and in today's money, the chance of a loss, the typical fall, and a back-test over the NAVs that are known.",
        asks: &["What would 5,000 baht a month in B-ASIARMF become in 10 years?", "Lump sum of 100,000 until I am 60", "DCA เดือนละ 5,000 บาท 10 ปี จะได้เท่าไร"],
    },
    version: "1.0.0",
    aliases: &[],
    permissions: READ_PERMISSIONS,
    category: Category::Analysis,
    response_time: ResponseTime::Medium,
    // The amounts are the caller's: a shared entry would tell others that they were asked.
    cache: CachePolicy::Never,
    idempotent: true,
    data: &["rmf"],
    examples: &[
        Example {
            shows: "monthly payments over ten years",
            params: r#"{"fundCode": "ABAPAC-RMF", "monthly": 5000, "years": 10}"#,
            expect: Expect::Data(r#"{"fundCode": "ABAPAC-RMF", "paid": 600000}"#),
        },
        Example {
            shows: "nothing paid",
            params: r#"{"fundCode": "ABAPAC-RMF", "years": 10}"#,
            expect: Expect::Error("BAD_REQUEST"),
        },
    ],
    tags: KEYWORDS,
    rate_limit: None,
    deprecated: None,
    annotations: Annotations::CLOSED,
    listing: Listing::Extra,
    widget: Some(SAVING_PLAN.widget),
}
.checked();

/// The plan.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// Code or name of the fund.
    #[schemars(length(min = 1, max = 160))]
    fund_code: String,
    /// Paid at the start of each month, in baht.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 10_000_000.0))]
    monthly: f64,
    /// Paid at once at the start, in baht.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1_000_000_000.0))]
    lump_sum: f64,
    /// Length in years; or give `age` and `untilAge`.
    #[serde(default, deserialize_with = "optional_whole")]
    #[schemars(range(min = 1, max = 50))]
    years: Option<u32>,
    /// Age of the saver.
    #[serde(default, deserialize_with = "optional_whole")]
    #[schemars(range(min = 15, max = 100))]
    age: Option<u32>,
    /// Age at the end, by default 60.
    #[serde(default, deserialize_with = "optional_whole")]
    #[schemars(range(min = 16, max = 110))]
    until_age: Option<u32>,
    /// Fee on each payment, in percent; by default the fund's published front-end fee, else none.
    #[schemars(range(min = 0.0, max = 10.0))]
    front_fee: Option<f64>,
    /// Marginal tax rate in percent: the tax saved is paid in at the end of each year.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 35.0))]
    tax_rate: f64,
    /// Fund to switch to.
    #[schemars(length(min = 1, max = 160))]
    switch_to: Option<String>,
    /// Year after which to switch, by default the middle.
    #[serde(default, deserialize_with = "optional_whole")]
    #[schemars(range(min = 1, max = 49))]
    switch_after_years: Option<u32>,
    /// Fee on the switch, in percent.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 10.0))]
    switch_fee: f64,
    /// Expected return in percent a year, instead of the fund's published one.
    #[schemars(range(min = -50.0, max = 50.0))]
    annual_return: Option<f64>,
    /// Inflation in percent a year, instead of the mean of the last ten known years.
    #[schemars(range(min = -10.0, max = 50.0))]
    inflation: Option<f64>,
}

/// Range of outcomes. Amounts are in baht.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// Fund.
    fund_code: String,
    /// Length in years.
    years: u32,
    /// Paid in, without tax saved.
    paid: Figure,
    /// Tax saved that was paid in.
    tax_reinvested: Figure,
    /// One in ten outcomes is below.
    low: Figure,
    /// Half of the outcomes are below.
    median: Figure,
    /// One in ten outcomes is above.
    high: Figure,
    /// Median in today's money.
    median_real: Figure,
    /// Share of outcomes below what was paid in, in percent.
    loss_percent: Figure,
    /// Typical largest fall from a peak, in percent.
    drawdown_percent: Figure,
    /// Values by year.
    by_year: Vec<YearRow>,
    /// Return and deviation assumed for each phase.
    assumptions: Vec<Assumption>,
    /// Inflation assumed, in percent a year.
    inflation: Figure,
    /// Source of the inflation.
    inflation_source: String,
    /// The same payments over the NAVs that are known; null when there are too few.
    back_test: Option<BackTestRow>,
    /// Dates and ages of these figures.
    data_age: DataAge,
}

/// Values at the end of a year.
#[derive(Debug, Serialize, JsonSchema)]
struct YearRow {
    /// Year of the plan.
    year: u32,
    /// Paid in so far.
    paid: Figure,
    /// One in ten outcomes is below.
    low: Figure,
    /// Median.
    median: Figure,
    /// One in ten outcomes is above.
    high: Figure,
}

/// Assumptions of a phase.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Assumption {
    /// Fund.
    fund_code: String,
    /// Months.
    months: u32,
    /// Return in percent a year.
    annual_return: Figure,
    /// Period of the published return, or `given`.
    return_period: &'static str,
    /// Standard deviation in percent a year.
    deviation: Figure,
}

/// Payments over known NAVs.
#[derive(Debug, Serialize, JsonSchema)]
struct BackTestRow {
    /// First NAV.
    from: Day,
    /// Last NAV.
    to: Day,
    /// Number of monthly purchases.
    purchases: u32,
    /// Paid in.
    paid: Figure,
    /// Value at the end.
    value: Figure,
    /// Largest fall of the NAV, in percent.
    drawdown: Figure,
}

pub(crate) struct SimulateRmfPlan {
    pub(crate) store: Arc<FundStore>,
}

impl Tool for SimulateRmfPlan {
    type Params = Params;
    type Output = Output;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, params: Params, cx: &CallContext) -> Result<Reply<Output>, ToolError> {
        let service = RmfService::open(&self.store, cx);
        let fund = service.fund(&params.fund_code)?;
        let locale = service.locale;
        let years = length(locale, &params)?;
        let decimal = |value| decimal(locale, value);
        if params.monthly + params.lump_sum <= 0.0 {
            return Err(locale
                .bad_request(
                    ["nothing is paid in".to_owned(), "ไม่มีเงินลงทุน".to_owned()],
                    [
                        "give `monthly`, `lumpSum` or both, in baht",
                        "ระบุ `monthly` หรือ `lumpSum` หรือทั้งสองอย่าง เป็นบาท",
                    ],
                )
                .detail(
                    "example",
                    json!({"fundCode": fund.symbol, "monthly": 5000, "years": 10}),
                ));
        }
        let phases = phases(&service, fund, &params, years)?;
        let given = params.inflation.map(decimal).transpose()?;
        let (inflation, source) = inflation_of(given);
        let plan = Plan {
            lump_sum: decimal(params.lump_sum)?,
            monthly: decimal(params.monthly)?,
            front_fee: match params.front_fee {
                Some(fee) => decimal(fee)?,
                None => published_front_fee(fund),
            },
            switch_fee: decimal(params.switch_fee)?,
            reinvested_tax_rate: decimal(params.tax_rate)?,
            phases: phases.iter().map(|(phase, _)| *phase).collect(),
            inflation,
        };
        let found = project(&plan).ok_or_else(|| {
            locale.bad_request(
                ["the plan cannot be simulated".to_owned(), "จำลองแผนนี้ไม่ได้".to_owned()],
                ["give smaller amounts or fewer years", "ระบุจำนวนเงินหรือจำนวนปีที่น้อยลง"],
            )
        })?;
        let tested = back_test(fund.nav.points(), plan.lump_sum, plan.monthly, plan.front_fee);
        let end = found.years.last().cloned().ok_or_else(|| ToolError::system("no year"))?;
        let text = sentence(&service, fund, &found, &end, tested.as_ref());
        let evidence = service.evidence_from_returns(&[fund]).complete(1, 2);
        let output = Output {
            fund_code: fund.symbol.clone(),
            years,
            paid: Figure(end.paid),
            tax_reinvested: Figure(found.tax_reinvested),
            low: Figure(end.low),
            median: Figure(end.median),
            high: Figure(end.high),
            median_real: Figure(found.real_median),
            loss_percent: Figure(found.loss_percent),
            drawdown_percent: Figure(found.median_drawdown),
            by_year: found.years.iter().map(YearRow::of).collect(),
            assumptions: phases.into_iter().map(|(_, assumed)| assumed).collect(),
            inflation: Figure(inflation),
            inflation_source: source,
            back_test: tested.map(|tested| BackTestRow::of(&tested)),
            data_age: DataAge::of(&service, &[fund]),
        };
        let reply = Reply::new(output, text, evidence)
            .related(related(fund))
            .assuming("returns are log-normal and independent from month to month, with the published past return and deviation");
        Ok(reply.with_provenance(&service, Some(&SAVING_PLAN), [fund]))
    }
}

fn length(locale: Locale, params: &Params) -> Result<u32, ToolError> {
    let by_age = params.age.map(|age| params.until_age.unwrap_or(60).saturating_sub(age));
    params.years.or(by_age).filter(|years| (1..=50).contains(years)).ok_or_else(|| {
        locale.bad_request(
            [
                "the length of the plan is missing or not 1 to 50 years".to_owned(),
                "ไม่ได้ระบุระยะเวลา หรือไม่อยู่ในช่วง 1 ถึง 50 ปี".to_owned(),
            ],
            ["give `years`, or `age` and `untilAge`", "ระบุ `years` หรือ `age` และ `untilAge`"],
        )
    })
}

fn phases(
    service: &RmfService,
    fund: &Fund,
    params: &Params,
    years: u32,
) -> Result<Vec<(Phase, Assumption)>, ToolError> {
    let locale = service.locale;
    let given = params.annual_return.map(|given| decimal(locale, given)).transpose()?;
    let Some(other) = &params.switch_to else {
        return Ok(vec![phase(locale, fund, years * 12, given)?]);
    };
    let after = params.switch_after_years.unwrap_or(years.div_ceil(2)).min(years);
    let other = service.fund(other)?;
    let mut phases = vec![phase(locale, fund, after * 12, given)?];
    if years > after {
        phases.push(phase(locale, other, (years - after) * 12, given)?);
    }
    Ok(phases)
}

/// The longest published return that is annualised, and the published deviation.
fn phase(
    locale: Locale,
    fund: &Fund,
    months: u32,
    given: Option<Decimal>,
) -> Result<(Phase, Assumption), ToolError> {
    let published = [Period::Y10, Period::Y5, Period::Y3, Period::SinceInception, Period::Y1]
        .into_iter()
        .find_map(|period| Some((fund.returns.get(period)?, period.as_str())));
    let missing = |what| locale.no_figure_to_simulate(&fund.symbol, what);
    let (annual_return, return_period) = match given {
        Some(given) => (given, "given"),
        None => published.ok_or_else(|| missing(["return", "ผลตอบแทนที่เผยแพร่"]))?,
    };
    let deviation = crate::screen::volatility(fund)
        .ok_or_else(|| missing(["standard deviation", "ความผันผวนที่เผยแพร่"]))?;
    let assumed = Assumption {
        fund_code: fund.symbol.clone(),
        months,
        annual_return: Figure(annual_return),
        return_period,
        deviation: Figure(deviation),
    };
    Ok((Phase { months, annual_return, deviation }, assumed))
}

fn published_front_fee(fund: &Fund) -> Decimal {
    let fee = fund.fees.iter().filter(|fee| fee.kind == "front_end").find_map(|fee| fee.value);
    fee.unwrap_or_default()
}

fn inflation_of(given: Option<Decimal>) -> (Decimal, String) {
    match (given, mean_inflation(10)) {
        (Some(given), _) => (given, "given".to_owned()),
        (None, Some((mean, from, to))) => (
            mean,
            format!(
                "World Bank FP.CPI.TOTL.ZG, mean of {from} to {to}; later years are not in the data"
            ),
        ),
        (None, None) => (Decimal::ZERO, "not known".to_owned()),
    }
}

impl YearRow {
    const fn of(year: &YearEnd) -> Self {
        Self {
            year: year.year,
            paid: Figure(year.paid),
            low: Figure(year.low),
            median: Figure(year.median),
            high: Figure(year.high),
        }
    }
}

impl BackTestRow {
    const fn of(tested: &BackTest) -> Self {
        Self {
            from: Day(tested.from.date),
            to: Day(tested.to.date),
            purchases: tested.purchases,
            paid: Figure(tested.paid),
            value: Figure(tested.value),
            drawdown: Figure(tested.drawdown),
        }
    }
}

fn sentence(
    service: &RmfService,
    fund: &Fund,
    found: &Projection,
    end: &YearEnd,
    tested: Option<&BackTest>,
) -> String {
    let locale = service.locale;
    let baht = |amount| locale.baht(amount);
    let (paid, low, median, high) =
        (baht(end.paid), baht(end.low), baht(end.median), baht(end.high));
    let (real, year) = (baht(found.real_median), end.year);
    let loss = fixed(found.loss_percent, 0);
    let drop = fixed(found.median_drawdown, 0);
    let past = tested.map_or_else(String::new, |tested| {
        let gain = crate::figures::percent_change(tested.paid, tested.value).map(signed_percent);
        let (from, to) = (locale.date(tested.from.date), locale.date(tested.to.date));
        let gain = gain.unwrap_or_default();
        match locale.0 {
            Lang::En => format!(" Over the known NAVs ({from} to {to}) it would have made {gain}."),
            Lang::Th => format!(" จาก NAV ที่มี ({from} ถึง {to}) จะได้ {gain}"),
        }
    });
    let caution = DataAge::of(service, &[fund]).sentence();
    match locale.0 {
        Lang::En => format!(
            "{}: {paid} paid in over {year} years becomes about {median} (half of the outcomes), from {low} (one in ten below) to {high} (one in ten above); {real} in today's money. Chance of ending below what was paid: {loss}%. Typical largest fall: {drop}%.{past} An estimate from past return and volatility, no promise.{caution} {}",
            fund.symbol,
            locale.past_performance()
        ),
        Lang::Th => format!(
            "{}: จ่าย {paid} ใน {year} ปี คาดว่าจะได้ประมาณ {median} (ค่ากลาง) ช่วง {low} ถึง {high}; คิดเป็นเงินวันนี้ {real} โอกาสต่ำกว่าเงินต้น {loss}% ขาดทุนสูงสุดโดยทั่วไป {drop}%{past} เป็นการประมาณ ไม่ใช่คำสัญญา{caution} {}",
            fund.symbol,
            locale.past_performance()
        ),
    }
}
