//! Papers, documents and jobs: random sequences beside SQLite, search, and jobs of two replicas.

use std::path::Path;
use std::sync::Arc;

use panoply_contract::tenant::TenantId;
use panoply_postgres::{Postgres, PostgresDocuments};
use panoply_ttm::catalog::HerbCatalog;
use panoply_ttm::ingest::plan::Extract;
use panoply_ttm::jobs::{Job, JobLock, JobStore, Request, Status};
use panoply_ttm::papers::Record;
use panoply_ttm::search::{PaperImport, SearchQuery, SearchService, UserStore};
use panoply_ttm::store::SqliteUserStore;
use panoply_ttm::user_data::{Chunk, UserDocument};

use crate::database::{Database, person};
use crate::random::Random;

pub(crate) fn documents(
    postgres: &Arc<Postgres>,
    tenant: &TenantId,
    folder: &Path,
) -> PostgresDocuments {
    PostgresDocuments::new(Arc::clone(postgres), tenant.clone(), folder.to_owned())
}

const TEXTS: [&str; 5] = [
    "ขมิ้นชันใช้แก้ท้องอืด ท้องเฟ้อ",
    "ห้ามใช้ร่วมกับวาร์ฟารินโดยไม่ปรึกษาแพทย์",
    "Curcumin inhibited platelet aggregation in healthy volunteers.",
    "Andrographis for the common cold: a randomised trial",
    "NUL \0 and \u{F0000} in a text",
];

fn paper(number: usize, text: usize) -> Record {
    Record {
        pmid: (900_000_000 + number).to_string(),
        title: format!("Paper {number}: {}", TEXTS[text]),
        abstract_text: TEXTS[(number + text) % TEXTS.len()].to_owned(),
        authors: vec!["สมชาย ใจดี".to_owned()],
        year: Some(2001),
        ..Record::default()
    }
}

fn job(number: usize, status: Status) -> Job {
    Job {
        id: format!("J-{number}"),
        status,
        detail: None,
        request: Request::default(),
        done_pages: 0,
        all_pages: 3,
        report: Some(serde_json::json!({"added": number})),
        error: None,
        created: "2025-01-01T00:00:00Z".to_owned(),
        started: None,
        ended: None,
    }
}

fn extract(number: usize, of: &str, text: usize) -> Extract {
    let document = UserDocument {
        id: format!("D:{number:012x}"),
        sha256: format!("{number:064x}"),
        name: "notes.pdf".to_owned(),
        title: TEXTS[text].to_owned(),
        lang: "th".to_owned(),
        pages: 1,
        job: of.to_owned(),
    };
    let chunk = |(number, text): (u32, &&str)| Chunk {
        document: document.id.clone(),
        number,
        page: 1,
        start: 0,
        end: 1,
        lang: "th".to_owned(),
        reader: "text".to_owned(),
        text: (*text).to_owned(),
        about: vec!["H:turmeric".to_owned()],
    };
    let chunks = (1..).zip(&TEXTS).map(chunk).collect();
    Extract { document, chunks, facts: Vec::new() }
}

/// Both kinds of writes on one store.
trait Both: JobStore + PaperImport {}
impl<T: JobStore + PaperImport> Both for T {}

/// Runs one operation and shows its outcome.
fn act(store: &dyn Both, operation: usize, one: usize, other: usize) -> String {
    let said = |outcome: &dyn std::fmt::Debug| format!("{outcome:?}");
    let id = format!("J-{one}");
    let text = other % TEXTS.len();
    match operation {
        0 => {
            let mut records = (0..=other).map(|number| paper(one + number, text));
            said(&store.import_papers(&mut |keep| records.try_for_each(keep)).ok())
        }
        1 => said(&store.add_job(&job(one, Status::Queued)).is_ok()),
        2 => said(&store.save_job(&job(one, Status::Running)).ok()),
        3 => {
            let extracts = [extract(other, &id, text), extract(other + 1, &id, text)];
            said(&store.finish_job(&job(one, Status::Done), &extracts, None).ok())
        }
        4 => said(&store.undo_job(&job(one, Status::Done), None).ok()),
        5 => said(&store.cancel_job(&id, None).ok()),
        6 => said(&store.log(&id, "2025-01-01T00:00:00Z", TEXTS[text]).is_ok()),
        7 => said(&(
            store.job(&id).unwrap(),
            store.log_of(&id).unwrap(),
            store.is_cancelled(&id).unwrap(),
        )),
        8 => said(&(store.papers().unwrap(), store.paper("900000003").unwrap())),
        9 => said(&(store.documents().unwrap(), store.chunks(None).unwrap())),
        _ => said(&(store.jobs().unwrap(), store.document_of(&format!("{one:064x}")).unwrap())),
    }
}

