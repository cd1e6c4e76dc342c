//! `panoply`: see `panoply --help`.

use std::process::ExitCode;

fn main() -> ExitCode {
    panoply::main(std::env::args_os())
}
