//! Verifier against sentences that contradict their citations.
//!
//! Negated sentences and paraphrases are generated from spans of `data/ttm` by rules of this file,
//! independent of the claim parser. Per language at least 99 % of the negated ones, of those with a
//! swapped population, herb, medicine, number or unit, and of those that wrap or deny a verbatim
//! warning must be rejected, and 90 % of the paraphrases accepted.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "helpers of tests may fail the test"
)]

use std::path::Path;

use panoply_ttm::answer::verify::support;
use panoply_ttm::catalog::HerbCatalog;
use panoply_ttm::search::Engine;
use serde_json::Value;

struct Span {
    lang: String,
    title: String,
    name: String,
    text: String,
    kind: Kind,
    items: Vec<String>,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Forbids,
    ForbidsWith,
    Cautions,
    CautionsWith,
    Effect,
}

/// Verified safety sentences, split at their fixed lead-ins.
fn spans() -> Vec<Span> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/ttm/monographs.jsonl");
    let text = std::fs::read_to_string(file).unwrap();
    let mut found = Vec::new();
    for line in text.lines() {
        let row: Value = serde_json::from_str(line).unwrap();
        for statement in row["statements"].as_array().unwrap() {
            let said = statement["text"].as_str().unwrap();
            if statement["unverified"] == true {
                continue;
            }
            let leads: [(&str, &str, Kind); 9] = [
                ("The national list contraindicates ", " in: ", Kind::Forbids),
                ("The national list forbids combining ", " with: ", Kind::ForbidsWith),
                ("The national list asks for caution with ", " in: ", Kind::Cautions),
                (
                    "The national list asks for caution when ",
                    " is taken with: ",
                    Kind::CautionsWith,
                ),
                ("บัญชียาหลักแห่งชาติห้ามใช้", "ร่วมกับ: ", Kind::ForbidsWith),
                ("บัญชียาหลักแห่งชาติห้ามใช้", "ในกรณี: ", Kind::Forbids),
                ("บัญชียาหลักแห่งชาติให้ระวังการใช้", "ในกรณี: ", Kind::Cautions),
                ("บัญชียาหลักแห่งชาติให้ระวังเมื่อใช้", "ร่วมกับ: ", Kind::CautionsWith),
                ("ใช้", "ร่วมกับ", Kind::Effect),
            ];
            let span = |name: &str, kind, items: Vec<String>| Span {
                lang: row["lang"].as_str().unwrap().to_owned(),
                title: row["title"].as_str().unwrap().to_owned(),
                name: name.trim().to_owned(),
                text: said.to_owned(),
                kind,
                items,
            };
            let lead = leads.iter().find_map(|(start, middle, kind)| {
                let (name, rest) = said.strip_prefix(start)?.split_once(middle)?;
                Some((name, rest, *kind))
            });
            if let Some((name, rest, kind)) = lead {
                if kind == Kind::Effect {
                    found.push(span(name, kind, vec![rest.to_owned()]));
                } else {
                    let items = rest.trim_end_matches('.').split("; ").map(str::to_owned);
                    found.push(span(name, kind, items.collect()));
                }
            } else if statement["section"] == "interactions"
                && let Some((name, rest)) = said.split_once(" with ")
            {
                found.push(span(name, Kind::Effect, vec![rest.to_owned()]));
            }
        }
    }
    found
}

fn push(list: &mut Vec<(String, usize)>, place: usize, text: String) {
    list.push((text, place));
}

