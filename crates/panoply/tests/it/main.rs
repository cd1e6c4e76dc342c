//! End-to-end tests of the binaries.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests may fail the test"
)]

mod admission;
mod audit;
mod audit_evidence;
mod backtest;
mod backtest_http;
mod backup;
mod bit_flips;
mod call;
mod cgt;
mod cgt_mcp;
mod data_packs;
mod doctor;
mod documents;
mod elicitation;
#[cfg(unix)]
mod fleet;
mod health;
mod http;
mod issuer;
mod look;
mod noema;
mod noema_media;
mod one_call_path;
mod one_way_to_change;
mod place;
#[cfg(unix)]
mod postgres;
mod preferences;
mod rmf;
mod rmf_faults;
mod rmf_swap;
mod setup;
mod setup_files;
mod stdio;
#[cfg(unix)]
mod storm;
mod tenants;
mod token_users;
mod tool_search;
mod ttm;
mod ttm_eval;
mod ttm_ingest;
mod user_rights;
