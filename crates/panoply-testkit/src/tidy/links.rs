//! Documents link only to files that exist.

use std::path::Path;

use super::{Problem, Repository, normal_path};

/// Links in Markdown files that lead to nothing. `exists` is asked about paths from the root.
pub fn broken(repository: &Repository, exists: impl Fn(&Path) -> bool) -> Vec<Problem> {
    let mut problems = Vec::new();
    for file in repository.files.iter().filter(|file| file.path.ends_with(".md")) {
        let folder = file.path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let mut in_code = false;
        for (number, line) in file.lines() {
            in_code ^= line.trim_start().starts_with("```");
            if in_code {
                continue;
            }
            for target in targets(line).filter(|target| is_local(target)) {
                let path = target.split('#').next().unwrap_or_default();
                if !path.is_empty() && !exists(Path::new(&normal_path(&format!("{folder}/{path}"))))
                {
                    problems.push(Problem::at(
                        &file.path,
                        number,
                        format!("`{target}` does not exist"),
                    ));
                }
            }
        }
    }
    problems
}

/// Code spans of these documents that name a file or folder of `crates/` which does not exist.
/// Patterns, such as `crates/a/src/<name>.rs`, are left out.
pub fn missing_paths(repository: &Repository, exists: impl Fn(&Path) -> bool) -> Vec<Problem> {
    const DOCUMENTS: [&str; 3] = ["ARCHITECTURE.md", "docs/glossary.md", "docs/walkthrough.md"];
    let mut problems = Vec::new();
    for file in DOCUMENTS.iter().filter_map(|path| repository.file(path)) {
        for (number, line) in file.lines() {
            let spans = line.split('`').skip(1).step_by(2);
            let paths = spans.filter(|span| span.starts_with("crates/"));
            for path in paths.filter(|path| !path.contains(['<', '{', '*', '…', ' '])) {
                let file_path = path.split("::").next().unwrap_or_default();
                let is_pattern = file_path.split('/').any(|part| part.starts_with("GROUP"));
                if !is_pattern && !exists(Path::new(file_path)) {
                    let what = format!("`{path}` does not exist");
                    problems.push(Problem::at(&file.path, number, what));
                }
            }
        }
    }
    problems
}

/// What stands in the round brackets of `[text](target)`.
fn targets(line: &str) -> impl Iterator<Item = &str> {
    line.split("](").skip(1).filter_map(|rest| rest.split([')', ' ']).next())
}

fn is_local(target: &str) -> bool {
    !target.contains("://") && !target.starts_with("mailto:") && !target.starts_with('<')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_span_that_names_a_missing_file_is_found() {
        let sample = Repository::sample(&[
            (
                "ARCHITECTURE.md",
                "`crates/a/src/b.rs` `crates/a/src/<x>.rs` `crates/gone.rs` `gone`",
            ),
            ("README.md", "`crates/gone.rs`"),
        ]);
        let found = missing_paths(&sample, |path| path == Path::new("crates/a/src/b.rs"));
        let places: Vec<&str> = found.iter().map(|problem| problem.what.as_str()).collect();
        assert_eq!(places, ["`crates/gone.rs` does not exist"]);
    }

    #[test]
    fn a_link_to_nothing_is_found() {
        let sample = Repository::sample(&[
            ("README.md", "[a](docs/a.md#top) [b](https://x.example/b) [c](#c) [d](docs/d.md)"),
            ("docs/a.md", "[up](../README.md)\n```\n[code](nowhere)\n```\n[gone](gone.md)"),
        ]);
        let found = broken(&sample, |path| sample.file(&path.to_string_lossy()).is_some());
        let places: Vec<&str> = found.iter().map(|problem| problem.place.as_str()).collect();
        assert_eq!(places, ["README.md:1", "docs/a.md:5"]);
    }
}
