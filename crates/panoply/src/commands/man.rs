//! `panoply man`: manual pages, one per command, generated from the command line's own help.

use std::process::ExitCode;

use clap::CommandFactory as _;

use crate::cli::{Cli, Man};
use crate::failure::Failure;
use crate::out::Out;

pub(super) fn run(man: &Man) -> Result<ExitCode, Failure> {
    clap_mangen::generate_to(Cli::command(), &man.folder).map_err(|error| {
        Failure::work(format!("cannot write to `{}`: {error}", man.folder.display()))
            .hint("create the folder first, or choose one that you may write to")
    })?;
    let mut out = Out::new();
    out.line(format_args!("Manual pages are in `{}`.", man.folder.display()))?;
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}
