//! Stored portfolios through the real pipeline: wrappers, provenance, duplicates, undo, exactly
//! once, and the same figures as with the transactions in the call.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests may fail the test"
)]

use std::sync::Arc;

use panoply_cgt::store::{PortfolioStore as _, SqlitePortfolios};
use panoply_cgt::tools::{Settings, pack_with};
use panoply_contract::context::CallContext;
use panoply_contract::dialect::Envelope;
use panoply_contract::ids::TraceId;
use panoply_contract::kernel::{Kernel, Scope, Settings as KernelSettings};
use panoply_contract::pipeline::{self, Request};
use panoply_contract::testing::{FixedClock, call_as_owner, kernel_in_memory, noon};
use serde_json::{Value, json};

fn kernel_over(store: SqlitePortfolios) -> Arc<Kernel> {
    let pack = pack_with(&Settings::default(), Arc::new(store)).unwrap();
    kernel_in_memory(vec![pack], FixedClock::at(noon()), KernelSettings::default()).unwrap()
}

fn kernel() -> Arc<Kernel> {
    kernel_over(SqlitePortfolios::in_memory())
}

async fn data(kernel: &Kernel, tool: &str, input: Value) -> Value {
    match call_as_owner(kernel, tool, input.clone()).await {
        Envelope::Result { structured: Some(data), is_error: false, .. } => data.value(),
        other => panic!("{tool} {input}: {other:?}"),
    }
}

async fn code(kernel: &Kernel, tool: &str, input: Value) -> String {
    match call_as_owner(kernel, tool, input.clone()).await {
        Envelope::Refusal { data, .. } => data["code"].as_str().unwrap().to_owned(),
        other @ Envelope::Result { .. } => panic!("{tool} {input}: {other:?}"),
    }
}

async fn created(kernel: &Kernel, name: &str) -> String {
    let made = data(kernel, "create_portfolio", json!({"name": name})).await;
    made["portfolio_id"].as_str().unwrap().to_owned()
}

const TRADES: &str = "2020-01-01 BUY A 100 @ 1\n2020-06-01 BUY A 100 @ 2\n2024-05-01 SELL A 50 @ 90 FEES 5\n2024-05-10 BUY A 10 @ 80";

#[tokio::test]
async fn every_tool_gives_the_same_answer_for_a_portfolio_as_for_its_transactions() {
    let kernel = kernel();
    let id = created(&kernel, "Shares").await;
    let input = json!({"portfolio_id": id, "cgt_content": TRADES});
    assert_eq!(data(&kernel, "add_transactions", input).await["total"], 4);
    for (tool, more) in [
        ("calculate_report", json!({})),
        ("calculate_report", json!({"year": 2024})),
        ("parse_transactions", json!({})),
        ("convert_to_dsl", json!({})),
        ("validate_transactions", json!({})),
        ("explain_matching", json!({"disposal_date": "2024-05-01", "ticker": "A"})),
        ("estimate_tax", json!({"year": 2024, "taxable_income": 60000})),
        ("sa108_summary", json!({"year": 2024})),
        ("check_repurchase", json!({"ticker": "A", "disposal_date": "2024-05-01"})),
        (
            "plan_disposals",
            json!({"year": 2024, "taxable_income": 60000, "prices": [{"ticker": "A", "price": 70}]}),
        ),
        ("reconcile_holdings", json!({"stated": [{"ticker": "A", "quantity": 160}]})),
    ] {
        let with = |name: &str, value: &str| {
            let mut input = more.clone();
            input[name] = value.into();
            input
        };
        let stored = data(&kernel, tool, with("portfolio_id", &id)).await;
        let given = data(&kernel, tool, with("cgt_content", TRADES)).await;
        assert_eq!(stored, given, "{tool} {more}");
    }
    let both = json!({"portfolio_id": id, "cgt_content": TRADES});
    assert_eq!(code(&kernel, "calculate_report", both).await, "INVALID_INPUT");
    let unknown = json!({"portfolio_id": "pf_00000000"});
    assert_eq!(code(&kernel, "calculate_report", unknown).await, "PORTFOLIO_NOT_FOUND");
}

