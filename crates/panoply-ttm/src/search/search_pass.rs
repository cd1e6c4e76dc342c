//! Execution of one query.
//!
//! Places number the in-memory documents first, then the candidates of the user index, so that both
//! share scorer and ranking.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::analyzed_query::AnalyzedQuery;
use super::bm25::Bm25;
use super::candidates::{CandidateSearch, Candidates};
use super::configured_embedder::PerIndex;
use super::document::{Document, Facet, Kind, Relation};
use super::engine::{Engine, Hit, SearchQuery, SearchResult};
use super::fusion::{Part, Tuning, choose};
use super::index::{Scores, Stream, analyse};
use super::lexicon::Group;
use super::linker::{LinkTarget, Mention};
use super::snippet::snippet;
use super::term_statistics::TermStatistics;
use crate::papers::UserStoreError;
use crate::text::terms::Term;
use crate::text::{TokenKind, english};

/// Weight of a link that does not match the intent, such as an indication in a safety question.
const OTHER_INTENT: f32 = 0.25;

/// Minimum share of the trigrams of a query, weighted, for a hit without a common word.
const MIN_TRIGRAM_SHARE: f32 = 0.4;
/// Minimum cosine similarity for a hit without a common word. The bundled vectors know few words,
/// so that they cannot tell an off-topic query: it must be on topic or name an entity.
const MIN_COSINE: f32 = 0.6;
/// Minimum share of the idf of a query without an entity that one document must contain: no
/// document is about `stock prices today`, although some say `today`.
const MIN_COVERAGE: f32 = 0.4;
/// Minimum number of trigrams of a query that can tell similar spelling: a word of three letters is
/// one trigram, which lies in many words.
const MIN_TRIGRAMS: usize = 2;
/// Maximum letters of a rare Thai word that is taken for a syllable of a transliterated name: `บอล`
/// (ball) of `ฟอร์บอล` (phorbol).
const MAX_SYLLABLE: usize = 3;
/// Document frequency from which such a word is a word.
const MIN_SYLLABLE_DOCUMENTS: usize = 3;

/// State of one query.
pub(super) struct SearchPass<'r> {
    engine: &'r Engine,
    question: &'r SearchQuery<'r>,
    tuning: &'r Tuning,
    analyzed: AnalyzedQuery,
    translated: Vec<Group>,
    statistics: TermStatistics,
    mentions: Vec<Mention>,
    near: PerIndex<Vec<f32>>,
    embedder: String,
    candidates: Candidates,
}

impl<'r> SearchPass<'r> {
    /// Analyses a query and selects candidates from the user index.
    pub(super) fn of(
        engine: &'r Engine,
        question: &'r SearchQuery<'r>,
        tuning: &'r Tuning,
    ) -> Result<Self, UserStoreError> {
        let analyzer = engine.analyzer();
        let analyzed = AnalyzedQuery::of(question.text, analyzer);
        let translated = engine.lexicon().translate(&analyzed.text, &analyzed.tokens, analyzer);
        let statistics = TermStatistics::of(engine.index(), all_terms(&analyzed, &translated));
        let mut pass = Self {
            engine,
            question,
            tuning,
            analyzed,
            translated,
            statistics,
            mentions: Vec::new(),
            near: PerIndex::default(),
            embedder: String::new(),
            candidates: Candidates::default(),
        };
        pass.search_user_index()?;
        Ok(pass)
    }

    fn search_user_index(&mut self) -> Result<(), UserStoreError> {
        let mut known = Vec::new();
        if let Some(user_index) = self.engine.user_index() {
            let table = user_index.table();
            self.statistics.add_documents(table.len(), table.words, table.trigrams);
            known = user_index.known(&self.statistics.terms())?;
            for term in &known {
                self.statistics.add(term.term, term.documents);
            }
        }
        self.mentions = self.find_mentions()?;
        if self.counts(Part::Vectors) {
            (self.near, self.embedder) = self.engine.cosines(&self.analyzed);
        }
        if let Some(user_index) = self.engine.user_index() {
            let asking = CandidateSearch {
                user_index,
                analyzed: &self.analyzed,
                translated: &self.translated,
                mentions: &self.mentions,
                filter: &self.question.filter,
                tuning: self.tuning,
                statistics: &self.statistics,
                known: &known,
                cosines: &self.near.user_index,
            };
            self.candidates = asking.candidates()?;
        }
        Ok(())
    }

