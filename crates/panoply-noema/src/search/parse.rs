//! Recursive-descent parser for Anki's search language.

use super::{Comparison, Matching, Node, Property, State, Test};

/// Longest accepted query.
const MAX_QUERY_CHARS: usize = 4000;
/// Deepest accepted nesting of brackets.
const MAX_NESTING: usize = 64;

/// A syntax error with its position.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("at character {position} of the search: {problem}; expected {expected}")]
pub struct SearchSyntaxError {
    /// Character position, from 1.
    pub position: usize,
    /// The error.
    pub problem: String,
    /// The expected input.
    pub expected: String,
}

/// Parses a query; an empty one matches everything.
pub fn parse(query: &str) -> Result<Node, SearchSyntaxError> {
    if query.chars().count() > MAX_QUERY_CHARS {
        return Err(SearchSyntaxError {
            position: MAX_QUERY_CHARS,
            problem: "the query is too long".to_owned(),
            expected: format!("at most {MAX_QUERY_CHARS} characters"),
        });
    }
    let mut parser = Parser { chars: query.chars().collect(), offset: 0, depth: 0 };
    let node = parser.alternatives()?;
    match parser.peek() {
        None => Ok(node),
        Some(_) => Err(parser
            .syntax_error("`)` closes nothing", "a `(` before it, or `\\)` for the character")),
    }
}

struct Parser {
    chars: Vec<char>,
    offset: usize,
    depth: usize,
}

enum Token {
    And,
    Or,
    Term(Node),
}

impl Parser {
    /// Adjacent terms are conjunctions; `or` separates alternatives and binds less tightly.
    fn alternatives(&mut self) -> Result<Node, SearchSyntaxError> {
        let mut alternatives: Vec<Vec<Node>> = vec![Vec::new()];
        let mut open = false;
        loop {
            self.skip_whitespace();
            let start = self.offset;
            if matches!(self.peek(), None | Some(')')) {
                break;
            }
            let empty = alternatives.last().is_none_or(Vec::is_empty);
            match self.token()? {
                Token::Term(node) => {
                    open = false;
                    if let Some(terms) = alternatives.last_mut() {
                        terms.push(node);
                    }
                }
                Token::And | Token::Or if empty || open => {
                    self.offset = start;
                    return Err(
                        self.syntax_error("`and` or `or` joins nothing", "a term on both sides")
                    );
                }
                Token::And => open = true,
                Token::Or => {
                    open = true;
                    alternatives.push(Vec::new());
                }
            }
        }
        if open {
            return Err(self.syntax_error("the query ends after `and` or `or`", "a term"));
        }
        let mut nodes: Vec<Node> = alternatives.into_iter().map(conjunction).collect();
        Ok(if nodes.len() == 1 { nodes.pop().unwrap_or(Node::All) } else { Node::Or(nodes) })
    }

    fn token(&mut self) -> Result<Token, SearchSyntaxError> {
        if self.eat('-') {
            // A lone `-` is text; a second one belongs to the term.
            if matches!(self.peek(), None | Some(' ' | '\u{3000}' | '\t' | '\n' | ')')) {
                return Ok(Token::Term(Node::Test(Test::Text("-".to_owned()))));
            }
            return match self.plain_token()? {
                Token::Term(node) => Ok(Token::Term(Node::Not(Box::new(node)))),
                Token::And | Token::Or => {
                    Err(self.syntax_error("`-` negates nothing", "a term after `-`"))
                }
            };
        }
        self.plain_token()
    }

    fn plain_token(&mut self) -> Result<Token, SearchSyntaxError> {
        if self.eat('(') {
            return self.group();
        }
        let start = self.offset;
        let (text, quoted) = self.term()?;
        if !quoted && text.eq_ignore_ascii_case("and") {
            return Ok(Token::And);
        }
        if !quoted && text.eq_ignore_ascii_case("or") {
            return Ok(Token::Or);
        }
        test_of(&text).map(|test| Token::Term(Node::Test(test))).map_err(|syntax_error| {
            SearchSyntaxError {
                position: start + 1,
                problem: syntax_error.problem,
                expected: syntax_error.expected,
            }
        })
    }