/// Sentences that a span does not support.
fn flipped(spans: &[Span], lang: &str) -> Vec<(String, usize)> {
    let mut all = Vec::new();
    for (place, span) in spans.iter().enumerate().filter(|(_, span)| span.lang == lang) {
        let (name, item) = (&span.name, &span.items[0]);
        let mut say = |text: String| push(&mut all, place, text);
        match (lang, span.kind) {
            ("en", Kind::Forbids) => {
                say(format!("{name} is safe in {item}."));
                say(format!("{name} is recommended in {item}."));
                say(format!("The national list does not contraindicate {name} in {item}."));
                say(format!("The national list asks for caution with {name} in {item}."));
                say(format!(
                    "The national list contraindicates {name} in everything except {item}."
                ));
                say(format!("It is a myth that {name} is contraindicated in {item}."));
            }
            ("en", Kind::ForbidsWith) => {
                say(format!("{name} can be combined with {item}."));
                say(format!(
                    "The national list asks for caution when {name} is taken with {item}."
                ));
            }
            ("en", Kind::Cautions) => {
                say(format!("{name} is safe in {item}."));
                say(format!("The national list recommends {name} in {item}."));
                say(format!("The national list contraindicates {name} in {item}."));
                say(format!("No caution is needed with {name} in {item}."));
            }
            ("en", Kind::CautionsWith) => {
                say(format!("{name} is safe when taken with {item}."));
                say(format!("{name} does not interact with {item}."));
                say(format!("The national list forbids combining {name} with {item}."));
            }
            ("th", Kind::Forbids) => {
                say(format!("{name}ปลอดภัยในกรณี{item}"));
                say(format!("บัญชียาหลักแห่งชาติแนะนำให้ใช้{name}ในกรณี{item}"));
                say(format!("บัญชียาหลักแห่งชาติไม่ได้ห้ามใช้{name}ในกรณี{item}"));
                say(format!("บัญชียาหลักแห่งชาติให้ระวังการใช้{name}ในกรณี{item}"));
                say(format!("ห้ามใช้{name}ในทุกกรณียกเว้น{item}"));
                say(format!("ไม่มีข้อห้ามใช้{name}ในกรณี{item}"));
            }
            ("th", Kind::ForbidsWith) => {
                say(format!("ใช้{name}ร่วมกับ{item}ได้อย่างปลอดภัย"));
                say(format!("ให้ระวังเมื่อใช้{name}ร่วมกับ{item}"));
            }
            ("th", Kind::Cautions) => {
                say(format!("{name}ปลอดภัยในกรณี{item}"));
                say(format!("บัญชียาหลักแห่งชาติแนะนำให้ใช้{name}ในกรณี{item}"));
                say(format!("บัญชียาหลักแห่งชาติห้ามใช้{name}ในกรณี{item}"));
                say(format!("ไม่ต้องระวังการใช้{name}ในกรณี{item}"));
            }
            ("th", Kind::CautionsWith) => {
                say(format!("ใช้{name}ร่วมกับ{item}ได้อย่างปลอดภัย"));
                say(format!("{name}ไม่มีอันตรกิริยากับ{item}"));
                say(format!("ห้ามใช้{name}ร่วมกับ{item}"));
            }
            (_, Kind::Effect) => {
                let pairs = [
                    ("more bleeding", "less bleeding"),
                    ("higher drug level", "lower drug level"),
                    ("lower drug level", "higher drug level"),
                    ("hypoglycaemia", "hyperglycaemia"),
                    ("low blood pressure", "high blood pressure"),
                    ("weaker", "stronger"),
                    ("เลือดออกง่ายขึ้น", "เลือดออกน้อยลง"),
                    ("ระดับยาสูงขึ้น", "ระดับยาลดลง"),
                    ("ระดับยาลดลง", "ระดับยาสูงขึ้น"),
                    ("น้ำตาลในเลือดต่ำ", "น้ำตาลในเลือดสูง"),
                    ("ความดันเลือดต่ำ", "ความดันเลือดสูง"),
                ];
                let short = span.text.split(" (").next().unwrap();
                for (from, to) in pairs {
                    if short.contains(from) && !short.contains(to) {
                        say(short.replace(from, to));
                    }
                }
            }
            _ => {}
        }
    }
    all
}

/// Paraphrases of a span.
fn paraphrased(spans: &[Span], lang: &str) -> Vec<(String, usize)> {
    let mut all = Vec::new();
    for (place, span) in spans.iter().enumerate().filter(|(_, span)| span.lang == lang) {
        let (name, item) = (&span.name, &span.items[0]);
        let mut say = |text: String| push(&mut all, place, text);
        match (lang, span.kind) {
            ("en", Kind::Forbids) => {
                say(format!("{name} is contraindicated in {item}."));
                say(format!("{name} must not be used in {item}."));
            }
            ("en", Kind::ForbidsWith) => say(format!("{name} must not be combined with {item}.")),
            ("en", Kind::Cautions) => {
                say(format!("{name} should be used with caution in {item}."));
                say(format!("Caution is needed with {name} in {item}."));
            }
            ("en", Kind::CautionsWith) => {
                say(format!("{name} should be taken with caution together with {item}."));
            }
            ("th", Kind::Forbids) => {
                say(format!("ห้ามใช้{name}ใน{item}"));
                say(format!("{name}มีข้อห้ามใช้ในกรณี{item}"));
            }
            ("th", Kind::ForbidsWith) => say(format!("ห้ามใช้{name}ร่วมกับ{item}")),
            ("th", Kind::Cautions) => {
                say(format!("ควรระวังการใช้{name}ใน{item}"));
                say(format!("ใช้{name}ด้วยความระมัดระวังในกรณี{item}"));
            }
            ("th", Kind::CautionsWith) => say(format!("ควรระวังเมื่อใช้{name}ร่วมกับ{item}")),
            (_, Kind::Effect) => {
                say(span.text.split(" (").next().unwrap().to_owned());
            }
            _ => {}
        }
    }
    all
}

