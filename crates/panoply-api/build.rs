//! Generates the gRPC types and services from the `.proto` file, without `protoc`.

#![expect(clippy::disallowed_methods, reason = "where to write is what cargo says")]

use std::env;
use std::error::Error;
use std::path::PathBuf;

fn main() -> Result<(), Box<dyn Error>> {
    let proto = "proto/ttm/core/v1/ttm.proto";
    println!("cargo:rerun-if-changed={proto}");
    let mut compiler = protox::Compiler::new(["proto"])?;
    // Proto comments become doc comments, which `missing_docs` requires.
    compiler.include_imports(true).include_source_info(true).open_file(proto)?;
    let described = compiler.encode_file_descriptor_set();
    let folder = PathBuf::from(env::var("OUT_DIR")?);
    std::fs::write(folder.join("ttm.fds"), described)?;
    tonic_prost_build::configure()
        .build_client(false)
        .compile_fds(compiler.file_descriptor_set())?;
    Ok(())
}
