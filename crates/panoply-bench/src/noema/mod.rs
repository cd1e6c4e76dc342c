//! The noema pack at 100,000 cards and 180,000 reviews, beside Anki's own backend on the same
//! collection: written by our export, imported by Anki.

mod collection;
mod peer;

use std::path::Path;
use std::sync::Arc;

use panoply_contract::clock::Clock;
use panoply_contract::kernel::{Kernel, Settings};
use panoply_contract::testing::{FixedClock, kernel_in_memory};
use panoply_noema::anki::{self, Limits};
use panoply_noema::deck::DeckOptions;
use panoply_noema::fsrs::fit::{self, Logged};
use panoply_noema::fsrs::{DAY, Rating, Schedule, Scheduler, Seed};
use panoply_noema::search;
use panoply_noema::store::{NewAction, Order, SqliteStore, Store, Timing};
use panoply_noema::tools::pack;
use panoply_store::SystemClock;
use serde_json::{Value, json};

use self::collection::{CARDS, NOW, REVIEWS};
use self::peer::Peer;
use crate::{Outcome, child, report};

const RUNS: usize = 15;
/// A learner's sitting: as many as the rate limit of `submit-review` lets through at once.
const ANSWERS: usize = 250;
/// Files here wait for no disk, so that what remains is our own work.
const MEMORY: &str = "/dev/shm";

