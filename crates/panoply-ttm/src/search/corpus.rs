//! Converts the catalog to search documents: passages, names and links.
//!
//! A link weight says how relevant a document is for a query about the linked entity: a single-herb
//! medicine is nearly the herb, one of thirty herbs hardly is.

use std::collections::BTreeMap;

use super::document::{Document, Facet, Kind, Link, Passage, Relation, TextLanguage};
use crate::catalog::HerbCatalog;
use crate::model::{Bilingual, Interaction, Level, Paper, RecordedCaution, RecordedUse, Strength};

/// Source of the caution codes.
const CAUTIONS_SOURCE: &str = "nlem-herbal-2566+2568";

/// Field weights of passages.
const NAMES: f32 = 2.5;
const USES: f32 = 2.0;
pub(super) const TITLE: f32 = 2.0;
pub(super) const TEXT: f32 = 1.0;
pub(super) const ASIDE: f32 = 0.3;

/// Documents, and names of entities that are not documents.
#[derive(Debug, Default)]
pub struct Corpus {
    /// Documents.
    pub documents: Vec<Document>,
    /// Ids and names of drugs that herbs interact with.
    pub other_names: Vec<(String, String)>,
    /// Number of leading documents used to train LSI: those with prose. Names and codes would only
    /// enlarge the matrix.
    pub trained: usize,
}

/// Builds the corpus of a catalog.
pub fn corpus(catalog: &HerbCatalog) -> Corpus {
    let facts = Facts::of(catalog);
    let mut documents = Vec::new();
    documents.extend(catalog.herbs.iter().map(|herb| facts.herb(herb)));
    documents.extend(catalog.formulations.iter().map(|one| facts.formulation(one)));
    documents.extend(catalog.papers.iter().map(|paper| facts.paper(paper)));
    let trained = documents.len();
    documents.extend(catalog.constituents.iter().map(|one| facts.constituent(one)));
    documents.extend(catalog.indications.iter().map(|one| facts.indication(one)));
    documents.extend(catalog.cautions.iter().map(|one| facts.caution(one)));
    Corpus { documents, other_names: facts.drug_names(), trained }
}

/// Catalog with lookup tables.
struct Facts<'l> {
    catalog: &'l HerbCatalog,
    aliases: BTreeMap<&'l str, Vec<&'l str>>,
    interactions: BTreeMap<&'l str, Vec<&'l Interaction>>,
}

impl<'l> Facts<'l> {
    fn of(catalog: &'l HerbCatalog) -> Self {
        let mut aliases: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for alias in &catalog.aliases {
            aliases.entry(&alias.id).or_default().push(&alias.alias);
        }
        let mut interactions: BTreeMap<&str, Vec<&Interaction>> = BTreeMap::new();
        for interaction in &catalog.interactions {
            interactions.entry(&interaction.entity).or_default().push(interaction);
        }
        Self { catalog, aliases, interactions }
    }

    fn herb(&self, herb: &crate::model::Herb) -> Document {
        let mut document = self.new_document(&herb.id, Kind::Herb, &herb.names, &herb.names_source);
        document.names.extend(scientific_names(&herb.scientific));
        let synonyms = &herb.synonyms;
        let others = synonyms.th.iter().chain(&synonyms.romanised).chain(&synonyms.scientific);
        document.names.extend(others.cloned());
        self.add_names(&mut document);
        document.add_passage(TextLanguage::Neither, &herb.family, TEXT, &herb.names_source);
        document.add_facet(Facet::Family, &herb.family);
        for part in &herb.parts {
            document.add_facet(Facet::Part, part);
        }
        for holds in &herb.constituents {
            let weight = if holds.provenance.unverified { 0.9 } else { 1.0 };
            document.add_link(&holds.id, Relation::Holds, weight);
        }
        for id in &herb.formulations {
            let herbs = self.catalog.formulation(id).map_or(1, |one| one.ingredients.len());
            document.add_link(id, Relation::Holds, herb_share(herbs) * 0.8);
        }
        self.uses_and_warnings(&mut document, &herb.indications, &herb.cautions);
        self.monograph(&mut document);
        document
    }

