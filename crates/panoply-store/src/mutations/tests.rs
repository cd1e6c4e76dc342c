//! Round trip, uniqueness of idempotency keys, and recovery of unaudited records.

use panoply_contract::audit::{Audit, AuditEntry, Status};
use panoply_contract::context::Provenance;
use panoply_contract::testing::noon;
use serde_json::json;

use super::*;
use crate::kernel_db::KernelDb;

fn sample(number: u64, key: Option<&str>) -> MutationRecord {
    let key = key.map(|key| IdempotencyKey {
        partition: "local".to_owned(),
        tool: "create-card".to_owned(),
        key: key.to_owned(),
    });
    let entry = AuditEntry {
        call_id: Some(CallId::new(uuid::Uuid::from_u128(9), number)),
        at: noon(),
        tool: "create-card".into(),
        tool_version: "1.0.0".into(),
        partition: "local".to_owned(),
        agent_id: "tests".to_owned(),
        trace_id: format!("trace-{number}"),
        provenance: Provenance {
            address: Some("192.0.2.7".parse().unwrap()),
            credential: Some("key laptop (ab12)".into()),
        },
        count: 1,
        audit: Audit {
            in_hash: "in".into(),
            out_hash: "out".into(),
            latency_ms: number,
            seed: u64::MAX - number,
            status: Status::Ok,
        },
        error_code: None,
        mutation: true,
    };
    let data = Json::of(&json!({"b": 1.0, "a": "ก"})).unwrap();
    let reply = key.is_some().then(|| StoredReply { data, text: "Made it.".to_owned() });
    MutationRecord { key, entry, reply }
}

#[test]
fn a_record_survives_a_restart_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("kernel.db");
    let (keyed, keyless) = (sample(1, Some("k")), sample(2, None));
    let log = KernelDb::open(&file).unwrap();
    log.commit(&keyed).unwrap();
    log.commit(&keyless).unwrap();
    drop(log);
    let log = KernelDb::open(&file).unwrap();
    assert_eq!(log.find(keyed.key.as_ref().unwrap(), noon()).unwrap(), Some(keyed.clone()));
    assert_eq!(log.find_call(keyless.entry.call_id.unwrap()).unwrap(), Some(keyless.clone()));
    assert_eq!(log.unaudited().unwrap(), [keyed, keyless]);
}

#[test]
fn an_idempotency_key_is_unique_across_processes() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("kernel.db");
    let (one, other) = (KernelDb::open(&file).unwrap(), KernelDb::open(&file).unwrap());
    one.commit(&sample(1, Some("k"))).unwrap();
    assert!(other.commit(&sample(2, Some("k"))).is_err());
    other.commit(&sample(3, Some("other"))).unwrap();
    let found = other.find(sample(1, Some("k")).key.as_ref().unwrap(), noon()).unwrap().unwrap();
    assert_eq!(found.entry.audit.latency_ms, 1);
}

#[test]
fn audited_records_are_not_recovered_and_keys_expire_after_a_day() {
    let folder = tempfile::tempdir().unwrap();
    let log = KernelDb::open(&folder.path().join("kernel.db")).unwrap();
    let first = sample(1, Some("k"));
    log.commit(&first).unwrap();
    log.audited(first.entry.call_id.unwrap());
    let keyless = sample(2, None);
    log.commit(&keyless).unwrap();
    assert_eq!(log.unaudited().unwrap(), std::slice::from_ref(&keyless));
    log.audited(keyless.entry.call_id.unwrap());
    let tomorrow = noon() + KEY_LIFETIME;
    let key = first.key.as_ref().unwrap();
    assert!(log.find(key, tomorrow - std::time::Duration::from_secs(1)).unwrap().is_some());
    assert_eq!(log.find(key, tomorrow).unwrap(), None);
    let mut again = sample(3, Some("k"));
    again.entry.at = tomorrow;
    log.commit(&again).unwrap();
    assert_eq!(log.find(key, tomorrow).unwrap(), Some(again.clone()));
    assert_eq!(log.unaudited().unwrap(), [again]);
}
