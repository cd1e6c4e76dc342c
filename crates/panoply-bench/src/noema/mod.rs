//! Benchmarks of the noema pack at 100,000 cards and 180,000 reviews, compared with Anki's backend
//! on the same collection.

pub(crate) mod collection;
mod peer;
mod stopwatch;
mod table;

use std::path::Path;
use std::sync::Arc;

use panoply_contract::kernel::{Kernel, Settings};
use panoply_contract::testing::{FixedClock, kernel_in_memory};
use panoply_noema::anki::{self, PackageLimits};
use panoply_noema::deck::DeckOptions;
use panoply_noema::fsrs::fit::{self, LoggedReview};
use panoply_noema::fsrs::{DAY, Rating, Schedule, Scheduler, Seed};
use panoply_noema::search;
use panoply_noema::store::{NewAction, SearchContext, SortOrder, SqliteStore, Store};
use panoply_noema::tools::pack;
use serde_json::json;

use self::collection::{CARDS, NOW, REVIEWS};
use self::peer::Peer;
use self::stopwatch::{Elapsed, Stopwatch, time_work};
use self::table::{Goal, Table};
use crate::{Outcome, child, report};

const RUNS: usize = 15;
/// Reviews in a session: the burst that the rate limit of `submit-review` permits.
const ANSWERS: usize = 250;
/// A memory file system, to exclude the disk from the measurement.
const MEMORY: &str = "/dev/shm";

