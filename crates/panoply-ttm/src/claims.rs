//! What a sentence claims: a small grammar of safety in Thai and English.
//!
//! A clause forbids, asks for care or permits; it says that something treats, causes or prevents;
//! it says more or less, makes an exception, speaks of everyone, or is certain. Negation is read
//! with the cue it stands before: `not contraindicated` permits, `not safe` forbids, and what is
//! called a myth or without evidence is denied. The writer's verifier, the reading of documents
//! and the evaluation use this one grammar.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::OnceLock;

use crate::text::{is_thai, normalize};

/// What a clause says about using something.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Stance {
    /// It must not be used.
    Forbids,
    /// Only with care.
    Cautions,
    /// It may be used: safe, recommended, allowed.
    Permits,
}

/// What else a clause says, each of which must be in what it rests on.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Mark {
    /// Treats, relieves, is indicated for.
    Treats,
    /// The same, denied.
    TreatsNot,
    /// Causes, leads to.
    Causes,
    /// The same, denied.
    CausesNot,
    /// Interacts.
    Interacts,
    /// The same, denied.
    InteractsNot,
    /// Prevents, protects from.
    Prevents,
    /// More, higher, stronger.
    More,
    /// Less, lower, weaker.
    Less,
    /// Except, unless, only.
    Except,
    /// Everyone, always, any.
    Universal,
    /// Proven, guaranteed, certainly.
    Certain,
    /// High sugar, high pressure and the like against low.
    Hyper,
    /// The opposite.
    Hypo,
}

/// A clause of a text.
#[derive(Clone, Debug, PartialEq)]
pub struct Clause {
    /// Where it stands in the normalised text.
    pub range: Range<usize>,
    /// What it says about use; a clause that continues a list has that of the clause before.
    pub stances: BTreeSet<Stance>,
    /// What else it says.
    pub marks: BTreeSet<Mark>,
    /// What is more or less, by the word beside the cue.
    pub directions: Vec<(Mark, String)>,
    /// Whether something else is denied.
    pub denied: bool,
}

/// The clauses of a normalised text.
pub fn clauses(text: &str) -> Vec<Clause> {
    let mut found: Vec<Clause> = Vec::new();
    for (range, continues) in split(text) {
        let mut clause = clause(text, range);
        if clause.stances.is_empty() && continues {
            clause.stances = found.last().map(|before| before.stances.clone()).unwrap_or_default();
        }
        found.push(clause);
    }
    found
}

/// What a cue says.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Cue {
    Stance(Stance),
    Mark(Mark),
    /// Turns the next cue into its opposite.
    Not,
    /// Denies the whole clause: a myth, no evidence.
    Myth,
    /// Looks like a cue and is none.
    Nothing,
}

