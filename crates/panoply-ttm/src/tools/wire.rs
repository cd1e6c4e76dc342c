//! Wire types and texts shared by several replies.

use panoply_contract::context::Lang;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::graph::NodeType;
use crate::model::{Bilingual, DisplayLanguage, Strength};

/// Type of a graph node.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    Herb,
    Constituent,
    Indication,
    Formulation,
    Paper,
    Caution,
    Drug,
}

impl From<NodeType> for Kind {
    fn from(node_type: NodeType) -> Self {
        match node_type {
            NodeType::Herb => Self::Herb,
            NodeType::Constituent => Self::Constituent,
            NodeType::Indication => Self::Indication,
            NodeType::Formulation => Self::Formulation,
            NodeType::Paper => Self::Paper,
            NodeType::Caution => Self::Caution,
            NodeType::Drug => Self::Drug,
        }
    }
}

impl From<Kind> for NodeType {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Herb => Self::Herb,
            Kind::Constituent => Self::Constituent,
            Kind::Indication => Self::Indication,
            Kind::Formulation => Self::Formulation,
            Kind::Paper => Self::Paper,
            Kind::Caution => Self::Caution,
            Kind::Drug => Self::Drug,
        }
    }
}

/// Strength of a warning.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum HowStrong {
    Low,
    Moderate,
    High,
}

impl From<Strength> for HowStrong {
    fn from(strength: Strength) -> Self {
        match strength {
            Strength::Low => Self::Low,
            Strength::Moderate => Self::Moderate,
            Strength::High => Self::High,
        }
    }
}

impl From<HowStrong> for Strength {
    fn from(strength: HowStrong) -> Self {
        match strength {
            HowStrong::Low => Self::Low,
            HowStrong::Moderate => Self::Moderate,
            HowStrong::High => Self::High,
        }
    }
}

/// Language of names and sentences in a reply.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ReplyLang {
    /// Thai.
    Th,
    /// English.
    En,
}

/// Returns the requested language; Thai with English by default.
pub(crate) const fn display_language(lang: Option<ReplyLang>) -> DisplayLanguage {
    match lang {
        Some(ReplyLang::Th) => DisplayLanguage::Th,
        Some(ReplyLang::En) => DisplayLanguage::En,
        None => DisplayLanguage::Both,
    }
}

/// Returns the language of the text summary.
pub(crate) const fn caller_language(lang: Lang) -> DisplayLanguage {
    match lang {
        Lang::Th => DisplayLanguage::Th,
        Lang::En => DisplayLanguage::En,
    }
}

/// Medical disclaimer in both languages.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct Notice {
    /// In Thai.
    th: &'static str,
    /// In English.
    en: &'static str,
}

/// Included in every reply about treatment.
pub(crate) const NOTICE: Notice = Notice {
    th: "ข้อมูลนี้ใช้เพื่ออ้างอิงเท่านั้น ไม่ใช่คำแนะนำทางการแพทย์ ควรปรึกษาแพทย์ เภสัชกร หรือแพทย์แผนไทยก่อนใช้",
    en: "This is reference information and not medical advice; ask a physician, a pharmacist or a practitioner of Thai traditional medicine before use.",
};

impl Notice {
    /// Returns the disclaimer in the caller's language.
    pub(crate) const fn for_caller(&self, lang: Lang) -> &'static str {
        match lang {
            Lang::Th => self.th,
            Lang::En => self.en,
        }
    }
}

/// Selects a text by the caller's language.
pub(crate) fn pick(
    display: DisplayLanguage,
    th: impl Into<String>,
    en: impl Into<String>,
) -> String {
    Bilingual { th: th.into(), en: en.into() }.in_language(display)
}
