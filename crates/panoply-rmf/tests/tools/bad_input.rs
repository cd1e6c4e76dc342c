//! Invalid input: every call returns an error with a hint or a correct result, never a panic.

use serde_json::{Value, json};

use crate::common::{call, error_of, kernel};

/// Asserts the error code and the words in its message or details.
async fn refused(tool: &str, arguments: Value, code: &str, words: &[&str]) {
    let result = call(&kernel(), tool, arguments.clone()).await;
    let error = error_of(&result);
    assert_eq!(error["code"], code, "{tool} {arguments}: {error}");
    assert!(!error["message"].as_str().unwrap().is_empty());
    assert!(!error["actionableHint"].as_str().unwrap().is_empty());
    for word in words {
        assert!(error.to_string().contains(word), "{tool} {arguments}: `{word}` is not in {error}");
    }
}

#[tokio::test]
async fn page_number_is_a_positive_integer() {
    for page in
        [json!(0), json!(1.5), json!(-1), json!("01"), json!("NaN"), json!("๑"), json!(1e300)]
    {
        let arguments = json!({"page": page});
        refused("get_rmf_funds", arguments, "BAD_REQUEST", &["/page", "from 1 to"]).await;
    }
    let whole = call(&kernel(), "get_rmf_funds", json!({"page": 2.0})).await;
    assert_eq!(whole["structuredContent"]["page"], 2);
}

#[tokio::test]
async fn page_size_is_limited_to_50() {
    for size in [json!(51), json!(0), json!(20.5), json!(null), json!([])] {
        let arguments = json!({"pageSize": size});
        if size.is_null() {
            let result = call(&kernel(), "get_rmf_funds", arguments).await;
            assert_eq!(result["structuredContent"]["pageSize"], 20, "null means not given");
        } else {
            refused("get_rmf_funds", arguments, "BAD_REQUEST", &["/pageSize", "from 1 to 50"])
                .await;
        }
    }
}

#[tokio::test]
async fn page_past_the_end_is_empty_and_reports_the_total() {
    let result = call(&kernel(), "get_rmf_funds", json!({"page": 22})).await;
    let data = &result["structuredContent"];
    assert_eq!((data["funds"].as_array().unwrap().len(), &data["totalPages"]), (0, &json!(21)));
}

#[tokio::test]
async fn unknown_values_and_arguments_are_rejected_with_the_allowed_ones() {
    refused("get_rmf_funds", json!({"sortBy": "5y"}), "BAD_REQUEST", &["/sortBy", "ytd", "name"])
        .await;
    refused("get_rmf_funds", json!({"sortOrder": "up"}), "BAD_REQUEST", &["asc", "desc"]).await;
    refused("get_rmf_funds", json!({"fundType": "SSF"}), "BAD_REQUEST", &["RMF"]).await;
    refused("get_rmf_funds", json!({"pagesize": 5}), "BAD_REQUEST", &["pageSize"]).await;
    let both = json!({"page": 0, "pageSize": 51});
    refused("get_rmf_funds", both, "BAD_REQUEST", &["/page", "/pageSize"]).await;
}

#[tokio::test]
async fn risk_range_is_1_to_8_and_ascending() {
    refused("search_rmf_funds", json!({"minRiskLevel": 9}), "BAD_REQUEST", &["from 1 to 8"]).await;
    refused("search_rmf_funds", json!({"maxRiskLevel": 0}), "BAD_REQUEST", &["from 1 to 8"]).await;
    refused("search_rmf_funds", json!({"maxRiskLevel": 4.5}), "BAD_REQUEST", &["maxRiskLevel"])
        .await;
    let backward = json!({"minRiskLevel": 6, "maxRiskLevel": 3});
    refused("search_rmf_funds", backward, "BAD_REQUEST", &["minRiskLevel", "6", "3"]).await;
    refused(
        "get_rmf_fund_performance",
        json!({"period": "1y", "riskLevel": 9}),
        "BAD_REQUEST",
        &["from 1 to 8"],
    )
    .await;
}

#[tokio::test]
async fn search_requires_a_filter() {
    for arguments in [json!({}), json!({"sortBy": "nav", "limit": 5}), json!({"search": "   "})] {
        refused("search_rmf_funds", arguments, "BAD_REQUEST", &["search", "category"]).await;
    }
    refused("search_rmf_funds", json!({"search": ""}), "BAD_REQUEST", &["/search"]).await;
    refused(
        "search_rmf_funds",
        json!({"amc": "K", "limit": 101}),
        "BAD_REQUEST",
        &["from 1 to 100"],
    )
    .await;
    refused("search_rmf_funds", json!({"minYtdReturn": "NaN"}), "BAD_REQUEST", &["minYtdReturn"])
        .await;
    refused("search_rmf_funds", json!({"minYtdReturn": 1e300}), "BAD_REQUEST", &["minYtdReturn"])
        .await;
}

