//! Reviews made without a connection: whichever device is back first, the collection is as if one
//! learner had made all reviews with a connection, in order of time.

use panoply_noema::card::{Card, Hold};
use panoply_noema::collection::{self, Reschedule};
use panoply_noema::error::NoemaError;
use panoply_noema::fsrs::{DAY, Micros, Rating, SECOND};
use panoply_noema::ids::CardId;
use panoply_noema::note::Form;
use panoply_noema::review::Side;
use panoply_noema::review::offline::{OfflineReview, Recorded, record_offline};
use panoply_noema::store::Store;
use proptest::prelude::*;

use crate::study::{NOON, act, answer, collection, deck, note, token};

const HOUR: Micros = 3600 * SECOND;
const CARDS: usize = 3;

/// A learner with three cards, of which one is in review.
fn learner() -> (Box<dyn Store>, Vec<CardId>) {
    let store = collection();
    let deck = deck(&*store, "A", None);
    let cards: Vec<CardId> = (0..CARDS)
        .flat_map(|n| note(&*store, deck, Form::Basic, &format!("front {n}"), "back"))
        .collect();
    answer(&*store, *cards.first().unwrap(), Rating::Easy, NOON - 20 * DAY);
    (store, cards)
}

fn send(
    store: &dyn Store,
    token: &str,
    rating: Rating,
    at: Micros,
    now: Micros,
) -> Result<Recorded, NoemaError> {
    let review = OfflineReview { token, rating, device_time: at, at, taken_ms: Some(3000) };
    let (_, recorded) = act(store, now, |writer| Ok(record_offline(writer, &review, now))).0?;
    Ok(recorded)
}

fn card(store: &dyn Store, id: CardId) -> Card {
    store.read(|reader| collection::card(reader, id)).unwrap()
}

/// What a review did, for comparison.
fn state(store: &dyn Store, id: CardId) -> String {
    let card = card(store, id);
    let log: Vec<_> = store
        .read(|reader| reader.reviews_of(id))
        .unwrap()
        .into_iter()
        .map(|review| (review.id, review.rating, review.kind, review.interval, review.factor))
        .collect();
    let memory = card.schedule.memory.map(|memory| {
        // Outcomes are kept as JSON, whose numbers may differ in the last bit.
        (format!("{:.9}", memory.stability), format!("{:.9}", memory.difficulty))
    });
    let schedule = card.schedule;
    let rest = (schedule.phase, schedule.step, schedule.due, schedule.interval_days);
    format!("{memory:?} {rest:?} {:?} {} {} {log:?}", schedule.last_review, card.reps, card.lapses)
}

#[derive(Clone, Debug)]
struct Made {
    device: usize,
    card: usize,
    rating: Rating,
    at: Micros,
}

