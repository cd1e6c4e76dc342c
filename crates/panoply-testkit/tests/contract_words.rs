//! The words, ranges and fields of the tool contract, as an agent meets them in a reply.
//!
//! `docs/traceability.md` points here for the lines of the contract that name a value or a field.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests may fail the test"
)]

use std::sync::Arc;

use panoply_contract::context::Caller;
use panoply_contract::dialect::{Envelope, Unified};
use panoply_contract::error::{ErrorClass, ErrorKind};
use panoply_contract::hints::AgentHints;
use panoply_contract::kernel::{Kernel, Settings};
use panoply_contract::pack::{Pack, PackInfo};
use panoply_contract::params::SortOrder;
use panoply_contract::prelude::*;
use panoply_contract::spec::Deprecation;
use panoply_contract::testing::{FixedClock, SAMPLE_SPEC, call_with, kernel_in_memory, noon};
use serde_json::{Value, json};

#[test]
fn hints_use_the_words_of_the_contract_and_no_others() {
    let level = ["critical", "high", "low", "medium"];
    let cases: [(&str, &[&str]); 11] = [
        ("/sourceQuality", &["high", "low", "medium", "unknown"]),
        ("/validityPeriod", &["immediate", "indefinite", "long", "medium", "short"]),
        ("/suggestedNextActions/priority", &level),
        (
            "/suggestedNextActions/category",
            &["correction", "exploration", "learning", "optimization"],
        ),
        (
            "/riskFactors/type",
            &["accuracy", "complexity", "cost", "performance", "user-experience"],
        ),
        ("/riskFactors/severity", &level),
        ("/dependencies/type", &["optional", "recommended", "required"]),
        ("/preferenceAlignment/alignment", &["conflict", "moderate", "neutral", "strong", "weak"]),
        ("/warnings/type", &["conflict", "deprecation", "duplicate", "performance", "validation"]),
        ("/warnings/severity", &level),
        ("/metadata/generatedBy", &[]),
    ];
    let schema = hints_schema();
    for (field, expected) in cases {
        assert_eq!(words(property(&schema, field)), expected, "field: {field}");
    }
}

#[test]
fn hints_keep_their_numbers_in_range() {
    let cases = [
        ("/confidence", 0.0, 1.0),
        ("/suggestedNextActions/confidence", 0.0, 1.0),
        ("/relatedResources/relevance", 0.0, 1.0),
        ("/riskFactors/probability", 0.0, 1.0),
        ("/riskFactors/impact", 0.0, 1.0),
        ("/estimatedImpact/benefit", 0.0, 1.0),
        ("/estimatedImpact/effort", 0.0, 1.0),
        ("/preferenceAlignment/score", -1.0, 1.0),
        ("/alternatives/confidence", 0.0, 1.0),
        ("/alternatives/estimatedImpact", 0.0, 1.0),
    ];
    let schema = hints_schema();
    for (field, least, most) in cases {
        let range = property(&schema, field);
        let limits = (number(range, "minimum"), number(range, "maximum"));
        assert_eq!(limits, (Some(least), Some(most)), "field: {field}");
    }
}

#[test]
fn hints_require_what_the_contract_requires_of_each_entry() {
    let cases: [(&str, &[&str]); 9] = [
        (
            "",
            &[
                "assumptions",
                "confidence",
                "contextNeeded",
                "dependencies",
                "estimatedImpact",
                "preferenceAlignment",
                "relatedResources",
                "riskFactors",
                "sourceQuality",
                "suggestedNextActions",
                "validityPeriod",
            ],
        ),
        ("/suggestedNextActions", &["action", "priority"]),
        ("/relatedResources", &["id", "label", "relevance", "type"]),
        ("/riskFactors", &["description", "impact", "probability", "severity", "type"]),
        ("/dependencies", &["action", "dependsOn", "type"]),
        ("/estimatedImpact", &["benefit", "effort", "roi"]),
        ("/preferenceAlignment", &["action", "alignment", "preference", "score"]),
        ("/warnings", &["message", "severity", "type"]),
        ("/alternatives", &["approach", "confidence", "reasoning"]),
    ];
    let schema = hints_schema();
    for (field, expected) in cases {
        let entry = property(&schema, field);
        let required = entry["required"].as_array().unwrap();
        for name in expected {
            assert!(required.contains(&json!(name)), "`{name}` of {field:?} may be left out");
        }
    }
}

