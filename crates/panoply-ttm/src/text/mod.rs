//! Thai and English text made comparable: one spelling, words with their places, stems, trigrams.
//!
//! [`mod@normalize`] gives one spelling to what keyboards, fonts and scanners spell in several;
//! [`Segmenter`] cuts it into words; [`terms`] turns words into what an index keeps. Each keeps
//! byte offsets, because an answer must be able to point at the sentence it rests on.

mod cluster;
pub mod dictionary;
pub mod english;
mod keys;
mod normalize;
pub mod segment;
pub mod terms;

pub use self::cluster::clusters;
pub use self::dictionary::Dictionary;
pub use self::normalize::{Normalized, is_thai, normalize, skeleton};
pub use self::segment::{Segmenter, Token, TokenKind};
