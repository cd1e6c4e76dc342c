//! The study queue: the cache equals a rebuilt queue and survives restarts.

use panoply_noema::anki;
use panoply_noema::collection;
use panoply_noema::deck::DeckOptions;
use panoply_noema::error::NoemaError;
use panoply_noema::fsrs::{DAY, Micros, Rating, SECOND};
use panoply_noema::ids::{CardId, DeckId};
use panoply_noema::note::Form;
use panoply_noema::queue::{self, QueueCache};
use panoply_noema::review::{self, ReviewSubmission, Side};
use panoply_noema::search;
use panoply_noema::statistics;
use panoply_noema::store::{NewAction, SearchContext, SortOrder, SqliteStore, Store};

use crate::study::{NOON, act, answer, collection, deck, note, order, submit, token};

/// Submits a review and updates the cache, as `submit-review` does.
fn answer_cached(
    store: &dyn Store,
    queue_cache: &QueueCache,
    card: CardId,
    rating: Rating,
    now: Micros,
) {
    let token = token(store, card, Side::Back, now);
    let answer =
        ReviewSubmission { token: &token, rating, taken_ms: None, felt: None, session: None };
    let action = NewAction { tool: "submit-review", summary: "an answer", at: now, actor: "local" };
    let ((version, outcome), _) = store
        .change(&action, true, |writer, _| {
            Ok((writer.version()?, review::submit(writer, &answer, now)?.outcome))
        })
        .unwrap();
    queue_cache.apply_answer(version, &outcome);
}

fn cached_order(
    store: &dyn Store,
    queue_cache: &QueueCache,
    root: Option<DeckId>,
    now: Micros,
) -> Vec<CardId> {
    let cards =
        |day: &queue::DayQueue| day.at(now).in_order().map(|waiting| waiting.card).collect();
    store.read(|reader| queue_cache.day(reader, root, now, cards)).unwrap()
}

#[test]
fn cached_queue_equals_a_rebuilt_queue() {
    let store = collection();
    let small = DeckOptions { new_per_day: 15, reviews_per_day: 40, ..DeckOptions::default() };
    let top = deck(&*store, "T", Some(small));
    let decks = [top, deck(&*store, "T::a", None), deck(&*store, "T::b", None)];
    let mut cards = Vec::new();
    for n in 0..60 {
        let form = if n % 3 == 0 { Form::Reversed } else { Form::Basic };
        cards.extend(note(
            &*store,
            decks[n % 3],
            form,
            &format!("front {n}"),
            &format!("back {n}"),
        ));
    }
    for (n, card) in cards.iter().enumerate().filter(|(n, _)| n % 2 == 0) {
        let rating = if n % 4 == 0 { Rating::Easy } else { Rating::Again };
        answer(&*store, *card, rating, NOON - 60 * DAY);
    }
    let queue_cache = QueueCache::default();
    let mut now = NOON;
    let mut shown = 0;
    for step in 0..90_usize {
        for root in [None, Some(top), Some(decks[1])] {
            let incremental = cached_order(&*store, &queue_cache, root, now);
            assert_eq!(incremental, order(&*store, root, now), "step {step}, deck {root:?}");
        }
        let waiting = cached_order(&*store, &queue_cache, None, now);
        let Some(card) = waiting.get(step % 3).or(waiting.first()) else { break };
        answer_cached(&*store, &queue_cache, *card, Rating::ALL[step * 7 % 4], now);
        now += i64::try_from(step % 5).unwrap() * 40 * SECOND;
        shown += 1;
    }
    let counts = store.read(|reader| statistics::counts(reader, &reader.decks()?, now)).unwrap();
    let count = |query: &str| {
        let query = search::parse(query).unwrap();
        let context = SearchContext {
            now,
            calendar: DeckOptions::default().calendar(panoply_noema::fsrs::Zone::UTC),
        };
        let found = store.read(|reader| reader.search(&query, context, SortOrder::Created, 0, 1));
        i64::try_from(found.unwrap().total).unwrap()
    };
    // The incremental counts equal those of a full search.
    assert_eq!(counts[&top].cards, count("deck:T"));
    assert_eq!(counts[&top].new, count("deck:T is:new -is:buried -is:suspended"));
    assert_eq!(counts[&top].due, count("deck:T is:due"));
    assert_eq!(counts[&top].buried, count("deck:T is:buried"));
    assert!(shown > 60, "only {shown} cards were shown");
    // One build per root, and again for each exhausted queue.
    assert!(
        queue_cache.builds() < 40,
        "it was gathered {} times in {shown} answers",
        queue_cache.builds()
    );
}

