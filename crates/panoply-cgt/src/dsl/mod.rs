//! The transaction language: one transaction per line, in any order; `#` starts a comment.
//!
//! ```text
//! 2024-01-15 BUY AAPL 100 @ 150 USD FEES 10 USD
//! 2024-06-20 SELL AAPL 50 @ 180 USD RATE 1.27     # rate overrides HMRC's
//! 2024-07-01 DIVIDEND AAPL TOTAL 12 USD TAX 1.80 USD
//! ```
//!
//! [`grammar`] holds syntax and example of every action; error messages, printer tests and the
//! published description are generated from it.

pub mod grammar;
mod lexer;
mod parser;
mod printer;

pub use parser::parse;
pub(crate) use parser::{day_first, read_date};
pub use printer::{line, print};

#[cfg(test)]
mod tests;
