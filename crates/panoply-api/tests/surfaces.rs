//! GraphQL and gRPC return the same documents as MCP and enforce their limits.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "helpers of tests may fail the test"
)]

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use bytes::{BufMut, Bytes, BytesMut};
use http::StatusCode;
use http_body_util::BodyExt as _;
use panoply_api::grpc::proto;
use panoply_api::{Options, graphql, grpc};
use panoply_contract::context::{CallContext, Caller};
use panoply_contract::dialect::{AUDIT_KEY, Envelope};
use panoply_contract::ids::TraceId;
use panoply_contract::kernel::{Kernel, Scope, Settings};
use panoply_contract::permission::{Grants, Profile};
use panoply_contract::testing::{FixedClock, call_as_owner, kernel_in_memory, noon};
use panoply_ttm::eval::MemoryReportStore;
use panoply_ttm::papers::NoPapers;
use prost::Message;
use serde_json::{Value, json};
use tonic_health::pb::{HealthCheckRequest, HealthCheckResponse};
use tower::ServiceExt as _;
use uuid::Uuid;

const FIND: &str = "/ttm.core.v1.KGService/FindContraindications";
const GET_HERB: &str = "/ttm.core.v1.KGService/GetHerb";

fn kernel() -> Arc<Kernel> {
    let packs =
        vec![panoply_ttm::tools::pack(Arc::new(NoPapers), Arc::new(MemoryReportStore::default()))];
    kernel_in_memory(packs, FixedClock::at(noon()), Settings::default()).unwrap()
}

/// The routes with an authenticated caller, as the server mounts them.
fn routes(kernel: &Arc<Kernel>, caller: Caller) -> Router {
    let with_caller = move |mut request: Request, next: axum::middleware::Next| {
        request.extensions_mut().insert(caller.clone());
        next.run(request)
    };
    let routes = panoply_api::routes(kernel, Options { graphiql: true });
    let all = routes.protected.merge(routes.streaming).merge(routes.public);
    all.layer(axum::middleware::from_fn(with_caller))
}

async fn ask(router: &Router, query: &str) -> Value {
    let body = json!({"query": query}).to_string();
    let request = Request::post("/graphql")
        .header("content-type", "application/json")
        .body(Body::from(body))
        .unwrap();
    let reply = router.clone().oneshot(request).await.unwrap();
    assert_eq!(reply.status(), StatusCode::OK);
    serde_json::from_slice(&reply.into_body().collect().await.unwrap().to_bytes()).unwrap()
}

/// Sends one gRPC frame: a compression flag, a four-byte length, the message.
async fn call<T: Message + Default>(
    router: &Router,
    method: &str,
    message: &impl Message,
) -> Result<T, (String, String)> {
    let mut frame = BytesMut::new();
    frame.put_u8(0);
    frame.put_u32(u32::try_from(message.encoded_len()).unwrap());
    message.encode(&mut frame).unwrap();
    let request = Request::post(method)
        .version(http::Version::HTTP_2)
        .header("content-type", "application/grpc")
        .header("te", "trailers")
        .body(Body::from(frame.freeze()))
        .unwrap();
    let reply = router.clone().oneshot(request).await.unwrap();
    let head = reply.headers().clone();
    let collected = reply.into_body().collect().await.unwrap();
    let trailers = collected.trailers().cloned().unwrap_or_default();
    let header = |name: &str| {
        let value = head.get(name).or_else(|| trailers.get(name));
        value.map(|value| value.to_str().unwrap().to_owned()).unwrap_or_default()
    };
    let (status, told) = (header("grpc-status"), header("grpc-message"));
    let body: Bytes = collected.to_bytes();
    if status != "0" {
        return Err((status, told));
    }
    Ok(T::decode(&body[5..]).unwrap())
}

/// The audit of the same call through the MCP pipeline.
async fn audit_of(kernel: &Kernel, tool: &str, input: Value) -> Value {
    match call_as_owner(kernel, tool, input).await {
        Envelope::Result { structured: Some(reply), .. } => reply.value()["audit"].clone(),
        other => panic!("{other:?}"),
    }
}

fn herbs(ids: &[&str]) -> proto::FindContraindicationsRequest {
    let herb_ids = ids.iter().map(ToString::to_string).collect();
    proto::FindContraindicationsRequest { herb_ids, ..Default::default() }
}

fn id(id: &str) -> proto::GetRequest {
    proto::GetRequest { id: id.to_owned() }
}

