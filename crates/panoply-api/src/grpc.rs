//! gRPC: the services of `proto/ttm/core/v1/ttm.proto`, with reflection and health.

mod jobs;
pub mod status;

use std::sync::Arc;

use axum::Router;
use panoply_contract::kernel::Kernel;
use prost_types::value::Kind;
use prost_types::{ListValue, Struct, Value as ProtoValue};
use serde_json::{Map, Value, json};
use tonic::{Request, Response, Status};

use self::proto::answer_reply::{Citation, Danger, Emergency, Scores};
use self::proto::find_contraindications_reply::Result as Found;
use self::proto::hybrid_search_reply::Hit;
use self::proto::job_service_server::JobServiceServer;
use self::proto::kg_service_server::{KgService, KgServiceServer};
use self::proto::query_paths_reply::Path;
use self::proto::rag_service_server::{RagService, RagServiceServer};
use self::proto::search_service_server::{SearchService, SearchServiceServer};
use self::proto::{
    AnswerReply, AnswerRequest, Audit, FindContraindicationsReply, FindContraindicationsRequest,
    Formulation, GetRequest, Herb, HybridSearchReply, HybridSearchRequest, Indication, Named,
    Names, Node, Paper, QueryPathsReply, QueryPathsRequest,
};
use self::status::grpc_status;
use crate::calls::{DocumentReply, RequestContext, insert};

/// Generated from the `.proto` file.
#[expect(clippy::allow_attributes, clippy::allow_attributes_without_reason, reason = "generated")]
pub mod proto {
    tonic::include_proto!("ttm.core.v1");
}

/// The file descriptor set, for reflection.
const FILE_DESCRIPTOR_SET: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/ttm.fds"));
/// Largest request in bytes.
pub const MAX_REQUEST_BYTES: usize = 64 * 1024;
/// Largest health request in bytes: the name of a service.
const MAX_PROBE_BYTES: usize = 1024;
/// Largest reply in bytes.
const MAX_REPLY_BYTES: usize = 1024 * 1024;

/// The routes of the ttm services.
pub(crate) fn routes(kernel: &Arc<Kernel>) -> Router {
    let service = TtmReadService { kernel: Arc::clone(kernel) };
    let graph = KgServiceServer::new(service.clone())
        .max_decoding_message_size(MAX_REQUEST_BYTES)
        .max_encoding_message_size(MAX_REPLY_BYTES);
    let answers = RagServiceServer::new(service.clone())
        .max_decoding_message_size(MAX_REQUEST_BYTES)
        .max_encoding_message_size(MAX_REPLY_BYTES);
    let jobs = JobServiceServer::new(service.clone())
        .max_decoding_message_size(MAX_REQUEST_BYTES)
        .max_encoding_message_size(MAX_REPLY_BYTES);
    let search = SearchServiceServer::new(service)
        .max_decoding_message_size(MAX_REQUEST_BYTES)
        .max_encoding_message_size(MAX_REPLY_BYTES);
    Router::new()
        .route_service("/ttm.core.v1.KGService/{*method}", graph)
        .route_service("/ttm.core.v1.SearchService/{*method}", search)
        .route_service("/ttm.core.v1.RagService/{*method}", answers)
        .route_service("/ttm.core.v1.JobService/{*method}", jobs)
}

/// The health service, unauthenticated for probes.
pub(crate) fn health() -> Router {
    let (_, health) = tonic_health::server::health_reporter();
    let health = health.max_decoding_message_size(MAX_PROBE_BYTES);
    Router::new().route_service("/grpc.health.v1.Health/{*method}", health)
}

/// The reflection service in both versions that clients ask for; its requests are streams.
pub(crate) fn reflection() -> Router {
    let builder = || {
        tonic_reflection::server::Builder::configure()
            .register_encoded_file_descriptor_set(FILE_DESCRIPTOR_SET)
            .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
    };
    // The descriptor set comes from our own build; the services work without reflection.
    let mut router = Router::new();
    if let Ok(reflection) = builder().build_v1() {
        router = router.route_service("/grpc.reflection.v1.ServerReflection/{*method}", reflection);
    }
    if let Ok(reflection) = builder().build_v1alpha() {
        router =
            router.route_service("/grpc.reflection.v1alpha.ServerReflection/{*method}", reflection);
    }
    router
}

