//! `bare-rmcp`: the baseline server as a process with the system allocator.

use std::process::ExitCode;

fn main() -> ExitCode {
    panoply_bench::main()
}
