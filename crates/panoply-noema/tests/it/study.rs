//! Study flow: queue order, tokens, leeches, siblings, limits and undo.

use panoply_noema::card::Hold;
use panoply_noema::collection::{self, DeckChanges, NewNote};
use panoply_noema::deck::{DeckName, DeckOptions};
use panoply_noema::error::NoemaError;
use panoply_noema::fsrs::{DAY, Micros, Phase, Rating, SECOND};
use panoply_noema::ids::{ActionId, CardId, DeckId};
use panoply_noema::note::Form;
use panoply_noema::queue;
use panoply_noema::review::{self, ReviewOutcome, ReviewSubmission, ReviewToken, Side};
use panoply_noema::store::{LaneCount, NewAction, SqliteStore, Store, StoreReader, StoreWriter};

/// Noon UTC on a Sunday.
pub(crate) const NOON: Micros = 1_794_744_000 * SECOND;

pub(crate) fn collection() -> Box<dyn Store> {
    Box::new(SqliteStore::in_memory().unwrap())
}

pub(crate) fn act<T>(
    store: &dyn Store,
    now: Micros,
    act: impl FnOnce(&mut dyn StoreWriter) -> Result<T, NoemaError>,
) -> (T, ActionId) {
    store
        .change(
            &NewAction { tool: "test", summary: "a test", at: now, actor: "local" },
            true,
            |writer, _| act(writer),
        )
        .unwrap()
}

/// The lane counts of all decks.
pub(crate) fn lanes(reader: &dyn StoreReader, until: Micros) -> Result<Vec<LaneCount>, NoemaError> {
    let mut lanes = Vec::new();
    for deck in reader.decks()? {
        lanes.extend(reader.lanes(deck.id, until)?);
    }
    Ok(lanes)
}

pub(crate) fn deck(store: &dyn Store, name: &str, options: Option<DeckOptions>) -> DeckId {
    let name = DeckName::parse(name).unwrap();
    let changes = DeckChanges { options, ..DeckChanges::default() };
    act(store, NOON, |writer| collection::create_deck(writer, &name, changes, NOON)).0.id
}

pub(crate) fn note(
    store: &dyn Store,
    deck: DeckId,
    form: Form,
    front: &str,
    back: &str,
) -> Vec<CardId> {
    let new = NewNote {
        note_type: form.note_type().id,
        fields: collection::fields_of(form, front.to_owned(), back.to_owned(), &[], String::new()),
        tags: vec!["geo".to_owned()],
        deck,
        draft: false,
        source: None,
    };
    let (_, cards) = act(store, NOON, |writer| collection::add_note(writer, new, NOON)).0;
    cards.into_iter().map(|card| card.id).collect()
}

pub(crate) fn token(store: &dyn Store, card: CardId, side: Side, now: Micros) -> String {
    store
        .read(|reader| {
            let card = collection::card(reader, card)?;
            let showing = ReviewToken { side, card: card.id, sequence: card.sequence, shown: now };
            showing.sign(&reader.secret()?)
        })
        .unwrap()
}

pub(crate) fn submit(
    store: &dyn Store,
    token: &str,
    rating: Rating,
    now: Micros,
) -> Result<(ReviewOutcome, bool), NoemaError> {
    let answer =
        ReviewSubmission { token, rating, taken_ms: Some(3000), felt: None, session: None };
    let action = NewAction { tool: "submit-review", summary: "an answer", at: now, actor: "local" };
    let (done, _) =
        store.change(&action, true, |writer, _| review::submit(writer, &answer, now))?;
    Ok((done.outcome, done.replayed))
}

pub(crate) fn answer(
    store: &dyn Store,
    card: CardId,
    rating: Rating,
    now: Micros,
) -> ReviewOutcome {
    submit(store, &token(store, card, Side::Back, now), rating, now).unwrap().0
}

pub(crate) fn order(store: &dyn Store, root: Option<DeckId>, now: Micros) -> Vec<CardId> {
    let day = store.read(|reader| queue::build(reader, root, now)).unwrap();
    day.at(now).in_order().map(|waiting| waiting.card).collect()
}

#[test]
fn rating_requires_a_revealed_answer() {
    let store = collection();
    let card = note(&*store, deck(&*store, "A", None), Form::Basic, "Thailand", "Bangkok")[0];
    let front = token(&*store, card, Side::Front, NOON);
    assert_eq!(
        submit(&*store, &front, Rating::Good, NOON),
        Err(NoemaError::AnswerNotRevealed(card))
    );
    let forged = front.replace("front", "back");
    assert_eq!(submit(&*store, &forged, Rating::Good, NOON), Err(NoemaError::InvalidToken));
}

