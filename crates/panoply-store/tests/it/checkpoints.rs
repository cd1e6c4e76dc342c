//! Signed checkpoints: creation, and verification against tampered logs.

use std::fs;

use panoply_contract::audit::AuditLog;
use panoply_contract::testing::noon;
use panoply_store::SqliteAuditLog;
use panoply_store::audit_log::{
    BadCheckpoint, Checkpoint, FaultKind, Head, PublicKey, SigningKey, append_checkpoint, head,
    prune, read_checkpoints, seal, verify, verify_against,
};

use crate::entries::{entry, log_with};

fn heads(checkpoints: &[Checkpoint]) -> Vec<Head> {
    checkpoints.iter().map(|checkpoint| checkpoint.head).collect()
}

#[test]
fn a_signing_key_is_created_once_with_private_permissions() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("home/audit-signing.key");
    let public = SigningKey::open_or_create(&file).unwrap().public().to_string();
    assert_eq!(SigningKey::open_or_create(&file).unwrap().public().to_string(), public);
    assert_eq!(PublicKey::parse(&public).unwrap().to_string(), public);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    }
    let (name, rest) = public.split_once('+').unwrap();
    for bad in [String::new(), name.to_owned(), format!("other+{rest}"), format!("{public}AAAA")] {
        assert!(PublicKey::parse(&bad).is_err(), "{bad}");
    }
    fs::write(&file, "PRIVATE+KEY+x").unwrap();
    assert!(SigningKey::open(&file).is_err());
}

#[test]
fn forged_and_foreign_checkpoints_are_reported_by_position() {
    let folder = tempfile::tempdir().unwrap();
    let key = SigningKey::open_or_create(&folder.path().join("one")).unwrap();
    let other = SigningKey::open_or_create(&folder.path().join("other")).unwrap();
    let row = |sequence| Head { sequence, hash: panoply_store::audit_log::ChainHash([7; 32]) };
    let (first, second) = (key.sign(row(41), noon()), key.sign(row(42), noon()));
    let good = format!("{first}\n{second}\n");
    let read = read_checkpoints(&good, &key.public()).unwrap();
    assert_eq!(heads(&read), [row(41), row(42)]);
    assert_eq!(read[0].at, noon());
    let what = |notes: &str, key: &SigningKey| {
        let BadCheckpoint { number, what } = read_checkpoints(notes, &key.public()).unwrap_err();
        (number, what.to_owned())
    };
    let forged = "its signature is forged, or it was changed after it was signed".to_owned();
    let unsigned = "it is not signed by this key".to_owned();
    assert_eq!(what(&good.replace("\n42\n", "\n43\n"), &key), (2, forged));
    assert_eq!(what(&good, &other), (1, unsigned.clone()));
    assert_eq!(what(&second[..second.find('\u{2014}').unwrap()], &key), (1, unsigned));
    assert_eq!(read_checkpoints("", &key.public()), Ok(Vec::new()));
}

#[tokio::test]
async fn checkpoints_detect_rewritten_truncated_and_replaced_logs() {
    let folder = tempfile::tempdir().unwrap();
    let (file, sink) = (folder.path().join("audit.db"), folder.path().join("checkpoints"));
    let key = SigningKey::open_or_create(&folder.path().join("key")).unwrap();
    for rows in [5, 4, 3] {
        log_with(&file, rows).await;
        let note = key.sign(head(&file).unwrap().unwrap(), noon());
        append_checkpoint(&sink, &note).unwrap();
    }
    let checkpoints = read_checkpoints(&fs::read_to_string(&sink).unwrap(), &key.public()).unwrap();
    let noted = heads(&checkpoints);
    assert_eq!(noted.iter().map(|head| head.sequence).collect::<Vec<_>>(), [5, 9, 12]);
    assert!(verify_against(&file, &noted).unwrap().is_intact());

    // Another valid history that matches the first checkpoint.
    let rewritten = folder.path().join("rewritten.db");
    log_with(&rewritten, 5).await;
    let log = SqliteAuditLog::open(&rewritten).unwrap();
    for number in 100..120 {
        log.append(entry(number, false)).await.unwrap();
    }
    log.close();
    assert!(verify(&rewritten, None).unwrap().is_intact());
    let fault = verify_against(&rewritten, &noted).unwrap().fault.unwrap();
    assert_eq!((fault.sequence, fault.kind), (9, FaultKind::NotAsNoted));

    let short = folder.path().join("short.db");
    log_with(&short, 5).await;
    let fault = verify_against(&short, &noted).unwrap().fault.unwrap();
    assert_eq!((fault.sequence, fault.kind), (6, FaultKind::Missing));
    let fresh = folder.path().join("fresh.db");
    log_with(&fresh, 0).await;
    let fault = verify_against(&fresh, &noted).unwrap().fault.unwrap();
    assert_eq!((fault.sequence, fault.kind), (1, FaultKind::Missing));

    // Two contradicting checkpoints of one row.
    let mut contradicting = noted.clone();
    contradicting.push(Head { hash: noted[0].hash, ..noted[1] });
    let fault = verify_against(&file, &contradicting).unwrap().fault.unwrap();
    assert_eq!((fault.sequence, fault.kind), (9, FaultKind::NotAsNoted));
}

#[tokio::test]
async fn checkpoints_of_pruned_rows_are_counted_and_later_ones_verified() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("audit.db");
    let mut noted = Vec::new();
    for _ in 0..4 {
        log_with(&file, 5).await;
        noted.extend(head(&file).unwrap());
    }
    seal(&file, None, 8, noon()).unwrap();
    assert!(verify_against(&file, &noted).unwrap().is_intact());
    let later = noon() + std::time::Duration::from_secs(3600);
    prune(&file, later, noon()).unwrap();
    let found = verify_against(&file, &noted).unwrap();
    assert!(found.is_intact(), "{found:?}");
    // Rows 5, 10 and 15 are inside pruned segments; row 20 ends the last one.
    assert_eq!(found.unchecked, 3);
    let mut forged = noted.clone();
    forged[3].hash = forged[0].hash;
    assert_eq!(verify_against(&file, &forged).unwrap().fault.map(|it| it.sequence), Some(20));
}