#[tokio::test]
async fn query_kg_matches_mcp_over_graphql_and_grpc() {
    let kernel = kernel();
    let routes = routes(&kernel, Caller::local_owner());
    let input = json!({
        "start": {"type": "herb", "id": "H:turmeric"},
        "pattern": "herb->constituent->indication",
        "filters": {"limit": 7},
        "max_depth": 3,
    });
    let audit = audit_of(&kernel, "query_kg", input).await;
    let reply = ask(
        &routes,
        r#"{ queryKg(start: {type: "herb", id: "H:turmeric"}, pattern: "herb->constituent->indication", filters: {limit: 7}, maxDepth: 3)
             { paths { id type label edge } scores audit { inHash outHash seed seedHex status } } }"#,
    )
    .await;
    let reply = &reply["data"]["queryKg"];
    assert_eq!(reply["audit"]["inHash"], audit["in_hash"]);
    assert_eq!(reply["audit"]["outHash"], audit["out_hash"]);
    assert_eq!(reply["audit"]["seedHex"], audit["seed_hex"]);
    assert_eq!(reply["audit"]["seed"], audit["seed"].as_u64().unwrap().to_string());
    assert_eq!(reply["paths"][0][0]["id"], "H:turmeric");
    assert_eq!(reply["paths"].as_array().unwrap().len(), 7);
    let limit = prost_types::Value { kind: Some(prost_types::value::Kind::NumberValue(7.0)) };
    let asked = proto::QueryPathsRequest {
        start: Some(proto::query_paths_request::Start {
            r#type: "herb".to_owned(),
            id: "H:turmeric".to_owned(),
        }),
        pattern: Some("herb->constituent->indication".to_owned()),
        filters: Some(prost_types::Struct { fields: [("limit".to_owned(), limit)].into() }),
        max_depth: Some(3),
        end: None,
    };
    let reply: proto::QueryPathsReply =
        call(&routes, "/ttm.core.v1.KGService/QueryPaths", &asked).await.unwrap();
    let ours = reply.audit.unwrap();
    assert_eq!(audit["in_hash"], ours.in_hash);
    assert_eq!(audit["out_hash"], ours.out_hash);
    assert_eq!(audit["seed"], ours.seed);
    assert_eq!(reply.paths.len(), 7);
    assert_eq!(reply.scores.len(), 7);
    assert!(reply.document.unwrap().fields.contains_key("notice"));
}

#[tokio::test]
async fn end_node_of_query_kg_matches_mcp_over_graphql_and_grpc() {
    let kernel = kernel();
    let routes = routes(&kernel, Caller::local_owner());
    let input = json!({
        "start": {"type": "herb", "id": "H:ginger"},
        "end": {"type": "drug", "id": "warfarin"},
        "max_depth": 2,
    });
    let audit = audit_of(&kernel, "query_kg", input).await;
    let reply = ask(
        &routes,
        r#"{ queryKg(start: {type: "herb", id: "H:ginger"}, end: {type: "drug", id: "warfarin"}, maxDepth: 2)
             { paths { id } audit { outHash } } }"#,
    )
    .await;
    let reply = &reply["data"]["queryKg"];
    assert_eq!(reply["audit"]["outHash"], audit["out_hash"]);
    let paths = reply["paths"].as_array().unwrap();
    assert!(!paths.is_empty(), "the data state that ginger interacts with warfarin");
    for path in paths {
        assert_eq!(path.as_array().unwrap().last().unwrap()["id"], "warfarin", "{path}");
    }
    let node = |kind: &str, id: &str| proto::query_paths_request::Start {
        r#type: kind.to_owned(),
        id: id.to_owned(),
    };
    let asked = proto::QueryPathsRequest {
        start: Some(node("herb", "H:ginger")),
        end: Some(node("drug", "warfarin")),
        max_depth: Some(2),
        ..proto::QueryPathsRequest::default()
    };
    let reply: proto::QueryPathsReply =
        call(&routes, "/ttm.core.v1.KGService/QueryPaths", &asked).await.unwrap();
    assert_eq!(audit["out_hash"], reply.audit.unwrap().out_hash);
}

