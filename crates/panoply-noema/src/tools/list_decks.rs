//! `list-decks`: lists all decks with their card counts.

use panoply_contract::prelude::*;
use serde_json::json;

use super::service::{NoemaService, changes_at, exact_evidence, now, with_next};
use super::specs::QUERY;
use super::wire::{CountsView, DeckView};
use crate::collection;
use crate::statistics;

pub(super) const SPEC: ToolSpec = ToolSpec {
    name: "list-decks",
    title: "List decks",
    description: Description {
        does: "Lists all decks as a tree with their numbers of new, learning, review and due cards.",
        when: "Use this when the learner asks what to study, or to find the id of a deck. To find a deck by name use `search-decks`.",
        returns: "Returns each deck with its id, its counts (including subdecks) and the totals.",
        asks: &["What do I have to study today?", "Which decks do I have?"],
    },
    permissions: &["decks:read"],
    cache: CachePolicy::For(Duration::from_secs(30)),
    data: &["cards", "decks"],
    examples: &[
        Example { shows: "every deck with its counts", params: r##"{}"##, expect: Expect::Data(r##"{"decks": [{"deckId": "deck_458", "name": "Geography"}, {"deckId": "deck_457"}, {"deckId": "deck_456", "name": "Math Deck"}]}"##) },
        Example { shows: "only decks with something due", params: r##"{"dueOnly": true}"##, expect: Expect::Data(r##"{}"##) },
    ],
    tags: &["decks", "learning"],
    listing: Listing::Core,
    ..QUERY
}
.checked();

/// Filter of the list.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// Only decks with due or new cards.
    #[serde(default)]
    due_only: bool,
}

/// The decks.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// Decks by name.
    decks: Vec<Row>,
    /// Totals over all decks.
    total: CountsView,
}

/// A deck with its counts.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Row {
    /// The deck.
    #[serde(flatten)]
    deck: DeckView,
    /// Depth in the tree, from 0.
    depth: usize,
    /// Card counts, including subdecks.
    counts: CountsView,
}

pub(super) fn call(
    service: &NoemaService,
    params: Params,
    cx: &CallContext,
) -> Result<Reply<Output>, ToolError> {
    let now = now(cx);
    let (decks, counts, rollover) = service.read(|reader| {
        let decks = reader.decks()?;
        let counts = statistics::counts(reader, &decks, now)?;
        Ok((decks, counts, collection::calendar(reader)?.next_start(now)))
    })?;
    let tops = decks.iter().filter(|deck| deck.name.parents().next().is_none());
    let total: statistics::Counts = tops.filter_map(|deck| counts.get(&deck.id)).copied().sum();
    let mut rows = Vec::new();
    for deck in &decks {
        let sums = counts.get(&deck.id).copied().unwrap_or_default();
        let depth = deck.name.parents().count();
        if !params.due_only || sums.due + sums.new > 0 {
            rows.push(Row { deck: DeckView::from(deck), depth, counts: sums.into() });
        }
    }
    let text = format!(
        "{} decks with {} cards: {} due, {} new.",
        rows.len(),
        total.cards,
        total.due,
        total.new
    );
    let table =
        rows.iter().take(30).fold(Table::new(["deck", "due", "new", "cards"]), |table, row| {
            table.row([
                row.deck.name.clone(),
                row.counts.due.to_string(),
                row.counts.new.to_string(),
                row.counts.cards.to_string(),
            ])
        });
    let busiest = rows.iter().max_by_key(|row| row.counts.due).filter(|row| row.counts.due > 0);
    let next = busiest.map(|row| {
        NextAction::new(
            "get-next-card",
            json!({"deckId": row.deck.deck_id.as_str()}),
            format!("study `{}`, which has the most due", row.deck.name),
        )
    });
    let evidence = exact_evidence("the deck counters").changes(changes_at(rollover));
    let reply =
        Reply::new(Output { decks: rows, total: total.into() }, text, evidence).table(table);
    Ok(with_next(reply, next))
}
