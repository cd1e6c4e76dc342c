//! Reply format: contract fields other than the figures.

use jiff::civil::date;
use panoply_contract::context::Lang;
use panoply_contract::kernel::Scope;
use panoply_contract::resource::{Completion, CompletionSubject, ResourceBody};
use panoply_rmf::catalog::FundCatalog;
use panoply_rmf::nav::{NavPoint, NavSeries};
use rust_decimal::Decimal;
use serde_json::{Value, json};

use crate::common::{call, call_in, kernel, kernel_over, text_of};

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

#[tokio::test]
async fn every_reply_names_its_widget() {
    let kernel = kernel();
    let cases = [
        ("get_rmf_funds", json!({}), "rmf-fund-list"),
        ("search_rmf_funds", json!({"search": "gold"}), "rmf-fund-list"),
        ("get_rmf_fund_performance", json!({"period": "1y"}), "rmf-fund-list"),
        ("get_rmf_fund_detail", json!({"fundCode": "ABAPAC-RMF"}), "rmf-fund-card"),
        ("get_rmf_fund_nav_history", json!({"fundCode": "ABAPAC-RMF"}), "rmf-performance-chart"),
        ("get_rmf_fund_nav_series", json!({"fundCode": "ABAPAC-RMF"}), "rmf-performance-chart"),
        ("compare_rmf_funds", json!({"fundCodes": ["ERMF", "ABAPAC-RMF"]}), "rmf-fund-comparison"),
        (
            "simulate_rmf_plan",
            json!({"fundCode": "ABAPAC-RMF", "monthly": 5000, "years": 5}),
            "rmf-saving-plan",
        ),
    ];
    for (tool, arguments, page) in cases {
        let meta = call(&kernel, tool, arguments).await["_meta"].clone();
        assert_eq!(meta["openai/outputTemplate"], format!("component://{page}"), "{tool}");
        assert_eq!(meta["ui"]["resourceUri"], format!("ui://panoply/{page}-v1.html"), "{tool}");
        assert_eq!(meta["timestamp"], "2026-11-15T12:00:00Z", "{tool}");
        assert_eq!(meta["dataAsOf"]["returns"], "2025-09-30", "{tool}");
        for part in ["panoply/agentHints", "panoply/metadata", "panoply/audit"] {
            assert!(meta[part].is_object(), "{tool} lacks {part}");
        }
    }
}

#[tokio::test]
async fn meta_echoes_the_applied_arguments() {
    let kernel = kernel();
    let list = call(&kernel, "get_rmf_funds", json!({"search": "gold"})).await;
    assert_eq!(
        list["_meta"]["filters"],
        json!({"sortBy": "ytd", "sortOrder": "desc", "search": "gold"})
    );
    let ranked =
        call(&kernel, "get_rmf_fund_performance", json!({"period": "3m", "riskLevel": 6})).await;
    assert_eq!(
        ranked["_meta"]["filters"],
        json!({"period": "3m", "sortBy": "desc", "limit": 10, "riskLevel": 6})
    );
    let history = call(&kernel, "get_rmf_fund_nav_history", json!({"fundCode": "ERMF"})).await;
    assert_eq!(history["_meta"]["days"], 30);
    let compared =
        call(&kernel, "compare_rmf_funds", json!({"fundCodes": ["ERMF", "BFLRMF"]})).await;
    assert_eq!(
        (&compared["_meta"]["compareBy"], &compared["_meta"]["fundCount"]),
        (&json!("all"), &json!(2))
    );
    let found =
        call(&kernel, "search_rmf_funds", json!({"minYtdReturn": 0, "category": "equity"})).await;
    assert_eq!(
        found["structuredContent"]["appliedFilters"],
        json!({"minYtdReturn": 0, "category": "equity"}),
        "a filter of zero is a filter"
    );
}

