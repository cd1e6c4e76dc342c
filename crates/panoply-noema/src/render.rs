//! Rendering of cards: Anki's templates and cloze deletions.
//!
//! Supports `{{Field}}`, `{{FrontSide}}`, `{{cloze:Field}}`, `{{type:Field}}`, `{{hint:Field}}` and
//! other filters, and the sections `{{#Field}}…{{/Field}}` and `{{^Field}}…{{/Field}}`.

use std::sync::LazyLock;

use regex::Regex;

use crate::card::Card;
use crate::choice;
use crate::html;
use crate::note::{Note, NoteType, Template};
use crate::occlusion::Occlusion;

/// The rendered sides of a card, as HTML.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Sides {
    /// Question.
    pub front: String,
    /// Answer, including the front if the template does.
    pub back: String,
    /// The expected answer of a typed card.
    pub typed: Option<String>,
}

/// Renders both sides of a card of a note.
pub fn sides_of(note_type: &NoteType, note: &Note, card: &Card) -> Sides {
    if let Some(occlusion) = Occlusion::of(note_type, &note.fields, card.ordinal) {
        return occlusion.sides();
    }
    match choice::shuffled(note_type, &note.fields, card) {
        Some(fields) => sides(note_type, &fields, &note.tags, card.ordinal),
        None => sides(note_type, &note.fields, &note.tags, card.ordinal),
    }
}

/// Renders both sides of a card.
pub fn sides(note_type: &NoteType, fields: &[String], tags: &[String], ordinal: u32) -> Sides {
    let Some(template) = note_type.template(ordinal) else {
        return Sides {
            front: fields.first().cloned().unwrap_or_default(),
            back: fields.join("\n"),
            typed: None,
        };
    };
    let context = |side| TemplateContext { note_type, fields, tags, ordinal, template, side };
    let front = context(Side::Front).fill(&template.question, "");
    let back = context(Side::Back).fill(&template.answer, &front);
    Sides {
        front: front.trim().to_owned(),
        back: back.trim().to_owned(),
        typed: context(Side::Front).typed(&template.question),
    }
}

/// What templates put between the front and the answer.
pub const ANSWER_LINE: &str = "<hr id=answer>";

/// The back without the front that it repeats.
pub fn answer_alone(front: &str, back: &str) -> String {
    let rest = back.strip_prefix(front).unwrap_or(back);
    rest.split_once(ANSWER_LINE).map_or(rest, |(_, answer)| answer).to_owned()
}

/// Whether the front would contain any field content.
pub fn front_has_content(template: &Template, note_type: &NoteType, fields: &[String]) -> bool {
    let context =
        TemplateContext { note_type, fields, tags: &[], ordinal: 0, template, side: Side::Front };
    context.has_content(&template.question)
}

/// The first field that a template refers to and the type lacks.
pub fn unknown_field(template: &str, note_type: &NoteType) -> Option<String> {
    let mut rest = template;
    while let Some((_, from)) = rest.split_once("{{") {
        let (tag, after) = from.split_once("}}")?;
        rest = after;
        let tag = tag.trim().trim_start_matches(['#', '^', '/']).trim();
        let name = tag.rsplit(':').next().unwrap_or(tag).trim();
        let is_cloze_test = note_type.cloze
            && name.strip_prefix('c').is_some_and(|digits| digits.parse::<u32>().is_ok());
        let known = tag.starts_with('!') || is_cloze_test || SPECIAL_FIELDS.contains(&name);
        if !known && !note_type.fields.iter().any(|field| field.eq_ignore_ascii_case(name)) {
            return Some(name.chars().take(80).collect());
        }
    }
    None
}

/// Replaces references to fields in a template: pairs of old and new names.
pub fn rename_fields(template: &str, renamed: &[(String, String)]) -> String {
    let mut text = String::with_capacity(template.len());
    let mut rest = template;
    while let Some((before, from)) = rest.split_once("{{") {
        text.push_str(before);
        text.push_str("{{");
        let Some((tag, after)) = from.split_once("}}") else {
            rest = from;
            continue;
        };
        let start = tag.rfind([':', '#', '^', '/']).map_or(0, |index| index + 1);
        let (prefix, name) = tag.split_at(start);
        let new = renamed.iter().find(|(old, _)| name.trim().eq_ignore_ascii_case(old));
        let name = new.map_or(name, |(_, new)| new.as_str());
        text.push_str(prefix);
        text.push_str(name);
        text.push_str("}}");
        rest = after;
    }
    text + rest
}

