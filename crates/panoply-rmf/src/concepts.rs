//! Investment concepts in Thai and English: what a word of a query means and which funds it fits.
//!
//! A fund has a concept by its AIMC class, its SEC policy, or words of its names or benchmark. English
//! words match whole words; Thai has no blanks between words and matches anywhere.

mod assets;
mod elsewhere;
mod niches;
mod regions;
mod styles;
mod themes;

use self::assets::ASSETS;
use self::elsewhere::ELSEWHERE;
use self::niches::NICHES;
use self::regions::REGIONS;
use self::styles::STYLES;
pub use self::styles::{ABROAD, WORLDWIDE};
use self::themes::THEMES;
use crate::fund::Fund;

/// SEC policy of a fund (`policy_desc`).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Policy {
    /// ตราสารทุน.
    Equity,
    /// ตราสารหนี้.
    Bond,
    /// ผสม.
    Mixed,
    /// ทรัพย์สินทางเลือก.
    Alternative,
}

impl Policy {
    /// The policy of a fund, if the SEC states one.
    pub fn of(fund: &Fund) -> Option<Self> {
        match fund.policy_th.as_deref()?.trim() {
            "ตราสารทุน" => Some(Self::Equity),
            "ตราสารหนี้" => Some(Self::Bond),
            "ผสม" => Some(Self::Mixed),
            "ทรัพย์สินทางเลือก" => Some(Self::Alternative),
            _ => None,
        }
    }
}

/// A concept.
#[derive(Debug)]
pub struct Concept {
    /// Name, unique.
    pub name: &'static str,
    /// Words of queries, normalised.
    pub words: &'static [&'static str],
    /// AIMC classes or compare codes; a trailing `*` matches any ending.
    codes: &'static [&'static str],
    /// Words of names, normalised.
    names: &'static [&'static str],
    /// Words of names that exclude the fund.
    not: &'static [&'static str],
    /// Words of benchmarks, normalised.
    benchmarks: &'static [&'static str],
    /// Policy that names and benchmarks need.
    within: Option<Policy>,
    /// Policy that is enough by itself.
    policy: Option<Policy>,
    /// AIMC class of a fund that has no class but this concept; empty for none.
    pub class: &'static str,
}

const BASE: Concept = Concept {
    name: "",
    words: &[],
    codes: &[],
    names: &[],
    not: &[],
    benchmarks: &[],
    within: None,
    policy: None,
    class: "",
};

/// All concepts. For a class the first match decides, so themes precede regions and regions precede
/// the kind of asset.
pub fn concepts() -> impl Iterator<Item = &'static Concept> {
    let of_class = THEMES.iter().chain(REGIONS).chain(ASSETS);
    of_class.chain(STYLES).chain(NICHES).chain(ELSEWHERE)
}

/// The concept of a name.
pub fn concept(name: &str) -> Option<&'static Concept> {
    concepts().find(|concept| concept.name == name)
}

/// Concepts that only name the kind of asset: beside another concept they add nothing, because a
/// Japanese equity fund may have a mixed policy.
pub const WEAK: &[&str] = &["equity"];

/// Concepts that are an index: beside them the word `index` adds nothing.
pub const INDICES: &[&str] = &["s&p 500", "nasdaq", "set50", "set100", "set index", "msci acwi"];

/// Concepts of style, first the one that is given up first when no fund has all parts of a query.
pub const STYLES_GIVEN_UP: &[&str] =
    &["index", "active", "growth", "quality", "large cap", "allocation", "worldwide", "global"];

/// Concepts of assets that are no shares: beside them `thai` means invested in Thailand.
pub const OTHER_ASSETS: &[&str] = &[
    "bonds",
    "government bonds",
    "short-term bonds",
    "medium-term bonds",
    "long-term bonds",
    "money market",
    "property",
    "infrastructure",
    "mixed",
    "balanced",
    "flexible",
    "allocation",
    "aggregate bonds",
    "conservative allocation",
    "moderate allocation",
    "aggressive allocation",
];

/// Normalised texts of a fund that concepts are matched against.
#[derive(Clone, Debug)]
pub struct FundTexts {
    /// Code, English and Thai name, each between blanks.
    pub names: String,
    /// Benchmark between blanks.
    pub benchmark: String,
}

impl Concept {
    /// Whether a fund has the concept.
    pub fn fits(&self, fund: &Fund, texts: &FundTexts) -> bool {
        let policy = Policy::of(fund);
        if self.policy.is_some() && policy == self.policy {
            return true;
        }
        if self.is_ruled_out(texts) {
            return false;
        }
        let codes = [fund.classification.as_deref(), fund.compare_code.as_deref()];
        let has_code = |wanted: &str| {
            codes.iter().flatten().any(|code| match wanted.strip_suffix('*') {
                Some(prefix) => code.starts_with(prefix),
                None => *code == wanted,
            })
        };
        if self.codes.iter().any(|wanted| has_code(wanted)) {
            return true;
        }
        if self.within.is_some() && policy != self.within {
            return false;
        }
        self.names.iter().any(|words| mentions(&texts.names, words))
            || self.benchmarks.iter().any(|words| mentions(&texts.benchmark, words))
    }

    /// Whether the name says that the fund lacks the concept, as `ex China` does.
    pub fn is_ruled_out(&self, texts: &FundTexts) -> bool {
        self.not.iter().any(|words| mentions(&texts.names, words))
    }
}

/// Whether a normalised text contains words: whole words in English, anywhere in Thai.
pub fn mentions(text: &str, words: &str) -> bool {
    text.match_indices(words).any(|(at, _)| {
        let before = text.get(..at).and_then(|text| text.chars().next_back());
        let after = text.get(at + words.len()..).and_then(|text| text.chars().next());
        let joins = |edge: Option<char>, own: Option<char>| {
            edge.is_some_and(|c| c.is_ascii_alphanumeric())
                && own.is_some_and(|c| c.is_ascii_alphanumeric())
        };
        !joins(before, words.chars().next()) && !joins(after, words.chars().next_back())
    })
}

/// Whether a character is Thai.
pub fn is_thai(c: char) -> bool {
    ('\u{0E00}'..='\u{0E7F}').contains(&c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn english_words_match_whole_words_and_thai_anywhere() {
        assert!(mentions(" krungsri us equity ", "us"));
        assert!(!mentions(" k wealthplus trust ", "us"));
        assert!(mentions("กรุงศรีโกลด์", "โกลด์"));
        assert!(!mentions(" unhedged ", "hedged"));
        assert!(mentions("ทิสโก้ ai big data", "ai"));
        assert!(!mentions("krung thai", "ai"));
    }

    #[test]
    fn concept_names_and_query_words_are_unique() {
        let mut seen = std::collections::BTreeSet::new();
        for concept in concepts() {
            assert!(seen.insert(concept.name), "{}", concept.name);
            for word in concept.words {
                assert!(seen.insert(word) || *word == concept.name, "{word}");
                assert_eq!(crate::search::normalised(word).trim(), *word);
            }
        }
    }
}
