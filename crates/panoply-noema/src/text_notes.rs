//! Import and export of notes as CSV, TSV, JSON and Markdown.
//!
//! CSV and TSV have one row per note: front, back, tags. A header row may reorder the columns and
//! add `extra` and `form`. JSON is a list of objects with the same names. Markdown is a heading
//! with the answer below it, or `question :: answer` on a line.

use serde::{Deserialize, Serialize};

use crate::error::{NoemaError, Result};
use crate::note::Form;

/// Text format.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum TextFormat {
    /// Comma-separated values.
    Csv,
    /// Tab-separated values.
    Tsv,
    /// A list of objects.
    Json,
    /// Headings, or `question :: answer` lines.
    Markdown,
}

impl TextFormat {
    /// Name in arguments and settings.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Tsv => "tsv",
            Self::Json => "json",
            Self::Markdown => "markdown",
        }
    }
}

/// A note in a text format.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TextNote {
    /// Question, or text with cloze deletions.
    pub front: String,
    /// The answer.
    pub back: String,
    /// Shown with the answer.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub extra: String,
    /// Tags.
    pub tags: Vec<String>,
    /// Form; a front with cloze deletions is a cloze by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub form: Option<Form>,
}

impl TextNote {
    /// Form of the note, which determines its cards.
    pub fn form(&self) -> Form {
        let guess = if crate::render::cloze_numbers(&self.front).is_empty() {
            Form::Basic
        } else {
            Form::Cloze
        };
        self.form.unwrap_or(guess)
    }
}

/// A rejected row.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct BadRow {
    /// Row or line number, from 1.
    pub row: usize,
    /// Reason of the rejection.
    pub problem: String,
}

/// Parsed notes and rejected rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ParsedText {
    /// Notes with their row numbers.
    pub notes: Vec<(usize, TextNote)>,
    /// Rejected rows.
    pub bad: Vec<BadRow>,
}

/// Detects the format of a text.
pub fn detect_format(text: &str) -> TextFormat {
    let start = text.trim_start();
    // Anki writes directives such as `#separator:tab`, which are not headings.
    let directive =
        |line: &&str| line.starts_with('#') && line.contains(':') && !line.contains(' ');
    let mut lines = start.lines().filter(|line| !line.trim().is_empty());
    let first = lines.find(|line| !directive(line)).unwrap_or_default();
    if start.starts_with(['[', '{']) && !start.starts_with("{{") {
        TextFormat::Json
    } else if first.contains('\t') {
        TextFormat::Tsv
    } else if first.starts_with("# ") || first.starts_with("## ") || first.contains(" :: ") {
        TextFormat::Markdown
    } else {
        TextFormat::Csv
    }
}

/// Parses notes.
pub fn parse(text: &str, format: TextFormat) -> ParsedText {
    let mut parsed = match format {
        TextFormat::Csv => parse_rows(text, b','),
        TextFormat::Tsv => parse_rows(text, b'\t'),
        TextFormat::Json => json(text),
        TextFormat::Markdown => markdown(text),
    };
    let (notes, empty): (Vec<_>, Vec<_>) = std::mem::take(&mut parsed.notes)
        .into_iter()
        .partition(|(_, note)| !note.front.trim().is_empty());
    parsed.notes = notes;
    parsed.bad.extend(
        empty.into_iter().map(|(row, _)| BadRow { row, problem: "the front is empty".to_owned() }),
    );
    parsed.bad.sort_by_key(|bad| bad.row);
    parsed
}

