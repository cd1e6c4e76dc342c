//! Embedding service with OpenAI's `POST /v1/embeddings`, as provided by OpenAI, Ollama, vLLM,
//! llama.cpp and text-embeddings-inference.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{EmbedError, Embedder};

/// Texts per request.
const BATCH: usize = 64;
/// Maximum response size; a batch of long vectors has a few megabytes.
const MAX_RESPONSE_BYTES: u64 = 64 * 1024 * 1024;
/// Number of attempts; transient failures are retried once.
const ATTEMPTS: usize = 2;

/// An embedding model behind an HTTP endpoint.
pub struct Endpoint {
    agent: ureq::Agent,
    url: String,
    model: String,
    key: Option<String>,
}

impl Endpoint {
    /// Creates a client for `model` at `base`, such as `http://127.0.0.1:11434/v1`. It connects at
    /// the first search.
    pub fn new(base: &str, model: &str, key: Option<String>, timeout: Duration) -> Self {
        let settings = ureq::Agent::config_builder()
            .timeout_global(Some(timeout))
            .http_status_as_error(false)
            // The API key must not follow redirects.
            .max_redirects(0)
            .user_agent(concat!("panoply/", env!("CARGO_PKG_VERSION")))
            .build();
        let url = format!("{}/embeddings", base.trim_end_matches('/'));
        Self { agent: settings.into(), url, model: model.to_owned(), key }
    }

    fn batch(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let mut last = EmbedError("no request was sent".to_owned());
        for _ in 0..ATTEMPTS {
            match self.request(texts) {
                Ok(vectors) => return Ok(vectors),
                Err(Failed::ForGood(why)) => return Err(why),
                Err(Failed::ForNow(why)) => last = why,
            }
        }
        Err(last)
    }

    fn request(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, Failed> {
        let for_now = |error: ureq::Error| Failed::ForNow(EmbedError(short(&error)));
        let mut request = self.agent.post(&self.url).content_type("application/json");
        if let Some(key) = &self.key {
            request = request.header("Authorization", format!("Bearer {key}"));
        }
        let body = Body { model: &self.model, input: texts, encoding_format: "float" };
        let body = serde_json::to_string(&body)
            .map_err(|error| Failed::ForGood(EmbedError(error.to_string())))?;
        let mut answer = request.send(&body).map_err(for_now)?;
        let status = answer.status().as_u16();
        let refused = EmbedError(format!("it answered with status {status}"));
        match status {
            200 => {}
            408 | 429 | 500..=599 => return Err(Failed::ForNow(refused)),
            _ => return Err(Failed::ForGood(refused)),
        }
        let text = answer.body_mut().with_config().limit(MAX_RESPONSE_BYTES).read_to_string();
        in_order(&text.map_err(for_now)?).map_err(Failed::ForGood)
    }
}

impl std::fmt::Debug for Endpoint {
    /// Omits the API key.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Endpoint").field("url", &self.url).field("model", &self.model).finish()
    }
}

impl Embedder for Endpoint {
    fn id(&self) -> String {
        format!("endpoint:{}", self.model)
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
enum Failed {
    ForNow(EmbedError),
    ForGood(EmbedError),
}

/// Describes the failure without the URL.
fn short(error: &ureq::Error) -> String {
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
    let wrong = || EmbedError("its answer is not a list of embeddings".to_owned());
    let Reply { mut data } = serde_json::from_str(answer).map_err(|_| wrong())?;
    data.sort_by_key(|row| row.index);
    if data.iter().enumerate().any(|(place, row)| place != row.index) {
        return Err(EmbedError(
            "its answer names the same text twice or leaves one out".to_owned(),
        ));
    }
    #[expect(
        clippy::cast_possible_truncation,
        reason = "what does not fit becomes infinite, and is refused"
    )]
    let narrow = |row: Row| row.embedding.into_iter().map(|number| number as f32).collect();
    Ok(data.into_iter().map(narrow).collect())
}
