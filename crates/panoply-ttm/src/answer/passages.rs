//! Texts that an answer can quote, each with the address where a reader finds it word for word.

use crate::catalog::HerbCatalog;
use crate::model::{self, Paper};
use crate::safety::{Record, RecordContent};
use crate::search::{Document, Kind, TextLanguage};

use super::Language;

/// What a passage is about.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Section {
    /// Names, family, parts, list.
    Identity,
    /// What it is used for.
    Uses,
    /// What it holds.
    Constituents,
    /// What it is made of.
    Ingredients,
    /// What holds it.
    Formulations,
    /// What to be careful about.
    Cautions,
    /// What it does with medicines.
    Interactions,
    /// What research found.
    Evidence,
    /// What is not known.
    Gaps,
    /// The words of a text that a user brought.
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

/// A text that can be quoted.
#[derive(Clone, Debug, PartialEq)]
pub struct Passage {
    /// The id of the document it stands in.
    pub id: String,
    /// What the document is.
    pub kind: Kind,
    /// The document's address.
    pub uri: String,
    /// The document's title.
    pub title: String,
    /// What it is about.
    pub section: Section,
    /// The text as it stands there.
    pub text: String,
    /// Who says so.
    pub sources: Vec<String>,
    /// Whether a source that was checked says so.
    pub verified: bool,
}

impl Passage {
    /// Whether these are words of a text that a user brought, which an answer puts in quotes.
    pub fn is_foreign(&self) -> bool {
        self.section == Section::Text
    }
}

/// What the monograph of a herb or formulation says, statement by statement. What papers found is
/// left out: a paper speaks for itself.
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

/// The sentence that says what a record says: of the monograph of its carrier, or of the user's
/// document that it was read from.
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

/// Whether a statement lists an item: `children` is none of `children under 6 years`.
fn lists(text: &str, item: &str) -> bool {
    let text = text.trim_end_matches('.');
    text.match_indices(item).any(|(at, _)| {
        let before = text.get(..at).unwrap_or_default();
        let after = text.get(at + item.len()..).unwrap_or_default();
        before.ends_with(' ') && (after.is_empty() || after.starts_with(';'))
    })
}

/// The words of a user's document that a record was read from.
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

/// What a paper found, in our own sentence.
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

/// What a document of the search can be quoted with. Sentences of texts that a user brought stand
/// for themselves.
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

/// The source of what a user brought, as the search marks it.
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
    // What has no address cannot be cited.
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

/// The abstract of a paper that a user brought: the last that its record says, and a text. Its
/// title, its headings and its authors are no sentences.
fn abstract_of(document: &Document) -> Option<&crate::search::Passage> {
    let last = document.passages.iter().rfind(|passage| passage.source == IMPORTED)?;
    let is_text = last.text.contains('.') || last.language == TextLanguage::Th;
    (is_text && last.text != document.title_en && last.language != TextLanguage::Neither)
        .then_some(last)
}

/// The shortest piece that is taken for a sentence, and about the longest, in characters.
const MIN_SENTENCE_LENGTH: usize = 25;
const MAX_SENTENCE_LENGTH: usize = 400;

/// The sentences of a text, word for word. A sentence ends at a full stop before a space and
/// something that is not small, or at the end of a line; a very long one ends at a space.
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

/// Whether the stop at `at` only shortens a word: `e.g.`, `et al.`, `A.`.
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

/// The name of something of the graph in a language: a herb, a formulation, a constituent, an
/// indication, a caution or a medicine.
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