    fn formulation(&self, formulation: &crate::model::Formulation) -> Document {
        let id = &formulation.id;
        let mut document =
            self.new_document(id, Kind::Formulation, &formulation.names, &formulation.source);
        self.add_names(&mut document);
        document.add_passage(TextLanguage::Th, &formulation.purpose.th, USES, &formulation.source);
        document.add_passage(TextLanguage::En, &formulation.purpose.en, USES, &formulation.source);
        let herbs = formulation.ingredients.len();
        for id in &formulation.ingredients {
            document.add_link(id, Relation::Holds, herb_share(herbs) * 0.95);
            for holds in self.catalog.herb(id).map(|herb| &herb.constituents).into_iter().flatten()
            {
                document.add_link(&holds.id, Relation::Holds, herb_share(herbs) * 0.5);
            }
        }
        self.uses_and_warnings(&mut document, &formulation.indications, &formulation.cautions);
        self.monograph(&mut document);
        document
    }

    fn constituent(&self, constituent: &crate::model::Constituent) -> Document {
        let mut document =
            self.new_document(&constituent.id, Kind::Constituent, &constituent.names, "");
        self.add_names(&mut document);
        let herbs = constituent.herbs.iter().filter_map(|id| self.catalog.herb(id));
        let mut names = [Vec::new(), Vec::new()];
        for herb in herbs {
            names[0].push(herb.names.th.as_str());
            names[1].push(herb.names.en.as_str());
            let source = herb.constituents.iter().find(|holds| holds.id == constituent.id);
            if let (Some(holds), true) = (source, document.source.is_empty()) {
                document.source.clone_from(&holds.provenance.source);
            }
            document.add_link(&herb.id, Relation::Holds, 0.3);
        }
        let [thai, english] = names.map(|names| names.join(", "));
        let source = document.source.clone();
        document.add_passage(TextLanguage::Th, &format!("พบใน {thai}"), ASIDE, &source);
        document.add_passage(TextLanguage::En, &format!("found in {english}"), ASIDE, &source);
        document
    }

    fn indication(&self, indication: &crate::model::Indication) -> Document {
        let mut document = self.new_document(
            &indication.id,
            Kind::Indication,
            &indication.names,
            &indication.source,
        );
        document.names.push(indication.id.clone());
        let pieces = title_parts(&indication.names);
        document.names.extend(pieces);
        self.add_names(&mut document);
        document.add_facet(Facet::Icd, &indication.id);
        document
    }

    fn caution(&self, caution: &crate::model::Caution) -> Document {
        let mut document =
            self.new_document(&caution.code, Kind::Caution, &caution.names, CAUTIONS_SOURCE);
        let pieces = title_parts(&caution.names);
        document.names.extend(pieces);
        self.add_names(&mut document);
        document
    }

    fn paper(&self, paper: &Paper) -> Document {
        let source = paper.sources.first().map(String::as_str).unwrap_or_default();
        let mut document = Document {
            id: paper.pmid.clone(),
            kind: Some(Kind::Paper),
            title_en: paper.title.clone(),
            names: vec![paper.pmid.clone()],
            source: source.to_owned(),
            ..Document::default()
        };
        document.add_passage(TextLanguage::En, &paper.title, TITLE, source);
        document.add_passage(TextLanguage::En, &paper.finding.en, TITLE, source);
        document.add_passage(TextLanguage::Th, &paper.finding.th, TITLE, source);
        document.add_passage(TextLanguage::En, &paper.mesh.join("; "), TEXT, source);
        let by = format!("{}. {}", paper.authors.join(", "), paper.journal);
        document.add_passage(TextLanguage::Neither, &by, ASIDE, source);
        for id in paper.herbs.iter().chain(&paper.constituents).chain(&paper.formulations) {
            document.add_link(id, Relation::About, 0.45);
        }
        for icd in &paper.indications {
            document.add_link(icd, Relation::About, 0.3);
            document.add_facet(Facet::Icd, icd);
        }
        if let Some(year) = paper.year {
            document.add_facet(Facet::Year, &year.to_string());
        }
        for source in &paper.sources {
            document.add_facet(Facet::Source, source);
        }
        document
    }

