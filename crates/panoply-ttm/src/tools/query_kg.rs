//! `query_kg`: paths in the knowledge graph.

mod text;

use std::sync::Arc;

use panoply_contract::prelude::*;
use panoply_contract::spec::Widget;
use serde_json::json;

use self::text::{sentence, table};
use super::common::{
    CACHE, KEYWORDS, MAX_ID_LENGTH, Named, READ, candidates, describe_mismatch, evidence_of,
};
use super::wire::{
    HowStrong, Kind, NOTICE, Notice, ReplyLang, caller_language, display_language, pick,
};
use crate::graph::filter::Filter;
use crate::graph::pattern::{BadPattern, Pattern};
use crate::graph::walk::{Path, PathQuery, PathResult};
use crate::graph::{Edge, NodeIndex, NodeType};
use crate::knowledge::{Knowledge, KnowledgeService};
use crate::model::DisplayLanguage;
use crate::names::NameMatch;
use crate::user_data::Quotation;

const SPEC: ToolSpec = ToolSpec {
    name: "query_kg",
    title: "Paths through the knowledge graph",
    description: Description {
        does: "Walks the knowledge graph of Thai traditional medicine from a herb, constituent, indication (ICD-10), formulation, paper, caution or drug, and returns the best paths with the sources of each edge.",
        when: "Use this when someone asks for relations: which constituents a herb has, which herbs or formulations are used for a disease, which papers support a use, what interacts with a medicine. Write the route as `pattern`, such as herb->constituent->indication or indication<-formulation->herb. To find things by words use hybrid_search; for safety use find_contraindications, which also counts the herbs of a formulation.",
        returns: "Returns paths, best first, each a list of nodes; the `edge` of a node has its relation, sources and verification. An edge with `inferred` is an inference, not evidence. An ambiguous name returns `candidates`.",
        asks: &["ขมิ้นชันมีสารสำคัญอะไรและใช้รักษาอะไร", "Which herbs are used for haemorrhoids?", "What interacts with warfarin?"],
    },
    version: "1.0.0",
    aliases: &["tool.query_kg"],
    permissions: READ,
    category: Category::Query,
    response_time: ResponseTime::Fast,
    cache: CACHE,
    idempotent: true,
    data: &["ttm"],
    examples: &[
        Example {
            shows: "from a herb to its constituents",
            params: r#"{"start": {"type": "herb", "id": "H:turmeric"}, "pattern": "herb->constituent", "filters": {"evidence": "verified", "limit": 1}}"#,
            expect: Expect::Data(
                r#"{"start": {"id": "H:turmeric", "type": "herb"}, "paths": [[{"id": "H:turmeric", "type": "herb"}, {"id": "C:ar-turmerone", "type": "constituent", "edge": {"relation": "HAS_CONSTITUENT", "verified": true}}]], "more": true}"#,
            ),
        },
        Example {
            shows: "a Thai name, and the route of the contract",
            params: r#"{"start": {"type": "herb", "id": "ฟ้าทะลายโจร"}, "pattern": "herb→constituent→indication", "max_depth": 3}"#,
            expect: Expect::Data(r#"{"start": {"id": "H:andrographis"}}"#),
        },
        Example {
            shows: "paths from a herb to a drug",
            params: r#"{"start": {"type": "herb", "id": "H:ginger"}, "end": {"type": "drug", "id": "warfarin"}, "filters": {"limit": 1}, "max_depth": 1}"#,
            expect: Expect::Data(
                r#"{"start": {"id": "H:ginger"}, "end": {"id": "warfarin"}, "paths": [[{"id": "H:ginger"}, {"id": "warfarin", "edge": {"relation": "INTERACTS_WITH"}}]]}"#,
            ),
        },
        Example {
            shows: "an id of another type",
            params: r#"{"start": {"type": "herb", "id": "C:curcumin"}}"#,
            expect: Expect::Error("INVALID_ARG"),
        },
    ],
    tags: KEYWORDS,
    rate_limit: None,
    deprecated: None,
    annotations: Annotations::CLOSED,
    listing: Listing::Core,
    widget: Some(Widget {
        resource_uri: "ui://panoply/ttm-graph-v1.html",
        invoking: "Walking the knowledge graph…",
        invoked: "Paths through the knowledge graph",
    }),
}
.checked();

/// Default number of paths.
const DEFAULT_LIMIT: u16 = 50;
/// Maximum number of paths.
const MAX_LIMIT: u16 = 200;
/// Maximum size of the paths in bytes.
const MAX_REPLY_BYTES: usize = 45_000;
/// Maximum number of quotations per edge.
const MAX_QUOTATIONS: usize = 3;
/// Maximum number of rows in the text table.
const MAX_ROWS_SHOWN: usize = 12;

/// Parameters.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Params {
    /// Start node.
    start: Start,
    /// End node: only paths to it are returned.
    #[schemars(extend("x-listed" = false))]
    end: Option<Start>,
    /// Path pattern: node types (herb, constituent, indication, formulation, paper, caution, drug
    /// or `*`) joined by `->` (along the edge), `<-` (against it) or `--` (either way); relations
    /// in brackets, `herb-[INDICATED_FOR]->indication`; hops in braces,
    /// `formulation->{1,3}indication`. Default: every path within `max_depth`.
    #[schemars(length(max = 500), example = "herb->constituent->indication")]
    pattern: Option<String>,
    /// Filters on nodes and edges.
    filters: Option<Filters>,
    /// Maximum path length in hops.
    #[schemars(range(min = 1, max = 6))]
    #[serde(default = "default_depth")]
    max_depth: u8,
}

