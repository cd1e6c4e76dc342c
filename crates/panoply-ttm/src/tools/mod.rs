//! What agents can call. One file a tool; [`pack`] is the list of them.

mod dialect;

use panoply_contract::pack::{Pack, PackInfo};

pub use self::dialect::TtmDialect;

const INFO: PackInfo = PackInfo {
    name: "ttm",
    title: "Thai traditional medicine",
    instructions: "Facts on Thai traditional medicine: herbs, the formulations of the Thai National List of Essential Medicines, their constituents, indications, cautions, interactions and papers. Every fact names its source; what is marked `unverified` rests on general knowledge: say so. No record of a danger is not safety: say so too. This is reference information and not medical advice; never turn it into a prescription. Thai and English names both work as ids.",
};

/// The pack over the bundled graph.
pub fn pack() -> Pack {
    Pack::new(INFO, TtmDialect)
}
