//! `find-duplicates`: finds notes with equal first fields, ignoring markup and case.

use panoply_contract::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

use panoply_contract::params::Limit;
use serde_json::json;

use super::service::{NoemaService, exact_evidence, now, with_next};
use super::specs::ANALYSIS;
use super::wire::{CardId, DeckId};
use crate::collection;
use crate::deck::DeckOptions;
use crate::render;
use crate::search::Node;
use crate::statistics;
use crate::store::{SearchContext, SortOrder};

pub(super) const SPEC: ToolSpec = ToolSpec {
    name: "find-duplicates",
    title: "Find duplicates",
    description: Description {
        does: "Finds notes with equal first fields, ignoring markup and case.",
        when: "Use this after an import or when questions repeat. Merge by deleting one with `delete-cards`.",
        returns: "Returns groups of duplicate cards, largest first.",
        asks: &["Do I have the same card twice?"],
    },
    permissions: &["cards:read"],
    cache: CachePolicy::For(Duration::from_secs(60)),
    data: &["cards", "decks"],
    examples: &[
        Example { shows: "the whole collection", params: r##"{}"##, expect: Expect::Data(r##"{"groups": [{"front": "Capital of France?"}]}"##) },
        Example { shows: "one deck", params: r##"{"deckId": "deck_456"}"##, expect: Expect::Data(r##"{"groups": []}"##) },
    ],
    tags: &["cards", "analytics"],
    ..ANALYSIS
}
.checked();

/// Where to search.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// Only this deck and its subdecks.
    deck_id: Option<DeckId>,
    /// Maximum number of groups.
    #[serde(default)]
    limit: Limit,
}

/// The result of a search.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// Groups of duplicates, largest first.
    groups: Vec<Group>,
    /// Number of compared notes.
    compared: usize,
}

/// Cards with equal fronts.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Group {
    /// The common front.
    front: String,
    /// First card of each note, oldest first.
    card_ids: Vec<CardId>,
}

pub(super) fn call(
    service: &NoemaService,
    params: Params,
    cx: &CallContext,
) -> Result<Reply<Output>, ToolError> {
    let now = now(cx);
    let deck = params.deck_id.as_ref().map(DeckId::domain);
    let (mut groups, compared) = service.read(|reader| {
        let (decks, _) = statistics::scope(reader, deck)?;
        let context = SearchContext { now, calendar: DeckOptions::default().calendar() };
        let found = reader.search(&Node::All, context, SortOrder::Created, 0, u64::MAX)?;
        let mut by_front: BTreeMap<String, (String, Vec<CardId>)> = BTreeMap::new();
        let mut seen = BTreeSet::new();
        for id in found.cards {
            let card = collection::card(reader, id)?;
            if !decks.contains(&card.deck) || !seen.insert(card.note) {
                continue;
            }
            let Some(note) = reader.note(card.note)? else { continue };
            let front = render::strip_html(note.fields.first().map_or("", String::as_str));
            let entry = by_front.entry(front.to_lowercase()).or_insert((front, Vec::new()));
            entry.1.push(CardId::of(card.id));
        }
        let groups: Vec<Group> = by_front
            .into_values()
            .filter(|(_, cards)| cards.len() > 1)
            .map(|(front, card_ids)| Group { front, card_ids })
            .collect();
        Ok((groups, seen.len()))
    })?;
    groups.sort_by(|a, b| {
        b.card_ids.len().cmp(&a.card_ids.len()).then_with(|| a.front.cmp(&b.front))
    });
    groups.truncate(params.limit.get());
    let text = match groups.len() {
        0 => format!("No duplicates among {compared} notes."),
        count => format!("{count} groups of duplicates among {compared} notes."),
    };
    let next = groups.first().and_then(|group| group.card_ids.last()).map(|card| {
        NextAction::new(
            "get-card",
            json!({"cardId": card.as_str()}),
            "read one of them before deleting it",
        )
    });
    Ok(with_next(Reply::new(Output { groups, compared }, text, exact_evidence("the notes")), next))
}
