//! One question, from its words to its hits.
//!
//! A place counts the documents in memory first and then the candidates of the annex, so that
//! one scorer and one ranking serve both.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::asked::Asked;
use super::candidates::{Asking, Candidates};
use super::census::Census;
use super::document::{Document, Facet, Kind, Relation};
use super::engine::{Answer, Engine, Hit, Question};
use super::fuse::{Part, Tuning, choose};
use super::index::{Scores, Stream, analyse};
use super::lexicon::Group;
use super::linker::{Lead, Mention};
use super::meaning::Near;
use super::snippet::snippet;
use crate::papers::ShelfError;
use crate::text::terms::Term;
use crate::text::{TokenKind, english};

/// How much a mention that the question is not about counts: a use, where it asks for dangers.
const OTHER_INTENT: f32 = 0.25;

/// A question with all that is needed to answer it.
pub(super) struct Round<'r> {
    engine: &'r Engine,
    question: &'r Question<'r>,
    tuning: &'r Tuning,
    asked: Asked,
    translated: Vec<Group>,
    census: Census,
    mentions: Vec<Mention>,
    near: Near<Vec<f32>>,
    embedder: String,
    candidates: Candidates,
}

impl<'r> Round<'r> {
    /// Reads a question and finds the candidates of the annex.
    pub(super) fn of(
        engine: &'r Engine,
        question: &'r Question<'r>,
        tuning: &'r Tuning,
    ) -> Result<Self, ShelfError> {
        let analyzer = engine.analyzer();
        let asked = Asked::of(question.text, analyzer);
        let translated = engine.lexicon().translate(&asked.text, &asked.tokens, analyzer);
        let census = Census::of(engine.index(), all_terms(&asked, &translated));
        let mut round = Self {
            engine,
            question,
            tuning,
            asked,
            translated,
            census,
            mentions: Vec::new(),
            near: Near::default(),
            embedder: String::new(),
            candidates: Candidates::default(),
        };
        round.look_into_annex()?;
        Ok(round)
    }

    fn look_into_annex(&mut self) -> Result<(), ShelfError> {
        let mut known = Vec::new();
        if let Some(annex) = self.engine.annex() {
            let catalogue = annex.catalogue();
            self.census.add_documents(catalogue.len(), catalogue.words, catalogue.trigrams);
            known = annex.known(&self.census.terms())?;
            for term in &known {
                self.census.add(term.term, term.documents);
            }
        }
        self.mentions = self.find_mentions()?;
        if self.counts(Part::Vectors) {
            (self.near, self.embedder) = self.engine.cosines(&self.asked);
        }
        if let Some(annex) = self.engine.annex() {
            let asking = Asking {
                annex,
                asked: &self.asked,
                translated: &self.translated,
                mentions: &self.mentions,
                wanted: &self.question.wanted,
                tuning: self.tuning,
                census: &self.census,
                known: &known,
                cosines: &self.near.annex,
            };
            self.candidates = asking.candidates()?;
        }
        Ok(())
    }

    /// What the question names: names of the graph, and numbers of papers in the annex.
    fn find_mentions(&self) -> Result<Vec<Mention>, ShelfError> {
        let (asked, analyzer) = (&self.asked, self.engine.analyzer());
        let stands = |term: Term| self.census.containing(term) > 0;
        let mut mentions =
            self.engine.linker().mentions(&asked.text, &asked.tokens, analyzer, stands);
        let Some(annex) = self.engine.annex() else { return Ok(mentions) };
        for token in asked.tokens.iter().filter(|token| token.kind == TokenKind::Number) {
            let number = token.text(&asked.text);
            let free = !mentions.iter().any(|mention| {
                mention.range.start < token.range.end && token.range.start < mention.range.end
            });
            if free && annex.row(number)?.is_some() {
                let (id, name) = (number.to_owned(), number.to_owned());
                mentions.push(Mention { id, name, range: token.range.clone(), certainty: 1.0 });
            }
        }
        mentions.sort_by(|one, other| one.id.cmp(&other.id));
        Ok(mentions)
    }

