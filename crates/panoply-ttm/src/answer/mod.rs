//! Question answering with citations (RAG): parse the question, retrieve, quote, score, and
//! withhold if the policy requires it.
//!
//! **Extractive** (default). An answer consists of sentences quoted verbatim from the cited
//! documents and of lists built from the catalog, each item citing its sentence. The output is
//! deterministic.
//!
//! **With a language model.** If the operator configured one, it writes from the same passages.
//! Each sentence must be supported by its citations ([`verify`]) or is dropped.
//!
//! **Policy.** An answer is withheld if it has fewer than three citations, a confidence below τ,
//! asks for an aspect that the data do not contain, is a safety question without an official
//! source, or is an emergency. [`AnswerOutcome::withheld`] has the reasons; citations and scores
//! are returned in any case.
//!
//! **Safety.** Questions about pregnancy, children, kidneys, drug combinations or doses always
//! return the contraindications ([`crate::safety`]) and name missing records.

mod aspects;
mod builder;
mod compose;
pub mod confidence;
mod conflicts;
mod danger;
mod lists;
mod passages;
mod question;
pub mod verify;
mod wording;
mod writer;

pub use self::aspects::Aspect;
use self::confidence::{Curve, Signals, share};
pub use self::danger::Danger;
pub use self::passages::Passage;
pub use self::question::ParsedQuestion;
pub use self::wording::Gap;
pub use self::writer::{Prompt, SentenceWriter, WriterError, WrittenBy, prompt};
use crate::arithmetic::round4;
use crate::catalog::HerbCatalog;
use crate::knowledge::Knowledge;
use crate::model::DisplayLanguage;
use crate::papers::UserStoreError;
use crate::safety::{Emergency, emergency_in};
use crate::search::Engine;

/// Language of an answer.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Language {
    /// Thai.
    Th,
    /// English.
    En,
}

impl Language {
    /// Returns the code used in monographs and replies.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Th => "th",
            Self::En => "en",
        }
    }

    /// Returns the language for names.
    pub const fn display(self) -> DisplayLanguage {
        match self {
            Self::Th => DisplayLanguage::Th,
            Self::En => DisplayLanguage::En,
        }
    }
}

/// Minimum number of citations.
pub const CITATIONS: usize = 3;
/// Default confidence threshold.
pub const TAU: f64 = 0.6;
/// Default number of documents to read.
pub const TOP_K: usize = 5;

/// A question with its retrieval parameters.
#[derive(Clone, Copy, Debug)]
pub struct AnswerRequest<'q> {
    /// Text of the question.
    pub text: &'q str,
    /// Language of the answer; defaults to that of the question.
    pub language: Option<Language>,
    /// Number of search hits to read.
    pub top_k: usize,
    /// Confidence threshold.
    pub tau: f64,
}

impl<'q> AnswerRequest<'q> {
    /// Creates a request with default parameters.
    pub const fn new(text: &'q str) -> Self {
        Self { text, language: None, top_k: TOP_K, tau: TAU }
    }
}

/// The result of answering a question, given or withheld.
#[derive(Clone, Debug)]
pub struct AnswerOutcome {
    /// Language of the answer.
    pub language: Language,
    /// Sentences of the answer; empty if withheld.
    pub sentences: Vec<Sentence>,
    /// Passages that the sentences cite.
    pub citations: Vec<Citation>,
    /// Requested information that the data do not contain.
    pub gaps: Vec<Gap>,
    /// Quality scores.
    pub scores: Scores,
    /// Reasons for withholding, if withheld.
    pub withheld: Option<Withheld>,
    /// Origin of the sentences.
    pub written_by: WrittenBy,
    /// Safety records, relevant ones first; also present if the answer is withheld.
    pub dangers: Vec<Danger>,
    /// Whether the question asks about safety.
    pub danger_first: bool,
    /// Instructions, if the question describes an emergency.
    pub emergency: Option<Emergency>,
    need: Need,
}

/// A sentence of an answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Sentence {
    /// Text without a full stop.
    pub text: String,
    /// Indices of its citations.
    pub citations: Vec<usize>,
    /// Function in the answer.
    pub role: Role,
}

/// Function of a sentence in an answer.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Role {
    /// Answers the question.
    Fact,
    /// Reports research.
    Evidence,
    /// Warns.
    Danger,
    /// Reports a conflict between sources.
    Contradiction,
}

/// A cited passage.
#[derive(Clone, Debug, PartialEq)]
pub struct Citation {
    /// Document id.
    pub id: String,
    /// Document URI.
    pub uri: String,
    /// Document title.
    pub title: String,
    /// Cited text, verbatim.
    pub span: String,
    /// Source ids.
    pub sources: Vec<String>,
    /// Whether a verified source states it.
    pub verified: bool,
}

