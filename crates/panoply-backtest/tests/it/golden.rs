//! Forty queries on two real runs, compared with an independent oracle (`tests/oracle/answers.py`).

use panoply_contract::compliance;
use serde_json::Value;

use crate::helpers::{REAL, call_tool, kernel};

#[tokio::test]
async fn replies_match_the_independent_oracle() {
    let expected: Value = serde_json::from_str(include_str!("../oracle/answers.json")).unwrap();
    let kernel = kernel(REAL.clone());
    for case in expected["cases"].as_array().unwrap() {
        let tool = case["tool"].as_str().unwrap();
        let mut arguments = case["arguments"].clone();
        // Compares the content of a page, not where it is truncated.
        if tool.starts_with("get_events_by") || tool == "query_event_sequence" {
            arguments["maxTokens"] = 200_000.into();
        }
        let answer = call_tool(&kernel, tool, arguments.clone()).await.unwrap();
        let about = format!("{tool} {arguments}");
        let expect = case["expect"].as_object().unwrap();
        for (name, expected) in expect {
            let seen = match name.as_str() {
                "eventIds" => ids(&answer["events"], "eventId"),
                "rootEventIds" => ids(&answer["sequences"], "rootEventId"),
                "chain" => ids(&answer["sequences"][0]["events"], "eventId"),
                "missing" => {
                    let sequences = answer["sequences"].as_array().unwrap();
                    let missing = |sequence: &Value| match &sequence["missingEventTypes"] {
                        Value::Null => Value::Array(Vec::new()),
                        missing => missing.clone(),
                    };
                    sequences.iter().map(missing).collect()
                }
                "validationErrors" => answer["events"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|event| event["validationErrors"].clone())
                    .collect(),
                other => answer[other].clone(),
            };
            same(&seen, expected, &format!("{about}: {name}"));
        }
    }
    assert!(expected["cases"].as_array().unwrap().len() >= 26);
}

fn ids(list: &Value, name: &str) -> Value {
    list.as_array().unwrap().iter().map(|item| item[name].clone()).collect()
}

/// Checks that all expected members are present; numbers may differ in the last digits.
fn same(seen: &Value, expected: &Value, about: &str) {
    match (seen, expected) {
        (Value::Object(seen), Value::Object(expected)) => {
            for (name, value) in expected {
                same(&seen[name], value, &format!("{about}.{name}"));
            }
        }
        (Value::Array(seen), Value::Array(expected)) => {
            assert_eq!(seen.len(), expected.len(), "{about}");
            for (place, (seen, expected)) in seen.iter().zip(expected).enumerate() {
                same(seen, expected, &format!("{about}[{place}]"));
            }
        }
        (Value::Number(seen), Value::Number(expected)) => {
            let (seen, expected) = (seen.as_f64().unwrap(), expected.as_f64().unwrap());
            let close = (seen - expected).abs() <= 1e-9 * expected.abs().max(1.0);
            assert!(close, "{about}: {seen} instead of {expected}");
        }
        _ => assert_eq!(seen, expected, "{about}"),
    }
}

#[tokio::test]
async fn pack_passes_the_contract_compliance_check() {
    let matrix = compliance::check(&kernel(REAL.clone())).await;
    let violations: Vec<String> = matrix.violations.iter().map(ToString::to_string).collect();
    assert_eq!(violations, Vec::<String>::new());
    assert!(matrix.tools.iter().any(|tool| tool == "get_state_snapshot"));
}
