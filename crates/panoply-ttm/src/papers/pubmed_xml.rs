//! Parser of PubMed XML: `PubmedArticleSet` of E-utilities, baseline files and the website.
//!
//! Elements are matched by path, because a record also contains PMIDs of other papers. Custom
//! entities are rejected, which prevents entity expansion attacks.

use std::io::{self, BufRead};

use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

use super::Record;
use super::import::{BoundedReader, ImportError, RecordSink, is_generation, one_line, year_in};

/// Maximum nesting depth; formulas in abstracts reach about twenty.
const MAX_DEPTH: usize = 200;

/// Parses a file and emits its records.
pub(super) fn read(
    file: BoundedReader<impl BufRead>,
    checked: &mut RecordSink<'_>,
) -> Result<(), ImportError> {
    let mut reader = Reader::from_reader(file);
    // `<AbstractText Label="LEVEL OF EVIDENCE: 4"/>` carries information, too.
    reader.config_mut().expand_empty_elements = true;
    let mut state = State::default();
    let mut buffer = Vec::new();
    let mut root = None;
    let mut articles = 0_usize;
    loop {
        buffer.clear();
        let event = reader.read_event_into(&mut buffer);
        if reader.get_ref().is_exhausted() {
            return Err(ImportError::TooLarge { place: checked.next_place() });
        }
        let at = reader.buffer_position();
        let broken = |problem: String| ImportError::Xml { at, problem };
        let event = event.map_err(|error| match error {
            quick_xml::Error::Io(error) => {
                ImportError::Unreadable(io::Error::new(error.kind(), error.to_string()))
            }
            other => broken(other.to_string()),
        })?;
        match event {
            Event::Start(element) => {
                let name = name_of(&element);
                root.get_or_insert_with(|| name.clone());
                articles += usize::from(RECORDS.contains(&name.as_str()));
                state.open(name, &element);
                if state.path.len() > MAX_DEPTH {
                    return Err(broken(format!("elements nested deeper than {MAX_DEPTH}")));
                }
            }
            Event::Text(text) => state.text(&text.xml10_content()),
            Event::CData(text) => state.text(&text.xml10_content()),
            Event::GeneralRef(reference) => {
                let character =
                    reference.resolve_char_ref().map_err(|error| broken(error.to_string()))?;
                let name = reference.xml10_content();
                match (character, resolve_predefined_entity(&name)) {
                    (Some(character), _) => state.text(character.encode_utf8(&mut [0; 4])),
                    (None, Some(text)) => state.text(text),
                    (None, None) => return Err(broken(format!("unknown entity `{name}`"))),
                }
            }
            Event::End(_) => {
                if let Some(record) = state.close() {
                    checked.record(record, state.version, None)?;
                    reader.get_mut().start_record();
                }
            }
            Event::Eof => {
                if !state.path.is_empty() {
                    return Err(broken(format!("the file ends inside `{}`", state.path.join("/"))));
                }
                break;
            }
            // Unreachable: empty elements are expanded.
            Event::Empty(_) => {}
            Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => {}
        }
    }
    if articles == 0 {
        return Err(ImportError::NotPubMed { root: root.unwrap_or_default() });
    }
    Ok(())
}

fn name_of(element: &BytesStart<'_>) -> String {
    element.local_name().as_ref().to_owned()
}

fn attribute(element: &BytesStart<'_>, wanted: &str) -> String {
    let found = element.try_get_attribute(wanted).ok().flatten();
    let value = found.and_then(|found| {
        found.normalized_value(XmlVersion::Implicit1_0).ok().map(|value| value.into_owned())
    });
    value.unwrap_or_default()
}

#[derive(Default)]
struct State {
    path: Vec<String>,
    record: Record,
    /// Text of the current element and its children.
    text: String,
    /// Depth of the current element; 0 if none is read.
    reading: usize,
    /// Relevant attribute of the current element: a label or an id type.
    attribute: String,
    author: Author,
    /// Version of the record.
    version: u32,
    medline_date: String,
}

#[derive(Default)]
struct Author {
    family: String,
    given: String,
    initials: String,
    suffix: String,
    group: String,
}

