//! `rag_answer`: a question in words to an answer whose every sentence cites what it rests on, or
//! to the reasons why there is none.

use std::sync::Arc;

use panoply_contract::audit::Fingerprint;
use panoply_contract::prelude::*;
use serde_json::json;

use super::common::{CACHE, KEYWORDS, READ, evidence_of};
use super::wire::{NOTICE, Notice, caller_language, pick};
use crate::answer::{
    self, AnswerOutcome, AnswerRequest, Citation, Danger, Draft, Language, Role, SentenceWriter,
    WrittenBy, prompt,
};
use crate::knowledge::{Knowledge, KnowledgeService};
use crate::model::DisplayLanguage;
use crate::search::SearchService;

const SPEC: ToolSpec = ToolSpec {
    name: "rag_answer",
    title: "Answer with citations",
    description: Description {
        does: "Answers a question on Thai traditional medicine in the language of the question, from the graph, the monographs, the papers and the user's own documents; each sentence cites the passage it rests on, and what sources disagree on or do not have is named.",
        when: "Use this when someone asks a question and wants an answer that can be checked, in Thai or English. Questions about danger bring the contraindications along. Do not use it to list or browse (use hybrid_search or query_kg). When the answer is withheld, say so and why, and do not answer from memory instead.",
        returns: "Returns `answer` with numbers of citations in brackets, `citations` with id, uri, title and the cited words as span, `scores`, and always `dangers`: the warnings on record word for word, those asked for first. Pass them on, also when the answer is withheld; `emergency` goes before everything. With fewer than three citations, a confidence below the threshold, or nothing in the data, `answer` is empty and `withheld` has the reasons. The notice must go along.",
        asks: &["สรรพคุณของฟ้าทะลายโจรคืออะไร", "Can I take turmeric with warfarin?", "Which herbs are used for bloating?"],
    },
    version: "1.0.0",
    aliases: &["tool.rag_answer"],
    permissions: READ,
    category: Category::Query,
    response_time: ResponseTime::Medium,
    cache: CACHE,
    idempotent: true,
    data: &["ttm"],
    examples: &[
        Example {
            shows: "an answer with its citations",
            params: r#"{"question": "สรรพคุณของฟ้าทะลายโจรคืออะไร", "lang": "th"}"#,
            expect: Expect::Data(r#"{"lang": "th", "written": {"by": "extraction"}}"#),
        },
        Example {
            shows: "what the data do not hold is not answered",
            params: r#"{"question": "How many capsules of turmeric a day?"}"#,
            expect: Expect::Data(r#"{"answer": "", "lang": "en"}"#),
        },
        Example {
            shows: "no documents wanted",
            params: r#"{"question": "ขิง", "retrieval": {"top_k": 0}}"#,
            expect: Expect::Error("INVALID_ARG"),
        },
    ],
    tags: KEYWORDS,
    rate_limit: None,
    deprecated: None,
    annotations: Annotations::CLOSED,
    listing: Listing::Core,
    widget: None,
}
.checked();

/// With a model behind a server: it may be down now and up in a minute, so nothing is kept.
const WITH_MODEL: ToolSpec = ToolSpec {
    response_time: ResponseTime::Slow,
    cache: CachePolicy::Never,
    idempotent: false,
    annotations: Annotations { open_world: true, ..Annotations::CLOSED },
    ..SPEC
}
.checked();

/// The longest question, in characters.
const MAX_QUESTION_LENGTH: usize = 2_000;

/// What is asked.
#[derive(Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Params {
    /// The question in Thai, English or both. At most 2000 characters.
    #[schemars(example = &"ขมิ้นชันใช้ร่วมกับวาร์ฟารินได้ไหม")]
    question: String,
    /// The language to answer in; `auto` takes that of the question.
    #[serde(skip_serializing_if = "Option::is_none")]
    lang: Option<AnswerLang>,
    /// How to look.
    #[serde(skip_serializing_if = "Option::is_none")]
    retrieval: Option<Retrieval>,
}

/// A language, or that of the question.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "lowercase")]
enum AnswerLang {
    /// Thai.
    Th,
    /// English.
    En,
    /// That of the question.
    Auto,
}

/// How to look.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
struct Retrieval {
    /// How many documents are read for sentences, from 1 to 20; 5 when left out. Facts of the
    /// graph on what the question names are always read.
    // The schema lets 0 through, so that it is answered in the words of the contract.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 20))]
    top_k: Option<u8>,
}

/// The answer, or why there is none.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct Output {
    /// The answer, with the numbers of its citations in brackets; empty when it is withheld.
    answer: String,
    /// What it rests on, or would.
    citations: Vec<CitationOut>,
    /// How good it is.
    scores: ScoresOut,
    /// The sentences of the answer, each with its citations.
    sentences: Vec<SentenceOut>,
    /// What the data do not have.
    gaps: Vec<String>,
    /// The dangers on record of what the question names, those that concern what was asked
    /// first, contraindications before cautions. Always given, also when the answer is withheld.
    dangers: Vec<DangerOut>,
    /// What to do now, when the question is about an emergency: say this before anything else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    emergency: Option<EmergencyOut>,
    /// Why there is no answer; absent when there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    withheld: Option<WithheldOut>,
    /// The language of the answer: `th` or `en`.
    lang: &'static str,
    /// Who wrote the sentences.
    written: WrittenOut,
    /// That this is no medical advice.
    notice: Notice,
}

