//! Latent semantic indexing (LSI), the built-in embedder.
//!
//! Trained on bilingual documents, it maps words of both languages to nearby vectors, so that a
//! Thai query finds English text. The basis is computed by a randomised range finder with a fixed
//! seed (Halko, Martinsson and Tropp, 2011) in document space, because there are fewer documents
//! than terms. All sums have a fixed order independent of the number of threads: the same corpus
//! gives the same bits.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::OnceLock;

use super::index::{Index, Stream, TermCounts, Weighted, frequency};
use super::vectors::{Quantized, Vectors};
use crate::arithmetic::{SplitMix64, ln};
use crate::text::terms::Term;

/// Number of dimensions.
pub(super) const DIMENSIONS: usize = 96;
/// Number of power iterations.
const POWER_ITERATIONS: usize = 3;
const SEED: u64 = 0x7474_6d2d_6c73_6931;
/// Maximum number of training documents.
const MAX_TRAINING_DOCUMENTS: usize = 2_000;

/// Term vectors.
#[derive(Debug, Default)]
pub(super) struct Lsi {
    places: HashMap<Term, usize>,
    /// Row-major matrix, [`DIMENSIONS`] numbers per term.
    rows: Vec<f32>,
    idf: Vec<f32>,
}

impl Lsi {
    /// Trains on the first `trained` documents of an index.
    pub(super) fn train(index: &Index, trained: usize) -> Self {
        let trained = trained.min(MAX_TRAINING_DOCUMENTS).min(index.documents);
        let mut columns = TermDocumentMatrix::of(index, trained);
        columns.scale();
        let basis = basis(&columns.gram(), trained);
        let mut rows = vec![0.0; columns.terms.len() * DIMENSIONS];
        for (row, entries) in rows.chunks_exact_mut(DIMENSIONS).zip(&columns.entries) {
            for (document, weight) in entries {
                add_scaled(row, row_of(&basis, *document), *weight);
            }
        }
        let places = columns.terms.iter().enumerate().map(|(place, term)| (*term, place)).collect();
        Self { places, rows, idf: columns.idf }
    }

    /// Returns the name used in replies.
    pub(super) fn id(&self) -> String {
        format!("lsi-{DIMENSIONS}")
    }

    /// Returns the vectors of all documents of an index.
    pub(super) fn documents(&self, index: &Index) -> Vectors {
        let mut sums = vec![0.0; index.documents * DIMENSIONS];
        let mut terms: Vec<(&Term, &usize)> = self.places.iter().collect();
        terms.sort_unstable();
        for (term, place) in terms {
            let idf = self.idf.get(*place).copied().unwrap_or_default();
            for (document, frequency) in stream_of(index, *term).frequencies(*term) {
                let start = document as usize * DIMENSIONS;
                if let Some(sum) = sums.get_mut(start..start + DIMENSIONS) {
                    add_scaled(sum, row_of(&self.rows, *place), damped(frequency) * idf);
                }
            }
        }
        let mut vectors = Vectors::new(DIMENSIONS);
        sums.chunks_exact(DIMENSIONS).for_each(|sum| vectors.push(sum));
        vectors
    }

    /// Returns the vector of one document, identical to that of [`Self::documents`]: terms are
    /// added in the same order.
    pub(super) fn document(&self, words: &TermCounts, trigrams: &TermCounts) -> Quantized {
        let mut sum = vec![0.0; DIMENSIONS];
        for (term, steps) in words.terms.iter().chain(&trigrams.terms) {
            if let Some(place) = self.places.get(term) {
                let idf = self.idf.get(*place).copied().unwrap_or_default();
                let factor = damped(frequency(*steps)) * idf;
                add_scaled(&mut sum, row_of(&self.rows, *place), factor);
            }
        }
        Quantized::of(&sum)
    }

    /// Returns the vector of a query.
    pub(super) fn question(&self, terms: &[Weighted]) -> Quantized {
        let mut sum = vec![0.0; DIMENSIONS];
        for Weighted { term, weight } in terms {
            if let Some(place) = self.places.get(term) {
                let idf = self.idf.get(*place).copied().unwrap_or_default();
                add_scaled(&mut sum, row_of(&self.rows, *place), weight * idf);
            }
        }
        Quantized::of(&sum)
    }
}

