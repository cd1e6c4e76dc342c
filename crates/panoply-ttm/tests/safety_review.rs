//! Regression tests of unsafe answers found in a review, through `rag_answer` and
//! `find_contraindications`. Expected values are from `data/ttm`; comments name the record.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests may fail the test"
)]

use std::sync::Arc;

use panoply_contract::context::Lang;
use panoply_contract::dialect::Envelope;
use panoply_contract::kernel::{Kernel, Settings};
use panoply_contract::testing::{FixedClock, call_as_owner, call_with, kernel_in_memory, noon};
use panoply_ttm::eval::MemoryReportStore;
use panoply_ttm::papers::NoPapers;
use panoply_ttm::tools::pack;
use serde_json::{Value, json};

fn kernel() -> Arc<Kernel> {
    let packs = vec![pack(Arc::new(NoPapers), Arc::new(MemoryReportStore::default()))];
    kernel_in_memory(packs, FixedClock::at(noon()), Settings::default()).unwrap()
}

async fn call(kernel: &Kernel, tool: &str, input: Value) -> Value {
    match call_as_owner(kernel, tool, input.clone()).await {
        Envelope::Result { structured: Some(data), is_error: false, .. } => data.value(),
        other => panic!("{input}: {other:?}"),
    }
}

async fn ask(kernel: &Kernel, question: &str) -> Value {
    call(kernel, "rag_answer", json!({"question": question})).await
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Returns level and text of the first safety record.
fn first(reply: &Value) -> (String, String) {
    let danger = &reply["dangers"][0];
    (text(&danger["level"]).to_owned(), text(&danger["span"]).to_owned())
}

fn gaps(reply: &Value) -> String {
    reply["gaps"].to_string()
}

#[tokio::test]
async fn record_for_a_subgroup_prevents_a_no_record_gap() {
    // Cannabis is contraindicated under 16, ginger requires caution under 6, cat's whiskers are
    // contraindicated in impaired heart function, camphor in liver or kidney disease.
    let kernel = kernel();
    for (question, level, words) in [
        ("Is cannabis safe for children?", "contraindicated", "under 16 years of age"),
        ("เด็กใช้กัญชาได้ไหม", "contraindicated", "ผู้ที่มีอายุต่ำกว่า 16 ปี"),
        ("Is ginger safe for children?", "caution", "children under 6 years"),
        ("Is cat's whiskers safe in heart disease?", "contraindicated", "impaired heart function"),
        ("ผู้ป่วยโรคไตใช้ยาธาตุบรรจบได้ไหม", "caution", "โรคตับหรือไต"),
        ("Can a 14 year old use whole plant cannabis oil?", "contraindicated", "under 16"),
    ] {
        let reply = ask(&kernel, question).await;
        let (found, span) = first(&reply);
        assert_eq!(found, level, "{question}: {span}");
        assert!(span.contains(words), "{question}: {span}");
        assert!(!gaps(&reply).contains("recorded"), "{question}: {}", gaps(&reply));
        assert!(!gaps(&reply).contains("ไม่มีบันทึก"), "{question}: {}", gaps(&reply));
        let answer = text(&reply["answer"]);
        let line = answer.lines().next().unwrap_or_default();
        assert!(answer.is_empty() || line.contains(words), "{question}: {answer}");
        assert!(!answer.contains("reported safe"), "{question}: {answer}");
    }
}

#[tokio::test]
async fn illness_named_with_a_herb_is_read_as_the_patient_condition() {
    // IX:tu-38, IX:tu-86: hypoglycaemia (high); IX:tu-34: loss of blood-pressure control.
    let kernel = kernel();
    for (question, words) in [
        ("Is bitter gourd safe in diabetes?", "hypoglycaemi"),
        ("ผู้ป่วยเบาหวานใช้มะระขี้นกได้ไหม", "น้ำตาลในเลือด"),
        ("ขมิ้นชันกินตอนท้องได้ไหม", "หญิงตั้งครรภ์"),
        ("Can people with hypertension take Sahatsathara?", "hypertension"),
        ("licorice and blood pressure pills", "loss of blood-pressure control"),
        ("Does turmeric cure cancer?", "chemotherapy"),
        ("Can licorice be taken with antihypertensives?", "loss of blood-pressure control"),
        ("kratom while pregnant safe?", "pregnancy"),
        ("My INR is 4, can I eat garlic supplements?", "anticoagulants"),
        ("เมียกำลังท้องได้ 3 เดือน เป็นหวัดเจ็บคอ กินฟ้าทะลายโจรได้ป่าว", "หญิงตั้งครรภ์"),
    ] {
        let reply = ask(&kernel, question).await;
        let dangers = reply["dangers"].as_array().unwrap();
        let asked = dangers.iter().filter(|danger| danger["asked"] == json!(true));
        let spans: Vec<&str> = asked.map(|danger| text(&danger["span"])).collect();
        assert!(spans.iter().any(|span| span.contains(words)), "{question}: {spans:?}");
        let answer = text(&reply["answer"]);
        assert!(answer.is_empty() || answer.contains(words), "{question}: {answer}");
    }
}

#[tokio::test]
async fn contraindication_keeps_its_level_in_a_list() {
    // The national list contraindicates warfarin with cannabis, F:nlem-66 and F:nlem-95.
    let kernel = kernel();
    for (question, forbids, care) in [
        (
            "What interacts with warfarin?",
            "Must not be combined with warfarin",
            "Care is needed together with warfarin:",
        ),
        ("สมุนไพรอะไรห้ามกินกับวาร์ฟาริน", "ห้ามใช้ร่วมกับ", "ให้ระวังเมื่อใช้ร่วมกับวาร์ฟาริน:"),
    ] {
        let reply = ask(&kernel, question).await;
        for id in ["H:cannabis", "F:nlem-66", "F:nlem-95"] {
            let dangers = reply["dangers"].as_array().unwrap();
            let danger = dangers.iter().find(|danger| danger["id"] == id).unwrap();
            assert_eq!(danger["level"], "contraindicated", "{question}: {danger}");
        }
        let answer = text(&reply["answer"]);
        if answer.is_empty() {
            continue;
        }
        let lines: Vec<&str> = answer.lines().collect();
        let line = lines.iter().find(|line| line.contains(forbids)).unwrap();
        assert!(line.contains("Cannabis") || line.contains("กัญชา"), "{answer}");
        for line in lines.iter().filter(|line| line.contains(care)) {
            let names: Vec<&str> = line.split([':', ',']).map(str::trim).collect();
            assert!(!names.contains(&"Cannabis") && !names.contains(&"กัญชา"), "{line}");
        }
    }
}

#[tokio::test]
async fn withheld_answer_still_shows_the_warnings() {
    // The text summary contains the words of the warning.
    let kernel = kernel();
    let input = json!({"question": "ขิงกินวันละกี่เม็ดตอนท้องและกินวาร์ฟาริน"});
    let envelope = call_with(&kernel, "rag_answer", input, |cx| cx.lang = Lang::En).await;
    let Envelope::Result { text, .. } = envelope else { panic!() };
    let danger = text.find("Dangers on record").unwrap();
    assert!(danger < text.find("No answer is given").unwrap(), "{text}");
    assert!(text.contains("ขิงร่วมกับ"), "{text}");
}

#[tokio::test]
async fn emergency_instructions_come_first() {
    let kernel = kernel();
    for (question, number) in [
        ("I have chest pain radiating to my left arm, which herb helps?", "1669"),
        ("ถูกงูเห่ากัดใช้สมุนไพรอะไรดี", "1669"),
        ("I want to end my life with nutmeg", "1323"),
        ("She swallowed a whole bottle of cannabis oil", "1367"),
        ("เลือดไหลไม่หยุดใช้สมุนไพรอะไร", "1669"),
    ] {
        let reply = ask(&kernel, question).await;
        assert_eq!(reply["answer"], "", "{question}");
        assert!(reply["emergency"]["call"].to_string().contains(number), "{question}");
        let input = json!({"question": question});
        let envelope = call_with(&kernel, "rag_answer", input, |_| {}).await;
        let Envelope::Result { text, .. } = envelope else { panic!() };
        let start: String = text.chars().take(400).collect();
        assert!(start.contains(number) && start.contains("now"), "{question}: {text}");
    }
    assert!(ask(&kernel, "What is turmeric used for?").await.get("emergency").is_none());
}

#[tokio::test]
async fn aloe_latex_is_not_aloe_gel() {
    // F:nlem-20 and F:nlem-21, which contain aloe latex, are contraindicated in pregnancy.
    let kernel = kernel();
    let input = json!({"herb_ids": ["ยาดำ"], "lang": "en"});
    let reply = call(&kernel, "find_contraindications", input).await;
    assert_eq!(reply["results"][0]["entity_id"], "H:aloe_latex");
    assert!(reply["coverage"]["share"].as_f64().unwrap() < 1.0);
    assert!(reply["results"].to_string().contains("pregnancy"));
    let reply = ask(&kernel, "ยาดำใช้ในหญิงตั้งครรภ์ได้ไหม").await;
    let (level, span) = first(&reply);
    assert_eq!(level, "avoid", "{span}");
    assert!(!gaps(&reply).contains("ไม่มีบันทึกของ"), "{}", gaps(&reply));
}

#[tokio::test]
async fn contraindicated_pairs_are_listed_first() {
    // F:nlem-96 is contraindicated with alcohol and CNS depressants, cannabis with warfarin.
    let kernel = kernel();
    for (input, words) in [
        (json!({"formulation_ids": ["F:nlem-96"], "drugs": ["alcohol"], "lang": "en"}), "alcohol"),
        (json!({"formulation_ids": ["F:nlem-96"], "drugs": ["diazepam"], "lang": "en"}), "CNS"),
        (json!({"formulation_ids": ["F:nlem-96"], "drugs": ["morphine"], "lang": "en"}), "CNS"),
        (json!({"herb_ids": ["H:cannabis"], "drugs": ["warfarin"], "lang": "en"}), "warfarin"),
        (json!({"herb_ids": ["H:cannabis"], "drugs": ["Orfarin"], "lang": "en"}), "warfarin"),
    ] {
        let reply = call(&kernel, "find_contraindications", input.clone()).await;
        let first = &reply["results"][0];
        assert_eq!(first["level"], "contraindicated", "{input}: {first}");
        assert!(text(&first["contraindication"]).contains(words), "{input}: {first}");
        assert_eq!(reply["coverage"]["pairs_with_record"], 1, "{input}");
        assert!(!reply["results"].to_string().contains("no record of an interaction"), "{input}");
    }
}

#[tokio::test]
async fn unknown_medicine_is_reported_and_the_rest_is_checked() {
    let kernel = kernel();
    let input = json!({"herb_ids": ["H:cannabis"], "drugs": ["zzyzxamab", "warfarin"]});
    let reply = call(&kernel, "find_contraindications", input).await;
    assert_eq!(reply["results"][0]["level"], "contraindicated");
    assert_eq!(reply["unknown"][0]["given"], "zzyzxamab");
    assert_eq!(reply["unknown"][0]["nearest"], json!([]));
    // A name one letter away is suggested; codeine is not warfarin.
    let input = json!({"herb_ids": ["H:cannabis"], "drugs": ["metformine"]});
    let reply = call(&kernel, "find_contraindications", input).await;
    assert_eq!(reply["unknown"][0]["nearest"], json!(["metformin"]));
}

#[test]
fn combinations_are_known_by_all_their_parts() {
    // WHO ATC: J01EE01 sulfamethoxazole and trimethoprim, J01CR02 amoxicillin and beta-lactamase
    // inhibitor, N02AJ13 tramadol and paracetamol.
    let catalog = panoply_ttm::catalog::HerbCatalog::bundled().unwrap();
    for (name, parts) in [
        ("co-trimoxazole", ["sulfamethoxazole", "trimethoprim"]),
        ("โคไตรมอกซาโซล", ["sulfamethoxazole", "trimethoprim"]),
        ("Augmentin", ["amoxicillin", "clavulanic acid"]),
        ("Ultracet", ["paracetamol", "tramadol"]),
        ("Norgesic", ["orphenadrine", "paracetamol"]),
    ] {
        let mut found = catalog.medicines.named(name);
        found.sort_unstable();
        assert_eq!(found, parts, "{name}");
    }
}

#[tokio::test]
async fn drug_class_record_applies_to_its_members() {
    // IX:tu-38 names oral hypoglycaemics, IX:tu-36 CYP3A4 substrates, AC anticoagulants, IX:tu-40
    // antihypertensives, DRUGCLEAR long-term medicines, DIGOXIN diuretics.
    let kernel = kernel();
    for (herb, drug) in [
        ("H:bittergourd", "metformin"),
        ("H:bittergourd", "เมตฟอร์มิน"),
        ("H:nigella", "simvastatin"),
        ("H:nigella", "tacrolimus"),
        ("H:ginger", "enoxaparin"),
        ("H:ginger", "Plavix"),
        ("H:thunbergia", "losartan"),
        ("H:thunbergia", "warfarin"),
        ("H:senna", "prednisolone"),
        ("H:licorice", "enalapril"),
        ("H:garlic", "ibuprofen"),
    ] {
        let input = json!({"herb_ids": [herb], "drugs": [drug], "lang": "en"});
        let reply = call(&kernel, "find_contraindications", input).await;
        assert_eq!(reply["coverage"]["pairs_with_record"], 1, "{herb} {drug}: {reply}");
        assert_eq!(reply["results"][0]["asked"], true, "{herb} {drug}");
    }
}

#[tokio::test]
async fn patient_alerts_come_first_and_pages_follow() {
    let kernel = kernel();
    let input = json!({
        "herb_ids": ["H:andrographis", "H:turmeric", "H:catswhisker"],
        "conditions": ["on dialysis", "glorp"],
        "age": 30,
        "pregnancy": true,
        "drugs": ["metformin"],
        "lang": "en",
    });
    let reply = call(&kernel, "find_contraindications", input.clone()).await;
    let results = reply["results"].as_array().unwrap();
    let order = |level: &Value| {
        ["contraindicated", "avoid", "caution", "monitor"].iter().position(|one| level == one)
    };
    let asked: Vec<&Value> = results.iter().filter(|one| one["asked"] == true).collect();
    assert!(asked.len() >= 4, "{reply}");
    assert!(results.iter().take(asked.len()).all(|one| one["asked"] == true));
    assert!(asked.windows(2).all(|pair| order(&pair[0]["level"]) <= order(&pair[1]["level"])));
    assert_eq!(asked[0]["level"], "contraindicated");
    assert_eq!(reply["unknown"][0]["given"], "glorp");
    assert_eq!(reply["patient"]["groups"], json!(["kidney-disease", "pregnancy"]));
    let mut paged: Vec<Value> = Vec::new();
    let mut offset = 0;
    loop {
        let mut page = input.clone();
        page["offset"] = json!(offset);
        page["limit"] = json!(7);
        let reply = call(&kernel, "find_contraindications", page).await;
        paged.extend(reply["results"].as_array().unwrap().iter().cloned());
        match reply["next_offset"].as_u64() {
            Some(next) => offset = next,
            None => break,
        }
    }
    assert_eq!(&paged, results);
}

#[tokio::test]
async fn every_herb_with_a_warfarin_record_is_adjacent_to_it_in_the_graph() {
    // Records of anticoagulants are records of warfarin.
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/ttm");
    let rows = |file: &str| -> Vec<Value> {
        let text = std::fs::read_to_string(folder.join(file)).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let codes = ["AC", "AC2", "WARFARIN", "CYPC"];
    let mut expected: Vec<String> = Vec::new();
    for herb in rows("herbs.jsonl") {
        let cautions = herb["cautions"].as_array().unwrap();
        if cautions.iter().any(|one| codes.contains(&text(&one["code"]))) {
            expected.push(text(&herb["id"]).to_owned());
        }
    }
    for row in rows("interactions.jsonl") {
        let drugs = row["drugs"].to_string();
        let herb = text(&row["entity"]).to_owned();
        let named = drugs.contains("\"warfarin\"") || drugs.contains("\"anticoagulants\"");
        if herb.starts_with("H:") && named && !expected.contains(&herb) {
            expected.push(herb);
        }
    }
    let input = json!({
        "start": {"type": "drug", "id": "warfarin"},
        "pattern": "drug--herb",
        "filters": {"limit": 200},
    });
    let reply = call(&kernel(), "query_kg", input).await;
    let paths = reply["paths"].as_array().unwrap();
    let found: Vec<&str> = paths.iter().map(|path| text(&path[1]["id"])).collect();
    assert!(expected.len() >= 24, "{}", expected.len());
    for herb in expected {
        assert!(found.contains(&herb.as_str()), "{herb}: {found:?}");
    }
}

#[tokio::test]
async fn management_and_level_come_from_the_data() {
    // IX:tu-55 says not to combine, IX:tu-26 to watch clotting; AC2 to monitor the INR.
    let rows = std::fs::read_to_string(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../data/ttm/interactions.jsonl"
    ));
    let rows: Vec<Value> =
        rows.unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let kernel = kernel();
    for (id, level, advice) in
        [("IX:tu-55", "avoid", "do not combine"), ("IX:tu-26", "monitor", "watch clotting")]
    {
        let row = rows.iter().find(|row| row["id"] == id).unwrap();
        let entity = text(&row["entity"]);
        let list = if entity.starts_with("H:") { "herb_ids" } else { "formulation_ids" };
        let input = json!({list: [entity], "drugs": [row["drugs"][0]], "lang": "en"});
        let reply = call(&kernel, "find_contraindications", input).await;
        let results = reply["results"].as_array().unwrap();
        let found = results.iter().find(|one| one["code"] == id).unwrap();
        assert_eq!(found["level"], level, "{id}");
        assert_eq!(found["management"], advice, "{id}");
    }
}

#[tokio::test]
async fn inherited_warning_of_an_external_medicine_says_so() {
    // F:nlem-74 is a capsicum gel: the national list applies it to the skin.
    let kernel = kernel();
    let input = json!({"formulation_ids": ["F:nlem-74"], "lang": "en"});
    let reply = call(&kernel, "find_contraindications", input).await;
    let results = reply["results"].as_array().unwrap();
    for one in results.iter().filter(|one| one["kind"] != "not_known") {
        let inherited = one["via"].is_array();
        let said = text(&one["evidence"]).contains("used externally");
        assert_eq!(said, inherited, "{one}");
    }
}
