//! The form of a sealed run: blobs that answer questions without reading the log.

pub(crate) mod block;
pub(crate) mod codec;
pub mod column;
pub(crate) mod dictionary;
pub(crate) mod directory;
pub(crate) mod head;
pub(crate) mod ids;
pub(crate) mod links;
pub(crate) mod orders;
pub(crate) mod properties;
pub mod seal;
