//! Embedding service against a local stub of OpenAI's API: correct, slow and invalid responses.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "helpers of tests may fail the test"
)]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use panoply_ttm::search::{
    Corpus, Document, Embedder, Endpoint, Engine, Kind, Passage, SearchQuery, TextLanguage,
};
use serde_json::{Value, json};

/// Behaviour of the stub.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Manner {
    Right,
    Backwards,
    Slow,
    Broken,
    BrokenOnce,
    BrokenTwice,
    Refusing,
    ShortQuestions,
    NotANumber,
    Infinite,
    TooFew,
    Twice,
    NoJson,
}

struct Service {
    base: String,
    asked: Arc<AtomicUsize>,
}

impl Service {
    fn start(manner: Manner) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let base = format!("http://{}/v1", listener.local_addr().unwrap());
        let asked = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&asked);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let number = count.fetch_add(1, Ordering::SeqCst);
                answer(stream, manner, number);
            }
        });
        Self { base, asked }
    }

    fn endpoint(&self) -> Arc<dyn Embedder> {
        let key = Some("sk-test".to_owned());
        Arc::new(Endpoint::new(&self.base, "tiny", key, Duration::from_millis(400)))
    }
}

/// Two dimensions: sleep, and anything else.
fn vector(text: &str) -> Vec<f64> {
    let sleep = ["นอน", "sleep", "insomnia", "slumber"].iter().any(|word| text.contains(word));
    if sleep { vec![1.0, 0.1] } else { vec![0.1, 1.0] }
}

fn answer(mut stream: TcpStream, manner: Manner, number: usize) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let (mut length, mut key) = (0, false);
    let mut first = String::new();
    reader.read_line(&mut first).unwrap();
    assert!(first.starts_with("POST /v1/embeddings HTTP/1.1"), "{first}");
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        let line = line.trim().to_ascii_lowercase();
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        key |= line == "authorization: bearer sk-test";
        if line.is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    let body: Value = serde_json::from_slice(&body).unwrap();
    assert!(key && body["model"] == "tiny" && body["encoding_format"] == "float");
    let texts: Vec<&str> =
        body["input"].as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect();
    let mut rows: Vec<Value> = texts
        .iter()
        .enumerate()
        .map(|(index, text)| {
            json!({"object": "embedding", "index": index, "embedding": vector(text)})
        })
        .collect();
    let mut status = "200 OK";
    match manner {
        Manner::Backwards => rows.reverse(),
        Manner::Slow => std::thread::sleep(Duration::from_millis(1_500)),
        Manner::Broken => status = "500 Internal Server Error",
        Manner::BrokenTwice if number < 2 => status = "500 Internal Server Error",
        Manner::BrokenOnce if number == 0 => status = "503 Service Unavailable",
        Manner::Refusing => status = "401 Unauthorized",
        Manner::ShortQuestions if texts.len() == 1 => rows[0]["embedding"] = json!([1.0]),
        Manner::TooFew => rows.truncate(1),
        Manner::Twice => rows.iter_mut().for_each(|row| row["index"] = json!(0)),
        _ => {}
    }
    let mut reply = json!({"object": "list", "data": rows, "model": "tiny",
        "usage": {"prompt_tokens": 1, "total_tokens": 1}})
    .to_string();
    match manner {
        // Python's json module writes NaN, which is not JSON.
        Manner::NotANumber => reply = reply.replace("0.1", "NaN"),
        Manner::Infinite => reply = reply.replace("0.1", "1e300"),
        Manner::NoJson => "<html>busy</html>".clone_into(&mut reply),
        _ => {}
    }
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        reply.len()
    );
    // The client may have disconnected after its timeout.
    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(reply.as_bytes()));
}

/// Three texts without a word in common with the query; the first has the same meaning.
fn corpus() -> Corpus {
    let document = |id: &str, text: &str| {
        let passage = Passage {
            language: TextLanguage::En,
            text: text.to_owned(),
            weight: 1.0,
            source: String::new(),
        };
        Document {
            id: id.to_owned(),
            kind: Some(Kind::Paper),
            title_en: text.to_owned(),
            passages: vec![passage],
            ..Document::default()
        }
    };
    let documents = vec![
        document("1", "Deep slumber after drinking"),
        document("2", "Skin rash"),
        document("3", "Broken bones"),
    ];
    Corpus { documents, trained: 3, ..Corpus::default() }
}

fn asked(service: &Service) -> (Vec<String>, String) {
    let engine = Engine::new(corpus()).unwrap().with_embedder(Some(service.endpoint()));
    let answer = engine.search(&SearchQuery::new("insomnia")).unwrap();
    let ids = answer.hits.iter().map(|hit| hit.document.id.clone());
    (ids.collect(), answer.embedder)
}

#[test]
fn service_vectors_find_texts_without_shared_words() {
    for manner in [Manner::Right, Manner::Backwards, Manner::BrokenOnce] {
        let (ids, embedder) = asked(&Service::start(manner));
        assert_eq!(embedder, "endpoint:tiny", "{manner:?}");
        assert_eq!(ids.first().map(String::as_str), Some("1"), "{manner:?}");
    }
}

#[test]
fn failing_embedding_service_falls_back_to_lsi_with_a_reason() {
    let cases = [
        (Manner::Slow, "it did not answer in time"),
        (Manner::Broken, "it answered with status 500"),
        (Manner::Refusing, "it answered with status 401"),
        (Manner::ShortQuestions, "it returned a vector of 1 numbers where 2 were expected"),
        (Manner::NotANumber, "its response is not a list of embeddings"),
        (Manner::Infinite, "it returned a vector with a non-finite value"),
        (Manner::TooFew, "it returned 1 vectors for 3 texts"),
        (Manner::Twice, "its response has duplicate or missing indices"),
        (Manner::NoJson, "its response is not a list of embeddings"),
    ];
    for (manner, why) in cases {
        let (_, embedder) = asked(&Service::start(manner));
        assert_eq!(embedder, format!("lsi-96, instead of endpoint:tiny: {why}"), "{manner:?}");
    }
    let nobody = Service { base: "http://127.0.0.1:9/v1".to_owned(), asked: Arc::default() };
    let (_, embedder) = asked(&nobody);
    assert_eq!(embedder, "lsi-96, instead of endpoint:tiny: it could not be reached");
}

#[test]
fn only_transient_failures_are_retried() {
    for (manner, times) in [(Manner::Broken, 2), (Manner::Refusing, 1), (Manner::TooFew, 1)] {
        let service = Service::start(manner);
        asked(&service);
        assert_eq!(service.asked.load(Ordering::SeqCst), times, "{manner:?}");
    }
}

#[test]
fn documents_are_embedded_once_and_a_recovered_service_is_used() {
    let service = Service::start(Manner::Right);
    let engine = Engine::new(corpus()).unwrap().with_embedder(Some(service.endpoint()));
    for _ in 0..3 {
        engine.search(&SearchQuery::new("insomnia")).unwrap();
    }
    // Once for the documents, then once per query.
    assert_eq!(service.asked.load(Ordering::SeqCst), 4);

    let service = Service::start(Manner::BrokenTwice);
    let engine = Engine::new(corpus()).unwrap().with_embedder(Some(service.endpoint()));
    let embedder = || engine.search(&SearchQuery::new("insomnia")).unwrap().embedder;
    assert_eq!(embedder(), "lsi-96, instead of endpoint:tiny: it answered with status 500");
    assert_eq!(embedder(), "endpoint:tiny");
}
