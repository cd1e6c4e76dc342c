//! Compares a run with the previous run of the same set.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::run::Report;

/// The part of a report that later runs compare with.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Summary {
    /// Metrics by name.
    pub metrics: BTreeMap<String, f64>,
    /// Score of each question from 0 to 1.
    pub questions: BTreeMap<String, f64>,
}

/// Difference between two runs.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Change {
    /// URI of the earlier report.
    pub since: String,
    /// Increase of each metric that both runs have.
    pub metrics: BTreeMap<String, f64>,
    /// Questions with a lower score.
    pub worse: Vec<String>,
    /// Questions with a higher score.
    pub better: Vec<String>,
}

impl Summary {
    /// Summarises a report.
    pub fn of(report: &Report) -> Self {
        let metrics = report.metrics.iter();
        let metrics = metrics.filter_map(|one| Some((one.name.clone(), one.value?)));
        let questions = report.asked.iter().map(|row| (row.question.id.clone(), row.score()));
        Self { metrics: metrics.collect(), questions: questions.collect() }
    }

    /// Compares with an earlier summary at `since`.
    pub fn change(&self, earlier: &Self, since: &str) -> Change {
        let both = |now: &BTreeMap<String, f64>, before: &BTreeMap<String, f64>| {
            let pairs = now.iter().filter_map(|(name, now)| Some((name, now - before.get(name)?)));
            pairs
                .map(|(name, by)| (name.clone(), (by * 1e6).round() / 1e6))
                .collect::<BTreeMap<_, _>>()
        };
        let questions = both(&self.questions, &earlier.questions);
        let of = |sign: f64| {
            let names = questions.iter().filter(|(_, by)| **by * sign > 0.0);
            names.map(|(name, _)| name.clone()).collect()
        };
        Change {
            since: since.to_owned(),
            metrics: both(&self.metrics, &earlier.metrics),
            worse: of(-1.0),
            better: of(1.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn change_lists_only_metrics_and_questions_of_both_runs() {
        let earlier: Summary = serde_json::from_str(
            r#"{"metrics": {"R@10": 0.9, "gone": 1.0}, "questions": {"a": 1.0, "b": 0.5, "c": 1.0}}"#,
        )
        .unwrap();
        let now: Summary = serde_json::from_str(
            r#"{"metrics": {"R@10": 0.85, "new": 1.0}, "questions": {"a": 0.5, "b": 1.0, "c": 1.0}}"#,
        )
        .unwrap();
        let change = now.change(&earlier, "ttm://eval/x");
        assert_eq!(change.metrics, BTreeMap::from([("R@10".to_owned(), -0.05)]));
        assert_eq!((change.worse, change.better), (vec!["a".to_owned()], vec!["b".to_owned()]));
    }
}
