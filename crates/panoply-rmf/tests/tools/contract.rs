//! Contract checks of every tool.

use std::sync::Arc;

use crate::common::{call, call_in, kernel};
use panoply_contract::context::{Caller, Lang};
use panoply_contract::kernel::{ListingMode, Scope, Settings};
use panoply_contract::spec::ResponseTime;
use panoply_contract::testing::{self, FixedClock, check_pack};
use panoply_rmf::store::FundStore;
use panoply_rmf::tools::pack;
use serde_json::json;

#[tokio::test]
async fn pack_has_no_contract_violations() {
    let violations = check_pack(pack(Arc::new(FundStore::bundled().unwrap()))).await;
    let listed: Vec<String> = violations.iter().map(ToString::to_string).collect();
    assert!(listed.is_empty(), "{}", listed.join("\n"));
}

#[test]
fn contract_tools_and_the_tax_calculator_are_listed() {
    let names = |offer: ListingMode| -> Vec<&'static str> {
        let store = Arc::new(FundStore::bundled().unwrap());
        let settings = Settings { offer, ..Settings::default() };
        let clock = FixedClock::at(testing::noon());
        let kernel = testing::kernel_in_memory(vec![pack(store)], clock, settings).unwrap();
        let listed = kernel.listed(&Scope::All, &Caller::local_owner());
        listed.iter().filter(|entry| entry.pack == "rmf").map(|entry| entry.spec.name).collect()
    };
    assert_eq!(
        names(ListingMode::Core),
        [
            "get_rmf_funds",
            "search_rmf_funds",
            "get_rmf_fund_detail",
            "get_rmf_fund_performance",
            "get_rmf_fund_nav_history",
            "compare_rmf_funds",
            "calc_rmf_tax_benefit",
            "screen_rmf_funds",
            "check_rmf_holding",
        ]
    );
    assert_eq!(names(ListingMode::All).len(), 15);
}

#[test]
fn every_tool_is_read_only_and_discoverable() {
    let kernel = kernel();
    for entry in kernel.registry().get_all().iter().filter(|entry| entry.pack == "rmf") {
        let spec = entry.spec;
        assert!(!spec.category.mutates() && !spec.annotations.open_world, "{}", spec.name);
        for keyword in ["RMF", "retirement", "mutual fund", "Thailand", "tax", "NAV", "performance"]
        {
            assert!(spec.tags.contains(&keyword), "{} lacks {keyword}", spec.name);
        }
        let contract = [
            "get_rmf_funds",
            "search_rmf_funds",
            "get_rmf_fund_detail",
            "get_rmf_fund_performance",
            "get_rmf_fund_nav_history",
            "compare_rmf_funds",
        ];
        if contract.contains(&spec.name) {
            for keyword in spec.tags {
                assert!(spec.description.returns.contains(keyword), "{}: {keyword}", spec.name);
            }
        }
        assert!(spec.description.asks.len() >= 2, "{}", spec.name);
        assert!(spec.description.when.starts_with("Use this when"), "{}", spec.name);
        assert!(spec.description.when.contains("Do not use it"), "{}", spec.name);
        assert!(!spec.title.is_empty());
    }
}

