//! API keys: `pnp_<id>_<secret>`, stored only as SHA-256.
//!
//! The secret is 32 random bytes, so a fast hash suffices: a dictionary attack is impossible,
//! and a slow hash would let unauthenticated clients consume CPU time.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jiff::Timestamp;
use panoply_contract::context::{Caller, Provenance};
use panoply_contract::permission::Grants;
use panoply_contract::tenant::{DataVersions, Principal, Tenants};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use tokio::sync::Semaphore;

use super::NotAdmitted;

const PREFIX: &str = "pnp_";

/// No key has this id, or the secret does not match.
pub(super) const UNKNOWN: &str = "unknown key";
/// The key was revoked.
pub(super) const REVOKED: &str = "key is revoked";
/// The key has expired.
pub(super) const EXPIRED: &str = "key has expired";

/// Key storage. Queried on every request, so a revoked key stops working at once.
pub trait KeyStore: Send + Sync + 'static {
    /// Returns the key with this id, revoked or not. An unreadable store must return an error:
    /// a client discards a key that is reported as invalid.
    fn key(&self, id: &str) -> Result<Option<ApiKey>, KeysUnavailable>;
}

/// The key store is unreadable; the reason is in the log.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("keys cannot be read")]
pub struct KeysUnavailable;

/// Stored record of a key.
#[derive(Clone, Debug)]
pub struct ApiKey {
    /// Public part, which may be shown and logged.
    pub id: String,
    /// Display name.
    pub name: String,
    /// Hash of the whole key.
    pub hash: KeyHash,
    /// Who the key acts for.
    pub principal: Principal,
    /// Whose data its calls read and change.
    pub tenants: Tenants,
    /// Whether its caller operates the server.
    pub operator: bool,
    /// Permissions of the key.
    pub grants: Grants,
    /// Expiry time.
    pub expires: Option<Timestamp>,
    /// Whether the key was revoked.
    pub revoked: bool,
}

/// SHA-256 of a key, written as 64 hexadecimal digits.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct KeyHash([u8; 32]);

/// The text is not a key, or not the hash of a key.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("expected `{expected}`")]
pub struct BadKey {
    /// Expected format.
    pub expected: &'static str,
}

impl ApiKey {
    /// Formats a new key, to be shown once. The id has 1 to 32 letters and digits.
    pub fn text(id: &str, secret: [u8; 32]) -> Result<String, BadKey> {
        let fits =
            (1..=32).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if fits {
            Ok(format!("{PREFIX}{id}_{}", URL_SAFE_NO_PAD.encode(secret)))
        } else {
            Err(BadKey { expected: "an id of 1 to 32 letters and digits" })
        }
    }
}

impl KeyHash {
    /// Hashes the text of a key.
    pub fn of(key: &str) -> Self {
        Self(Sha256::digest(key.as_bytes()).into())
    }

    /// Parses 64 hexadecimal digits.
    pub fn parse(text: &str) -> Result<Self, BadKey> {
        let bad = BadKey { expected: "64 hexadecimal digits" };
        if text.len() != 64 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(bad);
        }
        let mut bytes = [0; 32];
        for (index, byte) in bytes.iter_mut().enumerate() {
            let digits = text.get(index * 2..index * 2 + 2).ok_or(bad)?;
            *byte = u8::from_str_radix(digits, 16).map_err(|_| bad)?;
        }
        Ok(Self(bytes))
    }
}

impl fmt::Display for KeyHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

pub(super) fn looks_like_key(token: &str) -> bool {
    token.starts_with(PREFIX)
}

/// Returns the id in the text of a key.
pub(super) fn id_of(token: &str) -> Option<&str> {
    token.strip_prefix(PREFIX)?.split_once('_').map(|(id, _)| id)
}

/// Name of a key in the audit log. Of a user's key only the id is recorded: rows cannot be changed,
/// and nothing in them may name a person who is erased later.
fn label(key: &ApiKey) -> Arc<str> {
    if !key.tenants.person.is_local() {
        return format!("key {}", key.id).into();
    }
    let name: String = key.name.chars().take(MAX_NAME_CHARS).collect();
    format!("key {name} ({})", key.id).into()
}

/// Longer names are truncated in the audit log.
const MAX_NAME_CHARS: usize = 80;

/// Concurrent lookups. One takes microseconds; the limit matters only while the file hangs.
static LOOKUPS: Semaphore = Semaphore::const_new(32);
/// A lookup that takes longer makes the keys unavailable.
const LOOKUP_TIMEOUT: Duration = Duration::from_secs(5);

/// Authenticates a key. The store is read on the blocking pool: a timeout could not fire on a
/// worker thread.
pub(super) async fn check(
    store: &Arc<dyn KeyStore>,
    token: &str,
    now: Timestamp,
) -> Result<Caller, NotAdmitted> {
    let (store, token) = (Arc::clone(store), token.to_owned());
    look_up(move || caller_of(store.as_ref(), &token, now)).await
}

