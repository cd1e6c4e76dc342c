//! The run bundled with the program, so that a new installation has a run to query.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use crate::event::Guid;
use crate::import::{Import, native};
use crate::run::RunHeader;
use crate::store::Store;
use crate::store::memory::MemoryStore;
use crate::timestamp::Timestamp;

/// The sample run's id.
pub const ID: Guid = Guid::new(0xd91a_7ddb_8986_54b3_8bd4_42d1_dab9_869e);

const LINES: &[u8] = include_bytes!("../../../data/backtest/ema_cross.jsonl.zst");
const HEADER: &str = include_str!("../../../data/backtest/ema_cross.run.json");

/// A store with the sample run, sealed on first use.
pub fn store() -> &'static MemoryStore {
    static STORE: LazyLock<Arc<MemoryStore>> = LazyLock::new(|| {
        let store = Arc::new(MemoryStore::default());
        // The data are bundled and covered by tests. Without the sample the pack still works.
        let _ = import_sample(Arc::clone(&store) as Arc<dyn Store>);
        store
    });
    &STORE
}

fn import_sample(store: Arc<dyn Store>) -> Option<()> {
    let header: RunHeader = serde_json::from_str(HEADER).ok()?;
    let lines = zstd::decode_all(LINES).ok()?;
    let clock = Arc::new(|| Duration::ZERO);
    let mut import = Import::new(store, Some(ID), header, Timestamp::from_nanos(0), clock);
    native::read(lines.as_slice(), &mut import, &mut |_| {}, &|| false).ok()?;
    import.seal(&mut |_, _| {}, &|| false).ok().map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sample_run_is_complete() {
        let record = store().run(ID).unwrap().unwrap();
        assert_eq!(record.events, 7923);
        assert_eq!(record.header.strategy_name.as_deref(), Some("EMAX"));
    }
}
