//! The contract's documents as GraphQL types. `json` holds the whole document.

use async_graphql::{InputObject, Json, SimpleObject};
use serde::Deserialize;
use serde_json::Value;

/// SHA-256 hashes of input and output, and the outcome of the call.
#[derive(Debug, Default, Deserialize, SimpleObject)]
#[serde(default)]
pub(super) struct Audit {
    /// SHA-256 of the canonical JSON of the input.
    pub(super) in_hash: String,
    /// SHA-256 of the canonical JSON of the document.
    pub(super) out_hash: String,
    /// Milliseconds from request to reply.
    pub(super) latency_ms: u64,
    /// The first eight bytes of `inHash` as a decimal number; a string, because GraphQL has no
    /// 64-bit integer.
    #[serde(skip)]
    pub(super) seed: String,
    /// The first eight bytes of `inHash` as 16 hexadecimal digits.
    #[serde(skip)]
    pub(super) seed_hex: String,
    /// `ok` or `error`.
    pub(super) status: String,
}

impl Audit {
    pub(super) fn of(value: &Value) -> Self {
        let mut audit = Self::deserialize(value).unwrap_or_default();
        audit.seed_hex = audit.in_hash.chars().take(16).collect();
        let seed = u64::from_str_radix(&audit.seed_hex, 16).unwrap_or_default();
        audit.seed = seed.to_string();
        audit
    }
}

/// A text in Thai and English.
#[derive(Debug, Default, Deserialize, SimpleObject)]
#[serde(default)]
pub(super) struct Names {
    /// Thai.
    pub(super) th: String,
    /// English.
    pub(super) en: String,
}

/// An entity with id and name.
#[derive(Debug, Default, Deserialize, SimpleObject)]
#[serde(default)]
pub(super) struct Named {
    /// Identifier.
    pub(super) id: String,
    /// Name.
    pub(super) name: String,
}

/// An indication: what a herb or formulation is used for.
#[derive(Debug, Default, Deserialize, SimpleObject)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Indication {
    /// ICD-10 code.
    pub(super) icd_code: String,
    /// Description of the indication.
    pub(super) description: String,
}

/// A herb.
#[derive(Debug, Default, Deserialize, SimpleObject)]
#[serde(default)]
pub(super) struct Herb {
    /// Identifier such as `H:turmeric`.
    pub(super) id: String,
    /// Names in Thai and English.
    pub(super) names: Names,
    /// Plant parts that are used.
    pub(super) parts: Vec<String>,
    /// Constituents.
    pub(super) constituents: Vec<Named>,
    /// Indications.
    pub(super) indications: Vec<Indication>,
    /// Sources of the statement.
    pub(super) sources: Vec<String>,
    /// Disclaimer: no medical advice.
    pub(super) notice: Names,
    /// Hashes of the call.
    #[serde(skip)]
    pub(super) audit: Audit,
    /// The whole document as JSON.
    #[serde(skip)]
    pub(super) json: Json<Value>,
}

/// A formulation of the National List of Essential Medicines.
#[derive(Debug, Default, Deserialize, SimpleObject)]
#[serde(default)]
pub(super) struct Formulation {
    /// Identifier such as `F:nlem-25`.
    pub(super) id: String,
    /// Names in Thai and English.
    pub(super) names: Names,
    /// Ingredients.
    pub(super) herbs: Vec<Named>,
    /// Indications.
    pub(super) indications: Vec<Indication>,
    /// Sources of the statement.
    pub(super) sources: Vec<String>,
    /// Disclaimer: no medical advice.
    pub(super) notice: Names,
    /// Hashes of the call.
    #[serde(skip)]
    pub(super) audit: Audit,
    /// The whole document as JSON.
    #[serde(skip)]
    pub(super) json: Json<Value>,
}

/// A PubMed paper.
#[derive(Debug, Default, Deserialize, SimpleObject)]
#[serde(default)]
pub(super) struct Paper {
    /// PubMed id.
    pub(super) pmid: String,
    /// Title.
    pub(super) title: String,
    /// Abstract; empty if not stored.
    #[serde(rename = "abstract")]
    #[graphql(name = "abstract")]
    pub(super) abstract_text: String,
    /// Authors.
    pub(super) authors: Vec<String>,
    /// Journal.
    pub(super) journal: String,
    /// Year of publication, if known.
    pub(super) year: Option<i32>,
    /// Links to the full record.
    pub(super) links: Vec<String>,
    /// Hashes of the call.
    #[serde(skip)]
    pub(super) audit: Audit,
    /// The whole document as JSON.
    #[serde(skip)]
    pub(super) json: Json<Value>,
}

