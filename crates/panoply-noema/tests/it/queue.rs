//! The day's queue: kept warm it is what gathering it anew would give, and it survives a restart.

use panoply_noema::anki;
use panoply_noema::deck::DeckOptions;
use panoply_noema::fsrs::{DAY, Micros, Rating, SECOND};
use panoply_noema::ids::{CardId, DeckId};
use panoply_noema::insight;
use panoply_noema::library;
use panoply_noema::note::Form;
use panoply_noema::problem::Problem;
use panoply_noema::queue::{self, Warm};
use panoply_noema::review::{self, Answer, Side};
use panoply_noema::search;
use panoply_noema::store::{NewAction, Order, SqliteStore, Store, Timing};

use crate::study::{NOON, act, answer, collection, deck, note, order, submit, token};

/// Answers as `submit-review` does, so that the kept day follows.
fn answer_warm(store: &dyn Store, warm: &Warm, card: CardId, rating: Rating, now: Micros) {
    let token = token(store, card, Side::Back, now);
    let answer = Answer { token: &token, rating, taken_ms: None, felt: None, session: None };
    let action = NewAction { tool: "submit-review", summary: "an answer", at: now, actor: "local" };
    let ((version, outcome), _) = store
        .change(&action, true, |ledger, _| {
            Ok((ledger.version()?, review::submit(ledger, &answer, now)?.outcome))
        })
        .unwrap();
    warm.answered(version, &outcome);
}

fn warm_order(store: &dyn Store, warm: &Warm, root: Option<DeckId>, now: Micros) -> Vec<CardId> {
    let cards = |day: &queue::Day| day.at(now).in_order().map(|waiting| waiting.card).collect();
    store.read(|records| warm.day(records, root, now, cards)).unwrap()
}

#[test]
fn a_day_that_is_kept_is_what_gathering_it_anew_would_give() {
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
    let warm = Warm::default();
    let mut now = NOON;
    let mut shown = 0;
    for step in 0..90_usize {
        for root in [None, Some(top), Some(decks[1])] {
            let kept = warm_order(&*store, &warm, root, now);
            assert_eq!(kept, order(&*store, root, now), "step {step}, deck {root:?}");
        }
        let waiting = warm_order(&*store, &warm, None, now);
        let Some(card) = waiting.get(step % 3).or(waiting.first()) else { break };
        answer_warm(&*store, &warm, *card, Rating::ALL[step * 7 % 4], now);
        now += i64::try_from(step % 5).unwrap() * 40 * SECOND;
        shown += 1;
    }
    let counts = store.read(|records| insight::counts(records, &records.decks()?, now)).unwrap();
    let count = |query: &str| {
        let query = search::parse(query).unwrap();
        let timing = Timing { now, calendar: DeckOptions::default().calendar() };
        let found = store.read(|records| records.search(&query, timing, Order::Created, 0, 1));
        i64::try_from(found.unwrap().total).unwrap()
    };
    // Kept with each answer, the counts are those of a search through all cards.
    assert_eq!(counts[&top].cards, count("deck:T"));
    assert_eq!(counts[&top].new, count("deck:T is:new -is:buried -is:suspended"));
    assert_eq!(counts[&top].due, count("deck:T is:due"));
    assert_eq!(counts[&top].buried, count("deck:T is:buried"));
    assert!(shown > 60, "only {shown} cards were shown");
    // One for each of the three, and again for those that ran out.
    assert!(warm.gathered() < 40, "it was gathered {} times in {shown} answers", warm.gathered());
}

#[test]
fn a_change_by_anyone_makes_a_kept_day_void() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("noema.db");
    let open = || Box::new(SqliteStore::open(&file).unwrap()) as Box<dyn Store>;
    let (store, other) = (open(), open());
    let home = deck(&*store, "A", None);
    let first = note(&*store, home, Form::Basic, "a", "b")[0];
    let warm = Warm::default();
    assert_eq!(warm_order(&*store, &warm, None, NOON), [first]);
    assert_eq!(warm_order(&*store, &warm, None, NOON), [first]);
    assert_eq!(warm.gathered(), 1);
    let second = note(&*other, home, Form::Basic, "c", "d")[0];
    assert_eq!(warm_order(&*store, &warm, None, NOON), [first, second], "another program's card");
    act(&*store, NOON, |ledger| library::bury_card(ledger, first, NOON));
    assert_eq!(warm_order(&*store, &warm, None, NOON), [second], "our own burial");
    assert_eq!(warm_order(&*store, &warm, None, NOON + DAY), [first, second], "another day");
    assert_eq!(warm_order(&*store, &warm, None, NOON), [second], "a clock that went back");
}

#[test]
fn of_two_programs_on_one_file_the_second_to_answer_a_card_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("noema.db");
    let open = || Box::new(SqliteStore::open(&file).unwrap()) as Box<dyn Store>;
    let (one, two) = (open(), open());
    let card = note(&*one, deck(&*one, "A", None), Form::Basic, "a", "b")[0];
    let (first, second) =
        (token(&*one, card, Side::Back, NOON), token(&*two, card, Side::Back, NOON + SECOND));
    submit(&*one, &first, Rating::Good, NOON).unwrap();
    let refused = submit(&*two, &second, Rating::Again, NOON + SECOND);
    assert_eq!(refused, Err(Problem::SpentToken(card)));
    let replayed = submit(&*two, &first, Rating::Good, NOON + SECOND).unwrap();
    assert!(replayed.1, "the first answer is known there too");
    assert_eq!(two.read(|records| records.reviews_of(card)).unwrap().len(), 1);
}

