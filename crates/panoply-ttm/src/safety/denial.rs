//! Denied statements about the patient: `not pregnant`, `ไม่ได้ท้อง`, `no kidney disease`.
//!
//! A denied group makes no record relevant. The records stay in the reply, only not as those asked
//! about. A missed denial costs a warning too many, a wrong one costs a warning, so every doubt is
//! resolved against the denial: the words must directly precede the phrase and start a clause, and
//! `not yet`, `not sure`, `ได้หรือไม่ ท้องอยู่` (may I or not? I am pregnant) deny nothing.
//! `ไม่ได้ฟอกไต` (without dialysis) still describes a kidney patient, and a medicine that was
//! skipped is still taken, so most groups need `ไม่เป็น`, `don't have` and the like, and medicines
//! `not on any`.

use std::ops::Range;

/// What a phrase stands for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Stated {
    /// Pregnancy and breastfeeding: a state that `not` alone denies.
    State,
    /// Another group.
    Group,
    /// A medicine or drug class.
    Medicine,
}

/// Returns whether the words before the phrase deny it.
pub(super) fn is_denied(text: &str, range: &Range<usize>, stated: Stated) -> bool {
    let before = text.get(..range.start).unwrap_or_default();
    let after = text.get(range.end..).unwrap_or_default();
    denied_in_thai(before, stated) || denied_in_english(before, after, stated)
}

/// Denials of a state, directly before the phrase.
const THAI_STATE: [&str; 3] = ["ไม่ได้", "ไม่", "ไม่ได้กำลัง"];
/// Denials of any group.
const THAI_GROUP: [&str; 7] =
    ["ไม่ได้เป็น", "ไม่เป็น", "ไม่เคยเป็น", "ไม่มีประวัติ", "ไม่มีประวัติเป็น", "ไม่มีปัญหา", "ไม่ได้มี"];
/// Words that may directly precede a Thai denial; otherwise it must start the text or follow a
/// space. After a verb `ไม่ได้` means `cannot`, after `หรือ` it ends a question.
const THAI_SUBJECTS: [&str; 22] = [
    "ผม",
    "ฉัน",
    "ดิฉัน",
    "หนู",
    "เรา",
    "เขา",
    "เธอ",
    "แม่",
    "พ่อ",
    "เมีย",
    "ภรรยา",
    "แฟน",
    "ยาย",
    "ย่า",
    "ตา",
    "ปู่",
    "ป้า",
    "น้า",
    "แต่",
    "และ",
    "ก็",
    "ถ้า",
];

fn denied_in_thai(before: &str, stated: Stated) -> bool {
    let starts_a_clause = |rest: &str| {
        rest.is_empty()
            || rest.ends_with(|letter: char| letter.is_whitespace() || ",.;:(".contains(letter))
                && !ends_with_any(rest.trim_end(), &["หรือ", "ยัง", "ไม่รู้", "ไม่แน่ใจ"])
            || ends_with_any(rest, &THAI_SUBJECTS)
    };
    let denies = |words: &&str| before.strip_suffix(*words).is_some_and(starts_a_clause);
    match stated {
        Stated::State => THAI_STATE.iter().chain(&THAI_GROUP).any(denies),
        Stated::Group => THAI_GROUP.iter().any(denies),
        Stated::Medicine => false,
    }
}

/// Words between the denial and the phrase.
const ENGLISH_FILLERS: [&str; 9] =
    ["any", "a", "an", "currently", "now", "actually", "known", "history", "of"];
/// Denials of a state, after their subject.
const ENGLISH_STATE: [&str; 3] = ["not", "isn't", "neither"];
/// Denials of possession.
const ENGLISH_GROUP: [&[&str]; 9] = [
    &["don't", "have"],
    &["do", "not", "have"],
    &["doesn't", "have"],
    &["does", "not", "have"],
    &["have", "no"],
    &["has", "no"],
    &["have", "never", "had"],
    &["has", "never", "had"],
    &["never", "had"],
];
/// Denials of a medicine; `any` must follow, because `I don't take warfarin on Sundays` denies
/// nothing.
const ENGLISH_MEDICINE: [&[&str]; 6] = [
    &["not", "on", "any"],
    &["don't", "take", "any"],
    &["do", "not", "take", "any"],
    &["doesn't", "take", "any"],
    &["does", "not", "take", "any"],
    &["not", "taking", "any"],
];
/// Subjects of a denied state: `it is not pregnancy safe` has none.
const ENGLISH_SUBJECTS: [&str; 16] = [
    "i", "i'm", "im", "am", "she", "she's", "he", "he's", "we", "we're", "they", "they're", "you",
    "you're", "wife", "mother",
];

