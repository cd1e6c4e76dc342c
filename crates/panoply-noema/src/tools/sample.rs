//! A small collection with fixed ids, used to replay the examples of the tools.

use std::sync::Arc;

use panoply_contract::spec::SampleCall;

use crate::card::{Card, Hold};
use crate::collection;
use crate::deck::{Deck, DeckName};
use crate::error::Result;
use crate::fsrs::{DAY, Memory, Micros, Phase, Rating, SECOND, Schedule};
use crate::ids::{CardId, DeckId, NoteId, SessionId};
use crate::note::{Form, Note};
use crate::review::{self, ReviewSubmission, ReviewToken, Side};
use crate::store::{self, NewAction, Session, Store, StoreWriter};

/// Creation time of the sample: 2026-11-15 12:00 UTC.
const MADE: Micros = 1_794_744_000 * SECOND;
/// Fixed token secret, so that examples can contain tokens.
const SECRET: &[u8] = b"an example keeps no secret";

/// A GIF of one pixel.
const DOT: &[u8] = b"GIF89a\x01\0\x01\0\x80\0\0\0\0\0\xff\xff\xff!\xf9\x04\x01\0\0\0\0,\0\0\0\0\x01\0\x01\0\0\x02\x01D\0;";

const FRONT_123: &str = "front.123.0.1794744000000000.500321b824622031ce0835cb";
const BACK_123: &str = "back.123.0.1794744000000000.0ddd65d6a106a34153a8b2d0";

/// Calls that create what the examples refer to in an empty collection.
pub(super) const CALLS: &[SampleCall] = &[
    SampleCall {
        tool: "create-deck",
        params: r#"{"name": "Math Deck"}"#,
        literals: &[("deck_456", "/deck/deckId"), ("math deck", ""), ("Math Deck", "")],
    },
    SampleCall {
        tool: "create-deck",
        params: r#"{"name": "Geography"}"#,
        literals: &[("deck_458", "/deck/deckId")],
    },
    SampleCall {
        tool: "create-deck",
        params: r#"{"name": "Geography::Capitals"}"#,
        literals: &[("deck_457", "/deck/deckId")],
    },
    SampleCall {
        tool: "create-card",
        params: r#"{"deckId": "deck_456", "front": "What is 7 × 8?", "back": "56", "tags": ["arithmetic"], "draft": false}"#,
        literals: &[
            ("card_123", "/note/cardIds/0"),
            ("arithmetic", ""),
            ("targetRecall", ""),
            (FRONT_123, ""),
        ],
    },
    SampleCall {
        tool: "tag-cards",
        params: r#"{"cardIds": ["card_123"], "tags": ["asia"]}"#,
        literals: &[("tag-cards", "")],
    },
    SampleCall {
        tool: "create-card",
        params: r#"{"deckId": "deck_457", "front": "Capital of Thailand?", "back": "Bangkok", "draft": false}"#,
        literals: &[("front.125", "")],
    },
    SampleCall {
        tool: "get-next-card",
        params: r#"{"deckId": "deck_457"}"#,
        literals: &[("front.125", "/card/token")],
    },
    SampleCall {
        tool: "reveal-answer",
        params: r#"{"token": "front.125"}"#,
        literals: &[("back.125", "/token")],
    },
    SampleCall {
        tool: "submit-review",
        params: r#"{"token": "back.125", "rating": "easy"}"#,
        literals: &[("card_125", "/cardId")],
    },
    SampleCall {
        tool: "get-next-card",
        params: r#"{"deckId": "deck_456"}"#,
        literals: &[(FRONT_123, "/card/token")],
    },
    SampleCall {
        tool: "reveal-answer",
        params: r#"{"token": "front.123.0.1794744000000000.500321b824622031ce0835cb"}"#,
        literals: &[(BACK_123, "/token")],
    },
    SampleCall {
        tool: "start-session",
        params: r#"{"deckId": "deck_456"}"#,
        literals: &[("session_789", "/sessionId")],
    },
    SampleCall {
        tool: "add-media",
        params: r#"{"name": "dot.gif", "contentBase64": "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"}"#,
        literals: &[("dot.gif", "")],
    },
];

