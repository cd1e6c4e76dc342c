//! The built-in embedder: latent semantic indexing of the bilingual text.
//!
//! Documents that say the same in two languages put the words of both close together, so that a
//! Thai question finds English text without a dictionary. The vectors are those of the space
//! that the documents' term vectors mostly lie in, found by a randomised range finder with a
//! fixed seed (Halko, Martinsson and Tropp, 2011) in the space of documents: the graph has fewer
//! documents than terms. Every sum has a fixed order, so the same corpus gives the same bits.

use std::collections::HashMap;

use super::index::{Bag, Index, Stream, Weighted, frequency};
use super::numbers::{Random, ln};
use super::vectors::{Quantized, Vectors};
use crate::text::terms::Term;

/// How many numbers a vector has.
pub(super) const DIMENSIONS: usize = 96;
/// How often the random directions are turned towards the documents.
const ROUNDS: usize = 3;
const SEED: u64 = 0x7474_6d2d_6c73_6931;
/// The space is learnt from at most this many documents; others are placed in it.
const MOST_TRAINED: usize = 2_000;

/// Where each term lies.
#[derive(Debug, Default)]
pub(super) struct Lsi {
    places: HashMap<Term, usize>,
    /// A row of [`DIMENSIONS`] for each term.
    rows: Vec<f32>,
    idf: Vec<f32>,
}

impl Lsi {
    /// Learns the space from the first `trained` documents of an index.
    pub(super) fn train(index: &Index, trained: usize) -> Self {
        let trained = trained.min(MOST_TRAINED).min(index.documents);
        let mut columns = Columns::of(index, trained);
        columns.scale();
        let basis = basis(&columns.gram(trained), trained);
        let mut rows = vec![0.0; columns.terms.len() * DIMENSIONS];
        for (row, entries) in rows.chunks_exact_mut(DIMENSIONS).zip(&columns.entries) {
            for (document, weight) in entries {
                add_scaled(row, row_of(&basis, *document), *weight);
            }
        }
        let places = columns.terms.iter().enumerate().map(|(place, term)| (*term, place)).collect();
        Self { places, rows, idf: columns.idf }
    }

    /// What to say about where the vectors come from.
    pub(super) fn id(&self) -> String {
        format!("lsi-{DIMENSIONS}")
    }

    /// The vectors of all documents of an index.
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

