//! `panoply rmf`: pack-data, sync and chart.

use std::process::Command;
use std::sync::{Arc, Mutex};

use panoply_rmf::catalog::FundCatalog;
use panoply_rmf::dataset::{Dataset, Provenance};
use panoply_rmf::store::replace_dataset;
use serde_json::json;

use crate::place::Place;

#[path = "../../../panoply-rmf/tests/sync/stub.rs"]
pub(crate) mod stub;

use stub::Stub;

#[test]
fn packed_snapshot_is_readable() {
    let place = Place::new();
    let fund = json!({
        "fund_id": "M1", "symbol": "A-RMF", "fund_name": "A", "amc": "A COMPANY", "risk_level": 5,
        "nav_date": "2025-11-07", "nav_value": 10.5, "perf_ytd": 1.5, "perf_1y": null,
        "x_amc_id": "C1", "x_fund_status": "RG", "x_flags": [],
    });
    place.file("funds.jsonl", &format!("{fund}\n"));
    place.file("nav.csv", "symbol,date,nav\nA-RMF,2025-11-06,10.0000\nA-RMF,2025-11-07,10.5000\n");
    let pack =
        ["rmf", "pack-data", "--funds", "funds.jsonl", "--navs", "nav.csv", "--out", "a.tsv"];
    let said = place.run(&pack).good();
    assert!(said.contains("1 funds") && said.contains("sha256"), "{said}");
    let first = place.read("a.tsv");
    place.run(&pack).good();
    assert_eq!(place.read("a.tsv"), first, "the same snapshot gives the same bytes");
    std::fs::create_dir_all(place.home().join("packs")).unwrap();
    std::fs::copy(place.path("a.tsv"), place.home().join("packs/rmf.tsv")).unwrap();
    let detail = place.run(&["call", "get_rmf_fund_detail", "--arg", "fundCode=a rmf", "--json"]);
    let detail = detail.json();
    let shown = detail.to_string();
    assert!(shown.contains("10.5") && shown.contains("\"nav_change\":0.5"), "{shown}");
    assert!(shown.contains("\"perf_1y\":null"), "nulls stay null: {shown}");
    place.file("nav.csv", "symbol,date,nav\nA-RMF,2025-11-06,ten\n");
    let refused = place.run(&pack);
    assert_eq!(refused.status, Some(1), "{refused:?}");
    assert_eq!(place.read("a.tsv"), first, "a snapshot that is refused changes nothing");
}

/// A home with a few funds, and an API with one newer NAV.
fn place_with_api() -> (Place, String) {
    let bundled = FundCatalog::bundled().unwrap();
    let funds: Vec<_> = ["ABAPAC-RMF", "KT25/75RMF", "GOLD-RMF-A", "GOLD-RMF-P"]
        .iter()
        .map(|code| bundled.find(code).unwrap().clone())
        .collect();
    let mut stub = Stub::over(&funds);
    stub.add_nav(bundled.find("KT25/75RMF").unwrap(), "2025-11-13", json!("12.3456"));
    let place = Place::new();
    std::fs::create_dir_all(place.home().join("packs")).unwrap();
    replace_dataset(
        &place.home().join("packs/rmf.tsv"),
        &Dataset::new(Provenance::default(), funds),
    )
    .unwrap();
    (place, stub::serve(Arc::new(Mutex::new(stub))))
}

#[test]
fn sync_fetches_new_navs_and_prints_a_summary() {
    let (place, api) = place_with_api();
    let sync = ["rmf", "sync", "--key-env", "KEY", "--base-url", &api, "--speed", "50"];
    let without_key = place.run(&sync);
    assert_eq!(without_key.status, Some(2), "{without_key:?}");
    let wrong_key = place.panoply(&sync).env("KEY", "wrong").output().unwrap();
    assert_eq!(wrong_key.status.code(), Some(1), "{wrong_key:?}");
    let synced = place.panoply(&sync).env("KEY", stub::KEY).output().unwrap();
    let said = String::from_utf8(synced.stdout).unwrap();
    assert!(synced.status.success() && said.contains("4 funds"), "{said}");
    let progress = String::from_utf8(synced.stderr).unwrap();
    assert!(progress.starts_with("sync: 0 of 0 projects, the register"), "{progress}");
    assert!(!progress.contains('['), "no bar without a terminal: {progress}");
    let history = place.run(&[
        "call",
        "get_rmf_fund_nav_history",
        "--arg",
        "fundCode=KT25/75RMF",
        "--arg",
        "days=1",
        "--json",
    ]);
    let history = history.json().to_string();
    assert!(history.contains("12.3456") && history.contains("2025-11-13"), "{history}");
}

