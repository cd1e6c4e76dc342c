//! `panoply-bench`: runs the benchmarks with the allocator of the `panoply` binary.

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    panoply_bench::main()
}
