//! Score fusion of the five search parts, and quotas per document kind.

use super::bm25::Bm25;
use super::document::Kind;

/// A part of the search.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Part {
    /// BM25 over words.
    Words,
    /// BM25 over trigrams.
    Trigrams,
    /// BM25 over words and their translations; each pair counts once.
    Lexicon,
    /// Entity links.
    Links,
    /// Vector similarity.
    Vectors,
}

impl Part {
    /// Every part.
    pub const ALL: [Self; 5] =
        [Self::Words, Self::Trigrams, Self::Lexicon, Self::Links, Self::Vectors];

    /// Returns the name used in replies and benchmarks.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Words => "words",
            Self::Trigrams => "trigrams",
            Self::Lexicon => "lexicon",
            Self::Links => "links",
            Self::Vectors => "vectors",
        }
    }

    pub(super) const fn place(self) -> usize {
        match self {
            Self::Words => 0,
            Self::Trigrams => 1,
            Self::Lexicon => 2,
            Self::Links => 3,
            Self::Vectors => 4,
        }
    }
}

/// Weights of the fusion. They were tuned on `data/ttm/eval/curated.jsonl` and every second
/// question of `crosslingual.jsonl`; `panoply-bench ttm-search` reports results on these and on
/// held-out questions.
#[derive(Clone, Debug, PartialEq)]
pub struct Tuning {
    /// Weight of each part, in the order of [`Part::ALL`].
    pub weights: [f32; 5],
    /// BM25 parameters of words and translations.
    pub words: Bm25,
    /// BM25 parameters of trigrams.
    pub trigrams: Bm25,
    /// Quota of papers, and of chunks, per ten hits.
    pub papers_in_ten: usize,
    /// Quota of constituents, indications and cautions, each, per ten hits.
    pub nodes_in_ten: usize,
    /// Score factor of constituents, indications and cautions: most queries ask for the herbs and
    /// medicines linked to them.
    pub node_factor: f32,
    /// Number of other words at which names count half.
    pub name_half_words: f32,
    /// Boost of papers and chunks over facts as the weight of names falls: a long query asks for a
    /// text.
    pub text_boost: f32,
    /// Score factor of other kinds if the query asks for one kind.
    pub other_kind_factor: f32,
}

impl Default for Tuning {
    fn default() -> Self {
        Self {
            weights: [0.5, 0.5, 1.0, 2.0, 0.2],
            words: Bm25 { k1: 1.2, b: 0.75 },
            trigrams: Bm25 { k1: 1.2, b: 0.75 },
            papers_in_ten: 3,
            nodes_in_ten: 1,
            node_factor: 0.6,
            name_half_words: 4.0,
            text_boost: 1.0,
            other_kind_factor: 0.6,
        }
    }
}

impl Tuning {
    /// Uses one part only.
    pub fn only(part: Part) -> Self {
        let mut weights = [0.0; 5];
        if let Some(weight) = weights.get_mut(part.place()) {
            *weight = 1.0;
        }
        Self { weights, text_boost: 0.0, ..Self::default() }
    }

    /// Returns the weight of names from 0 to 1; it falls with the number of other words in the
    /// query.
    pub(super) fn name_weight(&self, other_words: f32) -> f32 {
        self.name_half_words / (self.name_half_words + other_words)
    }

    /// Returns the weighted mean of text, link and vector scores. A text in the other language
    /// matches through translations only, so the text score is the maximum of both.
    pub(super) fn fused(&self, scores: [f32; 5], names: f32) -> f32 {
        let [words, trigrams, lexicon, links, vectors] = self.weights;
        let (words, trigrams) = (words * names, trigrams * names);
        let own_language = mean([(words, scores[0]), (trigrams, scores[1]), (lexicon, scores[2])]);
        let other_language = if lexicon > 0.0 { scores[2] } else { 0.0 };
        let text = own_language.max(other_language);
        let of_text = if words + trigrams + lexicon > 0.0 { 1.0 } else { 0.0 };
        let parts = [(of_text, text), (links * names, scores[3]), (vectors * names, scores[4])];
        mean(parts).clamp(0.0, 1.0)
    }

    /// Returns the score factor of a document kind, given the requested kind and the weight of
    /// names.
    pub(super) fn kind_factor(&self, kind: Kind, asked: Option<Kind>, names: f32) -> f32 {
        let factor = match (asked, kind) {
            (Some(asked), kind) if asked == kind => 1.0,
            (Some(_), _) => self.other_kind_factor,
            (None, Kind::Constituent | Kind::Indication | Kind::Caution) => self.node_factor,
            (None, Kind::Herb | Kind::Formulation | Kind::Paper | Kind::Chunk) => 1.0,
        };
        match kind {
            Kind::Paper | Kind::Chunk => factor,
            Kind::Herb
            | Kind::Formulation
            | Kind::Constituent
            | Kind::Indication
            | Kind::Caution => factor / (1.0 + self.text_boost * (1.0 - names)),
        }
    }

