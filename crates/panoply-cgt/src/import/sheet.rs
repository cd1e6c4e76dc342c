//! Tables in CSV files: location of the header row, fields by heading.

/// A table with a header row.
pub(super) struct Sheet {
    /// Line of the header row.
    pub(super) line: u32,
    headings: Vec<String>,
    pub(super) records: Vec<Record>,
}

/// A row and its line.
pub(super) struct Record {
    pub(super) line: u32,
    fields: csv::StringRecord,
}

impl Sheet {
    /// Finds the table whose headings contain all of `needed`; brokers put notes above it.
    pub(super) fn find(text: &str, needed: &[&str]) -> Option<Self> {
        let mut records = rows(text).into_iter();
        let (line, headings) =
            records.by_ref().find_map(|record| Some((record.line, record.headings(needed)?)))?;
        Some(Self { line, headings, records: records.collect() })
    }

    /// Finds all tables of a file: a new one starts at each row with all of `needed` as fields.
    pub(super) fn all(text: &str, needed: &[&str]) -> Vec<Self> {
        let mut sheets: Vec<Self> = Vec::new();
        for record in rows(text) {
            match (record.headings(needed), sheets.last_mut()) {
                (Some(headings), _) => {
                    sheets.push(Self { line: record.line, headings, records: Vec::new() });
                }
                (None, Some(sheet)) => sheet.records.push(record),
                (None, None) => {}
            }
        }
        sheets
    }

    /// Headings and fields of a row.
    pub(super) fn fields<'a>(
        &'a self,
        record: &'a Record,
    ) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.headings.iter().zip(&record.fields).map(|(name, field)| (name.as_str(), field.trim()))
    }

    /// Field by heading or heading prefix; empty when missing.
    pub(super) fn get<'a>(&self, record: &'a Record, name: &str) -> &'a str {
        let name = name.to_lowercase();
        let exact = self.headings.iter().position(|heading| *heading == name);
        let column =
            exact.or_else(|| self.headings.iter().position(|heading| heading.starts_with(&name)));
        column.and_then(|column| record.fields.get(column)).map_or("", str::trim)
    }

    /// Field by exact heading; empty when missing.
    pub(super) fn exact<'a>(&self, record: &'a Record, name: &str) -> &'a str {
        let column = self.headings.iter().position(|heading| heading.eq_ignore_ascii_case(name));
        column.and_then(|column| record.fields.get(column)).map_or("", str::trim)
    }

    /// Field whose heading ends with its unit, and that unit: `Transaction fee (GBP)`.
    pub(super) fn with_unit<'a>(&'a self, record: &'a Record, name: &str) -> (&'a str, &'a str) {
        let name = format!("{} (", name.to_lowercase());
        let unit_of = |heading: &'a str| heading.strip_prefix(&name)?.strip_suffix(')');
        let found = self.fields(record).find_map(|(heading, field)| {
            let unit = unit_of(heading)?;
            Some((field, unit))
        });
        found.unwrap_or_default()
    }

    /// The whole heading, in lower case, of a column named by it or by its start.
    pub(super) fn heading(&self, name: &str) -> &str {
        let name = name.to_lowercase();
        let exact = self.headings.iter().find(|heading| **heading == name);
        let found =
            exact.or_else(|| self.headings.iter().find(|heading| heading.starts_with(&name)));
        found.map_or("", String::as_str)
    }

    /// Headings, for error messages.
    pub(super) fn headings(&self) -> String {
        self.headings.join(", ")
    }
}

impl Record {
    /// The fields as headings, when they contain all of `needed` as prefixes.
    fn headings(&self, needed: &[&str]) -> Option<Vec<String>> {
        let headings: Vec<String> =
            self.fields.iter().map(|field| field.trim().to_lowercase()).collect();
        let has =
            |name: &&str| headings.iter().any(|heading| heading.starts_with(&name.to_lowercase()));
        needed.iter().all(has).then_some(headings)
    }

    /// All fields.
    pub(super) fn texts(&self) -> impl Iterator<Item = &str> {
        self.fields.iter()
    }

    /// Number of non-empty fields.
    pub(super) fn width(&self) -> usize {
        self.fields.iter().filter(|field| !field.trim().is_empty()).count()
    }
}

/// All rows with at least one field.
pub(super) fn rows(text: &str) -> Vec<Record> {
    let text = text.trim_start_matches('\u{FEFF}');
    let mut reader =
        csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(text.as_bytes());
    // Reading a `str` from memory cannot fail: it is valid UTF-8, and rows may differ in width.
    let records = reader.records().filter_map(Result::ok).map(|fields| {
        let line = fields.position().map_or(1, |position| start_line(text, position));
        Record { line, fields }
    });
    records.filter(|record| record.width() > 0).collect()
}

/// The csv crate counts the blank lines before a record as part of it; this skips them.
fn start_line(text: &str, position: &csv::Position) -> u32 {
    let start = usize::try_from(position.byte()).unwrap_or(usize::MAX);
    let rest = text.as_bytes().get(start..).unwrap_or_default();
    let blank = rest.iter().take_while(|byte| matches!(byte, b'\r' | b'\n'));
    let newlines = blank.filter(|byte| **byte == b'\n').count();
    u32::try_from(position.line())
        .unwrap_or(u32::MAX)
        .saturating_add(u32::try_from(newlines).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_fields_keep_commas_quotes_and_line_ends() {
        let text = "note\r\n\r\nName,Value\r\n\"a, \"\"b\"\"\",1\n\"two\nlines\",2\nlast,3";
        let sheet = Sheet::find(text, &["name", "value"]).unwrap();
        let seen: Vec<(u32, &str, &str)> = sheet
            .records
            .iter()
            .map(|record| (record.line, sheet.get(record, "Name"), sheet.get(record, "value")))
            .collect();
        assert_eq!(seen, [(4, "a, \"b\"", "1"), (5, "two\nlines", "2"), (7, "last", "3")]);
        assert!(Sheet::find(text, &["nope"]).is_none());
    }
}