/// Sparse term-by-document matrix.
struct TermDocumentMatrix {
    terms: Vec<Term>,
    idf: Vec<f32>,
    entries: Vec<Vec<(usize, f32)>>,
    trained: usize,
}

impl TermDocumentMatrix {
    fn of(index: &Index, trained: usize) -> Self {
        let mut columns = Self { terms: Vec::new(), idf: Vec::new(), entries: Vec::new(), trained };
        // Terms of one document carry no information, and very frequent terms little.
        let most = (trained / 3).max(2);
        for stream in [&index.words, &index.trigrams] {
            for term in stream.terms(2) {
                let entries: Vec<(usize, f32)> = stream
                    .frequencies(term)
                    .map(|(document, frequency)| (document as usize, frequency))
                    .filter(|(document, _)| *document < trained)
                    .collect();
                if entries.len() >= 2 && entries.len() <= most {
                    columns.push(term, &entries);
                }
            }
        }
        columns
    }

    fn push(&mut self, term: Term, entries: &[(usize, f32)]) {
        let idf = 1.0 + narrow(ln(self.trained as f64 / entries.len() as f64));
        let weighted =
            entries.iter().map(|(document, frequency)| (*document, damped(*frequency) * idf));
        self.entries.push(weighted.collect());
        self.terms.push(term);
        self.idf.push(idf);
    }

    /// Normalises document vectors to unit length, so that long texts do not dominate.
    fn scale(&mut self) {
        let mut squares = vec![0.0_f32; self.trained];
        for (document, weight) in self.entries.iter().flatten() {
            if let Some(square) = squares.get_mut(*document) {
                *square += weight * weight;
            }
        }
        for (document, weight) in self.entries.iter_mut().flatten() {
            let square = squares.get(*document).copied().unwrap_or_default();
            *weight /= square.sqrt().max(f32::MIN_POSITIVE);
        }
    }

    /// Computes the Gram matrix of the documents. Each entry is a sum over terms in order; the
    /// matrix is exactly symmetric.
    fn gram(&self) -> Vec<f32> {
        let trained = self.trained;
        let mut gram = vec![0.0_f32; trained * trained];
        let (upper, lower) = gram.split_at_mut(self.median_pair_row() * trained);
        let middle = upper.len() / trained.max(1);
        std::thread::scope(|scope| {
            scope.spawn(|| self.fill_products(0..middle, upper));
            self.fill_products(middle..trained, lower);
        });
        for one in 0..trained {
            for other in 0..one {
                let product = gram.get(other * trained + one).copied().unwrap_or_default();
                if let Some(cell) = gram.get_mut(one * trained + other) {
                    *cell = product;
                }
            }
        }
        gram
    }

    /// Returns the row that splits the products into two equal halves.
    fn median_pair_row(&self) -> usize {
        let mut begun = vec![0_usize; self.trained];
        for entries in &self.entries {
            for (after, (document, _)) in entries.iter().rev().enumerate() {
                if let Some(count) = begun.get_mut(*document) {
                    *count += after + 1;
                }
            }
        }
        let half = begun.iter().sum::<usize>() / 2;
        let mut sum = 0;
        let before = begun.iter().take_while(|count| {
            sum += **count;
            sum <= half
        });
        before.count()
    }

    /// Computes the upper triangle for a range of rows.
    fn fill_products(&self, documents: Range<usize>, rows: &mut [f32]) {
        for entries in &self.entries {
            let first = entries.partition_point(|(document, _)| *document < documents.start);
            for (place, (one, weight)) in entries.iter().enumerate().skip(first) {
                if *one >= documents.end {
                    break;
                }
                let start = (one - documents.start) * self.trained;
                let Some(row) = rows.get_mut(start..start + self.trained) else { continue };
                for (other, other_weight) in entries.get(place..).unwrap_or_default() {
                    if let Some(product) = row.get_mut(*other) {
                        *product += weight * other_weight;
                    }
                }
            }
        }
    }
}

/// Returns coefficients whose product with the term-by-document matrix is an orthonormal basis of
/// its dominant subspace.
fn basis(gram: &[f32], trained: usize) -> Vec<f32> {
    let mut random = SplitMix64::seeded(SEED);
    let mut directions: Vec<f32> = (0..trained * DIMENSIONS).map(|_| random.sign()).collect();
    for _ in 0..POWER_ITERATIONS {
        let image = product(gram, &directions, trained);
        directions = orthonormal(&image, &image);
    }
    // Orthonormal under the Gram matrix, hence orthonormal in term space.
    let image = product(gram, &directions, trained);
    orthonormal(&directions, &image)
}

