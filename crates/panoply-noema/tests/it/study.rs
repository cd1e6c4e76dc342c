//! Studying: the queue, the gate before an answer, leeches, siblings, limits and undo.

use panoply_noema::card::Hold;
use panoply_noema::deck::{DeckName, DeckOptions};
use panoply_noema::fsrs::{DAY, Micros, Phase, Rating, SECOND};
use panoply_noema::ids::{ActionId, CardId, DeckId};
use panoply_noema::library::{self, DeckChanges, NewNote};
use panoply_noema::note::Form;
use panoply_noema::problem::Problem;
use panoply_noema::queue;
use panoply_noema::review::{self, Answer, Outcome, Showing, Side};
use panoply_noema::store::{LaneCount, Ledger, NewAction, Records, SqliteStore, Store};

/// Noon on a Sunday.
pub(crate) const NOON: Micros = 1_794_744_000 * SECOND;

pub(crate) fn collection() -> Box<dyn Store> {
    Box::new(SqliteStore::in_memory().unwrap())
}

pub(crate) fn act<T>(
    store: &dyn Store,
    now: Micros,
    act: impl FnOnce(&mut dyn Ledger) -> Result<T, Problem>,
) -> (T, ActionId) {
    store
        .change(
            &NewAction { tool: "test", summary: "a test", at: now, actor: "local" },
            true,
            |ledger, _| act(ledger),
        )
        .unwrap()
}

/// Every deck's cards by state.
pub(crate) fn lanes(records: &dyn Records, until: Micros) -> Result<Vec<LaneCount>, Problem> {
    let mut lanes = Vec::new();
    for deck in records.decks()? {
        lanes.extend(records.lanes(deck.id, until)?);
    }
    Ok(lanes)
}

pub(crate) fn deck(store: &dyn Store, name: &str, options: Option<DeckOptions>) -> DeckId {
    let name = DeckName::parse(name).unwrap();
    let changes = DeckChanges { options, ..DeckChanges::default() };
    act(store, NOON, |ledger| library::create_deck(ledger, &name, changes, NOON)).0.id
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
        fields: library::fields_of(form, front.to_owned(), back.to_owned(), &[], String::new()),
        tags: vec!["geo".to_owned()],
        deck,
        draft: false,
        source: None,
    };
    let (_, cards) = act(store, NOON, |ledger| library::add_note(ledger, new, NOON)).0;
    cards.into_iter().map(|card| card.id).collect()
}

pub(crate) fn token(store: &dyn Store, card: CardId, side: Side, now: Micros) -> String {
    store
        .read(|records| {
            let card = library::card(records, card)?;
            let showing = Showing { side, card: card.id, sequence: card.sequence, shown: now };
            Ok(showing.token(&records.secret()?))
        })
        .unwrap()
}

pub(crate) fn submit(
    store: &dyn Store,
    token: &str,
    rating: Rating,
    now: Micros,
) -> Result<(Outcome, bool), Problem> {
    let answer = Answer { token, rating, taken_ms: Some(3000), felt: None, session: None };
    let action = NewAction { tool: "submit-review", summary: "an answer", at: now, actor: "local" };
    let (done, _) =
        store.change(&action, true, |ledger, _| review::submit(ledger, &answer, now))?;
    Ok((done.outcome, done.replayed))
}

pub(crate) fn answer(store: &dyn Store, card: CardId, rating: Rating, now: Micros) -> Outcome {
    submit(store, &token(store, card, Side::Back, now), rating, now).unwrap().0
}

pub(crate) fn order(store: &dyn Store, root: Option<DeckId>, now: Micros) -> Vec<CardId> {
    let day = store.read(|records| queue::build(records, root, now)).unwrap();
    day.at(now).in_order().map(|waiting| waiting.card).collect()
}

