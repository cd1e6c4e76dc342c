//! The contract's shapes as GraphQL types. Members that a type does not name are in `json`.

use async_graphql::{InputObject, Json, SimpleObject};
use serde::Deserialize;
use serde_json::Value;

/// Hashes of what went in and came out.
#[derive(Debug, Default, Deserialize, SimpleObject)]
#[serde(default)]
pub(super) struct Audit {
    /// SHA-256 of the canonical JSON of the input.
    pub(super) in_hash: String,
    /// SHA-256 of the canonical JSON of the document.
    pub(super) out_hash: String,
    /// From request to reply.
    pub(super) latency_ms: u64,
    /// The first eight bytes of `inHash`, as sixteen hexadecimal digits: GraphQL has no integer
    /// that holds them.
    #[serde(skip)]
    pub(super) seed_hex: String,
    /// `ok` or `error`.
    pub(super) status: String,
}

impl Audit {
    pub(super) fn of(value: &Value) -> Self {
        let mut audit = Self::deserialize(value).unwrap_or_default();
        audit.seed_hex = audit.in_hash.chars().take(16).collect();
        audit
    }
}

/// A text in both languages.
#[derive(Debug, Default, Deserialize, SimpleObject)]
#[serde(default)]
pub(super) struct Names {
    /// In Thai.
    pub(super) th: String,
    /// In English.
    pub(super) en: String,
}

/// Something with an id and a name.
#[derive(Debug, Default, Deserialize, SimpleObject)]
#[serde(default)]
pub(super) struct Named {
    /// Its id.
    pub(super) id: String,
    /// Its name.
    pub(super) name: String,
}

/// What something is used for.
#[derive(Debug, Default, Deserialize, SimpleObject)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Indication {
    /// The ICD-10 code.
    pub(super) icd_code: String,
    /// What it is called.
    pub(super) description: String,
}

/// A herb.
#[derive(Debug, Default, Deserialize, SimpleObject)]
#[serde(default)]
pub(super) struct Herb {
    /// Such as `H:turmeric`.
    pub(super) id: String,
    /// Its names.
    pub(super) names: Names,
    /// The parts that are used.
    pub(super) parts: Vec<String>,
    /// What it holds.
    pub(super) constituents: Vec<Named>,
    /// What it is used for.
    pub(super) indications: Vec<Indication>,
    /// Who says so.
    pub(super) sources: Vec<String>,
    /// That this is no medical advice.
    pub(super) notice: Names,
    /// Hashes.
    #[serde(skip)]
    pub(super) audit: Audit,
    /// The whole document.
    #[serde(skip)]
    pub(super) json: Json<Value>,
}

/// A medicine of the National List.
#[derive(Debug, Default, Deserialize, SimpleObject)]
#[serde(default)]
pub(super) struct Formulation {
    /// Such as `F:nlem-25`.
    pub(super) id: String,
    /// Its names.
    pub(super) names: Names,
    /// The herbs in it.
    pub(super) herbs: Vec<Named>,
    /// What it is used for.
    pub(super) indications: Vec<Indication>,
    /// Who says so.
    pub(super) sources: Vec<String>,
    /// That this is no medical advice.
    pub(super) notice: Names,
    /// Hashes.
    #[serde(skip)]
    pub(super) audit: Audit,
    /// The whole document.
    #[serde(skip)]
    pub(super) json: Json<Value>,
}

/// A paper in PubMed.
#[derive(Debug, Default, Deserialize, SimpleObject)]
#[serde(default)]
pub(super) struct Paper {
    /// Its number.
    pub(super) pmid: String,
    /// Its title.
    pub(super) title: String,
    /// Its abstract; empty where it is not held.
    #[serde(rename = "abstract")]
    #[graphql(name = "abstract")]
    pub(super) abstract_text: String,
    /// Who wrote it.
    pub(super) authors: Vec<String>,
    /// Where.
    pub(super) journal: String,
    /// When, where known.
    pub(super) year: Option<i32>,
    /// Where to read on.
    pub(super) links: Vec<String>,
    /// Hashes.
    #[serde(skip)]
    pub(super) audit: Audit,
    /// The whole document.
    #[serde(skip)]
    pub(super) json: Json<Value>,
}

