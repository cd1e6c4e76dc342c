//! `get-settings`: returns the learner's settings and the current study day.

use panoply_contract::prelude::*;

use super::service::{NoemaService, changes_at, exact_evidence, now};
use super::specs::QUERY;
use super::wire::timestamp;
use crate::collection;
use crate::error::Result;
use crate::fsrs::Micros;
use crate::store::StoreReader;

pub(super) const SPEC: ToolSpec = ToolSpec {
    name: "get-settings",
    title: "Get the learner's settings",
    description: Description {
        does: "Returns the settings of the learner, which hold for all decks: the time zone of study days.",
        when: "Use this to see when the learner's day begins and ends, or before `update-settings`.",
        returns: "Returns the time zone, whether it was chosen or is the machine's, and the start of this and the next study day.",
        asks: &["When does my study day begin?", "Which time zone do my reviews use?"],
    },
    permissions: &["settings:read"],
    data: &["settings"],
    examples: &[Example { shows: "settings that were never changed", params: r##"{}"##, expect: Expect::Data(r##"{"chosen": false}"##) }],
    tags: &["learning", "scheduling"],
    ..QUERY
}
.checked();

/// No parameters.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Params {}

/// The learner's settings.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SettingsView {
    /// Time zone of study days: an IANA name or a fixed offset.
    time_zone: String,
    /// Whether the learner chose the time zone; otherwise it is the machine's.
    chosen: bool,
    /// Start of the current study day.
    day_began: String,
    /// Start of the next study day.
    next_day: String,
}

impl SettingsView {
    pub(crate) fn of(reader: &dyn StoreReader, now: Micros) -> Result<Self> {
        let settings = reader.learner()?;
        let calendar = collection::calendar(reader)?;
        Ok(Self {
            time_zone: reader.learner_zone()?.to_string(),
            chosen: settings.time_zone.is_some(),
            day_began: timestamp(calendar.start(calendar.day(now))),
            next_day: timestamp(calendar.next_start(now)),
        })
    }

    /// A sentence about the settings.
    pub(crate) fn text(&self) -> String {
        format!("Study days follow {}; the next one begins {}.", self.time_zone, self.next_day)
    }
}

pub(super) fn call(
    service: &NoemaService,
    _: Params,
    cx: &CallContext,
) -> Result<Reply<SettingsView>, ToolError> {
    let now = now(cx);
    let (view, tomorrow) = service.read(|reader| {
        Ok((SettingsView::of(reader, now)?, collection::calendar(reader)?.next_start(now)))
    })?;
    let text = view.text();
    let evidence = exact_evidence("the settings").changes(changes_at(tomorrow));
    let mut reply = Reply::new(view.clone(), text, evidence);
    if !view.chosen {
        reply = reply.assuming("the learner is in the time zone of the machine");
    }
    Ok(reply)
}
