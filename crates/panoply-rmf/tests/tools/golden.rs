//! Golden tests against an independent Python program: see `oracle/oracle.py`.
//!
//! Each expectation names a path into a result. Numbers match within the given tolerance,
//! everything else exactly.

use panoply_rmf::figures::to_f64;
use serde_json::Value;

use crate::common::{call, error_of, kernel};

#[tokio::test]
async fn every_question_matches_the_oracle() {
    let questions: Value = serde_json::from_str(include_str!("../oracle/questions.json")).unwrap();
    let questions = questions["questions"].as_array().unwrap();
    assert!(questions.len() >= 50, "there are {} questions", questions.len());
    let kernel = kernel();
    let mut wrong = Vec::new();
    for question in questions {
        let tool = question["tool"].as_str().unwrap();
        let result = call(&kernel, tool, question["arguments"].clone()).await;
        for expected in question["expect"].as_array().unwrap() {
            if let Err(problem) = holds(&result, expected) {
                wrong.push(format!("{} ({}): {problem}", question["id"], question["question"]));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn holds(result: &Value, expected: &Value) -> Result<(), String> {
    if let Some(code) = expected.get("error") {
        let error = error_of(result);
        let named = expected["mentions"].as_array().into_iter().flatten();
        let missing: Vec<&str> = named
            .filter_map(Value::as_str)
            .filter(|word| !error.to_string().contains(word))
            .collect();
        let right = error["code"] == *code && missing.is_empty();
        return right.then_some(()).ok_or_else(|| format!("{error} lacks {missing:?}"));
    }
    let path = expected["path"].as_str().unwrap();
    let seen = at(result, path).ok_or_else(|| format!("`{path}` is not there: {result}"))?;
    let wrong = |wanted: &Value| format!("`{path}` is {seen}, expected {wanted}");
    if let Some(length) = expected.get("length") {
        let count = seen.as_array().map(Vec::len);
        return (count == length.as_u64().map(|length| usize::try_from(length).unwrap()))
            .then_some(())
            .ok_or_else(|| format!("`{path}` has {count:?} items, expected {length}"));
    }
    if let Some(column) = expected.get("column") {
        let values = expected["values"].as_array().unwrap();
        let rows = seen.as_array().unwrap();
        let same = rows.len() >= values.len()
            && rows
                .iter()
                .zip(values)
                .all(|(row, value)| same(&row[column.as_str().unwrap()], value, 1e-9));
        return same.then_some(()).ok_or_else(|| {
            let column: Vec<&Value> =
                rows.iter().map(|row| &row[column.as_str().unwrap()]).collect();
            format!("`{path}` is {column:?}, expected {values:?}")
        });
    }
    let wanted = &expected["equals"];
    let tolerance = expected["tolerance"].as_f64().unwrap_or(1e-9);
    same(seen, wanted, tolerance).then_some(()).ok_or_else(|| wrong(wanted))
}

/// Compares numbers within the tolerance; `1000` equals `1000.0`.
fn same(seen: &Value, wanted: &Value, tolerance: f64) -> bool {
    match (seen.as_f64(), wanted.as_f64()) {
        (Some(seen), Some(wanted)) => (seen - wanted).abs() <= tolerance,
        _ => seen == wanted,
    }
}

/// Resolves a slash-separated path; `-1` is the last element.
fn at<'a>(value: &'a Value, path: &str) -> Option<&'a Value> {
    path.split('/').try_fold(value, |value, part| match value {
        Value::Array(items) if part == "-1" => items.last(),
        Value::Array(items) => items.get(part.parse::<usize>().ok()?),
        _ => value.get(part),
    })
}

#[test]
fn oracle_reads_the_same_dataset() {
    // Guards against stale expectations: they must be made from the bundled dataset.
    let questions: Value = serde_json::from_str(include_str!("../oracle/questions.json")).unwrap();
    let catalog = panoply_rmf::catalog::FundCatalog::bundled().unwrap();
    assert_eq!(questions["checksum"], catalog.checksum);
    let latest = catalog.find("ABAPAC-RMF").unwrap().nav.latest().unwrap();
    assert!((to_f64(latest.nav) - 15.626).abs() < 1e-9);
}
