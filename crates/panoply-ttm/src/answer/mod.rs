//! Answers with citations: what the question asks is read, looked up, quoted and weighed, and
//! withheld where it is not good enough.
//!
//! **Extractive.** Without a language model, which is the default, an answer is made of sentences
//! that stand word for word in the documents it cites, and of lists made from the graph whose
//! every item cites the sentence that says so. The same question over the same data has the same
//! answer, byte for byte.
//!
//! **With a model.** Where the operator configured one, it writes from the same passages, and each
//! of its sentences must be supported by what it cites ([`verify`]) or is dropped.
//!
//! **Policy.** Fewer than three citations, a confidence below τ, something asked for that the data
//! do not hold, or a question about danger without a source such as the national list: then the
//! answer is withheld, and the reply says why. [`AnswerOutcome::withheld`] has the reasons; citations
//! and scores are given all the same.
//!
//! **Danger.** Pregnancy, children, kidneys, medicines taken together, doses: such questions
//! always bring the contraindications with them ([`crate::safety`]), and what is not on record is
//! named as such.

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
use crate::catalog::HerbCatalog;
use crate::knowledge::Knowledge;
use crate::model::DisplayLanguage;
use crate::papers::UserStoreError;
use crate::safety::{Emergency, emergency_in};
use crate::search::Engine;

/// A language to answer in.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Language {
    /// Thai.
    Th,
    /// English.
    En,
}

impl Language {
    /// As monographs and replies write it.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Th => "th",
            Self::En => "en",
        }
    }

    /// As names are written in it.
    pub const fn display(self) -> DisplayLanguage {
        match self {
            Self::Th => DisplayLanguage::Th,
            Self::En => DisplayLanguage::En,
        }
    }
}

/// Fewer citations than these, and the answer is withheld.
pub const CITATIONS: usize = 3;
/// The confidence below which it is, unless the operator says otherwise.
pub const TAU: f64 = 0.6;
/// How many documents are read, unless the caller says otherwise.
pub const TOP_K: usize = 5;

/// A question.
#[derive(Clone, Copy, Debug)]
pub struct AnswerRequest<'q> {
    /// Its words.
    pub text: &'q str,
    /// The language to answer in, or that of the question.
    pub language: Option<Language>,
    /// How many documents of the search are read.
    pub top_k: usize,
    /// The confidence below which no answer is given.
    pub tau: f64,
}

impl<'q> AnswerRequest<'q> {
    /// A question as people ask it, with the usual threshold.
    pub const fn new(text: &'q str) -> Self {
        Self { text, language: None, top_k: TOP_K, tau: TAU }
    }
}

/// What was found, and whether it is given as an answer.
#[derive(Clone, Debug)]
pub struct AnswerOutcome {
    /// The language it is in.
    pub language: Language,
    /// The sentences of the answer; none when it is withheld.
    pub sentences: Vec<Sentence>,
    /// What they rest on, or would.
    pub citations: Vec<Citation>,
    /// What the data do not have.
    pub gaps: Vec<Gap>,
    /// How good it is.
    pub scores: Scores,
    /// Why there is no answer.
    pub withheld: Option<Withheld>,
    /// Who wrote the sentences.
    pub written_by: WrittenBy,
    /// The dangers on record, those asked for first; also when the answer is withheld.
    pub dangers: Vec<Danger>,
    /// Whether danger is what was asked.
    pub danger_first: bool,
    /// What to do now, when the question is about an emergency.
    pub emergency: Option<Emergency>,
    need: Need,
}

/// A sentence, and what it rests on.
#[derive(Clone, Debug, PartialEq)]
pub struct Sentence {
    /// The sentence, without a full stop.
    pub text: String,
    /// The places of its citations.
    pub citations: Vec<usize>,
    /// What it does in the answer.
    pub role: Role,
}

/// What a sentence does in an answer.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Role {
    /// Says what was asked for.
    Fact,
    /// Says what research found.
    Evidence,
    /// Warns.
    Danger,
    /// Names where sources disagree.
    Contradiction,
}