/// An ingest job.
#[derive(Debug, Default, Deserialize, SimpleObject)]
#[serde(default)]
pub(super) struct IngestJob {
    /// Identifier.
    pub(super) job_id: String,
    /// `queued`, `running`, `done` or `error`.
    pub(super) status: String,
    /// URI of the job log, an MCP resource.
    pub(super) log_uri: String,
    /// Detail of the status, such as `cancelled` or `rolled_back`.
    pub(super) detail: Option<String>,
    /// Progress in pages.
    pub(super) progress: JobPages,
    /// Hashes of the call.
    #[serde(skip)]
    pub(super) audit: Audit,
    /// The whole document as JSON.
    #[serde(skip)]
    pub(super) json: Json<Value>,
}

/// Progress of a job in pages.
#[derive(Debug, Default, Deserialize, SimpleObject)]
#[serde(default)]
pub(super) struct JobPages {
    /// Pages processed.
    pub(super) pages_done: u32,
    /// Total pages counted so far.
    pub(super) pages: u32,
}

/// The start node of a path query.
#[derive(Debug, InputObject)]
pub(super) struct Start {
    /// Node type such as `herb`.
    #[graphql(name = "type")]
    pub(super) kind: String,
    /// Identifier or name.
    pub(super) id: String,
}

/// A node of a path.
#[derive(Debug, Default, Deserialize, SimpleObject)]
#[serde(default)]
pub(super) struct PathNode {
    /// Identifier.
    pub(super) id: String,
    /// Node type such as `herb`.
    #[serde(rename = "type")]
    #[graphql(name = "type")]
    pub(super) kind: String,
    /// Name.
    pub(super) label: String,
    /// The edge that leads to this node, with its sources.
    pub(super) edge: Option<Json<Value>>,
}

/// Paths through the graph, best first.
#[derive(Debug, Default, Deserialize, SimpleObject)]
#[serde(default)]
pub(super) struct Paths {
    /// The paths.
    pub(super) paths: Vec<Vec<PathNode>>,
    /// Score of each path.
    pub(super) scores: Vec<f64>,
    /// Candidate start nodes when the start is ambiguous.
    pub(super) candidates: Vec<PathNode>,
    /// Whether more paths exist.
    pub(super) more: bool,
    /// Disclaimer: no medical advice.
    pub(super) notice: Names,
    /// Hashes of the call.
    #[serde(skip)]
    pub(super) audit: Audit,
    /// The whole document as JSON.
    #[serde(skip)]
    pub(super) json: Json<Value>,
}

/// A contraindication, interaction or caution.
#[derive(Debug, Default, Deserialize, SimpleObject)]
#[serde(default)]
pub(super) struct Contraindication {
    /// The herb or formulation.
    pub(super) entity_id: String,
    /// `herb` or `formulation`.
    #[serde(rename = "type")]
    #[graphql(name = "type")]
    pub(super) kind: String,
    /// The warning text.
    pub(super) contraindication: String,
    /// Sources of the statement.
    pub(super) evidence: String,
    /// `low`, `moderate` or `high`.
    pub(super) strength: String,
    /// Whether a verified source states it.
    pub(super) verified: bool,
    /// Ingredients that cause the warning.
    pub(super) via: Vec<String>,
    /// `contraindicated`, `avoid`, `caution` or `monitor`; empty if unknown.
    pub(super) level: String,
    /// Whether it concerns the given patient or drug.
    pub(super) asked: bool,
}

/// The result of a contraindication query.
#[derive(Debug, Default, Deserialize, SimpleObject)]
#[serde(default)]
pub(super) struct Contraindications {
    /// Warnings on record.
    pub(super) results: Vec<Contraindication>,
    /// Coverage of the data for this query.
    pub(super) coverage: Json<Value>,
    /// Disclaimer: no medical advice.
    pub(super) notice: Names,
    /// Hashes of the call.
    #[serde(skip)]
    pub(super) audit: Audit,
    /// The whole document as JSON.
    #[serde(skip)]
    pub(super) json: Json<Value>,
}

/// Patient data and result options.
#[derive(Debug, Default, InputObject)]
pub(super) struct ContraindicationOptions {
    /// Conditions and populations of the patient, in plain language or by code.
    pub(super) conditions: Option<Vec<String>>,
    /// Age of the patient in years.
    pub(super) age: Option<f64>,
    /// Whether the patient is pregnant.
    pub(super) pregnancy: Option<bool>,
    /// Results to skip.
    pub(super) offset: Option<i32>,
    /// Most results to return.
    pub(super) limit: Option<i32>,
    /// `th`, `en` or `both`.
    pub(super) lang: Option<String>,
    /// `low`, `moderate` or `high`.
    pub(super) min_strength: Option<String>,
}