#[tokio::test]
async fn only_general_accounts_count_for_tax() {
    let kernel = kernel();
    let id = created(&kernel, "Shares").await;
    let add = |account: &str, wrapper: &str, lines: &str| json!({"portfolio_id": id, "account": account, "wrapper": wrapper, "cgt_content": lines});
    let pair = "2020-01-01 BUY A 10 @ 1\n2024-05-01 SELL A 10 @ 501";
    for wrapper in ["gia", "isa", "sipp", "spouse"] {
        data(&kernel, "add_transactions", add(wrapper, wrapper, pair)).await;
    }
    let report = data(&kernel, "calculate_report", json!({"portfolio_id": id})).await;
    assert_eq!(report["tax_years"][0]["net_gain"], "5000.00");
    assert_eq!(
        report["warnings"][0],
        "6 transactions in accounts of the wrappers isa, sipp, spouse are left out"
    );
    assert_eq!(code(&kernel, "add_transactions", add("isa", "gia", pair)).await, "OTHER_WRAPPER");
    // The ISA turns out to be a general account: one pool, two sales on a day are one disposal.
    let edit = json!({"portfolio_id": id, "accounts": [{"name": "isa", "wrapper": "gia"}]});
    data(&kernel, "edit_transactions", edit).await;
    let report = data(&kernel, "calculate_report", json!({"portfolio_id": id})).await;
    assert_eq!(report["tax_years"][0]["net_gain"], "10000.00");
}

const HEADINGS: &str = "Action,Time,ISIN,Ticker,Name,No. of shares,Price / share,Currency (Price / share),Exchange rate,Result,Currency (Result),Total,Currency (Total),ID";

fn t212(name: &str, rows: &[&str]) -> Value {
    json!({"name": name, "content": format!("{HEADINGS}\n{}\n", rows.join("\n"))})
}

#[tokio::test]
async fn overlapping_imports_count_once_and_keep_their_provenance() {
    let kernel = kernel();
    let id = created(&kernel, "Shares").await;
    let first =
        "Market buy,2024-01-05 10:00:00,US0378331005,AAPL,Apple,1,185,USD,1.27,,GBP,145.67,GBP,E1";
    let second =
        "Market buy,2024-01-05 15:00:00,US0378331005,AAPL,Apple,1,185,USD,1.27,,GBP,145.67,GBP,E9";
    let import =
        |files: Value| json!({"portfolio_id": id, "files": files, "account": "Trading 212"});
    let january =
        data(&kernel, "add_transactions", import(json!([t212("jan.csv", &[first])]))).await;
    assert_eq!((&january["added"], &january["new_accounts"]), (&json!(1), &json!(["Trading 212"])));
    let both =
        data(&kernel, "add_transactions", import(json!([t212("year.csv", &[first, second])])))
            .await;
    assert_eq!(
        (&both["added"], &both["duplicate_count"], &both["total"]),
        (&json!(1), &json!(1), &json!(2))
    );
    assert!(both["duplicates"][0].as_str().unwrap().contains("year.csv"), "{both}");
    let listed = data(&kernel, "list_portfolio_transactions", json!({"portfolio_id": id})).await;
    let row = &listed["transactions"][1];
    assert_eq!(
        (&row["file"], &row["line"], &row["broker"], &row["broker_id"], &row["account"]),
        (&json!("year.csv"), &json!(3), &json!("trading212"), &json!("E9"), &json!("Trading 212"))
    );
    // The same rows of another account are other trades.
    let mut other = import(json!([t212("other.csv", &[first])]));
    other["account"] = "Second".into();
    assert_eq!(data(&kernel, "add_transactions", other).await["added"], 1);
    // Nothing new is no change.
    let again = data(&kernel, "add_transactions", import(json!([t212("jan.csv", &[first])]))).await;
    assert_eq!((&again["added"], &again["change_id"]), (&json!(0), &Value::Null));
}