/// The six tools of the contract, each with the arguments that it requires.
fn contract_calls() -> [(&'static str, serde_json::Value); 6] {
    [
        ("get_rmf_funds", json!({})),
        ("search_rmf_funds", json!({"search": "equity"})),
        ("get_rmf_fund_detail", json!({"fundCode": "ABAPAC-RMF"})),
        ("get_rmf_fund_performance", json!({"period": "1y"})),
        ("get_rmf_fund_nav_history", json!({"fundCode": "ABAPAC-RMF"})),
        ("compare_rmf_funds", json!({"fundCodes": ["ABAPAC-RMF", "B-ASIARMF"]})),
    ]
}

#[test]
fn discovery_keywords_stand_in_what_the_tool_list_sends() {
    let kernel = kernel();
    let listed = kernel.listed(&Scope::All, &Caller::local_owner());
    for (tool, _) in contract_calls() {
        let entry = listed.iter().find(|entry| entry.spec.name == tool).unwrap();
        let sent = entry.listed_text.unwrap_or(&entry.description).to_lowercase();
        for keyword in ["RMF", "retirement", "mutual fund", "Thailand", "tax", "NAV", "performance"]
        {
            assert!(sent.contains(&keyword.to_lowercase()), "{tool} lacks {keyword}: {sent}");
        }
    }
}

/// Counted: text, structured content and `_meta` with hints and audit, as compact JSON.
#[tokio::test]
async fn contract_tools_reply_within_8_kilobytes_at_their_defaults() {
    let kernel = kernel();
    let funds = ["ABAPAC-RMF", "B-ASIARMF", "ES-GOLDRMF-UH", "TINRMF-B"];
    let more = [
        ("search_rmf_funds", json!({"category": "EQUITY"})),
        ("get_rmf_fund_detail", json!({"fundCode": "TINRMF-B"})),
        ("get_rmf_fund_nav_history", json!({"fundCode": "ABAPAC-RMF", "days": 365})),
        ("compare_rmf_funds", json!({"fundCodes": funds})),
    ];
    let mut too_large = Vec::new();
    for lang in [Lang::En, Lang::Th] {
        for (tool, arguments) in contract_calls().into_iter().chain(more.clone()) {
            let reply = call_in(&kernel, tool, arguments, lang).await;
            let bytes = reply.to_string().len();
            println!("{tool} {lang:?}: {bytes} bytes");
            too_large.extend((bytes > 8 * 1024).then(|| format!("{tool} {lang:?}: {bytes} bytes")));
        }
    }
    assert!(too_large.is_empty(), "{too_large:#?}");
}

#[tokio::test]
async fn identical_calls_return_identical_bytes() {
    let calls = [
        ("get_rmf_funds", json!({})),
        ("search_rmf_funds", json!({"category": "EQUITY", "limit": 100})),
        ("get_rmf_fund_detail", json!({"fundCode": "ABAPAC-RMF"})),
        ("get_rmf_fund_performance", json!({"period": "5y", "limit": 50})),
        ("get_rmf_fund_nav_history", json!({"fundCode": "KT25/75RMF", "days": 365})),
        ("compare_rmf_funds", json!({"fundCodes": ["ABAPAC-RMF", "B-ASIARMF"]})),
        ("get_rmf_peer_rank", json!({"fundCode": "ABAPAC-RMF"})),
        ("get_rmf_risk_metrics", json!({"fundCode": "ABAPAC-RMF"})),
        ("calc_rmf_tax_benefit", json!({"annualIncome": 1_200_000})),
        (
            "check_rmf_holding",
            json!({"birthDate": "1970-01-01", "purchases": [{"date": "2020-01-01"}]}),
        ),
        ("get_rmf_data_status", json!({})),
    ];
    let (first, second) = (kernel(), kernel());
    for (tool, arguments) in calls {
        let one = call(&first, tool, arguments.clone()).await;
        let other = call(&second, tool, arguments).await;
        assert_eq!(one["isError"], false, "{one}");
        assert_eq!(one.to_string(), other.to_string(), "{tool}");
    }
}

#[tokio::test]
async fn twenty_fund_list_fits_in_8_kilobytes() {
    const EIGHT: usize = 8 * 1024;
    let kernel = kernel();
    let mut largest = 0;
    for sort_by in ["ytd", "1y", "risk", "nav", "name"] {
        for page in 1..=20 {
            let arguments = json!({"sortBy": sort_by, "page": page});
            let reply = call(&kernel, "get_rmf_funds", arguments).await;
            assert_eq!(reply["structuredContent"]["funds"].as_array().unwrap().len(), 20);
            let bytes = reply.to_string().len();
            println!("{sort_by} {page}: {bytes}");
            largest = largest.max(bytes);
        }
    }
    assert!(largest <= EIGHT, "{largest} bytes");
}

/// A call of class Fast times out after one second. `panoply-bench rmf` measures the actual
/// latency.
#[test]
fn every_tool_declares_the_fast_response_class() {
    let kernel = kernel();
    let tools = kernel.registry().get_all().iter().filter(|entry| entry.pack == "rmf");
    let slow: Vec<&str> = tools
        .filter(|entry| entry.spec.response_time != ResponseTime::Fast)
        .map(|entry| entry.spec.name)
        .collect();
    // A thousand simulated paths take longer; the contract's six tools do not.
    assert_eq!(slow, ["simulate_rmf_plan"]);
}
