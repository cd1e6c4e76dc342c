//! Age of the figures: what a reply says about old figures, figures of another year and figures that
//! were kept because newer ones failed a check.

use jiff::civil::date;
use panoply_contract::context::Lang;
use panoply_rmf::catalog::FundCatalog;
use panoply_rmf::fund::{Fund, Quarantine};
use panoply_rmf::nav::{NavPoint, NavSeries};
use serde_json::{Value, json};

use crate::common::{call, call_in, kernel, kernel_over, text_of};

/// Tools that show dated figures.
fn calls() -> [(&'static str, Value); 7] {
    [
        ("get_rmf_funds", json!({})),
        ("search_rmf_funds", json!({"search": "gold"})),
        ("screen_rmf_funds", json!({"search": "gold"})),
        ("get_rmf_fund_detail", json!({"fundCode": "ABAPAC-RMF"})),
        ("get_rmf_fund_performance", json!({"period": "ytd"})),
        ("get_rmf_fund_nav_history", json!({"fundCode": "ABAPAC-RMF"})),
        ("compare_rmf_funds", json!({"fundCodes": ["ABAPAC-RMF", "B-ASIARMF"]})),
    ]
}

/// The clock of these tests is at 2026-11-15; the bundled NAVs end on 2025-11-06 to 2025-11-10 by
/// fund, the returns are of 2025-09-30: `data/rmf/README.md`. 30 September 2025 is 411 days back.
#[tokio::test]
async fn old_figures_are_cautioned_in_the_text_of_both_languages() {
    let kernel = kernel();
    for (tool, arguments) in calls() {
        let english = call(&kernel, tool, arguments.clone()).await;
        let text = text_of(&english);
        assert!(text.contains("Caution: the newest NAV is 37"), "{tool}: {text}");
        assert!(text.contains("returns are 411 days old"), "{tool}: {text}");
        assert!(text.contains("YTD is of 2025"), "{tool}: {text}");
        let thai = call_in(&kernel, tool, arguments, Lang::Th).await;
        let text = text_of(&thai);
        assert!(text.contains("ระวัง: NAV ล่าสุดมีอายุ 37"), "{tool}: {text}");
        assert!(text.contains("ผลตอบแทนมีอายุ 411 วัน"), "{tool}: {text}");
        assert!(text.contains("YTD คือปี 2568"), "{tool}: {text}");
    }
}

#[tokio::test]
async fn structured_content_has_dates_ages_and_the_stale_mark() {
    let kernel = kernel();
    for (tool, arguments) in calls() {
        let reply = call(&kernel, tool, arguments).await;
        let age = &reply["structuredContent"]["dataAge"];
        assert_eq!(age["stale"], true, "{tool}");
        assert_eq!(age["returns"], json!(["2025-09-30", "2025-09-30"]), "{tool}");
        assert_eq!(age["returnsAgeDays"], 411, "{tool}");
        let days = age["navAgeDays"].as_i64().unwrap();
        // 2025-11-10 is 370 days back, 2025-11-06 is 374.
        assert!((370..=374).contains(&days), "{tool}: {days}");
    }
    let one = call(&kernel, "get_rmf_fund_detail", json!({"fundCode": "ABAPAC-RMF"})).await;
    let age = &one["structuredContent"]["dataAge"];
    assert_eq!(
        (&age["nav"], &age["navAgeDays"]),
        (&json!(["2025-11-07", "2025-11-07"]), &json!(373)),
        "the fund's own dates"
    );
}

/// ABAPAC-RMF as after a sync: a NAV of that day and returns of the month before.
fn fresh(nav: jiff::civil::Date, returns: jiff::civil::Date) -> Fund {
    let mut fund = FundCatalog::bundled().unwrap().find("ABAPAC-RMF").unwrap().clone();
    fund.nav =
        NavSeries::new(vec![NavPoint { date: nav, nav: "15.889".parse().unwrap() }]).unwrap();
    fund.returns_as_of = Some(returns);
    fund
}

#[tokio::test]
async fn fresh_figures_have_no_caution() {
    let kernel =
        kernel_over(vec![fresh(date(2026, 11, 12), date(2026, 10, 31))], "2026-11-15T05:00:00Z");
    let reply = call(&kernel, "get_rmf_fund_detail", json!({"fundCode": "ABAPAC-RMF"})).await;
    assert!(!text_of(&reply).contains("Caution"), "{}", text_of(&reply));
    let age = &reply["structuredContent"]["dataAge"];
    assert_eq!((&age["stale"], &age["navAgeDays"]), (&json!(false), &json!(3)));
}

/// In January the factsheets are of December: recent, but their YTD is that of the year before.
#[tokio::test]
async fn ytd_of_another_year_names_the_year_though_the_figures_are_recent() {
    let kernel =
        kernel_over(vec![fresh(date(2027, 1, 11), date(2026, 12, 31))], "2027-01-12T05:00:00Z");
    let reply = call(&kernel, "get_rmf_fund_detail", json!({"fundCode": "ABAPAC-RMF"})).await;
    assert!(text_of(&reply).contains("Caution: YTD is of 2026."), "{}", text_of(&reply));
    assert_eq!(reply["structuredContent"]["dataAge"]["stale"], true);
}

/// The dates of a reply are those of Thailand: at 18:00 UTC it is the next day there.
#[tokio::test]
async fn age_is_counted_in_thai_days() {
    let funds = || vec![fresh(date(2026, 11, 12), date(2026, 10, 31))];
    for (now, days) in [("2026-11-15T16:59:00Z", 3), ("2026-11-15T17:00:00Z", 4)] {
        let reply = call(&kernel_over(funds(), now), "get_rmf_funds", json!({})).await;
        assert_eq!(reply["structuredContent"]["dataAge"]["navAgeDays"], days, "{now}");
    }
}

#[tokio::test]
async fn quarantined_fund_is_named_in_the_caution() {
    let mut fund = fresh(date(2026, 11, 12), date(2026, 10, 31));
    fund.quarantine = Some(Quarantine {
        since: "2026-11-13T13:00:00Z".to_owned(),
        reason: "NAV jumps from 15.889 to 1588.9".to_owned(),
    });
    let kernel = kernel_over(vec![fund], "2026-11-15T05:00:00Z");
    let reply = call(&kernel, "get_rmf_funds", json!({})).await;
    let text = text_of(&reply);
    assert!(text.contains("ABAPAC-RMF: newer figures failed a check"), "{text}");
    let status = call(&kernel, "get_rmf_data_status", json!({})).await;
    let reason = &status["structuredContent"]["quarantined"]["ABAPAC-RMF"];
    assert!(reason.as_str().unwrap().contains("NAV jumps"), "{reason}");
}
