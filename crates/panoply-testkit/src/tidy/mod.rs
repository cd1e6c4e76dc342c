//! The habits of this repository that no compiler checks.
//!
//! Each module is one rule: a function from the sources to the list of places that break it, with
//! a test on a bad sample that shows it can fail. `tests/tidy.rs` runs them all on the repository.

pub mod commits;
pub mod confidence;
pub mod data;
pub mod dependencies;
pub mod env_vars;
pub mod forbidden_text;
pub mod inserts;
pub mod links;
pub mod modules;
pub mod phrases;
pub mod portability;
pub mod shape;
pub mod store_seam;
pub mod test_names;
pub mod traceability;

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

/// The text files of the repository, sorted by path.
#[derive(Clone, Debug, Default)]
pub struct Repository {
    /// The files a person or a generator wrote; what a build makes is not among them.
    pub files: Vec<SourceFile>,
}

/// One text file.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// From the root of the repository, with `/`.
    pub path: String,
    /// All of it.
    pub text: String,
}

/// One place that breaks a rule.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Problem {
    /// Where: a path, and the line when there is one.
    pub place: String,
    /// What is wrong there, and what to do about it.
    pub what: String,
}

/// Larger files are data, not text that a person keeps tidy.
const LARGEST: u64 = 2 << 20;
/// Folders that a build or a package manager makes.
const MADE: [&str; 7] =
    ["target", "node_modules", ".git", ".venv", "__pycache__", "dist", "corpus"];
/// What text looks like from outside; a name without an extension is a script.
const TEXT: [&str; 16] = [
    "rs", "toml", "md", "py", "js", "mjs", "ts", "tsx", "html", "css", "json", "jsonl", "yml",
    "yaml", "sh", "txt",
];

impl Repository {
    /// Reads the repository this crate belongs to.
    pub fn here() -> Self {
        let root = root();
        let mut files = Vec::new();
        walk(&root, &root, &mut files);
        files.sort_by(|a, b| a.path.cmp(&b.path));
        Self { files }
    }

    /// A made-up repository, for the tests of the rules.
    pub fn sample(files: &[(&str, &str)]) -> Self {
        let files = files
            .iter()
            .map(|(path, text)| SourceFile { path: (*path).to_owned(), text: (*text).to_owned() });
        Self { files: files.collect() }
    }

    /// The file at this path.
    pub fn file(&self, path: &str) -> Option<&SourceFile> {
        self.files.iter().find(|file| file.path == path)
    }

    /// All Rust files.
    pub fn rust(&self) -> impl Iterator<Item = &SourceFile> {
        self.files.iter().filter(|file| file.path.ends_with(".rs"))
    }
}

impl SourceFile {
    /// Lines with their numbers, from 1.
    pub fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text.lines().enumerate().map(|(index, line)| (index + 1, line))
    }

    /// The lines before the unit tests: what ships.
    pub fn production_lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.lines().take_while(|(_, line)| line.trim() != "#[cfg(test)]")
    }

    /// Whether all of it is for tests and benches only.
    pub fn is_for_tests(&self) -> bool {
        let parts: Vec<&str> = self.path.split('/').collect();
        parts.contains(&"tests")
            || parts.contains(&"benches")
            || parts.contains(&"panoply-testkit")
            || parts.contains(&"panoply-bench")
            || parts.contains(&"fuzz")
    }
}

impl Problem {
    /// About a file as a whole.
    pub fn of(path: &str, what: impl Into<String>) -> Self {
        Self { place: path.to_owned(), what: what.into() }
    }

    /// About one line of it.
    pub fn at(path: &str, line: usize, what: impl Into<String>) -> Self {
        Self { place: format!("{path}:{line}"), what: what.into() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.what)
    }
}

/// Fails the test with all problems at once, one a line.
pub fn assert_none(problems: &[Problem]) {
    let lines: Vec<String> = problems.iter().map(Problem::to_string).collect();
    assert!(lines.is_empty(), "{} problems:\n{}", lines.len(), lines.join("\n"));
}

/// The root of the repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(2)
        .expect("the crate lies two folders deep")
        .to_owned()
}

/// A path without `.` and `..`.
fn normal_path(path: &str) -> String {
    let mut parts = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            name => parts.push(name),
        }
    }
    parts.join("/")
}

fn walk(root: &Path, folder: &Path, files: &mut Vec<SourceFile>) {
    let entries = fs::read_dir(folder)
        .unwrap_or_else(|error| panic!("cannot read {}: {error}", folder.display()));
    for entry in entries.map_while(Result::ok) {
        let path = entry.path();
        let name = entry.file_name().to_string_lossy().into_owned();
        let Ok(kind) = entry.metadata() else { continue };
        if kind.is_dir() && !MADE.contains(&name.as_str()) {
            walk(root, &path, files);
        } else if kind.is_file() && kind.len() <= LARGEST && is_text(&path) {
            let Ok(text) = fs::read_to_string(&path) else { continue };
            let relative = path.strip_prefix(root).unwrap_or(&path);
            files.push(SourceFile { path: relative.to_string_lossy().replace('\\', "/"), text });
        }
    }
}

fn is_text(path: &Path) -> bool {
    match path.extension() {
        Some(extension) => TEXT.iter().any(|known| extension == *known),
        None => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_walk_finds_itself_and_no_build_output() {
        let repository = Repository::here();
        assert!(repository.file("crates/panoply-testkit/src/tidy/mod.rs").is_some());
        assert!(repository.file("Cargo.toml").is_some());
        assert!(!repository.files.iter().any(|file| file.path.starts_with("target/")));
    }

    #[test]
    fn production_ends_where_unit_tests_begin() {
        let repository = Repository::sample(&[("a.rs", "one\n    #[cfg(test)]\nmod tests {}\n")]);
        let lines: Vec<_> = repository.files[0].production_lines().collect();
        assert_eq!(lines, [(1, "one")]);
    }

    #[test]
    #[should_panic(expected = "2 problems:\na.rs: is odd\nb.rs:3: is worse")]
    fn all_problems_are_shown_at_once() {
        assert_none(&[Problem::of("a.rs", "is odd"), Problem::at("b.rs", 3, "is worse")]);
    }
}
