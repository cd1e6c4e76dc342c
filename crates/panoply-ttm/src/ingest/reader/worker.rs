//! Child side of the reader process: reads a file from standard input and writes pages to standard
//! output.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use sha2::{Digest as _, Sha256};

use super::ocr::scan;
use super::pdf::Pdf;
use super::{FileKind, Line, OcrProvider, Options, ReadError, limits};
use crate::catalog::HerbCatalog;
use crate::ingest::gazetteer::spellings;
use crate::ingest::legible::{LEGIBLE, legibility, repaired};
use crate::ingest::plan::PageText;
use crate::text::{Dictionary, Segmenter};

/// Maximum number of characters per page; the rest is dropped.
const MAX_PAGE_LENGTH: usize = 200_000;

/// Runs to completion. Failures are written as a line of output. `scratch` is an empty directory
/// that the caller removes.
pub fn run(options: &Options, scratch: &Path, input: impl Read, output: impl Write) {
    let mut output = output;
    let limits = &options.limits;
    // Exit at the wall-clock limit even if the parent died.
    let wall = Duration::from_secs(limits.wall_seconds);
    #[expect(clippy::exit, reason = "this process only reads one file")]
    std::thread::spawn(move || {
        std::thread::sleep(wall);
        std::process::exit(1);
    });
    let done = limits::apply(limits)
        .map_err(|error| {
            ReadError::new("NO_LIMITS", format!("cannot limit the reader: {error}"), "see the log")
        })
        .and_then(|()| read(options, scratch, input, &mut |line| write_line(&mut output, line)));
    let last = match done {
        Ok(()) => Line::End,
        Err(error) => Line::Failed(error),
    };
    // The parent has closed the pipe: nothing left to do.
    let _ = write_line(&mut output, &last);
}

fn write_line(output: &mut impl Write, line: &Line) -> Result<(), ReadError> {
    let closed = |_| ReadError::new("GONE", "the parent process closed the pipe", "start again");
    let mut text = serde_json::to_string(line)
        .map_err(|_| ReadError::new("BROKEN_TEXT", "a page cannot be written", "leave it out"))?;
    text.push('\n');
    output.write_all(text.as_bytes()).and_then(|()| output.flush()).map_err(closed)
}

/// Reads a file page by page.
pub(super) fn read(
    options: &Options,
    scratch: &Path,
    input: impl Read,
    write_line: &mut dyn FnMut(&Line) -> Result<(), ReadError>,
) -> Result<(), ReadError> {
    let bytes = bytes_of(input, options.limits.file_bytes)?;
    let sha256 = format!("{:x}", Sha256::digest(&bytes));
    let segmenter =
        words().map_err(|error| ReadError::new("NO_WORDS", error, "install the program again"))?;
    match options.kind {
        FileKind::Text => text_file(&bytes, sha256, options, write_line),
        FileKind::Pdf => {
            let pdf = Pdf::open(&bytes)?;
            let pages = pdf.pages();
            too_many(pages, options.limits.pages)?;
            write_line(&Line::Head { sha256, pages, title: pdf.title() })?;
            let mut copy = TemporaryPdf { bytes: &bytes, folder: scratch, file: None };
            for page in 1..=pages {
                write_line(&read_page(&pdf, page, options, &segmenter, &mut copy))?;
            }
            Ok(())
        }
    }
}

/// Segmenter for the legibility check.
fn words() -> Result<Segmenter, String> {
    let names = spellings(HerbCatalog::bundled()?.as_ref());
    let dictionary = Dictionary::new(names.iter().map(String::as_str));
    Ok(Segmenter::new(Arc::new(dictionary.map_err(|error| error.to_string())?)))
}

/// Temporary PDF file for the OCR programs.
struct TemporaryPdf<'b> {
    bytes: &'b [u8],
    folder: &'b Path,
    file: Option<PathBuf>,
}

impl TemporaryPdf<'_> {
    fn file(&mut self) -> Result<PathBuf, ReadError> {
        if let Some(file) = &self.file {
            return Ok(file.clone());
        }
        let file = self.folder.join("document.pdf");
        std::fs::write(&file, self.bytes)
            .map_err(|_| ReadError::new("NO_ROOM", "no scratch space", "free some disk space"))?;
        self.file = Some(file.clone());
        Ok(file)
    }
}

fn read_page(
    pdf: &Pdf,
    page: u32,
    options: &Options,
    segmenter: &Segmenter,
    copy: &mut TemporaryPdf<'_>,
) -> Line {
    let layer = || {
        let text = tidy(&pdf.text(page)?);
        let text = repaired(&text, segmenter);
        let legible = legibility(&text, segmenter) >= LEGIBLE;
        legible.then(|| PageText { page, reader: "textlayer".to_owned(), certainty: 100, text })
    };
    let mut scanned = || {
        let scanned = copy.file().and_then(|file| scan(&file, page, options))?;
        #[expect(clippy::cast_possible_truncation, reason = "it is at most a hundred")]
        let certainty = scanned.confidence.round().clamp(0.0, 100.0) as u8;
        let reader = "tesseract".to_owned();
        Ok(PageText { page, reader, certainty, text: repaired(&tidy(&scanned.text), segmenter) })
    };
    // OCR reads what a person sees; without it the page is refused.
    let hidden = pdf.hidden_text(page);
    let refused = |why: &str| {
        ReadError::new(
            "HIDDEN_TEXT",
            format!("the page has {why}, which a person does not see"),
            "use the OCR provider `tesseract`, or remove the hidden text",
        )
    };
    let read = match (options.ocr, hidden) {
        (OcrProvider::TextLayer, Some(why)) => Err(refused(why)),
        (OcrProvider::Auto, Some(why)) => scanned().map_err(|_| refused(why)),
        (OcrProvider::TextLayer, None) => layer().ok_or_else(|| {
            ReadError::new("NO_TEXT_LAYER", "the page has no legible text layer", "use `auto`")
        }),
        (OcrProvider::Tesseract, _) => scanned(),
        (OcrProvider::Auto, None) => layer().map_or_else(scanned, Ok),
    };
    match read {
        Ok(page) => Line::Page(page),
        Err(error) => Line::Unreadable { page, why: format!("{error}; {}", error.hint) },
    }
}

