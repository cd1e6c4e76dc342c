//! Data packs: newer figures reach a running server, wrong ones never do, and the way back is exact.

use std::fs;

use serde_json::{Value, json};

use crate::place::Place;

/// A month that HMRC has not published yet.
const RATES: &str = "month,currency,units_per_gbp\n2031-01,USD,1.3125\n";

/// Builds a data pack of `cgt`; returns its path and the public key.
fn build(place: &Place, version: &str, rates: &str) -> (String, String) {
    place.file("figures/fx_rates.csv", rates);
    let out = place.path(&format!("{version}.zip")).display().to_string();
    let said = place.run(&[
        "data",
        "build",
        "cgt",
        "figures",
        "--version",
        version,
        "--about",
        "rates of January",
        "--signing-key",
        "publisher.key",
        "--out",
        &out,
    ]);
    assert_eq!(said.status, Some(0), "{said:?}");
    let key = said.out.lines().find_map(|line| line.strip_prefix("public key: ")).unwrap();
    (out, key.to_owned())
}

fn rate(client: &mut panoply_testkit::client::StdioClient) -> Value {
    let arguments = json!({"currency": "USD", "year": 2031, "month": 1});
    client.request("tools/call", json!({"name": "get_fx_rate", "arguments": arguments}))
}

#[test]
fn a_running_server_uses_new_figures_at_the_next_call_and_goes_back() {
    let place = Place::new();
    let (file, key) = build(&place, "2031-01-02", RATES);
    let mut client = place.stdio(&["cgt"]);
    client.initialize("2025-06-18");
    assert!(rate(&mut client).to_string().contains("there is no rate"), "no figure before");

    let said = place.run(&["data", "update", &file]);
    assert_eq!(said.status, Some(1));
    assert!(said.err.contains("no key is trusted"), "{said:?}");
    let said = place.run(&["data", "update", &file, "--key", &key]);
    assert_eq!(said.status, Some(0), "{said:?}");
    let reply = rate(&mut client).to_string();
    assert!(reply.contains("1.3125"), "{reply}");
    let report = place
        .file("a.cgt", "2031-01-10 BUY X 10 @ 131.25 USD\n2031-01-12 SELL X 10 @ 262.50 USD\n");
    let said = place.run(&["cgt", "report", &report.display().to_string()]);
    assert!(said.out.contains("gain £1000.00"), "{said:?}");

    let said = place.run(&["data", "list", "--json"]);
    let listed: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(listed[0]["active"], "2031-01-02");
    assert_eq!(listed[0]["installed"][0]["about"], "rates of January");
    let (newer, _) = build(&place, "2031-01-03", "2031-01,USD,1.5\n");
    assert_eq!(place.run(&["data", "update", &newer, "--key", &key]).status, Some(0));
    assert!(rate(&mut client).to_string().contains("1.5"));
    let said = place.run(&["data", "update", &file, "--key", &key]);
    assert!(said.err.contains("older than 2031-01-03"), "{said:?}");

    for expected in ["1.3125", "there is no rate"] {
        assert_eq!(place.run(&["data", "rollback", "cgt"]).status, Some(0));
        let reply = rate(&mut client).to_string();
        assert!(reply.contains(expected), "{reply}");
    }
    let said = place.run(&["data", "rollback", "cgt"]);
    assert_eq!(said.status, Some(1), "{said:?}");
    let said = place.run(&["audit", "show"]);
    assert_eq!(said.out.matches("data/update").count(), 2, "{said:?}");
}

