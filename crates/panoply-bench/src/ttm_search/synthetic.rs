//! Synthetic papers: statements of the bundled texts in a deterministic mix.

use panoply_ttm::papers::Record;
use panoply_ttm::search::Engine;

/// Statements per paper.
const STATEMENTS: usize = 3;
/// Above all assigned PubMed ids.
const FIRST_PMID: usize = 900_000_000;

/// Generates papers.
pub(super) fn papers(engine: &Engine, wanted: usize) -> Vec<Record> {
    let statements: Vec<&str> = (engine.memory_documents().iter())
        .flat_map(|document| &document.passages)
        .map(|passage| passage.text.as_str())
        .filter(|text| text.chars().count() >= 40)
        .collect();
    let paper = |number: usize| {
        let said = (0..STATEMENTS).filter_map(|statement| {
            // Multiplying by a large prime visits the statements in a scattered order.
            let place = (number * STATEMENTS + statement).wrapping_mul(2_654_435_761) >> 8;
            statements.get(place % statements.len().max(1)).copied()
        });
        Record {
            pmid: (FIRST_PMID + number).to_string(),
            title: format!("Made-up document {number}"),
            abstract_text: said.collect::<Vec<_>>().join("\n"),
            ..Record::default()
        }
    };
    (1..=wanted).map(paper).collect()
}
