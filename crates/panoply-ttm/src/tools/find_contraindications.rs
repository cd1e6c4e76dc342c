//! `find_contraindications`: what herbs and formulations must not be combined with.

use std::collections::HashSet;
use std::sync::Arc;

use panoply_contract::hints::{Level as Urgency, Warning, WarningKind};
use panoply_contract::prelude::*;

use super::common::{CACHE, KEYWORDS, MAX_ID_LENGTH, READ, evidence_of, what_is_wrong};
use super::patient::{self, PatientOut, PatientParams, UnknownName};
use super::safety_words::SafetyWords;
use super::wire::{HowStrong, NOTICE, Notice, ReplyLang, caller_language, display_language, pick};
use crate::graph::NodeType;
use crate::knowledge::{Knowledge, KnowledgeService};
use crate::model::{DisplayLanguage, Level};
use crate::names::NameMatch;
use crate::safety::{self, DrugMatch, SafetyQuery, SafetyReport, Statement, Subject};

const SPEC: ToolSpec = ToolSpec {
    name: "find_contraindications",
    title: "Contraindications and interactions",
    description: Description {
        does: "Lists what is known against using herbs and Thai formulations: contraindications, cautions and interactions with medicines, each with its strength, its source and the ingredient that brings it.",
        when: "Use this when someone asks whether a herb or formulation may be taken in pregnancy, with an illness, or together with a medicine or another herb. Give the medicines as `drugs`, illnesses and populations as `conditions`, and `age` and `pregnancy` to have the alerts of that patient first; medicines go by international, US or Thai names and brands, and one that is unknown is named in `unknown` while the rest is checked. Never read an empty or short list as safe: an entity without a record gets a result that says so.",
        returns: "Returns results with strength low, moderate or high, evidence that names the source, `verified` (general knowledge is marked and never stands alone), and `coverage`: how much of what was asked about has records at all.",
        asks: &["Can I take turmeric with warfarin?", "ยาหอมเทพจิตรห้ามใช้ในใคร", "Is andrographis safe in pregnancy?"],
    },
    version: "1.0.0",
    aliases: &["tool.find_contraindications"],
    permissions: READ,
    category: Category::Query,
    response_time: ResponseTime::Fast,
    cache: CACHE,
    idempotent: true,
    data: &["ttm"],
    examples: &[
        Example {
            shows: "a herb together with a medicine",
            params: r#"{"herb_ids": ["H:turmeric"], "drugs": ["warfarin"]}"#,
            expect: Expect::Data(
                r#"{"coverage": {"considered": 1, "with_verified": 1, "pairs": 1, "pairs_with_record": 1}}"#,
            ),
        },
        Example {
            shows: "every herb of a formulation counts",
            params: r#"{"formulation_ids": ["F:nlem-01"], "lang": "en"}"#,
            expect: Expect::Data(r#"{"coverage": {"considered": 36}}"#),
        },
        Example {
            shows: "ids that do not exist are all named",
            params: r#"{"herb_ids": ["H:turmric", "C:curcumin"]}"#,
            expect: Expect::Error("INVALID_ARG"),
        },
    ],
    tags: KEYWORDS,
    rate_limit: None,
    deprecated: None,
    annotations: Annotations::CLOSED,
    listing: Listing::Core,
    widget: None,
}
.checked();

/// The most entities of a kind in one call.
const MAX_IDS: usize = 50;
/// A reply gets no longer than this many bytes of results.
const MAX_REPLY_BYTES: usize = 60_000;
/// Rows that a person is shown.
const MAX_ROWS_SHOWN: usize = 12;

/// What to look at.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Params {
    /// Herbs, by id (`H:turmeric`) or name in Thai, English or Latin.
    #[serde(default)]
    #[schemars(length(max = MAX_IDS), inner(length(min = 1, max = MAX_ID_LENGTH)))]
    herb_ids: Vec<String>,
    /// Formulations, by id (`F:nlem-25`) or name. Every herb in them counts too.
    #[serde(default)]
    #[schemars(length(max = MAX_IDS), inner(length(min = 1, max = MAX_ID_LENGTH)))]
    formulation_ids: Vec<String>,
    /// Medicines taken as well, or classes of them, in English or Thai: `warfarin`, `anticoagulants`.
    #[serde(default)]
    #[schemars(length(max = 20), inner(length(min = 1, max = MAX_ID_LENGTH)))]
    drugs: Vec<String>,
    /// Conditions and populations of the patient, in everyday words or by code: `kidney failure`,
    /// `เบาหวาน`, `breastfeeding`, `PREG`. What belongs to them counts too: dialysis is kidney disease.
    #[serde(default)]
    #[schemars(length(max = 20), inner(length(min = 1, max = MAX_ID_LENGTH)))]
    conditions: Vec<String>,
    /// Age of the patient in years; `0.5` is six months.
    #[schemars(range(min = 0.0, max = 130.0))]
    age: Option<f32>,
    /// Whether the patient is pregnant.
    pregnancy: Option<bool>,
    /// How many results are passed over, for the next page.
    #[serde(default)]
    #[schemars(range(max = 10_000))]
    offset: usize,
    /// How many results at most; as many as fit when left out.
    #[schemars(range(min = 1, max = 500))]
    limit: Option<usize>,
    /// Leave out what is weaker; what is not known is never left out.
    min_strength: Option<HowStrong>,
    /// Language of the sentences: Thai with English beside it when left out.
    lang: Option<ReplyLang>,
}

