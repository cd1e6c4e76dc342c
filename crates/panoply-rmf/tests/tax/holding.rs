//! Redemption rules: a table of cases, each with the sentence that decides it.

use jiff::civil::Date;
use panoply_rmf::holding::{Consequence, Holding, check};

/// kasikornasset.com, conditions of investing in RMF: no sale before the holder is 55 and five years
/// are full.
const AGE_AND_YEARS: &str = "KAsset: ไม่ขายคืนจนกว่าจะมีอายุ 55 ปีบริบูรณ์ และก่อนครบ 5 ปี";
/// The same page: invest every year, at most one year in a row may be left out.
const EVERY_OTHER_YEAR: &str = "KAsset: เว้นได้ไม่เกิน 1 ปี ติดต่อกัน";
/// stockradars.news, 2019: five years are counted from the first purchase.
const FROM_FIRST: &str = "StockRadars: 5 ปีนับตั้งแต่วันที่ซื้อหน่วยลงทุนครั้งแรก";
/// KAsset as the project's notes record it: a breach before five years repays all exemptions and
/// the gain is taxed; after five years those of the last five years are repaid.
const BREACH: &str = "KAsset: breach before and after five years";
/// Civil and Commercial Code, sections 193/5 and 16 (general knowledge, not looked up): a period of
/// years without a corresponding day ends with the last day of the month.
const LEAP_DAY: &str = "Civil and Commercial Code, section 193/5";
/// No text of the Revenue Department was found. Decided in the project: what happens after the units
/// became free does not take the freedom away.
const DECIDED: &str = "decision of the project, see docs/packs/rmf.md";

struct Case {
    source: &'static str,
    born: &'static str,
    bought: &'static [&'static str],
    on: &'static str,
    may_redeem: bool,
    earliest: &'static str,
    consequence: Consequence,
    missed: &'static [(i16, i16)],
}

const YEARLY: &[&str] = &[
    "2018-06-01",
    "2019-06-01",
    "2020-06-01",
    "2021-06-01",
    "2022-06-01",
    "2023-06-01",
    "2024-06-01",
    "2025-06-01",
];

const fn case(
    source: &'static str,
    born: &'static str,
    bought: &'static [&'static str],
    on: &'static str,
    earliest: &'static str,
) -> Case {
    Case {
        source,
        born,
        bought,
        on,
        may_redeem: true,
        earliest,
        consequence: Consequence::None,
        missed: &[],
    }
}

const fn no(case: Case, consequence: Consequence, missed: &'static [(i16, i16)]) -> Case {
    Case { may_redeem: false, consequence, missed, ..case }
}

const ALL: Consequence = Consequence::RepayAllAndTaxGain;
const LAST_FIVE: Consequence = Consequence::RepayLastFiveYears;

