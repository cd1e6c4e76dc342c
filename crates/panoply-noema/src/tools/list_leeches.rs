//! `list-leeches`: lists cards with many lapses and possible reasons.

use panoply_contract::calculus::risk;
use panoply_contract::hints::{ActionCategory, RiskKind};
use panoply_contract::params::Limit;
use panoply_contract::prelude::*;
use serde_json::json;

use super::notes::{duplicates_of, pluralize};
use super::service::{NoemaService, exact_evidence, now, with_next};
use super::specs::ANALYSIS;
use super::wire::{CardId, CardState, DeckId};
use crate::card::Card;
use crate::collection;
use crate::error::Result;
use crate::ids;
use crate::note::{Note, NoteType};
use crate::numbers::len_to_f64;
use crate::quality::{self, Similarity, cosine};
use crate::statistics;
use crate::store::StoreReader;
use crate::{html, render};

pub(super) const SPEC: ToolSpec = ToolSpec {
    name: "list-leeches",
    title: "List leeches",
    description: Description {
        does: "Finds cards with many lapses, possible reasons (duplicates, similar questions, long answers, many siblings) and what to change on each.",
        when: "Use this when progress stalls. Rewrite a leech with `update-card`, or suspend it with `suspend-cards`.",
        returns: "Returns the cards with the most lapses, possible reasons, repairs and the cards they are confused with.",
        asks: &["Which cards do I always forget?", "What is holding me back?"],
    },
    permissions: &["schedule:read"],
    data: &["cards", "schedule", "reviews"],
    examples: &[
        Example { shows: "the whole collection", params: r##"{"minLapses": 3}"##, expect: Expect::Data(r##"{"leeches": [{"cardId": "card_124"}]}"##) },
        Example { shows: "no match", params: r##"{"minLapses": 90}"##, expect: Expect::Data(r##"{"leeches": []}"##) },
    ],
    tags: &["scheduling", "analytics"],
    ..ANALYSIS
}
.checked();

/// The cards to change.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// Only this deck and its subdecks.
    deck_id: Option<DeckId>,
    /// Minimum number of lapses.
    #[schemars(range(min = 1, max = 99))]
    #[serde(default = "default_min_lapses")]
    min_lapses: u32,
    /// Maximum number of cards.
    #[serde(default)]
    limit: Limit,
}

const fn default_min_lapses() -> u32 {
    4
}

/// The leeches.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// Most lapses first.
    leeches: Vec<Row>,
}

/// A card with many lapses.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Row {
    /// Card.
    card_id: CardId,
    /// Front as plain text.
    front: String,
    /// Number of lapses.
    lapses: u32,
    /// Number of reviews.
    reviews: u32,
    /// Study state of the card.
    state: CardState,
    /// Possible reasons.
    reasons: Vec<String>,
    /// What to change, most specific first.
    repairs: Vec<String>,
    /// Cards with a similar question, which are easily confused with it.
    confused_with: Vec<CardId>,
}

