//! Errors of this pack in the caller's language. Codes and argument names stay as they are.

use jiff::civil::Date;
use panoply_contract::prelude::*;
use serde_json::{Map, Value, json};

use super::locale::Locale;
use crate::catalog::UnknownFund;
use crate::fund::RiskLevel;
use crate::holding::HoldingError;
use crate::peers::RankError;
use crate::period::Period;
use crate::tax::FIRST_YEAR;

/// The contract's code for arguments that cannot be used.
const BAD_REQUEST: &str = "BAD_REQUEST";
/// The contract's code for figures and funds that do not exist.
const NOT_FOUND: &str = "NOT_FOUND";

impl Locale {
    /// A bad argument, with what to do about it.
    pub(crate) fn bad_request(
        self,
        [english, thai]: [String; 2],
        [hint, thai_hint]: [&str; 2],
    ) -> ToolError {
        ToolError::validation(BAD_REQUEST, self.pick(&english, &thai).to_owned())
            .hint(self.pick(hint, thai_hint))
    }

    /// Something that does not exist, with what to do about it.
    fn not_found(self, [english, thai]: [String; 2], [hint, thai_hint]: [&str; 2]) -> ToolError {
        ToolError::not_found(NOT_FOUND, self.pick(&english, &thai).to_owned())
            .hint(self.pick(hint, thai_hint))
    }

    pub(crate) fn empty_code(self) -> ToolError {
        self.bad_request(
            ["the fund code is empty".to_owned(), "ไม่ได้ระบุรหัสกองทุน".to_owned()],
            [
                "give a fund code such as `ABAPAC-RMF`; find codes with `search_rmf_funds`",
                "ระบุรหัสกองทุน เช่น `ABAPAC-RMF` หรือค้นหารหัสด้วย `search_rmf_funds`",
            ],
        )
    }

    /// A code that no fund has.
    pub(crate) fn unknown_fund(self, unknown: UnknownFund) -> ToolError {
        let UnknownFund { code, suggestions } = unknown;
        let codes = suggestions.join(", ");
        let (hint, thai_hint) = if suggestions.is_empty() {
            (
                "no code is similar; find the fund by name or topic with `search_rmf_funds`"
                    .to_owned(),
                "ไม่มีรหัสที่ใกล้เคียง ค้นหากองทุนด้วย `search_rmf_funds`".to_owned(),
            )
        } else {
            (
                format!(
                    "use one of the similar codes ({codes}) or find the fund with `search_rmf_funds`"
                ),
                format!("ใช้รหัสที่ใกล้เคียง ({codes}) หรือค้นหาด้วย `search_rmf_funds`"),
            )
        };
        let messages =
            [format!("fund code `{code}` does not exist"), format!("ไม่มีกองทุนรหัส `{code}`")];
        self.not_found(messages, [&hint, &thai_hint]).detail("suggestions", suggestions)
    }

    /// Several codes of which some belong to no fund; all of those are named.
    pub(crate) fn unknown_funds(self, unknown: &[UnknownFund]) -> ToolError {
        let named: Vec<&str> = unknown.iter().map(|unknown| unknown.code.as_str()).collect();
        let suggestions: Map<String, Value> = unknown
            .iter()
            .map(|unknown| (unknown.code.clone(), json!(unknown.suggestions)))
            .collect();
        let list = named.join("`, `");
        let english = match named.as_slice() {
            [_] => format!("fund code `{list}` does not exist"),
            _ => format!("fund codes `{list}` do not exist"),
        };
        self.not_found(
            [english, format!("ไม่มีกองทุนรหัส `{list}`")],
            [
                "use the similar codes in `details.suggestions` or find the funds with `search_rmf_funds`",
                "ใช้รหัสที่ใกล้เคียงใน `details.suggestions` หรือค้นหากองทุนด้วย `search_rmf_funds`",
            ],
        )
        .detail("invalidCodes", json!(named))
        .detail("suggestions", suggestions)
    }

    pub(crate) fn duplicate_fund(self, symbol: &str) -> ToolError {
        self.bad_request(
            [format!("`{symbol}` is listed twice"), format!("มี `{symbol}` ซ้ำกัน")],
            ["give different fund codes", "ระบุรหัสกองทุนที่ไม่ซ้ำกัน"],
        )
    }

    pub(crate) fn no_filter(self) -> ToolError {
        self.bad_request(
            ["no filter was given".to_owned(), "ไม่ได้ระบุเงื่อนไขการค้นหา".to_owned()],
            [
                "give at least one of search, amc, minRiskLevel, maxRiskLevel, minYtdReturn, category; to browse all funds use `get_rmf_funds`",
                "ระบุอย่างน้อยหนึ่งเงื่อนไข: search, amc, minRiskLevel, maxRiskLevel, minYtdReturn, category; หากต้องการดูทุกกองทุนใช้ `get_rmf_funds`",
            ],
        )
        .detail("example", json!({"amc": "Krungsri", "maxRiskLevel": 5}))
    }

    pub(crate) fn backward_risk_range(self, least: u32, most: u32) -> ToolError {
        self.bad_request(
            [
                format!("`minRiskLevel` {least} is above `maxRiskLevel` {most}"),
                format!("`minRiskLevel` {least} มากกว่า `maxRiskLevel` {most}"),
            ],
            [
                "give a range from 1 to 8 whose lower end is not above its upper end",
                "ระบุช่วงความเสี่ยง 1 ถึง 8 โดยค่าต่ำสุดต้องไม่เกินค่าสูงสุด",
            ],
        )
        .detail("example", json!({"minRiskLevel": most, "maxRiskLevel": least}))
    }

