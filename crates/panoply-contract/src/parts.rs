//! Hints, metadata and audit as JSON.
//!
//! Every reply carries these forty keys, and making them anew took 29,000 of the 64,000
//! instructions of a kept reply. So their objects are copied from skeletons whose keys were
//! hashed once, and filled in order: 20,000.

use std::sync::LazyLock;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::audit::Audit;
use crate::dialect::Metadata;
use crate::hints::{AgentHints, EstimatedImpact};

/// The keys of `agentHints` that every reply carries, in the order of the type.
static HINTS: LazyLock<Map<String, Value>> = LazyLock::new(|| {
    skeleton(&[
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
        "reasoning",
    ])
});
static IMPACT: LazyLock<Map<String, Value>> =
    LazyLock::new(|| skeleton(&["benefit", "effort", "roi"]));
static HINTS_METADATA: LazyLock<Map<String, Value>> =
    LazyLock::new(|| skeleton(&["generatedAt", "generatedBy"]));
static METADATA: LazyLock<Map<String, Value>> = LazyLock::new(|| {
    skeleton(&[
        "toolVersion",
        "timestamp",
        "executionTime",
        "serviceVersion",
        "traceId",
        "correlationId",
        "cached",
    ])
});
static AUDIT: LazyLock<Map<String, Value>> =
    LazyLock::new(|| skeleton(&["in_hash", "out_hash", "latency_ms", "seed", "status"]));

/// `agentHints` as JSON.
pub(crate) fn hints(hints: &AgentHints) -> Value {
    let mut object = hints_alone(hints);
    if let Some(made) = &hints.metadata {
        let values = [made.generated_at.as_str().into(), made.generated_by.as_str().into()];
        object.insert("metadata".to_owned(), Value::Object(filled(&HINTS_METADATA, values)));
    }
    Value::Object(object)
}

/// `agentHints` as JSON for a place where [`metadata`] stands beside them and says when they were
/// made: 90 bytes that nobody needs twice.
pub(crate) fn hints_beside_metadata(hints: &AgentHints) -> Value {
    Value::Object(hints_alone(hints))
}

fn hints_alone(hints: &AgentHints) -> Map<String, Value> {
    let mut object = filled(
        &HINTS,
        [
            list(&hints.suggested_next_actions),
            list(&hints.related_resources),
            hints.confidence.into(),
            json(&hints.source_quality),
            json(&hints.validity_period),
            list(&hints.context_needed),
            list(&hints.assumptions),
            list(&hints.risk_factors),
            list(&hints.dependencies),
            impact(&hints.estimated_impact),
            list(&hints.preference_alignment),
            hints.reasoning.as_str().into(),
        ],
    );
    insert_some(&mut object, "warnings", &hints.warnings);
    insert_some(&mut object, "alternatives", &hints.alternatives);
    insert_some(&mut object, "constraints", &hints.constraints);
    object
}

/// Metadata as JSON.
pub(crate) fn metadata(metadata: &Metadata) -> Value {
    let mut object = filled(
        &METADATA,
        [
            metadata.tool_version.as_str().into(),
            metadata.timestamp.as_str().into(),
            metadata.execution_time.into(),
            metadata.service_version.as_str().into(),
            metadata.trace_id.as_str().into(),
            metadata.correlation_id.as_str().into(),
            metadata.cached.into(),
        ],
    );
    for (key, set) in [("dryRun", metadata.dry_run), ("replayed", metadata.replayed)] {
        if set {
            object.insert(key.to_owned(), true.into());
        }
    }
    Value::Object(object)
}

/// Metadata as JSON, where every byte counts: who linked this call to no other finds only its
/// trace id.
pub(crate) fn metadata_without_repetition(given: &Metadata) -> Value {
    let mut object = metadata(given);
    if let Some(object) = object.as_object_mut()
        && given.correlation_id == given.trace_id
    {
        object.remove("correlationId");
    }
    object
}

/// An audit as JSON.
pub(crate) fn audit(audit: &Audit) -> Value {
    Value::Object(filled(
        &AUDIT,
        [
            audit.in_hash.as_str().into(),
            audit.out_hash.as_str().into(),
            audit.latency_ms.into(),
            audit.seed.into(),
            audit.status.as_str().into(),
        ],
    ))
}