#[test]
fn sync_shows_progress_on_a_terminal() {
    let (place, api) = place_with_api();
    let program = env!("CARGO_BIN_EXE_panoply");
    // `script` provides a terminal and captures its output.
    let shown = Command::new("script")
        .args([
            "-qec",
            &format!("{program} rmf sync --key-env KEY --base-url {api} --speed 50"),
            "/dev/null",
        ])
        .env("KEY", stub::KEY)
        .env("PANOPLY_HOME", place.home())
        .output()
        .unwrap();
    let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
    assert!(shown.contains("3/3") && shown.contains("[====================] 100 %"), "{shown:?}");
    let end = shown.rsplit('\r').find(|part| part.contains("4 funds"));
    assert!(end.is_some_and(|end| !end.contains('=')), "the bar is gone at the end: {shown:?}");
}

#[test]
fn chart_has_its_dates() {
    let place = Place::new();
    let picture = place.run(&["rmf", "chart", "kt gold rmf", "--days", "10"]).good();
    assert!(picture.starts_with("<svg") && picture.contains("KT-GOLD RMF"), "{picture}");
    assert!(picture.contains("2025"), "{picture}");
    place.run(&["rmf", "chart", "KT-GOLD RMF", "--out", "gold.svg"]).good();
    assert!(place.read("gold.svg").starts_with("<svg"));
    let unknown = place.run(&["rmf", "chart", "KT-GOLDD"]);
    assert_eq!(unknown.status, Some(2));
    assert!(unknown.err.contains("KT-GOLD RMF"), "{unknown:?}");
}

#[test]
fn chart_is_written_as_svg_or_png() {
    let place = Place::new();
    let svg = place.run(&["rmf", "chart", "abapac rmf", "--days", "30"]).good();
    assert!(svg.starts_with("<svg") && svg.contains("NAV of ABAPAC-RMF"), "{svg}");
    for arguments in [
        &["rmf", "chart", "ABAPAC-RMF", "--png", "--out", "a.png"][..],
        &["rmf", "chart", "ABAPAC-RMF", "--out", "b.PNG"],
    ] {
        let painted = place.run(arguments);
        assert_eq!(painted.status, Some(0), "{painted:?}");
        let bytes = std::fs::read(place.path(arguments.last().unwrap())).unwrap();
        assert!(bytes.starts_with(b"\x89PNG\r\n\x1a\n") && bytes.len() > 4000, "{arguments:?}");
        // Width and height, as the header has them: twice the units of the SVG.
        assert_eq!(
            (&bytes[16..20], &bytes[20..24]),
            (&1440_u32.to_be_bytes()[..], &680_u32.to_be_bytes()[..])
        );
    }
    let named = place.run(&["rmf", "chart", "ABAPAC-RMF", "--svg", "--out", "c.png"]);
    assert_eq!(named.status, Some(0), "{named:?}");
    assert!(std::fs::read(place.path("c.png")).unwrap().starts_with(b"<svg"), "as asked");
}

#[test]
fn chart_errors_have_hints() {
    let place = Place::new();
    let terminal = place.run(&["rmf", "chart", "ABAPAC-RMF", "--png"]);
    assert_eq!(terminal.status, Some(2), "{terminal:?}");
    assert!(terminal.err.contains("--out nav.png"), "{terminal:?}");
    let thai = place.run(&["rmf", "chart", "ABAPAC-RMF", "--lang", "th", "--out", "nav.png"]);
    assert_eq!(thai.status, Some(2), "{thai:?}");
    assert!(thai.err.contains("--svg"), "{thai:?}");
    let thai = place.run(&["rmf", "chart", "ABAPAC-RMF", "--lang", "th"]).good();
    assert!(thai.contains("NAV ของ ABAPAC-RMF") && thai.contains("2568"), "{thai}");
    let both = place.run(&["rmf", "chart", "ABAPAC-RMF", "--png", "--svg"]);
    assert_eq!(both.status, Some(2), "{both:?}");
}
