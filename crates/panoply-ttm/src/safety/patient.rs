//! Extracts the patient from a question: groups, age and medicines.
//!
//! This is independent of search results and answer confidence: a warning must follow from the text
//! of the question alone.

use std::ops::Range;

use super::denial::{Stated, is_denied};
use super::groups::{CoverKind, Group, OLDER, age_limit};
use super::phrases::{Found, Phrases};
use crate::catalog::HerbCatalog;
use crate::collections::push_unique;
use crate::text::spans::overlap;
use crate::text::{Token, TokenKind};

/// A patient as described by a question or call.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Patient {
    /// Group ids of `groups.jsonl`.
    pub groups: Vec<String>,
    /// Groups implied by other statements: taking an antihypertensive implies hypertension. Their
    /// records count as related only.
    pub implied: Vec<String>,
    /// Age in months.
    pub age_months: Option<u16>,
    /// Drugs and drug classes taken.
    pub medicines: Vec<String>,
    /// Caution codes named explicitly that belong to no group.
    pub cautions: Vec<String>,
}

impl Patient {
    /// Returns whether nothing is known about the patient.
    pub const fn is_unknown(&self) -> bool {
        self.groups.is_empty()
            && self.age_months.is_none()
            && self.medicines.is_empty()
            && self.cautions.is_empty()
    }

    /// Returns the closest relation between a caution and this patient, with the group.
    pub fn concerned_by(&self, catalog: &HerbCatalog, code: &str) -> Option<(String, CoverKind)> {
        if self.cautions.iter().any(|one| one == code) {
            return Some((code.to_owned(), CoverKind::Same));
        }
        let by_group = self.groups.iter().filter_map(|id| {
            let how = catalog.group(id)?.concerned_by(code)?;
            Some((how, id.clone()))
        });
        let by_group = by_group.filter(|_| !self.is_too_old(code));
        let implied = self.implied.iter().filter_map(|id| {
            catalog.group(id)?.concerned_by(code)?;
            Some((CoverKind::Related, id.clone()))
        });
        by_group.chain(implied).chain(self.by_age(code)).min().map(|(how, id)| (id, how))
    }

    /// `I take aspirin every day` is about aspirin; long-term use is incidental.
    fn set_apart_incidental(&mut self, catalog: &HerbCatalog) {
        let is_incidental = |id: &String| catalog.group(id).is_some_and(|group| group.incidental);
        let others = self.groups.iter().any(|id| !is_incidental(id));
        if others || !self.medicines.is_empty() {
            let (aside, groups) =
                std::mem::take(&mut self.groups).into_iter().partition(is_incidental);
            self.groups = groups;
            self.implied.extend::<Vec<String>>(aside);
        }
    }

    /// `I am breastfeeding my 4-month-old` asks for the mother: her child is concerned through her
    /// milk only. `given` says that the question is about giving something to the child.
    fn set_apart_breastfed(&mut self, given: bool) {
        if given || !self.groups.iter().any(|id| id == "breastfeeding") {
            return;
        }
        if let Some(age) = self.age_months.filter(|age| *age < 18 * 12) {
            self.age_months = None;
            push_unique(&mut self.groups, if age < 12 { "infants" } else { "children" });
        }
        let is_child = |id: &String| matches!(id.as_str(), "children" | "infants");
        let (children, groups) = std::mem::take(&mut self.groups).into_iter().partition(is_child);
        self.groups = groups;
        self.implied.extend::<Vec<String>>(children);
    }

    /// A known age excludes cautions with a lower age limit.
    fn is_too_old(&self, code: &str) -> bool {
        let limit = age_limit(code).filter(|_| code != "CHILD");
        matches!((self.age_months, limit), (Some(age), Some(limit)) if age >= limit * 12)
    }

    fn by_age(&self, code: &str) -> Option<(CoverKind, String)> {
        let age = self.age_months?;
        let of_old_age = code == "ELDER" && age >= OLDER * 12;
        let below = age_limit(code).is_some_and(|limit| age < limit * 12);
        let years = age / 12;
        (of_old_age || below).then(|| (CoverKind::Same, format!("age-{years}")))
    }
}

