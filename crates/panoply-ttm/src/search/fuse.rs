//! One ranking out of five, and room for more than one kind of thing in it.

use super::bm25::Bm25;
use super::document::Kind;

/// A part of the search that can rank by itself.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Part {
    /// BM25 over words.
    Words,
    /// BM25 over trigrams.
    Trigrams,
    /// BM25 over the words and their translations, each pair counting once.
    Lexicon,
    /// Names of the graph and what they lead to.
    Links,
    /// Vectors.
    Vectors,
}

impl Part {
    /// Every part.
    pub const ALL: [Self; 5] =
        [Self::Words, Self::Trigrams, Self::Lexicon, Self::Links, Self::Vectors];

    /// Its name in replies and benches.
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

/// How the parts are weighed. The figures were chosen on `data/ttm/eval/curated.jsonl` and on
/// nothing else; `panoply-bench ttm-search` prints what they give there and on other questions.
#[derive(Clone, Debug, PartialEq)]
pub struct Tuning {
    /// How much each part counts, in the order of [`Part::ALL`].
    pub weights: [f32; 5],
    /// BM25 of words and of the lexicon's words.
    pub words: Bm25,
    /// BM25 of trigrams.
    pub trigrams: Bm25,
    /// Of ten hits at most this many are papers, and as many pieces of a user's texts.
    pub papers_in_ten: usize,
    /// Of ten hits at most this many are constituents, indications and cautions, each.
    pub nodes_in_ten: usize,
    /// What constituents, indications and cautions keep of their scores: they are signposts to
    /// the herbs and medicines that most questions ask for.
    pub signposts: f32,
    /// What other kinds keep of their scores when a question asks for one kind in words.
    pub other_kinds: f32,
}

impl Default for Tuning {
    fn default() -> Self {
        Self {
            weights: [0.3, 0.3, 1.0, 0.8, 0.3],
            words: Bm25 { k1: 1.2, b: 0.75 },
            trigrams: Bm25 { k1: 1.2, b: 0.75 },
            papers_in_ten: 3,
            nodes_in_ten: 1,
            signposts: 0.6,
            other_kinds: 0.6,
        }
    }
}

impl Tuning {
    /// One part and nothing else.
    pub fn only(part: Part) -> Self {
        let mut weights = [0.0; 5];
        if let Some(weight) = weights.get_mut(part.place()) {
            *weight = 1.0;
        }
        Self { weights, ..Self::default() }
    }

    /// The weighted mean of the parts' scores.
    pub(super) fn fused(&self, scores: [f32; 5]) -> f32 {
        let whole: f32 = self.weights.iter().sum();
        let sum: f32 = self.weights.iter().zip(scores).map(|(weight, score)| weight * score).sum();
        (sum / whole.max(f32::MIN_POSITIVE)).clamp(0.0, 1.0)
    }

    /// What a document of a kind keeps of its score, when the question asks for `asked`.
    pub(super) fn kept(&self, kind: Kind, asked: Option<Kind>) -> f32 {
        let signpost = matches!(kind, Kind::Constituent | Kind::Indication | Kind::Caution);
        match asked {
            Some(asked) if asked == kind => 1.0,
            Some(_) => self.other_kinds,
            None if signpost => self.signposts,
            None => 1.0,
        }
    }

    /// How many hits of a kind there may be among `top`, unless the caller asked for kinds.
    pub(super) const fn room(&self, kind: Kind, top: usize) -> usize {
        let tens = top.div_ceil(10);
        match kind {
            Kind::Herb | Kind::Formulation => top,
            Kind::Paper | Kind::Chunk => self.papers_in_ten * tens,
            Kind::Constituent | Kind::Indication | Kind::Caution => self.nodes_in_ten * tens,
        }
    }
}

/// The best `top` of `ranked` (best first): no kind takes more than its room while others wait.
/// What is left of the room goes to the rest.
pub(super) fn choose<T: Copy>(
    ranked: &[(T, Kind)],
    top: usize,
    room: impl Fn(Kind) -> usize,
) -> Vec<T> {
    let mut taken = [0_usize; Kind::ALL.len()];
    let mut chosen: Vec<(usize, T)> = Vec::with_capacity(top);
    let mut waiting: Vec<(usize, T)> = Vec::new();
    for (rank, (item, kind)) in ranked.iter().enumerate() {
        if chosen.len() == top {
            break;
        }
        let count = taken.get_mut(*kind as usize);
        match count {
            Some(count) if *count < room(*kind) => {
                *count += 1;
                chosen.push((rank, *item));
            }
            _ => waiting.push((rank, *item)),
        }
    }
    let left = top - chosen.len();
    chosen.extend(waiting.into_iter().take(left));
    chosen.sort_by_key(|(rank, _)| *rank);
    chosen.into_iter().map(|(_, item)| item).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn papers_leave_room_for_herbs_and_fill_what_nobody_takes() {
        let paper = |number| (number, Kind::Paper);
        let ranked = [paper(1), paper(2), paper(3), (4, Kind::Herb), (5, Kind::Herb)];
        let room = |kind| if kind == Kind::Paper { 1 } else { 9 };
        assert_eq!(choose(&ranked, 3, room), [1, 4, 5]);
        assert_eq!(choose(&ranked, 4, room), [1, 2, 4, 5]);
        assert_eq!(choose(&ranked, 9, room), [1, 2, 3, 4, 5]);
        assert!(choose(&ranked, 0, room).is_empty());
    }

    #[test]
    fn a_fused_score_is_between_nothing_and_everything() {
        let tuning = Tuning::default();
        assert_eq!(tuning.fused([0.0; 5]).to_bits(), 0.0_f32.to_bits());
        assert!((tuning.fused([1.0; 5]) - 1.0).abs() < 1e-6);
        for part in Part::ALL {
            let mut scores = [0.0; 5];
            scores[part.place()] = 0.5;
            assert!((Tuning::only(part).fused(scores) - 0.5).abs() < 1e-6, "{part:?}");
        }
    }
}
