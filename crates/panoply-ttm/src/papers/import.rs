//! Imports PubMed XML (`PubmedArticleSet`) and MEDLINE (`.nbib`), optionally gzipped.
//!
//! Records are streamed, so a baseline file (30,000 records) needs no more memory than a small one.
//! The record size is bounded to prevent decompression bombs.

use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, Read};

use flate2::bufread::MultiGzDecoder;

use super::{Record, medline, pubmed_xml};

/// Maximum record size in bytes. The largest record of the MEDLINE files in the outside test has
/// half a megabyte.
pub(super) const MAX_RECORD_BYTES: u64 = 32 << 20;

/// An error in a file.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The file cannot be read.
    #[error("cannot read the file: {0}")]
    Unreadable(#[from] io::Error),
    /// Unknown format.
    #[error("not PubMed XML or MEDLINE: the file starts with `{0}`")]
    Unknown(String),
    /// Malformed XML.
    #[error("malformed XML at byte {at}: {problem}")]
    Xml {
        /// Byte offset.
        at: u64,
        /// Problem.
        problem: String,
    },
    /// XML of another kind.
    #[error("this XML has no PubmedArticle: save the records as `PubMed` XML, not as `{root}`")]
    NotPubMed {
        /// Root element.
        root: String,
    },
    /// A record exceeds the size limit.
    #[error("record {place} has more than {} MiB", MAX_RECORD_BYTES >> 20)]
    TooLarge {
        /// Record number, from 1.
        place: usize,
    },
    /// The receiver of the records failed.
    #[error("{0}")]
    Sink(String),
}

/// A rejected record.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RejectedRecord {
    /// Record number, from 1.
    pub place: usize,
    /// PMID, if any.
    pub pmid: String,
    /// Reason.
    pub why: &'static str,
}

/// Passes each record of a file to a sink; returns rejected records.
pub fn read(
    file: impl Read,
    take: &mut dyn FnMut(Record) -> Result<(), ImportError>,
) -> Result<Vec<RejectedRecord>, ImportError> {
    let mut file = BufReader::new(file);
    if file.fill_buf()?.starts_with(&[0x1f, 0x8b]) {
        return read_plain(BufReader::new(MultiGzDecoder::new(file)), take);
    }
    read_plain(file, take)
}

fn read_plain(
    mut file: impl BufRead,
    take: &mut dyn FnMut(Record) -> Result<(), ImportError>,
) -> Result<Vec<RejectedRecord>, ImportError> {
    let mut checked = RecordSink { take, refused: Vec::new(), place: 0, newest: HashMap::new() };
    let beginning = file.fill_buf()?;
    let shown = String::from_utf8_lossy(beginning.get(..beginning.len().min(200)).unwrap_or(&[]));
    let shown = shown.trim_start_matches('\u{feff}').trim_start().to_owned();
    let file = BoundedReader { file, left: MAX_RECORD_BYTES };
    if shown.starts_with('<') {
        pubmed_xml::read(file, &mut checked)?;
    } else if medline::looks_like(&shown) {
        medline::read(file, &mut checked)?;
    } else {
        // Strip control characters: the file is untrusted and the message is shown in a terminal.
        let printable = shown.chars().filter(|letter| !letter.is_control());
        return Err(ImportError::Unknown(printable.take(40).collect()));
    }
    Ok(checked.refused)
}

/// Validates records and passes them on.
pub(super) struct RecordSink<'a> {
    take: &'a mut dyn FnMut(Record) -> Result<(), ImportError>,
    refused: Vec<RejectedRecord>,
    place: usize,
    /// Newest version of each paper that occurs in several versions.
    newest: HashMap<String, u32>,
}

