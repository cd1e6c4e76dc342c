//! Medicines by name, with their drug classes.
//!
//! `medicines.tsv` has international and US names with RxNorm and ATC codes, `medicine_names.tsv`
//! Thai names and brands, `medicine_classes.jsonl` the ATC groups and members of classes.
//! Membership by ATC group is verified (WHO index), membership by name is general knowledge; every
//! match says which.

use std::collections::{BTreeMap, HashMap};

use serde::Deserialize;

use super::phrases::{Found, Phrases};
use super::transliteration::{Folded, MIN_FOLDED};
use crate::model::{Bilingual, Drug};
use crate::text::spans::overlap;
use crate::text::{Token, is_thai, normalize};

/// All medicines and classes.
#[derive(Debug)]
pub struct MedicineCatalog {
    list: Vec<Medicine>,
    by_name: HashMap<String, Vec<usize>>,
    by_key: HashMap<String, usize>,
    phrases: Phrases,
    /// Folded Thai spellings.
    folded: Phrases,
    /// For each pair of classes a medicine that belongs to both.
    shared: HashMap<(String, String), String>,
}

/// A medicine or drug class.
#[derive(Clone, Debug)]
pub struct Medicine {
    /// Key: the English name used by records.
    pub name: String,
    /// Names.
    pub names: Bilingual,
    /// RxNorm ingredient; may be empty.
    pub rxcui: String,
    /// ATC codes.
    pub atc: Vec<String>,
    /// Whether it is a class.
    pub is_class: bool,
    /// Transitive classes.
    pub classes: Vec<Membership>,
    /// Cautions about interactions that cover it.
    pub cautions: Vec<Coverage>,
}

/// Membership in a class.
#[derive(Clone, Debug, PartialEq)]
pub struct Membership {
    /// Class.
    pub class: String,
    /// False for general knowledge.
    pub verified: bool,
}

/// A caution that covers a medicine.
#[derive(Clone, Debug, PartialEq)]
pub struct Coverage {
    /// Caution code.
    pub code: String,
    /// The covered class, if not the medicine itself.
    pub through: Option<String>,
    /// False for general knowledge.
    pub verified: bool,
}

/// A row of `medicine_classes.jsonl`.
#[derive(Clone, Debug, Deserialize)]
pub struct MedicineClass {
    /// Class, a name of `drugs.jsonl`.
    pub class: String,
    /// ATC prefixes.
    pub atc: Vec<String>,
    /// Excluded ATC codes.
    pub except: Vec<String>,
    /// Members by name, unverified.
    pub members: Vec<String>,
    /// Cautions by mechanism, unverified.
    pub cautions: Vec<String>,
    /// Mechanism, such as `bleeding`.
    pub mechanism: String,
    /// Source id.
    pub source: String,
}

/// Contents of the three files and the rows of `drugs.jsonl`.
pub(crate) struct MedicineFiles<'p> {
    pub(crate) table: &'p str,
    pub(crate) names: &'p str,
    pub(crate) classes: &'p [MedicineClass],
    pub(crate) drugs: &'p [Drug],
    /// Aliases of `drugs.jsonl`.
    pub(crate) aliases: Vec<(&'p str, &'p str)>,
}

/// Minimum length of a name for fuzzy matching.
const MIN_FUZZY_NAME_LENGTH: usize = 6;

impl MedicineCatalog {
    pub(crate) fn of(parts: &MedicineFiles<'_>) -> Result<Self, aho_corasick::BuildError> {
        let mut all = MedicineDraft::default();
        for drug in parts.drugs {
            all.drug(drug);
        }
        for line in parts.table.lines().skip(1) {
            all.row(line);
        }
        for line in parts.names.lines().skip(1) {
            let mut fields = line.split('\t');
            if let (Some(name), Some(kind), Some(spelling)) =
                (fields.next(), fields.next(), fields.next())
            {
                all.spelling(name, kind, spelling);
            }
        }
        for (name, spelling) in &parts.aliases {
            all.spelling(name, "alias", spelling);
        }
        all.finish(parts.classes)
    }

    /// Finds a medicine by key.
    pub fn get(&self, key: &str) -> Option<&Medicine> {
        self.by_key.get(key).and_then(|place| self.list.get(*place))
    }

    /// Iterates over all medicines and classes.
    pub fn iter(&self) -> impl Iterator<Item = &Medicine> {
        self.list.iter()
    }

    /// Returns the keys with this name.
    pub fn named(&self, text: &str) -> Vec<&str> {
        let name = normalize(text).text().trim().to_owned();
        let bare = name.strip_prefix("ยา").map(str::trim);
        let places = self.by_name.get(&name).or_else(|| self.by_name.get(bare?));
        let places = places.map(Vec::as_slice).unwrap_or_default();
        places
            .iter()
            .filter_map(|place| self.list.get(*place))
            .map(|one| one.name.as_str())
            .collect()
    }

