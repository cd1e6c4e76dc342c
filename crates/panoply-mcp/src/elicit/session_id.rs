//! `Mcp-Session-Id` over HTTP before 2026-07-28: records that the client supports elicitation.
//!
//! The server is stateless. A client that announces elicitation in its handshake receives an id
//! that encodes this, and sends it with every request. A forged id only claims that the client
//! supports elicitation.

use http::{HeaderMap, HeaderValue};
use rmcp::model::ClientCapabilities;
use serde::Deserialize;
use uuid::Uuid;

pub(crate) const HEADER: &str = "mcp-session-id";
const PREFIX: &str = "elicitation-";

/// Whether the session id marks a client that announced elicitation.
pub(crate) fn says_elicitation(headers: &HeaderMap) -> bool {
    headers
        .get(HEADER)
        .and_then(|id| id.to_str().ok()?.strip_prefix(PREFIX))
        .is_some_and(|id| Uuid::try_parse(id).is_ok())
}

/// Returns a session id if the message is a handshake that announces elicitation.
pub(crate) fn for_handshake(body: &[u8]) -> Option<HeaderValue> {
    #[derive(Deserialize)]
    struct Message {
        method: String,
        params: Params,
    }
    #[derive(Deserialize)]
    struct Params {
        capabilities: ClientCapabilities,
    }
    let text = std::str::from_utf8(body).ok()?;
    if !text.contains("\"initialize\"") || !text.contains("\"elicitation\"") {
        return None;
    }
    let message: Message = serde_json::from_str(text).ok()?;
    if message.method != "initialize" || !super::supports_forms(&message.params.capabilities) {
        return None;
    }
    HeaderValue::try_from(format!("{PREFIX}{}", Uuid::new_v4())).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_handshake_with_form_support_gets_a_session_id() {
        let handshake = |method: &str, capabilities: &str| {
            let body = format!(
                r#"{{"jsonrpc":"2.0","id":0,"method":"{method}","params":{{"capabilities":{capabilities}}}}}"#
            );
            for_handshake(body.as_bytes())
        };
        let id = handshake("initialize", r#"{"elicitation":{}}"#).unwrap();
        assert!(says_elicitation(&HeaderMap::from_iter([(HEADER.parse().unwrap(), id)])));
        assert!(handshake("initialize", "{}").is_none());
        assert!(handshake("initialize", r#"{"elicitation":{"url":{}}}"#).is_none());
        assert!(handshake("tools/list", r#"{"elicitation":{}}"#).is_none());
        let foreign = HeaderValue::from_static("elicitation-yes");
        assert!(!says_elicitation(&HeaderMap::from_iter([(HEADER.parse().unwrap(), foreign)])));
        assert!(!says_elicitation(&HeaderMap::new()));
    }
}