/// A patient with the ranges of its phrases in the normalised question.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ParsedPatient {
    /// Patient.
    pub patient: Patient,
    /// Ranges of the phrases.
    pub ranges: Vec<Range<usize>>,
    /// Groups and medicines of each phrase.
    pub phrases: Vec<(Range<usize>, Vec<String>)>,
    /// Ranges of denied phrases: `not pregnant`. They are in `ranges`, but add no group.
    pub denied: Vec<Range<usize>>,
    /// Ranges of phrases that describe no patient although a part of them would: `as a child`.
    pub masked: Vec<Range<usize>>,
    /// Candidate drugs of each medicine phrase.
    pub medicine_phrases: Vec<Vec<String>>,
    /// Whether the question asks if something is allowed or dangerous.
    pub asks_permission: bool,
    /// Whether the question asks for an indication.
    pub asks_use: bool,
}

/// Groups that `not` alone denies.
const STATES: [&str; 2] = ["pregnancy", "breastfeeding"];

impl ParsedPatient {
    fn deny(&mut self, range: Range<usize>) {
        self.ranges.push(range.clone());
        self.denied.push(range);
    }

    /// Adds cautions and medicines found by the entity linker, including misspelt ones.
    pub fn note<'i>(
        &mut self,
        catalog: &HerbCatalog,
        codes: impl Iterator<Item = &'i str>,
        drugs: impl Iterator<Item = &'i str>,
    ) {
        for code in codes {
            let same = |group: &&Group| group.concerned_by(code) == Some(CoverKind::Same);
            let groups: Vec<&Group> = catalog.groups.iter().filter(same).collect();
            let known = |group: &Group| self.patient.groups.contains(&group.id);
            if groups.iter().any(|group| known(group)) {
                continue;
            }
            match groups.first() {
                Some(group) => self.patient.groups.push(group.id.clone()),
                None => push_unique(&mut self.patient.cautions, code),
            }
        }
        for drug in drugs {
            if !self.patient.medicines.iter().any(|known| known == drug) {
                self.patient.medicines.push(drug.to_owned());
                self.medicine_phrases.push(vec![drug.to_owned()]);
            }
        }
    }
}

/// Phrase matchers for groups and intent.
#[derive(Debug)]
pub struct PatientWords {
    groups: Phrases,
    permission: Phrases,
}

/// Cues for permission and danger by language; `USES` has cues for indications.
const PERMISSION: [&str; 2] = [
    "ได้ไหม|ได้มั้ย|ได้มัย|ได้ไม๊|ได้ป่าว|ได้ปะ|ได้เปล่า|ได้หรือ|ได้รึ|ได้หรอ|ได้เหรอ|ได้มะ|ได้อ่ะ|ได้บ่|กินได้|ใช้ได้|ทานได้|ทาได้|ห้าม|ข้อห้าม|ควรระวัง|ระวัง|อันตราย|ปลอดภัย|ไม่ควร|ควรเลี่ยง|หลีกเลี่ยง|มีปัญหา|เสี่ยง|ผลเสีย|ผลข้างเคียง|เป็นอะไรไหม|เป็นอะไรมั้ย|เป็นไรไหม|เป็นไรมั้ย|จะเป็นอะไร|ตีกัน|ปฏิกิริยา|ร่วมกับ|พร้อมกับ|คู่กับ|ดีไหม|ดีมั้ย|ควรกิน|ควรใช้|ควรทาน|หยุดกิน|งดกิน|เหมาะกับ|เหมาะสำหรับ|แพ้ไหม|มีพิษ|เป็นพิษ|ได้หรือไม่|โอเคไหม|โอเคมั้ย",
    "safe|safely|safety|unsafe|danger|dangers|dangerous|risk|risks|risky|harm|harmful|harms|hurt|can|could|may|might|should|shall|must|ok|okay|alright|all right|allowed|allow|permitted|permissible|fine|avoid|avoiding|contraindicated|contraindication|contraindications|contra-indicated|caution|cautions|careful|precaution|precautions|warning|warnings|warn|interact|interacts|interaction|interactions|side effect|side effects|adverse|toxic|poisonous|bad idea|bad for|a problem|any problem|problem with|problems with|clash|mess with|combine|combined|mix|mixed|together|stay away|steer clear|stop taking|should i stop|yes or no|worry|worried|concern|concerns|unwise|advisable|tolerate|suitable|forbidden|prohibited|not take|never take|what about|should know",
];
const USES: &str = "สรรพคุณ|ประโยชน์|รักษา|บรรเทา|ใช้แก้|แก้อาการ|ช่วยลด|ข้อบ่งใช้|ช่วยเรื่อง|บำบัด|used for|use for|treat|treats|treatment|treating|cure|cures|relieve|relieves|remedy|benefit|benefits|good for|help with|helps with|indicated for|indications";