    /// Returns keys with a similar name: one edit for six letters or more, two for ten or more,
    /// same first letter. Medicines with names further apart are different medicines.
    pub fn suggest_similar(&self, text: &str) -> Vec<&str> {
        let name = normalize(text).text().trim().to_owned();
        let letters = name.chars().count();
        if letters < MIN_FUZZY_NAME_LENGTH {
            return Vec::new();
        }
        let tolerated = if letters < 10 { 1 } else { 2 };
        let near = |known: &&String| {
            known.chars().next() == name.chars().next()
                && known.chars().count().abs_diff(letters) <= tolerated
                && strsim::damerau_levenshtein(known, &name) <= tolerated
        };
        let mut found: Vec<&str> = (self.by_name.keys().filter(near))
            .flat_map(|known| self.by_name.get(known).into_iter().flatten())
            .filter_map(|place| self.list.get(*place))
            .map(|medicine| medicine.name.as_str())
            .collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Returns a medicine that belongs to both classes: carbamazepine is an antiepileptic and a
    /// substrate of CYP3A4.
    pub(super) fn shared_member(&self, class: &str, other: &str) -> Option<&str> {
        self.shared.get(&(class.to_owned(), other.to_owned())).map(String::as_str)
    }

    /// Finds medicines in a normalised text, Thai names also in another spelling of their sound.
    pub(super) fn find(
        &self,
        text: &str,
        tokens: &[Token],
    ) -> Vec<(std::ops::Range<usize>, Vec<&str>)> {
        let mut found = self.phrases.find(text, tokens);
        let key = Folded::of(text);
        for mut other in self.folded.find(&key.text, &[]) {
            other.range = key.source(text, &other.range);
            if !found.iter().any(|known| overlap(&known.range, &other.range)) {
                found.push(other);
            }
        }
        found.sort_by_key(|found| found.range.start);
        found
            .into_iter()
            .map(|Found { range, targets }| {
                let keys = targets.iter().filter_map(|place| self.list.get(*place));
                (range, keys.map(|one| one.name.as_str()).collect())
            })
            .collect()
    }
}

#[derive(Default)]
struct MedicineDraft {
    list: Vec<Medicine>,
    by_key: HashMap<String, usize>,
    spellings: Vec<(String, usize)>,
    above: BTreeMap<usize, Vec<Membership>>,
}

impl MedicineDraft {
    fn place(&mut self, name: &str) -> usize {
        if let Some(place) = self.by_key.get(name) {
            return *place;
        }
        let place = self.list.len();
        self.list.push(Medicine {
            name: name.to_owned(),
            names: Bilingual { th: String::new(), en: name.to_owned() },
            rxcui: String::new(),
            atc: Vec::new(),
            is_class: false,
            classes: Vec::new(),
            cautions: Vec::new(),
        });
        self.by_key.insert(name.to_owned(), place);
        self.spellings.push((name.to_owned(), place));
        place
    }

    fn drug(&mut self, drug: &Drug) {
        let place = self.place(&drug.name);
        let verified = !drug.unverified;
        let above = drug.classes.iter().map(|class| Membership { class: class.clone(), verified });
        self.above.entry(place).or_default().extend(above);
        for name in [&drug.names.th, &drug.names.en] {
            self.spellings.push((name.clone(), place));
        }
        if let Some(known) = self.list.get_mut(place) {
            known.names = drug.names.clone();
            known.is_class = drug.kind == "class";
            let covered = drug.cautions.iter().cloned();
            known.cautions =
                covered.map(|code| Coverage { code, through: None, verified }).collect();
        }
    }

    fn row(&mut self, line: &str) {
        let fields: Vec<&str> = line.split('\t').collect();
        let [name, rxcui, atc, names, brands, _source] = fields.as_slice() else { return };
        let place = self.place(name);
        for spelling in names.split('|').chain(brands.split('|')).filter(|one| !one.is_empty()) {
            self.spellings.push((spelling.to_owned(), place));
        }
        if let Some(medicine) = self.list.get_mut(place) {
            medicine.rxcui = (*rxcui).to_owned();
            let codes = atc.split('|').filter(|code| !code.is_empty());
            medicine.atc = codes.map(str::to_owned).collect();
        }
    }

    fn spelling(&mut self, name: &str, kind: &str, spelling: &str) {
        let Some(place) = self.by_key.get(name).copied() else { return };
        self.spellings.push((spelling.to_owned(), place));
        if let Some(medicine) = self.list.get_mut(place)
            && kind == "th"
            && medicine.names.th.is_empty()
        {
            spelling.clone_into(&mut medicine.names.th);
        }
    }