    /// Ranks everything and shows the best.
    pub(super) fn answer(self) -> Result<Answer, ShelfError> {
        let names = self.tuning.force_of_names(self.asked.words_beside(&self.mentions));
        let scores = self.part_scores();
        let all = self.engine.held().len() + self.candidates.places.len();
        let mut ranked: Vec<(usize, f32)> = (0..all)
            .map(|place| {
                let (kind, _) = self.nature(place);
                let kept = self.tuning.kept(kind, self.asked.kind, names);
                (place, self.tuning.fused(at(&scores, place), names) * kept)
            })
            .filter(|(_, score)| *score > 0.0)
            .collect();
        let matched = ranked.len();
        ranked.retain(|(place, _)| {
            let (kind, facets) = self.nature(*place);
            self.question.wanted.takes(kind, facets)
        });
        // Equals in the order of the corpus, so that the same question has the same answer.
        ranked.sort_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(&other.0)));
        let tongue = self.question.tongue.unwrap_or_else(|| self.asked.tongue());
        let shown: BTreeSet<Term> = self.asked.terms(&self.translated);
        let mut hits = Vec::new();
        for (place, score) in self.choose(&ranked) {
            // What has gone since the catalogue was made is no hit any more.
            let Some(document) = self.document(place)? else { continue };
            let analyzer = self.engine.analyzer();
            let made;
            let passages = match self.engine.index().passages.get(place) {
                Some(passages) => passages,
                None => {
                    made = analyse(std::slice::from_ref(&*document), analyzer);
                    made.first().map(|terms| terms.passages.as_slice()).unwrap_or_default()
                }
            };
            let snippet = snippet(&document, passages, &shown, tongue, analyzer);
            hits.push(Hit { document, score, parts: at(&scores, place), snippet });
        }
        let (mentions, embedder) = (self.mentions, self.embedder);
        Ok(Answer { hits, mentions, matched, tongue: Some(tongue), embedder })
    }

    /// Of what kind the document at a place is, and its properties.
    fn nature(&self, place: usize) -> (Kind, &[(Facet, String)]) {
        let held = self.engine.held();
        if let Some(document) = held.get(place) {
            return (document.kind(), &document.facets);
        }
        let candidate = self.candidates.places.get(place - held.len());
        let slip = candidate.and_then(|place| self.engine.annex()?.catalogue().slip(*place));
        slip.map_or((Kind::Chunk, &[]), |slip| (slip.kind, &slip.facets))
    }

    fn document(&self, place: usize) -> Result<Option<Arc<Document>>, ShelfError> {
        let held = self.engine.held();
        if let Some(document) = held.get(place) {
            return Ok(Some(Arc::clone(document)));
        }
        let candidate = self.candidates.places.get(place - held.len());
        let (Some(annex), Some(candidate)) = (self.engine.annex(), candidate) else {
            return Ok(None);
        };
        let Some(slip) = annex.catalogue().slip(*candidate) else { return Ok(None) };
        Ok(annex.document(slip.row)?.map(Arc::new))
    }

    fn choose(&self, ranked: &[(usize, f32)]) -> Vec<(usize, f32)> {
        let ranked: Vec<((usize, f32), Kind)> =
            ranked.iter().map(|hit| (*hit, self.nature(hit.0).0)).collect();
        // Who asks for kinds gets them; who does not gets a mixture.
        let free = !self.question.wanted.kinds.is_empty();
        let top = self.question.top;
        choose(&ranked, top, |kind| {
            if free || self.asked.kind == Some(kind) { top } else { self.tuning.room(kind, top) }
        })
    }

    fn counts(&self, part: Part) -> bool {
        self.tuning.weights.get(part.place()).is_some_and(|weight| *weight > 0.0)
    }

    /// What each part gives each document, from 0 to 1.
    fn part_scores(&self) -> [Vec<f32>; 5] {
        let (index, candidates, tuning) = (self.engine.index(), &self.candidates, self.tuning);
        let (words, trigrams) = (self.census.words(), self.census.trigrams());
        let or_none = |part: Part, scores: &dyn Fn(&Stream) -> Scores, of: [&Stream; 2]| {
            if !self.counts(part) {
                return Vec::new();
            }
            of.into_iter().flat_map(|stream| share(scores(stream))).collect()
        };
        let of_words = [&index.words, &candidates.words];
        let of_trigrams = [&index.trigrams, &candidates.trigrams];
        let annex = candidates.places.iter();
        let annex = annex.map(|place| self.near.annex.get(*place).copied().unwrap_or_default());
        [
            or_none(
                Part::Words,
                &|stream| stream.scores(&self.asked.words, tuning.words, &words),
                of_words,
            ),
            or_none(
                Part::Trigrams,
                &|stream| stream.scores(&self.asked.trigrams, tuning.trigrams, &trigrams),
                of_trigrams,
            ),
            or_none(
                Part::Lexicon,
                &|stream| stream.group_scores(&self.translated, tuning.words, &words),
                of_words,
            ),
            if self.counts(Part::Links) { self.link_scores() } else { Vec::new() },
            self.near.held.iter().copied().chain(annex).collect(),
        ]
    }

    /// For each document how much of what the question names leads to it.
    fn link_scores(&self) -> Vec<f32> {
        let all = self.engine.held().len() + self.candidates.places.len();
        let mut scores = vec![0.0; all];
        let mut met = vec![0_u16; all];
        // A name of several things is one thing named, not several.
        let mut by_place: BTreeMap<(usize, usize), Vec<usize>> = BTreeMap::new();
        for (number, mention) in self.mentions.iter().enumerate() {
            by_place.entry((mention.range.start, mention.range.end)).or_default().push(number);
        }
        for same_place in by_place.values() {
            let mut best: BTreeMap<usize, f32> = BTreeMap::new();
            for number in same_place {
                let Some(mention) = self.mentions.get(*number) else { continue };
                for lead in self.leads(*number, mention) {
                    let intent = match lead.relation {
                        Relation::UsedFor if self.asked.asks_for_dangers => OTHER_INTENT,
                        Relation::WarnsOf if !self.asked.asks_for_dangers => OTHER_INTENT,
                        _ => 1.0,
                    };
                    let score = mention.certainty * lead.weight * intent;
                    let known = best.entry(lead.document).or_default();
                    *known = known.max(score);
                }
            }
            for (document, score) in best {
                if let (Some(sum), Some(count)) = (scores.get_mut(document), met.get_mut(document))
                {
                    *sum += score;
                    *count += 1;
                }
            }
        }
        let about_names = self.asked.share_of_names(&self.mentions);
        // What answers to all that is named goes before what answers to one of two things.
        let named = by_place.len().max(1) as f32 / about_names;
        for (score, met) in scores.iter_mut().zip(met) {
            *score *= (0.5 + 0.5 * f32::from(met) / by_place.len().max(1) as f32) / named;
        }
        scores
    }

    /// The places that a mention leads to.
    fn leads(&self, number: usize, mention: &Mention) -> impl Iterator<Item = Lead> {
        let held = self.engine.held().len();
        let annex = self.candidates.leads.get(number).map(Vec::as_slice).unwrap_or_default();
        let annex = annex.iter().map(move |lead| Lead { document: held + lead.document, ..*lead });
        self.engine.linker().leads(&mention.id).iter().copied().chain(annex)
    }
}

/// Every term whose commonness matters: those of the question, of its translations, and of its
/// words as they are spelt, by which a misspelt one is told.
fn all_terms(asked: &Asked, translated: &[Group]) -> Vec<Term> {
    let weighted = asked.words.iter().chain(&asked.trigrams).chain(translated.iter().flatten());
    let foreign = asked
        .tokens
        .iter()
        .filter(|token| matches!(token.kind, TokenKind::Foreign | TokenKind::Number));
    let spelt = foreign.map(|token| Term::word(&english::stem(token.text(&asked.text))));
    weighted.map(|weighted| weighted.term).chain(spelt).collect()
}

/// Scores as shares of the best that any document could have.
fn share(scores: Scores) -> Vec<f32> {
    let ceiling = scores.ceiling.max(f32::MIN_POSITIVE);
    scores.of.into_iter().map(|score| (score / ceiling).clamp(0.0, 1.0)).collect()
}

fn at(scores: &[Vec<f32>; 5], place: usize) -> [f32; 5] {
    scores.each_ref().map(|part| part.get(place).copied().unwrap_or_default())
}