impl Citation {
    fn of(passage: &Passage) -> Self {
        Self {
            id: passage.id.clone(),
            uri: passage.uri.clone(),
            title: passage.title.clone(),
            span: passage.text.clone(),
            sources: passage.sources.clone(),
            verified: passage.verified,
        }
    }

    fn is_of(&self, passage: &Passage) -> bool {
        self.uri == passage.uri && self.span == passage.text
    }
}

/// Quality scores from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scores {
    /// Mean search score of the documents read.
    pub retrieval: f64,
    /// Calibrated probability that the answer contains what was asked.
    pub answer_conf: f64,
    /// Share of sentences without a conflict; unverified ones count half.
    pub agreement: f64,
    /// Share of sentences supported by their citations according to [`verify`].
    pub support: f64,
    /// Signals behind `answer_conf`.
    pub signals: Signals,
}

/// Why an answer is withheld.
#[derive(Clone, Debug, PartialEq)]
pub struct Withheld {
    /// All reasons.
    pub reasons: Vec<Reason>,
    /// Requirements that were not met.
    pub need: Need,
}

/// Requirements for giving an answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Need {
    /// Minimum number of citations.
    pub citations: usize,
    /// Minimum confidence.
    pub answer_conf: f64,
}

/// A reason to withhold an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Reason {
    /// Too few citations; contains their number.
    FewCitations(usize),
    /// Confidence below the threshold; contains its value.
    LowConfidence(f64),
    /// The data do not contain this aspect.
    NotInData(Aspect),
    /// A safety question without an official source such as the national list.
    NoOfficialSource,
    /// An emergency, which must not wait for an answer.
    Emergency,
}

impl Reason {
    /// Returns the reason code used in replies.
    pub fn code(&self) -> String {
        match self {
            Self::FewCitations(_) => format!("citations<{CITATIONS}"),
            Self::LowConfidence(_) => "conf<τ".to_owned(),
            Self::NotInData(aspect) => format!("not_in_data:{}", aspect.as_str()),
            Self::NoOfficialSource => "no_official_source".to_owned(),
            Self::Emergency => "emergency".to_owned(),
        }
    }
}

/// Answers a question from the catalog and the documents.
pub fn answer(
    knowledge: &Knowledge,
    engine: &Engine,
    request: &AnswerRequest<'_>,
) -> Result<AnswerOutcome, UserStoreError> {
    Ok(Draft::of(knowledge, engine, request)?.apply_policy(&knowledge.catalog, request.tau))
}

/// An answer before the policy is applied.
#[derive(Clone, Debug)]
pub struct Draft {
    /// The parsed question.
    pub question: ParsedQuestion,
    /// Candidate sentences.
    pub sentences: Vec<Sentence>,
    /// Passages that the sentences cite.
    pub citations: Vec<Citation>,
    /// Requested information that the data do not contain.
    pub gaps: Vec<Gap>,
    /// Quality scores.
    pub scores: Scores,
    /// Safety records, relevant ones first.
    pub dangers: Vec<Danger>,
    /// Whether the question asks about safety.
    pub danger_first: bool,
    /// Instructions, if the question describes an emergency.
    pub emergency: Option<Emergency>,
}

impl Draft {
    /// Composes and scores a draft.
    pub fn of(
        knowledge: &Knowledge,
        engine: &Engine,
        request: &AnswerRequest<'_>,
    ) -> Result<Self, UserStoreError> {
        let found = compose::search(engine, request)?;
        let composed = compose::compose(&knowledge.catalog, engine, request, &found);
        let compose::Composed {
            question,
            sentences,
            citations,
            gaps,
            signals,
            dangers,
            danger_first,
        } = composed;
        let checked =
            |sentence: &Sentence| supported(&knowledge.catalog, engine, sentence, &citations);
        let supported = sentences.iter().filter(|sentence| checked(sentence)).count();
        let scores = Scores {
            retrieval: signals.retrieval,
            answer_conf: round4(Curve::of(question.language).probability(&signals)),
            agreement: round4(agreement(&sentences, &citations)),
            support: round4(share(supported, sentences.len())),
            signals,
        };
        let emergency = emergency_in(&knowledge.catalog.emergencies, request.text).cloned();
        Ok(Self { question, sentences, citations, gaps, scores, dangers, danger_first, emergency })
    }

    /// Applies the policy: gives or withholds the answer.
    pub fn apply_policy(self, catalog: &HerbCatalog, tau: f64) -> AnswerOutcome {
        let need = Need { citations: CITATIONS, answer_conf: tau };
        let reasons = self.reasons(catalog, need);
        let withheld = (!reasons.is_empty()).then_some(Withheld { reasons, need });
        AnswerOutcome {
            language: self.question.language,
            sentences: if withheld.is_some() { Vec::new() } else { self.sentences },
            citations: self.citations,
            gaps: self.gaps,
            scores: self.scores,
            withheld,
            written_by: WrittenBy::Extraction,
            dangers: self.dangers,
            danger_first: self.danger_first,
            emergency: self.emergency,
            need,
        }
    }