const fn default_depth() -> u8 {
    3
}

/// A node.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Start {
    /// Type of the node.
    #[serde(rename = "type")]
    kind: Kind,
    /// Id (`H:turmeric`, `C:curcumin`, `K30`, `F:nlem-25`, a PMID, `PREG`, `warfarin`) or name in
    /// Thai, English or Latin.
    #[schemars(length(min = 1, max = MAX_ID_LENGTH), regex(pattern = r"\S"))]
    id: String,
}

/// Filters on nodes and edges. A filter that does not apply to a node is ignored.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Filters {
    /// ICD-10 code of indications; `K64*` matches a prefix.
    #[schemars(length(min = 1, max = 20))]
    icd: Option<String>,
    /// Part used of herbs, in English or Thai, such as `rhizome`.
    #[schemars(length(min = 1, max = 60))]
    part: Option<String>,
    /// Family of herbs, such as `Zingiberaceae`.
    #[schemars(length(min = 1, max = 60))]
    family: Option<String>,
    /// Source id that every edge must have, such as `nlem-herbal-2566+2568`.
    #[schemars(length(min = 1, max = 60))]
    source: Option<String>,
    /// Verified edges only, or any.
    evidence: Option<EvidenceWanted>,
    /// Minimum strength of warnings.
    min_strength: Option<HowStrong>,
    /// Kind of cautions, such as `population` or `interaction`.
    #[schemars(length(min = 1, max = 30))]
    kind: Option<String>,
    /// First year of papers; papers of unknown year are excluded.
    #[schemars(range(min = 1500, max = 2500))]
    year_from: Option<u16>,
    /// Last year of papers.
    #[schemars(range(min = 1500, max = 2500))]
    year_to: Option<u16>,
    /// Type of the last node.
    #[serde(rename = "type")]
    ends: Option<Kind>,
    /// Language of labels; Thai with English by default.
    lang: Option<ReplyLang>,
    /// Maximum number of paths.
    #[schemars(range(min = 1, max = 200))]
    limit: Option<u16>,
    /// Number of best paths to skip.
    #[schemars(range(min = 0, max = 10_000))]
    offset: Option<u16>,
}

/// Required evidence.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq)]
#[serde(rename_all = "lowercase")]
enum EvidenceWanted {
    /// Verified edges only.
    Verified,
    /// Includes unverified and inferred edges, which are marked.
    Any,
}

/// Paths with their provenance.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct Output {
    /// Paths, best first. Each is a list of nodes.
    paths: Vec<Vec<PathNode>>,
    /// Score of each path from 0 to 1: the product of its edge weights. Verified 0.95, unverified
    /// 0.6, inferred 0.3; multiplied by 0.9 for a moderate and 0.8 for a low warning.
    scores: Vec<f64>,
    /// Resolved start node; absent if ambiguous.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    start: Option<Named>,
    /// Resolved end node, if one was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    end: Option<Named>,
    /// Candidates for an ambiguous start or end: repeat the call with one of these ids.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    candidates: Vec<Named>,
    /// Whether there are or may be more paths.
    more: bool,
    /// `filters.offset` of the next page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    next_offset: Option<usize>,
    /// Explanation of inferred edges, if a path contains one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    inference: Option<String>,
    /// Medical disclaimer.
    notice: Notice,
}