    fn group(&mut self) -> Result<Token, SearchSyntaxError> {
        let start = self.offset - 1;
        self.depth += 1;
        if self.depth > MAX_NESTING {
            return Err(self.syntax_error("too many brackets", "at most 64 nested brackets"));
        }
        self.skip_whitespace();
        if self.peek() == Some(')') {
            return Err(self.syntax_error("nothing between the brackets", "a term"));
        }
        let node = self.alternatives()?;
        if !self.eat(')') {
            self.offset = start;
            return Err(self.syntax_error("`(` is never closed", "a `)` further on"));
        }
        self.depth -= 1;
        Ok(Token::Term(node))
    }

    /// One term with its escapes; quotes may enclose the term or its value.
    fn term(&mut self) -> Result<(String, bool), SearchSyntaxError> {
        if self.eat('"') {
            return Ok((self.quoted()?, true));
        }
        let mut text = String::new();
        while let Some(character) = self.peek() {
            match character {
                '\\' => {
                    text.push(character);
                    self.offset += 1;
                    match self.peek() {
                        Some(next) => text.push(next),
                        None => {
                            return Err(self.syntax_error(
                                "the query ends after `\\`",
                                "the character to take as it is",
                            ));
                        }
                    }
                }
                '"' if text.ends_with(':') => {
                    self.offset += 1;
                    let value = self.quoted()?;
                    return Ok((text + &value, false));
                }
                // The quote begins another term.
                '"' if !text.is_empty() => break,
                ' ' | '\u{3000}' | '\t' | '\n' | '(' | ')' => break,
                other => text.push(other),
            }
            self.offset += 1;
        }
        Ok((text, false))
    }

    fn quoted(&mut self) -> Result<String, SearchSyntaxError> {
        let start = self.offset - 1;
        let mut text = String::new();
        while let Some(character) = self.peek() {
            self.offset += 1;
            match character {
                '"' if text.is_empty() => {
                    self.offset = start;
                    return Err(self.syntax_error("nothing between the quotes", "some text"));
                }
                '"' => return Ok(text),
                '\\' => {
                    text.push(character);
                    if let Some(next) = self.peek() {
                        text.push(next);
                        self.offset += 1;
                    }
                }
                other => text.push(other),
            }
        }
        self.offset = start;
        Err(self.syntax_error("a quote that is never closed", "a second `\"` further on"))
    }

    fn skip_whitespace(&mut self) {
        while matches!(self.peek(), Some(' ' | '\u{3000}' | '\t' | '\n')) {
            self.offset += 1;
        }
    }

    fn eat(&mut self, wanted: char) -> bool {
        let there = self.peek() == Some(wanted);
        self.offset += usize::from(there);
        there
    }

    fn peek(&self) -> Option<char> {
        self.chars.get(self.offset).copied()
    }

    fn syntax_error(&self, problem: &str, expected: &str) -> SearchSyntaxError {
        SearchSyntaxError {
            position: self.offset + 1,
            problem: problem.to_owned(),
            expected: expected.to_owned(),
        }
    }
}

fn conjunction(mut terms: Vec<Node>) -> Node {
    match terms.len() {
        0 => Node::All,
        1 => terms.pop().unwrap_or(Node::All),
        _ => Node::And(terms),
    }
}

struct SyntaxError {
    problem: String,
    expected: String,
}

fn syntax_error(problem: impl Into<String>, expected: impl Into<String>) -> SyntaxError {
    SyntaxError { problem: problem.into(), expected: expected.into() }
}

