//! Quotable passages with the URI under which their text can be read verbatim.

use crate::catalog::HerbCatalog;
use crate::model::{self, Paper};
use crate::safety::{Record, RecordContent};
use crate::search::{Document, Kind, TextLanguage};

use super::Language;

/// Section of a monograph or kind of text.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Section {
    /// Names, family, parts, list.
    Identity,
    /// Indications.
    Uses,
    /// Active substances.
    Constituents,
    /// Ingredients.
    Ingredients,
    /// Formulations that contain it.
    Formulations,
    /// Contraindications and precautions.
    Cautions,
    /// Interactions with medicines.
    Interactions,
    /// Research findings.
    Evidence,
    /// Unknowns.
    Gaps,
    /// Text of a user document or imported paper.
    Text,
}

impl Section {
    fn parse(word: &str) -> Option<Self> {
        Some(match word {
            "identity" => Self::Identity,
            "uses" => Self::Uses,
            "constituents" => Self::Constituents,
            "ingredients" => Self::Ingredients,
            "formulations" => Self::Formulations,
            "cautions" => Self::Cautions,
            "interactions" => Self::Interactions,
            "evidence" => Self::Evidence,
            "gaps" => Self::Gaps,
            _ => return None,
        })
    }
}

/// A quotable passage.
#[derive(Clone, Debug, PartialEq)]
pub struct Passage {
    /// Document id.
    pub id: String,
    /// Document kind.
    pub kind: Kind,
    /// Document URI.
    pub uri: String,
    /// Document title.
    pub title: String,
    /// Section.
    pub section: Section,
    /// Text, verbatim.
    pub text: String,
    /// Source ids.
    pub sources: Vec<String>,
    /// Whether a verified source states it.
    pub verified: bool,
}

impl Passage {
    /// Returns whether this is third-party text, which answers put in quotation marks.
    pub fn is_foreign(&self) -> bool {
        self.section == Section::Text
    }
}

/// Returns the statements of a monograph. Paper findings are omitted: papers are quoted directly.
pub(super) fn of_entity(catalog: &HerbCatalog, id: &str, language: Language) -> Vec<Passage> {
    let Some(monograph) = catalog.monograph(id, language.code()) else { return Vec::new() };
    let (kind, names) = match (catalog.herb(id), catalog.formulation(id)) {
        (Some(herb), _) => (Kind::Herb, &herb.names),
        (None, Some(formulation)) => (Kind::Formulation, &formulation.names),
        (None, None) => return Vec::new(),
    };
    let title = names.in_language(language.display());
    let passages = monograph.statements.iter().filter_map(|statement| {
        let section = Section::parse(&statement.section)?;
        let from_paper = statement.sources.iter().any(|source| source.starts_with("pmid:"));
        (!from_paper).then(|| Passage {
            id: id.to_owned(),
            kind,
            uri: format!("kg://{kind}/{id}"),
            title: title.clone(),
            section,
            text: statement.text.clone(),
            sources: statement.sources.clone(),
            verified: !statement.unverified,
        })
    });
    passages.collect()
}

/// Returns the sentence that states a safety record: from the monograph of its carrier or from the
/// user document it was extracted from.
pub(super) fn of_record(
    catalog: &HerbCatalog,
    record: &Record<'_>,
    language: Language,
) -> Option<Passage> {
    let verified = record.verified();
    let says: Box<dyn Fn(&Passage) -> bool> = match record.content {
        RecordContent::Caution(warned) => {
            let name = catalog.caution(&warned.code)?.names.in_language(language.display());
            Box::new(move |passage| lists(&passage.text, &name))
        }
        RecordContent::Interaction(interaction) => {
            let display = language.display();
            let effect = format!(": {} (", interaction.effect.in_language(display));
            let drug = interaction.drugs.first()?;
            let drug = name_of(catalog, drug, display).unwrap_or_else(|| drug.clone());
            Box::new(move |passage| {
                passage.text.contains(&effect) && passage.text.contains(drug.as_str())
            })
        }
    };
    let passages = of_entity(catalog, record.carrier, language).into_iter();
    let passages = passages
        .filter(|passage| matches!(passage.section, Section::Cautions | Section::Interactions));
    let mut fitting: Vec<Passage> = passages.filter(|passage| says(passage)).collect();
    fitting.sort_by_key(|passage| passage.verified != verified);
    fitting.into_iter().next().or_else(|| of_user_document(catalog, record))
}