/// Matrix product, computed by two threads.
fn product(gram: &[f32], directions: &[f32], trained: usize) -> Vec<f32> {
    let mut out = vec![0.0; directions.len()];
    let half = trained / 2;
    let (first, second) = out.split_at_mut(half * DIMENSIONS);
    let (first_weights, second_weights) = gram.split_at(half * trained);
    let put = |rows: &mut [f32], weights: &[f32]| {
        for (sum, weights) in
            rows.chunks_exact_mut(DIMENSIONS).zip(weights.chunks_exact(trained.max(1)))
        {
            for (direction, weight) in directions.chunks_exact(DIMENSIONS).zip(weights) {
                if *weight != 0.0 {
                    add_scaled(sum, direction, *weight);
                }
            }
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(|| put(first, first_weights));
        put(second, second_weights);
    });
    out
}

/// Square matrix.
type Square = Vec<[f64; DIMENSIONS]>;

/// Orthonormalises the columns of `directions` under the inner product given by `images` (Cholesky
/// QR). A linearly dependent column becomes zero.
///
/// Compared with Gram–Schmidt, Cholesky QR needs no sequential long sums.
fn orthonormal(directions: &[f32], images: &[f32]) -> Vec<f32> {
    let mut products: Square = vec![[0.0; DIMENSIONS]; DIMENSIONS];
    for (row, image) in directions.chunks_exact(DIMENSIONS).zip(images.chunks_exact(DIMENSIONS)) {
        let image = widened(image);
        for (sums, number) in products.iter_mut().zip(row) {
            add_scaled_wide(sums, &image, f64::from(*number));
        }
    }
    let inverse = inverse_cholesky_transpose(&products);
    let mut out = Vec::with_capacity(directions.len());
    for row in directions.chunks_exact(DIMENSIONS) {
        let mut sum = [0.0; DIMENSIONS];
        for (inverse_row, number) in inverse.iter().zip(row) {
            add_scaled_wide(&mut sum, inverse_row, f64::from(*number));
        }
        out.extend(sum.map(narrow));
    }
    out
}

/// Relative squared residual below which a column is linearly dependent.
const RANK_TOLERANCE: f64 = 1e-10;

/// Returns the transposed inverse of the Cholesky factor of `products`.
fn inverse_cholesky_transpose(products: &[[f64; DIMENSIONS]]) -> Square {
    // Row k has column k of the inverse, filled up to `place`.
    let mut inverse: Square = vec![[0.0; DIMENSIONS]; DIMENSIONS];
    let mut factor: Square = Vec::with_capacity(DIMENSIONS);
    for (place, row) in products.iter().enumerate() {
        let mut factor_row = [0.0; DIMENSIONS];
        for (before, known) in factor.iter().enumerate() {
            let shared: f64 =
                factor_row.iter().zip(known).take(before).map(|(one, two)| one * two).sum();
            let length = known.get(before).copied().unwrap_or_default();
            let product = row.get(before).copied().unwrap_or_default();
            if let Some(cell) = factor_row.get_mut(before)
                && length > 0.0
            {
                *cell = (product - shared) / length;
            }
        }
        let square = row.get(place).copied().unwrap_or_default();
        let left = square - factor_row.iter().map(|number| number * number).sum::<f64>();
        let length = if left > RANK_TOLERANCE * square && left > 0.0 { left.sqrt() } else { 0.0 };
        fill_inverse_column(&mut inverse, place, &factor_row, length);
        if let Some(cell) = factor_row.get_mut(place) {
            *cell = length;
        }
        factor.push(factor_row);
    }
    inverse
}

/// Fills one column of the inverse by forward substitution.
fn fill_inverse_column(
    inverse: &mut Square,
    place: usize,
    factor_row: &[f64; DIMENSIONS],
    length: f64,
) {
    if length <= 0.0 {
        return;
    }
    for (row, inverse_row) in inverse.iter_mut().enumerate() {
        let own = if row == place { 1.0 } else { 0.0 };
        let projection: f64 = inverse_row
            .iter()
            .zip(factor_row)
            .take(place)
            .map(|(image, share)| image * share)
            .sum();
        if let Some(cell) = inverse_row.get_mut(place) {
            *cell = (own - projection) / length;
        }
    }
}