/// What is measured, what may be asked of it, and how Anki's backend calls its own.
const SEARCHES: [(&str, &str, Option<f64>); 7] = [
    ("tag:topic3::part2", "tag search", Some(1.0)),
    (
        r#"deck:"Subject 1" (tag:topic3 or tag:topic5) -is:new"#,
        "combined boolean search",
        Some(15.0),
    ),
    (r#""er 4242""#, "substring search", Some(8.0)),
    ("lantern", "search for a word that most notes have", None),
    ("is:due", "search for what is due", None),
    ("prop:r<0.8", "search by recall", None),
    ("re:lad+er.*4242", "search by expression", None),
];

pub(crate) fn run(folder: Option<&str>) -> Outcome {
    let here = match folder {
        Some(folder) => tempfile::tempdir_in(folder)?,
        None if Path::new(MEMORY).is_dir() => tempfile::tempdir_in(MEMORY)?,
        None => tempfile::tempdir()?,
    };
    report::heading(
        "The noema pack",
        &format!(
            "{CARDS} cards, {REVIEWS} reviews, in {}; CPU time of one thread (and by the clock), least of {RUNS}",
            here.path().display()
        ),
    );
    let file = here.path().join("noema.db");
    let package_file = here.path().join("collection.apkg");
    let store = SqliteStore::open(&file)?;
    let package = collection::package();
    let fill = NewAction { tool: "import-package", summary: "the bench", at: NOW };
    let store: &dyn Store = &store;
    store.change(&fill, true, |ledger| anki::import(ledger, &package, NOW, &mut |_, _| Ok(())))?;
    drop(package);
    let mut exported = Vec::new();
    let export = spent(1, || {
        exported = store.read(|records| {
            let decks: Vec<_> = records.decks()?.into_iter().map(|deck| deck.id).collect();
            Ok(anki::export(records, &decks, NOW, &mut |_, _| Ok(()))?.0)
        })?;
        Ok(())
    })?;
    std::fs::write(&package_file, &exported)?;
    let import = spent(1, || {
        let other = SqliteStore::open(&here.path().join("imported.db"))?;
        let package = anki::read(&exported, Limits::default())?;
        (&other as &dyn Store).change(&fill, true, |ledger| {
            anki::import(ledger, &package, NOW, &mut |_, _| Ok(()))
        })?;
        Ok(())
    })?;
    let peer = Peer::measured(&package_file, here.path(), &SEARCHES.map(|search| search.0));
    report::remark(&match &peer {
        Ok(peer) => {
            format!("the peer is Anki {}, with the same {} cards", peer.version, peer.cards)
        }
        Err(error) => format!("no peer: {error}"),
    });
    let lines = Lines { peer: peer.ok() };
    lines.show("export of everything", export, Some(2000.0), "export");
    lines.show("import of everything", import, Some(2000.0), "import");
    let open = spent(RUNS, || {
        SqliteStore::open(&file)?;
        Ok(())
    })?;
    lines.show("open", open, Some(15.0), "open");
    for (query, name, goal) in SEARCHES {
        let query_tree = search::parse(query).map_err(|error| error.to_string())?;
        let timing = Timing { now: NOW, calendar: DeckOptions::default().calendar() };
        let found = spent(RUNS, || {
            store
                .read(|records| records.search(&query_tree, timing, Order::Created, 0, u64::MAX))?;
            Ok(())
        })?;
        lines.show(&format!("{name}: {query}"), found, goal, query);
    }
    tools(&file, &lines)?;
    durable(&lines)?;
    steps(&lines)?;
    fitting(&lines)
}

/// What an agent calls, through the whole pipeline.
fn tools(file: &Path, lines: &Lines) -> Outcome {
    for (tool, arguments, name, goal) in [
        ("list-decks", json!({}), "deck tree with counts (list-decks)", 1.0),
        ("get-stats", json!({"days": 365}), "statistics of a year (get-stats)", 30.0),
        ("get-next-card", json!({}), "first card (get-next-card)", 8.0),
    ] {
        let mut times = Vec::new();
        for _ in 0..RUNS {
            // A kernel that has kept no reply, over a collection that was just opened.
            let kernel = kernel(file)?;
            times.push(child::on_one_thread(async {
                let watch = Watch::of_all_threads();
                child::call(&kernel, tool, &arguments).await?;
                Outcome::Ok(watch.stop())
            })??);
        }
        lines.show(name, least(&times), Some(goal), tool);
    }
    let (next, submit) = sitting(file)?;
    lines.show("every further card (get-next-card)", next, Some(0.05), "next");
    lines.show("an answer (submit-review), no disk", submit, Some(0.2), "answer");
    Ok(())
}

/// Asks, turns and answers card after card: the median of asking and of answering.
fn sitting(file: &Path) -> Outcome<(Spent, Spent)> {
    let kernel = kernel(file)?;
    child::on_one_thread(async {
        child::call(&kernel, "get-next-card", &json!({})).await?;
        let (mut asked, mut answered) = (Vec::new(), Vec::new());
        for _ in 0..ANSWERS {
            let watch = Watch::start();
            let front = child::data(&kernel, "get-next-card", &json!({})).await?;
            asked.push(watch.stop());
            let token = front.pointer("/card/token").cloned().ok_or("nothing is left to study")?;
            let back = child::data(&kernel, "reveal-answer", &json!({"token": token})).await?;
            let answer = json!({"token": back.get("token"), "rating": "good"});
            let watch = Watch::start();
            child::call(&kernel, "submit-review", &answer).await?;
            answered.push(watch.stop());
        }
        Outcome::Ok((middle(&asked), middle(&answered)))
    })?
}

/// The same where a commit waits for the disk, and what the disk takes by itself.
fn durable(lines: &Lines) -> Outcome {
    let here = tempfile::tempdir_in(".")?;
    let store = SqliteStore::open(&here.path().join("noema.db"))?;
    let mut package = collection::package();
    package.notes.truncate(1000);
    package.cards.truncate(1000);
    let fill = NewAction { tool: "import-package", summary: "the bench", at: NOW };
    (&store as &dyn Store)
        .change(&fill, true, |ledger| anki::import(ledger, &package, NOW, &mut |_, _| Ok(())))?;
    drop(store);
    let (_, submit) = sitting(&here.path().join("noema.db"))?;
    let mut waits = Vec::new();
    let mut log = std::fs::File::create(here.path().join("plain"))?;
    for _ in 0..ANSWERS {
        use std::io::Write as _;
        let watch = Watch::start();
        log.write_all(&[7; 16_384])?;
        log.sync_data()?;
        waits.push(watch.stop());
    }
    lines.show("an answer, on this disk", submit, None, "answer");
    lines.show("… of which a plain 16 KB write and sync takes", middle(&waits), None, "");
    Ok(())
}

/// How many answers the scheduler works out in a second.
fn steps(lines: &Lines) -> Outcome {
    const STEPS: u32 = 2_000_000;
    let scheduler = Scheduler::default();
    let took = spent(3, || {
        let mut due = 0_i64;
        let mut card = Schedule::default();
        let mut now = NOW;
        for (step, rating) in (0..STEPS).zip(Rating::ALL.into_iter().cycle()) {
            let seed = Seed { card: i64::from(step / 20), repetition: step % 20 };
            card = scheduler.answer(&card, rating, now, seed);
            now = card.due.min(now + 400 * DAY);
            due ^= card.due;
            if step % 20 == 19 {
                (card, now) = (Schedule::default(), NOW);
            }
        }
        std::hint::black_box(due);
        Ok(())
    })?;
    let millions = f64::from(STEPS) / took.cpu / 1000.0;
    lines.rate("schedule steps a second", millions, 5.0);
    Ok(())
}

/// Fits weights to 200,000 answers of a learner who forgets as the published weights say.
fn fitting(lines: &Lines) -> Outcome {
    let logs: Vec<Vec<Logged>> = (0..25_000_u32)
        .map(|card| {
            (0..8_u32)
                .map(|place| Logged {
                    rating: if (card * 7 + place * 13) % 10 == 0 { 1 } else { 3 },
                    days: if place == 0 { 0 } else { 1 + (card + place) % 5 * (1 << place.min(5)) },
                })
                .collect()
        })
        .collect();
    let took = spent(1, || {
        fit::fit(&logs)?;
        Ok(())
    })?;
    // The authors' crate works on all cores: the clock says what a learner waits for.
    report::remark("the next figure is by the clock, on all cores");
    report::figure("fit of 200,000 reviews", took.wall, "ms", Some(1000.0));
    lines.note_cpu(took);
    Ok(())
}

fn kernel(file: &Path) -> Outcome<Arc<Kernel>> {
    let store = Arc::new(SqliteStore::open(file)?);
    let now = jiff::Timestamp::from_microsecond(NOW)?;
    kernel_in_memory(vec![pack(store)], FixedClock::at(now), Settings::default())
        .map_err(|violations| format!("{violations:?}").into())
}

/// Figures beside those of the peer.
struct Lines {
    peer: Option<Peer>,
}

impl Lines {
    fn show(&self, name: &str, ours: Spent, goal: Option<f64>, theirs: &str) {
        report::figure(name, ours.cpu, "ms", goal);
        let theirs = self.peer.as_ref().and_then(|peer| peer.spent(theirs));
        let beside = theirs.map_or_else(String::new, |theirs| {
            format!(
                "; Anki {:.3} ms ({:.3}) = {:.1} × ours",
                theirs.cpu,
                theirs.wall,
                theirs.cpu / ours.cpu
            )
        });
        report::remark(&format!("    {:.3} ms by the clock{beside}", ours.wall));
    }

    fn rate(&self, name: &str, millions: f64, goal: f64) {
        let verdict = if millions >= goal { "met" } else { "MISSED" };
        report::remark(&format!("{name:<46} {millions:>8.2} M   goal {goal} M: {verdict}"));
    }

    fn note_cpu(&self, took: Spent) {
        report::remark(&format!("    {:.0} ms on the calling thread", took.cpu));
    }
}

/// Milliseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spent {
    pub(super) cpu: f64,
    pub(super) wall: f64,
}

