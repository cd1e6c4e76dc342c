//! Judged questions: those that ship, and those of a user, one JSON object a line.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::text::normalize;

const SMOKE: &str = include_str!("../../../../data/ttm/eval/smoke.jsonl");
const CURATED: &str = include_str!("../../../../data/ttm/eval/curated.jsonl");
const HELD_OUT: &str = include_str!("../../../../data/ttm/eval/held.jsonl");
const CROSSLINGUAL: &str = include_str!("../../../../data/ttm/eval/crosslingual.jsonl");
const ANSWERS: &str = include_str!("../../../../data/ttm/eval/answers.jsonl");

/// Questions that ship with the program.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Bundled {
    /// A quick look; part of [`Self::Tune`].
    Smoke,
    /// What weights and thresholds may be chosen on.
    Tune,
    /// What judges only.
    Held,
    /// Thai questions on what only an English text says; judges only.
    Crosslingual,
    /// Questions with what an answer must hold; judges only.
    Answers,
}

impl Bundled {
    /// Its questions.
    pub fn questions(self) -> Result<Vec<JudgedQuestion>, BadSet> {
        let lines = match self {
            Self::Smoke => SMOKE,
            Self::Tune => CURATED,
            Self::Held => HELD_OUT,
            Self::Crosslingual => CROSSLINGUAL,
            Self::Answers => ANSWERS,
        };
        parse(lines)
    }
}

/// A question and what a judge says of it.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct JudgedQuestion {
    /// Its id; the line's number where the file gives none.
    pub id: String,
    /// What sort of question it is; figures are given for each.
    pub kind: String,
    /// Its language, `th` or `en`; found from its letters where the file does not say.
    pub lang: String,
    /// The question.
    pub query: String,
    /// The ids of all that a search should find. Empty when a search is not judged by it.
    pub relevant: Vec<String>,
    /// What an answer should be.
    pub expected: Expected,
}

/// What an answer should be.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize)]
pub struct Expected {
    /// Whether the data have an answer; not said for questions that only judge a search.
    pub answer: Option<bool>,
    /// Withholding is right too, because the fact is unchecked or missing.
    pub may_withhold: bool,
    /// Facts that must be in it.
    pub must: Vec<Fact>,
    /// Words that must not be in it.
    pub must_not: Vec<String>,
}

/// A fact that must be in an answer.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Fact {
    /// What it is about.
    pub ids: Vec<String>,
    /// It is there when one of these words is.
    pub any_of: Vec<String>,
}

impl JudgedQuestion {
    /// Whether the data have no answer, so that none may be given.
    pub fn has_no_answer(&self) -> bool {
        self.expected.answer == Some(false)
    }
}

/// A line as it is written.
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
    #[serde(default, rename = "safety")]
    _safety: bool,
    #[serde(default)]
    must: Vec<Fact>,
    #[serde(default)]
    must_not: Vec<String>,
}

fn any_kind() -> String {
    "any".to_owned()
}

/// The most questions in a set.
pub const MAX_QUESTIONS: usize = 5_000;
/// The largest set, in bytes.
pub const MAX_SET_BYTES: usize = 4 * 1024 * 1024;
/// The longest question, in characters.
const MAX_QUERY_LENGTH: usize = 2_000;
/// The most answers to one question.
const MAX_RELEVANT: usize = 1_000;
/// The most mistakes that are told at once.
const MAX_REPORTED_ERRORS: usize = 10;

/// A set that cannot be used, with all that is wrong with it, up to ten lines.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum BadSet {
    /// There is no question in it.
    #[error("the set has no questions")]
    Empty,
    /// It is too large.
    #[error("the set has {0}; at most {1} are read")]
    TooLarge(String, String),
    /// Lines that are no judged questions.
    #[error("{}", .0.join("; "))]
    Lines(Vec<String>),
}

/// The questions in JSON Lines. Empty lines are passed over.
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
                        "line {number}: the id `{}` stands on line {first} too",
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
    // The parser counts lines within the one it was given, which would only mislead.
    let line = read.map_err(|error| {
        let why = error.to_string();
        let why = why.split(" at line ").next().unwrap_or_default();
        format!("not a judged question: {why} (column {})", error.column())
    })?;
    line.check()?;
    let thai = line.query.chars().any(crate::text::is_thai);
    let of_letters = if thai { "th" } else { "en" };
    // Without a word on answers, a question to which nothing is relevant has none.
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
                "`query` has {letters} characters; at most {MAX_QUERY_LENGTH} are read"
            ));
        }
        if !matches!(self.lang.as_str(), "" | "th" | "en") {
            return Err(format!("`lang` is `{}`; use `th` or `en`", shown(&self.lang)));
        }
        if self.relevant.is_none() && self.withhold.is_none() {
            return Err("nothing is judged: give `relevant` (ids that a search should find, `[]` \
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

/// A stranger's word, short enough for an error.
fn shown(word: &str) -> String {
    word.chars().take(60).collect()
}

/// What makes two questions the same one: their letters and digits, in one spelling.
pub fn same_as(query: &str) -> String {
    let text = normalize(query).text().to_lowercase();
    text.chars()
        .filter(|letter| letter.is_alphanumeric() || crate::text::is_thai(*letter))
        .collect()
}

/// Ids of these questions that `known` does not have, each once.
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
        ];
        for (set, count) in cases {
            assert_eq!(set.questions().unwrap().len(), count, "{set:?}");
        }
    }

    #[test]
    fn tuning_and_test_questions_are_disjoint() {
        // Every other question across languages, from the first, may tune.
        let across = Bundled::Crosslingual.questions().unwrap().into_iter().skip(1).step_by(2);
        let judges = [Bundled::Held, Bundled::Answers];
        let judges = judges.into_iter().flat_map(|set| set.questions().unwrap());
        let judges: Vec<String> = judges.chain(across).map(|one| one.query).collect();
        let tune = Bundled::Tune.questions().unwrap();
        let mut tune: BTreeSet<String> = tune.iter().map(|one| same_as(&one.query)).collect();
        // The curve of confidence is fitted on these; nothing else reads them.
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
            ("query,relevant\n", "line 1: not a judged question"),
            ("{\"query\": \"a\"}", "line 1: nothing is judged: give `relevant`"),
            (
                &format!("{fine}\n{{\"query\": \" \", \"relevant\": []}}"),
                "line 2: `query` is empty",
            ),
            (&format!("{fine}\n\n[1]"), "line 3: not a judged question"),
            (
                r#"{"query": "a", "relevant": [], "lang": "fr"}"#,
                "line 1: `lang` is `fr`; use `th` or `en`",
            ),
            (
                "{\"id\": \"1\", \"query\": \"a\", \"relevant\": []}\n{\"id\": \"1\", \"query\": \"b\", \"relevant\": []}",
                "line 2: the id `1` stands on line 1 too",
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
        assert!(parse(&large).unwrap_err().to_string().contains("at most 4194304 bytes"));
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