    /// Finds entities and PMIDs of user papers in the query.
    fn find_mentions(&self) -> Result<Vec<Mention>, UserStoreError> {
        let (analyzed, analyzer) = (&self.analyzed, self.engine.analyzer());
        let occurs = |term: Term| self.statistics.document_frequency(term) > 0;
        let mut mentions =
            self.engine.linker().mentions(&analyzed.text, &analyzed.tokens, analyzer, occurs);
        let Some(user_index) = self.engine.user_index() else { return Ok(mentions) };
        for token in analyzed.tokens.iter().filter(|token| token.kind == TokenKind::Number) {
            let number = token.text(&analyzed.text);
            let free = !mentions.iter().any(|mention| {
                mention.range.start < token.range.end && token.range.start < mention.range.end
            });
            if free && user_index.row(number)?.is_some() {
                let (id, name) = (number.to_owned(), number.to_owned());
                mentions.push(Mention { id, name, range: token.range.clone(), certainty: 1.0 });
            }
        }
        mentions.sort_by(|one, other| one.id.cmp(&other.id));
        Ok(mentions)
    }

    /// Ranks all documents and renders the best.
    pub(super) fn answer(self) -> Result<SearchResult, UserStoreError> {
        let names = self.tuning.name_weight(self.analyzed.other_words(&self.mentions));
        let scores = self.part_scores();
        let on_topic = self.is_on_topic();
        let all = self.engine.memory_documents().len() + self.candidates.places.len();
        let mut ranked: Vec<(usize, f32)> = (0..all)
            .map(|place| {
                let (kind, _) = self.nature(place);
                let factor = self.tuning.kind_factor(kind, self.analyzed.kind, names);
                (place, self.tuning.fused(at(&scores, place), names) * factor)
            })
            .filter(|(place, score)| {
                *score > 0.0 && self.is_relevant(at(&scores, *place), on_topic)
            })
            .collect();
        let matched = ranked.len();
        ranked.retain(|(place, _)| {
            let (kind, facets) = self.nature(*place);
            self.question.filter.accepts(kind, facets)
        });
        // Ties keep the corpus order, so that results are deterministic.
        ranked.sort_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(&other.0)));
        let language = self.question.language.unwrap_or_else(|| self.analyzed.language());
        let shown: BTreeSet<Term> = self.analyzed.terms(&self.translated);
        let mut hits = Vec::new();
        for (place, score) in self.choose(&ranked) {
            // Skip documents that were deleted after the table was built.
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
            let snippet = snippet(&document, passages, &shown, language, analyzer);
            hits.push(Hit { document, score, parts: at(&scores, place), snippet });
        }
        let (mentions, embedder) = (self.mentions, self.embedder);
        Ok(SearchResult { hits, mentions, matched, language: Some(language), embedder })
    }

    /// Relevance cut-off: a hit is linked to a named entity, shares words or translations with a
    /// query that is `on_topic`, or is similar by spelling or meaning. The score alone cannot tell,
    /// because it depends on the length of the query. A configured embedder is trusted with any
    /// similarity.
    fn is_relevant(
        &self,
        [words, trigrams, lexicon, links, vectors]: [f32; 5],
        on_topic: bool,
    ) -> bool {
        let single_part = !(self.counts(Part::Words) && self.counts(Part::Lexicon));
        let shared = (words > 0.0 || lexicon > 0.0) && on_topic;
        let is_spelt = self.analyzed.trigrams.len() >= MIN_TRIGRAMS;
        let similar = (is_spelt && trigrams >= MIN_TRIGRAM_SHARE)
            || (vectors >= MIN_COSINE && (on_topic || !self.mentions.is_empty()))
            || (vectors > 0.0 && self.engine.has_configured_embedder());
        single_part || links > 0.0 || shared || similar
    }

    /// Returns whether the query names an entity, or one document contains enough of it.
    fn is_on_topic(&self) -> bool {
        let words = self.statistics.words();
        // BM25 without saturation is the idf of the terms that occur.
        let binary = Bm25 { k1: 0.0, ..self.tuning.words };
        // The ceiling is that of the caller's own words: the translation of a word that is in no
        // document is weak evidence, because a general word has many.
        let covers = |stream: &Stream| {
            let own = stream.scores(&self.analyzed.words, binary, &words);
            let translated = stream.group_scores(&self.translated, binary, &words);
            let ceiling = own.ceiling.max(translated.ceiling);
            translated.of.into_iter().any(|score| score >= MIN_COVERAGE * ceiling && score > 0.0)
        };
        let is_covered = || covers(&self.engine.index().words) || covers(&self.candidates.words);
        self.mentions.iter().any(|mention| mention.certainty >= 1.0)
            || !self.is_lone_syllable() && is_covered()
    }

    /// Returns whether a query of several words has one content word, and that is a syllable.
    fn is_lone_syllable(&self) -> bool {
        let Some(lone) = self.analyzed.lone_word() else { return false };
        let text = lone.text(&self.analyzed.text);
        lone.kind == TokenKind::Thai
            && text.chars().count() <= MAX_SYLLABLE
            && self.statistics.document_frequency(Term::word(text)) < MIN_SYLLABLE_DOCUMENTS
    }

    /// Returns kind and properties of the document at a place.
    fn nature(&self, place: usize) -> (Kind, &[(Facet, String)]) {
        let documents = self.engine.memory_documents();
        if let Some(document) = documents.get(place) {
            return (document.kind(), &document.facets);
        }
        let candidate = self.candidates.places.get(place - documents.len());
        let entry = candidate.and_then(|place| self.engine.user_index()?.table().entry(*place));
        entry.map_or((Kind::Chunk, &[]), |entry| (entry.kind, &entry.facets))
    }

    fn document(&self, place: usize) -> Result<Option<Arc<Document>>, UserStoreError> {
        let documents = self.engine.memory_documents();
        if let Some(document) = documents.get(place) {
            return Ok(Some(Arc::clone(document)));
        }
        let candidate = self.candidates.places.get(place - documents.len());
        let (Some(user_index), Some(candidate)) = (self.engine.user_index(), candidate) else {
            return Ok(None);
        };
        let Some(entry) = user_index.table().entry(*candidate) else { return Ok(None) };
        Ok(user_index.document(entry.row)?.map(Arc::new))
    }

    fn choose(&self, ranked: &[(usize, f32)]) -> Vec<(usize, f32)> {
        let ranked: Vec<((usize, f32), Kind)> =
            ranked.iter().map(|hit| (*hit, self.nature(hit.0).0)).collect();
        // Quotas apply only if the caller did not restrict the kinds.
        let free = !self.question.filter.kinds.is_empty();
        let top = self.question.top;
        choose(&ranked, top, |kind| {
            if free || self.analyzed.kind == Some(kind) {
                top
            } else {
                self.tuning.max_of_kind(kind, top)
            }
        })
    }

    fn counts(&self, part: Part) -> bool {
        self.tuning.weights.get(part.place()).is_some_and(|weight| *weight > 0.0)
    }

    /// Returns the scores of each part, from 0 to 1.
    fn part_scores(&self) -> [Vec<f32>; 5] {
        let (index, candidates, tuning) = (self.engine.index(), &self.candidates, self.tuning);
        let (words, trigrams) = (self.statistics.words(), self.statistics.trigrams());
        let or_none = |part: Part, scores: &dyn Fn(&Stream) -> Scores, of: [&Stream; 2]| {
            if !self.counts(part) {
                return Vec::new();
            }
            of.into_iter().flat_map(|stream| share(scores(stream))).collect()
        };
        let of_words = [&index.words, &candidates.words];
        let of_trigrams = [&index.trigrams, &candidates.trigrams];
        let user_index = candidates.places.iter();
        let user_index =
            user_index.map(|place| self.near.user_index.get(*place).copied().unwrap_or_default());
        [
            or_none(
                Part::Words,
                &|stream| stream.scores(&self.analyzed.words, tuning.words, &words),
                of_words,
            ),
            or_none(
                Part::Trigrams,
                &|stream| stream.scores(&self.analyzed.trigrams, tuning.trigrams, &trigrams),
                of_trigrams,
            ),
            or_none(
                Part::Lexicon,
                &|stream| stream.group_scores(&self.translated, tuning.words, &words),
                of_words,
            ),
            if self.counts(Part::Links) { self.link_scores() } else { Vec::new() },
            self.near.memory.iter().copied().chain(user_index).collect(),
        ]
    }

    /// Returns the link score of each document.
    fn link_scores(&self) -> Vec<f32> {
        let all = self.engine.memory_documents().len() + self.candidates.places.len();
        let mut scores = vec![0.0; all];
        let mut match_counts = vec![0_u16; all];
        // An ambiguous name counts once.
        let mut by_place: BTreeMap<(usize, usize), Vec<usize>> = BTreeMap::new();
        for (number, mention) in self.mentions.iter().enumerate() {
            by_place.entry((mention.range.start, mention.range.end)).or_default().push(number);
        }
        for same_place in by_place.values() {
            let mut best: BTreeMap<usize, f32> = BTreeMap::new();
            for number in same_place {
                let Some(mention) = self.mentions.get(*number) else { continue };
                for target in self.targets(*number, mention) {
                    let intent = match target.relation {
                        Relation::UsedFor if self.analyzed.asks_for_dangers => OTHER_INTENT,
                        Relation::WarnsOf if !self.analyzed.asks_for_dangers => OTHER_INTENT,
                        _ => 1.0,
                    };
                    let score = mention.certainty * target.weight * intent;
                    let known = best.entry(target.document).or_default();
                    *known = known.max(score);
                }
            }
            for (document, score) in best {
                if let (Some(sum), Some(count)) =
                    (scores.get_mut(document), match_counts.get_mut(document))
                {
                    *sum += score;
                    *count += 1;
                }
            }
        }
        let about_names = self.analyzed.share_of_names(&self.mentions);
        // A document linked to all named entities precedes one linked to some.
        let named = by_place.len().max(1) as f32 / about_names;
        for (score, match_counts) in scores.iter_mut().zip(match_counts) {
            *score *= (0.5 + 0.5 * f32::from(match_counts) / by_place.len().max(1) as f32) / named;
        }
        scores
    }

    /// Returns the documents linked to a mention.
    fn targets(&self, number: usize, mention: &Mention) -> impl Iterator<Item = LinkTarget> {
        let memory = self.engine.memory_documents().len();
        let user_index = self.candidates.targets.get(number).map(Vec::as_slice).unwrap_or_default();
        let user_index = user_index
            .iter()
            .map(move |target| LinkTarget { document: memory + target.document, ..*target });
        self.engine.linker().targets(&mention.id).iter().copied().chain(user_index)
    }
}

/// Returns all terms whose document frequency is needed: query terms, translations, and unstemmed
/// words for the spelling check.
fn all_terms(analyzed: &AnalyzedQuery, translated: &[Group]) -> Vec<Term> {
    let weighted =
        analyzed.words.iter().chain(&analyzed.trigrams).chain(translated.iter().flatten());
    let foreign = analyzed
        .tokens
        .iter()
        .filter(|token| matches!(token.kind, TokenKind::Foreign | TokenKind::Number));
    let spelt = foreign.map(|token| Term::word(&english::stem(token.text(&analyzed.text))));
    weighted.map(|weighted| weighted.term).chain(spelt).collect()
}

/// Normalises scores by the maximum possible score.
fn share(scores: Scores) -> Vec<f32> {
    let ceiling = scores.ceiling.max(f32::MIN_POSITIVE);
    scores.of.into_iter().map(|score| (score / ceiling).clamp(0.0, 1.0)).collect()
}

fn at(scores: &[Vec<f32>; 5], place: usize) -> [f32; 5] {
    scores.each_ref().map(|part| part.get(place).copied().unwrap_or_default())
}
