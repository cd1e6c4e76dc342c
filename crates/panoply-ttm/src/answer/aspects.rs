//! Aspects of a herb or medicine that a question can ask about, and the cues that signal them.
//!
//! Aspects without data (dose, price, cultivation) are included, so that such a question is
//! recognised and withheld instead of being answered with something else.

use std::ops::Range;
use std::sync::OnceLock;

use super::passages::Section;
use crate::model::Bilingual;
use crate::text::{Token, TokenKind, english, normalize};

/// An aspect of a herb or medicine.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Aspect {
    /// Indications.
    Uses,
    /// Contraindications and precautions.
    Cautions,
    /// Interactions with medicines.
    Interactions,
    /// Adverse effects.
    SideEffects,
    /// Maximum duration of use.
    Duration,
    /// Active substances.
    Constituents,
    /// Ingredients of a formulation.
    Ingredients,
    /// Formulations that contain the herb.
    Formulations,
    /// Names, family and parts.
    Identity,
    /// Research findings.
    Evidence,
    /// Dosage.
    Dose,
    /// Price and sellers.
    Trade,
    /// Cultivation.
    Growing,
    /// Preparation.
    Preparing,
    /// Storage and shelf life.
    Keeping,
    /// Chemical and physical figures.
    Figures,
    /// Nutritional values.
    Nutrition,
    /// Discovery and history.
    History,
    /// Legal status.
    Law,
    /// Use in animals.
    Animals,
}

impl Aspect {
    /// Every aspect.
    pub const ALL: [Self; 20] = [
        Self::Uses,
        Self::Cautions,
        Self::Interactions,
        Self::SideEffects,
        Self::Duration,
        Self::Constituents,
        Self::Ingredients,
        Self::Formulations,
        Self::Identity,
        Self::Evidence,
        Self::Dose,
        Self::Trade,
        Self::Growing,
        Self::Preparing,
        Self::Keeping,
        Self::Figures,
        Self::Nutrition,
        Self::History,
        Self::Law,
        Self::Animals,
    ];

    /// Returns whether the data contain this aspect at all.
    pub const fn is_in_data(self) -> bool {
        !matches!(
            self,
            Self::Dose
                | Self::Trade
                | Self::Growing
                | Self::Preparing
                | Self::Keeping
                | Self::Figures
                | Self::Nutrition
                | Self::History
                | Self::Law
                | Self::Animals
        )
    }

    /// Returns whether a question about this aspect is a safety question.
    pub const fn is_dangerous(self) -> bool {
        matches!(
            self,
            Self::Cautions | Self::Interactions | Self::SideEffects | Self::Duration | Self::Dose
        )
    }

    /// Returns whether the aspect needs no complement: `what is in X`, but not `what does X cure`.
    pub const fn stands_alone(self) -> bool {
        matches!(
            self,
            Self::SideEffects
                | Self::Duration
                | Self::Constituents
                | Self::Ingredients
                | Self::Formulations
        )
    }