    /// The vector of one document: the same as among [`Self::documents`], because terms are added
    /// in the same order.
    pub(super) fn document(&self, words: &Bag, trigrams: &Bag) -> Quantized {
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

    /// The vector of a question.
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

/// The term-by-document matrix, term by term.
struct Columns {
    terms: Vec<Term>,
    idf: Vec<f32>,
    entries: Vec<Vec<(usize, f32)>>,
    trained: usize,
}

impl Columns {
    fn of(index: &Index, trained: usize) -> Self {
        let mut columns = Self { terms: Vec::new(), idf: Vec::new(), entries: Vec::new(), trained };
        // A term of one document says nothing about others; one of half of them says little.
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

    /// Makes every document one long, so that long texts do not decide the space.
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

    /// The products of all pairs of documents.
    fn gram(&self, trained: usize) -> Vec<f32> {
        let mut gram = vec![0.0_f32; trained * trained];
        for entries in &self.entries {
            for (one, weight) in entries {
                let start = one * trained;
                let Some(row) = gram.get_mut(start..start + trained) else { continue };
                for (other, other_weight) in entries {
                    if let Some(product) = row.get_mut(*other) {
                        *product += weight * other_weight;
                    }
                }
            }
        }
        gram
    }
}

/// A matrix of `trained` rows whose product with the term-by-document matrix is an orthonormal
/// basis of the space that the documents mostly lie in.
fn basis(gram: &[f32], trained: usize) -> Vec<f32> {
    let mut random = Random::seeded(SEED);
    let mut directions: Vec<f32> = (0..trained * DIMENSIONS).map(|_| random.sign()).collect();
    for _ in 0..ROUNDS {
        directions = product(gram, &directions, trained);
        orthonormalise(&mut directions, |one, other| {
            one.iter().zip(other).map(|(one, other)| f64::from(*one) * f64::from(*other)).sum()
        });
    }
    // Orthonormal under the products of documents, which is orthonormal in the space of terms.
    let turned = product(gram, &directions, trained);
    orthonormalise_under(&mut directions, turned);
    directions
}

/// `gram` times `directions`.
fn product(gram: &[f32], directions: &[f32], trained: usize) -> Vec<f32> {
    let mut out = vec![0.0; directions.len()];
    for (sum, weights) in out.chunks_exact_mut(DIMENSIONS).zip(gram.chunks_exact(trained)) {
        for (direction, weight) in directions.chunks_exact(DIMENSIONS).zip(weights) {
            if *weight != 0.0 {
                add_scaled(sum, direction, *weight);
            }
        }
    }
    out
}

/// Gram–Schmidt on the columns, each against those before it, twice for the sake of rounding.
fn orthonormalise(rows: &mut [f32], inner: impl Fn(&[f32], &[f32]) -> f64) {
    let mut columns = columns_of(rows);
    for place in 0..columns.len() {
        let (done, rest) = columns.split_at_mut(place);
        let Some(column) = rest.first_mut() else { break };
        for _ in 0..2 {
            for other in done.iter() {
                let shared = narrow(inner(column, other));
                add_scaled(column, other, -shared);
            }
        }
        let length = narrow(inner(column, column).sqrt());
        scale(column, length);
    }
    put_columns(rows, &columns);
}

/// The same where the inner product of two columns is taken with their turned images.
fn orthonormalise_under(rows: &mut [f32], mut turned: Vec<f32>) {
    let mut columns = columns_of(rows);
    let mut images = columns_of(&turned);
    turned.clear();
    let dot = |one: &[f32], other: &[f32]| -> f64 {
        one.iter().zip(other).map(|(one, other)| f64::from(*one) * f64::from(*other)).sum()
    };
    for place in 0..columns.len() {
        let (done, rest) = columns.split_at_mut(place);
        let (done_images, rest_images) = images.split_at_mut(place);
        let (Some(column), Some(image)) = (rest.first_mut(), rest_images.first_mut()) else {
            break;
        };
        for _ in 0..2 {
            for (other, other_image) in done.iter().zip(done_images.iter()) {
                let shared = narrow(dot(column, other_image));
                add_scaled(column, other, -shared);
                add_scaled(image, other_image, -shared);
            }
        }
        let length = narrow(dot(column, image).max(0.0).sqrt());
        scale(column, length);
        scale(image, length);
    }
    put_columns(rows, &columns);
}

fn columns_of(rows: &[f32]) -> Vec<Vec<f32>> {
    let column = |place: usize| rows.iter().skip(place).step_by(DIMENSIONS).copied().collect();
    (0..DIMENSIONS).map(column).collect()
}

fn put_columns(rows: &mut [f32], columns: &[Vec<f32>]) {
    for (place, column) in columns.iter().enumerate() {
        let cells = rows.iter_mut().skip(place).step_by(DIMENSIONS);
        cells.zip(column).for_each(|(cell, number)| *cell = *number);
    }
}

/// Divides by a length; a direction that has vanished becomes nothing.
fn scale(column: &mut [f32], length: f32) {
    let factor = if length > 1e-6 { 1.0 / length } else { 0.0 };
    column.iter_mut().for_each(|number| *number *= factor);
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

/// More of the same word counts less.
fn damped(frequency: f32) -> f32 {
    narrow(1.0 + ln(f64::from(frequency.max(0.25)) + 1.0))
}

#[expect(clippy::cast_possible_truncation, reason = "half the digits are enough for a direction")]
const fn narrow(number: f64) -> f32 {
    number as f32
}
