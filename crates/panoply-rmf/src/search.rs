//! Search by meaning: concepts, companies and literal words in Thai and English.
//!
//! [`ParsedQuery`] says what a query means, [`IndexedFund`] whether a fund fits.

mod parse;
mod phrases;
mod risk_words;

pub use self::parse::ParsedQuery;
use self::phrases::corrected_company;
use crate::companies::{COMPANIES, CompanyNames};
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
    /// The same without the company at their beginning.
    short: [String; 2],
    code: String,
    /// Names, benchmark and master fund without blanks and Thai tone marks, for Thai words.
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
        let company = normalised(&fund.company.name);
        let full = [bare(&fund.name), bare(thai)];
        Self {
            short: full.clone().map(|name| without_company(&name, &company).to_owned()),
            bare: full,
            squeezed: without_tones(&format!("{names}{benchmark}").replace(' ', "")),
            code,
            company,
            texts: FundTexts { names, benchmark },
        }
    }

    /// Whether the fund has a concept.
    pub fn has(&self, fund: &Fund, concept: &Concept) -> bool {
        concept.fits(fund, &self.texts)
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
            .chain(&self.short)
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
            || (thai && self.squeezed.contains(&without_tones(&tight)))
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

/// The company that a caller names in a filter.
#[derive(Clone, Debug)]
pub struct CompanyFilter {
    company: Option<&'static CompanyNames>,
    /// Start of a word of the registered name, for companies without other names.
    words: String,
}

impl CompanyFilter {
    /// Reads a name: an alias, also misspelt, or words of the registered name. Legal forms do not
    /// count.
    pub fn new(text: &str) -> Self {
        let words = normalised(text);
        let words = words.trim();
        let alias = |name: &str| COMPANIES.iter().find(|company| company.aliases.contains(&name));
        let short = without_kind(words);
        let registered = COMPANIES.iter().any(|company| company.registered.starts_with(short));
        let company = alias(words).or_else(|| alias(short));
        let company = company.or_else(|| {
            let slip = !registered && !short.is_empty();
            slip.then(|| corrected_company(short)).flatten()
        });
        Self { company, words: short.to_owned() }
    }

    /// Whether the company manages a fund.
    pub fn fits(&self, fund: &IndexedFund) -> bool {
        match self.company {
            Some(company) => company.is(&fund.company),
            None => {
                let starts = format!(" {}", self.words);
                !self.words.is_empty() && format!(" {}", fund.company).contains(&starts)
            }
        }
    }
}

/// Words around a company's name that say what kind of company it is.
#[rustfmt::skip]
const KINDS: &[&str] = &[
    "asset management", "fund management", "asset", "management", "am", "limited", "company", "co", "ltd",
    "public", "pcl", "plc", "bank", "thailand", "จำกัด", "มหาชน", "ประเทศไทย", "บริษัท", "หลักทรัพย์จัดการกองทุน",
    "บริษัทหลักทรัพย์จัดการกองทุน", "บลจ", "กองทุน", "ธนาคาร", "แบงก์", "แบงค์",
];

/// A company's name without its kind, unless the kind is part of the name.
fn without_kind(name: &str) -> &str {
    if COMPANIES.iter().any(|company| company.aliases.contains(&name)) {
        return name;
    }
    let thai = |kind: &str| kind.chars().any(is_thai);
    let shorter = KINDS.iter().find_map(|kind| {
        let tail = name.strip_suffix(kind);
        let tail = tail.filter(|rest| thai(kind) || rest.ends_with(' '));
        tail.or_else(|| name.strip_prefix(kind).filter(|_| thai(kind)))
    });
    match shorter.map(str::trim) {
        Some(shorter) if !shorter.is_empty() => without_kind(shorter),
        _ => name,
    }
}

/// A name without the company at its beginning.
fn without_company<'a>(name: &'a str, registered: &str) -> &'a str {
    let Some(company) = CompanyNames::of(registered) else { return name };
    let rest = company.aliases.iter().filter_map(|alias| name.strip_prefix(alias));
    rest.min_by_key(|rest| rest.len()).map_or(name, str::trim_start)
}

/// A text without Thai tone marks and the signs that people leave out or confuse with them.
pub(crate) fn without_tones(text: &str) -> String {
    text.chars().filter(|c| !('\u{0E47}'..='\u{0E4C}').contains(c)).collect()
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
    fn companies_are_known_by_legal_forms_banks_and_slips() {
        let cases = [
            ("Principal Asset Management Co., Ltd.", Some("principal")),
            ("บริษัทหลักทรัพย์จัดการกองทุน บัวหลวง จำกัด", Some("bbl")),
            ("บลจ.ยูโอบี (ประเทศไทย)", Some("uob")),
            ("ธนาคารกรุงไทย", Some("krung thai")),
            ("ธนาคารกรุงเทพ", Some("bbl")),
            ("Kasikornbank", Some("kasikorn")),
            ("Kasikron", Some("kasikorn")), // typos:ignore
            ("ทาริส", Some("talis")),
            ("Bank", None),
        ];
        for (text, expected) in cases {
            let found = CompanyFilter::new(text).company.map(|company| company.registered);
            assert_eq!(found, expected, "{text}");
        }
    }

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
