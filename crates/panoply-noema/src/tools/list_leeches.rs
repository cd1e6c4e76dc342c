//! `list-leeches`: finds cards that are forgotten again and again, with what makes them hard: similar cards, long answers, little time.

use panoply_contract::calculus::risk;
use panoply_contract::hints::{ActionCategory, RiskKind};
use panoply_contract::params::Limit;
use panoply_contract::prelude::*;
use serde_json::json;

use super::notes::{duplicates_of, pluralize};
use super::service::{NoemaService, exact_evidence, now, with_next};
use super::wire::{CardId, CardState, DeckId};
use crate::card::Card;
use crate::collection;
use crate::error::NoemaError;
use crate::numbers::len_to_f64;
use crate::render;
use crate::statistics;
use crate::store::StoreReader;

const SPEC: ToolSpec = ToolSpec {
    name: "list-leeches",
    title: "List leeches",
    description: Description {
        does: "Finds cards that are forgotten again and again, with what makes them hard: similar cards, long answers, little time.",
        when: "Use this when study feels stuck. Mend a leech with `update-card`, or drop it with `suspend-cards`.",
        returns: "Returns the cards with the most lapses and possible reasons.",
        asks: &["Which cards do I always forget?", "What is holding me back?"],
    },
    version: "1.0.0",
    aliases: &[],
    permissions: &["schedule:read"],
    category: Category::Analysis,
    response_time: ResponseTime::Medium,
    cache: CachePolicy::Never,
    idempotent: true,
    data: &["cards", "schedule", "reviews"],
    examples: &[
        Example { shows: "the whole collection", params: r##"{"minLapses": 3}"##, expect: Expect::Data(r##"{"leeches": [{"cardId": "card_124"}]}"##) },
        Example { shows: "nothing that bad", params: r##"{"minLapses": 90}"##, expect: Expect::Data(r##"{"leeches": []}"##) },
    ],
    tags: &["scheduling", "analytics"],
    rate_limit: Some(RateLimit { max_calls: 120, window: Duration::from_secs(60) }),
    deprecated: None,
    annotations: Annotations::CLOSED,
    listing: Listing::Extra,
    widget: None,
}
.checked();

/// Which cards.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// Only this deck and those under it.
    deck_id: Option<DeckId>,
    /// From how many lapses on.
    #[schemars(range(min = 1, max = 99))]
    #[serde(default = "four")]
    min_lapses: u32,
    /// How many cards to return at most.
    #[serde(default)]
    limit: Limit,
}

const fn four() -> u32 {
    4
}

/// The leeches.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// Most forgotten first.
    leeches: Vec<Row>,
}

/// A card that is forgotten too often.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Row {
    /// The card.
    card_id: CardId,
    /// The front as text.
    front: String,
    /// How often it was forgotten.
    lapses: u32,
    /// How often it was answered.
    reviews: u32,
    /// Where it stands.
    state: CardState,
    /// What may make it hard.
    reasons: Vec<String>,
}

/// See the module.
pub(super) struct ListLeeches {
    pub(super) service: NoemaService,
}

impl Tool for ListLeeches {
    type Params = Params;
    type Output = Output;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, params: Params, cx: &CallContext) -> Result<Reply<Output>, ToolError> {
        let now = now(cx);
        let deck = params.deck_id.as_ref().map(DeckId::domain);
        let (rows, threshold) = self.service.read(|reader| {
            let (decks, options) = statistics::scope(reader, deck)?;
            let mut cards: Vec<_> = reader
                .answered_cards()?
                .into_iter()
                .filter(|card| card.lapses >= params.min_lapses && decks.contains(&card.deck))
                .collect();
            cards.sort_by(|a, b| b.lapses.cmp(&a.lapses).then(a.id.cmp(&b.id)));
            cards.truncate(params.limit.get());
            let mut rows = Vec::new();
            for card in cards {
                let (note, note_type) = collection::note_and_type(reader, card.note)?;
                let sides = render::sides(&note_type, &note.fields, &note.tags, card.ordinal);
                rows.push(Row {
                    card_id: CardId::of(card.id),
                    front: render::strip_html(&sides.front).chars().take(160).collect(),
                    lapses: card.lapses,
                    reviews: card.reps,
                    state: CardState::of(&card, now),
                    reasons: reasons(reader, &card, &render::strip_html(&sides.back))?,
                });
            }
            Ok((rows, options.leech_threshold))
        })?;
        let text = match rows.len() {
            0 => format!("No card was forgotten {} times or more.", params.min_lapses),
            count => {
                format!(
                    "{} forgotten {} times or more.",
                    pluralize(count, "card"),
                    params.min_lapses
                )
            }
        };
        let worst = rows.first();
        let next = worst.map(|row| {
            NextAction::new(
                "get-card",
                json!({"cardId": row.card_id.as_str()}),
                "read the worst one, then rewrite it",
            )
            .category(ActionCategory::Correction)
        });
        let share = worst.map_or(0.0, |row| f64::from(row.lapses) / f64::from(threshold.max(1)));
        let hard = risk(
            RiskKind::UserExperience,
            "leeches take time and give little",
            share,
            (len_to_f64(rows.len()) / 20.0).min(1.0),
            Some("rewrite or suspend the worst".to_owned()),
        );
        let reply =
            Reply::new(Output { leeches: rows }, text, exact_evidence("the schedules")).risk(hard);
        Ok(with_next(reply, next))
    }
}

/// What can be seen from outside: long answers, cards that ask the same, many siblings.
fn reasons(reader: &dyn StoreReader, card: &Card, back: &str) -> Result<Vec<String>, NoemaError> {
    const LONG: usize = 200;
    let mut reasons = Vec::new();
    let length = back.chars().count();
    if length > LONG {
        reasons.push(format!("its answer has {length} characters; one fact to a card is easier"));
    }
    let siblings = reader.cards_of(card.note)?.len();
    if siblings > 3 {
        reasons.push(format!("its note makes {siblings} cards, which are easily confused"));
    }
    if let Some(note) = reader.note(card.note)? {
        let same = duplicates_of(reader, note.fields.first().map_or("", String::as_str))?.len();
        if same > 1 {
            reasons.push(format!("{same} notes ask the same"));
        }
    }
    if card.schedule.memory.is_some_and(|memory| memory.difficulty >= 9.0) {
        reasons.push("it has become as difficult as a card can be".to_owned());
    }
    Ok(reasons)
}
