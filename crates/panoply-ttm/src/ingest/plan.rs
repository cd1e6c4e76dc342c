//! What reading files would add: the same files and the same facts give the same plan, and its
//! hash is what a dry run shows and a real run must repeat.

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::chunks::{cut, language};
use super::facts::{Place, read};
use super::gazetteer::Gazetteer;
use super::{Chunk, Fact, UserDocument};
use crate::catalog::HerbCatalog;

/// The text of one page.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct PageText {
    /// The page, from 1.
    pub page: u32,
    /// How the text came off it: `textlayer`, `tesseract` or `text`.
    pub reader: String,
    /// How sure its letters are, from 0 to 100.
    pub certainty: u8,
    /// The text.
    pub text: String,
}

/// A file that was read.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct ReadFile {
    /// The name of the file.
    pub name: String,
    /// SHA-256 of its bytes.
    pub sha256: String,
    /// What it calls itself.
    pub title: Option<String>,
    /// How many pages it has.
    pub pages: u32,
    /// The pages that could be read, in order.
    pub texts: Vec<PageText>,
    /// The pages that could not, and why.
    pub unreadable: Vec<(u32, String)>,
}

impl ReadFile {
    /// The id that the document of these bytes has.
    pub fn id(&self) -> String {
        format!("D:{}", self.sha256.get(..12).unwrap_or(&self.sha256))
    }
}

/// A document with all that was taken out of it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Extract {
    /// The document.
    pub document: UserDocument,
    /// Its pieces.
    pub chunks: Vec<Chunk>,
    /// What it says.
    pub facts: Vec<Fact>,
}

/// What would be added, and what would not.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Plan {
    /// What would be added.
    pub extracts: Vec<Extract>,
    /// What the documents may say: for a person to look at, and not added.
    pub unsure: Vec<Fact>,
    /// How many statements were denied in the text.
    pub denied: usize,
    /// How many of the facts the bundled ones say already.
    pub known: usize,
    /// Pages that could not be read: file, page, why.
    pub unreadable: Vec<(String, u32, String)>,
}

impl Plan {
    /// Adds what a file says. `lang` overrides what the letters say.
    pub fn add(
        &mut self,
        file: &ReadFile,
        job: &str,
        lang: Option<&str>,
        catalog: &HerbCatalog,
        gazetteer: &Gazetteer,
    ) {
        let id = file.id();
        let mut extract = Extract {
            document: UserDocument {
                sha256: file.sha256.clone(),
                name: file.name.clone(),
                title: title(file),
                lang: lang.map_or_else(|| language_of(file), ToOwned::to_owned),
                pages: file.pages,
                job: job.to_owned(),
                id,
            },
            chunks: Vec::new(),
            facts: Vec::new(),
        };
        for page in &file.texts {
            self.add_page(page, lang, gazetteer, &mut extract);
        }
        self.known += extract.facts.iter().filter(|fact| fact.is_known(catalog)).count();
        let lost = file.unreadable.iter();
        self.unreadable.extend(lost.map(|(page, why)| (file.name.clone(), *page, why.clone())));
        self.extracts.push(extract);
    }

    fn add_page(
        &mut self,
        page: &PageText,
        lang: Option<&str>,
        gazetteer: &Gazetteer,
        extract: &mut Extract,
    ) {
        let document = extract.document.id.clone();
        let place = Place { document: &document, page: page.page, certainty: page.certainty };
        let mut reading = read(&page.text, place, gazetteer);
        let letters: Vec<char> = page.text.chars().collect();
        for range in cut(&page.text) {
            let text: String = letters.get(range.clone()).unwrap_or_default().iter().collect();
            let named = reading.named.iter().filter(|(at, _)| range.contains(at));
            let mut about: Vec<String> = named.map(|(_, id)| id.clone()).collect();
            about.sort();
            about.dedup();
            let number = u32::try_from(extract.chunks.len() + 1).unwrap_or(u32::MAX);
            let places = |fact: &&mut Fact| range.contains(&(fact.said.start as usize));
            reading.facts.iter_mut().filter(places).for_each(|fact| fact.said.chunk = number);
            reading.unsure.iter_mut().filter(places).for_each(|fact| fact.said.chunk = number);
            extract.chunks.push(Chunk {
                document: document.clone(),
                number,
                page: page.page,
                start: u32::try_from(range.start).unwrap_or(u32::MAX),
                end: u32::try_from(range.end).unwrap_or(u32::MAX),
                lang: lang.unwrap_or_else(|| language(&text)).to_owned(),
                reader: page.reader.clone(),
                text,
                about,
            });
        }
        self.denied += reading.denied;
        self.unsure.extend(reading.unsure);
        // What several pages say is one fact, with its first place.
        for fact in reading.facts {
            let known = |other: &Fact| other.subject == fact.subject && other.claim == fact.claim;
            if !extract.facts.iter().any(known) {
                extract.facts.push(fact);
            }
        }
    }

