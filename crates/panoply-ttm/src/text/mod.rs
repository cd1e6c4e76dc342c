//! Text processing for Thai and English: normalisation, segmentation, stemming, trigrams.
//!
//! [`mod@normalize`] unifies spelling variants; [`Segmenter`] splits text into words; [`terms`]
//! converts words to index terms. All keep byte offsets, because citations refer to the source
//! text.

mod cluster;
pub mod dictionary;
pub mod english;
mod keys;
mod normalize;
pub mod segment;
pub(crate) mod spans;
pub mod terms;

pub use self::cluster::clusters;
pub use self::dictionary::Dictionary;
pub use self::normalize::{Normalized, is_thai, normalize, skeleton};
pub use self::segment::{Segmenter, Token, TokenKind};
