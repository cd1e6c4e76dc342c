//! Formats results as tables on standard output.

use std::io::Write;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How many goals were missed; a run that misses one ends with a non-zero status.
static MISSED: AtomicUsize = AtomicUsize::new(0);

pub(crate) fn missed_goals() -> usize {
    MISSED.load(Ordering::Relaxed)
}

/// The verdict on a goal, which counts a missed one.
pub(crate) fn verdict(met: bool) -> &'static str {
    if met {
        return "met";
    }
    MISSED.fetch_add(1, Ordering::Relaxed);
    "MISSED"
}

/// The median; the lower one of an even number.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len().saturating_sub(1) / 2).copied().unwrap_or(f64::NAN)
}

/// Prints a heading and a description.
pub(crate) fn heading(title: &str, about: &str) {
    print_line(&format!("\n{title}\n  {about}\n"));
}

/// Prints a figure, with its goal if any; smaller is better.
pub(crate) fn figure(name: &str, value: f64, unit: &str, goal: Option<f64>) {
    let verdict = match goal {
        None => String::new(),
        Some(goal) => format!("   goal {goal} {unit}: {}", verdict(value <= goal)),
    };
    print_line(&format!("  {name:<46} {value:>10.2} {unit}{verdict}\n"));
}

/// Prints a figure; larger is better.
pub(crate) fn at_least(name: &str, value: f64, unit: &str, goal: f64) {
    let verdict = verdict(value >= goal);
    print_line(&format!("  {name:<46} {value:>10.0} {unit}   goal {goal} {unit}: {verdict}\n"));
}

/// Prints a peer's figure, ours, and their ratio, and whether ours is smaller.
pub(crate) fn ahead(name: &str, ours: f64, theirs: f64, unit: &str) {
    let (ratio, verdict) = (theirs / ours, verdict(ours < theirs));
    print_line(&format!(
        "  {name:<46} {theirs:>10.2} {unit}  {ours:>8.3} {unit}  {ratio:>8.1} ×  {verdict}\n"
    ));
}

/// Prints a remark.
pub(crate) fn remark(text: &str) {
    print_line(&format!("  {text}\n"));
}

/// Prints a line for the parent process.
pub(crate) fn line(text: &str) {
    print_line(&format!("{text}\n"));
}

fn print_line(text: &str) {
    // A closed pipe must not abort the measurement.
    let _ = std::io::stdout().lock().write_all(text.as_bytes());
}

/// Prints an error.
pub(crate) fn print_error(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "panoply-bench: {text}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_a_value_that_was_measured() {
        let cases = [(vec![3.0, 1.0, 2.0], 2.0), (vec![4.0, 1.0, 2.0, 3.0], 2.0), (vec![7.0], 7.0)];
        for (values, expected) in cases {
            assert_eq!(median(values.clone()).to_bits(), f64::to_bits(expected), "{values:?}");
        }
        assert!(median(Vec::new()).is_nan());
    }
}
