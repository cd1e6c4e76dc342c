//! Minimal PDF writer: A4 pages of text in the standard fonts, and bitmaps for other scripts.
//!
//! ISO 32000-1: a catalog, a page tree, four of the standard 14 fonts and one text stream per page;
//! see [`super::fallback`] for characters that these fonts lack. Without compression and dates the
//! output is deterministic. A PDF crate would add a dependency for these 250 lines.

use std::fmt::Write as _;
use std::io::{self, Write};

use super::fallback::{FallbackFonts, Run, columns};

const WIDTH: u32 = 595;
const HEIGHT: u32 = 842;
const MARGIN: u32 = 50;
const BOTTOM: u32 = 60;

/// Text style.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Style {
    /// Document title.
    Title,
    /// Section heading.
    Heading,
    /// Paragraph.
    Text,
    /// Table row, monospaced.
    Row,
    /// Table header.
    RowHead,
}

impl Style {
    const fn font(self) -> &'static str {
        match self {
            Self::Title | Self::Heading => "F2",
            Self::Text => "F1",
            Self::Row => "F3",
            Self::RowHead => "F4",
        }
    }

    const fn size(self) -> u32 {
        match self {
            Self::Title => 18,
            Self::Heading => 12,
            Self::Text => 9,
            Self::Row | Self::RowHead => 8,
        }
    }

    const fn leading(self) -> u32 {
        self.size() + self.size() / 3 + 1
    }

    /// Characters per line, by the average width.
    const fn characters(self) -> usize {
        match self {
            Self::Title => 50,
            Self::Heading => 75,
            Self::Text => 105,
            // Courier is 0.6 em wide.
            Self::Row | Self::RowHead => 103,
        }
    }
}

/// PDF document under construction. A page is written out when the next one starts, so the size of
/// a document is not limited by memory.
pub(super) struct PdfWriter<'a> {
    title: &'static str,
    out: &'a mut dyn Write,
    /// First error of the output; nothing is written after it.
    outcome: io::Result<()>,
    /// Byte offset of each object, by number; number 0 is the head of the free list.
    offsets: Vec<u64>,
    written: u64,
    page: String,
    pages: usize,
    y: u32,
    fallback: FallbackFonts,
}

/// Objects 1 to 8 are catalog, page tree, fonts, document information and the table of fonts; then two
/// for each page, and the fallback fonts.
const FIRST_PAGE: usize = 9;

impl<'a> PdfWriter<'a> {
    pub(super) fn new(title: &'static str, out: &'a mut dyn Write) -> Self {
        let mut writer = Self {
            title,
            out,
            outcome: Ok(()),
            offsets: vec![0; FIRST_PAGE],
            written: 0,
            page: String::new(),
            pages: 0,
            y: HEIGHT - MARGIN,
            fallback: FallbackFonts::default(),
        };
        writer.emit("%PDF-1.4\n");
        writer
    }

    /// Writes text, wrapped between words; starts a new page when needed.
    pub(super) fn write(&mut self, style: Style, text: &str) {
        for line in wrap(text, style.characters()) {
            self.line(style, &line);
        }
    }

    /// Adds vertical space.
    pub(super) fn gap(&mut self, points: u32) {
        self.y = self.y.saturating_sub(points);
    }

    /// Starts a new page unless this much space is left.
    pub(super) fn reserve(&mut self, points: u32) {
        if self.y < BOTTOM + points {
            self.end_page();
        }
    }

    fn line(&mut self, style: Style, text: &str) {
        if self.y < BOTTOM + style.leading() {
            self.end_page();
        }
        self.y -= style.leading();
        let runs = self.fallback.runs(text);
        write_text(&mut self.page, style, self.y, &runs);
    }

    fn end_page(&mut self) {
        let (number, object) = (self.pages + 1, FIRST_PAGE + 2 * self.pages);
        let footer = format!("{}    page {number}", self.title);
        let runs = self.fallback.runs(&footer);
        write_text(&mut self.page, Style::Text, 30, &runs);
        let page = std::mem::take(&mut self.page);
        self.object(object, &format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {WIDTH} {HEIGHT}] /Resources << /Font 8 0 R >> /Contents {} 0 R >>",
            object + 1
        ));
        let length = page.chars().count();
        self.object(object + 1, &format!("<< /Length {length} >>\nstream\n{page}endstream"));
        self.pages += 1;
        self.y = HEIGHT - MARGIN;
    }

    fn object(&mut self, number: usize, body: &str) {
        if self.offsets.len() <= number {
            self.offsets.resize(number + 1, 0);
        }
        if let Some(offset) = self.offsets.get_mut(number) {
            *offset = self.written;
        }
        self.emit(&format!("{number} 0 obj\n{body}\nendobj\n"));
    }

    fn emit(&mut self, text: &str) {
        let bytes = bytes_of(text);
        if self.outcome.is_ok() {
            self.outcome = self.out.write_all(&bytes);
        }
        self.written = self.written.saturating_add(u64::try_from(bytes.len()).unwrap_or(u64::MAX));
    }

    /// Writes the last page, the page tree and the cross-reference table.
    pub(super) fn finish(mut self) -> io::Result<()> {
        self.end_page();
        self.object(1, "<< /Type /Catalog /Pages 2 0 R >>");
        let kids: Vec<String> =
            (0..self.pages).map(|page| format!("{} 0 R", FIRST_PAGE + 2 * page)).collect();
        let tree = format!("<< /Type /Pages /Kids [{}] /Count {} >>", kids.join(" "), self.pages);
        self.object(2, &tree);
        let fonts = ["Helvetica", "Helvetica-Bold", "Courier", "Courier-Bold"];
        for (number, font) in (3..).zip(fonts) {
            self.object(
                number,
                &format!(
                    "<< /Type /Font /Subtype /Type1 /BaseFont /{font} /Encoding /WinAnsiEncoding >>"
                ),
            );
        }
        self.object(7, &format!("<< /Title ({}) /Producer (Panoply) >>", self.title));
        let first = FIRST_PAGE + 2 * self.pages;
        let (bodies, fallback) = self.fallback.objects(first);
        for (number, body) in (first..).zip(bodies) {
            self.object(number, &body);
        }
        let mut fonts = "/F1 3 0 R /F2 4 0 R /F3 5 0 R /F4 6 0 R".to_owned();
        for (index, number) in fallback.into_iter().enumerate() {
            let _ = write!(fonts, " /U{index} {number} 0 R");
        }
        self.object(8, &format!("<< {fonts} >>"));
        let (table, count) = (self.written, self.offsets.len());
        self.emit(&format!("xref\n0 {count}\n0000000000 65535 f \n"));
        for offset in std::mem::take(&mut self.offsets).into_iter().skip(1) {
            self.emit(&format!("{offset:010} 00000 n \n"));
        }
        self.emit(&format!(
            "trailer\n<< /Size {count} /Root 1 0 R /Info 7 0 R >>\nstartxref\n{table}\n%%EOF\n"
        ));
        self.outcome
    }
}

