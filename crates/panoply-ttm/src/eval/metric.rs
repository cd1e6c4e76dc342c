//! The measures by the names that a caller gives them.

use std::fmt;

/// What is measured.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Metric {
    /// The share of the relevant ids among the first so many.
    Recall(usize),
    /// One over the rank of the first relevant id.
    ReciprocalRank,
    /// The order of the first so many, against the best that is possible.
    Ndcg(usize),
    /// The share of statements that their citations support, strictly.
    Factuality,
    /// The share of citations that support the statement they stand at.
    CitationPrecision,
    /// The share of facts that a judge wants in answers and that are there.
    FactRecall,
    /// The share of questions on which no answer is given.
    WithholdingRate,
    /// Of the questions on which none is given, the share that have none.
    WithholdingPrecision,
    /// Of the questions that have no answer, the share on which none is given.
    WithholdingRecall,
}

/// A name that is no measure.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("there is no metric `{0}`")]
pub struct UnknownMetric(pub String);

impl Metric {
    /// The names that [`Self::parse`] takes; `k` stands for a number from 1 to 100, or for `k` of
    /// the parameters.
    pub const NAMES: [&'static str; 9] = [
        "R@k",
        "MRR",
        "nDCG@k",
        "factuality",
        "citation_precision",
        "fact_recall",
        "withholding_rate",
        "withholding_precision",
        "withholding_recall",
    ];

    /// The measure of this name, without regard to case. `R@k` is R@10 when `k` is 10; `R@5` is
    /// R@5 whatever `k` is.
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

    /// Those that need answers.
    pub const OF_ANSWERS: [Self; 6] = [
        Self::Factuality,
        Self::CitationPrecision,
        Self::FactRecall,
        Self::WithholdingRate,
        Self::WithholdingPrecision,
        Self::WithholdingRecall,
    ];

    /// Whether it looks at answers, not at rankings.
    pub fn is_of_answers(self) -> bool {
        Self::OF_ANSWERS.contains(&self)
    }

    /// How many hits it looks at.
    pub const fn depth(self) -> Option<usize> {
        match self {
            Self::Recall(k) | Self::Ndcg(k) => Some(k),
            _ => None,
        }
    }
}

/// The most hits that are looked at.
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