    fn new_document(&self, id: &str, kind: Kind, names: &Bilingual, source: &str) -> Document {
        let mut document = Document {
            id: id.to_owned(),
            kind: Some(kind),
            title_th: names.th.clone(),
            title_en: names.en.clone(),
            source: source.to_owned(),
            ..Document::default()
        };
        document.names.push(names.th.clone());
        document.names.extend(english_names(&names.en));
        let aliases = self.aliases.get(id).map(Vec::as_slice).unwrap_or_default();
        document.names.extend(aliases.iter().map(|alias| (*alias).to_owned()));
        document
    }

    /// Adds the distinct names as a passage.
    fn add_names(&self, document: &mut Document) {
        document.names.retain(|name| !name.is_empty());
        let mut once: Vec<&str> = Vec::new();
        for name in &document.names {
            if !once.contains(&name.as_str()) {
                once.push(name);
            }
        }
        let text = once.join("; ");
        let source = document.source.clone();
        document.add_passage(TextLanguage::Neither, &text, NAMES, &source);
    }

    fn uses_and_warnings(
        &self,
        document: &mut Document,
        uses: &[RecordedUse],
        warnings: &[RecordedCaution],
    ) {
        for used in uses {
            let weight = if used.provenance.unverified { 0.75 } else { 1.0 };
            document.add_link(&used.icd, Relation::UsedFor, weight);
            document.add_facet(Facet::Icd, &used.icd);
            document.add_facet(Facet::Source, &used.provenance.source);
            if let Some(indication) = self.catalog.indication(&used.icd) {
                let aliases =
                    self.aliases.get(used.icd.as_str()).map(Vec::as_slice).unwrap_or_default();
                let source = &used.provenance.source;
                document.add_passage(TextLanguage::Th, &indication.names.th, USES, source);
                document.add_passage(TextLanguage::En, &indication.names.en, USES, source);
                document.add_passage(TextLanguage::Neither, &aliases.join("; "), ASIDE, source);
                document.add_passage(TextLanguage::Neither, &used.icd, USES, source);
            }
        }
        for warned in warnings {
            let weight = match warned.level {
                Level::Contraindicated | Level::Interaction => 1.0,
                Level::Precaution => 0.85,
            };
            document.add_link(
                &warned.code,
                Relation::WarnsOf,
                weight * strength_weight(warned.strength),
            );
        }
        for (drug, weight) in self.drugs_of(&document.id, warnings) {
            document.add_link(&drug, Relation::WarnsOf, weight);
        }
        for interaction in self.interactions.get(document.id.as_str()).into_iter().flatten() {
            let drugs = interaction.drugs.join(", ");
            let text = format!("{drugs}: {}; {}", interaction.effect.en, interaction.mechanism.en);
            document.add_passage(TextLanguage::En, &text, TEXT, &interaction.provenance.source);
            document.add_passage(
                TextLanguage::Th,
                &interaction.effect.th,
                TEXT,
                &interaction.provenance.source,
            );
        }
    }

    /// Returns the drugs that an entity warns of, by name, class or caution.
    fn drugs_of(&self, id: &str, warnings: &[RecordedCaution]) -> BTreeMap<String, f32> {
        let mut drugs: BTreeMap<String, f32> = BTreeMap::new();
        let mut put = |drug: &str, weight: f32| {
            let known = drugs.entry(drug.to_owned()).or_default();
            *known = known.max(weight);
        };
        for interaction in self.interactions.get(id).into_iter().flatten() {
            let weight = strength_weight(interaction.strength);
            for named in &interaction.drugs {
                put(named, weight);
                for drug in &self.catalog.drugs {
                    let same_class = drug.name == *named && drug.kind == "drug";
                    if drug.classes.contains(named) {
                        put(&drug.name, 0.7 * weight);
                    } else if same_class {
                        drug.classes.iter().for_each(|class| put(class, 0.7 * weight));
                    }
                }
            }
        }
        for drug in &self.catalog.drugs {
            let covering = warnings.iter().filter(|warned| drug.cautions.contains(&warned.code));
            covering.for_each(|warned| put(&drug.name, 0.9 * strength_weight(warned.strength)));
        }
        drugs
    }

