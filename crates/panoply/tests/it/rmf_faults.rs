//! Faults of the SEC's API during `panoply rmf sync`: no figure is lost or falsified.
//!
//! After every fault each fund has exactly its previous figures or exactly those of a sync without
//! the fault.

use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

use panoply_rmf::catalog::FundCatalog;
use panoply_rmf::dataset::{Dataset, Provenance};
use panoply_rmf::fund::Fund;
use panoply_rmf::period::Period;
use panoply_rmf::store::replace_dataset;
use panoply_rmf::sync::Response;
use rust_decimal::Decimal;
use serde_json::{Value, json};

use crate::place::{Place, Said};
use crate::rmf::stub::{self, Stub, Tamper};

const CODES: [&str; 12] = [
    "ABAPAC-RMF",
    "B-ASIARMF",
    "KT25/75RMF",
    "KT-GOLD RMF",
    "ES-GOLDRMF-UH",
    "BFLRMF",
    "ERMF",
    "B-USPASSIVERMF",
    "GOLD-RMF-A",
    "GOLD-RMF-P",
    "SCBRMNDQ(A)",
    "SCBRMNDQ(E)",
];

pub(crate) fn before() -> Vec<Fund> {
    let bundled = FundCatalog::bundled().unwrap();
    CODES.iter().map(|code| bundled.find(code).unwrap().clone()).collect()
}

/// The API has other returns than the home, and one NAV more.
pub(crate) fn api() -> Stub {
    let mut funds = before();
    for fund in &mut funds {
        for period in Period::ALL {
            let next = fund.returns.get(period).map(|value| value + Decimal::new(25, 2));
            fund.returns.set(period, next);
        }
    }
    let mut stub = Stub::over(&funds);
    for fund in funds.iter().filter(|fund| fund.nav.latest().is_some()) {
        let next = fund.nav.latest().unwrap().nav * Decimal::new(101, 2);
        stub.add_nav(fund, "2025-11-13", json!(next.to_string()));
    }
    stub
}

pub(crate) fn place() -> Place {
    let place = Place::new();
    std::fs::create_dir_all(place.home().join("packs")).unwrap();
    replace_dataset(&figures(&place), &Dataset::new(Provenance::default(), before())).unwrap();
    place
}

pub(crate) fn figures(place: &Place) -> std::path::PathBuf {
    place.home().join("packs/rmf.tsv")
}

pub(crate) fn bytes(place: &Place) -> Vec<u8> {
    std::fs::read(figures(place)).unwrap()
}

pub(crate) fn arguments(address: &str) -> [String; 8] {
    ["rmf", "sync", "--key-env", "KEY", "--base-url", address, "--speed", "500"].map(str::to_owned)
}

pub(crate) fn sync(place: &Place, stub: Stub) -> Said {
    let address = stub::serve(Arc::new(Mutex::new(stub)));
    let arguments = arguments(&address);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    place.said(place.panoply(&arguments).env("KEY", stub::KEY))
}

fn tampered(tamper: Tamper) -> Stub {
    Stub { tamper: Some(tamper), ..api() }
}

/// Changes every row of an endpoint.
fn every_row(endpoint: &'static str, mut change: impl FnMut(&mut Value) + Send + 'static) -> Stub {
    tampered(Box::new(move |path, _, mut response| {
        if path.ends_with(endpoint) {
            let mut body: Value = serde_json::from_str(&response.body).unwrap();
            body["items"].as_array_mut().unwrap().iter_mut().for_each(&mut change);
            response.body = body.to_string();
        }
        response
    }))
}

fn funds(bytes: &[u8]) -> Vec<Fund> {
    let funds = Dataset::read(bytes).unwrap().funds;
    let plain = |fund: Fund| Fund { fetched_at: None, quarantine: None, ..fund };
    funds.into_iter().map(plain).collect()
}

/// Funds after a sync without faults.
static CLEAN: LazyLock<Vec<Fund>> = LazyLock::new(|| {
    let clean = place();
    let said = sync(&clean, api());
    assert!(said.status == Some(0) && !said.out.contains("in quarantine, prev"), "{said:?}");
    funds(&bytes(&clean))
});

