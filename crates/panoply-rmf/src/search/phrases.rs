//! Splits a normalised query into the longest known phrases: concepts, companies, risk levels and
//! words without meaning here.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::risk_words::{RiskRange, risk_range};
use super::without_tones;
use crate::companies::{COMPANIES, CompanyNames};
use crate::concepts::{Concept, concepts, is_thai};

/// Words that every fund has or that carry no meaning here.
#[rustfmt::skip]
const STOP_WORDS: &[&str] = &[
    "rmf", "rmfs", "fund", "funds", "retirement", "mutual", "the", "a", "an", "in", "of", "and", "for",
    "with", "that", "which", "what", "are", "is", "there", "any", "some", "someone", "somebody", "me",
    "my", "i", "we", "you", "do", "does", "have", "has", "can", "could", "should", "would", "please",
    "want", "want to", "need", "would like", "i would like", "looking for", "looking", "give", "show",
    "find", "list", "search", "to", "on", "at", "by", "from", "into", "tracks", "track", "tracking",
    "follows", "follow", "invests in", "invest in", "invests", "invest", "investing", "investing in",
    "investment", "investments", "investor", "investors", "buy", "buys", "buying", "holds", "hold",
    "company", "companies", "firms", "businesses", "listed", "listed in", "exposed to", "but", "also",
    "only", "related", "linked", "retiring", "retire", "people",
    "best", "cheap", "cheapest", "low cost", "lowest cost", "low fee", "low fees", "lowest fee",
    "lowest fees", "fee", "fees", "expense ratio", "price", "prices", "benchmark", "like", "compliant",
    "focused", "focus on", "exposure", "exposure to", "themed", "theme", "sector", "sectors", "industry",
    "class", "asset management", "management", "etf", "etfs", "bank", "parking", "park",
    "แบบ", "ประเภท", "ของ", "ที่ลงทุนใน", "ที่ลงทุน", "กองทุนเปิด", "กองทุนรวม", "กองทุน", "กอง",
    "เพื่อการเลี้ยงชีพ", "บลจ", "ลงทุนใน", "ลงทุน", "ที่", "ใน", "และ", "กับ", "มี", "อยาก", "ซื้อ", "ไหน", "บ้าง",
    "อะไรบ้าง", "อะไร", "ทั้งหมด", "แนะนำ", "ดีที่สุด", "น่าสนใจ", "เกี่ยวกับ", "กลุ่ม", "ธีม", "ราคา",
    "ค่าธรรมเนียมต่ำ", "ค่าธรรมเนียมถูก", "ค่าธรรมเนียมต่ำสุด", "ค่าธรรมเนียม", "ดัชนีชี้วัด", "ชนิด",
    "อยากได้", "อยากลงทุน", "อยากซื้อ", "ขอ", "ขอดู", "ช่วย", "ช่วยหา", "หา", "ค้นหา", "ต้องการ", "สนใจ", "เน้น",
    "เน้นลงทุน", "เน้นลงทุนใน", "ครับ", "ค่ะ", "คะ", "หน่อย", "ด้วย", "ไหม", "มั้ย", "ได้ไหม", "ตัวไหน", "ตัวไหนดี",
    "กองไหน", "กองไหนดี", "มีกองไหน", "มีกองไหนบ้าง", "สำหรับ", "คนที่", "เลือก", "ธนาคาร", "แบงก์", "แบงค์",
    "บริษัท", "ตลาดหุ้น", "อุตสาหกรรม", "ในประเทศ", "ประเทศ",
];

/// Words before what must not fit.
const EXCLUDING: &[&str] = &[
    "ex",
    "excluding",
    "excludes",
    "exclude",
    "except",
    "except for",
    "without",
    "not",
    "no",
    "non",
    "other than",
    "ไม่รวม",
    "ยกเว้น",
    "ไม่เอา",
    "ที่ไม่ใช่",
    "ไม่ใช่",
];

/// Words between alternatives.
const OR: &[&str] = &["or", "หรือ"];

/// Other kinds of tax-favoured funds. No RMF is one, so they are never dropped as unknown words.
pub(super) const OTHER_PRODUCTS: &[&str] = &["ssf", "ltf", "esgx", "ssfx"];

/// Fewest characters of a Thai phrase without meaning that ends an unknown Thai word.
const MIN_BREAKING_STOP_WORD: usize = 4;

