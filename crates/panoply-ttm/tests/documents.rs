//! Facts of a user document are visible to every tool as unverified, and disappear with their job.
#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may fail the test")]

use std::sync::Arc;

use panoply_contract::context::CallContext;
use panoply_contract::dialect::Envelope;
use panoply_contract::ids::TraceId;
use panoply_contract::kernel::{Kernel, Scope, Settings};
use panoply_contract::resource::ResourceBody;
use panoply_contract::testing::{FixedClock, call_as_owner, kernel_in_memory, noon};
use panoply_ttm::catalog::HerbCatalog;
use panoply_ttm::eval::MemoryReportStore;
use panoply_ttm::ingest::plan::Extract;
use panoply_ttm::jobs::{Job, JobStore as _, Request, Status};
use panoply_ttm::store::SqliteUserStore;
use panoply_ttm::tools::pack;
use panoply_ttm::user_data::{Chunk, Claim, Fact, Quotation, UserDocument};
use serde_json::{Value, json};
use uuid::Uuid;

const QUOTE: &str = "Turmeric xyloquist contains gingerol";

/// A document with a fact about turmeric that no bundled source states.
fn extract(job: &str) -> (Extract, String) {
    let catalog = HerbCatalog::bundled().unwrap();
    let turmeric = catalog.herb("H:turmeric").unwrap();
    let held: Vec<&str> = turmeric.constituents.iter().map(|holds| holds.id.as_str()).collect();
    let new = catalog.constituents.iter().find(|one| !held.contains(&one.id.as_str())).unwrap();
    let document = "D:0123456789ab".to_owned();
    let said = Quotation {
        document: document.clone(),
        chunk: 1,
        page: 7,
        start: 0,
        end: 36,
        quote: QUOTE.to_owned(),
        certainty: 90,
        rule: "holds".to_owned(),
    };
    let claim = Claim::Holds { constituent: new.id.clone() };
    let chunk = Chunk {
        document: document.clone(),
        number: 1,
        page: 7,
        start: 0,
        end: 36,
        lang: "en".to_owned(),
        reader: "textlayer".to_owned(),
        text: QUOTE.to_owned(),
        about: vec!["H:turmeric".to_owned()],
    };
    let extract = Extract {
        document: UserDocument {
            id: document,
            sha256: "0123456789ab".repeat(5),
            name: "paper.pdf".to_owned(),
            title: "A paper nobody wrote".to_owned(),
            lang: "en".to_owned(),
            pages: 9,
            job: job.to_owned(),
        },
        chunks: vec![chunk],
        facts: vec![Fact { subject: "H:turmeric".to_owned(), claim, said }],
    };
    (extract, new.id.clone())
}

fn job(id: &str) -> Job {
    Job {
        id: id.to_owned(),
        status: Status::Done,
        detail: None,
        request: Request::default(),
        done_pages: 9,
        all_pages: 9,
        report: None,
        error: None,
        created: noon().to_string(),
        started: None,
        ended: None,
    }
}

async fn data(kernel: &Kernel, tool: &str, input: Value) -> Value {
    match call_as_owner(kernel, tool, input.clone()).await {
        Envelope::Result { structured: Some(data), is_error: false, .. } => data.value(),
        other => panic!("{tool} {input}: {other:?}"),
    }
}

async fn read(kernel: &Kernel, uri: &str) -> Option<Value> {
    let cx = CallContext::local(Arc::clone(kernel.clock()), TraceId::new(Uuid::nil()));
    let found = kernel.read_resource(&Scope::All, uri, &cx).await;
    let ResourceBody::Text(text) = found.ok()?.body else { panic!("{uri}") };
    Some(serde_json::from_str(&text).unwrap())
}

#[tokio::test]
async fn user_fact_shows_its_page_and_is_removed_with_its_job() {
    let folder = tempfile::tempdir().unwrap();
    let store = Arc::new(SqliteUserStore::at(folder.path().join("ttm.db")));
    let packs = vec![pack(Arc::clone(&store) as _, Arc::new(MemoryReportStore::default()))];
    let kernel = kernel_in_memory(packs, FixedClock::at(noon()), Settings::default()).unwrap();
    let (extract, constituent) = extract("job-1");
    let walk = json!({
        "start": {"type": "herb", "id": "H:turmeric"}, "pattern": "herb->constituent",
        "filters": {"limit": 200},
    });
    let to = |data: &Value| -> Option<Value> {
        let paths = data["paths"].as_array().unwrap();
        paths.iter().find(|path| path[1]["id"] == constituent.as_str()).cloned()
    };
    let search = json!({"query": "xyloquist", "lang": "en"});
    let hit = |data: &Value| -> Option<Value> {
        let hits = data["hits"].as_array().unwrap();
        hits.iter().find(|hit| hit["type"] == "chunk").cloned()
    };
    assert_eq!(to(&data(&kernel, "query_kg", walk.clone()).await), None);
    assert_eq!(hit(&data(&kernel, "hybrid_search", search.clone()).await), None);

    let (first, second) = (job("job-1"), job("job-2"));
    store.add_job(&first).unwrap();
    store.add_job(&second).unwrap();
    assert_eq!(store.finish_job(&first, std::slice::from_ref(&extract), None).unwrap(), 1);
    let path = to(&data(&kernel, "query_kg", walk.clone()).await).unwrap();
    let edge = &path[1]["edge"];
    assert_eq!(edge["verified"], false);
    assert_eq!(edge["sources"], json!(["D:0123456789ab"]));
    let said = json!([{
        "uri": "doc://0123456789ab/1", "page": 7, "span": [0, 36], "quote": QUOTE,
        "confidence": 0.9, "rule": "holds",
    }]);
    assert_eq!(edge["said"], said);
    let found = hit(&data(&kernel, "hybrid_search", search.clone()).await).unwrap();
    assert_eq!(found["id"], "D:0123456789ab#1");
    assert_eq!(found["uri"], "doc://0123456789ab/1");
    assert_eq!(found["source"], "D:0123456789ab");
    let chunk = read(&kernel, "doc://0123456789ab/1").await.unwrap();
    assert_eq!(chunk["text"], QUOTE);
    assert_eq!(chunk["page"], 7);
    assert_eq!(chunk["facts"][0]["said"]["quote"], QUOTE);
    let whole = read(&kernel, "doc://0123456789ab").await.unwrap();
    assert_eq!(whole["chunks"][0]["uri"], "doc://0123456789ab/1");
    for missing in ["doc://0123456789ab/2", "doc://ffffffffffff", "doc://", "doc:///"] {
        assert_eq!(read(&kernel, missing).await, None, "{missing}");
    }
    // The same file in another job changes nothing.
    let mut again = extract.clone();
    again.document.job = "job-2".to_owned();
    assert_eq!(store.finish_job(&second, &[again], None).unwrap(), 0);
    assert_eq!(store.undo_job(&second, None).unwrap(), 0);

    assert_eq!(store.undo_job(&first, None).unwrap(), 1);
    assert_eq!(to(&data(&kernel, "query_kg", walk).await), None);
    assert_eq!(hit(&data(&kernel, "hybrid_search", search).await), None);
    assert_eq!(read(&kernel, "doc://0123456789ab/1").await, None);
}
