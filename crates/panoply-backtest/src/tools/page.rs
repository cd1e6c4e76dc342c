//! What the tools that return pages of events share: their extra parameters and their reply.

use panoply_contract::prelude::*;
use serde_json::{Map, Value, json};

use super::events::{self, EventTable, Format, Style, WireEvent};
use super::words::{MaxTokens, PageIndex, PageSize};
use crate::query::reader::SealedRun;
use crate::query::selection::Selection;

/// A page of events.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct EventQueryResult {
    /// The events, in order of time; absent when a table was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) events: Option<Vec<WireEvent>>,
    /// The events as columns and rows, when asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) table: Option<EventTable>,
    /// How the page lies in the whole.
    pub(crate) metadata: PageMetadata,
}

/// How a page lies in the whole.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PageMetadata {
    /// How many events match.
    total_count: u64,
    /// How many of them are here.
    returned_count: usize,
    /// The page, from 0.
    page_index: u64,
    /// The size that was asked for.
    page_size: u64,
    /// Whether later pages have events.
    has_more: bool,
    /// Whether this page is shorter than asked for because the reply was full.
    truncated: bool,
    /// How to go on when the page was cut short.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_page_hint: Option<String>,
}

/// Which events of a selection, and how to write them.
#[derive(Debug)]
pub(crate) struct PageRequest {
    pub(crate) page_size: PageSize,
    pub(crate) page_index: PageIndex,
    pub(crate) skip: u64,
    pub(crate) sample: Option<u64>,
    pub(crate) style: Style,
}

/// Makes the style from parameters that are all optional.
pub(crate) fn style(
    format: Option<Format>,
    fields: Option<Vec<String>>,
    handles: bool,
    max_tokens: MaxTokens,
) -> Style {
    Style {
        format: format.unwrap_or_default(),
        fields: fields.unwrap_or_default(),
        handles,
        max_tokens,
    }
}

/// The reply to a question for a page; `again` are the arguments, for suggesting the next call.
pub(crate) fn reply(
    run: &SealedRun,
    selection: &Selection,
    request: &PageRequest,
    tool: &'static str,
    again: Map<String, Value>,
    what: &str,
) -> Result<Reply<EventQueryResult>, ToolError> {
    let (size, index) = (request.page_size.0, request.page_index.0);
    let start = index.saturating_mul(size);
    let skipped = start.saturating_add(request.skip.min(size));
    let wanted = usize::try_from(size.saturating_sub(request.skip)).unwrap_or_default();
    let places = match request.sample {
        Some(sample) => selection.sample(usize::try_from(sample).unwrap_or_default()),
        None => selection.page(skipped, wanted),
    };
    let written = events::write(run, &places, &request.style)?;
    let truncated = written.count < places.len();
    let total = selection.total();
    let has_more = request.sample.is_none() && start.saturating_add(size) < total;
    let next = if truncated && request.sample.is_none() {
        Some(("skip", request.skip + written.count as u64))
    } else if has_more {
        Some(("pageIndex", index + 1))
    } else {
        None
    };
    let text = match (total, request.sample) {
        (0, _) => format!("No {what}."),
        (_, Some(_)) => format!("{} of {total} {what}, evenly spread.", written.count),
        _ => format!("{} of {total} {what}, from number {} on.", written.count, skipped + 1),
    };
    let table = summary(run, places.get(..written.count).unwrap_or_default())?;
    let next_page_hint = next.filter(|_| truncated).map(|(name, value)| {
        format!("the reply was full: call again with the same arguments and \"{name}\": {value}")
    });
    let metadata = PageMetadata {
        total_count: total,
        returned_count: written.count,
        page_index: index,
        page_size: size,
        has_more,
        truncated,
        next_page_hint,
    };
    let data = EventQueryResult { events: written.events, table: written.table, metadata };
    let mut reply = Reply::new(data, text, evidence(run)).table(table);
    if let Some((name, value)) = next {
        let mut arguments = again;
        if name == "pageIndex" {
            arguments.shift_remove("skip");
        }
        arguments.insert(name.to_owned(), value.into());
        reply = reply.next(NextAction::new(tool, arguments.into(), "see the events that follow"));
    }
    if request.style.fields.is_empty()
        && request.style.format == Format::Events
        && written.count > 20
    {
        reply = reply.assuming("the full published shape was wanted; `format: \"table\"` with `handles: true` says the same in a fifth of the tokens");
    }
    Ok(reply)
}

/// An answer from a sealed run is the stored thing itself.
pub(crate) fn evidence(run: &SealedRun) -> Evidence {
    Evidence::from(Source::new(SourceClass::Exact, format!("sealed run {}", run.id())))
}

/// A few columns for people.
fn summary(run: &SealedRun, places: &[u32]) -> Result<Table, ToolError> {
    let mut table = Table::new(["time", "type", "severity", "properties"]);
    for seq in places.iter().take(25) {
        let event = run.event(*seq).map_err(super::service::tool_error)?;
        let properties: String = event.properties().chars().take(80).collect();
        table = table.row([
            event.timestamp().to_string(),
            event.event_type().to_string(),
            event.severity().to_string(),
            properties,
        ]);
    }
    Ok(table)
}

/// Arguments as JSON, without those that are null.
pub(crate) fn arguments(pairs: Value) -> Map<String, Value> {
    match pairs {
        Value::Object(map) => map.into_iter().filter(|(_, value)| !value.is_null()).collect(),
        other => {
            debug_assert!(false, "arguments are an object: {other}");
            json!({}).as_object().cloned().unwrap_or_default()
        }
    }
}
