//! `check_rmf_holding`: whether and when RMF units can be sold without repaying tax.

use std::sync::Arc;

use panoply_contract::prelude::*;
use rust_decimal::Decimal;
use serde_json::json;

use super::calc_rmf_tax_benefit::{RuleSourceRow, disclaimer};
use super::locale::Locale;
use super::service::{KEYWORDS, READ_PERMISSIONS, RmfService};
use super::wire::{Day, Figure, date, decimal, figure};
use crate::figures::round_to;
use crate::holding::{
    Consequence, Holding, Lot, LotStatus, NextEvent, RedemptionCheck, SOURCES, check, lots,
    repayment,
};
use crate::store::FundStore;

const SPEC: ToolSpec = ToolSpec {
    name: "check_rmf_holding",
    title: "May I sell my RMF?",
    description: Description {
        does: "Checks whether units of Thai Retirement Mutual Funds (RMF) may be sold without giving back the tax they saved: age 55, five years since the first purchase, bought at least every other year.",
        when: "Use this when someone asks whether or when they may redeem their RMF. It needs the birth date and the dates of all purchases. Do not use it for SSF, LTF or Thai ESG funds, whose rules differ, or as tax advice.",
        returns: "Returns yes or no, the first day on which the answer is yes, years that were missed, the last year to buy again, and what selling now would cost. Not tax advice.",
        asks: &["Can I redeem my RMF now?", "I was born in 1970 and bought RMF since 2018, when may I sell?", "ขาย RMF ได้เมื่อไร"],
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
            shows: "old enough and held long enough",
            params: r#"{"birthDate": "1968-03-01", "purchases": [{"date": "2016-12-15"}, {"date": "2018-12-15"}, {"date": "2020-12-15"}, {"date": "2022-12-15"}], "onDate": "2024-01-15"}"#,
            expect: Expect::Data(r#"{"mayRedeem": true, "earliestDate": "2023-03-01", "consequence": "none"}"#),
        },
        Example {
            shows: "too young",
            params: r#"{"birthDate": "1990-01-01", "purchases": [{"date": "2024-06-01"}], "onDate": "2025-06-01"}"#,
            expect: Expect::Data(r#"{"mayRedeem": false, "earliestDate": "2045-01-01", "buyAgainByYear": 2026}"#),
        },
        Example {
            shows: "a date that does not exist",
            params: r#"{"birthDate": "1970-02-30", "purchases": [{"date": "2020-01-01"}]}"#,
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

/// Birth date and purchases of the holder.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// Date of birth, `YYYY-MM-DD` or `DD/MM/YYYY`, in the common or the Buddhist era.
    #[schemars(length(min = 8, max = 10))]
    birth_date: String,
    /// All purchases of RMF units of any fund, in any order.
    #[schemars(length(min = 1, max = 500))]
    purchases: Vec<Purchase>,
    /// Date of the intended sale, in the same forms; by default today in Thailand.
    #[schemars(length(min = 8, max = 10))]
    on_date: Option<String>,
    /// Marginal tax rate in percent when the units were bought, for the cost of a breach; a lot's
    /// own `taxSaved` takes precedence.
    #[schemars(range(min = 0.0, max = 35.0))]
    tax_rate: Option<f64>,
}

/// A purchase.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Purchase {
    /// Date, `YYYY-MM-DD` or `DD/MM/YYYY`, in the common or the Buddhist era.
    #[schemars(length(min = 8, max = 10))]
    date: String,
    /// The amount in baht, for the cost of a breach.
    #[schemars(range(min = 0.0, max = 1_000_000_000.0))]
    amount: Option<f64>,
    /// Tax that this purchase saved, in baht.
    #[serde(rename = "taxSaved")]
    #[schemars(range(min = 0.0, max = 1_000_000_000.0))]
    tax_saved: Option<f64>,
}

/// Result of the redemption rules.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// Whether units can be sold on that day without repaying tax.
    may_redeem: bool,
    /// Date of the intended sale.
    on_date: Day,
    /// Age on that day, in completed years.
    age: i16,
    /// 55th birthday.
    age_55_date: Day,
    /// Date of the first purchase.
    first_purchase: Day,
    /// Fifth anniversary of the first purchase.
    held_5_years_date: Day,
    /// First day on which both age and holding period are met.
    earliest_date: Day,
    /// Gaps of two or more calendar years without a purchase, which break the rule.
    missed_years: Vec<MissedYears>,
    /// Last calendar year in which a purchase avoids a gap; null when no longer relevant.
    buy_again_by_year: Option<i16>,
    /// Consequence of selling that day: none, repay_all_and_tax_gain, repay_last_five_years.
    consequence: &'static str,
    /// Each purchase, oldest first.
    lots: Vec<LotRow>,
    /// Tax to repay when selling that day, in baht, without surcharge; null when amounts or rates
    /// are missing.
    repayment: Option<Figure>,
    /// Next day on which something changes.
    next_date: Option<Day>,
    /// What changes then: last_day_to_buy, turns_55, held_5_years.
    next_event: Option<&'static str>,
    /// First day if only calendar years with a purchase count towards the five years; null when
    /// that makes no difference.
    strict_date: Option<Day>,
    /// What the law or the sources leave open.
    unclear: Vec<&'static str>,
    /// Legal sources.
    sources: Vec<RuleSourceRow>,
    /// Disclaimer.
    disclaimer: String,
}

/// A purchase and what selling does to it.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct LotRow {
    /// Date of the purchase.
    date: Day,
    /// Amount, in baht.
    amount: Option<Figure>,
    /// Completed years since the purchase.
    years_held: i16,
    /// Whether selling that day repays the tax that this lot saved.
    repays: bool,
    /// Tax to repay for it, in baht; null when not known.
    repayment: Option<Figure>,
}

