//! The API over the network, and real time.

use std::sync::Arc;
use std::time::Duration;

use panoply_contract::clock::Clock;

use super::{Http, KEY_HEADER, NoAnswer, Pace, Response};

/// A call that takes longer has failed.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Fetches over the network.
pub struct LiveHttp {
    agent: ureq::Agent,
    base: String,
    key: String,
}

impl LiveHttp {
    /// A client of the API at `base` with this key.
    pub fn new(base: &str, key: String) -> Self {
        let config = ureq::Agent::config_builder()
            .timeout_global(Some(TIMEOUT))
            .http_status_as_error(false)
            .build();
        Self { agent: config.into(), base: base.trim_end_matches('/').to_owned(), key }
    }
}

impl Http for LiveHttp {
    fn get(&mut self, path: &str, query: &[(&str, &str)]) -> Result<Response, NoAnswer> {
        // Errors of the client may quote the address, never the header with the key.
        let unanswered = |error: ureq::Error| NoAnswer(error.to_string());
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

/// Real time.
pub struct LivePace(pub Arc<dyn Clock>);

impl Pace for LivePace {
    fn elapsed(&self) -> Duration {
        self.0.monotonic()
    }

    fn sleep(&self, wait: Duration) {
        std::thread::sleep(wait);
    }
}
