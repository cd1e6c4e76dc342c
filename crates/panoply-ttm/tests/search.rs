//! `hybrid_search` through the kernel: expected hits and unusual input.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests may fail the test"
)]

use std::sync::Arc;

use panoply_contract::dialect::{ERROR_KEY, Envelope};
use panoply_contract::kernel::{Kernel, Settings};
use panoply_contract::testing::{FixedClock, call_as_owner, kernel_in_memory, noon};
use panoply_ttm::eval::MemoryReportStore;
use panoply_ttm::papers::{NoPapers, PaperStore, Record, UserStoreError};
use panoply_ttm::search::UserStore;
use panoply_ttm::tools::pack;
use panoply_ttm::user_data::DocumentStore;
use serde_json::{Value, json};

fn kernel_with(papers: Arc<dyn UserStore>) -> Arc<Kernel> {
    kernel_in_memory(
        vec![pack(papers, Arc::new(MemoryReportStore::default()))],
        FixedClock::at(noon()),
        Settings::default(),
    )
    .unwrap()
}

async fn found(kernel: &Kernel, input: Value) -> Value {
    match call_as_owner(kernel, "hybrid_search", input.clone()).await {
        Envelope::Result { structured: Some(data), is_error: false, .. } => data.value(),
        other => panic!("{input}: {other:?}"),
    }
}

async fn refused(kernel: &Kernel, input: Value) -> Value {
    match call_as_owner(kernel, "tool.hybrid_search", input.clone()).await {
        Envelope::Result { is_error: true, meta, .. } => meta.value(ERROR_KEY)["error"].clone(),
        other => panic!("{input}: {other:?}"),
    }
}

