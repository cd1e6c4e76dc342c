//! Tools through the kernel: contract shapes, audit and errors.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests may fail the test"
)]

use std::sync::Arc;

use panoply_contract::audit::{AuditFilter, canonical_json};
use panoply_contract::context::{CallContext, Lang};
use panoply_contract::dialect::{AUDIT_KEY, ERROR_KEY, Envelope, HINTS_KEY};
use panoply_contract::ids::TraceId;
use panoply_contract::kernel::{Kernel, Scope, Settings};
use panoply_contract::resource::{Completion, CompletionSubject, ResourceBody};
use panoply_contract::testing::{
    FixedClock, call_as_owner, call_with, check_pack, kernel_in_memory, noon,
};
use panoply_ttm::catalog::HerbCatalog;
use panoply_ttm::eval::MemoryReportStore;
use panoply_ttm::papers::NoPapers;
use panoply_ttm::tools::pack;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

fn kernel() -> Arc<Kernel> {
    let packs = vec![pack(Arc::new(NoPapers), Arc::new(MemoryReportStore::default()))];
    kernel_in_memory(packs, FixedClock::at(noon()), Settings::default()).unwrap()
}

async fn data(kernel: &Kernel, tool: &str, input: Value) -> Value {
    match call_as_owner(kernel, tool, input.clone()).await {
        Envelope::Result { structured: Some(data), is_error: false, .. } => data.value(),
        other => panic!("{tool} {input}: {other:?}"),
    }
}

async fn error(kernel: &Kernel, tool: &str, input: Value) -> Value {
    match call_as_owner(kernel, tool, input.clone()).await {
        Envelope::Result { structured: None, is_error: true, meta, text, .. } => {
            assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), meta.value(ERROR_KEY));
            meta.value(ERROR_KEY)
        }
        other => panic!("{tool} {input}: {other:?}"),
    }
}

async fn resource(kernel: &Kernel, uri: &str) -> Result<(Value, Value), String> {
    let trace = TraceId::new(uuid::Uuid::from_u128(7));
    let cx = CallContext::local(Arc::clone(kernel.clock()), trace);
    let found = kernel.read_resource(&Scope::All, uri, &cx).await;
    let found =
        found.map_err(|error| format!("{error} ({})", error.hint.clone().unwrap_or_default()))?;
    let ResourceBody::Text(text) = &found.body else { panic!("{uri}") };
    Ok((serde_json::from_str(text).unwrap(), found.meta[AUDIT_KEY].clone()))
}

