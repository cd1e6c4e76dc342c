//! `panoply cgt`: transactions on the command line.

use crate::place::Place;

const TRADES: &str = "2024-01-15 BUY AAPL 100 @ 150 USD FEES 10 USD\n2024-06-20 SELL AAPL 50 @ 180 USD FEES 5 USD\n2024-06-25 BUY AAPL 10 @ 170 USD\n";

#[test]
fn cgt_report_is_table_json_or_document() {
    let place = Place::new();
    place.file("trades.cgt", TRADES);
    // Figures of cgt-tool 0.14.3, reproduced by an exact model.
    let said = place.run(&["cgt", "report", "trades.cgt", "--year", "2024"]).good();
    assert!(said.contains("2024/25") && said.contains("994.16"), "{said}");
    let json = place.run(&["cgt", "report", "trades.cgt", "--json"]).json();
    assert_eq!(json["tax_years"][0]["net_gain"], "994.16");
    let paper =
        place.run(&["cgt", "report", "trades.cgt", "--pdf", "report.pdf", "--name", "A Person"]);
    assert_eq!(paper.status, Some(0), "{paper:?}");
    let bytes = std::fs::read(place.path("report.pdf")).unwrap();
    assert!(bytes.starts_with(b"%PDF-") && bytes.ends_with(b"%%EOF\n"));
    let again = place.run(&["cgt", "report", "trades.cgt", "--pdf", "report.pdf"]);
    assert_eq!(again.status, Some(1), "existing files are not overwritten: {again:?}");
    let page = place.run(&["cgt", "report", "trades.cgt", "--html", "report.html"]);
    assert_eq!(page.status, Some(0), "{page:?}");
    let page = std::fs::read_to_string(place.path("report.html")).unwrap();
    assert!(page.starts_with("<!doctype html>") && page.contains("994.16"), "{page}");
    let both = ["cgt", "report", "trades.cgt", "--html", "b.html", "--pdf", "b.pdf", "--name", "B"];
    assert_eq!(place.run(&both).status, Some(0));
    assert!(place.path("b.html").exists() && place.path("b.pdf").exists());
}

#[test]
fn trades_are_parsed_and_errors_name_their_lines() {
    let place = Place::new();
    place.file("trades.cgt", TRADES);
    assert!(place.run(&["cgt", "parse", "trades.cgt"]).good().contains("3 transactions"));
    let explained = place
        .run(&["cgt", "explain", "trades.cgt", "--date", "2024-06-20", "--ticker", "aapl"])
        .good();
    assert!(
        explained.contains("30-day rule") && explained.contains("Section 104 pool"),
        "{explained}"
    );
    let refused = place.run_with(&["cgt", "parse", "-"], "2024-02-28 SELL AAPL x\n");
    assert_eq!(refused.status, Some(1));
    assert!(refused.err.contains("line 1, column 22"), "{refused:?}");
    let nowhere = place.run(&["cgt", "parse", "nowhere.cgt"]);
    assert_eq!(nowhere.status, Some(2), "{nowhere:?}");
}

#[test]
fn broker_export_is_converted_and_rates_are_printed() {
    let place = Place::new();
    place.file("old.txt", "B 08/09/2010 BARC 5000 4.1565 9.95 104\nX what\n");
    let said = place.run(&["cgt", "import", "old.txt"]);
    assert_eq!(said.out.trim_end(), "2010-09-08 BUY BARC 5000 @ 4.1565 GBP FEES 113.95 GBP");
    assert!(said.err.contains("line 2"), "{said:?}");
    assert!(place.run(&["cgt", "fx", "usd", "2024-03"]).good().contains("1.2614"));
    assert_eq!(place.run(&["cgt", "fx", "usd", "2024"]).status, Some(2));
    assert_eq!(place.run(&["cgt", "fx", "usd", "2010-01"]).status, Some(1));
}

#[test]
fn report_prints_every_disposal_of_a_large_file_in_every_format() {
    // 100,001 rows and 5 MB, more than a tool call may have.
    let place = Place::new();
    let mut trades = String::from("2015-01-05 BUY A 100000 @ 1.00 FEES 10.00\n");
    for row in 0..100_000 {
        let (year, month, day) = (2016 + row / 10_000, 1 + row / 850 % 12, 1 + row / 30 % 28);
        trades +=
            &format!("{year}-{month:02}-{day:02} SELL A 1 @ 2.00 FEES 0.00    # number {row:06}\n");
    }
    assert!(trades.len() > 4 << 20);
    place.file("big.cgt", &trades);
    let json = place.run(&["cgt", "report", "big.cgt", "--json"]).json();
    let listed: usize = json["tax_years"]
        .as_array()
        .unwrap()
        .iter()
        .map(|year| year["disposals"].as_array().unwrap().len())
        .sum();
    assert_eq!(json["page"]["total"], listed);
    assert!(listed > 2_000, "{listed}");
    let documents = ["--pdf", "big.pdf", "--html", "big.html", "--csv", "big.csv"];
    let written = place.run(&[&["cgt", "report", "big.cgt"], &documents[..]].concat());
    assert_eq!(written.status, Some(0), "{written:?}");
    let csv = std::fs::read_to_string(place.path("big.csv")).unwrap();
    assert_eq!(csv.lines().count(), listed + 1);
    let page = std::fs::read_to_string(place.path("big.html")).unwrap();
    assert_eq!(page.matches("<section").count(), listed);
    let said = place.run(&["cgt", "report", "big.cgt"]).good();
    assert_eq!(said.matches("Section 104\n").count(), listed);
}

