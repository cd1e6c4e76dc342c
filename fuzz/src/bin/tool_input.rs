//! Any JSON, to any of the kernel's tools: always an answer, never a panic.
#![no_main]

use std::sync::{Arc, OnceLock};

use libfuzzer_sys::fuzz_target;
use panoply_contract::compliance::error_code;
use panoply_contract::kernel::{Kernel, Settings};
use panoply_contract::testing::{FixedClock, call_as_owner, kernel_in_memory, noon};
use serde_json::Value;

fuzz_target!(|input: (u8, &[u8])| {
    static KERNEL: OnceLock<Arc<Kernel>> = OnceLock::new();
    let (choice, bytes) = input;
    let Ok(arguments) = serde_json::from_slice::<Value>(bytes) else { return };
    let kernel = KERNEL.get_or_init(|| {
        kernel_in_memory(Vec::new(), FixedClock::at(noon()), Settings::default()).expect("the kernel's own tools")
    });
    let tools = kernel.registry().get_all();
    let tool = tools[usize::from(choice) % tools.len()].spec.name;
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let envelope = runtime.block_on(call_as_owner(kernel, tool, arguments));
    assert_ne!(error_code(&envelope).as_deref(), Some("INTERNAL_ERROR"), "{tool}: {envelope:?}");
});
