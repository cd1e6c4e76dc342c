//! Filters and groups of `query_events` on odd names, long numbers and words of a type.

use std::sync::Arc;

use panoply_backtest::run::RunHeader;
use panoply_backtest::store::Store;
use panoply_backtest::store::memory::MemoryStore;
use panoply_contract::kernel::Kernel;
use serde_json::{Value, json};

use crate::helpers::{OWN_RUN, call_tool, kernel, line, sealed};

/// A kernel with one run of these lines.
pub(crate) fn run_of(lines: &[String]) -> Arc<Kernel> {
    let store = Arc::new(MemoryStore::default());
    let text = lines.join("\n");
    sealed(Arc::clone(&store) as Arc<dyn Store>, RunHeader::default(), text.as_bytes());
    kernel(store)
}

/// Fills on Friday 2024-03-01 whose prices tell them apart.
fn fills() -> Arc<Kernel> {
    let fill = |number: u32, time: &str, more: &str| {
        let properties = format!(
            r#"{{"OrderId":"{OWN_RUN}","SecuritySymbol":"A","Direction":"Buy","Quantity":1,"Price":{number},{more}}}"#
        );
        line(OWN_RUN, number, &format!("2024-03-01T{time}Z"), "TradeExecution", &properties, None)
    };
    run_of(&[
        fill(1, "09:30:00.5", r#""Ticket":12345678901234567,"Fill Price (%)":5,"ราคา":7"#),
        fill(
            2,
            "16:00:00",
            r#""Ticket":12345678901234568,"a.b":3,"a":{"b":4},"Gr\u00f6\u00dfe":2"#,
        ),
        fill(3, "16:00:01", r#""Ticket":"12345678901234567","hour":5,"Legs":[1]"#),
        fill(4, "23:59:59.999", r#""Ticket":null,"Maker":true"#),
    ])
}

async fn query(kernel: &Kernel, more: Value) -> Result<Value, Value> {
    let mut arguments = json!({"runId": OWN_RUN, "eventType": "TradeExecution"});
    arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    call_tool(kernel, "query_events", arguments).await
}

#[tokio::test]
async fn filter_reaches_any_property_and_compares_all_digits() {
    let kernel = fills();
    let cases: [(&str, &[u64]); 17] = [
        ("Ticket = 12345678901234567", &[1, 3]),
        ("Ticket > 12345678901234567", &[2]),
        ("Ticket < 12345678901234568", &[1, 3]),
        ("Ticket in (12345678901234568, 5)", &[2]),
        ("`Fill Price (%)` > 4.5", &[1]),
        ("ราคา = 7", &[1]),
        ("a\\.b = 3 and a.b = 4", &[2]),
        ("Größe = 2", &[2]),
        ("properties.hour = 5 and hour = 16", &[3]),
        ("hourOfDay = 16", &[2, 3]),
        ("timeOfDay <= '16:00'", &[1, 2]),
        ("timeOfDay >= '9:30' and timeOfDay < '09:31'", &[1]),
        ("timeOfDay > '22:00' or timeOfDay < '02:00'", &[4]),
        ("weekday = 'fri' and Maker = True", &[4]),
        ("Ticket not exists", &[4]),
        ("not Price > 2", &[1, 2]),
        ("severity = 'info' and Price not in (1, 2, 3)", &[4]),
    ];
    for (filter, expected) in cases {
        let reply = query(&kernel, json!({"where": filter})).await.unwrap();
        let found: Vec<u64> = reply["events"]
            .as_array()
            .unwrap()
            .iter()
            .map(|event| event["properties"]["Price"].as_u64().unwrap())
            .collect();
        assert_eq!(found, expected, "{filter}");
        assert_eq!(reply["metadata"]["unknownProperties"], Value::Null, "{filter}");
    }
}

#[tokio::test]
async fn groups_and_order_tell_numbers_of_seventeen_digits_apart() {
    let kernel = fills();
    let reply = query(&kernel, json!({"groupBy": ["$.Ticket"]})).await.unwrap();
    let groups = reply["groups"].as_array().unwrap();
    let counts: Vec<(&str, u64)> = groups
        .iter()
        .map(|group| (group["key"]["$.Ticket"].as_str().unwrap(), group["count"].as_u64().unwrap()))
        .collect();
    assert_eq!(counts, [("12345678901234567", 2), ("", 1), ("12345678901234568", 1)]);
    let asked = json!({"value": "Ticket", "order": "largest", "top": 3, "fields": ["Price"]});
    let reply = query(&kernel, asked).await.unwrap();
    let prices: Vec<&Value> =
        reply["events"].as_array().unwrap().iter().map(|own| &own["properties"]["Price"]).collect();
    assert_eq!(prices, [2, 1, 3], "ties in order of time");
    let reply = query(&kernel, json!({"groupBy": ["category", "properties.hour"]})).await.unwrap();
    assert_eq!(
        reply["groups"][0]["key"],
        json!({"category": "Execution", "properties.hour": ""}),
        "{reply}"
    );
}

#[tokio::test]
async fn names_that_no_event_has_are_reported_and_wrong_words_are_errors() {
    let kernel = fills();
    let asked = json!({"where": "Direction = Buy and Legs exists", "groupBy": ["Venue"]});
    let reply = query(&kernel, asked).await.unwrap();
    assert_eq!(reply["metadata"]["matchedEvents"], 0);
    assert_eq!(reply["metadata"]["unknownProperties"], json!(["Venue", "Buy", "Legs"]));
    for (filter, problem) in [
        ("Price not > 2", "write `not` before the comparison"),
        ("Price = null", "cannot be compared"),
        ("weekday = 'Funday'", "not a day of the week"),
        ("timeOfDay > '25:00'", "not a time of the day"),
        ("severity in ('Fatal')", "not a severity"),
        ("Price = 1e400", "is not a number"),
    ] {
        let error = query(&kernel, json!({"where": filter})).await.unwrap_err();
        assert_eq!(error["code"], "INVALID_PARAMETER", "{filter}");
        let message = error["message"].as_str().unwrap();
        assert!(message.contains(problem), "{filter}: {message}");
    }
}

#[tokio::test]
async fn groups_of_one_number_are_one_whatever_numbers_stand_beside_it() {
    // A block of 4,096 values has the scale of its longest fraction, or doubles.
    let fill = |number: u32| {
        let size = match number {
            4_200 => "0.25",
            8_400 => "123456789012345678901",
            _ => "5",
        };
        let properties = format!(
            r#"{{"OrderId":"{OWN_RUN}","SecuritySymbol":"A","Direction":"Buy","Quantity":1,"Price":1,"Size":{size}}}"#
        );
        line(OWN_RUN, number, "2024-03-01T10:00:00Z", "TradeExecution", &properties, None)
    };
    let lines: Vec<String> = (1..=9_000).map(fill).collect();
    let reply =
        query(&run_of(&lines), json!({"groupBy": ["Size"], "value": "Price"})).await.unwrap();
    let groups = reply["groups"].as_array().unwrap();
    let count = |key: &str| {
        let own = groups.iter().filter(|group| group["key"]["Size"] == key);
        own.map(|group| group["count"].as_u64().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!((count("5"), count("0.25")), (vec![8_998], vec![1]), "{groups:?}");
}
