//! Annotated questions, bundled or supplied by the user as JSON Lines.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::text::normalize;

const SMOKE: &str = include_str!("../../../../data/ttm/eval/smoke.jsonl");
const CURATED: &str = include_str!("../../../../data/ttm/eval/curated.jsonl");
const HELD_OUT: &str = include_str!("../../../../data/ttm/eval/held.jsonl");
const CROSSLINGUAL: &str = include_str!("../../../../data/ttm/eval/crosslingual.jsonl");
const ANSWERS: &str = include_str!("../../../../data/ttm/eval/answers.jsonl");
const LAY_TUNE: &str = include_str!("../../../../data/ttm/eval/lay_tune.jsonl");
const LAY_HELD: &str = include_str!("../../../../data/ttm/eval/lay_held.jsonl");

/// A bundled set of questions.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Bundled {
    /// Quick check; a subset of [`Self::Tune`].
    Smoke,
    /// For tuning weights and thresholds.
    Tune,
    /// Held-out test set.
    Held,
    /// Thai questions about facts in English texts only; test set.
    Crosslingual,
    /// Questions with expected answers; test set.
    Answers,
    /// Questions in everyday wording; for tuning.
    LayTune,
    /// Questions in everyday wording; test set.
    LayHeld,
}

impl Bundled {
    /// Parses the questions.
    pub fn questions(self) -> Result<Vec<JudgedQuestion>, BadSet> {
        let lines = match self {
            Self::Smoke => SMOKE,
            Self::Tune => CURATED,
            Self::Held => HELD_OUT,
            Self::Crosslingual => CROSSLINGUAL,
            Self::Answers => ANSWERS,
            Self::LayTune => LAY_TUNE,
            Self::LayHeld => LAY_HELD,
        };
        parse(lines)
    }
}

/// A question with its annotations.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct JudgedQuestion {
    /// Id; defaults to the line number.
    pub id: String,
    /// Kind of question; metrics are grouped by it.
    pub kind: String,
    /// Language, `th` or `en`; detected if absent.
    pub lang: String,
    /// Text of the question.
    pub query: String,
    /// Relevant document ids; empty if the question does not judge the search.
    pub relevant: Vec<String>,
    /// Expected answer.
    pub expected: Expected,
}

/// Expected answer.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize)]
pub struct Expected {
    /// Whether the data contain an answer; `None` for questions that judge only the search.
    pub answer: Option<bool>,
    /// Withholding is also correct, because the fact is unverified or missing.
    pub may_withhold: bool,
    /// Expected facts.
    pub must: Vec<Fact>,
    /// Forbidden words.
    pub must_not: Vec<String>,
    /// Whether the expected facts are warnings.
    pub safety: bool,
}

/// An expected fact.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Fact {
    /// Ids of the fact.
    pub ids: Vec<String>,
    /// Alternative wordings; one must occur.
    pub any_of: Vec<String>,
}

impl JudgedQuestion {
    /// Returns whether the question must be withheld.
    pub fn has_no_answer(&self) -> bool {
        self.expected.answer == Some(false)
    }
}

/// Line format.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    #[serde(default)]
    id: String,
    #[serde(default, rename = "pair")]
    _pair: String,
    #[serde(default = "any_kind")]
    kind: String,
    #[serde(default)]
    lang: String,
    #[serde(alias = "question")]
    query: String,
    relevant: Option<Vec<String>>,
    withhold: Option<bool>,
    #[serde(default)]
    may_withhold: bool,
    #[serde(default, rename = "reason")]
    _reason: String,
    #[serde(default)]
    safety: bool,
    #[serde(default)]
    must: Vec<Fact>,
    #[serde(default)]
    must_not: Vec<String>,
}

fn any_kind() -> String {
    "any".to_owned()
}

/// Maximum number of questions in a set.
pub const MAX_QUESTIONS: usize = 5_000;
/// Maximum size of a set in bytes.
pub const MAX_SET_BYTES: usize = 4 * 1024 * 1024;
/// Maximum length of a question in characters.
const MAX_QUERY_LENGTH: usize = 2_000;
/// Maximum number of relevant ids of a question.
const MAX_RELEVANT: usize = 1_000;
/// Maximum number of errors reported.
const MAX_REPORTED_ERRORS: usize = 10;

/// An invalid set, with up to ten errors.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum BadSet {
    /// The set contains no question.
    #[error("the set has no questions")]
    Empty,
    /// The set is too large.
    #[error("the set has {0}; the maximum is {1}")]
    TooLarge(String, String),
    /// Invalid lines.
    #[error("{}", .0.join("; "))]
    Lines(Vec<String>),
}

