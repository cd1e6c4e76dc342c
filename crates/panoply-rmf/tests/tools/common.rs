//! Test helpers: an in-memory kernel, and results as clients see them.

use std::ops::Deref;
use std::sync::Arc;

use panoply_contract::context::Lang;
use panoply_contract::dialect::Envelope;
use panoply_contract::kernel::{Kernel, Settings};
use panoply_contract::testing::{self, FixedClock};
use panoply_rmf::dataset::{Dataset, Provenance};
use panoply_rmf::fund::Fund;
use panoply_rmf::store::{FundStore, Origin, replace_dataset};
use panoply_rmf::tools::pack;
use serde_json::{Value, json};
use tempfile::TempDir;

/// Kernel with this pack over the bundled figures, at noon of a fixed day.
pub(crate) fn kernel() -> Arc<Kernel> {
    let store = Arc::new(FundStore::bundled().unwrap());
    let clock = FixedClock::at(testing::noon());
    testing::kernel_in_memory(vec![pack(store)], clock, Settings::default()).unwrap()
}

/// Kernel over synced figures; their file lasts as long as the kernel.
pub(crate) struct SyncedKernel {
    kernel: Arc<Kernel>,
    _folder: TempDir,
}

impl Deref for SyncedKernel {
    type Target = Kernel;

    fn deref(&self) -> &Kernel {
        &self.kernel
    }
}

/// Kernel over these figures at a point in time.
pub(crate) fn kernel_over(funds: Vec<Fund>, now: &str) -> SyncedKernel {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("rmf.tsv");
    replace_dataset(&file, &Dataset::new(Provenance::default(), funds)).unwrap();
    let store = Arc::new(FundStore::at(Some(file)).unwrap());
    assert_eq!(store.current().1, Origin::Synced);
    let clock = FixedClock::at(now.parse().unwrap());
    let kernel = testing::kernel_in_memory(vec![pack(store)], clock, Settings::default()).unwrap();
    SyncedKernel { kernel, _folder: folder }
}

/// Text of a result.
pub(crate) fn text_of(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap()
}

/// Calls a tool; the result has the shape of MCP's CallToolResult.
pub(crate) async fn call(kernel: &Kernel, tool: &str, arguments: Value) -> Value {
    call_in(kernel, tool, arguments, Lang::En).await
}

/// Calls a tool in a language.
pub(crate) async fn call_in(kernel: &Kernel, tool: &str, arguments: Value, lang: Lang) -> Value {
    match testing::call_with(kernel, tool, arguments, |cx| cx.lang = lang).await {
        Envelope::Result { text, structured, meta, is_error, .. } => {
            let mut result = json!({"content": [{"type": "text", "text": text}]});
            if let Some(structured) = structured {
                result["structuredContent"] = structured.value();
            }
            result["isError"] = is_error.into();
            result["_meta"] = Value::Object(meta.to_map());
            result
        }
        Envelope::Refusal { message, data, .. } => json!({"refusal": message, "data": data}),
    }
}

/// Error object of a result.
pub(crate) fn error_of(result: &Value) -> &Value {
    assert_eq!(result["isError"], true, "{result}");
    assert!(result.get("structuredContent").is_none(), "an error has no structured content");
    let error = &result["_meta"]["panoply/error"]["error"];
    let text: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(&text["error"], error, "the text says the same");
    error
}
