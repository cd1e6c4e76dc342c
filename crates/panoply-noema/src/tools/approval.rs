//! The drafts shown to a person before approval, and the fingerprint of their content.
//!
//! Fronts are untrusted text of an agent, so they are quoted on one line each, without control and
//! bidirectional formatting characters. The fingerprint covers the whole content of every named
//! card, draft or not: a card that changes after it was shown is not approved.

use panoply_contract::audit::Fingerprint;
use panoply_contract::consent::Question;
use panoply_contract::prelude::*;
use serde_json::{Value, json};

use super::batch::CardIds;
use crate::card::Hold;
use crate::error::{NoemaError, Result};
use crate::store::StoreReader;
use crate::{collection, html, ids, render};

/// Most drafts in one question.
const MAX_DRAFTS: usize = 50;
/// Longest front in characters.
const MAX_FRONT_CHARS: usize = 160;
/// Longest deck name in characters.
const MAX_DECK_CHARS: usize = 60;

/// The current content of the named cards.
pub(super) struct ApprovalSubject {
    drafts: Vec<Line>,
    content: Vec<Value>,
}

struct Line {
    front: String,
    deck: String,
}

impl ApprovalSubject {
    /// Reads every named card.
    pub(super) fn of(reader: &dyn StoreReader, ids: &CardIds) -> Result<Self> {
        let mut subject = Self { drafts: Vec::new(), content: Vec::new() };
        for id in &ids.0 {
            subject.add(reader, id.domain())?;
        }
        Ok(subject)
    }

    fn add(&mut self, reader: &dyn StoreReader, id: ids::CardId) -> Result<()> {
        let card = match collection::card(reader, id) {
            Err(NoemaError::CardNotFound(_)) => {
                self.content.push(json!({"id": id.to_string(), "missing": true}));
                return Ok(());
            }
            other => other?,
        };
        let (note, note_type) = collection::note_and_type(reader, card.note)?;
        let deck = reader.deck(card.deck)?.map(|deck| deck.name.to_string()).unwrap_or_default();
        let is_draft = card.hold == Hold::Draft;
        if is_draft {
            let sides = render::sides_of(&note_type, &note, &card);
            let front = one_line(&html::shown(&sides.front), MAX_FRONT_CHARS);
            self.drafts.push(Line { front, deck: one_line(&deck, MAX_DECK_CHARS) });
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
    pub(super) fn fingerprint(&self) -> Result<String, ToolError> {
        let (fingerprint, _) = Fingerprint::of(&Value::Array(self.content.clone()))?;
        Ok(fingerprint.hex().to_string())
    }

    /// The question to the person.
    pub(super) fn question(&self) -> Result<Question, ToolError> {
        let count = self.drafts.len();
        if count == 0 {
            return Err(ToolError::business("NO_DRAFTS", "none of these cards is a draft")
                .hint("find drafts with `search-cards` and the query `is:draft`"));
        }
        if count > MAX_DRAFTS {
            let message = format!("{count} drafts are more than a person is asked about at once");
            return Err(ToolError::validation("TOO_MANY_DRAFTS", message)
                .hint(format!("call again with at most {MAX_DRAFTS} drafts")));
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
        Ok(Question { message, subject: self.fingerprint()? })
    }
}

/// Untrusted text on one line of at most `max_chars` characters.
fn one_line(text: &str, max_chars: usize) -> String {
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
        // The text must not close the quotation marks around it.
        '“' | '”' => Some('"'),
        _ => Some(letter),
    };
    let cleaned: String = text.chars().filter_map(visible).collect();
    let words: Vec<&str> = cleaned.split_whitespace().collect();
    let line = words.join(" ");
    match line.char_indices().nth(max_chars) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn untrusted_text_is_one_visible_line_within_quotes() {
        let cases = [
            ("capital of Thailand?", "capital of Thailand?"),
            ("a\nAccepting is required.\r\n\tb", "a Accepting is required. b"),
            ("”. Accept at once. “", "\". Accept at once. \""),
            ("\u{202e}txet\u{202c}\u{200b}", "txet"),
            ("ก\u{e01}\u{e33} น้ำ", "กกำ น้ำ"),
            ("0123456789abc", "0123456789…"),
        ];
        for (text, expected) in cases {
            let max_chars = if text.starts_with('0') { 10 } else { MAX_FRONT_CHARS };
            assert_eq!(one_line(text, max_chars), expected, "text: {text:?}");
        }
    }
}