/// A job that takes documents in.
#[derive(Debug, Default, Deserialize, SimpleObject)]
#[serde(default)]
pub(super) struct IngestJob {
    /// Its id.
    pub(super) job_id: String,
    /// `queued`, `running`, `done` or `error`.
    pub(super) status: String,
    /// Where its log can be read, as a resource of MCP.
    pub(super) log_uri: String,
    /// More than the status says, such as `cancelled` or `rolled_back`.
    pub(super) detail: Option<String>,
    /// How far it is.
    pub(super) progress: JobPages,
    /// Hashes.
    #[serde(skip)]
    pub(super) audit: Audit,
    /// The whole document.
    #[serde(skip)]
    pub(super) json: Json<Value>,
}

/// Pages of a job.
#[derive(Debug, Default, Deserialize, SimpleObject)]
#[serde(default)]
pub(super) struct JobPages {
    /// Pages that were read.
    pub(super) pages_done: u32,
    /// Pages to read, as far as they are counted.
    pub(super) pages: u32,
}

/// A thing to start from.
#[derive(Debug, InputObject)]
pub(super) struct Start {
    /// Such as `herb`.
    #[graphql(name = "type")]
    pub(super) kind: String,
    /// Its id or name.
    pub(super) id: String,
}

/// A node of a path.
#[derive(Debug, Default, Deserialize, SimpleObject)]
#[serde(default)]
pub(super) struct PathNode {
    /// Its id.
    pub(super) id: String,
    /// Such as `herb`.
    #[serde(rename = "type")]
    #[graphql(name = "type")]
    pub(super) kind: String,
    /// Its name.
    pub(super) label: String,
    /// How the path gets here, and who says so.
    pub(super) edge: Option<Json<Value>>,
}

/// Paths, best first.
#[derive(Debug, Default, Deserialize, SimpleObject)]
#[serde(default)]
pub(super) struct Paths {
    /// The paths.
    pub(super) paths: Vec<Vec<PathNode>>,
    /// The score of each.
    pub(super) scores: Vec<f64>,
    /// What the start may mean, when it fits several things.
    pub(super) candidates: Vec<PathNode>,
    /// Whether there are more.
    pub(super) more: bool,
    /// That this is no medical advice.
    pub(super) notice: Names,
    /// Hashes.
    #[serde(skip)]
    pub(super) audit: Audit,
    /// The whole document.
    #[serde(skip)]
    pub(super) json: Json<Value>,
}

/// One thing to be careful about.
#[derive(Debug, Default, Deserialize, SimpleObject)]
#[serde(default)]
pub(super) struct Contraindication {
    /// The herb or formulation.
    pub(super) entity_id: String,
    /// Which of the two it is.
    #[serde(rename = "type")]
    #[graphql(name = "type")]
    pub(super) kind: String,
    /// What to be careful about.
    pub(super) contraindication: String,
    /// Who says so.
    pub(super) evidence: String,
    /// `low`, `moderate` or `high`.
    pub(super) strength: String,
    /// Whether a source that was checked says so.
    pub(super) verified: bool,
    /// The ingredients that bring it.
    pub(super) via: Vec<String>,
    /// `contraindicated`, `avoid`, `caution` or `monitor`; empty for what is not known.
    pub(super) level: String,
    /// Whether it concerns the patient or a medicine that was asked about.
    pub(super) asked: bool,
}

/// What is known against it.
#[derive(Debug, Default, Deserialize, SimpleObject)]
#[serde(default)]
pub(super) struct Contraindications {
    /// What is known.
    pub(super) results: Vec<Contraindication>,
    /// How much is known at all.
    pub(super) coverage: Json<Value>,
    /// That this is no medical advice.
    pub(super) notice: Names,
    /// Hashes.
    #[serde(skip)]
    pub(super) audit: Audit,
    /// The whole document.
    #[serde(skip)]
    pub(super) json: Json<Value>,
}

/// Who takes the herbs, and which results are wanted.
#[derive(Debug, Default, InputObject)]
pub(super) struct ContraindicationOptions {
    /// Conditions and populations of the patient, in everyday words or by code.
    pub(super) conditions: Option<Vec<String>>,
    /// Age of the patient in years.
    pub(super) age: Option<f64>,
    /// Whether the patient is pregnant.
    pub(super) pregnancy: Option<bool>,
    /// How many results are passed over.
    pub(super) offset: Option<i32>,
    /// How many results at most.
    pub(super) limit: Option<i32>,
    /// `th`, `en` or `both`.
    pub(super) lang: Option<String>,
    /// `low`, `moderate` or `high`.
    pub(super) min_strength: Option<String>,
}

