//! Compiles the page-checksum VFS and links it with `whole-archive`: no symbol refers to it, it
//! registers itself when the program is loaded.

fn main() {
    println!("cargo::rerun-if-changed=csrc/page_checksum.c");
    let mut build = cc::Build::new();
    build.file("csrc/page_checksum.c").link_lib_modifier("+whole-archive");
    // Include path of the SQLite that libsqlite3-sys compiles.
    #[expect(clippy::disallowed_methods, reason = "Cargo tells build scripts by variables")]
    if let Some(include) = std::env::var_os("DEP_SQLITE3_INCLUDE") {
        build.include(include);
    }
    build.compile("panoply_page_checksum");
}
