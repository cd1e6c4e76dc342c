//! `panoply-testkit measures`: prints the measures of the tree for `docs/measures.md`.

use std::io::Write as _;
use std::process::ExitCode;

use panoply_testkit::measures;
use panoply_testkit::tidy::Repository;

fn main() -> ExitCode {
    let mut out = std::io::stdout().lock();
    match std::env::args().nth(1).as_deref() {
        Some("measures") => {
            let table = measures::table(&Repository::here());
            let text = format!(
                "# Measures of the tree\n\nWritten by `cargo run -p panoply-testkit -- measures > docs/measures.md`. Lines without blank ones; \"tests\" are integration tests and unit tests. A function is counted from its signature to its closing brace.\n\n{table}"
            );
            if out.write_all(text.as_bytes()).is_ok() {
                ExitCode::SUCCESS
            } else {
                ExitCode::FAILURE
            }
        }
        _ => {
            let _ = writeln!(out, "usage: panoply-testkit measures");
            ExitCode::from(2)
        }
    }
}
