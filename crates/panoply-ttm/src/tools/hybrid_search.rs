//! `hybrid_search`: bilingual search over graph, papers and user documents.

use std::collections::BTreeMap;
use std::sync::Arc;

use panoply_contract::prelude::*;
use serde_json::json;

use super::common::{CACHE, KEYWORDS, READ, evidence_of};
use super::wire::{NOTICE, Notice, caller_language, pick};
use crate::arithmetic::round4;
use crate::catalog::HerbCatalog;
use crate::knowledge::KnowledgeService;
use crate::search::{self, Facet, Part, SearchFilter, SearchQuery, SearchResult, SearchService};

const SPEC: ToolSpec = ToolSpec {
    name: "hybrid_search",
    title: "Search Thai traditional medicine",
    description: Description {
        does: "Searches herbs, formulations, constituents, indications, cautions and papers of Thai traditional medicine in Thai and English at once, by words, spelling, names, translation and meaning.",
        when: "Use this when someone asks in their own words: a symptom, a use, a danger, a plant by any of its names, a substance, a topic of research. It also resolves a name to the id that the other tools take. Do not use it to follow known ids (use query_kg) nor to judge safety (use find_contraindications).",
        returns: "Returns hits, best first, each with id, type, title, a snippet with the matched words between asterisks, a score from 0 to 1 and the source. A Thai query finds English text and vice versa. No hit does not mean that there is no such herb.",
        asks: &["สมุนไพรแก้ท้องอืด", "herbs that interact with warfarin", "งานวิจัยฟ้าทะลายโจรกับโควิด"],
    },
    version: "1.0.0",
    aliases: &["tool.hybrid_search"],
    permissions: READ,
    category: Category::Query,
    response_time: ResponseTime::Medium,
    cache: CACHE,
    idempotent: true,
    data: &["ttm"],
    examples: &[
        Example {
            shows: "a herb by its Thai name",
            params: r#"{"query": "ฟ้าทะลายโจร", "lang": "th", "top_k": 1}"#,
            expect: Expect::Data(
                r#"{"hits": [{"id": "H:andrographis", "type": "herb", "title": "ฟ้าทะลายโจร"}], "lang": "th"}"#,
            ),
        },
        Example {
            shows: "a code, and only medicines",
            params: r#"{"query": "haemorrhoids", "lang": "en", "filters": {"type": "formulation", "icd": "K64*"}, "top_k": 3}"#,
            expect: Expect::Data(r#"{"lang": "en"}"#),
        },
        Example {
            shows: "no hits wanted",
            params: r#"{"query": "ขิง", "top_k": 0}"#,
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

/// Maximum length of a query in characters.
const MAX_QUERY_LENGTH: usize = 2_000;
/// Maximum number of rows in the text table.
const MAX_ROWS_SHOWN: usize = 12;

/// Searches, every other one of `curated.jsonl`, whose first hit is relevant, and the number of all.
/// `panoply contract calibration` compares the rate with the others and with two other sets.
const JUDGED_SEARCHES: (u64, u64) = (87, 93);

/// Parameters.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Params {
    /// The query in Thai, English or both: words, a name, a code. Quotes and operators have no
    /// special meaning. At most 2000 characters.
    #[schemars(length(max = 2000), example = &"สมุนไพรแก้ท้องอืด")]
    query: String,
    /// Language of titles and snippets; `auto` takes that of the query. It does not restrict the
    /// results.
    #[serde(default)]
    lang: AskedLang,
    /// Filters.
    filters: Option<Filters>,
    /// Maximum number of hits, from 1 to 100.
    // The schema accepts 0, so that the error uses the words of the contract.
    #[serde(default = "ten")]
    #[schemars(range(min = 0, max = 100))]
    top_k: u8,
}

const fn ten() -> u8 {
    10
}

/// A language, or that of the query.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq)]
#[serde(rename_all = "lowercase")]
enum AskedLang {
    /// Thai.
    Th,
    /// English.
    En,
    /// Language of the query.
    #[default]
    Auto,
}

/// Filters; a hit must satisfy all.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Filters {
    /// Only hits of this type, without quotas for other types.
    #[serde(rename = "type")]
    kind: Option<HitType>,
    /// Indicated for, or about, this ICD-10 code; `K64*` matches a prefix.
    #[schemars(length(min = 1, max = 20))]
    icd: Option<String>,
    /// Herbs of which this part is used, in English, such as `rhizome`.
    #[schemars(length(min = 1, max = 60))]
    part: Option<String>,
    /// Herbs of this family, such as `Zingiberaceae`.
    #[schemars(length(min = 1, max = 60))]
    family: Option<String>,
    /// Source id; `imported` for papers and documents of the user, the id of one document, or of
    /// the import job of several; also of those that another user shares.
    #[schemars(length(min = 1, max = 60))]
    source: Option<String>,
    /// Papers of this year or later; papers of unknown year are excluded.
    #[schemars(range(min = 1500, max = 2500))]
    year_from: Option<u16>,
    /// Papers of this year or earlier.
    #[schemars(range(min = 1500, max = 2500))]
    year_to: Option<u16>,
}

/// Type of a hit.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
enum HitType {
    Herb,
    Formulation,
    Constituent,
    Indication,
    Caution,
    Paper,
    Chunk,
}

/// Search result.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// Hits, best first.
    hits: Vec<HitRow>,
    /// Entities named in the query, with ids for other tools.
    named: Vec<NamedThing>,
    /// Language of titles and snippets: `th` or `en`.
    lang: &'static str,
    /// Number of ranked documents before `top_k`, including candidates from user data.
    matched: usize,
    /// Embedder that was used.
    embedder: String,
    /// Medical disclaimer.
    notice: Notice,
}

/// A hit.
#[derive(Debug, Serialize, JsonSchema)]
struct HitRow {
    /// Id of a graph node, a PMID, or a document chunk.
    id: String,
    /// Type of the hit.
    #[serde(rename = "type")]
    kind: HitType,
    /// Title.
    title: String,
    /// Excerpt with matches between `**`.
    snippet: String,
    /// Score from 0 to 1.
    score: f64,
    /// Source id of the excerpt.
    source: String,
    /// Resource URI; absent for constituents, indications and cautions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    uri: Option<String>,
    /// Scores of the search parts: words, trigrams, lexicon, links, vectors.
    why: BTreeMap<&'static str, f64>,
}

/// An entity named in the query.
#[derive(Debug, Serialize, JsonSchema)]
struct NamedThing {
    /// Entity id.
    id: String,
    /// Matched name.
    name: String,
    /// 1 for an exact match, less for a misspelling.
    certainty: f64,
}

pub(crate) struct HybridSearch {
    pub(crate) knowledge: Arc<KnowledgeService>,
    pub(crate) search: Arc<SearchService>,
}

impl Tool for HybridSearch {
    type Params = Params;
    type Output = Output;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, params: Params, cx: &CallContext) -> Result<Reply<Output>, ToolError> {
        let top = top_of(params.top_k)?;
        let query = query_of(&params.query)?;
        let knowledge = self.knowledge.now()?;
        let filter = filter_of(&knowledge.catalog, &params.filters.unwrap_or_default())?;
        let engine = self.search.engine(&knowledge.catalog)?;
        let language = match params.lang {
            AskedLang::Th => Some(search::TextLanguage::Th),
            AskedLang::En => Some(search::TextLanguage::En),
            AskedLang::Auto => None,
        };
        let answer = engine.search(&SearchQuery { text: query, language, filter, top })?;
        Ok(reply(&knowledge.catalog, query, answer, cx.lang))
    }
}