impl RecordSink<'_> {
    /// Returns the number of the current record.
    pub(super) const fn next_place(&self) -> usize {
        self.place + 1
    }

    /// Accepts or rejects a record; `flaw` is a problem found by the parser.
    pub(super) fn record(
        &mut self,
        record: Record,
        version: u32,
        flaw: Option<&'static str>,
    ) -> Result<(), ImportError> {
        self.place += 1;
        let why = if flaw.is_some() {
            flaw
        } else if record.pmid.is_empty() {
            Some("it has no PMID")
        } else if !record.pmid.bytes().all(|byte| byte.is_ascii_digit()) || record.pmid.len() > 12 {
            Some("its PMID is not a number")
        } else if record.title.is_empty() && record.abstract_text.is_empty() {
            Some("it has neither title nor abstract")
        } else if self.is_superseded(&record.pmid, version) {
            Some("a newer version precedes it in this file")
        } else {
            None
        };
        match why {
            None => (self.take)(record),
            Some(why) => {
                self.refused.push(RejectedRecord { place: self.place, pmid: record.pmid, why });
                Ok(())
            }
        }
    }

    /// Nearly all papers have one version; those are not tracked.
    fn is_superseded(&mut self, pmid: &str, version: u32) -> bool {
        if self.newest.get(pmid).is_some_and(|newest| *newest > version) {
            return true;
        }
        if version > 1 {
            self.newest.insert(pmid.to_owned(), version);
        }
        false
    }
}

/// A reader that stops at the maximum record size until the record ends.
pub(super) struct BoundedReader<R> {
    file: R,
    left: u64,
}

impl<R> BoundedReader<R> {
    /// Resets the limit at the start of a record.
    pub(super) const fn start_record(&mut self) {
        self.left = MAX_RECORD_BYTES;
    }

    /// Returns whether the current record exceeds the limit.
    pub(super) const fn is_exhausted(&self) -> bool {
        self.left == 0
    }
}

impl<R: BufRead> Read for BoundedReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.fill_buf()?.read(buffer)?;
        self.consume(count);
        Ok(count)
    }
}

impl<R: BufRead> BufRead for BoundedReader<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.left == 0 {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.file.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        self.left = self.left.saturating_sub(amount as u64);
        self.file.consume(amount);
    }
}

/// Returns whether a suffix is a generation (Jr, III). MEDLINE appends it to the given names; the
/// XML has an element that also contains titles (`PhD`).
pub(super) fn is_generation(suffix: &str) -> bool {
    let suffix = suffix.trim_end_matches('.');
    matches!(suffix, "Jr" | "Sr" | "2nd" | "3rd" | "4th" | "5th" | "6th" | "II" | "III" | "IV")
}

/// Returns the first plausible year: `2019 Jan-Feb`, `Spring 1998`.
pub(super) fn year_in(text: &str) -> Option<u16> {
    let digits = text.split(|letter: char| !letter.is_ascii_digit());
    digits
        .filter(|run| run.len() == 4)
        .filter_map(|run| run.parse().ok())
        .find(|year| (1700..=2200).contains(year))
}