/// Each fund is as before or as after a sync without faults; returns the codes of the former.
pub(crate) fn kept_or_clean(place: &Place) -> Vec<String> {
    let old = funds(Dataset::new(Provenance::default(), before()).packed().as_bytes());
    let mut kept = Vec::new();
    for fund in funds(&bytes(place)) {
        assert!(
            old.contains(&fund) || CLEAN.contains(&fund),
            "{} has neither set of figures",
            fund.symbol
        );
        if old.contains(&fund) {
            kept.push(fund.symbol);
        }
    }
    kept
}

#[test]
fn fault_in_every_fund_changes_nothing() {
    let percent = every_row("performance", |row| {
        let value = row["performance_value"].as_str().unwrap().to_owned();
        row["performance_value"] = json!(format!("{value}%"));
    });
    let wrong_types = every_row("performance", |row| row["performance_value"] = json!({"v": 1}));
    let words = every_row("nav", |row| row["last_val"] = json!("abc"));
    let fractions = every_row("performance", |row| {
        let value: Decimal = row["performance_value"].as_str().unwrap().parse().unwrap();
        row["performance_value"] = json!((value / Decimal::ONE_HUNDRED).to_string());
    });
    let stale = every_row("performance", |row| row["start_date"] = json!("2025-06-30"));
    let error_body = tampered(Box::new(|_, call, response| {
        if call < 40 { response } else { body("{\"message\":\"internal error, try later\"}") }
    }));
    let html =
        tampered(Box::new(
            |_, call, response| {
                if call < 40 { response } else { body("<html>maintenance</html>") }
            },
        ));
    let cut = tampered(Box::new(
        |_, call, response| {
            if call < 40 { response } else { body(cut(&response.body)) }
        },
    ));
    let half = tampered(Box::new(|path, _, mut response| {
        if path.contains("general-info") {
            return response;
        }
        let mut page: Value = serde_json::from_str(&response.body).unwrap();
        let rows = page["items"].as_array_mut().unwrap();
        rows.truncate(rows.len().div_ceil(2));
        page["next_cursor"] = json!("");
        response.body = page.to_string();
        response
    }));
    let register = every_row("specifications", |row| row["spec_code"] = Value::Null);
    for (name, stub, expected) in [
        ("percent signs", percent, "expected a number"),
        ("objects", wrong_types, "expected a number"),
        ("words", words, "`last_val` of nav"),
        ("fractions", fractions, "another scale"),
        ("an older factsheet", stale, "before the known ones"),
        ("200 with an error body", error_body, "not a page of rows"),
        ("HTML", html, "not a page of rows"),
        ("truncation", cut, "not a page of rows"),
        ("half pages", half, "figures are missing"),
        ("a broken register", register, "`spec_code` of specifications is missing"),
    ] {
        let place = place();
        let original = bytes(&place);
        let said = sync(&place, stub);
        assert_eq!(said.status, Some(1), "{name}: {said:?}");
        assert!(said.err.contains(expected), "{name}: {said:?}");
        assert!(bytes(&place) == original, "{name}: the figures changed");
    }
}

/// The first half of a text.
fn cut(text: &str) -> &str {
    let middle = text.len() / 2;
    let end = (middle..).find(|at| text.is_char_boundary(*at)).unwrap();
    &text[..end]
}

fn body(text: &str) -> Response {
    Response { status: 200, retry_after: None, body: text.to_owned() }
}

#[test]
fn fault_in_one_fund_puts_it_into_quarantine() {
    let id = before()[0].fund_id.clone();
    let wild = {
        let id = id.clone();
        every_row("nav", move |row| {
            if row["proj_id"] == *id && row["nav_date"] == "2025-11-13" {
                row["last_val"] = json!("1588.9");
            }
        })
    };
    let percent = {
        let id = id.clone();
        every_row("performance", move |row| {
            if row["proj_id"] == *id {
                row["performance_value"] = json!("8.80%");
            }
        })
    };
    let allocation = every_row("asset-allocation", move |row| {
        if row["proj_id"] == *id {
            row["asset_ratio"] = json!("12");
        }
    });
    for (name, stub, expected) in [
        ("NAV × 100", wild, "NAV jumps from"),
        ("a percent sign", percent, "expected a number"),
        ("allocation", allocation, "no longer adds up"),
    ] {
        let place = place();
        let said = sync(&place, stub);
        assert_eq!(said.status, Some(0), "{name}: {said:?}");
        let line = said.out.lines().find(|line| line.starts_with("in quarantine, prev")).unwrap();
        assert!(line.contains("ABAPAC-RMF") && line.contains(expected), "{name}: {line}");
        assert!(said.out.contains(" gained, 0 lost, "), "{name}: {}", said.out);
        let kept = kept_or_clean(&place);
        assert_eq!(kept, ["ABAPAC-RMF"], "{name}");
    }
}