#[tokio::test]
async fn find_contraindications_matches_mcp_over_graphql_and_grpc() {
    let kernel = kernel();
    let routes = routes(&kernel, Caller::local_owner());
    let input = json!({"herb_ids": ["H:andrographis"], "drugs": ["warfarin"]});
    let audit = audit_of(&kernel, "tool.find_contraindications", input).await;
    let reply = ask(
        &routes,
        r#"{ findContraindications(herbIds: ["H:andrographis"], drugs: ["warfarin"]) { results { entityId strength evidence via } coverage audit { outHash } } }"#,
    )
    .await;
    let reply = &reply["data"]["findContraindications"];
    assert_eq!(reply["audit"]["outHash"], audit["out_hash"]);
    let asked = proto::FindContraindicationsRequest {
        drugs: vec!["warfarin".to_owned()],
        ..herbs(&["H:andrographis"])
    };
    let ours: proto::FindContraindicationsReply = call(&routes, FIND, &asked).await.unwrap();
    assert_eq!(audit["out_hash"], ours.audit.unwrap().out_hash);
    assert_eq!(ours.results.len(), reply["results"].as_array().unwrap().len());
}

/// Every option of a patient: the same call over MCP, GraphQL and gRPC.
#[tokio::test]
async fn patient_of_find_contraindications_matches_mcp_over_graphql_and_grpc() {
    let kernel = kernel();
    let routes = routes(&kernel, Caller::local_owner());
    let input = json!({
        "herb_ids": ["H:andrographis", "H:cannabis"], "drugs": ["เมตฟอร์มิน", "warfarin"],
        "conditions": ["dialysis"], "age": 14.0, "pregnancy": true, "limit": 5, "offset": 1,
        "min_strength": "moderate", "lang": "en",
    });
    let audit = audit_of(&kernel, "find_contraindications", input).await;
    let query = r#"{ findContraindications(herbIds: ["H:andrographis", "H:cannabis"], drugs: ["เมตฟอร์มิน", "warfarin"],
        options: {conditions: ["dialysis"], age: 14, pregnancy: true, limit: 5, offset: 1, minStrength: "moderate", lang: "en"})
        { results { entityId contraindication level asked } audit { inHash outHash } } }"#;
    let reply = ask(&routes, query).await;
    let listed = &reply["data"]["findContraindications"];
    assert_eq!(listed["audit"]["inHash"], audit["in_hash"], "{reply}");
    assert_eq!(listed["audit"]["outHash"], audit["out_hash"]);
    let asked = proto::FindContraindicationsRequest {
        drugs: vec!["เมตฟอร์มิน".to_owned(), "warfarin".to_owned()],
        conditions: vec!["dialysis".to_owned()],
        age: Some(14.0),
        pregnancy: Some(true),
        limit: Some(5),
        offset: Some(1),
        min_strength: Some("moderate".to_owned()),
        lang: Some("en".to_owned()),
        ..herbs(&["H:andrographis", "H:cannabis"])
    };
    let ours: proto::FindContraindicationsReply = call(&routes, FIND, &asked).await.unwrap();
    let hashes = ours.audit.unwrap();
    assert_eq!(audit["in_hash"], hashes.in_hash);
    assert_eq!(audit["out_hash"], hashes.out_hash);
    let results = listed["results"].as_array().unwrap();
    assert_eq!(results.len(), 5);
    for (one, other) in results.iter().zip(&ours.results) {
        assert_eq!(one["contraindication"], other.contraindication);
        assert_eq!((&one["level"], &one["asked"]), (&json!(other.level), &json!(other.asked)));
        assert!(other.asked, "the patient's records come first: {other:?}");
    }
}

