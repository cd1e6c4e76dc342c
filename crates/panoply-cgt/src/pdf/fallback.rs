//! Characters outside of the standard fonts, as Type 3 fonts of GNU Unifont's bitmaps.
//!
//! The standard 14 fonts have the characters of Windows-1252 only. Names of securities and people may
//! be in any script: the glyphs that occur are embedded, 255 to a font, with a map to Unicode so that
//! the text can be searched and copied (ISO 32000-1, 9.6.5 and 9.10.3). Unifont has a glyph for every
//! character of the basic plane, in 2 MB; outline fonts of Chinese alone have ten.

use std::collections::HashMap;
use std::fmt::Write as _;

use unifont::Glyph;

/// Glyphs of one font; code 0 is not used.
const PER_FONT: usize = 255;

/// Characters that occurred, in the order of their first use.
#[derive(Debug, Default)]
pub(super) struct FallbackFonts {
    used: Vec<char>,
    codes: HashMap<char, usize>,
}

/// A run of characters in one font, ready for a text operator.
#[derive(Debug, Eq, PartialEq)]
pub(super) enum Run {
    /// In the style's own font: escaped text of Windows-1252.
    Standard(String),
    /// In the fallback font of this number: codes as hexadecimal digits.
    Fallback(usize, String),
}

impl FallbackFonts {
    /// Splits a text into runs.
    pub(super) fn runs(&mut self, text: &str) -> Vec<Run> {
        let mut runs: Vec<Run> = Vec::new();
        for c in text.chars().filter(|c| !is_invisible(*c)) {
            match (standard(c), glyph(c)) {
                (Some(c), _) => push(&mut runs, c),
                (None, Some(_)) => self.push(&mut runs, c),
                (None, None) => push(&mut runs, '?'),
            }
        }
        runs
    }

    fn push(&mut self, runs: &mut Vec<Run>, c: char) {
        let next = self.used.len();
        let index = *self.codes.entry(c).or_insert(next);
        if index == next {
            self.used.push(c);
        }
        let (font, code) = (index / PER_FONT, index % PER_FONT + 1);
        match runs.last_mut() {
            Some(Run::Fallback(last, codes)) if *last == font => {
                let _ = write!(codes, "{code:02X}");
            }
            _ => runs.push(Run::Fallback(font, format!("{code:02X}"))),
        }
    }

    /// Bodies of the objects of all fonts, whose first has the number `first`, and the numbers of
    /// the fonts themselves.
    pub(super) fn objects(&self, first: usize) -> (Vec<String>, Vec<usize>) {
        let (mut bodies, mut fonts) = (Vec::new(), Vec::new());
        for glyphs in self.used.chunks(PER_FONT) {
            let start = first + bodies.len();
            bodies.extend(glyphs.iter().map(|c| stream(&procedure(*c))));
            bodies.push(stream(&to_unicode(glyphs)));
            fonts.push(first + bodies.len());
            bodies.push(font(glyphs, start));
        }
        (bodies, fonts)
    }
}

fn push(runs: &mut Vec<Run>, c: char) {
    let escaped = matches!(c, '(' | ')' | '\\').then_some('\\');
    let characters = escaped.into_iter().chain([c]);
    match runs.last_mut() {
        Some(Run::Standard(text)) => text.extend(characters),
        _ => runs.push(Run::Standard(characters.collect())),
    }
}

/// The character whose number is the byte of Windows-1252; `None` outside of it.
fn standard(c: char) -> Option<char> {
    /// Characters of the bytes 0x80 to 0x9F.
    const UPPER: [char; 32] = [
        '€', '\0', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\0', 'Ž', '\0', '\0',
        '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\0', 'ž', 'Ÿ',
    ];
    match c {
        '\n' | '\r' | '\t' => Some(' '),
        ' '..='~' | '\u{a0}'..='\u{ff}' => Some(c),
        '\0' => None,
        _ => {
            let index = UPPER.iter().position(|upper| *upper == c)?;
            char::from_u32(0x80 + u32::try_from(index).ok()?)
        }
    }
}

fn glyph(c: char) -> Option<&'static Glyph> {
    unifont::get_glyph(c).filter(|_| !c.is_control())
}

/// Whether a character only steers the direction or joining of text.
const fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

/// Columns of a character: 2 for a full-width glyph, 0 for a mark over another character.
pub(super) fn columns(c: char) -> usize {
    match glyph(c) {
        _ if standard(c).is_some() => 1,
        _ if is_mark(c) => 0,
        Some(Glyph::Fullwidth(_)) => 2,
        Some(Glyph::Halfwidth(_)) | None => 1,
    }
}

/// Whether a character is drawn over the one before it: combining marks of Latin, Cyrillic, Hebrew,
/// Arabic, Devanagari, Thai and Lao.
const fn is_mark(c: char) -> bool {
    matches!(c,
        '\u{300}'..='\u{36f}' | '\u{483}'..='\u{489}' | '\u{591}'..='\u{5bd}' | '\u{610}'..='\u{61a}'
        | '\u{64b}'..='\u{65f}' | '\u{670}' | '\u{900}'..='\u{902}' | '\u{93c}' | '\u{941}'..='\u{948}'
        | '\u{94d}' | '\u{e31}' | '\u{e34}'..='\u{e3a}' | '\u{e47}'..='\u{e4e}' | '\u{eb1}'
        | '\u{eb4}'..='\u{ebc}' | '\u{ec8}'..='\u{ecd}' | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}'
        | '\u{20d0}'..='\u{20ff}' | '\u{fe20}'..='\u{fe2f}')
}

