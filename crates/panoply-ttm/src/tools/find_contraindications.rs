//! `find_contraindications`: contraindications and interactions of herbs and formulations.

mod output;
mod text;

use std::collections::HashSet;
use std::sync::Arc;

use panoply_contract::prelude::*;

use self::output::{Output, PageRequest};
use super::common::{CACHE, KEYWORDS, MAX_ID_LENGTH, READ, describe_mismatch};
use super::patient::{self, PatientParams, UnknownName};
use super::wire::{HowStrong, ReplyLang, display_language};
use crate::graph::NodeType;
use crate::knowledge::{Knowledge, KnowledgeService};
use crate::names::NameMatch;
use crate::safety::{self, SafetyQuery};

const SPEC: ToolSpec = ToolSpec {
    name: "find_contraindications",
    title: "Contraindications and interactions",
    description: Description {
        does: "Lists contraindications, cautions and drug interactions of herbs and Thai formulations, each with its strength, its source and the ingredient that carries it.",
        when: "Use this when someone asks whether a herb or formulation may be taken in pregnancy, with an illness, or together with a medicine or another herb. Give the medicines as `drugs`, illnesses and populations as `conditions`, and `age` and `pregnancy` to rank the alerts for that patient first; medicines go by international, US or Thai names and brands, and an unknown one is reported in `unknown` while the rest is checked. Never read an empty or short list as safe: an entity without a record gets a result that says so.",
        returns: "Returns results with strength low, moderate or high, evidence that names the source, `verified` (unverified general knowledge is marked), and `coverage`: how complete the records are.",
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
            shows: "ingredients of a formulation are included",
            params: r#"{"formulation_ids": ["F:nlem-01"], "lang": "en"}"#,
            expect: Expect::Data(r#"{"coverage": {"considered": 36}}"#),
        },
        Example {
            shows: "all unknown ids are reported",
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

/// Maximum number of ids per parameter.
const MAX_IDS: usize = 50;

/// Parameters.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Params {
    /// Herbs, by id (`H:turmeric`) or name in Thai, English or Latin.
    #[serde(default)]
    #[schemars(length(max = MAX_IDS), inner(length(min = 1, max = MAX_ID_LENGTH), regex(pattern = r"\S")))]
    herb_ids: Vec<String>,
    /// Formulations, by id (`F:nlem-25`) or name. Their ingredients are included.
    #[serde(default)]
    #[schemars(length(max = MAX_IDS), inner(length(min = 1, max = MAX_ID_LENGTH), regex(pattern = r"\S")))]
    formulation_ids: Vec<String>,
    /// Drugs taken at the same time, or drug classes, in English or Thai: `warfarin`,
    /// `anticoagulants`.
    #[serde(default)]
    #[schemars(length(max = 20), inner(length(min = 1, max = MAX_ID_LENGTH)))]
    drugs: Vec<String>,
    /// Conditions and populations of the patient, in everyday words or by code: `kidney failure`,
    /// `เบาหวาน`, `breastfeeding`, `PREG`. Subgroups are included: dialysis is kidney disease.
    #[serde(default)]
    #[schemars(length(max = 20), inner(length(min = 1, max = MAX_ID_LENGTH)))]
    conditions: Vec<String>,
    /// Age of the patient in years; `0.5` is six months.
    #[schemars(range(min = 0.0, max = 130.0))]
    age: Option<f32>,
    /// Whether the patient is pregnant.
    pregnancy: Option<bool>,
    /// Number of results to skip.
    #[serde(default)]
    #[schemars(range(max = 10_000))]
    offset: usize,
    /// Maximum number of results; as many as fit by default.
    #[schemars(range(min = 1, max = 500))]
    limit: Option<usize>,
    /// Minimum strength; missing records are always reported.
    #[schemars(extend("x-listed" = false))]
    min_strength: Option<HowStrong>,
    /// Language of the sentences; Thai with English by default.
    #[schemars(extend("x-listed" = false))]
    lang: Option<ReplyLang>,
}

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
        let (query, unknown) = read(&knowledge, &params)?;
        let mut report = safety::contraindications(&knowledge.catalog, &query);
        if let Some(least) = params.min_strength {
            let least = least.into();
            report.statements.retain(|one| one.strength >= least || one.subject.is_gap());
        }
        let page = PageRequest { offset: params.offset, limit: params.limit };
        let mut reply = output::reply(
            &knowledge,
            &query,
            &report,
            (display_language(params.lang), cx.lang),
            page,
        );
        reply.data.unknown = unknown;
        Ok(reply)
    }
}

/// Resolves all ids, or reports everything that is wrong with them.
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
                    describe_mismatch(knowledge, text, wanted, &other)
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
    let patient = PatientParams {
        drugs: &params.drugs,
        conditions: &params.conditions,
        age: params.age,
        pregnancy: params.pregnancy,
    };
    let (patient, unknown) = patient::read(knowledge, &patient);
    let query = SafetyQuery {
        herbs: std::mem::take(herbs),
        formulations: std::mem::take(formulations),
        patient,
    };
    Ok((query, unknown))
}
