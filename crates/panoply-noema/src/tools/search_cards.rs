//! `search-cards`: finds cards with Anki's search syntax: words, deck:, tag:, is:, prop:, rated:, added:, note:, fields, wildcards, re:, nc:, and, or, -, brackets.

use panoply_contract::audit::Fingerprint;
use panoply_contract::params::{Cursor, Limit, Offset};
use panoply_contract::prelude::*;
use serde_json::json;

use super::service::{NoemaService, changes_at, exact_evidence, now, with_next};
use super::wire::{CardId, ScheduleView};
use crate::collection;
use crate::deck::DeckOptions;
use crate::error::NoemaError;
use crate::fsrs::Micros;
use crate::render;
use crate::search;
use crate::store::{SearchContext, SearchResult, SortOrder, StoreReader};

const SPEC: ToolSpec = ToolSpec {
    name: "search-cards",
    title: "Search cards",
    description: Description {
        does: "Finds cards with Anki's search syntax: words, deck:, tag:, is:, prop:, rated:, added:, note:, fields, wildcards, re:, nc:, and, or, -, brackets.",
        when: "Use this to find cards for any other tool. Fronts are shown, answers are not, so a learner can watch. A query with a mistake says where it is.",
        returns: "Returns the cards of the page with front, deck, tags and state, how many there are in all, and a cursor for the next page.",
        asks: &["Which of my cards about biology are due?", "Show my leeches", "Which cards did I get wrong this week?"],
    },
    version: "1.0.0",
    aliases: &["query-cards"],
    permissions: &["cards:read"],
    category: Category::Query,
    response_time: ResponseTime::Fast,
    cache: CachePolicy::For(Duration::from_secs(30)),
    idempotent: true,
    data: &["cards", "decks", "schedule"],
    examples: &[
        Example { shows: "a deck", params: r##"{"query": "deck:\"Math Deck\" -is:suspended", "limit": 1}"##, expect: Expect::Data(r##"{"cards": [{"cardId": "card_123", "front": "What is 7 × 8?"}]}"##) },
        Example { shows: "the whole collection counted", params: r##"{"limit": 1}"##, expect: Expect::Data(r##"{}"##) },
        Example { shows: "a mistake is named", params: r##"{"query": "deck:Math (tag:x"}"##, expect: Expect::Error("BAD_SEARCH") },
    ],
    tags: &["cards", "content"],
    rate_limit: Some(RateLimit { max_calls: 600, window: Duration::from_secs(60) }),
    deprecated: None,
    annotations: Annotations::CLOSED,
    listing: Listing::Core,
    widget: None,
}
.checked();

/// What to look for.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// The query, such as `deck:Thai tag:verb -is:suspended`; empty for every card.
    #[schemars(length(max = 4000))]
    #[serde(default)]
    query: String,
    /// How the cards are sorted.
    #[serde(default)]
    sort_by: SortBy,
    /// How many cards to return at most.
    #[serde(default)]
    limit: Limit,
    /// How many cards to skip.
    #[serde(default)]
    offset: Offset,
    /// Continues an earlier reply: its `nextCursor`, with the other arguments unchanged.
    cursor: Option<Cursor>,
}

/// How cards are sorted.
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
    /// Most forgotten first.
    Lapses,
}

/// What was found.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// The cards of this page.
    cards: Vec<Row>,
    /// How many cards there are in all.
    total: u64,
    /// Give it back as `cursor` for the next page; null on the last one.
    next_cursor: Option<Cursor>,
}

/// A card, without its answer.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Row {
    /// The card.
    card_id: CardId,
    /// The front as text, shortened.
    front: String,
    /// Its deck.
    deck: String,
    /// The id of its note in every collection.
    note_guid: String,
    /// Which card of the note, from 0.
    ordinal: u32,
    /// The tags of its note.
    tags: Vec<String>,
    /// When it comes back.
    schedule: ScheduleView,
}

/// See the module.
pub(super) struct SearchCards {
    pub(super) service: NoemaService,
}