impl PatientWords {
    pub(crate) fn of(groups: &[Group]) -> Result<Self, aho_corasick::BuildError> {
        let phrases = groups.iter().enumerate().flat_map(|(place, group)| {
            let target = (!group.id.is_empty()).then_some(place);
            let words = group.words.th.iter().chain(&group.words.en);
            words.map(move |word| (word.as_str(), target))
        });
        let asked = PERMISSION.iter().flat_map(|ways| ways.split('|')).map(|way| (way, Some(0)));
        let used = USES.split('|').map(|way| (way, Some(1)));
        Ok(Self { groups: Phrases::new(phrases)?, permission: Phrases::new(asked.chain(used))? })
    }

    /// Returns the ranges of the groups, medicines and permission cues of a normalised text.
    pub fn ranges(&self, catalog: &HerbCatalog, text: &str, tokens: &[Token]) -> Vec<Range<usize>> {
        let phrases = [&self.groups, &self.permission];
        let phrases = phrases.into_iter().flat_map(|phrases| phrases.find(text, tokens));
        let medicines = catalog.medicines.find(text, tokens).into_iter().map(|(range, _)| range);
        phrases.map(|found| found.range).chain(medicines).collect()
    }

    /// Parses a normalised question. `taken` has the ranges of herb and formulation names, which
    /// are not patient phrases.
    pub fn read(
        &self,
        catalog: &HerbCatalog,
        text: &str,
        tokens: &[Token],
        taken: &[Range<usize>],
    ) -> ParsedPatient {
        let free = |range: &Range<usize>| {
            !taken.iter().any(|other| range.start < other.end && other.start < range.end)
        };
        let masked = self.groups.masked(text, tokens);
        let mut reading = ParsedPatient { masked, ..ParsedPatient::default() };
        for found in self.permission.find(text, tokens) {
            reading.asks_permission |= found.targets.contains(&0) && free(&found.range);
            reading.asks_use |= found.targets.contains(&1) && free(&found.range);
        }
        let holds = |outer: &Range<usize>, inner: &Range<usize>| {
            outer.start <= inner.start && inner.end <= outer.end && outer.len() > inner.len()
        };
        // `แพ้ผักชี` (allergic to coriander) describes the patient although it names a herb.
        let stands = |found: &Found| {
            let mut names = taken.iter().filter(|name| overlap(name, &found.range));
            names.all(|name| holds(&found.range, name))
        };
        let groups: Vec<Found> =
            self.groups.find(text, tokens).into_iter().filter(stands).collect();
        let mut medicine_places: Vec<Range<usize>> = Vec::new();
        for (range, keys) in catalog.medicines.find(text, tokens) {
            // `ติดเหล้า` describes the patient, not an interaction with `เหล้า`.
            if !free(&range) || groups.iter().any(|found| holds(&found.range, &range)) {
                continue;
            }
            if is_denied(text, &range, Stated::Medicine) {
                reading.deny(range);
                continue;
            }
            for key in &keys {
                push_unique(&mut reading.patient.medicines, key);
            }
            let keys: Vec<String> = keys.into_iter().map(str::to_owned).collect();
            reading.phrases.push((range.clone(), keys.clone()));
            reading.medicine_phrases.push(keys);
            medicine_places.push(range);
        }
        for found in groups {
            // `ยาเบาหวาน` is a medicine that implies diabetes.
            let inside = medicine_places.iter().any(|place| holds(place, &found.range));
            let groups = found.targets.iter().filter_map(|place| catalog.groups.get(*place));
            let is_state = |group: &Group| STATES.contains(&group.id.as_str());
            let stated = if groups.clone().all(is_state) { Stated::State } else { Stated::Group };
            if is_denied(text, &found.range, stated) {
                reading.deny(found.range);
                continue;
            }
            let ids = groups.clone().map(|group| group.id.clone()).collect();
            reading.phrases.push((found.range.clone(), ids));
            for group in groups {
                let patient = &mut reading.patient;
                let list = if inside { &mut patient.implied } else { &mut patient.groups };
                push_unique(list, &group.id);
            }
            reading.ranges.push(found.range);
        }
        reading.patient.set_apart_incidental(catalog);
        reading.ranges.extend(medicine_places);
        let mut child_places: Vec<Range<usize>> = reading
            .phrases
            .iter()
            .filter(|(_, ids)| ids.iter().any(|id| matches!(id.as_str(), "children" | "infants")))
            .map(|(range, _)| range.clone())
            .collect();
        if let Some((months, range)) = age(text, tokens) {
            reading.patient.age_months = Some(months);
            child_places.push(range.clone());
            reading.ranges.push(range);
        }
        let given = child_places.iter().any(|range| is_subject(text, range))
            || tokens.iter().any(|token| GIVING.contains(&token.text(text)))
            || reading.ranges.iter().any(|range| {
                let phrase = text.get(range.clone()).unwrap_or_default();
                phrase.starts_with("ให้ลูก") && !phrase.contains("นม") && !phrase.contains("ดูด")
            });
        reading.patient.set_apart_breastfed(given);
        reading
    }
}

