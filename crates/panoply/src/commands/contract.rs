//! `panoply contract check`: checks every tool against the contract.

use std::process::ExitCode;

use panoply_contract::compliance::{self, Line, Matrix};
use panoply_contract::table::width;

use super::{LogReader, Session, block_on, calibration, start_log};
use crate::app::App;
use crate::cli::Contract;
use crate::failure::Failure;
use crate::out::{BAD, BOLD, FAINT, GOOD, Out};

pub(super) fn run(contract: &Contract, session: &Session) -> Result<ExitCode, Failure> {
    let json = match contract {
        Contract::Check { json } => json,
        Contract::Calibration { json } => return calibration::run(*json, session),
    };
    let config = session.config()?;
    let _log = start_log(&config, LogReader::Person)?;
    // In memory: the checks must not write to the audit log.
    let app = App::in_memory(&config)?;
    let matrix = block_on(compliance::check(&app.kernel))?;
    let mut out = Out::new();
    if *json {
        out.json(&matrix)?;
    } else {
        print(&matrix, &mut out)?;
    }
    out.finish()?;
    Ok(if matrix.violations.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn print(matrix: &Matrix, out: &mut Out) -> Result<(), Failure> {
    let widest = matrix.tools.iter().map(|tool| width(tool)).max().unwrap_or(0);
    let digit = |line: &Line, place: usize| line.code().chars().nth(place).unwrap_or(' ');
    for place in [1, 2] {
        let digits: String = Line::ALL.iter().map(|line| digit(line, place)).collect();
        out.line(format_args!("{:widest$}  {FAINT}{digits}{FAINT:#}", ""))?;
    }
    for tool in &matrix.tools {
        let cells: String = Line::ALL
            .iter()
            .map(|line| match matrix.holds(tool, *line) {
                true => format!("{GOOD}✓{GOOD:#}"),
                false => format!("{BAD}✗{BAD:#}"),
            })
            .collect();
        out.line(format_args!("{tool:widest$}  {cells}"))?;
    }
    out.line("")?;
    for line in Line::ALL {
        out.line(format_args!("{FAINT}{}{FAINT:#}  {}", line.code(), line.demand()))?;
    }
    out.line("")?;
    for violation in &matrix.violations {
        out.line(format_args!("{BAD}✗{BAD:#} {violation}"))?;
    }
    let (tools, lines) = (matrix.tools.len(), Line::ALL.len());
    match matrix.violations.len() {
        0 => out.line(format_args!("{BOLD}{tools} tools keep all {lines} lines.{BOLD:#}")),
        broken => out.line(format_args!(
            "{BOLD}{broken} breaches in {tools} tools and {lines} lines.{BOLD:#}"
        )),
    }
}