/// Collapses whitespace.
pub(super) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn records(file: &[u8]) -> Result<(Vec<Record>, Vec<RejectedRecord>), ImportError> {
        let mut records = Vec::new();
        let refused = read(file, &mut |record| {
            records.push(record);
            Ok(())
        })?;
        Ok((records, refused))
    }

    const XML: &str = include_str!("../../tests/fixtures/two-records.xml");
    const NBIB: &str = include_str!("../../tests/fixtures/two-records.nbib");

    #[test]
    fn xml_and_medline_yield_the_same_records() {
        let (from_xml, refused) = records(XML.as_bytes()).unwrap();
        assert_eq!(refused, []);
        let (from_nbib, refused) = records(NBIB.as_bytes()).unwrap();
        assert_eq!(refused, []);
        assert_eq!(from_xml, from_nbib);
        let first = &from_xml[0];
        assert_eq!(first.pmid, "90000001");
        assert_eq!(first.title, "A made-up trial of Zingiber officinale & H2O for tests.");
        assert_eq!(
            first.abstract_text,
            "BACKGROUND: Nobody ran this trial.\nRESULTS: Nothing was found (p < 0.05)."
        );
        assert_eq!(first.authors, ["Somchai Jaidee", "Anna B Example", "The Test Group"]);
        assert_eq!(first.journal, "Journal of examples");
        assert_eq!(first.year, Some(2019));
        assert_eq!(first.mesh, ["Zingiber officinale", "Humans"]);
        assert_eq!(first.publication_types, ["Journal Article", "Randomized Controlled Trial"]);
        assert_eq!(first.doi.as_deref(), Some("10.1000/example.1"));
        assert_eq!(first.languages, ["eng"]);
        assert_eq!(from_xml[1].pmid, "90000002");
        assert_eq!(from_xml[1].title, "อีกเรื่องหนึ่ง ไม่มีบทคัดย่อ");
        assert_eq!(from_xml[1].year, Some(1998));
        assert_eq!(from_xml[1].abstract_text, "");
    }

    #[test]
    fn gzipped_file_is_imported() {
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packed.write_all(XML.as_bytes()).unwrap();
        assert_eq!(records(&packed.finish().unwrap()).unwrap().0.len(), 2);
    }

    #[test]
    fn crlf_and_byte_order_mark_are_accepted() {
        let windows = format!("\u{feff}{}", NBIB.replace('\n', "\r\n"));
        assert_eq!(records(windows.as_bytes()).unwrap().0, records(NBIB.as_bytes()).unwrap().0);
    }

    #[test]
    fn unsupported_file_is_rejected_with_a_reason() {
        let errors = |file: &str| records(file.as_bytes()).unwrap_err().to_string();
        assert!(errors("hello").starts_with("not PubMed XML or MEDLINE"));
        assert!(errors("").starts_with("not PubMed XML"));
        assert!(errors("\u{1b}[2Jx").ends_with("the file starts with `[2Jx`"));
        assert!(errors("<html><body/></html>").contains("not as `html`"));
        let cut = &XML[..XML.len() / 2];
        assert!(errors(cut).starts_with("malformed XML at byte"), "{}", errors(cut));
        let bomb = "<!DOCTYPE x [<!ENTITY a \"aa\">]><PubmedArticleSet><PubmedArticle><MedlineCitation><PMID>&a;</PMID></MedlineCitation></PubmedArticle></PubmedArticleSet>";
        assert!(errors(bomb).starts_with("malformed XML at byte"), "{}", errors(bomb));
    }

    #[test]
    fn incomplete_record_is_reported_and_the_rest_imported() {
        let file =
            "PMID- 1\nTI  - Good.\n\nTI  - No number.\n\nPMID- x2\nTI  - Bad number.\n\nPMID- 3\n";
        let (taken, refused) = records(file.as_bytes()).unwrap();
        assert_eq!(taken.len(), 1);
        let why: Vec<&str> = refused.iter().map(|one| one.why).collect();
        assert_eq!(
            why,
            ["it has no PMID", "its PMID is not a number", "it has neither title nor abstract"]
        );
        assert_eq!(refused[0].place, 2);
    }

    #[test]
    fn newest_version_of_a_paper_wins_in_any_order() {
        let version = |version: u32| {
            format!(
                "<PubmedArticle><MedlineCitation><PMID Version=\"{version}\">7</PMID><Article>\
                 <ArticleTitle>Version {version}.</ArticleTitle></Article></MedlineCitation></PubmedArticle>"
            )
        };
        let file = |versions: &[u32]| {
            let articles: String = versions.iter().map(|one| version(*one)).collect();
            format!("<PubmedArticleSet>{articles}</PubmedArticleSet>")
        };
        for (order, left_out) in [(&[1, 2, 3], 0), (&[3, 1, 2], 2), (&[2, 3, 1], 1)] {
            let (taken, refused) = records(file(order).as_bytes()).unwrap();
            assert_eq!(taken.last().unwrap().title, "Version 3.", "{order:?}");
            assert_eq!(refused.len(), left_out, "{order:?}");
        }
    }

    #[test]
    fn oversized_record_is_rejected_before_it_is_buffered() {
        let endless = |before: &'static str| {
            let errors =
                read(before.as_bytes().chain(io::repeat(b'a')), &mut |_| Ok(())).unwrap_err();
            assert_eq!(errors.to_string(), "record 2 has more than 32 MiB");
        };
        endless("PMID- 1\nTI  - Good.\n\nPMID- 2\nTI  - ");
        endless(
            "<PubmedArticleSet><PubmedArticle><MedlineCitation><PMID>1</PMID></MedlineCitation></PubmedArticle>\
             <PubmedArticle><MedlineCitation><Article><ArticleTitle>",
        );
        let deep = format!("<PubmedArticleSet>{}", "<a>".repeat(1_000));
        assert!(records(deep.as_bytes()).unwrap_err().to_string().contains("deeper than 200"));
    }

    #[test]
    fn record_that_is_not_utf8_is_rejected() {
        let (taken, refused) =
            records(b"PMID- 1\nTI  - Gr\xfcn.\n\nPMID- 2\nTI  - Gr\xc3\xbcn.\n").unwrap();
        assert_eq!(taken.iter().map(|one| one.title.as_str()).collect::<Vec<_>>(), ["Grün."]);
        assert_eq!(refused[0].why, "it is not UTF-8");
    }

    #[test]
    fn author_suffix_follows_the_name_in_both_formats() {
        let author = |parts: &str| {
            let file = format!(
                "<PubmedArticleSet><PubmedArticle><MedlineCitation><PMID>1</PMID><Article>\
                 <ArticleTitle>T</ArticleTitle><AuthorList><Author>{parts}</Author></AuthorList>\
                 </Article></MedlineCitation></PubmedArticle></PubmedArticleSet>"
            );
            records(file.as_bytes()).unwrap().0.remove(0).authors
        };
        let family = "<LastName>King</LastName>";
        let given = "<ForeName>Martin Luther</ForeName><Initials>ML</Initials>";
        for (xml, fau, name) in [
            (
                format!("{family}{given}<Suffix>Jr</Suffix>"),
                "King, Martin Luther Jr",
                "Martin Luther King Jr",
            ),
            (
                format!("{family}{given}<Suffix>PhD</Suffix>"),
                "King, Martin Luther",
                "Martin Luther King",
            ),
            (format!("{family}<Initials>ML</Initials>"), "King, ML", "ML King"),
            (family.to_owned(), "King", "King"),
        ] {
            assert_eq!(author(&xml), [name]);
            let nbib = format!("PMID- 1\nTI  - T\nFAU - {fau}\n");
            assert_eq!(records(nbib.as_bytes()).unwrap().0[0].authors, [name]);
        }
    }

    #[test]
    fn books_and_chapters_are_imported_as_records() {
        let xml = "<PubmedArticleSet><PubmedBookArticle><BookDocument><PMID Version=\"1\">5</PMID>\
            <Book><BookTitle>Herbs</BookTitle><PubDate><Year>2011</Year></PubDate>\
            <AuthorList Type=\"editors\"><Author><LastName>Editor</LastName></Author></AuthorList></Book>\
            <ArticleTitle>Ginger</ArticleTitle><Language>eng</Language>\
            <AuthorList Type=\"authors\"><Author><LastName>Author</LastName></Author></AuthorList>\
            <Abstract><AbstractText>Of ginger.</AbstractText></Abstract></BookDocument></PubmedBookArticle>\
            <PubmedBookArticle><BookDocument><PMID>6</PMID><Book><BookTitle>Herbs</BookTitle></Book>\
            </BookDocument></PubmedBookArticle></PubmedArticleSet>";
        let (taken, refused) = records(xml.as_bytes()).unwrap();
        assert_eq!(refused, []);
        let chapter = Record {
            pmid: "5".to_owned(),
            title: "Ginger".to_owned(),
            abstract_text: "Of ginger.".to_owned(),
            authors: vec!["Author".to_owned()],
            journal: "Herbs".to_owned(),
            year: Some(2011),
            languages: vec!["eng".to_owned()],
            ..Record::default()
        };
        assert_eq!(taken[0], chapter);
        assert_eq!((taken[1].title.as_str(), taken[1].pmid.as_str()), ("Herbs", "6"));
    }
}
