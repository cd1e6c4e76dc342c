//! Phrases that must not come back, each with the word to use instead (`phrases.txt`).
//!
//! They hide a technique or a thing that has a name of its own. The rule covers comments, docs
//! and messages of Rust files, Markdown and scripts; quoted data and licences are left alone.

use super::{Problem, Repository, SourceFile};

/// One phrase and its replacement.
struct Phrase {
    /// In lower case.
    text: String,
    instead: String,
}

/// Every place that uses one of the phrases.
pub fn found(repository: &Repository) -> Vec<Problem> {
    let phrases = parse(include_str!("phrases.txt"));
    let mut problems = Vec::new();
    for file in repository.files.iter().filter(|file| is_prose(file)) {
        for (number, line) in file.lines() {
            let line = line.to_lowercase();
            for phrase in phrases.iter().filter(|phrase| contains_words(&line, &phrase.text)) {
                let what = format!("`{}`: write \"{}\"", phrase.text, phrase.instead);
                problems.push(Problem::at(&file.path, number, what));
            }
        }
    }
    problems
}

/// Lines `phrase => replacement`; `#` starts a comment.
fn parse(list: &str) -> Vec<Phrase> {
    list.lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split_once(" => "))
        .map(|(text, instead)| Phrase {
            text: text.trim().to_lowercase(),
            instead: instead.trim().to_owned(),
        })
        .collect()
}

fn is_prose(file: &SourceFile) -> bool {
    let is_text = [".rs", ".md", ".py", ".ts", ".toml"].iter().any(|end| file.path.ends_with(end))
        || file.path == "test";
    let is_quoted = file.path.starts_with("data/") || file.path.starts_with("docs/adr/");
    is_text && !is_quoted && !file.path.ends_with("tidy/phrases.rs")
}

/// Whether the phrase stands in the line as whole words.
fn contains_words(line: &str, phrase: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(phrase).any(|(start, _)| {
        let before = line.get(..start).and_then(|text| text.chars().next_back());
        let after = line.get(start + phrase.len()..).and_then(|text| text.chars().next());
        !before.is_some_and(is_word) && !after.is_some_and(is_word)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_phrase_is_found_as_whole_words_and_names_its_replacement() {
        for phrase in parse(include_str!("phrases.txt")) {
            let text =
                format!("//! fine\n// Before {} after.\n// x{}x\n", phrase.text, phrase.text);
            let sample = Repository::sample(&[("crates/a/src/b.rs", &text)]);
            let problems = found(&sample);
            assert!(
                problems.iter().any(|problem| problem.place == "crates/a/src/b.rs:2"
                    && problem.what.contains(&phrase.instead)),
                "`{}` was not found",
                phrase.text
            );
        }
    }

    #[test]
    fn quoted_data_and_decision_records_are_left_alone() {
        let text = "whoever\n";
        for path in ["data/ttm/README.md", "docs/adr/0001-x.md", "LICENSE-MIT"] {
            assert_eq!(found(&Repository::sample(&[(path, text)])), [], "{path}");
        }
    }
}
