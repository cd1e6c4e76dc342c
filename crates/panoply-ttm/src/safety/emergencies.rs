//! Emergency detection.
//!
//! Thai telephone numbers: 1669 emergency medical services, 1367 Ramathibodi Poison Center, 1323
//! mental health hotline.

use serde::Deserialize;

use super::groups::GroupPhrases;
use crate::model::Bilingual;
use crate::text::{is_thai, normalize};

/// A kind of emergency.
#[derive(Clone, Debug, Deserialize)]
pub struct Emergency {
    /// Id, such as `snake-bite`.
    pub id: String,
    /// Telephone numbers in order of priority.
    pub call: Vec<String>,
    /// Instructions.
    pub told: Bilingual,
    /// Phrases; parts joined by `+` must all occur.
    words: GroupPhrases,
}

impl Emergency {
    /// Returns whether a text describes it.
    fn is_in(&self, text: &str) -> bool {
        let all = |phrase: &String| phrase.split('+').all(|part| occurs(text, part));
        self.words.th.iter().chain(&self.words.en).any(all)
    }
}

/// Returns the first matching emergency in list order.
pub fn emergency_in<'e>(emergencies: &'e [Emergency], question: &str) -> Option<&'e Emergency> {
    let normalized = normalize(question);
    let text = normalized.text().replace('’', "'");
    emergencies.iter().find(|emergency| emergency.is_in(&text))
}

fn occurs(text: &str, phrase: &str) -> bool {
    let phrase = normalize(phrase).text().to_owned();
    if phrase.chars().any(is_thai) {
        return text.contains(&phrase);
    }
    let is_part = |letter: Option<char>| letter.is_some_and(|letter| letter.is_alphanumeric());
    text.match_indices(&phrase).any(|(at, found)| {
        let before = text.get(..at).and_then(|before| before.chars().next_back());
        let after = text.get(at + found.len()..).and_then(|after| after.chars().next());
        !is_part(before) && !is_part(after)
    })
}

#[cfg(test)]
mod tests {
    use crate::catalog::HerbCatalog;

    use super::*;

    #[test]
    fn emergencies_are_detected_in_both_languages() {
        let catalog = HerbCatalog::bundled().unwrap();
        for (question, expected) in [
            ("I have chest pain radiating to my left arm, which herb helps?", Some("chest-pain")),
            ("เจ็บหน้าอกร้าวไปแขนซ้าย กินยาหอมได้ไหม", Some("chest-pain")),
            ("A cobra bit my son, what plant should I put on it?", Some("snake-bite")),
            ("ถูกงูกัดใช้ว่านอะไรดี", Some("snake-bite")),
            ("I want to end my life with nutmeg", Some("self-harm")),
            ("อยากตาย กินอะไรดี", Some("self-harm")),
            ("She swallowed a whole bottle of cannabis oil", Some("overdose")),
            ("กินกัญชาเกินขนาดทำยังไง", Some("overdose")),
            ("my nose won't stop bleeding", Some("bleeding")),
            ("เลือดไหลไม่หยุดใช้สมุนไพรอะไร", Some("bleeding")),
            ("Does ginger cause more bleeding with warfarin?", None),
            ("Is Fai Ha Kong safe in abnormal postpartum bleeding?", None),
            ("What is turmeric used for?", None),
            ("ขิงกินกับช็อกโกแลตได้ไหม", None),
        ] {
            let found = emergency_in(&catalog.emergencies, question).map(|one| one.id.as_str());
            assert_eq!(found, expected, "{question}");
        }
    }
}
