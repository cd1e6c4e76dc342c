//! Completes a call: hints, audit, metrics, logging, and encoding in the pack's dialect.

use std::sync::Arc;
use std::time::Duration;

use super::{Call, Outcome};
use crate::audit::{Audit, Fingerprint, Status};
use crate::calculus;
use crate::dialect::{CallFailure, CallSuccess, Envelope, Fault, Metadata};
use crate::error::{ErrorKind, ToolError};
use crate::evidence::{Evidence, Source, SourceClass};
use crate::hints::{AgentHints, Level, SuggestedAction, Warning, WarningKind};
use crate::meters::CacheUse;
use crate::observe::CallFinished;
use crate::reply::{NextAction, Notes, Reply};

pub(super) async fn finish(call: &Call, outcome: Result<Outcome, Arc<ToolError>>) -> Envelope {
    let Some(pack) = call.kernel.registry.pack_of(call.entry()) else {
        return internal_error(ToolError::system("a tool without a pack"));
    };
    let dialect = &pack.dialect;
    let answered = match outcome {
        Ok(outcome) => {
            let hints = complete_hints(call, &outcome.reply.notes);
            match &outcome.recorded {
                Some(audit) => Ok((hints, audit.clone(), outcome)),
                None => {
                    let audit = audit_of(call, outcome.reply.fingerprint, Status::Ok);
                    let row = call.audit_entry(audit.clone(), None, false);
                    match call.kernel.services.audit.append(row).await {
                        Ok(()) => Ok((hints, audit, outcome)),
                        Err(error) => Err(Arc::new(error)),
                    }
                }
            }
        }
        Err(error) => Err(error),
    };
    match answered {
        Ok((hints, audit, outcome)) => {
            let elapsed = observe(call, &audit, outcome.cache, outcome.reply.bytes, None);
            let metadata =
                metadata_of(call, elapsed, outcome.cache == CacheUse::Hit, outcome.replayed);
            let (data, notes) = (&outcome.reply.data, &outcome.reply.notes);
            let spec = call.entry().spec;
            dialect.success(&CallSuccess {
                spec,
                data,
                notes,
                hints: &hints,
                pack: call.entry().pack,
                metadata: &metadata,
                audit: &audit,
            })
        }
        Err(error) => {
            let fingerprint = Fingerprint::of(&dialect.error_body(&error))
                .map_or(call.fingerprint, |(hash, _)| hash);
            let audit = audit_of(call, fingerprint, Status::Error);
            // The call has already failed; the audit log reports its own write errors.
            let row = call.audit_entry(audit.clone(), Some(&error), false);
            let _ = call.kernel.services.audit.append(row).await;
            let elapsed = observe(call, &audit, CacheUse::None, 0, Some(&error));
            let metadata = metadata_of(call, elapsed, false, false);
            let hints = hints_for_error(call, &error);
            dialect.failure(&CallFailure {
                error: &error,
                hints: &hints,
                pack: call.entry().pack,
                metadata: &metadata,
                audit: &audit,
            })
        }
    }
}

/// Envelope for failures before a call has an identity.
pub(super) fn internal_error(error: ToolError) -> Envelope {
    tracing::error!(cause = error.cause_chain(), "a call failed before it began");
    let data = serde_json::json!({"code": error.code, "hint": error.hint});
    Envelope::Refusal { fault: Fault::Server, message: error.message, data }
}

fn audit_of(call: &Call, output: Fingerprint, status: Status) -> Audit {
    let elapsed = call.kernel.services.clock.monotonic().saturating_sub(call.started);
    Audit {
        in_hash: call.fingerprint.hex(),
        out_hash: output.hex(),
        latency_ms: u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX),
        seed: call.fingerprint.seed(),
        status,
    }
}

/// Counts and logs the call; returns its duration.
fn observe(
    call: &Call,
    audit: &Audit,
    cache: CacheUse,
    output_bytes: usize,
    error: Option<&ToolError>,
) -> Duration {
    let elapsed = call.kernel.services.clock.monotonic().saturating_sub(call.started);
    let class = error.map(|error| error.kind.class());
    let rate_limited = error.is_some_and(|error| error.kind == ErrorKind::RateLimited);
    call.entry().meter.count(elapsed, class, cache, rate_limited);
    let finished = CallFinished {
        tool: call.entry().spec.name,
        pack: call.entry().pack,
        cx: &call.cx,
        elapsed,
        audit,
        output_bytes,
        cached: cache == CacheUse::Hit,
        error,
    };
    call.kernel.services.observers.iter().for_each(|observer| observer.finished(&finished));
    elapsed
}

fn metadata_of(call: &Call, elapsed: Duration, cached: bool, replayed: bool) -> Metadata {
    Metadata {
        tool_version: call.entry().spec.version.to_owned(),
        timestamp: call.now_text.clone(),
        execution_time: (elapsed.as_secs_f64() * 1e6).round() / 1e3,
        service_version: call.kernel.settings.service_version.to_owned(),
        trace_id: call.cx.trace_id.to_string(),
        correlation_id: call.cx.correlation_id.to_string(),
        cached,
        dry_run: call.cx.dry_run && call.entry().spec.category.mutates(),
        replayed,
    }
}

