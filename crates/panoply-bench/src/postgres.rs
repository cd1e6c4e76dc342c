//! Flashcards on PostgreSQL beside SQLite, in one run: reviews, and a large collection there and
//! back. The server is a throw-away one on this machine, with durable commits.

use std::path::Path;
use std::sync::Arc;

use panoply_contract::clock::Clock;
use panoply_contract::dialect::Envelope;
use panoply_contract::kernel::{Kernel, Settings as KernelSettings};
use panoply_contract::tenant::{TenantId, TenantKind};
use panoply_contract::testing::{FixedClock, call_as_owner, kernel_in_memory, noon};
use panoply_noema::anki;
use panoply_noema::store::{NewAction, SqliteStore, Store};
use panoply_noema::tools::pack;
use panoply_postgres::schema::{self, Names};
use panoply_postgres::transfer::Move;
use panoply_postgres::{Postgres, PostgresCards, Settings};
use panoply_store::transfer::{Direction, Outcome as Moved};
use panoply_store::{Home, KernelDb, SystemClock};
use panoply_testkit::postgres::PostgresServer;
use serde_json::{Value, json};

use crate::noema::collection::{self, CARDS, NOW, REVIEWS};
use crate::{Outcome, report};

/// Reviews of a client: the burst that the rate limit of `submit-review` permits.
const ANSWERS: usize = 240;
const CLIENTS: usize = 16;
const GOAL_REVIEW: f64 = 2.0;
const GOAL_RATE: f64 = 1_500.0;
const GOAL_MOVE: f64 = 60.0;

pub(crate) fn run() -> Outcome {
    let server = PostgresServer::start();
    let app = Settings::of(&server.app_url());
    schema::init(&Settings::of(&server.admin_url()), &Names::of(&app)?)?;
    let postgres = Postgres::new(&app)?;
    let folder = tempfile::tempdir_in(".")?;
    report::heading(
        "Flashcards on PostgreSQL",
        &format!("loopback, durable commits; {ANSWERS} reviews of a client, {CLIENTS} clients"),
    );
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let on_sqlite = |number: usize| -> Outcome<Arc<dyn Store>> {
        Ok(Arc::new(SqliteStore::open(&folder.path().join(format!("{number}.db")))?))
    };
    let on_postgres = |number: usize| -> Outcome<Arc<dyn Store>> {
        let builder =
            PostgresCards::builder(Arc::clone(&postgres), person(number), folder.path().into());
        Ok(Arc::new(builder.build()))
    };
    let one = runtime.block_on(reviews(&on_sqlite(0)?))?;
    report::figure("review on SQLite, p50", report::median(one), "ms", None);
    let one = runtime.block_on(reviews(&on_postgres(0)?))?;
    report::figure("review on PostgreSQL, p50", report::median(one), "ms", Some(GOAL_REVIEW));
    let rate = |stores: Vec<Arc<dyn Store>>| rate(&runtime, &stores);
    let stores = (1..=CLIENTS).map(on_sqlite).collect::<Outcome<Vec<_>>>()?;
    report::figure("reviews on SQLite, 16 clients", rate(stores)?, "/s", None);
    let stores = (1..=CLIENTS).map(on_postgres).collect::<Outcome<Vec<_>>>()?;
    report::at_least("reviews on PostgreSQL, 16 clients", rate(stores)?, "/s", GOAL_RATE);
    there_and_back(&postgres, folder.path())
}

fn person(number: usize) -> TenantId {
    let mut random = [7; 16];
    for (slot, byte) in random.iter_mut().zip(number.to_be_bytes()) {
        *slot = byte;
    }
    TenantId::new(TenantKind::Person, random)
}

fn milliseconds(clock: &SystemClock, since: std::time::Duration) -> f64 {
    (clock.monotonic() - since).as_secs_f64() * 1e3
}

async fn ask(kernel: &Kernel, tool: &str, input: Value) -> Outcome<Value> {
    match call_as_owner(kernel, tool, input).await {
        Envelope::Result { structured: Some(structured), is_error: false, .. } => {
            Ok(structured.value().get("data").cloned().unwrap_or_default())
        }
        other => Err(format!("{tool}: {other:?}").into()),
    }
}