#[derive(Clone)]
struct TtmReadService {
    kernel: Arc<Kernel>,
}

impl TtmReadService {
    fn request_context<T>(&self, request: &Request<T>) -> Result<RequestContext, Status> {
        let headers = request.metadata().clone().into_headers();
        RequestContext::of(&self.kernel, &headers, request.extensions(), "grpc")
            .map_err(|_| Status::internal("the server failed to answer"))
    }

    async fn resource(
        &self,
        request: Request<GetRequest>,
        start: &str,
    ) -> Result<DocumentReply, Status> {
        let context = self.request_context(&request)?;
        context.resource(start, &request.into_inner().id).await.map_err(grpc_status)
    }
}

#[tonic::async_trait]
impl KgService for TtmReadService {
    async fn get_herb(&self, request: Request<GetRequest>) -> Result<Response<Herb>, Status> {
        let answer = self.resource(request, "kg://herb/").await?;
        let document = &answer.document;
        Ok(Response::new(Herb {
            id: text(document, "id"),
            names: Some(names(document)),
            parts: texts(document, "parts"),
            constituents: named(document, "constituents"),
            indications: indications(document),
            sources: texts(document, "sources"),
            audit: Some(audit(&answer)),
            document: object(document),
        }))
    }

    async fn get_formulation(
        &self,
        request: Request<GetRequest>,
    ) -> Result<Response<Formulation>, Status> {
        let answer = self.resource(request, "kg://formulation/").await?;
        let document = &answer.document;
        Ok(Response::new(Formulation {
            id: text(document, "id"),
            names: Some(names(document)),
            herbs: named(document, "herbs"),
            indications: indications(document),
            sources: texts(document, "sources"),
            audit: Some(audit(&answer)),
            document: object(document),
        }))
    }

    async fn get_paper(&self, request: Request<GetRequest>) -> Result<Response<Paper>, Status> {
        let answer = self.resource(request, "paper://pmid/").await?;
        let document = &answer.document;
        let year = document.get("year").and_then(Value::as_u64);
        Ok(Response::new(Paper {
            pmid: text(document, "pmid"),
            title: text(document, "title"),
            r#abstract: text(document, "abstract"),
            authors: texts(document, "authors"),
            journal: text(document, "journal"),
            year: year.and_then(|year| u32::try_from(year).ok()),
            links: texts(document, "links"),
            audit: Some(audit(&answer)),
            document: object(document),
        }))
    }