fn top_of(top_k: u8) -> Result<usize, ToolError> {
    if top_k == 0 {
        return Err(ToolError::validation("INVALID_ARG", "top_k must be >0"));
    }
    Ok(usize::from(top_k))
}

fn query_of(query: &str) -> Result<&str, ToolError> {
    let letters = query.chars().count();
    if query.trim().is_empty() {
        return Err(ToolError::validation("EMPTY_QUERY", "`query` is empty")
            .hint("give words to look for, such as `ขิง` or `ginger for nausea`"));
    }
    if letters > MAX_QUERY_LENGTH {
        return Err(ToolError::validation(
            "QUERY_TOO_LONG",
            format!("`query` has {letters} characters; the maximum is {MAX_QUERY_LENGTH}"),
        )
        .hint("shorten the text to its key words"));
    }
    Ok(query)
}

fn filter_of(catalog: &HerbCatalog, filters: &Filters) -> Result<SearchFilter, ToolError> {
    let collection = filters.source.as_deref().map(|job| documents_of(catalog, job));
    let collection = collection.unwrap_or_default();
    if let Some(source) = &filters.source
        && source != "imported"
        && catalog.source(source).is_none()
        && collection.is_empty()
    {
        let known: Vec<&str> = catalog.sources.iter().map(|source| source.id.as_str()).collect();
        return Err(ToolError::not_found(
            "UNKNOWN_SOURCE",
            format!("`filters.source`: there is no source `{source}`"),
        )
        .hint(format!("use `imported` or one of {}", known.join(", "))));
    }
    if let (Some(from), Some(to)) = (filters.year_from, filters.year_to)
        && from > to
    {
        let message = format!("`filters.year_from` {from} is after `filters.year_to` {to}");
        return Err(ToolError::validation("BAD_YEARS", message)
            .hint("give a range whose first year is not after its last"));
    }
    let facets = [
        (Facet::Icd, &filters.icd),
        (Facet::Part, &filters.part),
        (Facet::Family, &filters.family),
        (Facet::Source, &filters.source),
    ];
    let given = |(facet, value): (Facet, &Option<String>)| Some((facet, vec![value.clone()?]));
    let mut facets: BTreeMap<Facet, Vec<String>> = facets.into_iter().filter_map(given).collect();
    if !collection.is_empty() {
        facets.insert(Facet::Source, collection);
    }
    Ok(SearchFilter {
        kinds: filters.kind.map(search::Kind::from).into_iter().collect(),
        facets,
        from_year: filters.year_from,
        to_year: filters.year_to,
    })
}

