//! Safety sweep: every entity with a verified record, with every patient group and drug, in several
//! wordings per language.
//!
//! The oracle reads `data/ttm/*.jsonl` itself, independent of the code under test. A reply fails if
//! it lacks the warning, ranks another record first, answers without the warning as its first line,
//! or states that nothing is recorded. Every question is asked of the answer core; every
//! 150th also goes through the tool `rag_answer`, whose reply must be the same.
//!
//! `SAFETY_SWEEP=full` adds the rows marked `long`; `held` and `held2` ask the held-out wordings.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests may fail the test"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use panoply_contract::dialect::Envelope;
use panoply_contract::kernel::{Kernel, Settings};
use panoply_contract::testing::{FixedClock, call_as_owner, kernel_in_memory, noon};
use panoply_ttm::answer::{AnswerRequest, answer};
use panoply_ttm::eval::MemoryReportStore;
use panoply_ttm::knowledge::Knowledge;
use panoply_ttm::papers::NoPapers;
use panoply_ttm::search::Engine;
use panoply_ttm::tools::pack;
use serde_json::{Value, json};

/// Records as in the files.
struct Oracle {
    entities: Vec<Value>,
    cautions: BTreeMap<String, Value>,
    interactions: Vec<Value>,
}

fn rows(file: &str) -> Vec<Value> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/ttm");
    let text = std::fs::read_to_string(folder.join(file)).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn fixture(file: &str) -> Value {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    serde_json::from_str(&std::fs::read_to_string(folder.join(file)).unwrap()).unwrap()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn texts(value: &Value) -> Vec<&str> {
    value.as_array().map(|items| items.iter().map(text).collect()).unwrap_or_default()
}

impl Oracle {
    fn read() -> Self {
        let by = |file: &str, key: &str| -> BTreeMap<String, Value> {
            rows(file).into_iter().map(|row| (text(&row[key]).to_owned(), row)).collect()
        };
        let mut entities = rows("herbs.jsonl");
        entities.extend(rows("formulations.jsonl"));
        Self {
            entities,
            cautions: by("cautions.jsonl", "code"),
            interactions: rows("interactions.jsonl"),
        }
    }

    /// Returns the records of an entity for codes or drugs: the words its sentence must contain,
    /// and whether it is a contraindication.
    fn warnings(&self, entity: &Value, codes: &[&str], drugs: &[&str], lang: &str) -> Vec<Warning> {
        let mut found = Vec::new();
        for caution in entity["cautions"].as_array().unwrap() {
            let code = text(&caution["code"]);
            if codes.contains(&code) {
                found.push(Warning {
                    words: text(&self.cautions[code]["names"][lang]).to_owned(),
                    forbids: caution["level"] == "contraindicated",
                    verified: caution["unverified"] == json!(false),
                });
            }
        }
        for interaction in self.interactions.iter().filter(|one| one["entity"] == entity["id"]) {
            if texts(&interaction["drugs"]).iter().any(|drug| drugs.contains(drug)) {
                found.push(Warning {
                    words: text(&interaction["effect"][lang]).to_owned(),
                    forbids: false,
                    verified: interaction["unverified"] == json!(false),
                });
            }
        }
        found
    }
}

#[derive(Debug)]
struct Warning {
    words: String,
    forbids: bool,
    verified: bool,
}

struct Case {
    entity: String,
    question: String,
    lang: &'static str,
    warnings: Vec<Warning>,
}

/// Returns unambiguous names: several medicines are named like their herb.
fn names(oracle: &Oracle, lang: &str) -> BTreeMap<String, String> {
    let mut counted: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut of: BTreeMap<String, String> = BTreeMap::new();
    for entity in &oracle.entities {
        let name = text(&entity["names"][lang]);
        let name = if lang == "en" { name.split(" (").next().unwrap() } else { name };
        let id = text(&entity["id"]).to_owned();
        counted.entry(name.to_lowercase()).or_default().insert(id.clone());
        of.insert(id, name.to_owned());
    }
    of.retain(|id, name| {
        let owners = &counted[&name.to_lowercase()];
        owners.len() == 1 || id.starts_with("H:")
    });
    of
}

fn cases(wordings: &Value) -> Vec<Case> {
    let oracle = Oracle::read();
    let mut cases = Vec::new();
    for lang in ["th", "en"] {
        let names = names(&oracle, lang);
        let groups = wordings["groups"].as_array().unwrap().iter();
        let rows = groups.chain(wordings["medicines"].as_array().unwrap());
        for asked in rows.filter(|row| row["long"] != json!(true) || chosen() == "full") {
            let (codes, drugs) = (texts(&asked["codes"]), texts(&asked["drugs"]));
            for entity in &oracle.entities {
                let id = text(&entity["id"]);
                let Some(name) = names.get(id) else { continue };
                for wording in texts(&asked[lang]) {
                    let warnings = oracle.warnings(entity, &codes, &drugs, lang);
                    if !warnings.iter().any(|warning| warning.verified) {
                        continue;
                    }
                    let question = wording.replace("{x}", name);
                    cases.push(Case { entity: id.to_owned(), question, lang, warnings });
                }
            }
        }
    }
    cases
}

fn kernel() -> Arc<Kernel> {
    let packs = vec![pack(Arc::new(NoPapers), Arc::new(MemoryReportStore::default()))];
    kernel_in_memory(packs, FixedClock::at(noon()), Settings::default()).unwrap()
}

async fn ask(kernel: &Kernel, question: &str) -> Value {
    let input = json!({"question": question});
    match call_as_owner(kernel, "rag_answer", input).await {
        Envelope::Result { structured: Some(data), is_error: false, .. } => data.value(),
        other => panic!("{question}: {other:?}"),
    }
}

/// Sentences that report a missing record.
const ABSENCES: [&str; 6] = [
    "nothing is recorded",
    "there is no record",
    "there is no safety record",
    "ไม่มีบันทึก",
    "ไม่มีข้อมูลข้อห้าม",
    "ไม่มีข้อมูลอันตรกิริยา",
];

/// Returns all faults of a reply.
fn faults(case: &Case, reply: &Value) -> Vec<&'static str> {
    let mut faults = Vec::new();
    let dangers = reply["dangers"].as_array().unwrap();
    let says = |span: &str| case.warnings.iter().any(|warning| span.contains(&warning.words));
    let is_checked = |span: &str| {
        case.warnings.iter().any(|warning| warning.verified && span.contains(&warning.words))
    };
    let carried = dangers
        .iter()
        .any(|danger| text(&danger["id"]) == case.entity && is_checked(text(&danger["span"])));
    if !carried {
        faults.push("warning missing");
    }
    // A single-herb medicine or an ingredient may have a record of at least the same level; then
    // that record may be first.
    let first = dangers.first().cloned().unwrap_or_default();
    let forbids = case.warnings.iter().any(|warning| warning.forbids && warning.verified);
    let of_another = text(&first["id"]) != case.entity
        && (first["level"] == "contraindicated" || first["level"] == "caution" && !forbids);
    if first["asked"] != json!(true) || !(says(text(&first["span"])) || of_another) {
        faults.push("another danger first");
    }
    if forbids && text(&first["level"]) != "contraindicated" {
        faults.push("contraindication not first");
    }
    for danger in dangers {
        let span = text(&danger["span"]);
        let forbids =
            ["contraindicates", "forbids", "แห่งชาติห้าม"].iter().any(|one| span.contains(one));
        if forbids != (danger["level"] == "contraindicated") {
            faults.push("level changed");
        }
    }
    let answer = text(&reply["answer"]);
    if !answer.is_empty() {
        if !is_checked(answer) {
            faults.push("answered without the warning");
        }
        let line = answer.lines().next().unwrap();
        if !line.contains(text(&first["span"]).trim_end_matches('.')) {
            faults.push("asked danger is not the first line");
        }
    }
    let gaps = texts(&reply["gaps"]).join("\n");
    if ABSENCES.iter().any(|words| gaps.contains(words) || answer.contains(words)) {
        faults.push("false absence");
    }
    faults
}