#[test]
fn new_cards_stay_spread_over_the_day_when_the_queue_is_gathered_anew() {
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
    assert_eq!(studied, planned, "a program that starts anew goes on where it stopped");
    let new: Vec<usize> = (0..12).filter(|place| cards[9..].contains(&studied[*place])).collect();
    assert_eq!(new.len(), 3);
    assert!(new.windows(2).all(|pair| pair[1] - pair[0] >= 3), "spread evenly: {new:?}");
}

#[test]
fn what_is_due_is_counted_by_the_day_of_each_deck() {
    let store = collection();
    let from =
        |hour| Some(DeckOptions { rollover_hour: hour, fuzz: false, ..DeckOptions::default() });
    let (early, late) = (deck(&*store, "Early", from(4)), deck(&*store, "Late", from(13)));
    let soon = |deck| {
        let card = note(&*store, deck, Form::Basic, &format!("q{}", deck.0), "a")[0];
        act(&*store, NOON, |ledger| {
            library::reschedule(ledger, card, library::Reschedule::InDays(1), NOON)
        });
    };
    soon(early);
    soon(late);
    let due = |now: Micros| {
        let counts =
            store.read(|records| insight::counts(records, &records.decks()?, now)).unwrap();
        (counts[&early].due, counts[&late].due)
    };
    // Where a day begins at one, tomorrow begins an hour after noon.
    assert_eq!(due(NOON), (0, 0));
    assert_eq!(due(NOON + 2 * 3600 * SECOND), (0, 1));
    assert_eq!(due(NOON + DAY), (1, 1));
}

#[test]
fn a_burial_by_hand_ends_when_the_next_day_of_the_deck_begins() {
    let store = collection();
    let options = DeckOptions { rollover_hour: 13, ..DeckOptions::default() };
    let home = deck(&*store, "A", Some(options));
    let card = note(&*store, home, Form::Basic, "a", "b")[0];
    let (buried, action) = act(&*store, NOON, |ledger| library::bury_card(ledger, card, NOON));
    assert!(buried);
    assert!(!act(&*store, NOON, |ledger| library::bury_card(ledger, card, NOON)).0, "it is buried");
    let standing = |now: Micros| {
        let counts =
            store.read(|records| insight::counts(records, &records.decks()?, now)).unwrap();
        (order(&*store, None, now).len(), counts[&home].buried, counts[&home].new)
    };
    let (before, after) = (NOON + 3599 * SECOND, NOON + 3600 * SECOND);
    assert_eq!(standing(before), (0, 1, 0));
    assert_eq!(standing(after), (1, 0, 1), "at one o'clock a new day begins there");
    act(&*store, NOON, |ledger| ledger.undo(action, NOON));
    assert_eq!(standing(NOON), (1, 0, 1), "and it can be taken back");
}

#[test]
fn a_draft_is_let_go_by_approval_only() {
    let store = collection();
    let home = deck(&*store, "A", None);
    let new = library::NewNote {
        note_type: Form::Basic.note_type().id,
        fields: vec!["a".to_owned(), "b".to_owned()],
        tags: Vec::new(),
        deck: home,
        draft: true,
        source: None,
    };
    let card = act(&*store, NOON, |ledger| library::add_note(ledger, new, NOON)).0.1[0].id;
    let action = NewAction { tool: "unsuspend-cards", summary: "try", at: NOON, actor: "local" };
    for hold in [panoply_noema::card::Hold::None, panoply_noema::card::Hold::Suspended] {
        let refused =
            store.change(&action, true, |ledger, _| library::hold_card(ledger, card, hold, NOON));
        assert!(refused.is_err(), "{hold:?}");
    }
    assert!(
        store.change(&action, true, |ledger, _| library::bury_card(ledger, card, NOON)).is_err()
    );
    assert!(act(&*store, NOON, |ledger| library::approve_draft(ledger, card, NOON)).0);
    assert_eq!(order(&*store, None, NOON), [card]);
}

#[test]
fn sums_that_are_kept_are_those_of_the_whole_log() {
    let store = collection();
    let home = deck(&*store, "A", None);
    let both = |now: Micros| {
        store
            .read(|records| {
                let calendar = DeckOptions::default().calendar();
                let decks: Vec<DeckId> = records.decks()?.iter().map(|deck| deck.id).collect();
                let span = (0, now + DAY);
                let kept = insight::study(records, None, calendar, span, now)?;
                let summed = insight::study(records, Some(&decks), calendar, span, now)?;
                Ok((kept, summed))
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
    let (kept, summed) = both(now);
    assert_eq!(kept, summed);
    assert_eq!((kept.reviews, kept.introduced), (60, 6));
    assert!(kept.young.0 > 0 && kept.by_day.len() > 20, "{kept:?}");
    let last = store.read(|records| records.actions(1)).unwrap()[0].id;
    let (_, undoing) = act(&*store, now, |ledger| ledger.undo(last, now));
    let (kept, summed) = both(now);
    assert_eq!((&kept, kept.reviews), (&summed, 59), "after an answer was taken back");
    act(&*store, now, |ledger| ledger.undo(undoing, now));
    // A log that comes in bulk is summed up at its end.
    let package = include_bytes!("../golden/sample_anki26_latest.apkg");
    let package = anki::read(package, anki::Limits::default()).unwrap();
    act(&*store, now, |ledger| anki::import(ledger, &package, now, &mut |_, _| Ok(())));
    let (kept, summed) = both(now);
    assert_eq!((&kept, kept.reviews), (&summed, 72), "after an import");
}
