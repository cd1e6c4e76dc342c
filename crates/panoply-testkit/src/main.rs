//! `panoply-testkit measures`: prints the measures of the tree for `docs/measures.md`.
//! `panoply-testkit storm`: kills replicas under load and checks what is left.

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
        #[cfg(unix)]
        Some("storm") => match storm(&std::env::args().skip(2).collect::<Vec<_>>()) {
            Some(storm) => {
                let outcome = storm.run();
                let _ = writeln!(out, "{}", outcome.report());
                ExitCode::from(u8::from(!outcome.violations.is_empty()))
            }
            None => usage(&mut out),
        },
        _ => usage(&mut out),
    }
}

fn usage(out: &mut impl std::io::Write) -> ExitCode {
    let _ = writeln!(
        out,
        "usage: panoply-testkit measures\n       panoply-testkit storm --panoply PROGRAM [--replicas 3] [--tenants 32] [--clients 64] [--minutes 10] [--faults all|NAME,…] [--seed 1]"
    );
    ExitCode::from(2)
}

/// The storm of these arguments.
#[cfg(unix)]
fn storm(arguments: &[String]) -> Option<panoply_testkit::storm::Storm> {
    use panoply_testkit::storm::{Fault, Storm};
    use std::time::Duration;

    let mut storm = Storm {
        panoply: std::path::PathBuf::new(),
        replicas: 3,
        tenants: 32,
        clients: 64,
        duration: Duration::from_secs(600),
        pause: Duration::from_secs(6),
        faults: Fault::ALL.to_vec(),
        seed: 1,
        wait_for_recovery: true,
    };
    for pair in arguments.chunks(2) {
        let [name, value] = pair else { return None };
        match name.as_str() {
            "--panoply" => storm.panoply = value.into(),
            "--replicas" => storm.replicas = value.parse().ok()?,
            "--tenants" => storm.tenants = value.parse().ok()?,
            "--clients" => storm.clients = value.parse().ok()?,
            "--minutes" => {
                storm.duration = Duration::from_secs_f64(value.parse::<f64>().ok()? * 60.0);
            }
            "--faults" => storm.faults = Fault::parse_list(value)?,
            "--seed" => storm.seed = value.parse().ok()?,
            _ => return None,
        }
    }
    storm.panoply.is_file().then_some(storm)
}