#[test]
fn resubmitted_answer_is_idempotent() {
    let store = collection();
    let card = note(&*store, deck(&*store, "A", None), Form::Basic, "Thailand", "Bangkok")[0];
    let back = token(&*store, card, Side::Back, NOON);
    let (first, repeated) = submit(&*store, &back, Rating::Good, NOON).unwrap();
    assert!(!repeated);
    let again = submit(&*store, &back, Rating::Good, NOON + 5 * SECOND).unwrap();
    assert_eq!(again, (first, true));
    let other = submit(&*store, &back, Rating::Easy, NOON);
    assert_eq!(other, Err(NoemaError::AlreadyRated { first: "good", second: "easy" }));
    let log = store.read(|reader| reader.reviews_of(card)).unwrap();
    assert_eq!(log.len(), 1);
}

#[test]
fn second_agent_answering_the_same_card_is_rejected() {
    let store = collection();
    let card = note(&*store, deck(&*store, "A", None), Form::Basic, "Thailand", "Bangkok")[0];
    let (one, two) =
        (token(&*store, card, Side::Back, NOON), token(&*store, card, Side::Back, NOON + 1));
    submit(&*store, &one, Rating::Good, NOON + 2).unwrap();
    assert_eq!(submit(&*store, &two, Rating::Again, NOON + 3), Err(NoemaError::TokenSpent(card)));
}

#[test]
fn preview_equals_the_submitted_outcome() {
    let store = collection();
    let card = note(&*store, deck(&*store, "A", None), Form::Basic, "a", "b")[0];
    let mut now = NOON;
    for (round, rating) in Rating::ALL.into_iter().cycle().take(24).enumerate() {
        let previews = store
            .read(|reader| {
                let card = collection::card(reader, card)?;
                let scheduler = collection::options_of(reader, card.deck)?
                    .scheduler(panoply_noema::fsrs::Zone::UTC);
                Ok(scheduler.preview(&card.schedule, now, review::seed(&card)))
            })
            .unwrap();
        let expected = previews.iter().find(|(each, _)| *each == rating).unwrap().1;
        let outcome = answer(&*store, card, rating, now);
        assert_eq!((outcome.due, outcome.to), (expected.due, expected.phase), "round {round}");
        now = outcome.due.max(now + DAY);
    }
}

#[test]
fn queue_orders_learning_then_reviews_interleaved_with_new() {
    let store = collection();
    let deck = deck(&*store, "A", None);
    let cards: Vec<CardId> =
        (0..8).map(|n| note(&*store, deck, Form::Basic, &format!("q{n}"), "a")[0]).collect();
    // Four cards in review, one in learning, three new.
    for card in &cards[..4] {
        answer(&*store, *card, Rating::Easy, NOON);
    }
    let later = NOON + 40 * DAY;
    answer(&*store, cards[4], Rating::Again, later - 90 * SECOND);
    let day = store.read(|reader| queue::build(reader, Some(deck), later)).unwrap();
    let queue = day.at(later);
    assert_eq!((queue.learning.len(), queue.reviews, queue.new), (1, 4, 3));
    let order: Vec<CardId> = queue.in_order().map(|waiting| waiting.card).collect();
    assert_eq!(order[0], cards[4], "the card in steps is first");
    let new: Vec<bool> = order[1..].iter().map(|card| cards[5..].contains(card)).collect();
    // One new card was started today, so reviews catch up first.
    assert_eq!(new, [false, false, true, false, true, false, true], "new cards are spread evenly");
    assert_eq!(order, self::order(&*store, None, later), "everything is the one deck");
}

#[test]
fn daily_limits_apply_to_a_deck_and_its_ancestors() {
    let store = collection();
    let options = |new_per_day| Some(DeckOptions { new_per_day, ..DeckOptions::default() });
    let (top, one, two) = (
        deck(&*store, "T", options(3)),
        deck(&*store, "T::a", options(2)),
        deck(&*store, "T::b", options(5)),
    );
    for n in 0..5 {
        note(&*store, one, Form::Basic, &format!("a{n}"), "x");
        note(&*store, two, Form::Basic, &format!("b{n}"), "x");
    }
    assert_eq!(order(&*store, Some(one), NOON).len(), 2);
    assert_eq!(order(&*store, Some(two), NOON).len(), 5);
    let both = order(&*store, Some(top), NOON);
    assert_eq!(both.len(), 3, "the deck above allows three");
    answer(&*store, both[0], Rating::Easy, NOON);
    assert_eq!(order(&*store, Some(top), NOON).len(), 2, "one of the three is used up");
    assert_eq!(
        order(&*store, Some(top), NOON + DAY).len(),
        3 + 1 - 1,
        "tomorrow there are three again"
    );
}