/// What is known against it.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct Output {
    /// What concerns the patient and the medicines first, contraindicated before avoid, caution
    /// and monitor; then the rest in the same order. What is not known stands last.
    results: Vec<Found>,
    /// How much of what was asked about has records at all. No record is not safety.
    coverage: Coverage,
    /// Cautions that more than one of the entities carries.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    shared: Vec<Shared>,
    /// Names that nobody here knows; the rest was checked all the same.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    unknown: Vec<UnknownName>,
    /// The patient, as understood: groups of `data/ttm/groups.jsonl` and medicines by their names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    patient: Option<PatientOut>,
    /// Pass this as `offset` for the results that were left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    next_offset: Option<usize>,
    /// How many results were left out because the reply would be too long.
    #[serde(default, skip_serializing_if = "is_zero")]
    left_out: usize,
    /// That this is no medical advice.
    notice: Notice,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants a reference")]
const fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// One thing to be careful about.
#[derive(Debug, JsonSchema, Serialize)]
struct Found {
    /// The herb or formulation.
    entity_id: String,
    /// Which of the two it is.
    #[serde(rename = "type")]
    entity_type: EntityType,
    /// What to be careful about.
    contraindication: String,
    /// Who says so.
    evidence: String,
    /// What is to be done: `contraindicated`, `avoid`, `caution` or `monitor`; absent for what is
    /// not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    level: Option<&'static str>,
    /// Whether it concerns the patient or a medicine that was asked about.
    asked: bool,
    /// The groups of the patient that it concerns.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    groups: Vec<String>,
    /// How strong: as the source says, general knowledge one step less; what is not known counts
    /// as moderate.
    strength: HowStrong,
    /// Whether a source that was checked says so.
    verified: bool,
    /// What kind of statement.
    kind: StatementKind,
    /// The code of the caution, or the id of the interaction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    code: Option<String>,
    /// The ingredients that bring it; absent when it is said of the entity itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    via: Vec<String>,
    /// The medicines asked about that it concerns.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    drugs: Vec<Concerned>,
    /// Ids of the sources.
    sources: Vec<String>,
    /// Papers that the sources name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pmids: Vec<String>,
}

/// Which of the two an entity is.
#[derive(Clone, Copy, Debug, JsonSchema, Serialize)]
#[serde(rename_all = "lowercase")]
enum EntityType {
    Herb,
    Formulation,
}

/// What kind of statement a result is.
#[derive(Clone, Copy, Debug, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
enum StatementKind {
    /// Must not be used.
    Contraindicated,
    /// To be used with care.
    Precaution,
    /// Does something to another medicine.
    Interaction,
    /// There is no record, or none that was checked: that is not safety.
    NotKnown,
}

/// A medicine that a result concerns.
#[derive(Debug, JsonSchema, Serialize)]
struct Concerned {
    /// The medicine as asked.
    drug: String,
    /// The class or medicine that the source names, when it is another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    through: Option<String>,
    /// Unset where the belonging rests on general knowledge.
    verified: bool,
}

impl From<&DrugMatch> for Concerned {
    fn from(found: &DrugMatch) -> Self {
        Self { drug: found.drug.clone(), through: found.through.clone(), verified: found.verified }
    }
}

/// How much is known at all.
#[derive(Debug, JsonSchema, Serialize)]
struct Coverage {
    /// Herbs and formulations that count, ingredients included.
    considered: usize,
    /// Those with a statement that was checked.
    with_verified: usize,
    /// Those with general knowledge only.
    unverified_only: usize,
    /// Those without any record, by id.
    without_record: Vec<String>,
    /// Pairs of an entity and a medicine that were asked about.
    pairs: usize,
    /// Those with a record.
    pairs_with_record: usize,
    /// From 0 (nothing is known) to 1: general knowledge counts half.
    share: f64,
    /// What that means.
    note: String,
}

