//! Crash safety: SIGKILL loses no acknowledged write and leaves no partial import.
//!
//! The test starts itself as a child process, which reports each acknowledged write on standard
//! output, and kills it.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use panoply_noema::anki::{self, PackageLimits};
use panoply_noema::deck::DeckOptions;
use panoply_noema::fsrs::{DAY, Rating};
use panoply_noema::ids::CardId;
use panoply_noema::note::Form;
use panoply_noema::search::Node;
use panoply_noema::store::{OpenError, SearchContext, SortOrder, SqliteStore, Store};

use crate::study::{NOON, act, answer, deck, lanes, note};

const ORACLE: &[u8] = include_bytes!("../golden/search_oracle.apkg");

fn open(file: &Path) -> Box<dyn Store> {
    Box::new(SqliteStore::open(file).unwrap())
}

/// The child process; an argument that the test harness ignores selects its job.
#[test]
#[ignore = "is run as a child of the other tests"]
fn child() {
    let Some(job) = std::env::args()
        .find_map(|argument| argument.strip_prefix("--skip=job:").map(str::to_owned))
    else {
        return;
    };
    let (kind, file) = job.split_once(':').unwrap();
    let store = open(Path::new(file));
    let mut out = std::io::stdout();
    let mut say = |line: String| {
        writeln!(out, "\nacknowledged {line}").unwrap();
        out.flush().unwrap();
    };
    if kind == "review" {
        let card = note(&*store, deck(&*store, "A", None), Form::Basic, "a", "b")[0];
        say(format!("card {}", card.0));
        for day in 0..100_000 {
            let outcome = answer(&*store, card, Rating::Good, NOON + day * DAY);
            say(format!("review {}", outcome.review.0));
        }
    } else {
        let package = anki::read(ORACLE, PackageLimits::default()).unwrap();
        say("ready".to_owned());
        loop {
            let (_, action) = act(&*store, NOON, |writer| {
                anki::import(writer, &package, NOON, &mut |_, _| Ok(()))
            });
            say("imported".to_owned());
            act(&*store, NOON, |writer| writer.undo(action, NOON));
            say("undone".to_owned());
        }
    }
}

fn start(kind: &str, file: &Path) -> (Child, impl Iterator<Item = String>) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["crash::child", "--exact", "--ignored", "--nocapture", "--test-threads=1"])
        .arg(format!("--skip=job:{kind}:{}", file.display()))
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let lines = lines
        .map_while(Result::ok)
        .filter_map(|line| line.strip_prefix("acknowledged ").map(str::to_owned));
    (child, lines)
}

#[test]
fn acknowledged_reviews_survive_sigkill() {
    let folder = tempfile::tempdir().unwrap();
    for (round, stop_after) in [3_usize, 17, 60].into_iter().enumerate() {
        let file = folder.path().join(format!("{round}.db"));
        let (mut child, mut lines) = start("review", &file);
        let mut said: Vec<String> = lines.by_ref().take(stop_after + 1).collect();
        child.kill().unwrap();
        child.wait().unwrap();
        said.extend(lines);
        let number = |line: &str, kind: &str| {
            line.strip_prefix(kind).and_then(|rest| rest.trim().parse::<i64>().ok())
        };
        let card = CardId(said.iter().find_map(|line| number(line, "card ")).unwrap());
        let acknowledged: Vec<i64> =
            said.iter().filter_map(|line| number(line, "review ")).collect();
        let store = open(&file);
        let (log, card) = store
            .read(|reader| Ok((reader.reviews_of(card)?, reader.card(card)?.unwrap())))
            .unwrap();
        let logged: Vec<i64> = log.iter().map(|review| review.id.0).collect();
        assert!(
            logged.starts_with(&acknowledged),
            "round {round}: {} acknowledged, {} stored",
            acknowledged.len(),
            logged.len()
        );
        assert!(logged.len() <= acknowledged.len() + 1, "at most one unacknowledged review");
        assert_eq!(usize::try_from(card.reps).unwrap(), logged.len(), "card and log agree");
        answer(&*store, card.id, Rating::Good, NOON + 2_000_000 * DAY);
    }
}

#[test]
fn killed_import_is_all_or_nothing() {
    let folder = tempfile::tempdir().unwrap();
    for round in 0..6_u64 {
        let file = folder.path().join(format!("{round}.db"));
        let (mut child, mut lines) = start("import", &file);
        assert_eq!(lines.next().as_deref(), Some("ready"));
        std::thread::sleep(std::time::Duration::from_millis(15 * round + 5));
        child.kill().unwrap();
        child.wait().unwrap();
        let store = open(&file);
        let context = SearchContext {
            now: NOON,
            calendar: DeckOptions::default().calendar(panoply_noema::fsrs::Zone::UTC),
        };
        let (found, lanes) = store
            .read(|reader| {
                Ok((
                    reader.search(&Node::All, context, SortOrder::Created, 0, 1)?.total,
                    lanes(reader, NOON)?,
                ))
            })
            .unwrap();
        let counted: i64 = lanes.iter().map(|lane| lane.cards).sum();
        assert!(found == 0 || found == 458, "round {round}: {found} cards");
        assert_eq!(counted, i64::try_from(found).unwrap(), "counts agree with cards");
        drop(store);
    }
}

#[test]
fn foreign_and_damaged_files_are_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("text.db");
    std::fs::write(&text, "these are my notes, longer than a header".repeat(100)).unwrap();
    assert!(matches!(SqliteStore::open(&text), Err(OpenError::File(_))));
    let foreign = folder.path().join("foreign.db");
    rusqlite::Connection::open(&foreign).unwrap().execute_batch("CREATE TABLE t (x)").unwrap();
    assert!(matches!(SqliteStore::open(&foreign), Err(OpenError::File(_))));
    let newer = folder.path().join("newer.db");
    drop(open(&newer));
    let durability = panoply_store::sqlite::Durability::Full;
    let connection = panoply_store::sqlite::open(&newer, durability).unwrap();
    connection.pragma_update(None, "user_version", 99).unwrap();
    drop(connection);
    let told = SqliteStore::open(&newer).err().unwrap().to_string();
    assert!(told.contains("newer version"), "{told}");
    let damaged = folder.path().join("damaged.db");
    let store = open(&damaged);
    note(&*store, deck(&*store, "A", None), Form::Basic, "a", "b");
    drop(store);
    let mut bytes = std::fs::read(&damaged).unwrap();
    let from = 4096.min(bytes.len());
    bytes[from..].fill(0x5a);
    std::fs::write(&damaged, bytes).unwrap();
    let used = SqliteStore::open(&damaged)
        .map(|store| (&store as &dyn Store).read(|reader| reader.decks().map(|decks| decks.len())));
    assert!(
        !matches!(used, Ok(Ok(_))),
        "damage is noticed: {:?}",
        used.map(|decks| decks.is_ok()).is_ok()
    );
}
