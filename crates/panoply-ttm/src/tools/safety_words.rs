//! Renders safety statements as sentences in Thai, English or both.

use super::wire::pick;
use crate::catalog::HerbCatalog;
use crate::ingest::DOCUMENT;
use crate::model::{Bilingual, DisplayLanguage, Level, Route};
use crate::safety::{Statement, Subject};

/// Renders statements in a language.
#[derive(Clone, Copy)]
pub(crate) struct SafetyWords<'a> {
    pub(crate) catalog: &'a HerbCatalog,
    pub(crate) display: DisplayLanguage,
}

impl SafetyWords<'_> {
    /// Renders the subject of a statement.
    pub(crate) fn contraindication(&self, statement: &Statement) -> String {
        let display = self.display;
        match &statement.subject {
            Subject::Caution { code, level } => self.caution(code, *level),
            Subject::Interaction(id) => self.interaction(id),
            Subject::NoRecord => pick(
                display,
                "ไม่มีบันทึกความปลอดภัยในข้อมูลนี้ ไม่ได้แปลว่าปลอดภัย",
                "no safety record in these data; that does not mean that it is safe",
            ),
            Subject::NothingVerified => pick(
                display,
                "ข้อมูลความปลอดภัยที่มีเป็นความรู้ทั่วไป ยังไม่ได้ตรวจสอบกับแหล่งอ้างอิง",
                "its safety records are general knowledge that was not verified against a source",
            ),
            Subject::IngredientsWithoutRecord(herbs) => {
                let names = self.entity_names(herbs);
                pick(
                    display,
                    format!("ไม่มีบันทึกความปลอดภัยของส่วนประกอบ: {names} ไม่ได้แปลว่าปลอดภัย"),
                    format!(
                        "no safety record for these ingredients: {names}; that does not mean that they are safe"
                    ),
                )
            }
            Subject::NoGroupRecord(groups) => {
                let names = self.group_names(groups);
                pick(
                    display,
                    format!("ไม่มีบันทึกในกรณี {names} ไม่ได้แปลว่าปลอดภัย"),
                    format!("no record for {names}; that does not mean that it is safe"),
                )
            }
            Subject::NoDrugRecord(drugs) => {
                let names = self.drug_names(drugs);
                pick(
                    display,
                    format!("ไม่มีบันทึกอันตรกิริยากับ {names} ไม่ได้แปลว่าใช้ร่วมกันได้อย่างปลอดภัย"),
                    format!(
                        "no record of an interaction with {names}; that does not mean that the two go together safely"
                    ),
                )
            }
        }
    }

    /// Renders patient groups by name.
    pub(crate) fn group_names(&self, ids: &[String]) -> String {
        let named = ids.iter().map(|id| match self.catalog.group(id) {
            Some(group) => group.names.in_language(self.display),
            None => id.clone(),
        });
        named.collect::<Vec<_>>().join(", ")
    }

    fn caution(&self, code: &str, level: Level) -> String {
        let Some(caution) = self.catalog.caution(code) else { return code.to_owned() };
        let (th, en) = match level {
            Level::Contraindicated => ("ห้ามใช้", "Contraindicated"),
            Level::Precaution | Level::Interaction => ("ควรระวัง", "Caution"),
        };
        let names = &caution.names;
        pick(self.display, format!("{th}: {}", names.th), format!("{en}: {}", names.en))
    }

    fn interaction(&self, id: &str) -> String {
        let found = self.catalog.interactions.iter().find(|one| one.id == id);
        let Some(interaction) = found else { return id.to_owned() };
        let one = |display: DisplayLanguage| {
            let words = SafetyWords { display, ..*self };
            let drugs = words.drug_names(&interaction.drugs);
            let effect = interaction.effect.in_language(display);
            let mechanism = interaction.mechanism.in_language(display);
            let why = if mechanism.is_empty() { String::new() } else { format!(" ({mechanism})") };
            let with = pick(display, "อันตรกิริยากับ", "Interaction with");
            format!("{with} {drugs}: {effect}{why}")
        };
        match self.display {
            DisplayLanguage::Both => {
                Bilingual { th: one(DisplayLanguage::Th), en: one(DisplayLanguage::En) }
                    .in_language(DisplayLanguage::Both)
            }
            display => one(display),
        }
    }

    /// Renders what the source says to do, if it says so.
    pub(crate) fn management(&self, statement: &Statement) -> Option<String> {
        let advice = match &statement.subject {
            Subject::Caution { code, .. } => self.catalog.caution(code).map(|one| &one.management),
            Subject::Interaction(id) => {
                let found = self.catalog.interactions.iter().find(|one| one.id == *id);
                found.map(|one| &one.management)
            }
            _ => None,
        };
        advice.map(|advice| advice.in_language(self.display)).filter(|advice| !advice.is_empty())
    }

    /// Renders the sources and their quality.
    pub(crate) fn evidence(&self, statement: &Statement) -> String {
        let display = self.display;
        if statement.subject.is_gap() {
            return pick(
                display,
                "ไม่พบบันทึกในแหล่งข้อมูลทั้งหมดของโปรแกรมนี้",
                "none of the sources of this program has a record",
            );
        }
        let mut parts: Vec<String> = statement.sources.iter().map(|id| self.source(id)).collect();
        parts.extend(statement.pmids.iter().map(|pmid| self.paper(pmid)));
        if !statement.via.is_empty() {
            let names = self.entity_names(&statement.via);
            parts.push(pick(
                display,
                format!("มาจากส่วนประกอบ {names}"),
                format!("through the ingredient {names}"),
            ));
            let formulation = self.catalog.formulation(&statement.entity);
            // The records of herbs state no route: the warning stays, with what is known.
            if formulation.is_some_and(|one| one.route == Some(Route::External)) {
                parts.push(pick(
                    display,
                    "ยานี้ใช้ภายนอก บันทึกของส่วนประกอบไม่ได้ระบุวิธีใช้",
                    "this medicine is used externally; the record of the ingredient states no route",
                ));
            }
        }
        for found in statement.matches.iter().filter(|found| !found.verified) {
            let drug = self.drug_names(std::slice::from_ref(&found.drug));
            parts.push(pick(
                display,
                format!("การจัดกลุ่มของ {drug} เป็นความรู้ทั่วไป"),
                format!("that {drug} belongs here is general knowledge"),
            ));
        }
        parts.join("; ")
    }

    fn source(&self, id: &str) -> String {
        let Some(source) = self.catalog.source(id) else { return id.to_owned() };
        if source.verified {
            format!("{} [{id}]", source.title)
        } else if source.kind == DOCUMENT {
            let unchecked =
                pick(self.display, "เอกสารที่นำเข้า ยังไม่มีใครตรวจสอบ", "a user document, not verified");
            format!("{unchecked}: {} [{id}]", source.title)
        } else {
            let unchecked = pick(
                self.display,
                "ความรู้ทั่วไป ยังไม่ได้ตรวจสอบกับแหล่งอ้างอิง",
                "general knowledge, not checked against a source",
            );
            format!("{unchecked} [{id}]")
        }
    }

    /// Distinguishes bundled papers from mere references, whose content was not reviewed.
    fn paper(&self, pmid: &str) -> String {
        if self.catalog.paper(pmid).is_some() {
            return format!("PMID {pmid}");
        }
        pick(
            self.display,
            format!("PMID {pmid} ตามที่แหล่งอ้างถึง (ไม่ได้อ่านต้นฉบับ)"),
            format!("PMID {pmid} as the source cites it (record not read)"),
        )
    }

    /// Returns the name of a herb or formulation with its id.
    pub(crate) fn entity_name(&self, id: &str) -> String {
        let herb = self.catalog.herb(id).map(|herb| &herb.names);
        let names = herb.or_else(|| self.catalog.formulation(id).map(|one| &one.names));
        names.map_or_else(
            || id.to_owned(),
            |names| format!("{} [{id}]", names.in_language(self.display)),
        )
    }

    /// Returns the name of a caution.
    pub(crate) fn caution_name(&self, code: &str) -> String {
        let caution = self.catalog.caution(code);
        caution.map_or_else(|| code.to_owned(), |caution| caution.names.in_language(self.display))
    }

    fn entity_names(&self, ids: &[String]) -> String {
        ids.iter().map(|id| self.entity_name(id)).collect::<Vec<_>>().join(", ")
    }

    fn drug_names(&self, names: &[String]) -> String {
        let named = names.iter().map(|name| match self.catalog.medicines.get(name) {
            Some(drug) => drug.names.in_language(self.display),
            None => name.clone(),
        });
        named.collect::<Vec<_>>().join(", ")
    }
}
