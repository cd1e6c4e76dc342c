//! The stores against a real PostgreSQL, beside those on SQLite.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "helpers of tests fail tests, say what they measured and measure real time"
)]

mod audit;
mod audit_attacks;
mod backtest;
mod cgt;
mod database;
mod isolation;
mod kernel;
mod killed;
mod noema;
mod noema_sequences;
mod random;
mod set_up;
mod tls;
mod transactions;
mod transfer;
mod ttm;