/// Name, query and goal of each search; the name is also that in Anki's report.
const SEARCHES: [(&str, &str, Goal); 7] = [
    ("tag:topic3::part2", "tag search", Goal::Cpu(1.0)),
    (
        r#"deck:"Subject 1" (tag:topic3 or tag:topic5) -is:new"#,
        "combined boolean search",
        Goal::Cpu(15.0),
    ),
    (r#""er 4242""#, "substring search", Goal::Cpu(8.0)),
    ("lantern", "search for a word that most notes have", Goal::None),
    ("is:due", "search for what is due", Goal::None),
    ("prop:r<0.8", "search by recall", Goal::None),
    ("re:lad+er.*4242", "search by expression", Goal::None),
];

pub(crate) fn run(folder: Option<&str>) -> Outcome {
    let here = match folder {
        Some(folder) => tempfile::tempdir_in(folder)?,
        None if Path::new(MEMORY).is_dir() => tempfile::tempdir_in(MEMORY)?,
        None => tempfile::tempdir()?,
    };
    let disk = tempfile::tempdir_in(".")?;
    report::heading(
        "The noema pack",
        &format!(
            "{CARDS} cards, {REVIEWS} reviews, in {}; the least of {RUNS}, of cards and answers the median of {ANSWERS}",
            here.path().display()
        ),
    );
    let file = here.path().join("noema.db");
    let package_file = here.path().join("collection.apkg");
    let store = SqliteStore::open(&file)?;
    let package = collection::package();
    let fill = NewAction { tool: "import-package", summary: "the bench", at: NOW, actor: "local" };
    let whole: &dyn Store = &store;
    whole
        .change(&fill, true, |writer, _| anki::import(writer, &package, NOW, &mut |_, _| Ok(())))?;
    drop(package);
    let mut exported = Vec::new();
    let export = time_work(1, || {
        exported = whole.read(|records| {
            let decks: Vec<_> = records.decks()?.into_iter().map(|deck| deck.id).collect();
            Ok(anki::export(records, &decks, NOW, &mut |_, _| Ok(()))?.0)
        })?;
        Ok(())
    })?;
    std::fs::write(&package_file, &exported)?;
    let import = time_work(1, || {
        let other = SqliteStore::open(&here.path().join("imported.db"))?;
        let package = anki::read(&exported, PackageLimits::default())?;
        (&other as &dyn Store).change(&fill, true, |writer, _| {
            anki::import(writer, &package, NOW, &mut |_, _| Ok(()))
        })?;
        Ok(())
    })?;
    drop(exported);
    let queries = SEARCHES.map(|search| search.0);
    let peer = Peer::measured(&package_file, here.path(), disk.path(), &queries);
    report::remark(&match &peer {
        Ok(peer) => {
            format!("the peer is Anki {}, with the same {} cards", peer.version, peer.cards)
        }
        Err(error) => format!("no peer: {error}"),
    });
    let table = Table::new(peer.ok());
    table.row("export of everything", export, Goal::Cpu(2000.0), "export");
    table.row("import of everything", import, Goal::Cpu(2000.0), "import");
    let open = time_work(RUNS, || {
        SqliteStore::open(&file)?;
        Ok(())
    })?;
    table.row("open", open, Goal::Cpu(15.0), "open");
    for (query, name, goal) in SEARCHES {
        let query_tree = search::parse(query).map_err(|error| error.to_string())?;
        let timing = SearchContext {
            now: NOW,
            calendar: DeckOptions::default().calendar(panoply_noema::fsrs::Zone::UTC),
        };
        let found = time_work(RUNS, || {
            whole.read(|records| {
                records.search(&query_tree, timing, SortOrder::Created, 0, u64::MAX)
            })?;
            Ok(())
        })?;
        table.row(&format!("{name}: {query}"), found, goal, query);
    }
    drop(store);
    tools(&file, &table)?;
    durable(&file, disk.path(), &table)?;
    steps(&table)?;
    fitting(&table)
}

/// The tools, through the whole pipeline.
fn tools(file: &Path, table: &Table) -> Outcome {
    for (tool, arguments, name, goal) in [
        ("list-decks", json!({}), "deck tree with counts (list-decks)", 1.0),
        ("get-stats", json!({"days": 365}), "statistics of a year (get-stats)", 30.0),
        ("get-next-card", json!({}), "first card (get-next-card)", 8.0),
    ] {
        let mut times = Vec::new();
        for _ in 0..RUNS {
            // A new kernel with an empty reply cache on a newly opened collection.
            let kernel = kernel(file)?;
            times.push(child::on_one_thread(async {
                let stopwatch = Stopwatch::start();
                child::call(&kernel, tool, &arguments).await?;
                Outcome::Ok(stopwatch.stop())
            })??);
        }
        table.row(name, Elapsed::least(&times), Goal::Cpu(goal), tool);
    }
    let (next, submit) = review_session(file)?;
    let (next, submit) = (Elapsed::median(&next), Elapsed::median(&submit));
    table.row("every further card (get-next-card)", next, Goal::Cpu(0.05), "next");
    table.row("an answer (submit-review), no disk", submit, Goal::Cpu(0.2), "answer");
    Ok(())
}

/// Reviews card after card. Returns the times of fetching and of answering.
fn review_session(file: &Path) -> Outcome<(Vec<Elapsed>, Vec<Elapsed>)> {
    let kernel = kernel(file)?;
    child::on_one_thread(async {
        child::call(&kernel, "get-next-card", &json!({})).await?;
        let (mut asked, mut answered) = (Vec::new(), Vec::new());
        for _ in 0..ANSWERS {
            let stopwatch = Stopwatch::start();
            let front = child::data(&kernel, "get-next-card", &json!({})).await?;
            asked.push(stopwatch.stop());
            let token = front.pointer("/card/token").cloned().ok_or("nothing is left to study")?;
            let back = child::data(&kernel, "reveal-answer", &json!({"token": token})).await?;
            let answer = json!({"token": back.get("token"), "rating": "good"});
            let stopwatch = Stopwatch::start();
            child::call(&kernel, "submit-review", &answer).await?;
            answered.push(stopwatch.stop());
        }
        Outcome::Ok((asked, answered))
    })?
}

/// The same with commits synced to disk, and the time of a sync alone.
fn durable(file: &Path, disk: &Path, table: &Table) -> Outcome {
    let on_disk = disk.join("noema.db");
    std::fs::copy(file, &on_disk)?;
    let (_, submit) = review_session(&on_disk)?;
    let mut waits = Vec::new();
    let mut log = std::fs::File::create(disk.join("plain"))?;
    for _ in 0..ANSWERS {
        use std::io::Write as _;
        let stopwatch = Stopwatch::start();
        log.write_all(&[7; 16_384])?;
        log.sync_data()?;
        waits.push(stopwatch.stop());
    }
    let median = Elapsed::median(&submit);
    // The goal applies to a commit without sync, which the row in memory shows.
    table.row("an answer, on this disk", median, Goal::None, "answer on disk");
    // On a shared disk the minimum is the best estimate.
    table.row("… the least of them", Elapsed::least(&submit), Goal::None, "least answer on disk");
    let plain = "… a plain write of 16 KB and its sync";
    table.row(plain, Elapsed::median(&waits), Goal::None, "");
    table.row("… the least of them", Elapsed::least(&waits), Goal::None, "");
    Ok(())
}

/// Scheduler steps per second.
fn steps(table: &Table) -> Outcome {
    const STEPS: u32 = 2_000_000;
    let scheduler = Scheduler::default();
    let took = time_work(3, || {
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
    table.rate("scheduler steps per second", millions, 5.0);
    Ok(())
}

/// Fits weights to 200,000 simulated reviews that follow the published weights.
fn fitting(table: &Table) -> Outcome {
    let logs: Vec<Vec<LoggedReview>> = (0..25_000_u32)
        .map(|card| {
            (0..8_u32)
                .map(|place| LoggedReview {
                    rating: if (card * 7 + place * 13) % 10 == 0 { 1 } else { 3 },
                    days: if place == 0 { 0 } else { 1 + (card + place) % 5 * (1 << place.min(5)) },
                })
                .collect()
        })
        .collect();
    let took = time_work(1, || {
        fit::fit(&logs)?;
        Ok(())
    })?;
    // The reference crate uses all cores, so wall-clock time is compared.
    table.row("fit of 200,000 reviews", took, Goal::Clock(1000.0), "");
    Ok(())
}

fn kernel(file: &Path) -> Outcome<Arc<Kernel>> {
    let store = Arc::new(SqliteStore::open(file)?);
    let now = jiff::Timestamp::from_microsecond(NOW)?;
    kernel_in_memory(vec![pack(store)], FixedClock::at(now), Settings::default())
        .map_err(|violations| format!("{violations:?}").into())
}
