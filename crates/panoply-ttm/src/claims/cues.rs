//! Cue phrases of the claim parser and their matcher.

use std::ops::Range;
use std::sync::OnceLock;

use super::{Mark, Stance};
use crate::text::spans::{is_bounded_left, is_bounded_right, overlap};
use crate::text::{is_thai, normalize};

/// Meaning of a cue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Cue {
    Stance(Stance),
    Mark(Mark),
    /// Negates the next cue.
    Not,
    /// Denies the whole clause: a myth, no evidence.
    Myth,
    /// A false positive to be skipped.
    Nothing,
}

/// Cues in both languages. The longest match wins, so common negated cues are listed as a whole.
const CUES: &[(Cue, &str)] = &[
    (
        Cue::Stance(Stance::Forbids),
        "contraindicated|contraindicates|contraindicate|contraindication|contraindications|contra-indicated|forbids|forbid|forbidden|prohibits|prohibited|must not|mustn't|should not|shouldn't|ought not|do not use|do not take|don't use|don't take|do not combine|cannot be used|can't be used|cannot take|may not be used|not be used|not be taken|not be combined|avoid|avoids|avoided|avoiding|not safe|unsafe|not recommended|not advised|advised against|advised to avoid|advises against|recommends against|recommended to avoid|not suitable|unsuitable|dangerous|stay away|never use|never take|banned|ruled out|not allowed|not permitted|is a no|harmful|stop using|stop taking|ห้าม|ข้อห้าม|ไม่ควร|หลีกเลี่ยง|ควรเลี่ยง|เลี่ยงการ|งดใช้|งดกิน|ไม่ปลอดภัย|ไม่แนะนำ|ไม่แนะนำให้|ใช้ไม่ได้|กินไม่ได้|อย่ากิน|อย่าใช้|เป็นอันตราย|อันตราย|ไม่เหมาะ|ต้องไม่",
    ),
    (
        Cue::Stance(Stance::Cautions),
        "caution is advised|caution is recommended|care is advised|care is recommended|ควรใช้ด้วยความระมัดระวัง|ควรใช้ด้วยความระวัง|ใช้ด้วยความระมัดระวัง|ควรใช้อย่างระมัดระวัง|caution|cautions|cautious|cautiously|care|careful|carefully|precaution|precautions|warns|warn|warning|warnings|monitor|monitored|monitoring|watch|consult|be aware|take care|supervision|ระวัง|ข้อควรระวัง|ระมัดระวัง|เตือน|ติดตาม|ปรึกษาแพทย์|เฝ้าระวัง",
    ),
    (
        Cue::Stance(Stance::Permits),
        "safe|safely|safety is established|harmless|recommended|recommends|recommend|recommending|advised|advises|advisable|suitable|appropriate|allowed|allows|permits|permitted|approved|approves|endorsed|endorses|encouraged|encourages|encourage|well tolerated|well-tolerated|no danger|no risk|no harm|without risk|without danger|risk-free|poses no|not contraindicated|not contraindicate|no contraindication|no contraindications|no need to avoid|need not avoid|need not be avoided|not be avoided|neither contraindicated|neither forbidden|no need for caution|no caution|not forbidden|not forbid|not prohibited|no restriction|no restrictions|can be used|can be taken|can take|can use|may be used|may be taken|may take|may use|may freely|freely|is fine|are fine|is ok|is okay|good choice|fine to take|fine for|no problem|no problems|no worries|nothing against|welcome|ideal|ปลอดภัย|แนะนำให้|แนะนำ|ใช้ได้|กินได้|ทานได้|รับประทานได้|เหมาะสำหรับ|เหมาะกับ|ไม่มีข้อห้าม|ไม่ได้ห้าม|ไม่ห้าม|ไม่ต้องระวัง|ไม่จำเป็นต้องระวัง|ไม่มีอันตราย|ไม่เป็นอันตราย|ไม่อันตราย|อนุญาต|ส่งเสริม|สนับสนุนให้|ควรใช้|ควรกิน|ได้ตามปกติ|ได้อย่างอิสระ|ไม่มีความเสี่ยง|ไม่เสี่ยง|ไม่มีปัญหา|ไม่จำเป็นต้องหลีกเลี่ยง|ไม่ต้องหลีกเลี่ยง|ไม่ต้องเลี่ยง|อนุญาตให้",
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
        "myth|it is false that|it is not true that|it is untrue|untrue|false belief|wrongly believed|misconception|no evidence|lack of evidence|no proof|not been shown|insufficient evidence|no studies show|unproven|rumour|rumor|rumours|rumors|unfounded|this is false|is false|is wrong|has been withdrawn|been withdrawn|been repealed|not been confirmed|not confirmed|unconfirmed|no reason to|nobody has shown|no one has shown|no better than|not better than|did not show|does not show|not known to|is not known|unknown whether|whether|not been studied|were contraindicated|were forbidden|ความเชื่อผิด|เข้าใจผิด|ไม่จริงที่|ไม่เป็นความจริง|ไม่มีหลักฐาน|ขาดหลักฐาน|ยังไม่มีหลักฐาน|ข่าวลือ|เป็นเพียงความเชื่อ|มายาคติ|ไม่ควรเชื่อ|อย่าเชื่อ|ถูกยกเลิก|ยกเลิกแล้ว|ไม่ต่างกัน|ไม่แตกต่าง|ยังไม่ทราบ|ไม่ทราบว่า|ยังไม่มีการศึกษา|ไม่มีการศึกษา|ไม่มีเหตุผล|จริงหรือ|หากมีข้อห้าม|ถ้ามีข้อห้าม",
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
    static PARSED: OnceLock<Cues> = OnceLock::new();
    PARSED.get_or_init(|| {
        let mut spellings: Vec<String> = Vec::new();
        let mut read: Vec<(Cue, bool)> = Vec::new();
        for (cue, ways) in CUES {
            for way in ways.split('|') {
                let spelling = normalize(way).text().to_owned();
                read.push((*cue, spelling.chars().any(is_thai)));
                spellings.push(spelling);
            }
        }
        // The list is constant. If the automaton failed to build, no sentence would be supported.
        Cues { automaton: aho_corasick::AhoCorasick::new(&spellings).ok(), cues: read }
    })
}

/// Returns the cues of a text in order; overlapping cues are resolved to the longest.
pub(super) fn find(text: &str) -> Vec<(Range<usize>, Cue)> {
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
        if !selected.iter().any(|(other, _)| overlap(&one.0, other)) {
            selected.push(one);
        }
    }
    selected.sort_by_key(|(range, _)| range.start);
    selected
}

fn is_bounded(text: &str, range: &Range<usize>) -> bool {
    // `n't` is a suffix, so it has no left boundary.
    let suffix = text.get(range.clone()) == Some("n't");
    (suffix || is_bounded_left(text, range)) && is_bounded_right(text, range)
}