    /// SHA-256 of all that would be added, whatever job adds it.
    pub fn hash(&self) -> String {
        let mut hash = Sha256::new();
        for extract in &self.extracts {
            let document = UserDocument { job: String::new(), ..extract.document.clone() };
            let written = serde_json::to_vec(&(document, &extract.chunks, &extract.facts));
            hash.update(written.unwrap_or_default());
            hash.update([0]);
        }
        hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// How many facts would be added.
    pub fn facts(&self) -> usize {
        self.extracts.iter().map(|extract| extract.facts.len()).sum()
    }
}

/// The longest title, in characters.
const MAX_TITLE_LENGTH: usize = 120;

/// What the file calls itself, else the first line with letters, else its name.
fn title(file: &ReadFile) -> String {
    let first = || {
        let lines = file.texts.iter().flat_map(|page| page.text.lines());
        lines
            .map(str::trim)
            .find(|line| line.chars().filter(|one| one.is_alphabetic()).count() >= 4)
    };
    let title = file.title.as_deref().or_else(first).unwrap_or(&file.name);
    title.chars().take(MAX_TITLE_LENGTH).collect()
}

fn language_of(file: &ReadFile) -> String {
    let text: String = file.texts.iter().map(|page| page.text.as_str()).collect();
    language(&text).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &str) -> ReadFile {
        let page =
            PageText { page: 1, reader: "text".to_owned(), certainty: 100, text: text.to_owned() };
        ReadFile {
            name: "note.txt".to_owned(),
            sha256: "ab".repeat(32),
            pages: 1,
            texts: vec![page],
            ..ReadFile::default()
        }
    }

    fn plan(text: &str, job: &str) -> Plan {
        let catalog = HerbCatalog::bundled().unwrap();
        let gazetteer = Gazetteer::new(&catalog).unwrap();
        let mut plan = Plan::default();
        plan.add(&file(text), job, None, &catalog, &gazetteer);
        plan
    }

    #[test]
    fn plan_hash_does_not_depend_on_the_job() {
        let text = "บันทึกสมุนไพร\n\nขมิ้นชันมีสารเคอร์คูมิน ขิงใช้แก้คลื่นไส้อาเจียน";
        let one = plan(text, "one");
        assert_eq!(one.hash(), plan(text, "two").hash());
        assert_ne!(one.hash(), plan("ขมิ้นชันมีสารเคอร์คูมิน", "one").hash());
        assert_eq!(one.extracts[0].document.title, "บันทึกสมุนไพร");
        assert_eq!(one.extracts[0].document.lang, "th");
        assert_eq!(one.known, one.facts(), "the bundled facts say both already");
    }

    #[test]
    fn fact_span_lies_inside_its_chunk() {
        let filler = "ข้อความทั่วไปที่ไม่กล่าวถึงอะไรเลย ".repeat(60);
        let plan = plan(&format!("{filler}\n\nขมิ้นชันมีสารเคอร์คูมิน\n\n{filler}"), "job");
        let extract = &plan.extracts[0];
        assert!(extract.chunks.len() > 2);
        for fact in &extract.facts {
            let chunk = &extract.chunks[fact.said.chunk as usize - 1];
            assert!(chunk.text.contains(&fact.said.quote), "{fact:?}");
            assert!(chunk.about.contains(&fact.subject), "{chunk:?}");
        }
        assert!(!extract.facts.is_empty());
    }
}
