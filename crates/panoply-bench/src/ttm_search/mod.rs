//! Search of the ttm pack: quality on judged questions, per component and combined, and speed with
//! the bundled documents and with a hundred thousand.
//!
//! The weights were tuned on `curated` and on every other question of `crosslingual`, starting with
//! the first, but not on `held` and the rest. For `crosslingual` the Thai sentences are removed
//! from the papers, so that a Thai question can only match English text.
//! The peers use the same documents and questions: PyPI bm25s, and SQLite's FTS5 with its default
//! tokenizer (`./test` installs them).

mod judged_answers;
mod peers;
mod synthetic;

use panoply_contract::clock::Clock;
use panoply_store::SystemClock;
use panoply_ttm::catalog::HerbCatalog;
use panoply_ttm::eval::sets::{Bundled, JudgedQuestion};
use panoply_ttm::eval::{Figures, retrieval};
use panoply_ttm::search::{
    Corpus, Engine, Kind, Part, SearchQuery, TextLanguage, Tuning, corpus, record_document,
};
use panoply_ttm::search::{PaperImport as _, UserStore as _};
use panoply_ttm::store::SqliteUserStore;

use crate::{Outcome, report};

const GOAL_SEARCH_MILLIS: f64 = 5.0;
const GOAL_LARGE_P95_MILLIS: f64 = 30.0;
const GOAL_BUILD_PER_SECOND: f64 = 5_000.0;
const LARGE: usize = 100_000;

pub(crate) fn run(arguments: &[&str]) -> Outcome {
    let large = match arguments {
        [] => LARGE,
        [count, ..] => count.parse()?,
    };
    let clock = SystemClock::new();
    let millis_since = |start| clock.monotonic().saturating_sub(start).as_secs_f64() * 1e3;
    let start = clock.monotonic();
    let catalog = HerbCatalog::read()?;
    let read = millis_since(start);
    let start = clock.monotonic();
    let engine = Engine::new(corpus(&catalog))?;
    let made = millis_since(start);
    report::heading("Search in Thai traditional medicine", "recall and MRR on judged questions");
    let held = judged(Bundled::Held)?;
    quality("curated, which tuned the weights", &engine, &judged(Bundled::Tune)?)?;
    quality("held, which tuned nothing", &engine, &held)?;
    let english = Engine::new(without_thai_papers(corpus(&catalog)))?;
    let across = judged(Bundled::Crosslingual)?;
    quality("Thai questions, English papers", &english, &across)?;
    let untouched: Vec<JudgedQuestion> = across.into_iter().skip(1).step_by(2).collect();
    quality("the half of them that tuned nothing", &english, &untouched)?;

    judged_answers::run(&engine)?;

    report::heading("Speed at the bundled size", &format!("{} documents", engine.len()));
    report::figure("facts read", read, "ms", None);
    report::figure("index and vectors made, at the first search", made, "ms", None);
    let times = query_times(&engine, &held, &clock)?;
    report::figure("search, median", report::median(times.clone()), "ms", Some(GOAL_SEARCH_MILLIS));
    report::figure("search, 95th percentile", p95(times), "ms", Some(GOAL_SEARCH_MILLIS));

    report::heading("Speed of the large corpus", &format!("{large} synthetic documents"));
    let records = synthetic::papers(&engine, large);
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("ttm.db");
    let shelf = SqliteUserStore::at(file.clone());
    let per_second = |start| large as f64 / (millis_since(start) / 1e3);
    let start = clock.monotonic();
    shelf.import_papers(&mut |take| records.iter().cloned().try_for_each(take))?;
    report::figure("imported", per_second(start), "documents/s", None);
    let start = clock.monotonic();
    shelf.update_index(engine.text_model(), &mut |_, _| {})?;
    let built = per_second(start);
    report::at_least("index built", built, "documents/s", GOAL_BUILD_PER_SECOND);
    let start = clock.monotonic();
    let annex = shelf.user_index(engine.text_model())?;
    report::figure("index opened, by another program", millis_since(start), "ms", None);
    let size = std::fs::metadata(file)?.len() as f64;
    let texts: usize = records.iter().map(|one| one.title.len() + one.abstract_text.len()).sum();
    report::figure("file / text", size / texts as f64, "x", None);
    let big = Engine::bundled()?.with_user_index(annex);
    let times = query_times(&big, &held, &clock)?;
    report::figure("search, median", report::median(times.clone()), "ms", None);
    report::figure("search, 95th percentile", p95(times), "ms", Some(GOAL_LARGE_P95_MILLIS));
    let mut everything = corpus(&catalog);
    everything.documents.extend(records.iter().map(record_document));
    let recall_of_full_search =
        recall_of_full_search(&big, &engine.with_corpus(everything), &held)?;
    report::figure(
        "of the hits of a search in memory, found",
        recall_of_full_search * 100.0,
        "%",
        None,
    );
    peers::run(&engine, &[], &held)?;
    peers::run(&engine, &records, &held)
}

fn judged(set: Bundled) -> Outcome<Vec<JudgedQuestion>> {
    // Recall is undefined for a question without an answer.
    Ok(set.questions()?.into_iter().filter(|judged| !judged.relevant.is_empty()).collect())
}

fn without_thai_papers(mut corpus: Corpus) -> Corpus {
    for document in corpus.documents.iter_mut().filter(|one| one.kind() == Kind::Paper) {
        document.passages.retain(|passage| passage.language != TextLanguage::Th);
    }
    corpus
}

fn quality(name: &str, engine: &Engine, questions: &[JudgedQuestion]) -> Outcome {
    report::remark(&format!("\n  {name}"));
    let whole = [("the whole", Tuning::default())];
    let parts = Part::ALL.map(|part| (part.as_str(), Tuning::only(part)));
    for (part, tuning) in whole.into_iter().chain(parts) {
        let run = retrieval(engine, &tuning, questions.to_vec(), 10)?;
        let five = run.first(5);
        let five = five.by_lang();
        for (lang, ten) in run.by_lang() {
            let five = five.get(lang).copied().unwrap_or_default().recall;
            let Figures { questions, recall, reciprocal_rank, ndcg } = ten;
            report::remark(&format!(
                "{part:<10} {lang}  {questions:>4} questions   R@5 {five:.3}   R@10 {recall:.3}   MRR {reciprocal_rank:.3}   nDCG@10 {ndcg:.3}"
            ));
        }
    }
    Ok(())
}

/// Milliseconds of each query.
fn query_times(
    engine: &Engine,
    questions: &[JudgedQuestion],
    clock: &SystemClock,
) -> Outcome<Vec<f64>> {
    let time = |question: &JudgedQuestion| {
        let start = clock.monotonic();
        engine.search(&SearchQuery::new(&question.query))?;
        Ok(clock.monotonic().saturating_sub(start).as_secs_f64() * 1e3)
    };
    questions.iter().map(time).collect()
}

/// Recall of an engine against one that scores every document. Synthetic texts have many ties, so
/// a hit counts if its score equals that of the last one.
fn recall_of_full_search(
    engine: &Engine,
    full: &Engine,
    questions: &[JudgedQuestion],
) -> Outcome<f64> {
    let (mut found, mut all) = (0, 0);
    for question in questions {
        let question = SearchQuery::new(&question.query);
        let (own, full) = (engine.search(&question)?.hits, full.search(&question)?.hits);
        let last = full.last().map_or(0.0, |hit| hit.score);
        found += own.iter().filter(|hit| hit.score >= last).count();
        all += full.len();
    }
    Ok(found as f64 / all as f64)
}

fn p95(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() * 95 / 100).copied().unwrap_or(f64::NAN)
}
