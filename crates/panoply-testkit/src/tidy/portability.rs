//! Interfaces of one system are used only under a `cfg` that selects it, so that the workspace
//! compiles on the others.

use super::{Problem, Repository, SourceFile};

/// Paths that do not exist on every system. `rustix` has neither `process` nor `fs` on Windows.
const UNIX_ONLY: [&str; 7] = [
    "std::os::unix",
    "std::os::fd",
    "std::os::linux",
    "std::os::macos",
    "tokio::signal::unix",
    "rustix::process",
    "rustix::fs",
];

/// Crates that are built on developers' machines only.
const EXEMPT: [&str; 3] = ["crates/panoply-bench/", "crates/panoply-testkit/", "fuzz/"];

/// Lines that use an interface of one system and stand under no `cfg`.
pub fn unconditional(repository: &Repository) -> Vec<Problem> {
    repository
        .rust()
        .filter(|file| !EXEMPT.iter().any(|folder| file.path.starts_with(folder)))
        .flat_map(unconditional_in)
        .collect()
}

fn unconditional_in(file: &SourceFile) -> Vec<Problem> {
    let mut problems = Vec::new();
    // Indentation of the attribute whose item is being read. The code is formatted by rustfmt:
    // an item ends with the first line at its own indentation that closes it.
    let mut covered: Option<usize> = None;
    for (number, line) in file.lines() {
        let text = line.trim_start();
        let indentation = line.len() - text.len();
        if covered.is_none() && selects_a_system(text) {
            if text.starts_with("#![") {
                return problems;
            }
            covered = Some(indentation);
            continue;
        }
        if covered.is_none() && !text.starts_with("//") {
            problems.extend(UNIX_ONLY.iter().filter(|path| text.contains(*path)).map(|path| {
                let what = format!(
                    "`{path}` does not exist on every system: put it under `#[cfg(unix)]` and write the counterpart"
                );
                Problem::at(&file.path, number, what)
            }));
        }
        let is_attribute = text.starts_with("#[") || text.starts_with("//");
        if covered == Some(indentation) && !is_attribute && text.ends_with([';', '}', ',']) {
            covered = None;
        }
    }
    problems
}

/// `#[cfg(unix)]`, `#[cfg(all(test, unix))]`, `#[cfg(target_os = "linux")]`; not `#[cfg(not(unix))]`.
fn selects_a_system(text: &str) -> bool {
    let is_cfg = text.starts_with("#[cfg(") || text.starts_with("#![cfg(");
    is_cfg
        && !text.contains("not(unix)")
        && (text.contains("unix") || text.contains("target_os = \"linux\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_uses_under_a_cfg_are_accepted() {
        let cases = [
            ("use rustix::process::nice;\n", 1),
            ("#[cfg(unix)]\nuse rustix::process::nice;\n", 0),
            ("#[cfg(unix)]\nuse a::b;\nuse rustix::process::nice;\n", 1),
            ("#[cfg(not(unix))]\nuse rustix::process::nice;\n", 1),
            ("fn f() {\n    use std::os::unix::fs::symlink;\n}\n", 1),
            ("#[cfg(unix)]\nfn f() {\n    use std::os::unix::fs::symlink;\n}\n", 0),
            (
                "#[cfg(unix)]\n#[test]\nfn f() {\n    rustix::fs::openat();\n}\nfn g() {\n    rustix::fs::openat();\n}\n",
                1,
            ),
            (
                "fn f() {\n    #[cfg(unix)]\n    {\n        std::os::unix::x();\n    }\n    std::os::unix::x();\n}\n",
                1,
            ),
            ("#![cfg(unix)]\nuse rustix::process::nice;\n", 0),
            ("// as std::os::unix does\n", 0),
        ];
        for (text, expected) in cases {
            let sample = Repository::sample(&[("crates/a/src/lib.rs", text)]);
            assert_eq!(unconditional(&sample).len(), expected, "text: {text}");
        }
    }
}
