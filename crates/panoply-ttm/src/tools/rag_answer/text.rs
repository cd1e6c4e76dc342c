//! Text summary of `rag_answer` for a person.

use panoply_contract::prelude::*;

use crate::answer::{AnswerOutcome, Citation, Danger, Language, WrittenBy};
use crate::knowledge::Knowledge;
use crate::model::DisplayLanguage;
use crate::tools::wire::{NOTICE, caller_language, pick};

/// Renders the answer with its citations, or the reasons for withholding, for a person.
pub(super) fn summary(
    knowledge: &Knowledge,
    question: &str,
    outcome: &AnswerOutcome,
    lang: Lang,
) -> String {
    let display = caller_language(lang);
    let mut text = match &outcome.withheld {
        None => {
            let answer = outcome.text(&knowledge.catalog);
            // A question such as "which herb for a cough in pregnancy" asks for uses. What is
            // recorded against them for this patient comes before them.
            match warnings(outcome, display).filter(|_| concerns_patient(outcome)) {
                Some(warnings) => format!("{warnings}\n\n{answer}"),
                None => answer,
            }
        }
        Some(withheld) => {
            let shown: String = question.chars().take(60).collect();
            let language = match lang {
                Lang::Th => Language::Th,
                Lang::En => Language::En,
            };
            let reasons: Vec<String> = withheld
                .reasons
                .iter()
                .map(|reason| reason.to_sentence(withheld.need, language))
                .collect();
            let reasons = reasons.join("; ");
            let refused = pick(
                display,
                format!("ไม่ให้คำตอบสำหรับ “{shown}”: {reasons}"),
                format!("No answer is given for “{shown}”: {reasons}."),
            );
            match warnings(outcome, display) {
                Some(warnings) => format!("{warnings}\n\n{refused}"),
                None => refused,
            }
        }
    };
    if let Some(emergency) = &outcome.emergency {
        let both = [DisplayLanguage::Th, DisplayLanguage::En]
            .map(|one| emergency.told.in_language(one))
            .join("\n");
        text = format!("{both}\n\n{text}");
    }
    if let WrittenBy::Instead(why) = &outcome.written_by {
        text.push_str("\n\n");
        text.push_str(&pick(
            display,
            format!("คำตอบนี้คัดจากข้อมูลโดยตรง เพราะแบบจำลองภาษาใช้ไม่ได้ ({why})"),
            format!("Quoted from the data, because {why}."),
        ));
    }
    let sources: Vec<String> = (1..)
        .zip(outcome.citations.iter().take(MAX_ROWS_SHOWN))
        .map(|(number, citation)| {
            let title: String = citation.title.chars().take(80).collect();
            format!("[{number}] {title} <{}>", citation.uri)
        })
        .collect();
    if !sources.is_empty() {
        text.push_str("\n\n");
        text.push_str(&sources.join("\n"));
    }
    format!("{text}\n\n{}", NOTICE.for_caller(lang))
}

/// Whether the answer is about uses and a record concerns the patient of the question.
fn concerns_patient(outcome: &AnswerOutcome) -> bool {
    let of_patient = |danger: &Danger| danger.asked && !danger.groups.is_empty();
    !outcome.danger_first && outcome.dangers.iter().any(of_patient)
}

/// Renders the relevant safety records, those of cited documents first; without any, the first few.
fn warnings(outcome: &AnswerOutcome, display: DisplayLanguage) -> Option<String> {
    let mut asked: Vec<&Danger> = outcome.dangers.iter().filter(|danger| danger.asked).collect();
    let is_cited = |id: &str| outcome.citations.iter().any(|citation| citation.id == id);
    asked.sort_by_key(|danger| !(is_cited(&danger.entity) || is_cited(&danger.citation.id)));
    let shown: Vec<&Danger> = if asked.is_empty() {
        outcome.dangers.iter().take(MAX_DANGERS_SHOWN).collect()
    } else {
        asked.into_iter().take(MAX_ROWS_SHOWN).collect()
    };
    let lines: Vec<String> = shown
        .iter()
        .map(|danger| {
            let Citation { span, uri, .. } = &danger.citation;
            format!("- [{}] {span} <{uri}>", danger.urgency.as_str())
        })
        .collect();
    let heading = pick(display, "ข้อห้ามและข้อควรระวังที่มีบันทึก", "Dangers on record");
    (!lines.is_empty()).then(|| format!("{heading}:\n{}", lines.join("\n")))
}

/// Maximum number of safety records shown if none concerns the question.
const MAX_DANGERS_SHOWN: usize = 3;

/// Maximum number of citations shown.
const MAX_ROWS_SHOWN: usize = 12;