#[test]
fn any_change_invalidates_the_cached_queue() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("noema.db");
    let open = || Box::new(SqliteStore::open(&file).unwrap()) as Box<dyn Store>;
    let (store, other) = (open(), open());
    let home = deck(&*store, "A", None);
    let first = note(&*store, home, Form::Basic, "a", "b")[0];
    let queue_cache = QueueCache::default();
    assert_eq!(cached_order(&*store, &queue_cache, None, NOON), [first]);
    assert_eq!(cached_order(&*store, &queue_cache, None, NOON), [first]);
    assert_eq!(queue_cache.builds(), 1);
    let second = note(&*other, home, Form::Basic, "c", "d")[0];
    assert_eq!(
        cached_order(&*store, &queue_cache, None, NOON),
        [first, second],
        "another program's card"
    );
    act(&*store, NOON, |writer| collection::bury_card(writer, first, NOON));
    assert_eq!(cached_order(&*store, &queue_cache, None, NOON), [second], "our own burial");
    assert_eq!(
        cached_order(&*store, &queue_cache, None, NOON + DAY),
        [first, second],
        "another day"
    );
    assert_eq!(cached_order(&*store, &queue_cache, None, NOON), [second], "a clock that went back");
}

#[test]
fn second_process_answering_the_same_card_is_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("noema.db");
    let open = || Box::new(SqliteStore::open(&file).unwrap()) as Box<dyn Store>;
    let (one, two) = (open(), open());
    let card = note(&*one, deck(&*one, "A", None), Form::Basic, "a", "b")[0];
    let (first, second) =
        (token(&*one, card, Side::Back, NOON), token(&*two, card, Side::Back, NOON + SECOND));
    submit(&*one, &first, Rating::Good, NOON).unwrap();
    let refused = submit(&*two, &second, Rating::Again, NOON + SECOND);
    assert_eq!(refused, Err(NoemaError::TokenSpent(card)));
    let replayed = submit(&*two, &first, Rating::Good, NOON + SECOND).unwrap();
    assert!(replayed.1, "the first answer is known there too");
    assert_eq!(two.read(|reader| reader.reviews_of(card)).unwrap().len(), 1);
}

#[test]
fn new_cards_stay_interleaved_when_the_queue_is_rebuilt() {
    let store = collection();
    let home = deck(&*store, "A", None);
    let cards: Vec<CardId> =
        (0..12).map(|n| note(&*store, home, Form::Basic, &format!("q{n}"), "a")[0]).collect();
    for card in &cards[..9] {
        answer(&*store, *card, Rating::Easy, NOON - 60 * DAY);
    }
    let planned = order(&*store, Some(home), NOON);
    let mut studied = Vec::new();
    while let Some(card) = order(&*store, Some(home), NOON).first().copied() {
        answer(&*store, card, Rating::Easy, NOON);
        studied.push(card);
    }
    assert_eq!(studied, planned, "a rebuilt queue continues in the same order");
    let new: Vec<usize> = (0..12).filter(|place| cards[9..].contains(&studied[*place])).collect();
    assert_eq!(new.len(), 3);
    assert!(new.windows(2).all(|pair| pair[1] - pair[0] >= 3), "spread evenly: {new:?}");
}

#[test]
fn due_counts_use_the_rollover_of_each_deck() {
    let store = collection();
    let from =
        |hour| Some(DeckOptions { rollover_hour: hour, fuzz: false, ..DeckOptions::default() });
    let (early, late) = (deck(&*store, "Early", from(4)), deck(&*store, "Late", from(13)));
    let soon = |deck| {
        let card = note(&*store, deck, Form::Basic, &format!("q{}", deck.0), "a")[0];
        act(&*store, NOON, |writer| {
            collection::reschedule(writer, card, collection::Reschedule::InDays(1), NOON)
        });
    };
    soon(early);
    soon(late);
    let due = |now: Micros| {
        let counts =
            store.read(|reader| statistics::counts(reader, &reader.decks()?, now)).unwrap();
        (counts[&early].due, counts[&late].due)
    };
    // With a rollover at 13:00, tomorrow begins an hour after noon.
    assert_eq!(due(NOON), (0, 0));
    assert_eq!(due(NOON + 2 * 3600 * SECOND), (0, 1));
    assert_eq!(due(NOON + DAY), (1, 1));
}

