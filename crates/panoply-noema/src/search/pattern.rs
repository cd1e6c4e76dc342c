//! Translates search patterns: `*` matches any text, `_` one character, `\` escapes.

/// Translates to SQL `LIKE` with `\` as the escape character.
pub fn like(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => match letters.next() {
                Some(next @ ('%' | '_' | '\\')) => out.extend(['\\', next]),
                Some(next) => out.push(next),
                None => out.push_str("\\\\"),
            },
            '*' => out.push('%'),
            '%' => out.push_str("\\%"),
            other => out.push(other),
        }
    }
    out
}

/// Translates to a regular expression.
pub fn regex(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => {
                if let Some(next) = letters.next() {
                    out.push_str(&regex::escape(next.encode_utf8(&mut [0; 4])));
                }
            }
            '*' => {
                out.push_str(".*");
            }
            '_' => out.push('.'),
            other => out.push_str(&regex::escape(other.encode_utf8(&mut [0; 4]))),
        }
    }
    out
}

/// The literal text if the pattern has no wildcard.
pub fn literal(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => out.extend(letters.next()),
            '*' | '_' => return None,
            other => out.push(other),
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wildcards_translate_to_like_and_regex() {
        let cases = [
            ("d*g", "d%g", "d.*g"),
            ("d_g", "d_g", "d.g"),
            (r"100%\*", r"100\%*", r"100%\*"),
            (r"a\_b", r"a\_b", r"a_b"),
            ("a.b", "a.b", r"a\.b"),
        ];
        for (text, expected_like, expected_regex) in cases {
            assert_eq!(like(text), expected_like, "text: {text:?}");
            assert_eq!(regex(text), expected_regex, "text: {text:?}");
        }
        assert_eq!(literal(r"a\*b").as_deref(), Some("a*b"));
        assert_eq!(literal("a*b"), None);
    }
}
