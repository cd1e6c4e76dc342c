//! Wire types of `find_contraindications` and the paged reply.

use panoply_contract::hints::{Level as Urgency, Warning, WarningKind};
use panoply_contract::prelude::*;

use super::text;
use crate::arithmetic::round4;
use crate::graph::NodeType;
use crate::knowledge::Knowledge;
use crate::model::{DisplayLanguage, Level};
use crate::safety::{DrugMatch, SafetyQuery, SafetyReport, Statement, Subject};
use crate::tools::common::evidence_of;
use crate::tools::patient::{PatientOut, UnknownName};
use crate::tools::safety_words::SafetyWords;
use crate::tools::wire::{HowStrong, NOTICE, Notice, caller_language, pick};

/// Maximum size of the results in bytes.
const MAX_REPLY_BYTES: usize = 45_000;

/// Safety report.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct Output {
    /// Results that concern the patient and the drugs first, by level: contraindicated, avoid,
    /// caution, monitor; then the rest in the same order; missing records last.
    results: Vec<Found>,
    /// Completeness of the records. A missing record does not mean safe.
    coverage: Coverage,
    /// Cautions shared by several entities.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    shared: Vec<Shared>,
    /// Names that could not be resolved; the rest was checked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) unknown: Vec<UnknownName>,
    /// The patient as understood: groups of `data/ttm/groups.jsonl` and drugs by name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    patient: Option<PatientOut>,
    /// `offset` of the next page, if there are more results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    next_offset: Option<usize>,
    /// Number of results omitted because the reply would be too long.
    #[serde(default, skip_serializing_if = "is_zero")]
    left_out: usize,
    /// Medical disclaimer.
    notice: Notice,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants a reference")]
const fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// A result.
#[derive(Debug, JsonSchema, Serialize)]
struct Found {
    /// Herb or formulation id.
    entity_id: String,
    /// Type of the entity.
    #[serde(rename = "type")]
    entity_type: EntityType,
    /// Contraindication as a sentence.
    contraindication: String,
    /// Sources as a sentence.
    evidence: String,
    /// `contraindicated`, `avoid`, `caution` or `monitor`; absent for a missing record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    level: Option<&'static str>,
    /// What the source says to do, such as to monitor the INR.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    management: Option<String>,
    /// Whether it concerns the patient or a drug of the query.
    asked: bool,
    /// Matching patient groups.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    groups: Vec<String>,
    /// Strength according to the source; unverified statements count one step less, missing records
    /// as moderate.
    strength: HowStrong,
    /// Whether a verified source states it.
    verified: bool,
    /// Kind of statement.
    kind: StatementKind,
    /// Caution code or interaction id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    code: Option<String>,
    /// Ingredients that carry the record; absent if it is the entity's own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    via: Vec<String>,
    /// Matching drugs of the query.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    drugs: Vec<Concerned>,
    /// Source ids.
    sources: Vec<String>,
    /// PMIDs cited by the sources.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pmids: Vec<String>,
}

/// Type of an entity.
#[derive(Clone, Copy, Debug, JsonSchema, Serialize)]
#[serde(rename_all = "lowercase")]
enum EntityType {
    Herb,
    Formulation,
}

/// Kind of a result.
#[derive(Clone, Copy, Debug, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
enum StatementKind {
    /// Must not be used.
    Contraindicated,
    /// Use with caution.
    Precaution,
    /// Interacts with another medicine.
    Interaction,
    /// No record, or none that is verified. This does not mean safe.
    NotKnown,
}

/// A matching drug.
#[derive(Debug, JsonSchema, Serialize)]
struct Concerned {
    /// Drug as given.
    drug: String,
    /// Drug or class named by the source, if different.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    through: Option<String>,
    /// False if the class membership is general knowledge.
    verified: bool,
}

impl From<&DrugMatch> for Concerned {
    fn from(found: &DrugMatch) -> Self {
        Self { drug: found.drug.clone(), through: found.through.clone(), verified: found.verified }
    }
}

/// Completeness of the records.
#[derive(Debug, JsonSchema, Serialize)]
struct Coverage {
    /// Number of herbs and formulations, including ingredients.
    considered: usize,
    /// Number with a verified statement.
    with_verified: usize,
    /// Number with unverified statements only.
    unverified_only: usize,
    /// Ids without any record.
    without_record: Vec<String>,
    /// Number of entity–drug pairs.
    pairs: usize,
    /// Number of pairs with a record.
    pairs_with_record: usize,
    /// From 0 (no records) to 1; unverified records count half.
    share: f64,
    /// Explanation.
    note: String,
}

/// A caution shared by several entities.
#[derive(Debug, JsonSchema, Serialize)]
struct Shared {
    /// Caution code.
    code: String,
    /// Caution as text.
    label: String,
    /// Entity ids.
    entity_ids: Vec<String>,
}

/// Requested slice of the results.
#[derive(Clone, Copy)]
pub(super) struct PageRequest {
    pub(super) offset: usize,
    pub(super) limit: Option<usize>,
}

