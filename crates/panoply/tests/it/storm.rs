//! A short storm over three replicas; `panoply-testkit storm` runs longer ones.

use std::time::Duration;

use panoply_testkit::storm::{Fault, Storm};

#[test]
fn storm_over_three_replicas_loses_nothing() {
    let storm = Storm {
        panoply: env!("CARGO_BIN_EXE_panoply").into(),
        replicas: 3,
        tenants: 4,
        clients: 16,
        duration: Duration::from_secs(28),
        pause: Duration::from_millis(700),
        faults: Fault::ALL.to_vec(),
        seed: 1,
        wait_for_recovery: false,
    };
    let outcome = storm.run();
    eprintln!("{}", outcome.report());
    assert!(outcome.violations.is_empty(), "{}", outcome.report());
    assert!(outcome.acknowledged >= 30, "{}", outcome.report());
    assert!(outcome.faults.len() >= 3, "{}", outcome.report());
}