#[tokio::test]
async fn fund_rows_have_the_contract_fields_in_order() {
    let kernel = kernel();
    let list = call(&kernel, "get_rmf_funds", json!({})).await;
    assert_eq!(
        keys(&list["structuredContent"]),
        ["funds", "totalCount", "page", "pageSize", "totalPages", "dataAge"]
    );
    assert_eq!(
        keys(&list["structuredContent"]["funds"][0]),
        [
            "symbol",
            "fund_name",
            "amc",
            "nav_value",
            "nav_date",
            "nav_change_percent",
            "risk_level",
            "perf_ytd",
            "perf_1y",
            "fund_classification",
        ]
    );
    let found = call(&kernel, "search_rmf_funds", json!({"search": "gold"})).await;
    assert_eq!(
        keys(&found["structuredContent"]),
        ["funds", "totalCount", "appliedFilters", "leftOutWithoutYtd", "dataAge"]
    );
    let ranked = call(&kernel, "get_rmf_fund_performance", json!({"period": "1y"})).await;
    assert_eq!(keys(&ranked["structuredContent"]), ["period", "funds", "periodStats", "dataAge"]);
    assert_eq!(
        keys(&ranked["structuredContent"]["funds"][0]),
        [
            "symbol",
            "fund_name",
            "amc",
            "risk_level",
            "performance",
            "benchmark_performance",
            "outperformance",
            "nav_value",
            "nav_date",
        ]
    );
    assert_eq!(
        keys(&ranked["structuredContent"]["periodStats"]),
        ["average", "median", "min", "max", "fundsCounted"]
    );
    let history = call(&kernel, "get_rmf_fund_nav_history", json!({"fundCode": "ERMF"})).await;
    assert_eq!(
        keys(&history["structuredContent"]),
        [
            "fundCode",
            "fundName",
            "navHistory",
            "periodReturn",
            "volatility",
            "minNav",
            "maxNav",
            "avgNav",
            "currentNav",
            "currentDate",
            "dataAge",
        ]
    );
    let compared =
        call(&kernel, "compare_rmf_funds", json!({"fundCodes": ["ERMF", "BFLRMF"]})).await;
    assert_eq!(
        keys(&compared["structuredContent"]["funds"][0]),
        [
            "symbol",
            "fund_name",
            "amc",
            "risk_level",
            "perf_ytd",
            "perf_1y",
            "perf_3y",
            "perf_5y",
            "benchmark_name",
            "benchmark_ytd",
            "benchmark_1y",
            "fees",
            "volatility_1y",
            "tracking_error",
            "nav_value",
            "nav_date",
        ]
    );
    assert_eq!(
        keys(&compared["structuredContent"]["comparisonHighlights"]),
        ["bestYtd", "worstYtd", "lowestRisk", "highestRisk", "lowestFees"]
    );
}

#[tokio::test]
async fn fund_detail_has_every_contract_field() {
    let result = call(&kernel(), "get_rmf_fund_detail", json!({"fundCode": "ABAPAC-RMF"})).await;
    let fund = &result["structuredContent"]["fund"];
    let fields = [
        "fund_id",
        "symbol",
        "fund_name",
        "amc",
        "fund_classification",
        "management_style",
        "dividend_policy",
        "risk_level",
        "fund_type",
        "nav_date",
        "nav_value",
        "nav_change",
        "nav_change_percent",
        "buy_price",
        "sell_price",
        "perf_ytd",
        "perf_3m",
        "perf_6m",
        "perf_1y",
        "perf_3y",
        "perf_5y",
        "perf_10y",
        "perf_since_inception",
        "benchmark_name",
        "benchmark_ytd",
        "benchmark_3m",
        "benchmark_6m",
        "benchmark_1y",
        "benchmark_3y",
        "benchmark_5y",
        "benchmark_10y",
        "asset_allocation",
        "fees",
        "min_initial",
        "min_additional",
        "min_redemption",
        "min_balance",
        "factsheet_url",
        "annual_report_url",
        "halfyear_report_url",
        "suitability_risk_level",
        "suitability_target_investor",
        "suitability_investment_horizon",
    ];
    for field in fields {
        assert!(fund.get(field).is_some(), "{field} is missing");
    }
    assert_eq!(
        fund["asset_allocation"][0],
        json!({"asset_class": "Unit Trust", "percentage": 98.9})
    );
    assert_eq!(fund["fees"], Value::Null, "fees without a value are null, not zero");
    assert!(fund["suitability_risk_level_text"].as_str().unwrap().starts_with("เสี่ยงสูง"));
    let sparkline = result["_meta"]["navHistory7d"].as_array().unwrap();
    assert_eq!((sparkline.len(), keys(&sparkline[6])), (7, vec!["date", "nav"]));
    assert_eq!(sparkline[6], json!({"date": "2025-11-07", "nav": 15.626}));
}

#[tokio::test]
async fn missing_figures_are_null_and_flagged() {
    let kernel = kernel();
    let offered = call(&kernel, "get_rmf_fund_detail", json!({"fundCode": "B-USPASSIVERMF"})).await;
    let fund = &offered["structuredContent"]["fund"];
    for field in ["nav_value", "nav_date", "nav_change", "perf_ytd", "benchmark_ytd"] {
        assert_eq!(fund[field], Value::Null, "{field}");
    }
    assert_eq!(fund["data_flags"], json!(["no_nav"]));
    assert_eq!(offered["_meta"]["navHistory7d"], json!([]));
    let history =
        call(&kernel, "get_rmf_fund_nav_history", json!({"fundCode": "B-USPASSIVERMF"})).await;
    assert_eq!(history["structuredContent"]["navHistory"], json!([]));
    assert_eq!(history["structuredContent"]["currentNav"], Value::Null);
    let shared = call(&kernel, "get_rmf_fund_detail", json!({"fundCode": "GOLD-RMF-P"})).await;
    assert_eq!(
        shared["structuredContent"]["fund"]["share_classes"],
        json!(["GOLD-RMF-A", "GOLD-RMF-P"])
    );
    let warnings = &shared["_meta"]["panoply/agentHints"]["warnings"];
    assert_eq!(warnings[0]["relatedIds"], json!(["GOLD-RMF-P"]));
    let list = call(&kernel, "search_rmf_funds", json!({"search": "GOLD-RMF"})).await;
    assert_eq!(
        list["_meta"]["dataFlags"],
        json!({"share_class_figures_shared": ["GOLD-RMF-A", "GOLD-RMF-P"]})
    );
}

