//! Query analysis: terms, trigrams, intent, requested kind and language.

use std::collections::BTreeSet;
use std::ops::Range;

use super::document::{Kind, TextLanguage};
use super::index::Weighted;
use super::lexicon::Group;
use super::linker::Mention;
use crate::text::terms::{Analyzer, Term};
use crate::text::{Token, TokenKind, english, normalize};

/// Minimum weight share of names in a query.
const MIN_NAME_SHARE: f32 = 0.4;

/// An analysed query.
pub(super) struct AnalyzedQuery {
    pub(super) text: String,
    pub(super) tokens: Vec<Token>,
    /// Stop-word flag of each token.
    stop_words: Vec<bool>,
    pub(super) words: Vec<Weighted>,
    pub(super) trigrams: Vec<Weighted>,
    pub(super) asks_for_dangers: bool,
    /// Document kind that the query asks for by a word.
    pub(super) kind: Option<Kind>,
}

impl AnalyzedQuery {
    pub(super) fn of(question: &str, analyzer: &Analyzer) -> Self {
        let text = normalize(question).text().to_owned();
        let all = analyzer.segmenter().segment(&text);
        let kind = all.iter().find_map(|token| kind_word(token, token.text(&text)));
        // A word for a kind is not a search term, unless it is the only one.
        let mut tokens = all.clone();
        tokens.retain(|token| kind_word(token, token.text(&text)).is_none());
        if tokens.is_empty() {
            tokens = all;
        }
        let stop_words =
            tokens.iter().map(|token| analyzer.is_stop_word(token, token.text(&text))).collect();
        let all = analyzer.words(&text, &tokens);
        // A query of stop words only is searched as it is.
        let content = all.iter().any(|word| !word.is_stop_word);
        let words = all
            .iter()
            .filter(|word| !content || !word.is_stop_word)
            .map(|word| Weighted { term: word.term, weight: word.share });
        let trigrams = if content {
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

    /// Returns the weight share of names: 1 for a query of names only, decreasing with the number
    /// of other words.
    pub(super) fn share_of_names(&self, mentions: &[Mention]) -> f32 {
        let (all, named) = self.content_words(mentions);
        MIN_NAME_SHARE + (1.0 - MIN_NAME_SHARE) * f32::from(named) / f32::from(all.max(1))
    }

    /// Returns the number of content words outside names.
    pub(super) fn other_words(&self, mentions: &[Mention]) -> f32 {
        let (all, named) = self.content_words(mentions);
        f32::from(all - named)
    }

    /// Returns the number of content words, and how many belong to names.
    fn content_words(&self, mentions: &[Mention]) -> (u16, u16) {
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

    /// Returns the only content word of a query that has stop words too.
    pub(super) fn lone_word(&self) -> Option<&Token> {
        let words = self.tokens.iter().zip(&self.stop_words);
        let is_word = |token: &&Token| token.kind != TokenKind::Sign;
        let mut content =
            words.clone().filter(|(_, stop)| !**stop).map(|(token, _)| token).filter(is_word);
        let lone = content.next().filter(|_| content.next().is_none())?;
        (words.map(|(token, _)| token).filter(is_word).count() > 1).then_some(lone)
    }

    pub(super) fn language(&self) -> TextLanguage {
        let thai = |token: &Token| matches!(token.kind, TokenKind::Thai | TokenKind::Unknown);
        if self.tokens.iter().any(thai) { TextLanguage::Th } else { TextLanguage::En }
    }

    pub(super) fn terms(&self, translated: &[Group]) -> BTreeSet<Term> {
        let translated = translated.iter().flatten();
        self.words.iter().chain(translated).map(|weighted| weighted.term).collect()
    }
}

/// Returns whether a word indicates a safety question.
fn is_danger(token: &Token, text: &str) -> bool {
    match token.kind {
        TokenKind::Thai | TokenKind::Unknown => {
            DANGERS_TH.iter().any(|danger| text.contains(danger))
        }
        TokenKind::Foreign => DANGERS_EN.contains(&english::stem(text).as_str()),
        TokenKind::Number | TokenKind::Code | TokenKind::Sign => false,
    }
}

/// Returns the kind that a word asks for. `herb` and `ยา` are excluded: they denote herbs and
/// medicines alike.
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

/// Deduplicates terms, keeping the maximum weight; sorted by term.
fn distinct(mut terms: Vec<Weighted>) -> Vec<Weighted> {
    terms.sort_by(|one, other| one.term.cmp(&other.term).then(other.weight.total_cmp(&one.weight)));
    terms.dedup_by_key(|weighted| weighted.term);
    terms
}
