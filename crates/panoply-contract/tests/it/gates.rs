//! Checks before a handler: size, removal, permission, rate limit, schema; and their order.

use panoply_contract::context::Caller;
use panoply_contract::kernel::{Scope, Settings};
use panoply_contract::permission::{Grants, Profile};
use panoply_contract::prelude::*;
use panoply_contract::spec::Deprecation;
use panoply_contract::testing::{FixedClock, SAMPLE_SPEC, call_with, kernel_in_memory, noon};
use serde_json::{Value, json};

use crate::tools::*;

fn reader() -> Caller {
    Caller {
        principal: None,
        partition: "reader".to_owned(),
        grants: Grants::of(Profile::Reader),
        ..Caller::local(Profile::Reader)
    }
}

#[tokio::test]
async fn every_input_problem_is_reported_with_a_valid_value() {
    let (kernel, _) = sample_kernel();
    let reply = call(&kernel, json!({"howMany": 99, "direction": "sideways", "textt": "x"})).await;
    let error = error(&reply);
    assert_eq!(error["code"], "INVALID_INPUT");
    assert_eq!(error["class"], "validation");
    let problems = error["details"]["problems"].as_array().unwrap();
    let at = |pointer: &str| {
        problems.iter().find(|problem| problem["pointer"] == pointer).unwrap_or(&Value::Null)
    };
    assert_eq!(problems.len(), 4, "{problems:#?}");
    assert_eq!(at("/howMany")["seen"], 99);
    assert_eq!(at("/howMany")["expected"], "an integer from 1 to 10");
    assert_eq!(at("/direction")["expected"], r#"one of "up", "down""#);
    assert_eq!(at("/direction")["example"], "up");
    assert_eq!(at("/text")["message"], "is required");
    assert_eq!(at("/text")["example"], "hello");
    assert_eq!(at("/textt")["message"], "is not an argument; did you mean `text`?");
    assert_eq!(error["details"]["example"], json!({"text": "hello"}));
}

#[tokio::test]
async fn non_object_arguments_are_refused_and_null_means_none() {
    let (kernel, _) = sample_kernel();
    for input in [json!([1]), json!("text"), json!(5), Value::Null, json!({})] {
        let reply = call(&kernel, input.clone()).await;
        assert_eq!(error(&reply)["code"], "INVALID_INPUT", "input: {input}");
    }
}

#[tokio::test]
async fn a_null_optional_argument_is_treated_as_omitted() {
    let (kernel, _) = sample_kernel();
    let reply = call(&kernel, json!({"text": "x", "howMany": null})).await;
    assert_eq!(structured(&reply)["text"], "x");
    let reply = call(&kernel, json!({"text": null})).await;
    assert_eq!(error(&reply)["code"], "INVALID_INPUT");
}

#[tokio::test]
async fn integral_floats_are_accepted_as_integers() {
    let (kernel, _) = sample_kernel();
    structured(
        &call(&kernel, serde_json::from_str(r#"{"text": "x", "howMany": 2.0}"#).unwrap()).await,
    );
    let reply =
        call(&kernel, serde_json::from_str(r#"{"text": "x", "howMany": 2.5}"#).unwrap()).await;
    assert_eq!(error(&reply)["details"]["problems"][0]["pointer"], "/howMany");
}

#[tokio::test]
async fn input_over_the_size_limit_is_refused() {
    let clock = FixedClock::at(noon());
    let settings = Settings { largest_input: 100, ..Settings::default() };
    let pack = published().with(Sample::new(spec(SAMPLE_SPEC), echo));
    let kernel = kernel_in_memory(vec![pack], clock, settings).unwrap();
    let reply = call(&kernel, json!({"text": "x".repeat(200)})).await;
    assert_eq!(error(&reply)["code"], "INPUT_TOO_LARGE");
}

#[tokio::test]
async fn a_missing_permission_is_named_in_the_error() {
    let (kernel, _) =
        kernel_with(ToolSpec { permissions: &["samples:create"], ..SAMPLE_SPEC }, echo);
    // Invalid input: authorisation precedes validation and does not reveal the schema.
    let reply =
        call_with(&kernel, "get-sample", json!({"nonsense": 1}), |cx| cx.caller = reader()).await;
    let error = error(&reply);
    assert_eq!(error["code"], "FORBIDDEN");
    assert_eq!(error["details"]["missingPermissions"], json!(["samples:create"]));
    assert!(
        kernel.listed(&Scope::All, &reader()).iter().all(|entry| entry.spec.name != "get-sample")
    );
}

#[tokio::test]
async fn a_read_only_server_hides_and_refuses_mutations() {
    let mutation = ToolSpec { category: Category::Mutation, data: &["samples"], ..SAMPLE_SPEC };
    let pack = published().with(Sample::new(spec(mutation), echo));
    let settings = Settings { read_only: true, ..Settings::default() };
    let kernel = kernel_in_memory(vec![pack], FixedClock::at(noon()), settings).unwrap();
    assert!(
        kernel
            .listed(&Scope::All, &Caller::local_owner())
            .iter()
            .all(|entry| entry.spec.name != "get-sample")
    );
    let reply = call(&kernel, json!({"text": "x"})).await;
    assert_eq!(error(&reply)["code"], "READ_ONLY");
}

#[tokio::test]
async fn rate_limits_apply_per_caller_and_return_a_retry_delay() {
    let limit = RateLimit { max_calls: 3, window: MINUTE };
    let (kernel, clock) = kernel_with(ToolSpec { rate_limit: Some(limit), ..SAMPLE_SPEC }, echo);
    for _ in 0..3 {
        structured(&call(&kernel, json!({"text": "x"})).await);
    }
    let refused = call(&kernel, json!({"text": "x"})).await;
    assert_eq!(error(&refused)["code"], "RATE_LIMITED");
    assert_eq!(error(&refused)["details"]["retryAfterMs"], 20_000);
    // Each caller has a separate bucket.
    structured(
        &call_with(&kernel, "get-sample", json!({"text": "x"}), |cx| cx.caller = reader()).await,
    );
    clock.advance(Duration::from_secs(20));
    structured(&call(&kernel, json!({"text": "x"})).await);
    assert_eq!(error(&call(&kernel, json!({"text": "x"})).await)["code"], "RATE_LIMITED");
    let snapshot = kernel.registry().get("get-sample").unwrap().meter.snapshot();
    assert_eq!((snapshot.rate_limited, snapshot.calls), (2, 7));
}

#[tokio::test]
async fn a_deprecated_tool_warns_and_stops_on_its_removal_date() {
    let deprecated = Deprecation {
        since: "1.1.0",
        announced: "2026-08-01",
        replacement: "search-tools",
        removal_date: "2026-11-16",
    };
    let (kernel, clock) =
        kernel_with(ToolSpec { deprecated: Some(deprecated), ..SAMPLE_SPEC }, echo);
    let reply = call(&kernel, json!({"text": "x"})).await;
    let warning = &meta(&reply, "panoply/agentHints")["warnings"][0];
    assert_eq!(warning["type"], "deprecation");
    assert_eq!(warning["suggestedFix"], "call `search-tools` instead");
    let listed = |kernel: &panoply_contract::kernel::Kernel| {
        kernel
            .listed(&Scope::All, &Caller::local_owner())
            .iter()
            .any(|entry| entry.spec.name == "get-sample")
    };
    assert!(listed(&kernel));
    clock.advance(MINUTE * 60 * 24);
    let reply = call(&kernel, json!({"text": "x"})).await;
    assert_eq!(error(&reply)["code"], "TOOL_REMOVED");
    assert_eq!(error(&reply)["details"]["replacement"], "search-tools");
    assert!(!listed(&kernel));
}

#[tokio::test]
async fn an_unknown_tool_is_refused_with_similar_names() {
    let (kernel, _) = sample_kernel();
    let reply = call_with(&kernel, "get-sampel", json!({}), |_| {}).await;
    assert_eq!(meta(&reply, "")["nearest"][0], "get-sample");
    assert_eq!(meta(&reply, "")["hint"], "did you mean `get-sample`?");
}

#[tokio::test]
async fn a_scope_of_one_pack_sees_that_pack_and_the_kernel() {
    let (kernel, _) = sample_kernel();
    let other = Scope::Pack("other".to_owned());
    let names: Vec<&str> =
        kernel.listed(&other, &Caller::local_owner()).iter().map(|entry| entry.spec.name).collect();
    assert_eq!(names, ["search-tools", "describe-tool", "call-tool"]);
}
