//! Reads what PubMed gives out: XML (`PubmedArticleSet`) and MEDLINE, which is also what `.nbib`
//! files hold; either may be gzipped.
//!
//! Records come one at a time, so that a file of the annual baseline (30,000 records) needs no
//! more memory than one of ten.

use std::io::{self, BufRead, BufReader, Read};

use flate2::bufread::MultiGzDecoder;

use super::{Record, medline, pubmed_xml};

/// What was wrong with a file or a record in it.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// It could not be read.
    #[error("cannot read the file: {0}")]
    Unreadable(#[from] io::Error),
    /// It is neither of the formats.
    #[error("this is neither PubMed XML nor MEDLINE: it begins with `{0}`")]
    Unknown(String),
    /// The XML is broken.
    #[error("broken XML at byte {at}: {problem}")]
    Xml {
        /// Where.
        at: u64,
        /// What.
        problem: String,
    },
    /// The XML is something else.
    #[error("this XML has no PubmedArticle: save the records as `PubMed` XML, not as `{root}`")]
    NotPubMed {
        /// What it is.
        root: String,
    },
    /// What receives the records cannot go on.
    #[error("{0}")]
    Sink(String),
}

/// A record that cannot be taken, and why.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Refused {
    /// Its place among the records, from 1.
    pub place: usize,
    /// Its PMID, where it has one.
    pub pmid: String,
    /// Why.
    pub why: &'static str,
}

/// Hands each record of a file on; gives back those that cannot be taken.
pub fn read(
    file: impl Read,
    take: &mut dyn FnMut(Record) -> Result<(), ImportError>,
) -> Result<Vec<Refused>, ImportError> {
    let mut file = BufReader::new(file);
    if file.fill_buf()?.starts_with(&[0x1f, 0x8b]) {
        return read_plain(BufReader::new(MultiGzDecoder::new(file)), take);
    }
    read_plain(file, take)
}

fn read_plain(
    mut file: impl BufRead,
    take: &mut dyn FnMut(Record) -> Result<(), ImportError>,
) -> Result<Vec<Refused>, ImportError> {
    let mut checked = Checked { take, refused: Vec::new(), place: 0 };
    let beginning = file.fill_buf()?;
    let shown = String::from_utf8_lossy(beginning.get(..beginning.len().min(200)).unwrap_or(&[]));
    let shown = shown.trim_start_matches('\u{feff}').trim_start().to_owned();
    if shown.starts_with('<') {
        pubmed_xml::read(file, &mut checked)?;
    } else if medline::looks_like(&shown) {
        medline::read(file, &mut checked)?;
    } else {
        return Err(ImportError::Unknown(shown.chars().take(40).collect()));
    }
    Ok(checked.refused)
}

/// Takes the records that have what a record must have.
pub(super) struct Checked<'a> {
    take: &'a mut dyn FnMut(Record) -> Result<(), ImportError>,
    refused: Vec<Refused>,
    place: usize,
}

impl Checked<'_> {
    pub(super) fn record(&mut self, record: Record) -> Result<(), ImportError> {
        self.place += 1;
        let why = if record.pmid.is_empty() {
            Some("it has no PMID")
        } else if !record.pmid.bytes().all(|byte| byte.is_ascii_digit()) || record.pmid.len() > 12 {
            Some("its PMID is not a number")
        } else if record.title.is_empty() && record.abstract_text.is_empty() {
            Some("it has neither title nor abstract")
        } else {
            None
        };
        match why {
            None => (self.take)(record),
            Some(why) => {
                self.refused.push(Refused { place: self.place, pmid: record.pmid, why });
                Ok(())
            }
        }
    }
}

/// The first four digits in a row that make sense as a year: `2019 Jan-Feb`, `Spring 1998`.
pub(super) fn year_in(text: &str) -> Option<u16> {
    let digits = text.split(|letter: char| !letter.is_ascii_digit());
    digits
        .filter(|run| run.len() == 4)
        .filter_map(|run| run.parse().ok())
        .find(|year| (1700..=2200).contains(year))
}

/// Text on one line.
pub(super) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn records(file: &[u8]) -> Result<(Vec<Record>, Vec<Refused>), ImportError> {
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
    fn the_same_records_come_out_of_both_formats() {
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
    fn a_gzipped_file_is_read_too() {
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packed.write_all(XML.as_bytes()).unwrap();
        assert_eq!(records(&packed.finish().unwrap()).unwrap().0.len(), 2);
    }

    #[test]
    fn windows_line_ends_and_a_byte_order_mark_do_no_harm() {
        let windows = format!("\u{feff}{}", NBIB.replace('\n', "\r\n"));
        assert_eq!(records(windows.as_bytes()).unwrap().0, records(NBIB.as_bytes()).unwrap().0);
    }

    #[test]
    fn what_is_no_such_file_is_said_so() {
        let told = |file: &str| records(file.as_bytes()).unwrap_err().to_string();
        assert!(told("hello").starts_with("this is neither PubMed XML nor MEDLINE"));
        assert!(told("").starts_with("this is neither"));
        assert!(told("<html><body/></html>").contains("not as `html`"));
        let cut = &XML[..XML.len() / 2];
        assert!(told(cut).starts_with("broken XML at byte"), "{}", told(cut));
        let bomb = "<!DOCTYPE x [<!ENTITY a \"aa\">]><PubmedArticleSet><PubmedArticle><MedlineCitation><PMID>&a;</PMID></MedlineCitation></PubmedArticle></PubmedArticleSet>";
        assert!(told(bomb).starts_with("broken XML at byte"), "{}", told(bomb));
    }

    #[test]
    fn a_record_without_number_or_title_is_named_and_the_others_are_taken() {
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
}
