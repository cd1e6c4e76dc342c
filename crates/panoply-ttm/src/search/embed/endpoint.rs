//! Embedding service with OpenAI's `POST /v1/embeddings`, as provided by OpenAI, Ollama, vLLM,
//! llama.cpp and text-embeddings-inference.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{EmbedError, Embedder};
use crate::openai::OpenAiClient;

/// Texts per request.
const BATCH: usize = 64;
/// Maximum response size; a batch of long vectors has a few megabytes.
const MAX_RESPONSE_BYTES: u64 = 64 * 1024 * 1024;
/// Number of attempts; transient failures are retried once.
const ATTEMPTS: usize = 2;

/// An embedding model behind an HTTP endpoint.
#[derive(Debug)]
pub struct Endpoint(OpenAiClient);

impl Endpoint {
    /// Creates a client for `model` at `base`, such as `http://127.0.0.1:11434/v1`. It connects at
    /// the first search.
    pub fn new(base: &str, model: &str, key: Option<String>, timeout: Duration) -> Self {
        Self(OpenAiClient::new(base, "embeddings", model, key, timeout))
    }

    fn batch(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let mut last = EmbedError("no request was sent".to_owned());
        for _ in 0..ATTEMPTS {
            match self.request(texts) {
                Ok(vectors) => return Ok(vectors),
                Err(Failure::Permanent(why)) => return Err(why),
                Err(Failure::Transient(why)) => last = why,
            }
        }
        Err(last)
    }

    fn request(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, Failure> {
        let body = Body { model: &self.0.model, input: texts, encoding_format: "float" };
        let body = serde_json::to_string(&body)
            .map_err(|error| Failure::Permanent(EmbedError(error.to_string())))?;
        let (status, text) = self
            .0
            .post(&body, MAX_RESPONSE_BYTES)
            .map_err(|error| Failure::Transient(EmbedError(describe(&error))))?;
        let refused = EmbedError(format!("it answered with status {status}"));
        match status {
            200 => in_order(&text).map_err(Failure::Permanent),
            408 | 429 | 500..=599 => Err(Failure::Transient(refused)),
            _ => Err(Failure::Permanent(refused)),
        }
    }
}

impl Embedder for Endpoint {
    fn id(&self) -> String {
        format!("endpoint:{}", self.0.model)
    }

    fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let mut vectors = Vec::with_capacity(texts.len());
        for batch in texts.chunks(BATCH) {
            vectors.extend(super::checked(self.batch(batch)?, batch.len(), None)?);
        }
        Ok(vectors)
    }
}

/// Whether a failure is transient.
enum Failure {
    Transient(EmbedError),
    Permanent(EmbedError),
}

/// Describes the failure without the URL.
fn describe(error: &ureq::Error) -> String {
    match error {
        ureq::Error::Timeout(_) => "it did not answer in time".to_owned(),
        ureq::Error::HostNotFound | ureq::Error::ConnectionFailed | ureq::Error::Io(_) => {
            "it could not be reached".to_owned()
        }
        ureq::Error::BodyExceedsLimit(_) => "its response was too large".to_owned(),
        _ => "its response could not be parsed".to_owned(),
    }
}

#[derive(Serialize)]
struct Body<'b> {
    model: &'b str,
    input: &'b [String],
    encoding_format: &'static str,
}

#[derive(Deserialize)]
struct Reply {
    data: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    index: usize,
    /// Parsed as `f64`: overflow handling must not depend on the JSON library.
    embedding: Vec<f64>,
}

/// Returns the vectors in the order of the texts.
fn in_order(answer: &str) -> Result<Vec<Vec<f32>>, EmbedError> {
    let wrong = || EmbedError("its response is not a list of embeddings".to_owned());
    let Reply { mut data } = serde_json::from_str(answer).map_err(|_| wrong())?;
    data.sort_by_key(|row| row.index);
    if data.iter().enumerate().any(|(place, row)| place != row.index) {
        return Err(EmbedError("its response has duplicate or missing indices".to_owned()));
    }
    #[expect(
        clippy::cast_possible_truncation,
        reason = "overflow becomes infinite and is rejected later"
    )]
    let narrow = |row: Row| row.embedding.into_iter().map(|number| number as f32).collect();
    Ok(data.into_iter().map(narrow).collect())
}