fn ids(data: &Value) -> Vec<String> {
    let hits = data["hits"].as_array().unwrap();
    hits.iter().map(|hit| hit["id"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn expected_documents_rank_in_the_top_five() {
    let kernel = kernel_with(Arc::new(NoPapers));
    let cases = [
        ("a Thai name", "ฟ้าทะลายโจร", "H:andrographis"),
        ("a misspelt Thai name", "ฟ้าทะลายโจน", "H:andrographis"),
        ("a misspelt Latin name", "androgaphis paniculata", "H:andrographis"),
        ("an abbreviated Latin name", "A. paniculata", "H:andrographis"),
        ("a romanised name", "fah talai jone", "H:andrographis"),
        ("sara am typed as two marks", "น้\u{0E4D}ามันไพล", "H:plai"),
        ("a constituent in Thai letters", "พืชที่มีเคอร์คูมิน", "H:turmeric"),
        ("a constituent in English", "plants containing piperine", "H:pepper"),
        ("a code of the group", "ICD-10 K64", "F:nlem-28"),
        ("British spelling", "haemorrhoids", "F:nlem-28"),
        ("American spelling", "hemorrhoid remedy", "F:nlem-28"),
        ("operators and quotes", "\"ginger\" AND NOT (nausea* OR NEAR/3) -- ; DROP", "H:ginger"),
        ("mixed scripts", "ขิง ginger ショウガ имбирь", "H:ginger"),
        ("an emoji beside a word", "🤢 ขิง 🙏", "H:ginger"),
        ("a PMID", "31377923", "31377923"),
    ];
    for (what, query, expected) in cases {
        let data = found(&kernel, json!({"query": query, "top_k": 5})).await;
        assert!(ids(&data).iter().any(|id| id == expected), "{what}: {query}: {:?}", ids(&data));
        let mut last = 1.0;
        for hit in data["hits"].as_array().unwrap() {
            let score = hit["score"].as_f64().unwrap();
            assert!((0.0..=last).contains(&score), "{what}: scores fall and stay in [0,1]");
            last = score;
            assert!(!hit["source"].as_str().unwrap().is_empty(), "{what}: {hit}");
            assert!(!hit["title"].as_str().unwrap().is_empty(), "{what}: {hit}");
        }
    }
}

#[tokio::test]
async fn invalid_queries_get_errors_and_unusual_ones_empty_results() {
    let kernel = kernel_with(Arc::new(NoPapers));
    let cases = [
        (json!({"query": "ขิง", "top_k": 0}), "top_k must be >0"),
        (json!({"query": "ขิง", "top_k": -3}), "top_k"),
        (json!({"query": "ขิง", "top_k": 101}), "top_k"),
        (json!({"query": "  "}), "`query` is empty"),
        (json!({"query": "ก".repeat(10_000)}), "at most 2000 characters"),
        (json!({"query": "x", "filters": {"year_from": 2020, "year_to": 2010}}), "is after"),
        (json!({"query": "x", "filters": {"colour": "green"}}), "colour"),
        (json!({"query": "x", "lang": "fr"}), "lang"),
    ];
    for (input, expected) in cases {
        let error = refused(&kernel, input.clone()).await;
        assert_eq!(error["code"], "INVALID_ARG", "{error}");
        assert!(error.to_string().contains(expected), "{error}");
    }
    // Not found rather than invalid: an import job of another tenant answers like this too.
    let unknown = refused(&kernel, json!({"query": "x", "filters": {"source": "hearsay"}})).await;
    assert_eq!(unknown["code"], "UNKNOWN_SOURCE", "{unknown}");
    assert!(unknown.to_string().contains("no source `hearsay`"), "{unknown}");
    let exact = refused(&kernel, json!({"query": "ขิง", "top_k": 0})).await;
    assert_eq!(exact["message"], "top_k must be >0", "as the contract spells it");
    for query in ["🙂🙃", "???", "\u{200B}", "ๆๆๆ"] {
        let data = found(&kernel, json!({"query": query})).await;
        assert_eq!(data["hits"], json!([]), "{query}");
    }
}

#[tokio::test]
async fn filters_language_and_top_k_are_respected() {
    let kernel = kernel_with(Arc::new(NoPapers));
    let filters = json!({"type": "formulation", "icd": "K64*"});
    let data =
        found(&kernel, json!({"query": "ริดสีดวง", "lang": "en", "filters": filters, "top_k": 3}))
            .await;
    assert_eq!(data["lang"], "en");
    assert_eq!(ids(&data).len(), 3);
    for hit in data["hits"].as_array().unwrap() {
        assert_eq!(hit["type"], "formulation");
        assert!(hit["title"].as_str().unwrap().is_ascii(), "{hit}");
    }
    let family = json!({"type": "herb", "family": "zingiberaceae"});
    let data = found(&kernel, json!({"query": "เหง้า", "filters": family, "top_k": 100})).await;
    assert!(ids(&data).contains(&"H:turmeric".to_owned()), "{:?}", ids(&data));
    assert!(!ids(&data).contains(&"H:andrographis".to_owned()));
    let years = json!({"type": "paper", "year_from": 2020});
    let data = found(&kernel, json!({"query": "cannabis", "filters": years})).await;
    assert!(!ids(&data).is_empty());
    let mixed = found(&kernel, json!({"query": "cannabis", "top_k": 10})).await;
    let papers = mixed["hits"].as_array().unwrap().iter().filter(|hit| hit["type"] == "paper");
    assert!(papers.count() <= 3, "papers leave room for herbs and medicines");
}

#[tokio::test]
async fn snippet_marks_matches_and_replies_are_deterministic() {
    let kernel = kernel_with(Arc::new(NoPapers));
    let input = json!({"query": "คลื่นไส้อาเจียน", "top_k": 5});
    let data = found(&kernel, input.clone()).await;
    let first = &data["hits"][0];
    assert!(first["snippet"].as_str().unwrap().contains("**คลื่นไส้อาเจียน**"), "{first}");
    assert_eq!(data["embedder"], "lsi-96");
    // A second kernel builds its own index.
    let again = found(&kernel_with(Arc::new(NoPapers)), input).await;
    assert_eq!(data["audit"]["out_hash"], again["audit"]["out_hash"]);
    for member in ["in_hash", "out_hash", "seed", "latency_ms", "status"] {
        assert!(data["audit"].get(member).is_some(), "{member}: {}", data["audit"]);
    }
}

/// A store with one paper.
#[derive(Debug)]
struct OnePaper;

impl DocumentStore for OnePaper {}

impl UserStore for OnePaper {}

impl PaperStore for OnePaper {
    fn paper(&self, _: &str) -> Result<Option<Record>, UserStoreError> {
        Ok(None)
    }

    fn papers(&self) -> Result<Vec<Record>, UserStoreError> {
        Ok(vec![Record {
            pmid: "99999999".to_owned(),
            title: "Effect of zorblatine on insomnia".to_owned(),
            abstract_text: "Zorblatine shortened the time to fall asleep.".to_owned(),
            year: Some(2031),
            ..Record::default()
        }])
    }

    fn version(&self) -> u64 {
        1
    }
}

#[tokio::test]
async fn imported_paper_is_found_in_both_languages() {
    let kernel = kernel_with(Arc::new(OnePaper));
    let data = found(&kernel, json!({"query": "zorblatine", "top_k": 1})).await;
    assert_eq!(ids(&data), ["99999999"]);
    assert_eq!(data["hits"][0]["source"], "imported");
    let imported = json!({"source": "imported"});
    let data = found(&kernel, json!({"query": "นอนไม่หลับ", "filters": imported})).await;
    assert_eq!(ids(&data), ["99999999"], "a Thai question finds English text");
}

#[tokio::test]
async fn query_without_a_common_word_or_entity_has_no_hits() {
    let kernel = kernel_with(Arc::new(NoPapers));
    for query in ["asdfghjkl", "kubernetes", "qwertz zxcvb"] {
        let data = found(&kernel, json!({"query": query})).await;
        assert_eq!(ids(&data), Vec::<String>::new(), "{query}");
    }
    // Shared letters are enough for a misspelt name.
    for (query, herb) in [
        ("tumerick", "H:turmeric"),
        ("gingger", "H:ginger"),
        ("andrographys", "H:andrographis"),
        ("galangall", "H:galangal"),
        ("lemongras", "H:lemongrass"),
    ] {
        let data = found(&kernel, json!({"query": query})).await;
        assert_eq!(ids(&data).first().map(String::as_str), Some(herb), "{query}");
    }
}

#[tokio::test]
async fn off_topic_query_with_a_common_word_has_no_hits() {
    let kernel = kernel_with(Arc::new(NoPapers));
    for query in [
        "Manchester United fixtures",
        "stock prices today",
        "how to fix a bicycle chain",
        "ราคาทองวันนี้",
        "best laptop for students",
        "football transfer rumours",
        "mortgage interest calculator",
        "guitar chords for beginners",
        "parliament election results",
        "weather forecast in Berlin tomorrow",
        "เช่าคอนโดใกล้รถไฟฟ้า",
        "ตารางเดินรถไฟเชียงใหม่",
        // `บอล` (ball) is a syllable of `ฟอร์บอล` (phorbol) and of `เมแทบอลิซึม` (metabolism).
        "ผลบอลเมื่อคืน",
    ] {
        let data = found(&kernel, json!({"query": query})).await;
        assert_eq!(ids(&data), Vec::<String>::new(), "{query}");
    }
}
