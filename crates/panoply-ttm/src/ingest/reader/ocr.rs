//! OCR of a page with `pdftoppm` and `tesseract`.
//!
//! Debian packages: `poppler-utils`, `tesseract-ocr`, `tesseract-ocr-tha`. The programs run without
//! a shell, in a scratch directory, under the limits of the calling process.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::{Options, ReadError};
use crate::text::is_thai;

/// Minimum mean word confidence; below it the page is noise.
const MIN_CONFIDENCE: f64 = 40.0;

/// Text of a page with its mean word confidence from 0 to 100.
pub(super) struct Scanned {
    pub(super) text: String,
    pub(super) confidence: f64,
}

/// Returns missing OCR programs with their packages.
pub fn missing_programs(path: Option<&std::ffi::OsStr>) -> Vec<(&'static str, &'static str)> {
    let folders: Vec<PathBuf> =
        path.map(|path| std::env::split_paths(path).collect()).unwrap_or_default();
    let there = |program: &str| folders.iter().any(|folder| folder.join(program).is_file());
    [("pdftoppm", "poppler-utils"), ("tesseract", "tesseract-ocr and tesseract-ocr-tha")]
        .into_iter()
        .filter(|(program, _)| !there(program))
        .collect()
}

/// Reads a page by OCR.
pub(super) fn scan(pdf: &Path, page: u32, options: &Options) -> Result<Scanned, ReadError> {
    let folder = pdf.parent().unwrap_or_else(|| Path::new("."));
    let picture = folder.join(format!("page-{page}"));
    let number = page.to_string();
    run(
        "pdftoppm",
        "poppler-utils",
        Command::new("pdftoppm")
            .args([
                "-r",
                &options.dpi.to_string(),
                "-gray",
                "-singlefile",
                "-f",
                &number,
                "-l",
                &number,
            ])
            .arg(pdf)
            .arg(&picture),
    )?;
    let picture = picture.with_extension("pgm");
    let table = run(
        "tesseract",
        "tesseract-ocr and tesseract-ocr-tha",
        Command::new("tesseract")
            .arg(&picture)
            .args(["stdout", "-l", &options.languages, "--psm", "3", "tsv"])
            .env("OMP_THREAD_LIMIT", "1"),
    );
    // Free the disk space for the next page in any case.
    let _ = std::fs::remove_file(&picture);
    let scanned = words(&String::from_utf8_lossy(&table?));
    if scanned.text.is_empty() || scanned.confidence < MIN_CONFIDENCE {
        return Err(ReadError::new(
            "NOTHING_LEGIBLE",
            "no text on the page could be recognised",
            "scan it again with more contrast, at 300 dpi",
        ));
    }
    Ok(scanned)
}

fn run(program: &str, package: &str, command: &mut Command) -> Result<Vec<u8>, ReadError> {
    let done = command.stdin(Stdio::null()).stderr(Stdio::piped()).output();
    let done = done.map_err(|_| {
        ReadError::new(
            "OCR_MISSING",
            format!("the page has no text layer, and `{program}` for OCR is not installed"),
            &format!("install {package}"),
        )
    })?;
    if done.status.success() {
        return Ok(done.stdout);
    }
    let message = String::from_utf8_lossy(&done.stderr);
    let message: String = message.lines().next().unwrap_or_default().chars().take(160).collect();
    Err(ReadError::new(
        "OCR_FAILED",
        format!("`{program}` could not read the page ({}): {message}", done.status),
        "check that the page opens in a viewer and that the OCR languages are installed",
    ))
}

/// A word of tesseract's TSV output.
struct Word<'t> {
    line: (i32, i32, i32),
    left: i32,
    right: i32,
    height: i32,
    confidence: f64,
    text: &'t str,
}

