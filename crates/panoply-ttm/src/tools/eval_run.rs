//! `eval_run`: measures search and answers on annotated questions.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use panoply_contract::prelude::*;

use super::common::KEYWORDS;
use super::wire::{caller_language, pick};
use crate::eval::sets::{self, BadSet, Bundled, JudgedQuestion, MAX_SET_BYTES};
use crate::eval::{
    self, Answers, Extractive, MAX_DEPTH, Measured, Metric, Plan, Report, ReportStore,
    StoredReport, address, save,
};
use crate::knowledge::KnowledgeService;
use crate::roots::Roots;
use crate::search::{Engine, SearchService};

const SPEC: ToolSpec = ToolSpec {
    name: "eval_run",
    title: "Measure search and answers",
    description: Description {
        does: "Runs annotated questions and measures search and answers of this pack: R@k, MRR, nDCG, factuality, citation precision, withholding.",
        when: "Use this when someone wants to know how reliable search and answers are, after papers or documents were added, or wants to evaluate their own questions (set `custom`). Do not use it to answer a question (use hybrid_search).",
        returns: "Returns the metrics, each from 0 to 1, by language too, what changed since the last run of the set, and report_uri: a resource with every question and its results. The same set, seed and data give the same report.",
        asks: &["how good is the search?", "วัดคุณภาพการค้นหาและคำตอบ", "R@10 and factuality on the curated set"],
    },
    version: "1.0.0",
    aliases: &["tool.eval.run"],
    permissions: &["ttm:run"],
    category: Category::Analysis,
    response_time: ResponseTime::Slow,
    cache: CachePolicy::Never,
    idempotent: true,
    data: &["ttm"],
    examples: &[
        Example {
            shows: "a quick check",
            params: r#"{"set": "smoke", "metrics": ["R@k", "MRR"], "params": {"k": 10}}"#,
            expect: Expect::Data(r#"{"metrics": [{"name": "R@10"}, {"name": "MRR"}]}"#),
        },
        Example {
            shows: "a question of your own",
            params: r#"{"set": "custom", "metrics": ["R@5"], "params": {"lines": "{\"query\": \"ขิง\", \"relevant\": [\"H:ginger\"]}"}}"#,
            expect: Expect::Data(r#"{"metrics": [{"name": "R@5", "value": 1.0}]}"#),
        },
        Example {
            shows: "an unknown metric",
            params: r#"{"set": "smoke", "metrics": ["BLEU"]}"#,
            expect: Expect::Error("INVALID_ARG"),
        },
    ],
    tags: KEYWORDS,
    rate_limit: None,
    deprecated: None,
    annotations: Annotations::CLOSED,
    listing: Listing::Core,
    widget: None,
}
.checked();

/// Parameters of an evaluation.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Params {
    /// `smoke`: quick check; `curated`: bundled questions; `custom`: your own.
    set: SetName,
    /// Of search: `R@k` (or `R@5` for a fixed k), `MRR`, `nDCG@k`. Of answers: `factuality` (share
    /// of statements supported by their citations), `citation_precision`, `fact_recall` (share of
    /// expected facts), `withholding_rate`, `withholding_precision`, `withholding_recall` (share
    /// of unanswerable questions that are withheld), `citation_relevance`, and four of safety that
    /// should be 0: `safety_omission`, `false_absence`, `softened_level`, `reversed_polarity`.
    /// Default: R@k, MRR and factuality.
    #[serde(default = "default_metrics")]
    #[schemars(length(min = 1, max = 20), inner(length(min = 1, max = 40)))]
    metrics: Vec<String>,
    /// Options.
    #[serde(default)]
    params: Settings,
}

fn default_metrics() -> Vec<String> {
    ["R@k", "MRR", "factuality"].map(str::to_owned).to_vec()
}

/// Set of questions.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq)]
#[serde(rename_all = "lowercase")]
enum SetName {
    /// A dozen questions.
    Smoke,
    /// The bundled questions.
    Curated,
    /// Questions of the caller.
    Custom,
}

/// Options.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Settings {
    /// Number of hits considered, from 1 to 100; default 10.
    // The schema accepts 0, so that the error uses the words of the contract.
    #[schemars(range(min = 0, max = 100))]
    k: Option<u8>,
    /// Seed of the sample and of the bootstrap intervals; default 0.
    #[schemars(range(min = 0, max = 9_007_199_254_740_991_u64))]
    seed: Option<u64>,
    /// Maximum number of questions, sampled by the seed.
    #[schemars(range(min = 1, max = 5000))]
    limit: Option<u16>,
    /// For `curated`: `held` (held-out test set, default), `tune` (used for tuning), `all`, or
    /// `lay` (held-out questions in everyday wording).
    split: Option<Split>,
    /// For `custom`: questions as JSON Lines, such as `{"query": "ขิง", "relevant": ["H:ginger"]}`
    /// to evaluate search, with `[]` if nothing is relevant; or `{"query": "…", "withhold": false,
    /// "must": [{"ids": ["R11"], "any_of": ["nausea"]}], "must_not": [" mg "]}` to evaluate
    /// answers. `id`, `kind` and `lang` are optional.
    #[schemars(length(min = 1, max = 4_194_304))]
    lines: Option<String>,
    /// For `custom`: a file with such lines, as an absolute path or `file://` URI under an allowed
    /// folder (`roots` in `[pack.ttm]`).
    #[schemars(length(min = 1, max = 4096))]
    path: Option<String>,
}