fn test_of(term: &str) -> Result<Test, SyntaxError> {
    let Some((key, value)) = split_at_colon(term) else {
        return Ok(Test::Text(check_escapes(term)?));
    };
    if key.is_empty() {
        return Err(syntax_error(
            "nothing before `:`",
            "a keyword such as `deck` or the name of a field, or `\\:`",
        ));
    }
    Ok(match key.to_lowercase().as_str() {
        "deck" => Test::Deck(check_escapes(value)?),
        "note" => Test::NoteType(check_escapes(value)?),
        "tag" => Test::Tag(matching(value)?),
        "card" => match value.parse::<u32>() {
            Ok(number) => Test::Ordinal(number.saturating_sub(1)),
            Err(_) => Test::Template(check_escapes(value)?),
        },
        "flag" => Test::Flag(number_in(value, 0, 7, "a flag")?.try_into().unwrap_or_default()),
        "is" => Test::State(state(value)?),
        "prop" => property(value)?,
        "rated" => rated(value)?,
        "resched" => Test::Rescheduled(days(value)?),
        "added" => Test::Added(days(value)?),
        "edited" => Test::Edited(days(value)?),
        "introduced" => Test::Introduced(days(value)?),
        "cid" => Test::Cards(ids(value)?),
        "nid" => Test::Notes(ids(value)?),
        "did" => Test::DeckId(id(value)?),
        "mid" => Test::NoteTypeId(id(value)?),
        "re" => Test::Regex(check_regex(value)?),
        "nc" => Test::Unaccented(check_escapes(value)?),
        "w" => Test::Word(check_escapes(value)?),
        "sc" => Test::ClozeText(check_escapes(value)?),
        "preset" => Test::Preset(check_escapes(value)?),
        "has-cd" => Test::CustomKey(check_escapes(value)?),
        "dupe" => {
            let (note_type, text) = value.split_once(',').ok_or_else(|| {
                syntax_error(format!("`dupe:{value}` has no text"), "`dupe:note type id,text`")
            })?;
            Test::Duplicate { note_type: id(note_type)?, text: text.replace('\\', "") }
        }
        _ => Test::Field { name: check_escapes(key)?, value: matching(value)? },
    })
}

/// Splits at the first unescaped `:`.
fn split_at_colon(term: &str) -> Option<(&str, &str)> {
    let mut escaped = false;
    for (offset, character) in term.char_indices() {
        match character {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            ':' => return Some((term.get(..offset)?, term.get(offset + 1..)?)),
            _ => {}
        }
    }
    None
}

fn matching(value: &str) -> Result<Matching, SyntaxError> {
    Ok(if let Some(text) = value.strip_prefix("re:") {
        Matching::Regex(check_regex(text)?)
    } else if let Some(text) = value.strip_prefix("nc:") {
        Matching::Unaccented(check_escapes(text)?)
    } else {
        Matching::Glob(check_escapes(value)?)
    })
}

/// Rejects unknown escapes, which would otherwise silently match nothing.
fn check_escapes(text: &str) -> Result<String, SyntaxError> {
    let mut chars = text.chars();
    while let Some(character) = chars.next() {
        if character == '\\' {
            match chars.next() {
                Some('\\' | '"' | ':' | '*' | '_' | '(' | ')' | '-') => {}
                Some(other) => {
                    return Err(syntax_error(
                        format!("`\\{other}` is no escape"),
                        "`\\` before one of `\\ \" : * _ ( ) -`, or `re:` for a regular expression",
                    ));
                }
                None => {
                    return Err(syntax_error(
                        "a `\\` at the end",
                        "the character to take as it is",
                    ));
                }
            }
        }
    }
    Ok(text.to_owned())
}

fn check_regex(text: &str) -> Result<String, SyntaxError> {
    let text = text.replace("\\\"", "\"");
    match regex::RegexBuilder::new(&text).size_limit(1 << 20).build() {
        Ok(_) => Ok(text),
        Err(error) => {
            let reason = error.to_string();
            let reason = reason.lines().last().unwrap_or_default().trim_start_matches("error: ");
            Err(syntax_error(
                format!("`{text}` is no regular expression ({reason})"),
                "one such as `\\d{3}` or `colou?r`",
            ))
        }
    }
}

fn state(value: &str) -> Result<State, SyntaxError> {
    Ok(match value.to_lowercase().as_str() {
        "new" => State::New,
        "review" => State::Review,
        "learn" => State::Learning,
        "due" => State::Due,
        "suspended" => State::Suspended,
        "buried" => State::Buried,
        "buried-manually" => State::BuriedByHand,
        "buried-sibling" => State::BuriedAsSibling,
        "draft" => State::Draft,
        other => {
            return Err(syntax_error(
                format!("`is:{other}` is no state"),
                "new, review, learn, due, suspended, buried, buried-manually, buried-sibling or draft",
            ));
        }
    })
}