#[test]
fn a_card_cannot_be_rated_before_its_answer_was_seen() {
    let store = collection();
    let card = note(&*store, deck(&*store, "A", None), Form::Basic, "Thailand", "Bangkok")[0];
    let front = token(&*store, card, Side::Front, NOON);
    assert_eq!(submit(&*store, &front, Rating::Good, NOON), Err(Problem::NotRevealed(card)));
    let forged = front.replace("front", "back");
    assert_eq!(submit(&*store, &forged, Rating::Good, NOON), Err(Problem::ForeignToken));
}

#[test]
fn an_answer_sent_twice_counts_once_and_gets_the_same_result() {
    let store = collection();
    let card = note(&*store, deck(&*store, "A", None), Form::Basic, "Thailand", "Bangkok")[0];
    let back = token(&*store, card, Side::Back, NOON);
    let (first, repeated) = submit(&*store, &back, Rating::Good, NOON).unwrap();
    assert!(!repeated);
    let again = submit(&*store, &back, Rating::Good, NOON + 5 * SECOND).unwrap();
    assert_eq!(again, (first, true));
    let other = submit(&*store, &back, Rating::Easy, NOON);
    assert_eq!(other, Err(Problem::OtherRating { first: "good", second: "easy" }));
    let log = store.read(|records| records.reviews_of(card)).unwrap();
    assert_eq!(log.len(), 1);
}

#[test]
fn of_two_agents_with_the_same_card_the_second_is_told() {
    let store = collection();
    let card = note(&*store, deck(&*store, "A", None), Form::Basic, "Thailand", "Bangkok")[0];
    let (one, two) =
        (token(&*store, card, Side::Back, NOON), token(&*store, card, Side::Back, NOON + 1));
    submit(&*store, &one, Rating::Good, NOON + 2).unwrap();
    assert_eq!(submit(&*store, &two, Rating::Again, NOON + 3), Err(Problem::SpentToken(card)));
}

