//! `find-duplicates`: finds notes with equal first fields, ignoring markup and case.

use panoply_contract::prelude::*;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use panoply_contract::params::Limit;
use serde_json::json;

use super::service::{NoemaService, exact_evidence, now, with_next};
use super::specs::ANALYSIS;
use super::wire::{CardId, DeckId};
use crate::collection;
use crate::html;
use crate::quality::{Similarity, cosine};
use crate::search::Node;
use crate::statistics;
use crate::store::{SearchContext, SortOrder};

pub(super) const SPEC: ToolSpec = ToolSpec {
    name: "find-duplicates",
    title: "Find duplicates",
    description: Description {
        does: "Finds notes with equal first fields, ignoring markup and case; or notes whose whole content is worded alike.",
        when: "Use this after an import or when questions repeat. Merge by deleting one with `delete-cards`.",
        returns: "Returns groups of duplicate cards, largest first.",
        asks: &["Do I have the same card twice?"],
    },
    permissions: &["cards:read"],
    cache: CachePolicy::For(Duration::from_secs(60)),
    data: &["cards", "decks"],
    examples: &[
        Example { shows: "the whole collection", params: r##"{}"##, expect: Expect::Data(r##"{"groups": [{"front": "Capital of France?"}]}"##) },
        Example { shows: "notes that are worded alike", params: r##"{"similar": true, "minSimilarity": 0.9}"##, expect: Expect::Data(r##"{"groups": [{"front": "Capital of France?", "cardIds": ["card_128", "card_129"]}]}"##) },
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
    /// Whether to find notes whose whole content is worded alike, instead of equal first fields.
    #[serde(default)]
    similar: bool,
    /// Similarity from which notes are alike, with `similar`.
    #[schemars(range(min = 0.3, max = 0.99))]
    #[serde(default = "default_similarity")]
    min_similarity: f64,
    /// Maximum number of groups.
    #[serde(default)]
    limit: Limit,
}

const fn default_similarity() -> f64 {
    0.6
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

/// The text of a note.
struct NoteText {
    id: CardId,
    front: String,
    content: String,
}

/// Trigrams in more notes than this do not make notes candidates.
const MAX_COMMON: usize = 40;

/// Groups of notes whose content is worded alike. Only notes that share a rare trigram are compared.
fn near_duplicates(notes: &[NoteText], min_similarity: f64) -> Vec<Group> {
    let similarity = Similarity::of(notes.iter().map(|note| note.content.as_str()));
    let vectors: Vec<_> = notes.iter().map(|note| similarity.vector(&note.content)).collect();
    let mut holders: HashMap<u64, Vec<usize>> = HashMap::new();
    for (index, vector) in vectors.iter().enumerate() {
        for (gram, _) in vector {
            holders.entry(*gram).or_default().push(index);
        }
    }
    let mut taken = BTreeSet::new();
    let mut groups = Vec::new();
    for (index, (note, vector)) in notes.iter().zip(&vectors).enumerate() {
        if taken.contains(&index) {
            continue;
        }
        let rare = vector
            .iter()
            .filter_map(|(gram, _)| holders.get(gram))
            .filter(|list| list.len() <= MAX_COMMON);
        let candidates: BTreeSet<usize> =
            rare.flatten().copied().filter(|other| *other > index).collect();
        let alike = candidates.into_iter().filter(|other| !taken.contains(other)).filter(|other| {
            vectors.get(*other).is_some_and(|other| cosine(vector, other) >= min_similarity)
        });
        let alike: Vec<usize> = alike.collect();
        if alike.is_empty() {
            continue;
        }
        let ids = alike.iter().filter_map(|other| notes.get(*other)).map(|other| other.id.clone());
        let card_ids = std::iter::once(note.id.clone()).chain(ids).collect();
        taken.extend(alike);
        groups.push(Group { front: note.front.clone(), card_ids });
    }
    groups
}

/// Cards with equal fronts.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Group {
    /// The common front; with `similar` that of the first.
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
        let context = SearchContext { now, calendar: collection::calendar(reader)? };
        let found = reader.search(&Node::All, context, SortOrder::Created, 0, u64::MAX)?;
        let mut by_front: BTreeMap<String, (String, Vec<CardId>)> = BTreeMap::new();
        let mut texts: Vec<NoteText> = Vec::new();
        let mut seen = BTreeSet::new();
        for id in found.cards {
            let card = collection::card(reader, id)?;
            if !decks.contains(&card.deck) || !seen.insert(card.note) {
                continue;
            }
            let Some(note) = reader.note(card.note)? else { continue };
            let front = html::shown(note.fields.first().map_or("", String::as_str));
            let id = CardId::of(card.id);
            if params.similar {
                let content: Vec<String> =
                    note.fields.iter().map(|field| html::strip(field)).collect();
                texts.push(NoteText { id, front, content: content.join(" ") });
                continue;
            }
            let entry = by_front.entry(front.to_lowercase()).or_insert((front, Vec::new()));
            entry.1.push(id);
        }
        if params.similar {
            return Ok((near_duplicates(&texts, params.min_similarity), seen.len()));
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
