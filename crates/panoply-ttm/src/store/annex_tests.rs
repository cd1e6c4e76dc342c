//! What is searched where it is kept is found as if it were in memory: the same hits, with the
//! same scores to the last bit.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use tempfile::TempDir;

use super::documents::{add, remove};
use super::*;
use crate::eval::sets::Bundled;
use crate::ingest::plan::Extract;
use crate::ingest::{BroughtDocument, Chunk, DocumentShelf as _};
use crate::library::Library;
use crate::search::{Answer, Engine, Facet, Kind, Question, Wanted, engine_over, record_document};
use crate::search::{chunk_document, corpus};

/// Made-up papers: statements of the bundled texts in another order.
fn papers(engine: &Engine, count: usize) -> Vec<Record> {
    let statements: Vec<&str> = (engine.held().iter())
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
    let document = BroughtDocument {
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

fn shelf(folder: &TempDir) -> SqliteShelf {
    SqliteShelf::at(folder.path().join("ttm.db"))
}

fn import(shelf: &SqliteShelf, records: &[Record]) {
    let take = |keep: &mut dyn FnMut(Record) -> Result<(), ShelfError>| {
        records.iter().cloned().try_for_each(keep)
    };
    shelf.import::<ShelfError>(take).unwrap();
}

/// The engine with everything of a shelf in its annex.
fn annexed(shelf: &SqliteShelf) -> Engine {
    engine_over(&Library::bundled().unwrap(), shelf, &[], Vec::new()).unwrap()
}

/// The engine with the same documents in memory.
fn in_memory(records: &[Record], extracts: &[Extract]) -> Engine {
    let mut corpus = corpus(&Library::bundled().unwrap());
    corpus.documents.extend(records.iter().map(record_document));
    for Extract { document, chunks, .. } in extracts {
        corpus.documents.extend(chunks.iter().map(|one| chunk_document(one, &document.title)));
    }
    Engine::bundled().unwrap().beside(corpus)
}

fn told(answer: &Answer) -> Vec<(String, u32, [u32; 5], String)> {
    let hits = answer.hits.iter();
    hits.map(|hit| {
        let parts = hit.parts.map(f32::to_bits);
        (hit.document.id.clone(), hit.score.to_bits(), parts, hit.snippet.text.clone())
    })
    .collect()
}

/// Asks both every so-manieth judged question.
fn assert_same(one: &Engine, other: &Engine, every: usize) {
    let sets = [Bundled::Tune, Bundled::Crosslingual];
    let questions = sets.map(|set| set.questions().unwrap()).concat();
    let mut from_annex = 0;
    for judged in questions.iter().step_by(every) {
        let question = Question::new(&judged.query);
        let (found, expected) = (one.search(&question).unwrap(), other.search(&question).unwrap());
        assert_eq!(told(&found), told(&expected), "{}", judged.query);
        assert_eq!(found.mentions, expected.mentions, "{}", judged.query);
        from_annex += found.hits.iter().filter(|hit| hit.snippet.source == "imported").count();
    }
    assert!(from_annex * every > 100, "only {from_annex} hits came from the annex");
}

#[test]
fn what_is_kept_in_the_file_is_found_as_if_it_were_in_memory() {
    let folder = tempfile::tempdir().unwrap();
    let shelf = shelf(&folder);
    let records = papers(&Engine::bundled().unwrap(), 600);
    import(&shelf, &records);
    let extract = extract();
    shelf.in_transaction(|connection| add(connection, &extract)).unwrap();
    let kept = annexed(&shelf);
    assert_eq!(kept.len(), Engine::bundled().unwrap().len() + 602);
    assert_same(&kept, &in_memory(&records, std::slice::from_ref(&extract)), 1);

    let asked = |text: &str, wanted: Wanted| {
        kept.search(&Question { wanted, ..Question::new(text) }).unwrap()
    };
    let ids = |answer: &Answer| -> Vec<String> {
        answer.hits.iter().map(|hit| hit.document.id.clone()).collect()
    };
    let by_number = asked("PMID 900000123", Wanted::default());
    assert_eq!(ids(&by_number)[0], "900000123");
    let chunks = Wanted { kinds: vec![Kind::Chunk], ..Wanted::default() };
    assert_eq!(ids(&asked("ขมิ้นชัน ท้องอืด", chunks))[0], "D:0123456789ab#1");
    let of_2007 = Wanted { from_year: Some(2007), to_year: Some(2007), ..Wanted::default() };
    let found = asked("ginger nausea", of_2007);
    assert_eq!(found.hits.len(), 10);
    for hit in &found.hits {
        assert!(hit.document.facets.contains(&(Facet::Year, "2007".to_owned())));
    }
}

#[test]
fn what_changes_or_goes_is_as_if_it_had_never_been_otherwise() {
    let folder = tempfile::tempdir().unwrap();
    let shelf = shelf(&folder);
    let records = papers(&Engine::bundled().unwrap(), 90);
    import(&shelf, &papers(&Engine::bundled().unwrap(), 130)[40..]);
    shelf.in_transaction(|connection| add(connection, &extract())).unwrap();
    let before = annexed(&shelf);
    assert!(before.find("D:0123456789ab#2").unwrap().is_some());
    // Forty come, thirty become others, ten stay, forty go, and so does the document.
    import(&shelf, &records[..40]);
    let changed: Vec<Record> = (records[40..70].iter())
        .map(|record| Record { title: format!("{} on ginger", record.title), ..record.clone() })
        .collect();
    import(&shelf, &changed);
    shelf
        .in_transaction(|connection| {
            connection
                .execute("DELETE FROM paper WHERE CAST(pmid AS INTEGER) >= 900000090", [])
                .map_err(broken)?;
            remove(connection, "job")
        })
        .unwrap();
    assert!(shelf.documents().unwrap().is_empty());
    let mut now = records.clone();
    now.splice(40..70, changed);
    let kept = annexed(&shelf);
    assert_same(&kept, &in_memory(&now, &[]), 4);
    assert!(kept.find("D:0123456789ab#2").unwrap().is_none());
    // A program that looked before still answers, without what has gone.
    let question =
        Question { top: 100, ..Question::new("ขมิ้นชัน ท้องอืด") };
    for hit in before.search(&question).unwrap().hits {
        assert!(!hit.document.id.starts_with("D:"), "{}", hit.document.id);
    }
}

#[test]
fn work_that_was_cut_off_is_taken_up_and_shared_work_is_done_once() {
    let folder = tempfile::tempdir().unwrap();
    let shelf = shelf(&folder);
    let records = papers(&Engine::bundled().unwrap(), 200);
    import(&shelf, &records);
    let engine = Engine::bundled().unwrap();
    let mut steps = 0;
    let cut_off = catch_unwind(AssertUnwindSafe(|| {
        shelf.make_searchable(engine.workings(), &mut |done, total| {
            assert_eq!(total, 200);
            steps += 1;
            assert!(done < 80, "cut off");
        })
    }));
    assert!(cut_off.is_err() && steps > 1, "{steps}");
    std::thread::scope(|scope| {
        for _ in 0..2 {
            let other = SqliteShelf::at(folder.path().join("ttm.db"));
            let workings = engine.workings();
            scope.spawn(move || other.make_searchable(workings, &mut |_, _| {}).unwrap());
        }
    });
    assert_same(&annexed(&shelf), &in_memory(&records, &[]), 4);
}

#[test]
fn what_another_program_made_is_made_again() {
    let folder = tempfile::tempdir().unwrap();
    let shelf = shelf(&folder);
    let records = papers(&Engine::bundled().unwrap(), 120);
    import(&shelf, &records);
    let other = annexed(&shelf);
    let spoilt = "UPDATE search_form SET learnt_from = x'00';
                  UPDATE search_document SET vector = zeroblob(96), words = 1;
                  UPDATE search_term SET documents = 1;";
    write(folder.path(), spoilt);
    let error = other.search(&Question::new("ginger")).unwrap_err().to_string();
    assert!(error.contains("another version"), "{error}");
    assert_same(&annexed(&shelf), &in_memory(&records, &[]), 4);
}

/// A paper that ships is in memory; the user's record adds its abstract, and nothing is twice.
#[test]
fn a_paper_that_ships_gains_its_abstract_and_is_not_there_twice() {
    let folder = tempfile::tempdir().unwrap();
    let shelf = shelf(&folder);
    let shipped = Library::bundled().unwrap().papers[0].pmid.clone();
    let abstract_text = "Zanzibarite qualification of the flummox.".to_owned();
    import(&shelf, &[Record { pmid: shipped.clone(), abstract_text, ..Record::default() }]);
    let engine = annexed(&shelf);
    assert_eq!(engine.len(), Engine::bundled().unwrap().len());
    let answer = engine.search(&Question::new("zanzibarite flummox")).unwrap();
    assert_eq!(answer.hits[0].document.id, shipped);
    assert!(answer.hits[0].snippet.text.contains("**Zanzibarite**"), "{:?}", answer.hits[0]);
}

/// What cannot be read is an error, never fewer hits.
#[test]
fn a_file_that_cannot_be_read_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let shelf = shelf(&folder);
    import(&shelf, &papers(&Engine::bundled().unwrap(), 50));
    let engine = annexed(&shelf);
    assert!(engine.search(&Question::new("ginger")).is_ok());
    write(folder.path(), "DROP TABLE search_bag");
    let error = engine.search(&Question::new("ginger")).unwrap_err().to_string();
    assert!(error.contains("search_bag"), "{error}");
}

fn write(folder: &Path, sql: &str) {
    let file = folder.join("ttm.db");
    let connection = panoply_store::sqlite::open(&file, Durability::Normal).unwrap();
    connection.execute_batch(sql).unwrap();
}