/// A passage that the answer rests on.
#[derive(Debug, JsonSchema, Serialize)]
struct CitationOut {
    /// The id of the document: a node of the graph, a PMID, or a piece of a user's document.
    id: String,
    /// Where it can be read.
    uri: String,
    /// Its title.
    title: String,
    /// The cited words, as they stand there.
    span: String,
    /// The number in the answer.
    number: usize,
    /// Ids of who says so.
    sources: Vec<String>,
    /// Whether a source that was checked says so.
    verified: bool,
}

/// A warning on record, word for word.
#[derive(Debug, JsonSchema, Serialize)]
struct DangerOut {
    /// The herb or formulation whose monograph says so, or a piece of a user's document.
    id: String,
    /// Where it can be read.
    uri: String,
    /// Its title.
    title: String,
    /// The words, as they stand there.
    span: String,
    /// What is to be done: `contraindicated`, `avoid`, `caution` or `monitor`.
    level: &'static str,
    /// How strong: `low`, `moderate` or `high`.
    strength: &'static str,
    /// Whether it concerns the patient or the medicine that was asked about.
    asked: bool,
    /// Whether a source that was checked says so.
    verified: bool,
    /// Ids of who says so.
    sources: Vec<String>,
    /// The herb or formulation of the question that it is about.
    entity_id: String,
    /// The ingredient that brings it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    via: Option<String>,
    /// Codes of cautions and ids of interactions that it states.
    codes: Vec<String>,
    /// Groups of patients of the question that it concerns.
    groups: Vec<String>,
    /// Medicines of the question that it concerns.
    drugs: Vec<String>,
    /// Its number in the answer, when it is cited there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    number: Option<usize>,
}

/// What to do in an emergency.
#[derive(Debug, JsonSchema, Serialize)]
struct EmergencyOut {
    /// Such as `chest-pain`.
    kind: String,
    /// Thai telephone numbers, the first to call first.
    call: Vec<String>,
    /// What to do, in the language of the answer.
    told: String,
}

/// How good an answer is, from 0 to 1.
#[derive(Debug, JsonSchema, Serialize)]
struct ScoresOut {
    /// The mean score of the documents that were found.
    retrieval: f64,
    /// The calibrated probability that the answer holds what was asked for.
    answer_conf: f64,
    /// The share of the question that the answer covers.
    coverage: f64,
    /// The share of the sentences that nothing contradicts; those not checked count half.
    agreement: f64,
    /// The share of the sentences that what they cite supports.
    support: f64,
}

/// A sentence of the answer.
#[derive(Debug, JsonSchema, Serialize)]
struct SentenceOut {
    /// The sentence.
    text: String,
    /// The numbers of its citations.
    citations: Vec<usize>,
    /// What it does: `fact`, `evidence`, `danger` or `contradiction`.
    role: &'static str,
}

