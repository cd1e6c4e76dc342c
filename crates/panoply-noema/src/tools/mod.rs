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
mod desk;
mod end_session;
mod exchange;
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

use self::desk::Desk;
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
    let desk = Desk::over(store, roots);
    let at = || desk.clone();
    Pack::new(INFO, Unified)
        .with(list_decks::ListDecks { desk: at() })
        .with(get_deck::GetDeck { desk: at() })
        .with(search_decks::SearchDecks { desk: at() })
        .with(create_deck::CreateDeck { desk: at() })
        .with(update_deck::UpdateDeck { desk: at() })
        .with(delete_deck::DeleteDeck { desk: at() })
        .with(create_card::CreateCard { desk: at() })
        .with(create_cards::CreateCards { desk: at() })
        .with(get_card::GetCard { desk: at() })
        .with(search_cards::SearchCards { desk: at() })
        .with(update_card::UpdateCard { desk: at() })
        .with(delete_cards::DeleteCards { desk: at() })
        .with(restore_cards::RestoreCards { desk: at() })
        .with(move_cards::MoveCards { desk: at() })
        .with(bury_cards::BuryCards { desk: at() })
        .with(suspend_cards::SuspendCards { desk: at() })
        .with(unsuspend_cards::UnsuspendCards { desk: at() })
        .with(tag_cards::TagCards { desk: at() })
        .with(untag_cards::UntagCards { desk: at() })
        .with(approve_drafts::ApproveDrafts { desk: at() })
        .with(find_duplicates::FindDuplicates { desk: at() })
        .with(start_session::StartSession { desk: at() })
        .with(get_next_card::GetNextCard { desk: at() })
        .with(reveal_answer::RevealAnswer { desk: at() })
        .with(submit_review::SubmitReview { desk: at() })
        .with(undo_review::UndoReview { desk: at() })
        .with(preview_review::PreviewReview { desk: at() })
        .with(end_session::EndSession { desk: at() })
        .with(get_queue::GetQueue { desk: at() })
        .with(undo_action::UndoAction { desk: at() })
        .with(forecast_reviews::ForecastReviews { desk: at() })
        .with(predict_retention::PredictRetention { desk: at() })
        .with(simulate_workload::SimulateWorkload { desk: at() })
        .with(optimize_parameters::OptimizeParameters { desk: at() })
        .with(reschedule_cards::RescheduleCards { desk: at() })
        .with(list_leeches::ListLeeches { desk: at() })
        .with(get_stats::GetStats { desk: at() })
        .with(get_progress::GetProgress { desk: at() })
        .with(get_study_guidance::GetStudyGuidance { desk: at() })
        .with(preview_import::PreviewImport { desk: at() })
        .with(import_cards::ImportCards { desk: at() })
        .with(import_package::ImportPackage { desk: at() })
        .with(export_package::ExportPackage { desk: at() })
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
    async fn every_tool_keeps_the_contract() {
        let violations = check_pack(pack(Arc::new(sample::store().unwrap()))).await;
        let shown: Vec<String> = violations.iter().map(ToString::to_string).collect();
        assert!(shown.is_empty(), "{}", shown.join("\n"));
    }

    #[test]
    fn examples_name_tokens_of_the_sample() {
        let [front, back] = sample::tokens();
        let source = include_str!("submit_review.rs");
        assert!(source.contains(&front) && source.contains(&back), "{front} {back}");
    }
}