fn sha256(value: &Value) -> String {
    let digest = Sha256::digest(canonical_json(value).unwrap());
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[tokio::test]
async fn every_tool_keeps_the_contract() {
    let violations =
        check_pack(pack(Arc::new(NoPapers), Arc::new(MemoryReportStore::default()))).await;
    let listed: Vec<String> = violations.iter().map(ToString::to_string).collect();
    assert!(listed.is_empty(), "{}", listed.join("\n"));
}

#[tokio::test]
async fn reply_audit_hashes_can_be_recomputed() {
    let kernel = kernel();
    let input = json!({"start": {"type": "herb", "id": "H:turmeric"}, "max_depth": 3});
    let mut output = data(&kernel, "tool.query_kg", input).await;
    let audit = output.as_object_mut().unwrap().shift_remove("audit").unwrap();
    // Computed with Python's hashlib over the canonical JSON of the input.
    let in_hash = audit["in_hash"].as_str().unwrap();
    assert!(in_hash.starts_with("6c15326d") && in_hash.ends_with("26cc4dc"), "{in_hash}");
    assert_eq!(audit["seed"], json!(7_788_186_577_898_201_856_u64));
    assert_eq!(audit["seed_hex"], in_hash[..16]);
    assert_eq!(audit["out_hash"], sha256(&output));
    assert_eq!(audit["status"], "ok");
    assert!(audit["latency_ms"].is_u64());
}

#[tokio::test]
async fn error_reply_has_code_message_and_audit() {
    let kernel = kernel();
    let input = json!({"start": {"type": "herb", "id": "H:turmeric"}, "max_depth": 100});
    let mut body = error(&kernel, "query_kg", input.clone()).await;
    let audit = body.as_object_mut().unwrap().shift_remove("audit").unwrap();
    assert_eq!(body["error"]["code"], "INVALID_ARG");
    assert!(body["error"]["message"].as_str().unwrap().contains("from 1 to 6"), "{body}");
    assert_eq!(audit["status"], "error");
    assert_eq!(audit["in_hash"], sha256(&input));
    assert_eq!(audit["out_hash"], sha256(&body));
}

#[tokio::test]
async fn bad_input_gets_a_clear_error() {
    let herb = |id: &str| json!({"type": "herb", "id": id});
    let cases = [
        (json!({"start": herb("H:turmeric"), "max_depth": 0}), "from 1 to 6"),
        (
            json!({"start": herb("H:turmeric"), "pattern": "herb->".repeat(1667)}),
            "at most 500 characters",
        ),
        (json!({"start": herb("C:curcumin")}), "is not a herb: it is the constituent `C:curcumin`"),
        (json!({"start": herb("🌿🔥")}), "no herb is called `🌿🔥`"),
        (json!({"start": herb("H:turmric")}), "nearest: `H:turmeric` ขมิ้นชัน (Turmeric)"),
        (
            json!({"start": herb("H:turmeric"), "pattern": "constituent->herb"}),
            "does not start with `herb`",
        ),
        (
            json!({"start": herb("H:turmeric"), "pattern": "herb<-indication"}),
            "write `herb->indication`",
        ),
        (json!({"start": herb("H:turmeric"), "pattern": "herb->🌿"}), "at character 7"),
        (
            json!({"start": herb("H:turmeric"), "filters": {"source": "wikipedia"}}),
            "no source `wikipedia`",
        ),
        (json!({"start": herb("H:turmeric"), "filters": {"icdd": "K30"}}), "did you mean `icd`"),
        (json!({"start": {"type": "planet", "id": "x"}}), "/start/type"),
        (json!({"start": herb("' OR 1=1 --")}), "no herb is called"),
    ];
    let kernel = kernel();
    for (input, expected) in cases {
        let body = error(&kernel, "query_kg", input.clone()).await;
        assert_eq!(body["error"]["code"], "INVALID_ARG", "{input}");
        let message = body["error"]["message"].as_str().unwrap();
        assert!(message.contains(expected), "{input}: {message}");
    }
}

#[tokio::test]
async fn paths_have_the_contract_shape_and_are_deterministic() {
    let input = json!({
        "start": {"type": "herb", "id": "ขมิ้นชัน"},
        "pattern": "herb->constituent->indication",
    });
    let first = data(&kernel(), "query_kg", input.clone()).await;
    let path = first["paths"][0].as_array().unwrap();
    let types: Vec<&Value> = path.iter().map(|node| &node["type"]).collect();
    assert_eq!(types, ["herb", "constituent", "indication"]);
    assert_eq!(path[0]["id"], "H:turmeric");
    assert_eq!(path[0]["label"], "ขมิ้นชัน (Turmeric)");
    assert!(path[0].get("edge").is_none());
    for node in &path[1..] {
        assert!(!node["edge"]["sources"].as_array().unwrap().is_empty());
    }
    let again = data(&kernel(), "query_kg", input).await;
    assert_eq!(first["audit"]["out_hash"], again["audit"]["out_hash"]);
    assert_eq!(first["paths"].to_string(), again["paths"].to_string());
}

#[tokio::test]
async fn inferred_edge_is_flagged_and_gives_no_evidence() {
    let kernel = kernel();
    let ask = |evidence: &str| {
        json!({
            "start": {"type": "constituent", "id": "C:curcumin"},
            "pattern": "constituent-[VIA_HERB]->indication",
            "filters": {"evidence": evidence},
        })
    };
    let any = data(&kernel, "query_kg", ask("any")).await;
    let paths = any["paths"].as_array().unwrap();
    assert!(!paths.is_empty());
    for path in paths {
        assert_eq!(path[1]["edge"]["inferred"], true);
        assert_eq!(path[1]["edge"]["verified"], false);
        assert!(!path[1]["edge"]["via"].as_array().unwrap().is_empty());
    }
    assert!(any["inference"].as_str().unwrap().contains("no evidence"));
    let verified = data(&kernel, "query_kg", ask("verified")).await;
    assert_eq!(verified["paths"], json!([]));
}

#[tokio::test]
async fn ambiguous_name_returns_all_candidates() {
    // Five medicines of the National List start with ยาหอม.
    let catalog = HerbCatalog::bundled().unwrap();
    let ids = catalog.formulations.iter().filter(|one| one.names.th.starts_with("ยาหอม"));
    let ids: Vec<&str> = ids.map(|one| one.id.as_str()).collect();
    assert!(ids.len() > 1);
    let input = json!({"start": {"type": "formulation", "id": "ยาหอม"}});
    let reply = data(&kernel(), "query_kg", input).await;
    let candidates = reply["candidates"].as_array().unwrap();
    for id in ids {
        assert!(candidates.iter().any(|one| one["id"] == id), "{id} in {candidates:?}");
    }
    assert_eq!(reply["paths"], json!([]));
    assert!(reply.get("start").is_none());
}

#[tokio::test]
async fn long_reply_is_truncated_with_next_offset() {
    let kernel = kernel();
    let input = |offset: u64| {
        json!({
            "start": {"type": "caution", "id": "PREG"},
            "filters": {"limit": 200, "offset": offset},
            "max_depth": 4,
        })
    };
    let first = data(&kernel, "query_kg", input(0)).await;
    assert_eq!(first["more"], true);
    assert!(first.to_string().len() < 80_000, "{}", first.to_string().len());
    let next = first["next_offset"].as_u64().unwrap();
    assert_eq!(usize::try_from(next).unwrap(), first["paths"].as_array().unwrap().len());
    let second = data(&kernel, "query_kg", input(next)).await;
    assert_ne!(first["paths"][0], second["paths"][0]);
}

#[tokio::test]
async fn contraindications_have_the_contract_shape() {
    let input =
        json!({"herb_ids": ["H:andrographis"], "formulation_ids": ["F:nlem-01"], "lang": "en"});
    let reply = data(&kernel(), "tool.find_contraindications", input).await;
    let results = reply["results"].as_array().unwrap();
    for one in results {
        for member in ["entity_id", "type", "contraindication", "evidence", "strength"] {
            assert!(one[member].as_str().is_some_and(|text| !text.is_empty()), "{member}: {one}");
        }
        assert!(["low", "moderate", "high"].contains(&one["strength"].as_str().unwrap()));
        assert!(["herb", "formulation"].contains(&one["type"].as_str().unwrap()));
    }
    let pregnancy = results.iter().find(|one| one["code"] == "PREG").unwrap();
    assert_eq!(pregnancy["contraindication"], "Contraindicated: pregnancy");
    assert_eq!(pregnancy["strength"], "high");
    assert!(pregnancy["evidence"].as_str().unwrap().contains("National List"));
    assert!(
        results.iter().any(|one| one["entity_id"] == "F:nlem-01"
            && one["via"].as_array().is_some_and(|via| !via.is_empty())),
        "herbs of a formulation count"
    );
}

#[tokio::test]
async fn unknown_ids_are_all_reported_with_suggestions() {
    let input = json!({
        "herb_ids": ["H:turmric", "F:nlem-01", "H:ginger"],
        "formulation_ids": ["F:nlem-99x"],
    });
    let body = error(&kernel(), "find_contraindications", input).await;
    assert_eq!(body["error"]["code"], "INVALID_ARG");
    let message = body["error"]["message"].as_str().unwrap();
    for expected in [
        "`herb_ids[0]`: no herb is called `H:turmric`; nearest: `H:turmeric`",
        "`herb_ids[1]`: `F:nlem-01` is not a herb: it is the formulation",
        "`formulation_ids[0]`: no formulation is called `F:nlem-99x`; nearest: `F:nlem-",
    ] {
        assert!(message.contains(expected), "{expected}\n{message}");
    }
    assert!(!message.contains("herb_ids[2]"));
    let nothing = error(&kernel(), "find_contraindications", json!({})).await;
    assert!(nothing["error"]["message"].as_str().unwrap().contains("both empty"));
}

#[tokio::test]
async fn confidence_falls_with_coverage() {
    let kernel = kernel();
    let catalog = HerbCatalog::bundled().unwrap();
    let silent = catalog
        .herbs
        .iter()
        .find(|herb| {
            herb.cautions.is_empty()
                && !catalog.interactions.iter().any(|one| one.entity == herb.id)
        })
        .unwrap();
    let mut confidences = Vec::new();
    for herbs in [vec!["H:andrographis"], vec!["H:andrographis", &silent.id], vec![&silent.id]] {
        let envelope =
            call_as_owner(&kernel, "find_contraindications", json!({"herb_ids": herbs})).await;
        let Envelope::Result { meta, .. } = envelope else { panic!() };
        confidences.push(meta.value(HINTS_KEY)["confidence"].as_f64().unwrap());
    }
    assert!(confidences[0] > confidences[1] && confidences[1] > confidences[2], "{confidences:?}");
}

#[tokio::test]
async fn every_reply_carries_the_notice_in_the_callers_language() {
    let kernel = kernel();
    let calls = [
        ("query_kg", json!({"start": {"type": "herb", "id": "H:ginger"}})),
        (
            "query_kg",
            json!({"start": {"type": "herb", "id": "H:ginger"}, "filters": {"icd": "Z99"}, "pattern": "herb->indication"}),
        ),
        ("find_contraindications", json!({"herb_ids": ["H:ginger"]})),
    ];
    for (tool, input) in calls {
        for (lang, expected) in
            [(Lang::Th, "ไม่ใช่คำแนะนำทางการแพทย์"), (Lang::En, "not medical advice")]
        {
            let envelope = call_with(&kernel, tool, input.clone(), |cx| cx.lang = lang).await;
            let Envelope::Result { text, structured: Some(data), .. } = envelope else { panic!() };
            let data = data.value();
            assert!(text.contains(expected), "{tool}: {text}");
            assert!(data["notice"]["th"].as_str().unwrap().contains("ไม่ใช่คำแนะนำ"));
            assert!(data["notice"]["en"].as_str().unwrap().contains("not medical advice"));
        }
    }
}

#[tokio::test]
async fn resources_have_the_contract_members_and_reads_are_audited() {
    let kernel = kernel();
    let (herb, audit) = resource(&kernel, "kg://herb/H:andrographis").await.unwrap();
    assert_eq!(herb["id"], "H:andrographis");
    assert_eq!(herb["names"]["th"], "ฟ้าทะลายโจร");
    assert!(herb["parts"].as_array().unwrap().contains(&json!("leaf")));
    assert_eq!(herb["constituents"][0]["id"], "C:andrographolide");
    assert_eq!(herb["constituents"][0]["name"], "andrographolide");
    assert_eq!(herb["indications"][0]["icdCode"], "J00");
    assert!(herb["indications"][0]["description"].is_string());
    assert!(!herb["sources"].as_array().unwrap().is_empty());
    assert_eq!(audit["in_hash"], sha256(&json!({"uri": "kg://herb/H:andrographis"})));
    assert_eq!(audit["out_hash"], sha256(&herb));

    let (paper, _) = resource(&kernel, "paper://pmid/31377923").await.unwrap();
    for member in ["pmid", "title", "abstract", "journal"] {
        assert!(paper[member].is_string(), "{member}");
    }
    assert!(paper["authors"].as_array().unwrap().len() > 1);
    assert!(paper["year"].is_null() || paper["year"].is_u64());
    assert!(!paper["links"].as_array().unwrap().is_empty());

    let (formulation, _) = resource(&kernel, "kg://formulation/F%3Anlem-01").await.unwrap();
    assert_eq!(formulation["names"]["th"], "ยาหอมเทพจิตร");
    assert_eq!(formulation["herbs"].as_array().unwrap().len(), 35);

    let missing = resource(&kernel, "kg://herb/H:turmric").await.unwrap_err();
    assert!(missing.contains("nearest: `H:turmeric`"), "{missing}");
    let pointer = resource(&kernel, "paper://pmid/15801937").await.unwrap_err();
    assert!(pointer.contains("it is only cited"), "{pointer}");

    let rows =
        kernel.audit().read(AuditFilter { limit: 10, ..AuditFilter::default() }).await.unwrap();
    let tools: Vec<&str> = rows.iter().rev().map(|row| &*row.entry.tool).collect();
    assert_eq!(
        tools,
        [
            "resource.kg.herb",
            "resource.paper.pmid",
            "resource.kg.formulation",
            "resource.kg.herb",
            "resource.paper.pmid",
        ]
    );
}

#[tokio::test]
async fn every_herb_formulation_and_paper_can_be_read() {
    let kernel = kernel();
    let catalog = HerbCatalog::bundled().unwrap();
    let herbs = catalog.herbs.iter().map(|one| format!("kg://herb/{}", one.id));
    let formulations =
        catalog.formulations.iter().map(|one| format!("kg://formulation/{}", one.id));
    let papers = catalog.papers.iter().map(|one| format!("paper://pmid/{}", one.pmid));
    for uri in herbs.chain(formulations).chain(papers) {
        resource(&kernel, &uri).await.unwrap();
    }
}

#[tokio::test]
async fn ids_are_completed_by_id_and_by_name() {
    let kernel = kernel();
    let cx = CallContext::local(Arc::clone(kernel.clock()), TraceId::new(uuid::Uuid::from_u128(7)));
    let complete = async |template: &str, typed: &str| {
        let of = CompletionSubject::Template(template.to_owned());
        let asked = Completion { of, argument: "id".to_owned(), typed: typed.to_owned() };
        kernel.complete(&Scope::All, &asked, &cx).await.unwrap()
    };
    assert_eq!(complete("kg://herb/{id}", "H:turm").await, ["H:turmeric"]);
    assert!(complete("kg://herb/{id}", "ขมิ้น").await.contains(&"H:turmeric".to_owned()));
    assert!(complete("kg://formulation/{id}", "ยาหอม").await.contains(&"F:nlem-01".to_owned()));
    assert!(complete("paper://pmid/{id}", "313779").await.contains(&"31377923".to_owned()));
}

#[tokio::test]
async fn genus_of_several_herbs_asks_which_one_is_meant() {
    let kernel = kernel();
    for (genus, expected) in [
        ("Curcuma", ["H:turmeric", "H:zedoary", "H:comosa"].as_slice()),
        ("Zingiber", &["H:ginger", "H:plai", "H:zerumbet"]),
        ("Allium", &["H:garlic", "H:shallot"]),
    ] {
        let walk = json!({"start": {"type": "herb", "id": genus}});
        let reply = data(&kernel, "query_kg", walk).await;
        let candidates = reply["candidates"].as_array().unwrap();
        for id in expected {
            assert!(candidates.iter().any(|one| one["id"] == *id), "{genus}: {candidates:?}");
        }
        let refused = error(&kernel, "find_contraindications", json!({"herb_ids": [genus]})).await;
        assert!(refused.to_string().contains(expected[1]), "{genus}: {refused}");
    }
}

/// Herbs whose records are all unverified say so after the records about the given drug.
#[tokio::test]
async fn records_about_the_given_drugs_precede_all_others() {
    let kernel = kernel();
    let catalog = HerbCatalog::bundled().unwrap();
    let herbs: Vec<&str> = catalog.herbs.iter().map(|herb| herb.id.as_str()).collect();
    let mut monitored = 0;
    for some in herbs.chunks(50) {
        let input = json!({"herb_ids": some, "drugs": ["aspirin", "paracetamol"], "lang": "en"});
        let reply = data(&kernel, "find_contraindications", input).await;
        let results = reply["results"].as_array().unwrap();
        let asked: Vec<bool> = results.iter().map(|one| one["asked"] == json!(true)).collect();
        assert!(asked.is_sorted_by(|one, other| one >= other), "{asked:?}");
        let monitor = |one: &&Value| one["asked"] == json!(true) && one["level"] == "monitor";
        monitored += results.iter().filter(monitor).count();
    }
    assert!(monitored > 0, "a record of the lowest level is among them");
}