/// Returns the sentences that the verifier accepts, with one thread per core.
fn accepted<'s>(spans: &[Span], sentences: &'s [(String, usize)]) -> Vec<&'s str> {
    let catalog = HerbCatalog::bundled().unwrap();
    let engine = Engine::bundled().unwrap();
    let holds = |(sentence, place): &(String, usize)| {
        let span = &spans[*place];
        support(&catalog, &engine, sentence, &[&span.text], &[&span.title]).holds()
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let size = sentences.len().div_ceil(threads).max(1);
    let holds = &holds;
    std::thread::scope(|scope| {
        let shard = |shard: &'s [(String, usize)]| -> Vec<&'s str> {
            shard.iter().filter(|one| holds(one)).map(|(text, _)| text.as_str()).collect()
        };
        let running: Vec<_> =
            sentences.chunks(size).map(|part| scope.spawn(move || shard(part))).collect();
        running.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    })
}

/// Populations, in the words of the data, that replace the one of a span.
const POPULATIONS: [(&str, &str); 6] = [
    ("pregnancy", "หญิงตั้งครรภ์"),
    ("breastfeeding", "หญิงให้นมบุตร"),
    ("gallstones", "นิ่วในถุงน้ำดี"),
    ("hepatic impairment", "ตับทำงานผิดปกติ"),
    ("history of seizures", "ประวัติชัก"),
    ("older people", "ผู้สูงอายุ"),
];

/// Medicines without a record of their own.
const MEDICINES: [(&str, &str); 3] =
    [("levothyroxine", "เลโวไทรอกซีน"), ("amoxicillin", "อะม็อกซีซิลลิน"), ("allopurinol", "อัลโลพูรินอล")];

/// Herbs that replace the one of a span.
const HERBS: [(&str, &str); 3] = [("Pandan", "เตยหอม"), ("Noni", "ยอ"), ("Lemongrass", "ตะไคร้แกง")];

/// Sentences with one element swapped: population, medicine, herb, number or unit.
fn swapped(spans: &[Span], lang: &str) -> Vec<(String, usize)> {
    let mut all = Vec::new();
    let pick = |pair: &(&'static str, &'static str)| if lang == "en" { pair.0 } else { pair.1 };
    for (place, span) in spans.iter().enumerate().filter(|(_, span)| span.lang == lang) {
        let (name, item, text) = (&span.name, &span.items[0], &span.text);
        let mut say = |text: String| push(&mut all, place, text);
        // "อายุ" and "เลือดออก" are parts of other populations.
        let others = POPULATIONS.iter().map(pick).filter(|other| {
            let first = other.split(' ').next().unwrap();
            !text.contains(other) && !text.contains(first)
        });
        let others: Vec<&str> = others.take(2).collect();
        for other in others {
            match (lang, span.kind) {
                ("en", Kind::Forbids) => say(format!("{name} is contraindicated in {other}.")),
                ("en", Kind::Cautions) => {
                    say(format!("{name} should be used with caution in {other}."));
                }
                ("th", Kind::Forbids) => say(format!("ห้ามใช้{name}ใน{other}")),
                ("th", Kind::Cautions) => say(format!("ควรระวังการใช้{name}ใน{other}")),
                _ => {}
            }
        }
        let medicine = pick(&MEDICINES[place % MEDICINES.len()]);
        match (lang, span.kind) {
            ("en", Kind::ForbidsWith) => {
                say(format!("{name} must not be combined with {medicine}."));
            }
            ("en", Kind::CautionsWith) => {
                say(format!("{name} should be taken with caution together with {medicine}."));
            }
            ("th", Kind::ForbidsWith) => say(format!("ห้ามใช้{name}ร่วมกับ{medicine}")),
            ("th", Kind::CautionsWith) => say(format!("ควรระวังเมื่อใช้{name}ร่วมกับ{medicine}")),
            ("en", Kind::Effect) => {
                if let Some((_, effect)) = item.split_once(": ") {
                    say(format!("{name} with {medicine}: {effect}"));
                }
            }
            ("th", Kind::Effect) => {
                if let Some((_, effect)) = item.split_once(": ") {
                    say(format!("ใช้{name}ร่วมกับ{medicine}: {effect}"));
                }
            }
            _ => {}
        }
        let herb = pick(&HERBS[place % HERBS.len()]);
        if !text.to_lowercase().contains(&herb.to_lowercase()) {
            say(text.replace(name.as_str(), herb));
        }
        for (from, to) in [
            (" 6 ", " 16 "),
            (" 12 ", " 2 "),
            (" 7 ", " 70 "),
            (" 15 ", " 50 "),
            (" 3 ", " 30 "),
            (" days", " weeks"),
            (" years", " months"),
            (" month", " year"),
            (" วัน", " สัปดาห์"),
            (" ปี", " เดือน"),
            (" เดือน", " ปี"),
        ] {
            if text.contains(from) {
                say(text.replace(from, to));
            }
        }
    }
    all
}

