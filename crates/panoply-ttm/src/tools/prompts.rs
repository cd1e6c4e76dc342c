//! Starter prompts.

use panoply_contract::prompt::{Prompt, PromptArgument};

/// Prompt for one herb.
pub(crate) const ABOUT_HERB: Prompt = Prompt {
    name: "about-herb",
    title: "What a herb is used for, on what evidence, and with what it must not be combined",
    description: "Uses, constituents, papers, cautions and interactions of a herb, each with its source.",
    arguments: &[
        PromptArgument {
            name: "herb",
            description: "The herb, in Thai, English or Latin, such as ฟ้าทะลายโจร.",
            default: Some("ฟ้าทะลายโจร"),
        },
        PromptArgument {
            name: "medicines",
            description: "Medicines that are taken as well, or `none`.",
            default: Some("warfarin"),
        },
    ],
    template: "Tell me about the herb {herb} of Thai traditional medicine. Walk the graph with query_kg (start type herb, patterns herb->indication, herb->constituent and herb->paper), then look with find_contraindications at what it must not be combined with, given these medicines: {medicines}. Name the source of every statement, mark what is unverified or inferred, say plainly where nothing is on record and that this is not safety, and end with the notice that this is reference information and not medical advice.",
};