    fn finish(
        mut self,
        classes: &[MedicineClass],
    ) -> Result<MedicineCatalog, aho_corasick::BuildError> {
        for class in classes {
            self.members(class);
        }
        for place in 0..self.list.len() {
            let (memberships, coverages) = self.closure(place);
            if let Some(medicine) = self.list.get_mut(place) {
                medicine.classes = memberships;
                for coverage in coverages {
                    if !medicine.cautions.iter().any(|known| known.code == coverage.code) {
                        medicine.cautions.push(coverage);
                    }
                }
            }
        }
        self.cover_classes_by_members();
        let mut by_name: HashMap<String, Vec<usize>> = HashMap::new();
        for (spelling, place) in &self.spellings {
            let known = by_name.entry(normalize(spelling).text().trim().to_owned()).or_default();
            if !known.contains(place) {
                known.push(*place);
            }
        }
        by_name.remove("");
        // Names of two or three letters are ambiguous, except Thai words of three.
        let content = self.spellings.iter().filter(|(spelling, _)| {
            spelling.chars().count() >= if spelling.chars().any(is_thai) { 3 } else { 4 }
                || spelling.chars().all(|letter| letter.is_ascii_uppercase())
        });
        let phrases =
            Phrases::new(content.map(|(spelling, place)| (spelling.as_str(), Some(*place))))?;
        let folded: Vec<(String, usize)> = self
            .spellings
            .iter()
            .filter(|(spelling, _)| spelling.chars().all(is_thai))
            .map(|(spelling, place)| (Folded::of(normalize(spelling).text()).text, *place))
            .filter(|(key, _)| key.chars().count() >= MIN_FOLDED)
            .collect();
        let folded = Phrases::new(folded.iter().map(|(key, place)| (key.as_str(), Some(*place))))?;
        let shared = self.shared_members();
        let Self { list, by_key, .. } = self;
        Ok(MedicineCatalog { list, by_name, by_key, phrases, folded, shared })
    }

    /// Returns the first medicine of each pair of classes.
    fn shared_members(&self) -> HashMap<(String, String), String> {
        let mut shared = HashMap::new();
        for member in self.list.iter().filter(|one| !one.is_class) {
            for class in &member.classes {
                for other in member.classes.iter().filter(|other| other.class != class.class) {
                    let pair = (class.class.clone(), other.class.clone());
                    shared.entry(pair).or_insert_with(|| member.name.clone());
                }
            }
        }
        shared
    }

    /// A caution that covers a member, by name or through another of its classes, concerns a
    /// question about its class: `anti-seizure drugs` include phenytoin, a substrate of CYP2C9.
    fn cover_classes_by_members(&mut self) {
        let mut covered: Vec<(usize, Coverage)> = Vec::new();
        for member in self.list.iter().filter(|one| !one.is_class) {
            for code in member.cautions.iter().map(|one| &one.code) {
                for class in &member.classes {
                    let Some(place) = self.by_key.get(&class.class) else { continue };
                    let through = Some(member.name.clone());
                    covered
                        .push((*place, Coverage { code: code.clone(), through, verified: false }));
                }
            }
        }
        for (place, coverage) in covered {
            if let Some(class) = self.list.get_mut(place)
                && !class.cautions.iter().any(|known| known.code == coverage.code)
            {
                class.cautions.push(coverage);
            }
        }
    }

    fn members(&mut self, class: &MedicineClass) {
        let by_code = |medicine: &Medicine| {
            medicine.atc.iter().any(|code| {
                class.atc.iter().any(|start| code.starts_with(start.as_str()))
                    && !class.except.iter().any(|start| code.starts_with(start.as_str()))
            })
        };
        let places = self.list.iter().enumerate();
        let members: Vec<(usize, bool)> = places
            .filter_map(|(place, medicine)| {
                let named = class.members.contains(&medicine.name);
                let coded = by_code(medicine);
                (named || coded).then_some((place, coded))
            })
            .collect();
        for (place, verified) in members {
            let above = self.above.entry(place).or_default();
            match above.iter_mut().find(|known| known.class == class.class) {
                Some(known) => known.verified |= verified,
                None => above.push(Membership { class: class.class.clone(), verified }),
            }
        }
        if let Some(known) = self.by_key.get(&class.class).and_then(|at| self.list.get_mut(*at)) {
            for code in &class.cautions {
                if !known.cautions.iter().any(|known| known.code == *code) {
                    let code = code.clone();
                    known.cautions.push(Coverage { code, through: None, verified: false });
                }
            }
        }
    }

    /// Returns the transitive classes and the cautions that cover them.
    fn closure(&self, place: usize) -> (Vec<Membership>, Vec<Coverage>) {
        let mut found: Vec<Membership> = Vec::new();
        let mut cautions: Vec<Coverage> = Vec::new();
        let mut open: Vec<(usize, bool)> = vec![(place, true)];
        while let Some((at, sure)) = open.pop() {
            for above in self.above.get(&at).map(Vec::as_slice).unwrap_or_default() {
                let verified = sure && above.verified;
                match found.iter_mut().find(|known| known.class == above.class) {
                    Some(known) if known.verified || !verified => continue,
                    Some(known) => known.verified = true,
                    None => found.push(Membership { class: above.class.clone(), verified }),
                }
                let Some(class) = self.by_key.get(&above.class).copied() else { continue };
                let covered = self.list.get(class).map(|class| class.cautions.as_slice());
                for one in covered.unwrap_or_default() {
                    let verified = verified && one.verified;
                    let through = Some(above.class.clone());
                    cautions.push(Coverage { code: one.code.clone(), through, verified });
                }
                open.push((class, verified));
            }
        }
        cautions.sort_by_key(|one| !one.verified);
        (found, cautions)
    }
}
