//! Search by meaning: concepts, companies and literal words in Thai and English.
//!
//! [`ParsedQuery`] says what a query means, [`IndexedFund`] whether a fund fits.

mod parse;
mod phrases;
mod risk_words;

pub use self::parse::ParsedQuery;
use crate::companies::COMPANIES;
use crate::concepts::{Concept, FundTexts, is_thai, mentions};
use crate::fund::Fund;
use crate::lookup::to_ascii_form;

/// Share of a fund's name, in percent, from which a query is taken to be that name.
const NAME_SHARE: usize = 75;

/// Lower case, one blank for each run of punctuation and between Thai and other letters or digits,
/// composed Thai vowels, ASCII digits.
pub fn normalised(text: &str) -> String {
    let composed = text.replace("\u{0E4D}\u{0E32}", "\u{0E33}");
    // The Thai sign of abbreviation, as in อสังหาฯ, is punctuation.
    let composed = composed.replace('\u{0E2F}', " ");
    let mut result = String::with_capacity(composed.len());
    for c in composed.chars().flat_map(|c| to_ascii_form(c).to_lowercase()) {
        if c.is_alphanumeric() || is_thai(c) {
            let before = result.chars().next_back();
            if before.is_some_and(|before| before != ' ' && is_thai(before) != is_thai(c)) {
                result.push(' ');
            }
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
        let wanted = without_kind(wanted.strip_prefix("กองทุน").unwrap_or(wanted).trim());
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

/// A company's name without the words that say that it is a company.
fn without_kind(name: &str) -> &str {
    let kinds =
        ["asset management", "asset", "management", "am", "limited", "company", "bank", "จำกัด"];
    let shorter = kinds.iter().find_map(|kind| name.strip_suffix(kind)?.strip_suffix(' '));
    match shorter {
        Some(shorter) if !COMPANIES.iter().any(|company| company.aliases.contains(&name)) => {
            without_kind(shorter.trim_end())
        }
        _ => name,
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
            ("เซ็ต50", "เซ็ต 50"),
        ];
        for (text, expected) in cases {
            assert_eq!(normalised(text), expected, "{text}");
        }
    }
}