#[test]
fn hints_with_every_optional_field_are_read_and_written_alike() {
    let hints = json!({
        "suggestedNextActions": [{
            "action": "plan-review", "priority": "high", "data": {"deckId": "deck_1"},
            "description": "Plan the week.", "estimatedTime": 1200.0, "estimatedCost": 0.5,
            "category": "learning", "prerequisites": ["get-card"],
            "expectedOutcome": "A plan.", "reversible": true, "confidence": 0.75
        }],
        "relatedResources": [{
            "type": "deck", "id": "deck_1", "label": "Algebra", "relevance": 1.0,
            "metadata": {"quality": "high"}
        }],
        "confidence": 0.5, "sourceQuality": "medium", "validityPeriod": "short",
        "contextNeeded": ["time available"], "assumptions": ["the learner is awake"],
        "riskFactors": [{
            "type": "user-experience", "severity": "low", "description": "Fatigue.",
            "probability": 0.25, "impact": 0.5, "mitigation": "Take a break."
        }],
        "dependencies": [{
            "action": "plan-review", "dependsOn": ["get-card"], "type": "recommended",
            "reason": "It reads the card."
        }],
        "estimatedImpact": {"benefit": 0.5, "effort": 0.25, "roi": 2.0, "affectedMetrics": ["recall"]},
        "preferenceAlignment": [{
            "action": "plan-review", "preference": "mornings", "alignment": "strong",
            "score": 0.75, "explanation": "It is early."
        }],
        "reasoning": "confidence 0.5 because half is known",
        "warnings": [{
            "type": "performance", "severity": "low", "message": "Slower than usual.",
            "relatedIds": ["card_1"], "suggestedFix": "Rest.", "autoFixable": false
        }],
        "alternatives": [{
            "approach": "Wait.", "confidence": 0.25, "reasoning": "More data.",
            "pros": ["cheap"], "cons": ["late"], "estimatedImpact": 0.25
        }],
        "constraints": ["this session"],
        "metadata": {"generatedAt": "2026-11-15T12:00:00Z", "generatedBy": "panoply"}
    });
    let read: AgentHints = serde_json::from_value(hints.clone()).unwrap();
    assert_eq!(serde_json::to_value(read).unwrap(), hints);
}

#[tokio::test]
async fn a_reply_tells_versions_times_and_ids() {
    let reply = call(&kernel_of(Behaviour::Echo), |_| {}).await;
    let metadata = &reply["metadata"];
    for version in ["toolVersion", "serviceVersion"] {
        let numbers = text(metadata, version).split('.').filter(|part| part.parse::<u32>().is_ok());
        assert_eq!(numbers.count(), 3, "{version} is {}", metadata[version]);
    }
    assert_eq!(metadata["timestamp"], "2026-11-15T12:00:00Z");
    assert!(metadata["executionTime"].as_f64().is_some_and(|milliseconds| milliseconds >= 0.0));
    assert_eq!(metadata["cached"], json!(false));
    let groups: Vec<usize> = text(metadata, "traceId").split('-').map(str::len).collect();
    assert_eq!(groups, [8, 4, 4, 4, 12], "not a UUID: {}", metadata["traceId"]);
    // Both are optional: the first is left out where it equals the trace, the second beside the
    // metadata of the reply, which say the same.
    assert_eq!(metadata["correlationId"], Value::Null);
    assert_eq!(reply["agentHints"]["metadata"], Value::Null);
}

