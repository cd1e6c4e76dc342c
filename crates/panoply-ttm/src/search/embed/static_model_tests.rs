//! The static model matches Model2Vec on the same files.

use std::collections::BTreeMap;
use std::path::Path;

use safetensors::tensor::TensorView;
use serde_json::json;

use super::*;

/// Small models whose row `r` has `(7r + 13c) mod 11 − 5` in column `c`. Expected values were
/// computed with Model2Vec 0.10.0 and tokenizers 0.23.3: `StaticModel(vectors, tokenizer,
/// config={"normalize": False}).encode(text)`.
const ROWS: u16 = 13;
const COLUMNS: u16 = 8;

fn number(row: u16, column: u16) -> f32 {
    f32::from((row * 7 + column * 13) % 11) - 5.0
}

fn write(folder: &Path, tokenizer: &serde_json::Value, dtype: Dtype) {
    let numbers = (0..ROWS).flat_map(|row| (0..COLUMNS).map(move |column| number(row, column)));
    let bytes: Vec<u8> = numbers
        .flat_map(|number| match dtype {
            Dtype::F16 => half_of(number).to_le_bytes().to_vec(),
            _ => number.to_le_bytes().to_vec(),
        })
        .collect();
    let shape = vec![usize::from(ROWS), usize::from(COLUMNS)];
    let view = TensorView::new(dtype, shape, &bytes).unwrap();
    let file = safetensors::serialize([("embeddings", view)], None).unwrap();
    std::fs::write(folder.join("model.safetensors"), file).unwrap();
    std::fs::write(folder.join("tokenizer.json"), tokenizer.to_string()).unwrap();
}

/// Encodes a small integer as binary16.
fn half_of(number: f32) -> u16 {
    let bits = number.to_bits();
    if bits == 0 {
        return 0;
    }
    let exponent = u16::try_from((bits >> 23) & 0xff).unwrap() - 127 + 15;
    let sign = u16::try_from(bits >> 31).unwrap();
    sign << 15 | exponent << 10 | u16::try_from((bits >> 13) & 0x3ff).unwrap()
}

fn word_piece() -> serde_json::Value {
    let words = [
        "[PAD]",
        "[UNK]",
        "ginger",
        "for",
        "nausea",
        "##s",
        "tea",
        "root",
        "##ed",
        "-",
        "cafe",
        "ขง",
        "ขิง",
    ];
    let vocabulary: BTreeMap<&str, usize> = words.iter().copied().zip(0..).collect();
    json!({
        "normalizer": {"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true,
            "strip_accents": null, "lowercase": true},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
            "vocab": vocabulary},
    })
}

fn unigram() -> serde_json::Value {
    let pieces = json!([
        ["<unk>", 0.0],
        ["▁", -3.0],
        ["▁gin", -4.0],
        ["ger", -4.5],
        ["▁ginger", -7.0],
        ["▁for", -3.5],
        ["▁nau", -5.0],
        ["sea", -5.0],
        ["ขิง", -6.0],
        ["▁ขิง", -8.0],
        ["แก้", -6.5],
        ["คลื่นไส้", -9.0],
        ["s", -4.0]
    ]);
    json!({
        "normalizer": {"type": "NFKC"},
        "pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always"},
        "model": {"type": "Unigram", "unk_id": 0, "vocab": pieces},
    })
}

fn vectors(tokenizer: &serde_json::Value, dtype: Dtype, texts: &[&str]) -> Vec<Vec<f32>> {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), tokenizer, dtype);
    let texts: Vec<String> = texts.iter().map(ToString::to_string).collect();
    StaticModel::at(folder.path().to_owned()).embed(&texts).unwrap()
}

fn close(vector: &[f32], expected: &[f32], case: &str) {
    assert_eq!(vector.len(), expected.len(), "{case}");
    for (one, other) in vector.iter().zip(expected) {
        assert!((one - other).abs() < 1e-3, "{case}: {vector:?}");
    }
}

#[test]
fn wordpiece_model_matches_model2vec() {
    let cases: [(&str, [f32; 8]); 5] = [
        (
            "Ginger for nausea",
            [1.33333, -0.33333, 1.66667, 0.0, -1.66667, 0.33333, -1.33333, 0.66667],
        ),
        (
            "gingers tea-rooted café",
            [-0.42857, 0.0, 0.42857, 0.85714, -0.28571, -1.42857, 0.57143, -0.57143],
        ),
        ("ขิง tea", [-0.5, -4.0, -2.0, 0.0, 2.0, 4.0, 0.5, -3.0]),
        ("unknown words", [0.0; 8]),
        ("ginger unknown", [-2.0, 0.0, 2.0, 4.0, -5.0, -3.0, -1.0, 1.0]),
    ];
    let given = vectors(&word_piece(), Dtype::F32, &cases.map(|(text, _)| text));
    for ((text, expected), vector) in cases.iter().zip(&given) {
        close(vector, expected, text);
    }
}

#[test]
fn unigram_f16_model_matches_model2vec() {
    let cases: [(&str, [f32; 8]); 3] = [
        ("ginger for nausea", [0.5, -0.25, 1.75, -1.75, 0.25, -0.5, 1.5, 0.75]),
        ("ขิงแก้คลื่นไส้", [-1.0, 1.0, -0.6665, 1.33301, -0.33325, 1.66699, 0.0, -1.66699]),
        ("gingers", [1.5, 3.5, 0.0, -3.5, -1.5, 0.5, 2.5, 4.5]),
    ];
    let given = vectors(&unigram(), Dtype::F16, &cases.map(|(text, _)| text));
    for ((text, expected), vector) in cases.iter().zip(&given) {
        close(vector, expected, text);
    }
    // Computed with Model2Vec and NumPy: cosines of the first text with the other two.
    for (other, expected) in [(1, -0.65977), (2, 0.54138)] {
        let dot: f32 = given[0].iter().zip(&given[other]).map(|(one, two)| one * two).sum();
        let length = |vector: &[f32]| vector.iter().map(|one| one * one).sum::<f32>().sqrt();
        let cosine = dot / length(&given[0]) / length(&given[other]);
        assert!((cosine - expected).abs() < 1e-3, "{cosine}");
    }
}

#[test]
fn invalid_model_folder_is_reported_with_its_fault() {
    let error = |spoil: &dyn Fn(&Path)| {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), &word_piece(), Dtype::F32);
        spoil(folder.path());
        StaticModel::at(folder.path().to_owned()).embed(&["ginger".to_owned()]).unwrap_err().0
    };
    let put = |name: &'static str, text: &'static str| {
        move |folder: &Path| std::fs::write(folder.join(name), text).unwrap()
    };
    let missing = error(&|folder| std::fs::remove_file(folder.join("model.safetensors")).unwrap());
    assert_eq!(missing, "`model.safetensors` cannot be read: entity not found");
    assert!(error(&put("model.safetensors", "x")).starts_with("`model.safetensors` is broken"));
    assert!(error(&put("tokenizer.json", "{")).starts_with("`tokenizer.json` is no JSON"));
    let other = error(&put("tokenizer.json", r#"{"model": {"type": "BPE"}}"#));
    assert_eq!(other, "`tokenizer.json` is of type `BPE`; WordPiece and Unigram are supported");
    let large = r#"{"model": {"type": "WordPiece", "vocab": {"ginger": 13}}}"#;
    let too_few = error(&put("tokenizer.json", large));
    assert_eq!(too_few, "`model.safetensors` has 13 rows of 8 for 14 tokens");
}
