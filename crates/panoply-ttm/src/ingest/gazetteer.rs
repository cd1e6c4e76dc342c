//! Gazetteer: finds catalog names in running text, exactly, without tone marks, or with OCR errors.
//!
//! OCR loses tone marks and confuses Latin letters, but short Thai names occur inside unrelated
//! words. So a Thai name of fewer than four letters matches only on word boundaries after a cue
//! such as a plant part, and Latin names match whole words only.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use aho_corasick::{AhoCorasick, MatchKind};

use crate::catalog::HerbCatalog;
use crate::model::NodeType;
use crate::text::spans::overlap;
use crate::text::{Dictionary, Normalized, Segmenter, Token, is_thai, normalize, skeleton};

/// Thai names with fewer letters need a cue.
const LONG_ENOUGH: usize = 4;
/// Minimum number of letters of a name without its tone marks.
const MIN_BARE_NAME_LENGTH: usize = 5;
/// Minimum number of letters of a Latin name for fuzzy matching.
const GUESSED_LETTERS: usize = 8;
/// Minimum similarity of a fuzzy match.
const MIN_SIMILARITY: f64 = 0.88;
/// Cues before a name.
const CUES: [&str; 16] = [
    "ราก",
    "เหง้า",
    "ใบ",
    "ดอก",
    "ผล",
    "เมล็ด",
    "เปลือก",
    "แก่น",
    "ต้น",
    "หัว",
    "ยา",
    "สมุนไพร",
    "ผง",
    "น้ำมัน",
    "น้ำ",
    "เถา",
];

/// Cues after a name.
const VERBS: [&str; 12] =
    ["ใช้", "มี", "ช่วย", "แก้", "เป็น", "บรรเทา", "รักษา", "ไม่", "ห้าม", "และ", "กับ", "ประกอบ"];
/// Certainty of a short name without a cue: too low for a fact.
const UNCERTAIN: u8 = 55;

/// A name found in a text.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Named {
    /// Node id.
    pub id: String,
    /// Node type.
    pub kind: NodeType,
    /// Byte range in the normalised text.
    pub range: Range<usize>,
    /// Certainty from 0 to 100: exact, without tone marks, or fuzzy.
    pub certainty: u8,
}

/// All catalog names, indexed for matching.
#[derive(Debug)]
pub struct Gazetteer {
    segmenter: Segmenter,
    exact: Automaton,
    skeletons: Automaton,
    /// Long single Latin words by first letter, for fuzzy matching.
    words: BTreeMap<char, Vec<usize>>,
    names: Vec<Name>,
}

#[derive(Debug)]
struct Name {
    spelling: String,
    owners: Vec<(NodeType, String)>,
}

/// Aho–Corasick automaton with the name of each pattern.
#[derive(Debug)]
struct Automaton {
    find: AhoCorasick,
    names: Vec<usize>,
}

/// The gazetteer could not be built from the bundled data.
#[derive(Debug, thiserror::Error)]
#[error("cannot index the names: {0}")]
pub struct GazetteerError(String);

impl Gazetteer {
    /// Indexes the names of a catalog.
    pub fn new(catalog: &HerbCatalog) -> Result<Self, GazetteerError> {
        let names = names(catalog);
        let not_made = |error: &dyn std::error::Error| GazetteerError(error.to_string());
        let dictionary = Dictionary::new(names.iter().map(|name| name.spelling.as_str()))
            .map_err(|error| not_made(&error))?;
        let is_thai_name = |name: &Name| name.spelling.chars().any(is_thai);
        let exact =
            Automaton::new(names.iter().enumerate().map(|(at, name)| (at, name.spelling.clone())));
        let skeletons = names.iter().enumerate().filter(|(_, name)| is_thai_name(name));
        let skeletons = skeletons.map(|(at, name)| (at, skeleton(&name.spelling)));
        let skeletons = Automaton::new(
            skeletons.filter(|(_, letters)| letters.chars().count() >= MIN_BARE_NAME_LENGTH),
        );
        let mut words: BTreeMap<char, Vec<usize>> = BTreeMap::new();
        for (at, name) in names.iter().enumerate() {
            let letters = name.spelling.chars().count();
            let one_word = name.spelling.chars().all(|one| one.is_ascii_lowercase());
            if one_word && letters >= GUESSED_LETTERS {
                words.entry(name.spelling.chars().next().unwrap_or_default()).or_default().push(at);
            }
        }
        Ok(Self {
            segmenter: Segmenter::new(Arc::new(dictionary)),
            exact: exact.map_err(|error| not_made(&error))?,
            skeletons: skeletons.map_err(|error| not_made(&error))?,
            words,
            names,
        })
    }

