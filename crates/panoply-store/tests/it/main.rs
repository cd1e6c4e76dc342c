//! Integration tests of the stores: tampering, concurrent writers and crashes.
//!
//! `cfg(test)` lets clippy allow `unwrap` in helpers.

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
