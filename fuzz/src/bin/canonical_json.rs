//! Canonical JSON says the same thing as what it was made from, and is its own canonical form.
#![no_main]

use libfuzzer_sys::fuzz_target;
use panoply_contract::audit::canonical_json;
use serde_json::Value;

fuzz_target!(|bytes: &[u8]| {
    let Ok(value) = serde_json::from_slice::<Value>(bytes) else { return };
    let Ok(canonical) = canonical_json(&value) else { return };
    let again: Value = serde_json::from_slice(&canonical).expect("canonical JSON is JSON");
    assert_eq!(canonical_json(&again).expect("and has a canonical form"), canonical);
});
