//! PubMed's XML: `PubmedArticleSet`, as E-utilities, the baseline files and the website give it.
//!
//! Elements are known by their path, because a record also holds the PMIDs of other papers.
//! Entities that the file itself defines are refused, so it cannot make the reader grow.

use std::io::BufRead;

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use super::Record;
use super::import::{Checked, ImportError, one_line, year_in};

/// The longest text of one element.
const LONGEST_TEXT: usize = 1 << 20;

/// Hands each record on.
pub(super) fn read(file: impl BufRead, checked: &mut Checked<'_>) -> Result<(), ImportError> {
    let mut reader = Reader::from_reader(file);
    let mut state = State::default();
    let mut buffer = Vec::new();
    let mut root = None;
    let mut articles = 0_usize;
    loop {
        buffer.clear();
        let event = reader.read_event_into(&mut buffer);
        let at = reader.buffer_position();
        let broken = |problem: String| ImportError::Xml { at, problem };
        match event.map_err(|error| broken(error.to_string()))? {
            Event::Start(element) => {
                let name = name_of(&element);
                root.get_or_insert_with(|| name.clone());
                articles += usize::from(name == "PubmedArticle");
                state.open(name, &element);
            }
            Event::Empty(element) => {
                let name = name_of(&element);
                root.get_or_insert(name);
            }
            Event::Text(text) => {
                let text = text.unescape().map_err(|error| broken(error.to_string()))?;
                state.text(&text);
            }
            Event::CData(text) => state.text(&String::from_utf8_lossy(&text)),
            Event::End(_) => {
                if let Some(record) = state.close() {
                    checked.record(record)?;
                }
            }
            Event::Eof => {
                if !state.path.is_empty() {
                    return Err(broken(format!("the file ends inside `{}`", state.path.join("/"))));
                }
                break;
            }
            Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => {}
        }
    }
    if articles == 0 {
        return Err(ImportError::NotPubMed { root: root.unwrap_or_default() });
    }
    Ok(())
}

fn name_of(element: &BytesStart<'_>) -> String {
    String::from_utf8_lossy(element.local_name().as_ref()).into_owned()
}

fn attribute(element: &BytesStart<'_>, wanted: &str) -> String {
    let found = element.try_get_attribute(wanted).ok().flatten();
    let value = found.and_then(|found| found.unescape_value().ok().map(|value| value.into_owned()));
    value.unwrap_or_default()
}

#[derive(Default)]
struct State {
    path: Vec<String>,
    record: Record,
    /// The text of the element that is being read, and of all in it.
    text: String,
    /// How deep that element is; nothing is being read at 0.
    reading: usize,
    /// The attribute of it that matters: a label, or the type of an id.
    attribute: String,
    author: Author,
    medline_date: String,
}

#[derive(Default)]
struct Author {
    family: String,
    given: String,
    group: String,
}

/// The elements whose text is read, by the end of their path below `PubmedArticle`.
const READ: &[&str] = &[
    "MedlineCitation/PMID",
    "Article/ArticleTitle",
    "Article/VernacularTitle",
    "Article/Abstract/AbstractText",
    "Article/Journal/Title",
    "JournalIssue/PubDate/Year",
    "JournalIssue/PubDate/MedlineDate",
    "AuthorList/Author/LastName",
    "AuthorList/Author/ForeName",
    "AuthorList/Author/CollectiveName",
    "Article/Language",
    "PublicationTypeList/PublicationType",
    "MeshHeading/DescriptorName",
    "Article/ELocationID",
    "PubmedData/ArticleIdList/ArticleId",
];

impl State {
    fn open(&mut self, name: String, element: &BytesStart<'_>) {
        self.path.push(name);
        if self.reading > 0 {
            return;
        }
        if self.ends_with("PubmedArticleSet/PubmedArticle") {
            self.record = Record::default();
            self.medline_date.clear();
        } else if self.ends_with("Article/AuthorList/Author") {
            self.author = Author::default();
        }
        if READ.iter().any(|path| self.ends_with(path)) {
            self.reading = self.path.len();
            self.text.clear();
            self.attribute = ["Label", "EIdType", "IdType"]
                .into_iter()
                .map(|name| attribute(element, name))
                .find(|value| !value.is_empty())
                .unwrap_or_default();
        }
    }

    fn text(&mut self, text: &str) {
        if self.reading > 0 && self.text.len() < LONGEST_TEXT {
            self.text.push_str(text);
        }
    }

    /// Leaves an element; gives a record back when that ends one.
    fn close(&mut self) -> Option<Record> {
        if self.reading == self.path.len() && self.reading > 0 {
            self.reading = 0;
            self.keep();
        }
        let author_ends = self.reading == 0 && self.ends_with("Article/AuthorList/Author");
        let record_ends = self.ends_with("PubmedArticleSet/PubmedArticle");
        self.path.pop();
        if author_ends {
            let Author { family, given, group } = std::mem::take(&mut self.author);
            let person = one_line(&format!("{given} {family}"));
            self.record.authors.extend([person, group].into_iter().find(|name| !name.is_empty()));
        }
        record_ends.then(|| {
            let mut record = std::mem::take(&mut self.record);
            record.year = record.year.or_else(|| year_in(&self.medline_date));
            record
        })
    }

    fn ends_with(&self, path: &str) -> bool {
        let mut wanted = path.rsplit('/');
        let mut have = self.path.iter().rev();
        wanted.all(|name| have.next().is_some_and(|element| element == name))
    }

    fn keep(&mut self) {
        let text = one_line(&std::mem::take(&mut self.text));
        let record = &mut self.record;
        let Some(name) = self.path.last() else { return };
        match name.as_str() {
            "PMID" => record.pmid = text,
            "ArticleTitle" => record.title = text,
            // It comes after the title, which some records in other languages leave empty.
            "VernacularTitle" if record.title.is_empty() => record.title = text,
            "AbstractText" => {
                let line = if self.attribute.is_empty() {
                    text
                } else {
                    format!("{}: {text}", self.attribute)
                };
                if !record.abstract_text.is_empty() {
                    record.abstract_text.push('\n');
                }
                record.abstract_text.push_str(&line);
            }
            "Title" => record.journal = text,
            "Year" => record.year = year_in(&text),
            "MedlineDate" => self.medline_date = text,
            "LastName" => self.author.family = text,
            "ForeName" => self.author.given = text,
            "CollectiveName" => self.author.group = text,
            "Language" => record.languages.push(text),
            "PublicationType" => record.publication_types.push(text),
            "DescriptorName" => record.mesh.push(text),
            "ELocationID" | "ArticleId" if self.attribute == "doi" && record.doi.is_none() => {
                record.doi = Some(text);
            }
            _ => {}
        }
    }
}