#[test]
fn siblings_are_buried_until_tomorrow() {
    let store = collection();
    let deck = deck(&*store, "A", None);
    let pair = note(&*store, deck, Form::Reversed, "Thailand", "Bangkok");
    assert_eq!(order(&*store, Some(deck), NOON), [pair[0]], "one card of a note at a time");
    let outcome = answer(&*store, pair[0], Rating::Easy, NOON);
    assert_eq!(outcome.buried, [pair[1]]);
    assert_eq!(order(&*store, Some(deck), NOON), []);
    assert_eq!(order(&*store, Some(deck), NOON + DAY), [pair[1]], "a burial ends by itself");
}

#[test]
fn leech_is_suspended_and_tagged() {
    let store = collection();
    let options = DeckOptions { leech_threshold: 2, ..DeckOptions::default() };
    let card = note(&*store, deck(&*store, "A", Some(options)), Form::Basic, "a", "b")[0];
    let mut now = NOON;
    let mut last = answer(&*store, card, Rating::Easy, now);
    for _ in 0..2 {
        assert!(!last.leech);
        now = last.due + DAY;
        last = answer(&*store, card, Rating::Again, now);
        if !last.leech {
            now += 600 * SECOND;
            last = answer(&*store, card, Rating::Easy, now);
        }
    }
    assert!(last.leech && last.suspended);
    let (card, note) = store
        .read(|reader| {
            let card = collection::card(reader, card)?;
            Ok((card.clone(), reader.note(card.note)?.unwrap()))
        })
        .unwrap();
    assert_eq!(card.hold, Hold::Suspended);
    assert!(note.tags.contains(&"leech".to_owned()));
    let refused = submit(&*store, &token(&*store, card.id, Side::Back, now), Rating::Good, now);
    assert_eq!(refused, Err(NoemaError::CardHeld { card: card.id, state: "suspended" }));
}

#[test]
fn backward_clock_preserves_the_review_log() {
    let store = collection();
    let card = note(&*store, deck(&*store, "A", None), Form::Basic, "a", "b")[0];
    let first = answer(&*store, card, Rating::Good, NOON);
    let second = answer(&*store, card, Rating::Good, NOON - 3 * DAY);
    assert!(second.review > first.review, "the log keeps its order");
    assert_eq!(second.to, Phase::Review);
    assert!(second.due > NOON - 3 * DAY);
    assert_eq!(store.read(|reader| reader.reviews_of(card)).unwrap().len(), 2);
}

#[test]
fn every_change_can_be_undone_and_redone_with_counts() {
    let store = collection();
    let deck = deck(&*store, "A", None);
    let cards: Vec<CardId> =
        (0..3).flat_map(|n| note(&*store, deck, Form::Reversed, &format!("q{n}"), "a")).collect();
    let picture = || {
        store
            .read(|reader| {
                let all: Vec<_> = cards.iter().map(|card| reader.card(*card).unwrap()).collect();
                let notes: Vec<_> =
                    all.iter().flatten().map(|card| reader.note(card.note).unwrap()).collect();
                Ok((all, notes, lanes(reader, NOON + DAY)?, reader.tags()?, reader.decks()?))
            })
            .unwrap()
    };
    let before = picture();
    type Change = Box<dyn Fn(&mut dyn StoreWriter) -> Result<(), NoemaError>>;
    let card = cards[0];
    let tags = vec!["new::tag".to_owned()];
    let changes: Vec<(&str, Change)> = vec![
        ("delete", Box::new(move |writer| collection::delete_card(writer, card, NOON).map(|_| ()))),
        (
            "delete deck",
            Box::new(move |writer| collection::delete_deck(writer, deck, NOON).map(|_| ())),
        ),
        (
            "suspend",
            Box::new(move |writer| {
                collection::set_hold(writer, card, Hold::Suspended, NOON).map(|_| ())
            }),
        ),
        (
            "tag",
            Box::new(move |writer| {
                collection::retag(writer, card, &tags, &["geo".to_owned()], NOON).map(|_| ())
            }),
        ),
        (
            "reschedule",
            Box::new(move |writer| {
                collection::reschedule(writer, card, collection::Reschedule::InDays(9), NOON)
                    .map(|_| ())
            }),
        ),
        (
            "edit",
            Box::new(move |writer| {
                let fields = [("Back".to_owned(), String::new())].into();
                let changes =
                    collection::NoteChanges { fields, ..collection::NoteChanges::default() };
                collection::update_card(writer, card, changes, NOON).map(|_| ())
            }),
        ),
        (
            "rename",
            Box::new(move |writer| {
                let name = Some(DeckName::parse("Z::y").unwrap());
                collection::update_deck(
                    writer,
                    deck,
                    DeckChanges { name, ..DeckChanges::default() },
                    NOON,
                )
                .map(|_| ())
            }),
        ),
    ];
    for (name, change) in changes {
        let (_, action) = act(&*store, NOON, |writer| change(writer));
        assert_ne!(picture(), before, "{name} changes something");
        let (_, undoing) = act(&*store, NOON, |writer| writer.undo(action, NOON));
        assert_eq!(picture(), before, "{name} is undone");
        act(&*store, NOON, |writer| writer.undo(undoing, NOON));
        assert_ne!(picture(), before, "{name} is redone");
        let last = store.read(|reader| reader.actions(1)).unwrap()[0].id;
        act(&*store, NOON, |writer| writer.undo(last, NOON));
        assert_eq!(picture(), before, "{name} is undone again");
    }
    let outcome = answer(&*store, cards[0], Rating::Good, NOON);
    let last = store.read(|reader| reader.actions(1)).unwrap()[0].id;
    act(&*store, NOON, |writer| writer.undo(last, NOON));
    assert_eq!(picture(), before, "a review is undone: {outcome:?}");
}