/// A node of a path.
#[derive(Debug, JsonSchema, Serialize)]
struct PathNode {
    #[serde(flatten)]
    node: Named,
    /// Edge from the previous node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    edge: Option<EdgeInfo>,
}

/// An edge with its provenance.
#[derive(Debug, JsonSchema, Serialize)]
struct EdgeInfo {
    /// Relation, such as `HAS_CONSTITUENT`.
    relation: &'static str,
    /// `forward` if the edge points from the previous node to this one, else `backward`.
    direction: &'static str,
    /// Whether a verified source states it.
    verified: bool,
    /// Source ids.
    sources: Vec<String>,
    /// Strength of a warning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    strength: Option<HowStrong>,
    /// PMIDs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pmids: Vec<String>,
    /// Set for an inference: not evidence.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    inferred: bool,
    /// Herbs behind an inference.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    via: Vec<String>,
    /// Quotations from user documents; extracted automatically and unverified.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    said: Vec<SaidOut>,
}

/// A quotation.
#[derive(Debug, JsonSchema, Serialize)]
struct SaidOut {
    /// URI of the chunk.
    uri: String,
    /// Page number, from 1.
    page: u32,
    /// Start and end offset in characters of the page text.
    span: [u32; 2],
    /// Quoted text.
    quote: String,
    /// Certainty of the extraction from 0 to 1.
    confidence: f64,
    /// Extraction rule.
    rule: String,
}

impl From<&Quotation> for SaidOut {
    fn from(said: &Quotation) -> Self {
        Self {
            uri: said.uri(),
            page: said.page,
            span: [said.start, said.end],
            quote: said.quote.clone(),
            confidence: f64::from(said.certainty) / 100.0,
            rule: said.rule.clone(),
        }
    }
}

pub(crate) struct QueryKg {
    pub(crate) knowledge: Arc<KnowledgeService>,
}

impl Tool for QueryKg {
    type Params = Params;
    type Output = Output;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, params: Params, cx: &CallContext) -> Result<Reply<Output>, ToolError> {
        let knowledge = self.knowledge.now()?;
        let filters = params.filters.unwrap_or_default();
        let wanted: NodeType = params.start.kind.into();
        let pattern =
            read_pattern(&knowledge, params.pattern.as_deref(), wanted, params.max_depth)?;
        let filter = read_filter(&knowledge, &filters)?;
        let mut nodes = Vec::new();
        for (member, given) in [("start", Some(&params.start)), ("end", params.end.as_ref())] {
            let Some(given) = given else { continue };
            match resolve(&knowledge, member, given)? {
                Ok(node) => nodes.push(node),
                Err(several) => {
                    return Ok(ambiguous(&knowledge, &given.id, &several, filters.lang, cx.lang));
                }
            }
        }
        let mut nodes = nodes.into_iter();
        let start = nodes.next().ok_or_else(|| ToolError::system("a path without a start"))?;
        let question = PathQuery {
            start,
            end: nodes.next(),
            pattern,
            filter,
            max_depth: params.max_depth,
            offset: filters.offset.unwrap_or(0).into(),
            limit: filters.limit.unwrap_or(DEFAULT_LIMIT).min(MAX_LIMIT).into(),
        };
        let found = knowledge.graph.walk(&question);
        Ok(reply(&knowledge, &question, found, display_language(filters.lang), cx.lang))
    }
}