#[tokio::test]
async fn edits_and_imports_can_be_undone() {
    let kernel = kernel();
    let id = created(&kernel, "Shares").await;
    let add = json!({"portfolio_id": id, "cgt_content": TRADES});
    let added = data(&kernel, "add_transactions", add).await;
    let of = |more: Value| {
        let mut input = more;
        input["portfolio_id"] = id.clone().into();
        input
    };
    let edit = of(
        json!({"edits": [{"id": 3, "cgt_content": "2024-05-01 SELL A 60 @ 90 FEES 5"}, {"id": 4, "remove": true}]}),
    );
    let edited = data(&kernel, "edit_transactions", edit).await;
    assert_eq!(
        (&edited["changed"], &edited["removed"], &edited["total"]),
        (&json!(1), &json!(1), &json!(3))
    );
    let early = of(json!({"change_id": added["change_id"]}));
    assert_eq!(code(&kernel, "undo_portfolio_change", early).await, "CHANGED_SINCE");
    assert_eq!(data(&kernel, "undo_portfolio_change", of(json!({}))).await["total"], 4);
    let report = data(&kernel, "convert_to_dsl", of(json!({}))).await;
    assert!(report["dsl"].as_str().unwrap().contains("SELL A 50"), "{report}");
    assert_eq!(data(&kernel, "undo_portfolio_change", of(json!({}))).await["total"], 0);
    assert_eq!(code(&kernel, "undo_portfolio_change", of(json!({}))).await, "NOTHING_TO_UNDO");
    assert_eq!(code(&kernel, "calculate_report", of(json!({}))).await, "NO_TRANSACTIONS");
    assert_eq!(data(&kernel, "delete_portfolio", of(json!({}))).await["name"], "Shares");
    assert_eq!(code(&kernel, "delete_portfolio", of(json!({}))).await, "PORTFOLIO_NOT_FOUND");
}

#[tokio::test]
async fn repeated_idempotency_key_changes_a_portfolio_once() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("cgt.db");
    let mut replies = Vec::new();
    // Each call is of another process over the same file.
    for _ in 0..2 {
        let kernel = kernel_over(SqlitePortfolios::at(file.clone()));
        for (tool, key) in [("create_portfolio", "a"), ("add_transactions", "b")] {
            let input = match tool {
                "create_portfolio" => json!({"name": "Shares"}),
                _ => {
                    let listed = data(&kernel, "list_portfolios", json!({})).await;
                    let id = &listed["portfolios"][0]["portfolio_id"];
                    json!({"portfolio_id": id, "cgt_content": TRADES})
                }
            };
            let trace = TraceId::new(uuid::Uuid::from_u128(7));
            let mut cx = CallContext::local(Arc::clone(kernel.clock()), trace);
            cx.idempotency_key = Some(key.to_owned());
            let request = Request { tool, input, scope: &Scope::All };
            match pipeline::call(&kernel, request, cx).await {
                Envelope::Result { structured: Some(data), is_error: false, .. } => {
                    replies.push(data.value());
                }
                other => panic!("{tool}: {other:?}"),
            }
        }
    }
    assert_eq!(replies[..2], replies[2..]);
    let stored = SqlitePortfolios::at(file).list().unwrap();
    assert_eq!((stored.len(), stored[0].entries), (1, 4));
}

#[tokio::test]
async fn three_hundred_trades_cost_one_short_argument() {
    let kernel = kernel();
    let id = created(&kernel, "Shares").await;
    let lines: Vec<String> = (0..300)
        .map(|day| format!("2020-{:02}-{:02} BUY A 1 @ 1", 1 + day / 28, 1 + day % 28))
        .collect();
    let add = json!({"portfolio_id": id, "cgt_content": lines.join("\n")});
    assert_eq!(data(&kernel, "add_transactions", add).await["total"], 300);
    let input = json!({"portfolio_id": id, "year": 2020});
    // At 2.5 bytes a token.
    assert!(input.to_string().len() < 30 * 5 / 2, "{input}");
    let report = data(&kernel, "calculate_report", input).await;
    assert_eq!(report["holdings"][0]["quantity"], "300");
}
