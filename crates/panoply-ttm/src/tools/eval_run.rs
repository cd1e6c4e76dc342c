//! `eval_run`: how good search and answers are, on questions with judged answers.

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
        does: "Asks questions whose answers a judge has written down, and measures how good search and answers of this pack are on them: R@k, MRR, nDCG, factuality, citation precision, withholding.",
        when: "Use this when someone wants to know how far search and answers can be trusted, after papers or documents were added, or to measure questions of their own (set `custom`). Do not use it to answer a question (use hybrid_search).",
        returns: "Returns the metrics, each from 0 to 1, by language too, what changed since the last run of the set, and report_uri: a resource with every question, what was found and what was missed. The same set, seed and data give the same report.",
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
            shows: "a quick look",
            params: r#"{"set": "smoke", "metrics": ["R@k", "MRR"], "params": {"k": 10}}"#,
            expect: Expect::Data(r#"{"metrics": [{"name": "R@10"}, {"name": "MRR"}]}"#),
        },
        Example {
            shows: "a question of your own",
            params: r#"{"set": "custom", "metrics": ["R@5"], "params": {"lines": "{\"query\": \"ขิง\", \"relevant\": [\"H:ginger\"]}"}}"#,
            expect: Expect::Data(r#"{"metrics": [{"name": "R@5", "value": 1.0}]}"#),
        },
        Example {
            shows: "a metric that nobody knows",
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

/// What to measure.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Params {
    /// `smoke`: a quick look; `curated`: the judged questions that ship; `custom`: your own.
    set: SetName,
    /// Of search: `R@k` (or `R@5` for a k of its own), `MRR`, `nDCG@k`. Of answers: `factuality`
    /// (the share of statements that their citations support), `citation_precision`,
    /// `fact_recall` (the share of facts that a judge wants), `withholding_rate`,
    /// `withholding_precision` and `withholding_recall` (the share of the questions without an
    /// answer on which none is given). R@k, MRR and factuality unless told otherwise.
    #[serde(default = "usual")]
    #[schemars(length(min = 1, max = 20))]
    metrics: Vec<String>,
    /// How to measure.
    #[serde(default)]
    params: Settings,
}

fn usual() -> Vec<String> {
    ["R@k", "MRR", "factuality"].map(str::to_owned).to_vec()
}

/// Which questions.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq)]
#[serde(rename_all = "lowercase")]
enum SetName {
    /// A dozen questions.
    Smoke,
    /// The judged questions that ship.
    Curated,
    /// The caller's.
    Custom,
}

/// How to measure.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Settings {
    /// How many hits are looked at, from 1 to 100; 10 unless told otherwise.
    // The schema lets 0 through, so that it is answered in the words of the contract.
    #[schemars(range(min = 0, max = 100))]
    k: Option<u8>,
    /// Chooses the questions of a sample and the resamples behind the intervals; 0 unless told
    /// otherwise.
    #[schemars(range(min = 0, max = 9_007_199_254_740_991_u64))]
    seed: Option<u64>,
    /// At most so many questions, chosen by the seed.
    #[schemars(range(min = 1, max = 5000))]
    limit: Option<u16>,
    /// Of `curated`: `held`, which tuned nothing and is meant unless told otherwise; `tune`, on
    /// which weights were chosen; or `all`.
    split: Option<Split>,
    /// Of `custom`: the questions as JSON Lines, such as
    /// `{"query": "ขิง", "relevant": ["H:ginger"]}` to judge the search, with `[]` where nothing
    /// answers; or `{"query": "…", "withhold": false, "must": [{"ids": ["R11"], "any_of":
    /// ["nausea"]}], "must_not": [" mg "]}` to judge the answer. `id`, `kind` and `lang` are
    /// optional.
    #[schemars(length(min = 1, max = 4_194_304))]
    lines: Option<String>,
    /// Of `custom`: a file with such lines, by its absolute path or `file://` address, under a
    /// folder that the operator allowed (`roots` in `[pack.ttm]`).
    #[schemars(length(min = 1, max = 4096))]
    path: Option<String>,
}

/// A part of the curated questions.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq)]
#[serde(rename_all = "lowercase")]
enum Split {
    /// What judges only.
    #[default]
    Held,
    /// What weights were chosen on.
    Tune,
    /// Both.
    All,
}

/// What came out.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// The metrics, in the order they were asked for.
    metrics: Vec<MetricRow>,
    /// The report in Markdown: every question, what was found and what was missed.
    report_uri: String,
    /// The same report as JSON.
    report_json_uri: String,
    /// How many questions were asked.
    questions: usize,
    /// The seed, as text.
    seed: String,
    /// The metrics for each language.
    by_lang: BTreeMap<String, Vec<MetricRow>>,
    /// What changed since the last run of this set with other results, if one is kept.
    change: Option<Changed>,
}