fn property(value: &str) -> Result<Test, SyntaxError> {
    let sign = value.find(['<', '>', '=', '!']).and_then(|offset| {
        let (name, rest) = value.split_at_checked(offset)?;
        let known = |(sign, comparison): &(&str, Comparison)| {
            rest.strip_prefix(sign).map(|figure| (name, *comparison, figure))
        };
        Comparison::ALL.iter().find_map(known)
    });
    let Some((name, comparison, figure)) = sign else {
        return Err(syntax_error(
            format!("`prop:{value}` compares nothing"),
            "a property, a sign and a number, such as `prop:ivl>=10`",
        ));
    };
    let whole = |label: &str| {
        figure.parse::<i64>().map_err(|_| {
            syntax_error(
                format!("`{figure}` is no whole number"),
                format!("a whole number after `prop:{label}{}`", comparison.sign()),
            )
        })
    };
    let measure =
        || {
            figure.parse::<f64>().ok().filter(|number| number.is_finite()).ok_or_else(|| {
                syntax_error(format!("`{figure}` is no number"), "a number such as 2.5")
            })
        };
    let counted = |label: &str| {
        let number = whole(label)?;
        if number < 0 {
            return Err(syntax_error(format!("`{figure}` is below 0"), "a whole number from 0 up"));
        }
        Ok(crate::numbers::to_f64(number))
    };
    if let Some((keep, key)) = name.split_once(':').filter(|(_, key)| !key.is_empty()) {
        match keep {
            "cdn" => return Ok(Test::CustomNumber(key.to_owned(), comparison, measure()?)),
            "cds" => return Ok(Test::CustomText(key.to_owned(), comparison, figure.to_owned())),
            _ => {}
        }
    }
    let (property, figure) = match name.to_lowercase().as_str() {
        "due" => (Property::Due, crate::numbers::to_f64(whole("due")?)),
        "ivl" => (Property::Interval, counted("ivl")?),
        "reps" => (Property::Reps, counted("reps")?),
        "lapses" => (Property::Lapses, counted("lapses")?),
        "pos" => (Property::Position, counted("pos")?),
        "ease" => (Property::Ease, measure()?),
        "s" => (Property::Stability, measure()?),
        "d" => (Property::Difficulty, measure()?),
        "r" => (Property::Retrievability, measure()?),
        "rated" => {
            let (day, rating) =
                figure.split_once(':').map_or((figure, None), |(day, rating)| (day, Some(rating)));
            let rating = rating.map(|rating| number_in(rating, 1, 4, "a rating")).transpose()?;
            let rating = rating.and_then(|rating| rating.try_into().ok());
            return Ok(Test::RatedOn { comparison, day: past_day(day)?, rating });
        }
        "resched" => return Ok(Test::RescheduledOn(comparison, past_day(figure)?)),
        other => {
            return Err(syntax_error(
                format!("`{other}` is no property"),
                "due, ivl, reps, lapses, pos, ease, s, d, r, rated, resched, cdn:key or cds:key",
            ));
        }
    };
    Ok(Test::Property(property, comparison, figure))
}

fn past_day(value: &str) -> Result<i64, SyntaxError> {
    number_in(value, -100_000, 0, "a day up to today").map_err(|_| {
        syntax_error(format!("`{value}` is no day up to today"), "0 for today, -1 for yesterday")
    })
}

fn rated(value: &str) -> Result<Test, SyntaxError> {
    let (span, rating) =
        value.split_once(':').map_or((value, None), |(span, rating)| (span, Some(rating)));
    let rating = rating.map(|rating| number_in(rating, 1, 4, "a rating")).transpose()?;
    Ok(Test::Rated { days: days(span)?, rating: rating.and_then(|rating| rating.try_into().ok()) })
}

fn days(value: &str) -> Result<i64, SyntaxError> {
    let days = value.parse::<i64>().ok().filter(|days| *days >= 0).ok_or_else(|| {
        syntax_error(
            format!("`{value}` is no number of days"),
            "a whole number such as 7; today alone is 1",
        )
    })?;
    // Anki treats 0 as today.
    Ok(days.clamp(1, 100_000))
}

fn number_in(value: &str, low: i64, high: i64, what: &str) -> Result<i64, SyntaxError> {
    value.parse::<i64>().ok().filter(|number| (low..=high).contains(number)).ok_or_else(|| {
        syntax_error(format!("`{value}` is not {what}"), format!("a number from {low} to {high}"))
    })
}

fn ids(value: &str) -> Result<Vec<i64>, SyntaxError> {
    value.split(',').map(id).collect()
}

