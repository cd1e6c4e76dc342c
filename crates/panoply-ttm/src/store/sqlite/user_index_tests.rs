//! The stored index returns the same hits and bitwise equal scores as the in-memory index.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use tempfile::TempDir;

use super::documents::{add, remove};
use super::*;
use crate::catalog::HerbCatalog;
use crate::eval::sets::Bundled;
use crate::ingest::plan::Extract;
use crate::search::{
    Engine, Facet, Kind, SearchFilter, SearchQuery, SearchResult, engine_over, record_document,
};
use crate::search::{chunk_document, corpus};
use crate::user_data::{Chunk, DocumentStore as _, UserDocument};

/// Synthetic papers: shuffled statements of bundled texts.
fn papers(engine: &Engine, count: usize) -> Vec<Record> {
    let statements: Vec<&str> = (engine.memory_documents().iter())
        .flat_map(|document| &document.passages)
        .map(|passage| passage.text.as_str())
        .filter(|text| text.chars().count() >= 40)
        .collect();
    let paper = |number: usize| {
        let said = |step: usize| statements[(number * 7919 + step * 104_729) % statements.len()];
        Record {
            pmid: (900_000_000 + number).to_string(),
            title: format!("Made-up paper {number}"),
            abstract_text: format!("{}\n{}", said(1), said(2)),
            authors: vec!["สมชาย ใจดี".to_owned()],
            year: Some(2000 + u16::try_from(number % 20).unwrap()),
            ..Record::default()
        }
    };
    (0..count).map(paper).collect()
}

fn extract() -> Extract {
    let document = UserDocument {
        id: "D:0123456789ab".to_owned(),
        sha256: "0".repeat(64),
        name: "notes.pdf".to_owned(),
        title: "บันทึกเรื่องขมิ้นชัน".to_owned(),
        lang: "th".to_owned(),
        pages: 1,
        job: "job".to_owned(),
    };
    let texts = ["ขมิ้นชันใช้แก้ท้องอืด ท้องเฟ้อ", "ห้ามใช้ร่วมกับวาร์ฟารินโดยไม่ปรึกษาแพทย์"];
    let chunk = |(number, text): (u32, &str)| Chunk {
        document: document.id.clone(),
        number,
        page: 1,
        start: 0,
        end: 1,
        lang: "th".to_owned(),
        reader: "text".to_owned(),
        text: text.to_owned(),
        about: vec!["H:turmeric".to_owned()],
    };
    let chunks = (1..).zip(texts).map(chunk).collect();
    Extract { document, chunks, facts: Vec::new() }
}

fn store(folder: &TempDir) -> SqliteUserStore {
    SqliteUserStore::at(folder.path().join("ttm.db"))
}

fn import(store: &SqliteUserStore, records: &[Record]) {
    store.import_papers(&mut |keep| records.iter().cloned().try_for_each(keep)).unwrap();
}

/// Engine with the stored index.
fn with_stored_index(store: &SqliteUserStore) -> Engine {
    engine_over(&HerbCatalog::bundled().unwrap(), store, &[], Vec::new()).unwrap()
}

/// Engine with the same documents in memory.
fn in_memory(records: &[Record], extracts: &[Extract]) -> Engine {
    let mut corpus = corpus(&HerbCatalog::bundled().unwrap());
    corpus.documents.extend(records.iter().map(record_document));
    for Extract { document, chunks, .. } in extracts {
        corpus.documents.extend(chunks.iter().map(|one| chunk_document(one, &document.title)));
    }
    Engine::bundled().unwrap().with_corpus(corpus)
}

fn progress(answer: &SearchResult) -> Vec<(String, u32, [u32; 5], String)> {
    let hits = answer.hits.iter();
    hits.map(|hit| {
        let parts = hit.parts.map(f32::to_bits);
        (hit.document.id.clone(), hit.score.to_bits(), parts, hit.snippet.text.clone())
    })
    .collect()
}

/// Compares results for every n-th question.
fn assert_same(one: &Engine, other: &Engine, every: usize) {
    let sets = [Bundled::Tune, Bundled::Crosslingual];
    let questions = sets.map(|set| set.questions().unwrap()).concat();
    let mut from_index = 0;
    for judged in questions.iter().step_by(every) {
        let question = SearchQuery::new(&judged.query);
        let (found, expected) = (one.search(&question).unwrap(), other.search(&question).unwrap());
        assert_eq!(progress(&found), progress(&expected), "{}", judged.query);
        assert_eq!(found.mentions, expected.mentions, "{}", judged.query);
        from_index += found.hits.iter().filter(|hit| hit.snippet.source == "imported").count();
    }
    assert!(from_index * every > 100, "only {from_index} hits came from the user index");
}

#[test]
fn stored_index_returns_the_same_hits_as_memory() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(&folder);
    let records = papers(&Engine::bundled().unwrap(), 600);
    import(&store, &records);
    let extract = extract();
    store.in_transaction(|connection| add(connection, &extract)).unwrap();
    let stored = with_stored_index(&store);
    assert_eq!(stored.len(), Engine::bundled().unwrap().len() + 602);
    assert_same(&stored, &in_memory(&records, std::slice::from_ref(&extract)), 1);

    let asked = |text: &str, filter: SearchFilter| {
        stored.search(&SearchQuery { filter, ..SearchQuery::new(text) }).unwrap()
    };
    let ids = |answer: &SearchResult| -> Vec<String> {
        answer.hits.iter().map(|hit| hit.document.id.clone()).collect()
    };
    let by_number = asked("PMID 900000123", SearchFilter::default());
    assert_eq!(ids(&by_number)[0], "900000123");
    let chunks = SearchFilter { kinds: vec![Kind::Chunk], ..SearchFilter::default() };
    assert_eq!(ids(&asked("ขมิ้นชัน ท้องอืด", chunks))[0], "D:0123456789ab#1");
    let of_2007 =
        SearchFilter { from_year: Some(2007), to_year: Some(2007), ..SearchFilter::default() };
    let found = asked("ginger nausea", of_2007);
    assert_eq!(found.hits.len(), 10);
    for hit in &found.hits {
        assert!(hit.document.facets.contains(&(Facet::Year, "2007".to_owned())));
    }
}