#[tokio::test]
async fn search_without_matches_returns_an_empty_list() {
    for search in ["zzzz", "🦄", "๙๙๙๙", "'; drop table funds", "\u{0}", ".."] {
        let result = call(&kernel(), "search_rmf_funds", json!({"search": search})).await;
        assert_eq!(result["isError"], false, "{search:?}");
        assert_eq!(result["structuredContent"]["totalCount"], 0, "{search:?}");
        assert_eq!(result["structuredContent"]["funds"], json!([]));
    }
}

#[tokio::test]
async fn comparison_requires_two_to_five_distinct_funds() {
    let codes = ["ABAPAC-RMF", "B-ASIARMF", "ES-GOLDRMF-UH", "KT25/75RMF", "ERMF", "BFLRMF"];
    refused("compare_rmf_funds", json!({"fundCodes": []}), "BAD_REQUEST", &["from 2 to 5"]).await;
    refused("compare_rmf_funds", json!({"fundCodes": codes[..1]}), "BAD_REQUEST", &["from 2 to 5"])
        .await;
    refused("compare_rmf_funds", json!({"fundCodes": codes}), "BAD_REQUEST", &["from 2 to 5"])
        .await;
    let twice = json!({"fundCodes": ["ABAPAC-RMF", "abapac rmf"]});
    refused("compare_rmf_funds", twice, "BAD_REQUEST", &["ABAPAC-RMF", "twice"]).await;
    let empty = json!({"fundCodes": ["ABAPAC-RMF", ""]});
    refused("compare_rmf_funds", empty, "BAD_REQUEST", &["fundCodes"]).await;
    let blank = json!({"fundCodes": ["ABAPAC-RMF", "  "]});
    refused("compare_rmf_funds", blank, "BAD_REQUEST", &["empty"]).await;
    refused("compare_rmf_funds", json!({"fundCodes": "ABAPAC-RMF"}), "BAD_REQUEST", &["array"])
        .await;
    let by = json!({"fundCodes": codes[..2], "compareBy": "beauty"});
    refused("compare_rmf_funds", by, "BAD_REQUEST", &["performance", "fees"]).await;
}

#[tokio::test]
async fn comparison_error_lists_every_unknown_code() {
    let codes = json!({"fundCodes": ["NO-SUCH-ONE", "ABAPAC-RMF", "NOR-THIS-ONE"]});
    refused("compare_rmf_funds", codes, "NOT_FOUND", &["NO-SUCH-ONE", "NOR-THIS-ONE"]).await;
}

#[tokio::test]
async fn unknown_code_suggests_similar_codes() {
    for tool in [
        "get_rmf_fund_detail",
        "get_rmf_fund_nav_history",
        "get_rmf_peer_rank",
        "get_rmf_risk_metrics",
    ] {
        let result = call(&kernel(), tool, json!({"fundCode": "ABAPC-RMF"})).await;
        let error = error_of(&result);
        assert_eq!(error["code"], "NOT_FOUND");
        assert!(error["message"].as_str().unwrap().contains("ABAPC-RMF"));
        let suggestions = error["details"]["suggestions"].as_array().unwrap();
        assert_eq!(suggestions[0], "ABAPAC-RMF", "{tool}");
        assert!(suggestions.len() <= 3, "{tool}");
        let result = call(&kernel(), tool, json!({"fundCode": "NOPE"})).await;
        let error = error_of(&result);
        assert_eq!(error["details"]["suggestions"], json!([]), "{tool}: nothing is near");
        assert!(error["actionableHint"].as_str().unwrap().contains("search_rmf_funds"), "{tool}");
    }
}

#[tokio::test]
async fn malformed_codes_are_rejected_and_unknown_ones_not_found() {
    for tool in ["get_rmf_fund_detail", "get_rmf_fund_nav_history"] {
        refused(tool, json!({}), "BAD_REQUEST", &["/fundCode", "is required"]).await;
        refused(tool, json!({"fundCode": ""}), "BAD_REQUEST", &["/fundCode"]).await;
        refused(tool, json!({"fundCode": "   "}), "BAD_REQUEST", &["empty"]).await;
        refused(tool, json!({"fundCode": 7}), "BAD_REQUEST", &["/fundCode"]).await;
        let long = "X".repeat(10_000);
        refused(tool, json!({"fundCode": long}), "BAD_REQUEST", &["from 1 to 160 characters"])
            .await;
        refused(tool, json!({"fundCode": "🦄🦄"}), "NOT_FOUND", &["🦄🦄"]).await;
        refused(tool, json!({"fundCode": "../../etc/passwd"}), "NOT_FOUND", &["passwd"]).await;
    }
}

