//! Ingest plan: the facts that a set of files would add. It is deterministic; a dry run shows its
//! hash and the real run must present it.

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::chunks::{cut, language};
use super::facts::{Place, read};
use super::gazetteer::Gazetteer;
use crate::catalog::HerbCatalog;
use crate::user_data::{Chunk, Fact, UserDocument};

/// Text of one page.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct PageText {
    /// Page number, from 1.
    pub page: u32,
    /// Text source: `textlayer`, `tesseract` or `text`.
    pub reader: String,
    /// Certainty from 0 to 100.
    pub certainty: u8,
    /// Text.
    pub text: String,
}

/// A file that was read.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct ReadFile {
    /// File name.
    pub name: String,
    /// SHA-256 of the file.
    pub sha256: String,
    /// Title from the metadata.
    pub title: Option<String>,
    /// Number of pages.
    pub pages: u32,
    /// Readable pages in order.
    pub texts: Vec<PageText>,
    /// Unreadable pages with the reason.
    pub unreadable: Vec<(u32, String)>,
}

impl ReadFile {
    /// Returns the document id.
    pub fn id(&self) -> String {
        format!("D:{}", self.sha256.get(..12).unwrap_or(&self.sha256))
    }
}

/// A document with its chunks and facts.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Extract {
    /// Document.
    pub document: UserDocument,
    /// Chunks.
    pub chunks: Vec<Chunk>,
    /// Facts.
    pub facts: Vec<Fact>,
}

/// Changes that an ingest job would make.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Plan {
    /// Documents to add.
    pub extracts: Vec<Extract>,
    /// Uncertain facts, for review only.
    pub unsure: Vec<Fact>,
    /// Number of negated statements.
    pub denied: usize,
    /// Number of facts that the catalog contains already.
    pub known: usize,
    /// Unreadable pages: file, page, reason.
    pub unreadable: Vec<(String, u32, String)>,
}

impl Plan {
    /// Adds a file. `lang` overrides language detection.
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
        // A fact on several pages is added once, with its first position.
        for fact in reading.facts {
            let known = |other: &Fact| other.subject == fact.subject && other.claim == fact.claim;
            if !extract.facts.iter().any(known) {
                extract.facts.push(fact);
            }
        }
    }

    /// Returns the SHA-256 of the plan, independent of the job.
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

    /// Returns the number of facts to add.
    pub fn facts(&self) -> usize {
        self.extracts.iter().map(|extract| extract.facts.len()).sum()
    }
}

/// Maximum length of a title in characters.
const MAX_TITLE_LENGTH: usize = 120;

/// Returns the metadata title, else the first line with letters, else the file name.
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
