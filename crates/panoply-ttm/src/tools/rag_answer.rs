//! `rag_answer`: answers a question with citations, or withholds the answer with reasons.

mod output;
mod text;

use std::sync::Arc;

use panoply_contract::audit::Fingerprint;
use panoply_contract::prelude::*;
use serde_json::json;

use self::output::Output;
use super::common::{CACHE, KEYWORDS, READ, evidence_of};
use super::wire::{caller_language, pick};
use crate::answer::{self, AnswerOutcome, AnswerRequest, Draft, Language, SentenceWriter, prompt};
use crate::knowledge::{Knowledge, KnowledgeService};
use crate::search::SearchService;

const SPEC: ToolSpec = ToolSpec {
    name: "rag_answer",
    title: "Answer with citations",
    description: Description {
        does: "Answers a question on Thai traditional medicine in the language of the question, from the graph, monographs, papers and user documents. Each sentence cites its passage; conflicts between sources and missing information are reported.",
        when: "Use this when someone asks a question and wants an answer that can be checked, in Thai or English. Safety questions also return the contraindications. Do not use it to list or browse (use hybrid_search or query_kg). When the answer is withheld, say so and why, and do not answer from memory instead.",
        returns: "Returns `answer` with numbers of citations in brackets, `citations` with id, uri, title and the cited words as span, `scores`, and always `dangers`: the recorded warnings verbatim, relevant ones first. Pass them on, also when the answer is withheld; present `emergency` first. With fewer than three citations, a confidence below the threshold, or nothing in the data, `answer` is empty and `withheld` has the reasons. The notice must go along.",
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
            shows: "missing information is not answered",
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

/// With a chat model nothing is cached: the model may fail now and work in a minute.
const WITH_MODEL: ToolSpec = ToolSpec {
    response_time: ResponseTime::Slow,
    cache: CachePolicy::Never,
    idempotent: false,
    annotations: Annotations { open_world: true, ..Annotations::CLOSED },
    ..SPEC
}
.checked();

/// Maximum length of a question in characters.
const MAX_QUESTION_LENGTH: usize = 2_000;

/// Parameters.
#[derive(Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Params {
    /// The question in Thai, English or both. At most 2000 characters.
    #[schemars(length(max = MAX_QUESTION_LENGTH), example = &"ขมิ้นชันใช้ร่วมกับวาร์ฟารินได้ไหม")]
    question: String,
    /// Language of the answer; `auto` takes that of the question.
    #[serde(skip_serializing_if = "Option::is_none")]
    lang: Option<AnswerLang>,
    /// Retrieval options.
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
    /// Language of the question.
    Auto,
}

/// Retrieval options.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
struct Retrieval {
    /// Number of documents read for sentences, from 1 to 20; default 5. Catalog facts about named
    /// entities are always read.
    // The schema accepts 0, so that the error uses the words of the contract.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 20))]
    top_k: Option<u8>,
}

pub(crate) struct RagAnswer {
    pub(crate) knowledge: Arc<KnowledgeService>,
    pub(crate) search: Arc<SearchService>,
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
        let request = self.request(&params)?;
        let knowledge = self.knowledge.now()?;
        let engine = self.search.engine(&knowledge.catalog)?;
        let draft = Draft::of(&knowledge, &engine, &request)?;
        let outcome = match &self.writer {
            None => draft.apply_policy(&knowledge.catalog, self.tau),
            Some(writer) => {
                let prompt = prompt(request.text, &draft, seed(&params)?);
                draft.apply_policy_with_writer(
                    &engine,
                    &knowledge.catalog,
                    self.tau,
                    writer.as_ref(),
                    &prompt,
                )
            }
        };
        Ok(reply(&knowledge, request.text, outcome, cx.lang))
    }
}

impl RagAnswer {
    fn request<'p>(&self, params: &'p Params) -> Result<AnswerRequest<'p>, ToolError> {
        let letters = params.question.chars().count();
        if params.question.trim().is_empty() {
            return Err(ToolError::validation("EMPTY_QUESTION", "`question` is empty")
                .hint("give a question, such as `What is turmeric used for?`"));
        }
        if letters > MAX_QUESTION_LENGTH {
            return Err(ToolError::validation(
                "QUESTION_TOO_LONG",
                format!(
                    "`question` has {letters} characters; the maximum is {MAX_QUESTION_LENGTH}"
                ),
            )
            .hint("shorten the text to its key words"));
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

/// Audit seed of the call: the first eight bytes of the input hash.
fn seed(params: &Params) -> Result<u64, ToolError> {
    let input = serde_json::to_value(params)
        .map_err(|error| ToolError::system("cannot serialise the question").cause(error))?;
    Ok(Fingerprint::of(&input)?.0.seed())
}

fn reply(
    knowledge: &Knowledge,
    question: &str,
    outcome: AnswerOutcome,
    lang: Lang,
) -> Reply<Output> {
    let catalog = &knowledge.catalog;
    let used = outcome.citations.iter().flat_map(|citation| {
        citation.sources.iter().map(|source| (source.as_str(), citation.verified))
    });
    let covered = (outcome.scores.signals.coverage * 100.0).round();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 100")]
    let evidence =
        evidence_of(catalog, used).complete(covered as u64, 100).fitted(outcome.scores.answer_conf);
    let text = text::summary(knowledge, question, &outcome, lang);
    let next = next_of(&outcome, question, lang);
    let output = output::output(knowledge, outcome);
    let reply = Reply::new(output, text, evidence);
    next.into_iter().fold(reply, Reply::next)
}

fn next_of(outcome: &AnswerOutcome, question: &str, lang: Lang) -> Vec<NextAction> {
    let display = caller_language(lang);
    let mut next = Vec::new();
    if outcome.withheld.is_some() {
        next.push(NextAction::new(
            "hybrid_search",
            json!({"query": question}),
            pick(display, "ดูว่าข้อมูลมีอะไรใกล้เคียง", "see what the data have nearby"),
        ));
    }
    let herb = outcome.citations.iter().find(|citation| citation.id.starts_with("H:"));
    if let Some(herb) = herb {
        next.push(NextAction::new(
            "find_contraindications",
            json!({"herb_ids": [herb.id]}),
            pick(display, "ดูข้อห้ามใช้และปฏิกิริยาทั้งหมด", "see all that it must not be combined with"),
        ));
    }
    next
}
