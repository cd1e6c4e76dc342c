//! Twenty questions of investors, ten of them Thai, as the calls an agent makes: at most four each.
//!
//! Two cannot be answered from the bundled figures, which have no fees and no master funds; the reply
//! must then say that the figure is missing.

use panoply_contract::context::Lang;
use serde_json::{Value, json};

use crate::common::{call_in, kernel};

/// A question, its calls, and where each answer is: pointer into the structured content and value.
/// `Value::Null` marks a figure that the bundled data lack.
struct Question {
    asked: &'static str,
    lang: Lang,
    calls: Vec<(&'static str, Value)>,
    answers: Vec<(usize, &'static str, Value)>,
}

fn english(
    asked: &'static str,
    calls: Vec<(&'static str, Value)>,
    answers: Vec<(usize, &'static str, Value)>,
) -> Question {
    Question { asked, lang: Lang::En, calls, answers }
}

fn thai(
    asked: &'static str,
    calls: Vec<(&'static str, Value)>,
    answers: Vec<(usize, &'static str, Value)>,
) -> Question {
    Question { asked, lang: Lang::Th, calls, answers }
}

fn tax_and_holding() -> Vec<Question> {
    vec![
        english(
            "Income 1.2 million, 100,000 in the provident fund: what does 200,000 of RMF save?",
            // By hand: 940,000 taxable is 103,000 of tax, 740,000 is 63,500.
            vec![(
                "calc_rmf_tax_benefit",
                json!({"annualIncome": 1_200_000, "providentFund": 100_000, "plannedPurchase": 200_000, "taxYear": 2025}),
            )],
            vec![(0, "/taxSaved", json!(39_500))],
        ),
        english(
            "I pay 15 % of 6 million into a provident fund: how much tax?",
            vec![(
                "calc_rmf_tax_benefit",
                json!({"annualIncome": 6_000_000, "providentFund": 900_000, "taxYear": 2025}),
            )],
            vec![(0, "/taxBefore", json!(1_384_000)), (0, "/roomLeft", json!(0))],
        ),
        english(
            "Income 320,000: how much is worth buying for the tax?",
            vec![("calc_rmf_tax_benefit", json!({"annualIncome": 320_000, "taxYear": 2025}))],
            // 320,000 less 100,000 and 60,000 is 160,000; the first 150,000 are free.
            vec![(0, "/usefulAmount", json!(10_000))],
        ),
        thai(
            "มีเงิน 400,000 แบ่งซื้อ RMF กับ Thai ESG อย่างไร อายุ 35 เงินได้ 1.2 ล้าน",
            vec![(
                "calc_rmf_tax_benefit",
                json!({"annualIncome": 1_200_000, "budget": 400_000, "age": 35, "taxYear": 2568}),
            )],
            vec![
                (0, "/bestSplit/thaiEsg", json!(300_000)),
                (0, "/bestSplit/rmf", json!(100_000)),
                (0, "/taxYear", json!(2025)),
            ],
        ),
        thai(
            "ซื้อ SSF ปี 2568 ลดหย่อนได้ไหม",
            vec![(
                "calc_rmf_tax_benefit",
                json!({"annualIncome": 1_200_000, "ssf": 200_000, "taxYear": 2568}),
            )],
            vec![(0, "/taxBefore", json!(125_000)), (0, "/roomLeft", json!(360_000))],
        ),
        thai(
            "เกิด 2513 ซื้อ RMF ทุกปีตั้งแต่ 2561 ขายได้เมื่อไร",
            vec![(
                "check_rmf_holding",
                json!({"birthDate": "01/06/2513", "onDate": "16/11/2569", "purchases":
                (2561..=2569).map(|year| json!({"date": format!("{year}-03-01")})).collect::<Vec<_>>()}),
            )],
            vec![(0, "/mayRedeem", json!(true)), (0, "/earliestDate", json!("2025-06-01"))],
        ),
        thai(
            "ถ้าขายก่อนครบ 5 ปี ต้องคืนภาษีเท่าไร",
            vec![(
                "check_rmf_holding",
                json!({"birthDate": "2533-01-01", "onDate": "2569-11-16", "taxRate": 20,
                "purchases": [{"date": "2567-06-01", "amount": 100_000}, {"date": "2568-06-01", "amount": 50_000}]}),
            )],
            vec![
                (0, "/consequence", json!("repay_all_and_tax_gain")),
                (0, "/repayment", json!(30_000)),
            ],
        ),
    ]
}

fn finding() -> Vec<Question> {
    vec![
        thai(
            "กองทุน RMF หุ้นโลกความเสี่ยงไม่เกิน 6 ที่ค่าธรรมเนียมต่ำสุด",
            vec![(
                "screen_rmf_funds",
                json!({"search": "หุ้นโลก", "maxRiskLevel": 6, "sortBy": "fee"}),
            )],
            vec![(0, "/funds/0/total_expense", Value::Null)],
        ),
        thai(
            "กองทุนทองคำทั้งหมด เรียงตามผลตอบแทน 5 ปี",
            vec![("screen_rmf_funds", json!({"search": "กองทุนทองคำ", "sortBy": "5y"}))],
            // Five-year returns of the source: ES-GOLDRMF-UH 13.96, BGOLDRMF 13.9.
            vec![(0, "/totalFunds", json!(13)), (0, "/funds/0/returns/5y", json!(13.96))],
        ),
        thai(
            "กองไหนจ่ายปันผล",
            vec![("screen_rmf_funds", json!({"dividend": true}))],
            vec![(0, "/totalFunds", json!(0))],
        ),
        thai(
            "กองทุนหุ้นของบัวหลวงมีกี่กอง",
            vec![("search_rmf_funds", json!({"amc": "บัวหลวง", "category": "EQUITY"}))],
            vec![(0, "/totalCount", json!(23))],
        ),
        english(
            "Which gold RMFs are hedged?",
            vec![(
                "screen_rmf_funds",
                json!({"search": "gold", "hedging": "hedged", "sortBy": "code"}),
            )],
            vec![(0, "/funds/0/symbol", json!("ES-GOLDRMF-H")), (0, "/totalFunds", json!(3))],
        ),
        english(
            "Which RMFs follow the S&P 500 and the Nasdaq?",
            vec![
                ("search_rmf_funds", json!({"search": "S&P500"})),
                ("search_rmf_funds", json!({"search": "NASDAQ 100"})),
            ],
            vec![(1, "/totalCount", json!(7))],
        ),
        english(
            "Low-risk funds from Krungsri?",
            vec![("search_rmf_funds", json!({"amc": "Krungsri", "maxRiskLevel": 5}))],
            vec![(0, "/totalCount", json!(14))],
        ),
    ]
}

fn judging() -> Vec<Question> {
    vec![
        english(
            "Is ABAPAC-RMF good for its kind over 1, 3 and 5 years?",
            ["1y", "3y", "5y"]
                .map(|period| {
                    ("get_rmf_peer_rank", json!({"fundCode": "ABAPAC-RMF", "period": period}))
                })
                .into(),
            vec![(0, "/rank", json!(3)), (0, "/peers", json!(6))],
        ),
        english(
            "Do TGOLDRMF-A, TGOLDRMF-P and B-ASIARMF overlap?",
            vec![(
                "compare_rmf_holdings",
                json!({"fundCodes": ["TGOLDRMF-A", "TGOLDRMF-P", "B-ASIARMF"]}),
            )],
            vec![
                (0, "/pairs/0/relation", json!("same_fund")),
                (0, "/pairs/1/relation", json!("none")),
            ],
        ),
        english(
            "Which master fund does B-ASIARMF feed into?",
            vec![("get_rmf_fund_detail", json!({"fundCode": "B-ASIARMF"}))],
            vec![(0, "/fund/master_fund", Value::Null)],
        ),
        english(
            "What may 100,000 in ABAPAC-RMF be worth in ten years, in today's money?",
            vec![(
                "simulate_rmf_plan",
                json!({"fundCode": "ABAPAC-RMF", "lumpSum": 100_000, "years": 10}),
            )],
            vec![(0, "/paid", json!(100_000)), (0, "/years", json!(10))],
        ),
        thai(
            "DCA เดือนละ 5,000 บาท 10 ปี ใน B-ASIARMF จะได้เท่าไร",
            vec![(
                "simulate_rmf_plan",
                json!({"fundCode": "B-ASIARMF", "monthly": 5_000, "years": 10}),
            )],
            vec![(0, "/paid", json!(600_000))],
        ),
        thai(
            "เปรียบเทียบ ABAPAC-RMF กับ B-ASIARMF",
            vec![("compare_rmf_funds", json!({"fundCodes": ["ABAPAC-RMF", "B-ASIARMF"]}))],
            vec![
                (0, "/comparisonHighlights/bestYtd", json!("B-ASIARMF")),
                (0, "/funds/0/perf_ytd", json!(8.8)),
            ],
        ),
    ]
}

#[tokio::test]
async fn investor_questions_are_answered_in_four_calls() {
    let kernel = kernel();
    let questions: Vec<Question> =
        tax_and_holding().into_iter().chain(finding()).chain(judging()).collect();
    assert_eq!(questions.len(), 20);
    assert_eq!(questions.iter().filter(|question| question.lang == Lang::Th).count(), 10);
    let mut answered = 0;
    for question in questions {
        assert!(question.calls.len() <= 4, "{}", question.asked);
        let mut replies = Vec::new();
        for (tool, arguments) in question.calls {
            replies.push(call_in(&kernel, tool, arguments, question.lang).await);
        }
        for (at, pointer, expected) in &question.answers {
            let found = replies[*at]["structuredContent"].pointer(pointer).cloned();
            assert_eq!(found.as_ref(), Some(expected), "{}: {}", question.asked, replies[*at]);
        }
        answered += usize::from(!question.answers.iter().any(|(.., answer)| answer.is_null()));
    }
    assert!(answered >= 18, "{answered} of 20");
}