#[tokio::test]
async fn history_and_comparison_work_for_every_fund() {
    let kernel = kernel();
    let catalog = FundCatalog::bundled().unwrap();
    for fund in catalog.funds() {
        let code = &fund.symbol;
        let history =
            call(&kernel, "get_rmf_fund_nav_history", json!({"fundCode": code, "days": 365})).await;
        assert_eq!(history["structuredContent"]["fundCode"], *code);
        let days = history["structuredContent"]["navHistory"].as_array().unwrap();
        assert_eq!(days.len(), fund.nav.points().len(), "{code}");
        let other = if code == "ERMF" { "ABAPAC-RMF" } else { "ERMF" };
        let compared =
            call(&kernel, "compare_rmf_funds", json!({"fundCodes": [code, other]})).await;
        assert_eq!(compared["structuredContent"]["funds"][0]["symbol"], *code);
        let detail = call(&kernel, "get_rmf_fund_detail", json!({"fundCode": code})).await;
        assert_eq!(detail["structuredContent"]["fund"]["symbol"], *code);
    }
}

#[tokio::test]
async fn reply_texts_follow_the_locale_and_name_both_dates() {
    let kernel = kernel();
    let calls = [
        ("get_rmf_funds", json!({})),
        ("search_rmf_funds", json!({"search": "gold"})),
        ("get_rmf_fund_detail", json!({"fundCode": "ABAPAC-RMF"})),
        ("compare_rmf_funds", json!({"fundCodes": ["ABAPAC-RMF", "B-ASIARMF"]})),
        ("get_rmf_data_status", json!({})),
    ];
    for (tool, arguments) in calls {
        let english = call_in(&kernel, tool, arguments.clone(), Lang::En).await;
        let thai = call_in(&kernel, tool, arguments, Lang::Th).await;
        let text = |result: &Value| result["content"][0]["text"].as_str().unwrap().to_owned();
        assert!(
            (text(&english).contains("Nov 2025") || text(&english).contains("2025-11-07"))
                && text(&english).contains("30 Sep 2025"),
            "{tool}: {}",
            text(&english)
        );
        assert!(
            text(&thai).contains("พ.ย. 2568") && text(&thai).contains("30 ก.ย. 2568"),
            "{tool}: {}",
            text(&thai)
        );
        assert_eq!(
            english["structuredContent"], thai["structuredContent"],
            "{tool}: data have no language"
        );
    }
}

#[tokio::test]
async fn every_tool_answers_in_thai() {
    let kernel = kernel();
    let calls = [
        ("get_rmf_fund_performance", json!({"period": "ytd"})),
        ("get_rmf_fund_nav_history", json!({"fundCode": "ABAPAC-RMF"})),
        ("get_rmf_fund_nav_series", json!({"fundCode": "ABAPAC-RMF"})),
        ("get_rmf_peer_rank", json!({"fundCode": "ABAPAC-RMF"})),
        ("get_rmf_risk_metrics", json!({"fundCode": "ABAPAC-RMF"})),
        ("calc_rmf_tax_benefit", json!({"annualIncome": 1_200_000})),
        (
            "check_rmf_holding",
            json!({"birthDate": "1990-01-01", "purchases": [{"date": "2024-06-01"}]}),
        ),
    ];
    for (tool, arguments) in calls {
        let result = call_in(&kernel, tool, arguments, Lang::Th).await;
        let text = result["content"][0]["text"].as_str().unwrap();
        let thai = text.chars().filter(|c| ('\u{0E00}'..='\u{0E7F}').contains(c)).count();
        assert!(thai > 40, "{tool}: {text}");
    }
}

#[tokio::test]
async fn reply_texts_are_short_and_not_json() {
    let kernel = kernel();
    let calls = [
        ("get_rmf_funds", json!({"pageSize": 50})),
        ("search_rmf_funds", json!({"category": "EQUITY", "limit": 100})),
        ("get_rmf_fund_nav_history", json!({"fundCode": "ABAPAC-RMF", "days": 365})),
        ("get_rmf_fund_performance", json!({"period": "ytd", "limit": 50})),
    ];
    for (tool, arguments) in calls {
        let result = call(&kernel, tool, arguments).await;
        let text = result["content"][0]["text"].as_str().unwrap();
        assert!(text.len() <= 2_900 && !text.contains('{'), "{tool}: {} bytes", text.len());
    }
}