/// Advance of a glyph in sixteenths of the size.
fn advance(c: char) -> usize {
    if is_mark(c) { 0 } else { glyph(c).map_or(8, Glyph::get_width) }
}

/// Glyph procedure: the bitmap as an inline stencil mask, two rows below the base line.
fn procedure(c: char) -> String {
    let (width, rows) = match glyph(c) {
        Some(Glyph::Fullwidth(rows)) => {
            (16, rows.iter().fold(String::new(), |hex, row| hex + &format!("{row:04X}")))
        }
        Some(Glyph::Halfwidth(rows)) => {
            (8, rows.iter().fold(String::new(), |hex, row| hex + &format!("{row:02X}")))
        }
        None => (8, "00".repeat(16)),
    };
    let advance = advance(c);
    let left = if advance == 0 { -width } else { 0 };
    format!(
        "{advance} 0 {left} -2 {} 14 d1\nq {width} 0 0 16 {left} -2 cm\nBI /W {width} /H 16 /IM true /D [1 0] /F /AHx ID {rows}> EI\nQ\n",
        left + width
    )
}

fn stream(content: &str) -> String {
    format!("<< /Length {} >>\nstream\n{content}endstream", content.len())
}

fn to_unicode(glyphs: &[char]) -> String {
    let mut map = "/CIDInit /ProcSet findresource begin\n12 dict begin\nbegincmap\n/CMapName /Panoply def\n/CMapType 2 def\n1 begincodespacerange\n<00> <FF>\nendcodespacerange\n".to_owned();
    // A block has at most 100 entries.
    let numbered: Vec<(usize, &char)> = (1..).zip(glyphs).collect();
    for block in numbered.chunks(100) {
        let _ = writeln!(map, "{} beginbfchar", block.len());
        for (code, c) in block {
            let _ = writeln!(map, "<{code:02X}> <{:04X}>", u32::from(**c));
        }
        map += "endbfchar\n";
    }
    map + "endcmap\nCMapName currentdict /CMap defineresource pop\nend\nend\n"
}

/// Font dictionary; the procedures start at the object `start`, and the map follows them.
fn font(glyphs: &[char], start: usize) -> String {
    let (mut procedures, mut names, mut widths) = (String::new(), String::new(), String::new());
    for (index, c) in glyphs.iter().enumerate() {
        let _ = write!(procedures, "/g{index} {} 0 R ", start + index);
        let _ = write!(names, "/g{index} ");
        let _ = write!(widths, "{} ", advance(*c));
    }
    let count = glyphs.len();
    format!(
        "<< /Type /Font /Subtype /Type3 /FontBBox [-16 -2 16 14] /FontMatrix [0.0625 0 0 0.0625 0 0] /FirstChar 1 /LastChar {count} /Widths [{widths}] /Encoding << /Type /Encoding /Differences [1 {names}] >> /CharProcs << {procedures}>> /Resources << >> /ToUnicode {} 0 R >>",
        start + count
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_any_script_is_split_into_runs() {
        let mut fonts = FallbackFonts::default();
        let found = fonts.runs("A (€5) 中ก中");
        assert_eq!(
            found,
            [Run::Standard("A \\(\u{80}5\\) ".to_owned()), Run::Fallback(0, "010201".to_owned())]
        );
        assert_eq!(fonts.runs("a\u{202e}b"), [Run::Standard("ab".to_owned())]);
        let many: String = (0x5000..0x5000 + 600).filter_map(char::from_u32).collect();
        let last = fonts.runs(&many).pop().unwrap();
        assert!(matches!(last, Run::Fallback(2, _)), "{last:?}");
        let (bodies, numbers) = fonts.objects(100);
        // 602 glyphs, three maps and three fonts.
        assert_eq!((bodies.len(), numbers.len()), (602 + 6, 3));
        assert_eq!(numbers[0], 100 + 255 + 1);
        assert!(bodies[255].contains("<01> <4E2D>"), "{}", bodies[255]);
    }

    #[test]
    fn every_alphabet_has_glyphs_and_marks_take_no_room() {
        for text in [
            "Газпром",
            "กรุงไทย",
            "中国工商银行",
            "トヨタ",
            "삼성전자",
            "Ελλάδα",
            "ישראל",
            "Łódź",
            "Đông Á",
        ] {
            let mut fonts = FallbackFonts::default();
            let lost = fonts
                .runs(text)
                .iter()
                .any(|run| matches!(run, Run::Standard(text) if text.contains('?')));
            assert!(!lost, "{text}");
        }
        let widths: Vec<usize> = "กุ้ง中A".chars().map(columns).collect();
        assert_eq!(widths, [1, 0, 0, 1, 2, 1]);
    }
}
