//! The kernel tools.

use panoply_contract::context::{Caller, Provenance};
use panoply_contract::permission::{Grants, Profile};
use panoply_contract::prelude::*;
use panoply_contract::testing::{SAMPLE_SPEC, call_as_owner, call_with};
use serde_json::json;

use crate::tools::*;

#[tokio::test]
async fn search_finds_unlisted_tools_that_the_caller_may_call() {
    let hidden = ToolSpec {
        name: "get-zebra",
        permissions: &["zebras:admin"],
        listing: Listing::Extra,
        ..SAMPLE_SPEC
    };
    let (kernel, _) = kernel_of(published().with(Sample::new(spec(hidden), echo)));
    let found = call_as_owner(&kernel, "search-tools", json!({"query": "zebra"})).await;
    assert_eq!(structured(&found)["data"]["matches"][0]["name"], "get-zebra");
    let reader = Caller {
        user_id: None,
        partition: "r".to_owned(),
        grants: Grants::of(Profile::Reader),
        provenance: Provenance::default(),
    };
    let found =
        call_with(&kernel, "search-tools", json!({"query": "zebra"}), |cx| cx.caller = reader)
            .await;
    assert_eq!(structured(&found)["data"]["matches"], json!([]));
}

#[tokio::test]
async fn describe_returns_schemas_and_examples_and_suggests_similar_names() {
    let (kernel, _) = sample_kernel();
    let shown = call_as_owner(&kernel, "describe-tool", json!({"name": "get-sample"})).await;
    let data = &structured(&shown)["data"];
    assert_eq!(data["inputSchema"]["properties"]["howMany"]["maximum"], 10);
    assert_eq!(data["examples"][0]["params"], json!({"text": "hello"}));
    let wrong = call_as_owner(&kernel, "describe-tool", json!({"name": "get-smaple"})).await;
    assert_eq!(error(&wrong)["details"]["nearest"][0], "get-sample");
}

#[tokio::test]
async fn metrics_count_calls_and_errors() {
    let (kernel, _) = sample_kernel();
    call(&kernel, json!({"text": "x"})).await;
    call(&kernel, json!({"text": 1})).await;
    let metrics = call_as_owner(&kernel, "get-tool-metrics", json!({})).await;
    let row = &structured(&metrics)["data"]["tools"][0];
    assert_eq!(
        (&row["tool"], &row["calls"], &row["errorRate"]),
        (&json!("get-sample"), &json!(2), &json!(0.5))
    );
    assert_eq!(row["errors"]["validation"], 1);
}

#[tokio::test]
async fn the_audit_trail_paginates_and_shows_other_callers_to_administrators_only() {
    let (kernel, _) = sample_kernel();
    for text in ["a", "b", "c"] {
        call(&kernel, json!({"text": text})).await;
    }
    let trail = call_as_owner(&kernel, "get-audit-trail", json!({"limit": 2})).await;
    let data = &structured(&trail)["data"];
    assert_eq!(data["rows"][0]["sequence"], 3);
    assert_eq!(data["nextBefore"], 2);
    let next = &structured(&trail)["agentHints"]["suggestedNextActions"][0];
    let page = call_as_owner(&kernel, "get-audit-trail", next["data"].clone()).await;
    assert_eq!(structured(&page)["data"]["rows"][0]["sequence"], 1);
    let reader = Caller {
        user_id: None,
        partition: "r".to_owned(),
        grants: Grants::of(Profile::Reader),
        provenance: Provenance::default(),
    };
    let own = call_with(&kernel, "get-audit-trail", json!({}), |cx| cx.caller = reader).await;
    assert_eq!(structured(&own)["data"]["rows"], json!([]));
}

#[tokio::test]
async fn the_unified_envelope_has_data_hints_and_metadata() {
    let (kernel, _) = kernel_of(unified().with(Sample::new(spec(SAMPLE_SPEC), echo)));
    let reply = call(&kernel, json!({"text": "x"})).await;
    let body = structured(&reply);
    assert_eq!(body["data"]["text"], "x");
    for field in [
        "toolVersion",
        "timestamp",
        "executionTime",
        "serviceVersion",
        "traceId",
        "correlationId",
        "cached",
    ] {
        assert!(body["metadata"].get(field).is_some(), "{field}");
    }
    assert!(body["agentHints"].get("confidence").is_some());
    let failed = call(&kernel, json!({})).await;
    let text = match &failed {
        panoply_contract::dialect::Envelope::Result { text, structured: None, .. } => text,
        other => panic!("{other:?}"),
    };
    let body: serde_json::Value = serde_json::from_str(text).unwrap();
    assert_eq!(body["error"]["code"], "INVALID_INPUT");
    assert!(
        body["agentHints"]["confidence"].is_number() && body["metadata"]["toolVersion"].is_string()
    );
}
