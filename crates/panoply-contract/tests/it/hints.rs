//! Hints in replies: completeness, computed confidence, and valid suggestions.

use panoply_contract::context::Caller;
use panoply_contract::hints::AgentHints;
use panoply_contract::permission::{Grants, Profile};
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
        .as_of(cx.timestamp - Duration::from_secs(1800), Duration::from_secs(3600))
        .benefits(benefit);
    let _ = params;
    Ok(Reply::new(output, "See more.", evidence)
        .next(NextAction::new("get-secret", json!({"text": "x"}), "not for all"))
        .next(NextAction::new("no-such-tool", json!({}), "does not exist"))
        .next(NextAction::new("get-sample", json!({"text": "again"}), "once more")))
}

fn kernel() -> std::sync::Arc<panoply_contract::kernel::Kernel> {
    kernel_with_secret(SAMPLE_SPEC)
}

/// A kernel with `sample` and a tool for which a reader has no permission.
fn kernel_with_secret(sample: ToolSpec) -> std::sync::Arc<panoply_contract::kernel::Kernel> {
    let secret = ToolSpec { name: "get-secret", permissions: &["secrets:admin"], ..SAMPLE_SPEC };
    kernel_of(
        published().with(Sample::new(spec(sample), suggests)).with(Sample::new(spec(secret), echo)),
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
    assert!((hints.confidence - 1.0).abs() < 1e-9, "age does not lower it: {}", hints.confidence);
    let expected = "Suggests `get-secret`: not for all. Suggests `get-sample`: once more. \
                    Confidence 1 as of 2026-11-15: source the register.";
    assert_eq!(hints.reasoning, expected);
    assert!(hints.estimated_impact.roi > 0.0);
}

#[tokio::test]
async fn suggestions_the_caller_may_not_call_are_dropped() {
    const SHARED: ToolSpec =
        ToolSpec { cache: CachePolicy::Shared(Duration::from_secs(60)), ..SAMPLE_SPEC };
    let names = |hints: AgentHints| {
        hints.suggested_next_actions.into_iter().map(|action| action.action).collect::<Vec<_>>()
    };
    let reader = Caller {
        principal: None,
        partition: "r".to_owned(),
        grants: Grants::from_patterns(["samples:read"]),
        ..Caller::local(Profile::Reader)
    };
    for spec in [SAMPLE_SPEC, SHARED] {
        let kernel = kernel_with_secret(spec);
        let owner = call(&kernel, json!({"text": "x"})).await;
        assert_eq!(names(hints_of(&owner)), ["get-secret", "get-sample"]);
        let as_reader = |cx: &mut CallContext| cx.caller = reader.clone();
        let reply = call_with(&kernel, "get-sample", json!({"text": "x"}), as_reader).await;
        assert_eq!(names(hints_of(&reply)), ["get-sample"]);
    }
}

#[tokio::test]
async fn a_failed_call_suggests_only_its_own_arguments_without_unknown_ones() {
    let reply = call(&kernel(), json!({"text": "mine", "bogus": 1})).await;
    let hints = hints_of(&reply);
    let action = &hints.suggested_next_actions[0];
    assert_eq!(
        (action.action.as_str(), &action.data),
        ("get-sample", json!({"text": "mine"}).as_object().unwrap())
    );
    structured(&call(&kernel(), serde_json::Value::Object(action.data.clone())).await);
    let reply = call(&kernel(), json!({"text": 5})).await;
    assert!(hints_of(&reply).suggested_next_actions.is_empty());
}

#[tokio::test]
async fn a_cached_reply_becomes_stale_and_not_less_true() {
    const CACHED: ToolSpec =
        ToolSpec { cache: CachePolicy::For(Duration::from_secs(86_400)), ..SAMPLE_SPEC };
    let (kernel, clock) = kernel_with(CACHED, suggests);
    let fresh = hints_of(&call(&kernel, json!({"text": "x"})).await);
    assert!(fresh.risk_factors.is_empty() && fresh.warnings.is_empty());
    clock.advance(Duration::from_secs(1800));
    let reply = call(&kernel, json!({"text": "x"})).await;
    assert_eq!(meta(&reply, "panoply/metadata")["cached"], true);
    let stale = hints_of(&reply);
    assert!((stale.confidence - fresh.confidence).abs() < 1e-9);
    assert!((stale.risk_factors[0].probability - 0.5).abs() < 1e-9);
    assert!(stale.warnings[0].message.contains("0 days old"), "{:?}", stale.warnings);
}