/// Parses an id with or without its prefix.
fn id(value: &str) -> Result<i64, SyntaxError> {
    let digits = value.rsplit('_').next().unwrap_or(value).trim();
    digits.parse().map_err(|_| {
        syntax_error(
            format!("`{value}` is no id"),
            "a number such as 123, several joined by commas",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Node {
        Node::Test(Test::Text(text.to_owned()))
    }

    #[test]
    fn adjacent_terms_bind_tighter_than_or() {
        assert_eq!(
            parse("a b or -c").unwrap(),
            Node::Or(vec![Node::And(vec![text("a"), text("b")]), Node::Not(Box::new(text("c"))),])
        );
        assert_eq!(
            parse("a AND (b OR c)").unwrap(),
            Node::And(vec![text("a"), Node::Or(vec![text("b"), text("c")])])
        );
        assert_eq!(parse("  ").unwrap(), Node::All);
        assert_eq!(parse("\"and\"").unwrap(), text("and"));
        assert_eq!(parse("--a").unwrap(), Node::Not(Box::new(text("-a"))));
        assert_eq!(parse("a\"b\"c").unwrap(), Node::And(vec![text("a"), text("b"), text("c")]));
    }

    #[test]
    fn keywords_and_field_names_parse_to_their_tests() {
        let cases = [
            ("deck:\"a b\"", Test::Deck("a b".to_owned())),
            ("\"deck:a b\"", Test::Deck("a b".to_owned())),
            (
                "Front:x*",
                Test::Field { name: "Front".to_owned(), value: Matching::Glob("x*".to_owned()) },
            ),
            (
                "front:re:^a\\d",
                Test::Field {
                    name: "front".to_owned(),
                    value: Matching::Regex("^a\\d".to_owned()),
                },
            ),
            ("prop:ivl>=10", Test::Property(Property::Interval, Comparison::AtLeast, 10.0)),
            ("prop:r<0.8", Test::Property(Property::Retrievability, Comparison::Below, 0.8)),
            ("rated:7:1", Test::Rated { days: 7, rating: Some(1) }),
            ("card:2", Test::Ordinal(1)),
            ("nid:note_1,2", Test::Notes(vec![1, 2])),
            (r"a\:b", Test::Text(r"a\:b".to_owned())),
            ("tag:none", Test::Tag(Matching::Glob("none".to_owned()))),
            ("-", Test::Text("-".to_owned())),
            ("preset:Default", Test::Preset("Default".to_owned())),
            ("has-cd:v", Test::CustomKey("v".to_owned())),
            ("prop:cdn:v>=7.5", Test::CustomNumber("v".to_owned(), Comparison::AtLeast, 7.5)),
            (
                "prop:cds:k!=ab",
                Test::CustomText("k".to_owned(), Comparison::Unequal, "ab".to_owned()),
            ),
            (
                "prop:rated>-5:2",
                Test::RatedOn { comparison: Comparison::Above, day: -5, rating: Some(2) },
            ),
            ("prop:resched=0", Test::RescheduledOn(Comparison::Equal, 0)),
        ];
        for (query, expected) in cases {
            assert_eq!(parse(query), Ok(Node::Test(expected)), "query: {query}");
        }
    }

    #[test]
    fn syntax_errors_report_position_and_expectation() {
        let cases = [
            ("a (b", 3, "`)` further on"),
            ("a b)", 4, "a `(` before it"),
            ("a or", 5, "a term"),
            ("or a", 1, "a term on both sides"),
            ("()", 2, "a term"),
            ("a \"b", 3, "a second `\"`"),
            ("is:odd", 1, "new, review"),
            ("x flag:9", 3, "0 to 7"),
            ("prop:ivl~3", 1, "prop:ivl>=10"),
            ("prop:lapses>x", 1, "whole number"),
            ("re:[", 1, "one such as"),
            (r"\d", 1, "`re:`"),
            ("prop:ivl=-1", 1, "from 0 up"),
            ("prop:rated=1", 1, "0 for today"),
            ("rated:-1", 1, "today alone is 1"),
            (":a", 1, "a keyword"),
        ];
        for (query, position, expected) in cases {
            let error = parse(query).unwrap_err();
            assert_eq!(error.position, position, "query: {query}: {error}");
            assert!(error.expected.contains(expected), "query: {query}: {error}");
        }
    }

    proptest::proptest! {
        #[test]
        fn parser_never_panics(query in r#"[-a-z0-9 "()\\:*_<>=]{0,40}"#) {
            let _ = parse(&query);
        }
    }
}
