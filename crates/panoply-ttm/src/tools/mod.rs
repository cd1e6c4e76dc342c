//! What agents can call. One file a tool; [`pack`] is the list of them.

mod answer;
mod brought;
mod dialect;
mod documents;
mod eval_run;
mod find_contraindications;
mod hybrid_search;
mod prompts;
mod query_kg;
mod reports;
mod resources;
mod safety_words;
mod wire;

use std::sync::Arc;

use panoply_contract::pack::{Pack, PackInfo};

pub use self::dialect::TtmDialect;
use crate::eval::ReportShelf;
use crate::ingest::Shelf;
use crate::knowledge::KnowledgeDesk;
use crate::search::SearchDesk;

const INFO: PackInfo = PackInfo {
    name: "ttm",
    title: "Thai traditional medicine",
    instructions: "Facts on Thai traditional medicine: herbs, the formulations of the Thai National List of Essential Medicines, their constituents, indications, cautions, interactions and papers. Every fact names its source; what is marked `unverified` rests on general knowledge: say so. No record of a danger is not safety: say so too. This is reference information and not medical advice; never turn it into a prescription. Thai and English names both work as ids.",
};

/// The pack over the bundled facts and what the user brought along. Reports of evaluations go on a
/// shelf of their own.
pub fn pack(shelf: Arc<dyn Shelf>, reports: Arc<dyn ReportShelf>) -> Pack {
    let version = Arc::clone(&shelf);
    let desk = Arc::new(SearchDesk::new(Arc::clone(&shelf)));
    let knowledge = Arc::new(KnowledgeDesk::new(Arc::clone(&shelf)));
    Pack::new(INFO, TtmDialect)
        .with(query_kg::QueryKg { knowledge: Arc::clone(&knowledge) })
        .with(hybrid_search::HybridSearch {
            knowledge: Arc::clone(&knowledge),
            desk: Arc::clone(&desk),
        })
        .with(find_contraindications::FindContraindications { knowledge: Arc::clone(&knowledge) })
        .with(eval_run::EvalRun {
            knowledge: Arc::clone(&knowledge),
            desk,
            reports: Arc::clone(&reports),
        })
        .with_prompt(prompts::ABOUT_HERB)
        .with_resources(resources::Documents { shelf, knowledge })
        .with_resources(reports::Reports { reports })
        .with_completer(resources::Ids)
        .with_data_version(move || version.version())
}