/// Resolves a node, or returns the candidates of an ambiguous name.
fn resolve(
    knowledge: &Knowledge,
    member: &str,
    given: &Start,
) -> Result<Result<NodeIndex, Vec<NodeIndex>>, ToolError> {
    let wanted: NodeType = given.kind.into();
    match knowledge.names.resolve(&knowledge.graph, &given.id, &[wanted]) {
        NameMatch::One(node) => Ok(Ok(node)),
        NameMatch::Several(nodes) => Ok(Err(nodes)),
        other => {
            let wrong = describe_mismatch(knowledge, &given.id, wanted, &other);
            let code = if member == "start" { "UNKNOWN_START" } else { "UNKNOWN_END" };
            Err(ToolError::validation(code, format!("`{member}.id`: {wrong}"))
                .hint("give an id of that type, or find one with `hybrid_search`")
                .detail("candidates", candidates(knowledge, &other)))
        }
    }
}

fn read_pattern(
    knowledge: &Knowledge,
    text: Option<&str>,
    start: NodeType,
    max_depth: u8,
) -> Result<Pattern, ToolError> {
    let pattern = Pattern::parse(text.unwrap_or_default())?;
    if !pattern.starts_with(start) {
        let message = format!(
            "the pattern does not start with `{0}`, but the start node is a {0}",
            start.as_str()
        );
        return Err(ToolError::validation("BAD_PATTERN", message)
            .hint("start the pattern with the type of the start node, or with `*`"));
    }
    pattern.check(&knowledge.graph, max_depth)?;
    Ok(pattern)
}

impl From<BadPattern> for ToolError {
    fn from(bad: BadPattern) -> Self {
        let hint = match &bad {
            BadPattern::TooLong(_) => "shorten it; a path has at most 6 hops",
            BadPattern::TooDeep { .. } => "raise `max_depth` (at most 6) or shorten the pattern",
            BadPattern::Unexpected { .. } | BadPattern::NoSuchEdge { .. } => {
                "write it like `herb->constituent->indication`"
            }
        };
        Self::validation("BAD_PATTERN", bad.to_string()).hint(hint)
    }
}

fn read_filter(knowledge: &Knowledge, filters: &Filters) -> Result<Filter, ToolError> {
    if let Some(source) = &filters.source
        && knowledge.catalog.source(source).is_none()
    {
        let known: Vec<&str> =
            knowledge.catalog.sources.iter().map(|source| source.id.as_str()).collect();
        return Err(ToolError::validation(
            "UNKNOWN_SOURCE",
            format!("`filters.source`: there is no source `{source}`"),
        )
        .hint(format!("use one of {}", known.join(", "))));
    }
    Ok(Filter {
        icd: filters.icd.clone().into_iter().collect(),
        part: filters.part.clone(),
        family: filters.family.clone(),
        source: filters.source.clone(),
        verified_only: filters.evidence == Some(EvidenceWanted::Verified),
        min_strength: filters.min_strength.map(Into::into),
        kind: filters.kind.clone(),
        year_from: filters.year_from,
        year_to: filters.year_to,
        ends: filters.ends.map(Into::into).into_iter().collect(),
    })
}

fn reply(
    knowledge: &Knowledge,
    question: &PathQuery,
    found: PathResult,
    display: DisplayLanguage,
    lang: Lang,
) -> Reply<Output> {
    let mut size = 0;
    let mut paths = Vec::new();
    let mut scores = Vec::new();
    for path in &found.paths {
        let nodes = path_nodes(knowledge, path, display);
        size += serde_json::to_string(&nodes).map_or(0, |text| text.len());
        if size > MAX_REPLY_BYTES {
            break;
        }
        scores.push((path.score * 1e6).round() / 1e6);
        paths.push(nodes);
    }
    let shown = paths.len();
    let more = found.more || shown < found.paths.len();
    let edges = || edges_of(knowledge, found.paths.iter().take(shown));
    let inferred = edges().any(Edge::inferred);
    let evidence = evidence_of(
        &knowledge.catalog,
        edges().flat_map(|edge| {
            let verified = edge.verified;
            edge.sources.iter().map(move |source| (source.as_str(), verified))
        }),
    );
    // An empty result proves nothing: the graph contains only what its sources state.
    let evidence = evidence.complete(u64::from(shown > 0), 1);
    let named = |node: NodeIndex| knowledge.graph.node(node).map(|node| Named::of(node, display));
    let (start, end) = (named(question.start), question.end.and_then(named));
    let text = sentence(knowledge, question, shown, more, inferred, lang);
    let table = table(knowledge, found.paths.iter().take(shown.min(MAX_ROWS_SHOWN)), lang);
    let output = Output {
        paths,
        scores,
        start,
        end,
        candidates: Vec::new(),
        more,
        next_offset: more.then_some(question.offset + shown),
        inference: inferred.then(|| pick(display, INFERENCE.0, INFERENCE.1)),
        notice: NOTICE,
    };
    let node = knowledge.graph.node(question.start);
    let mut reply = Reply::new(output, text, evidence).table(table);
    if let Some(node) = node {
        reply = match node.node_type {
            NodeType::Herb => reply.next(safety(json!({"herb_ids": [node.id]}))),
            NodeType::Formulation => reply.next(safety(json!({"formulation_ids": [node.id]}))),
            _ => reply,
        };
    }
    reply
}

