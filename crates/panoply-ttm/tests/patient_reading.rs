//! Reading of the patient in `rag_answer`: medicines that look like herbs, classes that share a
//! member, breastfed children, denied states, spellings of brands. Each row failed a safety sweep or
//! an unseen question before; expected words are from `data/ttm`.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "helpers of tests may fail the test"
)]

use std::sync::Arc;

use panoply_ttm::answer::{AnswerOutcome, AnswerRequest, Draft, answer};
use panoply_ttm::knowledge::Knowledge;
use panoply_ttm::search::Engine;

struct Asked {
    knowledge: Arc<Knowledge>,
    engine: Engine,
}

impl Asked {
    fn new() -> Self {
        Self { knowledge: Knowledge::bundled().unwrap(), engine: Engine::bundled().unwrap() }
    }

    fn answer(&self, question: &str) -> AnswerOutcome {
        answer(&self.knowledge, &self.engine, &AnswerRequest::new(question)).unwrap()
    }

    fn gaps(&self, outcome: &AnswerOutcome) -> String {
        let gaps = outcome.gaps.iter();
        let sentence = |gap: &panoply_ttm::answer::Gap| {
            gap.to_sentence(&self.knowledge.catalog, outcome.language)
        };
        gaps.map(sentence).collect::<Vec<_>>().join("; ")
    }

    /// Asserts that the first record concerns the question and contains the words, and that no
    /// record is called missing.
    fn check(&self, rows: &[(&str, &str)]) {
        for (question, words) in rows {
            let outcome = self.answer(question);
            let first = &outcome.dangers[0];
            assert!(first.asked, "{question}: {first:?}");
            assert!(first.citation.span.contains(words), "{question}: {}", first.citation.span);
            let gaps = self.gaps(&outcome);
            let absent = ["there is no record", "nothing is recorded", "ไม่มีบันทึก"];
            assert!(!absent.iter().any(|words| gaps.contains(words)), "{question}: {gaps}");
        }
    }
}

#[test]
fn exact_medicine_name_is_not_a_misspelt_herb() {
    // `Xanax` is one letter from `Panax` (ginseng); cannabis has a caution with CNS depressants.
    let asked = Asked::new();
    asked.check(&[
        ("Is cannabis safe with Xanax?", "CNS depressants"),
        ("Xanax and Suk Saiyat together?", "CNS depressants"),
    ]);
    let rows = include_str!("../../../data/ttm/medicine_names.tsv").lines().skip(1);
    let brands = rows.filter_map(|row| {
        let fields: Vec<&str> = row.split('\t').collect();
        (fields[1] == "brand" && fields[2].is_ascii() && fields[2].len() > 3).then_some(fields[2])
    });
    // Every fifth brand: each question takes a search.
    let mut count = 0;
    for brand in brands.step_by(5) {
        let question = format!("Is cannabis safe with {brand}?");
        let request = AnswerRequest::new(&question);
        let draft = Draft::of(&asked.knowledge, &asked.engine, &request).unwrap();
        assert_eq!(draft.question.all_entities(), ["H:cannabis"], "{question}");
        count += 1;
    }
    assert!(count >= 30, "{count} brands");
}

#[test]
fn permission_cue_is_not_a_misspelt_illness() {
    // `เป็นไรมั้ย` was read as `เป็นไข้`, and the reply said that nothing is recorded for fever.
    let asked = Asked::new();
    let outcome = asked.answer("กินฟ้าทะลายโจรแก้เจ็บคอ เป็นไรมั้ย");
    assert_eq!(asked.gaps(&outcome), "");
}

#[test]
fn record_of_a_class_concerns_another_class_with_a_common_member() {
    // Carbamazepine and phenytoin are antiepileptics and substrates of CYP3A4 and CYP2C9.
    Asked::new().check(&[
        ("taking anti-seizure drugs, may I add Triphala?", "CYP3A4 substrates"),
        ("กินยากันชักกับยาขมิ้นชันได้หรือเปล่า", "CYP3A4"),
    ]);
}

