//! Fetches the key set of an OAuth issuer.

use std::time::Duration;

use futures::future::BoxFuture;
use panoply_mcp::auth::{JwksSource, JwksUnavailable};

/// A key set is a few kilobytes.
const MAX_KEY_SET_BYTES: u64 = 1024 * 1024;
const FETCH_TIMEOUT: Duration = Duration::from_secs(8);

/// JWKS source at a URL.
#[derive(Clone, Debug)]
pub(crate) struct JwksUrl {
    url: String,
    agent: ureq::Agent,
}

impl JwksUrl {
    pub(crate) fn new(url: String) -> Self {
        let settings = ureq::Agent::config_builder()
            .timeout_global(Some(FETCH_TIMEOUT))
            .max_redirects(3)
            .user_agent(concat!("panoply/", env!("CARGO_PKG_VERSION")))
            .build();
        Self { url, agent: settings.into() }
    }
}

impl JwksSource for JwksUrl {
    fn fetch(&self) -> BoxFuture<'_, Result<String, JwksUnavailable>> {
        let Self { url, agent } = self.clone();
        Box::pin(async move {
            let fetched = tokio::task::spawn_blocking(move || {
                let mut response = agent.get(&url).call()?;
                response.body_mut().with_config().limit(MAX_KEY_SET_BYTES).read_to_string()
            });
            match fetched.await {
                Ok(Ok(text)) => Ok(text),
                Ok(Err(error)) => Err(JwksUnavailable(error.to_string())),
                Err(error) => Err(JwksUnavailable(error.to_string())),
            }
        })
    }
}
