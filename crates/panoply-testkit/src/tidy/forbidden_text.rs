//! Words that must not be in the repository, each with the reason.
//!
//! The words are put together from pieces, so that this file does not break its own rules.

use super::{Problem, Repository, SourceFile};

/// A word, the files it matters in, and why it is not wanted there.
struct Rule {
    words: Vec<String>,
    applies: fn(&SourceFile) -> bool,
    why: &'static str,
}

/// Every forbidden word, with the line it stands on.
pub fn found(repository: &Repository) -> Vec<Problem> {
    let rules = rules();
    let mut problems = Vec::new();
    for file in &repository.files {
        for rule in rules.iter().filter(|rule| (rule.applies)(file)) {
            for (number, line) in file.lines() {
                for word in rule.words.iter().filter(|word| line.contains(word.as_str())) {
                    let what = format!("`{word}`: {}", rule.why);
                    problems.push(Problem::at(&file.path, number, what));
                }
            }
        }
    }
    problems
}

fn rules() -> Vec<Rule> {
    vec![
        Rule {
            words: ["TO-DO", "FIX-ME"].map(|word| word.replace('-', "")).to_vec(),
            // Checksums and figures are not prose.
            applies: |file| !file.path.starts_with("data/") && !file.path.contains("package-lock"),
            why: "open an issue, or do it now",
        },
        Rule {
            words: vec!["to".to_owned() + "do!(", "unimple".to_owned() + "mented!("],
            applies: |file| file.path.ends_with(".rs"),
            why: "nothing that is called may be unfinished",
        },
        Rule {
            words: (0..10).map(|digit| format!("issue {digit}")).collect(),
            // A decision record may cite the issue of another project.
            applies: |file| !file.path.starts_with("docs/adr/") && !file.path.starts_with("data/"),
            why: "the tree does not know our tracker; say what is missing",
        },
        Rule {
            words: vec!["<".repeat(7) + " ", ">".repeat(7) + " "],
            applies: |_| true,
            why: "a merge was left unfinished",
        },
        Rule {
            words: vec!["serde(unt".to_owned() + "agged"],
            // Where an agent's input is read; elsewhere nobody has to act on the message.
            applies: |file| file.path.ends_with(".rs") && file.path.contains("/tools/"),
            why: "its errors say nothing; write a visitor that does",
        },
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rule_finds_its_words_where_it_applies() {
        for rule in rules() {
            for word in &rule.words {
                let text = format!("fine\nbefore {word} after\n");
                let sample = Repository::sample(&[("crates/a/src/tools/b.rs", &text)]);
                let problems = found(&sample);
                assert!(
                    problems.iter().any(|problem| problem.place == "crates/a/src/tools/b.rs:2"),
                    "{word} was not found"
                );
            }
        }
    }
}