#[test]
fn a_preview_is_what_happens() {
    let store = collection();
    let card = note(&*store, deck(&*store, "A", None), Form::Basic, "a", "b")[0];
    let mut now = NOON;
    for (round, rating) in Rating::ALL.into_iter().cycle().take(24).enumerate() {
        let previews = store
            .read(|records| {
                let card = library::card(records, card)?;
                let scheduler = library::options_of(records, card.deck)?.scheduler();
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
fn steps_come_first_then_reviews_with_new_cards_among_them() {
    let store = collection();
    let deck = deck(&*store, "A", None);
    let cards: Vec<CardId> =
        (0..8).map(|n| note(&*store, deck, Form::Basic, &format!("q{n}"), "a")[0]).collect();
    // Four go into review, one into steps, three stay new.
    for card in &cards[..4] {
        answer(&*store, *card, Rating::Easy, NOON);
    }
    let later = NOON + 40 * DAY;
    answer(&*store, cards[4], Rating::Again, later - 90 * SECOND);
    let day = store.read(|records| queue::build(records, Some(deck), later)).unwrap();
    let queue = day.at(later);
    assert_eq!((queue.learning.len(), queue.reviews, queue.new), (1, 4, 3));
    let order: Vec<CardId> = queue.in_order().map(|waiting| waiting.card).collect();
    assert_eq!(order[0], cards[4], "the card in steps is first");
    let new: Vec<bool> = order[1..].iter().map(|card| cards[5..].contains(card)).collect();
    // One new card was begun today already, so that reviews catch up first.
    assert_eq!(new, [false, false, true, false, true, false, true], "new cards are spread evenly");
    assert_eq!(order, self::order(&*store, None, later), "everything is the one deck");
}

#[test]
fn limits_hold_for_a_deck_and_for_all_above_it() {
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
fn siblings_wait_until_tomorrow() {
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
fn a_card_forgotten_too_often_is_suspended_and_tagged() {
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
        .read(|records| {
            let card = library::card(records, card)?;
            Ok((card.clone(), records.note(card.note)?.unwrap()))
        })
        .unwrap();
    assert_eq!(card.hold, Hold::Suspended);
    assert!(note.tags.contains(&"leech".to_owned()));
    let refused = submit(&*store, &token(&*store, card.id, Side::Back, now), Rating::Good, now);
    assert_eq!(refused, Err(Problem::Held { card: card.id, state: "suspended" }));
}

#[test]
fn a_clock_that_jumps_back_loses_nothing() {
    let store = collection();
    let card = note(&*store, deck(&*store, "A", None), Form::Basic, "a", "b")[0];
    let first = answer(&*store, card, Rating::Good, NOON);
    let second = answer(&*store, card, Rating::Good, NOON - 3 * DAY);
    assert!(second.review > first.review, "the log keeps its order");
    assert_eq!(second.to, Phase::Review);
    assert!(second.due > NOON - 3 * DAY);
    assert_eq!(store.read(|records| records.reviews_of(card)).unwrap().len(), 2);
}

#[test]
fn every_change_can_be_taken_back_and_counts_follow() {
    let store = collection();
    let deck = deck(&*store, "A", None);
    let cards: Vec<CardId> =
        (0..3).flat_map(|n| note(&*store, deck, Form::Reversed, &format!("q{n}"), "a")).collect();
    let picture = || {
        store
            .read(|records| {
                let all: Vec<_> = cards.iter().map(|card| records.card(*card).unwrap()).collect();
                let notes: Vec<_> =
                    all.iter().flatten().map(|card| records.note(card.note).unwrap()).collect();
                Ok((all, notes, lanes(records, NOON + DAY)?, records.tags()?, records.decks()?))
            })
            .unwrap()
    };
    let before = picture();
    type Change = Box<dyn Fn(&mut dyn Ledger) -> Result<(), Problem>>;
    let card = cards[0];
    let tags = vec!["new::tag".to_owned()];
    let changes: Vec<(&str, Change)> = vec![
        ("delete", Box::new(move |ledger| library::delete_card(ledger, card, NOON).map(|_| ()))),
        (
            "delete deck",
            Box::new(move |ledger| library::delete_deck(ledger, deck, NOON).map(|_| ())),
        ),
        (
            "suspend",
            Box::new(move |ledger| {
                library::hold_card(ledger, card, Hold::Suspended, NOON).map(|_| ())
            }),
        ),
        (
            "tag",
            Box::new(move |ledger| {
                library::retag(ledger, card, &tags, &["geo".to_owned()], NOON).map(|_| ())
            }),
        ),
        (
            "reschedule",
            Box::new(move |ledger| {
                library::reschedule(ledger, card, library::Reschedule::InDays(9), NOON).map(|_| ())
            }),
        ),
        (
            "edit",
            Box::new(move |ledger| {
                let fields = [("Back".to_owned(), String::new())].into();
                let changes = library::NoteChanges { fields, ..library::NoteChanges::default() };
                library::update_card(ledger, card, changes, NOON).map(|_| ())
            }),
        ),
        (
            "rename",
            Box::new(move |ledger| {
                let name = Some(DeckName::parse("Z::y").unwrap());
                library::update_deck(
                    ledger,
                    deck,
                    DeckChanges { name, ..DeckChanges::default() },
                    NOON,
                )
                .map(|_| ())
            }),
        ),
    ];
    for (name, change) in changes {
        let (_, action) = act(&*store, NOON, |ledger| change(ledger));
        assert_ne!(picture(), before, "{name} changes something");
        let (_, undoing) = act(&*store, NOON, |ledger| ledger.undo(action, NOON));
        assert_eq!(picture(), before, "{name} is taken back");
        act(&*store, NOON, |ledger| ledger.undo(undoing, NOON));
        assert_ne!(picture(), before, "{name} is done again");
        let last = store.read(|records| records.actions(1)).unwrap()[0].id;
        act(&*store, NOON, |ledger| ledger.undo(last, NOON));
        assert_eq!(picture(), before, "{name} is taken back again");
    }
    let outcome = answer(&*store, cards[0], Rating::Good, NOON);
    let last = store.read(|records| records.actions(1)).unwrap()[0].id;
    act(&*store, NOON, |ledger| ledger.undo(last, NOON));
    assert_eq!(picture(), before, "an answer is taken back: {outcome:?}");
}

#[test]
fn what_was_changed_since_is_not_overwritten_by_an_undo() {
    let store = collection();
    let card = note(&*store, deck(&*store, "A", None), Form::Basic, "a", "b")[0];
    let (_, action) =
        act(&*store, NOON, |ledger| library::hold_card(ledger, card, Hold::Suspended, NOON));
    act(&*store, NOON, |ledger| library::hold_card(ledger, card, Hold::None, NOON));
    let action_of_undo =
        NewAction { tool: "undo-action", summary: "undo", at: NOON, actor: "local" };
    let refused = store.change(&action_of_undo, true, |ledger, _| ledger.undo(action, NOON));
    assert_eq!(refused, Err(Problem::ChangedSince { action, what: card.to_string() }));
}

#[test]
fn a_dry_run_leaves_no_trace() {
    let store = collection();
    let card = note(&*store, deck(&*store, "A", None), Form::Basic, "a", "b")[0];
    let before = store
        .read(|records| Ok((records.card(card)?, records.actions(99)?, lanes(records, NOON)?)))
        .unwrap();
    let action = NewAction { tool: "delete-cards", summary: "try", at: NOON, actor: "local" };
    let (deleted, _) =
        store.change(&action, false, |ledger, _| library::delete_card(ledger, card, NOON)).unwrap();
    assert!(deleted);
    let after = store
        .read(|records| Ok((records.card(card)?, records.actions(99)?, lanes(records, NOON)?)))
        .unwrap();
    assert_eq!(before, after);
}

#[test]
fn content_has_a_history_and_a_version_that_guards_it() {
    let store = collection();
    let card = note(&*store, deck(&*store, "A", None), Form::Basic, "a", "b")[0];
    let edit = |text: &str, version| {
        let changes = library::NoteChanges {
            fields: [("front".to_owned(), text.to_owned())].into(),
            version,
            ..library::NoteChanges::default()
        };
        let action = NewAction { tool: "update-card", summary: "edit", at: NOON, actor: "local" };
        store
            .change(&action, true, |ledger, _| library::update_card(ledger, card, changes, NOON))
            .map(|((note, _), _)| note)
    };
    let note = edit("a2", Some(1)).unwrap();
    assert_eq!((note.version, note.fields[0].as_str()), (2, "a2"));
    assert_eq!(
        edit("a3", Some(1)).unwrap_err(),
        Problem::StaleVersion { card, current: 2, given: 1 }
    );
    let past = store.read(|records| records.past_contents(note.id)).unwrap();
    assert_eq!((past.len(), past[0].version, past[0].fields[0].as_str()), (1, 1, "a"));
}

#[test]
fn deleted_cards_come_back_with_their_note_and_deck() {
    let store = collection();
    let deck = deck(&*store, "A::b", None);
    let cards = note(&*store, deck, Form::Reversed, "a", "b");
    act(&*store, NOON, |ledger| library::delete_deck(ledger, deck, NOON));
    assert_eq!(order(&*store, None, NOON), []);
    act(&*store, NOON, |ledger| library::restore_card(ledger, cards[0], NOON + DAY));
    assert_eq!(order(&*store, Some(deck), NOON), [cards[0]]);
    let late = NewAction { tool: "restore-cards", summary: "late", at: NOON, actor: "local" };
    let refused = store
        .change(&late, true, |ledger, _| library::restore_card(ledger, cards[1], NOON + 31 * DAY));
    assert_eq!(refused, Err(Problem::NoCard(cards[1])), "after 30 days it is gone");
}
