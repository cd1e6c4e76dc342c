//! `list-decks`: lists all decks as a tree with how many cards are new, in steps, in review and due.

use panoply_contract::prelude::*;
use serde_json::json;

use super::service::{NoemaService, changes_at, exact_evidence, now, with_next};
use super::wire::{CountsView, DeckView};
use crate::deck::DeckOptions;
use crate::statistics;

const SPEC: ToolSpec = ToolSpec {
    name: "list-decks",
    title: "List decks",
    description: Description {
        does: "Lists all decks as a tree with how many cards are new, in steps, in review and due.",
        when: "Use this when the learner asks what there is to study, or to find the id of a deck. To look for one by its name use `search-decks`.",
        returns: "Returns each deck with its id, its counts (with the decks under it) and the totals.",
        asks: &["What do I have to study today?", "Which decks do I have?"],
    },
    version: "1.0.0",
    aliases: &[],
    permissions: &["decks:read"],
    category: Category::Query,
    response_time: ResponseTime::Fast,
    cache: CachePolicy::For(Duration::from_secs(30)),
    idempotent: true,
    data: &["cards", "decks"],
    examples: &[
        Example { shows: "every deck with its counts", params: r##"{}"##, expect: Expect::Data(r##"{"decks": [{"deckId": "deck_458", "name": "Geography"}, {"deckId": "deck_457"}, {"deckId": "deck_456", "name": "Math Deck"}]}"##) },
        Example { shows: "only decks with something due", params: r##"{"dueOnly": true}"##, expect: Expect::Data(r##"{}"##) },
    ],
    tags: &["decks", "learning"],
    rate_limit: Some(RateLimit { max_calls: 600, window: Duration::from_secs(60) }),
    deprecated: None,
    annotations: Annotations::CLOSED,
    listing: Listing::Core,
    widget: None,
}
.checked();

/// Which decks.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// Only decks that have something due or new.
    #[serde(default)]
    due_only: bool,
}

/// The decks.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// The decks, by name.
    decks: Vec<Row>,
    /// Everything together.
    total: CountsView,
}

/// A deck with its counts.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Row {
    /// The deck.
    #[serde(flatten)]
    deck: DeckView,
    /// How deep in the tree, from 0.
    depth: usize,
    /// Its cards, with those of the decks under it.
    counts: CountsView,
}

/// See the module.
pub(super) struct ListDecks {
    pub(super) service: NoemaService,
}

impl Tool for ListDecks {
    type Params = Params;
    type Output = Output;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, params: Params, cx: &CallContext) -> Result<Reply<Output>, ToolError> {
        let now = now(cx);
        let (decks, counts) = self.service.read(|reader| {
            let decks = reader.decks()?;
            let counts = statistics::counts(reader, &decks, now)?;
            Ok((decks, counts))
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
        let rollover = DeckOptions::default().calendar().next_start(now);
        let evidence = exact_evidence("the deck counters").changes(changes_at(rollover));
        let reply =
            Reply::new(Output { decks: rows, total: total.into() }, text, evidence).table(table);
        Ok(with_next(reply, next))
    }
}