#[test]
fn broker_export_given_to_report_is_pointed_to_import() {
    let place = Place::new();
    // Windows-1252, as Hargreaves Lansdown writes it: 0xA3 is the pound sign.
    let export = b"Portfolio Summary,\n\nTrade date,Settle date,Reference,Description,Unit cost (p),Quantity,Value (\xA3)\n15/01/2024,17/01/2024,B123456789,Vodafone Group plc,70.00,1000,-711.95\n";
    std::fs::write(place.path("hl.csv"), export).unwrap();
    let refused = place.run(&["cgt", "report", "hl.csv"]);
    assert_eq!(refused.status, Some(1));
    assert!(refused.err.contains("panoply cgt import"), "{refused:?}");
    let imported = place.run(&["cgt", "import", "hl.csv"]).good();
    assert_eq!(
        imported.trim_end(),
        "2024-01-15 BUY VODAFONE-GROUP-PLC 1000 @ 0.7 GBP FEES 11.95 GBP"
    );
    std::fs::write(place.path("x.pdf"), b"%PDF-1.4").unwrap();
    let refused = place.run(&["cgt", "import", "x.pdf"]);
    assert!(refused.status == Some(2) && refused.err.contains("CSV or .xlsx"), "{refused:?}");
}

#[test]
fn portfolio_commands_keep_trades_and_report_them() {
    let place = Place::new();
    place.file("trades.cgt", TRADES);
    let run = |words: &[&str]| place.run(&[&["cgt", "portfolio"], words].concat());
    assert!(run(&["create", "My shares"]).good().contains("pf_"));
    assert!(run(&["add", "my shares", "trades.cgt"]).good().contains('3'));
    let listed = run(&["list", "--json"]).json();
    assert_eq!(listed["portfolios"][0]["transactions"], 3);
    // More lines than one call may have, in two files.
    place.file("many.cgt", &"2024-01-15 BUY B 1 @ 1\n".repeat(20_001));
    run(&["create", "Many"]).good();
    run(&["add", "Many", "many.cgt", "trades.cgt"]).good();
    assert_eq!(run(&["show", "Many"]).good().lines().count(), 20_004);
    let shown = run(&["show", "My shares"]).good();
    assert_eq!(shown.lines().count(), 3, "{shown}");
    let entries = run(&["show", "My shares", "--json"]).good();
    let first: serde_json::Value = serde_json::from_str(entries.lines().next().unwrap()).unwrap();
    assert_eq!(first["account"], "General");
    let report = ["cgt", "report", "--portfolio", "My shares", "--json"];
    assert_eq!(place.run(&report).json()["tax_years"][0]["net_gain"], "994.16");
    // Columns and quotes of Trading 212, with invented figures.
    place.file("t212.csv", "Action,Time,ISIN,Ticker,Name,No. of shares,Price / share,Currency (Price / share),Exchange rate,Total,Currency (Total),ID\nMarket buy,2024-01-05 10:00:00,US0378331005,MSFT,Microsoft,1,185,USD,1.27,145.67,GBP,E1\n");
    run(&["import", "My shares", "t212.csv", "--account", "T212"]).good();
    place.file("statement.csv", "ticker,shares\nAAPL,60\nMSFT,10\n");
    let compared = run(&["reconcile", "My shares", "statement.csv"]).good();
    assert!(compared.contains("SPLIT with RATIO 10"), "{compared}");
    assert_eq!(run(&["delete", "My shares"]).status, Some(2));
    run(&["undo", "My shares"]).good();
    assert_eq!(run(&["show", "My shares"]).good().lines().count(), 3);
    run(&["delete", "My shares", "--yes"]).good();
    let gone = run(&["show", "My shares"]);
    assert!(gone.status == Some(1) && gone.err.contains("does not exist"), "{gone:?}");
}

#[test]
fn income_is_added_up_by_country() {
    let place = Place::new();
    place.file("income.cgt", "2024-01-01 SECURITY AAPL ISIN US0378331005\n2024-07-01 DIVIDEND AAPL TOTAL 1000 TAX 150\n2024-08-01 INTEREST BANK TOTAL 40\n");
    let words =
        ["cgt", "income", "income.cgt", "--year", "2024", "--other-income", "20000", "--json"];
    let income = place.run(&words).json();
    assert_eq!(income["foreign"][0]["country"], "USA");
    // (1,000 - 500) x 8.75 % is less than the 150 withheld.
    assert_eq!(income["foreign"][0]["relief"], "43.75");
    assert_eq!(income["interest"]["uk"], "40.00");
    assert_eq!(income["tax"]["tax_due"], "0.00");
}