fn some_reviews() -> impl Strategy<Value = Vec<Made>> {
    let one = (0..3_usize, 0..CARDS, prop::sample::select(Rating::ALL.to_vec()), 1..200_i64);
    prop::collection::vec(one, 1..14).prop_map(|made| {
        let mut reviews: Vec<Made> = made
            .into_iter()
            .enumerate()
            .map(|(n, (device, card, rating, hours))| Made {
                device,
                card,
                rating,
                // No two at one moment: which is first would be chance.
                at: NOON + hours * HOUR + i64::try_from(n).unwrap() * SECOND,
            })
            .collect();
        reviews.sort_by_key(|review| review.at);
        reviews
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn order_in_which_devices_are_back_changes_nothing(
        reviews in some_reviews(),
        back in Just(vec![0, 1, 2]).prop_shuffle(),
    ) {
        let (online, cards) = learner();
        for Made { card, rating, at, .. } in &reviews {
            answer(&*online, cards[*card], *rating, *at);
        }
        let (offline, same) = learner();
        prop_assert_eq!(&cards, &same);
        let tokens: Vec<String> =
            cards.iter().map(|card| token(&*offline, *card, Side::Back, NOON)).collect();
        let now = NOON + 30 * DAY;
        for device in back {
            for Made { card, rating, at, .. } in reviews.iter().filter(|made| made.device == device) {
                let recorded = send(&*offline, &tokens[*card], *rating, *at, now).unwrap();
                prop_assert!(matches!(recorded, Recorded::Scheduled | Recorded::Merged));
            }
        }
        for id in cards {
            prop_assert_eq!(state(&*offline, id), state(&*online, id));
        }
    }
}

#[test]
fn a_review_that_is_sent_twice_counts_once() {
    let (store, cards) = learner();
    let back = token(&*store, cards[0], Side::Back, NOON);
    let at = NOON + HOUR;
    let now = NOON + DAY;
    assert_eq!(send(&*store, &back, Rating::Good, at, now), Ok(Recorded::Scheduled));
    let before = state(&*store, cards[0]);
    assert_eq!(send(&*store, &back, Rating::Good, at, now + DAY), Ok(Recorded::Repeated));
    assert_eq!(state(&*store, cards[0]), before);
    assert_eq!(
        send(&*store, &back, Rating::Again, at, now),
        Err(NoemaError::AlreadyRated { first: "good", second: "again" })
    );
    // Another review of the same card has the same token.
    assert_eq!(send(&*store, &back, Rating::Good, at + 1000, now), Ok(Recorded::Scheduled));
}

#[test]
fn a_review_is_neither_before_its_card_was_taken_nor_in_the_future() {
    let (store, cards) = learner();
    for (card, at, expected) in
        [(cards[1], NOON - 9 * DAY, NOON), (cards[2], NOON + 9 * DAY, NOON + DAY)]
    {
        let back = token(&*store, card, Side::Back, NOON);
        send(&*store, &back, Rating::Good, at, NOON + DAY).unwrap();
        let log = store.read(|reader| reader.reviews_of(card)).unwrap();
        assert_eq!(log[0].id.0, expected / 1000);
    }
}

#[test]
fn a_reset_decides_and_the_review_is_logged() {
    let (store, cards) = learner();
    let back = token(&*store, cards[0], Side::Back, NOON);
    let reset = NOON + 2 * HOUR;
    act(&*store, reset, |writer| {
        collection::reschedule(writer, cards[0], Reschedule::Forget, reset)
    });
    let before = card(&*store, cards[0]);
    let now = NOON + DAY;
    assert_eq!(send(&*store, &back, Rating::Good, NOON + HOUR, now), Ok(Recorded::Logged));
    assert_eq!(card(&*store, cards[0]), before);
    assert_eq!(store.read(|reader| reader.reviews_of(cards[0])).unwrap().len(), 2);
}

#[test]
fn a_suspended_card_stays_suspended_and_front_tokens_are_refused() {
    let (store, cards) = learner();
    let back = token(&*store, cards[0], Side::Back, NOON);
    act(&*store, NOON, |writer| collection::set_hold(writer, cards[0], Hold::Suspended, NOON));
    let hold = card(&*store, cards[0]).hold;
    let now = NOON + DAY;
    assert_eq!(send(&*store, &back, Rating::Good, NOON + HOUR, now), Ok(Recorded::Scheduled));
    assert_eq!(card(&*store, cards[0]).hold, hold);
    let front = token(&*store, cards[1], Side::Front, NOON);
    assert_eq!(
        send(&*store, &front, Rating::Good, NOON, now),
        Err(NoemaError::AnswerNotRevealed(cards[1]))
    );
}

#[test]
fn merged_reviews_are_undone_together() {
    let (store, cards) = learner();
    let back = token(&*store, cards[0], Side::Back, NOON);
    answer(&*store, cards[0], Rating::Good, NOON + 5 * HOUR);
    let before = state(&*store, cards[0]);
    let now = NOON + DAY;
    let review = OfflineReview {
        token: &back,
        rating: Rating::Again,
        device_time: NOON + HOUR,
        at: NOON + HOUR,
        taken_ms: None,
    };
    let ((_, recorded), action) = act(&*store, now, |writer| record_offline(writer, &review, now));
    assert_eq!(recorded, Recorded::Merged);
    assert_ne!(state(&*store, cards[0]), before);
    act(&*store, now, |writer| writer.undo(action, now));
    assert_eq!(state(&*store, cards[0]), before);
}
