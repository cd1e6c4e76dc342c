//! Errors for Thai callers: message and hint in Thai, codes and argument names unchanged.

use panoply_contract::context::Lang;
use serde_json::{Value, json};

use crate::common::{call_in, error_of, kernel};

/// Arguments that pass the schema and fail in the pack, with words of the Thai message.
fn cases() -> Vec<(&'static str, Value, &'static str, &'static str)> {
    let bought = json!([{"date": "2020-03-02"}]);
    vec![
        ("get_rmf_fund_detail", json!({"fundCode": "  "}), "BAD_REQUEST", "ไม่ได้ระบุรหัสกองทุน"),
        ("get_rmf_fund_detail", json!({"fundCode": "NOPE"}), "NOT_FOUND", "ไม่มีกองทุนรหัส `NOPE`"),
        (
            "compare_rmf_funds",
            json!({"fundCodes": ["ERMF", " "]}),
            "BAD_REQUEST",
            "ไม่ได้ระบุรหัสกองทุน",
        ),
        (
            "compare_rmf_funds",
            json!({"fundCodes": ["NO-1", "ERMF", "NO-2"]}),
            "NOT_FOUND",
            "ไม่มีกองทุนรหัส `NO-1`, `NO-2`",
        ),
        (
            "compare_rmf_funds",
            json!({"fundCodes": ["ERMF", "ermf"]}),
            "BAD_REQUEST",
            "มี `ERMF` ซ้ำกัน",
        ),
        (
            "compare_rmf_holdings",
            json!({"fundCodes": ["ERMF", "ermf"]}),
            "BAD_REQUEST",
            "มี `ERMF` ซ้ำกัน",
        ),
        ("search_rmf_funds", json!({}), "BAD_REQUEST", "ไม่ได้ระบุเงื่อนไขการค้นหา"),
        (
            "search_rmf_funds",
            json!({"minRiskLevel": 6, "maxRiskLevel": 3}),
            "BAD_REQUEST",
            "`minRiskLevel` 6 มากกว่า `maxRiskLevel` 3",
        ),
        ("get_rmf_peer_rank", json!({"fundCode": "B-ASIARMF"}), "NOT_FOUND", "ไม่อยู่ในกลุ่ม"),
        (
            "get_rmf_peer_rank",
            json!({"fundCode": "K-WORLDXRMF", "period": "5y"}),
            "NOT_FOUND",
            "ไม่มีผลตอบแทนช่วง 5y",
        ),
        (
            "simulate_rmf_plan",
            json!({"fundCode": "ABAPAC-RMF", "years": 10}),
            "BAD_REQUEST",
            "ไม่มีเงินลงทุน",
        ),
        (
            "simulate_rmf_plan",
            json!({"fundCode": "ABAPAC-RMF", "monthly": 5000}),
            "BAD_REQUEST",
            "ไม่ได้ระบุระยะเวลา",
        ),
        (
            "simulate_rmf_plan",
            json!({"fundCode": "B-USPASSIVERMF", "monthly": 5000, "years": 5}),
            "NOT_FOUND",
            "`B-USPASSIVERMF` ไม่มีผลตอบแทน",
        ),
        (
            "calc_rmf_tax_benefit",
            json!({"annualIncome": 1, "taxYear": 2300}),
            "BAD_REQUEST",
            "`taxYear` คือ 2300",
        ),
        (
            "check_rmf_holding",
            json!({"birthDate": "1970-13-01", "purchases": bought}),
            "BAD_REQUEST",
            "`birthDate` คือ `1970-13-01` ซึ่งไม่ใช่วันที่",
        ),
        (
            "check_rmf_holding",
            json!({"birthDate": "2564-01-01", "purchases": bought}),
            "BAD_REQUEST",
            "อยู่ก่อนวันเกิด 1 ม.ค. 2564",
        ),
        (
            "check_rmf_holding",
            json!({"birthDate": "1970-01-01", "purchases": bought, "onDate": "2019-01-01"}),
            "BAD_REQUEST",
            "อยู่หลังวันที่ 1 ม.ค. 2562",
        ),
    ]
}

