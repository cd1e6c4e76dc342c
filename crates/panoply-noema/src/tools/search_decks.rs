//! `search-decks`: finds decks by name or description, case-insensitively and with typos.

use panoply_contract::params::Limit;
use panoply_contract::prelude::*;
use serde_json::json;

use super::service::{NoemaService, exact_evidence};
use super::specs::QUERY;
use super::wire::DeckView;
use crate::deck::Deck;
use crate::numbers::{len_to_f64, round_to};

pub(super) const SPEC: ToolSpec = ToolSpec {
    name: "search-decks",
    title: "Search decks",
    description: Description {
        does: "Finds decks by words of their name or description, ignoring case and tolerating typos.",
        when: "Use this when the learner names a deck and you need its id. To see all decks with their counts use `list-decks`.",
        returns: "Returns matching decks, best first, each with a score from 0 to 1.",
        asks: &["Which deck has my maths cards?", "Find the deck about capitals"],
    },
    permissions: &["decks:read"],
    cache: CachePolicy::For(Duration::from_secs(60)),
    data: &["decks"],
    examples: &[
        Example { shows: "a word of the name", params: r##"{"query": "math"}"##, expect: Expect::Data(r##"{"decks": [{"deckId": "deck_456", "name": "Math Deck"}]}"##) },
        Example { shows: "a typo is tolerated", params: r##"{"query": "geografy"}"##, expect: Expect::Data(r##"{"decks": [{"deckId": "deck_458", "name": "Geography"}, {"deckId": "deck_457"}]}"##) },
    ],
    tags: &["decks", "content"],
    listing: Listing::Core,
    ..QUERY
}
.checked();

/// The query.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// Words of the name or description.
    #[schemars(length(min = 1, max = 200))]
    query: String,
    /// Maximum number of decks.
    #[serde(default)]
    limit: Limit,
}

/// The result of a search.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// Matching decks, best first.
    decks: Vec<Row>,
}

/// A matching deck.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Row {
    /// The deck.
    #[serde(flatten)]
    deck: DeckView,
    /// Score from 0 to 1.
    score: f64,
}

pub(super) fn call(
    service: &NoemaService,
    params: Params,
    cx: &CallContext,
) -> Result<Reply<Output>, ToolError> {
    let _ = cx;
    let wanted = params.query.to_lowercase();
    let decks = service.read(|reader| reader.decks())?;
    let mut rows: Vec<Row> = decks
        .iter()
        .map(|deck| Row { deck: DeckView::from(deck), score: round_to(score(&wanted, deck), 3) })
        .filter(|row| row.score >= 0.5)
        .collect();
    rows.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.deck.name.cmp(&b.deck.name)));
    rows.truncate(params.limit.get());
    let text = match rows.as_slice() {
        [] => format!("No deck matches `{}`.", params.query),
        [best, ..] => format!("{} decks match; the best is `{}`.", rows.len(), best.deck.name),
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
            "show the best match",
        ),
        None => NextAction::new("list-decks", json!({}), "see all decks"),
    };
    Ok(Reply::new(Output { decks: rows }, text, evidence).next(next))
}

/// 1 for an exact name, less for a substring or a similar word.
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

/// Sørensen–Dice coefficient of character bigrams.
fn similarity(a: &str, b: &str) -> f64 {
    let pairs =
        |text: &str| -> Vec<(char, char)> { text.chars().zip(text.chars().skip(1)).collect() };
    let (first, mut second) = (pairs(a), pairs(b));
    let sum = first.len() + second.len();
    let mut shared = 0;
    for pair in &first {
        if let Some(index) = second.iter().position(|other| other == pair) {
            second.remove(index);
            shared += 1;
        }
    }
    if sum == 0 { 0.0 } else { 2.0 * len_to_f64(shared) / len_to_f64(sum) }
}
