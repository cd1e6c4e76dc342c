//! Static embedding model in a folder, as written by Model2Vec (`model.safetensors`,
//! `tokenizer.json`): a text is the mean of its token vectors.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use safetensors::{Dtype, SafeTensors};

use super::tokenizer::Tokenizer;
use super::{EmbedError, Embedder};

/// Maximum number of tokens per text, as in Model2Vec.
const MAX_PIECES: usize = 512;

/// A static model, loaded at first use.
#[derive(Debug)]
pub struct StaticModel {
    folder: PathBuf,
    read: OnceLock<Result<StaticVectors, EmbedError>>,
}

impl StaticModel {
    /// Creates a model for a folder.
    pub const fn at(folder: PathBuf) -> Self {
        Self { folder, read: OnceLock::new() }
    }
}

impl Embedder for StaticModel {
    fn id(&self) -> String {
        let name = self.folder.file_name().map(|name| name.to_string_lossy().into_owned());
        format!("file:{}", name.unwrap_or_default())
    }

    fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let table = self.read.get_or_init(|| StaticVectors::read(&self.folder));
        let table = table.as_ref().map_err(Clone::clone)?;
        Ok(texts.iter().map(|text| table.mean(text)).collect())
    }
}

/// Token vectors and tokenizer.
#[derive(Debug)]
struct StaticVectors {
    pieces: Tokenizer,
    bytes: Vec<u8>,
    dtype: Dtype,
    dimensions: usize,
}

impl StaticVectors {
    fn read(folder: &Path) -> Result<Self, EmbedError> {
        let file = |name: &str| {
            std::fs::read(folder.join(name))
                .map_err(|error| EmbedError(format!("`{name}` cannot be read: {}", error.kind())))
        };
        let pieces = Tokenizer::parse(&file("tokenizer.json")?).map_err(EmbedError)?;
        let model = file("model.safetensors")?;
        let broken = |why: &str| EmbedError(format!("`model.safetensors` {why}"));
        let tensors = SafeTensors::deserialize(&model)
            .map_err(|error| broken(&format!("is broken: {error}")))?;
        let view = tensors
            .tensor("embeddings")
            .map_err(|_| broken("has no tensor `embeddings`; Model2Vec writes one"))?;
        if tensors.tensor("mapping").is_ok() {
            return Err(broken("has a `mapping`; save the model without quantized vocabulary"));
        }
        let &[rows, dimensions] = view.shape() else {
            return Err(broken("has `embeddings` that are not a table"));
        };
        if !matches!(view.dtype(), Dtype::F32 | Dtype::F16) {
            return Err(broken("has `embeddings` that are neither F32 nor F16"));
        }
        if rows < pieces.len() || dimensions == 0 {
            return Err(broken(&format!(
                "has {rows} rows of {dimensions} for {} tokens",
                pieces.len()
            )));
        }
        let bytes = view.data().to_vec();
        Ok(Self { pieces, bytes, dtype: view.dtype(), dimensions })
    }

    /// Returns the mean vector of a text; zero without known tokens.
    fn mean(&self, text: &str) -> Vec<f32> {
        let mut sum = vec![0.0; self.dimensions];
        let pieces = self.pieces.of(text);
        let pieces = pieces.get(..pieces.len().min(MAX_PIECES)).unwrap_or_default();
        for piece in pieces {
            self.add_row(*piece, &mut sum);
        }
        let count = pieces.len().max(1) as f32;
        sum.iter_mut().for_each(|number| *number /= count);
        sum
    }

    fn add_row(&self, row: usize, sum: &mut [f32]) {
        let size = if self.dtype == Dtype::F32 { 4 } else { 2 };
        let start = row * self.dimensions * size;
        let numbers = self.bytes.get(start..start + self.dimensions * size).unwrap_or_default();
        for (sum, bytes) in sum.iter_mut().zip(numbers.chunks_exact(size)) {
            *sum += match *bytes {
                [a, b, c, d] => f32::from_le_bytes([a, b, c, d]),
                [a, b] => half(u16::from_le_bytes([a, b])),
                _ => 0.0,
            };
        }
    }
}

/// Converts IEEE 754 binary16.
fn half(bits: u16) -> f32 {
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let exponent = i32::from((bits >> 10) & 0x1f);
    let fraction = f32::from(bits & 0x3ff) / 1024.0;
    match exponent {
        0 => sign * fraction * 2.0_f32.powi(-14),
        31 if fraction > 0.0 => f32::NAN,
        31 => sign * f32::INFINITY,
        _ => sign * (1.0 + fraction) * 2.0_f32.powi(exponent - 15),
    }
}

#[cfg(test)]
#[path = "static_model_tests.rs"]
mod tests;