/// Names that every template can refer to.
const SPECIAL_FIELDS: [&str; 7] =
    ["FrontSide", "Tags", "Type", "Card", "Deck", "Subdeck", "CardFlag"];

/// The cloze numbers in a text.
pub fn cloze_numbers(text: &str) -> Vec<u32> {
    static CLOZE: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\{\{c(\d{1,3})::").ok());
    let Some(gap) = CLOZE.as_ref() else { return Vec::new() };
    gap.captures_iter(text)
        .filter_map(|found| found.get(1)?.as_str().parse().ok())
        .filter(|number| *number > 0)
        .collect()
}

/// Replaces cloze deletions by their content and drops their hints.
pub fn expand_clozes(text: &str) -> String {
    static CLOZE: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"(?s)\{\{c\d+::(.*?)(?:::.*?)?\}\}").ok());
    CLOZE.as_ref().map_or_else(|| text.to_owned(), |gap| gap.replace_all(text, "$1").into_owned())
}

#[derive(Clone, Copy, PartialEq)]
enum Side {
    Front,
    Back,
}

struct TemplateContext<'a> {
    note_type: &'a NoteType,
    fields: &'a [String],
    tags: &'a [String],
    ordinal: u32,
    template: &'a Template,
    side: Side,
}

impl TemplateContext<'_> {
    fn fill(&self, template: &str, front: &str) -> String {
        let mut text = String::with_capacity(template.len());
        let mut rest = template;
        while let Some((before, from)) = rest.split_once("{{") {
            text.push_str(before);
            let Some((tag, after)) = from.split_once("}}") else {
                text.push_str("{{");
                rest = from;
                continue;
            };
            let tag = tag.trim();
            rest = match tag.chars().next() {
                Some(mark @ ('#' | '^')) => {
                    let name = tag.get(1..).unwrap_or_default().trim();
                    let (inside, outside) = section(after, name);
                    if self.section_shows(name, mark == '#') {
                        text.push_str(&self.fill(inside, front));
                    }
                    outside
                }
                Some('/' | '!') => after,
                _ => {
                    text.push_str(&self.value(tag, front));
                    after
                }
            };
        }
        text + rest
    }

    fn section_shows(&self, name: &str, wants_text: bool) -> bool {
        // `{{#c1}}` tests whether this is the card of cloze 1.
        if let Some(number) = name.strip_prefix('c').and_then(|digits| digits.parse::<u32>().ok())
            && self.note_type.cloze
        {
            return (number == self.ordinal + 1) == wants_text;
        }
        let filled = self.field(name).is_some_and(|field| !is_blank(field));
        filled == wants_text
    }

    fn value(&self, tag: &str, front: &str) -> String {
        let (filters, name) =
            tag.rsplit_once(':').map_or(("", tag), |(filters, name)| (filters, name.trim()));
        match name {
            "FrontSide" => return front.to_owned(),
            "Tags" => return self.tags.join(" "),
            "Type" => return self.note_type.name.clone(),
            "Card" => return self.template.name.clone(),
            _ => {}
        }
        let Some(field) = self.field(name) else { return String::new() };
        filters
            .rsplit(':')
            .fold(field.to_owned(), |text, filter| self.filtered(&text, filter.trim()))
    }

    fn filtered(&self, text: &str, filter: &str) -> String {
        match (filter, self.side) {
            ("cloze", _) => render_clozes(text, self.ordinal + 1, self.side),
            ("type", Side::Front) => String::new(),
            ("hint", Side::Front) => "[hint]".to_owned(),
            ("text", _) => html::strip(text),
            ("furigana", _) => readings(text, "<ruby><rb>$1</rb><rt>$2</rt></ruby>"),
            ("kana", _) => readings(text, "$2"),
            ("kanji", _) => readings(text, "$1"),
            ("cloze-only", _) => cloze_answers(text, self.ordinal + 1).join(", "),
            (tts, _) if tts.starts_with("tts ") => speech(tts, text),
            _ => text.to_owned(),
        }
    }

    fn field(&self, name: &str) -> Option<&str> {
        let index =
            self.note_type.fields.iter().position(|field| field.eq_ignore_ascii_case(name))?;
        self.fields.get(index).map(String::as_str)
    }

    fn typed(&self, question: &str) -> Option<String> {
        let (_, after) = question.split_once("{{type:")?;
        let (tag, _) = after.split_once("}}")?;
        match tag.strip_prefix("cloze:") {
            Some(name) => Some(cloze_answers(self.field(name)?, self.ordinal + 1).join(", ")),
            None => self.field(tag.trim()).map(html::strip),
        }
    }

    /// Whether a front references a non-empty field, considering sections.
    fn has_content(&self, question: &str) -> bool {
        let mut rest = question;
        while let Some((_, from)) = rest.split_once("{{") {
            let Some((tag, after)) = from.split_once("}}") else { return false };
            let tag = tag.trim();
            rest = after;
            match tag.chars().next() {
                Some(mark @ ('#' | '^')) => {
                    let name = tag.get(1..).unwrap_or_default().trim();
                    let (inside, outside) = section(after, name);
                    if self.section_shows(name, mark == '#') && self.has_content(inside) {
                        return true;
                    }
                    rest = outside;
                }
                Some('/' | '!') => {}
                _ => {
                    let name = tag.rsplit(':').next().unwrap_or(tag).trim();
                    if self.field(name).is_some_and(|field| !is_blank(field)) {
                        return true;
                    }
                }
            }
        }
        false
    }
}