/// A passage that a sentence rests on.
#[derive(Clone, Debug, PartialEq)]
pub struct Citation {
    /// The id of the document.
    pub id: String,
    /// Its address.
    pub uri: String,
    /// Its title.
    pub title: String,
    /// The words that are cited, as they stand there.
    pub span: String,
    /// Who says so.
    pub sources: Vec<String>,
    /// Whether a source that was checked says so.
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

/// How good an answer is, from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scores {
    /// The mean score of the documents that the search found.
    pub retrieval: f64,
    /// The probability that the answer holds what was asked for.
    pub answer_conf: f64,
    /// The share of the sentences that nothing contradicts, those that were not checked by half.
    pub agreement: f64,
    /// The share of the sentences that what they cite supports, by the rules of [`verify`].
    pub support: f64,
    /// What the confidence was worked out from.
    pub signals: Signals,
}

/// Why an answer is withheld, and what it would have taken.
#[derive(Clone, Debug, PartialEq)]
pub struct Withheld {
    /// Every reason.
    pub reasons: Vec<Reason>,
    /// What an answer needs.
    pub need: Need,
}

/// What an answer needs to be given.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Need {
    /// So many citations.
    pub citations: usize,
    /// So much confidence.
    pub answer_conf: f64,
}

/// A reason to withhold an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Reason {
    /// So few citations.
    FewCitations(usize),
    /// So little confidence.
    LowConfidence(f64),
    /// The data hold nothing of what was asked for.
    NotInData(Aspect),
    /// A question about danger, and no source such as the national list.
    NoOfficialSource,
    /// An emergency, which no answer about herbs may delay.
    Emergency,
}

impl Reason {
    /// Its word in replies.
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

/// Answers a question from the graph and the documents, or withholds the answer.
pub fn answer(
    knowledge: &Knowledge,
    engine: &Engine,
    request: &AnswerRequest<'_>,
) -> Result<AnswerOutcome, UserStoreError> {
    Ok(Draft::of(knowledge, engine, request)?.judged(&knowledge.catalog, request.tau))
}

/// An answer before it is judged.
#[derive(Clone, Debug)]
pub struct Draft {
    /// What the question asks.
    pub question: ParsedQuestion,
    /// What would be said.
    pub sentences: Vec<Sentence>,
    /// What it rests on.
    pub citations: Vec<Citation>,
    /// What is missing.
    pub gaps: Vec<Gap>,
    /// How good it is.
    pub scores: Scores,
    /// The dangers on record, those asked for first.
    pub dangers: Vec<Danger>,
    /// Whether danger is what was asked.
    pub danger_first: bool,
    /// What to do now, when the question is about an emergency.
    pub emergency: Option<Emergency>,
}

impl Draft {
    /// Writes an answer, good or not.
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
            answer_conf: rounded(Curve::of(question.language).probability(&signals)),
            agreement: rounded(agreement(&sentences, &citations)),
            support: rounded(share(supported, sentences.len())),
            signals,
        };
        let emergency = emergency_in(&knowledge.catalog.emergencies, request.text).cloned();
        Ok(Self { question, sentences, citations, gaps, scores, dangers, danger_first, emergency })
    }

    /// Gives the answer, or withholds it.
    pub fn judged(self, catalog: &HerbCatalog, tau: f64) -> AnswerOutcome {
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
        // The rule is there to stop promises. A warning on record is given whoever says so.
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

    /// The answer as a text with the numbers of its citations; empty when it is withheld.
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
        // Where danger is what is asked, the warning is the first line.
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

/// Whether what a sentence cites supports it.
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
    #[expect(clippy::cast_precision_loss, reason = "a few at most")]
    let count = sentences.len().max(1) as f64;
    sum / count
}

/// Four digits: what is below comes from rounding, and would only make replies differ.
fn rounded(score: f64) -> f64 {
    (score * 1e4).round() / 1e4
}