/// Part of the curated questions.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq)]
#[serde(rename_all = "lowercase")]
enum Split {
    /// Held-out test set.
    #[default]
    Held,
    /// Used for tuning.
    Tune,
    /// Both parts.
    All,
    /// Held-out questions in everyday wording.
    Lay,
}

/// Result of an evaluation.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// Metrics in the requested order.
    metrics: Vec<MetricRow>,
    /// URI of the report in Markdown: every question with its results.
    report_uri: String,
    /// URI of the same report as JSON.
    report_json_uri: String,
    /// Number of questions asked.
    questions: usize,
    /// Seed as text.
    seed: String,
    /// Metrics by language.
    by_lang: BTreeMap<String, Vec<MetricRow>>,
    /// Change since the previous run of this set with other results, if stored.
    change: Option<Changed>,
}

/// A metric.
#[derive(Debug, Serialize, JsonSchema)]
struct MetricRow {
    /// Name, such as `R@10`.
    name: String,
    /// Value from 0 to 1; null if no question is measured by it.
    value: Option<f64>,
    /// Number of questions.
    of: usize,
    /// 95 % bootstrap interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    interval: Option<[f64; 2]>,
}

/// Change since an earlier run.
#[derive(Debug, Serialize, JsonSchema)]
struct Changed {
    /// URI of the earlier report.
    since: String,
    /// Increase of each metric.
    metrics: BTreeMap<String, f64>,
    /// Number of questions with a higher score.
    better: usize,
    /// Number of questions with a lower score.
    worse: usize,
}

pub(crate) struct EvalRun {
    pub(crate) knowledge: Arc<KnowledgeService>,
    pub(crate) search: Arc<SearchService>,
    pub(crate) reports: Arc<dyn ReportStore>,
    pub(crate) roots: Roots,
    pub(crate) tau: f64,
}

impl Tool for EvalRun {
    type Params = Params;
    type Output = Output;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, params: Params, cx: &CallContext) -> Result<Reply<Output>, ToolError> {
        let plan = plan(params, &self.roots)?;
        let knowledge = self.knowledge.now()?;
        let engine = self.search.engine(&knowledge.catalog)?;
        check_ids(&plan.questions, &engine)?;
        let answers = Extractive { knowledge: &knowledge, engine: &engine, tau: self.tau };
        let wants_answers = plan.metrics.iter().any(|metric| metric.is_of_answers());
        let answers = wants_answers.then_some(&answers as &dyn Answers);
        let report = eval::run(plan, &engine, answers, &mut |done, total| {
            cx.report_progress(done as u64, Some(total as u64), "running questions");
            cx.check_cancelled()
        })?;
        let stored = save(self.reports.as_ref(), &report).map_err(|error| {
            ToolError::system("cannot store the report")
                .hint("check the free disk space and the write permission of the home directory")
                .cause(error)
        })?;
        Ok(reply(report, &stored, cx.lang))
    }
}

fn plan(params: Params, roots: &Roots) -> Result<Plan, ToolError> {
    let Params { set, metrics, params } = params;
    let k = match params.k {
        Some(0) => return Err(ToolError::validation("INVALID_ARG", "k must be >0")),
        Some(k) => usize::from(k),
        None => 10,
    };
    let metrics = metrics_of(&metrics, k)?;
    let (set, questions) = questions(set, &params, roots)?;
    let limit = params.limit.map(usize::from);
    Ok(Plan { set, questions, k, metrics, seed: params.seed.unwrap_or(0), limit })
}

