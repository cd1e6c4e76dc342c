//! `eval_run` through the kernel: metrics, reports, invalid input, and the quality floors of the
//! search.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests may fail the test"
)]

use std::path::Path;
use std::sync::Arc;

use panoply_contract::context::CallContext;
use panoply_contract::dialect::{ERROR_KEY, Envelope};
use panoply_contract::ids::TraceId;
use panoply_contract::kernel::{Kernel, Scope, Settings};
use panoply_contract::resource::ResourceBody;
use panoply_contract::testing::{FixedClock, call_as_owner, kernel_in_memory, noon};
use panoply_ttm::eval::{MemoryReportStore, Metric, ReportStore};
use panoply_ttm::papers::NoPapers;
use panoply_ttm::store::SqliteReportStore;
use panoply_ttm::tools::pack;
use serde_json::{Value, json};

fn kernel_with(reports: Arc<dyn ReportStore>) -> Arc<Kernel> {
    let pack = pack(Arc::new(NoPapers), reports);
    kernel_in_memory(vec![pack], FixedClock::at(noon()), Settings::default()).unwrap()
}

fn kernel() -> Arc<Kernel> {
    kernel_with(Arc::new(MemoryReportStore::default()))
}

async fn measured(kernel: &Kernel, input: Value) -> Value {
    match call_as_owner(kernel, "eval_run", input.clone()).await {
        Envelope::Result { structured: Some(data), is_error: false, .. } => data.value(),
        other => panic!("{input}: {other:?}"),
    }
}

async fn refused(kernel: &Kernel, input: Value) -> Value {
    match call_as_owner(kernel, "tool.eval.run", input.clone()).await {
        Envelope::Result { is_error: true, meta, .. } => meta.value(ERROR_KEY)["error"].clone(),
        other => panic!("{input}: {other:?}"),
    }
}

async fn document(kernel: &Kernel, uri: &str) -> Result<String, String> {
    let clock = Arc::clone(kernel.clock());
    let cx = CallContext::local(clock, TraceId::new(uuid::Uuid::nil()));
    let found = kernel.read_resource(&Scope::All, uri, &cx).await.map_err(|error| error.message)?;
    let ResourceBody::Text(text) = found.body else { panic!("{uri}") };
    Ok(text)
}

fn value(metrics: &Value, name: &str) -> f64 {
    let metrics = metrics.as_array().unwrap();
    let found = metrics.iter().find(|metric| metric["name"] == name);
    found.unwrap_or_else(|| panic!("no {name} in {metrics:?}"))["value"].as_f64().unwrap()
}

/// Floors: R@10 ≥ 0.97 in Thai and in English, MRR ≥ 0.75, on the tuning and the held-out questions.
#[tokio::test]
async fn search_meets_the_recall_and_mrr_floors() {
    let kernel = kernel();
    for split in ["held", "tune"] {
        let input =
            json!({"set": "curated", "metrics": ["R@k", "MRR"], "params": {"split": split}});
        let data = measured(&kernel, input).await;
        for lang in ["th", "en"] {
            let metrics = &data["by_lang"][lang];
            let (recall, rank) = (value(metrics, "R@10"), value(metrics, "MRR"));
            assert!(recall >= 0.97, "{split} {lang}: R@10 is {recall}");
            assert!(rank >= 0.75, "{split} {lang}: MRR is {rank}");
        }
    }
}

const OWN: &str = r#"{"id": "ginger", "query": "ขิง", "relevant": ["H:ginger"]}
{"id": "nothing", "kind": "unanswerable", "query": "stock prices", "relevant": []}
{"id": "both", "kind": "pair | of *names*", "query": "piperine", "relevant": ["H:pepper", "H:longpepper"]}"#;