const CASES: [Case; 17] = [
    // The day before the 55th birthday, the birthday, long after.
    no(case(AGE_AND_YEARS, "1971-03-10", YEARLY, "2026-03-09", "2026-03-10"), LAST_FIVE, &[]),
    case(AGE_AND_YEARS, "1971-03-10", YEARLY, "2026-03-10", "2026-03-10"),
    case(AGE_AND_YEARS, "1960-03-10", YEARLY, "2026-03-10", "2023-06-01"),
    // 55, the day before five years are full, and the day.
    no(
        case(
            FROM_FIRST,
            "1960-01-01",
            &["2020-06-01", "2022-06-01", "2024-06-01"],
            "2025-05-31",
            "2025-06-01",
        ),
        ALL,
        &[],
    ),
    case(
        FROM_FIRST,
        "1960-01-01",
        &["2020-06-01", "2022-06-01", "2024-06-01"],
        "2025-06-01",
        "2025-06-01",
    ),
    // The first purchase counts, not the last one.
    case(
        FROM_FIRST,
        "1960-01-01",
        &["2020-06-01", "2022-06-01", "2024-06-01", "2025-05-01"],
        "2025-06-01",
        "2025-06-01",
    ),
    // A first purchase at 54 and one at 60.
    no(
        case(
            AGE_AND_YEARS,
            "1970-01-01",
            &["2024-02-01", "2025-02-01"],
            "2026-01-01",
            "2029-02-01",
        ),
        ALL,
        &[],
    ),
    no(
        case(
            AGE_AND_YEARS,
            "1964-01-01",
            &["2024-02-01", "2025-02-01"],
            "2026-01-01",
            "2029-02-01",
        ),
        ALL,
        &[],
    ),
    // One year in a row left out is allowed, two are not, wherever they are.
    case(
        EVERY_OTHER_YEAR,
        "1968-03-01",
        &["2016-12-15", "2018-12-15", "2020-12-15", "2022-12-15"],
        "2024-01-15",
        "2023-03-01",
    ),
    no(
        case(
            EVERY_OTHER_YEAR,
            "1968-03-01",
            &["2016-12-15", "2019-12-15", "2021-12-15", "2022-12-15"],
            "2024-01-15",
            "2023-03-01",
        ),
        LAST_FIVE,
        &[(2017, 2018)],
    ),
    // Two years are over without a purchase; the third is not, and does not matter.
    no(
        case(
            EVERY_OTHER_YEAR,
            "1980-01-01",
            &["2020-05-01", "2021-05-01", "2022-05-01"],
            "2025-06-01",
            "2035-01-01",
        ),
        LAST_FIVE,
        &[(2023, 2024)],
    ),
    // One year is over without a purchase, and this one is not: no breach yet.
    no(
        case(
            EVERY_OTHER_YEAR,
            "1980-01-01",
            &["2020-05-01", "2021-05-01", "2023-05-01"],
            "2025-04-01",
            "2035-01-01",
        ),
        ALL,
        &[],
    ),
    // Selling at 40: all tax before five years, five years' tax after.
    no(
        case(
            BREACH,
            "1985-01-01",
            &["2022-05-01", "2023-05-01", "2024-05-01"],
            "2025-04-01",
            "2040-01-01",
        ),
        ALL,
        &[],
    ),
    no(
        case(
            BREACH,
            "1985-01-01",
            &["2019-05-01", "2021-05-01", "2023-05-01"],
            "2025-04-01",
            "2040-01-01",
        ),
        LAST_FIVE,
        &[],
    ),
    // Born and bought on a leap day.
    case(
        LEAP_DAY,
        "1968-02-29",
        &["2016-02-29", "2018-01-05", "2020-01-05", "2022-01-05"],
        "2023-02-28",
        "2023-02-28",
    ),
    // Free since 2021: a pause, and a purchase after the pause.
    case(
        DECIDED,
        "1966-01-01",
        &["2015-06-01", "2017-06-01", "2019-06-01", "2021-01-01"],
        "2026-11-16",
        "2021-01-01",
    ),
    case(
        DECIDED,
        "1966-01-01",
        &["2015-06-01", "2017-06-01", "2019-06-01", "2021-01-01", "2026-11-01"],
        "2026-11-16",
        "2021-01-01",
    ),
];

#[test]
fn redemption_follows_the_published_conditions() {
    let day = |text: &str| -> Date { text.parse().unwrap() };
    for (number, case) in CASES.iter().enumerate() {
        let purchases = case.bought.iter().map(|bought| day(bought)).collect();
        let holding = Holding { born: day(case.born), purchases };
        let found = check(&holding, day(case.on)).unwrap();
        let missed: Vec<(i16, i16)> = found.gaps.iter().map(|gap| (gap.from, gap.to)).collect();
        assert_eq!(
            (found.may_redeem, found.earliest, found.consequence, missed),
            (case.may_redeem, day(case.earliest), case.consequence, case.missed.to_vec()),
            "case {number}: {}",
            case.source
        );
    }
}