pub(super) fn reply(
    knowledge: &Knowledge,
    query: &SafetyQuery,
    report: &SafetyReport,
    (display, lang): (DisplayLanguage, Lang),
    page: PageRequest,
) -> Reply<Output> {
    let words = SafetyWords { catalog: &knowledge.catalog, display };
    let mut size = 0;
    let mut results: Vec<Found> = Vec::new();
    let rest = report.statements.iter().skip(page.offset);
    for statement in rest.take(page.limit.unwrap_or(usize::MAX)) {
        let asked = !statement.matches.is_empty() || !statement.groups.is_empty();
        let brief = !query.patient.is_unknown() && !asked && !statement.subject.is_gap();
        let one = found(&words, statement, brief);
        size += serde_json::to_string(&one).map_or(0, |text| text.len());
        if size > MAX_REPLY_BYTES {
            break;
        }
        results.push(one);
    }
    let given = page.offset.min(report.statements.len()) + results.len();
    let left_out = report.statements.len() - given;
    let (part, whole) = report.coverage.share();
    let used = report
        .statements
        .iter()
        .flat_map(|one| one.sources.iter().map(move |source| (source.as_str(), one.verified)));
    let evidence = evidence_of(&knowledge.catalog, used).complete(part, whole);
    let output = Output {
        results,
        coverage: coverage(&words, report),
        shared: shared(&words, report),
        unknown: Vec::new(),
        patient: PatientOut::of(&query.patient),
        next_offset: (left_out > 0).then_some(given),
        left_out,
        notice: NOTICE,
    };
    let caller = SafetyWords { catalog: &knowledge.catalog, display: caller_language(lang) };
    let text = text::sentence(&caller, query, report, lang);
    let mut reply = Reply::new(output, text, evidence).table(text::table(&caller, report));
    if part < whole {
        let without: Vec<String> = report.coverage.without.iter().cloned().collect();
        reply = reply.warn(Warning {
            kind: WarningKind::Validation,
            severity: Urgency::High,
            message: "some entities have no safety record; a missing record does not mean safe"
                .to_owned(),
            related_ids: without,
            suggested_fix: None,
            auto_fixable: Some(false),
        });
    }
    reply
}

fn found(words: &SafetyWords<'_>, statement: &Statement, brief: bool) -> Found {
    let (kind, code) = match &statement.subject {
        Subject::Caution { code, level } => (
            match level {
                Level::Contraindicated => StatementKind::Contraindicated,
                Level::Precaution => StatementKind::Precaution,
                Level::Interaction => StatementKind::Interaction,
            },
            Some(code.clone()),
        ),
        Subject::Interaction(id) => (StatementKind::Interaction, Some(id.clone())),
        Subject::NoRecord
        | Subject::NothingVerified
        | Subject::IngredientsWithoutRecord(_)
        | Subject::NoDrugRecord(_)
        | Subject::NoGroupRecord(_) => (StatementKind::NotKnown, None),
    };
    Found {
        entity_id: statement.entity.clone(),
        entity_type: match statement.entity_type {
            NodeType::Formulation => EntityType::Formulation,
            _ => EntityType::Herb,
        },
        contraindication: words.contraindication(statement),
        // Only results that concern the query are explained at length.
        evidence: if brief { statement.sources.join("; ") } else { words.evidence(statement) },
        level: (!statement.subject.is_gap()).then(|| statement.urgency.as_str()),
        management: words.management(statement),
        asked: !statement.matches.is_empty() || !statement.groups.is_empty(),
        groups: statement.groups.iter().map(|found| found.group.clone()).collect(),
        strength: statement.strength.into(),
        verified: statement.verified,
        kind,
        code,
        via: statement.via.clone(),
        drugs: statement.matches.iter().map(Into::into).collect(),
        sources: statement.sources.clone(),
        pmids: statement.pmids.clone(),
    }
}

fn coverage(words: &SafetyWords<'_>, report: &SafetyReport) -> Coverage {
    let known = &report.coverage;
    let (part, whole) = known.share();
    #[expect(clippy::cast_precision_loss, reason = "a small count")]
    let share = if whole == 0 { 0.0 } else { part as f64 / whole as f64 };
    Coverage {
        considered: known.considered.len(),
        with_verified: known.with_verified.len(),
        unverified_only: known.unverified_only.len(),
        without_record: known.without.iter().cloned().collect(),
        pairs: known.pairs,
        pairs_with_record: known.pairs_with_record,
        share: round4(share),
        note: pick(
            words.display,
            "ไม่มีบันทึกไม่ได้แปลว่าปลอดภัย",
            "no record does not mean that it is safe",
        ),
    }
}

fn shared(words: &SafetyWords<'_>, report: &SafetyReport) -> Vec<Shared> {
    let each = report.shared.iter().map(|shared| Shared {
        code: shared.code.clone(),
        label: words.caution_name(&shared.code),
        entity_ids: shared.entities.clone(),
    });
    each.collect()
}
