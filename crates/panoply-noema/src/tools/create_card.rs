//! `create-card`: makes a note and its cards: basic, reversed, cloze, typed or multiple choice. Cards are drafts until they are approved, unless told otherwise.

use panoply_contract::prelude::*;
use serde_json::json;

use super::notes::{
    CreatedNote, FormParam, NoteInput, duplicate_warning, duplicates_of, pluralize,
};
use super::service::{
    APPROVE, Change, NoemaService, exact_evidence, require_permission, with_next,
};
use super::wire::{CardId, DeckId};
use crate::collection;
use crate::store::StoreWriter;

const SPEC: ToolSpec = ToolSpec {
    name: "create-card",
    title: "Create a card",
    description: Description {
        does: "Makes a note and its cards: basic, reversed, cloze, typed or multiple choice. Cards are drafts until they are approved, unless told otherwise.",
        when: "Use this to add one thing to learn. Keep one fact to a card. For more than three use `create-cards`.",
        returns: "Returns the ids of the cards that were made, notes that look alike, and an action id that takes it back.",
        asks: &["Make a card: capital of Thailand is Bangkok", "Add this sentence as a cloze"],
    },
    version: "1.0.0",
    aliases: &[],
    permissions: &["cards:create"],
    category: Category::Mutation,
    response_time: ResponseTime::Medium,
    cache: CachePolicy::Never,
    idempotent: false,
    data: &["cards", "decks"],
    examples: &[
        Example { shows: "a basic card", params: r##"{"deckId": "deck_456", "front": "What is 9 × 7?", "back": "63", "draft": false}"##, expect: Expect::Data(r##"{"note": {"fields": ["What is 9 × 7?", "63"]}, "dryRun": true}"##) },
        Example { shows: "a cloze with two gaps", params: r##"{"deckId": "deck_456", "form": "cloze", "front": "{{c1::2}} + {{c2::2}} = 4"}"##, expect: Expect::Data(r##"{"dryRun": true}"##) },
        Example { shows: "an empty front", params: r##"{"deckId": "deck_456", "front": " ", "back": "x"}"##, expect: Expect::Error("NO_CARDS") },
    ],
    tags: &["cards", "content"],
    rate_limit: Some(RateLimit { max_calls: 300, window: Duration::from_secs(60) }),
    deprecated: None,
    annotations: Annotations::CLOSED,
    listing: Listing::Core,
    widget: None,
}
.checked();

/// What to make.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// The deck it goes into.
    deck_id: DeckId,
    /// Which cards the note makes.
    #[serde(default)]
    form: FormParam,
    /// The question; for a cloze the text with gaps such as `{{c1::Bangkok}}` or `{{c1::Bangkok::a city}}`.
    #[schemars(length(max = 20000))]
    front: String,
    /// The answer; for multiple choice the right one.
    #[schemars(length(max = 20000))]
    #[serde(default)]
    back: String,
    /// The answers to choose from, for multiple choice.
    #[schemars(length(max = 26))]
    #[serde(default)]
    choices: Vec<String>,
    /// What is shown beside the answer of a cloze or of multiple choice.
    #[schemars(length(max = 20000))]
    #[serde(default)]
    extra: String,
    /// Tags, such as `geo::capital`.
    #[schemars(length(max = 100))]
    #[serde(default)]
    tags: Vec<String>,
    /// Where it comes from: a page, a book, or the trace id of a tool call.
    #[schemars(length(max = 500))]
    source: Option<String>,
    /// Whether somebody has to approve it before it is studied.
    #[serde(default = "yes")]
    draft: bool,
}

const fn yes() -> bool {
    true
}

/// What was made.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// The note and its cards.
    note: CreatedNote,
    /// Cards whose first field is the same.
    duplicates: Vec<CardId>,
    /// Whether something was changed, and how to take it back.
    #[serde(flatten)]
    change: Change,
}

/// See the module.
pub(super) struct CreateCard {
    pub(super) service: NoemaService,
}

impl Tool for CreateCard {
    type Params = Params;
    type Output = Output;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, params: Params, cx: &CallContext) -> Result<Reply<Output>, ToolError> {
        let deck = params.deck_id.domain();
        let Params { form, front, back, choices, extra, tags, source, draft, .. } = params;
        if !draft {
            require_permission(cx, APPROVE, "making a card that is no draft")?;
        }
        let new =
            NoteInput { form, front, back, choices, extra, tags, source }.into_new(deck, draft);
        let (duplicates, name) = self.service.read(|reader| {
            let first = new.fields.first().map_or("", String::as_str);
            Ok((duplicates_of(reader, first)?, collection::deck(reader, deck)?.name))
        })?;
        let summary = format!("made a note in `{name}`");
        let add = |writer: &mut dyn StoreWriter, now| collection::add_note(writer, new, now);
        self.service.change(cx, SPEC.name, &summary, add, |(note, cards), change| {
            let made = CreatedNote::of(&note, &cards);
            let verb = if cx.dry_run { "Would make" } else { "Made" };
            let text = format!("{verb} {} in `{name}`.", pluralize(cards.len(), "card"));
            let approve = (!cx.dry_run && draft).then(|| {
                NextAction::new(
                    "approve-drafts",
                    json!({"cardIds": made.card_ids}),
                    "let the learner approve it, so that it is studied",
                )
            });
            let undo = change.undo();
            let mut reply = Reply::new(
                Output { note: made, duplicates: duplicates.clone(), change },
                text,
                exact_evidence("the new note"),
            );
            if !duplicates.is_empty() {
                reply = reply.warn(duplicate_warning(&duplicates));
            }
            Ok(with_next(reply, approve.into_iter().chain(undo)))
        })
    }
}