    /// Returns the identifier used in replies.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Uses => "uses",
            Self::Cautions => "cautions",
            Self::Interactions => "interactions",
            Self::SideEffects => "side_effects",
            Self::Duration => "duration",
            Self::Constituents => "constituents",
            Self::Ingredients => "ingredients",
            Self::Formulations => "formulations",
            Self::Identity => "identity",
            Self::Evidence => "evidence",
            Self::Dose => "dose",
            Self::Trade => "trade",
            Self::Growing => "growing",
            Self::Preparing => "preparing",
            Self::Keeping => "keeping",
            Self::Figures => "figures",
            Self::Nutrition => "nutrition",
            Self::History => "history",
            Self::Law => "law",
            Self::Animals => "animals",
        }
    }

    /// Returns the monograph section that covers this aspect.
    pub(super) const fn section(self) -> Option<Section> {
        Some(match self {
            Self::Uses => Section::Uses,
            Self::Cautions | Self::SideEffects | Self::Duration => Section::Cautions,
            Self::Interactions => Section::Interactions,
            Self::Constituents => Section::Constituents,
            Self::Ingredients => Section::Ingredients,
            Self::Formulations => Section::Formulations,
            Self::Identity => Section::Identity,
            Self::Evidence => Section::Evidence,
            Self::Dose
            | Self::Trade
            | Self::Growing
            | Self::Preparing
            | Self::Keeping
            | Self::Figures
            | Self::Nutrition
            | Self::History
            | Self::Law
            | Self::Animals => return None,
        })
    }

    /// Returns the display name.
    pub(super) fn name(self) -> Bilingual {
        let (th, en) = match self {
            Self::Uses => ("สรรพคุณหรือข้อบ่งใช้", "uses"),
            Self::Cautions => ("ข้อห้ามและข้อควรระวัง", "cautions"),
            Self::Interactions => ("อันตรกิริยากับยา", "interactions with medicines"),
            Self::SideEffects => ("อาการไม่พึงประสงค์", "side effects"),
            Self::Duration => ("ระยะเวลาที่ใช้ได้", "how long it may be taken"),
            Self::Constituents => ("สารสำคัญ", "constituents"),
            Self::Ingredients => ("ส่วนประกอบของตำรับ", "ingredients"),
            Self::Formulations => ("ตำรับที่มีสมุนไพรนี้", "medicines that hold it"),
            Self::Identity => ("ชื่อ วงศ์ และส่วนที่ใช้", "names, family and parts"),
            Self::Evidence => ("งานวิจัย", "research"),
            Self::Dose => ("ขนาดและวิธีใช้", "doses"),
            Self::Trade => ("ราคาและแหล่งจำหน่าย", "prices and sellers"),
            Self::Growing => ("การปลูกและการดูแล", "how it is grown"),
            Self::Preparing => ("วิธีเตรียมหรือปรุง", "how it is prepared"),
            Self::Keeping => ("การเก็บรักษาและวันหมดอายุ", "storage and shelf life"),
            Self::Figures => ("ค่าทางเคมีและฟิสิกส์", "chemical and physical figures"),
            Self::Nutrition => ("คุณค่าทางอาหาร", "nutrition"),
            Self::History => ("ประวัติความเป็นมา", "history"),
            Self::Law => ("กฎหมายและใบอนุญาต", "law and licences"),
            Self::Animals => ("การใช้กับสัตว์", "use in animals"),
        };
        Bilingual { th: th.to_owned(), en: en.to_owned() }
    }
}

/// Returns the aspects that a question asks for, with the ranges of their cues.
pub(super) fn aspects_in(text: &str, tokens: &[Token]) -> Vec<(Range<usize>, Aspect)> {
    let places = cue_ranges(text, tokens).into_iter();
    let mut found: Vec<(Range<usize>, Aspect)> =
        places.filter_map(|(range, aspect)| Some((range, aspect?))).collect();
    // `ใช้ร่วมกับ` is one cue; the shorter cue inside it does not count.
    found.sort_by_key(|(range, aspect)| (std::cmp::Reverse(range.len()), range.start, *aspect));
    let mut selected: Vec<(Range<usize>, Aspect)> = Vec::new();
    for one in found {
        let inside = |(range, _): &(Range<usize>, Aspect)| {
            range.start <= one.0.start && one.0.end <= range.end && *range != one.0
        };
        if !selected.iter().any(inside) {
            selected.push(one);
        }
    }
    selected.sort_by_key(|(range, aspect)| (range.start, *aspect));
    selected
}

/// Returns the ranges of question words that carry no aspect.
pub(super) fn neutral_ranges(text: &str, tokens: &[Token]) -> Vec<Range<usize>> {
    let places = cue_ranges(text, tokens).into_iter();
    places.filter(|(_, aspect)| aspect.is_none()).map(|(range, _)| range).collect()
}

/// Returns every cue in a question.
fn cue_ranges(text: &str, tokens: &[Token]) -> Vec<(Range<usize>, Option<Aspect>)> {
    let cues = Cues::known();
    let mut found = Vec::new();
    for (cue, aspect) in &cues.thai {
        found.extend(thai_cue_ranges(text, tokens, cue).map(|range| (range, *aspect)));
    }
    let stems: Vec<Option<String>> = tokens
        .iter()
        .map(|token| {
            let word = token.text(text);
            // `clinic` has the stem of `clinical`, but asks for no evidence.
            let is_cue = token.kind == TokenKind::Foreign && !matches!(word, "clinic" | "clinics");
            is_cue.then(|| english::stem(word))
        })
        .collect();
    for (cue, aspect) in &cues.english {
        for (place, window) in stems.windows(cue.len()).enumerate() {
            let same = window.iter().zip(cue).all(|(stem, cue)| stem.as_ref() == Some(cue));
            let ends = tokens.get(place).zip(tokens.get(place + cue.len() - 1));
            if let (true, Some((first, last))) = (same, ends) {
                found.push((first.range.start..last.range.end, *aspect));
            }
        }
    }
    found
}