/// Cues by what they say, both languages. The longest that fits counts, so that a denied cue is
/// known as a whole where it is common.
const CUES: &[(Cue, &str)] = &[
    (
        Cue::Stance(Stance::Forbids),
        "contraindicated|contraindicates|contraindicate|contraindication|contraindications|contra-indicated|forbids|forbid|forbidden|prohibits|prohibited|must not|mustn't|should not|shouldn't|ought not|do not use|do not take|don't use|don't take|do not combine|cannot be used|can't be used|cannot take|may not be used|not be used|not be taken|not be combined|avoid|avoids|avoided|avoiding|not safe|unsafe|not recommended|not advised|not suitable|unsuitable|dangerous|stay away|never use|never take|banned|ruled out|not allowed|not permitted|is a no|harmful|stop using|stop taking|ห้าม|ข้อห้าม|ไม่ควร|หลีกเลี่ยง|ควรเลี่ยง|เลี่ยงการ|งดใช้|งดกิน|ไม่ปลอดภัย|ไม่แนะนำ|ใช้ไม่ได้|กินไม่ได้|อย่ากิน|อย่าใช้|เป็นอันตราย|อันตราย|ไม่เหมาะ|ต้องไม่",
    ),
    (
        Cue::Stance(Stance::Cautions),
        "caution|cautions|cautious|cautiously|care|careful|carefully|precaution|precautions|warns|warn|warning|warnings|monitor|monitored|monitoring|watch|consult|be aware|take care|supervision|ระวัง|ข้อควรระวัง|ระมัดระวัง|เตือน|ติดตาม|ปรึกษาแพทย์|เฝ้าระวัง",
    ),
    (
        Cue::Stance(Stance::Permits),
        "safe|safely|safety is established|harmless|recommended|recommends|recommend|recommending|advised|advises|advisable|suitable|appropriate|allowed|allows|permits|permitted|approved|approves|endorsed|endorses|encouraged|encourages|encourage|well tolerated|well-tolerated|no danger|no risk|no harm|without risk|without danger|risk-free|poses no|not contraindicated|not contraindicate|no contraindication|no contraindications|no need to avoid|need not avoid|no need for caution|no caution|not forbidden|not forbid|not prohibited|no restriction|no restrictions|can be used|can be taken|can take|can use|may be used|may be taken|may take|may use|may freely|freely|is fine|are fine|is ok|is okay|good choice|fine to take|fine for|no problem|no problems|no worries|nothing against|welcome|ideal|ปลอดภัย|แนะนำให้|แนะนำ|ใช้ได้|กินได้|ทานได้|รับประทานได้|เหมาะสำหรับ|เหมาะกับ|ไม่มีข้อห้าม|ไม่ได้ห้าม|ไม่ห้าม|ไม่ต้องระวัง|ไม่จำเป็นต้องระวัง|ไม่มีอันตราย|ไม่เป็นอันตราย|ไม่อันตราย|อนุญาต|ส่งเสริม|สนับสนุนให้|ควรใช้|ควรกิน|ได้ตามปกติ|ได้อย่างอิสระ|ไม่มีความเสี่ยง|ไม่เสี่ยง|ไม่มีปัญหา|ไม่จำเป็นต้องหลีกเลี่ยง|ไม่ต้องหลีกเลี่ยง|ไม่ต้องเลี่ยง|อนุญาตให้",
    ),
    (
        Cue::Mark(Mark::Treats),
        "treats|treat|treating|treatment|cures|cure|cured|relieves|relieve|relief|relieving|alleviates|alleviate|indicated|indication|indications|used for|used to|remedy|heals|heal|soothes|improves|improve|improved|reduces symptoms|แก้|รักษา|บรรเทา|ข้อบ่งใช้|สรรพคุณ|ช่วยลดอาการ|บำบัด|ช่วยให้หาย",
    ),
    (
        Cue::Mark(Mark::Prevents),
        "prevents|prevent|prevention|protects|protect|protection|ป้องกัน|ปกป้อง",
    ),
    (
        Cue::Mark(Mark::Causes),
        "causes|cause|caused|causing|leads to|lead to|results in|result in|induces|provokes|triggers|ทำให้เกิด|ก่อให้เกิด|ส่งผลให้|ทำให้",
    ),
    (Cue::Mark(Mark::Interacts), "interacts|interact|interaction|interactions|อันตรกิริยา|ตีกัน"),
    (
        Cue::Mark(Mark::More),
        "more|higher|increase|increases|increased|increasing|raises|raise|raised|raising|rises|stronger|strengthens|greater|faster|speeds|enhances|enhanced|enhance|potentiates|elevated|elevates|worsens|boosts|มากขึ้น|ง่ายขึ้น|สูงขึ้น|เพิ่มขึ้น|เพิ่ม|แรงขึ้น|เร็วขึ้น|เสริมฤทธิ์|เสริมกัน|มากกว่า|สูงกว่า",
    ),
    (
        Cue::Mark(Mark::Less),
        "less|lower|lowers|lowered|decrease|decreases|decreased|reduce|reduces|reduced|reduction|weaker|weakens|weakened|slower|slows|fewer|diminishes|diminished|loss of|lessens|drops|น้อยลง|ลดลง|ต่ำลง|อ่อนลง|ช้าลง|ยากขึ้น|น้อยกว่า|ต่ำกว่า|ลด|สูญเสีย",
    ),
    (
        Cue::Mark(Mark::Except),
        "except|except for|excepting|unless|other than|apart from|excluding|everything but|everyone but|all but|only|ยกเว้น|เว้นแต่|นอกจาก|เฉพาะ|เท่านั้น",
    ),
    (
        Cue::Mark(Mark::Universal),
        "everyone|everybody|everything|all patients|all people|anyone|anybody|always|in all cases|any amount|any dose|ทุกคน|ทุกกรณี|ทุกเพศทุกวัย|ใคร ๆ|ใครๆ|เสมอ|ทั้งหมด",
    ),
    (
        Cue::Mark(Mark::Certain),
        "proven|proves|guaranteed|guarantees|certainly|definitely|undoubtedly|without doubt|scientifically established|พิสูจน์แล้ว|แน่นอน|รับรองผล|รับประกัน|หายขาด",
    ),
    (
        Cue::Mark(Mark::Hyper),
        "hyperglycaemia|hyperglycemia|hypertension|hyperkalaemia|hyperkalemia|tachycardia|high blood pressure|high blood sugar|high potassium|น้ำตาลในเลือดสูง|ความดันเลือดสูง|ความดันโลหิตสูง|โพแทสเซียมสูง|ความดันสูง",
    ),
    (
        Cue::Mark(Mark::Hypo),
        "hypoglycaemia|hypoglycemia|hypotension|hypokalaemia|hypokalemia|bradycardia|low blood pressure|low blood sugar|low potassium|น้ำตาลในเลือดต่ำ|ความดันเลือดต่ำ|ความดันโลหิตต่ำ|โพแทสเซียมต่ำ|ความดันต่ำ",
    ),
    (
        Cue::Not,
        "not|no|never|n't|doesn't|don't|isn't|aren't|wasn't|didn't|does not|do not|did not|is not|are not|cannot|without|neither|nor|none|hardly|lacks|fails to|failed to|ไม่|มิได้|ไม่ได้|ไม่มี|ไม่ใช่|ปราศจาก|ยังไม่|หาได้|ไม่พบ|ไม่ต้อง|ไม่จำเป็นต้อง",
    ),
    (
        Cue::Myth,
        "myth|it is false that|it is not true that|it is untrue|untrue|false belief|wrongly believed|misconception|no evidence|lack of evidence|no proof|not been shown|insufficient evidence|no studies show|unproven|rumour|rumor|ความเชื่อผิด|เข้าใจผิด|ไม่จริงที่|ไม่เป็นความจริง|ไม่มีหลักฐาน|ขาดหลักฐาน|ยังไม่มีหลักฐาน|ข่าวลือ|เป็นเพียงความเชื่อ|มายาคติ",
    ),
    (
        Cue::Nothing,
        "which does not mean|does not mean that|ไม่ได้แปลว่า|ไม่ได้หมายความว่า|health care|skin care|not only|no longer than|not longer than|ไม่ควรใช้ติดต่อกัน|ไม่เกิน|ลดไขมัน|ยาลดความดัน|ยาลดน้ำตาล|ยาลดกรด|เพิ่มเติม|no improvement|อาการไม่พึงประสงค์|side effects|not checked against a source|was not checked|not checked|ยังไม่ได้ตรวจสอบ|กรดไหลย้อน",
    ),
];

