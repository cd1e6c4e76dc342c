//! Damage of sealed blobs is detected: an error or the same reply, never a different one.

use std::sync::Arc;

use panoply_backtest::error::LogError;
use panoply_backtest::event::{EventType, Guid};
use panoply_backtest::query::aggregate::{AggregateQuery, GroupBy};
use panoply_backtest::query::cache::Cache;
use panoply_backtest::query::events_query::{EventQuery, GroupKey, Join, Top};
use panoply_backtest::query::expression::Expression;
use panoply_backtest::query::reader::SealedRun;
use panoply_backtest::query::selection::{Entity, Filter};
use panoply_backtest::query::sequence::{Pattern, Step};
use panoply_backtest::query::snapshot::View;
use panoply_backtest::run::RunHeader;
use panoply_backtest::store::memory::MemoryStore;
use panoply_backtest::store::{BlobKey, BlobKind, Blobs, Store};

use crate::helpers::{OWN_RUN, data, line, sealed};

/// Flips of one bit each, in each of five tests.
const FLIPS: u64 = 400;
/// Events of the run.
const EVENTS: u32 = 700;

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

/// A run with the first events of the sample, every fiftieth with a problem of its producer.
fn small_run() -> (Arc<dyn Blobs>, Guid) {
    const PROBLEM: &str = r#""validationErrors":[{"Field":"Feed","Error":"Stale price"}]"#;
    let text = String::from_utf8(data("ema_cross.jsonl.zst")).unwrap();
    let lines = text.lines().take(EVENTS as usize).enumerate().map(|(n, line)| match n % 50 {
        0 => line.replace(r#""validationErrors":null"#, PROBLEM) + "\n",
        _ => line.to_owned() + "\n",
    });
    let lines: String = lines.collect();
    let store: Arc<dyn Store> = Arc::new(MemoryStore::default());
    let id = sealed(Arc::clone(&store), RunHeader::default(), lines.as_bytes())[0].0;
    (store.sealed(id).unwrap(), id)
}

/// A question, and its reply in one text.
type Question = fn(&SealedRun) -> Result<String, LogError>;

/// Questions that together read every kind of blob.
const QUESTIONS: [(&str, Question); 10] = [
    ("events", events),
    ("aggregate", aggregate),
    ("groups by entity", |run| grouped(run, GroupBy::Entity(Entity::Symbol))),
    ("groups by severity", |run| grouped(run, GroupBy::Severity)),
    ("state", state),
    ("query", query),
    ("chains", chains),
    ("validation", validation),
    ("performance", performance),
    ("reconciliation", |run| run.reconcile(None, &never).map(|found| format!("{found:?}"))),
];

fn never() -> bool {
    false
}

fn events(run: &SealedRun) -> Result<String, LogError> {
    let whole = run.between(None, None)?;
    let mut out = String::new();
    for seq in run.select(&Filter::default(), whole)?.page(0, 60) {
        let event = run.event(seq)?;
        out += &format!("{} {:?} {}", event.id(), run.parent_id(&event)?, event.properties());
        out += &format!("{:?}", run.find(event.id())?);
    }
    Ok(out)
}

fn indicators(run: &SealedRun) -> Result<AggregateQuery<'static>, LogError> {
    let range = run.between(None, None)?;
    Ok(AggregateQuery { event_type: EventType::IndicatorCalculation, path: "Value", range })
}

fn aggregate(run: &SealedRun) -> Result<String, LogError> {
    Ok(format!("{:?}", run.aggregate(&indicators(run)?, &never)?))
}

fn grouped(run: &SealedRun, by: GroupBy) -> Result<String, LogError> {
    Ok(format!("{:?}", run.aggregate_by(&indicators(run)?, by, 50, &never)?))
}

fn state(run: &SealedRun) -> Result<String, LogError> {
    let view = View { symbol: None, indicators: true, orders: Some(50) };
    let state = run.snapshot_at(Some(EVENTS - 20), &view, &never)?;
    let indicators = state.indicators.iter();
    let indicators: Vec<&str> = indicators.map(|(_, _, event)| event.properties()).collect();
    Ok(format!("{:?}{:?}{:?}{indicators:?}", state.positions, state.orders, state.pnl))
}

fn query(run: &SealedRun) -> Result<String, LogError> {
    let join = |name: &str, indicator: Option<&str>, offset| Join {
        name: name.to_owned(),
        indicator: indicator.map(str::to_owned),
        offset,
    };
    let query = EventQuery {
        event_type: EventType::TradeExecution,
        range: run.between(None, None)?,
        filter: Some(Expression::parse("Quantity >= 1 and Direction in ('Buy', 'Sell')").unwrap()),
        group_by: vec![GroupKey::Property("Direction".to_owned()), GroupKey::HourOfDay],
        value: Some("Slippage".to_owned()),
        percentiles: vec![50.0],
        percentile_limit: 1000,
        joins: vec![join("px", None, 3_600_000_000_000), join("ema", Some("EMA_8"), 0)],
        top: Top { limit: 20, largest: Some(true) },
    };
    Ok(format!("{:?}", run.query(&query, &never)?))
}

