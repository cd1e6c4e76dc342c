//! The filter language of `query_events`: comparisons of properties, joined by `and`, `or` and `not`.
//!
//! ```text
//! expression = conjunction { "or" conjunction }
//! conjunction = term { "and" term }
//! term = "not" term | "(" expression ")" | operand test
//! test = ( "=" | "!=" | "<" | "<=" | ">" | ">=" ) operand
//!      | [ "not" ] ( "in" "(" literal { "," literal } ")" | "contains" text | "startsWith" text | "exists" )
//! operand = literal | path | "hour" | "weekday" | "timeOfDay" | "severity" | "category"
//! path = names joined by dots, or any characters between backticks
//! literal = number | 'text' | "text" | "true" | "false"
//! ```
//!
//! A property that an event does not have makes a comparison false. Numbers compare with numbers and
//! numeric texts, texts with texts. Days of the week, times of the day, severities and categories
//! compare with texts of their kind only (`typed_literal.rs`).

use std::cmp::Ordering;

use super::typed_literal::typed;
use crate::number::Number;

/// Terms of one expression; more are rejected.
const MAX_TERMS: usize = 100;
/// Nesting of parentheses and `not`.
const MAX_DEPTH: usize = 32;

/// A parsed filter.
#[derive(Clone, Debug, PartialEq)]
pub enum Expression {
    /// All must hold.
    And(Vec<Self>),
    /// One must hold.
    Or(Vec<Self>),
    /// Must not hold.
    Not(Box<Self>),
    /// A comparison.
    Compare(Operand, Comparison, Operand),
    /// Equal to one of these.
    In(Operand, Vec<Literal>),
    /// The text contains this.
    Contains(Operand, String),
    /// The text starts with this.
    StartsWith(Operand, String),
    /// The property exists and is not null.
    Exists(Operand),
}

/// A side of a comparison.
#[derive(Clone, Debug, PartialEq)]
pub enum Operand {
    /// A value in the expression.
    Literal(Literal),
    /// A property by its path, or a joined value by its name.
    Path(String),
    /// Hour of the day, UTC.
    Hour,
    /// Day of the week, such as `Monday`.
    Weekday,
    /// Time of the day as `HH:MM:SS`, UTC.
    TimeOfDay,
    /// The event's severity.
    Severity,
    /// The event's category.
    Category,
}

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub enum Literal {
    /// A number.
    Number(Number),
    /// A text.
    Text(String),
    /// A boolean.
    Bool(bool),
}

/// A comparison operator.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Comparison {
    /// `=`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    AtMost,
    /// `>`
    Greater,
    /// `>=`
    AtLeast,
}

/// Why a text is not an expression.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{problem} at character {at}")]
pub struct BadExpression {
    /// The problem.
    pub problem: String,
    /// The character, from 1.
    pub at: usize,
}

impl Literal {
    /// Orders two values; `None` if they are of different types.
    pub fn compare(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Bool(a), Self::Bool(b)) => Some(a.cmp(b)),
            (Self::Text(a), Self::Text(b)) => Some(a.cmp(b)),
            _ => Some(self.number()?.compare_loosely(other.number()?)),
        }
    }

    /// The number, also of a numeric text.
    pub fn number(&self) -> Option<Number> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Text(text) => Number::parse(text.trim()),
            Self::Bool(_) => None,
        }
    }
}

impl Comparison {
    /// Whether an order satisfies the operator. Values of different types are only unequal.
    pub fn holds(self, order: Option<Ordering>) -> bool {
        match self {
            Self::Equal => order == Some(Ordering::Equal),
            Self::NotEqual => order != Some(Ordering::Equal),
            Self::Less => order == Some(Ordering::Less),
            Self::AtMost => matches!(order, Some(Ordering::Less | Ordering::Equal)),
            Self::Greater => order == Some(Ordering::Greater),
            Self::AtLeast => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
        }
    }
}

impl Expression {
    /// Parses a filter.
    pub fn parse(text: &str) -> Result<Self, BadExpression> {
        let tokens = tokens(text)?;
        let end = text.chars().count() + 1;
        let mut parser = Parser { tokens, next: 0, end, terms: 0 };
        let expression = parser.expression(0)?;
        match parser.peek() {
            None => Ok(expression),
            Some(token) => Err(parser.problem(format!("unexpected `{token}`"))),
        }
    }