/// Whether the child at this place is the one who takes something: `can my 6-month-old have`, `is it
/// safe for our baby`, `ลูก 6 เดือนกิน`, but not `breastfeeding my 6-month-old` and `ให้นมลูก 6 เดือน`.
fn is_subject(text: &str, range: &Range<usize>) -> bool {
    let lead = text.get(..range.start).unwrap_or_default().trim_end();
    let (rest, last) = last_word(lead);
    let (_, word) = if DETERMINERS.contains(&last) { last_word(rest) } else { (rest, last) };
    if ASKED_FOR.contains(&word) {
        return true;
    }
    let phrase = text.get(range.clone()).unwrap_or_default();
    let behind = text.get(range.end..).unwrap_or_default().trim_start();
    let is_fed = lead.trim_end_matches("ลูก").ends_with("นม") || phrase.contains("นม");
    !is_fed && TAKEN.iter().any(|verb| behind.starts_with(verb))
}

/// A text without its last word, and that word.
fn last_word(text: &str) -> (&str, &str) {
    let start = text.rfind(char::is_whitespace).map_or(0, |at| at + 1);
    let (rest, word) = text.split_at(start);
    (rest.trim_end(), word)
}

const DETERMINERS: [&str; 8] = ["my", "our", "the", "a", "an", "his", "her", "this"];
/// Words before the one for whom something is asked.
const ASKED_FOR: [&str; 8] = ["can", "could", "may", "might", "should", "shall", "for", "let"];
/// Thai verbs of taking, after their subject.
const TAKEN: [&str; 6] = ["กิน", "ทาน", "ดื่ม", "ใช้", "รับประทาน", "จะกิน"];

/// Words of a question about giving something to a child.
const GIVING: [&str; 5] = ["give", "giving", "gave", "given", "ป้อน"];

/// Words before or after a number that make it an age.
const YEARS: [&str; 9] = ["year", "years", "yr", "yrs", "yo", "ปี", "ขวบ", "y", "ขวบปี"];
const MONTHS: [&str; 4] = ["month", "months", "mo", "เดือน"];
const OLD: [&str; 3] = ["old", "olds", "aged"];
const BEFORE: [&str; 9] = ["อายุ", "aged", "age", "วัย", "turned", "under", "below", "ต่ำกว่า", "เด็ก"];

