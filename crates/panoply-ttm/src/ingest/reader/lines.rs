//! Groups PDF glyphs into lines and paragraphs.
//!
//! A PDF has positioned glyphs but no words or lines. The drawing order is used as reading order,
//! which holds for almost all files.

use pdf_extract::{MediaBox, OutputDev, OutputError, Transform};

/// Minimum gap of a space, relative to the font size.
const BLANK: f64 = 0.15;
/// Minimum gap between two cells of a table, relative to the font size.
const COLUMN: f64 = 2.0;
/// Minimum vertical step of a new line, relative to the font size.
const LINE: f64 = 0.5;
/// Minimum vertical step of a new paragraph; Thai line spacing is up to 1.7.
const PARAGRAPH: f64 = 2.0;

/// Collects the text of a page.
#[derive(Debug, Default)]
pub(super) struct Lines {
    text: String,
    before: Option<Letter>,
}

#[derive(Clone, Copy, Debug)]
struct Letter {
    end: f64,
    y: f64,
}

impl Lines {
    /// Returns the collected text.
    pub(super) fn text(self) -> String {
        self.text
    }

    fn put(&mut self, x: f64, y: f64, width: f64, size: f64, letters: &str) {
        if let Some(before) = self.before {
            let step = (y - before.y).abs();
            if step > PARAGRAPH * size {
                self.text.push_str("\n\n");
            } else if step > LINE * size || x < before.end - 2.0 * size {
                self.text.push('\n');
            } else if x > before.end + COLUMN * size && !self.text.ends_with(['\t', '\n']) {
                self.text.push('\t');
            } else if x > before.end + BLANK * size && !self.text.ends_with([' ', '\n']) {
                self.text.push(' ');
            }
        }
        self.text.push_str(letters);
        self.before = Some(Letter { end: x + width, y });
    }
}

impl OutputDev for Lines {
    fn begin_page(
        &mut self,
        _: u32,
        _: &MediaBox,
        _: Option<(f64, f64, f64, f64)>,
    ) -> Result<(), OutputError> {
        Ok(())
    }

    fn end_page(&mut self) -> Result<(), OutputError> {
        Ok(())
    }

    fn output_character(
        &mut self,
        at: &Transform,
        width: f64,
        _: f64,
        font_size: f64,
        letters: &str,
    ) -> Result<(), OutputError> {
        // Effective font size: side of a square with the area of the transformed unit square.
        let across = font_size * (at.m11 + at.m21);
        let up = font_size * (at.m12 + at.m22);
        let size = (across * up).abs().sqrt();
        self.put(at.m31, at.m32, width * size, size, letters);
        Ok(())
    }

    fn begin_word(&mut self) -> Result<(), OutputError> {
        Ok(())
    }

    fn end_word(&mut self) -> Result<(), OutputError> {
        Ok(())
    }

    fn end_line(&mut self) -> Result<(), OutputError> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn glyphs_are_grouped_into_lines_and_paragraphs() {
        let mut lines = Lines::default();
        for (x, y, letters) in [
            (0.0, 100.0, "ก"),
            (5.0, 100.0, "า"),
            (12.0, 100.0, "ข"),
            (17.0, 102.0, "²"),
            (45.0, 100.0, "ฆ"),
            (0.0, 86.0, "ค"),
            (0.0, 60.0, "ง"),
        ] {
            lines.put(x, y, 5.0, 10.0, letters);
        }
        assert_eq!(lines.text(), "กา ข²\tฆ\nค\n\nง");
    }
}
