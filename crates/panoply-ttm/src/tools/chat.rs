//! Chat model behind OpenAI's `POST /chat/completions`.

use serde::Deserialize;
use serde_json::{Value, json};

use super::settings::Endpoint;
use crate::answer::{Prompt, SentenceWriter, WriterError};
use crate::openai::OpenAiClient;

/// Maximum response size; a reply has a few kilobytes.
const MAX_RESPONSE_BYTES: u64 = 1024 * 1024;
/// Maximum number of generated tokens.
const MAX_TOKENS: u32 = 2000;

/// A chat model.
#[derive(Debug)]
pub(crate) struct ChatModel(OpenAiClient);

impl ChatModel {
    pub(crate) fn new(endpoint: &Endpoint, key: Option<String>) -> Self {
        let Endpoint { base_url, model, .. } = endpoint;
        Self(OpenAiClient::new(base_url, "chat/completions", model, key, endpoint.timeout()))
    }

    fn body(&self, prompt: &Prompt) -> Value {
        json!({
            "model": self.0.model,
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
        &self.0.model
    }

    fn write(&self, prompt: &Prompt) -> Result<String, WriterError> {
        let (status, text) = self
            .0
            .post(&self.body(prompt).to_string(), MAX_RESPONSE_BYTES)
            .map_err(|error| writer_error(&error))?;
        if status != 200 {
            return Err(WriterError::Down);
        }
        let reply: Completion = serde_json::from_str(&text).map_err(|_| WriterError::Garbled)?;
        let first = reply.choices.into_iter().next().ok_or(WriterError::Garbled)?;
        Ok(first.message.content)
    }
}

/// The cause is not forwarded: it may contain the URL.
fn writer_error(error: &ureq::Error) -> WriterError {
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
