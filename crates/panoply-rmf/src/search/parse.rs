//! What a query means: its parts, which of them narrow the result, and the funds that fit.
//!
//! Each concept, company and risk level narrows the result; another word must occur in code, names,
//! benchmark or master fund. A word that no fund has is taken as misspelt, else dropped and reported.
//! When no fund has all parts, other words and then parts of style are given up and reported too.
//! A query that is nearly the whole name of a fund finds that fund alone.

use super::phrases::{OTHER_PRODUCTS, Unit, corrected, is_known_word, respelt, units};
use super::{IndexedFund, bare, normalised};
use crate::concepts::{
    ABROAD, INDICES, OTHER_ASSETS, STYLES_GIVEN_UP, WEAK, WORLDWIDE, concept, mentions,
};
use crate::fund::{Fund, RiskLevel};

/// A part of a query that a fund must fit, or must not.
#[derive(Clone, Debug)]
struct Condition {
    /// One of them is enough.
    units: Vec<Unit>,
    excluded: bool,
}

/// A query, split into its parts.
#[derive(Clone, Debug)]
pub struct ParsedQuery {
    raw: String,
    bare: String,
    /// Number of parts before those without meaning here were dropped.
    parts: usize,
    units: Vec<Unit>,
    dropped: Vec<String>,
}

impl ParsedQuery {
    /// Splits a query, and corrects or drops words that none of the funds has.
    pub fn new(text: &str, all: &[(&Fund, &IndexedFund)]) -> Self {
        let units = units(&spelt_right(&normalised(&signs_spelt_out(text)), all));
        let parts = units.len();
        let (units, dropped) = known(units, all);
        let units = narrowed(units);
        Self { raw: text.trim().to_lowercase(), bare: bare(text), parts, units, dropped }
    }

    /// The query itself when some fund has all its parts; else without words, and then without parts
    /// of style, that leave no fund.
    pub fn widened(self, all: &[(&Fund, &IndexedFund)]) -> Self {
        let topic = |unit: &Unit| matches!(unit, Unit::Concept { .. }) && !named(unit, WEAK);
        let several = self.units.iter().filter(|unit| !named(unit, WEAK)).count() > 1;
        if !several || !self.units.iter().any(topic) || !self.find(all).is_empty() {
            return self;
        }
        let mut wider = self.clone();
        wider.give_up(|unit| match unit {
            Unit::Literal(word) => !OTHER_PRODUCTS.contains(&word.as_str()),
            _ => false,
        });
        for style in STYLES_GIVEN_UP {
            if !wider.find(all).is_empty() {
                return wider;
            }
            wider.give_up(|unit| named(unit, &[style]));
        }
        if wider.find(all).is_empty() { self } else { wider }
    }

    /// Drops parts, unless no topic would be left.
    fn give_up(&mut self, which: impl Fn(&Unit) -> bool) {
        let topic = |unit: &&Unit| matches!(unit, Unit::Concept { .. }) && !named(unit, WEAK);
        if !self.units.iter().filter(|unit| !which(unit)).any(|unit| topic(&unit)) {
            return;
        }
        for unit in &self.units {
            match unit {
                Unit::Literal(word) if which(unit) => self.dropped.push(word.clone()),
                Unit::Concept { word, .. } if which(unit) => self.dropped.push((*word).to_owned()),
                _ => {}
            }
        }
        self.units.retain(|unit| !which(unit));
    }

    /// Words that no fund has and that were left out.
    pub fn dropped(&self) -> &[String] {
        &self.dropped
    }

    /// Names of the concepts and companies that were recognised.
    pub fn understood(&self) -> Vec<&'static str> {
        let name = |unit: &Unit| match unit {
            Unit::Concept { concept, .. } => Some(concept.name),
            Unit::Company(company) => Some(company.registered),
            Unit::Risk(_) | Unit::Literal(_) | Unit::Excluding | Unit::Or => None,
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
        let conditions = self.conditions();
        let found = only(&|fund, index| self.fits(&conditions, fund, index));
        if !found.is_empty() || code.len() < 4 {
            return found;
        }
        only(&|_, index| index.code.contains(&code))
    }

    /// The parts as conditions: `or` joins its neighbours, `excluding` turns the next one round.
    fn conditions(&self) -> Vec<Condition> {
        let mut conditions: Vec<Condition> = Vec::new();
        let (mut joins, mut excluded) = (false, false);
        for unit in &self.units {
            match (unit, conditions.last_mut()) {
                (Unit::Or, _) => joins = true,
                (Unit::Excluding, _) => excluded = true,
                (unit, Some(last)) if joins => {
                    last.units.push(unit.clone());
                    (joins, excluded) = (false, false);
                }
                (unit, _) => {
                    conditions.push(Condition { units: vec![unit.clone()], excluded });
                    (joins, excluded) = (false, false);
                }
            }
        }
        conditions
    }

