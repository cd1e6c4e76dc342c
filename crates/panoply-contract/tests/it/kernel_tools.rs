//! The kernel tools.

use panoply_contract::context::Caller;
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
        principal: None,
        partition: "r".to_owned(),
        grants: Grants::of(Profile::Reader),
        ..Caller::local(Profile::Reader)
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
async fn call_tool_gives_the_reply_the_audit_and_the_refusals_of_its_target() {
    let hidden = ToolSpec {
        name: "get-zebra",
        permissions: &["zebras:admin"],
        listing: Listing::Extra,
        ..SAMPLE_SPEC
    };
    let (kernel, _) = kernel_of(published().with(Sample::new(spec(hidden), echo)));
    let direct = call_as_owner(&kernel, "get-zebra", json!({"text": "x"})).await;
    for arguments in [json!({"text": "x"}), json!(r#"{"text": "x"}"#)] {
        let input = json!({"name": "get-zebra", "arguments": arguments});
        let through = call_as_owner(&kernel, "call-tool", input).await;
        assert_eq!(structured(&through)["text"], structured(&direct)["text"]);
        let hash = |reply| meta(reply, "panoply/audit")["in_hash"].clone();
        assert_eq!(hash(&through), hash(&direct));
    }
    let wrong = json!({"name": "get-zebra", "arguments": {"text": 1}});
    let wrong = call_as_owner(&kernel, "call-tool", wrong).await;
    assert_eq!(error(&wrong)["code"], "INVALID_INPUT");
    let reader = Caller::local(Profile::Reader);
    let input = json!({"name": "get-zebra", "arguments": {"text": "x"}});
    let refused = call_with(&kernel, "call-tool", input, |cx| cx.caller = reader).await;
    assert_eq!(error(&refused)["code"], "FORBIDDEN");
    for (input, code) in [
        (json!({"name": "get-zebar"}), "UNKNOWN_TOOL"),
        (json!({"name": "call-tool", "arguments": {}}), "UNSUITABLE_TOOL"),
        (json!({"name": "get-zebra", "arguments": [1]}), "INVALID_INPUT"),
        (json!({"name": "get-zebra", "args": {}}), "INVALID_INPUT"),
    ] {
        let reply = call_as_owner(&kernel, "call-tool", input.clone()).await;
        assert_eq!(error(&reply)["code"], code, "{input}");
    }
}

#[tokio::test]
async fn names_work_in_either_spelling_and_with_their_pack_in_front() {
    let (kernel, _) = sample_kernel();
    let pack = kernel.registry().get("get-sample").unwrap().pack;
    for name in
        ["get-sample", "get_sample", &format!("{pack}_get-sample"), &format!("{pack}_get_sample")]
    {
        let reply = call_as_owner(&kernel, name, json!({"text": "x"})).await;
        assert_eq!(structured(&reply)["text"], "x", "{name}");
    }
    assert!(kernel.registry().get("kernel_get_sample").is_none());
}

#[tokio::test]
async fn exact_json_in_a_string_is_taken_where_the_schema_wants_its_value() {
    let (kernel, _) = sample_kernel();
    let reply = call(&kernel, json!({"text": "5", "howMany": "3"})).await;
    assert_eq!(structured(&reply)["text"], "5");
    for not_exact in ["03", "3e0", "3 ", "three", "99"] {
        let reply = call(&kernel, json!({"text": "x", "howMany": not_exact})).await;
        assert_eq!(error(&reply)["code"], "INVALID_INPUT", "{not_exact:?}");
    }
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
        principal: None,
        partition: "r".to_owned(),
        grants: Grants::of(Profile::Reader),
        ..Caller::local(Profile::Reader)
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
    for field in
        ["toolVersion", "timestamp", "executionTime", "serviceVersion", "traceId", "cached"]
    {
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