#[tokio::test]
async fn whole_names_are_accepted_where_codes_are() {
    for (name, code) in [
        ("Bualuang Asia Equity RMF", "B-ASIARMF"),
        ("กองทุนเปิดบัวหลวงหุ้นเอเชียเพื่อการเลี้ยงชีพ", "B-ASIARMF"),
        ("abrdn asia pacific equity retirement mutual fund", "ABAPAC-RMF"),
    ] {
        let result = call(&kernel(), "get_rmf_fund_detail", json!({"fundCode": name})).await;
        assert_eq!(result["structuredContent"]["fund"]["symbol"], code, "{name}");
    }
    let classes =
        call(&kernel(), "get_rmf_fund_detail", json!({"fundCode": "TISCO Gold RMF"})).await;
    let suggestions = &error_of(&classes)["details"]["suggestions"];
    assert_eq!(*suggestions, json!(["TGOLDRMF-A", "TGOLDRMF-P"]), "a name of several classes");
}

#[tokio::test]
async fn thai_digits_in_a_code_are_folded() {
    let result = call(&kernel(), "get_rmf_fund_detail", json!({"fundCode": "kt๒๕/๗๕ rmf"})).await;
    assert_eq!(result["structuredContent"]["fund"]["symbol"], "KT25/75RMF");
}

#[tokio::test]
async fn days_argument_is_1_to_365() {
    for days in [json!(0), json!(366), json!(-3), json!(1.5), json!("030")] {
        let arguments = json!({"fundCode": "ABAPAC-RMF", "days": days});
        refused("get_rmf_fund_nav_history", arguments, "BAD_REQUEST", &["from 1 to 365"]).await;
    }
}

#[tokio::test]
async fn period_argument_is_a_factsheet_period() {
    for period in ["2w", "10y", "YTD", ""] {
        let arguments = json!({"period": period});
        refused("get_rmf_fund_performance", arguments, "BAD_REQUEST", &["ytd", "5y"]).await;
    }
    refused("get_rmf_fund_performance", json!({}), "BAD_REQUEST", &["/period"]).await;
    let many = json!({"period": "ytd", "limit": 51});
    refused("get_rmf_fund_performance", many, "BAD_REQUEST", &["from 1 to 50"]).await;
}

#[tokio::test]
async fn amounts_and_dates_are_validated() {
    refused("calc_rmf_tax_benefit", json!({}), "BAD_REQUEST", &["annualIncome"]).await;
    refused("calc_rmf_tax_benefit", json!({"annualIncome": -1}), "BAD_REQUEST", &["annualIncome"])
        .await;
    refused(
        "calc_rmf_tax_benefit",
        json!({"annualIncome": 1e12}),
        "BAD_REQUEST",
        &["annualIncome"],
    )
    .await;
    refused(
        "calc_rmf_tax_benefit",
        json!({"annualIncome": 1, "taxYear": 2300}),
        "BAD_REQUEST",
        &["taxYear"],
    )
    .await;
    let holding = |born: &str, bought: &str| json!({"birthDate": born, "purchases": [{"date": bought}], "onDate": "2026-01-01"});
    refused(
        "check_rmf_holding",
        holding("2564-01-01", "2020-01-01"),
        "BAD_REQUEST",
        &["before the birth"],
    )
    .await;
    refused(
        "check_rmf_holding",
        holding("1970-13-01", "2020-01-01"),
        "BAD_REQUEST",
        &["birthDate"],
    )
    .await;
    refused("check_rmf_holding", holding("1970-01-01", "2027-01-01"), "BAD_REQUEST", &["after"])
        .await;
    refused(
        "check_rmf_holding",
        holding("1970-01-01", "๒๐๒๐-๐๑-๐๑"),
        "BAD_REQUEST",
        &["purchases/0/date"],
    )
    .await;
    refused(
        "check_rmf_holding",
        json!({"birthDate": "1970-01-01", "purchases": []}),
        "BAD_REQUEST",
        &["purchases"],
    )
    .await;
}