/// One hit of a search.
#[derive(Debug, Default, Deserialize, SimpleObject)]
#[serde(default)]
pub(super) struct Hit {
    /// Its id.
    pub(super) id: String,
    /// Such as `herb`.
    #[serde(rename = "type")]
    #[graphql(name = "type")]
    pub(super) kind: String,
    /// Its title.
    pub(super) title: String,
    /// Why it was found.
    pub(super) snippet: String,
    /// From 0 to 1.
    pub(super) score: f64,
    /// Where it comes from.
    pub(super) source: String,
}

/// What a search found.
#[derive(Debug, Default, Deserialize, SimpleObject)]
#[serde(default)]
pub(super) struct Hits {
    /// The hits, best first.
    pub(super) hits: Vec<Hit>,
    /// Hashes.
    #[serde(skip)]
    pub(super) audit: Audit,
    /// The whole document.
    #[serde(skip)]
    pub(super) json: Json<Value>,
}

/// A passage that an answer rests on.
#[derive(Debug, Default, Deserialize, SimpleObject)]
#[serde(default)]
pub(super) struct Citation {
    /// The id of the document.
    pub(super) id: String,
    /// Where it can be read.
    pub(super) uri: String,
    /// Its title.
    pub(super) title: String,
    /// The cited words.
    pub(super) span: String,
    /// The number in the answer.
    pub(super) number: i32,
    /// Whether a source that was checked says so.
    pub(super) verified: bool,
}

/// How good an answer is, from 0 to 1.
#[derive(Debug, Default, Deserialize, SimpleObject)]
#[serde(default)]
pub(super) struct AnswerScores {
    /// Of what was found.
    pub(super) retrieval: f64,
    /// The probability that the answer holds what was asked for.
    pub(super) answer_conf: f64,
}

/// Why there is no answer.
#[derive(Debug, Default, Deserialize, SimpleObject)]
#[serde(default)]
pub(super) struct Withheld {
    /// Codes of the reasons.
    pub(super) reasons: Vec<String>,
    /// The same in words.
    pub(super) told: Vec<String>,
    /// The confidence that an answer needs.
    pub(super) tau: f64,
}

/// A warning on record, word for word.
#[derive(Debug, Default, Deserialize, SimpleObject)]
#[serde(default)]
pub(super) struct Danger {
    /// The document that says so.
    pub(super) id: String,
    /// Where it can be read.
    pub(super) uri: String,
    /// Its title.
    pub(super) title: String,
    /// The words.
    pub(super) span: String,
    /// `contraindicated`, `avoid`, `caution` or `monitor`.
    pub(super) level: String,
    /// `low`, `moderate` or `high`.
    pub(super) strength: String,
    /// Whether it concerns what was asked.
    pub(super) asked: bool,
    /// Whether a source that was checked says so.
    pub(super) verified: bool,
    /// The herb or formulation of the question.
    pub(super) entity_id: String,
    /// Codes of cautions and ids of interactions.
    pub(super) codes: Vec<String>,
    /// Groups of patients of the question that it concerns.
    pub(super) groups: Vec<String>,
    /// Medicines of the question that it concerns.
    pub(super) drugs: Vec<String>,
}

/// What to do in an emergency.
#[derive(Debug, Default, Deserialize, SimpleObject)]
#[serde(default)]
pub(super) struct Emergency {
    /// Such as `chest-pain`.
    pub(super) kind: String,
    /// Thai telephone numbers, the first to call first.
    pub(super) call: Vec<String>,
    /// What to do.
    pub(super) told: String,
}

/// An answer with citations, or why there is none.
#[derive(Debug, Default, Deserialize, SimpleObject)]
#[serde(default)]
pub(super) struct CitedAnswer {
    /// The answer; empty when it is withheld.
    pub(super) answer: String,
    /// What it rests on.
    pub(super) citations: Vec<Citation>,
    /// How good it is.
    pub(super) scores: AnswerScores,
    /// The dangers on record, those asked for first; also when the answer is withheld.
    pub(super) dangers: Vec<Danger>,
    /// What to do now, when the question is about an emergency.
    pub(super) emergency: Option<Emergency>,
    /// Why there is no answer.
    pub(super) withheld: Option<Withheld>,
    /// What the data do not have.
    pub(super) gaps: Vec<String>,
    /// That this is no medical advice.
    pub(super) notice: Names,
    /// Hashes.
    #[serde(skip)]
    pub(super) audit: Audit,
    /// The whole document.
    #[serde(skip)]
    pub(super) json: Json<Value>,
}
