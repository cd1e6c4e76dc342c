//! Evaluation metrics and their names.

use std::fmt;

/// A metric.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Metric {
    /// Recall at k.
    Recall(usize),
    /// Reciprocal rank of the first relevant id.
    ReciprocalRank,
    /// nDCG at k.
    Ndcg(usize),
    /// Share of statements supported by their citations.
    Factuality,
    /// Share of citations that support their statement.
    CitationPrecision,
    /// Share of expected facts found in the answers.
    FactRecall,
    /// Share of questions that were withheld.
    WithholdingRate,
    /// Share of withheld questions that have no answer.
    WithholdingPrecision,
    /// Share of unanswerable questions that were withheld.
    WithholdingRecall,
    /// Share of expected warnings that neither the answer nor its dangers state.
    SafetyOmission,
    /// Share of safety questions with a recorded warning whose reply says that nothing is recorded.
    FalseAbsence,
    /// Share of warning statements that are weaker than a passage they cite.
    SoftenedLevel,
    /// Share of warning statements that permit what a passage they cite warns against.
    ReversedPolarity,
    /// Share of citations that are about an expected herb, medicine or fact.
    CitationRelevance,
}

/// An unknown metric name.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("there is no metric `{0}`")]
pub struct UnknownMetric(pub String);

impl Metric {
    /// Names accepted by [`Self::parse`]; `k` is a number from 1 to 100 or the parameter `k`.
    pub const NAMES: [&'static str; 14] = [
        "R@k",
        "MRR",
        "nDCG@k",
        "factuality",
        "citation_precision",
        "fact_recall",
        "withholding_rate",
        "withholding_precision",
        "withholding_recall",
        "safety_omission",
        "false_absence",
        "softened_level",
        "reversed_polarity",
        "citation_relevance",
    ];

    /// Parses a metric name, ignoring case. `R@k` uses the parameter `k`; `R@5` does not.
    pub fn parse(name: &str, k: usize) -> Result<Self, UnknownMetric> {
        let asked = name.trim().to_lowercase();
        let (word, at) = match asked.split_once('@') {
            Some((word, "k")) => (word, Some(k)),
            Some((word, at)) => (word, at.parse().ok().filter(|at| (1..=MAX_DEPTH).contains(at))),
            None => (asked.as_str(), None),
        };
        match (word, at, asked.contains('@')) {
            ("r" | "recall", Some(at), true) => Ok(Self::Recall(at)),
            ("ndcg", Some(at), true) => Ok(Self::Ndcg(at)),
            ("ndcg", None, false) => Ok(Self::Ndcg(k)),
            ("mrr", None, false) => Ok(Self::ReciprocalRank),
            (word, None, false) => Self::OF_ANSWERS
                .into_iter()
                .find(|one| one.to_string() == word)
                .ok_or_else(|| unknown(name)),
            _ => Err(unknown(name)),
        }
    }

    /// Metrics of answers.
    pub const OF_ANSWERS: [Self; 11] = [
        Self::Factuality,
        Self::CitationPrecision,
        Self::FactRecall,
        Self::WithholdingRate,
        Self::WithholdingPrecision,
        Self::WithholdingRecall,
        Self::SafetyOmission,
        Self::FalseAbsence,
        Self::SoftenedLevel,
        Self::ReversedPolarity,
        Self::CitationRelevance,
    ];

    /// Returns whether this is a metric of answers, not of rankings.
    pub fn is_of_answers(self) -> bool {
        Self::OF_ANSWERS.contains(&self)
    }

    /// Returns the number of hits it considers.
    pub const fn depth(self) -> Option<usize> {
        match self {
            Self::Recall(k) | Self::Ndcg(k) => Some(k),
            _ => None,
        }
    }
}

/// Maximum number of hits considered.
pub const MAX_DEPTH: usize = 100;

fn unknown(name: &str) -> UnknownMetric {
    UnknownMetric(name.chars().take(60).collect())
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Recall(k) => write!(f, "R@{k}"),
            Self::ReciprocalRank => f.write_str("MRR"),
            Self::Ndcg(k) => write!(f, "nDCG@{k}"),
            Self::Factuality => f.write_str("factuality"),
            Self::CitationPrecision => f.write_str("citation_precision"),
            Self::FactRecall => f.write_str("fact_recall"),
            Self::WithholdingRate => f.write_str("withholding_rate"),
            Self::WithholdingPrecision => f.write_str("withholding_precision"),
            Self::WithholdingRecall => f.write_str("withholding_recall"),
            Self::SafetyOmission => f.write_str("safety_omission"),
            Self::FalseAbsence => f.write_str("false_absence"),
            Self::SoftenedLevel => f.write_str("softened_level"),
            Self::ReversedPolarity => f.write_str("reversed_polarity"),
            Self::CitationRelevance => f.write_str("citation_relevance"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metric_names_are_parsed_and_unknown_ones_rejected() {
        let cases = [
            ("R@k", Some("R@10")),
            ("R@5", Some("R@5")),
            ("recall@20", Some("R@20")),
            ("mrr", Some("MRR")),
            ("nDCG", Some("nDCG@10")),
            ("NDCG@3", Some("nDCG@3")),
            ("factuality", Some("factuality")),
            ("Withholding_Rate", Some("withholding_rate")),
            ("R@0", None),
            ("R@101", None),
            ("R@-1", None),
            ("R", None),
            ("MRR@k", None),
            ("factuality@k", None),
            ("BLEU", None),
            ("", None),
        ];
        for (name, expected) in cases {
            let parsed = Metric::parse(name, 10).ok().map(|metric| metric.to_string());
            assert_eq!(parsed.as_deref(), expected, "{name:?}");
        }
        for name in Metric::NAMES {
            assert!(Metric::parse(name, 10).is_ok(), "{name}");
        }
    }
}
