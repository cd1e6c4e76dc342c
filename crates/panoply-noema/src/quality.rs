//! Card quality: faults of wording that make a card hard to remember, found without a model.
//!
//! The rules follow Wozniak, "Twenty rules of formulating knowledge": minimum information, no sets
//! and enumerations, no ambiguity, clean cloze deletions, no interference.

use std::collections::BTreeSet;

use crate::html;
use crate::note::{Form, NoteType};
use crate::numbers::round_to;
use crate::render;

/// A fault of a card.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct QualityIssue {
    /// Rule that is broken.
    pub rule: QualityRule,
    /// What is wrong, with the figure.
    pub message: String,
    /// What to do.
    pub fix: &'static str,
}

/// A rule of quality.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum QualityRule {
    /// One fact per card.
    OneFact,
    /// The answer is short.
    Length,
    /// The question has one answer.
    Ambiguity,
    /// Cloze deletions are well formed.
    Cloze,
    /// The question does not contain its answer.
    AnswerInQuestion,
}

impl QualityRule {
    /// Name on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::OneFact => "one-fact",
            Self::Length => "length",
            Self::Ambiguity => "ambiguity",
            Self::Cloze => "cloze",
            Self::AnswerInQuestion => "answer-in-question",
        }
    }
}

const MAX_ANSWER_CHARS: usize = 200;
const MAX_QUESTION_CHARS: usize = 300;
const MAX_LIST_ITEMS: usize = 5;
const MAX_CLOZE_CHARS: usize = 80;

/// Checks the content of a note.
pub fn check(note_type: &NoteType, fields: &[String]) -> Vec<QualityIssue> {
    let text = |index: usize| fields.get(index).map(|field| html::strip(field)).unwrap_or_default();
    let mut issues = Vec::new();
    if crate::occlusion::is_occlusion(note_type) {
        return issues;
    }
    let (front, back) = (text(0), text(1));
    if note_type.cloze {
        check_cloze(fields.first().map_or("", String::as_str), &mut issues);
        return issues;
    }
    let is_choice = note_type.id == Form::Choice.note_type().id;
    if !render::cloze_numbers(&front).is_empty() || front.contains("{{c") {
        issues.push(QualityIssue {
            rule: QualityRule::Cloze,
            message: "the front has a cloze deletion, but the card is not a cloze".to_owned(),
            fix: "set `form` to cloze",
        });
    }
    if !is_choice {
        check_answer(&front, &back, &mut issues);
    }
    check_question(&front, &mut issues);
    issues
}

fn check_answer(front: &str, back: &str, issues: &mut Vec<QualityIssue>) {
    let length = back.chars().count();
    let items = back
        .lines()
        .count()
        .max(back.matches([';', '•']).count() + 1)
        .max(back.matches(", ").count() + 1);
    if items > MAX_LIST_ITEMS {
        issues.push(QualityIssue {
            rule: QualityRule::OneFact,
            message: format!("the answer lists {items} things"),
            fix: "make a card for each, or a cloze of the list with one deletion per thing",
        });
    } else if length > MAX_ANSWER_CHARS {
        issues.push(QualityIssue {
            rule: QualityRule::Length,
            message: format!("the answer has {length} characters"),
            fix: "keep the one fact that is asked for, and put the rest into `extra`",
        });
    }
    let (question, answer) = (front.to_lowercase(), back.to_lowercase());
    if answer.chars().count() > 3 && !answer.contains(' ') && question.contains(&answer) {
        issues.push(QualityIssue {
            rule: QualityRule::AnswerInQuestion,
            message: "the question contains its answer".to_owned(),
            fix: "reword the question",
        });
    }
}

