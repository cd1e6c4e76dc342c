//! A question in, hits out.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use super::corpus::Corpus;
use super::document::{Document, Facet, Kind, Relation, Tongue};
use super::embed::Embedder;
use super::fuse::{Part, Tuning, choose};
use super::index::{Index, Scores, Weighted};
use super::lexicon::{Group, Lexicon};
use super::linker::{Linker, Mention};
use super::meaning::Meaning;
use super::snippet::{Snippet, snippet};
use crate::text::terms::{Analyzer, Term};
use crate::text::{Dictionary, Token, TokenKind, english, normalize};

/// How much a mention that the question is not about counts: a use, where it asks for dangers.
const OTHER_INTENT: f32 = 0.25;

/// How much a question is at least about the names in it.
const LEAST_OF_NAMES: f32 = 0.4;

/// The corpus made searchable.
#[derive(Debug)]
pub struct Engine {
    documents: Vec<Document>,
    analyzer: Analyzer,
    index: Index,
    lexicon: Lexicon,
    linker: Linker,
    meaning: Meaning,
    tuning: Tuning,
}

/// The engine could not be made. The lists it needs are part of the program.
#[derive(Debug, thiserror::Error)]
#[error("the search cannot be made ready: {0}")]
pub struct NotReady(String);

impl NotReady {
    pub(super) fn because(cause: &dyn std::error::Error) -> Self {
        Self(cause.to_string())
    }
}

/// What is asked, and which hits are wanted.
#[derive(Clone, Debug)]
pub struct Question<'q> {
    /// The words of the question.
    pub text: &'q str,
    /// The language to show, or that of the question.
    pub tongue: Option<Tongue>,
    /// What the hits must be.
    pub wanted: Wanted,
    /// How many hits at most.
    pub top: usize,
}

impl<'q> Question<'q> {
    /// The ten best hits of any kind.
    pub fn new(text: &'q str) -> Self {
        Self { text, tongue: None, wanted: Wanted::default(), top: 10 }
    }
}

/// What hits must be. Empty lists ask for nothing; of several values one is enough.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// Kinds.
    pub kinds: Vec<Kind>,
    /// Properties; a value that ends in `*` stands for everything that begins with the rest.
    pub facets: BTreeMap<Facet, Vec<String>>,
    /// The first year.
    pub from_year: Option<u16>,
    /// The last year.
    pub to_year: Option<u16>,
}

/// What was found.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    /// The hits, best first.
    pub hits: Vec<Hit>,
    /// What the question names.
    pub mentions: Vec<Mention>,
    /// How many documents had anything to do with the question.
    pub matched: usize,
    /// The language that snippets are in where there was a choice.
    pub tongue: Option<Tongue>,
    /// Where the vectors came from.
    pub embedder: String,
}

/// One hit.
#[derive(Clone, Debug)]
pub struct Hit {
    /// The document's place.
    pub document: usize,
    /// From 0 to 1.
    pub score: f32,
    /// What each part gave, in the order of [`Part::ALL`].
    pub parts: [f32; 5],
    /// Why it was found.
    pub snippet: Snippet,
}

impl Engine {
    /// Makes a corpus searchable. The vectors' space is learnt from its first documents.
    pub fn new(corpus: Corpus) -> Result<Self, NotReady> {
        Self::with(corpus, None)
    }

    /// The same with vectors of an embedder, where it gives any.
    pub fn with(corpus: Corpus, embedder: Option<Arc<dyn Embedder>>) -> Result<Self, NotReady> {
        let Corpus { documents, other_names, trained } = corpus;
        let thai_names: Vec<String> = documents
            .iter()
            .flat_map(|document| &document.names)
            .chain(other_names.iter().map(|(_, name)| name))
            .map(|name| normalize(name).text().trim().to_owned())
            .collect();
        let dictionary = Dictionary::new(thai_names.iter().map(String::as_str))
            .map_err(|error| NotReady::because(&error))?;
        let analyzer = Analyzer::new(Arc::new(dictionary));
        let index = Index::build(&documents, &analyzer);
        let lexicon = Lexicon::new().map_err(|error| NotReady::because(&error))?;
        let linker = Linker::new(&documents, &other_names, &analyzer);
        let meaning = Meaning::of(&index, trained, embedder);
        let tuning = Tuning::default();
        Ok(Self { documents, analyzer, index, lexicon, linker, meaning, tuning })
    }

    /// The document at a place.
    pub fn document(&self, place: usize) -> Option<&Document> {
        self.documents.get(place)
    }

    /// How many documents there are.
    pub const fn len(&self) -> usize {
        self.documents.len()
    }