/// Returns the occurrences of a Thai cue that lie on word boundaries.
fn thai_cue_ranges<'t>(
    text: &'t str,
    tokens: &'t [Token],
    cue: &'t str,
) -> impl Iterator<Item = Range<usize>> + 't {
    let begins = |at: usize| tokens.iter().any(|token| token.range.start == at);
    let ends = |at: usize| tokens.iter().any(|token| token.range.end == at);
    // A long cue is unambiguous even if the segmentation differs.
    let long = cue.chars().count() >= LONG_CUE;
    let places = text.match_indices(cue).map(|(at, found)| at..at + found.len());
    places.filter(move |range| long || (begins(range.start) && ends(range.end)))
}

/// Thai cues of at least this many letters match anywhere.
const LONG_CUE: usize = 6;

/// Cues by language, parsed once.
struct Cues {
    thai: Vec<(String, Option<Aspect>)>,
    english: Vec<(Vec<String>, Option<Aspect>)>,
}

/// Tab-separated: aspect, language, cues separated by `|`.
static LINES: &str = include_str!("cues.tsv");

impl Cues {
    fn known() -> &'static Self {
        static CUES: OnceLock<Cues> = OnceLock::new();
        CUES.get_or_init(|| Self::read(LINES))
    }

    /// Cues with an unknown aspect name are neutral.
    fn read(lines: &str) -> Self {
        let mut cues = Self { thai: Vec::new(), english: Vec::new() };
        for line in lines.lines().filter(|line| !line.starts_with('#')) {
            let mut fields = line.split('\t');
            let (Some(word), Some(language), Some(ways)) =
                (fields.next(), fields.next(), fields.next())
            else {
                continue;
            };
            let aspect = Aspect::ALL.into_iter().find(|aspect| aspect.as_str() == word);
            for way in ways.split('|') {
                if language == "th" {
                    cues.thai.push((normalize(way).text().to_owned(), aspect));
                } else {
                    let stems = way.split(' ').map(english::stem).collect();
                    cues.english.push((stems, aspect));
                }
            }
        }
        cues
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::text::{Dictionary, Segmenter};

    fn asked(question: &str) -> Vec<&'static str> {
        let segmenter = Segmenter::new(Arc::new(Dictionary::new([]).unwrap()));
        let text = normalize(question).text().to_owned();
        let tokens = segmenter.segment(&text);
        let mut names: Vec<&str> =
            aspects_in(&text, &tokens).into_iter().map(|(_, aspect)| aspect.as_str()).collect();
        names.dedup();
        names
    }

    #[test]
    fn every_cue_line_has_an_aspect_or_is_neutral() {
        for line in LINES.lines().filter(|line| !line.starts_with('#')) {
            let word = line.split('\t').next().unwrap();
            let known = Aspect::ALL.iter().any(|aspect| aspect.as_str() == word);
            assert!(known || word == "neutral", "{line}");
            assert_eq!(line.split('\t').count(), 3, "{line}");
        }
    }

    #[test]
    fn aspects_are_recognised_in_both_languages() {
        let cases: &[(&str, &[&str])] = &[
            ("ขมิ้นชันมีสรรพคุณอะไร", &["uses"]),
            ("What is turmeric used for?", &["identity", "uses"]),
            ("ใครห้ามใช้ขิง", &["cautions"]),
            ("ขิงกินวันละกี่เม็ด", &["dose"]),
            ("How much ginger should I take?", &["dose"]),
            ("ซื้อยาหอมได้ที่ร้านไหน", &["trade"]),
            ("ขมิ้นชันใช้ร่วมกับวาร์ฟารินได้ไหม", &["interactions"]),
            ("งานวิจัยเรื่องบัวบก", &["evidence"]),
            ("how to grow galangal", &["growing"]),
        ];
        for (question, expected) in cases {
            assert_eq!(asked(question), *expected, "{question}");
        }
    }
}