#[test]
fn accepted_fund_takes_the_fetched_figures() {
    let id = before()[0].fund_id.clone();
    let doubled = move || {
        let id = id.clone();
        every_row("nav", move |row| {
            if row["proj_id"] == *id && row["nav_date"] == "2025-11-13" {
                row["last_val"] = json!("31.5");
            }
        })
    };
    let place = place();
    assert!(sync(&place, doubled()).out.contains("NAV jumps"));
    let address = stub::serve(Arc::new(Mutex::new(doubled())));
    let arguments = arguments(&address);
    let mut arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    arguments.extend(["--accept", "abapac rmf"]);
    let said = place.said(place.panoply(&arguments).env("KEY", stub::KEY));
    assert!(said.status == Some(0) && !said.out.contains("in quarantine, prev"), "{said:?}");
    let funds = funds(&bytes(&place));
    let fund = funds.iter().find(|fund| fund.symbol == "ABAPAC-RMF").unwrap();
    assert_eq!(fund.nav.latest().unwrap().nav.to_string(), "31.5");
}

#[test]
fn benchmark_of_another_date_is_kept_and_not_subtracted() {
    let stub = {
        let mut stub = api();
        stub.rows("factsheet/performance")
            .retain(|row| row["performance_type_desc"] != "ผลตอบแทนตัวชี้วัด");
        stub
    };
    let place = place();
    assert_eq!(sync(&place, stub).status, Some(0));
    for fund in funds(&bytes(&place)) {
        let old = before().into_iter().find(|old| old.symbol == fund.symbol).unwrap();
        assert_eq!(fund.benchmark.returns, old.benchmark.returns, "{}", fund.symbol);
        assert_eq!(fund.outperformance(Period::Y1), None, "{}", fund.symbol);
    }
    let ranked = place
        .run(&["call", "get_rmf_fund_performance", "--arg", "period=1y", "--json"])
        .json()
        .to_string();
    assert!(ranked.contains("\"outperformance\":null"), "{ranked}");
    assert!(!ranked.contains("\"outperformance\":-") && !ranked.contains("\"outperformance\":1"));
}

#[test]
fn fresh_fund_among_old_ones_does_not_lend_its_date() {
    let id = before()[0].fund_id.clone();
    let mut stub = Stub::over(&before());
    for row in stub.endpoints.values_mut().flatten() {
        if row["start_date"].is_string() && row["proj_id"] != *id {
            row["start_date"] = json!("2025-09-30");
        }
    }
    stub.add_nav(&before()[0], "2025-11-13", json!("15.889"));
    let place = place();
    assert_eq!(sync(&place, stub).status, Some(0));
    let listed = place.run(&["call", "get_rmf_funds", "--json"]).json();
    let shown = listed.to_string();
    let found = [&listed["structuredContent"], &listed["data"], &listed]
        .into_iter()
        .find(|found| found["funds"].is_array())
        .unwrap_or_else(|| panic!("{shown}"));
    assert_eq!(found["dataAge"]["returns"], json!(["2025-09-30", "2025-10-31"]), "{shown}");
    for row in found["funds"].as_array().unwrap() {
        // The latest date of the reply is left out of the rows that have it.
        let expected =
            if row["symbol"] == "ABAPAC-RMF" { Value::Null } else { json!("2025-09-30") };
        assert_eq!(row["perf_as_of"], expected, "{row}");
    }
}

