//! The stores from outside: tampering, several writers, and sudden death.
//!
//! `cfg(test)` tells the lints that helpers may unwrap too.

#[cfg(test)]
mod checkpoints;
#[cfg(test)]
mod concurrency;
#[cfg(test)]
mod crash;
#[cfg(test)]
mod entries;
#[cfg(test)]
mod recompute;
#[cfg(test)]
mod recovery;
#[cfg(test)]
mod roundtrip;
#[cfg(test)]
mod segments;
#[cfg(test)]
mod tampering;