    async fn query_paths(
        &self,
        request: Request<QueryPathsRequest>,
    ) -> Result<Response<QueryPathsReply>, Status> {
        let context = self.request_context(&request)?;
        let request = request.into_inner();
        let mut input = Map::new();
        if let Some(start) = request.start {
            input.insert("start".to_owned(), json!({"type": start.r#type, "id": start.id}));
        }
        if let Some(end) = request.end {
            input.insert("end".to_owned(), json!({"type": end.r#type, "id": end.id}));
        }
        insert(&mut input, "pattern", request.pattern);
        insert(&mut input, "filters", request.filters.map(json_object));
        insert(&mut input, "max_depth", request.max_depth);
        let answer = context.tool("query_kg", input.into()).await.map_err(grpc_status)?;
        let document = &answer.document;
        let paths = items(document, "paths")
            .map(|path| Path { nodes: path.as_array().into_iter().flatten().map(node).collect() });
        Ok(Response::new(QueryPathsReply {
            paths: paths.collect(),
            scores: items(document, "scores").filter_map(Value::as_f64).collect(),
            audit: Some(audit(&answer)),
            document: object(document),
        }))
    }

    async fn find_contraindications(
        &self,
        request: Request<FindContraindicationsRequest>,
    ) -> Result<Response<FindContraindicationsReply>, Status> {
        let context = self.request_context(&request)?;
        let request = request.into_inner();
        let mut input = Map::new();
        // proto3 does not distinguish an empty list from an absent one.
        let given = |list: Vec<String>| (!list.is_empty()).then_some(list);
        insert(&mut input, "herb_ids", given(request.herb_ids));
        insert(&mut input, "formulation_ids", given(request.formulation_ids));
        insert(&mut input, "drugs", given(request.drugs));
        insert(&mut input, "conditions", given(request.conditions));
        insert(&mut input, "age", request.age);
        insert(&mut input, "pregnancy", request.pregnancy);
        insert(&mut input, "offset", request.offset);
        insert(&mut input, "limit", request.limit);
        insert(&mut input, "lang", request.lang);
        insert(&mut input, "min_strength", request.min_strength);
        let answer =
            context.tool("find_contraindications", input.into()).await.map_err(grpc_status)?;
        let document = &answer.document;
        let results = items(document, "results").map(|one| Found {
            entity_id: text(one, "entity_id"),
            r#type: text(one, "type"),
            contraindication: text(one, "contraindication"),
            evidence: text(one, "evidence"),
            strength: text(one, "strength"),
            verified: one.get("verified") == Some(&Value::Bool(true)),
            via: texts(one, "via"),
            level: text(one, "level"),
            asked: one.get("asked") == Some(&Value::Bool(true)),
        });
        Ok(Response::new(FindContraindicationsReply {
            results: results.collect(),
            audit: Some(audit(&answer)),
            document: object(document),
        }))
    }
}

#[tonic::async_trait]
impl SearchService for TtmReadService {
    async fn hybrid_search(
        &self,
        request: Request<HybridSearchRequest>,
    ) -> Result<Response<HybridSearchReply>, Status> {
        let context = self.request_context(&request)?;
        let request = request.into_inner();
        let mut input = Map::new();
        insert(&mut input, "query", Some(request.query));
        insert(&mut input, "lang", request.lang);
        insert(&mut input, "filters", request.filters.map(json_object));
        insert(&mut input, "top_k", request.top_k);
        let answer = context.tool("hybrid_search", input.into()).await.map_err(grpc_status)?;
        let document = &answer.document;
        let hits = items(document, "hits").map(|hit| Hit {
            id: text(hit, "id"),
            r#type: text(hit, "type"),
            title: text(hit, "title"),
            snippet: text(hit, "snippet"),
            score: hit.get("score").and_then(Value::as_f64).unwrap_or_default(),
            source: text(hit, "source"),
        });
        Ok(Response::new(HybridSearchReply {
            hits: hits.collect(),
            audit: Some(audit(&answer)),
            document: object(document),
        }))
    }
}

#[tonic::async_trait]
impl RagService for TtmReadService {
    async fn answer(
        &self,
        request: Request<AnswerRequest>,
    ) -> Result<Response<AnswerReply>, Status> {
        let context = self.request_context(&request)?;
        let request = request.into_inner();
        let mut input = Map::new();
        insert(&mut input, "question", Some(request.question));
        insert(&mut input, "lang", request.lang);
        let retrieval = request.retrieval.map(|retrieval| {
            let mut given = Map::new();
            insert(&mut given, "top_k", retrieval.top_k);
            given
        });
        insert(&mut input, "retrieval", retrieval);
        let answer = context.tool("rag_answer", input.into()).await.map_err(grpc_status)?;
        let document = &answer.document;
        let score = |name: &str| {
            document.pointer(&format!("/scores/{name}")).and_then(Value::as_f64).unwrap_or_default()
        };
        let citations = items(document, "citations").map(|citation| Citation {
            id: text(citation, "id"),
            uri: text(citation, "uri"),
            title: text(citation, "title"),
            span: text(citation, "span"),
        });
        let dangers = items(document, "dangers").map(|danger| Danger {
            id: text(danger, "id"),
            uri: text(danger, "uri"),
            title: text(danger, "title"),
            span: text(danger, "span"),
            level: text(danger, "level"),
            strength: text(danger, "strength"),
            asked: danger.get("asked") == Some(&Value::Bool(true)),
            verified: danger.get("verified") == Some(&Value::Bool(true)),
            entity_id: text(danger, "entity_id"),
            codes: texts(danger, "codes"),
            groups: texts(danger, "groups"),
            drugs: texts(danger, "drugs"),
        });
        let emergency = document.get("emergency").map(|emergency| Emergency {
            kind: text(emergency, "kind"),
            call: texts(emergency, "call"),
            told: text(emergency, "told"),
        });
        let withheld = document.get("withheld").map(|withheld| texts(withheld, "reasons"));
        Ok(Response::new(AnswerReply {
            answer: text(document, "answer"),
            citations: citations.collect(),
            scores: Some(Scores {
                retrieval: score("retrieval"),
                answer_conf: score("answer_conf"),
            }),
            withheld_reasons: withheld.unwrap_or_default(),
            dangers: dangers.collect(),
            emergency,
            audit: Some(audit(&answer)),
            document: object(document),
        }))
    }
}

fn text(document: &Value, name: &str) -> String {
    document.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn items<'a>(document: &'a Value, name: &str) -> impl Iterator<Item = &'a Value> {
    document.get(name).and_then(Value::as_array).into_iter().flatten()
}

fn texts(document: &Value, name: &str) -> Vec<String> {
    items(document, name).filter_map(Value::as_str).map(str::to_owned).collect()
}

fn names(document: &Value) -> Names {
    let names = document.get("names").cloned().unwrap_or_default();
    Names { th: text(&names, "th"), en: text(&names, "en") }
}

fn named(document: &Value, list: &str) -> Vec<Named> {
    items(document, list)
        .map(|one| Named { id: text(one, "id"), name: text(one, "name") })
        .collect()
}

fn indications(document: &Value) -> Vec<Indication> {
    let each = items(document, "indications").map(|one| Indication {
        icd_code: text(one, "icdCode"),
        description: text(one, "description"),
    });
    each.collect()
}

fn node(value: &Value) -> Node {
    Node { id: text(value, "id"), r#type: text(value, "type"), label: text(value, "label") }
}

fn audit(answer: &DocumentReply) -> Audit {
    let audit = &answer.audit;
    let number = |name: &str| audit.get(name).and_then(Value::as_u64).unwrap_or_default();
    Audit {
        in_hash: text(audit, "in_hash"),
        out_hash: text(audit, "out_hash"),
        latency_ms: number("latency_ms"),
        seed: number("seed"),
        status: text(audit, "status"),
        seed_hex: text(audit, "in_hash").chars().take(16).collect(),
    }
}

fn object(value: &Value) -> Option<Struct> {
    let members = value.as_object()?;
    Some(Struct {
        fields: members.iter().map(|(name, one)| (name.clone(), proto_value(one))).collect(),
    })
}

fn proto_value(value: &Value) -> ProtoValue {
    let kind = match value {
        Value::Null => Kind::NullValue(0),
        Value::Bool(value) => Kind::BoolValue(*value),
        Value::Number(number) => Kind::NumberValue(number.as_f64().unwrap_or_default()),
        Value::String(text) => Kind::StringValue(text.clone()),
        Value::Array(items) => {
            Kind::ListValue(ListValue { values: items.iter().map(proto_value).collect() })
        }
        Value::Object(_) => Kind::StructValue(object(value).unwrap_or_default()),
    };
    ProtoValue { kind: Some(kind) }
}

fn json_object(object: Struct) -> Value {
    Value::Object(object.fields.into_iter().map(|(name, one)| (name, json_value(one))).collect())
}

fn json_value(value: ProtoValue) -> Value {
    match value.kind {
        None | Some(Kind::NullValue(_)) => Value::Null,
        Some(Kind::BoolValue(value)) => value.into(),
        Some(Kind::NumberValue(number)) => number.into(),
        Some(Kind::StringValue(text)) => text.into(),
        Some(Kind::ListValue(list)) => list.values.into_iter().map(json_value).collect(),
        Some(Kind::StructValue(object)) => json_object(object),
    }
}
