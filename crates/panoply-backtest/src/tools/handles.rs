//! Short handles for GUIDs: `e17` is the event with seq 17, `o42` the order whose first event has
//! seq 42. They are derived from the run, not stored, so any replica resolves them.

use panoply_contract::prelude::*;

use super::service::tool_error;
use crate::event::Guid;
use crate::query::reader::SealedRun;
use crate::scan;

/// The number of a handle with this prefix.
pub(crate) fn number(text: &str, letter: char) -> Option<u32> {
    let digits = text.strip_prefix(letter)?;
    let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse().ok().filter(|_| plain)
}

/// The seq of the event that an id or a handle denotes in this run.
pub(crate) fn event_at(run: &SealedRun, name: &str) -> Result<u32, ToolError> {
    let found = match (number(name, 'e'), Guid::parse(name)) {
        (Some(seq), _) => Some(seq).filter(|seq| *seq < run.head().events),
        (None, Some(id)) => run.find(id).map_err(tool_error)?,
        (None, None) => None,
    };
    found.ok_or_else(|| {
        ToolError::not_found("EVENT_NOT_FOUND", format!("run `{}` has no event `{name}`", run.id()))
            .hint("take an eventId from a reply about the same run")
            .detail("eventId", name)
            .detail("runId", run.id().to_string())
    })
}

/// The id of the order that a handle denotes.
pub(crate) fn order_at(run: &SealedRun, seq: u32) -> Result<String, ToolError> {
    let event =
        if seq < run.head().events { Some(run.event(seq).map_err(tool_error)?) } else { None };
    let id = event.as_ref().and_then(|event| {
        let token = scan::member(event.properties(), "OrderId")?;
        token.id_text().map(std::borrow::Cow::into_owned)
    });
    // An unknown order has no events: the reply is an empty page, as for any other value.
    Ok(id.unwrap_or_else(|| format!("o{seq}")))
}