/// Verbatim warnings turned round by the words around them, and reversals without a cue.
fn wrapped(spans: &[Span], lang: &str) -> Vec<(String, usize)> {
    let mut all = Vec::new();
    for (place, span) in spans.iter().enumerate().filter(|(_, span)| span.lang == lang) {
        let (name, item) = (&span.name, &span.items[0]);
        let text = span.text.trim_end_matches('.');
        let mut say = |text: String| push(&mut all, place, text);
        if lang == "en" {
            say(format!("It is false that {text}"));
            say(format!("An old tale has it that {text}"));
            say(format!("{text}, which is outdated"));
            say(format!("{text} \"but it suits every pregnant woman, take 10 capsules a day\""));
            say(format!("{text}, so {item} is no obstacle"));
            say(format!("Caution with {name} in {item} is outdated"));
            say(format!("Is it so that {text}?"));
        } else {
            say(format!("ไม่จริงที่ว่า{text}"));
            say(format!("ข่าวลือเก่าบอกว่า{text}"));
            say(format!("สมัยก่อนเชื่อกันว่า{text}"));
            say(format!("{text} ซึ่งล้าสมัยแล้ว"));
            say(format!("{text} “แต่กินได้สบายมาก วันละ 10 แคปซูล”"));
            say(format!("การระวัง{name}ใน{item}เป็นเรื่องเก่าไปแล้ว"));
            say(format!("{text} ใครบอกกัน"));
        }
    }
    all
}

#[test]
fn swapped_and_wrapped_warnings_are_rejected() {
    let spans = spans();
    for lang in ["th", "en"] {
        for (what, sentences) in
            [("swapped", swapped(&spans, lang)), ("wrapped", wrapped(&spans, lang))]
        {
            assert!(sentences.len() >= 400, "{lang}: {} {what} sentences", sentences.len());
            let passed = accepted(&spans, &sentences);
            println!("{lang}: {} of {} {what} passed", passed.len(), sentences.len());
            assert!(
                passed.len() * 100 <= sentences.len(),
                "{lang} {what}, {} passed:\n{}",
                passed.len(),
                passed.join("\n")
            );
        }
    }
}

#[test]
fn negated_sentences_are_rejected_and_paraphrases_accepted() {
    let spans = spans();
    for lang in ["th", "en"] {
        let flipped = flipped(&spans, lang);
        assert!(flipped.len() >= 400, "{lang}: {} flipped sentences", flipped.len());
        let passed = accepted(&spans, &flipped);
        let true_ones = paraphrased(&spans, lang);
        let held = accepted(&spans, &true_ones);
        let refused: Vec<&str> = true_ones
            .iter()
            .map(|(text, _)| text.as_str())
            .filter(|text| !held.contains(text))
            .collect();
        println!(
            "{lang}: {} of {} flipped passed, {} of {} paraphrases refused",
            passed.len(),
            flipped.len(),
            refused.len(),
            true_ones.len()
        );
        assert!(passed.len() * 100 <= flipped.len(), "{lang} passed:\n{}", passed.join("\n"));
        assert!(refused.len() * 10 <= true_ones.len(), "{lang} refused:\n{}", refused.join("\n"));
    }
}

