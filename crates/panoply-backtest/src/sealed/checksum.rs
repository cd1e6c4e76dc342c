//! Checksums of sealed blobs: written behind each blob and verified on every read.
//!
//! A checksum covers the blob's key as well, so a blob that is found under another key does not
//! verify either. Page checksums of the SQLite backend protect the same bytes there; these protect
//! the format in any backend.

use std::sync::Arc;

use twox_hash::XxHash3_64;

use crate::error::LogError;
use crate::store::{BlobKey, Blobs};

/// Bytes of the checksum at the end of a blob.
const TRAILER: usize = 8;

/// The blobs of a sealed run, with checksums.
pub(crate) struct ChecksummedBlobs<B> {
    blobs: B,
    has_checksums: bool,
}

/// Blobs of a run that is being queried.
pub(crate) type SealedBlobs = ChecksummedBlobs<Arc<dyn Blobs>>;

impl<B: Blobs> ChecksummedBlobs<B> {
    pub(crate) const fn new(blobs: B) -> Self {
        Self { blobs, has_checksums: true }
    }

    /// Blobs of a version of the format without checksums.
    pub(crate) const fn of_older_format(blobs: B) -> Self {
        Self { blobs, has_checksums: false }
    }

    /// Returns a blob, if it exists. Fails if its checksum does not match.
    pub(crate) fn get(&self, key: BlobKey) -> Result<Option<Vec<u8>>, LogError> {
        let Some(mut blob) = self.blobs.get(key)? else { return Ok(None) };
        if !self.has_checksums {
            return Ok(Some(blob));
        }
        let content = verified(key, &blob).map(<[u8]>::len).ok_or(LogError::Checksum(key))?;
        blob.truncate(content);
        Ok(Some(blob))
    }

    /// Returns a blob that every sealed run has.
    pub(crate) fn require(&self, key: BlobKey) -> Result<Vec<u8>, LogError> {
        self.get(key)?.ok_or(LogError::MissingBlob(key))
    }

    /// Stores blobs atomically.
    pub(crate) fn put(&self, mut blobs: Vec<(BlobKey, Vec<u8>)>) -> Result<(), LogError> {
        for (key, blob) in &mut blobs {
            blob.extend(checksum(*key, blob).to_le_bytes());
        }
        self.blobs.put(blobs)
    }

    pub(crate) fn keys(&self) -> Result<Vec<BlobKey>, LogError> {
        self.blobs.keys()
    }
}

/// The content of a stored blob, if its checksum matches.
fn verified(key: BlobKey, blob: &[u8]) -> Option<&[u8]> {
    let (content, trailer) = blob.split_at_checked(blob.len().checked_sub(TRAILER)?)?;
    (trailer == checksum(key, content).to_le_bytes()).then_some(content)
}

fn checksum(key: BlobKey, content: &[u8]) -> u64 {
    XxHash3_64::oneshot_with_seed(key.to_i64().cast_unsigned(), content)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::BlobKind;

    #[test]
    fn every_bit_flip_and_every_other_key_is_detected() {
        let key = BlobKey::new(BlobKind::Block, 3, 7);
        let mut blob: Vec<u8> = (0..=255).collect();
        blob.extend(checksum(key, &blob).to_le_bytes());
        assert_eq!(verified(key, &blob).map(<[u8]>::len), Some(256));
        assert_eq!(verified(BlobKey::new(BlobKind::Block, 3, 8), &blob), None);
        for bit in 0..blob.len() * 8 {
            let mut damaged = blob.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(verified(key, &damaged), None, "bit {bit}");
        }
        assert_eq!(verified(key, &[]), None);
    }
}