#[tokio::test]
async fn reply_has_the_contract_members_and_the_report_lists_every_question() {
    let kernel = kernel();
    let input = json!({"set": "custom", "metrics": ["R@k", "MRR", "nDCG@k"], "params": {"lines": OWN, "k": 5}});
    let data = measured(&kernel, input).await;
    let names: Vec<&str> = data["metrics"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["R@5", "MRR", "nDCG@5"]);
    assert!((value(&data["metrics"], "MRR") - 1.0).abs() < 1e-9, "{data}");
    assert_eq!(data["audit"]["status"], "ok");
    let uri = data["report_uri"].as_str().unwrap();
    let markdown = document(&kernel, uri).await.unwrap();
    for expected in
        ["# Evaluation of `custom/", "| R@5 |", "**ginger**", "missed: none", "H:ginger (1)"]
    {
        assert!(markdown.contains(expected), "{expected}: {markdown}");
    }
    assert!(markdown.contains(r"pair \| of \*names\*"), "a stranger's words are no markup");
    let report = document(&kernel, data["report_json_uri"].as_str().unwrap()).await.unwrap();
    let report: Value = serde_json::from_str(&report).unwrap();
    assert_eq!(report["asked"].as_array().unwrap().len(), 3);
    assert_eq!(report["asked"][0]["ranked"][0]["id"], "H:ginger");
    assert_eq!(report["metrics"][0]["of"], 2, "the question without an answer has no recall");
    assert_eq!(report["change"], Value::Null);
    let unknown = document(&kernel, "ttm://eval/0123").await.unwrap_err();
    assert_eq!(unknown, "report `0123` does not exist");
}

#[tokio::test]
async fn seed_determines_the_sample_and_the_bytes() {
    let sampled = |seed: u64| json!({"set": "curated", "metrics": ["R@k"], "params": {"seed": seed, "limit": 8}});
    let (one, other) = (kernel(), kernel());
    let first = measured(&one, sampled(7)).await;
    let again = measured(&one, sampled(7)).await;
    let elsewhere = measured(&other, sampled(7)).await;
    assert_eq!(first["report_uri"], again["report_uri"]);
    assert_eq!(first["audit"]["out_hash"], elsewhere["audit"]["out_hash"]);
    for end in ["", ".json"] {
        let uri = format!("{}{end}", first["report_uri"].as_str().unwrap());
        let bytes = document(&one, &uri).await.unwrap();
        assert_eq!(bytes, document(&other, &uri).await.unwrap(), "{uri}");
    }
    assert_eq!(first["questions"], 8);
    let another = measured(&one, sampled(8)).await;
    assert_ne!(first["report_uri"], another["report_uri"]);
}

#[tokio::test]
async fn report_survives_a_restart_and_the_next_run_reports_changes() {
    let folder = tempfile::tempdir().unwrap();
    let at =
        |folder: &Path| kernel_with(Arc::new(SqliteReportStore::at(folder.join("ttm-eval.db"))));
    let deep = json!({"set": "smoke", "metrics": ["R@k"], "params": {"k": 10}});
    let shallow = json!({"set": "smoke", "metrics": ["R@10"], "params": {"k": 1}});
    let before = measured(&at(folder.path()), deep.clone()).await;
    assert_eq!(before["change"], Value::Null);
    let kernel = at(folder.path());
    let uri = before["report_uri"].as_str().unwrap();
    assert!(document(&kernel, uri).await.unwrap().contains("R@10"));
    let after = measured(&kernel, shallow).await;
    assert_eq!(after["change"]["since"], uri);
    assert!(after["change"]["metrics"]["R@10"].is_number(), "{after}");
    let report = document(&kernel, after["report_uri"].as_str().unwrap()).await.unwrap();
    assert!(report.contains(&format!("Against {uri}:")), "{report}");
    let again = measured(&kernel, deep).await;
    assert_eq!(again["report_uri"], uri, "the same run is the same report");
    assert_eq!(again["change"], Value::Null, "as it was first kept");
}