/// A caution that several entities carry.
#[derive(Debug, JsonSchema, Serialize)]
struct Shared {
    /// Its code.
    code: String,
    /// What it is.
    label: String,
    /// Who carries it.
    entity_ids: Vec<String>,
}

/// See the module.
pub(crate) struct FindContraindications {
    pub(crate) knowledge: Arc<KnowledgeService>,
}

impl Tool for FindContraindications {
    type Params = Params;
    type Output = Output;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, params: Params, cx: &CallContext) -> Result<Reply<Output>, ToolError> {
        let knowledge = self.knowledge.now()?;
        let (question, unknown) = read(&knowledge, &params)?;
        let mut answer = safety::contraindications(&knowledge.catalog, &question);
        if let Some(least) = params.min_strength {
            let least = least.into();
            answer.statements.retain(|one| one.strength >= least || one.subject.is_gap());
        }
        let page = PageRequest { offset: params.offset, limit: params.limit };
        let mut reply =
            reply(&knowledge, &question, &answer, (display_language(params.lang), cx.lang), page);
        reply.data.unknown = unknown;
        Ok(reply)
    }
}

/// Which results are given.
#[derive(Clone, Copy)]
struct PageRequest {
    offset: usize,
    limit: Option<usize>,
}

/// Ids that exist, each once, or everything that is wrong with those given.
fn read(
    knowledge: &Knowledge,
    params: &Params,
) -> Result<(SafetyQuery, Vec<UnknownName>), ToolError> {
    if params.herb_ids.is_empty() && params.formulation_ids.is_empty() {
        return Err(ToolError::validation(
            "NOTHING_ASKED",
            "`herb_ids` and `formulation_ids` are both empty",
        )
        .hint("give at least one herb or formulation, such as {\"herb_ids\": [\"H:turmeric\"]}"));
    }
    let mut wrong = Vec::new();
    let lists = [
        ("herb_ids", &params.herb_ids, NodeType::Herb),
        ("formulation_ids", &params.formulation_ids, NodeType::Formulation),
    ];
    let mut read = lists.map(|(argument, given, wanted)| {
        let mut ids = Vec::new();
        let mut seen = HashSet::new();
        for (place, text) in given.iter().enumerate() {
            match knowledge.names.resolve(&knowledge.graph, text, &[wanted]) {
                NameMatch::One(at) => {
                    let id = knowledge.graph.node(at).map(|node| node.id.clone());
                    ids.extend(id.filter(|id| seen.insert(id.clone())));
                }
                other => wrong.push(format!(
                    "`{argument}[{place}]`: {}",
                    what_is_wrong(knowledge, text, wanted, &other)
                )),
            }
        }
        ids
    });
    if !wrong.is_empty() {
        return Err(ToolError::validation("UNKNOWN_ID", wrong.join("; "))
            .hint("correct these; find ids with `hybrid_search`")
            .detail("unknown", wrong));
    }
    let [herbs, formulations] = &mut read;
    let told = PatientParams {
        drugs: &params.drugs,
        conditions: &params.conditions,
        age: params.age,
        pregnancy: params.pregnancy,
    };
    let (patient, unknown) = patient::read(knowledge, &told);
    let question = SafetyQuery {
        herbs: std::mem::take(herbs),
        formulations: std::mem::take(formulations),
        patient,
    };
    Ok((question, unknown))
}

fn reply(
    knowledge: &Knowledge,
    question: &SafetyQuery,
    answer: &SafetyReport,
    (display, lang): (DisplayLanguage, Lang),
    page: PageRequest,
) -> Reply<Output> {
    let words = SafetyWords { catalog: &knowledge.catalog, display };
    let mut size = 0;
    let mut results: Vec<Found> = Vec::new();
    let rest = answer.statements.iter().skip(page.offset);
    for statement in rest.take(page.limit.unwrap_or(usize::MAX)) {
        let asked = !statement.matches.is_empty() || !statement.groups.is_empty();
        let briefly = !question.patient.is_unknown() && !asked && !statement.subject.is_gap();
        let one = found(&words, statement, briefly);
        size += serde_json::to_string(&one).map_or(0, |text| text.len());
        if size > MAX_REPLY_BYTES {
            break;
        }
        results.push(one);
    }
    let given = page.offset.min(answer.statements.len()) + results.len();
    let left_out = answer.statements.len() - given;
    let (part, whole) = answer.coverage.share();
    let used = answer
        .statements
        .iter()
        .flat_map(|one| one.sources.iter().map(move |source| (source.as_str(), one.verified)));
    let evidence = evidence_of(&knowledge.catalog, used).complete(part, whole);
    let output = Output {
        results,
        coverage: coverage(&words, answer),
        shared: shared(&words, answer),
        unknown: Vec::new(),
        patient: PatientOut::of(&question.patient),
        next_offset: (left_out > 0).then_some(given),
        left_out,
        notice: NOTICE,
    };
    let told = SafetyWords { catalog: &knowledge.catalog, display: caller_language(lang) };
    let text = sentence(&told, question, answer, lang);
    let mut reply = Reply::new(output, text, evidence).table(table(&told, answer));
    if part < whole {
        let without: Vec<String> = answer.coverage.without.iter().cloned().collect();
        reply = reply.warn(Warning {
            kind: WarningKind::Validation,
            severity: Urgency::High,
            message: "not everything asked about has a safety record; no record is not safety"
                .to_owned(),
            related_ids: without,
            suggested_fix: None,
            auto_fixable: Some(false),
        });
    }
    reply
}

