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
        None => outcome.text(&knowledge.catalog),
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

/// Renders the relevant safety records, or the first few.
fn warnings(outcome: &AnswerOutcome, display: DisplayLanguage) -> Option<String> {
    let asked: Vec<&Danger> = outcome.dangers.iter().filter(|danger| danger.asked).collect();
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