fn check_question(front: &str, issues: &mut Vec<QualityIssue>) {
    let length = front.chars().count();
    if length > MAX_QUESTION_CHARS {
        issues.push(QualityIssue {
            rule: QualityRule::Length,
            message: format!("the question has {length} characters"),
            fix: "ask one short question",
        });
    }
    let questions = front.matches(['?', '？']).count();
    if questions > 1 {
        issues.push(QualityIssue {
            rule: QualityRule::OneFact,
            message: format!("the front asks {questions} questions"),
            fix: "make a card for each question",
        });
    }
    let lower = front.to_lowercase();
    const VAGUE: [&str; 9] = [
        "what about",
        "tell me about",
        "describe",
        "explain",
        "discuss",
        "list all",
        "give examples",
        "why is it important",
        "อธิบาย",
    ];
    if let Some(vague) = VAGUE.iter().find(|vague| lower.starts_with(**vague)) {
        issues.push(QualityIssue {
            rule: QualityRule::Ambiguity,
            message: format!("`{vague}` has many right answers"),
            fix: "ask for one thing that can be right or wrong",
        });
    }
    let bare = ["it", "this", "that", "they", "he", "she"];
    if lower.split_whitespace().take(4).any(|word| bare.contains(&word.trim_matches(['?', ','])))
        && length < 40
    {
        issues.push(QualityIssue {
            rule: QualityRule::Ambiguity,
            message: "a pronoun stands for something that the card does not name".to_owned(),
            fix: "name it: the card is read alone",
        });
    }
}

fn check_cloze(text: &str, issues: &mut Vec<QualityIssue>) {
    let mut push = |message: String, fix| {
        issues.push(QualityIssue { rule: QualityRule::Cloze, message, fix });
    };
    let numbers = render::cloze_numbers(text);
    let distinct: BTreeSet<u32> = numbers.iter().copied().collect();
    let last = distinct.last().copied().unwrap_or(0);
    if distinct.len() < last as usize {
        push(
            format!("cloze numbers go to {last}, but only {} are used", distinct.len()),
            "number the deletions 1, 2, 3",
        );
    }
    if distinct.len() > MAX_LIST_ITEMS * 2 {
        push(format!("the text has {} deletions", distinct.len()), "split the text");
    }
    let answers: Vec<String> =
        distinct.iter().flat_map(|number| render::cloze_answers(text, *number)).collect();
    if answers.iter().any(|answer| answer.trim().is_empty()) {
        push("a deletion is empty".to_owned(), "write the answer between `::` and `}}`");
    }
    if let Some(long) =
        answers.iter().map(|answer| answer.chars().count()).find(|length| *length > MAX_CLOZE_CHARS)
    {
        push(format!("a deletion has {long} characters"), "delete a name, a number or a term");
    }
    let whole = html::strip(&render::expand_clozes(text)).chars().count();
    let hidden: usize = answers.iter().map(|answer| answer.chars().count()).sum();
    if distinct.len() == 1 && hidden * 10 >= whole * 9 {
        push("the deletion is the whole text".to_owned(), "leave enough words to ask for it");
    }
}

/// Similarity of two texts from 0 to 1 by character trigrams weighted by rarity (cosine of
/// tf-idf vectors): finds near duplicates in any script, also with reordered or inflected words.
pub struct Similarity {
    frequencies: std::collections::HashMap<u64, u32>,
    texts: u32,
}

impl Similarity {
    /// Counts the trigrams of all texts.
    pub fn of<'a>(texts: impl IntoIterator<Item = &'a str>) -> Self {
        let mut counted = Self { frequencies: std::collections::HashMap::new(), texts: 0 };
        for text in texts {
            counted.texts += 1;
            for gram in grams(text) {
                *counted.frequencies.entry(gram).or_default() += 1;
            }
        }
        counted
    }

    /// The vector of a text, sorted by trigram.
    pub fn vector(&self, text: &str) -> Vec<(u64, f64)> {
        let weight = |gram: &u64| {
            let seen = self.frequencies.get(gram).copied().unwrap_or(0);
            ((f64::from(self.texts) + 1.0) / (f64::from(seen) + 1.0)).ln() + 0.1
        };
        let mut vector: Vec<(u64, f64)> =
            grams(text).iter().map(|gram| (*gram, weight(gram))).collect();
        let length = vector.iter().map(|(_, weight)| weight * weight).sum::<f64>().sqrt();
        for (_, weight) in &mut vector {
            *weight /= length.max(f64::MIN_POSITIVE);
        }
        vector
    }
}