/// Converts TSV output to text; paragraphs are separated by a blank line.
fn words(table: &str) -> Scanned {
    let words: Vec<Word<'_>> = table.lines().filter_map(word).collect();
    let mut text = String::new();
    let (mut sum, mut letters) = (0.0, 0.0);
    let mut paragraph = None;
    for line in words.chunk_by(|one, other| one.line == other.line) {
        let written = written(line);
        if is_debris(&written) {
            continue;
        }
        let at = line.first().map(|word| (word.line.0, word.line.1));
        if !text.is_empty() {
            text.push_str(if paragraph == at { "\n" } else { "\n\n" });
        }
        paragraph = at;
        text.push_str(&written);
        for word in line {
            let count = word.text.chars().count() as f64;
            sum += word.confidence * count;
            letters += count;
        }
    }
    Scanned { text, confidence: if letters > 0.0 { sum / letters } else { 0.0 } }
}

fn word(line: &str) -> Option<Word<'_>> {
    let columns: Vec<&str> = line.split('\t').collect();
    let [level, _, block, paragraph, row, _, left, _, width, height, confidence, text] =
        columns.as_slice()
    else {
        return None;
    };
    let number = |column: &str| column.parse::<i32>().ok();
    let (left, width) = (number(left)?, number(width)?);
    let (confidence, text) = (confidence.parse::<f64>().ok()?, text.trim());
    (*level == "5" && confidence >= 0.0 && !text.is_empty()).then_some(Word {
        line: (number(block)?, number(paragraph)?, number(row)?),
        left,
        right: left.saturating_add(width),
        height: number(height)?,
        confidence,
        text,
    })
}

/// Joins the words of a line. Thai has no spaces: adjacent boxes are joined.
fn written(line: &[Word<'_>]) -> String {
    let mut text = String::new();
    let mut before: Option<&Word<'_>> = None;
    // Boxes of single letters differ in height; use the tallest.
    let height = line.iter().map(|word| word.height).max().unwrap_or_default();
    for word in line {
        if let Some(before) = before {
            let thai = before.text.chars().next_back().is_some_and(is_thai)
                && word.text.chars().next().is_some_and(is_thai);
            let gap = word.left - before.right;
            let close = gap < height / 4;
            if gap > 2 * height {
                // A cell of a table.
                text.push('\t');
            } else if !(thai && (close || word.text.starts_with(follows))) {
                text.push(' ');
            }
        }
        text.push_str(word.text);
        before = Some(word);
    }
    text
}

/// Marks and following vowels.
const fn follows(one: char) -> bool {
    matches!(one, '\u{0E30}'..='\u{0E3A}' | '\u{0E45}' | '\u{0E47}'..='\u{0E4E}')
}

/// Returns whether a line consists of tone marks or stains: few Thai letters, no Latin word, and
/// not mostly digits.
fn is_debris(line: &str) -> bool {
    let all = line.chars().filter(|one| !one.is_whitespace()).count();
    let thai = line.chars().filter(|one| matches!(one, '\u{0E01}'..='\u{0E2E}')).count();
    let digits = line.chars().filter(char::is_ascii_digit).count();
    let latin_word = line.split(|one: char| !one.is_ascii_alphabetic()).any(|word| word.len() >= 3);
    !latin_word && digits * 2 < all && thai * 10 < all * 3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tesseract_table_becomes_lines_without_debris() {
        let table = "level\tpage_num\tblock_num\tpar_num\tline_num\tword_num\tleft\ttop\twidth\theight\tconf\ttext
4\t1\t1\t1\t1\t0\t100\t10\t400\t40\t-1\t
5\t1\t1\t1\t1\t1\t100\t10\t100\t40\t90.0\tขมิ้น
5\t1\t1\t1\t1\t2\t202\t10\t100\t40\t80.0\tชัน
5\t1\t1\t1\t1\t3\t330\t10\t100\t40\t70.0\tCurcuma
5\t1\t1\t1\t2\t1\t100\t60\t10\t5\t20.0\t่ ้
5\t1\t1\t2\t1\t1\t100\t90\t100\t40\t60.0\tlonga
";
        let scanned = words(table);
        assert_eq!(scanned.text, "ขมิ้นชัน Curcuma\n\nlonga");
        // (5 × 90 + 3 × 80 + 7 × 70 + 5 × 60) / 20
        assert!((scanned.confidence - 74.0).abs() < 1e-9, "{}", scanned.confidence);
        assert_eq!(words("").text, "");
        assert_eq!(words("a\tb\tc\n\t\t\n").text, "");
    }
}
