//! `reveal-answer`: returns the answer of a card, the effect of each rating and the token to rate
//! it.

use panoply_contract::prelude::*;
use panoply_contract::spec::Widget;

use super::media_view::{self, MediaView, OcclusionView, SpeechView};
use super::preview::{Preview, previews};
use super::service::{NoemaService, exact_evidence, now};
use super::specs::QUERY;
use super::wire::{CardId, side};
use crate::collection;
use crate::grading::{self, Verdict};
use crate::occlusion::Occlusion;
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
        Example { shows: "a typed answer is compared", params: r##"{"token": "front.123.0.1794744000000000.500321b824622031ce0835cb", "typed": "56"}"##, expect: Expect::Data(r##"{"cardId": "card_123", "grade": {"verdict": "correct"}}"##) },
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
    #[schemars(length(min = 1, max = 200), regex(pattern = r"^[0-9A-Za-z._-]+$"))]
    token: String,
    /// The learner's answer, typed or spoken; it is compared with the expected one.
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
    /// Back as HTML if it contains markup; absent otherwise, and if it has more than 24 KB.
    #[serde(skip_serializing_if = "Option::is_none")]
    back_html: Option<String>,
    /// Media that the back shows in addition to the front; small pictures and sounds are also content of the reply.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    media: Vec<MediaView>,
    /// Regions of an image occlusion; absent for other cards. The asked one is shown now.
    #[serde(skip_serializing_if = "Option::is_none")]
    occlusion: Option<OcclusionView>,
    /// Texts to speak.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    speech: Vec<SpeechView>,
    /// Whether the typed answer is correct, ignoring case and whitespace; absent if none was expected.
    #[serde(skip_serializing_if = "Option::is_none")]
    typed_right: Option<bool>,
    /// Comparison of the given answer with the expected one; absent if none was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    grade: Option<GradeView>,
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
    let (output, attachments) = service.read(|reader| {
        let (showing, card) = review::verify_token(reader, &params.token)?;
        let (note, note_type) = collection::note_and_type(reader, card.note)?;
        let sides = render::sides_of(&note_type, &note, &card);
        let scheduler =
            collection::options_of(reader, card.deck)?.scheduler(reader.learner_zone()?);
        // The front of an image occlusion did not contain the picture.
        let occlusion = Occlusion::of(&note_type, &note.fields, card.ordinal);
        let shown = if occlusion.is_some() { "" } else { sides.front.as_str() };
        let (media, attachments) = media_view::referenced(reader, &sides.back, shown)?;
        let expected =
            sides.typed.clone().unwrap_or_else(|| render::answer_alone(&sides.front, &sides.back));
        let speech = media_view::speech(&sides.back);
        let (back, back_html) = side(sides.back);
        // A line between front and answer is no markup worth repeating the card for.
        let back_html =
            back_html.filter(|html| html.replace(render::ANSWER_LINE, "").contains('<'));
        let turned = ReviewToken { side: Side::Back, ..showing };
        let typed_right = sides
            .typed
            .as_deref()
            .zip(params.typed.as_deref())
            .map(|(right, typed)| is_same_answer(right, typed));
        let output = Output {
            card_id: CardId::of(card.id),
            back,
            back_html,
            media,
            occlusion: occlusion.as_ref().map(OcclusionView::of),
            speech,
            typed_right,
            grade: params.typed.as_deref().map(|given| GradeView::of(&expected, given)),
            previews: previews(&scheduler, &card, now).into_iter().map(Preview::brief).collect(),
            token: turned.sign(&reader.secret()?)?,
        };
        Ok((output, attachments))
    })?;
    let text = output.back.clone();
    // No call of `submit-review` is suggested: it would carry a rating that nobody gave.
    let evidence = exact_evidence("the card").changes(NextChange::WithNextAction);
    let reply = Reply::new(output, text, evidence).needing("the learner's own rating");
    Ok(media_view::attach(reply, attachments))
}

/// A graded answer.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct GradeView {
    /// How close the wording is; a correct paraphrase may be `partial`.
    verdict: VerdictView,
    /// Similarity from 0 to 1.
    score: f64,
    /// Why.
    reasons: Vec<String>,
}

/// How close an answer is.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum VerdictView {
    /// The same.
    Correct,
    /// The same but for spelling or accents.
    Close,
    /// Some of it is there.
    Partial,
    /// Another answer.
    Wrong,
}

impl GradeView {
    fn of(expected: &str, given: &str) -> Self {
        let grade = grading::grade(expected, given);
        let verdict = match grade.verdict {
            Verdict::Correct => VerdictView::Correct,
            Verdict::Close => VerdictView::Close,
            Verdict::Partial => VerdictView::Partial,
            Verdict::Wrong => VerdictView::Wrong,
        };
        Self { verdict, score: grade.score, reasons: grade.reasons }
    }
}

fn is_same_answer(right: &str, typed: &str) -> bool {
    let normalize =
        |text: &str| text.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ");
    normalize(right) == normalize(typed)
}