/// Parses an age in months with its range: `14 year old`, `aged 14`, `อายุ 14 ปี`, `5 ขวบ`, `a
/// 6-month-old`, but not `3 months pregnant` or `ท้อง 3 เดือน`.
fn age(text: &str, tokens: &[Token]) -> Option<(u16, Range<usize>)> {
    for (place, token) in tokens.iter().enumerate() {
        if !matches!(token.kind, TokenKind::Number | TokenKind::Code) {
            continue;
        }
        let Ok(number) = token.text(text).parse::<u16>() else { continue };
        let word = |at: usize| tokens.get(at).map(|token| token.text(text)).unwrap_or_default();
        let words: Vec<&str> =
            (place + 1..).map(word).take(6).filter(|word| !matches!(*word, "-" | " ")).collect();
        let [next, then, ..] = words.as_slice() else { continue };
        let before = (1..=3).filter_map(|back| Some(word(place.checked_sub(back)?)));
        // The segmentation may cut `ต่ำกว่า` in two.
        let lead = text.get(..token.range.start).unwrap_or_default().trim_end();
        let told_before = lead.ends_with("ต่ำกว่า")
            || before.clone().any(|word| BEFORE.contains(&word) || word.ends_with("อายุ"));
        let told_behind = OLD.contains(then) || *next == "ขวบ" || matches!(*next, "yo" | "old");
        let months = if MONTHS.contains(next) && (told_behind || told_before) {
            number
        } else if told_behind || (told_before && (YEARS.contains(next) || number >= 1)) {
            if !told_behind && !YEARS.contains(next) && word(place.saturating_sub(1)) == "เด็ก"
            {
                continue;
            }
            number.checked_mul(12)?
        } else {
            continue;
        };
        // `under 25` does not include 25.
        let before = (1..=2).filter_map(|back| Some(word(place.checked_sub(back)?)));
        let is_limit = lead.ends_with("ต่ำกว่า")
            || before.into_iter().any(|word| matches!(word, "under" | "below"));
        let months = if is_limit { months.saturating_sub(1) } else { months };
        if months <= 130 * 12 {
            return Some((months, token.range.clone()));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::Engine;

    fn read(question: &str) -> Patient {
        let catalog = HerbCatalog::bundled().unwrap();
        let engine = Engine::bundled().unwrap();
        let (text, tokens) = engine.cut(question);
        catalog.patient_words.read(&catalog, &text, &tokens, &[]).patient
    }

    #[test]
    fn patient_groups_are_read_from_lay_language() {
        for (question, expected) in [
            ("เมียกำลังท้องได้ 3 เดือน เป็นหวัดเจ็บคอ กินฟ้าทะลายโจรได้ป่าว", "pregnancy"),
            ("ขมิ้นชันกินตอนท้องได้ไหม", "pregnancy"),
            ("I'm nursing my baby, may I?", "breastfeeding"),
            ("someone on dialysis", "kidney-disease"),
            ("แม่เป็นเบาหวาน", "diabetes"),
            ("my kids", "children"),
        ] {
            assert_eq!(read(question).groups, [expected], "{question}");
        }
        for question in ["ท้องอืดกินขิงได้ไหม", "What is turmeric used for?", "ลูกประคบใช้ทำอะไร"]
        {
            assert_eq!(read(question).groups, Vec::<String>::new(), "{question}");
        }
    }

    #[test]
    fn age_is_parsed_and_months_of_pregnancy_are_not() {
        for (question, expected) in [
            ("Can a 14 year old use it?", Some(14 * 12)),
            ("Can a 14-year-old use it?", Some(14 * 12)),
            ("my son is aged 7", Some(7 * 12)),
            ("ลูกอายุ 5 ขวบ", Some(5 * 12)),
            ("เด็กอายุ 14 ปีใช้ได้ไหม", Some(14 * 12)),
            ("a 6 month old baby", Some(6)),
            ("เมียกำลังท้องได้ 3 เดือน", None),
            ("I am 3 months pregnant", None),
            ("take it for 7 days", None),
        ] {
            assert_eq!(read(question).age_months, expected, "{question}");
        }
    }
}