fn parse_rows(text: &str, separator: u8) -> ParsedText {
    // Skip Anki's directives such as `#separator:tab`.
    let skipped = text.lines().take_while(|line| line.starts_with('#')).count();
    let body: String = text.split_inclusive('\n').skip(skipped).collect();
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(separator)
        .has_headers(false)
        .flexible(true)
        .from_reader(body.as_bytes());
    let mut parsed = ParsedText::default();
    let mut columns = ["front", "back", "tags"].map(str::to_owned).to_vec();
    for (index, record) in reader.records().enumerate() {
        let row = index + 1 + skipped;
        let record = match record {
            Ok(record) => record,
            Err(error) => {
                parsed.bad.push(BadRow { row, problem: error.to_string() });
                continue;
            }
        };
        let names: Vec<String> = record.iter().map(|cell| cell.trim().to_lowercase()).collect();
        if index == 0 && names.iter().any(|name| name == "front") {
            columns = names;
            continue;
        }
        parsed.notes.push((row, note_of(&columns, &record)));
    }
    parsed
}

fn note_of(columns: &[String], record: &csv::StringRecord) -> TextNote {
    let mut note = TextNote::default();
    for (column, cell) in columns.iter().zip(record) {
        match column.as_str() {
            "front" | "question" | "text" => note.front = cell.to_owned(),
            "back" | "answer" => note.back = cell.to_owned(),
            "extra" | "explanation" => note.extra = cell.to_owned(),
            "tags" => note.tags = cell.split_whitespace().map(str::to_owned).collect(),
            "form" | "type" => note.form = form(cell),
            _ => {}
        }
    }
    note
}

fn form(name: &str) -> Option<Form> {
    serde_json::from_value(serde_json::Value::String(name.trim().to_lowercase())).ok()
}

fn json(text: &str) -> ParsedText {
    let mut parsed = ParsedText::default();
    let value: serde_json::Value = match serde_json::from_str(text) {
        Ok(value) => value,
        Err(error) => {
            parsed
                .bad
                .push(BadRow { row: error.line(), problem: format!("this is not JSON: {error}") });
            return parsed;
        }
    };
    let list = value.get("notes").unwrap_or(&value);
    let Some(rows) = list.as_array() else {
        parsed.bad.push(BadRow { row: 1, problem: "expected a list of notes".to_owned() });
        return parsed;
    };
    for (index, row) in rows.iter().enumerate() {
        match serde_json::from_value(row.clone()) {
            Ok(note) => parsed.notes.push((index + 1, note)),
            Err(error) => parsed.bad.push(BadRow { row: index + 1, problem: error.to_string() }),
        }
    }
    parsed
}

fn markdown(text: &str) -> ParsedText {
    let mut parsed = ParsedText::default();
    let mut open: Option<(usize, TextNote)> = None;
    for (index, line) in text.lines().enumerate() {
        let heading = line.strip_prefix("## ").or_else(|| line.strip_prefix("### "));
        if let Some(front) = heading {
            parsed.notes.extend(open.take());
            open = Some((
                index + 1,
                TextNote { front: front.trim().to_owned(), ..TextNote::default() },
            ));
        } else if let Some((_, note)) = &mut open {
            match line.trim().strip_prefix("Tags:") {
                Some(tags) => {
                    note.tags = tags
                        .split_whitespace()
                        .map(|tag| tag.trim_start_matches('#').to_owned())
                        .collect();
                }
                None => {
                    if !note.back.is_empty() {
                        note.back.push('\n');
                    }
                    note.back.push_str(line);
                }
            }
        } else if let Some((front, back)) = line.split_once(" :: ") {
            let front = front.trim_start_matches(['-', '*', ' ']).trim().to_owned();
            parsed.notes.push((
                index + 1,
                TextNote { front, back: back.trim().to_owned(), ..TextNote::default() },
            ));
        }
    }
    parsed.notes.extend(open);
    for (_, note) in &mut parsed.notes {
        note.back = note.back.trim().replace('\n', "<br>");
    }
    parsed
}

/// Writes notes.
pub fn write(notes: &[TextNote], format: TextFormat) -> Result<String> {
    match format {
        TextFormat::Csv => write_rows(notes, b','),
        TextFormat::Tsv => write_rows(notes, b'\t'),
        TextFormat::Json => serde_json::to_string_pretty(notes)
            .map(|text| text + "\n")
            .map_err(|error| write_error(&error)),
        TextFormat::Markdown => Ok(notes.iter().map(section).collect()),
    }
}

