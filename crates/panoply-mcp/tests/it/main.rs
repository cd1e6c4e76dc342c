//! Integration tests over stdio and over HTTP on a loopback port.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on fails"
)]

mod fast_path;
mod fixture;
mod http;
mod key_pairs;
mod keys;
mod lines;
mod malformed;
mod process;
mod support;
mod tokens;
