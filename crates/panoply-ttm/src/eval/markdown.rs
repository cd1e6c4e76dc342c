//! Renders a report as Markdown.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::answers::{JudgedAnswer, Verdict};
use super::compare::Change;
use super::run::{Measured, Report, Row};

/// Renders a report as Markdown.
pub(super) fn markdown(report: &Report, change: Option<&Change>) -> String {
    let mut text = String::new();
    // Writing to a `String` cannot fail.
    let _ = write(&mut text, report, change);
    text
}

fn write(
    text: &mut String,
    report: &Report,
    change: Option<&Change>,
) -> Result<(), std::fmt::Error> {
    writeln!(text, "# Evaluation of `{}`\n", report.set)?;
    writeln!(
        text,
        "{} of {} questions, {} hits each, {} documents, seed {}. Questions: SHA-256 `{}`.\n",
        report.questions,
        report.questions_in_set,
        report.k,
        report.documents,
        report.seed,
        report.questions_sha256
    )?;
    writeln!(text, "| metric | value | 95 % interval | of |\n|---|---|---|---|")?;
    for Measured { name, value, interval, of } in &report.metrics {
        let interval =
            interval.map_or("–".to_owned(), |[low, high]| format!("{low:.3} to {high:.3}"));
        writeln!(text, "| {name} | {} | {interval} | {of} |", figure(*value))?;
    }
    groups(text, "By language", &report.by_lang)?;
    groups(text, "By kind of question", &report.by_kind)?;
    reliability(text, report)?;
    since(text, change)?;
    questions(text, report)
}

fn groups(
    text: &mut String,
    title: &str,
    groups: &BTreeMap<String, Vec<Measured>>,
) -> Result<(), std::fmt::Error> {
    let Some(first) = groups.values().next() else { return Ok(()) };
    let names: Vec<&str> = first.iter().map(|one| one.name.as_str()).collect();
    writeln!(text, "\n## {title}\n\n| | {} |", names.join(" | "))?;
    writeln!(text, "|---{}|", "|---".repeat(names.len()))?;
    for (group, metrics) in groups {
        let values: Vec<String> = metrics.iter().map(|one| figure(one.value)).collect();
        writeln!(text, "| {} | {} |", cell(group), values.join(" | "))?;
    }
    Ok(())
}

fn reliability(text: &mut String, report: &Report) -> Result<(), std::fmt::Error> {
    if report.reliability.is_empty() {
        return Ok(());
    }
    writeln!(text, "\n## Reliability of the confidence\n")?;
    writeln!(text, "| confidence | questions | mean | has an acceptable answer |")?;
    writeln!(text, "|---|---|---|---|")?;
    for one in &report.reliability {
        let shown = |value: f64| figure((one.answers > 0).then_some(value));
        writeln!(
            text,
            "| {:.1} to {:.1} | {} | {} | {} |",
            one.from,
            one.to,
            one.answers,
            shown(one.confidence),
            shown(one.right)
        )?;
    }
    Ok(())
}

fn since(text: &mut String, change: Option<&Change>) -> Result<(), std::fmt::Error> {
    writeln!(text, "\n## Changes since the previous run\n")?;
    let Some(change) = change else {
        return writeln!(text, "No earlier run of this set with other results is stored.");
    };
    writeln!(text, "Against {}:\n", change.since)?;
    for (name, by) in &change.metrics {
        writeln!(text, "- {name}: {by:+.3}")?;
    }
    for (what, ids) in [("Better", &change.better), ("Worse", &change.worse)] {
        let listed = if ids.is_empty() { "none".to_owned() } else { cell(&ids.join(", ")) };
        writeln!(text, "- {what}: {listed}")?;
    }
    Ok(())
}

fn questions(text: &mut String, report: &Report) -> Result<(), std::fmt::Error> {
    writeln!(text, "\n## Every question\n")?;
    writeln!(text, "Found ids are given with their rank. R is R@{}.", report.k)?;
    for row in &report.asked {
        let question = &row.question;
        writeln!(
            text,
            "\n**{}** ({}, {}) {}\n",
            cell(&question.id),
            cell(&question.kind),
            question.lang,
            cell(&question.query)
        )?;
        if let Some(figures) = row.figures {
            writeln!(
                text,
                "- R {:.3}, reciprocal rank {:.3}; found: {}; missed: {}",
                figures.recall,
                figures.reciprocal_rank,
                found(row, report.k),
                listed(&row.missed)
            )?;
        }
        if let Some(answer) = &row.answer {
            write_answer(text, answer)?;
        }
    }
    Ok(())
}

fn write_answer(text: &mut String, answer: &JudgedAnswer) -> Result<(), std::fmt::Error> {
    let verdict = match answer.verdict {
        Verdict::Right => "right",
        Verdict::Wrong => "wrong",
        Verdict::Withheld => "withheld although there is an answer",
    };
    let given = &answer.given;
    write!(text, "- answer: {verdict}, confidence {:.3}", given.confidence)?;
    if !given.withheld.is_empty() {
        write!(text, "; withheld because {}", cell(&given.withheld.join(", ")))?;
    }
    if !answer.missing.is_empty() && given.withheld.is_empty() {
        write!(text, "; facts missing: {}", listed(&answer.missing))?;
    }
    if !answer.forbidden.is_empty() {
        write!(text, "; must not hold: {}", listed(&answer.forbidden))?;
    }
    writeln!(text)?;
    for statement in &given.statements {
        let mark = if statement.supported { "supported" } else { "**not supported**" };
        let cited: Vec<&str> = statement.citations.iter().map(|one| one.id.as_str()).collect();
        writeln!(text, "  - {mark}: {} [{}]", cell(&statement.text), cited.join(", "))?;
    }
    Ok(())
}

fn found(row: &Row, k: usize) -> String {
    let ranked = row.ranked.iter().take(k).enumerate();
    let relevant = ranked.filter(|(_, one)| row.question.relevant.contains(&one.id));
    let each: Vec<String> =
        relevant.map(|(place, one)| format!("{} ({})", one.id, place + 1)).collect();
    listed(&each)
}

fn listed(list: &[String]) -> String {
    if list.is_empty() { "none".to_owned() } else { cell(&list.join(", ")) }
}

fn figure(value: Option<f64>) -> String {
    value.map_or("–".to_owned(), |value| format!("{value:.3}"))
}

/// Escapes user text for a Markdown table cell.
fn cell(words: &str) -> String {
    let mut shown = String::with_capacity(words.len());
    for letter in words.chars() {
        match letter {
            '\n' | '\r' | '\t' => shown.push(' '),
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '#' | '|' | '!' => {
                shown.push('\\');
                shown.push(letter);
            }
            _ => shown.push(letter),
        }
    }
    shown
}