/// Parses JSON Lines; blank lines are skipped.
pub fn parse(lines: &str) -> Result<Vec<JudgedQuestion>, BadSet> {
    if lines.len() > MAX_SET_BYTES {
        return Err(too_large(lines.len(), MAX_SET_BYTES, "bytes"));
    }
    let lines = lines.trim_start_matches('\u{FEFF}');
    let mut questions = Vec::new();
    let mut wrong = Vec::new();
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for (number, line) in (1..).zip(lines.lines()).filter(|(_, line)| !line.trim().is_empty()) {
        match question(number, line) {
            Ok(question) => {
                if let Some(first) = seen.insert(question.id.clone(), number) {
                    wrong.push(format!(
                        "line {number}: duplicate id `{}`, first on line {first}",
                        shown(&question.id)
                    ));
                }
                questions.push(question);
            }
            Err(why) => wrong.push(format!("line {number}: {why}")),
        }
        if wrong.len() == MAX_REPORTED_ERRORS {
            break;
        }
    }
    match (wrong.is_empty(), questions.len()) {
        (false, _) => Err(BadSet::Lines(wrong)),
        (true, 0) => Err(BadSet::Empty),
        (true, count) if count > MAX_QUESTIONS => Err(too_large(count, MAX_QUESTIONS, "questions")),
        (true, _) => Ok(questions),
    }
}

fn too_large(has: usize, most: usize, unit: &str) -> BadSet {
    BadSet::TooLarge(format!("{has} {unit}"), format!("{most} {unit}"))
}

fn question(number: usize, line: &str) -> Result<JudgedQuestion, String> {
    let read: Result<Line, _> = serde_json::from_str(line.trim());
    // Omit the parser's line number, which counts within this line only.
    let line = read.map_err(|error| {
        let why = error.to_string();
        let why = why.split(" at line ").next().unwrap_or_default();
        format!("not a valid question: {why} (column {})", error.column())
    })?;
    line.check()?;
    let thai = line.query.chars().any(crate::text::is_thai);
    let of_letters = if thai { "th" } else { "en" };
    // Without an annotation for the answer, an empty list of relevant ids means that there is none.
    let nothing = line.relevant.as_ref().is_some_and(Vec::is_empty);
    let answer = line.withhold.map(|withhold| !withhold).or(nothing.then_some(false));
    Ok(JudgedQuestion {
        id: if line.id.is_empty() { number.to_string() } else { line.id },
        kind: line.kind,
        lang: if line.lang.is_empty() { of_letters.to_owned() } else { line.lang },
        query: line.query,
        relevant: line.relevant.unwrap_or_default(),
        expected: Expected {
            answer,
            may_withhold: line.may_withhold,
            must: line.must,
            must_not: line.must_not,
            safety: line.safety,
        },
    })
}

impl Line {
    fn check(&self) -> Result<(), String> {
        let letters = self.query.chars().count();
        if self.query.trim().is_empty() {
            return Err("`query` is empty".to_owned());
        }
        if letters > MAX_QUERY_LENGTH {
            return Err(format!(
                "`query` has {letters} characters; the maximum is {MAX_QUERY_LENGTH}"
            ));
        }
        if !matches!(self.lang.as_str(), "" | "th" | "en") {
            return Err(format!("`lang` is `{}`; use `th` or `en`", shown(&self.lang)));
        }
        if self.relevant.is_none() && self.withhold.is_none() {
            return Err("no annotation: give `relevant` (ids that a search should find, `[]` \
                        for none) or `withhold` (whether the data have no answer)"
                .to_owned());
        }
        let many = |list: usize| list > MAX_RELEVANT;
        if many(self.relevant.as_ref().map_or(0, Vec::len))
            || many(self.must.len())
            || many(self.must_not.len())
        {
            return Err(format!("a list has more than {MAX_RELEVANT} entries"));
        }
        if self.must.iter().any(|fact| fact.any_of.iter().all(|word| word.trim().is_empty())) {
            return Err("a fact of `must` has no word in `any_of`".to_owned());
        }
        Ok(())
    }
}

/// Truncates user text for an error message.
fn shown(word: &str) -> String {
    word.chars().take(60).collect()
}

/// Returns a normalised key: questions with the same letters and digits are equal.
pub fn same_as(query: &str) -> String {
    let text = normalize(query).text().to_lowercase();
    text.chars()
        .filter(|letter| letter.is_alphanumeric() || crate::text::is_thai(*letter))
        .collect()
}