const INFERENCE: (&str, &str) = (
    "เส้นทางที่มี VIA_HERB เป็นการอนุมานของเราว่าสารนี้อยู่ในสมุนไพรที่ใช้กับอาการนั้น ไม่ใช่หลักฐานว่าสารนี้รักษาอาการนั้น",
    "a path over VIA_HERB is our inference that the constituent is in a herb used for this; it is no evidence that the constituent treats it",
);

fn safety(arguments: serde_json::Value) -> NextAction {
    NextAction::new("find_contraindications", arguments, "see what it must not be combined with")
}

fn edges_of<'k>(
    knowledge: &'k Knowledge,
    paths: impl Iterator<Item = &'k Path>,
) -> impl Iterator<Item = &'k Edge> {
    paths.flat_map(|path| &path.hops).filter_map(|(edge, _)| knowledge.graph.edge(*edge))
}

fn path_nodes(knowledge: &Knowledge, path: &Path, display: DisplayLanguage) -> Vec<PathNode> {
    let graph = &knowledge.graph;
    let node = |at: NodeIndex, edge: Option<EdgeInfo>| {
        graph.node(at).map(|node| PathNode { node: Named::of(node, display), edge })
    };
    let hops = path.hops.iter().filter_map(|(number, to)| {
        let edge = graph.edge(*number)?;
        let id = |at: &NodeIndex| graph.node(*at).map(|node| node.id.clone());
        let info = EdgeInfo {
            relation: edge.relation.as_str(),
            direction: if edge.to == *to { "forward" } else { "backward" },
            verified: edge.verified,
            sources: edge.sources.clone(),
            strength: edge.strength.map(Into::into),
            pmids: edge.pmids.clone(),
            inferred: edge.inferred(),
            via: edge.via.iter().filter_map(id).collect(),
            said: edge.said.iter().take(MAX_QUOTATIONS).map(Into::into).collect(),
        };
        node(*to, Some(info))
    });
    node(path.start, None).into_iter().chain(hops).collect()
}

fn ambiguous(
    knowledge: &Knowledge,
    asked: &str,
    nodes: &[NodeIndex],
    reply_lang: Option<ReplyLang>,
    lang: Lang,
) -> Reply<Output> {
    let display = caller_language(lang);
    let candidates = knowledge.named(nodes, display_language(reply_lang));
    let asked: String = asked.chars().take(60).collect();
    let listed = knowledge.named(nodes, display);
    let listed: Vec<String> =
        listed.iter().map(|one| format!("{} [{}]", one.label, one.id)).collect();
    let text = pick(
        display,
        format!("“{asked}” อาจหมายถึง {} โปรดระบุรหัส", listed.join(", ")),
        format!("“{asked}” may be {}; ask again with one of these ids.", listed.join(", ")),
    );
    let evidence = evidence_of(&knowledge.catalog, std::iter::empty()).matched(1.0, 1.0);
    let output = Output {
        paths: Vec::new(),
        scores: Vec::new(),
        start: None,
        end: None,
        candidates,
        more: false,
        next_offset: None,
        inference: None,
        notice: NOTICE,
    };
    Reply::new(output, format!("{text} {}", NOTICE.for_caller(lang)), evidence)
        .needing("which of the candidates is meant")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schema_and_walk_limits_agree() {
        assert_eq!(crate::graph::pattern::MAX_DEPTH, 6);
        assert_eq!(crate::graph::pattern::MAX_LENGTH, 500);
        assert_eq!(MAX_LIMIT, 200);
    }
}
