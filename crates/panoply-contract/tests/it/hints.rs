//! Hints in replies: completeness, computed confidence, and valid suggestions.

use panoply_contract::context::{Caller, Provenance};
use panoply_contract::hints::AgentHints;
use panoply_contract::permission::Grants;
use panoply_contract::prelude::*;
use panoply_contract::testing::{SAMPLE_SPEC, call_with};
use serde_json::json;

use crate::tools::*;

fn hints_of(reply: &panoply_contract::dialect::Envelope) -> AgentHints {
    serde_json::from_value(meta(reply, "panoply/agentHints").clone()).unwrap()
}

fn suggests(params: &Params, cx: &CallContext, output: Output) -> Result<Reply<Output>, ToolError> {
    let benefit = panoply_contract::evidence::Benefit {
        value: 0.5,
        metrics: vec!["clarity".to_owned()],
        human_seconds: 0.0,
    };
    let evidence = Evidence::from(Source::new(SourceClass::Verified, "the register"))
        .as_of(cx.timestamp - Duration::from_secs(3600), Duration::from_secs(3600))
        .benefits(benefit);
    let _ = params;
    Ok(Reply::new(output, "See more.", evidence)
        .next(NextAction::new("get-secret", json!({"text": "x"}), "not for all"))
        .next(NextAction::new("no-such-tool", json!({}), "does not exist"))
        .next(NextAction::new("get-sample", json!({"text": "again"}), "once more")))
}

fn kernel() -> std::sync::Arc<panoply_contract::kernel::Kernel> {
    let secret = ToolSpec { name: "get-secret", permissions: &["secrets:admin"], ..SAMPLE_SPEC };
    kernel_of(
        published()
            .with(Sample::new(spec(SAMPLE_SPEC), suggests))
            .with(Sample::new(spec(secret), echo)),
    )
    .0
}

#[tokio::test]
async fn all_eleven_required_fields_are_present_and_confidence_is_explained() {
    let reply = call(&kernel(), json!({"text": "x"})).await;
    let hints = meta(&reply, "panoply/agentHints");
    for field in [
        "suggestedNextActions",
        "relatedResources",
        "confidence",
        "sourceQuality",
        "validityPeriod",
        "contextNeeded",
        "assumptions",
        "riskFactors",
        "dependencies",
        "estimatedImpact",
        "preferenceAlignment",
    ] {
        assert!(hints.get(field).is_some(), "{field}");
    }
    let hints = hints_of(&reply);
    assert!((hints.confidence - 0.5).abs() < 1e-9, "half a half-life old: {}", hints.confidence);
    assert!(hints.reasoning.contains("freshness as of 2026-11-15 0.5"), "{}", hints.reasoning);
    assert!(hints.estimated_impact.roi > 0.0);
}

#[tokio::test]
async fn suggestions_the_caller_may_not_call_are_dropped() {
    let names = |hints: AgentHints| {
        hints.suggested_next_actions.into_iter().map(|action| action.action).collect::<Vec<_>>()
    };
    let owner = call(&kernel(), json!({"text": "x"})).await;
    assert_eq!(names(hints_of(&owner)), ["get-secret", "get-sample"]);
    let reader = Caller {
        user_id: None,
        partition: "r".to_owned(),
        grants: Grants::from_patterns(["samples:read"]),
        provenance: Provenance::default(),
    };
    let reply =
        call_with(&kernel(), "get-sample", json!({"text": "x"}), |cx| cx.caller = reader).await;
    assert_eq!(names(hints_of(&reply)), ["get-sample"]);
}

#[tokio::test]
async fn a_failed_call_has_hints_with_a_valid_example_call() {
    let reply = call(&kernel(), json!({"text": 5})).await;
    let hints = hints_of(&reply);
    let action = &hints.suggested_next_actions[0];
    assert_eq!((action.action.as_str(), &action.data["text"]), ("get-sample", &json!("hello")));
    structured(&call(&kernel(), serde_json::Value::Object(action.data.clone())).await);
}

#[tokio::test]
async fn the_confidence_of_a_cached_reply_decreases_with_age() {
    const CACHED: ToolSpec =
        ToolSpec { cache: CachePolicy::For(Duration::from_secs(86_400)), ..SAMPLE_SPEC };
    let (kernel, clock) = kernel_with(CACHED, suggests);
    let fresh = hints_of(&call(&kernel, json!({"text": "x"})).await).confidence;
    clock.advance(Duration::from_secs(3600));
    let reply = call(&kernel, json!({"text": "x"})).await;
    assert_eq!(meta(&reply, "panoply/metadata")["cached"], true);
    assert!((hints_of(&reply).confidence - fresh / 2.0).abs() < 1e-9);
}
