//! U+0000 in texts, which SQLite stores and PostgreSQL refuses.
//!
//! It is stored as U+F0000 `0`, and U+F0000 itself, a character for private use, as U+F0000 `1`.
//! All other texts are stored as they are.

const MARK: char = '\u{F0000}';

/// The text as PostgreSQL stores it.
pub(crate) fn escape(text: String) -> String {
    if !text.contains(['\0', MARK]) {
        return text;
    }
    let mut escaped = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        match character {
            '\0' => escaped.extend([MARK, '0']),
            MARK => escaped.extend([MARK, '1']),
            other => escaped.push(other),
        }
    }
    escaped
}

/// The text that was [escaped](escape).
pub(crate) fn restore(text: String) -> String {
    if !text.contains(MARK) {
        return text;
    }
    let mut restored = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match character {
            MARK => restored.push(if characters.next() == Some('0') { '\0' } else { MARK }),
            other => restored.push(other),
        }
    }
    restored
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_is_restored_and_stored_without_nul() {
        let texts = ["", "plain", "\0", "a\0\0b", "\u{F0000}", "\u{F0000}0\0\u{F0000}1", "ขมิ้น\0"];
        for text in texts {
            let stored = escape(text.to_owned());
            assert!(!stored.contains('\0'), "{text:?}");
            assert_eq!(restore(stored), text);
        }
        assert_eq!(escape("plain".to_owned()), "plain");
    }
}
