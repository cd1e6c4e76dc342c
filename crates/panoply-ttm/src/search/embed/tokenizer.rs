//! Subword tokenizers of static models: WordPiece (BERT) and Unigram (SentencePiece), configured by
//! `tokenizer.json`.
//!
//! The crate `tokenizers` supports all kinds but adds sixty dependencies; static models use these
//! two.

use std::collections::HashMap;

use serde_json::Value;
use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

/// Maximum word length in WordPiece.
const MAX_WORD_LENGTH: usize = 100;
/// SentencePiece's replacement for a space.
const SPACE: char = '\u{2581}';
/// Penalty of an unknown letter relative to the least likely piece, as in SentencePiece.
const UNKNOWN_PENALTY: f64 = 10.0;

/// Vocabulary and algorithm.
#[derive(Debug)]
pub(super) struct Tokenizer {
    places: HashMap<String, usize>,
    cut: TokenizerKind,
}

#[derive(Debug)]
enum TokenizerKind {
    WordPiece { lower: bool, accents: bool, prefix: String },
    Unigram { scores: Vec<f64>, unknown: Option<usize>, least: f64, longest: usize },
}

impl Tokenizer {
    /// Parses `tokenizer.json`.
    pub(super) fn parse(file: &[u8]) -> Result<Self, String> {
        let file: Value = serde_json::from_slice(file)
            .map_err(|error| format!("`tokenizer.json` is no JSON: {error}"))?;
        let model = file.get("model").ok_or("`tokenizer.json` has no `model`")?;
        match model.get("type").and_then(Value::as_str) {
            Some("WordPiece") => Self::word_piece(&file, model),
            Some("Unigram") => Self::unigram(model),
            other => Err(format!(
                "`tokenizer.json` is of type `{}`; WordPiece and Unigram are supported",
                other.unwrap_or("none")
            )),
        }
    }

    fn word_piece(file: &Value, model: &Value) -> Result<Self, String> {
        let vocabulary = model.get("vocab").and_then(Value::as_object);
        let vocabulary = vocabulary.ok_or("`tokenizer.json` has no `vocab`")?;
        let place = |(piece, place): (&String, &Value)| {
            Some((piece.clone(), usize::try_from(place.as_u64()?).ok()?))
        };
        let mut places: HashMap<String, usize> = vocabulary.iter().filter_map(place).collect();
        // Model2Vec omits unknown tokens from the mean.
        places.remove(model.get("unk_token").and_then(Value::as_str).unwrap_or("[UNK]"));
        let normalizer = file.get("normalizer");
        let says = |name: &str| normalizer.and_then(|one| one.get(name)).and_then(Value::as_bool);
        let lower = says("lowercase").unwrap_or(false);
        let cut = TokenizerKind::WordPiece {
            lower,
            accents: !says("strip_accents").unwrap_or(lower),
            prefix: model
                .get("continuing_subword_prefix")
                .and_then(Value::as_str)
                .unwrap_or("##")
                .to_owned(),
        };
        Ok(Self { places, cut })
    }

    fn unigram(model: &Value) -> Result<Self, String> {
        let rows = model.get("vocab").and_then(Value::as_array);
        let rows = rows.ok_or("`tokenizer.json` has no `vocab`")?;
        let (mut places, mut scores) = (HashMap::new(), Vec::with_capacity(rows.len()));
        for (place, row) in rows.iter().enumerate() {
            let piece = row.get(0).and_then(Value::as_str);
            let score = row.get(1).and_then(Value::as_f64);
            let (Some(piece), Some(score)) = (piece, score) else {
                return Err(format!("`tokenizer.json`: piece {place} has no text or no score"));
            };
            places.insert(piece.to_owned(), place);
            scores.push(score);
        }
        let unknown = model.get("unk_id").and_then(Value::as_u64);
        let unknown = unknown.and_then(|place| usize::try_from(place).ok());
        let least = scores.iter().copied().fold(f64::INFINITY, f64::min);
        let longest = places.keys().map(|piece| piece.chars().count()).max().unwrap_or(1);
        Ok(Self { places, cut: TokenizerKind::Unigram { scores, unknown, least, longest } })
    }

    /// Returns the vocabulary size.
    pub(super) fn len(&self) -> usize {
        self.places.values().max().map_or(0, |place| place + 1)
    }

    /// Returns the token ids of a text without unknown tokens.
    pub(super) fn of(&self, text: &str) -> Vec<usize> {
        match &self.cut {
            TokenizerKind::WordPiece { lower, accents, prefix } => {
                let words = bert_words(text, *lower, *accents);
                words.iter().flat_map(|word| self.longest_first(word, prefix)).collect()
            }
            TokenizerKind::Unigram { .. } => {
                let normalized: String = text.nfkc().collect();
                let words = normalized.split_whitespace();
                words.flat_map(|word| self.likeliest(&format!("{SPACE}{word}"))).collect()
            }
        }
    }

