//! API keys: `pnp_<id>_<secret>`. Only the SHA-256 is stored.
//!
//! The secret is 32 random bytes, so a fast hash suffices: a dictionary attack is impossible. The
//! store is queried at every request, so a revocation by one process takes effect in all.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jiff::Timestamp;
use panoply_contract::permission::Profile;
use panoply_contract::tenant::{Principal, Tenants};
use sha2::{Digest, Sha256};

use crate::error::StoreError;

/// The API keys of a server.
pub trait ApiKeys: Send + Sync + 'static {
    /// Creates a key.
    fn create(&self, new: NewKey, now: Timestamp) -> Result<CreatedKey, StoreError>;

    /// The key with this id, also if revoked.
    fn find(&self, id: &str) -> Result<Option<KeyRecord>, StoreError>;

    /// All keys, oldest first.
    fn list(&self) -> Result<Vec<KeyRecord>, StoreError>;

    /// Revokes a key permanently. Returns `false` for an unknown id; idempotent.
    fn revoke(&self, id: &str, now: Timestamp) -> Result<bool, StoreError>;
}

/// The stored record of a key.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct KeyRecord {
    /// The public part of the key, safe to display and log.
    pub id: String,
    /// The SHA-256 of the whole key, 64 hexadecimal digits.
    pub hash: String,
    /// Label chosen by the user.
    pub label: String,
    /// The user it acts for, as `user_…`.
    pub user_id: String,
    /// Whose data it acts on; the local tenant for keys without a user.
    pub tenants: Tenants,
    /// The profile that grants its permissions.
    pub profile: Profile,
    /// When it was created.
    pub created: Timestamp,
    /// When it expires.
    pub expires: Option<Timestamp>,
    /// When it was revoked, or its user removed; also set when the user is no longer a member of
    /// the key's workspace.
    pub revoked: Option<Timestamp>,
}

impl KeyRecord {
    /// Whether the key is neither expired nor revoked at `now`.
    pub fn works_at(&self, now: Timestamp) -> bool {
        self.revoked.is_none() && self.expires.is_none_or(|expires| expires > now)
    }
}

/// Properties of a new key.
#[derive(Clone, Debug)]
pub struct NewKey {
    /// Label chosen by the user.
    pub label: String,
    /// Whose data it acts on, from [`Users::tenants_of`](crate::Users::tenants_of).
    pub tenants: Tenants,
    /// The profile that grants its permissions.
    pub profile: Profile,
    /// When it expires.
    pub expires: Option<Timestamp>,
}

impl NewKey {
    /// Makes the key with a random id and secret; the store inserts its record.
    pub fn create(self, now: Timestamp) -> Result<CreatedKey, StoreError> {
        let mut random = [0; 40];
        getrandom::fill(&mut random).map_err(StoreError::NoRandomness)?;
        let (for_id, secret) = random.split_at(8);
        let id: String = for_id.iter().map(|byte| format!("{byte:02x}")).collect();
        let text = format!("pnp_{id}_{}", URL_SAFE_NO_PAD.encode(secret));
        let record = KeyRecord {
            hash: hash_of(&text),
            label: self.label,
            user_id: match self.tenants.person.is_local() {
                true => format!("user_{id}"),
                false => Principal::of_tenant(&self.tenants.person).as_str().to_owned(),
            },
            tenants: self.tenants,
            profile: self.profile,
            created: now,
            expires: self.expires,
            revoked: None,
            id,
        };
        Ok(CreatedKey { record, text })
    }
}

/// A newly created key. Its text cannot be retrieved again.
pub struct CreatedKey {
    /// The stored record.
    pub record: KeyRecord,
    /// The key text, to be displayed once.
    pub text: String,
}

impl fmt::Debug for CreatedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CreatedKey").field("record", &self.record).finish_non_exhaustive()
    }
}

pub(crate) fn hash_of(key: &str) -> String {
    Sha256::digest(key.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}
