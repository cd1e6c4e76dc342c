//! `search-cards`: finds cards with Anki's search syntax.

use panoply_contract::audit::Fingerprint;
use panoply_contract::params::{Cursor, Limit, Offset};
use panoply_contract::prelude::*;
use serde_json::json;

use super::service::{NoemaService, changes_at, exact_evidence, now, with_next};
use super::specs::QUERY;
use super::wire::{CardId, DeckId, ScheduleView, deck_arguments};
use crate::collection;
use crate::error::{NoemaError, Result};
use crate::fsrs::Micros;
use crate::numbers::len_to_u64;
use crate::search::{self, Node, Test};
use crate::statistics;
use crate::store::{SearchContext, SearchResult, SortOrder, StoreReader};
use crate::{html, render};

pub(super) const SPEC: ToolSpec = ToolSpec {
    name: "search-cards",
    title: "Search cards",
    description: Description {
        does: "Finds cards with Anki's search syntax: words, deck:, tag:, is:, prop:, rated:, added:, note:, fields, wildcards, re:, nc:, and, or, -, brackets.",
        when: "Use this to find cards for other tools. The reply contains fronts but no answers. Syntax errors report their position.",
        returns: "Returns a page of cards with front, deck, tags and state, the total number, and a cursor for the next page.",
        asks: &["Which of my cards about biology are due?", "Show my leeches", "Which cards did I get wrong this week?"],
    },
    aliases: &["query-cards"],
    permissions: &["cards:read"],
    cache: CachePolicy::For(Duration::from_secs(30)),
    data: &["cards", "decks", "schedule"],
    examples: &[
        Example { shows: "a deck", params: r##"{"query": "deck:\"Math Deck\" -is:suspended", "limit": 1}"##, expect: Expect::Data(r##"{"cards": [{"cardId": "card_123", "front": "What is 7 × 8?"}]}"##) },
        Example { shows: "the whole collection counted", params: r##"{"limit": 1}"##, expect: Expect::Data(r##"{}"##) },
        Example { shows: "a syntax error is reported", params: r##"{"query": "deck:Math (tag:x"}"##, expect: Expect::Error("BAD_SEARCH") },
    ],
    tags: &["cards", "content"],
    listing: Listing::Core,
    ..QUERY
}
.checked();

/// The query.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// Query such as `deck:Thai tag:verb -is:suspended`; empty for every card.
    #[schemars(length(max = 4000))]
    #[serde(default)]
    query: String,
    /// Only cards of this deck and its subdecks; also of a deck that another user shares.
    deck_id: Option<DeckId>,
    /// Sort order.
    #[serde(default)]
    sort_by: SortBy,
    /// Maximum number of cards.
    #[serde(default)]
    limit: Limit,
    /// Number of cards to skip.
    #[serde(default)]
    #[schemars(extend("x-listed" = false))]
    offset: Offset,
    /// Continues an earlier reply: its `nextCursor`, with the other arguments unchanged.
    cursor: Option<Cursor>,
}

/// Sort order of cards.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum SortBy {
    /// Oldest first.
    #[default]
    Created,
    /// Due first.
    Due,
    /// Last changed first.
    Modified,
    /// Hardest first.
    Difficulty,
    /// Most lapses first.
    Lapses,
}

/// The result of a search.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// Cards of this page.
    cards: Vec<Row>,
    /// Total number of matches.
    total: u64,
    /// Pass it as `cursor` for the next page; null on the last page.
    next_cursor: Option<Cursor>,
}

/// A card without its answer.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Row {
    /// Card.
    card_id: CardId,
    /// Front as plain text, truncated.
    front: String,
    /// Deck.
    deck: String,
    /// Globally unique id of the note.
    note_guid: String,
    /// Index of the card within its note.
    ordinal: u32,
    /// Tags of the note.
    tags: Vec<String>,
    /// Next due time and memory state.
    schedule: ScheduleView,
}

