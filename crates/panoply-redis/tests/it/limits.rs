//! Three limiters, as of three replicas, on one Redis that is killed, frozen and emptied.
#![expect(clippy::disallowed_methods, reason = "a test measures the time that really passes")]

use std::sync::Arc;
use std::time::{Duration, Instant};

use panoply_contract::pipeline::{LimitCheck, LimitScope, Limiter as _};
use panoply_contract::spec::RateLimit;
use panoply_redis::{Settings, SharedLimiter};
use panoply_store::SystemClock;
use panoply_testkit::redis::RedisServer;

/// Thirty calls; none is refilled within a test.
const LIMIT: RateLimit = RateLimit { max_calls: 30, window: Duration::from_secs(24 * 3600) };

async fn replica(server: &RedisServer) -> SharedLimiter {
    let settings = Settings { url: server.url(), replicas: 3, ..Settings::default() };
    SharedLimiter::start(&settings, Arc::new(SystemClock::new())).await.unwrap()
}

async fn three(server: &RedisServer) -> [SharedLimiter; 3] {
    [replica(server).await, replica(server).await, replica(server).await]
}

async fn passes(limiter: &SharedLimiter, caller: &str) -> bool {
    let decision = match limiter.check("tool", LIMIT, LimitScope::Credential(caller)) {
        LimitCheck::Decided(decision) => decision,
        LimitCheck::Asking(answer) => answer.await,
    };
    decision.is_ok()
}

/// Number of calls that pass when the replicas are asked in turn.
async fn passed(replicas: &[SharedLimiter], caller: &str, calls: usize) -> usize {
    let mut passed = 0;
    for limiter in replicas.iter().cycle().take(calls) {
        passed += usize::from(passes(limiter, caller).await);
    }
    passed
}

/// Exactly the limit passes, unless the machine was so busy that a reply came too late.
fn assert_limit(passed: usize, replicas: &[SharedLimiter]) {
    let alone: u64 = replicas.iter().map(|replica| replica.status().alone).sum();
    let fits = if alone == 0 { passed == 30 } else { (27..=32).contains(&passed) };
    assert!(fits, "{passed} passed, {alone} without the server");
}

async fn wait_for(what: &str, check: impl Fn() -> bool) {
    let started = Instant::now();
    while !check() {
        assert!(started.elapsed() < Duration::from_secs(10), "{what} within 10 s");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn replicas_share_one_budget_per_caller_and_tool() {
    let server = RedisServer::start();
    let replicas = three(&server).await;
    assert_limit(passed(&replicas, "ann", 90).await, &replicas);
    assert_limit(passed(&replicas[..1], "bob", 90).await, &replicas[..1]);
    let check = replicas[0].check("other", LIMIT, LimitScope::Credential("ann"));
    let LimitCheck::Asking(answer) = check else { panic!("the server decides") };
    assert_eq!(answer.await, Ok(()), "another tool has a budget of its own");
    let LimitCheck::Asking(answer) =
        replicas[1].check("tool", LIMIT, LimitScope::Credential("ann"))
    else {
        panic!("the server decides")
    };
    let wait = answer.await.unwrap_err();
    let refill = LIMIT.window / LIMIT.max_calls;
    assert!(wait <= refill && wait > refill - Duration::from_secs(60), "{wait:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_at_once_share_one_budget_too() {
    let server = RedisServer::start();
    let replicas = Arc::new(three(&server).await);
    let calls: Vec<_> = (0..120)
        .map(|number| {
            let replicas = Arc::clone(&replicas);
            tokio::spawn(async move { passes(&replicas[number % 3], "ann").await })
        })
        .collect();
    let mut passed = 0;
    for call in calls {
        passed += usize::from(call.await.unwrap());
    }
    // A replica that hears nothing before its replies are late does not know of the others' calls.
    let alone: u64 = replicas.iter().map(|replica| replica.status().alone).sum();
    let most = 30 + usize::try_from(alone).unwrap().min(30);
    assert!((30..=most).contains(&passed), "{passed} passed, {alone} without the server");
}

#[tokio::test(flavor = "multi_thread")]
async fn replicas_without_the_server_enforce_shares() {
    let server = RedisServer::stopped();
    let replicas = three(&server).await;
    assert!(!replicas[0].status().up);
    let passed = passed(&replicas, "ann", 120).await;
    assert!((30..=32).contains(&passed), "{passed}");
}

#[tokio::test(flavor = "multi_thread")]
async fn server_killed_in_the_middle_leaves_the_rest_of_the_budget() {
    for before in [0, 7, 15, 29, 30] {
        let mut server = RedisServer::start();
        let replicas = three(&server).await;
        assert_eq!(passed(&replicas, "ann", before).await, before);
        server.kill();
        let after = passed(&replicas, "ann", 120).await;
        let all = before + after;
        assert!((27..=32).contains(&all), "{before} before the kill and {after} after it");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn frozen_server_costs_one_call_its_timeout_and_the_others_nothing() {
    let server = RedisServer::start();
    let replica = replica(&server).await;
    assert!(passes(&replica, "ann").await);
    server.signal("STOP");
    let started = Instant::now();
    assert!(passes(&replica, "bob").await, "nobody is refused for the server's sake");
    let first = started.elapsed();
    assert!(first < Duration::from_millis(500), "{first:?}");
    let started = Instant::now();
    for _ in 0..1000 {
        passes(&replica, "bob").await;
    }
    let thousand = started.elapsed();
    assert!(thousand < Duration::from_millis(200), "{thousand:?}");
    server.signal("CONT");
    wait_for("the server decides again", || replica.status().up).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn emptied_server_learns_what_the_replicas_know() {
    let mut server = RedisServer::start();
    let replicas = three(&server).await;
    assert_eq!(passed(&replicas, "ann", 15).await, 15);
    server.kill();
    let alone = passed(&replicas, "ann", 6).await;
    assert_eq!(alone, 6, "each has more than two of its ten left");
    server.restart();
    for replica in &replicas {
        wait_for("the server decides again", || replica.status().up).await;
    }
    let after = passed(&replicas, "ann", 90).await;
    let all = 15 + alone + after;
    assert!((27..=32).contains(&all), "no second burst: {after} passed after the return");
    let new = passed(&replicas, "new", 90).await;
    assert!((27..=32).contains(&new), "{new}");
}

#[tokio::test(flavor = "multi_thread")]
async fn replicas_are_counted_by_their_heartbeats() {
    let server = RedisServer::start();
    let mut replicas = Vec::new();
    for _ in 0..5 {
        replicas.push(replica(&server).await);
    }
    wait_for("all five are counted", || replicas.iter().all(|one| one.status().replicas == 5))
        .await;
    replicas.pop().unwrap().leave().await;
    wait_for("one has left", || replicas.iter().all(|one| one.status().replicas == 4)).await;
}
