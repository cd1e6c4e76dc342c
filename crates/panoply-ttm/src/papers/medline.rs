//! Parser of the MEDLINE format (`.nbib`): `TAG - value`, continuation lines start with spaces, a
//! blank line ends a record.

use std::io::BufRead;

use super::Record;
use super::import::{BoundedReader, ImportError, RecordSink, is_generation, one_line, year_in};

/// Width of `PMID- `.
const TAG_WIDTH: usize = 6;

/// Detects the format.
pub(super) fn looks_like(beginning: &str) -> bool {
    beginning.lines().next().is_some_and(|line| tagged(line).is_some())
}

/// Parses a file and emits its records.
pub(super) fn read(
    mut file: BoundedReader<impl BufRead>,
    checked: &mut RecordSink<'_>,
) -> Result<(), ImportError> {
    let mut fields = Fields::default();
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = file.read_until(b'\n', &mut line);
        if file.is_exhausted() {
            return Err(ImportError::TooLarge { place: checked.next_place() });
        }
        let at_end = read? == 0;
        let text = String::from_utf8_lossy(&line);
        let text = text.trim_start_matches('\u{feff}').trim_end();
        let tag = tagged(text).map(|(tag, _)| tag);
        // Some exports have no blank lines between records; each starts with its PMID.
        if text.is_empty() || tag == Some("PMID") && fields.has("PMID") {
            fields.emit(checked)?;
            file.start_record();
        }
        if at_end {
            return Ok(());
        }
        fields.is_spoilt |= std::str::from_utf8(&line).is_err();
        fields.line(text);
    }
}

/// Fields of the current record.
#[derive(Default)]
struct Fields {
    list: Vec<(String, String)>,
    /// Whether the record contains invalid UTF-8.
    is_spoilt: bool,
}

impl Fields {
    fn has(&self, wanted: &str) -> bool {
        self.list.iter().any(|(tag, _)| tag == wanted)
    }

    fn line(&mut self, text: &str) {
        if let Some((tag, value)) = tagged(text) {
            self.list.push((tag.to_owned(), value.to_owned()));
        } else if let Some((_, value)) = self.list.last_mut() {
            value.push(' ');
            value.push_str(text.trim());
        }
    }

    /// Emits the current record, if any.
    fn emit(&mut self, checked: &mut RecordSink<'_>) -> Result<(), ImportError> {
        let Self { list, is_spoilt } = std::mem::take(self);
        if list.is_empty() {
            return Ok(());
        }
        let flaw = is_spoilt.then_some("it is not UTF-8");
        // The format has no version numbers.
        checked.record(record(&list), 1, flaw)
    }
}

/// Splits the first line of a field into tag and value.
fn tagged(line: &str) -> Option<(&str, &str)> {
    let (head, value) = line.split_at_checked(TAG_WIDTH).unwrap_or((line, ""));
    let tag = head.trim_end().strip_suffix('-')?.trim_end();
    let named = (2..=4).contains(&tag.len())
        && tag.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
    named.then_some((tag, value))
}

fn record(fields: &[(String, String)]) -> Record {
    let all = |wanted: &'static str| {
        fields.iter().filter(move |(tag, _)| tag == wanted).map(|(_, value)| one_line(value))
    };
    let first = |wanted: &'static str| all(wanted).find(|value| !value.is_empty());
    let authors: Vec<String> = fields
        .iter()
        .filter_map(|(tag, value)| match tag.as_str() {
            "FAU" => Some(given_name_first(&one_line(value))),
            "CN" => Some(one_line(value)),
            _ => None,
        })
        .collect();
    let authors = if authors.is_empty() { all("AU").collect() } else { authors };
    let doi = (all("LID").chain(all("AID")))
        .find_map(|value| value.strip_suffix("[doi]").map(|doi| doi.trim().to_owned()));
    Record {
        pmid: first("PMID").unwrap_or_default(),
        title: first("TI").or_else(|| first("TT")).or_else(|| first("BTI")).unwrap_or_default(),
        abstract_text: sections(&first("AB").unwrap_or_default()),
        authors,
        journal: ["JT", "TA", "BTI"].into_iter().find_map(first).unwrap_or_default(),
        year: first("DP").as_deref().and_then(year_in),
        mesh: all("MH").map(|heading| descriptor(&heading)).collect(),
        publication_types: all("PT").collect(),
        doi,
        languages: all("LA").collect(),
    }
}

/// Reorders names: `Jaidee, Somchai` becomes `Somchai Jaidee`, `King, Martin Luther Jr` becomes
/// `Martin Luther King Jr`.
fn given_name_first(name: &str) -> String {
    let Some((family, given)) = name.split_once(", ") else { return name.to_owned() };
    match given.rsplit_once(' ') {
        Some((given, suffix)) if is_generation(suffix) => format!("{given} {family} {suffix}"),
        _ => format!("{given} {family}"),
    }
}

/// Returns the descriptor of a MeSH heading: `*Zingiber officinale/chemistry` becomes `Zingiber
/// officinale`.
fn descriptor(heading: &str) -> String {
    heading.split('/').next().unwrap_or_default().trim_start_matches('*').to_owned()
}

/// Puts each heading of a structured abstract on its own line, as in the XML. A heading is a
/// capitalised phrase with a colon after a sentence end.
fn sections(text: &str) -> String {
    let words: Vec<&str> = text.split(' ').collect();
    let mut lines: Vec<Vec<&str>> = vec![Vec::new()];
    for word in words {
        let ends_heading = word.strip_suffix(':').is_some_and(in_capitals);
        let Some(line) = lines.last_mut() else { continue };
        line.push(word);
        if !ends_heading {
            continue;
        }
        let heading = line.iter().rev().take_while(|word| in_capitals(word.trim_end_matches(':')));
        let start = line.len() - heading.count();
        let after_a_sentence = line.get(..start).and_then(<[&str]>::last);
        if after_a_sentence.is_some_and(|word| word.ends_with(['.', '?', '!', ')'])) {
            let heading = line.split_off(start);
            lines.push(heading);
        }
    }
    lines.iter().map(|line| line.join(" ")).collect::<Vec<_>>().join("\n")
}

fn in_capitals(word: &str) -> bool {
    word.len() > 1 && word.bytes().all(|byte| byte.is_ascii_uppercase() || b"&/-,".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_of_an_abstract_begin_a_line() {
        let cases = [
            ("AIM: To see. MATERIALS AND METHODS: We saw. CONCLUSION: It was.", 3),
            ("A plain text with a ratio of DNA: RNA in it.", 1),
            ("", 1),
        ];
        for (text, lines) in cases {
            let made = sections(text);
            assert_eq!(made.split('\n').count(), lines, "{made}");
            assert_eq!(made.replace('\n', " "), text);
        }
    }
}
