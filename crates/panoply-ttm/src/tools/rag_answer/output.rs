//! Wire types of `rag_answer` and their conversion from an answer.

use panoply_contract::prelude::*;

use crate::answer::{AnswerOutcome, Citation, Danger, Reason, Role, WrittenBy};
use crate::arithmetic::round4;
use crate::knowledge::Knowledge;
use crate::tools::wire::{NOTICE, Notice};

/// The answer, or the reasons for withholding it.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct Output {
    /// Answer with citation numbers in brackets; empty if withheld.
    answer: String,
    /// Cited passages.
    citations: Vec<CitationOut>,
    /// Quality scores.
    scores: ScoresOut,
    /// Sentences of the answer with their citations.
    sentences: Vec<SentenceOut>,
    /// Requested information that the data do not contain.
    gaps: Vec<String>,
    /// Safety records of the named entities: relevant ones first, contraindications before
    /// cautions. Always present, also if the answer is withheld.
    dangers: Vec<DangerOut>,
    /// Instructions for an emergency: present them before anything else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    emergency: Option<EmergencyOut>,
    /// Reasons for withholding; absent if outcome.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    withheld: Option<WithheldOut>,
    /// Language of the answer: `th` or `en`.
    lang: &'static str,
    /// Origin of the sentences.
    written: WrittenOut,
    /// Medical disclaimer.
    notice: Notice,
}

/// A cited passage.
#[derive(Debug, JsonSchema, Serialize)]
struct CitationOut {
    /// Document id: a graph node, a PMID, or a document chunk.
    id: String,
    /// Resource URI.
    uri: String,
    /// Title.
    title: String,
    /// Cited text, verbatim.
    span: String,
    /// Citation number in the answer.
    number: usize,
    /// Source ids.
    sources: Vec<String>,
    /// Whether a verified source states it.
    verified: bool,
}

/// A safety record, verbatim.
#[derive(Debug, JsonSchema, Serialize)]
struct DangerOut {
    /// Herb or formulation whose monograph states it, or a document chunk.
    id: String,
    /// Resource URI.
    uri: String,
    /// Title.
    title: String,
    /// Text, verbatim.
    span: String,
    /// `contraindicated`, `avoid`, `caution` or `monitor`.
    level: &'static str,
    /// `low`, `moderate` or `high`.
    strength: &'static str,
    /// Whether it concerns the patient or drug of the question.
    asked: bool,
    /// Whether a verified source states it.
    verified: bool,
    /// Source ids.
    sources: Vec<String>,
    /// Herb or formulation of the question.
    entity_id: String,
    /// Ingredient that carries the record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    via: Option<String>,
    /// Caution codes and interaction ids.
    codes: Vec<String>,
    /// Matching patient groups.
    groups: Vec<String>,
    /// Matching drugs.
    drugs: Vec<String>,
    /// Citation number, if cited in the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    number: Option<usize>,
}

/// Instructions for an emergency.
#[derive(Debug, JsonSchema, Serialize)]
struct EmergencyOut {
    /// Kind, such as `chest-pain`.
    kind: String,
    /// Thai telephone numbers in order of priority.
    call: Vec<String>,
    /// Instructions in the language of the answer.
    told: String,
}

/// Quality scores from 0 to 1.
#[derive(Debug, JsonSchema, Serialize)]
struct ScoresOut {
    /// Mean search score of the documents read.
    retrieval: f64,
    /// Calibrated probability that the answer contains what was asked.
    answer_conf: f64,
    /// Share of the question covered by the answer.
    coverage: f64,
    /// Share of sentences without a conflict; unverified ones count half.
    agreement: f64,
    /// Share of sentences supported by their citations.
    support: f64,
}

/// A sentence of the answer.
#[derive(Debug, JsonSchema, Serialize)]
struct SentenceOut {
    /// Text.
    text: String,
    /// Citation numbers.
    citations: Vec<usize>,
    /// `fact`, `evidence`, `danger` or `contradiction`.
    role: &'static str,
}

/// Reasons for withholding.
#[derive(Debug, JsonSchema, Serialize)]
struct WithheldOut {
    /// Codes: `citations<3`, `conf<τ`, `not_in_data:…`, `no_official_source`, `emergency`.
    reasons: Vec<String>,
    /// Reasons as sentences in the language of the answer.
    told: Vec<String>,
    /// Confidence threshold.
    tau: f64,
    /// Requirements.
    need: NeedOut,
}