/// Ids of the documents of an import job.
fn documents_of(catalog: &HerbCatalog, job: &str) -> Vec<String> {
    let documents = catalog.user_data.documents.iter().filter(|document| document.job == job);
    documents.map(|document| document.id.clone()).collect()
}

fn reply(catalog: &HerbCatalog, query: &str, answer: SearchResult, lang: Lang) -> Reply<Output> {
    let thai = answer.language != Some(search::TextLanguage::En);
    let hits: Vec<HitRow> = answer
        .hits
        .iter()
        .map(|hit| {
            let document = &hit.document;
            let titles = [&document.title_th, &document.title_en];
            let [first, other] = if thai { titles } else { [titles[1], titles[0]] };
            let why = Part::ALL.iter().zip(hit.parts).filter(|(_, score)| *score > 0.0);
            HitRow {
                id: document.id.clone(),
                kind: document.kind().into(),
                title: if first.is_empty() { other } else { first }.clone(),
                snippet: hit.snippet.text.clone(),
                score: round4(f64::from(hit.score)),
                source: hit.snippet.source.clone(),
                uri: document.uri(),
                why: why.map(|(part, score)| (part.as_str(), round4(f64::from(score)))).collect(),
            }
        })
        .collect();
    let named = answer.mentions.iter().map(|mention| NamedThing {
        id: mention.id.clone(),
        name: mention.name.clone(),
        certainty: round4(f64::from(mention.certainty)),
    });
    let used = hits.iter().map(|hit| {
        let verified = catalog.source(&hit.source).is_none_or(|source| source.verified);
        (hit.source.as_str(), verified)
    });
    let mut evidence = evidence_of(catalog, used).complete(u64::from(!hits.is_empty()), 1);
    if !hits.is_empty() {
        let (right, searches) = JUDGED_SEARCHES;
        evidence = evidence.judged(right, searches);
    }
    let text = sentence(query, &hits, lang);
    let table = table(&hits, lang);
    let next = next_of(&hits, lang);
    let output = Output {
        named: named.collect(),
        lang: if thai { "th" } else { "en" },
        matched: answer.matched,
        embedder: answer.embedder,
        notice: NOTICE,
        hits,
    };
    let reply = Reply::new(output, text, evidence).table(table);
    next.into_iter().fold(reply, Reply::next)
}

