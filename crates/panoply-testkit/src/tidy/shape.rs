//! What a Rust file looks like: it opens by saying what it is for, and it is not too long.

use super::{Problem, Repository};

/// The most lines a file may have.
pub const TOO_LONG: usize = 600;

/// Files that do not open with `//!`.
pub fn without_purpose(repository: &Repository) -> Vec<Problem> {
    let silent = repository.rust().filter(|file| {
        let first = file.text.lines().find(|line| !line.starts_with("#!"));
        !first.is_some_and(|line| line.starts_with("//! ") && line.len() > 12)
    });
    silent
        .map(|file| Problem::of(&file.path, "open it with one `//!` sentence: what is it for?"))
        .collect()
}

/// Files with more lines than `limit`.
pub fn longer_than(repository: &Repository, limit: usize) -> Vec<Problem> {
    let lengths = repository.rust().map(|file| (file, file.lines().count()));
    lengths
        .filter(|(_, length)| *length > limit)
        .map(|(file, length)| {
            Problem::of(&file.path, format!("{length} lines; more than {limit} is two files"))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_says_what_it_is_for() {
        let cases = [
            ("//! Reads the rates.\nuse a;", 0),
            ("#!/bin/x\n//! Reads the rates.", 0),
            ("use a;\n//! Reads the rates.", 1),
            ("/// Reads the rates.", 1),
            ("//!", 1),
            ("", 1),
        ];
        for (text, problems) in cases {
            let found = without_purpose(&Repository::sample(&[("a.rs", text)]));
            assert_eq!(found.len(), problems, "text: {text:?}");
        }
    }

    #[test]
    fn a_long_file_is_named_with_its_length() {
        let sample =
            Repository::sample(&[("a.rs", "\n\n\n\n"), ("b.rs", "\n"), ("c.md", "\n\n\n")]);
        let found = longer_than(&sample, 2);
        assert_eq!(found, [Problem::of("a.rs", "4 lines; more than 2 is two files")]);
    }
}