#[tokio::test]
async fn rag_answer_matches_mcp_over_graphql_and_grpc() {
    let kernel = kernel();
    let routes = routes(&kernel, Caller::local_owner());
    for (question, given) in [
        ("Can I take turmeric with warfarin?", true),
        ("How many capsules of turmeric a day?", false),
        ("Crushing chest pain, would ginger help?", false),
    ] {
        let input = json!({"question": question, "lang": "en", "retrieval": {"top_k": 3}});
        let audit = audit_of(&kernel, "rag_answer", input).await;
        let query = format!(
            r#"{{ ragAnswer(question: "{question}", lang: "en", topK: 3)
                 {{ answer citations {{ id uri title span }} scores {{ retrieval answerConf }} withheld {{ reasons }} dangers {{ id span level asked }} emergency {{ call }} audit {{ inHash outHash }} }} }}"#
        );
        let reply = ask(&routes, &query).await;
        let answered = &reply["data"]["ragAnswer"];
        assert_eq!(answered["audit"]["inHash"], audit["in_hash"], "{reply}");
        assert_eq!(answered["audit"]["outHash"], audit["out_hash"]);
        assert_eq!(answered["withheld"].is_null(), given, "{reply}");
        let message = proto::AnswerRequest {
            question: question.to_owned(),
            lang: Some("en".to_owned()),
            retrieval: Some(proto::answer_request::Retrieval { top_k: Some(3) }),
        };
        let reply: proto::AnswerReply =
            call(&routes, "/ttm.core.v1.RagService/Answer", &message).await.unwrap();
        let hashes = reply.audit.unwrap();
        assert_eq!(audit["in_hash"], hashes.in_hash);
        assert_eq!(audit["out_hash"], hashes.out_hash);
        assert_eq!(reply.answer.is_empty(), !given);
        assert_eq!(reply.withheld_reasons.is_empty(), given);
        assert_eq!(answered["answer"], reply.answer);
        assert!(reply.citations.iter().all(|citation| !citation.span.is_empty()));
        let dangers = answered["dangers"].as_array().unwrap();
        assert!(
            !dangers.is_empty(),
            "{question}: warnings are returned with and without an answer"
        );
        assert_eq!(dangers.len(), reply.dangers.len());
        for (one, other) in dangers.iter().zip(&reply.dangers) {
            assert_eq!(one["span"], other.span);
            assert_eq!(one["level"], other.level);
            assert_eq!(one["asked"], other.asked);
        }
        let is_emergency = question.contains("chest pain");
        assert_eq!(!answered["emergency"].is_null(), is_emergency, "{question}");
        assert_eq!(reply.emergency.is_some(), is_emergency, "{question}");
    }
    let empty = proto::AnswerRequest::default();
    let refused =
        call::<proto::AnswerReply>(&routes, "/ttm.core.v1.RagService/Answer", &empty).await;
    // 3 is INVALID_ARGUMENT.
    assert_eq!(refused.unwrap_err().0, "3");
}

#[tokio::test]
async fn resources_match_mcp_over_graphql_and_grpc() {
    let kernel = kernel();
    let routes = routes(&kernel, Caller::local_owner());
    let mut seen = Vec::new();
    for (uri, query, field) in [
        (
            "kg://herb/H:ginger",
            r#"{ herb(id: "H:ginger") { id names { th en } audit { outHash } } }"#,
            "herb",
        ),
        (
            "kg://formulation/F:nlem-01",
            r#"{ formulation(id: "F:nlem-01") { herbs { id } audit { outHash } } }"#,
            "formulation",
        ),
        (
            "paper://pmid/31377923",
            r#"{ paper(pmid: "31377923") { title abstract year audit { outHash } } }"#,
            "paper",
        ),
    ] {
        let trace = TraceId::new(Uuid::from_u128(1));
        let cx = CallContext::local(Arc::clone(kernel.clock()), trace);
        let found = kernel.read_resource(&Scope::All, uri, &cx).await.unwrap();
        let expected = found.meta[AUDIT_KEY]["out_hash"].clone();
        let reply = ask(&routes, query).await;
        assert_eq!(reply["data"][field]["audit"]["outHash"], expected, "{reply}");
        seen.push(expected);
    }
    let herb: proto::Herb = call(&routes, GET_HERB, &id("H:ginger")).await.unwrap();
    assert_eq!(seen[0], herb.audit.unwrap().out_hash);
    assert_eq!(herb.names.unwrap().th, "ขิง");
    let formulation: proto::Formulation =
        call(&routes, "/ttm.core.v1.KGService/GetFormulation", &id("F:nlem-01")).await.unwrap();
    assert_eq!(seen[1], formulation.audit.unwrap().out_hash);
    let paper: proto::Paper =
        call(&routes, "/ttm.core.v1.KGService/GetPaper", &id("31377923")).await.unwrap();
    assert_eq!(seen[2], paper.audit.unwrap().out_hash);
}

