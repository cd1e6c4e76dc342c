//! Finds a fund by what people type: the exact code, else one that differs only in case,
//! blanks and punctuation, else the nearest ones to choose from.

/// How many near codes are offered.
pub const SUGGESTIONS: usize = 3;

/// A code without what people leave out or mistype: letters and digits in upper case, with
/// Thai and full-width digits as plain ones. `kt25 75 rmf` and `KT25/75RMF` are the same.
pub fn folded(code: &str) -> String {
    code.chars().filter(|c| c.is_alphanumeric()).flat_map(|c| plain(c).to_uppercase()).collect()
}

fn plain(c: char) -> char {
    let offset = match c {
        '๐'..='๙' => u32::from(c) - u32::from('๐') + u32::from('0'),
        '！'..='～' => u32::from(c) - u32::from('！') + u32::from('!'),
        _ => return c,
    };
    char::from_u32(offset).unwrap_or(c)
}

/// The codes most like `wanted`, best first; equals in the order given.
pub fn nearest<'a>(wanted: &str, codes: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let wanted = folded(wanted);
    let mut scored: Vec<(f64, &str)> =
        codes.map(|code| (likeness(&wanted, &folded(code)), code)).collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0));
    scored.into_iter().take(SUGGESTIONS).map(|(_, code)| code).collect()
}

/// A code that contains the other is nearer than one that only looks like it.
fn likeness(wanted: &str, code: &str) -> f64 {
    let contains = !wanted.is_empty() && (code.contains(wanted) || wanted.contains(code));
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
        assert_eq!(nearest("ABPAC-RMF", codes.into_iter())[0], "ABAPAC-RMF");
        let gold = nearest("goldrmf", codes.into_iter());
        assert!(gold[..2].iter().all(|code| code.contains("GOLD")), "{gold:?}");
        assert_eq!(nearest("🦄", codes.into_iter()).len(), SUGGESTIONS);
    }
}
