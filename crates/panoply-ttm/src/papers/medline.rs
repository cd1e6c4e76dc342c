//! The MEDLINE format, which `.nbib` files hold: `TAG - value`, lines that go on begin with
//! blanks, a blank line ends a record.

use std::io::BufRead;

use super::Record;
use super::import::{Checked, ImportError, one_line, year_in};

/// The width of `PMID- `.
const TAG_WIDTH: usize = 6;

/// Whether a text begins like this format.
pub(super) fn looks_like(beginning: &str) -> bool {
    beginning.lines().next().is_some_and(|line| tagged(line).is_some())
}

/// Hands each record on.
pub(super) fn read(mut file: impl BufRead, checked: &mut Checked<'_>) -> Result<(), ImportError> {
    let mut fields: Vec<(String, String)> = Vec::new();
    let mut line = Vec::new();
    loop {
        line.clear();
        let at_end = file.read_until(b'\n', &mut line)? == 0;
        let text = String::from_utf8_lossy(&line);
        let text = text.trim_start_matches('\u{feff}').trim_end();
        if text.is_empty() {
            if !fields.is_empty() {
                checked.record(record(&fields))?;
                fields.clear();
            }
            if at_end {
                return Ok(());
            }
            continue;
        }
        match tagged(text) {
            // Some exports put no blank line between records; each begins with its number.
            Some(("PMID", _)) if fields.iter().any(|(tag, _)| tag == "PMID") => {
                checked.record(record(&fields))?;
                fields.clear();
                fields.extend(tagged(text).map(owned));
            }
            Some(field) => fields.push(owned(field)),
            None => {
                if let Some((_, value)) = fields.last_mut() {
                    value.push(' ');
                    value.push_str(text.trim());
                }
            }
        }
    }
}

fn owned((tag, value): (&str, &str)) -> (String, String) {
    (tag.to_owned(), value.to_owned())
}

/// The tag and the value of a line that begins a field.
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
        journal: first("JT").or_else(|| first("TA")).unwrap_or_default(),
        year: first("DP").as_deref().and_then(year_in),
        mesh: all("MH").map(|heading| descriptor(&heading)).collect(),
        publication_types: all("PT").collect(),
        doi,
        languages: all("LA").collect(),
    }
}

/// `Jaidee, Somchai` is Somchai Jaidee.
fn given_name_first(name: &str) -> String {
    match name.split_once(", ") {
        Some((family, given)) => format!("{given} {family}"),
        None => name.to_owned(),
    }
}

/// `*Zingiber officinale/chemistry` is about Zingiber officinale.
fn descriptor(heading: &str) -> String {
    heading.split('/').next().unwrap_or_default().trim_start_matches('*').to_owned()
}

/// An abstract with headings runs on in this format; each heading begins a line, as in the XML:
/// words in capitals after the end of a sentence, the last with a colon.
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