/// Returns whether a statement lists an item: `children` does not match `children under 6 years`.
fn lists(text: &str, item: &str) -> bool {
    let text = text.trim_end_matches('.');
    text.match_indices(item).any(|(at, _)| {
        let before = text.get(..at).unwrap_or_default();
        let after = text.get(at + item.len()..).unwrap_or_default();
        before.ends_with(' ') && (after.is_empty() || after.starts_with(';'))
    })
}

/// Returns the passage of a user document that a record was extracted from.
fn of_user_document(catalog: &HerbCatalog, record: &Record<'_>) -> Option<Passage> {
    let source = &record.provenance().source;
    let fact = catalog.user_data.facts.iter().find(|fact| {
        fact.said.document == *source
            && fact.subject == record.carrier
            && match record.content {
                RecordContent::Caution(warned) => fact.claim.object() == warned.code,
                RecordContent::Interaction(one) => {
                    one.drugs.iter().any(|drug| drug == fact.claim.object())
                }
            }
    })?;
    let document = catalog.user_data.documents.iter().find(|one| one.id == *source);
    Some(Passage {
        id: format!("{source}#{}", fact.said.chunk),
        kind: Kind::Chunk,
        uri: fact.said.uri(),
        title: document.map_or_else(|| source.clone(), |document| document.title.clone()),
        section: Section::Text,
        text: fact.said.quote.clone(),
        sources: vec![source.clone()],
        verified: false,
    })
}

/// Returns the finding of a paper as summarised in the data set.
pub(super) fn of_paper(paper: &Paper, language: Language) -> Passage {
    let text = match language {
        Language::Th if !paper.finding.th.is_empty() => &paper.finding.th,
        Language::Th | Language::En => &paper.finding.en,
    };
    Passage {
        id: paper.pmid.clone(),
        kind: Kind::Paper,
        uri: format!("paper://pmid/{}", paper.pmid),
        title: if paper.title.is_empty() {
            format!("PMID {}", paper.pmid)
        } else {
            paper.title.clone()
        },
        section: Section::Evidence,
        text: text.clone(),
        sources: paper.sources.clone(),
        verified: true,
    }
}

/// Returns the quotable passages of a search hit.
pub(super) fn of_document(
    catalog: &HerbCatalog,
    document: &Document,
    language: Language,
) -> Vec<Passage> {
    let kind = document.kind();
    let mut passages = match kind {
        Kind::Herb | Kind::Formulation => of_entity(catalog, &document.id, language),
        Kind::Paper => {
            catalog.paper(&document.id).map(|paper| of_paper(paper, language)).into_iter().collect()
        }
        Kind::Constituent | Kind::Indication | Kind::Caution | Kind::Chunk => Vec::new(),
    };
    passages.extend(foreign(document, kind));
    passages
}

/// Source id of imported papers, as set by the search.
const IMPORTED: &str = "imported";

fn foreign(document: &Document, kind: Kind) -> Vec<Passage> {
    let title =
        [&document.title_th, &document.title_en].into_iter().find(|title| !title.is_empty());
    let title = title.cloned().unwrap_or_else(|| document.id.clone());
    let user_data: Vec<&crate::search::Passage> = match kind {
        Kind::Chunk => document.passages.iter().collect(),
        _ => abstract_of(document).into_iter().collect(),
    };
    let sentences = user_data.into_iter().flat_map(|passage| {
        sentences(&passage.text).into_iter().map(|text| (text.to_owned(), passage.source.clone()))
    });
    // A document without a URI cannot be cited.
    let Some(uri) = document.uri() else { return Vec::new() };
    sentences
        .map(|(text, source)| Passage {
            id: document.id.clone(),
            kind,
            uri: uri.clone(),
            title: title.clone(),
            section: Section::Text,
            text,
            sources: vec![source],
            verified: false,
        })
        .collect()
}