/// A search hit.
#[derive(Debug, Default, Deserialize, SimpleObject)]
#[serde(default)]
pub(super) struct Hit {
    /// Identifier.
    pub(super) id: String,
    /// Node type such as `herb`.
    #[serde(rename = "type")]
    #[graphql(name = "type")]
    pub(super) kind: String,
    /// Title.
    pub(super) title: String,
    /// Matching passage.
    pub(super) snippet: String,
    /// Score from 0 to 1.
    pub(super) score: f64,
    /// Source.
    pub(super) source: String,
}

/// The result of a search.
#[derive(Debug, Default, Deserialize, SimpleObject)]
#[serde(default)]
pub(super) struct Hits {
    /// Hits, best first.
    pub(super) hits: Vec<Hit>,
    /// Hashes of the call.
    #[serde(skip)]
    pub(super) audit: Audit,
    /// The whole document as JSON.
    #[serde(skip)]
    pub(super) json: Json<Value>,
}

/// A cited passage.
#[derive(Debug, Default, Deserialize, SimpleObject)]
#[serde(default)]
pub(super) struct Citation {
    /// Identifier of the document.
    pub(super) id: String,
    /// URI of the document.
    pub(super) uri: String,
    /// Title.
    pub(super) title: String,
    /// Quoted text.
    pub(super) span: String,
    /// Citation number in the answer.
    pub(super) number: i32,
    /// Whether a verified source states it.
    pub(super) verified: bool,
}

/// Quality scores of an answer, from 0 to 1.
#[derive(Debug, Default, Deserialize, SimpleObject)]
#[serde(default)]
pub(super) struct AnswerScores {
    /// Retrieval score.
    pub(super) retrieval: f64,
    /// Probability that the answer contains the requested information.
    pub(super) answer_conf: f64,
}

/// Why the answer is withheld.
#[derive(Debug, Default, Deserialize, SimpleObject)]
#[serde(default)]
pub(super) struct Withheld {
    /// Reason codes.
    pub(super) reasons: Vec<String>,
    /// The reasons in words.
    pub(super) told: Vec<String>,
    /// Confidence threshold for an answer.
    pub(super) tau: f64,
}

/// A warning on record, quoted verbatim.
#[derive(Debug, Default, Deserialize, SimpleObject)]
#[serde(default)]
pub(super) struct Danger {
    /// Identifier of the source document.
    pub(super) id: String,
    /// URI of the document.
    pub(super) uri: String,
    /// Title.
    pub(super) title: String,
    /// Quoted text.
    pub(super) span: String,
    /// `contraindicated`, `avoid`, `caution` or `monitor`.
    pub(super) level: String,
    /// `low`, `moderate` or `high`.
    pub(super) strength: String,
    /// Whether it concerns the question.
    pub(super) asked: bool,
    /// Whether a verified source states it.
    pub(super) verified: bool,
    /// The herb or formulation in the question.
    pub(super) entity_id: String,
    /// Caution codes and interaction ids.
    pub(super) codes: Vec<String>,
    /// Patient groups in the question that it concerns.
    pub(super) groups: Vec<String>,
    /// Drugs in the question that it concerns.
    pub(super) drugs: Vec<String>,
}

/// Emergency instructions.
#[derive(Debug, Default, Deserialize, SimpleObject)]
#[serde(default)]
pub(super) struct Emergency {
    /// Kind of emergency such as `chest-pain`.
    pub(super) kind: String,
    /// Thai emergency numbers, in call order.
    pub(super) call: Vec<String>,
    /// Instructions.
    pub(super) told: String,
}

/// An answer with citations, or the reason for withholding it.
#[derive(Debug, Default, Deserialize, SimpleObject)]
#[serde(default)]
pub(super) struct CitedAnswer {
    /// The answer; empty if withheld.
    pub(super) answer: String,
    /// Citations.
    pub(super) citations: Vec<Citation>,
    /// Quality scores.
    pub(super) scores: AnswerScores,
    /// Warnings on record, those relevant to the question first; present even if the answer is withheld.
    pub(super) dangers: Vec<Danger>,
    /// Instructions, if the question describes an emergency.
    pub(super) emergency: Option<Emergency>,
    /// Why the answer is withheld.
    pub(super) withheld: Option<Withheld>,
    /// Known gaps in the data.
    pub(super) gaps: Vec<String>,
    /// Disclaimer: no medical advice.
    pub(super) notice: Names,
    /// Hashes of the call.
    #[serde(skip)]
    pub(super) audit: Audit,
    /// The whole document as JSON.
    #[serde(skip)]
    pub(super) json: Json<Value>,
}