fn metrics_of(names: &[String], k: usize) -> Result<Vec<Metric>, ToolError> {
    let mut metrics = Vec::new();
    let mut wrong = Vec::new();
    for name in names {
        match Metric::parse(name, k) {
            Ok(metric) if metrics.contains(&metric) => {}
            Ok(metric) => metrics.push(metric),
            Err(error) => wrong.push(error.to_string()),
        }
    }
    if wrong.is_empty() {
        return Ok(metrics);
    }
    let known = Metric::NAMES.join(", ");
    Err(ToolError::validation("INVALID_ARG", format!("{}; known: {known}", wrong.join("; "))).hint(
        format!("use some of {known}; k is a number from 1 to {MAX_DEPTH}, or `k` of `params`"),
    ))
}

/// Returns the name used for comparison, and the questions.
fn questions(
    set: SetName,
    settings: &Settings,
    roots: &Roots,
) -> Result<(String, Vec<JudgedQuestion>), ToolError> {
    let lines = settings.lines.as_ref().map(|_| "lines");
    let own = lines.or(settings.path.as_ref().map(|_| "path"));
    let split = settings.split.map(|_| "split");
    let stray = match set {
        SetName::Smoke => split.or(own),
        SetName::Curated => own,
        SetName::Custom => split,
    };
    if let Some(stray) = stray {
        let of = if stray == "split" { "curated" } else { "custom" };
        return Err(ToolError::validation(
            "INVALID_ARG",
            format!("`{stray}` is for the set `{of}` only"),
        ));
    }
    let bundled = |sets: &[Bundled]| -> Result<Vec<JudgedQuestion>, ToolError> {
        let read: Result<Vec<Vec<JudgedQuestion>>, BadSet> =
            sets.iter().map(|set| set.questions()).collect();
        Ok(read.map_err(|error| ToolError::system(error.to_string()))?.concat())
    };
    match (set, settings.split.unwrap_or_default()) {
        (SetName::Smoke, _) => Ok(("smoke".to_owned(), bundled(&[Bundled::Smoke])?)),
        (SetName::Curated, Split::Held) => {
            Ok(("curated/held".to_owned(), bundled(&[Bundled::Held, Bundled::Answers])?))
        }
        (SetName::Curated, Split::Tune) => {
            Ok(("curated/tune".to_owned(), bundled(&[Bundled::Tune])?))
        }
        (SetName::Curated, Split::Lay) => {
            Ok(("curated/lay".to_owned(), bundled(&[Bundled::LayHeld])?))
        }
        (SetName::Curated, Split::All) => Ok((
            "curated/all".to_owned(),
            bundled(&[Bundled::Tune, Bundled::Held, Bundled::Answers])?,
        )),
        (SetName::Custom, _) => custom(settings, roots),
    }
}

fn custom(settings: &Settings, roots: &Roots) -> Result<(String, Vec<JudgedQuestion>), ToolError> {
    let wrong = |message: String| ToolError::validation("INVALID_ARG", message).hint(CUSTOM_HINT);
    let (from, lines) = match (&settings.lines, &settings.path) {
        (Some(lines), None) => ("lines", lines.clone()),
        (None, Some(path)) => {
            let text = roots.text(path, MAX_SET_BYTES as u64);
            ("path", text.map_err(|error| wrong(format!("`path`: {error}")))?)
        }
        (None, None) => {
            return Err(wrong("`lines` or `path` is required for the set `custom`".to_owned()));
        }
        (Some(_), Some(_)) => return Err(wrong("`lines` and `path` are both given".to_owned())),
    };
    let questions = sets::parse(&lines).map_err(|error| wrong(format!("`{from}`: {error}")))?;
    // Runs are compared only if their questions are the same.
    let name: String = eval::fingerprint(&questions).chars().take(12).collect();
    Ok((format!("custom/{name}"), questions))
}

const CUSTOM_HINT: &str = r#"give `lines`, or `path` of a file: one JSON object a line, such as {"query": "ขิง", "relevant": ["H:ginger"]}, with `[]` where nothing answers"#;

/// Rejects unknown ids: they could never be found and would lower the metrics.
fn check_ids(questions: &[JudgedQuestion], engine: &Engine) -> Result<(), ToolError> {
    const MAX_ROWS_SHOWN: usize = 10;
    let mut known: BTreeSet<&str> =
        engine.memory_documents().iter().map(|document| document.id.as_str()).collect();
    for id in questions.iter().flat_map(|question| &question.relevant) {
        if !known.contains(id.as_str()) && engine.find(id)?.is_some() {
            known.insert(id);
        }
    }
    let unknown = sets::unknown_ids(questions, |id| known.contains(id));
    if unknown.is_empty() {
        return Ok(());
    }
    let shown = unknown.iter().take(MAX_ROWS_SHOWN).map(|id| {
        let id: String = id.chars().take(60).collect();
        format!("`{id}`")
    });
    let shown: Vec<String> = shown.collect();
    let more = unknown.len().saturating_sub(MAX_ROWS_SHOWN);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let message =
        format!("`relevant` names ids that are not in the data: {}{more}", shown.join(", "));
    Err(ToolError::validation("INVALID_ARG", message).hint("find ids with `hybrid_search`"))
}