/// One metric.
#[derive(Debug, Serialize, JsonSchema)]
struct MetricRow {
    /// Its name, such as `R@10`.
    name: String,
    /// From 0 to 1; null when no question of the set is measured by it.
    value: Option<f64>,
    /// How many questions are behind it.
    of: usize,
    /// Between these it lies in 95 of 100 resamples of the questions.
    #[serde(skip_serializing_if = "Option::is_none")]
    interval: Option<[f64; 2]>,
}

/// What changed.
#[derive(Debug, Serialize, JsonSchema)]
struct Changed {
    /// The earlier report.
    since: String,
    /// By how much each metric is higher now.
    metrics: BTreeMap<String, f64>,
    /// How many questions go better now.
    better: usize,
    /// How many went better before.
    worse: usize,
}

/// See the module.
pub(crate) struct EvalRun {
    pub(crate) knowledge: Arc<KnowledgeService>,
    pub(crate) service: Arc<SearchService>,
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
        let engine = self.service.engine(&knowledge.catalog)?;
        check_ids(&plan.questions, &engine)?;
        let answers = Extractive { knowledge: &knowledge, engine: &engine, tau: self.tau };
        let wants_answers = plan.metrics.iter().any(|metric| metric.is_of_answers());
        let answers = wants_answers.then_some(&answers as &dyn Answers);
        let report = eval::run(plan, &engine, answers, &mut |done, total| {
            cx.report_progress(done as u64, Some(total as u64), "asking judged questions");
            cx.check_cancelled()
        })?;
        let stored = save(self.reports.as_ref(), &report).map_err(|error| {
            ToolError::system("the report cannot be kept")
                .hint("see that the disk has room and that the program's home can be written")
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

/// The name under which runs are compared, and the questions.
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
        (SetName::Curated, Split::All) => Ok((
            "curated/all".to_owned(),
            bundled(&[Bundled::Tune, Bundled::Held, Bundled::Answers])?,
        )),
        (SetName::Custom, _) => custom(settings, roots),
    }
}

fn custom(settings: &Settings, roots: &Roots) -> Result<(String, Vec<JudgedQuestion>), ToolError> {
    let wrong = |told: String| ToolError::validation("INVALID_ARG", told).hint(CUSTOM_HINT);
    let (from, lines) = match (&settings.lines, &settings.path) {
        (Some(lines), None) => ("lines", lines.clone()),
        (None, Some(path)) => {
            let text = roots.text(path, MAX_SET_BYTES as u64);
            ("path", text.map_err(|error| wrong(format!("`path`: {error}")))?)
        }
        (None, None) => return Err(wrong("the set `custom` has no questions".to_owned())),
        (Some(_), Some(_)) => return Err(wrong("`lines` and `path` are both given".to_owned())),
    };
    let questions = sets::parse(&lines).map_err(|error| wrong(format!("`{from}`: {error}")))?;
    // Runs of the same questions are compared with each other and with no others.
    let name: String = eval::fingerprint(&questions).chars().take(12).collect();
    Ok((format!("custom/{name}"), questions))
}

const CUSTOM_HINT: &str = r#"give `lines`, or `path` of a file: one JSON object a line, such as {"query": "ขิง", "relevant": ["H:ginger"]}, with `[]` where nothing answers"#;

/// An id that is not there can never be found, and would only lower the figures.
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
    let told = format!("`relevant` names ids that are not in the data: {}{more}", shown.join(", "));
    Err(ToolError::validation("INVALID_ARG", told).hint("find ids with `hybrid_search`"))
}

fn reply(report: Report, stored: &StoredReport, lang: Lang) -> Reply<Output> {
    let text = sentence(&report, &stored.id, lang);
    let table = table(&report, lang);
    let asked = report.questions as u64;
    let evidence =
        Evidence::from(Source::new(SourceClass::Derived, "questions with judged answers"))
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
            ("allowed/../secret.jsonl", "has `..` in it"),
            ("secret.jsonl", "not under a folder that the operator allowed"),
            ("allowed/link.jsonl", "links are not followed"),
            ("allowed/gone.jsonl", "cannot be read"),
            ("allowed", "not a regular file"),
            ("allowed/huge.jsonl", "has 5242880 bytes; at most 4194304 are read"),
            ("allowed/bad.jsonl", "`path`: line 1: not a judged question"),
        ];
        for (path, expected) in cases {
            let error = read(path).unwrap_err();
            assert!(error.message.contains(expected), "{path}: {}", error.message);
        }
    }
}