fn denied_in_english(before: &str, after: &str, stated: Stated) -> bool {
    let clause = before.rsplit(['.', ';', '?', '!']).next().unwrap_or_default();
    // A comma starts a new statement, but keeps its subject.
    let words: Vec<&str> = clause
        .split(|letter: char| !(letter.is_alphanumeric() || letter == '\'' || letter == '’'))
        .filter(|word| !word.is_empty())
        .collect();
    if after.trim_start().starts_with("yet") {
        return false;
    }
    let plain: Vec<String> = words.iter().map(|word| word.replace('’', "'")).collect();
    let plain: Vec<&str> = plain.iter().map(String::as_str).collect();
    if stated == Stated::Medicine {
        return ENGLISH_MEDICINE.iter().any(|denial| plain.ends_with(denial));
    }
    let mut rest = plain.as_slice();
    while let [front @ .., last] = rest {
        if !ENGLISH_FILLERS.contains(last) {
            break;
        }
        rest = front;
    }
    if ENGLISH_GROUP.iter().any(|denial| rest.ends_with(denial)) {
        return true;
    }
    let [front @ .., last] = rest else { return false };
    let has_subject = front.iter().rev().take(2).any(|word| ENGLISH_SUBJECTS.contains(word))
        || matches!(front.last(), Some(&("and" | "but")));
    stated == Stated::State && (*last == "nor" || ENGLISH_STATE.contains(last) && has_subject)
}

fn ends_with_any(text: &str, ends: &[&str]) -> bool {
    ends.iter().any(|end| text.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn denied(text: &str, phrase: &str, stated: Stated) -> bool {
        let at = text.rfind(phrase).unwrap();
        is_denied(text, &(at..at + phrase.len()), stated)
    }

    #[test]
    fn denial_must_directly_precede_and_start_a_clause() {
        for (text, phrase, expected) in [
            ("ไม่ได้ท้อง กินขิงได้ไหม", "ท้อง", true),
            ("หนูไม่ได้ท้อง", "ท้อง", true),
            ("ไม่ได้ให้นมลูก", "ให้นมลูก", true),
            ("i'm not pregnant", "pregnant", true),
            ("i am not currently breastfeeding", "breastfeeding", true),
            ("she is not pregnant", "pregnant", true),
            ("i'm not pregnant and not breastfeeding", "breastfeeding", true),
            ("i am neither pregnant nor breastfeeding", "breastfeeding", true),
            ("but it's not pregnancy safe", "pregnancy", false),
            // Questions and doubt deny nothing.
            ("กินได้หรือไม่ ท้องอยู่", "ท้องอยู่", false),
            ("กินได้หรือไม่ท้องอยู่", "ท้องอยู่", false),
            ("กินไม่ได้ท้องอยู่", "ท้องอยู่", false),
            ("ไม่รู้ว่าท้อง", "ท้อง", false),
            ("ยังไม่ได้ท้อง", "ท้อง", false),
            ("ยัง ไม่ได้ท้อง", "ท้อง", false),
            ("not sure if i am pregnant", "pregnant", false),
            ("i'm not pregnant yet", "pregnant", false),
            ("is it not pregnancy safe", "pregnancy", false),
            ("not only when pregnant", "pregnant", false),
            ("i should not if pregnant", "pregnant", false),
        ] {
            assert_eq!(denied(text, phrase, Stated::State), expected, "{text}");
        }
    }

    #[test]
    fn conditions_and_medicines_need_an_explicit_denial() {
        for (text, phrase, stated, expected) in [
            ("ไม่ได้เป็นโรคไต", "โรคไต", Stated::Group, true),
            ("ไม่เป็นเบาหวาน", "เบาหวาน", Stated::Group, true),
            ("i don't have any kidney disease", "kidney disease", Stated::Group, true),
            ("i have no history of seizures", "seizures", Stated::Group, true),
            ("i don't take any blood thinners", "blood thinners", Stated::Medicine, true),
            ("i'm not on any blood thinners", "blood thinners", Stated::Medicine, true),
            ("ไม่ได้ฟอกไตมาสองวัน", "ฟอกไต", Stated::Group, false),
            ("not on dialysis", "dialysis", Stated::Group, false),
            ("ไม่ได้กินวาร์ฟารินมาสองวัน", "วาร์ฟาริน", Stated::Medicine, false),
            ("i don't take warfarin on sundays", "warfarin", Stated::Medicine, false),
            ("i do not take my warfarin", "warfarin", Stated::Medicine, false),
        ] {
            assert_eq!(denied(text, phrase, stated), expected, "{text}");
        }
    }
}