    /// Returns the quota of a kind among `top` hits.
    pub(super) const fn max_of_kind(&self, kind: Kind, top: usize) -> usize {
        let tens = top.div_ceil(10);
        match kind {
            Kind::Herb | Kind::Formulation => top,
            Kind::Paper | Kind::Chunk => self.papers_in_ten * tens,
            Kind::Constituent | Kind::Indication | Kind::Caution => self.nodes_in_ten * tens,
        }
    }
}

/// Weighted mean; 0 if all weights are 0.
fn mean(weighted: [(f32, f32); 3]) -> f32 {
    let whole: f32 = weighted.iter().map(|(weight, _)| weight).sum();
    let sum: f32 = weighted.iter().map(|(weight, number)| weight * number).sum();
    sum / whole.max(f32::MIN_POSITIVE)
}

/// Selects the best `top` of `ranked` under the quotas; unused slots go to the remaining hits.
pub(super) fn choose<T: Copy>(
    ranked: &[(T, Kind)],
    top: usize,
    max_of_kind: impl Fn(Kind) -> usize,
) -> Vec<T> {
    let mut counts = [0_usize; Kind::ALL.len()];
    let mut chosen: Vec<(usize, T)> = Vec::with_capacity(top);
    let mut deferred: Vec<(usize, T)> = Vec::new();
    for (rank, (item, kind)) in ranked.iter().enumerate() {
        if chosen.len() == top {
            break;
        }
        let count = counts.get_mut(*kind as usize);
        match count {
            Some(count) if *count < max_of_kind(*kind) => {
                *count += 1;
                chosen.push((rank, *item));
            }
            _ => deferred.push((rank, *item)),
        }
    }
    let left = top - chosen.len();
    chosen.extend(deferred.into_iter().take(left));
    chosen.sort_by_key(|(rank, _)| *rank);
    chosen.into_iter().map(|(_, item)| item).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn papers_are_capped_but_fill_unused_slots() {
        let paper = |number| (number, Kind::Paper);
        let ranked = [paper(1), paper(2), paper(3), (4, Kind::Herb), (5, Kind::Herb)];
        let max_of_kind = |kind| if kind == Kind::Paper { 1 } else { 9 };
        assert_eq!(choose(&ranked, 3, max_of_kind), [1, 4, 5]);
        assert_eq!(choose(&ranked, 4, max_of_kind), [1, 2, 4, 5]);
        assert_eq!(choose(&ranked, 9, max_of_kind), [1, 2, 3, 4, 5]);
        assert!(choose(&ranked, 0, max_of_kind).is_empty());
    }

    #[test]
    fn fused_score_is_between_zero_and_one() {
        let tuning = Tuning::default();
        for names in [0.1, 0.5, 1.0] {
            assert_eq!(tuning.fused([0.0; 5], names).to_bits(), 0.0_f32.to_bits());
            assert!((tuning.fused([1.0; 5], names) - 1.0).abs() < 1e-6);
            for part in Part::ALL {
                let mut scores = [0.0; 5];
                scores[part.place()] = 0.5;
                let score = Tuning::only(part).fused(scores, names);
                assert!((score - 0.5).abs() < 1e-6, "{part:?}");
            }
        }
    }

    /// A text that matches through translations only is not penalised for missing words.
    #[test]
    fn text_in_the_other_language_is_scored_by_its_translations() {
        let tuning = Tuning::default();
        let other_language = tuning.fused([0.0, 0.0, 0.4, 0.0, 0.0], 1.0);
        let own_language = tuning.fused([0.4, 0.4, 0.4, 0.0, 0.0], 1.0);
        assert!((other_language - own_language).abs() < 1e-6);
    }

    #[test]
    fn name_weight_falls_with_the_number_of_other_words() {
        let tuning = Tuning::default();
        let [herb, paper] = [[0.1, 0.1, 0.1, 0.6, 0.3], [0.0, 0.0, 0.4, 0.2, 0.2]];
        let best = |other_words: f32| {
            let names = tuning.name_weight(other_words);
            let herb = tuning.fused(herb, names) * tuning.kind_factor(Kind::Herb, None, names);
            let paper = tuning.fused(paper, names) * tuning.kind_factor(Kind::Paper, None, names);
            if herb > paper { Kind::Herb } else { Kind::Paper }
        };
        assert_eq!((best(0.0), best(9.0)), (Kind::Herb, Kind::Paper));
    }
}