pub(super) fn call(
    service: &NoemaService,
    params: Params,
    cx: &CallContext,
) -> Result<Reply<Output>, ToolError> {
    let now = now(cx);
    let deck = params.deck_id.as_ref().map(DeckId::domain);
    let (rows, threshold) = service.read(|reader| {
        let (decks, options) = statistics::scope(reader, deck)?;
        let mut cards: Vec<_> = reader
            .answered_cards()?
            .into_iter()
            .filter(|card| card.lapses >= params.min_lapses && decks.contains(&card.deck))
            .collect();
        cards.sort_by(|a, b| b.lapses.cmp(&a.lapses).then(a.id.cmp(&b.id)));
        cards.truncate(params.limit.get());
        let questions = questions(reader, &decks)?;
        let similarity = Similarity::of(questions.iter().map(|(_, text)| text.as_str()));
        let mut rows = Vec::new();
        for card in cards {
            let (note, note_type) = collection::note_and_type(reader, card.note)?;
            let sides = render::sides_of(&note_type, &note, &card);
            let confused_with = similar_to(&card, &questions, &similarity);
            rows.push(Row {
                repairs: repairs(&note_type, &note, !confused_with.is_empty()),
                confused_with,
                card_id: CardId::of(card.id),
                front: html::shown(&sides.front).chars().take(160).collect(),
                lapses: card.lapses,
                reviews: card.reps,
                state: CardState::of(&card, now),
                reasons: reasons(reader, &card, &html::shown(&sides.back))?,
            });
        }
        Ok((rows, options.leech_threshold))
    })?;
    let text = match rows.len() {
        0 => format!("No card was forgotten {} times or more.", params.min_lapses),
        count => {
            format!("{} forgotten {} times or more.", pluralize(count, "card"), params.min_lapses)
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
        "leeches cost time and are rarely retained",
        share,
        (len_to_f64(rows.len()) / 20.0).min(1.0),
        Some("rewrite or suspend the worst".to_owned()),
    );
    let reply =
        Reply::new(Output { leeches: rows }, text, exact_evidence("the schedules")).risk(hard);
    Ok(with_next(reply, next))
}

/// Most notes among which similar questions are looked for.
const MAX_COMPARED: usize = 5000;
/// Similarity from which questions are confused.
const CONFUSING: f64 = 0.55;

/// The note and first field of studied cards of these decks.
fn questions(reader: &dyn StoreReader, decks: &[ids::DeckId]) -> Result<Vec<(Card, String)>> {
    let mut found = Vec::new();
    let mut seen = std::collections::BTreeSet::new();
    for card in reader.answered_cards()? {
        if found.len() >= MAX_COMPARED || !decks.contains(&card.deck) || !seen.insert(card.note) {
            continue;
        }
        let Some(note) = reader.note(card.note)? else { continue };
        let text = html::strip(note.fields.first().map_or("", String::as_str));
        found.push((card, text));
    }
    Ok(found)
}

/// Up to three cards with a similar question.
fn similar_to(card: &Card, questions: &[(Card, String)], similarity: &Similarity) -> Vec<CardId> {
    let own = questions.iter().find(|(other, _)| other.note == card.note);
    let Some((_, text)) = own else { return Vec::new() };
    let vector = similarity.vector(text);
    let mut alike: Vec<(f64, CardId)> = questions
        .iter()
        .filter(|(other, _)| other.note != card.note)
        .map(|(other, text)| (cosine(&vector, &similarity.vector(text)), CardId::of(other.id)))
        .filter(|(score, _)| *score >= CONFUSING)
        .collect();
    alike.sort_by(|one, other| other.0.total_cmp(&one.0));
    alike.into_iter().take(3).map(|(_, id)| id).collect()
}

/// What to change on a card that is forgotten again and again.
fn repairs(note_type: &NoteType, note: &Note, confused: bool) -> Vec<String> {
    let faults = quality::check(note_type, &note.fields);
    let mut repairs: Vec<String> =
        faults.into_iter().map(|fault| format!("{}: {}", fault.message, fault.fix)).collect();
    if confused {
        repairs.push("name in each question what sets it apart from the similar cards".to_owned());
    }
    repairs.push("add a picture, an example or a mnemonic with `update-card`, then `reschedule-cards` with `forget`".to_owned());
    repairs.push("or suspend it with `suspend-cards` if it is not worth the time".to_owned());
    repairs
}

/// Reasons visible in the data: long answers, duplicates, many siblings.
fn reasons(reader: &dyn StoreReader, card: &Card, back: &str) -> Result<Vec<String>> {
    const LONG: usize = 200;
    let mut reasons = Vec::new();
    let length = back.chars().count();
    if length > LONG {
        reasons.push(format!("its answer has {length} characters; one fact per card is easier"));
    }
    let siblings = reader.cards_of(card.note)?.len();
    if siblings > 3 {
        reasons.push(format!("its note generates {siblings} cards, which are easily confused"));
    }
    if let Some(note) = reader.note(card.note)? {
        let same = duplicates_of(reader, note.fields.first().map_or("", String::as_str))?.len();
        if same > 1 {
            reasons.push(format!("{same} notes have the same front"));
        }
    }
    if card.schedule.memory.is_some_and(|memory| memory.difficulty >= 9.0) {
        reasons.push("its difficulty is near the maximum".to_owned());
    }
    Ok(reasons)
}
