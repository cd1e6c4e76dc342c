//! Comma-separated values after RFC 4180: quotes, doubled quotes, line ends inside quotes.

/// A table with headings.
pub(super) struct Sheet {
    headings: Vec<String>,
    pub(super) records: Vec<Record>,
}

/// A row and the line it starts on.
pub(super) struct Record {
    pub(super) line: u32,
    fields: Vec<String>,
}

impl Sheet {
    /// The table whose headings contain all of `needed`; brokers put notes above them.
    pub(super) fn find(text: &str, needed: &[&str]) -> Option<Self> {
        let mut records = records(text).into_iter();
        let clean = |field: &String| field.trim().to_lowercase();
        let headings = records.by_ref().find_map(|record| {
            let headings: Vec<String> = record.fields.iter().map(clean).collect();
            let has = |name: &&str| {
                headings.iter().any(|heading| heading.starts_with(&name.to_lowercase()))
            };
            needed.iter().all(has).then_some(headings)
        })?;
        Some(Self { headings, records: records.collect() })
    }

    /// A field by its heading, or by how its heading starts; empty when it is not there.
    pub(super) fn get<'a>(&self, record: &'a Record, name: &str) -> &'a str {
        let name = name.to_lowercase();
        let exact = self.headings.iter().position(|heading| *heading == name);
        let place =
            exact.or_else(|| self.headings.iter().position(|heading| heading.starts_with(&name)));
        place.and_then(|place| record.fields.get(place)).map_or("", |field| field.trim())
    }

    /// A field by exactly its heading; empty when it is not there.
    pub(super) fn exact<'a>(&self, record: &'a Record, name: &str) -> &'a str {
        let place = self.headings.iter().position(|heading| heading.eq_ignore_ascii_case(name));
        place.and_then(|place| record.fields.get(place)).map_or("", |field| field.trim())
    }

    /// The headings, for errors.
    pub(super) fn headings(&self) -> String {
        self.headings.join(", ")
    }
}

fn records(text: &str) -> Vec<Record> {
    let text = text.trim_start_matches('\u{FEFF}');
    let mut records = Vec::new();
    let mut fields = vec![String::new()];
    let (mut line, mut start, mut quoted) = (1_u32, 1_u32, false);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let field = fields.last_mut();
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => {
                chars.next();
                field.into_iter().for_each(|field| field.push('"'));
            }
            '"' => quoted = !quoted,
            ',' if !quoted => fields.push(String::new()),
            '\r' if !quoted => {}
            '\n' => {
                line += 1;
                if quoted {
                    field.into_iter().for_each(|field| field.push('\n'));
                } else {
                    push(&mut records, start, &mut fields);
                    start = line;
                }
            }
            c => field.into_iter().for_each(|field| field.push(c)),
        }
    }
    push(&mut records, start, &mut fields);
    records
}

fn push(records: &mut Vec<Record>, line: u32, fields: &mut Vec<String>) {
    let fields = std::mem::replace(fields, vec![String::new()]);
    if fields.iter().any(|field| !field.trim().is_empty()) {
        records.push(Record { line, fields });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_hold_commas_quotes_and_line_ends() {
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