fn text_file(
    bytes: &[u8],
    sha256: String,
    options: &Options,
    write_line: &mut dyn FnMut(&Line) -> Result<(), ReadError>,
) -> Result<(), ReadError> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let at = error.valid_up_to();
        ReadError::new(
            "NOT_UTF8",
            format!("the text is not UTF-8 at byte {at}"),
            "save it as UTF-8",
        )
    })?;
    let text = text.trim_start_matches('\u{FEFF}');
    let pages: BTreeMap<u32, &str> = (1..).zip(text.split('\u{C}')).collect();
    let count = u32::try_from(pages.len()).unwrap_or(u32::MAX);
    too_many(count, options.limits.pages)?;
    write_line(&Line::Head { sha256, pages: count, title: None })?;
    for (page, text) in pages {
        let text = tidy(text);
        let reader = "text".to_owned();
        write_line(&Line::Page(PageText { page, reader, certainty: 100, text }))?;
    }
    Ok(())
}

fn too_many(pages: u32, most: u32) -> Result<(), ReadError> {
    if pages <= most {
        return Ok(());
    }
    Err(ReadError::new(
        "TOO_MANY_PAGES",
        format!("the file has {pages} pages; the maximum is {most}"),
        "split the file",
    ))
}

fn bytes_of(input: impl Read, most: u64) -> Result<Vec<u8>, ReadError> {
    let mut bytes = Vec::new();
    let read = input.take(most + 1).read_to_end(&mut bytes);
    read.map_err(|_| {
        ReadError::new("UNREADABLE", "the file cannot be read", "check that it exists")
    })?;
    if bytes.len() as u64 > most {
        return Err(too_large(most));
    }
    if bytes.is_empty() {
        return Err(ReadError::new("EMPTY_FILE", "the file is empty", "give a file with text"));
    }
    Ok(bytes)
}

pub(super) fn too_large(most: u64) -> ReadError {
    let message = format!("the file is larger than {} MB", most >> 20);
    ReadError::new("FILE_TOO_LARGE", message, "split the file")
}

/// Removes control characters other than tabs and collapses spaces and blank lines. Two line breaks end a
/// paragraph.
fn tidy(text: &str) -> String {
    let mut tidy = String::with_capacity(text.len());
    let mut empty = 2;
    for line in text.chars().take(MAX_PAGE_LENGTH).collect::<String>().lines() {
        let line: String = line.chars().filter(|one| !one.is_control() || *one == '\t').collect();
        let words = |cell: &str| cell.split_whitespace().collect::<Vec<_>>().join(" ");
        // A tab separates the cells of a table.
        let line = line.split('\t').map(words).collect::<Vec<_>>().join("\t");
        let line = line.trim();
        empty = if line.is_empty() { empty + 1 } else { 0 };
        if empty <= 1 {
            tidy.push_str(line);
            tidy.push('\n');
        }
    }
    tidy.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(kind: FileKind, bytes: &[u8]) -> Result<Vec<Line>, ReadError> {
        let folder = tempfile::tempdir().unwrap();
        let options = Options { kind, ..Options::default() };
        let mut lines = Vec::new();
        read(&options, folder.path(), bytes, &mut |line| {
            lines.push(line.clone());
            Ok(())
        })?;
        Ok(lines)
    }

    #[test]
    fn text_file_is_split_into_pages_at_form_feeds() {
        let lines = lines(FileKind::Text, "หนึ่ง\n\u{C}สอง".as_bytes()).unwrap();
        let [Line::Head { pages: 2, .. }, Line::Page(one), Line::Page(two)] = lines.as_slice()
        else {
            panic!("{lines:?}");
        };
        assert_eq!((one.text.as_str(), two.text.as_str(), two.page), ("หนึ่ง", "สอง", 2));
    }

    #[test]
    fn unsupported_file_is_rejected_with_a_reason() {
        let code = |kind, bytes: &[u8]| lines(kind, bytes).unwrap_err().code;
        assert_eq!(code(FileKind::Pdf, b"hello"), "NOT_A_PDF");
        assert_eq!(code(FileKind::Pdf, b""), "EMPTY_FILE");
        assert_eq!(code(FileKind::Pdf, b"%PDF-1.7\nnothing else"), "BROKEN_PDF");
        assert_eq!(code(FileKind::Text, &[0xFF, 0xFE, b'a']), "NOT_UTF8");
        assert_eq!(code(FileKind::Text, "\u{C}".repeat(500).as_bytes()), "TOO_MANY_PAGES");
    }
}
