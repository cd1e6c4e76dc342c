//! Confidence is computed, never written down (ruling 5 of ARCHITECTURE.md).

use super::{Problem, Repository};

/// The only file that may contain literal confidences.
const CALCULUS: &str = "crates/panoply-contract/src/calculus.rs";

/// Production lines outside the calculus that set a confidence to a literal.
pub fn literals(repository: &Repository) -> Vec<Problem> {
    let mut problems = Vec::new();
    for file in repository.rust().filter(|file| !file.path.starts_with(CALCULUS)) {
        if file.is_for_tests() {
            continue;
        }
        for (number, line) in file.production_lines() {
            if is_comment(line) || !sets_literal(line) {
                continue;
            }
            let what = "a confidence must be computed from evidence, not written down";
            problems.push(Problem::at(&file.path, number, what));
        }
    }
    problems
}

fn is_comment(line: &str) -> bool {
    line.trim_start().starts_with("//")
}

/// `confidence: 0.9`, `confidence = Some(1.0)`, `Confidence(0.5)`, `"confidence": 0.9`.
fn sets_literal(line: &str) -> bool {
    let lower = line.to_ascii_lowercase();
    lower.match_indices("confidence").any(|(start, word)| {
        let after = lower.get(start + word.len()..).unwrap_or_default();
        let after = after.trim_start_matches(['"', '\\', ' ']);
        let Some(value) = after.strip_prefix([':', '=', '(']) else { return false };
        let value = value.trim_start_matches(['=', ':', ' ', '(']);
        let value = value.strip_prefix("some(").unwrap_or(value);
        value.starts_with(|c: char| c.is_ascii_digit())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_written_confidence_is_found_and_a_computed_one_is_not() {
        let cases = [
            ("confidence: 0.9,", true),
            ("hints.confidence = 1.0;", true),
            ("    confidence: Some(0.5),", true),
            ("Confidence(0.5)", true),
            (r#"json!({"confidence": 0.95})"#, true),
            ("confidence: evidence.confidence(),", false),
            ("confidence: f64,", false),
            ("// confidence: 0.9", false),
            ("confidence,", false),
        ];
        for (line, expected) in cases {
            let sample = Repository::sample(&[("crates/a/src/lib.rs", line)]);
            assert_eq!(literals(&sample).len(), usize::from(expected), "line: {line}");
        }
    }

    #[test]
    fn the_calculus_and_the_tests_may_write_numbers() {
        let sample = Repository::sample(&[
            ("crates/panoply-contract/src/calculus.rs", "confidence: 0.9"),
            ("crates/a/tests/it.rs", "confidence: 0.9"),
            ("crates/a/src/lib.rs", "#[cfg(test)]\nmod tests { x(confidence: 0.9) }"),
        ]);
        assert_eq!(literals(&sample), []);
    }
}