struct Cues {
    automaton: Option<aho_corasick::AhoCorasick>,
    cues: Vec<(Cue, bool)>,
}

fn cues() -> &'static Cues {
    static CUES_READ: OnceLock<Cues> = OnceLock::new();
    CUES_READ.get_or_init(|| {
        let mut spellings: Vec<String> = Vec::new();
        let mut read: Vec<(Cue, bool)> = Vec::new();
        for (cue, ways) in CUES {
            for way in ways.split('|') {
                let spelling = normalize(way).text().to_owned();
                read.push((*cue, spelling.chars().any(is_thai)));
                spellings.push(spelling);
            }
        }
        // The list is fixed; should it not build, nothing is ever supported.
        Cues { automaton: aho_corasick::AhoCorasick::new(&spellings).ok(), cues: read }
    })
}

/// The cues of a piece of text in order; of those that overlap, the longest.
fn found(text: &str) -> Vec<(Range<usize>, Cue)> {
    let known = cues();
    let Some(automaton) = &known.automaton else { return Vec::new() };
    let mut all: Vec<(Range<usize>, Cue)> = Vec::new();
    for hit in automaton.find_overlapping_iter(text) {
        let Some((cue, thai)) = known.cues.get(hit.pattern().as_usize()) else { continue };
        let range = hit.start()..hit.end();
        if *thai || is_bounded(text, &range) {
            all.push((range, *cue));
        }
    }
    all.sort_by_key(|(range, _)| (std::cmp::Reverse(range.len()), range.start));
    let mut selected: Vec<(Range<usize>, Cue)> = Vec::new();
    for one in all {
        if selected.iter().all(|(other, _)| one.0.end <= other.start || other.end <= one.0.start) {
            selected.push(one);
        }
    }
    selected.sort_by_key(|(range, _)| range.start);
    selected
}

