//! Many documents out of few: statements of the bundled texts, mixed by a fixed rule.

use panoply_ttm::search::{Corpus, Document, Kind, Passage};

/// How many statements a made-up document has.
const STATEMENTS: usize = 3;

/// The corpus, and made-up papers until there are `wanted` documents.
pub(super) fn corpus(mut corpus: Corpus, wanted: usize) -> Corpus {
    let statements: Vec<Passage> = corpus
        .documents
        .iter()
        .flat_map(|document| &document.passages)
        .filter(|passage| passage.text.chars().count() >= 40)
        .cloned()
        .collect();
    let mut number: usize = 1;
    while corpus.documents.len() < wanted && !statements.is_empty() {
        let mut document = Document {
            id: format!("S:{number}"),
            kind: Some(Kind::Paper),
            title_en: format!("Made-up document {number}"),
            ..Document::default()
        };
        for statement in 0..STATEMENTS {
            // A multiplication by a large prime visits the statements in a scattered order.
            let place = (number * STATEMENTS + statement).wrapping_mul(2_654_435_761) >> 8;
            document.passages.extend(statements.get(place % statements.len()).cloned());
        }
        corpus.documents.push(document);
        number += 1;
    }
    corpus
}