#[test]
fn update_and_delete_leave_no_trace_in_the_search_index() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(&folder);
    let records = papers(&Engine::bundled().unwrap(), 90);
    import(&store, &papers(&Engine::bundled().unwrap(), 130)[40..]);
    store.in_transaction(|connection| add(connection, &extract())).unwrap();
    let before = with_stored_index(&store);
    assert!(before.find("D:0123456789ab#2").unwrap().is_some());
    // Add forty, change thirty, delete all and the document.
    import(&store, &records[..40]);
    let changed: Vec<Record> = (records[40..70].iter())
        .map(|record| Record { title: format!("{} on ginger", record.title), ..record.clone() })
        .collect();
    import(&store, &changed);
    store
        .in_transaction(|connection| {
            connection.execute("DELETE FROM paper WHERE CAST(pmid AS INTEGER) >= 900000090", [])?;
            remove(connection, "job")
        })
        .unwrap();
    assert!(store.documents().unwrap().is_empty());
    let mut now = records.clone();
    now.splice(40..70, changed);
    let stored = with_stored_index(&store);
    assert_same(&stored, &in_memory(&now, &[]), 4);
    assert!(stored.find("D:0123456789ab#2").unwrap().is_none());
    // An engine opened earlier still answers, without the deleted documents.
    let question = SearchQuery {
        top: 100, ..SearchQuery::new("ขมิ้นชัน ท้องอืด")
    };
    for hit in before.search(&question).unwrap().hits {
        assert!(!hit.document.id.starts_with("D:"), "{}", hit.document.id);
    }
}

#[test]
fn interrupted_indexing_resumes_and_concurrent_indexing_does_not_repeat_work() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(&folder);
    let records = papers(&Engine::bundled().unwrap(), 200);
    import(&store, &records);
    let engine = Engine::bundled().unwrap();
    let mut steps = 0;
    let cut_off = catch_unwind(AssertUnwindSafe(|| {
        store.update_index(engine.text_model(), &mut |done, total| {
            assert_eq!(total, 200);
            steps += 1;
            assert!(done < 80, "cut off");
        })
    }));
    assert!(cut_off.is_err() && steps > 1, "{steps}");
    std::thread::scope(|scope| {
        for _ in 0..2 {
            let other = SqliteUserStore::at(folder.path().join("ttm.db"));
            let text_model = engine.text_model();
            scope.spawn(move || other.update_index(text_model, &mut |_, _| {}).unwrap());
        }
    });
    assert_same(&with_stored_index(&store), &in_memory(&records, &[]), 4);
}

#[test]
fn index_of_another_model_is_rebuilt() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(&folder);
    let records = papers(&Engine::bundled().unwrap(), 120);
    import(&store, &records);
    let other = with_stored_index(&store);
    let spoilt = "UPDATE search_form SET learnt_from = x'00';
                  UPDATE search_document SET vector = zeroblob(96), words = 1;
                  UPDATE search_term SET documents = 1;";
    write(folder.path(), spoilt);
    let error = other.search(&SearchQuery::new("ginger")).unwrap_err().to_string();
    assert!(error.contains("another version"), "{error}");
    assert_same(&with_stored_index(&store), &in_memory(&records, &[]), 4);
}

/// A bundled paper is in memory; the imported record adds its abstract.
#[test]
fn bundled_paper_gains_the_imported_abstract_without_duplication() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(&folder);
    let shipped = HerbCatalog::bundled().unwrap().papers[0].pmid.clone();
    let abstract_text = "Zanzibarite qualification of the flummox.".to_owned();
    import(&store, &[Record { pmid: shipped.clone(), abstract_text, ..Record::default() }]);
    let engine = with_stored_index(&store);
    assert_eq!(engine.len(), Engine::bundled().unwrap().len());
    let answer = engine.search(&SearchQuery::new("zanzibarite flummox")).unwrap();
    assert_eq!(answer.hits[0].document.id, shipped);
    assert!(answer.hits[0].snippet.text.contains("**Zanzibarite**"), "{:?}", answer.hits[0]);
}

/// A read failure is an error, never fewer hits.
#[test]
fn unreadable_index_file_is_an_error_not_fewer_hits() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(&folder);
    import(&store, &papers(&Engine::bundled().unwrap(), 50));
    let engine = with_stored_index(&store);
    assert!(engine.search(&SearchQuery::new("ginger")).is_ok());
    write(folder.path(), "DROP TABLE search_bag");
    let error = engine.search(&SearchQuery::new("ginger")).unwrap_err().to_string();
    assert!(error.contains("search_bag"), "{error}");
}

fn write(folder: &Path, sql: &str) {
    let file = folder.join("ttm.db");
    let connection = panoply_store::sqlite::open(&file, Durability::Normal).unwrap();
    connection.execute_batch(sql).unwrap();
}
