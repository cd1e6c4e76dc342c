//! Numbers, dates and phrases in English and Thai. Thai dates use the Buddhist era.

use jiff::civil::Date;
use panoply_contract::context::Lang;
use rust_decimal::Decimal;

use crate::class_names::class_name;
use crate::companies::CompanyNames;
use crate::figures::round_to;
use crate::fund::{Flag, Fund};
use crate::period::Period;

/// Formats values in one language.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Locale(pub(crate) Lang);

impl Locale {
    /// Selects the text of the language.
    pub(crate) const fn pick<'a>(self, english: &'a str, thai: &'a str) -> &'a str {
        match self.0 {
            Lang::En => english,
            Lang::Th => thai,
        }
    }

    /// Words of a search that no fund has beside the others; empty when all were used.
    pub(crate) fn words_left_out(self, words: &[String]) -> String {
        let words = words.iter().map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(", ");
        match (words.is_empty(), self.0) {
            (true, _) => String::new(),
            (false, Lang::En) => format!(" No fund also has {words}: left out of the search."),
            (false, Lang::Th) => format!(" ไม่มีกองทุนที่ตรงกับ {words} ด้วย จึงไม่ใช้ในการค้นหา"),
        }
    }

    /// `10 Nov 2025`, `10 พ.ย. 2568`.
    pub(crate) fn date(self, date: Date) -> String {
        let months = match self.0 {
            Lang::En => ENGLISH_MONTHS,
            Lang::Th => THAI_MONTHS,
        };
        let index = usize::try_from(date.month() - 1).unwrap_or_default();
        let month = months.get(index).copied().unwrap_or_default();
        format!("{} {month} {}", date.day(), self.year(date.year()))
    }

    /// `2025`, `2568`.
    pub(crate) const fn year(self, year: i16) -> i16 {
        match self.0 {
            Lang::En => year,
            Lang::Th => year + BUDDHIST_YEARS,
        }
    }

    /// One date, or a range.
    pub(crate) fn dates(self, (first, last): (Date, Date)) -> String {
        if first == last {
            return self.date(last);
        }
        let until = self.pick("to", "ถึง");
        format!("{} {until} {}", self.date(first), self.date(last))
    }

    /// `+8.80%`, or `N/A`.
    pub(crate) fn percent(self, value: Option<Decimal>) -> String {
        match value {
            Some(value) => signed_percent(value),
            None => self.missing().to_owned(),
        }
    }

    /// `15.6260`, or `N/A`.
    pub(crate) fn nav(self, value: Option<Decimal>) -> String {
        value.map_or_else(|| self.missing().to_owned(), |value| fixed(value, 4))
    }