#[test]
fn breastfed_or_former_child_is_not_the_patient() {
    // Cannabis extract 1:1: precaution in breastfeeding, contraindicated under 16; andrographis is
    // contraindicated after streptococcal nephritis.
    Asked::new().check(&[
        (
            "still breast-feeding my 4-month-old, can I have Cannabis extract THC:CBD 1:1",
            "breastfeeding",
        ),
        ("คุณแม่ที่ให้นมลูกใช้ยาน้ำมันสารสกัดกัญชา THC:CBD 1:1แล้วลูกจะเป็นอะไรไหม", "หญิงให้นมบุตร"),
        (
            "had glomerulonephritis as a child, can I take Whole-plant cannabis oil",
            "renal impairment",
        ),
    ]);
}

#[test]
fn what_is_given_to_a_breastfed_child_is_judged_for_the_child() {
    // Manthathat is contraindicated under 1 year and has no record for breastfeeding.
    Asked::new().check(&[
        ("I am breastfeeding. Can I give Manthathat to my 6-month-old?", "infants under 1 year"),
        ("Can my 6-month-old have Manthathat? I breastfeed.", "infants under 1 year"),
        ("I still breastfeed, is Manthathat safe for my 6 month old?", "infants under 1 year"),
        ("ลูก 6 เดือนกินยามันทธาตุได้ไหม แม่ยังให้นมอยู่", "ต่ำกว่า 1 ปี"),
    ]);
}

#[test]
fn age_limit_is_read_in_both_languages() {
    // Cannabis: precaution under 25, contraindicated under 16.
    Asked::new().check(&[
        ("ผู้ที่มีอายุต่ำกว่า 25 ปีใช้กัญชาได้ไหม", "ผู้ที่มีอายุต่ำกว่า 25 ปี"),
        ("Can people under 25 use cannabis?", "under 25 years of age"),
    ]);
}

#[test]
fn denied_state_is_not_asked_about_and_the_record_stays() {
    let asked = Asked::new();
    for (question, words) in [
        ("ไม่ได้ท้อง ไม่ได้ให้นมลูก กินฟ้าทะลายโจรแก้หวัดได้ไหม", "หญิงตั้งครรภ์"),
        ("I'm not pregnant and not breastfeeding, is roselle tea ok?", "pregnancy"),
    ] {
        let outcome = asked.answer(question);
        let of_pregnancy: Vec<bool> = (outcome.dangers.iter())
            .filter(|danger| danger.citation.span.contains(words))
            .map(|danger| danger.asked)
            .collect();
        assert!(!of_pregnancy.is_empty(), "{question}: the record is not lost");
        assert!(!of_pregnancy.contains(&true), "{question}");
    }
    asked.check(&[
        ("I don't take any blood thinners but I have gallstones. turmeric?", "gallstones"),
        ("ไม่ได้เป็นโรคไต แต่กินวาร์ฟารินอยู่ กินขิงได้ไหม", "warfarin"),
        // Doubt is no denial.
        ("ไม่รู้ว่าท้องหรือเปล่า กินยาประสะไพลได้ไหม", "หญิงตั้งครรภ์"),
        ("กินฟ้าทะลายโจรได้หรือไม่ ท้องอยู่", "หญิงตั้งครรภ์"),
        ("ไม่ได้กินวาร์ฟารินมาสองวัน กินขิงได้ไหม", "warfarin"),
    ]);
}

#[test]
fn thai_brand_is_known_in_other_spellings() {
    Asked::new().check(&[
        ("กินซาเรลโตอยู่ จะกินยาหอมนวโกฐแก้วิงเวียน", "ต้านการแข็งตัวของเลือด"),
        ("กินพลาวิ้กซ์กับขิงได้ไหม", "ต้านเกล็ดเลือด"),
    ]);
}
