//! A small collection with fixed ids, over which the examples of the tools are played.

use crate::card::{Card, Hold};
use crate::deck::{Deck, DeckName};
use crate::fsrs::{DAY, Memory, Micros, Phase, Rating, SECOND, Schedule};
use crate::ids::{CardId, DeckId, NoteId, SessionId};
use crate::library;
use crate::note::{Form, Note};
use crate::problem::Problem;
use crate::review::{self, Answer, Showing, Side};
use crate::store::{Ledger, NewAction, Session, SqliteStore, Store};

/// When the sample was made: noon, UTC, on 15 November 2026.
const MADE: Micros = 1_794_744_000 * SECOND;
/// What its tokens are signed with, so that examples can name one.
const SECRET: &[u8] = b"an example keeps no secret";

/// The sample: three decks, seven notes, a session, and an answer that can be taken back.
pub fn store() -> Result<SqliteStore, Problem> {
    let sample = SqliteStore::in_memory()?.with_secret(SECRET)?;
    let store: &dyn Store = &sample;
    let at = |tool, summary, at| NewAction { tool, summary, at, actor: "local" };
    store.change(&at("import-cards", "made the sample", MADE - 2 * DAY), true, |ledger, _| {
        fill(ledger)
    })?;
    let showing = Showing { side: Side::Back, card: CardId(125), sequence: 0, shown: MADE - DAY };
    let token = showing.token(SECRET);
    let answer = Answer {
        token: &token,
        rating: Rating::Easy,
        taken_ms: Some(4000),
        felt: None,
        session: None,
    };
    let answered = at("submit-review", "recorded an answer", MADE - DAY);
    store.change(&answered, true, |ledger, _| review::submit(ledger, &answer, MADE - DAY))?;
    let tags = ["asia".to_owned()];
    let tagged = at("tag-cards", "tagged 1 cards", MADE - DAY / 2);
    store.change(&tagged, true, |ledger, _| {
        library::retag(ledger, CardId(124), &tags, &[], MADE - DAY / 2)
    })?;
    Ok(sample)
}

fn fill(ledger: &mut dyn Ledger) -> Result<(), Problem> {
    let made = MADE - 2 * DAY;
    for (id, name) in [(456, "Math Deck"), (458, "Geography"), (457, "Geography::Capitals")] {
        ledger.put_deck(&Deck {
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
        ledger.put_note(&Note {
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
        ledger.put_card(&Card {
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
    ledger.put_session(&Session {
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

/// The tokens that examples name: of the front and of the back of card 123.
#[cfg(test)]
pub(super) fn tokens() -> [String; 2] {
    [Side::Front, Side::Back]
        .map(|side| Showing { side, card: CardId(123), sequence: 0, shown: MADE }.token(SECRET))
}