#[tokio::test]
async fn bad_input_gets_an_error_with_a_hint() {
    let kernel = kernel();
    let custom = |lines: &str| json!({"set": "custom", "params": {"lines": lines}});
    let cases = [
        (json!({"set": "smoke", "params": {"k": 0}}), "k must be >0"),
        (json!({"set": "smoke", "params": {"k": 101}}), "k"),
        (json!({"set": "smoke", "params": {"k": -1}}), "k"),
        (
            json!({"set": "smoke", "metrics": ["R@k", "BLEU", "ROUGE"]}),
            "there is no metric `BLEU`; there is no metric `ROUGE`; known: R@k, MRR, nDCG@k, factuality",
        ),
        (json!({"set": "smoke", "metrics": []}), "metrics"),
        (json!({"set": "golden"}), "set"),
        (json!({"set": "smoke", "params": {"colour": "green"}}), "colour"),
        (json!({"set": "smoke", "params": {"lines": OWN}}), "`lines` is for the set `custom` only"),
        (
            json!({"set": "custom", "params": {"split": "held"}}),
            "`split` is for the set `curated` only",
        ),
        (
            json!({"set": "custom", "params": {"path": "/etc/passwd"}}),
            "`path`: no folder is allowed for files",
        ),
        (json!({"set": "smoke", "params": {"path": "/x"}}), "`path` is for the set `custom` only"),
        (json!({"set": "custom", "params": {"path": "/x", "lines": OWN}}), "both given"),
        (json!({"set": "custom"}), "`lines` or `path` is required for the set `custom`"),
        (custom("\n\n"), "the set has no questions"),
        (custom("query;relevant\nขิง;H:ginger"), "line 1: not a valid question"),
        (custom(&format!("{OWN}\n{{}}")), "line 4: not a valid question: missing field `query`"),
        (
            custom(r#"{"query": "ขิง", "relevant": ["H:gingr", "F:0"]}"#),
            "not in the data: `F:0`, `H:gingr`",
        ),
        (json!({"set": "smoke", "params": {"limit": 0}}), "limit"),
    ];
    for (input, expected) in cases {
        let error = refused(&kernel, input.clone()).await;
        assert_eq!(error["code"], "INVALID_ARG", "{input}: {error}");
        assert!(error.to_string().contains(expected), "{input}: {error}");
    }
    let exact = refused(&kernel, json!({"set": "smoke", "params": {"k": 0}})).await;
    assert_eq!(exact["message"], "k must be >0");
}

#[tokio::test]
async fn smoke_set_measures_every_metric() {
    let kernel = kernel();
    let data = measured(&kernel, json!({"set": "smoke", "metrics": Metric::NAMES})).await;
    let metrics = data["metrics"].as_array().unwrap();
    assert_eq!(metrics.len(), Metric::NAMES.len());
    for metric in metrics {
        assert!(metric["value"].is_number(), "{metric}");
    }
    for name in ["safety_omission", "false_absence", "softened_level", "reversed_polarity"] {
        assert!(value(&data["metrics"], name) <= 0.0, "{name}");
    }
}

/// No expected warning is omitted and none is denied, on the curated and the lay questions.
#[tokio::test]
async fn no_warning_is_omitted_or_denied() {
    let kernel = kernel();
    for split in ["held", "lay"] {
        let metrics = ["safety_omission", "false_absence", "softened_level", "reversed_polarity"];
        let input = json!({"set": "curated", "metrics": metrics, "params": {"split": split}});
        let data = measured(&kernel, input).await;
        for name in metrics {
            let found = value(&data["metrics"], name);
            assert!(found <= 0.0, "{split}: {name} is {found}");
        }
    }
}

/// Floors: citation precision ≥ 0.95, no answer to unanswerable questions, factuality ≥ 0.9.
#[tokio::test]
async fn answers_meet_the_citation_and_factuality_targets() {
    let kernel = kernel();
    let metrics = ["factuality", "citation_precision", "fact_recall", "withholding_recall"];
    let data = measured(&kernel, json!({"set": "curated", "metrics": metrics})).await;
    let (fact, cited) =
        (value(&data["metrics"], "factuality"), value(&data["metrics"], "citation_precision"));
    assert!(fact >= 0.9, "factuality is {fact}");
    assert!(cited >= 0.95, "citation precision is {cited}");
    let withheld = value(&data["metrics"], "withholding_recall");
    let report = document(&kernel, data["report_json_uri"].as_str().unwrap()).await.unwrap();
    let report: Value = serde_json::from_str(&report).unwrap();
    let asked = report["asked"].as_array().unwrap();
    let answers = asked.iter().filter(|row| !row["answer"].is_null());
    assert!(answers.clone().count() > 150, "the questions that judge answers were asked");
    let given = |row: &&&Value| {
        row["expected"]["answer"] == json!(false) && row["answer"]["withheld"] == json!([])
    };
    let wrongly: Vec<String> = answers
        .clone()
        .filter(|row| given(&row))
        .map(|row| format!("{} {}", row["id"], row["kind"]))
        .collect();
    assert!(withheld >= 1.0, "answered although there is no answer: {wrongly:?}");
    for row in answers {
        let forbidden = &row["answer"]["forbidden"];
        assert_eq!(forbidden, &json!([]), "{}: words that no answer may hold", row["query"]);
    }
    let buckets = report["reliability"].as_array().unwrap();
    let counted: u64 = buckets.iter().map(|one| one["answers"].as_u64().unwrap()).sum();
    assert!(counted > 150, "each answer is in the table of confidence");
}