/// Why there is no answer.
#[derive(Debug, JsonSchema, Serialize)]
struct WithheldOut {
    /// Codes: `citations<3`, `conf<τ`, `not_in_data:…`, `no_official_source`, `emergency`.
    reasons: Vec<String>,
    /// The same in words, in the language of the answer.
    told: Vec<String>,
    /// The confidence that an answer needs.
    tau: f64,
    /// What an answer needs.
    need: NeedOut,
}

/// What an answer needs.
#[derive(Debug, JsonSchema, Serialize)]
struct NeedOut {
    /// So many citations.
    citations: usize,
    /// So much confidence.
    answer_conf: f64,
}

/// Who wrote the sentences.
#[derive(Debug, JsonSchema, Serialize)]
struct WrittenOut {
    /// `extraction`: quoted from the data; `model`: written by a model and checked.
    by: &'static str,
    /// The model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    /// How many sentences of the model were dropped because what they cite does not support them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    dropped: Option<usize>,
    /// Why the model's answer is not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    instead_of_model: Option<String>,
}

/// See the module.
pub(crate) struct RagAnswer {
    pub(crate) knowledge: Arc<KnowledgeService>,
    pub(crate) service: Arc<SearchService>,
    pub(crate) tau: f64,
    pub(crate) writer: Option<Arc<dyn SentenceWriter>>,
}

impl Tool for RagAnswer {
    type Params = Params;
    type Output = Output;

    fn spec(&self) -> &'static ToolSpec {
        if self.writer.is_some() { &WITH_MODEL } else { &SPEC }
    }

    async fn call(&self, params: Params, cx: &CallContext) -> Result<Reply<Output>, ToolError> {
        let asked = self.asked(&params)?;
        let knowledge = self.knowledge.now()?;
        let engine = self.service.engine(&knowledge.catalog)?;
        let draft = Draft::of(&knowledge, &engine, &asked)?;
        let answered = match &self.writer {
            None => draft.judged(&knowledge.catalog, self.tau),
            Some(writer) => {
                let prompt = prompt(asked.text, &draft, seed(&params)?);
                draft.judged_with(&engine, &knowledge.catalog, self.tau, writer.as_ref(), &prompt)
            }
        };
        Ok(reply(&knowledge, asked.text, answered, cx.lang))
    }
}

impl RagAnswer {
    fn asked<'p>(&self, params: &'p Params) -> Result<AnswerRequest<'p>, ToolError> {
        let letters = params.question.chars().count();
        if params.question.trim().is_empty() {
            return Err(ToolError::validation("EMPTY_QUESTION", "`question` is empty")
                .hint("ask something, such as `What is turmeric used for?`"));
        }
        if letters > MAX_QUESTION_LENGTH {
            return Err(ToolError::validation(
                "QUESTION_TOO_LONG",
                format!(
                    "`question` has {letters} characters, and at most {MAX_QUESTION_LENGTH} are read"
                ),
            )
            .hint("ask with the words that matter"));
        }
        let top_k = params.retrieval.and_then(|retrieval| retrieval.top_k);
        if top_k == Some(0) {
            return Err(ToolError::validation("INVALID_ARG", "top_k must be >0"));
        }
        Ok(AnswerRequest {
            text: &params.question,
            language: match params.lang {
                Some(AnswerLang::Th) => Some(Language::Th),
                Some(AnswerLang::En) => Some(Language::En),
                Some(AnswerLang::Auto) | None => None,
            },
            top_k: top_k.map_or(answer::TOP_K, usize::from),
            tau: self.tau,
        })
    }
}

/// The seed of the call's audit: the first eight bytes of the hash of its input.
fn seed(params: &Params) -> Result<u64, ToolError> {
    let input = serde_json::to_value(params).map_err(|error| {
        ToolError::system("a question could not be written as JSON").cause(error)
    })?;
    Ok(Fingerprint::of(&input)?.0.seed())
}

fn reply(
    knowledge: &Knowledge,
    question: &str,
    answered: AnswerOutcome,
    lang: Lang,
) -> Reply<Output> {
    let catalog = &knowledge.catalog;
    let used = answered.citations.iter().flat_map(|citation| {
        citation.sources.iter().map(|source| (source.as_str(), citation.verified))
    });
    let covered = (answered.scores.signals.coverage * 100.0).round();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 100")]
    let evidence = evidence_of(catalog, used).complete(covered as u64, 100);
    let text = summary(&knowledge, question, &answered, lang);
    let next = next_of(&answered, question, lang);
    let output = output(knowledge, answered);
    let reply = Reply::new(output, text, evidence);
    next.into_iter().fold(reply, Reply::next)
}