    /// Returns the segmenter, which knows the names as words.
    pub const fn segmenter(&self) -> &Segmenter {
        &self.segmenter
    }

    /// Finds all names in a text, ordered by position. An ambiguous name is returned once per node.
    pub fn named(&self, text: &Normalized) -> Vec<Named> {
        let text = text.text();
        let tokens = self.segmenter.segment(text);
        let mut found: Vec<(Range<usize>, usize, u8)> = Vec::new();
        let begins: BTreeSet<usize> = tokens.iter().map(|token| token.range.start).collect();
        let ends: BTreeSet<usize> = tokens.iter().map(|token| token.range.end).collect();
        for (range, name) in self.exact.all(text) {
            let whole = begins.contains(&range.start) && ends.contains(&range.end);
            let certainty = Self::certainty(text, &range, whole);
            found.extend(certainty.map(|certainty| (range, name, certainty)));
        }
        // Match without tone marks, which fonts and OCR lose, only outside exact matches.
        let bare = ToneFreeText::of(text);
        for (range, name) in self.skeletons.all(&bare.letters) {
            let range = bare.source(&range);
            if !found.iter().any(|(other, ..)| overlap(other, &range)) {
                found.push((range, name, 90));
            }
        }
        self.entries(text, &tokens, &mut found);
        let mut named: Vec<Named> = Vec::new();
        for (range, name, certainty) in longest(found) {
            let owners =
                self.names.get(name).map(|name| name.owners.as_slice()).unwrap_or_default();
            named.extend(owners.iter().map(|(kind, id)| {
                let id = id.clone();
                Named { id, kind: *kind, range: range.clone(), certainty }
            }));
        }
        named.sort_by(|one, other| {
            (one.range.start, &one.kind, &one.id).cmp(&(other.range.start, &other.kind, &other.id))
        });
        named
    }

    /// Returns the certainty of a match; `None` inside another word.
    fn certainty(text: &str, range: &Range<usize>, whole: bool) -> Option<u8> {
        let name = text.get(range.clone()).unwrap_or_default();
        let latin = |one: Option<char>| one.is_some_and(|one| one.is_ascii_alphanumeric());
        let before = text.get(..range.start).unwrap_or_default();
        let after = text.get(range.end..).unwrap_or_default();
        let previous = before.chars().next_back();
        if name.chars().next().is_some_and(is_thai) {
            if name.chars().count() >= LONG_ENOUGH {
                return Some(100);
            }
            let free =
                |one: Option<char>| one.is_none_or(|one| !one.is_alphanumeric() && !is_thai(one));
            let cue = CUES.iter().any(|cue| before.trim_end().ends_with(cue));
            let said_of = free(previous) && VERBS.iter().any(|verb| after.starts_with(verb));
            let alone = free(previous) && free(after.chars().next());
            let meant = if cue || said_of || alone { 100 } else { UNCERTAIN };
            return whole.then_some(meant);
        }
        let mut following = after.chars();
        let next = following.next();
        let plural = next == Some('s') && !latin(following.next());
        // Two-letter codes and abbreviations are too frequent.
        let word = name.chars().count() >= 3 && !latin(previous) && (!latin(next) || plural);
        word.then_some(100)
    }

    /// Finds Latin words that are similar to a name.
    fn entries(&self, text: &str, tokens: &[Token], found: &mut Vec<(Range<usize>, usize, u8)>) {
        for token in tokens {
            let word = token.text(text);
            let letters = word.chars().count();
            if letters < GUESSED_LETTERS
                || found.iter().any(|(other, ..)| overlap(other, &token.range))
            {
                continue;
            }
            let first = word.chars().next().unwrap_or_default();
            let near = self.words.get(&first).into_iter().flatten().filter_map(|at| {
                let name = self.names.get(*at)?;
                let score = strsim::normalized_levenshtein(&name.spelling, word);
                (score >= MIN_SIMILARITY).then_some((score, *at))
            });
            if let Some((_, at)) = near.max_by(|one, other| one.0.total_cmp(&other.0)) {
                found.push((token.range.clone(), at, 75));
            }
        }
    }
}

