//! `hybrid_search`: words in Thai or English to what the data have on them.

use std::collections::BTreeMap;
use std::sync::Arc;

use panoply_contract::prelude::*;
use serde_json::json;

use super::common::{CACHE, KEYWORDS, READ, evidence_of};
use super::wire::{NOTICE, Notice, caller_language, pick};
use crate::catalog::HerbCatalog;
use crate::knowledge::KnowledgeService;
use crate::search::{self, Facet, Part, SearchFilter, SearchQuery, SearchResult, SearchService};

const SPEC: ToolSpec = ToolSpec {
    name: "hybrid_search",
    title: "Search Thai traditional medicine",
    description: Description {
        does: "Searches herbs, formulations, constituents, indications, cautions and papers of Thai traditional medicine in Thai and English at once, by words, spelling, names, translation and meaning.",
        when: "Use this when someone asks in their own words: a symptom, a use, a danger, a plant by any of its names, a substance, a topic of research. It also turns a name into the id that the other tools take. Do not use it to follow known ids (use query_kg) nor to judge safety (use find_contraindications).",
        returns: "Returns hits, best first, each with id, type, title, a snippet that shows why with the words that were met between asterisks, a score from 0 to 1 and the source. A Thai question finds English text and the other way round. No hit does not mean that there is no such herb.",
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

/// The longest question, in characters.
const MAX_QUERY_LENGTH: usize = 2_000;
/// Rows that a person is shown.
const MAX_ROWS_SHOWN: usize = 12;

/// What to look for.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Params {
    /// The question in Thai, English or both: words, a name, a code. Quotes and operators have no
    /// meaning. At most 2000 characters.
    #[schemars(example = &"สมุนไพรแก้ท้องอืด")]
    query: String,
    /// The language of titles and snippets; `auto` takes that of the question. It does not limit
    /// what is found.
    #[serde(default)]
    lang: AskedLang,
    /// What the hits must be.
    filters: Option<Filters>,
    /// How many hits at most, from 1 to 100.
    // The schema lets 0 through, so that it is answered in the words of the contract.
    #[serde(default = "ten")]
    #[schemars(range(min = 0, max = 100))]
    top_k: u8,
}

const fn ten() -> u8 {
    10
}

/// A language, or that of the question.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq)]
#[serde(rename_all = "lowercase")]
enum AskedLang {
    /// Thai.
    Th,
    /// English.
    En,
    /// That of the question.
    #[default]
    Auto,
}

/// What hits must be. A hit must satisfy all that are given.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Filters {
    /// Only hits of this type, without leaving room for others.
    #[serde(rename = "type")]
    kind: Option<HitType>,
    /// Used for, or about, this ICD-10 code; `K64*` means all that begin with K64.
    #[schemars(length(min = 1, max = 20))]
    icd: Option<String>,
    /// Herbs of which this part is used, in English, such as `rhizome`.
    #[schemars(length(min = 1, max = 60))]
    part: Option<String>,
    /// Herbs of this family, such as `Zingiberaceae`.
    #[schemars(length(min = 1, max = 60))]
    family: Option<String>,
    /// Hits that rest on this source, by its id; `imported` for papers and documents that the user
    /// brought, or the id of one document.
    #[schemars(length(min = 1, max = 60))]
    source: Option<String>,
    /// Papers of this year or later; papers of unknown year are left out.
    #[schemars(range(min = 1500, max = 2500))]
    year_from: Option<u16>,
    /// Papers of this year or earlier.
    #[schemars(range(min = 1500, max = 2500))]
    year_to: Option<u16>,
}

/// What a hit is.
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

/// What was found.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// The hits, best first.
    hits: Vec<HitRow>,
    /// What the question names, with the id that other tools take.
    named: Vec<NamedThing>,
    /// The language of titles and snippets: `th` or `en`.
    lang: &'static str,
    /// How many documents were ranked, before `top_k`: bundled ones that have anything to do with
    /// the question, and candidates among what the user brought.
    matched: usize,
    /// Where the vectors came from.
    embedder: String,
    /// That this is no medical advice.
    notice: Notice,
}

/// One hit.
#[derive(Debug, Serialize, JsonSchema)]
struct HitRow {
    /// Its id: of a node of the graph, a PMID, or a piece of a document.
    id: String,
    /// What it is.
    #[serde(rename = "type")]
    kind: HitType,
    /// Its title.
    title: String,
    /// The text that shows why, with the words that were met between `**`.
    snippet: String,
    /// From 0 to 1.
    score: f64,
    /// Who says what the snippet says.
    source: String,
    /// Where to read it whole, as a resource; constituents, indications and cautions have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    uri: Option<String>,
    /// Which parts of the search found it: words, trigrams, lexicon, links, vectors, with what
    /// each gave.
    why: BTreeMap<&'static str, f64>,
}

/// Something that the question names.
#[derive(Debug, Serialize, JsonSchema)]
struct NamedThing {
    /// Its id.
    id: String,
    /// The name that was met.
    name: String,
    /// 1 when it was written exactly so, less when it was guessed from a misspelling.
    certainty: f64,
}

/// See the module.
pub(crate) struct HybridSearch {
    pub(crate) knowledge: Arc<KnowledgeService>,
    pub(crate) service: Arc<SearchService>,
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
        let engine = self.service.engine(&knowledge.catalog)?;
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
            format!("`query` has {letters} characters, and at most {MAX_QUERY_LENGTH} are read"),
        )
        .hint("ask with the words that matter"));
    }
    Ok(query)
}

fn filter_of(catalog: &HerbCatalog, filters: &Filters) -> Result<SearchFilter, ToolError> {
    if let Some(source) = &filters.source
        && source != "imported"
        && catalog.source(source).is_none()
    {
        let known: Vec<&str> = catalog.sources.iter().map(|source| source.id.as_str()).collect();
        return Err(ToolError::validation(
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
    Ok(SearchFilter {
        kinds: filters.kind.map(search::Kind::from).into_iter().collect(),
        facets: facets.into_iter().filter_map(given).collect(),
        from_year: filters.year_from,
        to_year: filters.year_to,
    })
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
                score: rounded(hit.score),
                source: hit.snippet.source.clone(),
                uri: document.uri(),
                why: why.map(|(part, score)| (part.as_str(), rounded(score))).collect(),
            }
        })
        .collect();
    let named = answer.mentions.iter().map(|mention| NamedThing {
        id: mention.id.clone(),
        name: mention.name.clone(),
        certainty: rounded(mention.certainty),
    });
    let used = hits.iter().map(|hit| {
        let verified = catalog.source(&hit.source).is_none_or(|source| source.verified);
        (hit.source.as_str(), verified)
    });
    let mut evidence = evidence_of(catalog, used).complete(u64::from(!hits.is_empty()), 1);
    if let [first, second, ..] = hits.as_slice() {
        evidence = evidence.matched(first.score, second.score);
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

/// Four digits: what is below comes from rounding, and would only make replies differ.
fn rounded(score: f32) -> f64 {
    (f64::from(score) * 1e4).round() / 1e4
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
