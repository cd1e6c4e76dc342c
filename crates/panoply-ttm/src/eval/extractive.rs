//! The pack's own answers as an evaluation target.
//!
//! Support is decided by the answer verifier. A citation is correct if its span occurs verbatim in
//! the named document and the statement needs it: it supports the statement alone, or the remaining
//! citations do not (citation precision of Gao et al. 2023, ALCE).

use std::collections::BTreeSet;

use super::answers::{AnswerStatement, Answers, GivenAnswer, StatementCitation};
use crate::answer::{
    AnswerOutcome, AnswerRequest, Citation, Language, Sentence, answer, supported,
};
use crate::claims::{Stance, clauses};
use crate::knowledge::Knowledge;
use crate::papers::UserStoreError;
use crate::search::Engine;
use crate::text::normalize;

/// Extractive answers from the catalog and the documents.
#[derive(Debug)]
pub struct Extractive<'k> {
    /// Catalog and graph.
    pub knowledge: &'k Knowledge,
    /// Search engine.
    pub engine: &'k Engine,
    /// Confidence threshold.
    pub tau: f64,
}

impl Answers for Extractive<'_> {
    fn answer(&self, query: &str, lang: &str) -> Result<GivenAnswer, UserStoreError> {
        let language = if lang == "th" { Language::Th } else { Language::En };
        let asked =
            AnswerRequest { language: Some(language), tau: self.tau, ..AnswerRequest::new(query) };
        let answered = answer(self.knowledge, self.engine, &asked)?;
        let withheld = answered.withheld.iter().flat_map(|withheld| &withheld.reasons);
        Ok(GivenAnswer {
            text: answered.text(&self.knowledge.catalog),
            withheld: withheld.map(|reason| reason.code()).collect(),
            confidence: answered.scores.answer_conf,
            statements: self.statements(&answered)?,
            dangers: answered.dangers.iter().map(|one| one.citation.span.clone()).collect(),
            absences: self.absences(&answered),
        })
    }
}

impl Extractive<'_> {
    fn statements(&self, answered: &AnswerOutcome) -> Result<Vec<AnswerStatement>, UserStoreError> {
        let all = &answered.citations;
        let stated = |sentence: &Sentence| {
            let cited = |place: &usize| {
                let citation = all.get(*place)?;
                let occurs = self.span_occurs(citation);
                let supports = |occurs| occurs && self.needs(sentence, *place, all);
                let id = citation.id.clone();
                let about = self.engine.names_in(&citation.span).into_iter().map(|one| one.id);
                let about: Vec<String> = about.collect();
                Some(occurs.map(|occurs| StatementCitation {
                    id,
                    supports: supports(occurs),
                    about,
                }))
            };
            let cited = sentence.citations.iter().filter_map(cited);
            let citations = cited.collect::<Result<Vec<StatementCitation>, UserStoreError>>()?;
            let supported = !citations.is_empty()
                && supported(&self.knowledge.catalog, self.engine, sentence, all);
            let own = stances(&sentence.text);
            let spans = sentence.citations.iter().filter_map(|place| all.get(*place));
            let cited: Vec<_> = spans.map(|citation| stances(&citation.span)).collect();
            let any = |stance| cited.iter().any(|stances| stances.contains(&stance));
            let warns = any(Stance::Forbids) || any(Stance::Cautions);
            Ok(AnswerStatement {
                text: sentence.text.clone(),
                supported,
                citations,
                warns,
                softened: any(Stance::Forbids) && !own.contains(&Stance::Forbids),
                reversed: warns && own.contains(&Stance::Permits) && !any(Stance::Permits),
            })
        };
        answered.sentences.iter().map(stated).collect()
    }

    /// Returns the sentences that say that no warning is recorded.
    fn absences(&self, answered: &AnswerOutcome) -> Vec<String> {
        let gaps = answered.gaps.iter().filter(|gap| gap.denies_warning());
        gaps.map(|gap| gap.to_sentence(&self.knowledge.catalog, answered.language)).collect()
    }

    /// Returns whether a statement needs the citation at an index.
    fn needs(&self, sentence: &Sentence, place: usize, all: &[Citation]) -> bool {
        let with = |citations: Vec<usize>| {
            let catalog = &self.knowledge.catalog;
            supported(catalog, self.engine, &Sentence { citations, ..sentence.clone() }, all)
        };
        let others: Vec<usize> =
            sentence.citations.iter().copied().filter(|other| *other != place).collect();
        with(vec![place]) || (with(sentence.citations.clone()) && !with(others))
    }

    /// Returns whether the cited span occurs in the named document.
    fn span_occurs(&self, citation: &Citation) -> Result<bool, UserStoreError> {
        let span = normalize(citation.span.trim());
        let Some(document) = self.engine.find(&citation.id)? else { return Ok(false) };
        let mut passages = document.passages.iter();
        Ok(passages.any(|passage| normalize(&passage.text).text().contains(span.text())))
    }
}

fn stances(text: &str) -> BTreeSet<Stance> {
    let normalized = normalize(text);
    clauses(normalized.text()).into_iter().flat_map(|clause| clause.stances).collect()
}