    fn monograph(&self, document: &mut Document) {
        for (lang, language) in [("th", TextLanguage::Th), ("en", TextLanguage::En)] {
            let Some(monograph) = self.catalog.monograph(&document.id, lang) else { continue };
            for statement in &monograph.statements {
                let weight = match statement.section.as_str() {
                    // A statement about missing knowledge must not match queries.
                    "gaps" => continue,
                    "uses" | "constituents" | "evidence" => TEXT,
                    _ => 0.5,
                };
                let source = statement.sources.first().map(String::as_str).unwrap_or_default();
                document.add_passage(language, &statement.text, weight, source);
            }
        }
    }

    fn drug_names(&self) -> Vec<(String, String)> {
        let mut names = Vec::new();
        for drug in &self.catalog.drugs {
            let aliases =
                self.aliases.get(drug.name.as_str()).map(Vec::as_slice).unwrap_or_default();
            let own = [drug.name.as_str(), drug.names.th.as_str(), drug.names.en.as_str()];
            for name in own.into_iter().chain(aliases.iter().copied()) {
                names.push((drug.name.clone(), name.to_owned()));
            }
        }
        names
    }
}

impl Document {
    pub(super) fn add_passage(
        &mut self,
        language: TextLanguage,
        text: &str,
        weight: f32,
        source: &str,
    ) {
        if !text.trim().is_empty() {
            let (text, source) = (text.to_owned(), source.to_owned());
            self.passages.push(Passage { language, text, weight, source });
        }
    }

    pub(super) fn add_link(&mut self, to: &str, relation: Relation, weight: f32) {
        self.links.push(Link { to: to.to_owned(), relation, weight });
    }

    pub(super) fn add_facet(&mut self, facet: Facet, value: &str) {
        let pair = (facet, value.to_owned());
        if !value.is_empty() && !self.facets.contains(&pair) {
            self.facets.push(pair);
        }
    }
}

/// Returns the link weight of a herb in a medicine of `herbs` herbs: 1 for one herb, at least 0.4,
/// because a query for medicines with a herb includes large formulations.
fn herb_share(herbs: usize) -> f32 {
    0.4 + 0.6 / (herbs.max(1) as f32).sqrt()
}

/// Orders links by the strength of the warning.
const fn strength_weight(strength: Strength) -> f32 {
    match strength {
        Strength::High => 1.0,
        Strength::Moderate => 0.85,
        Strength::Low => 0.7,
    }
}

/// Splits bracketed names: `Andrographis (King of Bitters)` has two names, `Ya Hom (aromatic)` one
/// and a remark.
fn english_names(name: &str) -> Vec<String> {
    let Some((first, rest)) = name.split_once('(') else { return vec![name.to_owned()] };
    let mut names = vec![first.trim().to_owned()];
    let inside = rest.split(')').next().unwrap_or_default().trim();
    if inside.starts_with(|letter: char| letter.is_uppercase()) {
        names.push(inside.to_owned());
    }
    names
}

/// Returns the species and genus of a scientific name with authors.
fn scientific_names(scientific: &str) -> Vec<String> {
    let mut words = scientific.split_whitespace();
    match (words.next(), words.next()) {
        (Some(genus), Some(species)) => vec![format!("{genus} {species}"), genus.to_owned()],
        (Some(genus), None) => vec![genus.to_owned()],
        _ => Vec::new(),
    }
}

/// Splits a title that names several conditions: `วิงเวียน เวียนศีรษะ`, `Dizziness and giddiness`.
fn title_parts(names: &Bilingual) -> Vec<String> {
    let thai = names.th.split([' ', '(', ')', ',', '/']);
    let english = names.en.split(['[', ']', '(', ')', ',', ';', '/']);
    let english =
        english.flat_map(|piece| piece.split(" and ")).flat_map(|piece| piece.split(" or "));
    // Words of the classification, not of a condition.
    let qualifier = |piece: &&str| {
        let word = piece.split(' ').next().unwrap_or_default().to_lowercase();
        matches!(word.as_str(), "not" | "unspecified" | "elsewhere" | "with" | "without")
            || (word == "other" && !piece.contains(' '))
    };
    let names = thai.chain(english).map(str::trim);
    let names = names.filter(|piece| piece.chars().count() >= 3 && !qualifier(piece));
    names.map(str::to_owned).collect()
}
