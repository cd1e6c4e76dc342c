//! `search-decks`: finds decks by words of their name or description, whatever the case, also with small slips.

use panoply_contract::params::Limit;
use panoply_contract::prelude::*;
use serde_json::json;

use super::service::{NoemaService, exact_evidence};
use super::wire::DeckView;
use crate::deck::Deck;
use crate::numbers::{len_to_f64, round_to};

const SPEC: ToolSpec = ToolSpec {
    name: "search-decks",
    title: "Search decks",
    description: Description {
        does: "Finds decks by words of their name or description, whatever the case, also with small slips.",
        when: "Use this when the learner names a deck and you need its id. To see all decks with their counts use `list-decks`.",
        returns: "Returns the decks that fit, best first, each with a score from 0 to 1.",
        asks: &["Which deck has my maths cards?", "Find the deck about capitals"],
    },
    version: "1.0.0",
    aliases: &[],
    permissions: &["decks:read"],
    category: Category::Query,
    response_time: ResponseTime::Fast,
    cache: CachePolicy::For(Duration::from_secs(60)),
    idempotent: true,
    data: &["decks"],
    examples: &[
        Example { shows: "a word of the name", params: r##"{"query": "math"}"##, expect: Expect::Data(r##"{"decks": [{"deckId": "deck_456", "name": "Math Deck"}]}"##) },
        Example { shows: "a slip is forgiven", params: r##"{"query": "geografy"}"##, expect: Expect::Data(r##"{"decks": [{"deckId": "deck_458", "name": "Geography"}, {"deckId": "deck_457"}]}"##) },
    ],
    tags: &["decks", "content"],
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
    /// Words of the name or the description.
    #[schemars(length(min = 1, max = 200))]
    query: String,
    /// How many decks to return at most.
    #[serde(default)]
    limit: Limit,
}

/// What was found.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// The decks that fit, best first.
    decks: Vec<Row>,
}

/// A deck that fits.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Row {
    /// The deck.
    #[serde(flatten)]
    deck: DeckView,
    /// How well it fits, from 0 to 1.
    score: f64,
}

/// See the module.
pub(super) struct SearchDecks {
    pub(super) service: NoemaService,
}

impl Tool for SearchDecks {
    type Params = Params;
    type Output = Output;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, params: Params, cx: &CallContext) -> Result<Reply<Output>, ToolError> {
        let _ = cx;
        let wanted = params.query.to_lowercase();
        let decks = self.service.read(|reader| reader.decks())?;
        let mut rows: Vec<Row> = decks
            .iter()
            .map(|deck| Row {
                deck: DeckView::from(deck),
                score: round_to(score(&wanted, deck), 3),
            })
            .filter(|row| row.score >= 0.5)
            .collect();
        rows.sort_by(|a, b| {
            b.score.total_cmp(&a.score).then_with(|| a.deck.name.cmp(&b.deck.name))
        });
        rows.truncate(params.limit.get());
        let text = match rows.as_slice() {
            [] => format!("No deck fits `{}`.", params.query),
            [best, ..] => format!("{} decks fit; the best is `{}`.", rows.len(), best.deck.name),
        };
        let scores: Vec<f64> = rows.iter().map(|row| row.score).collect();
        let evidence = match scores.as_slice() {
            [] => exact_evidence("the names of the decks"),
            [top, rest @ ..] => exact_evidence("the names of the decks")
                .matched(*top, (rest.first().copied().unwrap_or(0.0) - 0.5).max(0.0)),
        };
        let next = match rows.first() {
            Some(row) => NextAction::new(
                "get-deck",
                json!({"deckId": row.deck.deck_id.as_str()}),
                "look at the best one",
            ),
            None => NextAction::new("list-decks", json!({}), "see all decks"),
        };
        Ok(Reply::new(Output { decks: rows }, text, evidence).next(next))
    }
}

/// 1 for the whole name, less for a part of it or a word with a slip.
fn score(wanted: &str, deck: &Deck) -> f64 {
    let name = deck.name.folded();
    if name == wanted {
        return 1.0;
    }
    let share = |text: &str| len_to_f64(wanted.len()) / len_to_f64(text.len().max(1));
    if name.contains(wanted) {
        return 0.8 + 0.15 * share(&name);
    }
    if deck.description.to_lowercase().contains(wanted) {
        return 0.7;
    }
    let words =
        name.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(|word| similarity(word, wanted)).fold(0.0, f64::max) * 0.8
}

/// One less the share of pairs of letters that differ (Dice).
fn similarity(a: &str, b: &str) -> f64 {
    let pairs =
        |text: &str| -> Vec<(char, char)> { text.chars().zip(text.chars().skip(1)).collect() };
    let (first, mut second) = (pairs(a), pairs(b));
    let sum = first.len() + second.len();
    let mut shared = 0;
    for pair in &first {
        if let Some(place) = second.iter().position(|other| other == pair) {
            second.remove(place);
            shared += 1;
        }
    }
    if sum == 0 { 0.0 } else { 2.0 * len_to_f64(shared) / len_to_f64(sum) }
}