    /// Evaluates the filter, given the value of each operand.
    pub fn holds(&self, value: &mut dyn FnMut(&Operand) -> Option<Literal>) -> bool {
        match self {
            Self::And(terms) => terms.iter().all(|term| term.holds(value)),
            Self::Or(terms) => terms.iter().any(|term| term.holds(value)),
            Self::Not(term) => !term.holds(value),
            Self::Compare(left, comparison, right) => {
                let (Some(left), Some(right)) = (value(left), value(right)) else { return false };
                comparison.holds(left.compare(&right))
            }
            Self::In(operand, literals) => value(operand).is_some_and(|own| {
                literals.iter().any(|literal| own.compare(literal) == Some(Ordering::Equal))
            }),
            Self::Contains(operand, part) => {
                matches!(value(operand), Some(Literal::Text(text)) if text.contains(part.as_str()))
            }
            Self::StartsWith(operand, part) => {
                matches!(value(operand), Some(Literal::Text(text)) if text.starts_with(part.as_str()))
            }
            Self::Exists(operand) => value(operand).is_some(),
        }
    }

    /// Visits every operand.
    pub fn operands(&self, visit: &mut dyn FnMut(&Operand)) {
        match self {
            Self::And(terms) | Self::Or(terms) => {
                terms.iter().for_each(|term| term.operands(visit));
            }
            Self::Not(term) => term.operands(visit),
            Self::Compare(left, _, right) => {
                visit(left);
                visit(right);
            }
            Self::In(operand, _)
            | Self::Contains(operand, _)
            | Self::StartsWith(operand, _)
            | Self::Exists(operand) => visit(operand),
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Word(String),
    /// A path between backticks.
    Path(String),
    Number(Number, String),
    Text(String),
    Symbol(&'static str),
}

impl std::fmt::Display for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Word(text) | Self::Path(text) | Self::Text(text) | Self::Number(_, text) => {
                f.write_str(text)
            }
            Self::Symbol(text) => f.write_str(text),
        }
    }
}

const SYMBOLS: [&str; 9] = ["!=", "<=", ">=", "=", "<", ">", "(", ")", ","];

fn tokens(text: &str) -> Result<Vec<(usize, Token)>, BadExpression> {
    let mut found = Vec::new();
    let mut rest = text;
    let mut at = 1;
    while let Some(first) = rest.chars().next() {
        let (token, length) = if first.is_whitespace() {
            (None, first.len_utf8())
        } else if let Some(symbol) = SYMBOLS.into_iter().find(|own| rest.starts_with(own)) {
            // `==` is accepted for `=`.
            let length = if rest.starts_with("==") { 2 } else { symbol.len() };
            (Some(Token::Symbol(symbol)), length)
        } else if matches!(first, '\'' | '"' | '`') {
            let inside = rest.get(1..).unwrap_or_default();
            let Some(end) = inside.find(first) else {
                let what = if first == '`' { "path" } else { "text" };
                return Err(BadExpression { problem: format!("a {what} without its end"), at });
            };
            let text = inside.get(..end).unwrap_or_default().to_owned();
            let token = if first == '`' { Token::Path(text) } else { Token::Text(text) };
            (Some(token), end + 2)
        } else {
            let is_part =
                |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '$' | '-' | '+' | '\\');
            let length = rest.find(|c: char| !is_part(c)).unwrap_or(rest.len());
            let word = rest.get(..length).unwrap_or_default();
            if word.is_empty() {
                return Err(BadExpression { problem: format!("unexpected `{first}`"), at });
            }
            (Some(word_token(word, at)?), length)
        };
        found.extend(token.map(|token| (at, token)));
        let (taken, after) = rest.split_at_checked(length).unwrap_or((rest, ""));
        at += taken.chars().count();
        rest = after;
    }
    Ok(found)
}

fn word_token(word: &str, at: usize) -> Result<Token, BadExpression> {
    let starts_number = word.starts_with(|c: char| c.is_ascii_digit() || c == '-' || c == '+');
    if !starts_number {
        return Ok(Token::Word(word.to_owned()));
    }
    let number = Number::parse(word.strip_prefix('+').unwrap_or(word));
    let number = number.ok_or_else(|| BadExpression {
        problem: format!("`{word}` is not a number; write a text in quotes"),
        at,
    })?;
    Ok(Token::Number(number, word.to_owned()))
}