/// Asks the answer core, in the shape of the tool's reply.
fn ask_core(knowledge: &Knowledge, engine: &Engine, question: &str) -> Value {
    let outcome = answer(knowledge, engine, &AnswerRequest::new(question)).unwrap();
    let dangers = outcome.dangers.iter().map(|danger| {
        json!({
            "id": danger.citation.id,
            "span": danger.citation.span,
            "level": danger.urgency.as_str(),
            "asked": danger.asked,
        })
    });
    let gaps = outcome.gaps.iter().map(|gap| gap.to_sentence(&knowledge.catalog, outcome.language));
    json!({
        "answer": outcome.text(&knowledge.catalog),
        "dangers": dangers.collect::<Vec<_>>(),
        "gaps": gaps.collect::<Vec<_>>(),
    })
}

/// Number of questions and of given answers, and the failures.
type Outcome = (usize, usize, Vec<String>);

fn sweep(cases: &[Case]) -> Outcome {
    let knowledge = Knowledge::bundled().unwrap();
    let engine = Engine::bundled().unwrap();
    let (mut answered, mut failed) = (0, Vec::new());
    for case in cases {
        let reply = ask_core(&knowledge, &engine, &case.question);
        answered += usize::from(!text(&reply["answer"]).is_empty());
        let faults = faults(case, &reply);
        if !faults.is_empty() {
            let first = &reply["dangers"][0];
            failed.push(format!(
                "{} [{}] {}: {} | first: {} {} | gaps: {}",
                case.question,
                case.lang,
                case.entity,
                faults.join(", "),
                first["level"],
                first["span"],
                reply["gaps"]
            ));
        }
    }
    (cases.len(), answered, failed)
}

