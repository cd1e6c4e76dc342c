//! `bare-rmcp`: the peer of the benches, in a process of its own with the system's allocator.

use std::process::ExitCode;

fn main() -> ExitCode {
    panoply_bench::main()
}