#[test]
fn transient_faults_are_retried() {
    let flaky = |bad: fn(Response) -> Response| {
        tampered(Box::new(
            move |_, call, response| {
                if call % 25 == 3 { bad(response) } else { response }
            },
        ))
    };
    for (name, stub) in [
        ("error body", flaky(|_| body("{\"message\":\"internal error\"}"))),
        ("HTML", flaky(|_| body("<html>"))),
        ("truncation", flaky(|page| body(cut(&page.body)))),
        ("null items", flaky(|_| body("{\"items\":null}"))),
        (
            "429",
            flaky(|_| Response {
                status: 429,
                retry_after: Some(Duration::from_secs(2)),
                body: String::new(),
            }),
        ),
        ("421", flaky(|_| Response { status: 421, retry_after: None, body: String::new() })),
        ("500", flaky(|_| Response { status: 500, retry_after: None, body: String::new() })),
    ] {
        let place = place();
        let said = sync(&place, stub);
        assert_eq!(said.status, Some(0), "{name}: {said:?}");
        assert_eq!(kept_or_clean(&place), [""; 0], "{name}");
    }
}

/// A stub that reports each call.
fn reporting() -> (Stub, Receiver<usize>) {
    let (sender, calls) = channel();
    let stub = tampered(Box::new(move |_, call, response| {
        // The test may have stopped listening.
        let _ = sender.send(call);
        response
    }));
    (stub, calls)
}

#[test]
fn sync_killed_between_calls_leaves_a_valid_file_and_resumes() {
    let place = place();
    let original = bytes(&place);
    let total = {
        let clean = self::place();
        let (stub, calls) = reporting();
        assert_eq!(sync(&clean, stub).status, Some(0));
        calls.try_iter().count()
    };
    // The delays after the last call reach into checks, swap and clean-up.
    let steps = [1, 3, total / 4, total / 2, total - 1].map(|call| (call, 0));
    for (call, delay) in steps.into_iter().chain([(total, 0), (total, 5), (total, 20), (total, 60)])
    {
        let (stub, calls) = reporting();
        let address = stub::serve(Arc::new(Mutex::new(stub)));
        let arguments = arguments(&address);
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let mut child = place.panoply(&arguments).env("KEY", stub::KEY).spawn().unwrap();
        // A resumed sync makes fewer calls; then it has ended and there is nothing to kill.
        let mut seen = 0;
        while seen < call && calls.recv_timeout(Duration::from_secs(2)).is_ok() {
            seen += 1;
        }
        std::thread::sleep(Duration::from_millis(delay));
        child.kill().unwrap();
        child.wait().unwrap();
        let now = bytes(&place);
        assert!(Dataset::read(&now).is_ok(), "killed at call {call} + {delay} ms");
        if now != original {
            assert_eq!(kept_or_clean(&place), [""; 0], "killed at call {call} + {delay} ms");
        }
    }
    assert_eq!(sync(&place, api()).status, Some(0));
    assert_eq!(kept_or_clean(&place), [""; 0]);
}

#[test]
fn second_sync_is_refused_while_one_runs() {
    let place = place();
    let _lock = panoply_rmf::store::SyncLock::take(&place.home().join("packs")).unwrap().unwrap();
    let said = sync(&place, api());
    assert_eq!(said.status, Some(1));
    assert!(said.err.contains("another sync is running"), "{said:?}");
}

#[test]
fn history_diff_and_rollback_restore_the_previous_bytes() {
    let place = place();
    let original = bytes(&place);
    assert_eq!(sync(&place, api()).status, Some(0));
    let synced = bytes(&place);
    assert!(synced != original);
    let history = place.run(&["rmf", "history"]).good();
    assert!(
        history.contains("     1  12 funds") && history.contains("active  12 funds"),
        "{history}"
    );
    let diff = place.run(&["rmf", "diff"]).good();
    assert!(diff.contains("nav: 11 gained, 0 lost, 0 changed"), "{diff}");
    place.run(&["rmf", "rollback"]).good();
    assert!(bytes(&place) == original, "the restored file differs");
    place.run(&["rmf", "rollback"]).good();
    assert!(bytes(&place) == synced, "a rollback can be undone");
    std::fs::write(figures(&place), "half a fi").unwrap();
    let damaged = sync(&place, api());
    assert!(damaged.status == Some(1) && damaged.err.contains("rmf rollback"), "{damaged:?}");
    let doctor = place.run(&["doctor"]);
    assert!(doctor.out.contains("damaged"), "{doctor:?}");
    place.run(&["rmf", "rollback", "1"]).good();
    assert!(bytes(&place) == original);
    assert_eq!(place.run(&["rmf", "rollback", "99"]).status, Some(1));
}
