//! Search by meaning: concepts, companies and literal words in Thai and English.
//!
//! A query is split into the longest known phrases. Each concept and company narrows the result;
//! what is not known must occur in code, names, benchmark or master fund. A query that is nearly
//! the whole name of a fund finds that fund alone.

use crate::companies::{COMPANIES, CompanyNames};
use crate::concepts::{CONCEPTS, Concept, FundTexts, INDICES, WEAK, is_thai, mentions};
use crate::fund::Fund;
use crate::lookup::to_ascii_form;

/// Share of a fund's name, in percent, from which a query is taken to be that name.
const NAME_SHARE: usize = 75;

/// Words that every fund has or that carry no meaning here.
const STOP_WORDS: &[&str] = &[
    "rmf",
    "fund",
    "funds",
    "retirement",
    "mutual",
    "the",
    "in",
    "of",
    "and",
    "for",
    "with",
    "that",
    "which",
    "tracks",
    "track",
    "tracking",
    "follows",
    "follow",
    "invests in",
    "invest in",
    "invests",
    "invest",
    "แบบ",
    "ประเภท",
    "ของ",
    "ที่ลงทุนใน",
    "ที่ลงทุน",
    "กองทุนเปิด",
    "กองทุนรวม",
    "กองทุน",
    "เพื่อการเลี้ยงชีพ",
    "บลจ",
    "ลงทุนใน",
    "ลงทุน",
    "asset management",
];

/// Lower case, one blank for each run of punctuation, composed Thai vowels, ASCII digits.
pub fn normalised(text: &str) -> String {
    let composed = text.replace("\u{0E4D}\u{0E32}", "\u{0E33}");
    // The Thai sign of abbreviation, as in อสังหาฯ, is punctuation.
    let composed = composed.replace('\u{0E2F}', " ");
    let mut result = String::with_capacity(composed.len());
    for c in composed.chars().flat_map(|c| to_ascii_form(c).to_lowercase()) {
        if c.is_alphanumeric() || is_thai(c) {
            result.push(c);
        } else if !result.ends_with(' ') {
            result.push(' ');
        }
    }
    result
}

/// A fund's texts, normalised once.
#[derive(Clone, Debug)]
pub struct IndexedFund {
    texts: FundTexts,
    /// Names without the words that every fund has: English, Thai.
    bare: [String; 2],
    code: String,
    /// Names, benchmark and master fund without blanks, for literal words.
    squeezed: String,
    company: String,
}

impl IndexedFund {
    /// Normalises the texts of a fund.
    pub fn of(fund: &Fund) -> Self {
        let thai = fund.name_th.as_deref().unwrap_or_default();
        let names = normalised(&format!(" {} | {} | {thai} ", fund.symbol, fund.name));
        let benchmark = fund.benchmark.name.as_deref().unwrap_or_default();
        let master = fund.master_fund.as_deref().unwrap_or_default();
        let benchmark = normalised(&format!(" {benchmark} | {master} "));
        let code = squeezed(&fund.symbol);
        Self {
            bare: [bare(&fund.name), bare(thai)],
            squeezed: format!("{names}{benchmark}").replace(' ', ""),
            code,
            company: normalised(&fund.company.name),
            texts: FundTexts { names, benchmark },
        }
    }

    /// Whether the fund has a concept.
    pub fn has(&self, fund: &Fund, concept: &Concept) -> bool {
        concept.fits(fund, &self.texts)
    }

    /// Whether the company is meant by `text`: an alias, or the start of a word of its name.
    pub fn is_of_company(&self, text: &str) -> bool {
        let wanted = normalised(text);
        let wanted = wanted.trim();
        let wanted = wanted.strip_prefix("บลจ").unwrap_or(wanted).trim();
        let wanted = wanted.strip_prefix("กองทุน").unwrap_or(wanted).trim();
        let alias = COMPANIES.iter().find(|company| company.aliases.contains(&wanted));
        match alias {
            Some(company) => company.is(&self.company),
            None => {
                !wanted.is_empty() && format!(" {}", self.company).contains(&format!(" {wanted}"))
            }
        }
    }

    /// Whether `query` is the whole name in either language, or the code.
    pub fn is_named(&self, query: &str) -> bool {
        let wanted = bare(query);
        !wanted.is_empty() && self.bare.contains(&wanted)
    }

    /// Whether `query` covers most of a name.
    fn is_nearly_named(&self, query: &str) -> bool {
        self.bare
            .iter()
            .any(|name| name.contains(query) && query.len() * 100 >= name.len() * NAME_SHARE)
    }

