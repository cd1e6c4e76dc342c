//! Completes a call: hints, audit, metrics, logging, and encoding in the pack's dialect.

use std::borrow::Cow;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use super::{CachedHints, Call, Outcome, validate};
use crate::audit::{Audit, Fingerprint, Status};
use crate::calculus;
use crate::dialect::{CallFailure, CallSuccess, Envelope, Fault, Metadata};
use crate::error::{ErrorKind, ToolError};
use crate::evidence::{Evidence, Source, SourceClass};
use crate::hints::{
    AgentHints, Alignment, Alternative, Level, PreferenceAlignment, SuggestedAction, Warning,
    WarningKind,
};
use crate::json::Json;
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
            let hints = hints_of(call, &outcome);
            match &outcome.recorded {
                Some(audit) => Ok((hints, audit.clone(), outcome)),
                None => {
                    let (in_hash, out_hash) = (&outcome.reply.in_hash, &outcome.reply.out_hash);
                    let audit = audit_of(call, in_hash.clone(), out_hash.clone(), Status::Ok);
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
            let elapsed = observe(call, &audit, Ok(&outcome));
            let metadata =
                metadata_of(call, elapsed, outcome.cache == CacheUse::Hit, outcome.replayed);
            let (data, notes) = (&outcome.reply.data, &outcome.reply.notes);
            let spec = call.entry().spec;
            let envelope = dialect.success(&CallSuccess {
                spec,
                data,
                notes,
                hints: &hints.full,
                metadata: &metadata,
                audit: &audit,
            });
            envelope.with_brief_hints(hints.brief)
        }
        Err(error) => {
            let fingerprint = Fingerprint::of(&dialect.error_body(&error))
                .map_or(call.fingerprint, |(hash, _)| hash);
            let (in_hash, out_hash) = (call.fingerprint.hex(), fingerprint.hex());
            let audit = audit_of(call, in_hash, out_hash, Status::Error);
            // The call has already failed; the audit log reports its own write errors.
            let row = call.audit_entry(audit.clone(), Some(&error), false);
            let _ = call.kernel.services.audit.append(row).await;
            let elapsed = observe(call, &audit, Err(&error));
            let metadata = metadata_of(call, elapsed, false, false);
            let hints = HintsJson::of(&hints_for_error(call, &error)).full;
            dialect.failure(&CallFailure {
                error: &error,
                hints: &hints,
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

fn audit_of(call: &Call, in_hash: Arc<str>, out_hash: Arc<str>, status: Status) -> Audit {
    let elapsed = call.kernel.services.clock.monotonic().saturating_sub(call.started);
    Audit {
        in_hash,
        out_hash,
        latency_ms: u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX),
        seed: call.fingerprint.seed(),
        status,
    }
}

/// Counts and logs the call; returns its duration.
fn observe(call: &Call, audit: &Audit, outcome: Result<&Outcome, &ToolError>) -> Duration {
    let error = outcome.err();
    let cache = outcome.map_or(CacheUse::None, |outcome| outcome.cache);
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
        output_bytes: outcome.map_or(0, |outcome| outcome.reply.bytes),
        cached: cache == CacheUse::Hit,
        text: outcome.map_or("", |outcome| &outcome.reply.notes.text),
        error,
    };
    call.kernel.services.observers.iter().for_each(|observer| observer.finished(&finished));
    elapsed
}

fn metadata_of(call: &Call, elapsed: Duration, cached: bool, replayed: bool) -> Metadata<'_> {
    Metadata {
        tool_version: call.entry().spec.version.into(),
        timestamp: Cow::Borrowed(&call.now_text),
        execution_time: (elapsed.as_secs_f64() * 1e6).round() / 1e3,
        service_version: call.kernel.settings.service_version.into(),
        trace_id: Cow::Borrowed(&call.trace_text),
        correlation_id: if call.cx.correlation_id == call.cx.trace_id {
            Cow::Borrowed(call.trace_text.as_str())
        } else {
            call.cx.correlation_id.to_string().into()
        },
        cached,
        dry_run: call.cx.dry_run && call.entry().spec.category.mutates(),
        replayed,
    }
}

/// The hints of a successful reply. A reply in the cache keeps them for a second: nothing in them
/// changes faster, and they cost half a cache hit.
fn hints_of(call: &Call, outcome: &Outcome) -> HintsJson {
    let notes = &outcome.reply.notes;
    if outcome.cache == CacheUse::None {
        return HintsJson::of(&complete_hints(call, notes));
    }
    let mut cached = outcome.reply.hints.lock().unwrap_or_else(PoisonError::into_inner);
    let second = call.now.as_second();
    let (scope, grants) = (&call.scope, &call.cx.caller.grants);
    let valid = |hints: &&CachedHints| {
        let same_caller = || {
            hints.scope == *scope
                && hints.grants == *grants
                && Arc::ptr_eq(&hints.preferences, &call.preferences)
        };
        // Only suggestions depend on the caller.
        hints.second == second
            && ((notes.next.is_empty() && call.defaults.is_empty()) || same_caller())
    };
    if let Some(hints) = cached.as_ref().filter(valid) {
        return hints.json.clone();
    }
    let json = HintsJson::of(&complete_hints(call, notes));
    let (scope, grants) = (scope.clone(), grants.clone());
    let preferences = Arc::clone(&call.preferences);
    *cached = Some(CachedHints { second, scope, grants, preferences, json: json.clone() });
    json
}

/// Serialised hints.
#[derive(Clone)]
pub(super) struct HintsJson {
    full: Json,
    /// The next step and the main caution, if any.
    brief: Option<Json>,
}

impl HintsJson {
    fn of(hints: &AgentHints) -> Self {
        Self {
            // Hints contain no map whose keys are not strings, so serialisation does not fail.
            full: Json::of(hints).unwrap_or_else(|_| Json::null()),
            brief: hints.brief().and_then(|brief| Json::of(&brief).ok()),
        }
    }
}

fn complete_hints(call: &Call, notes: &Notes) -> AgentHints {
    let assessment = calculus::assess(&notes.evidence);
    let stale = calculus::staleness(&notes.evidence, call.now);
    let (changes, reads): (Vec<&NextAction>, Vec<&NextAction>) =
        notes.next.iter().partition(|action| mutates(call, action));
    let suggested: Vec<SuggestedAction> =
        reads.iter().filter_map(|action| suggestion(call, action)).collect();
    let offers = changes.iter().filter_map(|action| suggestion(call, action));
    let offers = offers.map(|action| offer(&action, assessment.confidence));
    let alternatives = notes.alternatives.iter().cloned().chain(offers).collect();
    let first_takes = reads.iter().find_map(|action| typical_time(call, action.tool));
    let first_takes = first_takes.filter(|_| !suggested.is_empty());
    let mut context_needed = notes.context_needed.clone();
    context_needed.extend(assessment.missing);
    let mut warnings = notes.warnings.clone();
    warnings.extend(stale.as_ref().and_then(|stale| staleness_warning(stale, notes)));
    warnings.extend(deprecation_warning(call));
    let mut risk_factors = notes.risks.clone();
    risk_factors.extend(stale.map(|stale| stale.risk));
    let reasoning = reasoning(&suggested, &assessment.reasoning);
    let mut alignment = notes.preferences.clone();
    alignment.extend(preference_alignment(call, &suggested));
    AgentHints {
        suggested_next_actions: suggested,
        related_resources: notes.related.clone(),
        confidence: assessment.confidence,
        source_quality: calculus::source_quality(&notes.evidence, call.now),
        validity_period: calculus::validity(&notes.evidence, call.now),
        context_needed,
        assumptions: notes.assumptions.clone(),
        risk_factors,
        dependencies: notes.dependencies.clone(),
        estimated_impact: calculus::impact(notes.evidence.benefit.as_ref(), first_takes),
        preference_alignment: alignment,
        reasoning,
        warnings,
        alternatives,
        constraints: notes.constraints.clone(),
        metadata: None,
    }
}

/// The preferences that this reply used, and the suggestions about a favourite.
fn preference_alignment(call: &Call, suggested: &[SuggestedAction]) -> Vec<PreferenceAlignment> {
    let strong = |action: &str, preference: &str, why: String| PreferenceAlignment {
        action: action.to_owned(),
        preference: preference.to_owned(),
        alignment: Alignment::Strong,
        score: 1.0,
        explanation: Some(why),
    };
    let used = call.defaults.iter().map(|one| {
        let why = format!("`{}` is from the stored preferences", one.argument);
        strong(call.entry().spec.name, one.preference.name(), why)
    });
    let favourites = &call.preferences.preferences.favourites;
    let favoured = suggested.iter().filter_map(|action| {
        let mut texts = action.data.values().filter_map(serde_json::Value::as_str);
        let text = texts.find(|text| favourites.iter().any(|one| one == text))?;
        Some(strong(&action.action, "favourites", format!("`{text}` is a favourite")))
    });
    used.chain(favoured).collect()
}

/// Why the first suggestions were made, then how sure the reply is and why.
fn reasoning(suggested: &[SuggestedAction], confidence: &str) -> String {
    const MAX_CHARS: usize = 300;
    let room = MAX_CHARS.saturating_sub(confidence.chars().count() + 1);
    let mut text = String::new();
    for action in suggested {
        let why = action.description.as_deref().unwrap_or_default().trim_end_matches('.');
        let sentence = format!("Suggests `{}`: {why}. ", action.action);
        if text.chars().count() + sentence.chars().count() > room {
            break;
        }
        text.push_str(&sentence);
    }
    text.push_str(confidence);
    if text.chars().count() > MAX_CHARS {
        text = text.chars().take(MAX_CHARS - 1).chain(['…']).collect();
    }
    text
}

/// Warns about old data, unless the pack has a warning of its own about their age.
fn staleness_warning(stale: &calculus::Staleness, notes: &Notes) -> Option<Warning> {
    let is_about_age = |warning: &Warning| {
        [&stale.date, "days old"].iter().any(|text| warning.message.contains(*text))
    };
    (!notes.warnings.iter().any(is_about_age)).then(|| Warning {
        kind: WarningKind::Validation,
        severity: stale.risk.severity,
        message: format!("the data are of {}, {} days old", stale.date, stale.days),
        related_ids: Vec::new(),
        suggested_fix: None,
        auto_fixable: None,
    })
}

/// Hints for a failed call. The only suggestion is the caller's own call with its unknown arguments
/// removed, and only if it reads: sample data or a mutation would be unsafe to follow blindly.
fn hints_for_error(call: &Call, error: &ToolError) -> AgentHints {
    let evidence = Evidence::from(Source::new(SourceClass::Exact, "the error itself"));
    let mut notes = Reply::new((), error.message.clone(), evidence).notes;
    if error.kind == ErrorKind::Validation
        && !call.entry().spec.category.mutates()
        && let Some(repaired) = validate::without_unknown(call)
    {
        let why = "the same call without the unknown arguments";
        notes
            .next
            .push(NextAction::new(call.entry().spec.name, repaired, why).priority(Level::High));
    }
    if let (ErrorKind::Removed, Some(deprecation)) = (error.kind, &call.entry().spec.deprecated) {
        notes.constraints.push(format!("`{}` replaces this tool", deprecation.replacement));
    }
    complete_hints(call, &notes)
}

fn mutates(call: &Call, action: &NextAction) -> bool {
    let entry = call.kernel.resolve(action.tool, &call.scope);
    entry.is_some_and(|entry| entry.spec.category.mutates())
}

/// A change that a person may ask for. Agents may follow suggestions blindly, so none of those
/// changes data.
fn offer(action: &SuggestedAction, confidence: f64) -> Alternative {
    let arguments = serde_json::Value::Object(action.data.clone());
    let why = action.description.as_deref().unwrap_or_default();
    Alternative {
        approach: format!("`{}` {arguments}: {why}", action.action),
        confidence,
        reasoning: "It changes data: ask the user first.".to_owned(),
        pros: Vec::new(),
        cons: Vec::new(),
        estimated_impact: None,
    }
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
