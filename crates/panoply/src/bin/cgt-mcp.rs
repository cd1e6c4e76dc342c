//! `cgt-mcp`: the cgt pack alone, on standard input and output.
//!
//! It takes no arguments, because its clients give none, and ends with status 0 when its input
//! ends, at any time, and on SIGTERM, SIGINT and SIGHUP.

use std::process::ExitCode;

fn main() -> ExitCode {
    panoply::serve_one_pack("cgt-mcp", "cgt")
}
