//! Damage of sealed blobs is detected: an error or the same reply, never a different one.

use std::sync::Arc;

use panoply_backtest::error::LogError;
use panoply_backtest::event::{EventType, Guid};
use panoply_backtest::query::aggregate::{AggregateQuery, GroupBy};
use panoply_backtest::query::cache::Cache;
use panoply_backtest::query::reader::SealedRun;
use panoply_backtest::query::selection::{Entity, Filter};
use panoply_backtest::query::snapshot::View;
use panoply_backtest::run::RunHeader;
use panoply_backtest::store::memory::MemoryStore;
use panoply_backtest::store::{BlobKey, BlobKind, Blobs, Store};

use crate::helpers::{OWN_RUN, data, line, sealed};

/// Flips of one bit each.
const FLIPS: u64 = 2000;

/// Blobs of which one has one bit flipped, or is gone.
struct Damaged {
    blobs: Arc<dyn Blobs>,
    key: BlobKey,
    bit: Option<usize>,
}

impl Blobs for Damaged {
    fn get(&self, key: BlobKey) -> Result<Option<Vec<u8>>, LogError> {
        let mut blob = self.blobs.get(key)?;
        if key == self.key {
            match (self.bit, &mut blob) {
                (Some(bit), Some(blob)) => blob[bit / 8] ^= 1 << (bit % 8),
                _ => return Ok(None),
            }
        }
        Ok(blob)
    }

    fn put(&self, _: Vec<(BlobKey, Vec<u8>)>) -> Result<(), LogError> {
        unreachable!("a question changes nothing")
    }

    fn keys(&self) -> Result<Vec<BlobKey>, LogError> {
        let mut keys = self.blobs.keys()?;
        keys.retain(|key| self.bit.is_some() || *key != self.key);
        Ok(keys)
    }
}

/// A run with the first events of the sample.
fn small_run() -> (Arc<dyn Blobs>, Guid) {
    let text = data("ema_cross.jsonl.zst");
    let lines: Vec<&[u8]> = text.split_inclusive(|byte| *byte == b'\n').take(1500).collect();
    let store: Arc<dyn Store> = Arc::new(MemoryStore::default());
    let id = sealed(Arc::clone(&store), RunHeader::default(), &lines.concat())[0].0;
    (store.sealed(id).unwrap(), id)
}

/// Replies of several questions in one text, or the first error.
fn replies(run: &SealedRun) -> Result<String, LogError> {
    let stop = || false;
    let whole = run.between(None, None)?;
    let mut out = String::new();
    for seq in run.select(&Filter::default(), whole.clone())?.page(0, 60) {
        let event = run.event(seq)?;
        out += &format!("{} {:?} {}", event.id(), run.parent_id(&event)?, event.properties());
    }
    let query =
        AggregateQuery { event_type: EventType::IndicatorCalculation, path: "Value", range: whole };
    out += &format!("{:?}", run.aggregate(&query, &stop)?);
    out += &format!("{:?}", run.aggregate_by(&query, GroupBy::Entity(Entity::Symbol), 50, &stop)?);
    let view = View { symbol: None, indicators: true, orders: Some(50) };
    let state = run.snapshot_at(Some(1400), &view, &stop)?;
    out += &format!("{:?}{:?}{:?}", state.positions, state.orders, state.pnl);
    out += &format!("{:?}", run.trades()?);
    Ok(out)
}

#[test]
fn two_thousand_bit_flips_are_found_and_no_reply_is_wrong() {
    let (blobs, id) = small_run();
    let intact = SealedRun::open(id, Arc::clone(&blobs), Cache::new(1 << 20)).unwrap();
    let expected = replies(&intact).unwrap();
    let keys = blobs.keys().unwrap();
    let sizes: Vec<usize> =
        keys.iter().map(|key| blobs.get(*key).unwrap().unwrap().len()).collect();
    let total: usize = sizes.iter().sum();
    let mut random = 0x2545_f491_4f6c_dd1d_u64;
    let (mut found, mut wrong) = (0, 0);
    for flip in 0..FLIPS {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let mut bit = usize::try_from(random >> 24).unwrap() % (total * 8);
        let place = sizes.iter().position(|size| {
            let is_here = bit < size * 8;
            bit -= if is_here { 0 } else { size * 8 };
            is_here
        });
        let damaged =
            Damaged { blobs: Arc::clone(&blobs), key: keys[place.unwrap()], bit: Some(bit) };
        let run = SealedRun::open(id, Arc::new(damaged), Cache::new(1 << 20));
        let outcome = run.and_then(|run| {
            // Questions read few blobs; one in ten flips is asked about, all are verified.
            if flip % 10 == 0 {
                wrong += u32::from(replies(&run).is_ok_and(|reply| reply != expected));
            }
            run.verify(&|| false)
        });
        found += u64::from(outcome.is_err());
    }
    assert_eq!((found, wrong), (FLIPS, 0), "found and wrong");
}

#[test]
fn missing_blob_is_found_and_no_reply_is_wrong() {
    let (blobs, id) = small_run();
    let intact = SealedRun::open(id, Arc::clone(&blobs), Cache::new(1 << 20)).unwrap();
    assert!(intact.verify(&|| false).unwrap().0 > 50);
    let expected = replies(&intact).unwrap();
    for key in blobs.keys().unwrap() {
        let damaged = Damaged { blobs: Arc::clone(&blobs), key, bit: None };
        let run = SealedRun::open(id, Arc::new(damaged), Cache::new(1 << 20));
        let outcome = run.and_then(|run| {
            // Statistics by group are optional: without them the values are read.
            let is_wrong = replies(&run).is_ok_and(|reply| reply != expected);
            assert!(!is_wrong || key.kind == BlobKind::GroupStats, "{key}");
            run.verify(&|| false)
        });
        assert!(outcome.is_err(), "{key}");
    }
}

#[test]
fn run_of_an_older_format_is_refused_and_can_be_exported() {
    struct Older(Arc<dyn Blobs>);
    impl Blobs for Older {
        fn get(&self, key: BlobKey) -> Result<Option<Vec<u8>>, LogError> {
            let Some(mut blob) = self.0.get(key)? else { return Ok(None) };
            blob.truncate(blob.len() - 8);
            if key.kind == BlobKind::Head {
                let text = String::from_utf8(blob).unwrap();
                blob = text.replace(r#""format":3"#, r#""format":2"#).into_bytes();
            }
            Ok(Some(blob))
        }
        fn put(&self, _: Vec<(BlobKey, Vec<u8>)>) -> Result<(), LogError> {
            unreachable!("a question changes nothing")
        }
        fn keys(&self) -> Result<Vec<BlobKey>, LogError> {
            self.0.keys()
        }
    }
    let store: Arc<dyn Store> = Arc::new(MemoryStore::default());
    let lines = line(OWN_RUN, 1, "2025-01-01T00:00:00.000Z", "RiskEvent", "{}", None);
    let id = sealed(Arc::clone(&store), RunHeader::default(), lines.as_bytes())[0].0;
    let older: Arc<dyn Blobs> = Arc::new(Older(store.sealed(id).unwrap()));
    let refused = SealedRun::open(id, Arc::clone(&older), Cache::new(1 << 20)).err().unwrap();
    assert_eq!(
        refused.to_string(),
        "the run was sealed in format 2, and this version reads format 3"
    );
    let run = SealedRun::open_for_export(id, older, Cache::new(1 << 20)).unwrap();
    let mut exported = Vec::new();
    run.export(|line| {
        exported.push(line.to_owned());
        Ok(())
    })
    .unwrap();
    assert_eq!(exported, [lines]);
}