fn write_error(error: &dyn std::fmt::Display) -> NoemaError {
    NoemaError::File(format!("the notes cannot be written: {error}"))
}

fn section(note: &TextNote) -> String {
    let tags = if note.tags.is_empty() {
        String::new()
    } else {
        format!("\nTags: {}\n", note.tags.join(" "))
    };
    let answer = note.back.replace("<br>", "\n");
    format!("## {}\n\n{answer}\n{tags}\n", note.front.replace('\n', " "))
}

fn write_rows(notes: &[TextNote], separator: u8) -> Result<String> {
    let mut writer = csv::WriterBuilder::new().delimiter(separator).from_writer(Vec::new());
    let header = std::iter::once(["front", "back", "extra", "tags"].map(str::to_owned));
    let rows = notes.iter().map(|note| {
        [note.front.clone(), note.back.clone(), note.extra.clone(), note.tags.join(" ")]
    });
    for row in header.chain(rows) {
        writer.write_record(row).map_err(|error| write_error(&error))?;
    }
    let bytes = writer.into_inner().map_err(|error| write_error(&error))?;
    String::from_utf8(bytes).map_err(|error| write_error(&error))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(text: &str) -> Vec<(String, String)> {
        let parsed = parse(text, detect_format(text));
        assert!(parsed.bad.is_empty(), "{:?}", parsed.bad);
        parsed.notes.into_iter().map(|(_, note)| (note.front, note.back)).collect()
    }

    #[test]
    fn every_text_format_is_detected_and_parsed() {
        let expected = [
            ("Thailand".to_owned(), "Bangkok".to_owned()),
            ("France".to_owned(), "Paris".to_owned()),
        ];
        let texts = [
            "Thailand,Bangkok\nFrance,Paris\n",
            "Thailand\tBangkok\nFrance\tParis",
            "#separator:tab\n#html:true\nThailand\tBangkok\nFrance\tParis",
            "tags,back,front\na b,Bangkok,Thailand\n,Paris,France\n",
            r#"[{"front": "Thailand", "back": "Bangkok"}, {"front": "France", "back": "Paris", "tags": ["x"]}]"#,
            "- Thailand :: Bangkok\n- France :: Paris\n",
            "# Capitals\n\n## Thailand\n\nBangkok\n\nTags: geo\n\n## France\nParis\n",
        ];
        for text in texts {
            assert_eq!(pairs(text), expected, "text: {text}");
        }
    }

    #[test]
    fn written_notes_parse_back_unchanged() {
        let notes = vec![
            TextNote {
                front: "a, \"b\"".to_owned(),
                back: "c<br>d".to_owned(),
                tags: vec!["x::y".to_owned()],
                ..TextNote::default()
            },
            TextNote { front: "e".to_owned(), back: "f".to_owned(), ..TextNote::default() },
        ];
        for format in [TextFormat::Csv, TextFormat::Tsv, TextFormat::Json, TextFormat::Markdown] {
            let text = write(&notes, format).unwrap();
            let parsed = parse(&text, format);
            let back: Vec<TextNote> = parsed.notes.into_iter().map(|(_, note)| note).collect();
            assert_eq!(back, notes, "{format:?}:\n{text}");
        }
    }

    #[test]
    fn rejected_rows_are_reported_by_number() {
        let bad = |text: &str| {
            parse(text, detect_format(text)).bad.into_iter().map(|bad| bad.row).collect::<Vec<_>>()
        };
        assert_eq!(bad("a,b\n,c\n"), [2]);
        assert_eq!(bad(r#"[{"front": "a"}, {"fornt": "b"}, 7]"#), [2, 3]);
        assert_eq!(bad("[{"), [1]);
    }

    #[test]
    fn front_with_cloze_deletions_is_a_cloze_note() {
        let note = TextNote { front: "{{c1::a}} b".to_owned(), ..TextNote::default() };
        assert_eq!(note.form(), Form::Cloze);
        assert_eq!(TextNote::default().form(), Form::Basic);
    }
}
