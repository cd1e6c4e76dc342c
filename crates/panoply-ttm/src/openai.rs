//! HTTP client of servers with OpenAI's API, shared by embeddings and chat.

use std::time::Duration;

/// A model behind a base URL such as `http://127.0.0.1:8000/v1`.
pub(crate) struct OpenAiClient {
    agent: ureq::Agent,
    url: String,
    key: Option<String>,
    /// Model name.
    pub(crate) model: String,
}

/// Omits the API key.
impl std::fmt::Debug for OpenAiClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OpenAiClient").field("url", &self.url).field("model", &self.model).finish()
    }
}

impl OpenAiClient {
    /// Creates a client for `{base}/{path}`; it connects at the first request.
    pub(crate) fn new(
        base: &str,
        path: &str,
        model: &str,
        key: Option<String>,
        timeout: Duration,
    ) -> Self {
        let config = ureq::Agent::config_builder()
            .timeout_global(Some(timeout))
            .http_status_as_error(false)
            // The API key must not follow redirects.
            .max_redirects(0)
            .user_agent(concat!("panoply/", env!("CARGO_PKG_VERSION")))
            .build();
        let url = format!("{}/{path}", base.trim_end_matches('/'));
        Self { agent: config.into(), url, key, model: model.to_owned() }
    }

    /// Sends a JSON body. Returns the status and, for status 200, at most `limit` bytes of text.
    pub(crate) fn post(&self, body: &str, limit: u64) -> Result<(u16, String), ureq::Error> {
        let mut request = self.agent.post(&self.url).content_type("application/json");
        if let Some(key) = &self.key {
            request = request.header("Authorization", format!("Bearer {key}"));
        }
        let mut response = request.send(body)?;
        let status = response.status().as_u16();
        if status != 200 {
            return Ok((status, String::new()));
        }
        let text = response.body_mut().with_config().limit(limit).read_to_string()?;
        Ok((status, text))
    }
}