fn sentence(query: &str, hits: &[HitRow], lang: Lang) -> String {
    let display = caller_language(lang);
    let shown: String = query.chars().take(60).collect();
    let found = match hits {
        [] => pick(
            display,
            format!("ไม่พบข้อมูลสำหรับ “{shown}” ลองใช้คำอื่นหรือผ่อนตัวกรอง ไม่พบในข้อมูลไม่ได้แปลว่าไม่มี"),
            format!(
                "Nothing was found for “{shown}”; try other words or fewer filters. That the data have none does not mean that there is none."
            ),
        ),
        [best, ..] => pick(
            display,
            format!(
                "พบ {} รายการสำหรับ “{shown}” ใกล้เคียงที่สุดคือ {} [{}]",
                hits.len(),
                best.title,
                best.id
            ),
            format!("{} hits for “{shown}”; the best is {} [{}].", hits.len(), best.title, best.id),
        ),
    };
    format!("{found} {}", NOTICE.for_caller(lang))
}

fn table(hits: &[HitRow], lang: Lang) -> Table {
    let display = caller_language(lang);
    let columns = [
        pick(display, "รหัส", "id"),
        pick(display, "ชนิด", "type"),
        pick(display, "ชื่อ", "title"),
        pick(display, "คะแนน", "score"),
    ];
    hits.iter().take(MAX_ROWS_SHOWN).fold(Table::new(columns), |table, hit| {
        let title: String = hit.title.chars().take(50).collect();
        let kind = search::Kind::from(hit.kind).as_str();
        table.row([hit.id.clone(), kind.to_owned(), title, format!("{:.2}", hit.score)])
    })
}

fn next_of(hits: &[HitRow], lang: Lang) -> Vec<NextAction> {
    let display = caller_language(lang);
    let first = |kind: HitType| hits.iter().find(|hit| hit.kind == kind);
    let mut next = Vec::new();
    if let Some(herb) = first(HitType::Herb) {
        next.push(NextAction::new(
            "find_contraindications",
            json!({"herb_ids": [herb.id]}),
            pick(display, "ดูข้อห้ามใช้และปฏิกิริยา", "see what it must not be combined with"),
        ));
        next.push(NextAction::new(
            "query_kg",
            json!({"start": {"type": "herb", "id": herb.id}, "max_depth": 2}),
            pick(display, "ดูความสัมพันธ์ในกราฟ", "see what it is linked to"),
        ));
    } else if let Some(formulation) = first(HitType::Formulation) {
        next.push(NextAction::new(
            "find_contraindications",
            json!({"formulation_ids": [formulation.id]}),
            pick(display, "ดูข้อห้ามใช้และปฏิกิริยา", "see what it must not be combined with"),
        ));
    }
    next
}

impl From<HitType> for search::Kind {
    fn from(kind: HitType) -> Self {
        match kind {
            HitType::Herb => Self::Herb,
            HitType::Formulation => Self::Formulation,
            HitType::Constituent => Self::Constituent,
            HitType::Indication => Self::Indication,
            HitType::Caution => Self::Caution,
            HitType::Paper => Self::Paper,
            HitType::Chunk => Self::Chunk,
        }
    }
}

impl From<search::Kind> for HitType {
    fn from(kind: search::Kind) -> Self {
        match kind {
            search::Kind::Herb => Self::Herb,
            search::Kind::Formulation => Self::Formulation,
            search::Kind::Constituent => Self::Constituent,
            search::Kind::Indication => Self::Indication,
            search::Kind::Caution => Self::Caution,
            search::Kind::Paper => Self::Paper,
            search::Kind::Chunk => Self::Chunk,
        }
    }
}