fn chains(run: &SealedRun) -> Result<String, LogError> {
    let steps = [EventType::TradeExecution, EventType::PositionUpdate].map(Step::Type).to_vec();
    let pattern = Pattern { steps, max_depth: 10 };
    let mut out = String::new();
    for incomplete in [false, true] {
        let roots = run.chains(&pattern, incomplete, &never)?;
        out += &format!("{}", roots.len());
        for root in roots.iter().take(20) {
            out += &format!("{:?}", run.chain(*root, &pattern, &never)?);
        }
    }
    Ok(out)
}

fn validation(run: &SealedRun) -> Result<String, LogError> {
    let filter = Filter { problems: Some(None), ..Filter::default() };
    let mut out = String::new();
    for seq in run.select(&filter, run.between(None, None)?)?.page(0, 20) {
        out += &format!("{:?}", run.event(seq)?.problems());
    }
    Ok(out)
}

fn performance(run: &SealedRun) -> Result<String, LogError> {
    let mut out = format!("{:?}{:?}", run.head().summary, run.trades()?);
    for number in 0..run.head().curves.len() {
        out += &format!("{:?}", run.curve(number)?);
    }
    Ok(out + &format!("{:?}", run.price_series("EURUSD")?))
}

fn replies(run: &SealedRun) -> Vec<Result<String, LogError>> {
    QUESTIONS.iter().map(|(_, ask)| ask(run)).collect()
}

/// The questions with a reply that differs from the expected one.
fn wrong(run: &SealedRun, expected: &[Result<String, LogError>]) -> Vec<&'static str> {
    let replies = QUESTIONS.iter().map(|(name, ask)| (*name, ask(run)));
    let pairs = replies.zip(expected);
    pairs
        .filter(|((_, reply), expected)| {
            reply.as_ref().is_ok_and(|own| expected.as_ref().is_ok_and(|whole| own != whole))
        })
        .map(|((name, _), _)| name)
        .collect()
}

#[test]
fn first_400_bit_flips_are_found_and_no_reply_is_wrong() {
    flips_are_found(0x2545_f491_4f6c_dd1d);
}

#[test]
fn second_400_bit_flips_are_found_and_no_reply_is_wrong() {
    flips_are_found(0x9e37_79b9_7f4a_7c15);
}

#[test]
fn third_400_bit_flips_are_found_and_no_reply_is_wrong() {
    flips_are_found(0xbf58_476d_1ce4_e5b9);
}

#[test]
fn fourth_400_bit_flips_are_found_and_no_reply_is_wrong() {
    flips_are_found(0x94d0_49bb_1331_11eb);
}

#[test]
fn fifth_400_bit_flips_are_found_and_no_reply_is_wrong() {
    flips_are_found(0xd6e8_feb8_6659_fd93);
}

/// Asks all questions about each of many runs with one flipped bit, chosen by the seed.
fn flips_are_found(seed: u64) {
    let (blobs, id) = small_run();
    let intact = SealedRun::open(id, Arc::clone(&blobs), Cache::new(1 << 20)).unwrap();
    let expected = replies(&intact);
    for ((name, _), reply) in QUESTIONS.iter().zip(&expected) {
        assert!(reply.as_ref().is_ok_and(|text| text.len() > 40), "{name}: {reply:?}");
    }
    let keys = blobs.keys().unwrap();
    let sizes: Vec<usize> =
        keys.iter().map(|key| blobs.get(*key).unwrap().unwrap().len()).collect();
    let total: usize = sizes.iter().sum();
    let mut random = seed;
    let mut found = 0;
    for _ in 0..FLIPS {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let mut bit = usize::try_from(random >> 24).unwrap() % (total * 8);
        let place = sizes.iter().position(|size| {
            let is_here = bit < size * 8;
            bit -= if is_here { 0 } else { size * 8 };
            is_here
        });
        let key = keys[place.unwrap()];
        let damaged = Damaged { blobs: Arc::clone(&blobs), key, bit: Some(bit) };
        let run = SealedRun::open(id, Arc::new(damaged), Cache::new(1 << 20));
        let outcome = run.and_then(|run| {
            assert_eq!(wrong(&run, &expected), [""; 0], "{key}, bit {bit}");
            run.verify(&never)
        });
        found += u64::from(outcome.is_err());
    }
    assert_eq!(found, FLIPS);
}

#[test]
fn missing_blob_is_found_and_no_reply_is_wrong() {
    let (blobs, id) = small_run();
    let intact = SealedRun::open(id, Arc::clone(&blobs), Cache::new(1 << 20)).unwrap();
    assert!(intact.verify(&never).unwrap().0 > 50);
    let expected = replies(&intact);
    for key in blobs.keys().unwrap() {
        let damaged = Damaged { blobs: Arc::clone(&blobs), key, bit: None };
        let run = SealedRun::open(id, Arc::new(damaged), Cache::new(1 << 20));
        let outcome = run.and_then(|run| {
            assert_eq!(wrong(&run, &expected), [""; 0], "{key}");
            run.verify(&never)
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
