//! Every dependency may be shipped: its licence, an SPDX expression, is on our list.

use super::Problem;

/// Licences that ask for no more than a notice.
const ALLOWED: [&str; 14] = [
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "CDLA-Permissive-2.0",
    "ISC",
    "MIT",
    "MIT-0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

/// Packages whose licence is unknown or not on the list, from pairs of name and expression.
pub fn refused<'a>(packages: impl IntoIterator<Item = (&'a str, Option<&'a str>)>) -> Vec<Problem> {
    let refused = packages.into_iter().filter(|(_, licence)| !licence.is_some_and(is_allowed));
    refused
        .map(|(name, licence)| {
            let licence = licence.unwrap_or("no licence at all");
            Problem::of(name, format!("`{licence}` is not on the list in tidy/licences.rs"))
        })
        .collect()
}

/// Whether an expression can be satisfied with licences on the list.
fn is_allowed(expression: &str) -> bool {
    // Old manifests write a slash where SPDX writes OR.
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let spaced = spaced.replace(" WITH ", "+WITH+");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut rest = words.as_slice();
    either(&mut rest) == Some(true) && rest.is_empty()
}

fn either(words: &mut &[&str]) -> Option<bool> {
    let mut allowed = both(words)?;
    while take(words, "OR") {
        allowed |= both(words)?;
    }
    Some(allowed)
}

fn both(words: &mut &[&str]) -> Option<bool> {
    let mut allowed = one(words)?;
    while take(words, "AND") {
        allowed &= one(words)?;
    }
    Some(allowed)
}

fn one(words: &mut &[&str]) -> Option<bool> {
    if take(words, "(") {
        let inner = either(words)?;
        return take(words, ")").then_some(inner);
    }
    let (word, rest) = words.split_first()?;
    *words = rest;
    let name = word.replace("+WITH+", " WITH ");
    Some(ALLOWED.contains(&name.as_str()))
}

fn take(words: &mut &[&str], wanted: &str) -> bool {
    match words.split_first() {
        Some((word, rest)) if *word == wanted => {
            *words = rest;
            true
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expression_is_read_as_spdx_means_it() {
        let cases = [
            ("MIT", true),
            ("MIT/Apache-2.0", true),
            ("GPL-3.0", false),
            ("GPL-3.0 OR MIT", true),
            ("GPL-3.0 AND MIT", false),
            ("(MIT OR GPL-3.0) AND Unicode-3.0", true),
            ("MIT AND (GPL-3.0 OR AGPL-3.0)", false),
            ("Apache-2.0 WITH LLVM-exception OR GPL-2.0", true),
            ("MIT OR", false),
            ("(MIT", false),
            ("", false),
        ];
        for (expression, expected) in cases {
            assert_eq!(is_allowed(expression), expected, "expression: {expression:?}");
        }
    }

    #[test]
    fn a_package_without_a_licence_is_refused_by_name() {
        let found = refused([("good", Some("ISC")), ("bare", None), ("bad", Some("SSPL-1.0"))]);
        let places: Vec<&str> = found.iter().map(|problem| problem.place.as_str()).collect();
        assert_eq!(places, ["bare", "bad"]);
    }
}
