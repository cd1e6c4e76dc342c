//! Lexer: splits lines into words. Blanks separate words, `@` is a word of its own, `#` starts a
//! comment.

/// A word and its byte offset in the line.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Word<'a> {
    pub(super) text: &'a str,
    pub(super) start: usize,
}

/// Numbered lines of a text. Lines end with LF, CRLF or CR.
pub(super) fn lines(text: &str) -> impl Iterator<Item = (u32, &str)> {
    let text = text.strip_prefix('\u{FEFF}').unwrap_or(text);
    let unix = text.split('\n').flat_map(|line| {
        let line = line.strip_suffix('\r').unwrap_or(line);
        line.split('\r')
    });
    (1..).zip(unix)
}

/// Splits a line into `words`, a reused buffer.
pub(super) fn words<'a>(line: &'a str, words: &mut Vec<Word<'a>>) {
    words.clear();
    let mut start: Option<usize> = None;
    let mut push = |from: Option<usize>, to: usize| {
        if let Some(start) = from
            && let Some(text) = line.get(start..to)
        {
            words.push(Word { text, start });
        }
    };
    for (position, c) in line.char_indices() {
        match c {
            '#' => {
                push(start, position);
                return;
            }
            '@' => {
                push(start.take(), position);
                push(Some(position), position + 1);
            }
            c if c.is_whitespace() => push(start.take(), position),
            _ => start = start.or(Some(position)),
        }
    }
    push(start, line.len());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lexer_splits_at_spaces_and_around_the_at_sign() {
        let cases: [(&str, &[&str]); 5] = [
            ("a  b\tc", &["a", "b", "c"]),
            ("100@150", &["100", "@", "150"]),
            (" x # y", &["x"]),
            ("x#y", &["x"]),
            ("", &[]),
        ];
        for (line, expected) in cases {
            let mut found = Vec::new();
            words(line, &mut found);
            let texts: Vec<&str> = found.iter().map(|word| word.text).collect();
            assert_eq!(texts, expected, "line: {line:?}");
        }
    }

    #[test]
    fn lf_crlf_and_cr_end_a_line() {
        let found: Vec<_> = lines("\u{FEFF}a\nb\r\nc\rd\n").collect();
        assert_eq!(found, [(1, "a"), (2, "b"), (3, "c"), (4, "d"), (5, "")]);
    }
}