/// Reads the store on the blocking pool, within the limits of lookups.
pub(super) async fn look_up<T: Send + 'static>(
    read: impl FnOnce() -> Result<T, NotAdmitted> + Send + 'static,
) -> Result<T, NotAdmitted> {
    let lookup = async {
        let turn = LOOKUPS.acquire().await.map_err(|_closed| NotAdmitted::Unavailable)?;
        let looked = tokio::task::spawn_blocking(move || {
            let _turn = turn;
            read()
        });
        looked.await.unwrap_or(Err(NotAdmitted::Unavailable))
    };
    let looked = tokio::time::timeout(LOOKUP_TIMEOUT, lookup).await;
    looked.unwrap_or(Err(NotAdmitted::Unavailable))
}

fn caller_of(store: &dyn KeyStore, token: &str, now: Timestamp) -> Result<Caller, NotAdmitted> {
    let key = match id_of(token) {
        Some(id) => store.key(id).map_err(|KeysUnavailable| NotAdmitted::Unavailable)?,
        None => None,
    };
    // Constant time: an unknown id takes as long as a wrong secret, so timing reveals no ids.
    let expected = key.as_ref().map_or(KeyHash([0; 32]), |key| key.hash);
    let matches = bool::from(KeyHash::of(token).0.ct_eq(&expected.0));
    let Some(key) = key.filter(|_| matches) else {
        return Err(NotAdmitted::Invalid(UNKNOWN));
    };
    if key.revoked {
        return Err(NotAdmitted::Invalid(REVOKED));
    }
    if key.expires.is_some_and(|expires| expires <= now) {
        return Err(NotAdmitted::Invalid(EXPIRED));
    }
    Ok(Caller {
        partition: key.tenants.partition(&format!("key:{}", key.id)),
        provenance: Provenance { address: None, credential: Some(label(&key)) },
        principal: Some(key.principal),
        tenants: key.tenants,
        data_versions: DataVersions::default(),
        operator: key.operator,
        grants: key.grants,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use panoply_contract::permission::Profile;

    struct OneKey(ApiKey);

    impl KeyStore for OneKey {
        fn key(&self, id: &str) -> Result<Option<ApiKey>, KeysUnavailable> {
            match id {
                "broken" => Err(KeysUnavailable),
                _ => Ok((id == self.0.id).then(|| self.0.clone())),
            }
        }
    }

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(seconds).unwrap()
    }

    #[test]
    fn only_a_valid_unexpired_key_is_accepted() {
        let good = ApiKey::text("ab12", [7; 32]).unwrap();
        let key = ApiKey {
            id: "ab12".to_owned(),
            name: "laptop".to_owned(),
            hash: KeyHash::of(&good),
            principal: Principal::of_key("user_1"),
            tenants: Tenants::default(),
            operator: false,
            grants: Grants::of(Profile::Agent),
            expires: Some(at(1000)),
            revoked: false,
        };
        let wrong_secret = ApiKey::text("ab12", [8; 32]).unwrap();
        let wrong_id = ApiKey::text("zz99", [7; 32]).unwrap();
        let cases = [
            (good.as_str(), at(999), Ok("key:ab12")),
            (good.as_str(), at(1000), Err("key has expired")),
            (wrong_secret.as_str(), at(0), Err("unknown key")),
            (wrong_id.as_str(), at(0), Err("unknown key")),
            ("pnp_ab12_", at(0), Err("unknown key")),
            ("pnp_ab12", at(0), Err("unknown key")),
            ("pnp_", at(0), Err("unknown key")),
            (&good[..good.len() - 1], at(0), Err("unknown key")),
        ];
        let store = OneKey(key.clone());
        for (token, now, expected) in cases {
            let outcome = caller_of(&store, token, now).map(|caller| caller.partition);
            let expected = expected.map(str::to_owned).map_err(NotAdmitted::Invalid);
            assert_eq!(outcome, expected, "token: {token}");
        }
        let unreadable = caller_of(&store, "pnp_broken_x", at(0)).unwrap_err();
        assert_eq!(unreadable, NotAdmitted::Unavailable);
        let revoked = OneKey(ApiKey { revoked: true, ..key });
        assert_eq!(
            caller_of(&revoked, &good, at(0)).unwrap_err(),
            NotAdmitted::Invalid("key is revoked")
        );
    }

    #[test]
    fn key_hash_round_trips_through_hexadecimal() {
        // The SHA-256 of "abc", from FIPS 180-2, appendix B.1.
        let text = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(KeyHash::of("abc").to_string(), text);
        assert_eq!(KeyHash::parse(text), Ok(KeyHash::of("abc")));
        for bad in ["", "ba", &text[1..], &text.replace('b', "ก"), &text.replace('b', "+")] {
            assert!(KeyHash::parse(bad).is_err(), "hash: {bad}");
        }
    }

    #[test]
    fn a_key_shows_its_id_and_43_characters_of_secret() {
        let key = ApiKey::text("k1", [0; 32]).unwrap();
        assert_eq!(key, format!("pnp_k1_{}", "A".repeat(43)));
        assert!(ApiKey::text("with_underscore", [0; 32]).is_err());
        assert!(ApiKey::text("", [0; 32]).is_err());
    }
}
