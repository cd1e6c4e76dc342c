//! The root of the GraphQL schema: one field per read.

use async_graphql::{Context, Error, ErrorExtensions, Json, Object};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::types::{
    Audit, CitedAnswer, ContraindicationOptions, Contraindications, Formulation, Herb, Hits,
    IngestJob, Paper, Paths, Start,
};
use crate::calls::{CallFailure, DocumentReply, RequestContext, insert};

/// The reads of the ttm contract.
#[derive(Debug)]
pub struct Query;

#[Object]
impl Query {
    /// A herb, as resource kg://herb/{id}.
    #[graphql(complexity = "50 + child_complexity")]
    async fn herb(&self, cx: &Context<'_>, id: String) -> Result<Herb, Error> {
        let reply =
            request_context(cx)?.resource("kg://herb/", &id).await.map_err(graphql_error)?;
        let (audit, json) = parts(&reply);
        Ok(Herb { audit, json, ..typed(&reply)? })
    }

    /// A formulation, as resource kg://formulation/{id}.
    #[graphql(complexity = "50 + child_complexity")]
    async fn formulation(&self, cx: &Context<'_>, id: String) -> Result<Formulation, Error> {
        let reply =
            request_context(cx)?.resource("kg://formulation/", &id).await.map_err(graphql_error)?;
        let (audit, json) = parts(&reply);
        Ok(Formulation { audit, json, ..typed(&reply)? })
    }

    /// A paper, as resource paper://pmid/{id}.
    #[graphql(complexity = "50 + child_complexity")]
    async fn paper(&self, cx: &Context<'_>, pmid: String) -> Result<Paper, Error> {
        let reply =
            request_context(cx)?.resource("paper://pmid/", &pmid).await.map_err(graphql_error)?;
        let (audit, json) = parts(&reply);
        Ok(Paper { audit, json, ..typed(&reply)? })
    }

    /// The progress of an ingest job, as resource ttm-job://{id}.
    #[graphql(complexity = "50 + child_complexity")]
    async fn ingest_job(&self, cx: &Context<'_>, id: String) -> Result<IngestJob, Error> {
        let reply =
            request_context(cx)?.resource("ttm-job://", &id).await.map_err(graphql_error)?;
        let (audit, json) = parts(&reply);
        Ok(IngestJob { audit, json, ..typed(&reply)? })
    }

    /// Paths through the knowledge graph, as tool query_kg.
    #[graphql(complexity = "50 + child_complexity")]
    async fn query_kg(
        &self,
        cx: &Context<'_>,
        start: Start,
        end: Option<Start>,
        pattern: Option<String>,
        filters: Option<Json<Value>>,
        max_depth: Option<i32>,
    ) -> Result<Paths, Error> {
        let mut input = Map::new();
        input.insert("start".to_owned(), json!({"type": start.kind, "id": start.id}));
        let end = end.map(|end| json!({"type": end.kind, "id": end.id}));
        insert(&mut input, "end", end);
        insert(&mut input, "pattern", pattern);
        insert(&mut input, "filters", filters.map(|Json(filters)| filters));
        insert(&mut input, "max_depth", max_depth);
        let reply =
            request_context(cx)?.tool("query_kg", input.into()).await.map_err(graphql_error)?;
        let (audit, json) = parts(&reply);
        Ok(Paths { audit, json, ..typed(&reply)? })
    }

    /// Contraindications and interactions of herbs and formulations, as tool
    /// find_contraindications.
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
        let reply = request_context(cx)?
            .tool("find_contraindications", input.into())
            .await
            .map_err(graphql_error)?;
        let (audit, json) = parts(&reply);
        Ok(Contraindications { audit, json, ..typed(&reply)? })
    }

    /// Hybrid search in Thai and English, as tool hybrid_search.
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
        let reply = request_context(cx)?
            .tool("hybrid_search", input.into())
            .await
            .map_err(graphql_error)?;
        let (audit, json) = parts(&reply);
        Ok(Hits { audit, json, ..typed(&reply)? })
    }

    /// An reply with citations in Thai or English, as tool rag_answer.
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
        let reply =
            request_context(cx)?.tool("rag_answer", input.into()).await.map_err(graphql_error)?;
        let (audit, json) = parts(&reply);
        Ok(CitedAnswer { audit, json, ..typed(&reply)? })
    }
}

fn request_context<'a>(cx: &Context<'a>) -> Result<&'a RequestContext, Error> {
    cx.data::<RequestContext>()
}

fn parts(reply: &DocumentReply) -> (Audit, Json<Value>) {
    (Audit::of(&reply.audit), Json(reply.document.clone()))
}

fn typed<'a, T: Deserialize<'a>>(reply: &'a DocumentReply) -> Result<T, Error> {
    T::deserialize(&reply.document).map_err(|_| Error::new("the server failed to shape this reply"))
}

/// Puts the contract's error code and audit into `extensions`.
fn graphql_error(failure: CallFailure) -> Error {
    Error::new(failure.message).extend_with(|_, extensions| {
        extensions.set("code", failure.code);
        let body = async_graphql::Value::from_json(failure.body).unwrap_or_default();
        extensions.set("contract", body);
    })
}