/// A kernel over a store with more cards than are reviewed, and its deck.
async fn filled(store: &Arc<dyn Store>) -> Outcome<(Arc<Kernel>, Value)> {
    let made = kernel_in_memory(
        vec![pack(Arc::clone(store))],
        FixedClock::at(noon()),
        KernelSettings::default(),
    );
    let kernel = made.map_err(|violations| format!("{violations:?}"))?;
    let made = ask(&kernel, "create-deck", json!({"name": "Bench"})).await?;
    let deck = made.pointer("/deck/deckId").cloned().unwrap_or_default();
    let lines: Vec<String> =
        (0..ANSWERS + 60).map(|number| format!("front {number},back")).collect();
    let options = json!({"newPerDay": ANSWERS + 60});
    ask(&kernel, "update-deck", json!({"deckId": deck, "options": options})).await.ok();
    let import = json!({"deckId": deck, "content": lines.join("\n"), "draft": false});
    ask(&kernel, "import-cards", import).await?;
    Ok((kernel, deck))
}

/// Times of `submit-review` in milliseconds.
async fn reviews(store: &Arc<dyn Store>) -> Outcome<Vec<f64>> {
    let (kernel, deck) = filled(store).await?;
    answer(&kernel, &deck).await
}

async fn answer(kernel: &Kernel, deck: &Value) -> Outcome<Vec<f64>> {
    let clock = SystemClock::new();
    let mut times = Vec::with_capacity(ANSWERS);
    while times.len() < ANSWERS {
        let asked = ask(kernel, "get-next-card", json!({"deckId": deck})).await?;
        let Some(token) = asked.pointer("/card/token") else { break };
        let turned = ask(kernel, "reveal-answer", json!({"token": token})).await?;
        let rating = json!({"token": turned.get("token"), "rating": "easy"});
        let since = clock.monotonic();
        ask(kernel, "submit-review", rating).await?;
        times.push(milliseconds(&clock, since));
    }
    Ok(times)
}

/// Reviews a second of all clients together, each with a tenant of its own.
fn rate(runtime: &tokio::runtime::Runtime, stores: &[Arc<dyn Store>]) -> Outcome<f64> {
    runtime.block_on(async {
        let mut clients = Vec::new();
        for store in stores {
            clients.push(filled(store).await?);
        }
        let clock = SystemClock::new();
        let since = clock.monotonic();
        let running: Vec<_> = clients
            .into_iter()
            .map(|(kernel, deck)| tokio::spawn(async move { answer(&kernel, &deck).await }))
            .collect();
        let mut reviews = 0_u32;
        for client in running {
            reviews += u32::try_from(client.await??.len())?;
        }
        Ok(f64::from(reviews) * 1e3 / milliseconds(&clock, since))
    })
}

/// Moves a large collection into the database and back, and compares.
fn there_and_back(postgres: &Arc<Postgres>, folder: &Path) -> Outcome {
    let (home, other) = (Home::at(folder.join("home")), Home::at(folder.join("back")));
    home.create()?;
    other.create()?;
    std::fs::create_dir_all(home.packs())?;
    let store = SqliteStore::open(&home.pack("noema"))?;
    let fill = NewAction { tool: "import-package", summary: "the bench", at: NOW, actor: "local" };
    let package = collection::package();
    (&store as &dyn Store)
        .change(&fill, true, |writer, _| anki::import(writer, &package, NOW, &mut |_, _| Ok(())))?;
    drop((store, package));
    let (clock, tenant) = (SystemClock::new(), person(999));
    let since = clock.monotonic();
    let sides = [(&home, Direction::ToServer), (&other, Direction::ToFiles)];
    for (home, direction) in sides {
        let kernel = KernelDb::open(&home.kernel())?.0;
        let local = TenantId::local();
        let moved = Move {
            direction,
            server: postgres,
            tenant: &tenant,
            home,
            in_home: &local,
            kernel: kernel.as_ref(),
        }
        .run()?;
        let is_copied = |moved: &panoply_store::transfer::Transferred| {
            moved.pack == "noema" && moved.outcome == Moved::Copied
        };
        if !moved.iter().any(is_copied) {
            return Err(format!("{direction:?}: the collection was not copied").into());
        }
    }
    let seconds = milliseconds(&clock, since) / 1e3;
    report::remark(&format!("{CARDS} cards and {REVIEWS} reviews, compared on both sides"));
    report::figure("there and back", seconds, "s", Some(GOAL_MOVE));
    Ok(())
}
