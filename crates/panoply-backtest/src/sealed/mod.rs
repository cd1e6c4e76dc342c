//! The format of a sealed run: blobs that answer queries without reading the log. Specified in
//! docs/formats/sealed-run.md.

pub(crate) mod block;
pub(crate) mod books;
pub(crate) mod checksum;
pub(crate) mod codec;
pub(crate) mod column;
pub(crate) mod dictionary;
pub(crate) mod digest;
pub(crate) mod directory;
pub(crate) mod group_stats;
pub(crate) mod head;
pub(crate) mod ids;
pub(crate) mod links;
pub(crate) mod orders;
pub(crate) mod properties;
pub(crate) mod seal;
pub(crate) mod text_column;

/// A decoded blob that the query cache can hold.
pub(crate) trait Weight: Send + Sync + 'static {
    /// Approximate size in memory, in bytes.
    fn weight(&self) -> usize;
}
