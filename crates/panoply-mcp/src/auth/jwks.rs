//! JWKS cache: fetches the issuer's public keys on demand and serves stale keys during an outage.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use futures::future::BoxFuture;
use jsonwebtoken::jwk::{AlgorithmParameters, EllipticCurve, Jwk, KeyAlgorithm, PublicKeyUse};
use jsonwebtoken::{Algorithm, DecodingKey};
use panoply_contract::clock::Clock;
use serde::Deserialize;
use serde_json::Value;

/// Fetches the issuer's key set. The binary implements it; this crate has no HTTP client.
pub trait JwksSource: Send + Sync + 'static {
    /// The JSON text of the key set (RFC 7517 §5).
    fn fetch(&self) -> BoxFuture<'_, Result<String, JwksUnavailable>>;
}

/// The key set is unavailable; the reason goes to the log.
#[derive(Debug, thiserror::Error)]
#[error("key set of the issuer is not available: {0}")]
pub struct JwksUnavailable(pub String);

/// Rate limit for fetches caused by unknown key ids, which an attacker can choose freely.
const MIN_FETCH_INTERVAL: Duration = Duration::from_secs(30);
/// Maximum age of the cached set, so that a withdrawn key stops working.
const CACHE_TTL: Duration = Duration::from_secs(3600);

/// Timeout of one fetch.
const FETCH_TIMEOUT: Duration = Duration::from_secs(10);

/// A key and the only algorithm that it may verify.
pub(super) struct VerifyingKey {
    pub(super) algorithm: Algorithm,
    pub(super) key: DecodingKey,
}

type KeySet = HashMap<String, Arc<VerifyingKey>>;

pub(super) struct Jwks {
    source: Arc<dyn JwksSource>,
    known: RwLock<CachedKeys>,
    /// Time of the last fetch attempt. Locked while fetching: concurrent lookups share one fetch.
    last_try: tokio::sync::Mutex<Option<Duration>>,
}

#[derive(Default)]
struct CachedKeys {
    keys: KeySet,
    fetched: Option<Duration>,
}

/// Result of a key lookup.
pub(super) enum KeyLookup {
    Key(Arc<VerifyingKey>),
    /// The issuer has no key with this id.
    Unknown,
    /// No key set has been fetched yet.
    Unavailable,
}

impl Jwks {
    pub(super) fn new(source: Arc<dyn JwksSource>) -> Self {
        Self { source, known: RwLock::default(), last_try: tokio::sync::Mutex::default() }
    }

    pub(super) async fn find(&self, id: &str, clock: &dyn Clock) -> KeyLookup {
        let now = clock.monotonic();
        if let (KeyLookup::Key(key), true) = (self.cached(id), self.is_fresh(now)) {
            return KeyLookup::Key(key);
        }
        let mut last_try = self.last_try.lock().await;
        // The previous lock holder may have fetched the key.
        let wanted = !matches!(self.cached(id), KeyLookup::Key(_)) || !self.is_fresh(now);
        let may_fetch =
            last_try.is_none_or(|tried| now.saturating_sub(tried) >= MIN_FETCH_INTERVAL);
        if wanted && may_fetch {
            *last_try = Some(now);
            self.refresh(now).await;
        }
        self.cached(id)
    }

    /// Replaces the set; a failed fetch leaves the last valid one in use.
    async fn refresh(&self, now: Duration) {
        let fetched = match tokio::time::timeout(FETCH_TIMEOUT, self.source.fetch()).await {
            Ok(Ok(text)) => read_set(&text),
            Ok(Err(error)) => Err(error),
            Err(_elapsed) => Err(JwksUnavailable("no answer in time".to_owned())),
        };
        match fetched {
            Ok(keys) => {
                *self.known.write().unwrap_or_else(PoisonError::into_inner) =
                    CachedKeys { keys, fetched: Some(now) };
            }
            Err(error) => tracing::warn!(%error, "key set fetch failed; using the cached one"),
        }
    }

    fn is_fresh(&self, now: Duration) -> bool {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known.fetched.is_some_and(|fetched| now.saturating_sub(fetched) < CACHE_TTL)
    }

    fn cached(&self, id: &str) -> KeyLookup {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        match known.keys.get(id) {
            Some(key) => KeyLookup::Key(Arc::clone(key)),
            None if known.fetched.is_some() => KeyLookup::Unknown,
            None => KeyLookup::Unavailable,
        }
    }
}

/// Parses the usable keys, by id. Others are skipped rather than failing the whole set:
/// issuers also publish key types that this server does not accept.
fn read_set(text: &str) -> Result<KeySet, JwksUnavailable> {
    #[derive(Deserialize)]
    struct Set {
        keys: Vec<Value>,
    }

    let set: Set =
        serde_json::from_str(text).map_err(|error| JwksUnavailable(error.to_string()))?;
    Ok(set
        .keys
        .into_iter()
        .filter_map(|key| read_key(&serde_json::from_value(key).ok()?))
        .collect())
}

fn read_key(jwk: &Jwk) -> Option<(String, Arc<VerifyingKey>)> {
    let (algorithm, declared) = match &jwk.algorithm {
        AlgorithmParameters::RSA(_) => (Algorithm::RS256, KeyAlgorithm::RS256),
        AlgorithmParameters::EllipticCurve(curve) if curve.curve == EllipticCurve::P256 => {
            (Algorithm::ES256, KeyAlgorithm::ES256)
        }
        AlgorithmParameters::OctetKeyPair(pair) if pair.curve == EllipticCurve::Ed25519 => {
            (Algorithm::EdDSA, KeyAlgorithm::EdDSA)
        }
        _ => return None,
    };
    let signs =
        jwk.common.public_key_use.as_ref().is_none_or(|used| *used == PublicKeyUse::Signature);
    let says_the_same = jwk.common.key_algorithm.is_none_or(|named| named == declared);
    if !signs || !says_the_same {
        return None;
    }
    let id = jwk.common.key_id.clone()?;
    let key = DecodingKey::from_jwk(jwk).ok()?;
    Some((id, Arc::new(VerifyingKey { algorithm, key })))
}