    fn fits(&self, conditions: &[Condition], fund: &Fund, index: &IndexedFund) -> bool {
        let fits = |condition: &Condition| {
            let any = condition.units.iter().any(|unit| self.fits_unit(unit, fund, index));
            any != condition.excluded
        };
        !conditions.is_empty() && conditions.iter().all(fits)
    }

    fn fits_unit(&self, unit: &Unit, fund: &Fund, index: &IndexedFund) -> bool {
        match unit {
            // The contract asks for words of the name, so that `equity` alone, a word of many
            // names, finds those names.
            Unit::Concept { concept, word }
                if WEAK.contains(&concept.name) && word.is_ascii() && !self.has_risk() =>
            {
                mentions(&index.texts.names, word) || index.code.contains(word)
            }
            Unit::Concept { concept, word } => {
                let named = word.is_ascii() && mentions(&index.texts.names, word);
                index.has(fund, concept) || named && !concept.is_ruled_out(&index.texts)
            }
            Unit::Company(company) => company.is(&index.company),
            Unit::Risk((least, most)) => {
                RiskLevel::new(*least).is_some_and(|least| fund.risk >= least)
                    && RiskLevel::new(*most).is_some_and(|most| fund.risk <= most)
            }
            Unit::Literal(word) => index.contains(word),
            Unit::Excluding | Unit::Or => true,
        }
    }

    fn has_risk(&self) -> bool {
        self.units.iter().any(|unit| matches!(unit, Unit::Risk(_)))
    }
}

/// `risk <= 5` as words.
fn signs_spelt_out(text: &str) -> String {
    let signs = [
        ("<=", " at most "),
        ("≤", " at most "),
        (">=", " at least "),
        ("≥", " at least "),
        ("<", " below "),
        (">", " above "),
    ];
    signs.iter().fold(text.to_owned(), |text, (sign, words)| text.replace(sign, words))
}

