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

/// Packages with another licence that we take all the same, each with the reason.
const EXCEPTIONS: &[(&str, &str, &str)] = &[(
    "priority-queue",
    "MPL-2.0",
    "comes with fsrs; the licence is file by file, and we change none of its files",
)];

/// Packages whose licence is unknown or not on the list, from pairs of name and expression.
pub fn refused<'a>(packages: impl IntoIterator<Item = (&'a str, Option<&'a str>)>) -> Vec<Problem> {
    let refused = packages.into_iter().filter(|(name, licence)| {
        !licence.is_some_and(|licence| is_allowed(licence, excepted(name)))
    });
    refused
        .map(|(name, licence)| {
            let licence = licence.unwrap_or("no licence at all");
            Problem::of(name, format!("`{licence}` is not on the list in tidy/licences.rs"))
        })
        .collect()
}

fn excepted(package: &str) -> Option<&'static str> {
    EXCEPTIONS.iter().find(|(name, _, _)| *name == package).map(|(_, licence, _)| *licence)
}

/// Whether an expression can be satisfied with licences on the list.
fn is_allowed(expression: &str, excepted: Option<&str>) -> bool {
    // Old manifests write a slash where SPDX writes OR.
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let spaced = spaced.replace(" WITH ", "+WITH+");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut rest = words.as_slice();
    let known = |name: &str| ALLOWED.contains(&name) || excepted == Some(name);
    either(&mut rest, &known) == Some(true) && rest.is_empty()
}

fn either(words: &mut &[&str], known: &dyn Fn(&str) -> bool) -> Option<bool> {
    let mut allowed = both(words, known)?;
    while take(words, "OR") {
        allowed |= both(words, known)?;
    }
    Some(allowed)
}

fn both(words: &mut &[&str], known: &dyn Fn(&str) -> bool) -> Option<bool> {
    let mut allowed = one(words, known)?;
    while take(words, "AND") {
        allowed &= one(words, known)?;
    }
    Some(allowed)
}

fn one(words: &mut &[&str], known: &dyn Fn(&str) -> bool) -> Option<bool> {
    if take(words, "(") {
        let inner = either(words, known)?;
        return take(words, ")").then_some(inner);
    }
    let (word, rest) = words.split_first()?;
    *words = rest;
    let name = word.replace("+WITH+", " WITH ");
    Some(known(&name))
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
            assert_eq!(is_allowed(expression, None), expected, "expression: {expression:?}");
        }
    }

    #[test]
    fn a_package_without_a_licence_is_refused_by_name() {
        let found = refused([("good", Some("ISC")), ("bare", None), ("bad", Some("SSPL-1.0"))]);
        let places: Vec<&str> = found.iter().map(|problem| problem.place.as_str()).collect();
        assert_eq!(places, ["bare", "bad"]);
    }

    #[test]
    fn an_exception_is_for_one_package_and_one_licence() {
        let found = refused([
            ("priority-queue", Some("LGPL-3.0-or-later OR MPL-2.0")),
            ("priority-queue", Some("GPL-3.0")),
            ("other", Some("MPL-2.0")),
        ]);
        assert_eq!(found.len(), 2, "{found:?}");
    }
}