/// Cosine of two sorted vectors of length 1.
pub fn cosine(one: &[(u64, f64)], two: &[(u64, f64)]) -> f64 {
    let (mut one, mut two) = (one.iter().peekable(), two.iter().peekable());
    let mut sum = 0.0;
    while let (Some((a, x)), Some((b, y))) = (one.peek(), two.peek()) {
        match a.cmp(b) {
            std::cmp::Ordering::Less => one.next(),
            std::cmp::Ordering::Greater => two.next(),
            std::cmp::Ordering::Equal => {
                sum += x * y;
                one.next();
                two.next()
            }
        };
    }
    round_to(sum.min(1.0), 4)
}

/// Hashes of the distinct character trigrams of the words, sorted.
fn grams(text: &str) -> BTreeSet<u64> {
    let folded = text.to_lowercase();
    let mut grams = BTreeSet::new();
    for word in folded.split(|letter: char| {
        !letter.is_alphanumeric() && !unicode_normalization::char::is_combining_mark(letter)
    }) {
        if word.is_empty() {
            continue;
        }
        let letters: Vec<char> = std::iter::once(' ').chain(word.chars()).chain([' ']).collect();
        for three in letters.windows(3) {
            grams.insert(
                three.iter().fold(0, |hash, letter| hash << 21 | u64::from(u32::from(*letter))),
            );
        }
    }
    grams
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(form: Form, fields: &[&str]) -> Vec<&'static str> {
        let fields: Vec<String> = fields.iter().map(|field| (*field).to_owned()).collect();
        check(&form.note_type(), &fields).iter().map(|issue| issue.rule.as_str()).collect()
    }

    #[test]
    fn faults_of_wording_are_found_and_good_cards_pass() {
        let long = "word ".repeat(60);
        let cases: [(Form, &[&str], &[&str]); 12] = [
            (Form::Basic, &["Capital of Thailand?", "Bangkok"], &[]),
            (Form::Basic, &["Primary colours?", "red, green, blue"], &[]),
            (
                Form::Basic,
                &["Countries of ASEAN?", "Brunei, Cambodia, Indonesia, Laos, Malaysia, Myanmar"],
                &["one-fact"],
            ),
            (Form::Basic, &["What is a cell?", &long], &["length"]),
            (Form::Basic, &["Who wrote it? And when?", "Goethe, 1808"], &["one-fact", "ambiguity"]),
            (Form::Basic, &["Describe photosynthesis", "Light to sugar"], &["ambiguity"]),
            (
                Form::Basic,
                &["Is Bangkok the capital, Bangkok?", "Bangkok"],
                &["answer-in-question"],
            ),
            (Form::Basic, &["The capital is {{c1::Bangkok}}", ""], &["cloze"]),
            (Form::Cloze, &["{{c1::Bangkok}} is the capital of {{c2::Thailand}}", ""], &[]),
            (Form::Cloze, &["{{c1::a}} and {{c3::b}} of the text", ""], &["cloze"]),
            (Form::Cloze, &["The capital is {{c1::}}", ""], &["cloze"]),
            (Form::Cloze, &["{{c1::Bangkok is the capital of Thailand}}", ""], &["cloze"]),
        ];
        for (form, fields, expected) in cases {
            assert_eq!(rules(form, fields), expected, "{fields:?}");
        }
    }

    #[test]
    fn reworded_questions_are_more_alike_than_questions_of_one_pattern() {
        let texts = [
            "What is the capital of Thailand? Bangkok",
            "Thailand's capital city is called? Bangkok",
            "What is the capital of France? Paris",
            "What is the capital of Japan? Tokyo",
            "Who wrote Faust? Goethe",
        ];
        let similarity = Similarity::of(texts);
        let vectors: Vec<_> = texts.iter().map(|text| similarity.vector(text)).collect();
        let alike = |one: usize, two: usize| cosine(&vectors[one], &vectors[two]);
        assert!(alike(0, 1) > alike(0, 2), "{} {}", alike(0, 1), alike(0, 2));
        assert!(alike(0, 4) < 0.1 && (alike(0, 0) - 1.0).abs() < 1e-9);
    }
}