pub(super) fn call(
    service: &NoemaService,
    params: Params,
    cx: &CallContext,
) -> Result<Reply<Output>, ToolError> {
    let now = now(cx);
    let query = search::parse(&params.query).map_err(NoemaError::from)?;
    let mut asked = vec![json!(params.query), json!(format!("{:?}", params.sort_by))];
    asked.extend(params.deck_id.iter().map(|deck| json!(deck.as_str())));
    let (question, _) = Fingerprint::of(&json!(asked))?;
    let offset = match &params.cursor {
        Some(cursor) => cursor.offset_in(&question).map_err(|error| {
            ToolError::validation("BAD_CURSOR", error.to_string())
                .hint("leave the cursor out to start again")
        })?,
        None => len_to_u64(params.offset.get()),
    };
    let order = match params.sort_by {
        SortBy::Created => SortOrder::Created,
        SortBy::Due => SortOrder::Due,
        SortBy::Modified => SortOrder::Modified,
        SortBy::Difficulty => SortOrder::Difficulty,
        SortBy::Lapses => SortOrder::Lapses,
    };
    let limit = len_to_u64(params.limit.get());
    let (found, cards, calendar) = service.read(|reader| {
        let calendar = collection::calendar(reader)?;
        let context = SearchContext { now, calendar };
        let query = within_deck(reader, query, params.deck_id.as_ref())?;
        let found = reader.search(&query, context, order, offset, limit)?;
        let cards = rows(reader, &found, now)?;
        Ok((found, cards, calendar))
    })?;
    let shown = offset + len_to_u64(cards.len());
    let next_cursor = (shown < found.total).then(|| Cursor::at(shown, &question));
    let text = match found.total {
        0 => format!("No card matches `{}`.", params.query),
        total => format!("{total} cards match; {} are returned.", cards.len()),
    };
    let table = cards.iter().take(20).fold(Table::new(["card", "front", "deck"]), |table, row| {
        table.row([row.card_id.to_string(), row.front.chars().take(60).collect(), row.deck.clone()])
    });
    let more = next_cursor.as_ref().map(|cursor| {
        let mut arguments = deck_arguments(params.deck_id.as_ref());
        if let Some(members) = arguments.as_object_mut() {
            members.insert("query".to_owned(), json!(params.query));
            members.insert("cursor".to_owned(), json!(cursor.to_string()));
        }
        NextAction::new("search-cards", arguments, "see the next page")
    });
    let first = cards.first().map(|row| {
        NextAction::new(
            "get-card",
            json!({"cardId": row.card_id.as_str()}),
            "show the first one in full",
        )
    });
    let output = Output { cards, total: found.total, next_cursor };
    let evidence = exact_evidence("the collection").changes(changes_at(calendar.next_start(now)));
    let reply = Reply::new(output, text, evidence).table(table);
    Ok(with_next(reply, first.into_iter().chain(more)))
}

/// The query on the cards of a deck and its subdecks.
fn within_deck(reader: &dyn StoreReader, query: Node, deck: Option<&DeckId>) -> Result<Node> {
    let Some(deck) = deck else { return Ok(query) };
    let (decks, _) = statistics::scope(reader, Some(deck.domain()))?;
    let decks = decks.iter().map(|deck| Node::Test(Test::DeckId(deck.0))).collect();
    Ok(Node::And(vec![Node::Or(decks), query]))
}

/// Fronts are truncated so that a page of 100 cards fits into a reply.
const MAX_FRONT_CHARS: usize = 160;

fn rows(reader: &dyn StoreReader, found: &SearchResult, now: Micros) -> Result<Vec<Row>> {
    let decks = reader.decks()?;
    let mut rows = Vec::with_capacity(found.cards.len());
    for id in &found.cards {
        let card = collection::card(reader, *id)?;
        let (note, note_type) = collection::note_and_type(reader, card.note)?;
        let sides = render::sides_of(&note_type, &note, &card);
        let deck = decks.iter().find(|deck| deck.id == card.deck);
        rows.push(Row {
            card_id: CardId::of(card.id),
            front: html::shown(&sides.front).chars().take(MAX_FRONT_CHARS).collect(),
            deck: deck.map(|deck| deck.name.to_string()).unwrap_or_default(),
            note_guid: note.guid,
            ordinal: card.ordinal,
            tags: note.tags,
            schedule: ScheduleView::of(&card, now),
        });
    }
    Ok(rows)
}