struct Parser {
    tokens: Vec<(usize, Token)>,
    next: usize,
    end: usize,
    terms: usize,
}

impl Parser {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.next).map(|(_, token)| token)
    }

    fn problem(&self, problem: String) -> BadExpression {
        let at = self.tokens.get(self.next).map_or(self.end, |(at, _)| *at);
        BadExpression { problem, at }
    }

    fn take_word(&mut self, word: &str) -> bool {
        let is_next =
            matches!(self.peek(), Some(Token::Word(own)) if own.eq_ignore_ascii_case(word));
        self.next += usize::from(is_next);
        is_next
    }

    fn take_symbol(&mut self, symbol: &str) -> bool {
        let is_next = matches!(self.peek(), Some(Token::Symbol(own)) if *own == symbol);
        self.next += usize::from(is_next);
        is_next
    }

    fn expect_symbol(&mut self, symbol: &str) -> Result<(), BadExpression> {
        if self.take_symbol(symbol) {
            Ok(())
        } else {
            Err(self.problem(format!("expected `{symbol}`")))
        }
    }

    fn expression(&mut self, depth: usize) -> Result<Expression, BadExpression> {
        let mut terms = vec![self.conjunction(depth)?];
        while self.take_word("or") {
            terms.push(self.conjunction(depth)?);
        }
        Ok(single(terms, Expression::Or))
    }

    fn conjunction(&mut self, depth: usize) -> Result<Expression, BadExpression> {
        let mut terms = vec![self.term(depth)?];
        while self.take_word("and") {
            terms.push(self.term(depth)?);
        }
        Ok(single(terms, Expression::And))
    }

    fn term(&mut self, depth: usize) -> Result<Expression, BadExpression> {
        self.terms += 1;
        if depth >= MAX_DEPTH || self.terms > MAX_TERMS {
            return Err(self
                .problem(format!("more than {MAX_TERMS} terms or {MAX_DEPTH} levels of nesting")));
        }
        if self.take_word("not") {
            return self.term(depth + 1).map(|term| Expression::Not(Box::new(term)));
        }
        if self.take_symbol("(") {
            let inner = self.expression(depth + 1)?;
            self.expect_symbol(")")?;
            return Ok(inner);
        }
        let operand = self.operand()?;
        self.test(operand)
    }

    fn test(&mut self, operand: Operand) -> Result<Expression, BadExpression> {
        let is_negated = self.take_word("not");
        let tested = if self.take_word("exists") {
            Expression::Exists(operand)
        } else if self.take_word("contains") {
            Expression::Contains(operand, self.text()?)
        } else if self.take_word("startsWith") {
            Expression::StartsWith(operand, self.text()?)
        } else if self.take_word("in") {
            self.set(operand)?
        } else if is_negated {
            let problem = "expected `in`, `contains`, `startsWith` or `exists` after `not`; write `not` before the comparison";
            return Err(self.problem(problem.to_owned()));
        } else {
            return self.comparison(operand);
        };
        Ok(if is_negated { Expression::Not(Box::new(tested)) } else { tested })
    }

    fn set(&mut self, operand: Operand) -> Result<Expression, BadExpression> {
        self.expect_symbol("(")?;
        let mut literals = Vec::new();
        loop {
            let at = self.next;
            let literal = self.literal()?;
            literals.push(self.typed(at, &operand, Comparison::Equal, literal)?);
            if !self.take_symbol(",") {
                break;
            }
        }
        self.expect_symbol(")")?;
        Ok(Expression::In(operand, literals))
    }

    fn comparison(&mut self, left: Operand) -> Result<Expression, BadExpression> {
        let comparison = match self.peek() {
            Some(Token::Symbol("=")) => Comparison::Equal,
            Some(Token::Symbol("!=")) => Comparison::NotEqual,
            Some(Token::Symbol("<")) => Comparison::Less,
            Some(Token::Symbol("<=")) => Comparison::AtMost,
            Some(Token::Symbol(">")) => Comparison::Greater,
            Some(Token::Symbol(">=")) => Comparison::AtLeast,
            _ => {
                return Err(self.problem(
                    "expected a comparison (=, !=, <, <=, >, >=, in, contains, startsWith, exists)"
                        .to_owned(),
                ));
            }
        };
        let before = self.next.saturating_sub(1);
        self.next += 1;
        let at = self.next;
        let (left, right) = match (left, self.operand()?) {
            (Operand::Literal(literal), right) => {
                let literal = self.typed(before, &right, comparison, literal)?;
                (Operand::Literal(literal), right)
            }
            (left, Operand::Literal(literal)) => {
                let literal = self.typed(at, &left, comparison, literal)?;
                (left, Operand::Literal(literal))
            }
            both => both,
        };
        Ok(Expression::Compare(left, comparison, right))
    }

    /// The literal at a token, as a value of its operand.
    fn typed(
        &self,
        token: usize,
        operand: &Operand,
        comparison: Comparison,
        literal: Literal,
    ) -> Result<Literal, BadExpression> {
        typed(operand, comparison, literal).map_err(|problem| {
            let at = self.tokens.get(token).map_or(self.end, |(at, _)| *at);
            BadExpression { problem, at }
        })
    }

    fn text(&mut self) -> Result<String, BadExpression> {
        match self.peek() {
            Some(Token::Text(text)) => {
                let text = text.clone();
                self.next += 1;
                Ok(text)
            }
            _ => Err(self.problem("expected a text in quotes".to_owned())),
        }
    }

    fn literal(&mut self) -> Result<Literal, BadExpression> {
        match self.operand()? {
            Operand::Literal(literal) => Ok(literal),
            _ => {
                self.next -= 1;
                Err(self.problem("expected a number, or a text in quotes".to_owned()))
            }
        }
    }

    fn operand(&mut self) -> Result<Operand, BadExpression> {
        let operand = match self.peek() {
            Some(Token::Number(number, _)) => Operand::Literal(Literal::Number(*number)),
            Some(Token::Text(text)) => Operand::Literal(Literal::Text(text.clone())),
            Some(Token::Path(path)) => Operand::Path(path.clone()),
            Some(Token::Word(word)) if word.eq_ignore_ascii_case("null") => {
                let problem = "`null` cannot be compared; write `exists` or `not NAME exists`";
                return Err(self.problem(problem.to_owned()));
            }
            Some(Token::Word(word)) => word_operand(word),
            Some(Token::Symbol(symbol)) => {
                return Err(self.problem(format!("expected a property or a value, not `{symbol}`")));
            }
            None => return Err(self.problem("expected a property or a value".to_owned())),
        };
        self.next += 1;
        Ok(operand)
    }
}