    /// `N/A`.
    pub(crate) const fn missing(self) -> &'static str {
        self.pick("N/A", "ไม่มีข้อมูล")
    }

    /// `360,000 THB`.
    pub(crate) fn baht(self, amount: Decimal) -> String {
        let places = if amount.is_integer() { 0 } else { 2 };
        format!("{} {}", fixed(amount, places), self.pick("THB", "บาท"))
    }

    /// Fund name in the language, where there is one.
    pub(crate) fn name(self, fund: &Fund) -> &str {
        match self.0 {
            Lang::En => &fund.name,
            Lang::Th => fund.name_th.as_deref().unwrap_or(&fund.name),
        }
    }

    /// Company name; in Thai the name that people know, where it is listed.
    pub(crate) fn company(self, fund: &Fund) -> &str {
        let thai = || CompanyNames::of(&fund.company.name.to_lowercase()).map(|names| names.thai);
        match self.0 {
            Lang::En => &fund.company.name,
            Lang::Th => thai().unwrap_or(&fund.company.name),
        }
    }

    /// `EQASxJP (Asia ex-Japan equity)`.
    pub(crate) fn class(self, code: &str) -> String {
        class_name(code).map_or_else(
            || code.to_owned(),
            |(english, thai)| format!("{code} ({})", self.pick(english, thai)),
        )
    }

    /// Risk description in the SEC's terms.
    pub(crate) const fn risk(self, level: u8) -> &'static str {
        match level {
            0 | 1 => self.pick("low risk", "เสี่ยงต่ำ"),
            2..=4 => self.pick("medium to low risk", "เสี่ยงปานกลางค่อนข้างต่ำ"),
            5 => self.pick("medium to high risk", "เสี่ยงปานกลางค่อนข้างสูง"),
            6 | 7 => self.pick("high risk", "เสี่ยงสูง"),
            _ => self.pick("very high risk", "เสี่ยงสูงมาก"),
        }
    }

    /// `YTD`, `1-year`.
    pub(crate) const fn period(self, period: Period) -> &'static str {
        match period {
            Period::Ytd => self.pick("YTD", "ตั้งแต่ต้นปี"),
            Period::M3 => self.pick("3-month", "3 เดือน"),
            Period::M6 => self.pick("6-month", "6 เดือน"),
            Period::Y1 => self.pick("1-year", "1 ปี"),
            Period::Y3 => self.pick("3-year (per year)", "3 ปี (ต่อปี)"),
            Period::Y5 => self.pick("5-year (per year)", "5 ปี (ต่อปี)"),
            Period::Y10 => self.pick("10-year (per year)", "10 ปี (ต่อปี)"),
            Period::SinceInception => self.pick("since-inception (per year)", "ตั้งแต่จัดตั้ง (ต่อปี)"),
        }
    }

    /// Explains a flag.
    pub(crate) const fn flag(self, flag: Flag) -> &'static str {
        match flag {
            Flag::ShareClassFiguresShared => self.pick(
                "the source gives all share classes of this fund the figures of the first class",
                "แหล่งข้อมูลใช้ตัวเลขของชนิดหน่วยลงทุนแรกกับทุกชนิดของกองทุนนี้",
            ),
            Flag::AllocationDoesNotAddUp => self.pick(
                "the published allocation does not add up to 100%",
                "สัดส่วนการลงทุนที่เผยแพร่รวมกันไม่เท่ากับ 100%",
            ),
            Flag::NoNav => self.pick("no NAV was published yet", "ยังไม่มีการเผยแพร่ NAV"),
            Flag::RepairedColumnShift => self.pick(
                "the source had lost a column of this row; it was put back",
                "แหล่งข้อมูลทำคอลัมน์หายไปหนึ่งคอลัมน์ และได้แก้ไขแล้ว",
            ),
            Flag::RepairedName => self.pick(
                "the source had another name here; the fund's own was put back",
                "แหล่งข้อมูลระบุชื่อผิด และได้แก้ไขแล้ว",
            ),
        }
    }

    /// Disclaimer for returns.
    pub(crate) const fn past_performance(self) -> &'static str {
        self.pick(
            "Past performance does not guarantee future results.",
            "ผลการดำเนินงานในอดีตมิได้เป็นสิ่งยืนยันถึงผลการดำเนินงานในอนาคต",
        )
    }
}

/// Offset of the Buddhist era.
const BUDDHIST_YEARS: i16 = 543;

const ENGLISH_MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

const THAI_MONTHS: [&str; 12] = [
    "ม.ค.",
    "ก.พ.",
    "มี.ค.",
    "เม.ย.",
    "พ.ค.",
    "มิ.ย.",
    "ก.ค.",
    "ส.ค.",
    "ก.ย.",
    "ต.ค.",
    "พ.ย.",
    "ธ.ค.",
];

/// `+8.80%`.
pub(crate) fn signed_percent(value: Decimal) -> String {
    let sign = if value.is_sign_negative() || value.is_zero() { "" } else { "+" };
    format!("{sign}{}%", fixed(value, 2))
}

/// Formats with a fixed number of decimals and thousands separators, the same in both languages.
pub(crate) fn fixed(value: Decimal, places: u32) -> String {
    let mut rounded = round_to(value, places);
    rounded.rescale(places);
    let text = rounded.abs().to_string();
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let mut grouped = String::new();
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    let sign = if rounded.is_sign_negative() && !rounded.is_zero() { "-" } else { "" };
    if fraction.is_empty() {
        format!("{sign}{grouped}")
    } else {
        format!("{sign}{grouped}.{fraction}")
    }
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::*;

    #[test]
    fn numbers_are_grouped_and_signed() {
        let cases = [
            ("1234567.895", 2, "1,234,567.90"),
            ("999", 0, "999"),
            ("1000", 0, "1,000"),
            ("-0.001", 2, "0.00"),
            ("-1234.5", 1, "-1,234.5"),
        ];
        for (value, places, expected) in cases {
            assert_eq!(fixed(value.parse().unwrap(), places), expected, "value: {value}");
        }
        assert_eq!(signed_percent("8.8".parse().unwrap()), "+8.80%");
        assert_eq!(signed_percent("0".parse().unwrap()), "0.00%");
    }

    #[test]
    fn dates_and_amounts_follow_the_locale() {
        let (english, thai) = (Locale(Lang::En), Locale(Lang::Th));
        assert_eq!(english.date(date(2025, 11, 10)), "10 Nov 2025");
        assert_eq!(thai.date(date(2025, 11, 10)), "10 พ.ย. 2568");
        assert_eq!(english.baht(360_000.into()), "360,000 THB");
        assert_eq!(thai.baht("12.5".parse().unwrap()), "12.50 บาท");
        assert_eq!(thai.percent(None), "ไม่มีข้อมูล");
    }
}
