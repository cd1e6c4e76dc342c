//! Portfolios: random sequences of calls beside SQLite, round trips, two replicas.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use panoply_cgt::store::{PortfolioError, PortfolioStore, in_memory};
use panoply_cgt::tools::{Settings, pack_with};
use panoply_contract::compliance::error_code;
use panoply_contract::dialect::Envelope;
use panoply_contract::kernel::{Kernel, Settings as KernelSettings};
use panoply_contract::tenant::TenantId;
use panoply_contract::testing::{FixedClock, call_with, kernel_in_memory, noon};
use panoply_postgres::{Postgres, PostgresPortfolios};
use serde_json::{Value, json};

use crate::database::{Database, person};
use crate::random::Random;

pub(crate) fn portfolios(
    postgres: &Arc<Postgres>,
    tenant: &TenantId,
    folder: &Path,
) -> Arc<dyn PortfolioStore> {
    Arc::new(PostgresPortfolios::new(Arc::clone(postgres), tenant.clone(), folder.to_owned()))
}

fn kernel(store: Arc<dyn PortfolioStore>, clock: &Arc<FixedClock>) -> Arc<Kernel> {
    let pack = pack_with(&Settings::default(), store).unwrap();
    let clock = Arc::clone(clock);
    kernel_in_memory(vec![pack], clock, KernelSettings::default()).unwrap()
}

/// The structured reply, or the error code. The key makes the ids of portfolios the same.
async fn reply(kernel: &Kernel, tool: &str, input: Value, key: &str) -> Result<Value, String> {
    let envelope =
        call_with(kernel, tool, input, |cx| cx.idempotency_key = Some(key.to_owned())).await;
    match &envelope {
        Envelope::Result { structured: Some(structured), is_error: false, .. } => {
            let value = structured.value();
            Ok(value.get("data").unwrap_or(&value).clone())
        }
        _ => Err(error_code(&envelope).unwrap_or_default()),
    }
}

const TICKERS: [&str; 3] = ["AAPL", "VOD", "Z"];

/// Lines of the transaction language; some are refused.
fn lines(random: &mut Random) -> String {
    let line = |random: &mut Random| {
        let (day, quantity) = (random.below(28) + 1, random.below(90) + 1);
        let month = random.below(12) + 1;
        let kind = ["BUY", "BUY", "BUY", "SELL", "SOLD"][random.below(5)];
        let ticker = TICKERS[random.below(3)];
        let currency = ["GBP", "USD", "EUR"][random.below(3)];
        format!("2023-{month:02}-{day:02} {kind} {ticker} {quantity} @ 1{day}.5 {currency}")
    };
    let count = random.below(4) + 1;
    (0..count).map(|_| line(random)).collect::<Vec<_>>().join("\n")
}

/// The next call on a portfolio.
fn next(random: &mut Random, portfolio: &Value) -> (&'static str, Value) {
    let number = random.below(8) + 1;
    let account = ["Broker", "ISA", "ขมิ้น", "broker"][random.below(4)];
    match random.below(16) {
        0..=4 => {
            let input = json!({"portfolio_id": portfolio, "account": account, "cgt_content": lines(random)});
            ("add_transactions", input)
        }
        5 | 6 => {
            let edit = json!({"id": number, "cgt_content": lines(random).lines().next()});
            ("edit_transactions", json!({"portfolio_id": portfolio, "edits": [edit]}))
        }
        7 => {
            let edit = json!({"id": number, "remove": true});
            ("edit_transactions", json!({"portfolio_id": portfolio, "edits": [edit]}))
        }
        8 => {
            let accounts = json!([{"name": account, "wrapper": "isa"}]);
            ("edit_transactions", json!({"portfolio_id": portfolio, "accounts": accounts}))
        }
        9 | 10 => ("undo_portfolio_change", json!({"portfolio_id": portfolio})),
        11 => ("undo_portfolio_change", json!({"portfolio_id": portfolio, "change_id": number})),
        12 => ("list_portfolios", json!({})),
        13 => ("calculate_report", json!({"portfolio_id": portfolio})),
        _ => ("list_portfolio_transactions", json!({"portfolio_id": portfolio})),
    }
}

