//! `check_rmf_holding`: may RMF units be sold without giving back tax, and when?

use std::sync::Arc;

use panoply_contract::prelude::*;
use serde_json::json;

use super::answer::{Desk, KEYWORDS, READ};
use super::calc_rmf_tax_benefit::{RuleSourceRow, disclaimer};
use super::wire::{Day, date};
use crate::holding::{Consequence, Holding, NoVerdict, SOURCES, Verdict, check};
use crate::store::Shelf;

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
    permissions: READ,
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
    listing: Listing::Extra,
    widget: None,
}
.checked();

/// When the holder was born and bought.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// When the holder was born, `YYYY-MM-DD` in the common era.
    #[schemars(length(min = 10, max = 10))]
    birth_date: String,
    /// Every purchase of RMF units, in any order and of any fund.
    #[schemars(length(min = 1, max = 500))]
    purchases: Vec<Purchase>,
    /// The day of the sale in question, `YYYY-MM-DD`; today in Thailand unless told.
    #[schemars(length(min = 10, max = 10))]
    on_date: Option<String>,
}

/// A purchase.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Purchase {
    /// The day, `YYYY-MM-DD` in the common era.
    #[schemars(length(min = 10, max = 10))]
    date: String,
    /// The amount in baht; the rules do not depend on it.
    #[expect(dead_code, reason = "people give it along with the date; the rules do not ask")]
    #[schemars(range(min = 0.0, max = 1_000_000_000.0))]
    amount: Option<f64>,
}

/// What the rules say.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// Whether units may be sold on that day without giving anything back.
    may_redeem: bool,
    /// The day in question.
    on_date: Day,
    /// The holder's age that day, in whole years.
    age: i16,
    /// The day the holder turns 55.
    age_55_date: Day,
    /// The first purchase.
    first_purchase: Day,
    /// Five years after it.
    held_5_years_date: Day,
    /// The first day on which both hold.
    earliest_date: Day,
    /// Runs of two or more calendar years without a purchase, which break the rule.
    missed_years: Vec<MissedYears>,
    /// The last calendar year in which buying keeps the rule; null when it no longer matters.
    buy_again_by_year: Option<i16>,
    /// What selling that day would cost: none, repay_all_and_tax_gain, repay_last_five_years.
    consequence: &'static str,
    /// Where the rules come from.
    sources: Vec<RuleSourceRow>,
    /// What this is not.
    disclaimer: String,
}

/// Calendar years without a purchase.
#[derive(Debug, Serialize, JsonSchema)]
struct MissedYears {
    /// The first.
    from: i16,
    /// The last.
    to: i16,
}

/// See the module.
pub(crate) struct CheckRmfHolding {
    pub(crate) shelf: Arc<Shelf>,
}

impl Tool for CheckRmfHolding {
    type Params = Params;
    type Output = Output;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, params: Params, cx: &CallContext) -> Result<Reply<Output>, ToolError> {
        let desk = Desk::open(&self.shelf, cx);
        let on = params.on_date.as_deref().map_or(Ok(desk.today()), |text| date("onDate", text))?;
        let holding = Holding {
            born: date("birthDate", &params.birth_date)?,
            purchases: params
                .purchases
                .iter()
                .enumerate()
                .map(|(place, purchase)| date(&format!("purchases/{place}/date"), &purchase.date))
                .collect::<Result<_, _>>()?,
        };
        let verdict = check(&holding, on)?;
        let evidence = Evidence::from(Source::new(SourceClass::UserSupplied, "the dates given"))
            .and_source(Source::new(SourceClass::Authoritative, "Thai tax rules, dated tables"));
        let text = sentence(&desk, on, &verdict);
        let may_redeem = verdict.may_redeem;
        let output = Output {
            may_redeem,
            on_date: Day(on),
            age: verdict.age,
            age_55_date: Day(verdict.of_age_on),
            first_purchase: Day(verdict.first_purchase),
            held_5_years_date: Day(verdict.held_enough_on),
            earliest_date: Day(verdict.earliest),
            missed_years: verdict
                .gaps
                .iter()
                .map(|gap| MissedYears { from: gap.from, to: gap.to })
                .collect(),
            buy_again_by_year: verdict.buy_again_by,
            consequence: match verdict.consequence {
                Consequence::None => "none",
                Consequence::RepayAllAndTaxGain => "repay_all_and_tax_gain",
                Consequence::RepayLastFiveYears => "repay_last_five_years",
            },
            sources: SOURCES.iter().map(RuleSourceRow::of).collect(),
            disclaimer: disclaimer(&desk).to_owned(),
        };
        let mut reply = Reply::new(output, text, evidence)
            .assuming("the list of purchases is complete")
            .assuming("the holder had income in every year; years without income are excused");
        if !may_redeem {
            reply = reply.next(NextAction::new(
                "get_rmf_funds",
                json!({"sortBy": "risk", "sortOrder": "asc"}),
                desk.words.pick("find a fund to go on with", "หากองทุนเพื่อลงทุนต่อ"),
            ));
        }
        Ok(reply)
    }
}

fn sentence(desk: &Desk, on: jiff::civil::Date, verdict: &Verdict) -> String {
    let words = desk.words;
    let (on, earliest) = (words.date(on), words.date(verdict.earliest));
    let first = words.date(verdict.first_purchase);
    let age = verdict.age;
    let missed: Vec<String> = verdict
        .gaps
        .iter()
        .map(|gap| format!("{}-{}", words.year(gap.from), words.year(gap.to)))
        .collect();
    let missed = missed.join(", ");
    let cost = match verdict.consequence {
        Consequence::None => "",
        Consequence::RepayAllAndTaxGain => words.pick(
            " Selling then means repaying all tax saved and paying tax on the gain.",
            " หากขายต้องคืนภาษีที่เคยได้รับยกเว้นทั้งหมด และกำไรต้องเสียภาษี",
        ),
        Consequence::RepayLastFiveYears => words.pick(
            " Selling then means repaying the tax saved in the last five years.",
            " หากขายต้องคืนภาษีที่ได้รับยกเว้นย้อนหลัง 5 ปี",
        ),
    };
    let answer = match (words.0, verdict.may_redeem, verdict.gaps.is_empty()) {
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
    let again = verdict.buy_again_by.map_or_else(String::new, |year| {
        let year = words.year(year);
        match words.0 {
            Lang::En => format!(" Buy again by the end of {year} to keep the rule."),
            Lang::Th => format!(" ต้องซื้ออีกครั้งภายในสิ้นปี {year}"),
        }
    });
    format!("{answer}{again} {}", disclaimer(desk))
}

impl From<NoVerdict> for ToolError {
    fn from(error: NoVerdict) -> Self {
        let hint = match error {
            NoVerdict::NoPurchase => "list at least one purchase",
            NoVerdict::BeforeBirth { .. } | NoVerdict::OutOfCalendar { .. } => {
                "write years of the common era: the Thai year 2568 is 2025"
            }
            NoVerdict::InTheFuture { .. } => "leave out purchases after `onDate`",
        };
        Self::validation("BAD_REQUEST", error.to_string()).hint(hint)
    }
}