/// Replaces ` 漢字[かんじ]` by a pattern with the word as `$1` and its reading as `$2`.
fn readings(text: &str, pattern: &str) -> String {
    static WORD: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r" ?([^ >]+?)\[(.+?)\]").ok());
    let text = text.replace("&nbsp;", " ");
    WORD.as_ref().map_or_else(|| text.clone(), |word| word.replace_all(&text, pattern).into_owned())
}

/// A text to speak, in the notation of Anki: `[anki:tts lang=en_US]text[/anki:tts]`.
fn speech(filter: &str, text: &str) -> String {
    let language = filter.split_whitespace().nth(1).unwrap_or_default();
    format!("[anki:tts lang={language}]{}[/anki:tts]", html::strip(text))
}

fn is_blank(field: &str) -> bool {
    !field.contains("<img") && !field.contains("[sound:") && html::strip(field).is_empty()
}

/// Splits at the end of a section; an unclosed section extends to the end.
fn section<'a>(after: &'a str, name: &str) -> (&'a str, &'a str) {
    let mut from = 0;
    while let Some(index) = after.get(from..).and_then(|rest| rest.find("{{/")) {
        let start = from + index;
        let Some(length) = after.get(start..).and_then(|rest| rest.find("}}")) else { break };
        let tag = after.get(start + 3..start + length).unwrap_or_default();
        if tag.trim() == name {
            return (
                after.get(..start).unwrap_or_default(),
                after.get(start + length + 2..).unwrap_or_default(),
            );
        }
        from = start + length;
    }
    (after, "")
}

/// Renders cloze deletions: hides the given number on the front, expands the others.
fn render_clozes(text: &str, wanted: u32, side: Side) -> String {
    if !cloze_numbers(text).contains(&wanted) {
        return String::new();
    }
    let mut shown = String::new();
    for_each_piece(text, &mut |piece| match piece {
        Piece::Text(text) => shown.push_str(text),
        Piece::Cloze { number, inside, hint } => {
            let inner = render_nested(inside, wanted, side);
            match (number == wanted, side) {
                (true, Side::Front) => {
                    shown.push_str(&format!("[{}]", if hint.is_empty() { "..." } else { hint }));
                }
                (true, Side::Back) => shown.push_str(&format!("<b>{inner}</b>")),
                (false, _) => shown.push_str(&inner),
            }
        }
    });
    shown
}

fn render_nested(inside: &str, wanted: u32, side: Side) -> String {
    if inside.contains("{{c") && !cloze_numbers(inside).is_empty() {
        let mut shown = String::new();
        for_each_piece(inside, &mut |piece| match piece {
            Piece::Text(text) => shown.push_str(text),
            Piece::Cloze { number, inside, hint } if number == wanted && side == Side::Front => {
                let _ = inside;
                shown.push_str(&format!("[{}]", if hint.is_empty() { "..." } else { hint }));
            }
            Piece::Cloze { inside, .. } => shown.push_str(&render_nested(inside, wanted, side)),
        });
        return shown;
    }
    inside.to_owned()
}

/// The answers of the cloze deletions with a number.
pub fn cloze_answers(text: &str, wanted: u32) -> Vec<String> {
    let mut found = Vec::new();
    for_each_piece(text, &mut |piece| {
        if let Piece::Cloze { number, inside, .. } = piece
            && number == wanted
        {
            found.push(html::strip(inside));
        }
    });
    found
}