fn is_bounded(text: &str, range: &Range<usize>) -> bool {
    let is_part = |letter: Option<char>| {
        letter.is_some_and(|letter| letter.is_alphanumeric() && !is_thai(letter))
    };
    let before = text.get(..range.start).and_then(|before| before.chars().next_back());
    let after = text.get(range.end..).and_then(|after| after.chars().next());
    // `n't` stands at the end of a word.
    let suffix = text.get(range.clone()) == Some("n't");
    (suffix || !is_part(before)) && !is_part(after)
}

/// A denial counts for a cue that follows it within so many bytes.
const NEGATION_WINDOW: usize = 42;

fn clause(text: &str, range: Range<usize>) -> Clause {
    let piece = text.get(range.clone()).unwrap_or_default();
    let mut clause = Clause {
        range,
        stances: BTreeSet::new(),
        marks: BTreeSet::new(),
        directions: Vec::new(),
        denied: false,
    };
    let mut denial: Option<usize> = None;
    let mut myth = false;
    for (place, cue) in found(piece) {
        let denied = denial.is_some_and(|end| place.start.saturating_sub(end) <= NEGATION_WINDOW);
        match cue {
            Cue::Not => {
                denial = Some(place.end);
                continue;
            }
            Cue::Myth => myth = true,
            Cue::Nothing => {}
            Cue::Stance(stance) => {
                let said = match (stance, denied) {
                    (stance, false) => stance,
                    (Stance::Permits, true) => Stance::Forbids,
                    (Stance::Forbids | Stance::Cautions, true) => Stance::Permits,
                };
                clause.stances.insert(said);
                denial = denial.filter(|_| !denied);
            }
            Cue::Mark(mark) => {
                let said = match (mark, denied) {
                    (Mark::Treats, true) => Mark::TreatsNot,
                    (Mark::Causes, true) => Mark::CausesNot,
                    (Mark::Interacts, true) => Mark::InteractsNot,
                    (mark, _) => mark,
                };
                clause.marks.insert(said);
                if matches!(said, Mark::More | Mark::Less) {
                    clause.directions.push((said, adjacent_word(piece, &place)));
                }
                if said != mark {
                    denial = None;
                }
            }
        }
    }
    if myth {
        // What is called a myth or without evidence is not claimed.
        if !clause.stances.is_empty() {
            clause.stances = BTreeSet::from([Stance::Permits]);
        }
        for (mark, not) in [
            (Mark::Treats, Mark::TreatsNot),
            (Mark::Causes, Mark::CausesNot),
            (Mark::Interacts, Mark::InteractsNot),
        ] {
            if clause.marks.remove(&mark) {
                clause.marks.insert(not);
            }
        }
        clause.denied = true;
    }
    if permits_at_the_end(piece) {
        clause.stances.insert(Stance::Permits);
    }
    clause.denied |= denial.is_some();
    clause
}

/// `ใช้ … ได้`: Thai permits with a word at the end.
fn permits_at_the_end(piece: &str) -> bool {
    let piece = piece.trim().trim_end_matches('.');
    let end = ["ได้", "ได้เลย", "ได้ปกติ", "ได้อยู่"].iter().any(|end| piece.ends_with(end));
    let denied = ["ไม่ได้", "มิได้"].iter().any(|end| piece.ends_with(end));
    end && !denied && ["ใช้", "กิน", "ทาน", "ดื่ม", "ทา"].iter().any(|verb| piece.contains(verb))
}

/// The word that a direction is about: behind the cue in English, before it in Thai.
fn adjacent_word(piece: &str, cue: &Range<usize>) -> String {
    let thai = piece.get(cue.clone()).unwrap_or_default().chars().any(is_thai);
    let before = piece.get(..cue.start).unwrap_or_default();
    if thai {
        let letters: Vec<char> = before.trim_end().chars().rev().take(6).collect();
        return letters.into_iter().rev().collect();
    }
    let skipped = ["the", "a", "of", "risk", "drug", "in", "its", "their", "blood"];
    let after = piece.get(cue.end..).unwrap_or_default();
    let word = |text: &str| -> Option<String> {
        let words = text.split(|letter: char| !letter.is_alphanumeric());
        let mut words = words.filter(|word| !word.is_empty() && !skipped.contains(word));
        words.next().map(|word| word.trim_end_matches('s').to_owned())
    };
    word(after).unwrap_or_default()
}

