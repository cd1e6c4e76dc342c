//! Words that a sentence about safety may use.
//!
//! Cue phrases cannot list every reversal: "the caution is outdated", "pregnancy is no obstacle". A
//! sentence that takes a stance, or cites a passage that does, may therefore use only words of its
//! passages, recognised cues, names, patient groups and medicines, and the frame words below. Frame
//! words carry no claim: conditionals, modals of possibility and past tenses are not among them.

use std::ops::Range;

use crate::search::{Engine, TextWords};
use crate::text::spans::overlap;
use crate::text::{TokenKind, is_thai};

/// Frame words by language.
const FRAME: [&str; 2] = [
    "a|an|the|is|are|be|it|its|this|that|these|those|of|in|on|with|for|to|by|when|and|or|as|at|should|must|needs|need|needed|require|requires|required|use|used|using|user|users|take|taken|taking|combine|combined|combining|combination|together|people|person|persons|patient|patients|who|with|have|has|having|also|both|during|according|list|national|thai|thailand|says|states|report|reports|asks|given|who|women|woman|case|cases|because|there|strength|mechanism",
    "การ|ความ|ใน|กรณี|ที่|ที่มี|เป็น|มี|ให้|ควร|ต้อง|ใช้|การใช้|กิน|ทาน|รับประทาน|ร่วม|ร่วมกับ|ร่วมกัน|กับ|และ|หรือ|ของ|เมื่อ|โดย|ด้วย|ผู้|คน|ผู้ป่วย|ผู้ที่|หญิง|กลุ่ม|สำหรับ|จะ|นี้|ซึ่ง|คือ|ตาม|ว่า|ระบุ|ระบุว่า|ยา|สมุนไพร|บัญชี|บัญชียา|บัญชียาหลัก|หลัก|แห่งชาติ|แห่ง|ชาติ|ทั้ง|เพราะ|เนื่องจาก|อย่าง|ความแรง|กลไก|ข้อ|อาการ|ภาวะ|โรค|ผู้ใช้|ตัวยา",
];

/// Phrases of the extractive answer.
const FRAME_PHRASES: [&str; 8] = [
    "by general knowledge that was not checked",
    "among others",
    "medicines of the national list with",
    "is a constituent of",
    "ตามความรู้ทั่วไปที่ยังไม่ได้ตรวจสอบ",
    "เป็นต้น",
    "มีในข้อมูลของ",
    "เป็นสารสำคัญของ",
];

/// Minimum length of a Thai word that may be found inside a passage: segmentation depends on the
/// neighbouring words.
const LONG_WORD: usize = 4;

/// Returns whether every word of a normalised sentence occurs in `cited`, is a frame word, or lies
/// in one of the `understood` ranges.
pub(super) fn is_known(
    engine: &Engine,
    sentence: &str,
    cited: &TextWords,
    understood: &[Range<usize>],
) -> bool {
    let (text, tokens) = engine.cut(sentence);
    let mut understood = understood.to_vec();
    for phrase in FRAME_PHRASES {
        understood.extend(text.match_indices(phrase).map(|(at, found)| at..at + found.len()));
    }
    tokens.iter().all(|token| {
        let word = token.text(&text);
        let is_word = match token.kind {
            TokenKind::Thai | TokenKind::Unknown | TokenKind::Foreign => true,
            // Numbers are compared with their units.
            TokenKind::Number | TokenKind::Code | TokenKind::Sign => false,
        };
        !is_word
            || understood.iter().any(|range| overlap(range, &token.range))
            || FRAME.iter().any(|frame| frame.split('|').any(|known| known == word))
            || engine.contains_word(cited, &text, token)
            || is_part(word, cited)
    })
}

fn is_part(word: &str, cited: &TextWords) -> bool {
    word.chars().all(is_thai)
        && word.chars().count() >= LONG_WORD
        && cited.normalized().contains(word)
}