/// The sample: three decks, seven notes, a session and an undoable review.
pub fn store() -> Result<Arc<dyn Store>> {
    let store = store::in_memory(SECRET)?;
    let at = |tool, summary, at| NewAction { tool, summary, at, actor: "local" };
    store.change(
        &at("import-cards", "created the sample", MADE - 2 * DAY),
        true,
        |writer, _| fill(writer),
    )?;
    let showing =
        ReviewToken { side: Side::Back, card: CardId(125), sequence: 0, shown: MADE - DAY };
    let token = showing.sign(SECRET)?;
    let answer = ReviewSubmission {
        token: &token,
        rating: Rating::Easy,
        taken_ms: Some(4000),
        felt: None,
        session: None,
    };
    let answered = at("submit-review", "recorded an answer", MADE - DAY);
    store.change(&answered, true, |writer, _| review::submit(writer, &answer, MADE - DAY))?;
    let tags = ["asia".to_owned()];
    let tagged = at("tag-cards", "tagged 1 cards", MADE - DAY / 2);
    store.change(&tagged, true, |writer, _| {
        collection::retag(writer, CardId(124), &tags, &[], MADE - DAY / 2)
    })?;
    Ok(store)
}

fn fill(writer: &mut dyn StoreWriter) -> Result<()> {
    let made = MADE - 2 * DAY;
    for (id, name) in [(456, "Math Deck"), (458, "Geography"), (457, "Geography::Capitals")] {
        writer.put_deck(&Deck {
            id: DeckId(id),
            name: DeckName::parse(name)?,
            description: String::new(),
            options: None,
            filter: None,
            created: made,
            modified: made,
            version: 1,
            deleted: None,
        })?;
    }
    let notes = [
        (123, 456, "What is 7 × 8?", "56", "arithmetic", Hold::None),
        (124, 457, "Capital of Kazakhstan?", "Astana", "geo::capital", Hold::None),
        (125, 457, "Capital of Thailand?", "Bangkok", "geo::capital", Hold::None),
        (126, 457, "Capital of Myanmar?", "Naypyidaw", "geo::capital", Hold::Suspended),
        (127, 457, "Capital of Laos?", "Vientiane", "geo::capital", Hold::Draft),
        (128, 457, "Capital of France?", "Paris", "geo::capital", Hold::None),
        (129, 457, "capital of <b>France</b>?", "Paris", "geo::capital", Hold::None),
    ];
    for (id, deck, front, back, tag, hold) in notes {
        writer.put_note(&Note {
            id: NoteId(1000 + id),
            guid: format!("sample-{id}"),
            note_type: Form::Basic.note_type().id,
            fields: vec![front.to_owned(), back.to_owned()],
            tags: vec![tag.to_owned()],
            source: None,
            created: made,
            modified: made,
            version: 1,
            deleted: None,
        })?;
        let leech = id == 124;
        let new = Schedule { due: id, ..Schedule::default() };
        let forgotten = Schedule {
            phase: Phase::Review,
            step: 0,
            memory: Some(Memory { stability: 2.5, difficulty: 9.4 }),
            last_review: Some(made),
            due: MADE,
            interval_days: 2,
        };
        writer.put_card(&Card {
            id: CardId(id),
            note: NoteId(1000 + id),
            ordinal: 0,
            deck: DeckId(deck),
            position: id,
            schedule: if leech { forgotten } else { new },
            reps: if leech { 21 } else { 0 },
            lapses: if leech { 7 } else { 0 },
            ease: 0,
            flag: 0,
            hold,
            held_until: None,
            sequence: 0,
            created: made,
            modified: made,
            deleted: None,
            custom: String::new(),
        })?;
    }
    writer.put_media("dot.gif", DOT, made)?;
    writer.put_session(&Session {
        id: SessionId(789),
        deck: Some(DeckId(456)),
        started: made,
        ended: None,
        card_limit: None,
        answered: 0,
        passed: 0,
        taken_ms: 0,
    })
}

/// The tokens used in examples: front and back of card 123.
#[cfg(test)]
pub(super) fn tokens() -> [String; 2] {
    [Side::Front, Side::Back].map(|side| {
        ReviewToken { side, card: CardId(123), sequence: 0, shown: MADE }.sign(SECRET).unwrap()
    })
}