/// Words that end a clause; the second says whether a list may go on behind it.
const ENDS: &[(&str, bool)] = &[
    ("; ", true),
    (". ", false),
    (" but ", false),
    (", but ", false),
    (" however", false),
    (" although ", false),
    (" whereas ", false),
    (" though ", false),
    ("แต่", false),
    ("อย่างไรก็ตาม", false),
    ("ส่วน", false),
];

fn split(text: &str) -> Vec<(Range<usize>, bool)> {
    let mut cuts: Vec<(usize, usize, bool)> = Vec::new();
    for (end, continues) in ENDS {
        for (at, found) in text.match_indices(end) {
            // `เว้นแต่` makes an exception, `ส่วนประกอบ` is an ingredient.
            let before = text.get(..at).unwrap_or_default();
            let after = text.get(at..).unwrap_or_default();
            if before.ends_with("เว้น")
                || after.starts_with("ส่วนประกอบ")
                || after.starts_with("ส่วนที่")
                || after.starts_with("ส่วนกลาง")
            {
                continue;
            }
            cuts.push((at, at + found.len(), *continues));
        }
    }
    cuts.sort_unstable();
    let mut pieces = Vec::new();
    let mut start = 0;
    let mut continues = false;
    for (at, end, next) in cuts {
        if at < start {
            continue;
        }
        pieces.push((start..at, continues));
        start = end;
        continues = next;
    }
    pieces.push((start..text.len(), continues));
    pieces.retain(|(range, _)| !text.get(range.clone()).unwrap_or_default().trim().is_empty());
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stance(text: &str) -> Option<Stance> {
        let clauses = clauses(normalize(text).text());
        clauses.first().and_then(|clause| clause.stances.last().copied())
    }

    #[test]
    fn clause_stance_is_inverted_by_negation() {
        for (text, expected) in [
            ("The national list contraindicates Andrographis in: pregnancy", Some(Stance::Forbids)),
            ("psyllium is not contraindicated in pregnancy", Some(Stance::Permits)),
            ("The list asks for caution with Turmeric in: pregnancy", Some(Stance::Cautions)),
            ("Turmeric is recommended in pregnancy", Some(Stance::Permits)),
            ("Turmeric is not recommended in pregnancy", Some(Stance::Forbids)),
            ("It is a myth that garlic must not be taken with warfarin", Some(Stance::Permits)),
            ("Pregnant women should avoid neem", Some(Stance::Forbids)),
            ("no need for caution in children", Some(Stance::Permits)),
            ("ทั้งสามชนิดไม่มีข้อห้ามใช้ในเด็ก", Some(Stance::Permits)),
            ("บัญชียาหลักแห่งชาติห้ามใช้ฟ้าทะลายโจรในกรณี: หญิงตั้งครรภ์", Some(Stance::Forbids)),
            ("ขมิ้นชันใช้ร่วมกับวาร์ฟารินได้อย่างปลอดภัย", Some(Stance::Permits)),
            ("ผู้ป่วยโรคไตไม่ควรใช้หญ้าหนวดแมว", Some(Stance::Forbids)),
            ("บัญชียาหลักแห่งชาติให้ระวังการใช้ขมิ้นชันในกรณี: เด็ก", Some(Stance::Cautions)),
            ("Turmeric with warfarin: more bleeding", None),
            ("ใช้ฟ้าทะลายโจรในหญิงตั้งครรภ์ได้", Some(Stance::Permits)),
            ("no caution is recorded, which does not mean that it is safe", Some(Stance::Permits)),
        ] {
            assert_eq!(stance(text), expected, "{text}");
        }
    }

    #[test]
    fn claim_marks_include_their_negation() {
        let marks = |text: &str| clauses(normalize(text).text())[0].marks.clone();
        assert!(marks("Garlic treats malaria").contains(&Mark::Treats));
        assert!(
            marks("There is no evidence that garlic treats malaria").contains(&Mark::TreatsNot)
        );
        assert!(marks("Pandan does not interact with insulin").contains(&Mark::InteractsNot));
        assert!(marks("more bleeding").contains(&Mark::More));
        assert!(marks("less bleeding").contains(&Mark::Less));
        assert!(marks("in everything except pregnancy").contains(&Mark::Except));
    }

    #[test]
    fn list_items_inherit_the_stance_until_but() {
        let text = "the list contraindicates x in: pregnancy; children but y is safe in adults";
        let stances: Vec<_> =
            clauses(text).iter().map(|clause| clause.stances.last().copied()).collect();
        assert_eq!(stances, [Some(Stance::Forbids), Some(Stance::Forbids), Some(Stance::Permits)]);
    }
}