#[tokio::test]
async fn fund_resources_are_readable_by_uri_and_codes_complete() {
    let kernel = kernel();
    let trace = panoply_contract::ids::TraceId::new(uuid::Uuid::from_u128(1));
    let cx =
        panoply_contract::context::CallContext::local(std::sync::Arc::clone(kernel.clock()), trace);
    let content = kernel.read_resource(&Scope::All, "rmf://fund/KT25%2F75RMF", &cx).await.unwrap();
    let ResourceBody::Text(text) = content.body else { panic!("a fund is text") };
    assert_eq!(serde_json::from_str::<Value>(&text).unwrap()["symbol"], "KT25/75RMF");
    assert!(kernel.read_resource(&Scope::All, "rmf://about", &cx).await.is_ok());
    for page in ["fund-list", "fund-card", "performance-chart", "fund-comparison", "saving-plan"] {
        let uri = format!("component://rmf-{page}");
        let content = kernel.read_resource(&Scope::All, &uri, &cx).await.unwrap();
        let ResourceBody::Text(html) = content.body else { panic!("{uri} is text") };
        assert!(
            html.starts_with("<!doctype html>") || html.starts_with("<!DOCTYPE html>"),
            "{uri}"
        );
    }
    let unknown = kernel.read_resource(&Scope::All, "rmf://fund/NOBODY", &cx).await.unwrap_err();
    assert_eq!(unknown.code, "NOT_FOUND");
    let complete = async |of, typed: &str| {
        let (argument, typed) = ("fundCode".to_owned(), typed.to_owned());
        kernel.complete(&Scope::All, &Completion { of, argument, typed }, &cx).await.unwrap()
    };
    let prompt = CompletionSubject::Prompt("review-rmf".to_owned());
    assert_eq!(complete(prompt, "kt25").await, ["KT25/75RMF"]);
    let template = CompletionSubject::Template("rmf://fund/{fundCode}".to_owned());
    assert_eq!(complete(template, "").await.len(), 100);
}

#[tokio::test]
async fn nav_series_of_ten_years_is_thinned_out_and_measured_over_all_days() {
    let mut fund = FundCatalog::bundled().unwrap().find("ABAPAC-RMF").unwrap().clone();
    // Every day from 15 November 2016: rising by 0.001 a day from 10, with one day at 4.
    let day = |number: i64| NavPoint {
        date: date(2016, 11, 15) + jiff::Span::new().days(number),
        nav: if number == 1_200 { 4.into() } else { Decimal::new(10_000 + number, 3) },
    };
    fund.nav = NavSeries::new((0..3_652).map(day).collect()).unwrap();
    let kernel = kernel_over(vec![fund], "2026-11-15T05:00:00Z");
    let arguments = json!({"fundCode": "ABAPAC-RMF", "since": "15/11/2559"});
    let reply = call(&kernel, "get_rmf_fund_nav_series", arguments).await;
    let data = &reply["structuredContent"];
    let shown = data["navHistory"].as_array().unwrap();
    assert!((100..=120).contains(&shown.len()), "{}", shown.len());
    assert_eq!(data["records"], 3_652);
    assert_eq!(data["since"], "2016-11-15");
    assert_eq!(shown[0], json!({"date": "2016-11-15", "nav": 10}));
    assert_eq!(shown[shown.len() - 1], json!({"date": "2026-11-14", "nav": 13.651}));
    assert!(shown.iter().any(|point| point["nav"] == 4), "the lowest day is among the points");
    // From 11.199 the day before to 4.
    assert_eq!(data["maxDrawdown"]["percent"], -64.2825);
    assert_eq!(data["maxDrawdown"]["trough"], "2020-02-28");
    assert_eq!(data["periodReturn"], 36.51);
    assert_eq!(data["benchmark"]["name"], "ดัชนี MSCI AC Asia-Pacific ex Japan");
    let year = data["benchmark"]["returns"].as_array().unwrap();
    assert!(year.contains(&json!({"period": "1y", "fund": 6.65, "benchmark": 16.28})), "{year:?}");
    assert!(reply.to_string().len() < 9 * 1024, "{}", reply.to_string().len());
    let thai = call_in(
        &kernel,
        "get_rmf_fund_nav_series",
        json!({"fundCode": "ABAPAC-RMF", "years": 1, "points": 10}),
        Lang::Th,
    )
    .await;
    assert!(text_of(&thai).contains("15 พ.ย. 2568 ถึง 14 พ.ย. 2569"), "{}", text_of(&thai));
    assert!(thai["structuredContent"]["navHistory"].as_array().unwrap().len() <= 10);
}
