//! Figures that ship say where they come from: each folder of data has a README for its files.

use super::Problem;

/// A folder of data as it lies there.
#[derive(Clone, Debug, Default)]
pub struct Folder {
    /// From the root of the repository.
    pub path: String,
    /// The text of its README, if it has one.
    pub readme: Option<String>,
    /// Its other files by name, with their SHA-256 in hexadecimal.
    pub files: Vec<(String, String)>,
}

/// What a README must speak of, each in one of these ways.
const TOPICS: [&[&str]; 3] = [&["source"], &["licence"], &["as of", "fetched", "dated"]];
/// So many digits of a checksum are enough to see that a file was changed.
const DIGITS: usize = 16;

/// What the README of a folder leaves open.
pub fn unexplained(folder: &Folder) -> Vec<Problem> {
    let Some(readme) = &folder.readme else {
        return vec![Problem::of(&folder.path, "it has no README.md")];
    };
    let lower = readme.to_lowercase();
    let mut problems = Vec::new();
    for topic in TOPICS.iter().filter(|words| !words.iter().any(|word| lower.contains(word))) {
        let what = format!("its README does not say `{}`", topic.join("` or `"));
        problems.push(Problem::of(&folder.path, what));
    }
    for (name, checksum) in &folder.files {
        let place = format!("{}/{name}", folder.path);
        let start = checksum.get(..DIGITS).unwrap_or(checksum);
        if !readme.contains(name.as_str()) {
            problems.push(Problem::of(&place, "the README does not name it"));
        } else if !lower.contains(start) {
            let what = format!("the README does not have its SHA-256, {start}…");
            problems.push(Problem::of(&place, what));
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_without_an_honest_readme_is_found() {
        let sum = "0123456789abcdef0123".to_owned();
        let folder = |readme: Option<&str>| Folder {
            path: "data/x".to_owned(),
            readme: readme.map(str::to_owned),
            files: vec![("a.csv".to_owned(), sum.clone())],
        };
        let good = "`a.csv`: Source S, Licence L, as of D, 0123456789abcdef";
        let cases = [
            (Some(good.to_owned()), vec![]),
            (None, vec!["it has no README.md"]),
            (Some(good.replace("Licence", "-")), vec!["its README does not say `licence`"]),
            (Some(good.replace("a.csv", "b.csv")), vec!["the README does not name it"]),
            (
                Some(good.replace("0123456789", "9999999999")),
                vec!["the README does not have its SHA-256, 0123456789abcdef…"],
            ),
        ];
        for (readme, expected) in cases {
            let found = unexplained(&folder(readme.as_deref()));
            let found: Vec<&str> = found.iter().map(|problem| problem.what.as_str()).collect();
            assert_eq!(found, expected, "readme: {readme:?}");
        }
    }
}
