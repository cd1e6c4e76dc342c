//! Words of the schema check in the languages of callers. Names of arguments, JSON values and error
//! codes are the same in all of them.

use crate::context::Lang;

/// The messages in one language.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wording(pub(super) Lang);

impl Wording {
    const fn pick(self, english: &'static str, thai: &'static str) -> &'static str {
        match self.0 {
            Lang::En => english,
            Lang::Th => thai,
        }
    }

    pub(super) fn invalid_input(self, tool: &str, problems: &str) -> String {
        match self.0 {
            Lang::En => format!("invalid input for `{tool}`: {problems}"),
            Lang::Th => format!("ข้อมูลที่ส่งให้ `{tool}` ไม่ถูกต้อง: {problems}"),
        }
    }

    pub(super) const fn hint(self) -> &'static str {
        self.pick(
            "correct the listed arguments; `example` shows a call that works",
            "แก้ไขค่าที่ระบุไว้ ดูตัวอย่างการเรียกที่ใช้ได้ใน `example`",
        )
    }

    pub(super) const fn is_required(self) -> &'static str {
        self.pick("is required", "ต้องระบุ")
    }

    pub(super) fn not_an_argument(self, close: Option<&str>) -> String {
        match (self.0, close) {
            (Lang::En, Some(close)) => format!("is not an argument; did you mean `{close}`?"),
            (Lang::En, None) => "is not an argument".to_owned(),
            (Lang::Th, Some(close)) => format!("ไม่ใช่ชื่อของค่าที่รับ หมายถึง `{close}` หรือไม่"),
            (Lang::Th, None) => "ไม่ใช่ชื่อของค่าที่รับ".to_owned(),
        }
    }

    pub(super) fn not_as_expected(self, seen: &str, expected: &str) -> String {
        match self.0 {
            Lang::En => format!("is {seen}, expected {expected}"),
            Lang::Th => format!("คือ {seen} แต่ต้องเป็น{expected}"),
        }
    }

    pub(super) fn arguments_are_not(self, expected: &str) -> String {
        match self.0 {
            Lang::En => format!("the arguments are not {expected}"),
            Lang::Th => format!("ข้อมูลที่ส่งมาไม่ใช่{expected}"),
        }
    }

    pub(super) fn one_of(self, values: &str) -> String {
        format!("{}{values}", self.pick("one of ", "ค่าใดค่าหนึ่งใน "))
    }

    pub(super) const fn no_arguments(self) -> &'static str {
        self.pick("no arguments", "ไม่รับค่าใด")
    }

    pub(super) const fn a_value(self) -> &'static str {
        self.pick("a value", "ค่า")
    }

    pub(super) const fn something_else(self) -> &'static str {
        self.pick("something else", "อย่างอื่น")
    }

    /// A JSON type: `an integer`.
    pub(super) fn kind(self, kind: &str) -> String {
        let thai = match kind {
            "string" => "ข้อความ",
            "integer" => "จำนวนเต็ม",
            "number" => "ตัวเลข",
            "boolean" => "ค่า true หรือ false",
            "array" => "รายการ",
            "object" => "ออบเจกต์",
            _ => "ค่า",
        };
        let article = if kind.starts_with(['a', 'e', 'i', 'o']) { "an" } else { "a" };
        match self.0 {
            Lang::En => format!("{article} {kind}"),
            Lang::Th => thai.to_owned(),
        }
    }

    /// ` from 1 to 8`, with `unit` behind it.
    pub(super) fn range(
        self,
        least: Option<&str>,
        most: Option<&str>,
        unit: [&'static str; 2],
    ) -> String {
        let [english, thai] = unit;
        let unit = self.pick(english, thai);
        match (self.0, least, most) {
            (_, None, None) => String::new(),
            (Lang::En, Some(least), Some(most)) => format!(" from {least} to {most}{unit}"),
            (Lang::En, Some(least), None) => format!(" of at least {least}{unit}"),
            (Lang::En, None, Some(most)) => format!(" of at most {most}{unit}"),
            (Lang::Th, Some(least), Some(most)) => format!(" {least} ถึง {most}{unit}"),
            (Lang::Th, Some(least), None) => format!(" อย่างน้อย {least}{unit}"),
            (Lang::Th, None, Some(most)) => format!(" ไม่เกิน {most}{unit}"),
        }
    }

    pub(super) fn that_matches(self, pattern: &str) -> String {
        format!("{}{pattern}", self.pick(" that matches ", " ตามรูปแบบ "))
    }
}
