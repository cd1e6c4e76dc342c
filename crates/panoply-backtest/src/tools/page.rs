//! Parameters and reply shared by the tools that return pages of events.

use panoply_contract::prelude::*;
use serde_json::{Map, Value, json};

use super::event_table::EventTable;
use super::events::{self, Format, Style, WireEvent};
use super::params::{MaxTokens, PageIndex, PageSize};
use super::sized_json::SizedJson;
use crate::query::reader::SealedRun;
use crate::query::selection::Selection;

/// A page of events.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct EventQueryResult {
    /// The events, in order of time; absent when a table was requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) events: Option<Vec<SizedJson<WireEvent<'static>>>>,
    /// The events as columns and rows, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) table: Option<EventTable>,
    /// The page's position in the result.
    pub(crate) metadata: PageMetadata,
}

/// The page's position in the result.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PageMetadata {
    /// Number of matching events.
    total_count: u64,
    /// Number of events on this page.
    returned_count: usize,
    /// Page index, from 0.
    page_index: u64,
    /// Requested page size.
    page_size: u64,
    /// Whether matching events follow the last one returned: on later pages, or on this one if it
    /// is truncated.
    has_more: bool,
    /// Whether the page is shorter than requested because the reply was full.
    truncated: bool,
    /// How to get the rest of a truncated page.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_page_hint: Option<String>,
}

/// The requested part of a selection, and its formatting.
#[derive(Debug)]
pub(crate) struct PageRequest {
    pub(crate) page_size: PageSize,
    pub(crate) page_index: PageIndex,
    pub(crate) skip: u64,
    pub(crate) sample: Option<u64>,
    pub(crate) style: Style,
}

impl PageRequest {
    /// Adds the arguments that request this page to those of the tool.
    fn add_to(&self, arguments: &mut Map<String, Value>) {
        let style = &self.style;
        arguments.insert("pageSize".to_owned(), self.page_size.0.into());
        arguments.insert("pageIndex".to_owned(), self.page_index.0.into());
        if style.format == Format::Table {
            arguments.insert("format".to_owned(), "table".into());
        }
        if !style.fields.is_empty() {
            arguments.insert("fields".to_owned(), style.fields.clone().into());
        }
        arguments.insert("handles".to_owned(), style.handles.into());
    }
}

/// Formatting options from optional parameters.
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

/// Declares the parameters of a tool that returns a page of events: the tool's own, then the
/// shared ones. A flattened struct would admit unknown members.
macro_rules! page_params {
    ($(#[$doc:meta])* $name:ident { $($(#[$tool_arguments:meta])* $field:ident: $type:ty),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields, rename_all = "camelCase")]
        pub(crate) struct $name {
            $($(#[$tool_arguments])* $field: $type,)+
            /// Number of events per page.
            #[serde(default)]
            page_size: $crate::tools::params::PageSize,
            /// Zero-based page index.
            #[serde(default)]
            page_index: $crate::tools::params::PageIndex,
            /// `table` returns columns and rows, with what rows share listed once.
            format: Option<$crate::tools::events::Format>,
            /// Return only these members (such as `timestamp`) or properties (such as `Price`, `Data.Close`).
            #[schemars(length(max = 50), inner(length(min = 1, max = 200)))]
            #[schemars(extend("x-listed" = false))]
            fields: Option<Vec<String>>,
            /// Return short handles (e17, o42) instead of GUIDs; later calls on the same run accept them.
            #[serde(default)]
            handles: bool,
            /// Return this many events, evenly spread over all matches, instead of a page.
            #[schemars(range(min = 1, max = 1000))]
            #[schemars(extend("x-listed" = false))]
            sample: Option<u64>,
            /// Events of the page to skip; used to continue a truncated page.
            #[schemars(range(min = 0, max = 1000))]
            #[serde(default)]
            #[schemars(extend("x-listed" = false))]
            skip: u64,
            /// Budget for the reply, in tokens of 2.5 bytes.
            #[serde(default)]
            #[schemars(extend("x-listed" = false))]
            max_tokens: $crate::tools::params::MaxTokens,
        }

        impl $name {
            fn page(&self) -> $crate::tools::page::PageRequest {
                $crate::tools::page::PageRequest {
                    page_size: self.page_size,
                    page_index: self.page_index,
                    skip: self.skip,
                    sample: self.sample,
                    style: $crate::tools::page::style(
                        self.format,
                        self.fields.clone(),
                        self.handles,
                        self.max_tokens,
                    ),
                }
            }
        }
    };
}
pub(crate) use page_params;

/// Builds the reply for a page; `tool_arguments` are repeated in the suggested next call.
pub(crate) fn reply(
    run: &SealedRun,
    selection: &Selection,
    request: &PageRequest,
    tool: &'static str,
    tool_arguments: Value,
    what: &str,
) -> Result<Reply<EventQueryResult>, ToolError> {
    let (size, index) = (request.page_size.0, request.page_index.0);
    let start = index.saturating_mul(size);
    let skipped = start.saturating_add(request.skip.min(size));
    let wanted = usize::try_from(size.saturating_sub(request.skip)).unwrap_or_default();
    let seqs = match request.sample {
        Some(sample) => selection.sample(usize::try_from(sample).unwrap_or_default()),
        None => selection.page(skipped, wanted),
    };
    let written = events::write(run, &seqs, &request.style)?;
    let truncated = written.count < seqs.len();
    let total = selection.total();
    let returned = skipped.saturating_add(written.count as u64);
    let has_more = request.sample.is_none() && returned < total;
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
    let table = summary(run, seqs.get(..written.count).unwrap_or_default())?;
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
    let mut reply = Reply::new(data, text, evidence(run))
        .table(table)
        .up_to_bytes(events::reply_bytes(request.style.max_tokens));
    if let Some((name, value)) = next {
        let mut arguments = arguments(tool_arguments);
        request.add_to(&mut arguments);
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

/// A reply from a sealed run is exact.
pub(crate) fn evidence(run: &SealedRun) -> Evidence {
    Evidence::from(Source::new(SourceClass::Exact, format!("sealed run {}", run.id())))
}

/// A short table for display.
fn summary(run: &SealedRun, seqs: &[u32]) -> Result<Table, ToolError> {
    let mut table = Table::new(["time", "type", "severity", "properties"]);
    for seq in seqs.iter().take(25) {
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

/// Arguments as JSON, without null values.
pub(crate) fn arguments(pairs: Value) -> Map<String, Value> {
    match pairs {
        Value::Object(map) => map.into_iter().filter(|(_, value)| !value.is_null()).collect(),
        other => {
            debug_assert!(false, "arguments are an object: {other}");
            json!({}).as_object().cloned().unwrap_or_default()
        }
    }
}
