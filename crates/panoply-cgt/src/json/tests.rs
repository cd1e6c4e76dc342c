//! JSON input: accepted and rejected forms.

use serde_json::json;

use super::{EXAMPLE, parse, parse_values};
use crate::dsl;

fn as_lines(text: &str) -> String {
    let parsed = parse(text).unwrap_or_else(|problems| panic!("{text}: {problems:#?}"));
    dsl::print(parsed.rows.iter().map(|row| &row.transaction))
}

#[test]
fn member_aliases_are_accepted() {
    let cases = [
        (
            r#"[{"date": "2024-01-15", "ticker": "vod", "action": "Buy", "amount": "100", "price": "1.20"}]"#,
            "2024-01-15 BUY VOD 100 @ 1.20 GBP",
        ),
        (
            r#"[{"date":"2024-01-15","ticker":"A","type":"sell","quantity":100,"price":150.5}]"#,
            "2024-01-15 SELL A 100 @ 150.5 GBP",
        ),
        (
            r#"[{"Date":"2024-01-15","Symbol":"A","ACTION":"cap_return","amount":"10","total_value":"5"}]"#,
            "2024-01-15 CAPRETURN A 10 TOTAL 5 GBP",
        ),
        (
            r#"[{"date":"2024-01-15","ticker":"A","action":"DIVIDEND","total":{"amount":"5","currency":"usd"},"tax_paid":"1"}]"#,
            "2024-01-15 DIVIDEND A TOTAL 5 USD TAX 1 GBP",
        ),
        (
            r#"[{"date":"2024-01-15","ticker":"A","action":"BUY","quantity":"1","price":{"amount":"5","currency":"USD","rate":"1.25"}}]"#,
            "2024-01-15 BUY A 1 @ 5 USD RATE 1.25",
        ),
        (
            r#"[{"date":"2024-01-15","ticker":"A","action":"BUY","quantity":"1","price":"5","currency":"EUR"}]"#,
            "2024-01-15 BUY A 1 @ 5 EUR",
        ),
        (
            r#"{"transactions": [{"date":"2024-01-15","ticker":"A","action":"RESTRUCT","ratio":"1:2"}]}"#,
            "2024-01-15 RESTRUCT A RATIO 1:2",
        ),
        (
            r#"[{"date":"2024-01-15","ticker":"A","action":"OPENING","quantity":"5","cost":"9"}]"#,
            "2024-01-15 OPENING A 5 COST 9 GBP",
        ),
        (
            r#"[{"date":"2024-01-15","ticker":"A","action":"SPOUSE_IN","quantity":"5","total":"9","fees":null}]"#,
            "2024-01-15 SPOUSE_IN A 5 TOTAL 9 GBP",
        ),
        (
            r#"[{"date":"2024-01-15","ticker":"A","action":"BUY","quantity":1e-7,"price":"9"}]"#,
            "2024-01-15 BUY A 0.0000001 @ 9 GBP",
        ),
        ("[]", ""),
    ];
    for (text, expected) in cases {
        assert_eq!(as_lines(text), expected, "text: {text}");
    }
    assert!(parse(&format!("[{EXAMPLE}]")).is_ok());
}

#[test]
fn every_parse_error_has_a_hint() {
    let buy = |members: &str| {
        format!(r#"[{{"date":"2024-01-15","ticker":"A","action":"BUY",{members}}}]"#)
    };
    let cases = [
        (buy(r#""amount":"-1","price":"1""#), "must be positive", "positive"),
        (buy(r#""amount":"0","price":"1""#), "must be positive", "leave the transaction out"),
        (buy(r#""amount":"1""#), "there is no `price`", "add `price`"),
        (buy(r#""price":"1""#), "there is no `quantity`", "`amount`"),
        (buy(r#""amount":"5","price":{"amount":"11"}"#), "without `currency`", "plain string"),
        (buy(r#""amount":"5","price":{"gbp":"11"}"#), "old form", "plain string"),
        (buy(r#""amount":"5","price":{"currency":"USD"}"#), "without `amount`", "plain string"),
        (
            buy(r#""amount":"5","price":{"amount":"11","currency":"ZZZ"}"#),
            "\"ZZZ\"",
            "three-letter",
        ),
        (buy(r#""amount":[5],"price":"1""#), "[5]", "digits"),
        (
            r#"[{"date":"2024-01-15","ticker":"A","action":"HOLD"}]"#.to_owned(),
            "\"HOLD\" is not an action; the actions are BUY, SELL",
            "BUY",
        ),
        (
            r#"[{"date":"15/01/2024","ticker":"A","action":"SPOUSE_OUT","quantity":"1"}]"#
                .to_owned(),
            "15/01/2024",
            "year first",
        ),
        (
            r#"[{"date":"2024-06-10","ticker":"N","action":"SPLIT","amount":"10","price":"0"}]"#
                .to_owned(),
            "there is no `ratio`",
            "`ratio`",
        ),
        (
            r#"[{"date":"2024-06-10","ticker":"N","action":"DIVIDEND","amount":"10","total":"5"}]"#
                .to_owned(),
            "no quantity",
            "ACCUMULATION",
        ),
        ("[5]".to_owned(), "must be an object", "object"),
        ("[{]".to_owned(), "not JSON", "bracket"),
        ("5".to_owned(), "not a list", "array"),
    ];
    for (text, message, hint) in cases {
        let problems = parse(&text).expect_err(&text);
        assert!(
            problems
                .iter()
                .any(|problem| problem.message.contains(message) && problem.hint.contains(hint)),
            "{text}: {problems:#?}"
        );
    }
}

#[test]
fn every_problem_is_reported_with_its_location() {
    let text = "[\n  {\"date\": \"2024-01-15\", \"ticker\": \"A\", \"action\": \"SPOUSE_OUT\", \"quantity\": \"1\"},\n  {\"date\": \"x\",\n   \"ticker\": \"A\", \"action\": \"BUY\",\n   \"quantity\": \"-1\", \"price\": \"1\"}\n]";
    let positions: Vec<(u32, u32, String)> = parse(text)
        .unwrap_err()
        .into_iter()
        .map(|problem| (problem.line, problem.column, problem.value))
        .collect();
    assert_eq!(positions, [(3, 4, "x".to_owned()), (5, 4, "-1".to_owned())]);
}

#[test]
fn array_problems_report_element_numbers() {
    let items = [
        json!({"date": "2024-01-15", "ticker": "A", "action": "SPOUSE_OUT", "quantity": "1"}),
        json!(5),
    ];
    let problems = parse_values(&items).unwrap_err();
    assert_eq!((problems[0].line, problems[0].source.as_str()), (2, ""));
}

#[test]
fn unknown_member_is_reported() {
    let parsed = parse(r#"[{"date":"2024-01-15","ticker":"A","action":"BUY","quantity":"1","price":"1","fee":"3"}]"#).unwrap();
    assert_eq!(parsed.notices, ["line 1: `fee` is ignored; did you mean `fees`?"]);
}

#[test]
fn brackets_inside_strings_do_not_shift_locations() {
    let text = "[{\"note\": \"a ] } \\\" [\", \"date\":\"2024-01-15\",\"ticker\":\"A\",\"action\":\"SPOUSE_OUT\",\"quantity\":\"1\"},\n5]";
    assert_eq!(parse(text).unwrap_err()[0].line, 2);
}
