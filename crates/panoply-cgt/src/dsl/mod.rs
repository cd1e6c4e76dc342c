//! The transaction language: one transaction a line, any order, `#` starts a comment.
//!
//! ```text
//! 2024-01-15 BUY AAPL 100 @ 150 USD FEES 10 USD
//! 2024-06-20 SELL AAPL 50 @ 180 USD RATE 1.27     # a rate of one's own
//! 2024-07-01 DIVIDEND AAPL TOTAL 12 USD TAX 1.80 USD
//! ```
//!
//! [`grammar`] has the form and an example of every action, and is what errors, the printer's
//! tests and the published description are made from.

pub mod grammar;
mod lexer;
mod parser;
mod printer;

pub use parser::parse;
pub(crate) use parser::read_date;
pub use printer::{line, print};

#[cfg(test)]
mod tests;
