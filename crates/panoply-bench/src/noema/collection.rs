//! A deterministic collection of 100,000 cards and 180,000 reviews.

use panoply_noema::anki::{Package, PackagedCard, PackagedDeck, PackagedNote};
use panoply_noema::card::{Review, ReviewKind};
use panoply_noema::fsrs::{DAY, Micros, SECOND};
use panoply_noema::ids::{CardId, NoteTypeId, ReviewId};
use panoply_noema::note::Form;

pub(crate) const CARDS: i64 = 100_000;
pub(crate) const REVIEWS: i64 = 180_000;
/// Noon, UTC, on 15 November 2026.
pub(crate) const NOW: Micros = 1_794_744_000 * SECOND;

/// Cards in review, each answered three times; the others are new.
const STUDIED: i64 = REVIEWS / 3;
const DECKS: i64 = 48;
const FIRST_ID: i64 = 1_700_000_000_000;
const DAYS: i64 = 400;
const WORDS: [&str; 40] = [
    "river", "mountain", "lantern", "harbour", "winter", "orchard", "marble", "compass", "meadow",
    "thunder", "velvet", "copper", "island", "mirror", "garden", "silence", "journey", "shadow",
    "bridge", "candle", "forest", "anchor", "pepper", "saddle", "window", "market", "violin",
    "planet", "desert", "bottle", "castle", "ribbon", "tunnel", "feather", "engine", "pillow",
    "rocket", "basket", "ladder", "blanket",
];

/// The collection as a package.
pub(crate) fn package() -> Package {
    let mut rng = Rng(7);
    let mut package = Package {
        created: NOW / SECOND - DAYS * 86_400,
        note_types: vec![panoply_noema::note::NoteType {
            id: NoteTypeId(FIRST_ID - 1),
            ..Form::Basic.note_type()
        }],
        decks: (0..DECKS).map(deck).collect(),
        ..Package::default()
    };
    for number in 0..CARDS {
        package.notes.push(note(number, &mut rng));
        package.cards.push(card(number, &mut package.reviews, &mut rng));
    }
    package.reviews.sort_by_key(|review| review.id.0);
    package
}

/// Six subjects with seven decks each.
fn deck(number: i64) -> PackagedDeck {
    let (subject, part) = (number / 8, number % 8);
    let name = match part {
        0 => format!("Subject {subject}"),
        part => format!("Subject {subject}::Part {part}"),
    };
    PackagedDeck {
        id: FIRST_ID + number,
        name,
        search: None,
        description: String::new(),
        options: None,
    }
}

/// A note of thirty words; each tag is on one note in a hundred.
fn note(number: i64, rng: &mut Rng) -> PackagedNote {
    let mut words = |count: i64| {
        let words: Vec<&str> = (0..count)
            .filter_map(|_| WORDS.get(usize::try_from(rng.below(40)).ok()?).copied())
            .collect();
        words.join(" ")
    };
    let front = format!("{} {number}", words(8));
    let back = words(22);
    PackagedNote {
        id: FIRST_ID + number * 1000,
        guid: format!("bench{number:06}"),
        note_type: FIRST_ID - 1,
        modified: NOW / SECOND - 86_400,
        tags: format!(" topic{}::part{} ", number % 20, number / 20 % 5),
        fields: format!("{front}\u{1f}{back}"),
    }
}

fn card(number: i64, log: &mut Vec<Review>, rng: &mut Rng) -> PackagedCard {
    let id = FIRST_ID + number * 1000 + 1;
    let studied = number % 5 < 3 && number / 5 * 3 < STUDIED;
    let interval = 1 + rng.below(300);
    let due_in = rng.below(120) - 5;
    let last = NOW - (interval - due_in).max(0) * DAY - rng.below(20_000_000_000);
    if studied {
        for back in (0..3).rev() {
            let at = last - back * 30 * DAY - number;
            let first = back == 2;
            log.push(Review {
                id: ReviewId(at / 1000),
                card: CardId(id),
                rating: u8::try_from(1 + rng.below(4)).unwrap_or(3),
                kind: if first { ReviewKind::Learning } else { ReviewKind::Review },
                interval,
                last_interval: if first { 0 } else { interval / 2 },
                factor: 500,
                taken_ms: 2000 + rng.below(15_000),
                predicted: None,
                felt: None,
                stored_outcome: None,
            });
        }
    }
    PackagedCard {
        id,
        note: FIRST_ID + number * 1000,
        deck: FIRST_ID + number % DECKS,
        ordinal: 0,
        modified: NOW / SECOND - 86_400,
        kind: if studied { 2 } else { 0 },
        queue: if studied { 2 } else { 0 },
        due: if studied { DAYS + due_in } else { number },
        interval: if studied { interval } else { 0 },
        ease: 0,
        reps: if studied { 3 } else { 0 },
        lapses: i64::from(studied && number % 50 == 0),
        left: 0,
        own_due: 0,
        own_deck: 0,
        flags: 0,
        data: if studied {
            format!(r#"{{"s":{interval}.5,"d":{}.25,"lrt":{}}}"#, 1 + rng.below(9), last / SECOND)
        } else {
            String::new()
        },
    }
}

/// A deterministic pseudo-random generator.
struct Rng(u64);

impl Rng {
    fn below(&mut self, end: i64) -> i64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        i64::try_from(self.0 >> 33).unwrap_or_default() % end
    }
}