#[test]
fn reversed_safety_sentences_are_rejected() {
    // Regression: these were answered with a citation and without the warning.
    let catalog = HerbCatalog::bundled().unwrap();
    let engine = Engine::bundled().unwrap();
    let turmeric =
        "The national list asks for caution with Turmeric in: gallstones; pregnancy; children.";
    let thai = "บัญชียาหลักแห่งชาติให้ระวังการใช้ขมิ้นชันในกรณี: นิ่วในถุงน้ำดี; หญิงตั้งครรภ์; เด็ก";
    let ginger = "Ginger with warfarin, aspirin, anticoagulants and antiplatelets: more bleeding (strength moderate; mechanism: antiplatelet action).";
    let andrographis =
        "The national list contraindicates Andrographis in: pregnancy; breastfeeding.";
    for (passage, sentence) in [
        (turmeric, "Turmeric is recommended in pregnancy."),
        (turmeric, "Turmeric is safe for children and in pregnancy."),
        (turmeric, "The national list contraindicates Turmeric in pregnancy."),
        (ginger, "Ginger is safe when taken with warfarin."),
        (ginger, "Ginger with warfarin: less bleeding."),
        (thai, "ขมิ้นชันปลอดภัยในหญิงตั้งครรภ์"),
        (thai, "บัญชียาหลักแห่งชาติแนะนำให้ใช้ขมิ้นชันในหญิงตั้งครรภ์และเด็ก"),
        (
            andrographis,
            "The national list contraindicates Andrographis in everything except pregnancy and breastfeeding.",
        ),
        (andrographis, "The national list asks for caution with Andrographis in pregnancy."),
        (andrographis, "Andrographis is contraindicated in pregnancy but safe in breastfeeding."),
        (turmeric, "Caution with turmeric in pregnancy is outdated."),
        (
            turmeric,
            "The national list asks for caution with Turmeric in gallstones, so pregnancy is no obstacle.",
        ),
        (turmeric, "Caution with Turmeric in pregnancy: no."),
        (turmeric, "Forget caution with Turmeric in pregnancy."),
        (turmeric, "Once the national list asked for caution with Turmeric in pregnancy."),
        (turmeric, "Should Turmeric be used with caution in pregnancy?"),
        (andrographis, "Andrographis was contraindicated in pregnancy."),
        (andrographis, "If you worry, Andrographis is contraindicated in pregnancy."),
        (ginger, "Ginger with warfarin: more bleeding is an old wives' tale."),
        (thai, "เรื่องระวังขมิ้นชันในหญิงตั้งครรภ์ล้าสมัยแล้ว"),
        (thai, "เมื่อก่อนเคยให้ระวังการใช้ขมิ้นชันในหญิงตั้งครรภ์"),
    ] {
        let found = support(&catalog, &engine, sentence, &[passage], &[]);
        assert!(!found.holds(), "{sentence}: {found:?}");
    }
    for (passage, sentence) in [
        (turmeric, "Turmeric should be used with caution in pregnancy."),
        (ginger, "Ginger with warfarin increases bleeding."),
        (thai, "ควรระวังการใช้ขมิ้นชันในหญิงตั้งครรภ์"),
        (andrographis, "Andrographis must not be used in pregnancy."),
    ] {
        let found = support(&catalog, &engine, sentence, &[passage], &[]);
        assert!(found.holds(), "{sentence}: {found:?}");
    }
}

#[test]
fn a_warning_of_one_herb_is_not_transferred_to_another() {
    let catalog = HerbCatalog::bundled().unwrap();
    let engine = Engine::bundled().unwrap();
    let passages = [
        "The national list asks for caution with Turmeric in: gallstones; pregnancy.",
        "The national list contraindicates Andrographis in: breastfeeding.",
    ];
    let holds = |sentence: &str| support(&catalog, &engine, sentence, &passages, &[]).holds();
    assert!(!holds("Turmeric is contraindicated in breastfeeding."));
    assert!(!holds("Caution is needed with Andrographis in pregnancy."));
    assert!(holds("Andrographis is contraindicated in breastfeeding."));
}
