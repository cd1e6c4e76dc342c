//! Okapi BM25.
//!
//! Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), with a
//! non-negative idf. All candidates are scored here, so that scores do not depend on their origin.

use crate::arithmetic::ln;

/// Parameters of BM25.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bm25 {
    /// Term frequency saturation.
    pub k1: f32,
    /// Length normalisation from 0 to 1.
    pub b: f32,
}

impl Bm25 {
    /// Returns the idf of a term that `containing` of `all` documents contain.
    pub(super) fn idf(containing: usize, all: usize) -> f32 {
        let (containing, all) = (containing as f64, all as f64);
        #[expect(clippy::cast_possible_truncation, reason = "an idf is a small number")]
        let idf = ln(1.0 + (all - containing + 0.5) / (containing + 0.5)) as f32;
        idf
    }

    /// Returns the saturated term frequency between 0 and `k1 + 1`, before multiplication by the
    /// idf.
    pub(super) fn saturation(self, frequency: f32, length: f32, average: f32) -> f32 {
        let norm = 1.0 - self.b + self.b * length / average;
        frequency * (self.k1 + 1.0) / (frequency + self.k1 * norm)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Computed by hand from the formula of the paper.
    #[test]
    fn bm25_scores_match_the_formula() {
        let bm25 = Bm25 { k1: 1.2, b: 0.75 };
        let idf = Bm25::idf(1, 3);
        assert!((idf - 0.980_829_3).abs() < 1e-6, "{idf}");
        let average_document = bm25.saturation(1.0, 10.0, 10.0);
        assert!((average_document - 1.0).abs() < 1e-6);
        let short = bm25.saturation(2.0, 5.0, 10.0);
        assert!((short - 4.4 / (2.0 + 1.2 * 0.625)).abs() < 1e-6, "{short}");
    }

    #[test]
    fn term_frequency_saturates_below_k1_plus_one() {
        let bm25 = Bm25 { k1: 1.2, b: 0.75 };
        let mut last = 0.0;
        let mut gain = f32::MAX;
        for frequency in 1..50_u8 {
            let score = bm25.saturation(f32::from(frequency), 20.0, 10.0);
            assert!(score > last && score - last < gain && score < 2.2);
            gain = score - last;
            last = score;
        }
    }
}
