//! `panoply-bench`: see the library. Allocates as the `panoply` binary does.

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    panoply_bench::main()
}