#[tokio::test]
async fn errors_carry_contract_codes() {
    let kernel = kernel();
    let routes = routes(&kernel, Caller::local_owner());
    let reply = ask(&routes, r#"{ findContraindications(herbIds: ["H:turmric"]) { json } }"#).await;
    let error = &reply["errors"][0];
    assert_eq!(error["extensions"]["code"], "INVALID_ARG");
    assert!(error["message"].as_str().unwrap().contains("H:turmeric"));
    assert_eq!(error["extensions"]["contract"]["audit"]["status"], "error");
    let asked = herbs(&["H:turmric"]);
    let refused = call::<proto::FindContraindicationsReply>(&routes, FIND, &asked).await;
    let refused = refused.unwrap_err();
    assert_eq!(refused.0, "3", "INVALID_ARGUMENT: {}", refused.1);
    let refused =
        call::<proto::Herb>(&routes, GET_HERB, &id("H:nothing-like-it")).await.unwrap_err();
    assert_eq!(refused.0, "5", "NOT_FOUND: {}", refused.1);
}

#[tokio::test]
async fn caller_without_permission_is_refused() {
    let kernel = kernel();
    let stranger = Caller {
        principal: None,
        partition: "stranger".to_owned(),
        grants: Grants::from_patterns(["cards:read"]),
        ..Caller::local(Profile::Reader)
    };
    let routes = routes(&kernel, stranger);
    let reply = ask(&routes, r#"{ findContraindications(herbIds: ["H:ginger"]) { json } }"#).await;
    assert_eq!(reply["errors"][0]["extensions"]["code"], "FORBIDDEN");
    let refused = call::<proto::Herb>(&routes, GET_HERB, &id("H:ginger")).await.unwrap_err();
    assert_eq!(refused.0, "5", "who may not read is not told that there is something to read");
    let asked = herbs(&["H:ginger"]);
    let refused = call::<proto::FindContraindicationsReply>(&routes, FIND, &asked).await;
    let refused = refused.unwrap_err();
    assert_eq!(refused.0, "7", "PERMISSION_DENIED: {}", refused.1);
}

#[tokio::test]
async fn queries_over_depth_complexity_or_size_limits_are_rejected() {
    let kernel = kernel();
    let routes = routes(&kernel, Caller::local_owner());
    let nested = |levels: usize| {
        format!(
            "{{ __schema {{ types {{ fields {{ type {}{{ name }}{} }} }} }} }}",
            "{ ofType ".repeat(levels),
            " }".repeat(levels)
        )
    };
    let shallow = ask(&routes, &nested(3)).await;
    assert!(shallow.get("errors").is_none(), "{shallow}");
    let deep = ask(&routes, &nested(graphql::MAX_DEPTH)).await;
    assert!(deep["errors"][0]["message"].as_str().unwrap().contains("deep"), "{deep}");
    let many = |reads: usize| {
        let each = (0..reads).map(|n| format!("h{n}: herb(id: \"H:ginger\") {{ id }}"));
        format!("{{ {} }}", each.collect::<Vec<_>>().join(" "))
    };
    assert!(ask(&routes, &many(3)).await.get("errors").is_none());
    let wide = ask(&routes, &many(20)).await;
    assert!(wide["errors"][0]["message"].as_str().unwrap().contains("complex"), "{wide}");
    let large = json!({"query": "#".repeat(graphql::MAX_BODY_BYTES)}).to_string();
    let request = Request::post("/graphql")
        .header("content-type", "application/json")
        .body(Body::from(large))
        .unwrap();
    let reply = routes.clone().oneshot(request).await.unwrap();
    assert_eq!(reply.status(), StatusCode::PAYLOAD_TOO_LARGE);
    let request = Request::post("/graphql")
        .header("content-type", "application/json")
        .body(Body::from("not json"))
        .unwrap();
    assert_eq!(routes.clone().oneshot(request).await.unwrap().status(), StatusCode::BAD_REQUEST);
    let long = id(&"x".repeat(grpc::MAX_REQUEST_BYTES + 1));
    let refused = call::<proto::Herb>(&routes, GET_HERB, &long).await.unwrap_err();
    assert_eq!(refused.0, "11", "OUT_OF_RANGE: {}", refused.1);
}

#[tokio::test]
async fn graphiql_is_self_contained_and_opt_in() {
    let kernel = kernel();
    let files = [
        ("/graphql", StatusCode::METHOD_NOT_ALLOWED),
        ("/graphql/graphiql.js", StatusCode::NOT_FOUND),
        ("/graphql/graphiql.css", StatusCode::NOT_FOUND),
    ];
    for (path, without) in files {
        let request = || Request::get(path).body(Body::empty()).unwrap();
        let reply = routes(&kernel, Caller::local_owner()).oneshot(request()).await.unwrap();
        assert_eq!(reply.status(), StatusCode::OK, "{path}");
        let policy = reply.headers()["content-security-policy"].to_str().unwrap();
        assert!(policy.contains("default-src 'none'") && !policy.contains("http"), "{policy}");
        let hidden = panoply_api::routes(&kernel, Options::default())
            .protected
            .oneshot(request())
            .await
            .unwrap();
        assert_eq!(hidden.status(), without, "{path}");
    }
}

#[tokio::test]
async fn grpc_health_check_reports_serving() {
    let kernel = kernel();
    let routes = routes(&kernel, Caller::local_owner());
    let asked = HealthCheckRequest { service: String::new() };
    let health: HealthCheckResponse =
        call(&routes, "/grpc.health.v1.Health/Check", &asked).await.unwrap();
    assert_eq!(health.status().as_str_name(), "SERVING");
}