fn write_text(page: &mut String, style: Style, y: u32, runs: &[Run]) {
    // Half-width glyphs are half as wide as high: 1.2 times the size has the columns of Courier.
    let size = style.size();
    let _ = write!(page, "BT {MARGIN} {y} Td");
    for run in runs {
        let _ = match run {
            Run::Standard(text) => write!(page, " /{} {size} Tf ({text}) Tj", style.font()),
            Run::Fallback(font, codes) => {
                write!(page, " /U{font} {}.{} Tf <{codes}> Tj", size * 6 / 5, size * 12 % 10)
            }
        };
    }
    page.push_str(" ET\n");
}

/// Encodes page content: every character is one byte.
fn bytes_of(text: &str) -> Vec<u8> {
    text.chars().map(|c| u8::try_from(u32::from(c)).unwrap_or(b'?')).collect()
}

/// Wraps text at `most` columns, between words; longer words are cut.
fn wrap(text: &str, most: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut rest = text;
    while let Some(end) = cut(rest, most) {
        let head = rest.get(..end).unwrap_or(rest);
        let between_words = rest.get(end..).is_some_and(|after| after.starts_with(' '));
        let last_space = head.rfind(' ').filter(|cut| *cut > 0 && !between_words);
        let cut = last_space.unwrap_or(end);
        lines.push(rest.get(..cut).unwrap_or_default().to_owned());
        rest = rest.get(cut..).unwrap_or_default().trim_start();
    }
    lines.push(rest.to_owned());
    lines
}

/// Byte at which a text exceeds `most` columns; `None` when it fits.
fn cut(text: &str, most: usize) -> Option<usize> {
    // Most lines are short, and bytes are never fewer than columns.
    if text.len() <= most {
        return None;
    }
    let mut taken = 0;
    let past = text.char_indices().find(|(_, c)| {
        taken += columns(*c);
        taken > most
    });
    past.map(|(index, _)| index).filter(|index| *index > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn xref_table_points_to_every_object() {
        let mut bytes = Vec::new();
        let mut writer = PdfWriter::new("Test", &mut bytes);
        for number in 0..200 {
            writer.write(Style::Row, &format!("row {number} (£5)"));
        }
        writer.finish().unwrap();
        let text: String = bytes.iter().map(|byte| char::from(*byte)).collect();
        assert!(text.starts_with("%PDF-1.4") && text.ends_with("%%EOF\n"));
        let table: usize =
            text.rsplit("startxref\n").next().unwrap().lines().next().unwrap().parse().unwrap();
        assert!(bytes[table..].starts_with(b"xref"));
        let listed: String = bytes[table..].iter().map(|byte| char::from(*byte)).collect();
        for (number, entry) in (1..).zip(listed.lines().filter(|line| line.ends_with(" n "))) {
            let offset: usize = entry[..10].parse().unwrap();
            let start = format!("{number} 0 obj\n");
            assert!(bytes[offset..].starts_with(start.as_bytes()), "{entry}");
            let object = &bytes[offset..];
            let text: String = object.iter().take(60).map(|byte| char::from(*byte)).collect();
            let Some(length) = text.split("/Length ").nth(1) else { continue };
            let length: usize = length.split(' ').next().unwrap().parse().unwrap();
            let body = text.find("stream\n").unwrap() + "stream\n".len();
            assert!(object[body + length..].starts_with(b"endstream"), "{number}");
        }
        assert_eq!(text.matches("/Type /Page ").count(), 4);
        assert!(text.contains("page 4)"));
    }

    #[test]
    fn long_lines_wrap_between_words() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("abcdefghij", 4), ["abcd", "efgh", "ij"]);
        assert_eq!(wrap("", 4), [""]);
    }
}
