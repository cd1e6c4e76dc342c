//! Fund code lookup: folding of case, blanks and punctuation, and suggestions for unknown codes.

/// Number of suggestions for an unknown code.
pub const SUGGESTIONS: usize = 3;

/// Folds a code to upper-case letters and ASCII digits; Thai and full-width digits become ASCII.
/// `kt25 75 rmf` and `KT25/75RMF` fold to the same code.
pub fn folded(code: &str) -> String {
    code.chars()
        .filter(|c| c.is_alphanumeric())
        .flat_map(|c| to_ascii_form(c).to_uppercase())
        .collect()
}

pub(crate) fn to_ascii_form(c: char) -> char {
    let offset = match c {
        '๐'..='๙' => u32::from(c) - u32::from('๐') + u32::from('0'),
        '！'..='～' => u32::from(c) - u32::from('！') + u32::from('!'),
        _ => return c,
    };
    char::from_u32(offset).unwrap_or(c)
}

/// Least similarity of a suggestion. Below it another fund would be suggested at random: `NOPE` is
/// not `B-TOPTENRMF`.
const MIN_SIMILARITY: f64 = 0.84;

/// Returns the codes similar to `wanted`, best first; ties keep the given order. Empty when no code
/// is near.
pub fn suggest_similar<'a>(wanted: &str, codes: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let wanted = folded(wanted);
    let mut scored: Vec<(f64, &str)> =
        codes.map(|code| (similarity(&wanted, &folded(code)), code)).collect();
    scored.retain(|(similarity, _)| *similarity >= MIN_SIMILARITY);
    scored.sort_by(|a, b| b.0.total_cmp(&a.0));
    scored.into_iter().take(SUGGESTIONS).map(|(_, code)| code).collect()
}

/// Jaro-Winkler similarity. Containment ranks above similarity.
fn similarity(wanted: &str, code: &str) -> f64 {
    let contains = wanted.len() >= 3 && (code.contains(wanted) || wanted.contains(code));
    let bonus = if contains { 1.0 } else { 0.0 };
    bonus + strsim::jaro_winkler(wanted, code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_folding_ignores_blanks_case_and_punctuation() {
        let cases = [
            ("kt25 75 rmf", "KT25/75RMF"),
            ("scbrmndq a", "SCBRMNDQ(A)"),
            ("KT๒๕/๗๕RMF", "KT25/75RMF"),
            ("ＫＴ２５／７５ＲＭＦ", "KT25/75RMF"),
            ("  abapac_rmf\n", "ABAPAC-RMF"),
        ];
        for (typed, code) in cases {
            assert_eq!(folded(typed), folded(code), "typed: {typed:?}");
        }
    }

    #[test]
    fn similar_codes_are_ranked_by_similarity() {
        let codes = ["ABAPAC-RMF", "B-ASIARMF", "ES-GOLDRMF-UH", "ES-GOLDRMF-H", "KT25/75RMF"];
        assert_eq!(suggest_similar("ABPAC-RMF", codes.into_iter())[0], "ABAPAC-RMF");
        let gold = suggest_similar("goldrmf", codes.into_iter());
        assert!(gold[..2].iter().all(|code| code.contains("GOLD")), "{gold:?}");
        for strange in ["🦄", "NOPE", "INVALID-CODE", "../../etc/passwd", "กองทุน"] {
            assert_eq!(suggest_similar(strange, codes.into_iter()), [""; 0], "{strange}");
        }
    }
}