    /// Whether there is nothing to search.
    pub const fn is_empty(&self) -> bool {
        self.documents.is_empty()
    }

    /// What words are cut, counted and carried over with.
    pub(super) const fn workings(&self) -> (&Analyzer, &Index, &Lexicon) {
        (&self.analyzer, &self.index, &self.lexicon)
    }

    pub(super) const fn linker(&self) -> &Linker {
        &self.linker
    }

    /// The hits for a question.
    pub fn search(&self, question: &Question<'_>) -> Answer {
        self.search_with(question, &self.tuning)
    }

    /// The hits for a question, with the parts weighed in another way.
    pub fn search_with(&self, question: &Question<'_>, tuning: &Tuning) -> Answer {
        let asked = Asked::of(question.text, &self.analyzer);
        let stands = |term: Term| self.index.words.containing(term) > 0;
        let mentions = self.linker.mentions(&asked.text, &asked.tokens, &self.analyzer, stands);
        let translated = self.lexicon.translate(&asked.text, &asked.tokens, &self.analyzer);
        let (scores, embedder) = self.part_scores(&asked, &translated, &mentions, tuning);
        let names = tuning.force_of_names(asked.words_beside(&mentions));
        let mut ranked: Vec<(usize, f32)> = (self.documents.iter().enumerate())
            .map(|(place, document)| {
                let kept = tuning.kept(document.kind(), asked.kind, names);
                (place, tuning.fused(at(&scores, place), names) * kept)
            })
            .filter(|(_, score)| *score > 0.0)
            .collect();
        let matched = ranked.len();
        ranked.retain(|(place, _)| {
            self.documents.get(*place).is_some_and(|document| question.wanted.takes(document))
        });
        // Equals in the order of the corpus, so that the same question has the same answer.
        ranked.sort_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(&other.0)));
        let chosen = self.choose(&ranked, question, asked.kind, tuning);
        let tongue = question.tongue.unwrap_or_else(|| asked.tongue());
        let shown: BTreeSet<Term> = asked.terms(&translated);
        let hits = chosen.into_iter().filter_map(|(place, score)| {
            let document = self.documents.get(place)?;
            let passages = self.index.passages.get(place).map(Vec::as_slice).unwrap_or_default();
            let snippet = snippet(document, passages, &shown, tongue, &self.analyzer);
            Some(Hit { document: place, score, parts: at(&scores, place), snippet })
        });
        Answer { hits: hits.collect(), mentions, matched, tongue: Some(tongue), embedder }
    }

    fn choose(
        &self,
        ranked: &[(usize, f32)],
        question: &Question<'_>,
        asked: Option<Kind>,
        tuning: &Tuning,
    ) -> Vec<(usize, f32)> {
        let with_kind = |hit: &(usize, f32)| {
            let kind = self.documents.get(hit.0).map_or(Kind::Chunk, Document::kind);
            (*hit, kind)
        };
        let ranked: Vec<((usize, f32), Kind)> = ranked.iter().map(with_kind).collect();
        // Who asks for kinds gets them; who does not gets a mixture.
        let free = !question.wanted.kinds.is_empty();
        let top = question.top;
        choose(
            &ranked,
            top,
            |kind| {
                if free || asked == Some(kind) { top } else { tuning.room(kind, top) }
            },
        )
    }

    /// What each part gives each document, from 0 to 1, and who gave the vectors.
    fn part_scores(
        &self,
        asked: &Asked,
        translated: &[Group],
        mentions: &[Mention],
        tuning: &Tuning,
    ) -> ([Vec<f32>; 5], String) {
        let counts =
            |part: Part| tuning.weights.get(part.place()).is_some_and(|weight| *weight > 0.0);
        let or_none = |part: Part, scores: &dyn Fn() -> Vec<f32>| {
            if counts(part) { scores() } else { Vec::new() }
        };
        let (vectors, embedder) = if counts(Part::Vectors) {
            let terms = [asked.words.as_slice(), asked.trigrams.as_slice()].concat();
            self.meaning.cosines(&asked.text, &terms, &self.documents)
        } else {
            (Vec::new(), String::new())
        };
        let scores = [
            or_none(Part::Words, &|| share(self.index.words.scores(&asked.words, tuning.words))),
            or_none(Part::Trigrams, &|| {
                share(self.index.trigrams.scores(&asked.trigrams, tuning.trigrams))
            }),
            or_none(Part::Lexicon, &|| {
                share(self.index.words.group_scores(translated, tuning.words))
            }),
            or_none(Part::Links, &|| self.link_scores(asked, mentions)),
            vectors,
        ];
        (scores, embedder)
    }

    /// For each document how much of what the question names leads to it.
    fn link_scores(&self, asked: &Asked, mentions: &[Mention]) -> Vec<f32> {
        let mut scores = vec![0.0; self.documents.len()];
        let mut met = vec![0_u16; self.documents.len()];
        // A name of several things is one thing named, not several.
        let mut by_place: BTreeMap<(usize, usize), Vec<&Mention>> = BTreeMap::new();
        for mention in mentions {
            by_place.entry((mention.range.start, mention.range.end)).or_default().push(mention);
        }
        for same_place in by_place.values() {
            let mut best: BTreeMap<usize, f32> = BTreeMap::new();
            for mention in same_place {
                for lead in self.linker.leads(&mention.id) {
                    let intent = match lead.relation {
                        Relation::UsedFor if asked.asks_for_dangers => OTHER_INTENT,
                        Relation::WarnsOf if !asked.asks_for_dangers => OTHER_INTENT,
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
        let about_names = asked.share_of_names(mentions);
        // What answers to all that is named goes before what answers to one of two things.
        let named = by_place.len().max(1) as f32 / about_names;
        for (score, met) in scores.iter_mut().zip(met) {
            *score *= (0.5 + 0.5 * f32::from(met) / by_place.len().max(1) as f32) / named;
        }
        scores
    }
}

impl Wanted {
    fn takes(&self, document: &Document) -> bool {
        let kind = self.kinds.is_empty() || self.kinds.contains(&document.kind());
        kind && self.takes_facets(document) && self.takes_year(document)
    }

    fn takes_facets(&self, document: &Document) -> bool {
        self.facets.iter().all(|(facet, wanted)| {
            document.facets.iter().any(|(own, value)| {
                own == facet && wanted.iter().any(|wanted| is_like(value, wanted))
            })
        })
    }

    /// A document without a year is not from any year.
    fn takes_year(&self, document: &Document) -> bool {
        if self.from_year.is_none() && self.to_year.is_none() {
            return true;
        }
        let years = document.facets.iter().filter(|(facet, _)| *facet == Facet::Year);
        years.filter_map(|(_, year)| year.parse::<u16>().ok()).any(|year| {
            self.from_year.is_none_or(|from| year >= from)
                && self.to_year.is_none_or(|to| year <= to)
        })
    }
}

fn is_like(value: &str, wanted: &str) -> bool {
    let (value, wanted) = (value.to_lowercase(), wanted.to_lowercase());
    match wanted.strip_suffix('*') {
        Some(beginning) => value.starts_with(beginning),
        None => value == wanted,
    }
}

/// A question made ready.
struct Asked {
    text: String,
    tokens: Vec<Token>,
    /// Whether each token is a stop word.
    stop_words: Vec<bool>,
    words: Vec<Weighted>,
    trigrams: Vec<Weighted>,
    asks_for_dangers: bool,
    /// The kind of thing it asks for in words.
    kind: Option<Kind>,
}

impl Asked {
    fn of(question: &str, analyzer: &Analyzer) -> Self {
        let text = normalize(question).text().to_owned();
        let all = analyzer.segmenter().segment(&text);
        let kind = all.iter().find_map(|token| kind_word(token, token.text(&text)));
        // A word for a kind is not what is looked for in the texts, unless it is all there is.
        let mut tokens = all.clone();
        tokens.retain(|token| kind_word(token, token.text(&text)).is_none());
        if tokens.is_empty() {
            tokens = all;
        }
        let stop_words =
            tokens.iter().map(|token| analyzer.is_stop_word(token, token.text(&text))).collect();
        let all = analyzer.words(&text, &tokens);
        // A question of nothing but small words is asked as it stands.
        let telling = all.iter().any(|word| !word.is_stop_word);
        let words = all
            .iter()
            .filter(|word| !telling || !word.is_stop_word)
            .map(|word| Weighted { term: word.term, weight: word.share });
        let trigrams = if telling {
            analyzer.question_trigrams(&text, &tokens)
        } else {
            analyzer.trigrams(&text, &tokens)
        };
        let trigrams = trigrams.into_iter().map(|term| Weighted { term, weight: 1.0 });
        let asks_for_dangers = tokens.iter().any(|token| is_danger(token, token.text(&text)));
        Self {
            words: distinct(words.collect()),
            trigrams: distinct(trigrams.collect()),
            asks_for_dangers,
            kind,
            stop_words,
            text,
            tokens,
        }
    }

    /// How much a question is about the names in it: all, when it is nothing but names, and less
    /// the more else it says.
    fn share_of_names(&self, mentions: &[Mention]) -> f32 {
        let (all, named) = self.telling_words(mentions);
        LEAST_OF_NAMES + (1.0 - LEAST_OF_NAMES) * f32::from(named) / f32::from(all.max(1))
    }

    /// How many telling words stand beside the names.
    fn words_beside(&self, mentions: &[Mention]) -> f32 {
        let (all, named) = self.telling_words(mentions);
        f32::from(all - named)
    }

    /// How many words say something, and how many of these belong to names.
    fn telling_words(&self, mentions: &[Mention]) -> (u16, u16) {
        let named = |token: &Token| {
            let inside = |place: &Range<usize>| {
                token.range.start < place.end && place.start < token.range.end
            };
            mentions.iter().any(|mention| inside(&mention.range))
        };
        let (mut all, mut of_names) = (0_u16, 0_u16);
        for (token, stop) in self.tokens.iter().zip(&self.stop_words) {
            let named = named(token);
            all = all.saturating_add(u16::from(named || !stop));
            of_names = of_names.saturating_add(u16::from(named));
        }
        (all, of_names)
    }

    fn tongue(&self) -> Tongue {
        let thai = |token: &Token| matches!(token.kind, TokenKind::Thai | TokenKind::Unknown);
        if self.tokens.iter().any(thai) { Tongue::Th } else { Tongue::En }
    }

    fn terms(&self, translated: &[Group]) -> BTreeSet<Term> {
        let translated = translated.iter().flatten();
        self.words.iter().chain(translated).map(|weighted| weighted.term).collect()
    }
}

/// Whether a word shows that dangers are asked for, not uses.
fn is_danger(token: &Token, text: &str) -> bool {
    match token.kind {
        TokenKind::Thai | TokenKind::Unknown => {
            DANGERS_TH.iter().any(|danger| text.contains(danger))
        }
        TokenKind::Foreign => DANGERS_EN.contains(&english::stem(text).as_str()),
        TokenKind::Number | TokenKind::Code | TokenKind::Sign => false,
    }
}

/// The kind that a word asks for. `herb` and `ยา` are not here: people say them for herbs and
/// for medicines alike.
fn kind_word(token: &Token, text: &str) -> Option<Kind> {
    match token.kind {
        TokenKind::Thai => match text {
            "ตำรับ" | "ตำรับยา" | "สูตรยา" | "ยาตำรับ" => {
                Some(Kind::Formulation)
            }
            "งานวิจัย" | "วิจัย" | "การวิจัย" | "การศึกษา" | "บทความ" | "การทดลอง" => {
                Some(Kind::Paper)
            }
            _ => None,
        },
        TokenKind::Foreign => match english::stem(text).as_str() {
            "formula" | "formul" | "recip" => Some(Kind::Formulation),
            "studi" | "trial" | "paper" | "research" | "articl" | "public" => Some(Kind::Paper),
            _ => None,
        },
        TokenKind::Unknown | TokenKind::Number | TokenKind::Code | TokenKind::Sign => None,
    }
}

const DANGERS_TH: [&str; 13] = [
    "ห้าม",
    "ไม่ควร",
    "ระวัง",
    "อันตราย",
    "ปฏิกิริยา",
    "ตีกัน",
    "ร่วมกับ",
    "ผลข้างเคียง",
    "ปลอดภัย",
    "พร้อม",
    "คู่กับ",
    "เสี่ยง",
    "แพ้",
];
const DANGERS_EN: [&str; 13] = [
    "contraind",
    "contraindic",
    "avoid",
    "interact",
    "unsaf",
    "safe",
    "safeti",
    "danger",
    "risk",
    "caution",
    "warn",
    "allerg",
    "harm",
];

/// Each term once, with its greatest weight, in the order of the numbers.
fn distinct(mut terms: Vec<Weighted>) -> Vec<Weighted> {
    terms.sort_by(|one, other| one.term.cmp(&other.term).then(other.weight.total_cmp(&one.weight)));
    terms.dedup_by_key(|weighted| weighted.term);
    terms
}

/// Scores as shares of the best that any document could have.
fn share(scores: Scores) -> Vec<f32> {
    let ceiling = scores.ceiling.max(f32::MIN_POSITIVE);
    scores.of.into_iter().map(|score| (score / ceiling).clamp(0.0, 1.0)).collect()
}

fn at(scores: &[Vec<f32>; 5], place: usize) -> [f32; 5] {
    scores.each_ref().map(|part| part.get(place).copied().unwrap_or_default())
}
