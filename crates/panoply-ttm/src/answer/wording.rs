//! Wording of gaps and of reasons for withholding an answer.

use super::aspects::Aspect;
use super::lists::clean;
use super::passages::name_of;
use super::{Language, Need, Reason};
use crate::catalog::HerbCatalog;

/// Information that the data do not contain.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Gap {
    /// An aspect that is absent for every entity.
    NotHeld(Aspect),
    /// An aspect that is absent for this entity.
    NoFacts(String, Aspect),
    /// No safety record for this entity.
    NoSafetyRecord(String),
    /// Only unverified safety records for this entity.
    NothingChecked(String),
    /// No record for this entity with these medicines.
    NoDrugRecord(String, Vec<String>),
    /// No record for this entity and patient group or its subgroups.
    NoGroupRecord(String, String),
    /// Words of the question that no passage contains.
    NotFound(Vec<String>),
}

impl Gap {
    /// Returns whether it says that no warning is recorded.
    pub const fn denies_warning(&self) -> bool {
        matches!(
            self,
            Self::NoSafetyRecord(_)
                | Self::NoDrugRecord(..)
                | Self::NoGroupRecord(..)
                | Self::NoFacts(_, Aspect::Cautions | Aspect::Interactions)
        )
    }

    /// Renders the gap as a sentence.
    pub fn to_sentence(&self, catalog: &HerbCatalog, language: Language) -> String {
        let name = |id: &str| {
            let name = name_of(catalog, id, language.display());
            name.map_or_else(|| id.to_owned(), |name| clean(&name))
        };
        let aspect_name = |aspect: &Aspect| aspect.name().in_language(language.display());
        match (language, self) {
            (Language::Th, Self::NotHeld(aspect)) => {
                format!("ข้อมูลนี้ไม่มีเรื่อง{}", aspect_name(aspect))
            }
            (Language::En, Self::NotHeld(aspect)) => {
                format!("these data hold nothing on {}", aspect_name(aspect))
            }
            (Language::Th, Self::NoFacts(id, aspect)) => {
                format!("ไม่มีข้อมูล{}ของ{}", aspect_name(aspect), name(id))
            }
            (Language::En, Self::NoFacts(id, aspect)) => {
                format!("nothing is recorded on {} of {}", aspect_name(aspect), name(id))
            }
            (Language::Th, Self::NoSafetyRecord(id)) => {
                format!("ไม่มีบันทึกความปลอดภัยของ{} ซึ่งไม่ได้แปลว่าปลอดภัย", name(id))
            }
            (Language::En, Self::NoSafetyRecord(id)) => format!(
                "there is no safety record of {}, which does not mean that it is safe",
                name(id)
            ),
            (Language::Th, Self::NothingChecked(id)) => {
                format!("ข้อมูลความปลอดภัยของ{}ยังไม่ได้ตรวจสอบกับแหล่งอ้างอิง", name(id))
            }
            (Language::En, Self::NothingChecked(id)) => {
                format!(
                    "what is known of the safety of {} was not checked against a source",
                    name(id)
                )
            }
            (Language::Th, Self::NoDrugRecord(id, drugs)) => format!(
                "ไม่มีบันทึกอันตรกิริยาของ{}กับ{} ซึ่งไม่ได้แปลว่าใช้ร่วมกันได้อย่างปลอดภัย",
                name(id),
                listed(drugs, name)
            ),
            (Language::En, Self::NoDrugRecord(id, drugs)) => format!(
                "there is no record of an interaction of {} with {}, which does not mean that they go together safely",
                name(id),
                listed(drugs, name)
            ),
            (Language::Th, Self::NoGroupRecord(id, code)) => {
                format!("ไม่มีบันทึกของ{}ในกรณี{} ซึ่งไม่ได้แปลว่าปลอดภัย", name(id), name(code))
            }
            (Language::En, Self::NoGroupRecord(id, code)) => format!(
                "nothing is recorded on {} in {}, which does not mean that it is safe",
                name(id),
                name(code)
            ),
            (Language::Th, Self::NotFound(words)) => {
                format!("ไม่พบข้อมูลเรื่อง {}", quoted(words))
            }
            (Language::En, Self::NotFound(words)) => {
                format!("nothing was found on {}", quoted(words))
            }
        }
    }
}

fn listed(ids: &[String], name: impl Fn(&str) -> String) -> String {
    ids.iter().map(|id| name(id)).collect::<Vec<_>>().join(", ")
}

fn quoted(words: &[String]) -> String {
    words.iter().map(|word| format!("“{word}”")).collect::<Vec<_>>().join(", ")
}

impl Reason {
    /// Renders the reason as a sentence.
    pub fn to_sentence(&self, need: Need, language: Language) -> String {
        let Need { citations, answer_conf } = need;
        match (language, self) {
            (Language::Th, Self::FewCitations(found)) => {
                format!("มีหลักฐานอ้างอิง {found} รายการ ต้องมีอย่างน้อย {citations}")
            }
            (Language::En, Self::FewCitations(found)) => {
                format!("there are {found} citations, and at least {citations} are needed")
            }
            (Language::Th, Self::LowConfidence(found)) => {
                format!("ความเชื่อมั่น {found:.2} ต่ำกว่าเกณฑ์ {answer_conf:.2}")
            }
            (Language::En, Self::LowConfidence(found)) => {
                format!("the confidence {found:.2} is below the threshold {answer_conf:.2}")
            }
            (Language::Th, Self::NotInData(aspect)) => {
                format!("ข้อมูลนี้ไม่มีเรื่อง{}", aspect.name().th)
            }
            (Language::En, Self::NotInData(aspect)) => {
                format!("these data hold nothing on {}", aspect.name().en)
            }
            (Language::Th, Self::Emergency) => "เป็นเหตุฉุกเฉิน".to_owned(),
            (Language::En, Self::Emergency) => "this is an emergency".to_owned(),
            (Language::Th, Self::NoOfficialSource) => {
                "คำถามเรื่องความปลอดภัยต้องมีแหล่งระดับบัญชียาหลักหรือแนวทางเวชปฏิบัติอย่างน้อยหนึ่งแหล่ง".to_owned()
            }
            (Language::En, Self::NoOfficialSource) => {
                "a question about safety needs at least one source such as the national list or a guideline".to_owned()
            }
        }
    }
}