struct Watch {
    clock: SystemClock,
    wall: std::time::Duration,
    cpu: u64,
    worked: fn() -> u64,
}

impl Watch {
    /// For what is done on this thread.
    fn start() -> Self {
        Self::with(worked_here)
    }

    /// For what may be done on others as well, and takes longer than asking each of them.
    fn of_all_threads() -> Self {
        Self::with(worked_anywhere)
    }

    fn with(worked: fn() -> u64) -> Self {
        let clock = SystemClock::new();
        let cpu = worked();
        Self { cpu, wall: clock.monotonic(), worked, clock }
    }

    fn stop(self) -> Spent {
        let cpu = (self.worked)().saturating_sub(self.cpu);
        let wall = self.clock.monotonic().saturating_sub(self.wall);
        let wall = wall.as_secs_f64() * 1e3;
        // Where the system does not say, the clock has to do.
        let cpu =
            if cpu == 0 { wall } else { std::time::Duration::from_nanos(cpu).as_secs_f64() * 1e3 };
        Spent { cpu, wall }
    }
}

/// What this thread has worked, as Linux counts it.
fn worked_here() -> u64 {
    nanos(Path::new("/proc/thread-self/schedstat"))
}

fn worked_anywhere() -> u64 {
    let threads = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    threads.map(|thread| nanos(&thread.path().join("schedstat"))).sum()
}

fn nanos(file: &Path) -> u64 {
    let counted = std::fs::read_to_string(file).unwrap_or_default();
    counted.split(' ').next().and_then(|nanos| nanos.parse().ok()).unwrap_or_default()
}

fn spent(runs: usize, mut work: impl FnMut() -> Outcome) -> Outcome<Spent> {
    let mut times = Vec::new();
    for _ in 0..runs {
        let watch = Watch::start();
        work()?;
        times.push(watch.stop());
    }
    Ok(least(&times))
}

fn least(times: &[Spent]) -> Spent {
    let least = |of: fn(&Spent) -> f64| times.iter().map(of).fold(f64::INFINITY, f64::min);
    Spent { cpu: least(|spent| spent.cpu), wall: least(|spent| spent.wall) }
}

fn middle(times: &[Spent]) -> Spent {
    let of = |of: fn(&Spent) -> f64| report::median(times.iter().map(of).collect());
    Spent { cpu: of(|spent| spent.cpu), wall: of(|spent| spent.wall) }
}

/// One figure of the peer's report.
pub(super) fn figure(report: &Value, name: &str) -> Option<Spent> {
    let spent = report.get("spent")?.get(name)?;
    Some(Spent { cpu: spent.get(0)?.as_f64()?, wall: spent.get(1)?.as_f64()? })
}