enum Piece<'a> {
    Text(&'a str),
    Cloze { number: u32, inside: &'a str, hint: &'a str },
}

fn for_each_piece<'a>(text: &'a str, visit: &mut dyn FnMut(Piece<'a>)) {
    let mut rest = text;
    while let Some(index) = rest.find("{{c") {
        let (before, from) = rest.split_at(index);
        let Some((number, body, after)) = parse_cloze(from) else {
            let (mark, after) = from.split_at(3);
            visit(Piece::Text(before));
            visit(Piece::Text(mark));
            rest = after;
            continue;
        };
        visit(Piece::Text(before));
        let (inside, hint) = match body.rsplit_once("::") {
            Some((inside, hint)) if !hint.contains("}}") && !inside.ends_with("{{c") => {
                (inside, hint)
            }
            _ => (body, ""),
        };
        visit(Piece::Cloze { number, inside, hint });
        rest = after;
    }
    visit(Piece::Text(rest));
}

/// Parses `{{c1::body}}rest`; the body may contain nested cloze deletions.
fn parse_cloze(from: &str) -> Option<(u32, &str, &str)> {
    let (digits, body) = from.strip_prefix("{{c")?.split_once("::")?;
    let number = digits.parse().ok().filter(|number| *number > 0)?;
    let (mut depth, mut index) = (1_u32, 0);
    while index < body.len() {
        let rest = body.get(index..)?;
        if rest.starts_with("{{") {
            depth += 1;
            index += 2;
        } else if rest.starts_with("}}") {
            depth -= 1;
            if depth == 0 {
                return Some((number, body.get(..index)?, body.get(index + 2..)?));
            }
            index += 2;
        } else {
            index += rest.chars().next().map_or(1, char::len_utf8);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::note::Form;

    fn shown(form: Form, fields: &[&str], ordinal: u32) -> (String, String) {
        let fields: Vec<String> = fields.iter().map(|field| (*field).to_owned()).collect();
        let sides = sides(&form.note_type(), &fields, &[], ordinal);
        (html::strip(&sides.front), html::strip(&sides.back))
    }

    #[test]
    fn front_hides_the_answer_and_back_shows_it() {
        let pair = |front: &str, back: &str| (front.to_owned(), back.to_owned());
        assert_eq!(
            shown(Form::Basic, &["Thailand", "Bangkok"], 0),
            pair("Thailand", "Thailand\nBangkok")
        );
        assert_eq!(shown(Form::Reversed, &["a", "b"], 1), pair("b", "b\na"));
        assert_eq!(shown(Form::Typed, &["2+2", "4"], 0), pair("2+2", "2+2\n4"));
        let cloze = "{{c1::Mitochondria}} produce {{c2::ATP::molecule}}";
        assert_eq!(
            shown(Form::Cloze, &[cloze, ""], 1),
            pair("Mitochondria produce [molecule]", "Mitochondria produce ATP")
        );
        let nested = "{{c1::a {{c2::b}} c}}";
        assert_eq!(shown(Form::Cloze, &[nested, ""], 1).0, "a [...] c");
        assert_eq!(shown(Form::Cloze, &[nested, ""], 0).0, "[...]");
    }

    #[test]
    fn typed_answer_is_returned_but_not_rendered_on_the_front() {
        let fields = ["2+2".to_owned(), "<b>4</b>".to_owned()];
        let sides = sides(&Form::Typed.note_type(), &fields, &[], 0);
        assert_eq!(sides.typed.as_deref(), Some("4"));
        assert!(!sides.front.contains('4'));
    }

    #[test]
    fn conditional_sections_follow_their_field() {
        let mut note_type = Form::Basic.note_type();
        note_type.templates[0].question =
            "{{#Back}}has {{Front}}{{/Back}}{{^Back}}none{{/Back}}".to_owned();
        let front =
            |back: &str| sides(&note_type, &["f".to_owned(), back.to_owned()], &[], 0).front;
        assert_eq!((front("x"), front(" <br> ")), ("has f".to_owned(), "none".to_owned()));
    }

    #[test]
    fn malformed_templates_do_not_panic() {
        for text in ["{{", "{{c1::", "{{c::a}}", "{{c0::a}}", "{{#a}}b", "}}", "{{c1::{{c2::}}"] {
            let mut note_type = Form::Cloze.note_type();
            note_type.templates[0].question.push_str(text);
            let _ = sides(&note_type, &[text.to_owned(), String::new()], &[], 0);
        }
    }
}
