//! Progress bar on standard error; prints nothing where standard error is not a terminal.

use std::io::{self, IsTerminal as _, Write as _};

const CLEAR_LINE: &str = "\r\x1b[K";

pub(crate) struct ProgressBar {
    label: String,
    enabled: bool,
    last_percent: u64,
}

impl ProgressBar {
    pub(crate) fn new(label: impl Into<String>) -> Self {
        Self { label: label.into(), enabled: io::stderr().is_terminal(), last_percent: u64::MAX }
    }

    /// Whether standard error is a terminal.
    pub(crate) const fn is_enabled(&self) -> bool {
        self.enabled
    }

    /// Redraws the bar when the percentage has changed.
    pub(crate) fn show(&mut self, done: u64, total: u64) {
        let percent = percent(done, total);
        if self.enabled && percent != self.last_percent {
            self.last_percent = percent;
            let _ = write!(io::stderr(), "{CLEAR_LINE}{}", render(&self.label, percent));
        }
    }

    /// Redraws the bar with another label.
    pub(crate) fn show_as(&mut self, label: &str, done: u64, total: u64) {
        if self.label != label {
            label.clone_into(&mut self.label);
            self.last_percent = u64::MAX;
        }
        self.show(done, total);
    }

    pub(crate) fn clear(&self) {
        if self.enabled {
            let _ = write!(io::stderr(), "{CLEAR_LINE}");
        }
    }
}

/// An empty task counts as complete.
fn percent(done: u64, total: u64) -> u64 {
    done.saturating_mul(100).checked_div(total).unwrap_or(100).min(100)
}

fn render(label: &str, percent: u64) -> String {
    let filled: String = (0..percent / 5).map(|_| '=').collect();
    format!("{label} [{filled:<20}] {percent} %")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bar_fills_up_to_its_width() {
        let cases = [
            (0, 1000, "rows [                    ] 0 %"),
            (400, 1000, "rows [========            ] 40 %"),
            (1000, 1000, "rows [====================] 100 %"),
            (2000, 1000, "rows [====================] 100 %"),
            (0, 0, "rows [====================] 100 %"),
        ];
        for (done, total, expected) in cases {
            assert_eq!(render("rows", percent(done, total)), expected, "{done} of {total}");
        }
    }
}