fn widened(row: &[f32]) -> [f64; DIMENSIONS] {
    let mut wide = [0.0; DIMENSIONS];
    wide.iter_mut().zip(row).for_each(|(wide, number)| *wide = f64::from(*number));
    wide
}

fn add_scaled_wide(sum: &mut [f64; DIMENSIONS], row: &[f64; DIMENSIONS], factor: f64) {
    sum.iter_mut().zip(row).for_each(|(sum, number)| *sum += number * factor);
}

fn add_scaled(sum: &mut [f32], row: &[f32], factor: f32) {
    sum.iter_mut().zip(row).for_each(|(sum, number)| *sum += number * factor);
}

fn row_of(rows: &[f32], place: usize) -> &[f32] {
    rows.get(place * DIMENSIONS..(place + 1) * DIMENSIONS).unwrap_or_default()
}

const fn stream_of(index: &Index, term: Term) -> &Stream {
    if term.is_trigram() { &index.trigrams } else { &index.words }
}

/// Sublinear term frequency; table lookup for quantised values.
fn damped(frequency: f32) -> f32 {
    static KNOWN: OnceLock<Vec<f32>> = OnceLock::new();
    let of = |frequency: f32| narrow(1.0 + ln(f64::from(frequency.max(0.25)) + 1.0));
    let known = KNOWN.get_or_init(|| (0..=u8::MAX).map(|step| of(f32::from(step) / 4.0)).collect());
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small number")]
    let step = (frequency * 4.0) as usize;
    match known.get(step) {
        Some(number) if (frequency * 4.0).fract() == 0.0 => *number,
        _ => of(frequency),
    }
}

#[expect(clippy::cast_possible_truncation, reason = "f32 precision is sufficient for a direction")]
const fn narrow(number: f64) -> f32 {
    number as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn random_rows(rows: usize) -> Vec<f32> {
        let mut random = SplitMix64::seeded(7);
        let number = |bits: u64| f32::from(u16::try_from(bits >> 48).unwrap()) / 65_536.0 - 0.4;
        (0..rows * DIMENSIONS).map(|_| number(random.next())).collect()
    }

    #[test]
    fn columns_become_orthonormal_and_a_dependent_column_becomes_zero() {
        let mut rows = random_rows(150);
        // The sixth column is the sum of the third and the fourth.
        for row in rows.chunks_exact_mut(DIMENSIONS) {
            row[5] = row[2] + row[3];
        }
        let inverse = orthonormal(&rows, &rows);
        let inner = |one: usize, other: usize| -> f32 {
            inverse.chunks_exact(DIMENSIONS).map(|row| row[one] * row[other]).sum()
        };
        for one in 0..DIMENSIONS {
            for other in 0..DIMENSIONS {
                let expected = if one == other && one != 5 { 1.0 } else { 0.0 };
                assert!((inner(one, other) - expected).abs() < 1e-4, "{one}, {other}");
            }
        }
    }

    #[test]
    fn gram_matrix_is_symmetric_and_matches_its_definition() {
        let (trained, terms) = (37_usize, 200_usize);
        let mut random = SplitMix64::seeded(3);
        let mut entries: Vec<Vec<(usize, f32)>> = vec![Vec::new(); terms];
        for of_term in &mut entries {
            let all = (0..trained).map(|document| (document, random.next() % 5));
            let some = all.filter(|(_, count)| *count > 2);
            of_term.extend(some.map(|(document, count)| (document, count as f32 / 4.0)));
        }
        let columns = TermDocumentMatrix {
            terms: Vec::new(),
            idf: Vec::new(),
            entries: entries.clone(),
            trained,
        };
        let gram = columns.gram();
        for one in 0..trained {
            for other in 0..trained {
                let weight = |term: &[(usize, f32)], document: usize| -> f32 {
                    let of = term.iter().find(|entry| entry.0 == document);
                    of.map_or(0.0, |entry| entry.1)
                };
                let mut expected = 0.0;
                for term in &entries {
                    expected += weight(term, one) * weight(term, other);
                }
                // Bitwise equal: the summation order is the same.
                assert_eq!(gram[one * trained + other].to_bits(), f32::to_bits(expected));
            }
        }
    }
}
