//! How good a ranking is, against judged answers.

/// The share of the relevant ids that are among the first `k`. At most `k` can be, so a question
/// with more relevant ids than that is measured against `k`.
pub fn recall_at(k: usize, ranked: &[&str], relevant: &[&str]) -> f64 {
    let possible = relevant.len().min(k);
    if possible == 0 {
        return 0.0;
    }
    let found = ranked.iter().take(k).filter(|id| relevant.contains(id)).count();
    found as f64 / possible as f64
}

/// One over the rank of the first relevant id; 0 when there is none.
pub fn reciprocal_rank(ranked: &[&str], relevant: &[&str]) -> f64 {
    let first = ranked.iter().position(|id| relevant.contains(id));
    first.map_or(0.0, |place| 1.0 / (place as f64 + 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recall_counts_what_could_be_found() {
        let cases = [
            (10, vec!["a", "b"], vec!["a", "c"], 0.5),
            (1, vec!["a", "b"], vec!["a", "b"], 1.0),
            (2, vec!["x", "y", "a"], vec!["a"], 0.0),
            (5, vec![], vec!["a"], 0.0),
        ];
        for (k, ranked, relevant, expected) in cases {
            assert!((recall_at(k, &ranked, &relevant) - expected).abs() < 1e-9, "{ranked:?}");
        }
    }

    #[test]
    fn the_reciprocal_rank_is_that_of_the_first_relevant_hit() {
        assert!((reciprocal_rank(&["x", "a", "b"], &["b", "a"]) - 0.5).abs() < 1e-9);
        assert!(reciprocal_rank(&["x"], &["a"]).abs() < 1e-9);
    }
}
