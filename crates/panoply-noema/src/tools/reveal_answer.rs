//! `reveal-answer`: returns the answer of a card, the effect of each rating and the token to rate
//! it.

use panoply_contract::hints::{ActionCategory, Level};
use panoply_contract::prelude::*;
use panoply_contract::spec::Widget;
use serde_json::json;

use super::preview::{Preview, previews};
use super::service::{NoemaService, exact_evidence, now};
use super::specs::QUERY;
use super::wire::CardId;
use crate::collection;
use crate::render;
use crate::review::{self, ReviewToken, Side};

pub(super) const SPEC: ToolSpec = ToolSpec {
    name: "reveal-answer",
    title: "Reveal the answer",
    description: Description {
        does: "Returns the answer of the card from `get-next-card`, the effect of each of the four ratings, and the token to rate it.",
        when: "Use this after the learner has answered. Compare the answers; `typed` is compared for you.",
        returns: "Returns the back, the four previews and a second token for `submit-review`.",
        asks: &["What is the answer?", "Turn the card"],
    },
    permissions: &["reviews:read"],
    data: &["cards", "schedule"],
    examples: &[
        Example { shows: "the sample card", params: r##"{"token": "front.123.0.1794744000000000.500321b824622031ce0835cb"}"##, expect: Expect::Data(r##"{"cardId": "card_123", "back": "What is 7 × 8?\n56"}"##) },
        Example { shows: "a typed answer is compared", params: r##"{"token": "front.123.0.1794744000000000.500321b824622031ce0835cb", "typed": "56"}"##, expect: Expect::Data(r##"{"cardId": "card_123"}"##) },
        Example { shows: "a foreign token", params: r##"{"token": "front.123.0.0.beef"}"##, expect: Expect::Error("BAD_TOKEN") },
    ],
    tags: &["learning", "content"],
    listing: Listing::Core,
    widget: Some(Widget {
        resource_uri: "ui://panoply/noema-review-v1.html",
        invoking: "Revealing the card…",
        invoked: "Answer",
    }),
    ..QUERY
}
.checked();

/// The card to use.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// Token from `get-next-card`.
    #[schemars(length(min = 1, max = 200))]
    token: String,
    /// Answer typed by the learner, for typed cards.
    #[schemars(length(max = 2000))]
    typed: Option<String>,
}

/// The answer.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// Card.
    card_id: CardId,
    /// Back as plain text, including the front if the template does.
    back: String,
    /// Back as HTML if it contains markup; null otherwise.
    back_html: Option<String>,
    /// Whether the typed answer is correct, ignoring case and whitespace; null if none was expected.
    typed_right: Option<bool>,
    /// Effect of each rating.
    previews: Vec<Preview>,
    /// Pass it to `submit-review`.
    token: String,
}

pub(super) fn call(
    service: &NoemaService,
    params: Params,
    cx: &CallContext,
) -> Result<Reply<Output>, ToolError> {
    let now = now(cx);
    let output = service.read(|reader| {
        let (showing, card) = review::verify_token(reader, &params.token)?;
        let (note, note_type) = collection::note_and_type(reader, card.note)?;
        let sides = render::sides(&note_type, &note.fields, &note.tags, card.ordinal);
        let scheduler = collection::options_of(reader, card.deck)?.scheduler();
        let back = render::strip_html(&sides.back);
        let turned = ReviewToken { side: Side::Back, ..showing };
        let typed_right = sides
            .typed
            .as_deref()
            .zip(params.typed.as_deref())
            .map(|(right, typed)| is_same_answer(right, typed));
        Ok(Output {
            card_id: CardId::of(card.id),
            back_html: (back != sides.back).then_some(sides.back),
            back,
            typed_right,
            previews: previews(&scheduler, &card, now),
            token: turned.sign(&reader.secret()?)?,
        })
    })?;
    let text = output.back.clone();
    let next = NextAction::new(
        "submit-review",
        json!({"token": output.token, "rating": "good"}),
        "record how well it was recalled (again, hard, good or easy)",
    )
    .priority(Level::High)
    .category(ActionCategory::Learning);
    Ok(Reply::new(output, text, exact_evidence("the card").changes(NextChange::WithNextAction))
        .next(next))
}

fn is_same_answer(right: &str, typed: &str) -> bool {
    let normalize =
        |text: &str| text.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ");
    normalize(right) == normalize(typed)
}
