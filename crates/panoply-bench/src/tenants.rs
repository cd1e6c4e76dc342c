//! Many tenants on one server: memory, and the time of a review compared with that of one tenant.
//!
//! A review is `get-next-card`, `reveal-answer` and `submit-review` over HTTP. The collection of
//! the first tenant is made through the server and copied to the others. With one tenant, the
//! collection is open throughout; with a random one, it often has to be opened first. Ends with an
//! error if a goal is missed.

use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use panoply_contract::clock::Clock;
use panoply_contract::permission::Profile;
use panoply_contract::tenant::Tenants;
use panoply_store::keys::NewKey;
use panoply_store::{ApiKeys as _, Home, SqliteApiKeys, SqliteUsers, SystemClock, Users as _};
use serde_json::{Value, json};

use crate::http_client::HttpClient;
use crate::startup::{program, resident_megabytes};
use crate::{Outcome, report};

const TENANTS: usize = 1_000;
const CARDS: usize = 200;
/// Reviews on each side: 40 samples beyond the 99th percentile.
const REVIEWS: usize = 4_000;
/// Reviews of one tenant until its collection is restored; each answers one card.
const ROUND: usize = CARDS - 20;
/// Reviews of a round before those that are measured: they open the collection.
const WARM_UP: usize = 10;
const GOAL_MEGABYTES: f64 = 300.0;
const GOAL_RATIO: f64 = 2.0;

pub(crate) fn run() -> Outcome {
    report::heading(
        "Tenants",
        &format!("{TENANTS} persons with {CARDS} cards each, {REVIEWS} reviews over HTTP"),
    );
    let folder = tempfile::tempdir()?;
    let home = Home::at(folder.path());
    let keys = tenants(&home)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let first = keys.first().ok_or("no tenants")?;
    let mut server = Server::start(folder.path())?;
    let deck = runtime.block_on(fill(server.address, &first.1))?;
    server.stop()?;
    copy(&home, &keys)?;
    let one = of_one_tenant(&runtime, folder.path(), &deck, &keys)?;
    let mut server = Server::start(folder.path())?;
    let many = runtime.block_on(reviews(server.address, &deck, &keys, REVIEWS))?;
    let megabytes = resident_megabytes(server.child.id())?;
    server.stop()?;
    report::remark(&format!("{} reviews of one tenant, {} of random ones", one.len(), many.len()));
    report::figure("review of one tenant, p50", quantile(&one, 0.5), "ms", None);
    report::figure("review of one tenant, p99", quantile(&one, 0.99), "ms", None);
    report::figure("review of a random tenant, p50", quantile(&many, 0.5), "ms", None);
    report::figure("review of a random tenant, p99", quantile(&many, 0.99), "ms", None);
    let ratio = quantile(&many, 0.99) / quantile(&one, 0.99);
    report::figure("p99 compared with one tenant", ratio, "×", Some(GOAL_RATIO));
    report::figure("resident memory after the reviews", megabytes, "MB", Some(GOAL_MEGABYTES));
    verdict(ratio, megabytes)
}

fn verdict(ratio: f64, megabytes: f64) -> Outcome {
    match ratio <= GOAL_RATIO && megabytes <= GOAL_MEGABYTES {
        true => Ok(()),
        false => Err("a goal of `tenants` is missed".into()),
    }
}

/// Reviews of the first tenant alone. When its cards are answered, the server is started again
/// over a copy of the collection as it was.
fn of_one_tenant(
    runtime: &tokio::runtime::Runtime,
    home: &Path,
    deck: &Value,
    keys: &[(Home, String)],
) -> Outcome<Vec<f64>> {
    let [first, second, ..] = keys else { return Err("too few tenants".into()) };
    let (own, pristine) = (first.0.pack("noema"), second.0.pack("noema"));
    let mut times = Vec::with_capacity(REVIEWS);
    while times.len() < REVIEWS {
        let mut server = Server::start(home)?;
        let of_first = std::slice::from_ref(first);
        let round = runtime.block_on(reviews(server.address, deck, of_first, ROUND))?;
        server.stop()?;
        times.extend(round.into_iter().skip(WARM_UP));
        for part in ["-wal", "-shm"] {
            let mut name = own.clone().into_os_string();
            name.push(part);
            // A server that has stopped leaves none.
            let _ = std::fs::remove_file(name);
        }
        std::fs::copy(&pristine, &own)?;
    }
    times.truncate(REVIEWS);
    Ok(times)
}

/// A server over a home.
struct Server {
    child: Child,
    address: SocketAddr,
}

impl Server {
    fn start(home: &Path) -> Outcome<Self> {
        let mut child = Command::new(program()?)
            .args(["http", "--listen", "127.0.0.1:0", "noema", "--tools", "all"])
            .env("PANOPLY_HOME", home)
            .env("PANOPLY_LOG", "warn")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()?;
        let mut lines = BufReader::new(child.stderr.take().ok_or("no log")?).lines();
        let address = lines.find_map(|line| {
            let line = line.ok()?;
            let (_, rest) = line.split_once("http://")?;
            rest.split('/').next()?.parse().ok()
        });
        std::thread::spawn(move || lines.for_each(drop));
        Ok(Self { child, address: address.ok_or("the server does not say its address")? })
    }

