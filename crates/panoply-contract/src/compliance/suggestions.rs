//! Follows suggestions as an agent does that trusts them blindly.

use std::collections::HashMap;

use serde_json::Value;

use super::behaviour::{error_code, hints_of, replay};
use super::{Line, Violation};
use crate::dialect::Envelope;
use crate::kernel::Kernel;
use crate::spec::ToolSpec;

/// Length of the chains of suggestions that are followed.
const DEPTH: usize = 3;

/// A call: tool and arguments as JSON.
type CallKey = (String, String);

/// Follows suggestions and remembers the replies: many examples lead to the same calls.
#[derive(Default)]
pub(super) struct SuggestionWalk {
    replies: HashMap<CallKey, Result<Vec<CallKey>, String>>,
}

impl SuggestionWalk {
    /// Follows the suggestions of `reply`, the result of an example, three deep. A suggestion
    /// violates the contract if it fails, changes data or repeats a call of its chain.
    pub(super) async fn violations(
        &mut self,
        kernel: &Kernel,
        spec: &'static ToolSpec,
        params: &Value,
        reply: &Envelope,
    ) -> Vec<Violation> {
        let mut found = Vec::new();
        let start = (spec.name.to_owned(), params.to_string());
        let first = suggested(reply);
        let mut chains: Vec<Vec<CallKey>> =
            first.into_iter().map(|next| vec![start.clone(), next]).collect();
        while let Some(chain) = chains.pop() {
            let Some((next, before)) = chain.split_last() else { continue };
            let problem = if before.contains(next) {
                Some("repeats a call".to_owned())
            } else {
                match self.follow(kernel, next).await {
                    Err(problem) => Some(problem),
                    Ok(more) => {
                        if chain.len() <= DEPTH {
                            chains.extend(more.into_iter().map(|next| extended(&chain, next)));
                        }
                        None
                    }
                }
            };
            if let Some(problem) = problem {
                let path: Vec<&str> = chain.iter().map(|(tool, _)| tool.as_str()).collect();
                let message = format!("suggestion {} {}: {problem}", path.join(" > "), next.1);
                found.push(Violation::new(spec.name, Line::Hints, message));
            }
        }
        found
    }

    async fn follow(&mut self, kernel: &Kernel, call: &CallKey) -> Result<Vec<CallKey>, String> {
        if let Some(known) = self.replies.get(call) {
            return known.clone();
        }
        let result = follow(kernel, call).await;
        self.replies.insert(call.clone(), result.clone());
        result
    }
}

async fn follow(kernel: &Kernel, (tool, arguments): &CallKey) -> Result<Vec<CallKey>, String> {
    let Some(entry) = kernel.registry().get(tool) else { return Err("unknown tool".to_owned()) };
    if entry.spec.category.mutates() {
        return Err("changes data".to_owned());
    }
    let arguments = serde_json::from_str(arguments).map_err(|error| error.to_string())?;
    let reply = replay(kernel, entry.spec, arguments).await;
    match error_code(&reply) {
        Some(code) => Err(format!("fails with {code}")),
        None => Ok(suggested(&reply)),
    }
}

fn suggested(reply: &Envelope) -> Vec<CallKey> {
    let hints = hints_of(reply).unwrap_or_default();
    let actions = hints.get("suggestedNextActions").and_then(Value::as_array);
    let call = |action: &Value| {
        let tool = action.get("action").and_then(Value::as_str).unwrap_or_default();
        let arguments = action.get("data").map_or_else(|| "{}".to_owned(), Value::to_string);
        (tool.to_owned(), arguments)
    };
    actions.into_iter().flatten().map(call).collect()
}

fn extended(chain: &[CallKey], next: CallKey) -> Vec<CallKey> {
    chain.iter().cloned().chain([next]).collect()
}
