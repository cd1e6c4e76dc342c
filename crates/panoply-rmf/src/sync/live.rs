//! `ureq` transport and system timer.

use std::sync::Arc;
use std::time::Duration;

use panoply_contract::clock::Clock;

use super::{Http, KEY_HEADER, Response, Timer, TransportError};

/// Timeout of one call.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Fetches over HTTPS.
pub struct HttpClient {
    agent: ureq::Agent,
    base: String,
    key: String,
}

impl HttpClient {
    /// Client of the API at `base`, authenticated by `key`.
    pub fn new(base: &str, key: String) -> Self {
        let config = ureq::Agent::config_builder()
            .timeout_global(Some(TIMEOUT))
            .http_status_as_error(false)
            .build();
        Self { agent: config.into(), base: base.trim_end_matches('/').to_owned(), key }
    }
}

impl Http for HttpClient {
    fn get(&mut self, path: &str, query: &[(&str, &str)]) -> Result<Response, TransportError> {
        // Client errors may quote the URL, never the header with the key.
        let unanswered = |error: ureq::Error| TransportError(error.to_string());
        let mut request =
            self.agent.get(format!("{}{path}", self.base)).header(KEY_HEADER, &self.key);
        for (name, value) in query {
            request = request.query(name, value);
        }
        let mut answer = request.call().map_err(unanswered)?;
        let retry_after = answer
            .headers()
            .get("Retry-After")
            .and_then(|value| value.to_str().ok())
            .and_then(|value| value.trim().parse().ok())
            .map(Duration::from_secs);
        let body = answer.body_mut().read_to_string().map_err(unanswered)?;
        Ok(Response { status: answer.status().as_u16(), retry_after, body })
    }
}

/// Monotonic clock and thread sleep.
pub struct SystemTimer {
    clock: Arc<dyn Clock>,
    speed: u32,
}

impl SystemTimer {
    /// Timer of this clock.
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self { clock, speed: 1 }
    }

    /// Divides every wait by `speed`, for tests against a local stub.
    #[must_use]
    pub fn faster(self, speed: u32) -> Self {
        Self { speed: speed.max(1), ..self }
    }
}

impl Timer for SystemTimer {
    fn elapsed(&self) -> Duration {
        self.clock.monotonic()
    }

    fn sleep(&self, wait: Duration) {
        std::thread::sleep(wait / self.speed);
    }
}
