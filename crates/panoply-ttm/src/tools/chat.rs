//! Chat model behind OpenAI's `POST /chat/completions`.

use serde::Deserialize;
use serde_json::{Value, json};

use super::settings::Endpoint;
use crate::answer::{Prompt, SentenceWriter, WriterError};

/// Maximum response size; a reply has a few kilobytes.
const MAX_RESPONSE_BYTES: u64 = 1024 * 1024;
/// Maximum number of generated tokens.
const MAX_TOKENS: u32 = 2000;

/// A chat model.
pub(crate) struct ChatModel {
    agent: ureq::Agent,
    url: String,
    model: String,
    key: Option<String>,
}

/// Omits the API key.
impl std::fmt::Debug for ChatModel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ChatModel").field("url", &self.url).field("model", &self.model).finish()
    }
}

impl ChatModel {
    /// Creates a client; it connects at the first question.
    pub(crate) fn new(endpoint: &Endpoint, key: Option<String>) -> Self {
        let config = ureq::Agent::config_builder()
            .timeout_global(Some(endpoint.timeout()))
            // The API key must not follow redirects.
            .max_redirects(0)
            .user_agent(concat!("panoply/", env!("CARGO_PKG_VERSION")))
            .build();
        Self {
            agent: config.into(),
            url: format!("{}/chat/completions", endpoint.base_url.trim_end_matches('/')),
            model: endpoint.model.clone(),
            key,
        }
    }

    fn body(&self, prompt: &Prompt) -> Value {
        json!({
            "model": self.model,
            "messages": [
                {"role": "system", "content": prompt.system},
                {"role": "user", "content": prompt.user},
            ],
            "temperature": 0,
            // Servers parse the seed as a signed integer.
            "seed": prompt.seed >> 1,
            "max_tokens": MAX_TOKENS,
            "response_format": {"type": "json_object"},
        })
    }
}

impl SentenceWriter for ChatModel {
    fn model(&self) -> &str {
        &self.model
    }

    fn write(&self, prompt: &Prompt) -> Result<String, WriterError> {
        let mut request = self.agent.post(&self.url).header("content-type", "application/json");
        if let Some(key) = &self.key {
            request = request.header("authorization", format!("Bearer {key}"));
        }
        let body = self.body(prompt).to_string();
        let mut answer = request.send(body).map_err(|error| why(&error))?;
        let text = answer.body_mut().with_config().limit(MAX_RESPONSE_BYTES).read_to_string();
        let text = text.map_err(|error| why(&error))?;
        let reply: Completion = serde_json::from_str(&text).map_err(|_| WriterError::Garbled)?;
        let first = reply.choices.into_iter().next().ok_or(WriterError::Garbled)?;
        Ok(first.message.content)
    }
}

/// The cause is not forwarded: it may contain the URL.
fn why(error: &ureq::Error) -> WriterError {
    match error {
        ureq::Error::Timeout(_) => WriterError::Slow,
        _ => WriterError::Down,
    }
}

/// Response fields that are read.
#[derive(Deserialize)]
struct Completion {
    choices: Vec<Choice>,
}

#[derive(Deserialize)]
struct Choice {
    message: Message,
}

#[derive(Deserialize)]
struct Message {
    content: String,
}