/// Consecutive calendar years without a purchase.
#[derive(Debug, Serialize, JsonSchema)]
struct MissedYears {
    /// First year.
    from: i16,
    /// Last year.
    to: i16,
}

pub(crate) struct CheckRmfHolding {
    pub(crate) store: Arc<FundStore>,
}

impl Tool for CheckRmfHolding {
    type Params = Params;
    type Output = Output;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, params: Params, cx: &CallContext) -> Result<Reply<Output>, ToolError> {
        let service = RmfService::open(&self.store, cx);
        let locale = service.locale;
        let on = params
            .on_date
            .as_deref()
            .map_or(Ok(service.today()), |text| date(locale, "onDate", text))?;
        let holding = Holding {
            born: date(locale, "birthDate", &params.birth_date)?,
            purchases: params
                .purchases
                .iter()
                .enumerate()
                .map(|(index, purchase)| {
                    date(locale, &format!("purchases/{index}/date"), &purchase.date)
                })
                .collect::<Result<_, _>>()?,
        };
        let result = check(&holding, on).map_err(|error| locale.holding(error))?;
        let lots = lots(&result, &lots_of(locale, &params, &holding)?, on);
        let cost = repayment(&lots);
        let evidence = Evidence::from(Source::new(SourceClass::UserSupplied, "the dates given"))
            .and_source(Source::new(SourceClass::Authoritative, "Thai tax rules, dated tables"));
        let mut text = sentence(&service, on, &result);
        text.push_str(&cost_text(&service, &result, cost));
        let may_redeem = result.may_redeem;
        let output = Output {
            may_redeem,
            on_date: Day(on),
            age: result.age,
            age_55_date: Day(result.of_age_on),
            first_purchase: Day(result.first_purchase),
            held_5_years_date: Day(result.held_enough_on),
            earliest_date: Day(result.earliest),
            missed_years: result
                .gaps
                .iter()
                .map(|gap| MissedYears { from: gap.from, to: gap.to })
                .collect(),
            buy_again_by_year: result.buy_again_by,
            consequence: match result.consequence {
                Consequence::None => "none",
                Consequence::RepayAllAndTaxGain => "repay_all_and_tax_gain",
                Consequence::RepayLastFiveYears => "repay_last_five_years",
            },
            lots: lots.iter().map(LotRow::of).collect(),
            repayment: figure(cost),
            next_date: result.next.map(|(day, _)| Day(day)),
            next_event: result.next.map(|(_, event)| match event {
                NextEvent::LastDayToBuy => "last_day_to_buy",
                NextEvent::TurnsFiftyFive => "turns_55",
                NextEvent::FiveYears => "held_5_years",
            }),
            strict_date: result.strict_earliest.map(Day),
            unclear: unclear(&result),
            sources: SOURCES.iter().map(RuleSourceRow::of).collect(),
            disclaimer: disclaimer(&service).to_owned(),
        };
        let mut reply = Reply::new(output, text, evidence)
            .assuming("the list of purchases is complete")
            .assuming("the holder had income in every year; years without income are excused");
        if !may_redeem {
            reply = reply.next(NextAction::new(
                "get_rmf_funds",
                json!({"sortBy": "risk", "sortOrder": "asc"}),
                service.locale.pick("find a fund to go on with", "หากองทุนเพื่อลงทุนต่อ"),
            ));
        }
        Ok(reply)
    }
}

impl LotRow {
    fn of(status: &LotStatus) -> Self {
        Self {
            date: Day(status.lot.date),
            amount: figure(status.lot.amount),
            years_held: status.years_held,
            repays: status.repays,
            repayment: figure(status.repayment),
        }
    }
}

