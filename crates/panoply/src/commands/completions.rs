//! `panoply completions`: shell completions.

use std::process::ExitCode;

use clap::CommandFactory as _;

use crate::cli::{Cli, Completions};
use crate::failure::Failure;
use crate::out::Out;

pub(super) fn run(completions: &Completions) -> Result<ExitCode, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(completions.shell, &mut Cli::command(), "panoply", &mut script);
    let mut out = Out::new();
    out.write(String::from_utf8_lossy(&script))?;
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}