#[test]
fn a_changed_forged_or_wrong_data_pack_is_refused_and_changes_nothing() {
    let place = Place::new();
    let (file, key) = build(&place, "2031-01-02", RATES);
    let good = fs::read(&file).unwrap();
    // Every byte of the archive counts.
    let mut taken = 0;
    for at in (0..good.len()).step_by(23) {
        let mut changed = good.clone();
        changed[at] ^= 0x10;
        fs::write(place.path("changed.zip"), &changed).unwrap();
        let said = place.run(&["data", "update", "changed.zip", "--key", &key]);
        // A flip in a time stamp or attribute of the ZIP changes no figure.
        taken += usize::from(said.status == Some(0));
        let rates = installed_rates(&place);
        assert!(rates.iter().all(|rates| rates == RATES), "byte {at}: {rates:?}");
        let _ = fs::remove_dir_all(place.home().join("data"));
    }
    assert!(taken * 4 < good.len() / 23, "{taken} of {} flips were taken", good.len() / 23);

    let other = Place::new();
    let (foreign, _) = build(&other, "2031-01-02", RATES);
    let said = place.run(&["data", "update", &foreign, "--key", &key]);
    assert!(said.status == Some(1) && said.err.contains("not signed by this key"), "{said:?}");
    assert!(!place.home().join("data").exists());

    let wrong = ["data", "build", "cgt", "figures", "--version", "x", "--about", "x"];
    place.file("figures/fx_rates.csv", "2031-01,USD,minus one\n");
    let rest = ["--signing-key", "publisher.key", "--out", "wrong.zip"];
    let said = place.run(&[&wrong[..], &rest[..]].concat());
    assert!(said.status == Some(1) && said.err.contains("line 1"), "{said:?}");
}

/// The rates of the data packs in a home.
fn installed_rates(place: &Place) -> Vec<String> {
    let folder = place.home().join("data/cgt");
    let archives = fs::read_dir(folder).into_iter().flatten().flatten();
    archives
        .filter(|entry| entry.path().extension().is_some_and(|ending| ending == "zip"))
        .map(|entry| {
            let bytes = fs::read(entry.path()).unwrap();
            let mut archive = zip::ZipArchive::new(std::io::Cursor::new(bytes)).unwrap();
            std::io::read_to_string(archive.by_name("fx_rates.csv").unwrap()).unwrap()
        })
        .collect()
}

#[test]
fn a_damaged_installed_data_pack_is_named_and_refused() {
    let place = Place::new();
    let (file, key) = build(&place, "2031-01-02", RATES);
    assert_eq!(place.run(&["data", "update", &file, "--key", &key]).status, Some(0));
    assert_eq!(place.run(&["data", "verify", "--key", &key]).status, Some(0));
    let installed = place.home().join("data/cgt/2031-01-02.zip");
    let whole = fs::read(&installed).unwrap();
    fs::write(&installed, &whole[..whole.len() / 2]).unwrap();
    let said = place.run(&["data", "verify", "--key", &key]);
    assert_eq!(said.status, Some(1));
    assert!(said.out.contains("cgt 2031-01-02"), "{said:?}");
    let arguments = r#"{"currency": "USD", "year": 2026, "month": 1}"#;
    let said = place.run(&["call", "get_fx_rate", arguments]);
    assert_ne!(said.status, Some(0));
    // The other packs serve on.
    let mut client = place.stdio(&[]);
    client.initialize("2025-11-25");
    assert_eq!(client.call_tool("get_rmf_data_status", json!({}))["isError"], json!(false));
    assert_eq!(client.call_tool("list-decks", json!({}))["isError"], json!(false));
    place.run(&["data", "rollback", "cgt"]).good();
    place.run(&["call", "get_fx_rate", arguments]).good();
}

#[test]
fn funds_are_replaced_as_a_sync_does() {
    let place = Place::new();
    let bundled = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/rmf/rmf.tsv");
    fs::create_dir_all(place.path("funds")).unwrap();
    fs::copy(bundled, place.path("funds/rmf.tsv")).unwrap();
    let said = place.run(&[
        "data",
        "build",
        "rmf",
        "funds",
        "--version",
        "2026-11-18",
        "--about",
        "the same funds",
        "--signing-key",
        "publisher.key",
        "--out",
        "funds.zip",
    ]);
    let key = said.out.lines().find_map(|line| line.strip_prefix("public key: ")).unwrap();
    let said = place.run(&["data", "update", "funds.zip", "--key", key]);
    assert_eq!(said.status, Some(0), "{said:?}");
    let said = place.run(&["rmf", "history"]);
    assert!(said.out.contains("active  403 funds"), "{said:?}");
    // Funds that were replaced since are not those of the data pack.
    let file = place.home().join("packs/rmf.tsv");
    let funds = fs::read(&file).unwrap();
    fs::remove_file(&file).unwrap();
    let said = place.run(&["data", "rollback", "rmf"]);
    assert!(said.status == Some(1) && said.err.contains("synced since"), "{said:?}");
    fs::write(&file, funds).unwrap();
    place.run(&["data", "rollback", "rmf"]).good();
}
