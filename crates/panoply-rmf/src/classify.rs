//! Class of every fund with the reason, so that no category leaves out funds without an AIMC class.

use crate::concepts::{Policy, concepts};
use crate::fund::Fund;
use crate::search::IndexedFund;

/// Why a fund has its class.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ClassReason {
    /// AIMC classification.
    Aimc,
    /// SEC code of comparable funds.
    CompareCode,
    /// Words of the name or benchmark.
    Words,
    /// SEC policy alone.
    Policy,
    /// Nothing is known.
    Unknown,
}

impl ClassReason {
    /// Name in replies.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Aimc => "aimc_classification",
            Self::CompareCode => "sec_compare_code",
            Self::Words => "name_or_benchmark",
            Self::Policy => "sec_policy",
            Self::Unknown => "unknown",
        }
    }
}

/// Class of a fund and why.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct FundClass {
    /// AIMC code, or its beginning where only the kind of asset is known.
    pub code: String,
    /// Reason.
    pub reason: ClassReason,
}

/// Determines the class of a fund.
pub fn classify(fund: &Fund, index: &IndexedFund) -> FundClass {
    let class = |code: &str, reason| FundClass { code: code.to_owned(), reason };
    if let Some(code) = &fund.classification {
        return class(code, ClassReason::Aimc);
    }
    if let Some(code) = &fund.compare_code {
        return class(code, ClassReason::CompareCode);
    }
    let policy = Policy::of(fund);
    let kind = match policy {
        Some(Policy::Equity) => "EQ",
        Some(Policy::Bond) => "FIX",
        Some(Policy::Mixed) => "MIX",
        Some(Policy::Alternative) | None => "",
    };
    let fits_kind = |code: &str| match policy {
        Some(Policy::Alternative) | None => code.starts_with("COM") || code.starts_with("PRF"),
        Some(_) => code.starts_with(kind),
    };
    let found = concepts().find(|concept| {
        concept.class.len() > 3 && fits_kind(concept.class) && index.has(fund, concept)
    });
    match (found, kind) {
        (Some(concept), _) => class(concept.class, ClassReason::Words),
        (None, "") => class("MISC", ClassReason::Unknown),
        (None, kind) => class(kind, ClassReason::Policy),
    }
}

/// Whether a fund belongs to a category: a kind of asset in English or Thai, by the SEC's policy, or
/// the beginning of a class.
pub fn in_category(fund: &Fund, index: &IndexedFund, category: &str) -> bool {
    let wanted = category.trim().to_uppercase();
    let policy = match wanted.as_str() {
        "EQUITY" | "หุ้น" | "ตราสารทุน" => Some(Policy::Equity),
        "FIXED" | "BOND" | "FIXED INCOME" | "ตราสารหนี้" => Some(Policy::Bond),
        "MIXED" | "ผสม" => Some(Policy::Mixed),
        "ALTERNATIVE" | "ทรัพย์สินทางเลือก" => {
            Some(Policy::Alternative)
        }
        _ => None,
    };
    if let (Some(policy), Some(own)) = (policy, Policy::of(fund)) {
        return own == policy;
    }
    let prefix = match wanted.as_str() {
        "EQUITY" | "หุ้น" | "ตราสารทุน" => "EQ",
        "FIXED" | "BOND" | "FIXED INCOME" | "ตราสารหนี้" => "FIX",
        "MIXED" | "ผสม" => "MIX",
        "PROPERTY" | "อสังหาริมทรัพย์" => "PRF",
        "COMMODITY" | "ทองคำ" => "COM",
        other => other,
    };
    classify(fund, index).code.to_uppercase().starts_with(prefix)
}
