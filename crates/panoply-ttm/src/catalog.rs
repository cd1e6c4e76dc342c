//! Catalog of the bundled data, parsed once.
//!
//! [`HerbCatalog::bundled`] is the entry point: lists in file order and lookup by id.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use serde::de::{DeserializeOwned, Error as _};

use crate::model::{
    Alias, Caution, Constituent, Drug, Formulation, Herb, Indication, Interaction, Monograph,
    Paper, Part, RecordedCaution, RecordedUse, Reference, Source,
};
use crate::safety::{
    Emergency, Group, MedicineCatalog, MedicineClass, MedicineParts, PatientWords,
};
use crate::user_data::UserData;

/// All bundled facts, and those of user documents.
#[derive(Clone, Debug)]
pub struct HerbCatalog {
    /// Herbs.
    pub herbs: Vec<Herb>,
    /// Medicines of the National List.
    pub formulations: Vec<Formulation>,
    /// Active substances.
    pub constituents: Vec<Constituent>,
    /// ICD-10 codes.
    pub indications: Vec<Indication>,
    /// Cautions.
    pub cautions: Vec<Caution>,
    /// Interactions with drugs.
    pub interactions: Vec<Interaction>,
    /// Papers.
    pub papers: Vec<Paper>,
    /// PMIDs cited by sources whose records are not bundled.
    pub references: Vec<Reference>,
    /// Sources.
    pub sources: Vec<Source>,
    /// Plant parts.
    pub parts: Vec<Part>,
    /// Alternative spellings.
    pub aliases: Vec<Alias>,
    /// Drugs and drug classes.
    pub drugs: Vec<Drug>,
    /// Monographs of herbs and formulations by language.
    pub monographs: Vec<Monograph>,
    /// Patient groups with their cautions.
    pub groups: Vec<Group>,
    /// Emergencies with instructions.
    pub emergencies: Vec<Emergency>,
    /// Medicines by name, with their classes.
    pub medicines: Arc<MedicineCatalog>,
    /// Phrases that describe patients.
    pub patient_words: Arc<PatientWords>,
    /// Facts of user documents.
    pub user_data: UserData,
    places: HashMap<String, Place>,
}

/// Position of an entry in its list.
#[derive(Clone, Copy, Debug)]
enum Place {
    Herb(usize),
    Formulation(usize),
    Constituent(usize),
}

/// A bundled file that cannot be parsed; excluded by tests.
#[derive(Debug, thiserror::Error)]
#[error("{file}, line {line}: {problem}")]
pub struct DataError {
    file: &'static str,
    line: usize,
    problem: serde_json::Error,
}

/// A bundled file.
struct File {
    name: &'static str,
    text: &'static str,
}

macro_rules! bundled {
    ($name:literal) => {
        File { name: $name, text: include_str!(concat!("../../../data/ttm/", $name)) }
    };
}

impl HerbCatalog {
    /// Returns the bundled catalog, parsed at the first call. The error is a display text.
    pub fn bundled() -> Result<Arc<Self>, String> {
        static BUNDLED: OnceLock<Result<Arc<HerbCatalog>, String>> = OnceLock::new();
        BUNDLED
            .get_or_init(|| Self::read().map(Arc::new).map_err(|error| error.to_string()))
            .clone()
    }

    /// Parses the bundled files without the cache; used by benchmarks.
    pub fn read() -> Result<Self, DataError> {
        let drugs: Vec<Drug> = rows(&bundled!("drugs.jsonl"))?;
        let aliases: Vec<Alias> = rows(&bundled!("aliases.jsonl"))?;
        let groups: Vec<Group> = rows(&bundled!("groups.jsonl"))?;
        let classes: Vec<MedicineClass> = rows(&bundled!("medicine_classes.jsonl"))?;
        let medicines = medicines(&drugs, &aliases, &classes)?;
        let patient_words =
            PatientWords::of(&groups).map_err(|error| unusable("groups.jsonl", &error))?;
        let mut catalog = Self {
            herbs: rows(&bundled!("herbs.jsonl"))?,
            formulations: rows(&bundled!("formulations.jsonl"))?,
            constituents: rows(&bundled!("constituents.jsonl"))?,
            indications: rows(&bundled!("indications.jsonl"))?,
            cautions: rows(&bundled!("cautions.jsonl"))?,
            interactions: rows(&bundled!("interactions.jsonl"))?,
            papers: rows(&bundled!("papers.jsonl"))?,
            references: rows(&bundled!("references.jsonl"))?,
            sources: rows(&bundled!("sources.jsonl"))?,
            parts: rows(&bundled!("parts.jsonl"))?,
            aliases,
            drugs,
            monographs: rows(&bundled!("monographs.jsonl"))?,
            groups,
            emergencies: rows(&bundled!("emergencies.jsonl"))?,
            medicines: Arc::new(medicines),
            patient_words: Arc::new(patient_words),
            user_data: UserData::default(),
            places: HashMap::new(),
        };
        catalog.places = catalog.index();
        Ok(catalog)
    }

