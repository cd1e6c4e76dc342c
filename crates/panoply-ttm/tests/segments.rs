//! The segmenter against sentences that a reader cut by hand, before it had seen them.

use std::collections::BTreeSet;
use std::sync::Arc;

use panoply_ttm::library::Library;
use panoply_ttm::search::corpus;
use panoply_ttm::text::{Dictionary, Segmenter, normalize};

const BY_HAND: &str = include_str!("fixtures/segments_th.txt");

#[test]
fn words_end_where_a_reader_ends_them() {
    let plain = Dictionary::new([]).unwrap();
    let [precision, recall, f1] = measured(plain);
    assert!(f1 >= 0.92, "precision {precision:.3}, recall {recall:.3}, F1 {f1:.3}");
    // Names of the graph are words too, such as `ไขมันในเลือด`; that costs recall, and what is
    // cut must still be cut rightly.
    let corpus = corpus(&Library::read().unwrap());
    let names = corpus.documents.iter().flat_map(|document| &document.names);
    let [precision, recall, f1] = measured(Dictionary::new(names.map(String::as_str)).unwrap());
    assert!(precision >= 0.95, "precision {precision:.3}, recall {recall:.3}, F1 {f1:.3}");
}

/// Precision, recall and F1 of the places between words.
fn measured(dictionary: Dictionary) -> [f64; 3] {
    let segmenter = Segmenter::new(Arc::new(dictionary));
    let (mut right, mut cut, mut met) = (0, 0, 0);
    for line in BY_HAND.lines() {
        let text = line.replace('|', "");
        assert_eq!(normalize(&text).text(), text, "the sentences are spelt as we spell");
        let expected = inside(line.split('|').map(str::len), text.len());
        let lengths = segmenter.segment(&text);
        let given = inside(lengths.iter().map(|token| token.range.len()), text.len());
        right += expected.len();
        cut += given.len();
        met += expected.intersection(&given).count();
    }
    let [right, cut, met] = [right, cut, met].map(|count| count as f64);
    [met / cut, met / right, 2.0 * met / (right + cut)]
}

/// Where words of these lengths end, but for the end of the text.
fn inside(lengths: impl Iterator<Item = usize>, text: usize) -> BTreeSet<usize> {
    let mut end = 0;
    let ends = lengths.map(|length| {
        end += length;
        end
    });
    ends.filter(|end| *end < text).collect()
}
