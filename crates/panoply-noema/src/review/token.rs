//! Review tokens: proof that one side of one card was shown, signed with HMAC-SHA-256.
//!
//! Format: `side.card.sequence.shown.signature`. Nothing is stored per token: a token is valid
//! while the card's `sequence` equals the one it carries.

use hmac::{Hmac, Mac as _};
use sha2::Sha256;
use subtle::ConstantTimeEq as _;

use crate::error::{NoemaError, Result};
use crate::fsrs::Micros;
use crate::ids::CardId;

/// Bytes of the HMAC that a token carries; 96 bits resist guessing.
const SIGNATURE_BYTES: usize = 12;

/// Which side of a card was shown.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Side {
    /// The question.
    Front,
    /// The answer.
    Back,
}

/// The content of a token.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ReviewToken {
    /// The side that was shown.
    pub side: Side,
    /// The card that was shown.
    pub card: CardId,
    /// The card's `sequence` when the token was issued.
    pub sequence: i64,
    /// When the front was shown.
    pub shown: Micros,
}

impl ReviewToken {
    /// Encodes and signs the token.
    pub fn sign(&self, secret: &[u8]) -> Result<String> {
        let payload = self.payload();
        let signature = signature(secret, &payload)?;
        Ok(format!("{payload}.{signature}"))
    }

    /// Decodes a token whose signature is valid.
    pub fn verify(token: &str, secret: &[u8]) -> Result<Self> {
        let (payload, given) = token.rsplit_once('.').ok_or(NoemaError::InvalidToken)?;
        let expected = signature(secret, payload)?;
        if !bool::from(expected.as_bytes().ct_eq(given.as_bytes())) {
            return Err(NoemaError::InvalidToken);
        }
        Self::parse(payload).ok_or(NoemaError::InvalidToken)
    }

    fn payload(&self) -> String {
        let side = match self.side {
            Side::Front => "front",
            Side::Back => "back",
        };
        format!("{side}.{}.{}.{}", self.card.0, self.sequence, self.shown)
    }

    fn parse(payload: &str) -> Option<Self> {
        let mut parts = payload.split('.');
        let side = match parts.next()? {
            "front" => Side::Front,
            "back" => Side::Back,
            _ => return None,
        };
        let mut number = || parts.next()?.parse::<i64>().ok();
        Some(Self { side, card: CardId(number()?), sequence: number()?, shown: number()? })
    }
}

fn signature(secret: &[u8], payload: &str) -> Result<String> {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret)
        .map_err(|error| NoemaError::store(format!("the token secret is unusable: {error}")))?;
    mac.update(payload.as_bytes());
    let digest = mac.finalize().into_bytes();
    Ok(digest.iter().take(SIGNATURE_BYTES).map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: ReviewToken =
        ReviewToken { side: Side::Back, card: CardId(123), sequence: 4, shown: 99 };

    #[test]
    fn forged_and_malformed_tokens_are_rejected() {
        let token = TOKEN.sign(b"secret").unwrap();
        assert_eq!(ReviewToken::verify(&token, b"secret"), Ok(TOKEN));
        let forged = token.replace("back", "front");
        for bad in [forged.as_str(), "", "back.123.4.99.", "back.123.4.99", "a.b"] {
            let verified = ReviewToken::verify(bad, b"secret");
            assert_eq!(verified, Err(NoemaError::InvalidToken), "token: {bad:?}");
        }
        assert_eq!(ReviewToken::verify(&token, b"other"), Err(NoemaError::InvalidToken));
    }

    #[test]
    fn token_signature_matches_rfc_4231() {
        // Test cases 2 and 6, first 12 bytes. The key of case 6 is longer than a block.
        let cases: [(&[u8], &str, &str); 2] = [
            (b"Jefe", "what do ya want for nothing?", "5bdcc146bf60754e6a042426"),
            (
                &[0xaa; 131],
                "Test Using Larger Than Block-Size Key - Hash Key First",
                "60e431591ee0b67f0d8a26aa",
            ),
        ];
        for (key, data, expected) in cases {
            assert_eq!(signature(key, data).as_deref(), Ok(expected));
        }
    }
}
