//! Ranking metrics against binary relevance judgements.
//!
//! An unjudged id counts as not relevant and keeps its rank, as in trec_eval.
//! `tests/outside/ttm_eval.py` recomputes the metrics from the rankings of a report.

/// Recall at `k`, normalised by the smaller of `k` and the number of relevant ids.
pub fn recall_at(k: usize, ranked: &[&str], relevant: &[&str]) -> f64 {
    let possible = relevant.len().min(k);
    if possible == 0 {
        return 0.0;
    }
    let found = ranked.iter().take(k).filter(|id| relevant.contains(id)).count();
    found as f64 / possible as f64
}

/// Reciprocal rank of the first relevant id; 0 if there is none.
pub fn reciprocal_rank(ranked: &[&str], relevant: &[&str]) -> f64 {
    let first = ranked.iter().position(|id| relevant.contains(id));
    first.map_or(0.0, |place| 1.0 / (place as f64 + 1.0))
}

/// nDCG at `k` (Järvelin and Kekäläinen 2002, discount log2(rank + 1)).
pub fn ndcg_at(k: usize, ranked: &[&str], relevant: &[&str]) -> f64 {
    let gain = |place: usize| 1.0 / (place as f64 + 2.0).log2();
    let best: f64 = (0..relevant.len().min(k)).map(gain).sum();
    let hits = ranked.iter().take(k).enumerate().filter(|(_, id)| relevant.contains(id));
    // `sum` of an empty iterator is -0.0.
    let got = hits.fold(0.0, |got, (place, _)| got + gain(place));
    if best > 0.0 { got / best } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recall_is_measured_against_min_k_and_relevant() {
        let cases = [
            (10, vec!["a", "b"], vec!["a", "c"], 0.5),
            (1, vec!["a", "b"], vec!["a", "b"], 1.0),
            (2, vec!["x", "y", "a"], vec!["a"], 0.0),
            (5, vec![], vec!["a"], 0.0),
            (0, vec!["a"], vec!["a"], 0.0),
        ];
        for (k, ranked, relevant, expected) in cases {
            assert!((recall_at(k, &ranked, &relevant) - expected).abs() < 1e-9, "{ranked:?}");
        }
    }

    #[test]
    fn reciprocal_rank_uses_the_first_relevant_hit() {
        assert!((reciprocal_rank(&["x", "a", "b"], &["b", "a"]) - 0.5).abs() < 1e-9);
        assert!(reciprocal_rank(&["x"], &["a"]).abs() < 1e-9);
    }

    /// By hand:
    /// hits at ranks 1 and 3 of two relevant ids give (1 + 1/2) / (1 + 1/log2 3).
    #[test]
    fn ndcg_is_normalised_by_the_ideal_ranking() {
        let cases = [
            (10, vec!["a", "x", "b"], vec!["a", "b"], 1.5 / (1.0 + 1.0 / 3_f64.log2())),
            (10, vec!["a", "b"], vec!["b", "a"], 1.0),
            (1, vec!["a"], vec!["a", "b", "c"], 1.0),
            (2, vec!["x", "y", "a"], vec!["a"], 0.0),
            (3, vec!["a"], vec![], 0.0),
        ];
        for (k, ranked, relevant, expected) in cases {
            let got = ndcg_at(k, &ranked, &relevant);
            assert!((got - expected).abs() < 1e-9, "{ranked:?}: {got}");
        }
    }
}