    fn stop(&mut self) -> Outcome {
        let process = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(process, rustix::process::Signal::TERM)?;
        self.child.wait()?;
        Ok(())
    }
}

/// Adds the persons; their homes and keys.
fn tenants(home: &Home) -> Outcome<Vec<(Home, String)>> {
    home.create()?;
    let now = SystemClock::new().now();
    let (users, keys) = (SqliteUsers::open(&home.keys())?, SqliteApiKeys::open(&home.keys())?);
    let add = |number: usize| {
        let person = users.add(&format!("user{number}"), None, now)?;
        let tenants = Tenants::of(person.id.clone());
        let label = "bench".to_owned();
        let new = NewKey { label, tenants, profile: Profile::Owner, expires: None };
        Ok((home.tenant(&person.id), keys.create(new, now)?.text))
    };
    (0..TENANTS).map(add).collect()
}

/// Makes the collection of the first tenant; its deck.
async fn fill(address: SocketAddr, key: &str) -> Outcome<Value> {
    let mut client = HttpClient::connect(address).await?.with_key(key);
    let deck = call(&mut client, "create-deck", json!({"name": "Deck"})).await?;
    let deck = member(&deck, "/deck/deckId");
    let options = json!({"deckId": deck, "options": {"newPerDay": CARDS}});
    call(&mut client, "update-deck", options).await?;
    for from in (0..CARDS).step_by(50) {
        let note = |number: usize| json!({"front": format!("Question {number}"), "back": "Answer"});
        let notes: Vec<Value> = (from..from + 50).map(note).collect();
        let cards = json!({"deckId": deck, "notes": notes, "draft": false});
        call(&mut client, "create-cards", cards).await?;
    }
    Ok(deck)
}

fn copy(home: &Home, keys: &[(Home, String)]) -> Outcome {
    let from = keys.first().ok_or("no tenants")?.0.pack("noema");
    for (own, _) in keys.iter().skip(1) {
        std::fs::create_dir_all(own.packs())?;
        std::fs::copy(&from, own.pack("noema"))?;
    }
    let made = home.tenants().len() - 1;
    if made == TENANTS { Ok(()) } else { Err(format!("{made} tenants have data").into()) }
}

/// Milliseconds of each review, by tenants in a fixed random order.
async fn reviews(
    address: SocketAddr,
    deck: &Value,
    keys: &[(Home, String)],
    count: usize,
) -> Outcome<Vec<f64>> {
    let clock = SystemClock::new();
    let mut times = Vec::with_capacity(count);
    let mut state = 1_usize;
    for _ in 0..count {
        // A linear congruential generator (Knuth's MMIX).
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let (_, key) = keys.get((state >> 33) % keys.len()).ok_or("no tenants")?;
        let mut client = HttpClient::connect(address).await?.with_key(key);
        let start = clock.monotonic();
        let next = call(&mut client, "get-next-card", json!({"deckId": deck})).await?;
        let shown =
            call(&mut client, "reveal-answer", json!({"token": member(&next, "/card/token")}))
                .await?;
        call(
            &mut client,
            "submit-review",
            json!({"token": member(&shown, "/token"), "rating": "easy"}),
        )
        .await?;
        times.push(clock.monotonic().saturating_sub(start).as_secs_f64() * 1e3);
    }
    Ok(times)
}

async fn call(client: &mut HttpClient, tool: &str, arguments: Value) -> Outcome<Value> {
    let params = json!({"name": tool, "arguments": arguments});
    let request = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    let reply = client.post(&request.to_string()).await?;
    let text = String::from_utf8_lossy(reply);
    let body = text.lines().find_map(|line| {
        let line = line.strip_prefix("data: ").unwrap_or(line);
        serde_json::from_str::<Value>(line).ok().filter(|body| body.get("result").is_some())
    });
    let result = member(&body.ok_or_else(|| format!("{tool}: {text}"))?, "/result");
    if member(&result, "/isError") == json!(true) {
        return Err(format!("{tool}: {result}").into());
    }
    Ok(member(&result, "/structuredContent/data"))
}

/// The value at a JSON pointer, null where there is none.
fn member(value: &Value, pointer: &str) -> Value {
    value.pointer(pointer).cloned().unwrap_or_default()
}

fn quantile(times: &[f64], share: f64) -> f64 {
    let mut sorted = times.to_vec();
    sorted.sort_by(f64::total_cmp);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "an index into a few thousand times"
    )]
    let place = ((sorted.len() as f64 - 1.0) * share).round() as usize;
    sorted.get(place).copied().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missed_goal_is_an_error() {
        assert!(verdict(GOAL_RATIO, GOAL_MEGABYTES).is_ok());
        assert!(verdict(GOAL_RATIO + 0.1, GOAL_MEGABYTES).is_err());
        assert!(verdict(GOAL_RATIO, GOAL_MEGABYTES + 0.1).is_err());
        assert!(verdict(f64::NAN, 1.0).is_err());
    }

    #[test]
    fn the_quantile_is_a_value_that_was_measured() {
        let times: Vec<f64> = (0..=100).map(f64::from).collect();
        for (share, expected) in [(0.5, 50.0), (0.99, 99.0), (1.0, 100.0)] {
            assert_eq!(quantile(&times, share).to_bits(), f64::to_bits(expected));
        }
    }
}
