//! The MCP tools, one per file; [`pack`] registers them.

mod add_media;
mod approval;
mod approve_drafts;
mod batch;
mod bury_cards;
mod create_card;
mod create_cards;
mod create_deck;
mod create_note_type;
mod create_occlusion;
mod delete_cards;
mod delete_deck;
mod delete_media;
mod delete_note_type;
mod end_session;
mod export_package;
mod find_duplicates;
mod forecast_reviews;
mod get_card;
mod get_deck;
mod get_media;
mod get_next_card;
mod get_progress;
mod get_queue;
mod get_settings;
mod get_stats;
mod get_study_guidance;
mod import_cards;
mod import_export;
mod import_package;
mod interfering;
mod list_decks;
mod list_leeches;
mod list_media;
mod list_note_types;
mod media_view;
mod move_cards;
mod note_type_view;
mod notes;
mod optimize_parameters;
mod plan_exam;
mod predict_retention;
mod prepare_offline_study;
mod preview;
mod preview_import;
mod preview_review;
mod reschedule_cards;
mod resources;
mod restore_cards;
mod reveal_answer;
pub mod sample;
mod search_cards;
mod search_decks;
mod service;
mod sharing;
mod simulate_workload;
mod specs;
mod start_session;
mod submit_offline_reviews;
mod submit_review;
mod suspend_cards;
mod tag_cards;
mod undo_action;
mod undo_review;
mod unsuspend_cards;
mod untag_cards;
mod update_card;
mod update_deck;
mod update_note_type;
mod update_settings;
mod wire;

use std::sync::Arc;

use panoply_contract::dialect::Unified;
use panoply_contract::pack::{Pack, PackInfo};
use panoply_contract::preferences::{Preference, PreferredArgument};
use panoply_contract::prompt::{Prompt, PromptArgument};
use panoply_contract::tenant::Tenancy;

use self::service::NoemaService;
use crate::store::Store;
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
pub fn pack(store: Arc<dyn Store>) -> Pack {
    pack_with(store, Roots::default())
}

/// The pack over a collection; callers may name files under `roots`.
pub fn pack_with(store: Arc<dyn Store>, roots: Roots) -> Pack {
    let shareable = sharing::ShareableDecks { store: Arc::clone(&store) };
    pack_of(store, roots).with_sharing(shareable)
}

/// Arguments whose defaults are preferences of the person.
const PREFERRED: [PreferredArgument; 1] = [PreferredArgument {
    tool: "plan-exam",
    argument: "minutesPerDay",
    preference: Preference::StudyMinutes,
}];

fn pack_of(store: Arc<dyn Store>, roots: Roots) -> Pack {
    let version = Arc::clone(&store);
    let log = Arc::clone(&store).mutation_log();
    let service = Arc::new(NoemaService::new(store, roots));
    Pack::new(INFO, Unified)
        .with_search_terms(include_str!("../search_terms.tsv"))
        .with_listed_texts(include_str!("../listed_texts.tsv"))
        .with_preferred_arguments(&PREFERRED)
        .with_samples(sample::CALLS)
        .tool(&list_decks::SPEC, &service, list_decks::call)
        .tool(&get_deck::SPEC, &service, get_deck::call)
        .tool(&search_decks::SPEC, &service, search_decks::call)
        .tool(&create_deck::SPEC, &service, create_deck::call)
        .tool(&update_deck::SPEC, &service, update_deck::call)
        .tool(&delete_deck::SPEC, &service, delete_deck::call)
        .tool(&create_card::SPEC, &service, create_card::call)
        .tool(&create_cards::SPEC, &service, create_cards::call)
        .tool(&get_card::SPEC, &service, get_card::call)
        .tool(&search_cards::SPEC, &service, search_cards::call)
        .tool(&update_card::SPEC, &service, update_card::call)
        .tool(&delete_cards::SPEC, &service, delete_cards::call)
        .tool(&restore_cards::SPEC, &service, restore_cards::call)
        .tool(&move_cards::SPEC, &service, move_cards::call)
        .tool(&bury_cards::SPEC, &service, bury_cards::call)
        .tool(&suspend_cards::SPEC, &service, suspend_cards::call)
        .tool(&unsuspend_cards::SPEC, &service, unsuspend_cards::call)
        .tool(&tag_cards::SPEC, &service, tag_cards::call)
        .tool(&untag_cards::SPEC, &service, untag_cards::call)
        .with(approve_drafts::ApproveDrafts { service: Arc::clone(&service) })
        .tool(&find_duplicates::SPEC, &service, find_duplicates::call)
        .tool(&start_session::SPEC, &service, start_session::call)
        .tool(&get_next_card::SPEC, &service, get_next_card::call)
        .tool(&reveal_answer::SPEC, &service, reveal_answer::call)
        .tool(&submit_review::SPEC, &service, submit_review::call)
        .tool(&prepare_offline_study::SPEC, &service, prepare_offline_study::call)
        .tool(&submit_offline_reviews::SPEC, &service, submit_offline_reviews::call)
        .tool(&undo_review::SPEC, &service, undo_review::call)
        .tool(&preview_review::SPEC, &service, preview_review::call)
        .tool(&end_session::SPEC, &service, end_session::call)
        .tool(&get_queue::SPEC, &service, get_queue::call)
        .tool(&undo_action::SPEC, &service, undo_action::call)
        .tool(&forecast_reviews::SPEC, &service, forecast_reviews::call)
        .tool(&predict_retention::SPEC, &service, predict_retention::call)
        .tool(&simulate_workload::SPEC, &service, simulate_workload::call)
        .tool(&optimize_parameters::SPEC, &service, optimize_parameters::call)
        .tool(&reschedule_cards::SPEC, &service, reschedule_cards::call)
        .tool(&list_leeches::SPEC, &service, list_leeches::call)
        .tool(&get_stats::SPEC, &service, get_stats::call)
        .tool(&get_progress::SPEC, &service, get_progress::call)
        .tool(&get_study_guidance::SPEC, &service, get_study_guidance::call)
        .tool(&preview_import::SPEC, &service, preview_import::call)
        .tool(&import_cards::SPEC, &service, import_cards::call)
        .tool(&import_package::SPEC, &service, import_package::call)
        .tool(&export_package::SPEC, &service, export_package::call)
        .tool(&get_settings::SPEC, &service, get_settings::call)
        .tool(&update_settings::SPEC, &service, update_settings::call)
        .tool(&add_media::SPEC, &service, add_media::call)
        .tool(&get_media::SPEC, &service, get_media::call)
        .tool(&list_media::SPEC, &service, list_media::call)
        .tool(&delete_media::SPEC, &service, delete_media::call)
        .tool(&list_note_types::SPEC, &service, list_note_types::call)
        .tool(&create_note_type::SPEC, &service, create_note_type::call)
        .tool(&update_note_type::SPEC, &service, update_note_type::call)
        .tool(&delete_note_type::SPEC, &service, delete_note_type::call)
        .tool(&create_occlusion::SPEC, &service, create_occlusion::call)
        .tool(&plan_exam::SPEC, &service, plan_exam::call)
        .with_resources(resources::MediaResources { service: Arc::clone(&service) })
        .with_prompt(STUDY)
        .with_prompt(MAKE_CARDS)
        .with_data_version(move || version.version())
        .with_mutation_log(log)
        .with_tenancy(Tenancy::Person)
}

#[cfg(test)]
mod tests {
    use panoply_contract::testing::check_pack;

    use super::*;

    #[tokio::test]
    async fn every_tool_passes_the_contract_checks() {
        let violations = check_pack(pack(sample::store().unwrap())).await;
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