impl Author {
    /// Returns the name with given names first.
    fn name(self) -> String {
        let given = if self.given.is_empty() { self.initials } else { self.given };
        let suffix = if is_generation(&self.suffix) { self.suffix } else { String::new() };
        let person = one_line(&format!("{given} {} {suffix}", self.family));
        if person.is_empty() { self.group } else { person }
    }
}

/// Record elements: papers, and NCBI Bookshelf books and chapters.
const RECORDS: [&str; 2] = ["PubmedArticle", "PubmedBookArticle"];

/// Elements whose text is read, by path suffix.
const READ: &[&str] = &[
    "MedlineCitation/PMID",
    "Article/ArticleTitle",
    "Article/VernacularTitle",
    "Article/Abstract/AbstractText",
    "BookDocument/PMID",
    "BookDocument/ArticleTitle",
    "BookDocument/Abstract/AbstractText",
    "BookDocument/Language",
    "BookDocument/PublicationType",
    "BookDocument/ArticleIdList/ArticleId",
    "Book/BookTitle",
    "Book/PubDate/Year",
    "Article/Journal/Title",
    "JournalIssue/PubDate/Year",
    "JournalIssue/PubDate/MedlineDate",
    "AuthorList/Author/LastName",
    "AuthorList/Author/ForeName",
    "AuthorList/Author/Initials",
    "AuthorList/Author/Suffix",
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
        if self.is_at_a_record() {
            self.record = Record::default();
            self.version = 1;
            self.medline_date.clear();
        } else if self.is_at_an_author() {
            self.author = Author::default();
        }
        if READ.iter().any(|path| self.ends_with(path)) {
            self.reading = self.path.len();
            self.text.clear();
            self.attribute = ["Label", "EIdType", "IdType", "Version"]
                .into_iter()
                .map(|name| attribute(element, name))
                .find(|value| !value.is_empty())
                .unwrap_or_default();
        }
    }

    fn text(&mut self, text: &str) {
        if self.reading > 0 {
            self.text.push_str(text);
        }
    }

    /// Closes an element; returns a record at its end.
    fn close(&mut self) -> Option<Record> {
        if self.reading == self.path.len() && self.reading > 0 {
            self.reading = 0;
            self.keep();
        }
        let author_ends = self.reading == 0 && self.is_at_an_author();
        let record_ends = self.is_at_a_record();
        let is_book = self.path.pop().is_some_and(|name| name == "PubmedBookArticle");
        if author_ends {
            let name = std::mem::take(&mut self.author).name();
            self.record.authors.extend(Some(name).filter(|name| !name.is_empty()));
        }
        record_ends.then(|| {
            let mut record = std::mem::take(&mut self.record);
            record.year = record.year.or_else(|| year_in(&self.medline_date));
            // A book uses its own title; a chapter uses the book as its journal.
            if record.title.is_empty() && is_book {
                record.title.clone_from(&record.journal);
            }
            record
        })
    }

    fn is_at_a_record(&self) -> bool {
        let [.., set, record] = self.path.as_slice() else { return false };
        set == "PubmedArticleSet" && RECORDS.contains(&record.as_str())
    }

    /// Excludes editors, which are in a list inside the book element.
    fn is_at_an_author(&self) -> bool {
        self.ends_with("Article/AuthorList/Author")
            || self.ends_with("BookDocument/AuthorList/Author")
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
            "PMID" => {
                record.pmid = text;
                self.version = self.attribute.parse().unwrap_or(1);
            }
            "ArticleTitle" => record.title = text,
            // Follows the title, which some non-English records leave empty.
            "VernacularTitle" if record.title.is_empty() => record.title = text,
            "AbstractText" => {
                let parts = [self.attribute.as_str(), &text];
                let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
                let line = parts.join(": ");
                if line.is_empty() {
                    return;
                }
                if !record.abstract_text.is_empty() {
                    record.abstract_text.push('\n');
                }
                record.abstract_text.push_str(&line);
            }
            "Title" | "BookTitle" => record.journal = text,
            "Year" => record.year = year_in(&text),
            "MedlineDate" => self.medline_date = text,
            "LastName" => self.author.family = text,
            "ForeName" => self.author.given = text,
            "Initials" => self.author.initials = text,
            "Suffix" => self.author.suffix = text,
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
