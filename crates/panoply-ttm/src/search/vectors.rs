//! Quantised document vectors with exhaustive search.
//!
//! Integer dot products are exact and order-independent, so results are reproducible. Scanning a
//! hundred thousand documents takes milliseconds; an approximate index would be faster but not
//! reproducible.

/// Document vectors, 8 bits per dimension.
#[derive(Clone, Debug, Default)]
pub struct Vectors {
    numbers: Vec<i8>,
    dimensions: usize,
}

/// A unit vector in steps of 1/127.
#[derive(Clone, Debug, Default)]
pub(super) struct Quantized(Vec<i8>);

impl Quantized {
    /// Normalises and quantises a vector; the zero vector stays zero.
    pub(super) fn of(vector: &[f32]) -> Self {
        let square: f32 = vector.iter().map(|number| number * number).sum();
        let length = square.sqrt();
        if length <= f32::MIN_POSITIVE || !length.is_finite() {
            return Self(vec![0; vector.len()]);
        }
        #[expect(clippy::cast_possible_truncation, reason = "clamped first")]
        let step = |number: &f32| (number / length * 127.0).round().clamp(-127.0, 127.0) as i8;
        Self(vector.iter().map(step).collect())
    }

    /// Returns the quantised values.
    pub(super) fn into_numbers(self) -> Vec<i8> {
        self.0
    }
}

impl Vectors {
    pub(super) fn new(dimensions: usize) -> Self {
        Self { numbers: Vec::new(), dimensions }
    }

    /// Creates vectors from quantised rows of equal length.
    pub(super) fn of<'v>(rounded: impl Iterator<Item = &'v [i8]>) -> Self {
        let mut vectors = Self::default();
        for vector in rounded {
            if vectors.numbers.is_empty() {
                vectors.dimensions = vector.len();
            }
            let end = vectors.numbers.len() + vectors.dimensions;
            vectors.numbers.extend_from_slice(vector);
            vectors.numbers.resize(end, 0);
        }
        vectors
    }

    /// Returns the number of dimensions.
    pub(super) const fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// Appends a vector.
    pub(super) fn push(&mut self, vector: &[f32]) {
        let Quantized(mut numbers) = Quantized::of(vector);
        numbers.resize(self.dimensions, 0);
        self.numbers.extend(numbers);
    }

    /// Returns the cosine similarity with each document, at least 0.
    pub(super) fn cosines(&self, question: &Quantized) -> Vec<f32> {
        if self.dimensions == 0 {
            return Vec::new();
        }
        let rows = self.numbers.chunks_exact(self.dimensions);
        rows.map(|row| (dot(row, &question.0) as f32 / (127.0 * 127.0)).clamp(0.0, 1.0)).collect()
    }
}

/// 16-bit products with 32-bit accumulation: the compiler vectorises this.
fn dot(one: &[i8], other: &[i8]) -> i32 {
    one.iter().zip(other).map(|(one, other)| i32::from(i16::from(*one) * i16::from(*other))).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cosines_are_those_of_the_exact_vectors_to_two_digits() {
        let documents = [[3.0, 4.0, 0.0], [0.0, 0.0, 2.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 0.0]];
        let mut vectors = Vectors::new(3);
        documents.iter().for_each(|document| vectors.push(document));
        let cosines = vectors.cosines(&Quantized::of(&[1.0, 0.0, 0.0]));
        let expected = [0.6, 0.0, 0.0, 0.0];
        for (cosine, expected) in cosines.iter().zip(expected) {
            assert!((cosine - expected).abs() < 0.01, "{cosines:?}");
        }
        assert_eq!(cosines.len(), 4);
    }
}