fn has_thai(text: &Value) -> bool {
    text.as_str().unwrap().chars().any(|c| ('\u{0E00}'..='\u{0E7F}').contains(&c))
}

#[tokio::test]
async fn errors_of_the_pack_are_in_the_callers_language() {
    let kernel = kernel();
    for (tool, arguments, code, words) in cases() {
        let result = call_in(&kernel, tool, arguments.clone(), Lang::Th).await;
        let error = error_of(&result);
        assert_eq!(error["code"], code, "{tool} {arguments}: {error}");
        assert!(error["message"].as_str().unwrap().contains(words), "{tool} {arguments}: {error}");
        assert!(has_thai(&error["actionableHint"]), "{tool} {arguments}: {error}");
        let result = call_in(&kernel, tool, arguments.clone(), Lang::En).await;
        let error = error_of(&result);
        assert!(
            !has_thai(&error["message"]) && !has_thai(&error["actionableHint"]),
            "{tool} {arguments}: {error}"
        );
    }
}

/// Arguments that fail the schema: the kernel's messages.
#[tokio::test]
async fn errors_of_the_schema_check_are_in_the_callers_language() {
    let kernel = kernel();
    let cases = [
        (
            "get_rmf_fund_detail",
            json!({}),
            "ข้อมูลที่ส่งให้ `get_rmf_fund_detail` ไม่ถูกต้อง: `/fundCode` ต้องระบุ",
            "invalid input for `get_rmf_fund_detail`: `/fundCode` is required",
        ),
        (
            "get_rmf_funds",
            json!({"pageSize": 51}),
            "`/pageSize` คือ 51 แต่ต้องเป็นจำนวนเต็ม 1 ถึง 50",
            "`/pageSize` is 51, expected an integer from 1 to 50",
        ),
        (
            "get_rmf_funds",
            json!({"page": "two"}),
            "`/page` คือ \"two\" แต่ต้องเป็นจำนวนเต็ม",
            "`/page` is \"two\", expected an integer",
        ),
        (
            "get_rmf_funds",
            json!({"sortBy": "fees"}),
            "`/sortBy` คือ \"fees\" แต่ต้องเป็นค่าใดค่าหนึ่งใน \"ytd\"",
            "expected one of \"ytd\"",
        ),
        (
            "get_rmf_funds",
            json!({"pagesize": 5}),
            "`/pagesize` ไม่ใช่ชื่อของค่าที่รับ หมายถึง `pageSize` หรือไม่",
            "`/pagesize` is not an argument; did you mean `pageSize`?",
        ),
    ];
    for (tool, arguments, thai, english) in cases {
        for (lang, words) in [(Lang::Th, thai), (Lang::En, english)] {
            let result = call_in(&kernel, tool, arguments.clone(), lang).await;
            let error = error_of(&result);
            assert!(error["message"].as_str().unwrap().contains(words), "{arguments}: {error}");
            assert_eq!(has_thai(&error["actionableHint"]), lang == Lang::Th, "{error}");
            assert_eq!(error["details"]["reason"], "INVALID_INPUT", "{error}");
        }
    }
}

/// No fund with risk 1 to 8 lacks every return, so that the error needs figures without any.
#[tokio::test]
async fn no_return_over_the_period_is_said_in_thai() {
    let catalog = panoply_rmf::catalog::FundCatalog::bundled().unwrap();
    let offered = catalog.find("B-USPASSIVERMF").unwrap().clone();
    let kernel = crate::common::kernel_over(vec![offered], "2026-11-15T05:00:00Z");
    let arguments = json!({"period": "1y", "riskLevel": 6});
    let result = call_in(&kernel, "get_rmf_fund_performance", arguments, Lang::Th).await;
    let error = error_of(&result);
    assert_eq!(error["code"], "NOT_FOUND");
    assert_eq!(error["message"], "ไม่มีกองทุนระดับความเสี่ยง 6 ที่มีผลตอบแทนช่วง `1y`");
}
