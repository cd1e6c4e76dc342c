//! How a result is presented to a client, by what the client is known to show to its model.
//!
//! Some hosts show the model only `structuredContent`, others only `content`. The specification
//! asks for both ("a tool that returns structured content SHOULD also return the serialized JSON"),
//! which costs a host that shows both twice the tokens, so hosts known to prefer structured content
//! get a short text.

use serde::Deserialize;

/// Clients that give their model the structured content of a result, measured with mock models.
const STRUCTURED_CLIENTS: [&str; 3] = ["claude-code", "codex-mcp-client", "panoply-console"];
/// The first version with structured content.
const STRUCTURED_SINCE: &str = "2025-06-18";
/// The first version that asks for input errors as tool results (SEP-1303).
const INPUT_ERRORS_AS_RESULTS_SINCE: &str = "2025-11-25";

/// Presentation of results.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq)]
#[serde(default, deny_unknown_fields)]
pub struct Presentation {
    /// Text of successful results.
    pub text: ResultText,
    /// Errors of the caller's input, for packs whose specification has JSON-RPC errors.
    pub input_errors: InputErrors,
}

/// Text of successful results.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "lowercase")]
pub enum ResultText {
    /// Complete, except for clients known to show structured content.
    #[default]
    Auto,
    /// The text for users and the structured content as JSON.
    Complete,
    /// The text for users.
    Brief,
}

/// Form of input errors.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "lowercase")]
pub enum InputErrors {
    /// As results in sessions of 2025-11-25 and later, else as JSON-RPC errors.
    #[default]
    Auto,
    /// As JSON-RPC errors.
    Protocol,
    /// As results.
    Result,
}

/// Presentation for one client.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct ClientPresentation {
    /// Whether the text repeats the structured content as JSON.
    pub(crate) complete_text: bool,
    /// Whether input errors are results.
    pub(crate) errors_as_results: bool,
}

impl Presentation {
    /// Decides for the client `agent` that speaks protocol `version`. Versions are dates, so their
    /// text order is their order.
    pub(crate) fn of_client(self, agent: &str, version: Option<&str>) -> ClientPresentation {
        let structured = version.is_none_or(|version| version >= STRUCTURED_SINCE);
        let complete_text = match self.text {
            ResultText::Auto => !(structured && STRUCTURED_CLIENTS.contains(&agent)),
            ResultText::Complete => true,
            ResultText::Brief => false,
        };
        let errors_as_results = match self.input_errors {
            InputErrors::Auto => {
                version.is_some_and(|version| version >= INPUT_ERRORS_AS_RESULTS_SINCE)
            }
            InputErrors::Protocol => false,
            InputErrors::Result => true,
        };
        ClientPresentation { complete_text, errors_as_results }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_clients_that_show_structured_content_get_a_brief_text() {
        let complete =
            |agent, version| Presentation::default().of_client(agent, Some(version)).complete_text;
        assert!(!complete("claude-code", "2025-06-18"));
        assert!(complete("claude-code", "2025-03-26"));
        assert!(complete("gemini-cli-mcp-client", "2025-11-25"));
        assert!(complete("mcp", "2025-11-25"));
        let brief = Presentation { text: ResultText::Brief, ..Presentation::default() };
        assert!(!brief.of_client("mcp", None).complete_text);
    }

    #[test]
    fn input_errors_are_results_since_2025_11_25() {
        let results = |version| Presentation::default().of_client("mcp", version).errors_as_results;
        assert!(results(Some("2025-11-25")) && results(Some("2026-07-28")));
        assert!(!results(Some("2025-06-18")) && !results(None));
    }
}