#[tokio::test]
async fn a_handler_is_told_who_calls_when_and_under_which_ids() {
    let kernel = kernel_of(Behaviour::Echo);
    let seen = call(&kernel, |cx| {
        cx.session_id = Some("session-1".to_owned());
        cx.agent_id = "tutor".to_owned();
        cx.agent_version = "2.1.0".to_owned();
        cx.metadata.insert("locale".to_owned(), json!("th"));
    })
    .await["data"]
        .clone();
    assert_eq!(seen["userId"], json!("user_local"));
    assert_eq!(seen["sessionId"], json!("session-1"));
    assert_eq!((&seen["agentId"], &seen["agentVersion"]), (&json!("tutor"), &json!("2.1.0")));
    assert_eq!(seen["timestamp"], json!("2026-11-15T12:00:00Z"));
    assert_eq!(seen["metadata"], json!({"locale": "th"}));
    assert!(!text(&seen, "traceId").is_empty() && !text(&seen, "correlationId").is_empty());
    let system = Caller { principal: None, ..Caller::local_owner() };
    let seen = call(&kernel, |cx| cx.caller = system).await;
    assert_eq!(seen["data"]["userId"], Value::Null);
}

#[tokio::test]
async fn a_success_without_data_is_our_error_and_not_an_answer() {
    let kernel = kernel_of(Behaviour::Nothing);
    match call_with(&kernel, "get-sample", json!({"text": "x"}), |_| {}).await {
        Envelope::Result { is_error: true, structured: None, text, .. } => {
            let body: Value = serde_json::from_str(&text).unwrap();
            assert_eq!(body["error"]["class"], "system", "{body}");
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn the_three_classes_of_errors_are_told_apart() {
    let cases = [
        (ErrorKind::Validation, ErrorClass::Validation),
        (ErrorKind::Business, ErrorClass::Business),
        (ErrorKind::NotFound, ErrorClass::Business),
        (ErrorKind::Conflict, ErrorClass::Business),
        (ErrorKind::Forbidden, ErrorClass::Business),
        (ErrorKind::RateLimited, ErrorClass::Business),
        (ErrorKind::Timeout, ErrorClass::System),
        (ErrorKind::System, ErrorClass::System),
        (ErrorKind::Storage, ErrorClass::System),
    ];
    for (kind, class) in cases {
        assert_eq!(kind.class(), class, "kind: {kind:?}");
        let kernel = kernel_of(Behaviour::Fail(kind));
        match call_with(&kernel, "get-sample", json!({"text": "x"}), |_| {}).await {
            Envelope::Result { is_error: true, text, .. } => {
                let body: Value = serde_json::from_str(&text).unwrap();
                assert_eq!(body["error"]["class"], class.as_str(), "kind: {kind:?}");
                assert!(!text.contains("secret"), "the cause left the house: {text}");
            }
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn a_tool_on_its_way_out_says_so_where_it_is_described() {
    let kernel = kernel_of(Behaviour::Leave);
    match call_with(&kernel, "describe-tool", json!({"name": "get-sample"}), |_| {}).await {
        Envelope::Result { structured: Some(structured), .. } => {
            let structured = structured.value();
            let notice = &structured["data"]["deprecated"];
            assert_eq!(notice["since"], "1.1.0", "{structured}");
            assert_eq!(notice["replacement"], "search-tools");
            assert_eq!(notice["removalDate"], "2027-03-01");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn sorting_goes_up_or_down() {
    for (word, sorts) in [("asc", true), ("desc", true), ("up", false)] {
        assert_eq!(serde_json::from_value::<SortOrder>(json!(word)).is_ok(), sorts, "word: {word}");
    }
}

/// What the sample tool does.
#[derive(Clone, Copy)]
enum Behaviour {
    /// Tells what it knows about the call.
    Echo,
    /// Answers null.
    Nothing,
    /// Fails.
    Fail(ErrorKind),
    /// Echoes, and is deprecated.
    Leave,
}

const OUTGOING: Deprecation = Deprecation {
    since: "1.1.0",
    announced: "2026-11-01",
    replacement: "search-tools",
    removal_date: "2027-03-01",
};

struct Sample(Behaviour);

/// A text.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Params {
    /// A text.
    #[schemars(length(min = 1, max = 40))]
    #[expect(dead_code, reason = "only its schema matters")]
    text: String,
}

/// What a handler knows about a call.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Seen {
    /// The text of the examples.
    text: String,
    /// The user.
    user_id: Option<String>,
    /// The session.
    session_id: Option<String>,
    /// The trace.
    trace_id: String,
    /// The correlation.
    correlation_id: String,
    /// The agent.
    agent_id: String,
    /// Its version.
    agent_version: String,
    /// The time.
    timestamp: String,
    /// Whatever else.
    metadata: serde_json::Map<String, Value>,
}

impl Tool for Sample {
    type Params = Params;
    type Output = Option<Seen>;

    fn spec(&self) -> &'static ToolSpec {
        const SPEC: ToolSpec = SAMPLE_SPEC;
        const LEAVING: ToolSpec = ToolSpec { deprecated: Some(OUTGOING), ..SAMPLE_SPEC };
        match self.0 {
            Behaviour::Leave => &LEAVING,
            Behaviour::Echo | Behaviour::Nothing | Behaviour::Fail(_) => &SPEC,
        }
    }

    async fn call(&self, _: Params, cx: &CallContext) -> Result<Reply<Self::Output>, ToolError> {
        let seen = match self.0 {
            Behaviour::Nothing => None,
            Behaviour::Fail(kind) => {
                return Err(ToolError::new(kind, "TEST_FAILURE", "it failed as it was told to")
                    .cause(std::io::Error::other("secret")));
            }
            Behaviour::Echo | Behaviour::Leave => Some(Seen {
                text: "hello".to_owned(),
                user_id: cx.user_id().map(str::to_owned),
                session_id: cx.session_id.clone(),
                trace_id: cx.trace_id.to_string(),
                correlation_id: cx.correlation_id.to_string(),
                agent_id: cx.agent_id.clone(),
                agent_version: cx.agent_version.clone(),
                timestamp: cx.timestamp.to_string(),
                metadata: cx.metadata.clone(),
            }),
        };
        Ok(Reply::new(seen, "Seen.", Evidence::from(Source::new(SourceClass::Exact, "the call"))))
    }
}

fn kernel_of(behaviour: Behaviour) -> Arc<Kernel> {
    let info = PackInfo { name: "sample", title: "Sample", instructions: "For tests." };
    let pack = Pack::new(info, Unified).with(Sample(behaviour));
    kernel_in_memory(vec![pack], FixedClock::at(noon()), Settings::default()).unwrap()
}

/// The structured reply of a call that succeeds.
async fn call(kernel: &Kernel, change: impl FnOnce(&mut CallContext)) -> Value {
    match call_with(kernel, "get-sample", json!({"text": "x"}), change).await {
        Envelope::Result { structured: Some(structured), .. } => structured.value(),
        other => panic!("{other:?}"),
    }
}

fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or_else(|| panic!("no `{field}` in {value}"))
}

fn hints_schema() -> Value {
    let mut settings = schemars::generate::SchemaSettings::draft2020_12();
    settings.inline_subschemas = true;
    serde_json::to_value(settings.into_generator().into_root_schema_for::<AgentHints>()).unwrap()
}

/// The schema of a field by its path; a list is entered by the schema of its items.
fn property<'a>(schema: &'a Value, path: &str) -> &'a Value {
    let mut place = schema;
    for name in path.split('/').skip(1) {
        place = &place["properties"][name];
        assert!(!place.is_null(), "there is no `{name}` on the way to {path}");
        if let Some(items) = place.get("items") {
            place = items;
        }
    }
    place
}

/// Every text that a schema allows by name, sorted.
fn words(schema: &Value) -> Vec<&str> {
    let mut found = Vec::new();
    collect_words(schema, &mut found);
    found.sort_unstable();
    found
}

fn collect_words<'a>(schema: &'a Value, found: &mut Vec<&'a str>) {
    match schema {
        Value::Object(members) => {
            found.extend(members.get("const").and_then(Value::as_str));
            let listed = members.get("enum").and_then(Value::as_array).into_iter().flatten();
            found.extend(listed.filter_map(Value::as_str));
            for choices in ["oneOf", "anyOf"].iter().filter_map(|name| members.get(*name)) {
                collect_words(choices, found);
            }
        }
        Value::Array(choices) => choices.iter().for_each(|choice| collect_words(choice, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// A limit of a number, which may stand beside `null`.
fn number(schema: &Value, limit: &str) -> Option<f64> {
    let here = schema.get(limit).and_then(Value::as_f64);
    here.or_else(|| schema["anyOf"].as_array()?.iter().find_map(|choice| number(choice, limit)))
}