/// Calls of a sequence after the portfolio is created.
const CALLS: usize = 8;

/// Runs a sequence on a portfolio of its own; returns how many calls succeeded.
async fn run(
    seed: u64,
    clock: &FixedClock,
    expected: &Kernel,
    replicas: &[Arc<Kernel>; 2],
) -> usize {
    let mut random = Random(seed);
    let mut succeeded = 0;
    let mut step = 0;
    let mut portfolio = json!("pf_none");
    let mut call = async |tool: &str, input: Value, random: &mut Random| {
        // Two replicas would limit the rate of calls later than one.
        clock.advance(Duration::from_secs(60));
        let key = format!("{seed}-{step}");
        step += 1;
        let on_sqlite = reply(expected, tool, input.clone(), &key).await;
        let replica = &replicas[random.below(2)];
        let on_postgres = reply(replica, tool, input.clone(), &key).await;
        assert_eq!(on_postgres, on_sqlite, "seed {seed}, call {step}: {tool} {input}");
        succeeded += usize::from(on_sqlite.is_ok());
        on_sqlite
    };
    // A portfolio that was deleted gives its name back.
    let name = match random.below(4) {
        0 => format!("Shares {}", seed % 8),
        _ => format!("Shares of {seed}"),
    };
    if let Ok(made) = call("create_portfolio", json!({"name": name}), &mut random).await {
        portfolio = made["portfolio_id"].clone();
    }
    for _ in 0..CALLS {
        let (tool, input) = next(&mut random, &portfolio);
        let _refused = call(tool, input, &mut random).await;
    }
    if random.below(4) > 0 {
        call("delete_portfolio", json!({"portfolio_id": portfolio}), &mut random).await.ok();
    }
    succeeded
}

async fn run_all(seeds: std::ops::Range<u64>) {
    let database = Database::start();
    let folder = tempfile::tempdir().unwrap();
    let (clock, ann) = (FixedClock::at(noon()), person(1));
    let expected = kernel(in_memory(), &clock);
    let other = database.replica();
    let replicas = [&database.postgres, &other]
        .map(|replica| kernel(portfolios(replica, &ann, folder.path()), &clock));
    let count = usize::try_from(seeds.end - seeds.start).unwrap();
    let mut succeeded = 0;
    for seed in seeds {
        succeeded += run(seed, &clock, &expected, &replicas).await;
    }
    // A replica that reads all of it has the same portfolios as those that followed.
    let fresh = kernel(portfolios(&database.postgres, &ann, folder.path()), &clock);
    let listed = reply(&fresh, "list_portfolios", json!({}), "end").await.unwrap();
    assert_eq!(Ok(&listed), reply(&expected, "list_portfolios", json!({}), "end").await.as_ref());
    for portfolio in listed["portfolios"].as_array().unwrap() {
        let input = json!({"portfolio_id": portfolio["portfolio_id"]});
        let tool = "list_portfolio_transactions";
        let on_sqlite = reply(&expected, tool, input.clone(), "end").await;
        assert_eq!(reply(&fresh, tool, input, "end").await, on_sqlite);
    }
    eprintln!("{count} sequences, {succeeded} calls succeeded");
    assert!(succeeded > count * CALLS / 2, "most calls do something: {succeeded}");
}

#[tokio::test(flavor = "multi_thread")]
async fn two_hundred_random_sequences_have_the_replies_of_sqlite() {
    run_all(1..201).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "takes minutes; `./test --long` runs it"]
