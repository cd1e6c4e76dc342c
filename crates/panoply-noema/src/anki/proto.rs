//! The parts of Anki's protocol buffer messages that packages contain.
//!
//! Field numbers are those of Anki 26 (`proto/anki/{deck_config,decks,import_export,notetypes}.proto`).

use prost::Message;

use super::container::file_error;
use crate::error::Result;

/// Decodes the message in `bytes`; `name` identifies it in the error.
pub(super) fn decode<M: Message + Default>(bytes: &[u8], name: &str) -> Result<M> {
    M::decode(bytes)
        .map_err(|error| file_error(format!("`{name}` in the package is damaged: {error}")))
}

/// Widens a value that Anki stores in single precision to the decimal it was entered as.
pub(super) fn widen(value: f32) -> f64 {
    value.to_string().parse().unwrap_or_else(|_| f64::from(value))
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct PackageMetadata {
    #[prost(uint32, tag = "1")]
    pub(super) version: u32,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct MediaEntries {
    #[prost(message, repeated, tag = "1")]
    pub(super) entries: Vec<MediaEntry>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct MediaEntry {
    #[prost(string, tag = "1")]
    pub(super) name: String,
    #[prost(uint32, optional, tag = "255")]
    pub(super) legacy_zip_filename: Option<u32>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct NotetypeConfig {
    #[prost(uint32, tag = "1")]
    pub(super) kind: u32,
    #[prost(uint32, tag = "2")]
    pub(super) sort_field: u32,
    #[prost(string, tag = "3")]
    pub(super) css: String,
    #[prost(string, tag = "5")]
    pub(super) latex_pre: String,
    #[prost(string, tag = "6")]
    pub(super) latex_post: String,
    #[prost(bool, tag = "7")]
    pub(super) latex_svg: bool,
    #[prost(uint32, tag = "9")]
    pub(super) original_stock_kind: u32,
    #[prost(int64, optional, tag = "10")]
    pub(super) original_id: Option<i64>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct FieldConfig {
    #[prost(bool, tag = "1")]
    pub(super) sticky: bool,
    #[prost(bool, tag = "2")]
    pub(super) rtl: bool,
    #[prost(string, tag = "3")]
    pub(super) font_name: String,
    #[prost(uint32, tag = "4")]
    pub(super) font_size: u32,
    #[prost(string, tag = "5")]
    pub(super) description: String,
    #[prost(bool, tag = "6")]
    pub(super) plain_text: bool,
    #[prost(bool, tag = "7")]
    pub(super) collapsed: bool,
    #[prost(bool, tag = "8")]
    pub(super) exclude_from_search: bool,
    #[prost(int64, optional, tag = "9")]
    pub(super) id: Option<i64>,
    #[prost(uint32, optional, tag = "10")]
    pub(super) tag: Option<u32>,
    #[prost(bool, tag = "11")]
    pub(super) prevent_deletion: bool,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct TemplateConfig {
    #[prost(string, tag = "1")]
    pub(super) question: String,
    #[prost(string, tag = "2")]
    pub(super) answer: String,
    #[prost(string, tag = "3")]
    pub(super) question_in_browser: String,
    #[prost(string, tag = "4")]
    pub(super) answer_in_browser: String,
    #[prost(string, tag = "6")]
    pub(super) browser_font_name: String,
    #[prost(uint32, tag = "7")]
    pub(super) browser_font_size: u32,
    #[prost(int64, optional, tag = "8")]
    pub(super) id: Option<i64>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct DeckKind {
    #[prost(message, optional, tag = "1")]
    pub(super) normal: Option<NormalDeck>,
    #[prost(message, optional, tag = "2")]
    pub(super) filtered: Option<FilteredDeck>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct NormalDeck {
    #[prost(int64, tag = "1")]
    pub(super) config_id: i64,
    #[prost(string, tag = "4")]
    pub(super) description: String,
    #[prost(uint32, optional, tag = "6")]
    pub(super) review_limit: Option<u32>,
    #[prost(uint32, optional, tag = "7")]
    pub(super) new_limit: Option<u32>,
    #[prost(float, optional, tag = "10")]
    pub(super) desired_retention: Option<f32>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct FilteredDeck {
    #[prost(message, repeated, tag = "2")]
    pub(super) search_terms: Vec<SearchTerm>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct SearchTerm {
    #[prost(string, tag = "1")]
    pub(super) search: String,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct DeckConfig {
    #[prost(float, repeated, tag = "1")]
    pub(super) learn_steps: Vec<f32>,
    #[prost(float, repeated, tag = "2")]
    pub(super) relearn_steps: Vec<f32>,
    #[prost(float, repeated, tag = "3")]
    pub(super) fsrs_params_4: Vec<f32>,
    #[prost(float, repeated, tag = "5")]
    pub(super) fsrs_params_5: Vec<f32>,
    #[prost(float, repeated, tag = "6")]
    pub(super) fsrs_params_6: Vec<f32>,
    #[prost(uint32, tag = "9")]
    pub(super) new_per_day: u32,
    #[prost(uint32, tag = "10")]
    pub(super) reviews_per_day: u32,
    #[prost(uint32, tag = "16")]
    pub(super) maximum_review_interval: u32,
    #[prost(uint32, tag = "21")]
    pub(super) leech_action: u32,
    #[prost(uint32, tag = "22")]
    pub(super) leech_threshold: u32,
    #[prost(bool, tag = "27")]
    pub(super) bury_new: bool,
    #[prost(bool, tag = "28")]
    pub(super) bury_reviews: bool,
    #[prost(float, tag = "37")]
    pub(super) desired_retention: f32,
}
