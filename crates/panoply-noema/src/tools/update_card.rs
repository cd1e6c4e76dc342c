//! `update-card`: changes the fields or tags of the note behind a card, the deck of the card or its flag; cards that the note now makes are made, others deleted.

use panoply_contract::prelude::*;
use std::collections::BTreeMap;

use super::service::{Change, NoemaService, exact_evidence, with_next};
use super::wire::{CardId, DeckId};
use crate::collection::{self, NoteChanges};
use crate::render;

const SPEC: ToolSpec = ToolSpec {
    name: "update-card",
    title: "Change a card",
    description: Description {
        does: "Changes the fields or tags of the note behind a card, the deck of the card or its flag; cards that the note now makes are made, others deleted.",
        when: "Use this to mend or improve a card. Give the version that `get-card` showed, so that a change by somebody else is not lost.",
        returns: "Returns the note as it is now with its new version, and an action id that takes it back.",
        asks: &["Correct the answer of this card", "Make that question shorter"],
    },
    version: "1.0.0",
    aliases: &[],
    permissions: &["cards:update"],
    category: Category::Mutation,
    response_time: ResponseTime::Medium,
    cache: CachePolicy::Never,
    idempotent: false,
    data: &["cards", "decks"],
    examples: &[
        Example { shows: "a better answer", params: r##"{"cardId": "card_123", "version": 1, "fields": {"Back": "56 (7 × 8)"}}"##, expect: Expect::Data(r##"{"version": 2, "dryRun": true}"##) },
        Example { shows: "a version that is out of date", params: r##"{"cardId": "card_123", "version": 7, "fields": {"Back": "x"}}"##, expect: Expect::Error("STALE_VERSION") },
    ],
    tags: &["cards", "content"],
    rate_limit: Some(RateLimit { max_calls: 300, window: Duration::from_secs(60) }),
    deprecated: None,
    annotations: Annotations::CLOSED,
    listing: Listing::Core,
    widget: None,
}
.checked();

/// What to change.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// The card.
    card_id: CardId,
    /// The version you saw; without it the change is made whatever the version.
    #[schemars(range(min = 1, max = 1000000))]
    version: Option<i64>,
    /// New texts, by the names of the fields, such as {"Back": "Bangkok"}.
    #[schemars(length(max = 50))]
    #[serde(default)]
    fields: BTreeMap<String, String>,
    /// All tags of the note; leave it out to keep them.
    #[schemars(length(max = 100))]
    tags: Option<Vec<String>>,
    /// The deck the card goes into.
    deck_id: Option<DeckId>,
    /// From 1 to 7; 0 for none.
    #[schemars(range(min = 0, max = 7))]
    flag: Option<u8>,
}

/// The card as it is now.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// The card.
    card_id: CardId,
    /// The new version of its content.
    version: i64,
    /// The front as text.
    front: String,
    /// The back as text.
    back: String,
    /// The tags of the note.
    tags: Vec<String>,
    /// Whether something was changed, and how to take it back.
    #[serde(flatten)]
    change: Change,
}

/// See the module.
pub(super) struct UpdateCard {
    pub(super) service: NoemaService,
}

impl Tool for UpdateCard {
    type Params = Params;
    type Output = Output;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, params: Params, cx: &CallContext) -> Result<Reply<Output>, ToolError> {
        let id = params.card_id.domain();
        let changes = NoteChanges {
            fields: params.fields,
            tags: params.tags,
            version: params.version,
            deck: params.deck_id.as_ref().map(DeckId::domain),
            flag: params.flag,
        };
        let summary = format!("changed card `{}`", params.card_id);
        self.service.change(cx, SPEC.name, &summary, |writer, now| {
                let (note, card) = collection::update_card(writer, id, changes, now)?;
                let (note, note_type) = collection::note_and_type(writer, note.id)?;
                let sides = render::sides(&note_type, &note.fields, &note.tags, card.ordinal);
                Ok((note, sides))
            }, |(note, sides), change| {
        let text = format!(
            "{} card `{}`; its version is {}.",
            if cx.dry_run { "Would change" } else { "Changed" },
            params.card_id,
            note.version
        );
        let undo = change.undo();
        let output = Output {
            card_id: params.card_id,
            version: note.version,
            front: render::strip_html(&sides.front),
            back: render::strip_html(&sides.back),
            tags: note.tags,
            change,
        };
        let mut reply = Reply::new(output, text, exact_evidence("the changed card"));
        if params.version.is_none() {
            reply = reply.assuming("the version was not given, so a change by somebody else would have been overwritten");
        }
        Ok(with_next(reply, undo))
})
    }
}