    fn reasons(&self, catalog: &HerbCatalog, need: Need) -> Vec<Reason> {
        let mut reasons: Vec<Reason> =
            self.question.aspects_not_in_data().into_iter().map(Reason::NotInData).collect();
        if self.citations.len() < need.citations {
            reasons.push(Reason::FewCitations(self.citations.len()));
        }
        if self.scores.answer_conf < need.answer_conf {
            reasons.push(Reason::LowConfidence(self.scores.answer_conf));
        }
        let official = |citation: &Citation| {
            citation
                .sources
                .iter()
                .filter_map(|id| catalog.source(id))
                .any(|source| matches!(source.kind.as_str(), "formulary" | "guideline"))
        };
        // This rule prevents unfounded reassurance. A recorded warning from any
        // source is given.
        let warned = self.dangers.iter().any(|danger| danger.asked);
        if self.question.is_about_danger() && !warned && !self.citations.iter().any(official) {
            reasons.push(Reason::NoOfficialSource);
        }
        if self.emergency.is_some() {
            reasons.push(Reason::Emergency);
        }
        reasons
    }
}

impl AnswerOutcome {
    fn withhold(&mut self, reason: Reason) {
        self.sentences.clear();
        let withheld =
            self.withheld.get_or_insert(Withheld { reasons: Vec::new(), need: self.need });
        withheld.reasons.push(reason);
    }

    /// Renders the answer with citation numbers; empty if withheld.
    pub fn text(&self, catalog: &HerbCatalog) -> String {
        if self.sentences.is_empty() {
            return String::new();
        }
        let stop = match self.language {
            Language::Th => "",
            Language::En => ".",
        };
        let to_sentence = |sentence: &Sentence| {
            let numbers: String =
                sentence.citations.iter().map(|place| format!("[{}]", place + 1)).collect();
            format!("{}{stop} {numbers}", sentence.text)
        };
        let of = |roles: &[Role]| -> String {
            let chosen = self.sentences.iter().filter(|sentence| roles.contains(&sentence.role));
            chosen.map(to_sentence).collect::<Vec<_>>().join("\n")
        };
        let gaps: Vec<String> =
            self.gaps.iter().map(|gap| gap.to_sentence(catalog, self.language)).collect();
        let (danger, disagreement, missing) = match self.language {
            Language::Th => ("ข้อห้ามและข้อควรระวัง", "แหล่งข้อมูลไม่ตรงกัน", "สิ่งที่ข้อมูลไม่มี"),
            Language::En => ("Dangers", "Sources disagree", "Not in the data"),
        };
        let headed = |heading: &str, text: String| {
            if text.is_empty() { text } else { format!("{heading}:\n{text}") }
        };
        let facts = of(&[Role::Fact, Role::Evidence]);
        let dangers = of(&[Role::Danger]);
        // For a safety question the warnings come first.
        let [first, second] =
            if self.danger_first { [dangers, facts] } else { [facts, headed(danger, dangers)] };
        let parts = [
            first,
            second,
            headed(disagreement, of(&[Role::Contradiction])),
            headed(missing, gaps.join("; ")),
        ];
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n")
    }
}

/// Returns whether the citations of a sentence support it.
pub fn supported(
    catalog: &HerbCatalog,
    engine: &Engine,
    sentence: &Sentence,
    citations: &[Citation],
) -> bool {
    let cited: Vec<&Citation> =
        sentence.citations.iter().filter_map(|place| citations.get(*place)).collect();
    let passages: Vec<&str> = cited.iter().map(|citation| citation.span.as_str()).collect();
    let labels: Vec<&str> =
        cited.iter().flat_map(|citation| [citation.title.as_str(), citation.id.as_str()]).collect();
    verify::support(catalog, engine, &sentence.text, &passages, &labels).holds()
}

fn agreement(sentences: &[Sentence], citations: &[Citation]) -> f64 {
    let worth = |sentence: &Sentence| {
        if sentence.role == Role::Contradiction {
            return 0.0;
        }
        let mut cited = sentence.citations.iter().filter_map(|place| citations.get(*place));
        if cited.any(|citation| citation.verified) { 1.0 } else { 0.5 }
    };
    let sum: f64 = sentences.iter().map(worth).fold(0.0, |sum, worth| sum + worth);
    #[expect(clippy::cast_precision_loss, reason = "a small count")]
    let count = sentences.len().max(1) as f64;
    sum / count
}