    /// WordPiece: greedy longest match; empty if a part of the word is unknown.
    fn longest_first(&self, word: &str, prefix: &str) -> Vec<usize> {
        let mut pieces = Vec::new();
        if word.chars().count() > MAX_WORD_LENGTH {
            return pieces;
        }
        let mut rest = word;
        while !rest.is_empty() {
            let ends = rest.char_indices().map(|(at, letter)| at + letter.len_utf8());
            let ends: Vec<usize> = ends.collect();
            let begin = if pieces.is_empty() { "" } else { prefix };
            let known = ends.iter().rev().find_map(|end| {
                let piece = format!("{begin}{}", rest.get(..*end)?);
                self.places.get(&piece).map(|place| (*place, *end))
            });
            let Some((place, end)) = known else { return Vec::new() };
            pieces.push(place);
            rest = rest.get(end..).unwrap_or_default();
        }
        pieces
    }

    /// Unigram: most likely segmentation (Viterbi).
    fn likeliest(&self, word: &str) -> Vec<usize> {
        let TokenizerKind::Unigram { scores, unknown, least, longest } = &self.cut else {
            return Vec::new();
        };
        let mut ends: Vec<usize> = word.char_indices().map(|(at, _)| at).collect();
        ends.push(word.len());
        // Best path to each position: score, predecessor, token.
        let mut best: Vec<Option<(f64, usize, Option<usize>)>> = vec![None; ends.len()];
        if let Some(first) = best.first_mut() {
            *first = Some((0.0, 0, None));
        }
        for start in 0..ends.len() {
            let Some((score, ..)) = best.get(start).copied().flatten() else { continue };
            for end in start + 1..ends.len().min(start + longest + 1) {
                let range = ends.get(start).copied().zip(ends.get(end).copied());
                let piece = range.and_then(|(from, to)| word.get(from..to)).unwrap_or_default();
                let place = self.places.get(piece).copied().filter(|one| Some(*one) != *unknown);
                let worth = match place {
                    Some(place) => scores.get(place).copied().unwrap_or(*least),
                    None if end == start + 1 => least - UNKNOWN_PENALTY,
                    None => continue,
                };
                let reached = score + worth;
                if let Some(known) = best.get_mut(end)
                    && known.is_none_or(|(known, ..)| reached > known)
                {
                    *known = Some((reached, start, place));
                }
            }
        }
        let mut pieces = Vec::new();
        let mut at = ends.len() - 1;
        while at > 0 {
            let Some((_, from, piece)) = best.get(at).copied().flatten() else { break };
            pieces.extend(piece);
            at = from;
        }
        pieces.reverse();
        pieces
    }
}

/// BERT pre-tokenisation: splits at whitespace and around punctuation and Chinese characters.
fn bert_words(text: &str, lower: bool, accents: bool) -> Vec<String> {
    let mut letters: String = text.to_owned();
    if !accents {
        letters = letters.nfd().filter(|letter| !is_mark_of_a_letter(*letter)).collect();
    }
    if lower {
        letters = letters.to_lowercase();
    }
    let mut words: Vec<String> = Vec::new();
    let mut open = false;
    for letter in letters.chars() {
        if letter.is_whitespace() {
            open = false;
        } else if letter.is_control() || letter == '\u{fffd}' {
            // Control characters are dropped.
        } else if is_sign(letter) || is_chinese(letter) {
            words.push(letter.to_string());
            open = false;
        } else {
            match words.last_mut() {
                Some(word) if open => word.push(letter),
                _ => words.push(letter.to_string()),
            }
            open = true;
        }
    }
    words
}

/// Nonspacing marks, which `strip_accents` removes; they include many Thai vowels and all tones.
fn is_mark_of_a_letter(letter: char) -> bool {
    is_combining_mark(letter) && letter != '\u{0E33}'
}

fn is_sign(letter: char) -> bool {
    let ascii = letter.is_ascii_punctuation();
    ascii
        || matches!(letter, '\u{2010}'..='\u{2027}' | '\u{2030}'..='\u{205e}' | '\u{3001}'..='\u{3003}' | '\u{ab}' | '\u{bb}' | '\u{a1}' | '\u{bf}' | '\u{0E4F}' | '\u{0E5A}' | '\u{0E5B}')
}

const fn is_chinese(letter: char) -> bool {
    matches!(letter, '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{2fa1f}')
}