fn run_all(seeds: std::ops::Range<u64>) {
    let database = Database::start();
    let (sqlite, copies) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let expected = SqliteUserStore::at(sqlite.path().join("ttm.db"));
    let other = database.replica();
    let replicas =
        [&database.postgres, &other].map(|replica| documents(replica, &person(1), copies.path()));
    for seed in seeds {
        let mut random = Random(seed);
        for step in 0..10 {
            let (operation, one, two) = (random.below(11), random.below(8), random.below(6));
            let found = act(&replicas[random.below(2)], operation, one, two);
            let wanted = act(&expected, operation, one, two);
            assert_eq!(found, wanted, "seed {seed}, step {step}: {operation} {one} {two}");
        }
    }
    // Documents that the search finds.
    assert_eq!(act(&replicas[0], 3, 7, 9), act(&expected, 3, 7, 9));
    let fresh = documents(&database.postgres, &person(1), copies.path());
    for operation in [8, 9, 10] {
        assert_eq!(act(&fresh, operation, 1, 1), act(&expected, operation, 1, 1), "{operation}");
    }
    assert_eq!(hits(Arc::new(fresh)), hits(Arc::new(expected)), "the same hits and scores");
}

/// Hits and scores of some queries.
fn hits(store: Arc<dyn UserStore>) -> Vec<(String, u32)> {
    let catalog = HerbCatalog::bundled().unwrap();
    let engine = SearchService::new(store).engine(&catalog).unwrap();
    let found = ["ขมิ้นชัน ท้องอืด", "warfarin", "common cold", "Paper 3"].map(|text| {
        let found = engine.search(&SearchQuery::new(text)).unwrap();
        found
            .hits
            .iter()
            .map(|hit| (hit.document.id.clone(), hit.score.to_bits()))
            .collect::<Vec<_>>()
    });
    let found = found.concat();
    assert!(found.iter().any(|(id, _)| id.starts_with("D:")), "documents are among them");
    found
}

#[test]
fn two_hundred_random_sequences_of_documents_are_those_of_sqlite() {
    run_all(1..201);
}

#[test]
#[ignore = "takes minutes; `./test --long` runs it"]
fn two_thousand_random_sequences_of_documents_are_those_of_sqlite() {
    run_all(10_000..12_000);
}

#[test]
fn job_of_another_replica_is_alive_until_its_process_ends() {
    let database = Database::start();
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let first = documents(&database.postgres, &person(1), one.path());
    let second = documents(&database.replica(), &person(1), two.path());
    let other_tenant = documents(&database.replica(), &person(2), two.path());
    let held = first.lock_job("J-1").unwrap();
    assert!(matches!(held, JobLock::Taken(_)));
    assert!(matches!(second.lock_job("J-1").unwrap(), JobLock::Busy));
    assert!(matches!(second.lock_job("J-2").unwrap(), JobLock::Taken(_)));
    assert!(matches!(other_tenant.lock_job("J-1").unwrap(), JobLock::Taken(_)));
    drop(held);
    // The server ends the connection later.
    let released = (0..100).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(20));
        matches!(second.lock_job("J-1").unwrap(), JobLock::Taken(_))
    });
    assert!(released);
}

#[test]
fn documents_with_one_id_and_two_contents_are_refused() {
    let database = Database::start();
    let folder = tempfile::tempdir().unwrap();
    let store = documents(&database.postgres, &person(1), folder.path());
    store.add_job(&job(1, Status::Queued)).unwrap();
    let first = extract(1, "J-1", 0);
    let mut second = extract(1, "J-1", 1);
    second.document.sha256 = "f".repeat(64);
    assert_eq!(
        store.finish_job(&job(1, Status::Done), std::slice::from_ref(&first), None).unwrap(),
        1
    );
    assert_eq!(store.finish_job(&job(1, Status::Done), &[first], None).unwrap(), 0);
    let refused = store.finish_job(&job(1, Status::Done), &[second], None).unwrap_err();
    assert!(refused.to_string().contains("another document has the id"), "{refused}");
}