    fn contains(&self, word: &str) -> bool {
        let tight = word.replace(' ', "");
        // Short words match whole words only: `us` is not part of `plus`.
        let long = tight.chars().count() >= 4;
        let thai = word.chars().any(is_thai);
        mentions(&self.texts.names, word)
            || mentions(&self.texts.benchmark, word)
            || self.code.starts_with(&tight)
            || (long && self.code.contains(&tight))
            || (thai && self.squeezed.contains(&tight))
            || (tight.len() >= 3 && starts_a_word(&self.texts.names, word))
            || (long && word.len() > 4 && self.squeezed_names_contain(&tight))
    }

    /// `csi300` in `CSI 300`: words written together. Only at the start of a word.
    fn squeezed_names_contain(&self, tight: &str) -> bool {
        let words: Vec<&str> = self.texts.names.split_whitespace().collect();
        (0..words.len())
            .any(|at| words.get(at..).is_some_and(|rest| rest.concat().starts_with(tight)))
    }
}

fn starts_a_word(names: &str, word: &str) -> bool {
    let word = word.trim_end_matches('s');
    word.len() >= 3 && names.contains(&format!(" {word}"))
}

fn squeezed(text: &str) -> String {
    normalised(text).replace(' ', "")
}

/// A name without the words that every fund has.
fn bare(name: &str) -> String {
    let mut text = normalised(name);
    for word in ["กองทุนเปิด", "เพื่อการเลี้ยงชีพ"]
    {
        text = text.replace(word, "");
    }
    let stop = ["rmf", "fund", "retirement", "mutual"];
    let words: Vec<&str> = text.split_whitespace().filter(|word| !stop.contains(word)).collect();
    words.join(" ")
}

/// Meaning of a part of a query.
#[derive(Clone, Debug)]
enum Unit {
    Concept { concept: &'static Concept, word: &'static str },
    Company(&'static CompanyNames),
    Literal(String),
}

/// A query, split into its parts.
#[derive(Clone, Debug)]
pub struct ParsedQuery {
    raw: String,
    bare: String,
    /// Number of parts before those without meaning here were dropped.
    parts: usize,
    units: Vec<Unit>,
}

impl ParsedQuery {
    /// Splits a query.
    pub fn new(text: &str) -> Self {
        let normal = normalised(text);
        let mut units = Vec::new();
        let mut rest = normal.trim();
        while !rest.is_empty() {
            let (unit, length) = next_unit(rest);
            units.extend(unit);
            rest = rest.get(length..).unwrap_or_default().trim_start();
        }
        let parts = units.len();
        let weak = |unit: &Unit| matches!(unit, Unit::Concept { concept, .. } if WEAK.contains(&concept.name));
        if units.iter().any(|unit| !weak(unit) && !matches!(unit, Unit::Company(_))) {
            units.retain(|unit| !weak(unit));
        }
        let named = |unit: &Unit, names: &[&str]| matches!(unit, Unit::Concept { concept, .. } if names.contains(&concept.name));
        if units.iter().any(|unit| named(unit, INDICES)) {
            units.retain(|unit| !named(unit, &["index"]));
        }
        Self { raw: text.trim().to_lowercase(), bare: bare(text), parts, units }
    }

    /// Names of the concepts and companies that were recognised.
    pub fn understood(&self) -> Vec<&'static str> {
        let name = |unit: &Unit| match unit {
            Unit::Concept { concept, .. } => Some(concept.name),
            Unit::Company(company) => Some(company.registered),
            Unit::Literal(_) => None,
        };
        self.units.iter().filter_map(name).collect()
    }

