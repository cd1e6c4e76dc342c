//! What agents can call. One file a tool; [`pack`] is the list of them.

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
    instructions: "Flash cards scheduled by FSRS-6. To study: `get-next-card` gives a front and a token; let the learner answer; `reveal-answer` with that token; `submit-review` with the token it gives and the learner's own rating, never yours. Cards you make are drafts: show them, and call `approve-drafts` when the learner agrees. Every change can be taken back with `undo-action`.",
};

const STUDY: Prompt = Prompt {
    name: "study",
    title: "Study with me",
    description: "A tutor that asks what is due, one card at a time",
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
            default: Some("the one that fits best"),
        },
    ],
    template: "Make flash cards of the text below for {deck}: one fact to a card, questions with one right answer, clozes where a sentence says it best. Look for duplicates first. Show me the drafts and approve those I agree to.\n\n{text}",
};

/// The pack over a collection, whose callers can name no files.
pub fn pack(store: Arc<SqliteStore>) -> Pack {
    pack_with(store, Roots::default())
}

/// The pack over a collection, whose callers can name files under these roots.
pub fn pack_with(store: Arc<SqliteStore>, roots: Roots) -> Pack {
    let version = Arc::clone(&store);
    let log = SqliteMutationLog(Arc::clone(&store));
    let service = NoemaService::new(store, roots);
    let at = || service.clone();
    Pack::new(INFO, Unified)
        .with(list_decks::ListDecks { service: at() })
        .with(get_deck::GetDeck { service: at() })
        .with(search_decks::SearchDecks { service: at() })
        .with(create_deck::CreateDeck { service: at() })
        .with(update_deck::UpdateDeck { service: at() })
        .with(delete_deck::DeleteDeck { service: at() })
        .with(create_card::CreateCard { service: at() })
        .with(create_cards::CreateCards { service: at() })
        .with(get_card::GetCard { service: at() })
        .with(search_cards::SearchCards { service: at() })
        .with(update_card::UpdateCard { service: at() })
        .with(delete_cards::DeleteCards { service: at() })
        .with(restore_cards::RestoreCards { service: at() })
        .with(move_cards::MoveCards { service: at() })
        .with(bury_cards::BuryCards { service: at() })
        .with(suspend_cards::SuspendCards { service: at() })
        .with(unsuspend_cards::UnsuspendCards { service: at() })
        .with(tag_cards::TagCards { service: at() })
        .with(untag_cards::UntagCards { service: at() })
        .with(approve_drafts::ApproveDrafts { service: at() })
        .with(find_duplicates::FindDuplicates { service: at() })
        .with(start_session::StartSession { service: at() })
        .with(get_next_card::GetNextCard { service: at() })
        .with(reveal_answer::RevealAnswer { service: at() })
        .with(submit_review::SubmitReview { service: at() })
        .with(undo_review::UndoReview { service: at() })
        .with(preview_review::PreviewReview { service: at() })
        .with(end_session::EndSession { service: at() })
        .with(get_queue::GetQueue { service: at() })
        .with(undo_action::UndoAction { service: at() })
        .with(forecast_reviews::ForecastReviews { service: at() })
        .with(predict_retention::PredictRetention { service: at() })
        .with(simulate_workload::SimulateWorkload { service: at() })
        .with(optimize_parameters::OptimizeParameters { service: at() })
        .with(reschedule_cards::RescheduleCards { service: at() })
        .with(list_leeches::ListLeeches { service: at() })
        .with(get_stats::GetStats { service: at() })
        .with(get_progress::GetProgress { service: at() })
        .with(get_study_guidance::GetStudyGuidance { service: at() })
        .with(preview_import::PreviewImport { service: at() })
        .with(import_cards::ImportCards { service: at() })
        .with(import_package::ImportPackage { service: at() })
        .with(export_package::ExportPackage { service: at() })
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