/// The purchases with the tax they saved: as given, else by the marginal rate.
fn lots_of(locale: Locale, params: &Params, holding: &Holding) -> Result<Vec<Lot>, ToolError> {
    let decimal = |value| decimal(locale, value);
    let rate = params.tax_rate.map(decimal).transpose()?;
    let lot = |(purchase, date): (&Purchase, &jiff::civil::Date)| {
        let amount = purchase.amount.map(decimal).transpose()?;
        let given = purchase.tax_saved.map(decimal).transpose()?;
        let by_rate = amount
            .zip(rate)
            .map(|(amount, rate)| round_to(amount * rate / Decimal::ONE_HUNDRED, 2));
        Ok(Lot { date: *date, amount, tax_saved: given.or(by_rate) })
    };
    params.purchases.iter().zip(&holding.purchases).map(lot).collect()
}

/// What selling that day costs, and the stricter reading of the five years.
fn cost_text(service: &RmfService, result: &RedemptionCheck, cost: Option<Decimal>) -> String {
    let locale = service.locale;
    let mut text = String::new();
    if let Some(cost) = cost.filter(|cost| !cost.is_zero()) {
        let amount = locale.baht(cost);
        text.push_str(&match locale.0 {
            Lang::En => {
                format!(" Selling that day repays about {amount} of tax, besides a surcharge.")
            }
            Lang::Th => format!(" หากขายวันนั้นต้องคืนภาษีประมาณ {amount} และเงินเพิ่ม"),
        });
    }
    if let Some(strict) = result.strict_earliest {
        let strict = locale.date(strict);
        text.push_str(&match locale.0 {
            Lang::En => format!(
                " If only years with a purchase count towards the five years, the first day is {strict}: confirm it with the Revenue Department."
            ),
            Lang::Th => format!(" หากนับเฉพาะปีที่มีการซื้อ จะขายได้ตั้งแต่ {strict} โปรดยืนยันกับกรมสรรพากร"),
        });
    }
    text
}

fn unclear(result: &RedemptionCheck) -> Vec<&'static str> {
    let mut notes = vec![
        "a breach also costs a surcharge of 1.5 % a month on the tax repaid; its start depends on when each return was due and is not computed",
        "years without income, disability and death are treated differently and are not computed",
    ];
    if result.strict_earliest.is_some() {
        notes.push("some descriptions count only calendar years with a purchase towards the five years: `strictDate`; ask the Revenue Department before selling earlier");
    }
    if !result.gaps.is_empty() {
        notes.push("the missed years are a breach by themselves: the tax of the last five years may be due now, without any sale");
    }
    notes
}

fn sentence(service: &RmfService, on: jiff::civil::Date, result: &RedemptionCheck) -> String {
    let locale = service.locale;
    let (on, earliest) = (locale.date(on), locale.date(result.earliest));
    let first = locale.date(result.first_purchase);
    let age = result.age;
    let missed: Vec<String> = result
        .gaps
        .iter()
        .map(|gap| format!("{}-{}", locale.year(gap.from), locale.year(gap.to)))
        .collect();
    let missed = missed.join(", ");
    let cost = match result.consequence {
        Consequence::None => "",
        Consequence::RepayAllAndTaxGain => locale.pick(
            " Selling then means repaying all tax saved and paying tax on the gain.",
            " หากขายต้องคืนภาษีที่เคยได้รับยกเว้นทั้งหมด และกำไรต้องเสียภาษี",
        ),
        Consequence::RepayLastFiveYears => locale.pick(
            " Selling then means repaying the tax saved in the last five years.",
            " หากขายต้องคืนภาษีที่ได้รับยกเว้นย้อนหลัง 5 ปี",
        ),
    };
    let answer = match (locale.0, result.may_redeem, result.gaps.is_empty()) {
        (Lang::En, true, _) => format!(
            "Yes: on {on} the units may be sold without giving tax back (possible since {earliest})."
        ),
        (Lang::Th, true, _) => {
            format!("ขายได้: ณ {on} ขายหน่วยลงทุนได้โดยไม่ต้องคืนภาษี (ขายได้ตั้งแต่ {earliest})")
        }
        (Lang::En, false, true) => format!(
            "Not yet: age {age} on {on}, first purchase {first}; the first day is {earliest}.{cost}"
        ),
        (Lang::Th, false, true) => {
            format!("ยังขายไม่ได้: อายุ {age} ปี ณ {on} ซื้อครั้งแรก {first} ขายได้เร็วสุด {earliest}{cost}")
        }
        (Lang::En, false, false) => format!(
            "No: no purchase in {missed} breaks the rule of buying at least every other year.{cost}"
        ),
        (Lang::Th, false, false) => {
            format!("ผิดเงื่อนไข: ไม่ได้ซื้อในปี {missed} ซึ่งเว้นเกิน 1 ปีติดต่อกัน{cost}")
        }
    };
    let again = result.buy_again_by.map_or_else(String::new, |year| {
        let year = locale.year(year);
        match locale.0 {
            Lang::En => format!(" Buy again by the end of {year} to keep the rule."),
            Lang::Th => format!(" ต้องซื้ออีกครั้งภายในสิ้นปี {year}"),
        }
    });
    format!("{answer}{again} {}", disclaimer(service))
}