    /// No fund has a return over the period.
    pub(crate) fn no_returns(self, period: Period, risk: Option<RiskLevel>) -> ToolError {
        let at = risk.map(|risk| format!(" at risk level {risk}")).unwrap_or_default();
        let thai_at = risk.map(|risk| format!("ระดับความเสี่ยง {risk} ")).unwrap_or_default();
        self.not_found(
            [
                format!("no fund{at} has a return over `{period}`"),
                format!("ไม่มีกองทุน{thai_at}ที่มีผลตอบแทนช่วง `{period}`"),
            ],
            [
                "ask for a shorter period or leave out `riskLevel`",
                "เลือกช่วงเวลาที่สั้นลง หรือไม่ระบุ `riskLevel`",
            ],
        )
    }

    pub(crate) fn no_rank(self, error: &RankError) -> ToolError {
        match error {
            RankError::NoGroup { symbol } => self.not_found(
                [error.to_string(), format!("`{symbol}` ไม่อยู่ในกลุ่มกองทุนของ AIMC")],
                [
                    "compare it with funds of your choice by `compare_rmf_funds` instead",
                    "เปรียบเทียบกับกองทุนที่เลือกด้วย `compare_rmf_funds` แทน",
                ],
            ),
            RankError::NoFigure { symbol, period } => self.not_found(
                [error.to_string(), format!("`{symbol}` ไม่มีผลตอบแทนช่วง {period}")],
                ["ask for a shorter period, such as `3m`", "เลือกช่วงเวลาที่สั้นลง เช่น `3m`"],
            ),
        }
    }

    /// A fund that lacks what a simulation needs: its return, or its standard deviation.
    pub(crate) fn no_figure_to_simulate(self, symbol: &str, what: [&str; 2]) -> ToolError {
        let [english, thai] = what;
        self.not_found(
            [format!("`{symbol}` has no published {english}"), format!("`{symbol}` ไม่มี{thai}")],
            [
                "choose an older fund, or give `annualReturn`",
                "เลือกกองทุนที่จัดตั้งมานานกว่า หรือระบุ `annualReturn`",
            ],
        )
    }

    pub(crate) fn too_many_digits(self, value: f64) -> ToolError {
        self.bad_request(
            [format!("`{value}` has more digits than fit"), format!("`{value}` มีจำนวนหลักมากเกินไป")],
            ["give a number with at most 20 digits", "ระบุตัวเลขไม่เกิน 20 หลัก"],
        )
    }

    pub(crate) fn not_a_date(self, argument: &str, text: &str) -> ToolError {
        self.bad_request(
            [
                format!("`{argument}` is `{text}`, expected a date"),
                format!("`{argument}` คือ `{text}` ซึ่งไม่ใช่วันที่"),
            ],
            [
                "write dates as YYYY-MM-DD or DD/MM/YYYY, such as 1970-06-01 or 01/06/2513",
                "เขียนวันที่แบบ YYYY-MM-DD หรือ DD/MM/YYYY เช่น 1970-06-01 หรือ 01/06/2513",
            ],
        )
    }

    pub(crate) fn not_a_tax_year(self, year: i16) -> ToolError {
        self.bad_request(
            [
                format!("`taxYear` is {year}, expected {FIRST_YEAR} to 2100 or 2563 to 2643"),
                format!("`taxYear` คือ {year} ต้องอยู่ในช่วง {FIRST_YEAR} ถึง 2100 หรือ 2563 ถึง 2643"),
            ],
            ["2568 of the Buddhist era is 2025", "พ.ศ. 2568 คือ ค.ศ. 2025"],
        )
    }

    /// Purchases that the redemption rules cannot be applied to.
    pub(crate) fn holding(self, error: HoldingError) -> ToolError {
        let day = |date: Date| self.date(date);
        let (thai, hints) = match error {
            HoldingError::NoPurchase => (
                "ไม่มีรายการซื้อ".to_owned(),
                ["list at least one purchase", "ระบุรายการซื้ออย่างน้อยหนึ่งรายการ"],
            ),
            HoldingError::BeforeBirth { purchase, born } => {
                (format!("รายการซื้อวันที่ {} อยู่ก่อนวันเกิด {}", day(purchase), day(born)), CHECK_THE_ERA)
            }
            HoldingError::OutOfCalendar { date } => {
                (format!("วันที่ {} อยู่ไกลจากวันนี้เกินไป", day(date)), CHECK_THE_ERA)
            }
            HoldingError::InTheFuture { purchase, on } => (
                format!("รายการซื้อวันที่ {} อยู่หลังวันที่ {}", day(purchase), day(on)),
                ["leave out purchases after `onDate`", "ไม่ต้องระบุรายการซื้อหลัง `onDate`"],
            ),
        };
        self.bad_request([error.to_string(), thai], hints)
    }
}

const CHECK_THE_ERA: [&str; 2] = [
    "check the years: those from 2400 on are of the Buddhist era, and 2568 is 2025",
    "ตรวจสอบปี: ตั้งแต่ 2400 ถือเป็นพุทธศักราช และ พ.ศ. 2568 คือ ค.ศ. 2025",
];