/// Meaning of a part of a query.
#[derive(Clone, Debug)]
pub(super) enum Unit {
    Concept {
        concept: &'static Concept,
        word: &'static str,
    },
    Company(&'static CompanyNames),
    Risk(RiskRange),
    Literal(String),
    /// What follows must not fit.
    Excluding,
    /// What stands on either side is enough.
    Or,
}

/// Splits a normalised text.
pub(super) fn units(normal: &str) -> Vec<Unit> {
    let mut units = Vec::new();
    let mut rest = normal.trim();
    while !rest.is_empty() {
        let (unit, length) = next_unit(rest);
        units.extend(unit);
        rest = rest.get(length..).unwrap_or_default().trim_start();
    }
    units
}

/// The longest known phrase at the start of `rest`, or a literal word, and its length in bytes.
fn next_unit(rest: &str) -> (Option<Unit>, usize) {
    if let Some((range, length)) = risk_range(rest) {
        return (Some(Unit::Risk(range)), length);
    }
    if let Some((unit, length)) = longest_phrase(rest) {
        return (unit, length);
    }
    let first_thai = rest.chars().next().is_some_and(is_thai);
    let breaks = |tail: &str| match longest_phrase(tail) {
        Some((Some(_), _)) => true,
        Some((None, length)) => tail
            .get(..length)
            .is_some_and(|phrase| phrase.chars().count() >= MIN_BREAKING_STOP_WORD),
        None => false,
    };
    let mut end = rest.len();
    for (at, c) in rest.char_indices().skip(1) {
        let phrase = first_thai && rest.get(at..).is_some_and(breaks);
        if c == ' ' || is_thai(c) != first_thai || phrase {
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
    for concept in concepts() {
        for word in concept.words {
            offer(word, Some(Unit::Concept { concept, word }));
        }
    }
    for company in COMPANIES {
        for alias in company.aliases {
            offer(alias, Some(Unit::Company(company)));
        }
    }
    STOP_WORDS.iter().for_each(|word| offer(word, None));
    EXCLUDING.iter().for_each(|word| offer(word, Some(Unit::Excluding)));
    OR.iter().for_each(|word| offer(word, Some(Unit::Or)));
    best
}

/// Whether `rest` begins with a phrase that ends at a word boundary.
pub(super) fn begins_with(rest: &str, phrase: &str) -> bool {
    rest.strip_prefix(phrase).is_some_and(|tail| {
        let ascii = phrase.chars().next_back().is_some_and(|c| c.is_ascii_alphanumeric());
        !ascii || !tail.chars().next().is_some_and(|c| c.is_ascii_alphanumeric())
    })
}

/// Edits that are taken as a slip of a word of this many letters.
fn most_edits(letters: usize) -> Option<usize> {
    match letters {
        0..5 => None,
        5..9 => Some(1),
        _ => Some(2),
    }
}

/// The concept or company whose word is nearest to a misspelt one. Thai tone marks do not count.
pub(super) fn corrected(word: &str) -> Option<Unit> {
    let of_concepts = concepts().flat_map(|concept| {
        concept.words.iter().map(move |word| (*word, Unit::Concept { concept, word }))
    });
    let of_companies = COMPANIES.iter().flat_map(|company| {
        company.aliases.iter().map(move |alias| (*alias, Unit::Company(company)))
    });
    nearest(word, of_concepts.chain(of_companies))
}

/// The company whose name is nearest to a misspelt one.
pub(super) fn corrected_company(name: &str) -> Option<&'static CompanyNames> {
    let aliases = COMPANIES
        .iter()
        .flat_map(|company| company.aliases.iter().map(move |alias| (*alias, company)));
    nearest(name, aliases)
}

/// What belongs to the nearest of the known words that is near enough.
fn nearest<T>(word: &str, known: impl Iterator<Item = (&'static str, T)>) -> Option<T> {
    let word = without_tones(word);
    let most = most_edits(word.chars().count())?;
    known
        .filter_map(|(known, meaning)| {
            let known = without_tones(known);
            most_edits(known.chars().count()).filter(|_| !known.contains(' '))?;
            let distance = strsim::osa_distance(&word, &known);
            (distance <= most).then_some((distance, meaning))
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, meaning)| meaning)
}

/// The English word of a known phrase that is nearest to a misspelt one: `government` alone is no
/// phrase, but part of `government bond`.
pub(super) fn respelt(word: &str) -> Option<&'static str> {
    let of_concepts = concepts().flat_map(|concept| concept.words.iter());
    let of_companies = COMPANIES.iter().flat_map(|company| company.aliases.iter());
    let words =
        of_concepts.chain(of_companies).chain(STOP_WORDS).flat_map(|phrase| phrase.split(' '));
    let known = words.filter(|known| known.is_ascii());
    nearest(word, known.map(|known| (known, known)))
}

/// Whether a word is part of a known phrase.
pub(super) fn is_known_word(word: &str) -> bool {
    static KNOWN: LazyLock<HashSet<&str>> = LazyLock::new(|| {
        let of_concepts = concepts().flat_map(|concept| concept.words.iter());
        let of_companies = COMPANIES.iter().flat_map(|company| company.aliases.iter());
        let others = STOP_WORDS.iter().chain(EXCLUDING).chain(OR);
        let phrases = of_concepts.chain(of_companies).chain(others);
        phrases.flat_map(|phrase| phrase.split(' ')).collect()
    });
    KNOWN.contains(word)
}
