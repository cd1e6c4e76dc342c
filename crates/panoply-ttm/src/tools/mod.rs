//! MCP tools of the pack, one file each; [`pack`] registers them.

mod chat;
mod common;
mod dialect;
mod documents;
mod embedder_choice;
mod eval_run;
mod find_contraindications;
mod hybrid_search;
mod ingest_jobs;
mod ingest_run;
mod ingest_undo;
mod job_wire;
mod patient;
mod prompts;
mod query_kg;
mod rag_answer;
mod reports;
mod resources;
mod safety_words;
mod settings;
mod sharing;
mod user_documents;
mod wire;

use std::sync::Arc;

use panoply_contract::error::ToolError;
use panoply_contract::pack::{Pack, PackInfo};
use panoply_contract::tenant::Tenancy;

pub use self::dialect::TtmDialect;
pub use self::embedder_choice::{EmbedderChoice, Folder};
pub use self::settings::{BadSettings, Endpoint, Settings};
use crate::answer::SentenceWriter;
use crate::eval::ReportStore;
use crate::jobs::JobService;
use crate::knowledge::KnowledgeService;
use crate::papers::UserStoreError;
use crate::search::UserStore;
use crate::search::{Embedder, EngineError, SearchService};

/// The user store cannot be read.
impl From<UserStoreError> for ToolError {
    fn from(error: UserStoreError) -> Self {
        stored_error(error.0)
    }
}

/// Maps a storage error to the store's error code, if it has one.
pub(crate) fn stored_error(cause: Box<dyn std::error::Error + Send + Sync>) -> ToolError {
    use panoply_store::StoreError;
    match cause.downcast::<StoreError>() {
        Ok(error) => error.pack_error(INFO.name),
        Err(cause) => ToolError::system(cause.to_string()).hint(CHECK_HOME),
    }
}

impl From<EngineError> for ToolError {
    fn from(error: EngineError) -> Self {
        Self::system(error.to_string()).hint(CHECK_HOME)
    }
}

const CHECK_HOME: &str = "check the free disk space and the permissions of `packs/ttm.db` in the home directory; `panoply doctor` shows its location";

const INFO: PackInfo = PackInfo {
    name: "ttm",
    title: "Thai traditional medicine",
    instructions: "Every fact names its source; what is marked `unverified` rests on general knowledge: say so. No record of a danger is not safety: say so too. Reference information, not medical advice; never turn it into a prescription. Thai and English names both work as ids.",
};

/// Creates the pack with default settings.
pub fn pack(store: Arc<dyn UserStore>, reports: Arc<dyn ReportStore>) -> Pack {
    build(store, reports, &Settings::default(), None, None, None)
}

/// Creates the pack with operator settings. `secret` looks up an environment variable.
pub fn pack_with(
    store: Arc<dyn UserStore>,
    reports: Arc<dyn ReportStore>,
    settings: &Settings,
    secret: impl Fn(&str) -> Option<String>,
) -> Result<Pack, BadSettings> {
    pack_with_jobs(store, reports, settings, secret, None)
}

/// Creates the pack with a job service. Without one, ingest tools return an error.
pub fn pack_with_jobs(
    store: Arc<dyn UserStore>,
    reports: Arc<dyn ReportStore>,
    settings: &Settings,
    secret: impl Fn(&str) -> Option<String>,
    jobs: Option<JobService>,
) -> Result<Pack, BadSettings> {
    settings.check()?;
    let writer = settings.chat.as_ref().map(|chat| {
        let key = chat.key_env.as_deref().and_then(&secret);
        Arc::new(chat::ChatModel::new(chat, key)) as Arc<dyn SentenceWriter>
    });
    let embedder = settings.embedder.make(&secret);
    Ok(build(store, reports, settings, writer, embedder, jobs))
}

fn build(
    store: Arc<dyn UserStore>,
    reports: Arc<dyn ReportStore>,
    settings: &Settings,
    writer: Option<Arc<dyn SentenceWriter>>,
    embedder: Option<Arc<dyn Embedder>>,
    jobs: Option<JobService>,
) -> Pack {
    let version = Arc::clone(&store);
    let shareable = sharing::ShareableDocuments {
        store: Arc::clone(&store),
        settings: settings.clone(),
        writer: writer.clone(),
        embedder: embedder.clone(),
    };
    let search = SearchService::new(Arc::clone(&store)).with_embedder(embedder);
    let search = Arc::new(search);
    let knowledge = Arc::new(KnowledgeService::new(Arc::clone(&store)));
    Pack::new(INFO, TtmDialect)
        .with_search_terms(include_str!("../search_terms.tsv"))
        .with_listed_texts(include_str!("../listed_texts.tsv"))
        .with(query_kg::QueryKg { knowledge: Arc::clone(&knowledge) })
        .with(hybrid_search::HybridSearch {
            knowledge: Arc::clone(&knowledge),
            search: Arc::clone(&search),
        })
        .with(rag_answer::RagAnswer {
            knowledge: Arc::clone(&knowledge),
            search: Arc::clone(&search),
            tau: settings.answer_conf_tau,
            writer,
        })
        .with(find_contraindications::FindContraindications { knowledge: Arc::clone(&knowledge) })
        .with(eval_run::EvalRun {
            knowledge: Arc::clone(&knowledge),
            search,
            reports: Arc::clone(&reports),
            roots: jobs.as_ref().map(|jobs| jobs.settings().roots.clone()).unwrap_or_default(),
            tau: settings.answer_conf_tau,
        })
        .with(ingest_run::IngestRun { jobs: jobs.clone() })
        .with(ingest_jobs::IngestJobs { jobs: jobs.clone() })
        .with(ingest_undo::IngestUndo { jobs: jobs.clone() })
        .with_prompt(prompts::ABOUT_HERB)
        .with_resources(resources::Documents { store, knowledge, jobs })
        .with_resources(reports::Reports { reports })
        .with_completer(resources::Ids)
        .with_data_version(move || version.version())
        .with_blocking_store()
        .with_tenancy(Tenancy::Workspace)
        .with_sharing(shareable)
}