fn found(words: &SafetyWords<'_>, statement: &Statement, briefly: bool) -> Found {
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
        // Only what was asked is told at length.
        evidence: if briefly { statement.sources.join("; ") } else { words.evidence(statement) },
        level: (!statement.subject.is_gap()).then(|| statement.urgency.as_str()),
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

fn coverage(words: &SafetyWords<'_>, answer: &SafetyReport) -> Coverage {
    let known = &answer.coverage;
    let (part, whole) = known.share();
    #[expect(clippy::cast_precision_loss, reason = "a few hundred at most")]
    let share = if whole == 0 { 0.0 } else { part as f64 / whole as f64 };
    Coverage {
        considered: known.considered.len(),
        with_verified: known.with_verified.len(),
        unverified_only: known.unverified_only.len(),
        without_record: known.without.iter().cloned().collect(),
        pairs: known.pairs,
        pairs_with_record: known.pairs_with_record,
        share: (share * 1e4).round() / 1e4,
        note: pick(
            words.display,
            "ไม่มีบันทึกไม่ได้แปลว่าปลอดภัย",
            "no record does not mean that it is safe",
        ),
    }
}

fn shared(words: &SafetyWords<'_>, answer: &SafetyReport) -> Vec<Shared> {
    let each = answer.shared.iter().map(|shared| Shared {
        code: shared.code.clone(),
        label: words.caution_name(&shared.code),
        entity_ids: shared.entities.clone(),
    });
    each.collect()
}

fn sentence(
    words: &SafetyWords<'_>,
    question: &SafetyQuery,
    answer: &SafetyReport,
    lang: Lang,
) -> String {
    let names = question.herbs.iter().chain(&question.formulations);
    let names: Vec<String> = names.take(5).map(|id| words.entity_name(id)).collect();
    let asked = question.herbs.len() + question.formulations.len();
    let rest = asked.saturating_sub(names.len());
    let names = if rest > 0 {
        pick(
            words.display,
            format!("{} และอีก {rest} รายการ", names.join(", ")),
            format!("{} and {rest} more", names.join(", ")),
        )
    } else {
        names.join(", ")
    };
    let known = answer.statements.iter().filter(|one| !one.subject.is_gap()).count();
    let checked = answer.statements.iter().filter(|one| one.verified).count();
    let coverage = &answer.coverage;
    let (considered, without) = (coverage.considered.len(), coverage.without.len());
    let text = pick(
        words.display,
        format!(
            "{names}: พบข้อห้าม ข้อควรระวัง และอันตรกิริยา {known} รายการ ตรวจสอบกับแหล่งอ้างอิงแล้ว {checked} รายการ; ไม่มีบันทึกความปลอดภัย {without} จาก {considered} รายการที่พิจารณา ไม่มีบันทึกไม่ได้แปลว่าปลอดภัย"
        ),
        format!(
            "{names}: {known} contraindications, cautions and interactions on record, {checked} of them checked against a source; {without} of {considered} considered herbs and formulations have no safety record, and no record does not mean that it is safe."
        ),
    );
    format!("{text} {}", NOTICE.for_caller(lang))
}

fn table(words: &SafetyWords<'_>, answer: &SafetyReport) -> Table {
    let display = words.display;
    let columns = [
        pick(display, "สมุนไพร/ตำรับ", "entity"),
        pick(display, "ระดับ", "strength"),
        pick(display, "ข้อความ", "statement"),
        pick(display, "แหล่ง", "source"),
    ];
    answer.statements.iter().take(MAX_ROWS_SHOWN).fold(Table::new(columns), |table, one| {
        let sources = if one.sources.is_empty() { "-".to_owned() } else { one.sources.join(", ") };
        let said: String = words.contraindication(one).chars().take(90).collect();
        table.row([one.entity.clone(), one.strength.as_str().to_owned(), said, sources])
    })
}
