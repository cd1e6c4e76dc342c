//! kill -9 of the postmaster under load: what was acknowledged is there once and has its row.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use panoply_contract::context::CallContext;
use panoply_contract::dialect::Envelope;
use panoply_contract::kernel::{Kernel, KernelServices, Settings as KernelSettings};
use panoply_contract::pipeline::{LimitCheck, LimitScope, Limiter};
use panoply_contract::spec::RateLimit;
use panoply_contract::testing::call_with;
use panoply_noema::tools::pack;
use panoply_postgres::audit_verify::verify;
use panoply_postgres::{PostgresAuditLog, PostgresKernelStore};
use panoply_store::{KernelStore as _, SystemClock};
use serde_json::{Value, json};

use crate::database::{Database, person};
use crate::noema::cards;

const CLIENTS: u8 = 8;

/// What a client knows of its calls.
#[derive(Default)]
struct History {
    acknowledged: Vec<String>,
    refused: BTreeMap<String, u64>,
}

async fn call(
    kernel: &Kernel,
    tool: &str,
    input: Value,
    change: impl FnOnce(&mut CallContext),
) -> Result<Value, String> {
    let envelope = call_with(kernel, tool, input, change).await;
    match &envelope {
        Envelope::Result { structured: Some(structured), is_error: false, .. } => {
            Ok(structured.value().get("data").cloned().unwrap_or_default())
        }
        _ => Err(panoply_contract::compliance::error_code(&envelope).unwrap_or_default()),
    }
}

/// Creates cards until told to stop; each is tried again with its key until it is acknowledged.
async fn client(kernel: Arc<Kernel>, stop: Arc<AtomicBool>, done: Arc<AtomicU64>) -> History {
    let mut history = History::default();
    let deck = loop {
        match call(&kernel, "create-deck", json!({"name": "Deck"}), |cx| {
            cx.idempotency_key = Some("deck".to_owned());
        })
        .await
        {
            Ok(made) => break made["deck"]["deckId"].clone(),
            Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    };
    let mut number = 0;
    while !stop.load(Ordering::Relaxed) {
        number += 1;
        let front = format!("card {number}");
        loop {
            let card = json!({"deckId": deck, "front": front, "back": "b"});
            let key = Some(front.clone());
            match call(&kernel, "create-card", card, |cx| cx.idempotency_key = key).await {
                Ok(_) => {
                    history.acknowledged.push(front);
                    done.fetch_add(1, Ordering::Relaxed);
                    break;
                }
                Err(code) => {
                    *history.refused.entry(code).or_default() += 1;
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
            }
        }
    }
    history
}

/// No limits: the clients are faster than people.
struct Unlimited;

impl Limiter for Unlimited {
    fn check(&self, _: &'static str, _: RateLimit, _: LimitScope<'_>) -> LimitCheck {
        LimitCheck::Decided(Ok(()))
    }
}

async fn kill_under_load(kills: u32) {
    let mut database = Database::start();
    let folder = tempfile::tempdir().unwrap();
    let audit = Arc::new(PostgresAuditLog::start(Arc::clone(&database.postgres), "one").unwrap());
    let store = Arc::new(PostgresKernelStore(Arc::clone(&database.postgres)));
    let (stop, done) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    let clients: Vec<_> = (0..CLIENTS)
        .map(|number| {
            let services = KernelServices {
                audit: Arc::clone(&audit) as _,
                mutations: Arc::clone(&store).mutation_log(),
                limiter: Arc::new(Unlimited),
                incarnation: uuid::Uuid::from_u128(u128::from(number) + 1),
                ..KernelServices::in_memory(Arc::new(SystemClock::new()))
            };
            let pack = pack(cards(&database.postgres, &person(number), folder.path()));
            let kernel = Kernel::new(vec![pack], services, KernelSettings::default()).unwrap();
            tokio::spawn(client(kernel, Arc::clone(&stop), Arc::clone(&done)))
        })
        .collect();
    let mut longest = Duration::ZERO;
    for _ in 0..kills {
        tokio::time::sleep(Duration::from_millis(400)).await;
        tokio::task::block_in_place(|| {
            database.server.kill();
            database.server.restart();
        });
        let (back, before) = (Instant::now(), done.load(Ordering::Relaxed));
        while done.load(Ordering::Relaxed) == before {
            assert!(back.elapsed() < Duration::from_secs(10), "no call succeeds after the restart");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        longest = longest.max(back.elapsed());
    }
    stop.store(true, Ordering::Relaxed);
    let mut histories = Vec::new();
    for client in clients {
        histories.push(client.await.unwrap());
    }
    tokio::task::block_in_place(|| check(&database, audit.as_ref(), &histories));
    let refused: BTreeMap<&String, u64> = histories.iter().flat_map(|one| &one.refused).fold(
        BTreeMap::new(),
        |mut all, (code, count)| {
            *all.entry(code).or_default() += count;
            all
        },
    );
    eprintln!(
        "{kills} kills, {} acknowledged, refused {refused:?}, back after at most {longest:?}",
        done.load(Ordering::Relaxed)
    );
    let known = ["STORE_BUSY", "OUTCOME_UNKNOWN", "IDEMPOTENCY_RUNNING"];
    assert!(refused.keys().all(|code| known.contains(&code.as_str())), "{refused:?}");
}

fn check(database: &Database, audit: &PostgresAuditLog, histories: &[History]) {
    use panoply_contract::audit::AuditLog as _;
    audit.close();
    let mut all = 0;
    for (number, history) in (0..).zip(histories) {
        let sql = format!(
            "SELECT split_part(fields, chr(31), 1), count(*) FROM noema.note WHERE tenant = '{}' GROUP BY 1",
            person(number)
        );
        let found = database.admin(&sql);
        let found: BTreeMap<&str, &str> =
            found.lines().filter_map(|line| line.split_once('|')).collect();
        assert!(found.values().all(|count| *count == "1"), "a card was made twice: {found:?}");
        for front in &history.acknowledged {
            assert!(found.contains_key(front.as_str()), "{front} of {number} is lost");
        }
        assert_eq!(found.len(), history.acknowledged.len(), "each was tried until it succeeded");
        all += found.len();
    }
    let rows = "SELECT count(*) FROM kernel.audit WHERE tool = 'create-card' AND status = 'ok' AND mutation = 1";
    let replays = "SELECT count(*) FROM kernel.recorded_call";
    let rows: usize = database.admin(rows).parse().unwrap();
    assert!(rows >= all, "{rows} audit rows for {all} cards ({} calls)", database.admin(replays));
    assert_eq!(database.admin("SELECT count(*) FROM kernel.mutation WHERE NOT audited"), "0");
    let verified = verify(&database.postgres, None).unwrap();
    assert_eq!(verified.fault, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_postmaster_loses_nothing() {
    kill_under_load(3).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "takes minutes; `./test --long` runs it"]
async fn postmaster_killed_a_hundred_times_loses_nothing() {
    kill_under_load(100).await;
}