async fn two_thousand_random_sequences_have_the_replies_of_sqlite() {
    run_all(10_000..12_000).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn change_is_three_round_trips_and_a_read_is_one() {
    let database = Database::start();
    let folder = tempfile::tempdir().unwrap();
    let postgres = Arc::clone(&database.postgres);
    let kernel = kernel(portfolios(&postgres, &person(1), folder.path()), &FixedClock::at(noon()));
    let made = reply(&kernel, "create_portfolio", json!({"name": "Shares"}), "k").await.unwrap();
    let id = &made["portfolio_id"];
    let add = |day: usize| {
        let line = format!("2023-01-{day:02} BUY A 1 @ 1 GBP");
        json!({"portfolio_id": id, "account": "Main", "cgt_content": line})
    };
    // Statements are prepared once for each connection, so the connection is warm.
    for day in 1..8 {
        reply(&kernel, "add_transactions", add(day), &day.to_string()).await.unwrap();
    }
    let count = async |tool: &str, input: Value, key: &str| {
        let before = postgres.round_trips();
        reply(&kernel, tool, input, key).await.unwrap();
        postgres.round_trips() - before
    };
    let list = count("list_portfolio_transactions", json!({"portfolio_id": id}), "l").await;
    let change = count("add_transactions", add(20), "c").await;
    eprintln!("round trips: list {list}, change {change}");
    // The key of the call and the version of the data are looked up besides.
    assert!(list <= 2 && change <= 6, "list {list}, change {change}");
}

#[test]
fn deletes_names_and_nul_characters_reach_another_replica() {
    let database = Database::start();
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let first = portfolios(&database.postgres, &person(1), one.path());
    let second = portfolios(&database.replica(), &person(1), two.path());
    let names = |store: &Arc<dyn PortfolioStore>| -> Vec<String> {
        store.list().unwrap().into_iter().map(|portfolio| portfolio.name).collect()
    };
    assert_eq!((names(&first), names(&second)), (Vec::new(), Vec::new()));
    assert_eq!(database.admin("SELECT count(*) FROM cgt.collection"), "0", "a read writes nothing");
    let change = |store: &Arc<dyn PortfolioStore>, id: &str, name: &str, commit: bool| {
        let changed: Result<(), PortfolioError> = store.change(commit, |writer| {
            writer.create(id, name, 1)?;
            writer.ensure_account(id, "Main", None)?;
            writer.begin(id, 2, "nothing").map(drop)
        });
        changed
    };
    change(&first, "pf_1", "a\0b\u{F0000}", true).unwrap();
    change(&first, "pf_2", "second", true).unwrap();
    assert_eq!(names(&second), ["a\0b\u{F0000}", "second"]);
    change(&second, "pf_3", "rehearsed", false).unwrap();
    assert_eq!(names(&second), names(&first));
    // Portfolios with their rows go, and the name of one is free at once.
    let deleted: Result<(), PortfolioError> = second.change(true, |writer| {
        writer.delete("pf_2")?;
        writer.create("pf_4", "SECOND", 3)
    });
    deleted.unwrap();
    assert_eq!(names(&first), ["a\0b\u{F0000}", "SECOND"]);
    assert!(first.changes("pf_2", 9).is_err());
    assert_eq!(database.admin("SELECT count(*) FROM cgt.account"), "1", "the cascade is stored");
    assert!(change(&first, "pf_5", "second", true).is_err(), "the name is taken");
    assert_eq!(names(&second), ["a\0b\u{F0000}", "SECOND"]);
}

#[test]
fn copy_that_is_too_far_behind_is_rebuilt() {
    let database = Database::start();
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let first = portfolios(&database.postgres, &person(1), one.path());
    let second = portfolios(&database.replica(), &person(1), two.path());
    let act =
        |run: &dyn Fn(&dyn panoply_cgt::store::PortfolioWriter) -> Result<(), PortfolioError>| {
            first.change(true, |writer| run(writer)).unwrap();
        };
    act(&|writer| writer.create("pf_1", "gone", 1));
    assert_eq!(second.list().unwrap().len(), 1);
    act(&|writer| writer.delete("pf_1").map(drop));
    assert_eq!(database.admin("SELECT count(*) FROM cgt.removed"), "1");
    // As if ten thousand changes had been made: the next multiple of 256 prunes.
    database.admin("UPDATE cgt.collection SET version = 20479");
    act(&|writer| writer.create("pf_2", "new", 1));
    assert_eq!(database.admin("SELECT count(*) FROM cgt.removed"), "0", "pruned");
    let names: Vec<String> = second.list().unwrap().into_iter().map(|one| one.name).collect();
    assert_eq!(names, ["new"]);
}