/// Returns the distinct ids of these questions that `known` rejects.
pub fn unknown_ids(questions: &[JudgedQuestion], known: impl Fn(&str) -> bool) -> Vec<String> {
    let ids: BTreeSet<&String> = questions.iter().flat_map(|question| &question.relevant).collect();
    ids.into_iter().filter(|id| !known(id)).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bundled_question_sets_parse() {
        // Counted by `wc -l data/ttm/eval/*.jsonl`.
        let cases = [
            (Bundled::Smoke, 12),
            (Bundled::Tune, 214),
            (Bundled::Held, 153),
            (Bundled::Crosslingual, 84),
            (Bundled::Answers, 158),
            (Bundled::LayTune, 183),
            (Bundled::LayHeld, 149),
        ];
        for (set, count) in cases {
            assert_eq!(set.questions().unwrap().len(), count, "{set:?}");
        }
    }

    #[test]
    fn tuning_and_test_questions_are_disjoint() {
        // Every second cross-lingual question, starting with the first, may be used for tuning.
        let across = Bundled::Crosslingual.questions().unwrap().into_iter().skip(1).step_by(2);
        let judges = [Bundled::Held, Bundled::Answers, Bundled::LayHeld];
        let judges = judges.into_iter().flat_map(|set| set.questions().unwrap());
        let judges: Vec<String> = judges.chain(across).map(|one| one.query).collect();
        let tune = Bundled::Tune.questions().unwrap();
        let tune = tune.into_iter().chain(Bundled::LayTune.questions().unwrap());
        let mut tune: BTreeSet<String> = tune.map(|one| same_as(&one.query)).collect();
        // Confidence is calibrated on these questions only.
        let calibration = include_str!("../../../../data/ttm/eval/calibration.jsonl");
        for line in calibration.lines().filter(|line| !line.trim().is_empty()) {
            let row: serde_json::Value = serde_json::from_str(line).unwrap();
            tune.insert(same_as(row["question"].as_str().unwrap()));
        }
        assert!(judges.len() > 300, "the sets that judge are there");
        for query in judges {
            assert!(!tune.contains(&same_as(&query)), "tunes and judges: {query}");
        }
        for one in Bundled::Smoke.questions().unwrap() {
            assert!(tune.contains(&same_as(&one.query)), "smoke is a part of it: {}", one.query);
        }
    }

    #[test]
    fn invalid_set_is_reported_by_line() {
        let fine = r#"{"query": "ขิง", "relevant": ["H:ginger"]}"#;
        let cases = [
            ("", "no questions"),
            ("\n \n", "no questions"),
            ("query,relevant\n", "line 1: not a valid question"),
            ("{\"query\": \"a\"}", "line 1: no annotation: give `relevant`"),
            (
                &format!("{fine}\n{{\"query\": \" \", \"relevant\": []}}"),
                "line 2: `query` is empty",
            ),
            (&format!("{fine}\n\n[1]"), "line 3: not a valid question"),
            (
                r#"{"query": "a", "relevant": [], "lang": "fr"}"#,
                "line 1: `lang` is `fr`; use `th` or `en`",
            ),
            (
                "{\"id\": \"1\", \"query\": \"a\", \"relevant\": []}\n{\"id\": \"1\", \"query\": \"b\", \"relevant\": []}",
                "line 2: duplicate id `1`, first on line 1",
            ),
            (r#"{"query": "a", "relevant": [], "weight": 2}"#, "unknown field `weight`"),
        ];
        for (lines, expected) in cases {
            let error = parse(lines).unwrap_err().to_string();
            assert!(error.contains(expected), "{lines}: {error}");
        }
        let many = "{}\n".repeat(100);
        let Err(BadSet::Lines(errors)) = parse(&many) else { panic!("{many} was taken") };
        assert_eq!(errors.len(), MAX_REPORTED_ERRORS);
        let large = format!("{fine}\n").repeat(MAX_SET_BYTES / fine.len() + 1);
        assert!(parse(&large).unwrap_err().to_string().contains("the maximum is 4194304 bytes"));
        let line =
            |number: usize| format!("{{\"id\":\"{number}\",\"query\":\"a\",\"relevant\":[]}}\n");
        let many: String = (0..=MAX_QUESTIONS).map(line).collect();
        assert!(parse(&many).unwrap_err().to_string().contains("5001 questions"));
    }

    #[test]
    fn question_needs_only_query_and_relevant_ids() {
        let questions =
            parse("\u{FEFF}{\"query\": \"ขิง\", \"relevant\": [\"H:ginger\"]}\r\n").unwrap();
        let [question] = questions.as_slice() else { panic!("{questions:?}") };
        assert_eq!((question.id.as_str(), question.lang.as_str()), ("1", "th"));
    }

    #[test]
    fn a_question_without_relevant_ids_has_no_answer_unless_it_says_so() {
        let cases = [
            (r#"{"query": "a", "relevant": []}"#, Some(false)),
            (r#"{"query": "a", "relevant": ["x"]}"#, None),
            (r#"{"query": "a", "relevant": [], "withhold": false}"#, Some(true)),
            (r#"{"query": "a", "withhold": true}"#, Some(false)),
        ];
        for (line, expected) in cases {
            let question = parse(line).unwrap().remove(0);
            assert_eq!(question.expected.answer, expected, "{line}");
        }
    }

    #[test]
    fn question_spellings_are_normalised() {
        assert_eq!(same_as("What is  Ginger?"), same_as("what is ginger"));
        assert_eq!(same_as("น\u{0E4D}\u{0E49}ามันไพล"), same_as("น้ำมันไพล"));
        assert_ne!(same_as("ข้าว"), same_as("ขาว"), "marks are letters too");
    }
}