    /// The funds that fit, in the given order.
    pub fn find<'a>(&self, funds: &[(&'a Fund, &IndexedFund)]) -> Vec<&'a Fund> {
        let only = |fits: &dyn Fn(&Fund, &IndexedFund) -> bool| -> Vec<&'a Fund> {
            funds.iter().filter(|(fund, index)| fits(fund, index)).map(|(fund, _)| *fund).collect()
        };
        // `(A)` and `25/75` are parts of codes, `GOLD-RMF` the beginning of one.
        if self.raw.contains(['(', ')', '/', '-']) {
            let part = only(&|fund, _| {
                let code = fund.symbol.to_lowercase();
                code.starts_with(&self.raw) || !self.raw.contains('-') && code.contains(&self.raw)
            });
            if !part.is_empty() {
                return part;
            }
        }
        let code = self.bare.replace(' ', "");
        // A query of concepts alone, `global infrastructure`, asks for all such funds, though it
        // may be most of the name of one.
        let topical = self.units.iter().all(|unit| matches!(unit, Unit::Concept { .. }));
        let named = only(&|fund, index| {
            let near = !topical && self.parts > 1 && index.is_nearly_named(&self.bare);
            near || index.is_named(&self.bare) && self.parts > 1 || fund.symbol == self.bare
        });
        if !named.is_empty() {
            return named;
        }
        let found = only(&|fund, index| self.fits(fund, index));
        if !found.is_empty() || code.len() < 4 {
            return found;
        }
        only(&|_, index| index.code.contains(&code))
    }

    fn fits(&self, fund: &Fund, index: &IndexedFund) -> bool {
        !self.units.is_empty()
            && self.units.iter().all(|unit| match unit {
                // The contract asks for words of the name, so that `equity` alone, a word of many
                // names, finds those names.
                Unit::Concept { concept, word }
                    if WEAK.contains(&concept.name) && word.is_ascii() =>
                {
                    mentions(&index.texts.names, word) || index.code.contains(word)
                }
                Unit::Concept { concept, word } => {
                    index.has(fund, concept)
                        || (word.is_ascii() && mentions(&index.texts.names, word))
                }
                Unit::Company(company) => company.is(&index.company),
                Unit::Literal(word) => index.contains(word),
            })
    }
}

/// The longest known phrase at the start of `rest`, or a literal word, and its length in bytes.
fn next_unit(rest: &str) -> (Option<Unit>, usize) {
    let known = longest_phrase(rest);
    if let Some((unit, length)) = known {
        return (unit, length);
    }
    let first_thai = rest.chars().next().is_some_and(is_thai);
    let mut end = rest.len();
    for (at, c) in rest.char_indices().skip(1) {
        let other = c == ' ' || is_thai(c) != first_thai;
        let phrase =
            first_thai && rest.get(at..).is_some_and(|tail| longest_phrase(tail).is_some());
        if other || phrase {
            end = at;
            break;
        }
    }
    (rest.get(..end).map(|word| Unit::Literal(word.to_owned())), end)
}

fn longest_phrase(rest: &str) -> Option<(Option<Unit>, usize)> {
    let mut best: Option<(Option<Unit>, usize)> = None;
    let mut offer = |phrase: &str, unit: Option<Unit>| {
        let longer = best.as_ref().is_none_or(|(_, length)| phrase.len() > *length);
        if longer && begins_with(rest, phrase) {
            best = Some((unit, phrase.len()));
        }
    };
    for concept in CONCEPTS {
        for word in concept.words {
            offer(word, Some(Unit::Concept { concept, word }));
        }
    }
    for company in COMPANIES {
        for alias in company.aliases {
            offer(alias, Some(Unit::Company(company)));
        }
    }
    for word in STOP_WORDS {
        offer(word, None);
    }
    best
}

/// Whether `rest` begins with a phrase that ends at a word boundary.
fn begins_with(rest: &str, phrase: &str) -> bool {
    rest.strip_prefix(phrase).is_some_and(|tail| {
        let ascii = phrase.chars().next_back().is_some_and(|c| c.is_ascii_alphanumeric());
        !ascii || !tail.chars().next().is_some_and(|c| c.is_ascii_alphanumeric())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_normalised_to_one_spelling() {
        let cases = [
            ("ทองคํา", "ทองคำ"),
            ("S&P 500", "s p 500"),
            ("U.S.", "u s "),
            ("KT๒๕/๗๕", "kt25 75"),
            ("  Small-Mid  Cap", " small mid cap"),
        ];
        for (text, expected) in cases {
            assert_eq!(normalised(text), expected, "{text}");
        }
    }

    #[test]
    fn query_is_split_into_the_longest_known_phrases() {
        let cases: [(&str, &[&str]); 6] = [
            ("กองทุนหุ้นโลก", &["global"]),
            ("ทองคำ กรุงศรี", &["gold", "krungsri"]),
            ("หุ้นเวียดนาม กสิกร", &["vietnam", "kasikorn"]),
            ("Japanese equity", &["japan"]),
            ("ไม่ป้องกันความเสี่ยงค่าเงิน", &["unhedged"]),
            ("pokemon", &[]),
        ];
        for (query, expected) in cases {
            assert_eq!(ParsedQuery::new(query).understood(), expected, "{query}");
        }
    }
}