impl Automaton {
    fn new(names: impl Iterator<Item = (usize, String)>) -> Result<Self, aho_corasick::BuildError> {
        let (names, patterns): (Vec<usize>, Vec<String>) = names.unzip();
        let find = AhoCorasick::builder().match_kind(MatchKind::Standard).build(patterns)?;
        Ok(Self { find, names })
    }

    fn all(&self, text: &str) -> impl Iterator<Item = (Range<usize>, usize)> {
        self.find.find_overlapping_iter(text).filter_map(|found| {
            let name = self.names.get(found.pattern().as_usize())?;
            Some((found.range(), *name))
        })
    }
}

/// Text without tone marks and spaces, with the origin of each letter.
struct ToneFreeText {
    letters: String,
    origins: Vec<(usize, usize)>,
}

impl ToneFreeText {
    fn of(text: &str) -> Self {
        let mut bare = Self { letters: String::with_capacity(text.len()), origins: Vec::new() };
        for (at, character) in text.char_indices() {
            let mut buffer = [0; 4];
            for letter in skeleton(character.encode_utf8(&mut buffer)).chars() {
                bare.letters.push(letter);
                let origin = (at, at + character.len_utf8());
                bare.origins.extend(std::iter::repeat_n(origin, letter.len_utf8()));
            }
        }
        bare
    }

    fn source(&self, range: &Range<usize>) -> Range<usize> {
        let start = self.origins.get(range.start).map_or(0, |origin| origin.0);
        let last = range.end.checked_sub(1).and_then(|last| self.origins.get(last));
        start..last.map_or(start, |origin| origin.1)
    }
}

/// Resolves overlaps to the longest match, then to the most certain.
fn longest(mut found: Vec<(Range<usize>, usize, u8)>) -> Vec<(Range<usize>, usize, u8)> {
    found.sort_by_key(|(range, name, certainty)| {
        (std::cmp::Reverse(range.len()), std::cmp::Reverse(*certainty), range.start, *name)
    });
    let mut selected: Vec<(Range<usize>, usize, u8)> = Vec::new();
    // Accepted ranges never overlap, so checking the neighbours is sufficient.
    let mut taken: BTreeMap<usize, usize> = BTreeMap::new();
    for candidate in found {
        let before = taken.range(..candidate.0.end).next_back();
        if before.is_none_or(|(_, end)| *end <= candidate.0.start) {
            taken.insert(candidate.0.start, candidate.0.end);
            selected.push(candidate);
        }
    }
    selected
}

/// Returns all spellings in the catalog.
pub fn spellings(catalog: &HerbCatalog) -> Vec<String> {
    names(catalog).into_iter().map(|name| name.spelling).collect()
}

/// Returns the distinct spellings with their nodes.
fn names(catalog: &HerbCatalog) -> Vec<Name> {
    let mut by_spelling: BTreeMap<String, BTreeSet<(NodeType, String)>> = BTreeMap::new();
    let mut put = |kind: NodeType, id: &str, name: &str| {
        let spelling = normalize(name).text().trim().to_owned();
        if spelling.chars().count() >= 2 {
            by_spelling.entry(spelling).or_default().insert((kind, id.to_owned()));
        }
    };
    for herb in &catalog.herbs {
        let synonyms = &herb.synonyms;
        let others = synonyms.th.iter().chain(&synonyms.romanised).chain(&synonyms.scientific);
        others.for_each(|name| put(NodeType::Herb, &herb.id, name));
        let binomial: Vec<&str> = herb.scientific.split_whitespace().take(2).collect();
        put(NodeType::Herb, &herb.id, &binomial.join(" "));
        put(NodeType::Herb, &herb.id, &herb.names.th);
        put(NodeType::Herb, &herb.id, before_bracket(&herb.names.en));
    }
    for one in &catalog.formulations {
        put(NodeType::Formulation, &one.id, &one.names.th);
        put(NodeType::Formulation, &one.id, before_bracket(&one.names.en));
    }
    for one in &catalog.constituents {
        put(NodeType::Constituent, &one.id, &one.names.th);
        put(NodeType::Constituent, &one.id, before_bracket(&one.names.en));
    }
    for one in &catalog.indications {
        one.names
            .th
            .split([' ', '(', ')', ',', '/'])
            .for_each(|name| put(NodeType::Indication, &one.id, name));
        put(NodeType::Indication, &one.id, before_bracket(&one.names.en));
    }
    for one in &catalog.cautions {
        put(NodeType::Caution, &one.code, &one.names.th);
        put(NodeType::Caution, &one.code, before_bracket(&one.names.en));
    }
    for drug in &catalog.drugs {
        put(NodeType::Drug, &drug.name, &drug.name);
        put(NodeType::Drug, &drug.name, &drug.names.th);
    }
    let kind_of = |id: &str| {
        let there = [
            (catalog.herb(id).is_some(), NodeType::Herb),
            (catalog.formulation(id).is_some(), NodeType::Formulation),
            (catalog.constituent(id).is_some(), NodeType::Constituent),
            (catalog.indication(id).is_some(), NodeType::Indication),
            (catalog.caution(id).is_some(), NodeType::Caution),
            (catalog.drug(id).is_some(), NodeType::Drug),
        ];
        there.into_iter().find(|(there, _)| *there).map(|(_, kind)| kind)
    };
    for alias in &catalog.aliases {
        if let Some(kind) = kind_of(&alias.id) {
            put(kind, &alias.id, &alias.alias);
        }
    }
    let each = by_spelling.into_iter().map(|(spelling, owners)| {
        // An ambiguous name is not certain evidence for any of its nodes.
        Name { spelling, owners: owners.into_iter().collect() }
    });
    each.filter(|name| name.owners.len() <= MAX_OWNERS).collect()
}