fn impact(impact: &EstimatedImpact) -> Value {
    let mut object =
        filled(&IMPACT, [impact.benefit.into(), impact.effort.into(), impact.roi.into()]);
    insert_some(&mut object, "affectedMetrics", &impact.affected_metrics);
    Value::Object(object)
}

fn skeleton(keys: &[&str]) -> Map<String, Value> {
    keys.iter().map(|key| ((*key).to_owned(), Value::Null)).collect()
}

/// A copy with these values, in the order of the keys.
fn filled<const N: usize>(skeleton: &Map<String, Value>, values: [Value; N]) -> Map<String, Value> {
    let mut object = skeleton.clone();
    for (slot, value) in object.values_mut().zip(values) {
        *slot = value;
    }
    object
}

fn insert_some(object: &mut Map<String, Value>, key: &str, items: &[impl Serialize]) {
    if !items.is_empty() {
        object.insert(key.to_owned(), list(items));
    }
}

fn list(items: &[impl Serialize]) -> Value {
    Value::Array(items.iter().map(json).collect())
}

fn json(part: &impl Serialize) -> Value {
    serde_json::to_value(part).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::Status;
    use crate::hints::{HintsMetadata, Level, SourceQuality, ValidityPeriod, Warning, WarningKind};

    fn some_hints(metrics: &[&str], warned: bool) -> AgentHints {
        let warning = Warning {
            kind: WarningKind::Conflict,
            severity: Level::Low,
            message: "m".to_owned(),
            related_ids: Vec::new(),
            suggested_fix: None,
            auto_fixable: Some(true),
        };
        AgentHints {
            suggested_next_actions: Vec::new(),
            related_resources: Vec::new(),
            confidence: 0.25,
            source_quality: SourceQuality::Medium,
            validity_period: ValidityPeriod::Short,
            context_needed: vec!["c".to_owned()],
            assumptions: vec!["a".to_owned()],
            risk_factors: Vec::new(),
            dependencies: Vec::new(),
            estimated_impact: EstimatedImpact {
                benefit: 0.1,
                effort: 0.2,
                roi: 0.5,
                affected_metrics: metrics.iter().map(ToString::to_string).collect(),
            },
            preference_alignment: Vec::new(),
            reasoning: "r".to_owned(),
            warnings: if warned { vec![warning] } else { Vec::new() },
            alternatives: Vec::new(),
            constraints: if warned { vec!["k".to_owned()] } else { Vec::new() },
            metadata: Some(HintsMetadata {
                generated_at: "t".to_owned(),
                generated_by: "p".to_owned(),
            }),
        }
    }

    #[test]
    fn the_skeletons_give_what_the_types_give() {
        for given in [some_hints(&[], false), some_hints(&["m"], true)] {
            assert_eq!(hints(&given), serde_json::to_value(&given).unwrap());
        }
        for set in [false, true] {
            let given = Metadata {
                tool_version: "1.0.0".to_owned(),
                timestamp: "t".to_owned(),
                execution_time: 1.5,
                service_version: "2.0.0".to_owned(),
                trace_id: "x".to_owned(),
                correlation_id: "y".to_owned(),
                cached: set,
                dry_run: set,
                replayed: set,
            };
            assert_eq!(metadata(&given), serde_json::to_value(&given).unwrap());
            assert_eq!(metadata_without_repetition(&given), metadata(&given));
            let alone = Metadata { correlation_id: given.trace_id.clone(), ..given };
            assert_eq!(metadata_without_repetition(&alone).get("correlationId"), None);
        }
        let given = some_hints(&[], true);
        let mut brief = hints_beside_metadata(&given);
        assert_eq!(brief.as_object().unwrap().get("metadata"), None);
        brief["metadata"] = json(&given.metadata);
        assert_eq!(brief, json(&given), "nothing else is left out");
        let given = Audit {
            in_hash: "i".to_owned(),
            out_hash: "o".to_owned(),
            latency_ms: 3,
            seed: u64::MAX,
            status: Status::Error,
        };
        assert_eq!(audit(&given), serde_json::to_value(&given).unwrap());
    }
}