fn complete_hints(call: &Call, notes: &Notes) -> AgentHints {
    let assessment = calculus::assess(&notes.evidence, call.now);
    let suggested: Vec<SuggestedAction> =
        notes.next.iter().filter_map(|action| suggestion(call, action)).collect();
    let first_takes = notes.next.iter().find_map(|action| typical_time(call, action.tool));
    let first_takes = first_takes.filter(|_| !suggested.is_empty());
    let mut context_needed = notes.context_needed.clone();
    context_needed.extend(assessment.missing);
    let mut warnings = notes.warnings.clone();
    warnings.extend(deprecation_warning(call));
    AgentHints {
        suggested_next_actions: suggested,
        related_resources: notes.related.clone(),
        confidence: assessment.confidence,
        source_quality: calculus::source_quality(&notes.evidence, call.now),
        validity_period: calculus::validity(notes.evidence.next_change, call.now),
        context_needed,
        assumptions: notes.assumptions.clone(),
        risk_factors: notes.risks.clone(),
        dependencies: notes.dependencies.clone(),
        estimated_impact: calculus::impact(notes.evidence.benefit.as_ref(), first_takes),
        preference_alignment: notes.preferences.clone(),
        reasoning: assessment.reasoning,
        warnings,
        alternatives: notes.alternatives.clone(),
        constraints: notes.constraints.clone(),
        metadata: None,
    }
}

/// Hints for a failed call, including a valid example call.
fn hints_for_error(call: &Call, error: &ToolError) -> AgentHints {
    let evidence = Evidence::from(Source::new(SourceClass::Exact, "the error itself"));
    let mut notes = Reply::new((), error.message.clone(), evidence).notes;
    let example = error.details.get("example").filter(|_| error.kind == ErrorKind::Validation);
    if let Some(example) = example {
        let why = "a call of this tool that works";
        notes.next.push(
            NextAction::new(call.entry().spec.name, example.clone(), why).priority(Level::High),
        );
    }
    if let (ErrorKind::Removed, Some(deprecation)) = (error.kind, &call.entry().spec.deprecated) {
        notes.constraints.push(format!("`{}` replaces this tool", deprecation.replacement));
    }
    complete_hints(call, &notes)
}

/// Converts a suggestion; `None` when the caller may not call the tool.
fn suggestion(call: &Call, action: &NextAction) -> Option<SuggestedAction> {
    let entry = call.kernel.resolve(action.tool, &call.scope)?;
    let mutates = entry.spec.category.mutates();
    let hidden = call.kernel.settings.read_only && mutates;
    if hidden || !call.cx.caller.grants.allow_all(entry.spec.permissions) {
        return None;
    }
    debug_assert!(
        matches!(entry.input.is_valid(&action.arguments), Ok(true)),
        "suggested arguments of `{}` break its schema: {}",
        action.tool,
        action.arguments
    );
    Some(SuggestedAction {
        action: entry.spec.name.to_owned(),
        priority: action.priority,
        data: action.arguments.as_object().cloned().unwrap_or_default(),
        description: Some(action.why.clone()),
        estimated_time: typical_time(call, action.tool)
            .filter(|time| *time > MIN_REPORTED_DURATION)
            .map(|time| time.as_secs_f64() * 1e3),
        estimated_cost: None,
        category: action.category,
        prerequisites: Vec::new(),
        expected_outcome: action.outcome.clone(),
        // Queries have nothing to undo.
        reversible: mutates.then_some(!entry.spec.annotations.destructive),
        confidence: None,
    })
}

/// Shorter durations are omitted from suggestions: they do not affect planning.
const MIN_REPORTED_DURATION: Duration = Duration::from_millis(100);

/// Median duration of the tool's calls; before the first call, the bound of its class.
fn typical_time(call: &Call, tool: &str) -> Option<Duration> {
    let entry = call.kernel.resolve(tool, &call.scope)?;
    Some(entry.meter.snapshot().quantile(0.5).unwrap_or(entry.spec.response_time.deadline() / 10))
}

fn deprecation_warning(call: &Call) -> Option<Warning> {
    let deprecation = call.entry().spec.deprecated.as_ref()?;
    let (name, removal) = (call.entry().spec.name, deprecation.removal_date);
    tracing::warn!(
        tool = name,
        replacement = deprecation.replacement,
        removal,
        "a deprecated tool was called"
    );
    Some(Warning {
        kind: WarningKind::Deprecation,
        severity: Level::High,
        message: format!(
            "`{name}` is deprecated since {} and will be removed on {removal}",
            deprecation.since
        ),
        related_ids: Vec::new(),
        suggested_fix: Some(format!("call `{}` instead", deprecation.replacement)),
        auto_fixable: Some(false),
    })
}