impl Tool for SearchCards {
    type Params = Params;
    type Output = Output;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, params: Params, cx: &CallContext) -> Result<Reply<Output>, ToolError> {
        let now = now(cx);
        let query = search::parse(&params.query).map_err(NoemaError::from)?;
        let (question, _) =
            Fingerprint::of(&json!([params.query, format!("{:?}", params.sort_by)]))?;
        let offset = match &params.cursor {
            Some(cursor) => cursor.offset_in(&question).map_err(|error| {
                ToolError::validation("BAD_CURSOR", error.to_string())
                    .hint("leave the cursor out to start again")
            })?,
            None => u64::try_from(params.offset.get()).unwrap_or(u64::MAX),
        };
        let order = match params.sort_by {
            SortBy::Created => SortOrder::Created,
            SortBy::Due => SortOrder::Due,
            SortBy::Modified => SortOrder::Modified,
            SortBy::Difficulty => SortOrder::Difficulty,
            SortBy::Lapses => SortOrder::Lapses,
        };
        let limit = u64::try_from(params.limit.get()).unwrap_or(u64::MAX);
        let context = SearchContext { now, calendar: DeckOptions::default().calendar() };
        let (found, cards) = self.service.read(|reader| {
            let found = reader.search(&query, context, order, offset, limit)?;
            let cards = rows(reader, &found, now)?;
            Ok((found, cards))
        })?;
        let shown = offset + u64::try_from(cards.len()).unwrap_or(u64::MAX);
        let next_cursor = (shown < found.total).then(|| Cursor::at(shown, &question));
        let text = match found.total {
            0 => format!("No card fits `{}`.", params.query),
            total => format!("{total} cards fit; {} are shown.", cards.len()),
        };
        let table =
            cards.iter().take(20).fold(Table::new(["card", "front", "deck"]), |table, row| {
                table.row([
                    row.card_id.to_string(),
                    row.front.chars().take(60).collect(),
                    row.deck.clone(),
                ])
            });
        let more = next_cursor.as_ref().map(|cursor| {
            NextAction::new(
                "search-cards",
                json!({"query": params.query, "cursor": cursor.to_string()}),
                "see the next page",
            )
        });
        let first = cards.first().map(|row| {
            NextAction::new(
                "get-card",
                json!({"cardId": row.card_id.as_str()}),
                "look at the first one in full",
            )
        });
        let output = Output { cards, total: found.total, next_cursor };
        let evidence =
            exact_evidence("the collection").changes(changes_at(context.calendar.next_start(now)));
        let mut reply = Reply::new(output, text, evidence).table(table);
        if params.query.contains("prop:r") {
            reply = reply.assuming("`prop:r` uses the published weights of FSRS-6");
        }
        Ok(with_next(reply, first.into_iter().chain(more)))
    }
}

/// Longer fronts are cut, so that a page of a hundred fits into a reply.
const LONGEST_FRONT: usize = 160;

fn rows(
    reader: &dyn StoreReader,
    found: &SearchResult,
    now: Micros,
) -> Result<Vec<Row>, NoemaError> {
    let decks = reader.decks()?;
    let mut rows = Vec::with_capacity(found.cards.len());
    for id in &found.cards {
        let card = collection::card(reader, *id)?;
        let (note, note_type) = collection::note_and_type(reader, card.note)?;
        let sides = render::sides(&note_type, &note.fields, &note.tags, card.ordinal);
        let deck = decks.iter().find(|deck| deck.id == card.deck);
        rows.push(Row {
            card_id: CardId::of(card.id),
            front: render::strip_html(&sides.front).chars().take(LONGEST_FRONT).collect(),
            deck: deck.map(|deck| deck.name.to_string()).unwrap_or_default(),
            note_guid: note.guid,
            ordinal: card.ordinal,
            tags: note.tags,
            schedule: ScheduleView::of(&card, now),
        });
    }
    Ok(rows)
}
