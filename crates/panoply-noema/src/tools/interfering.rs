//! Cards that interfere with a new note: found among the cards of its deck, and within a batch.

use std::collections::{BTreeMap, BTreeSet};

use super::notes::QualityView;
use super::wire::CardId;
use crate::card::Card;
use crate::collection::{self, NewNote};
use crate::error::Result;
use crate::fsrs::Micros;
use crate::ids;
use crate::interference::{self, Interference, Prompt};
use crate::note::{self, NoteType};
use crate::search::{Node, Test};
use crate::store::{SearchContext, SortOrder, StoreReader};

/// A text that more cards than this contain tells nothing about what they ask.
const MAX_CANDIDATES: u64 = 2000;
/// Most cards that are reported for a note.
const MAX_REPORTED: usize = 3;

/// The cards that interfere with a note to create. Decks give context, so only those of its deck,
/// the decks above and below are compared: `dog` may be `perro` in one deck and `chien` in another.
pub(super) fn existing(
    reader: &dyn StoreReader,
    new: &NewNote,
    now: Micros,
) -> Result<Vec<QualityView>> {
    let Some(note_type) = reader.note_type(new.note_type)? else { return Ok(Vec::new()) };
    let prompts = interference::prompts(&note_type, &new.fields);
    let own = collection::deck(reader, new.deck)?.name;
    let family: BTreeSet<ids::DeckId> = reader
        .decks()?
        .into_iter()
        .filter(|deck| deck.name.is_within(&own) || own.is_within(&deck.name))
        .map(|deck| deck.id)
        .collect();
    let first = note::plain_first_field(new.fields.first().map_or("", String::as_str));
    let mut types: BTreeMap<ids::NoteTypeId, Option<NoteType>> = BTreeMap::new();
    let mut found = Vec::new();
    for id in candidates(reader, &prompts, now)? {
        let card = collection::card(reader, id)?;
        if !family.contains(&card.deck) {
            continue;
        }
        let Some(note) = reader.note(card.note)? else { continue };
        let other_type = match types.get(&note.note_type) {
            Some(known) => known.clone(),
            None => {
                let read = reader.note_type(note.note_type)?;
                types.insert(note.note_type, read.clone());
                read
            }
        };
        let Some(other_type) = other_type else { continue };
        let is_duplicate =
            note.fields.first().is_some_and(|other| note::plain_first_field(other) == first);
        let others = interference::prompts(&other_type, &note.fields);
        let other = others.iter().find(|prompt| prompt.ordinal == card.ordinal);
        let kind = other.and_then(|other| Some((strongest(&prompts, other)?, other)));
        // `duplicates` already has the notes with an equal first field.
        if let Some((kind, other)) = kind
            && !(is_duplicate && kind == Interference::AskedTwice)
        {
            found.push((rank(&kind), id, view(&kind, &CardId::of(id), other)));
        }
    }
    found.sort_by_key(|(rank, id, _)| (*rank, *id));
    Ok(found.into_iter().map(|(.., view)| view).take(MAX_REPORTED).collect())
}

fn candidates(
    reader: &dyn StoreReader,
    prompts: &[Prompt],
    now: Micros,
) -> Result<BTreeSet<ids::CardId>> {
    let texts: BTreeSet<String> = prompts.iter().flat_map(Prompt::search_texts).collect();
    let context = SearchContext { now, calendar: collection::calendar(reader)? };
    let mut candidates = BTreeSet::new();
    for text in texts {
        let node = Node::Test(Test::Text(text));
        let found = reader.search(&node, context, SortOrder::Created, 0, MAX_CANDIDATES)?;
        if found.total <= MAX_CANDIDATES {
            candidates.extend(found.cards);
        }
    }
    Ok(candidates)
}

/// The prompts of the notes of a batch that were created before.
#[derive(Default)]
pub(super) struct Batch(Vec<(Prompt, CardId)>);

impl Batch {
    /// Compares a note with the earlier ones and adds it with its cards.
    pub(super) fn add(
        &mut self,
        note_type: &NoteType,
        fields: &[String],
        cards: &[Card],
    ) -> Vec<QualityView> {
        let prompts = interference::prompts(note_type, fields);
        let found: Vec<QualityView> = self
            .0
            .iter()
            .filter_map(|(other, card)| Some(view(&strongest(&prompts, other)?, card, other)))
            .take(MAX_REPORTED)
            .collect();
        let card_of = |prompt: &Prompt| cards.iter().find(|card| card.ordinal == prompt.ordinal);
        let added = prompts.into_iter().filter_map(|prompt| {
            let card = CardId::of(card_of(&prompt)?.id);
            Some((prompt, card))
        });
        self.0.extend(added);
        found
    }
}

/// The strongest interference of the prompts of a note with another card.
fn strongest(prompts: &[Prompt], other: &Prompt) -> Option<Interference> {
    prompts.iter().filter_map(|prompt| prompt.interference(other)).min_by_key(rank)
}

const fn rank(kind: &Interference) -> u8 {
    match kind {
        Interference::OtherAnswer => 0,
        Interference::AskedTwice => 1,
        Interference::SimilarTerms(..) => 2,
    }
}

/// The words for a person. The other card's answer is not quoted: no listing shows answers.
fn view(kind: &Interference, card: &CardId, other: &Prompt) -> QualityView {
    let shown: String = other.shown.chars().take(80).collect();
    let (message, fix) = match kind {
        Interference::OtherAnswer => (
            format!("{card} `{shown}` asks the same and has another answer"),
            "say in both questions what tells them apart, such as context, place or time",
        ),
        Interference::AskedTwice => (
            format!("{card} `{shown}` asks the same and has the same answer"),
            "keep one of the two",
        ),
        Interference::SimilarTerms(one, two) => (
            format!("{card} `{shown}` differs only in `{two}`, which is easily taken for `{one}`"),
            "put what tells the two terms apart on both cards, or ask for the difference",
        ),
    };
    QualityView { rule: "interference", message, fix, card_id: Some(card.clone()) }
}