    fn index(&self) -> HashMap<String, Place> {
        let herbs = self.herbs.iter().enumerate().map(|(at, herb)| (&herb.id, Place::Herb(at)));
        let formulations = self
            .formulations
            .iter()
            .enumerate()
            .map(|(at, formulation)| (&formulation.id, Place::Formulation(at)));
        let constituents = self
            .constituents
            .iter()
            .enumerate()
            .map(|(at, constituent)| (&constituent.id, Place::Constituent(at)));
        let all = herbs.chain(formulations).chain(constituents);
        all.map(|(id, place)| (id.clone(), place)).collect()
    }

    /// Finds a herb.
    pub fn herb(&self, id: &str) -> Option<&Herb> {
        match self.places.get(id) {
            Some(Place::Herb(at)) => self.herbs.get(*at),
            _ => None,
        }
    }

    /// Returns the indications of a herb or formulation.
    pub fn uses(&self, id: &str) -> &[RecordedUse] {
        let herb = self.herb(id).map(|herb| &herb.indications);
        herb.or_else(|| self.formulation(id).map(|one| &one.indications)).map_or(&[], Vec::as_slice)
    }

    /// Returns the cautions of a herb or formulation.
    pub fn warnings(&self, id: &str) -> &[RecordedCaution] {
        let herb = self.herb(id).map(|herb| &herb.cautions);
        herb.or_else(|| self.formulation(id).map(|one| &one.cautions)).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn herb_mut(&mut self, id: &str) -> Option<&mut Herb> {
        match self.places.get(id) {
            Some(Place::Herb(at)) => self.herbs.get_mut(*at),
            _ => None,
        }
    }

    fn formulation_mut(&mut self, id: &str) -> Option<&mut Formulation> {
        match self.places.get(id) {
            Some(Place::Formulation(at)) => self.formulations.get_mut(*at),
            _ => None,
        }
    }

    pub(crate) fn uses_mut(&mut self, id: &str) -> Option<&mut Vec<RecordedUse>> {
        if self.herb(id).is_some() {
            return self.herb_mut(id).map(|herb| &mut herb.indications);
        }
        self.formulation_mut(id).map(|one| &mut one.indications)
    }

    pub(crate) fn warnings_mut(&mut self, id: &str) -> Option<&mut Vec<RecordedCaution>> {
        if self.herb(id).is_some() {
            return self.herb_mut(id).map(|herb| &mut herb.cautions);
        }
        self.formulation_mut(id).map(|one| &mut one.cautions)
    }

    /// Finds a formulation.
    pub fn formulation(&self, id: &str) -> Option<&Formulation> {
        match self.places.get(id) {
            Some(Place::Formulation(at)) => self.formulations.get(*at),
            _ => None,
        }
    }

    /// Finds a constituent.
    pub fn constituent(&self, id: &str) -> Option<&Constituent> {
        match self.places.get(id) {
            Some(Place::Constituent(at)) => self.constituents.get(*at),
            _ => None,
        }
    }

    /// Finds an indication by ICD-10 code.
    pub fn indication(&self, code: &str) -> Option<&Indication> {
        self.indications.iter().find(|indication| indication.id == code)
    }

    /// Finds a caution by code.
    pub fn caution(&self, code: &str) -> Option<&Caution> {
        self.cautions.iter().find(|caution| caution.code == code)
    }

    /// Finds a paper by PMID.
    pub fn paper(&self, pmid: &str) -> Option<&Paper> {
        self.papers.iter().find(|paper| paper.pmid == pmid)
    }

    /// Finds a drug or drug class by name.
    pub fn drug(&self, name: &str) -> Option<&Drug> {
        self.drugs.iter().find(|drug| drug.name == name)
    }

    /// Finds a patient group.
    pub fn group(&self, id: &str) -> Option<&Group> {
        self.groups.iter().find(|group| group.id == id)
    }

    /// Finds a monograph by id and language, `th` or `en`.
    pub fn monograph(&self, id: &str, lang: &str) -> Option<&Monograph> {
        self.monographs.iter().find(|one| one.id == id && one.lang == lang)
    }

    /// Finds a source.
    pub fn source(&self, id: &str) -> Option<&Source> {
        self.sources.iter().find(|source| source.id == id)
    }

    /// Returns the Thai name of a plant part.
    pub fn part_in_thai(&self, part: &str) -> Option<&str> {
        self.parts.iter().find(|known| known.en == part).map(|known| known.th.as_str())
    }
}

fn medicines(
    drugs: &[Drug],
    aliases: &[Alias],
    classes: &[MedicineClass],
) -> Result<MedicineCatalog, DataError> {
    let is_drug = |id: &str| drugs.iter().any(|drug| drug.name == id);
    let aliases = aliases.iter().filter(|alias| is_drug(&alias.id));
    let table = bundled!("medicines.tsv");
    let parts = MedicineParts {
        table: table.text,
        names: bundled!("medicine_names.tsv").text,
        classes,
        drugs,
        aliases: aliases.map(|alias| (alias.id.as_str(), alias.alias.as_str())).collect(),
    };
    MedicineCatalog::of(&parts).map_err(|error| unusable(table.name, &error))
}

fn unusable(file: &'static str, problem: &dyn std::fmt::Display) -> DataError {
    DataError { file, line: 0, problem: serde_json::Error::custom(problem) }
}

fn rows<T: DeserializeOwned>(file: &File) -> Result<Vec<T>, DataError> {
    let lines = file.text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(place, line)| {
            serde_json::from_str(line).map_err(|problem| DataError {
                file: file.name,
                line: place + 1,
                problem,
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_referenced_id_exists() {
        let catalog = HerbCatalog::read().unwrap();
        for herb in &catalog.herbs {
            for holds in &herb.constituents {
                assert!(catalog.constituent(&holds.id).is_some(), "{}: {}", herb.id, holds.id);
            }
            for used in &herb.indications {
                assert!(catalog.indication(&used.icd).is_some(), "{}: {}", herb.id, used.icd);
            }
            for warned in &herb.cautions {
                assert!(catalog.caution(&warned.code).is_some(), "{}: {}", herb.id, warned.code);
            }
            for formulation in &herb.formulations {
                assert!(catalog.formulation(formulation).is_some(), "{}: {formulation}", herb.id);
            }
        }
        for formulation in &catalog.formulations {
            for herb in &formulation.ingredients {
                assert!(catalog.herb(herb).is_some(), "{}: {herb}", formulation.id);
            }
        }
    }

    #[test]
    fn every_statement_has_a_known_source_and_a_verified_flag() {
        let catalog = HerbCatalog::read().unwrap();
        let checked = |place: &str, provenance: &crate::model::Provenance| {
            let source = catalog.source(&provenance.source);
            let source = source.unwrap_or_else(|| panic!("{place}: {}", provenance.source));
            assert!(
                source.verified || provenance.unverified,
                "{place}: `{}` was never checked, and the statement does not say so",
                source.id
            );
        };
        for herb in &catalog.herbs {
            herb.constituents.iter().for_each(|holds| checked(&herb.id, &holds.provenance));
            herb.indications.iter().for_each(|used| checked(&herb.id, &used.provenance));
            herb.cautions.iter().for_each(|warned| checked(&herb.id, &warned.provenance));
        }
        for formulation in &catalog.formulations {
            let id = &formulation.id;
            formulation.indications.iter().for_each(|used| checked(id, &used.provenance));
            formulation.cautions.iter().for_each(|warned| checked(id, &warned.provenance));
        }
        for interaction in &catalog.interactions {
            checked(&interaction.id, &interaction.provenance);
        }
    }

    #[test]
    fn every_pmid_is_a_bundled_paper_or_a_reference() {
        let catalog = HerbCatalog::read().unwrap();
        let known: HashSet<&str> = (catalog.papers.iter().map(|paper| paper.pmid.as_str()))
            .chain(catalog.references.iter().map(|reference| reference.pmid.as_str()))
            .collect();
        let herbs = catalog.herbs.iter().flat_map(|herb| &herb.cautions);
        let formulations = catalog.formulations.iter().flat_map(|one| &one.cautions);
        let mut named: Vec<&String> =
            herbs.chain(formulations).flat_map(|warned| &warned.pmids).collect();
        named.extend(catalog.formulations.iter().flat_map(|one| &one.interaction_pmids));
        assert!(!named.is_empty());
        for pmid in named {
            assert!(known.contains(pmid.as_str()), "PMID {pmid} comes from nowhere");
        }
    }

    /// Scans all texts for numbers that look like PMIDs. Digits of a DOI are adjacent to letters,
    /// dots or slashes.
    #[test]
    fn every_pmid_in_a_text_is_known() {
        let catalog = HerbCatalog::read().unwrap();
        let known: HashSet<&str> = (catalog.papers.iter().map(|paper| paper.pmid.as_str()))
            .chain(catalog.references.iter().map(|reference| reference.pmid.as_str()))
            .collect();
        let stray = |text: &str| -> Vec<String> {
            let words =
                text.split(|letter: char| !letter.is_alphanumeric() && !"./-_".contains(letter));
            let numbers = words.map(|word| word.trim_matches(['.', '/', '-']));
            let pmids =
                numbers.map(|word| word.rsplit_once("nlm.nih.gov/").map_or(word, |(_, id)| id));
            let pmids = pmids.filter(|word| {
                (7..=8).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_digit())
            });
            pmids.filter(|pmid| !known.contains(pmid)).map(str::to_owned).collect()
        };
        assert_eq!(stray("see PMID 12345678."), ["12345678"]);
        assert_eq!(stray("https://pubmed.ncbi.nlm.nih.gov/12345678/"), ["12345678"]);
        assert_eq!(stray("https://doi.org/10.1007/bf00439112"), Vec::<String>::new());
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/ttm");
        let mut files = 0;
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|end| end == "jsonl") {
                let found = stray(&std::fs::read_to_string(&path).unwrap());
                assert!(found.is_empty(), "{}: {found:?}", path.display());
                files += 1;
            }
        }
        assert!(files >= 10, "{files} files");
    }
}
