//! `update-settings`: changes the learner's settings.

use panoply_contract::prelude::*;

use super::get_settings::SettingsView;
use super::service::{Change, NoemaService, exact_evidence};
use super::specs::MUTATION;
use super::wire::parse_zone;

pub(super) const SPEC: ToolSpec = ToolSpec {
    name: "update-settings",
    title: "Change the learner's settings",
    description: Description {
        does: "Changes the settings of the learner, which hold for all decks: the time zone of study days. A deck may have its own, see `update-deck`.",
        when: "Use this when the learner moves, or when the server is in another time zone than the learner.",
        returns: "Returns the settings after the change, and an action id that undoes it.",
        asks: &["I am in Bangkok", "My day should begin by London time"],
    },
    permissions: &["settings:update"],
    data: &["settings", "schedule", "cards", "decks"],
    examples: &[
        Example { shows: "a learner in Bangkok", params: r##"{"timeZone": "Asia/Bangkok"}"##, expect: Expect::Data(r##"{"settings": {"timeZone": "Asia/Bangkok", "nextDay": "2026-11-15T21:00:00Z"}}"##) },
        Example { shows: "a zone that does not exist", params: r##"{"timeZone": "Mars/Base"}"##, expect: Expect::Error("BAD_TIME_ZONE") },
    ],
    tags: &["learning", "scheduling"],
    ..MUTATION
}
.checked();

/// Settings to change; omitted ones stay unchanged.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// Time zone as an IANA name such as `Asia/Bangkok`, or an offset such as `+07:00`; `default` for the machine's.
    #[schemars(length(min = 3, max = 64))]
    time_zone: Option<String>,
}

/// The settings after the change.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// The settings.
    settings: SettingsView,
    /// Dry-run flag and undo id.
    #[serde(flatten)]
    change: Change,
}

pub(super) fn call(
    service: &NoemaService,
    params: Params,
    cx: &CallContext,
) -> Result<Reply<Output>, ToolError> {
    let zone = params.time_zone.as_deref().map(parse_zone).transpose()?;
    service.change(
        cx,
        SPEC.name,
        "changed the settings",
        |writer, now| {
            let before = writer.learner()?;
            let mut settings = before.clone();
            if let Some(zone) = zone {
                settings.time_zone = zone;
            }
            if settings != before {
                writer.put_learner(&settings)?;
            }
            SettingsView::of(writer, now)
        },
        |settings, change| {
            let text = settings.text();
            let reply =
                Reply::new(Output { settings, change }, text, exact_evidence("the settings"))
                    .assuming("cards keep their due times; days are counted anew from now on");
            Ok(reply)
        },
    )
}
