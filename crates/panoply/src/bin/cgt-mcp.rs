//! `cgt-mcp`: serves only the cgt pack over stdio.
//!
//! It takes no arguments, because its clients pass none, and exits with status 0 when its input
//! ends and on SIGTERM, SIGINT and SIGHUP.

use std::process::ExitCode;

fn main() -> ExitCode {
    panoply::serve_one_pack("cgt-mcp", "cgt")
}