fn output(knowledge: &Knowledge, answered: AnswerOutcome) -> Output {
    let catalog = &knowledge.catalog;
    let language = answered.language;
    let answer = answered.text(catalog);
    let gaps = answered.gaps.iter().map(|gap| gap.to_sentence(catalog, language)).collect();
    let withheld = answered.withheld.as_ref().map(|withheld| WithheldOut {
        reasons: withheld.reasons.iter().map(answer::Reason::code).collect(),
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
    let scores = answered.scores;
    let number = |danger: &Danger| {
        let cited = |one: &answer::Citation| {
            one.uri == danger.citation.uri && one.span == danger.citation.span
        };
        answered.citations.iter().position(cited).map(|place| place + 1)
    };
    let dangers = answered.dangers.iter().map(|one| danger_out(one, number(one))).collect();
    let emergency = answered.emergency.map(|emergency| EmergencyOut {
        told: emergency.told.in_language(language.display()),
        kind: emergency.id,
        call: emergency.call,
    });
    Output {
        answer,
        citations: (1..)
            .zip(answered.citations)
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
            coverage: (scores.signals.coverage * 1e4).round() / 1e4,
            agreement: scores.agreement,
            support: scores.support,
        },
        sentences: answered
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
        written: written(answered.written_by),
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

/// What a person reads: the answer and its citations, or why there is none.
fn summary(knowledge: &Knowledge, question: &str, answered: &AnswerOutcome, lang: Lang) -> String {
    let display = caller_language(lang);
    let mut text = match &answered.withheld {
        None => answered.text(&knowledge.catalog),
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
            match warnings(answered, display) {
                Some(warnings) => format!("{warnings}\n\n{refused}"),
                None => refused,
            }
        }
    };
    if let Some(emergency) = &answered.emergency {
        let both = [DisplayLanguage::Th, DisplayLanguage::En]
            .map(|one| emergency.told.in_language(one))
            .join("\n");
        text = format!("{both}\n\n{text}");
    }
    if let WrittenBy::Instead(why) = &answered.written_by {
        text.push_str("\n\n");
        text.push_str(&pick(
            display,
            format!("คำตอบนี้คัดจากข้อมูลโดยตรง เพราะแบบจำลองภาษาใช้ไม่ได้ ({why})"),
            format!("Quoted from the data, because {why}."),
        ));
    }
    let sources: Vec<String> = (1..)
        .zip(answered.citations.iter().take(MAX_ROWS_SHOWN))
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

/// The dangers word for word: those asked for, or the first few.
fn warnings(answered: &AnswerOutcome, display: DisplayLanguage) -> Option<String> {
    let asked: Vec<&Danger> = answered.dangers.iter().filter(|danger| danger.asked).collect();
    let shown: Vec<&Danger> = if asked.is_empty() {
        answered.dangers.iter().take(MAX_DANGERS_SHOWN).collect()
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

/// Dangers that a person is shown when none concerns what was asked.
const MAX_DANGERS_SHOWN: usize = 3;

/// Citations that a person is shown.
const MAX_ROWS_SHOWN: usize = 12;

fn next_of(answered: &AnswerOutcome, question: &str, lang: Lang) -> Vec<NextAction> {
    let display = caller_language(lang);
    let mut next = Vec::new();
    if answered.withheld.is_some() {
        next.push(NextAction::new(
            "hybrid_search",
            json!({"query": question}),
            pick(display, "ดูว่าข้อมูลมีอะไรใกล้เคียง", "see what the data have nearby"),
        ));
    }
    let herb = answered.citations.iter().find(|citation| citation.id.starts_with("H:"));
    if let Some(herb) = herb {
        next.push(NextAction::new(
            "find_contraindications",
            json!({"herb_ids": [herb.id]}),
            pick(display, "ดูข้อห้ามใช้และปฏิกิริยาทั้งหมด", "see all that it must not be combined with"),
        ));
    }
    next
}