fn single(mut terms: Vec<Expression>, many: fn(Vec<Expression>) -> Expression) -> Expression {
    match (terms.len(), terms.pop()) {
        (1, Some(only)) => only,
        (_, last) => many(terms.into_iter().chain(last).collect()),
    }
}

fn word_operand(word: &str) -> Operand {
    match word {
        "true" | "True" | "TRUE" => Operand::Literal(Literal::Bool(true)),
        "false" | "False" | "FALSE" => Operand::Literal(Literal::Bool(false)),
        // The name in `groupBy`, where `hour` is an hour of one day.
        "hour" | "hourOfDay" => Operand::Hour,
        "weekday" => Operand::Weekday,
        "timeOfDay" => Operand::TimeOfDay,
        "severity" => Operand::Severity,
        "category" => Operand::Category,
        path => {
            let path = path.strip_prefix("$.").unwrap_or(path);
            Operand::Path(path.strip_prefix("properties.").unwrap_or(path).to_owned())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holds(text: &str) -> bool {
        Expression::parse(text).unwrap().holds(&mut |operand| match operand {
            Operand::Literal(literal) => Some(literal.clone()),
            Operand::Path(path) => match path.as_str() {
                "Price" => Number::parse("1.5").map(Literal::Number),
                "Ticket" => Number::parse("12345678901234567").map(Literal::Number),
                "Fill Price (%)" => Number::parse("7").map(Literal::Number),
                "Quantity" => Some(Literal::Text("20".to_owned())),
                "Side" => Some(Literal::Text("Buy".to_owned())),
                "Maker" => Some(Literal::Bool(true)),
                _ => None,
            },
            Operand::Hour => Number::parse("14").map(Literal::Number),
            Operand::Weekday => Some(Literal::Text("Friday".to_owned())),
            Operand::TimeOfDay => Some(Literal::Text("14:30:00".to_owned())),
            Operand::Severity => Some(Literal::Text("Info".to_owned())),
            Operand::Category => None,
        })
    }

    #[test]
    fn filters_are_evaluated() {
        let cases = [
            ("Price > 1 and Price <= 1.5", true),
            ("$.Price = 1.5 or Price = 2", true),
            ("Quantity > 9", true),
            ("not (Side = 'Buy')", false),
            ("Side in ('Sell', \"Buy\")", true),
            ("Side not in ('Sell')", true),
            ("Side contains 'u' and Side startsWith 'B'", true),
            ("Maker = true", true),
            ("Missing exists or Missing > 0 or Missing = ''", false),
            ("Missing != 1", false),
            ("not Missing exists", true),
            ("hour >= 9 and hour < 17 and weekday != 'Sunday'", true),
            ("timeOfDay < '14:00:00'", false),
            ("Price < Quantity", true),
            ("Price = 1 or Price = 2 and Price = 3 or Price == 1.5", true),
            ("Side < 5", false),
            ("severity = 'Info'", true),
            ("Side not contains 'z' and not Side not startsWith 'B'", true),
            ("Missing not exists", true),
            ("Ticket = 12345678901234567 and Ticket in (12345678901234567)", true),
            ("Ticket = 12345678901234568 or Ticket > 12345678901234567", false),
            ("Ticket < 12345678901234568 and Ticket = '12345678901234567'", true),
            ("`Fill Price (%)` > 6.5 and Maker = True", true),
            ("timeOfDay = '14:30' and timeOfDay <= '14:30' and '9:00' < timeOfDay", true),
            ("timeOfDay < '24:00' and hourOfDay = 14", true),
            ("weekday = 'friday' and weekday in ('Fri', 'sat') and severity = 'INFO'", true),
        ];
        for (text, expected) in cases {
            assert_eq!(holds(text), expected, "{text}");
        }
    }

    #[test]
    fn errors_name_problem_and_place() {
        let cases = [
            ("", "expected a property or a value at character 1"),
            ("Price >", "expected a property or a value at character 8"),
            (
                "Price",
                "expected a comparison (=, !=, <, <=, >, >=, in, contains, startsWith, exists) at character 6",
            ),
            ("(Price = 1", "expected `)` at character 11"),
            ("Price = 1 Side", "unexpected `Side` at character 11"),
            ("Side = 'Buy", "a text without its end at character 8"),
            ("Side in (Price)", "expected a number, or a text in quotes at character 10"),
            ("Price ; DROP TABLE", "unexpected `;` at character 7"),
            ("Price = 1x", "`1x` is not a number; write a text in quotes at character 9"),
            (
                "Price not > 5",
                "expected `in`, `contains`, `startsWith` or `exists` after `not`; write `not` before the comparison at character 11",
            ),
            (
                "Price = null",
                "`null` cannot be compared; write `exists` or `not NAME exists` at character 9",
            ),
            ("`Price > 1", "a path without its end at character 1"),
            ("Price = 1e400", "`1e400` is not a number; write a text in quotes at character 9"),
            (
                "weekday in ('Monday', 'Funday')",
                "`Funday` is not a day of the week such as Friday at character 23",
            ),
            ("weekday = 5", "`5` is not a day of the week such as Friday at character 11"),
            (
                "timeOfDay > '25:00'",
                "`25:00` is not a time of the day such as 09:30 at character 13",
            ),
            ("930 < timeOfDay", "`930` is not a time of the day such as 09:30 at character 1"),
            (
                "severity != 'Fatal'",
                "`Fatal` is not a severity: Error, Warning, Info, Debug at character 13",
            ),
        ];
        for (text, expected) in cases {
            assert_eq!(Expression::parse(text).unwrap_err().to_string(), expected, "{text}");
        }
        let deep = format!("{}Price = 1{}", "(".repeat(40), ")".repeat(40));
        assert!(Expression::parse(&deep).is_err());
        let long = vec!["Price = 1"; 101].join(" or ");
        assert!(Expression::parse(&long).is_err());
    }
}
