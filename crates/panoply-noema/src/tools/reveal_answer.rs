//! `reveal-answer`: turns the card that `get-next-card` asked: gives its answer, what each of the four ratings would do, and the token to rate it with.

use panoply_contract::hints::{ActionCategory, Level};
use panoply_contract::prelude::*;
use panoply_contract::spec::Widget;
use serde_json::json;

use super::preview::{Preview, previews};
use super::service::{NoemaService, exact_evidence, now};
use super::wire::CardId;
use crate::collection;
use crate::render;
use crate::review::{self, ReviewToken, Side};

const SPEC: ToolSpec = ToolSpec {
    name: "reveal-answer",
    title: "Reveal the answer",
    description: Description {
        does: "Turns the card that `get-next-card` asked: gives its answer, what each of the four ratings would do, and the token to rate it with.",
        when: "Use this after the learner has answered. Compare with what they said; with `typed` it is compared for you.",
        returns: "Returns the back, the four previews and a second token for `submit-review`.",
        asks: &["What is the answer?", "Turn the card"],
    },
    version: "1.0.0",
    aliases: &[],
    permissions: &["reviews:read"],
    category: Category::Query,
    response_time: ResponseTime::Fast,
    cache: CachePolicy::Never,
    idempotent: true,
    data: &["cards", "schedule"],
    examples: &[
        Example { shows: "the sample card", params: r##"{"token": "front.123.0.1794744000000000.500321b824622031ce0835cb"}"##, expect: Expect::Data(r##"{"cardId": "card_123", "back": "What is 7 × 8?\n56"}"##) },
        Example { shows: "what was typed is compared", params: r##"{"token": "front.123.0.1794744000000000.500321b824622031ce0835cb", "typed": "56"}"##, expect: Expect::Data(r##"{"cardId": "card_123"}"##) },
        Example { shows: "a token that we did not give", params: r##"{"token": "front.123.0.0.beef"}"##, expect: Expect::Error("BAD_TOKEN") },
    ],
    tags: &["learning", "content"],
    rate_limit: Some(RateLimit { max_calls: 600, window: Duration::from_secs(60) }),
    deprecated: None,
    annotations: Annotations::CLOSED,
    listing: Listing::Core,
    widget: Some(Widget {
        resource_uri: "ui://panoply/noema-review-v1.html",
        invoking: "Turning the card…",
        invoked: "Answer",
    }),
}
.checked();

/// Which card.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// The token from `get-next-card`.
    #[schemars(length(min = 1, max = 200))]
    token: String,
    /// What the learner typed, for cards that ask for it.
    #[schemars(length(max = 2000))]
    typed: Option<String>,
}

/// The answer.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// The card.
    card_id: CardId,
    /// The back as text, with the front where the card shows it.
    back: String,
    /// The back as HTML, where it has markup; null where it has none.
    back_html: Option<String>,
    /// Whether what was typed is right, case and blanks apart; null if nothing was to be typed.
    typed_right: Option<bool>,
    /// What each rating would do.
    previews: Vec<Preview>,
    /// Give it to `submit-review`.
    token: String,
}

/// See the module.
pub(super) struct RevealAnswer {
    pub(super) service: NoemaService,
}

impl Tool for RevealAnswer {
    type Params = Params;
    type Output = Output;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, params: Params, cx: &CallContext) -> Result<Reply<Output>, ToolError> {
        let now = now(cx);
        let output = self.service.read(|reader| {
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
                .map(|(right, typed)| same(right, typed));
            Ok(Output {
                card_id: CardId::of(card.id),
                back_html: (back != sides.back).then_some(sides.back),
                back,
                typed_right,
                previews: previews(&scheduler, &card, now),
                token: turned.sign(&reader.secret()?),
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
}

fn same(right: &str, typed: &str) -> bool {
    let tidy = |text: &str| text.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ");
    tidy(right) == tidy(typed)
}
