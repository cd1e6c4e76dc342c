//! Signed state that a client carries for the server: HMAC-SHA-256 with a per-process key.
//!
//! A state is `payload.mac`. The MAC covers the payload and its binding, which is not sent: the
//! server derives it from the call that returns the state.

use hmac::{Hmac, Mac};
use sha2::Sha256;
use uuid::Uuid;

/// Signs and verifies states.
pub(crate) struct StateSigner {
    key: [u8; 32],
}

impl StateSigner {
    /// Creates a random key: two UUIDs of version 4 have 244 random bits.
    pub(crate) fn random() -> Self {
        let mut key = [0; 32];
        let halves = [Uuid::new_v4(), Uuid::new_v4()];
        for (byte, random) in key.iter_mut().zip(halves.iter().flat_map(Uuid::as_bytes)) {
            *byte = *random;
        }
        Self { key }
    }

    /// Signs a payload, which must not contain `.`, for a binding.
    pub(crate) fn sign(&self, payload: &str, bound: &str) -> Option<String> {
        let mac = self.mac(payload, bound)?.finalize().into_bytes();
        let hex: String = mac.iter().map(|byte| format!("{byte:02x}")).collect();
        Some(format!("{payload}.{hex}"))
    }

    /// Returns the payload if the MAC is valid for this binding. Constant-time comparison.
    pub(crate) fn verify<'a>(&self, state: &'a str, bound: &str) -> Option<&'a str> {
        let (payload, hex) = state.split_once('.')?;
        let mac = from_hex(hex)?;
        self.mac(payload, bound)?.verify_slice(&mac).ok()?;
        Some(payload)
    }

    fn mac(&self, payload: &str, bound: &str) -> Option<Hmac<Sha256>> {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.key).ok()?;
        mac.update(payload.as_bytes());
        // Payloads contain no `.`, so the MAC input is unambiguous.
        mac.update(b".");
        mac.update(bound.as_bytes());
        Some(mac)
    }
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digits = |at: usize| text.get(at..at + 2).filter(|two| !two.starts_with('+'));
    if !text.len().is_multiple_of(2) {
        return None;
    }
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(digits(at)?, 16).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signed_state_verifies_only_unmodified_and_for_its_binding() {
        let signer = StateSigner::random();
        let state = signer.sign("1", "these cards").unwrap();
        assert_eq!(signer.verify(&state, "these cards"), Some("1"));
        assert_eq!(signer.verify(&state, "other cards"), None);
        assert_eq!(StateSigner::random().verify(&state, "these cards"), None);
        let altered = state.replacen('1', "2", 1);
        let shortened = state.get(..state.len() - 2).unwrap();
        for wrong in ["", "1", "1.", "1.+1", "1.ก", altered.as_str(), shortened] {
            assert_eq!(signer.verify(wrong, "these cards"), None, "state: {wrong:?}");
        }
    }
}
