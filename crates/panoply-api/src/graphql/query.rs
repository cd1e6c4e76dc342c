//! The root of the schema: one field a read.

use async_graphql::{Context, Error, ErrorExtensions, Json, Object};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::types::{
    Audit, CitedAnswer, ContraindicationOptions, Contraindications, Formulation, Herb, Hits,
    IngestJob, Paper, Paths, Start,
};
use crate::calls::{Answer, Asker, Failure};

/// The reads of the ttm contract.
#[derive(Debug)]
pub struct Query;

#[Object]
impl Query {
    /// A herb, as kg://herb/{id}.
    #[graphql(complexity = "50 + child_complexity")]
    async fn herb(&self, cx: &Context<'_>, id: String) -> Result<Herb, Error> {
        let answer = asker(cx)?.document("kg://herb/", &id).await.map_err(refused)?;
        let (audit, json) = parts(&answer);
        Ok(Herb { audit, json, ..shaped(&answer)? })
    }

    /// A formulation, as kg://formulation/{id}.
    #[graphql(complexity = "50 + child_complexity")]
    async fn formulation(&self, cx: &Context<'_>, id: String) -> Result<Formulation, Error> {
        let answer = asker(cx)?.document("kg://formulation/", &id).await.map_err(refused)?;
        let (audit, json) = parts(&answer);
        Ok(Formulation { audit, json, ..shaped(&answer)? })
    }

    /// A paper, as paper://pmid/{id}.
    #[graphql(complexity = "50 + child_complexity")]
    async fn paper(&self, cx: &Context<'_>, pmid: String) -> Result<Paper, Error> {
        let answer = asker(cx)?.document("paper://pmid/", &pmid).await.map_err(refused)?;
        let (audit, json) = parts(&answer);
        Ok(Paper { audit, json, ..shaped(&answer)? })
    }

    /// How far a job that takes documents in is, as ttm-job://{id}.
    #[graphql(complexity = "50 + child_complexity")]
    async fn ingest_job(&self, cx: &Context<'_>, id: String) -> Result<IngestJob, Error> {
        let answer = asker(cx)?.document("ttm-job://", &id).await.map_err(refused)?;
        let (audit, json) = parts(&answer);
        Ok(IngestJob { audit, json, ..shaped(&answer)? })
    }

    /// Paths through the knowledge graph, as tool.query_kg.
    #[graphql(complexity = "50 + child_complexity")]
    async fn query_kg(
        &self,
        cx: &Context<'_>,
        start: Start,
        pattern: Option<String>,
        filters: Option<Json<Value>>,
        max_depth: Option<i32>,
    ) -> Result<Paths, Error> {
        let mut input = Map::new();
        input.insert("start".to_owned(), json!({"type": start.kind, "id": start.id}));
        insert(&mut input, "pattern", pattern);
        insert(&mut input, "filters", filters.map(|Json(filters)| filters));
        insert(&mut input, "max_depth", max_depth);
        let answer = asker(cx)?.tool("query_kg", input.into()).await.map_err(refused)?;
        let (audit, json) = parts(&answer);
        Ok(Paths { audit, json, ..shaped(&answer)? })
    }

    /// What herbs and formulations must not be combined with, as tool.find_contraindications.
    #[graphql(complexity = "50 + child_complexity")]
    async fn find_contraindications(
        &self,
        cx: &Context<'_>,
        herb_ids: Option<Vec<String>>,
        formulation_ids: Option<Vec<String>>,
        drugs: Option<Vec<String>>,
        options: Option<ContraindicationOptions>,
    ) -> Result<Contraindications, Error> {
        let mut input = Map::new();
        insert(&mut input, "herb_ids", herb_ids);
        insert(&mut input, "formulation_ids", formulation_ids);
        insert(&mut input, "drugs", drugs);
        let options = options.unwrap_or_default();
        insert(&mut input, "conditions", options.conditions);
        insert(&mut input, "age", options.age);
        insert(&mut input, "pregnancy", options.pregnancy);
        insert(&mut input, "offset", options.offset);
        insert(&mut input, "limit", options.limit);
        insert(&mut input, "lang", options.lang);
        insert(&mut input, "min_strength", options.min_strength);
        let answer =
            asker(cx)?.tool("find_contraindications", input.into()).await.map_err(refused)?;
        let (audit, json) = parts(&answer);
        Ok(Contraindications { audit, json, ..shaped(&answer)? })
    }

    /// Search in Thai and English, as tool.hybrid_search.
    #[graphql(complexity = "50 + child_complexity")]
    async fn hybrid_search(
        &self,
        cx: &Context<'_>,
        query: String,
        lang: Option<String>,
        filters: Option<Json<Value>>,
        top_k: Option<i32>,
    ) -> Result<Hits, Error> {
        let mut input = Map::new();
        insert(&mut input, "query", Some(query));
        insert(&mut input, "lang", lang);
        insert(&mut input, "filters", filters.map(|Json(filters)| filters));
        insert(&mut input, "top_k", top_k);
        let answer = asker(cx)?.tool("hybrid_search", input.into()).await.map_err(refused)?;
        let (audit, json) = parts(&answer);
        Ok(Hits { audit, json, ..shaped(&answer)? })
    }

    /// An answer with citations in Thai or English, as tool.rag_answer.
    #[graphql(complexity = "100 + child_complexity")]
    async fn rag_answer(
        &self,
        cx: &Context<'_>,
        question: String,
        lang: Option<String>,
        top_k: Option<i32>,
    ) -> Result<CitedAnswer, Error> {
        let mut input = Map::new();
        insert(&mut input, "question", Some(question));
        insert(&mut input, "lang", lang);
        insert(&mut input, "retrieval", top_k.map(|top_k| json!({"top_k": top_k})));
        let answer = asker(cx)?.tool("rag_answer", input.into()).await.map_err(refused)?;
        let (audit, json) = parts(&answer);
        Ok(CitedAnswer { audit, json, ..shaped(&answer)? })
    }
}

/// Only what was given: the hash of the input is that of the same call over MCP.
fn insert(input: &mut Map<String, Value>, name: &str, value: Option<impl Into<Value>>) {
    if let Some(value) = value {
        input.insert(name.to_owned(), value.into());
    }
}

fn asker<'a>(cx: &Context<'a>) -> Result<&'a Asker, Error> {
    cx.data::<Asker>()
}

fn parts(answer: &Answer) -> (Audit, Json<Value>) {
    (Audit::of(&answer.audit), Json(answer.document.clone()))
}

fn shaped<'a, T: Deserialize<'a>>(answer: &'a Answer) -> Result<T, Error> {
    T::deserialize(&answer.document)
        .map_err(|_| Error::new("the server failed to shape this reply"))
}

/// The contract's code and audit travel in `extensions`.
fn refused(failure: Failure) -> Error {
    Error::new(failure.message).extend_with(|_, extensions| {
        extensions.set("code", failure.code);
        let body = async_graphql::Value::from_json(failure.body).unwrap_or_default();
        extensions.set("contract", body);
    })
}