/// Requirements for an answer.
#[derive(Debug, JsonSchema, Serialize)]
struct NeedOut {
    /// Minimum number of citations.
    citations: usize,
    /// Minimum confidence.
    answer_conf: f64,
}

/// Origin of the sentences.
#[derive(Debug, JsonSchema, Serialize)]
struct WrittenOut {
    /// `extraction`: quoted from the data; `model`: written by a model and verified.
    by: &'static str,
    /// Model name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    /// Number of unsupported model sentences that were dropped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    dropped: Option<usize>,
    /// Why the model's answer is not used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    instead_of_model: Option<String>,
}

pub(super) fn output(knowledge: &Knowledge, outcome: AnswerOutcome) -> Output {
    let catalog = &knowledge.catalog;
    let language = outcome.language;
    let answer = outcome.text(catalog);
    let gaps = outcome.gaps.iter().map(|gap| gap.to_sentence(catalog, language)).collect();
    let withheld = outcome.withheld.as_ref().map(|withheld| WithheldOut {
        reasons: withheld.reasons.iter().map(Reason::code).collect(),
        told: withheld
            .reasons
            .iter()
            .map(|reason| reason.to_sentence(withheld.need, language))
            .collect(),
        tau: withheld.need.answer_conf,
        need: NeedOut {
            citations: withheld.need.citations,
            answer_conf: withheld.need.answer_conf,
        },
    });
    let scores = outcome.scores;
    let number = |danger: &Danger| {
        let cited =
            |one: &Citation| one.uri == danger.citation.uri && one.span == danger.citation.span;
        outcome.citations.iter().position(cited).map(|place| place + 1)
    };
    let dangers = outcome.dangers.iter().map(|one| danger_out(one, number(one))).collect();
    let emergency = outcome.emergency.map(|emergency| EmergencyOut {
        told: emergency.told.in_language(language.display()),
        kind: emergency.id,
        call: emergency.call,
    });
    Output {
        answer,
        citations: (1..)
            .zip(outcome.citations)
            .map(|(number, citation)| CitationOut {
                id: citation.id,
                uri: citation.uri,
                title: citation.title,
                span: citation.span,
                number,
                sources: citation.sources,
                verified: citation.verified,
            })
            .collect(),
        scores: ScoresOut {
            retrieval: scores.retrieval,
            answer_conf: scores.answer_conf,
            coverage: round4(scores.signals.coverage),
            agreement: scores.agreement,
            support: scores.support,
        },
        sentences: outcome
            .sentences
            .into_iter()
            .map(|sentence| SentenceOut {
                text: sentence.text,
                citations: sentence.citations.iter().map(|place| place + 1).collect(),
                role: role(sentence.role),
            })
            .collect(),
        gaps,
        dangers,
        emergency,
        withheld,
        lang: language.code(),
        written: written(outcome.written_by),
        notice: NOTICE,
    }
}

fn danger_out(danger: &Danger, number: Option<usize>) -> DangerOut {
    let citation = danger.citation.clone();
    DangerOut {
        id: citation.id,
        uri: citation.uri,
        title: citation.title,
        span: citation.span,
        level: danger.urgency.as_str(),
        strength: danger.strength.as_str(),
        asked: danger.asked,
        verified: citation.verified,
        sources: citation.sources,
        entity_id: danger.entity.clone(),
        via: danger.via.clone(),
        codes: danger.records.clone(),
        groups: danger.groups.clone(),
        drugs: danger.medicines.clone(),
        number,
    }
}

const fn role(role: Role) -> &'static str {
    match role {
        Role::Fact => "fact",
        Role::Evidence => "evidence",
        Role::Danger => "danger",
        Role::Contradiction => "contradiction",
    }
}

fn written(by: WrittenBy) -> WrittenOut {
    let quoted =
        WrittenOut { by: "extraction", model: None, dropped: None, instead_of_model: None };
    match by {
        WrittenBy::Extraction => quoted,
        WrittenBy::Model { model, dropped } => WrittenOut {
            by: "model",
            model: Some(model),
            dropped: Some(dropped),
            instead_of_model: None,
        },
        WrittenBy::Instead(why) => WrittenOut { instead_of_model: Some(why.to_string()), ..quoted },
    }
}