/// A name of more nodes than this is ignored.
const MAX_OWNERS: usize = 3;

fn before_bracket(name: &str) -> &str {
    name.split(['(', '[']).next().unwrap_or_default().trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(gazetteer: &Gazetteer, text: &str) -> Vec<String> {
        gazetteer.named(&normalize(text)).into_iter().map(|one| one.id).collect()
    }

    #[test]
    fn names_are_found_despite_font_and_ocr_damage() {
        let gazetteer = Gazetteer::new(&HerbCatalog::bundled().unwrap()).unwrap();
        let cases = [
            ("exactly", "ตำรับนี้มีขมิ้นชันเป็นหลัก", "H:turmeric"),
            ("without tone marks", "ตารับนี้มีขมินชันเปนหลัก", "H:turmeric"),
            ("by Latin name", "Rhizomes of Curcuma longa L. were dried.", "H:turmeric"),
            ("with a slip of the scanner", "the diterpene andrographo1ide was", ""),
            (
                "with a letter turned",
                "the diterpene andrographolidc was found",
                "C:andrographolide",
            ),
            ("in the plural", "anticoagulants should", "anticoagulants"),
            ("a medicine", "ผู้ที่ใช้วาร์ฟารินอยู่", "warfarin"),
            ("a caution", "ห้ามใช้ในหญิงตั้งครรภ์", "PREG"),
        ];
        for (how, text, expected) in cases {
            let found = ids(&gazetteer, text);
            assert!(
                expected.is_empty() || found.iter().any(|id| id == expected),
                "{how}: {text}: {found:?}"
            );
        }
    }

    #[test]
    fn short_name_inside_another_word_is_not_matched() {
        let gazetteer = Gazetteer::new(&HerbCatalog::bundled().unwrap()).unwrap();
        let catalog = HerbCatalog::bundled().unwrap();
        let herbs = |text: &str| -> Vec<String> {
            ids(&gazetteer, text).into_iter().filter(|id| catalog.herb(id).is_some()).collect()
        };
        for text in ["น้ำมันหอมระเหย", "ความขัดข้องทางเทคนิค", "gingerly stated", "the Clovers"]
        {
            assert_eq!(herbs(text), Vec::<String>::new(), "{text}");
        }
        assert!(herbs("เหง้าขิงสด").contains(&"H:ginger".to_owned()));
    }

    #[test]
    fn match_range_covers_the_name() {
        let gazetteer = Gazetteer::new(&HerbCatalog::bundled().unwrap()).unwrap();
        let text = normalize("ใช้ ขมิน ชัน แก้ท้องอืด");
        let found = gazetteer.named(&text);
        let turmeric = found.iter().find(|one| one.id == "H:turmeric").unwrap();
        assert_eq!(&text.text()[turmeric.range.clone()], "ขมิน ชัน");
        assert_eq!(turmeric.certainty, 90);
    }
}
