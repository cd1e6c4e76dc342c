//! Runs and kernels for the tests of this pack.

use std::io::BufReader;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use panoply_backtest::event::Guid;
use panoply_backtest::import::{Import, native};
use panoply_backtest::ingest::SealReport;
use panoply_backtest::query::cache::Cache;
use panoply_backtest::query::reader::SealedRun;
use panoply_backtest::run::RunHeader;
use panoply_backtest::store::Store;
use panoply_backtest::store::memory::MemoryStore;
use panoply_backtest::timestamp::Timestamp;
use panoply_contract::dialect::{ERROR_KEY, Envelope};
use panoply_contract::kernel::{Kernel, Settings};
use panoply_contract::testing::{FixedClock, call_as_owner, kernel_in_memory, noon};
use serde_json::Value;

pub(crate) const RUN_A: &str = "d91a7ddb-8986-54b3-8bd4-42d1dab9869e";
pub(crate) const RUN_B: &str = "4cc2e5b3-3311-5100-9ae6-322984573583";

pub(crate) fn data(name: &str) -> Vec<u8> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../data/backtest");
    let packed = std::fs::read(folder.join(name)).unwrap();
    if name.ends_with(".zst") { zstd::decode_all(packed.as_slice()).unwrap() } else { packed }
}

pub(crate) fn import(store: Arc<dyn Store>, run: Option<Guid>, header: RunHeader) -> Import {
    Import::new(store, run, header, Timestamp::from_nanos(0), Arc::new(|| Duration::ZERO))
}

/// Imports lines and seals the runs they name.
pub(crate) fn sealed(
    store: Arc<dyn Store>,
    header: RunHeader,
    lines: &[u8],
) -> Vec<(Guid, SealReport)> {
    let mut import = import(store, None, header);
    native::read(BufReader::new(lines), &mut import, &mut |_| {}, &|| false).unwrap();
    import.seal(&mut |_, _| {}, &|| false).unwrap()
}

pub(crate) fn open(store: &dyn Store, id: Guid) -> SealedRun {
    SealedRun::open(id, store.sealed(id).unwrap(), Cache::new(64 << 20)).unwrap()
}

/// The two real runs.
pub(crate) static REAL: LazyLock<Arc<MemoryStore>> = LazyLock::new(|| {
    let store = Arc::new(MemoryStore::default());
    for name in ["ema_cross", "sma_cross"] {
        let header = serde_json::from_slice(&data(&format!("{name}.run.json"))).unwrap();
        sealed(Arc::clone(&store) as Arc<dyn Store>, header, &data(&format!("{name}.jsonl.zst")));
    }
    store
});

pub(crate) fn kernel(store: Arc<dyn Store>) -> Arc<Kernel> {
    let pack = panoply_backtest::tools::pack(store);
    kernel_in_memory(vec![pack], FixedClock::at(noon()), Settings::default()).unwrap()
}

pub(crate) async fn call_tool(
    kernel: &Kernel,
    tool: &str,
    arguments: Value,
) -> Result<Value, Value> {
    match call_as_owner(kernel, tool, arguments).await {
        Envelope::Result { structured: Some(data), is_error: false, .. } => Ok(data.value()),
        Envelope::Result { meta, .. } => Err(meta.value(ERROR_KEY)["error"].clone()),
        Envelope::Refusal { message, .. } => panic!("refused: {message}"),
    }
}

/// A line of the native format.
pub(crate) fn line(
    run: &str,
    number: u32,
    time: &str,
    kind: &str,
    properties: &str,
    parent: Option<u32>,
) -> String {
    let id = |n: u32| format!("00000000-0000-4000-8000-{n:012x}");
    let parent = parent.map_or("null".to_owned(), |parent| format!("\"{}\"", id(parent)));
    format!(
        r#"{{"eventId":"{}","runId":"{run}","timestamp":"{time}","eventType":"{kind}","severity":"Info","category":"Execution","properties":{properties},"parentEventId":{parent},"validationErrors":null}}"#,
        id(number)
    )
}

pub(crate) const OWN_RUN: &str = "11111111-1111-4111-8111-111111111111";