fn reply(report: Report, stored: &StoredReport, lang: Lang) -> Reply<Output> {
    let text = sentence(&report, &stored.id, lang);
    let table = table(&report, lang);
    let asked = report.questions as u64;
    let evidence = Evidence::from(Source::new(SourceClass::Derived, "annotated questions"))
        .complete(asked, report.questions_in_set as u64);
    let change = stored.change.as_ref().map(|change| Changed {
        since: change.since.clone(),
        metrics: change.metrics.clone(),
        better: change.better.len(),
        worse: change.worse.len(),
    });
    let output = Output {
        metrics: rows(report.metrics),
        report_uri: address(&stored.id),
        report_json_uri: address(&stored.id) + ".json",
        questions: report.questions,
        seed: report.seed,
        by_lang: report.by_lang.into_iter().map(|(lang, all)| (lang, rows(all))).collect(),
        change,
    };
    Reply::new(output, text, evidence).table(table)
}

fn rows(measured: Vec<Measured>) -> Vec<MetricRow> {
    let row = |one: Measured| MetricRow {
        name: one.name,
        value: one.value,
        of: one.of,
        interval: one.interval,
    };
    measured.into_iter().map(row).collect()
}

fn sentence(report: &Report, id: &str, lang: Lang) -> String {
    let shown = report.metrics.iter().map(|one| format!("{} {}", one.name, figure(one.value)));
    let shown: Vec<String> = shown.collect();
    let (shown, set, count) = (shown.join(", "), &report.set, report.questions);
    pick(
        caller_language(lang),
        format!("ประเมินชุด {set} จำนวน {count} คำถาม: {shown} รายงานฉบับเต็มอยู่ที่ {}", address(id)),
        format!("{count} questions of `{set}`: {shown}. The whole report is at {}.", address(id)),
    )
}

fn table(report: &Report, lang: Lang) -> Table {
    let display = caller_language(lang);
    let first = pick(display, "กลุ่ม", "group");
    let names = report.metrics.iter().map(|one| one.name.clone());
    let groups = report.by_lang.iter().chain(&report.by_kind);
    groups.fold(Table::new([first].into_iter().chain(names)), |table, (group, all)| {
        let values = all.iter().map(|one| figure(one.value));
        table.row([group.clone()].into_iter().chain(values))
    })
}

fn figure(value: Option<f64>) -> String {
    value.map_or("–".to_owned(), |value| format!("{value:.3}"))
}

#[cfg(all(test, unix))]
mod tests {
    use serde_json::json;

    use super::*;

    #[cfg(unix)]
    #[test]
    fn question_file_must_be_under_an_allowed_root() {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().canonicalize().unwrap();
        let allowed = base.join("allowed");
        std::fs::create_dir(&allowed).unwrap();
        let line = r#"{"query": "ขิง", "relevant": ["H:ginger"]}"#;
        for file in ["allowed/own.jsonl", "secret.jsonl"] {
            std::fs::write(base.join(file), line).unwrap();
        }
        std::fs::write(allowed.join("bad.jsonl"), "?").unwrap();
        std::fs::write(allowed.join("huge.jsonl"), vec![b' '; 5 << 20]).unwrap();
        std::os::unix::fs::symlink(base.join("secret.jsonl"), allowed.join("link.jsonl")).unwrap();
        let roots = Roots::of(&[allowed]).unwrap();
        let read = |rest: &str| {
            let path = format!("{}/{rest}", base.display());
            let params = json!({"set": "custom", "params": {"path": path}});
            plan(serde_json::from_value(params).unwrap(), &roots)
        };
        assert_eq!(read("allowed/own.jsonl").unwrap().questions.len(), 1);
        let cases = [
            ("allowed/../secret.jsonl", "contains `..`"),
            ("secret.jsonl", "not under a folder that the operator allowed"),
            ("allowed/link.jsonl", "links are not followed"),
            ("allowed/gone.jsonl", "cannot be read"),
            ("allowed", "not a regular file"),
            ("allowed/huge.jsonl", "has 5242880 bytes; the limit is 4194304"),
            ("allowed/bad.jsonl", "`path`: line 1: not a valid question"),
        ];
        for (path, expected) in cases {
            let error = read(path).unwrap_err();
            assert!(error.message.contains(expected), "{path}: {}", error.message);
        }
    }
}
