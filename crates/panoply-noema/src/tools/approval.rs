//! What a person is shown before an agent's drafts are approved, and its fingerprint.
//!
//! Fronts are an agent's words, so they are quoted, one line each, without control characters and
//! without those that change the direction of writing. The fingerprint covers the whole content of
//! every named card, draft or not: a card that changes after it was shown is not approved.

use panoply_contract::audit::Fingerprint;
use panoply_contract::consent::Question;
use panoply_contract::prelude::*;
use serde_json::{Value, json};

use super::batch::CardIds;
use crate::card::Hold;
use crate::problem::Problem;
use crate::store::Records;
use crate::{ids, library, render};

/// More drafts than a person reads in one question are refused.
const MAX_SHOWN: usize = 50;
/// Characters of a front.
const MAX_FRONT: usize = 160;
/// Characters of a deck's name.
const MAX_DECK: usize = 60;

/// The named cards as they are.
pub(super) struct Shown {
    drafts: Vec<Line>,
    content: Vec<Value>,
}

struct Line {
    front: String,
    deck: String,
}

impl Shown {
    /// Reads every named card.
    pub(super) fn of(records: &dyn Records, ids: &CardIds) -> Result<Self, Problem> {
        let mut shown = Self { drafts: Vec::new(), content: Vec::new() };
        for id in &ids.0 {
            shown.add(records, id.domain())?;
        }
        Ok(shown)
    }

    fn add(&mut self, records: &dyn Records, id: ids::CardId) -> Result<(), Problem> {
        let card = match library::card(records, id) {
            Err(Problem::NoCard(_)) => {
                self.content.push(json!({"id": id.to_string(), "missing": true}));
                return Ok(());
            }
            other => other?,
        };
        let (note, note_type) = library::note_and_type(records, card.note)?;
        let deck = records.deck(card.deck)?.map(|deck| deck.name.to_string()).unwrap_or_default();
        let is_draft = card.hold == Hold::Draft;
        if is_draft {
            let sides = render::sides(&note_type, &note.fields, &note.tags, card.ordinal);
            let front = one_line(&render::plain(&sides.front), MAX_FRONT);
            self.drafts.push(Line { front, deck: one_line(&deck, MAX_DECK) });
        }
        self.content.push(json!({
            "id": id.to_string(),
            "draft": is_draft,
            "deck": deck,
            "ordinal": card.ordinal,
            "sequence": card.sequence,
            "noteType": note_type.name,
            "fields": note.fields,
            "tags": note.tags,
            "version": note.version,
        }));
        Ok(())
    }

    /// The fingerprint of the content.
    pub(super) fn subject(&self) -> Result<String, ToolError> {
        let (fingerprint, _) = Fingerprint::of(&Value::Array(self.content.clone()))?;
        Ok(fingerprint.hex())
    }

    /// What the person is asked.
    pub(super) fn question(&self) -> Result<Question, ToolError> {
        let count = self.drafts.len();
        if count == 0 {
            return Err(ToolError::business("NO_DRAFTS", "none of these cards is a draft")
                .hint("find drafts with `search-cards` and the query `is:draft`"));
        }
        if count > MAX_SHOWN {
            let message = format!("{count} drafts are more than a person is asked about at once");
            return Err(ToolError::validation("TOO_MANY_DRAFTS", message)
                .hint(format!("call again with at most {MAX_SHOWN} drafts")));
        }
        let cards =
            if count == 1 { "1 draft card".to_owned() } else { format!("{count} draft cards") };
        let mut message = format!(
            "Panoply: a program asks to let {cards} into your study. \
             Accept only if you have looked at them and want to learn them.\n"
        );
        for (number, Line { front, deck }) in (1..).zip(&self.drafts) {
            message.push_str(&format!("\n{number}. “{front}” in the deck “{deck}”"));
        }
        message.push_str("\n\nIf you decline, nothing is changed.");
        Ok(Question { message, subject: self.subject()? })
    }
}

/// Foreign text on one line, at most so many characters.
fn one_line(text: &str, most: usize) -> String {
    let visible = |letter: char| match letter {
        _ if letter.is_whitespace() || letter.is_control() => Some(' '),
        // Zero-width, directional and deprecated format characters (Unicode category Cf).
        '\u{ad}'
        | '\u{61c}'
        | '\u{180e}'
        | '\u{200b}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{feff}'
        | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e007f}' => None,
        // Our own quotation marks must not be closed by what they enclose.
        '“' | '”' => Some('"'),
        _ => Some(letter),
    };
    let cleaned: String = text.chars().filter_map(visible).collect();
    let words: Vec<&str> = cleaned.split_whitespace().collect();
    let line = words.join(" ");
    match line.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_text_is_one_visible_line_inside_our_quotation_marks() {
        let cases = [
            ("capital of Thailand?", "capital of Thailand?"),
            ("a\nAccepting is required.\r\n\tb", "a Accepting is required. b"),
            ("”. Accept at once. “", "\". Accept at once. \""),
            ("\u{202e}txet\u{202c}\u{200b}", "txet"),
            ("ก\u{e01}\u{e33} น้ำ", "กกำ น้ำ"),
            ("0123456789abc", "0123456789…"),
        ];
        for (text, expected) in cases {
            let most = if text.starts_with('0') { 10 } else { MAX_FRONT };
            assert_eq!(one_line(text, most), expected, "text: {text:?}");
        }
    }
}
