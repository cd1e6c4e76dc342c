//! Judged search tasks: recall and precision of the search, in both languages.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "helpers of tests may fail the test"
)]

use std::collections::BTreeSet;

use panoply_rmf::catalog::FundCatalog;
use panoply_rmf::query::Filter;
use serde_json::Value;

const TASKS: &str = include_str!("tasks.tsv");
/// Queries written before their author had seen the search; it was improved on them since.
const HELD_OUT: &str = include_str!("held_out.tsv");
/// Queries that the search was tuned on last: recall 0.86 in English and 0.98 in Thai before.
const HELD_OUT_2: &str = include_str!("held_out_2.tsv");
/// Queries judged by a script over the raw snapshot (`make_held_out_3.py`), committed before the search
/// was changed: recall 0.65 and 0.77 then.
const HELD_OUT_3: &str = include_str!("held_out_3.tsv");
/// Queries judged by `make_held_out_4.py`, committed before the search was changed for the second set:
/// recall 0.78 in both languages then. Their misses were not looked at while it was changed.
const HELD_OUT_4: &str = include_str!("held_out_4.tsv");
const MIN_RECALL: f64 = 0.97;
const MIN_PRECISION: f64 = 0.9;

struct Score {
    language: String,
    arguments: String,
    recall: f64,
    precision: f64,
    missed: Vec<String>,
    wrong: Vec<String>,
}

fn codes(cell: &str) -> BTreeSet<String> {
    cell.split('|').filter(|code| !code.is_empty()).map(str::to_owned).collect()
}

fn ratio(part: usize, whole: usize) -> f64 {
    if whole == 0 { 1.0 } else { part as f64 / whole as f64 }
}

fn score(catalog: &FundCatalog, line: &str) -> Score {
    let cells: Vec<&str> = line.split('\t').collect();
    let [_, language, arguments, relevant, acceptable] = cells[..] else { panic!("{line}") };
    let parsed: Value = serde_json::from_str(arguments).unwrap();
    let text = |name: &str| parsed[name].as_str().map(str::to_owned);
    let filter = Filter {
        search: text("search"),
        company: text("amc"),
        category: text("category"),
        ..Filter::default()
    };
    let found: BTreeSet<String> =
        filter.apply(catalog).into_iter().map(|fund| fund.symbol.clone()).collect();
    let (relevant, acceptable) = (codes(relevant), codes(acceptable));
    let missed: Vec<String> = relevant.difference(&found).cloned().collect();
    let good = |code: &&String| relevant.contains(*code) || acceptable.contains(*code);
    let wrong: Vec<String> = found.iter().filter(|code| !good(code)).cloned().collect();
    Score {
        language: language.to_owned(),
        arguments: arguments.to_owned(),
        recall: ratio(relevant.len() - missed.len(), relevant.len()),
        precision: ratio(found.len() - wrong.len(), found.len()),
        missed,
        wrong,
    }
}

/// Scores every task and prints those that are not perfect; the means are of each language.
fn means(tasks: &str, least: usize) -> Vec<(&'static str, f64, f64)> {
    let catalog = FundCatalog::bundled().unwrap();
    let scores: Vec<Score> = tasks
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| score(&catalog, line))
        .collect();
    assert!(scores.len() >= least, "{} tasks", scores.len());
    for score in scores.iter().filter(|score| score.recall < 1.0 || score.precision < 1.0) {
        println!(
            "{} recall {:.2} precision {:.2}; missed {:?}; wrong {:?}",
            score.arguments, score.recall, score.precision, score.missed, score.wrong
        );
    }
    ["en", "th"]
        .map(|language| {
            let of: Vec<&Score> =
                scores.iter().filter(|score| score.language == language).collect();
            let mean = |value: fn(&Score) -> f64| {
                of.iter().map(|score| value(score)).sum::<f64>() / of.len() as f64
            };
            let (recall, precision) = (mean(|score| score.recall), mean(|score| score.precision));
            println!(
                "{language}: {} tasks, recall {recall:.4}, precision {precision:.4}",
                of.len()
            );
            (language, recall, precision)
        })
        .to_vec()
}

#[test]
fn search_finds_what_investors_mean() {
    for (language, recall, precision) in means(TASKS, 300) {
        assert!(recall >= MIN_RECALL, "{language}: recall {recall:.4}");
        assert!(precision >= MIN_PRECISION, "{language}: precision {precision:.4}");
    }
}

#[test]
fn search_answers_the_first_held_out_queries() {
    for (language, recall, precision) in means(HELD_OUT, 60) {
        assert!(recall >= MIN_RECALL, "{language}: recall {recall:.4}");
        assert!(precision >= MIN_PRECISION, "{language}: precision {precision:.4}");
    }
}

#[test]
fn search_answers_the_second_held_out_set() {
    for (language, recall, precision) in means(HELD_OUT_2, 30) {
        assert!(recall >= MIN_RECALL, "{language}: recall {recall:.4}");
        assert!(precision >= MIN_PRECISION, "{language}: precision {precision:.4}");
    }
}

#[test]
fn search_answers_the_third_held_out_set() {
    for (language, recall, precision) in means(HELD_OUT_3, 180) {
        assert!(recall >= MIN_RECALL, "{language}: recall {recall:.4}");
        assert!(precision >= MIN_PRECISION, "{language}: precision {precision:.4}");
    }
}

#[test]
fn search_answers_queries_whose_misses_it_was_not_tuned_on() {
    for (language, recall, precision) in means(HELD_OUT_4, 150) {
        assert!(recall >= MIN_RECALL, "{language}: recall {recall:.4}");
        assert!(precision >= MIN_PRECISION, "{language}: precision {precision:.4}");
    }
}

#[test]
fn category_totals_equal_the_sec_policy() {
    let catalog = FundCatalog::bundled().unwrap();
    let mut total = 0;
    for (category, policy) in [
        ("EQUITY", "ตราสารทุน"),
        ("FIXED", "ตราสารหนี้"),
        ("MIXED", "ผสม"),
        ("ALTERNATIVE", "ทรัพย์สินทางเลือก"),
    ] {
        let filter = Filter { category: Some(category.to_owned()), ..Filter::default() };
        let found = filter.apply(&catalog);
        let published =
            catalog.funds().iter().filter(|fund| fund.policy_th.as_deref() == Some(policy));
        assert_eq!(found.len(), published.count(), "{category}");
        total += found.len();
    }
    assert_eq!(total, catalog.funds().len(), "every fund is in one category");
}
