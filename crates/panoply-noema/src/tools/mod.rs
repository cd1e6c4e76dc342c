//! The MCP tools, one per file; [`pack`] registers them.

mod approval;
mod approve_drafts;
mod batch;
mod bury_cards;
mod create_card;
mod create_cards;
mod create_deck;
mod delete_cards;
mod delete_deck;
mod end_session;
mod export_package;
mod find_duplicates;
mod forecast_reviews;
mod get_card;
mod get_deck;
mod get_next_card;
mod get_progress;
mod get_queue;
mod get_stats;
mod get_study_guidance;
mod import_cards;
mod import_export;
mod import_package;
mod list_decks;
mod list_leeches;
mod move_cards;
mod notes;
mod optimize_parameters;
mod predict_retention;
mod preview;
mod preview_import;
mod preview_review;
mod reschedule_cards;
mod restore_cards;
mod reveal_answer;
pub mod sample;
mod search_cards;
mod search_decks;
mod service;
mod simulate_workload;
mod specs;
mod start_session;
mod submit_review;
mod suspend_cards;
mod tag_cards;
mod undo_action;
mod undo_review;
mod unsuspend_cards;
mod untag_cards;
mod update_card;
mod update_deck;
mod wire;

use std::sync::Arc;

use panoply_contract::dialect::Unified;
use panoply_contract::pack::{Pack, PackInfo};
use panoply_contract::prompt::{Prompt, PromptArgument};

use self::service::NoemaService;
use crate::store::{SqliteStore, Store as _};
use panoply_store::mutations::SqliteMutationLog;
use panoply_store::roots::Roots;

const INFO: PackInfo = PackInfo {
    name: "noema",
    title: "Cards, decks and reviews",
    instructions: "Flash cards scheduled by FSRS-6. To study: `get-next-card` returns a front and a token; wait for the learner's answer; call `reveal-answer` with that token; call `submit-review` with the token it returns and the learner's own rating, never yours. Cards you create are drafts: show them, and call `approve-drafts` when the learner agrees. Every change can be undone with `undo-action`.",
};

const STUDY: Prompt = Prompt {
    name: "study",
    title: "Study with me",
    description: "A tutor that asks the due cards one at a time",
    arguments: &[PromptArgument {
        name: "minutes",
        description: "how long to study",
        default: Some("10"),
    }],
    template: "Be my tutor for {minutes} minutes. Start a session, ask me one card at a time without giving the answer away, wait for my answer, reveal it, ask me how well I knew it, and record that. When I stop, end the session and tell me how it went.",
};

const MAKE_CARDS: Prompt = Prompt {
    name: "make_cards",
    title: "Make cards of a text",
    description: "Draft cards of a text, for approval",
    arguments: &[
        PromptArgument { name: "text", description: "what to learn", default: None },
        PromptArgument {
            name: "deck",
            description: "which deck",
            default: Some("the best matching deck"),
        },
    ],
    template: "Make flash cards of the text below for {deck}: one fact per card, questions with one correct answer, clozes where a sentence fits best. Check for duplicates first. Show me the drafts and approve those I agree to.\n\n{text}",
};

/// The pack over a collection, without file access for callers.
pub fn pack(store: Arc<SqliteStore>) -> Pack {
    pack_with(store, Roots::default())
}

/// The pack over a collection; callers may name files under `roots`.
pub fn pack_with(store: Arc<SqliteStore>, roots: Roots) -> Pack {
    let version = Arc::clone(&store);
    let log = SqliteMutationLog(Arc::clone(&store));
    let service = NoemaService::new(store, roots);
    Pack::new(INFO, Unified)
        .with(service.tool(&list_decks::SPEC, list_decks::call))
        .with(service.tool(&get_deck::SPEC, get_deck::call))
        .with(service.tool(&search_decks::SPEC, search_decks::call))
        .with(service.tool(&create_deck::SPEC, create_deck::call))
        .with(service.tool(&update_deck::SPEC, update_deck::call))
        .with(service.tool(&delete_deck::SPEC, delete_deck::call))
        .with(service.tool(&create_card::SPEC, create_card::call))
        .with(service.tool(&create_cards::SPEC, create_cards::call))
        .with(service.tool(&get_card::SPEC, get_card::call))
        .with(service.tool(&search_cards::SPEC, search_cards::call))
        .with(service.tool(&update_card::SPEC, update_card::call))
        .with(service.tool(&delete_cards::SPEC, delete_cards::call))
        .with(service.tool(&restore_cards::SPEC, restore_cards::call))
        .with(service.tool(&move_cards::SPEC, move_cards::call))
        .with(service.tool(&bury_cards::SPEC, bury_cards::call))
        .with(service.tool(&suspend_cards::SPEC, suspend_cards::call))
        .with(service.tool(&unsuspend_cards::SPEC, unsuspend_cards::call))
        .with(service.tool(&tag_cards::SPEC, tag_cards::call))
        .with(service.tool(&untag_cards::SPEC, untag_cards::call))
        .with(approve_drafts::ApproveDrafts { service: service.clone() })
        .with(service.tool(&find_duplicates::SPEC, find_duplicates::call))
        .with(service.tool(&start_session::SPEC, start_session::call))
        .with(service.tool(&get_next_card::SPEC, get_next_card::call))
        .with(service.tool(&reveal_answer::SPEC, reveal_answer::call))
        .with(service.tool(&submit_review::SPEC, submit_review::call))
        .with(service.tool(&undo_review::SPEC, undo_review::call))
        .with(service.tool(&preview_review::SPEC, preview_review::call))
        .with(service.tool(&end_session::SPEC, end_session::call))
        .with(service.tool(&get_queue::SPEC, get_queue::call))
        .with(service.tool(&undo_action::SPEC, undo_action::call))
        .with(service.tool(&forecast_reviews::SPEC, forecast_reviews::call))
        .with(service.tool(&predict_retention::SPEC, predict_retention::call))
        .with(service.tool(&simulate_workload::SPEC, simulate_workload::call))
        .with(service.tool(&optimize_parameters::SPEC, optimize_parameters::call))
        .with(service.tool(&reschedule_cards::SPEC, reschedule_cards::call))
        .with(service.tool(&list_leeches::SPEC, list_leeches::call))
        .with(service.tool(&get_stats::SPEC, get_stats::call))
        .with(service.tool(&get_progress::SPEC, get_progress::call))
        .with(service.tool(&get_study_guidance::SPEC, get_study_guidance::call))
        .with(service.tool(&preview_import::SPEC, preview_import::call))
        .with(service.tool(&import_cards::SPEC, import_cards::call))
        .with(service.tool(&import_package::SPEC, import_package::call))
        .with(service.tool(&export_package::SPEC, export_package::call))
        .with_prompt(STUDY)
        .with_prompt(MAKE_CARDS)
        .with_data_version(move || version.version())
        .with_mutation_log(Arc::new(log))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use panoply_contract::testing::check_pack;

    use super::*;

    #[tokio::test]
    async fn every_tool_passes_the_contract_checks() {
        let violations = check_pack(pack(Arc::new(sample::store().unwrap()))).await;
        let shown: Vec<String> = violations.iter().map(ToString::to_string).collect();
        assert!(shown.is_empty(), "{}", shown.join("\n"));
    }

    #[test]
    fn example_tokens_match_the_sample_secret() {
        let [front, back] = sample::tokens();
        let source = include_str!("submit_review.rs");
        assert!(source.contains(&front) && source.contains(&back), "{front} {back}");
    }
}
