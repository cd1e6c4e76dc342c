//! What agents can call. One file a tool; [`pack`] is the list of them.

mod answer;
mod dialect;
mod documents;
mod find_contraindications;
mod hybrid_search;
mod prompts;
mod query_kg;
mod resources;
mod safety_words;
mod wire;

use std::sync::Arc;

use panoply_contract::pack::{Pack, PackInfo};

pub use self::dialect::TtmDialect;
use crate::papers::PaperShelf;
use crate::search::SearchDesk;

const INFO: PackInfo = PackInfo {
    name: "ttm",
    title: "Thai traditional medicine",
    instructions: "Facts on Thai traditional medicine: herbs, the formulations of the Thai National List of Essential Medicines, their constituents, indications, cautions, interactions and papers. Every fact names its source; what is marked `unverified` rests on general knowledge: say so. No record of a danger is not safety: say so too. This is reference information and not medical advice; never turn it into a prescription. Thai and English names both work as ids.",
};

/// The pack over the bundled facts and the papers that the user brought along.
pub fn pack(papers: Arc<dyn PaperShelf>) -> Pack {
    let version = Arc::clone(&papers);
    let desk = Arc::new(SearchDesk::new(Arc::clone(&papers)));
    Pack::new(INFO, TtmDialect)
        .with(query_kg::QueryKg)
        .with(hybrid_search::HybridSearch { desk })
        .with(find_contraindications::FindContraindications)
        .with_prompt(prompts::ABOUT_HERB)
        .with_resources(resources::Documents { papers })
        .with_completer(resources::Ids)
        .with_data_version(move || version.version())
}