#[test]
fn undo_refuses_rows_changed_since() {
    let store = collection();
    let card = note(&*store, deck(&*store, "A", None), Form::Basic, "a", "b")[0];
    let (_, action) =
        act(&*store, NOON, |writer| collection::set_hold(writer, card, Hold::Suspended, NOON));
    act(&*store, NOON, |writer| collection::set_hold(writer, card, Hold::None, NOON));
    let action_of_undo =
        NewAction { tool: "undo-action", summary: "undo", at: NOON, actor: "local" };
    let refused = store.change(&action_of_undo, true, |writer, _| writer.undo(action, NOON));
    assert_eq!(refused, Err(NoemaError::ChangedSince { action, what: card.to_string() }));
}

#[test]
fn dry_run_leaves_no_trace() {
    let store = collection();
    let card = note(&*store, deck(&*store, "A", None), Form::Basic, "a", "b")[0];
    let before = store
        .read(|reader| Ok((reader.card(card)?, reader.actions(99)?, lanes(reader, NOON)?)))
        .unwrap();
    let action = NewAction { tool: "delete-cards", summary: "try", at: NOON, actor: "local" };
    let (deleted, _) = store
        .change(&action, false, |writer, _| collection::delete_card(writer, card, NOON))
        .unwrap();
    assert!(deleted);
    let after = store
        .read(|reader| Ok((reader.card(card)?, reader.actions(99)?, lanes(reader, NOON)?)))
        .unwrap();
    assert_eq!(before, after);
}

#[test]
fn note_content_has_history_and_optimistic_versioning() {
    let store = collection();
    let card = note(&*store, deck(&*store, "A", None), Form::Basic, "a", "b")[0];
    let edit = |text: &str, version| {
        let changes = collection::NoteChanges {
            fields: [("front".to_owned(), text.to_owned())].into(),
            version,
            ..collection::NoteChanges::default()
        };
        let action = NewAction { tool: "update-card", summary: "edit", at: NOON, actor: "local" };
        store
            .change(&action, true, |writer, _| collection::update_card(writer, card, changes, NOON))
            .map(|((note, _), _)| note)
    };
    let note = edit("a2", Some(1)).unwrap();
    assert_eq!((note.version, note.fields[0].as_str()), (2, "a2"));
    assert_eq!(
        edit("a3", Some(1)).unwrap_err(),
        NoemaError::StaleVersion { card, current: 2, given: 1 }
    );
    let past = store.read(|reader| reader.past_contents(note.id)).unwrap();
    assert_eq!((past.len(), past[0].version, past[0].fields[0].as_str()), (1, 1, "a"));
}

#[test]
fn restoring_a_card_restores_its_note_and_deck() {
    let store = collection();
    let deck = deck(&*store, "A::b", None);
    let cards = note(&*store, deck, Form::Reversed, "a", "b");
    act(&*store, NOON, |writer| collection::delete_deck(writer, deck, NOON));
    assert_eq!(order(&*store, None, NOON), []);
    act(&*store, NOON, |writer| collection::restore_card(writer, cards[0], NOON + DAY));
    assert_eq!(order(&*store, Some(deck), NOON), [cards[0]]);
    let late = NewAction { tool: "restore-cards", summary: "late", at: NOON, actor: "local" };
    let refused = store.change(&late, true, |writer, _| {
        collection::restore_card(writer, cards[1], NOON + 31 * DAY)
    });
    assert_eq!(refused, Err(NoemaError::CardNotFound(cards[1])), "after 30 days it is purged");
}