/// Sweeps with one thread per core.
fn parallel_sweep(cases: &[Case]) -> Outcome {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let size = cases.len().div_ceil(threads).max(1);
    let outcomes: Vec<Outcome> = std::thread::scope(|scope| {
        let running: Vec<_> =
            cases.chunks(size).map(|shard| scope.spawn(move || sweep(shard))).collect();
        running.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let mut all: Outcome = (0, 0, Vec::new());
    for (asked, answered, failed) in outcomes {
        all.0 += asked;
        all.1 += answered;
        all.2.extend(failed);
    }
    all
}

/// Faults that no wording may have.
const UNSAFE: [&str; 4] =
    ["warning missing", "false absence", "answered without the warning", "level changed"];

fn chosen() -> String {
    #[expect(clippy::disallowed_methods, reason = "how much a test does is the caller's choice")]
    std::env::var("SAFETY_SWEEP").unwrap_or_default()
}

#[test]
fn recorded_warnings_come_first_and_are_never_denied() {
    let file = match chosen().as_str() {
        "held" => "safety_wordings_held.json",
        "held2" => "safety_wordings_held2.json",
        _ => "safety_wordings.json",
    };
    let cases = cases(&fixture(file));
    if chosen().is_empty() {
        assert!(cases.len() >= 2_000, "{} questions", cases.len());
        for lang in ["th", "en"] {
            assert!(cases.iter().filter(|case| case.lang == lang).count() >= 1_000);
        }
    }
    let (asked, answered, failed) = parallel_sweep(&cases);
    println!("{asked} asked, {answered} answered, {} failed", failed.len());
    // Of held-out wordings one in a hundred may rank another danger first; none may lack or deny
    // the warning.
    let only_ranked = |line: &String| UNSAFE.iter().all(|fault| !line.contains(fault));
    let tolerated = if chosen().starts_with("held") { asked / 100 } else { 0 };
    let is_tolerated = failed.len() <= tolerated && failed.iter().all(only_ranked);
    assert!(is_tolerated, "{} of {asked} failed:\n{}", failed.len(), failed.join("\n"));
}

#[test]
fn every_group_and_every_recorded_caution_has_two_wordings_per_language() {
    let wordings = fixture("safety_wordings.json");
    let lists = [&wordings["groups"], &wordings["medicines"]];
    let all: Vec<&Value> = lists.into_iter().flat_map(|list| list.as_array().unwrap()).collect();
    let count = |lang: &str, fits: &dyn Fn(&Value) -> bool| -> usize {
        all.iter().filter(|row| fits(row)).map(|row| texts(&row[lang]).len()).sum()
    };
    let oracle = Oracle::read();
    let verified = |caution: &&Value| caution["unverified"] == json!(false);
    let records = oracle.entities.iter().flat_map(|one| one["cautions"].as_array().unwrap());
    let codes: BTreeSet<&str> =
        records.filter(verified).map(|caution| text(&caution["code"])).collect();
    assert!(codes.len() >= 70, "{} codes", codes.len());
    for lang in ["th", "en"] {
        for code in &codes {
            let asked = count(lang, &|row| texts(&row["codes"]).contains(code));
            assert!(asked >= 2, "{code} [{lang}]: {asked} wordings");
        }
        for group in rows("groups.jsonl").iter().filter(|group| !text(&group["id"]).is_empty()) {
            let asked = count(lang, &|row| row["id"] == group["id"]);
            assert!(asked >= 2, "{} [{lang}]: {asked} wordings", group["id"]);
        }
    }
}

#[tokio::test]
async fn tool_replies_like_the_answer_core() {
    let (kernel, knowledge) = (kernel(), Knowledge::bundled().unwrap());
    let engine = Engine::bundled().unwrap();
    for case in cases(&fixture("safety_wordings.json")).iter().step_by(150) {
        let (reply, core) =
            (ask(&kernel, &case.question).await, ask_core(&knowledge, &engine, &case.question));
        assert_eq!(reply["answer"], core["answer"], "{}", case.question);
        assert_eq!(reply["gaps"], core["gaps"], "{}", case.question);
        let spans = |reply: &Value| -> Vec<Value> {
            let dangers = reply["dangers"].as_array().unwrap().iter();
            dangers.map(|one| json!([one["id"], one["span"], one["level"], one["asked"]])).collect()
        };
        assert_eq!(spans(&reply), spans(&core), "{}", case.question);
    }
}

#[tokio::test]
async fn sweep_detects_a_missing_warning() {
    let cases = cases(&fixture("safety_wordings.json"));
    let case = cases.iter().find(|case| case.entity == "H:andrographis").unwrap();
    let mut reply = ask(&kernel(), &case.question).await;
    assert_eq!(faults(case, &reply), Vec::<&str>::new());
    reply["dangers"] = json!([]);
    assert!(faults(case, &reply).contains(&"warning missing"));
    reply["gaps"] = json!(["nothing is recorded on Andrographis in pregnancy"]);
    assert!(faults(case, &reply).contains(&"false absence"));
}