#[test]
fn manual_burial_ends_at_the_deck_rollover() {
    let store = collection();
    let options = DeckOptions { rollover_hour: 13, ..DeckOptions::default() };
    let home = deck(&*store, "A", Some(options));
    let card = note(&*store, home, Form::Basic, "a", "b")[0];
    let (buried, action) = act(&*store, NOON, |writer| collection::bury_card(writer, card, NOON));
    assert!(buried);
    assert!(
        !act(&*store, NOON, |writer| collection::bury_card(writer, card, NOON)).0,
        "it is buried"
    );
    let standing = |now: Micros| {
        let counts =
            store.read(|reader| statistics::counts(reader, &reader.decks()?, now)).unwrap();
        (order(&*store, None, now).len(), counts[&home].buried, counts[&home].new)
    };
    let (before, after) = (NOON + 3599 * SECOND, NOON + 3600 * SECOND);
    assert_eq!(standing(before), (0, 1, 0));
    assert_eq!(standing(after), (1, 0, 1), "at one o'clock a new day begins there");
    act(&*store, NOON, |writer| writer.undo(action, NOON));
    assert_eq!(standing(NOON), (1, 0, 1), "the burial is undone");
}

#[test]
fn only_approval_releases_a_draft() {
    let store = collection();
    let home = deck(&*store, "A", None);
    let new = collection::NewNote {
        note_type: Form::Basic.note_type().id,
        fields: vec!["a".to_owned(), "b".to_owned()],
        tags: Vec::new(),
        deck: home,
        draft: true,
        source: None,
    };
    let card = act(&*store, NOON, |writer| collection::add_note(writer, new, NOON)).0.1[0].id;
    let action = NewAction { tool: "unsuspend-cards", summary: "try", at: NOON, actor: "local" };
    for hold in [panoply_noema::card::Hold::None, panoply_noema::card::Hold::Suspended] {
        let refused =
            store.change(&action, true, |writer, _| collection::set_hold(writer, card, hold, NOON));
        assert!(refused.is_err(), "{hold:?}");
    }
    assert!(
        store.change(&action, true, |writer, _| collection::bury_card(writer, card, NOON)).is_err()
    );
    assert!(act(&*store, NOON, |writer| collection::approve_draft(writer, card, NOON)).0);
    assert_eq!(order(&*store, None, NOON), [card]);
}

#[test]
fn incremental_statistics_equal_a_full_log_scan() {
    let store = collection();
    let home = deck(&*store, "A", None);
    let both = |now: Micros| {
        store
            .read(|reader| {
                let calendar = DeckOptions::default().calendar(panoply_noema::fsrs::Zone::UTC);
                let decks: Vec<DeckId> = reader.decks()?.iter().map(|deck| deck.id).collect();
                let span = (0, now + DAY);
                let incremental = statistics::study_stats(reader, None, calendar, span, now)?;
                let summed = statistics::study_stats(reader, Some(&decks), calendar, span, now)?;
                Ok((incremental, summed))
            })
            .unwrap()
    };
    let cards: Vec<CardId> =
        (0..6).map(|n| note(&*store, home, Form::Basic, &format!("q{n}"), "a")[0]).collect();
    let mut now = NOON;
    for step in 0..60_usize {
        answer(&*store, cards[step * 5 % 6], Rating::ALL[step * 3 % 4], now);
        now += i64::try_from(step).unwrap() * 1700 * SECOND;
    }
    let (incremental, summed) = both(now);
    assert_eq!(incremental, summed);
    assert_eq!((incremental.reviews, incremental.introduced), (60, 6));
    assert!(incremental.young.0 > 0 && incremental.by_day.len() > 20, "{incremental:?}");
    let last = store.read(|reader| reader.actions(1)).unwrap()[0].id;
    let (_, undoing) = act(&*store, now, |writer| writer.undo(last, now));
    let (incremental, summed) = both(now);
    assert_eq!((&incremental, incremental.reviews), (&summed, 59), "after an undone review");
    act(&*store, now, |writer| writer.undo(undoing, now));
    // A bulk-imported log is summed at the end of the import.
    let package = include_bytes!("../golden/sample_anki26_latest.apkg");
    let package = anki::read(package, anki::PackageLimits::default()).unwrap();
    act(&*store, now, |writer| anki::import(writer, &package, now, &mut |_, _| Ok(())));
    let (incremental, summed) = both(now);
    assert_eq!((&incremental, incremental.reviews), (&summed, 72), "after an import");
}