/// Returns the abstract of an imported paper: its last imported passage, if it is prose and not the
/// title, headings or authors.
fn abstract_of(document: &Document) -> Option<&crate::search::Passage> {
    let last = document.passages.iter().rfind(|passage| passage.source == IMPORTED)?;
    let is_text = last.text.contains('.') || last.language == TextLanguage::Th;
    (is_text && last.text != document.title_en && last.language != TextLanguage::Neither)
        .then_some(last)
}

/// Minimum and approximate maximum length of a sentence, in characters.
const MIN_SENTENCE_LENGTH: usize = 25;
const MAX_SENTENCE_LENGTH: usize = 400;

/// Splits a text into sentences, verbatim. A sentence ends at a full stop before whitespace, at a
/// line end, or at a space after the maximum length.
fn sentences(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut start = 0;
    let mut letters = 0;
    let mut characters = text.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        letters += 1;
        let next = characters.peek().map(|(_, next)| *next);
        let stops = match character {
            '\n' => true,
            '.' | '!' | '?' => {
                next.is_none_or(char::is_whitespace) && !is_abbreviation(text, start, at)
            }
            ' ' => letters >= MAX_SENTENCE_LENGTH,
            _ => false,
        };
        if stops {
            found.push((start, at + character.len_utf8()));
            start = at + character.len_utf8();
            letters = 0;
        }
    }
    found.push((start, text.len()));
    let pieces = found.into_iter().filter_map(|(from, to)| text.get(from..to)).map(str::trim);
    pieces.filter(|piece| piece.chars().count() >= MIN_SENTENCE_LENGTH).collect()
}

/// Returns whether the full stop at `at` belongs to an abbreviation: `e.g.`, `et al.`, `A.`.
fn is_abbreviation(text: &str, start: usize, at: usize) -> bool {
    let before = text.get(start..at).unwrap_or_default();
    let word =
        before.rsplit(|character: char| character.is_whitespace() || character == '(').next();
    let word = word.unwrap_or_default();
    word.chars().count() <= 1
        || word.contains('.')
        || matches!(
            word,
            "al" | "vs" | "cf" | "Fig" | "approx" | "var" | "ssp" | "sp" | "spp" | "Dr" | "No"
        )
}

/// Returns the display name of any catalog entry.
pub(super) fn name_of(
    catalog: &HerbCatalog,
    id: &str,
    display: model::DisplayLanguage,
) -> Option<String> {
    let names = (catalog.herb(id).map(|one| &one.names))
        .or_else(|| catalog.formulation(id).map(|one| &one.names))
        .or_else(|| catalog.constituent(id).map(|one| &one.names))
        .or_else(|| catalog.indication(id).map(|one| &one.names))
        .or_else(|| catalog.caution(id).map(|one| &one.names))
        .or_else(|| catalog.drug(id).map(|one| &one.names))
        .or_else(|| catalog.medicines.get(id).map(|one| &one.names))
        .or_else(|| catalog.group(id).map(|one| &one.names));
    names.map(|names| names.in_language(display))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentence_splitter_handles_abbreviations_and_decimals() {
        let text = "Turmeric (C. longa) was given to 40 rats by Smith et al. in 1999. It reduced the swelling by 12.5 percent!\nNothing else was measured in this study. Short.";
        assert_eq!(
            sentences(text),
            [
                "Turmeric (C. longa) was given to 40 rats by Smith et al. in 1999.",
                "It reduced the swelling by 12.5 percent!",
                "Nothing else was measured in this study.",
            ]
        );
        let thai = "ขิงช่วยลดอาการคลื่นไส้ในหญิงตั้งครรภ์ ".repeat(40);
        assert!(
            sentences(&thai).iter().all(|piece| piece.chars().count() <= MAX_SENTENCE_LENGTH + 60)
        );
        assert!(sentences("").is_empty());
    }
}