/// English words that neither a known phrase nor a fund has, in the spelling of a known phrase.
fn spelt_right(normal: &str, all: &[(&Fund, &IndexedFund)]) -> String {
    let of_funds = |word: &str| all.iter().any(|(_, index)| index.contains(word));
    let word = |word: &str| {
        let unknown = word.bytes().all(|byte| byte.is_ascii_lowercase())
            && !is_known_word(word)
            && !OTHER_PRODUCTS.contains(&word)
            && !of_funds(word);
        unknown.then(|| respelt(word)).flatten().unwrap_or(word).to_owned()
    };
    normal.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

/// A Buddhist year as the Christian one, for names like `Target Date 2040`.
fn christian_year(word: &str) -> Option<String> {
    let year: u16 = word.parse().ok()?;
    (2560..=2640).contains(&year).then(|| (year - 543).to_string())
}

/// Corrects words that no fund has, else drops them where something else is left.
fn known(units: Vec<Unit>, all: &[(&Fund, &IndexedFund)]) -> (Vec<Unit>, Vec<String>) {
    let unknown = |word: &str| {
        !OTHER_PRODUCTS.contains(&word) && !all.iter().any(|(_, index)| index.contains(word))
    };
    let (mut kept, mut dropped) = (Vec::new(), Vec::new());
    for unit in &units {
        match unit {
            Unit::Literal(word) if unknown(word) => {
                let year = christian_year(word).filter(|year| !unknown(year)).map(Unit::Literal);
                match year.or_else(|| corrected(word)) {
                    Some(unit) => kept.push(unit),
                    None => dropped.push(word.clone()),
                }
            }
            unit => kept.push(unit.clone()),
        }
    }
    let says_something = kept.iter().any(|unit| !matches!(unit, Unit::Excluding | Unit::Or));
    if says_something { (kept, dropped) } else { (units, Vec::new()) }
}

fn named(unit: &Unit, names: &[&str]) -> bool {
    matches!(unit, Unit::Concept { concept, .. } if names.contains(&concept.name))
}

/// Leaves out what adds nothing beside the other parts, and gives `global` and `thai` the meaning
/// that they have beside another topic.
fn narrowed(mut units: Vec<Unit>) -> Vec<Unit> {
    let topic = |unit: &Unit| matches!(unit, Unit::Concept { .. } | Unit::Literal(_));
    if units.iter().any(|unit| topic(unit) && !named(unit, WEAK)) {
        units.retain(|unit| !named(unit, WEAK));
    }
    // Shares and bonds together are a mixed fund; no fund is both.
    let both = ["equity", "bonds"].map(|name| units.iter().any(|unit| named(unit, &[name])));
    let plain = !units.iter().any(|unit| matches!(unit, Unit::Or | Unit::Excluding));
    if both == [true, true] && plain {
        units.retain(|unit| !named(unit, WEAK));
        replace(&mut units, "bonds", "mixed");
    }
    if units.iter().any(|unit| named(unit, INDICES)) {
        units.retain(|unit| !named(unit, &["index"]));
    }
    if units.iter().filter(|unit| topic(unit)).count() > 1 {
        replace(&mut units, "global", WORLDWIDE);
    }
    let thai = units.iter().position(|unit| named(unit, &["thailand"]));
    if let Some(at) = thai
        && units.iter().any(|unit| named(unit, OTHER_ASSETS))
    {
        replace(&mut units, "thailand", ABROAD);
        units.insert(at, Unit::Excluding);
    }
    units
}

fn replace(units: &mut [Unit], from: &str, to: &'static str) {
    for unit in units {
        if let Unit::Concept { concept: old, .. } = unit
            && old.name == from
            && let Some(concept) = concept(to)
        {
            *unit = Unit::Concept { concept, word: to };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn query_is_split_into_the_longest_known_phrases() {
        let cases: [(&str, &[&str]); 12] = [
            ("กองทุนหุ้นโลก", &["global"]),
            ("ทองคำ กรุงศรี", &["gold", "krungsri"]),
            ("หุ้นเวียดนาม กสิกร", &["vietnam", "kasikorn"]),
            ("Japanese equity", &["japan"]),
            ("ไม่ป้องกันความเสี่ยงค่าเงิน", &["unhedged"]),
            ("pokemon", &[]),
            ("which fund buys gold?", &["gold"]),
            ("vietnm stocks", &["vietnam"]),
            ("อีสท์สปิงทองคำ", &["eastspring", "gold"]),
            ("global technology", &["worldwide", "technology"]),
            ("thai bonds", &["foreign", "bonds"]),
            ("health risk <= 6", &["health"]),
        ];
        for (query, expected) in cases {
            assert_eq!(ParsedQuery::new(query, &[]).understood(), expected, "{query}");
        }
    }

    #[test]
    fn words_that_no_fund_has_are_dropped_beside_others_and_reported() {
        let query = ParsedQuery::new("gold pokemon", &[]);
        assert_eq!(
            (query.understood(), query.dropped()),
            (vec!["gold"], &["pokemon".to_owned()][..])
        );
        assert_eq!(ParsedQuery::new("pokemon", &[]).dropped(), [""; 0]);
        assert_eq!(ParsedQuery::new("gold ssf", &[]).dropped(), [""; 0], "another kind of fund");
    }

    #[test]
    fn parts_that_leave_no_fund_are_given_up_from_words_to_styles() {
        let catalog = crate::catalog::FundCatalog::bundled().unwrap();
        let all: Vec<(&Fund, &IndexedFund)> = catalog.indexed().collect();
        let cases: [(&str, bool, &[&str]); 9] = [
            ("gold price tracker", true, &["tracker"]),
            ("top gold funds", true, &["top"]),
            ("gold", true, &[]),
            // A country, a company or a kind of fund is never given up.
            ("gold from Korea", false, &[]),
            ("น้ำมันของกสิกร", false, &[]),
            ("gold ssf", false, &[]),
            ("Krungsri Siriphol", false, &[]),
            ("emerging markets ex China", true, &[]),
            ("ทาร์เก็ต เดท 2583", true, &[]),
        ];
        for (text, found, given_up) in cases {
            let query = ParsedQuery::new(text, &all).widened(&all);
            assert_eq!(!query.find(&all).is_empty(), found, "{text}");
            assert_eq!(query.dropped(), given_up, "{text}");
        }
    }

    #[test]
    fn misspelt_words_are_read_as_the_nearest_known_phrase() {
        let cases: [(&str, &[&str]); 6] = [
            ("goverment bonds", &["government bonds"]), // typos:ignore
            ("emergin market", &["emerging markets"]),  // typos:ignore
            ("infrastucture", &["infrastructure"]),     // typos:ignore
            ("เวียดนาาม", &["vietnam"]),
            ("ญีปุ่น", &["japan"]),
            ("โครงสร้างพื้นฐาณ", &["infrastructure"]),
        ];
        for (query, expected) in cases {
            assert_eq!(ParsedQuery::new(query, &[]).understood(), expected, "{query}");
        }
    }
}
