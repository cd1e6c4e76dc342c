//! Full sync against a stub of the SEC's API.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "helpers of tests may fail the test"
)]

mod stub;

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use jiff::civil::{Date, date};
use panoply_contract::dialect::Envelope;
use panoply_contract::kernel::Settings;
use panoply_contract::testing::{FixedClock, call_with, kernel_in_memory, noon};
use panoply_rmf::catalog::FundCatalog;
use panoply_rmf::dataset::{Dataset, Provenance};
use panoply_rmf::fund::{Flag, Fund};
use panoply_rmf::period::Period;
use panoply_rmf::store::{FundStore, replace_dataset};
use panoply_rmf::sync::{
    Http, HttpClient, Journal, MIN_CALL_INTERVAL, Progress, SyncError, SyncOutcome, SyncRequest,
    SystemTimer, Timer, sync,
};
use serde_json::json;
use stub::Stub;

const TODAY: Date = Date::constant(2025, 11, 14);

/// Funds of each kind: plain codes, a code with a slash, share classes, an initial offering.
fn catalog() -> FundCatalog {
    let bundled = FundCatalog::bundled().unwrap();
    let wanted = [
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
    let funds = wanted.iter().map(|code| bundled.find(code).unwrap().clone()).collect();
    FundCatalog::new(Dataset::new(Provenance::default(), funds))
}

/// Timer that advances only in `sleep`.
#[derive(Default)]
struct FakeTimer {
    time: Cell<Duration>,
    slept: RefCell<Vec<Duration>>,
}

impl Timer for FakeTimer {
    fn elapsed(&self) -> Duration {
        self.time.get()
    }

    fn sleep(&self, wait: Duration) {
        self.slept.borrow_mut().push(wait);
        self.time.set(self.time.get() + wait);
    }
}

#[derive(Default)]
struct MemoryJournal(BTreeMap<String, String>);

impl Journal for MemoryJournal {
    fn load(&self, name: &str) -> Option<String> {
        self.0.get(name).cloned()
    }

    fn save(&mut self, name: &str, text: &str) -> io::Result<()> {
        self.0.insert(name.to_owned(), text.to_owned());
        Ok(())
    }

    fn clear(&mut self) -> io::Result<()> {
        self.0.clear();
        Ok(())
    }
}

#[derive(Default)]
struct RecordedProgress(Vec<(usize, usize)>);

impl Progress for RecordedProgress {
    fn step(&mut self, done: usize, total: usize, _: &str) {
        self.0.push((done, total));
    }
}

fn run(
    catalog: &FundCatalog,
    http: &mut dyn Http,
    journal: &mut MemoryJournal,
) -> Result<SyncOutcome, SyncError> {
    let request = SyncRequest {
        catalog,
        today: TODAY,
        since: None,
        history_from: None,
        now: "2025-11-14T11:00:00Z",
        accept: &[],
    };
    sync(&request, http, &FakeTimer::default(), journal, &mut RecordedProgress::default())
}

fn find<'a>(synced: &'a SyncOutcome, code: &str) -> &'a Fund {
    synced.dataset.funds.iter().find(|fund| fund.symbol == code).unwrap()
}

#[test]
fn sync_appends_navs_and_keeps_fields_the_api_lacks() {
    let catalog = catalog();
    let mut stub = Stub::over(catalog.funds());
    let abapac = catalog.find("ABAPAC-RMF").unwrap();
    // Days after the bundled ones, as published by the SEC; each date in another format.
    stub.add_nav(abapac, "2025-11-10", json!(15.8194));
    stub.add_nav(abapac, "2025-11-11T00:00:00", json!("15.8284"));
    stub.add_nav(abapac, "2025-11-12T00:00:00+07:00", json!("15.8958"));
    stub.add_nav(abapac, "2025-11-13", json!("15.889"));
    let synced = run(&catalog, &mut stub, &mut MemoryJournal::default()).unwrap();
    assert_eq!((synced.dataset.funds.len(), synced.resumed), (catalog.funds().len(), 0));
    assert!(synced.added.is_empty() && synced.vanished.is_empty() && synced.skipped.is_empty());
    let fund = find(&synced, "ABAPAC-RMF");
    let latest = fund.nav.latest().unwrap();
    assert_eq!((latest.date, latest.nav.to_string()), (date(2025, 11, 13), "15.889".to_owned()));
    assert_eq!(fund.nav.points().len(), abapac.nav.points().len() + 4);
    assert_eq!(fund.classification.as_deref(), Some("EQASxJP"), "the new API has no classes");
    assert_eq!(fund.returns, abapac.returns);
    assert_eq!(fund.returns_as_of, Some(date(2025, 10, 31)));
    assert_eq!(fund.volatility_1y.unwrap().to_string(), "14.20");
    assert_eq!(fund.tracking_error, None, "a dash means missing");
    assert_eq!(fund.minimums.initial.unwrap().to_string(), "1000.00");
    assert_eq!((fund.minimums.redemption, fund.minimums.balance), (None, None));
    assert_eq!(fund.fees[0].kind, "total_expense");
    assert_eq!(fund.fees[0].value.unwrap().to_string(), "1.07", "the actual fee, not the maximum");
    assert_eq!(fund.suitability, abapac.suitability);
    assert_eq!(fund.benchmark.returns, abapac.benchmark.returns);
    assert_eq!(fund.benchmark.as_of, fund.returns_as_of);
    assert_eq!(fund.registered, abapac.registered);
    assert_eq!(fund.dividend_policy.as_deref(), Some("No"));
    assert!(synced.dataset.provenance.source.contains("v2"));
}

/// The stub has these fields empty; the test fills them in the API's form, and reads them back through
/// the tools.
#[tokio::test]
async fn synced_isin_master_fund_holdings_and_statistics_are_shown_by_the_tools() {
    let catalog = catalog();
    let mut stub = Stub::over(catalog.funds());
    let (asia, gold) = (catalog.find("B-ASIARMF").unwrap(), catalog.find("KT-GOLD RMF").unwrap());
    for (fund, isin, master) in [
        (asia, "TH0000000001", "Invesco Asian Equity Fund"),
        (gold, "TH0000000002", "SPDR Gold Trust"),
    ] {
        for row in stub.rows("general-info/profiles").iter_mut() {
            if row["proj_id"] == *fund.fund_id {
                row["fund_class_isin_code"] = json!(isin);
                row["feederfund_master_fund"] = json!(master);
                row["feederfund_country"] = json!("LUXEMBOURG");
            }
        }
        for (place, name, share) in [(1, master, "96.5"), (2, "Cash", "2.1")] {
            stub.rows("factsheet/top5-holdings").push(json!({
                "proj_id": fund.fund_id, "holding_seq": place, "asset_name": name,
                "asset_ratio": share, "start_date": "2025-10-31", "end_date": null,
                "prospectus_type": "Monthly",
            }));
        }
    }
    let synced = run(&catalog, &mut stub, &mut MemoryJournal::default()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("rmf.tsv");
    replace_dataset(&file, &synced.dataset).unwrap();
    let store = Arc::new(FundStore::at(Some(file)).unwrap());
    let packs = vec![panoply_rmf::tools::pack(store)];
    let kernel = kernel_in_memory(packs, FixedClock::at(noon()), Settings::default()).unwrap();
    let ask = async |tool: &str, arguments| match call_with(&kernel, tool, arguments, |_| ()).await
    {
        Envelope::Result { structured: Some(data), text, .. } => (data.value(), text),
        other => unreachable!("{other:?}"),
    };
    let (detail, text) = ask("get_rmf_fund_detail", json!({"fundCode": "B-ASIARMF"})).await;
    let fund = &detail["fund"];
    assert_eq!(fund["isin"], "TH0000000001");
    assert_eq!(fund["master_fund"], "Invesco Asian Equity Fund");
    assert_eq!(fund["master_country"], "LUXEMBOURG");
    assert_eq!(fund["top_holdings_as_of"], "2025-10-31");
    assert_eq!(
        fund["top_holdings"][0],
        json!({"asset_class": "Invesco Asian Equity Fund", "percentage": 96.5})
    );
    assert_eq!(fund["sec_statistics"]["maximum_drawdown"], -12.34, "{fund}");
    assert_eq!(fund["sec_statistics"]["sharpe_ratio"], 0.51, "{fund}");
    assert_eq!(fund["sec_statistics_as_of"], "2025-10-31");
    assert!(text.contains("Feeder of: Invesco Asian Equity Fund"), "{text}");
    let codes = json!({"fundCodes": ["B-ASIARMF", "KT-GOLD RMF"]});
    let (compared, _) = ask("compare_rmf_holdings", codes).await;
    assert_eq!(compared["funds"][0]["isin"], "TH0000000001");
    assert_eq!(compared["funds"][1]["master_fund"], "SPDR Gold Trust");
    assert_eq!(compared["funds"][0]["holdings"][1], json!({"name": "Cash", "percent": 2.1}));
    assert_eq!(compared["funds"][0]["holdings_as_of"], "2025-10-31");
    // Of the largest holdings only the cash is common: 2.1 % of each fund.
    assert_eq!(compared["pairs"][0]["overlapPercent"], 2.1);
    assert_eq!(compared["pairs"][0]["common"], json!(["Cash"]));
}

#[test]
fn ten_years_are_fetched_once_and_recorded() {
    let catalog = catalog();
    let ermf = catalog.find("ERMF").unwrap();
    let mut stub = Stub::over(catalog.funds());
    stub.add_nav(ermf, "2015-11-20", json!("40.1"));
    stub.add_nav(ermf, "2010-01-04", json!("30.1"));
    let request = SyncRequest {
        catalog: &catalog,
        today: TODAY,
        since: None,
        history_from: Some(date(2015, 11, 14)),
        now: "2025-11-14T11:00:00Z",
        accept: &[],
    };
    let run = |request: &SyncRequest<'_>, stub: &mut Stub| {
        let (mut journal, mut steps) = (MemoryJournal::default(), RecordedProgress::default());
        sync(request, stub, &FakeTimer::default(), &mut journal, &mut steps).unwrap()
    };
    let first = run(&request, &mut stub);
    let oldest = find(&first, "ERMF").nav.points()[0];
    assert_eq!((oldest.date, oldest.nav.to_string()), (date(2015, 11, 20), "40.1".to_owned()));
    assert_eq!(first.dataset.provenance.history_from, "2015-11-14");
    let packed = Dataset::read(first.dataset.packed().as_bytes()).unwrap();
    assert_eq!(packed, first.dataset, "the record survives the file");
    // A day later the window has moved by a day; nothing of it is fetched again.
    let catalog = FundCatalog::new(packed);
    let next = SyncRequest {
        catalog: &catalog,
        today: date(2025, 11, 15),
        history_from: Some(date(2015, 11, 15)),
        ..request
    };
    stub.requests.clear();
    let second = run(&next, &mut stub);
    assert_eq!(find(&second, "ERMF").nav.points()[0], oldest, "the history stays");
    assert_eq!(second.dataset.provenance.history_from, "2015-11-14");
}

#[test]
fn sync_takes_the_figures_of_the_named_share_class() {
    let catalog = catalog();
    let mut stub = Stub::over(catalog.funds());
    let (a, e) = (catalog.find("SCBRMNDQ(A)").unwrap(), catalog.find("SCBRMNDQ(E)").unwrap());
    assert_eq!(a.nav, e.nav, "the snapshot gave both the same");
    for row in
        stub.rows("daily-info/nav").iter_mut().filter(|row| row["fund_class_name"] == "SCBRMNDQ(E)")
    {
        row["last_val"] = json!("99.5");
    }
    for row in stub.rows("factsheet/performance").iter_mut() {
        let ours =
            row["fund_class_name"] == "SCBRMNDQ(E)" && row["reference_period"] == "year to date";
        if ours && row["performance_type_desc"] == "ผลตอบแทนกองทุนรวม"
        {
            row["performance_value"] = json!("12.34");
        }
    }
    // The API lists the rows of the other class first.
    let synced = run(&catalog, &mut stub, &mut MemoryJournal::default()).unwrap();
    let (new_a, new_e) = (find(&synced, "SCBRMNDQ(A)"), find(&synced, "SCBRMNDQ(E)"));
    assert_eq!(new_a.nav.latest(), a.nav.latest());
    assert!(new_e.nav.points().iter().all(|point| point.nav.to_string() == "99.5"));
    assert_eq!(new_e.returns.get(Period::Ytd).unwrap().to_string(), "12.34");
    assert_eq!(new_a.returns.get(Period::Ytd), a.returns.get(Period::Ytd));
    assert!(new_e.flags.is_empty(), "its figures are its own now: {:?}", new_e.flags);
    assert_eq!(new_e.share_classes, ["SCBRMNDQ(A)", "SCBRMNDQ(E)"]);
}

#[test]
fn sync_keeps_the_previous_figures_of_a_fund_without_new_ones() {
    let catalog = catalog();
    let mut stub = Stub::over(catalog.funds());
    let id = catalog.find("ERMF").unwrap().fund_id.clone();
    for endpoint in [
        "daily-info/nav",
        "factsheet/performance",
        "factsheet/fees",
        "factsheet/asset-allocation",
        "factsheet/risk-spectrum",
    ] {
        stub.rows(endpoint).retain(|row| row["proj_id"] != *id);
    }
    let synced = run(&catalog, &mut stub, &mut MemoryJournal::default()).unwrap();
    let (before, after) = (catalog.find("ERMF").unwrap(), find(&synced, "ERMF"));
    assert_eq!(
        (&after.nav, &after.returns, after.returns_as_of),
        (&before.nav, &before.returns, before.returns_as_of)
    );
    assert_eq!(
        (after.risk, &after.allocation, &after.fees),
        (before.risk, &before.allocation, &before.fees)
    );
    let offered = find(&synced, "B-USPASSIVERMF");
    assert_eq!(offered.flags, [Flag::NoNav], "a registered fund stays though it has no NAV");
}

#[test]
fn sync_adds_new_rmfs_and_ignores_other_funds() {
    let catalog = catalog();
    let without: Vec<Fund> =
        catalog.funds().iter().filter(|fund| fund.symbol != "ERMF").cloned().collect();
    let smaller = FundCatalog::new(Dataset::new(Provenance::default(), without));
    let mut stub = Stub::over(catalog.funds());
    let stranger = Fund {
        fund_id: "M9999_2568".to_owned(),
        symbol: "NOT-AN-RMF".to_owned(),
        ..catalog.find("ERMF").unwrap().clone()
    };
    let mut other = Stub::over(&[stranger]);
    stub.rows("general-info/profiles").append(other.rows("general-info/profiles"));
    let synced = run(&smaller, &mut stub, &mut MemoryJournal::default()).unwrap();
    assert_eq!(synced.added, ["ERMF"]);
    assert!(synced.dataset.funds.iter().all(|fund| fund.symbol != "NOT-AN-RMF"));
    let mut stub = Stub::over(catalog.funds());
    let id = catalog.find("ERMF").unwrap().fund_id.clone();
    stub.rows("factsheet/risk-spectrum").retain(|row| row["proj_id"] != *id);
    let synced = run(&smaller, &mut stub, &mut MemoryJournal::default()).unwrap();
    assert_eq!(
        synced.skipped[0].code, "ERMF",
        "a new fund without a level of risk cannot be listed"
    );
}

#[test]
fn sync_aborts_when_more_than_a_tenth_of_the_funds_vanish() {
    let catalog = catalog();
    let mut stub = Stub::over(&catalog.funds()[2..]);
    let error = run(&catalog, &mut stub, &mut MemoryJournal::default()).unwrap_err();
    assert!(matches!(error, SyncError::UniverseShrank { before: 12, gone: 2 }), "{error}");
    let mut stub = Stub::over(&catalog.funds()[1..]);
    let synced = run(&catalog, &mut stub, &mut MemoryJournal::default()).unwrap();
    assert_eq!(synced.vanished, [catalog.funds()[0].symbol.clone()], "a single fund may end");
}

#[test]
fn interrupted_sync_resumes_from_the_journal() {
    let catalog = catalog();
    let mut journal = MemoryJournal::default();
    let mut stub = Stub { fails_after: Some(45), ..Stub::over(catalog.funds()) };
    let error = run(&catalog, &mut stub, &mut journal).unwrap_err();
    assert!(error.to_string().contains("run the same command again"), "{error}");
    let done: Vec<String> = journal.0.keys().filter(|name| *name != "run").cloned().collect();
    assert!(!done.is_empty());
    let mut stub = Stub::over(catalog.funds());
    let synced = run(&catalog, &mut stub, &mut journal).unwrap();
    assert_eq!(synced.resumed, done.len());
    assert!(
        done.iter().all(|id| !stub.requests.iter().any(|request| request.ends_with(id.as_str())))
    );
    let whole =
        run(&catalog, &mut Stub::over(catalog.funds()), &mut MemoryJournal::default()).unwrap();
    assert_eq!(synced.dataset, whole.dataset, "a resumed sync equals an uninterrupted one");
    let request = SyncRequest {
        catalog: &catalog,
        today: date(2025, 11, 15),
        since: None,
        history_from: None,
        now: "later",
        accept: &[],
    };
    let mut stub = Stub::over(catalog.funds());
    let tomorrow = sync(
        &request,
        &mut stub,
        &FakeTimer::default(),
        &mut journal,
        &mut RecordedProgress::default(),
    );
    assert_eq!(tomorrow.unwrap().resumed, 0, "the journal of another day is discarded");
}

#[test]
fn calls_are_rate_limited_and_progress_is_reported() {
    let catalog = catalog();
    let mut stub = Stub { failures: vec![421, 500, 429], ..Stub::over(catalog.funds()) };
    let (timer, mut steps) = (FakeTimer::default(), RecordedProgress::default());
    let request = SyncRequest {
        catalog: &catalog,
        today: TODAY,
        since: Some(date(2025, 11, 1)),
        history_from: None,
        now: "now",
        accept: &[],
    };
    let synced =
        sync(&request, &mut stub, &timer, &mut MemoryJournal::default(), &mut steps).unwrap();
    assert_eq!(usize::try_from(synced.calls).unwrap(), stub.requests.len());
    let gaps = timer.slept.borrow().iter().filter(|wait| **wait == MIN_CALL_INTERVAL).count();
    assert!(
        gaps + 3 >= stub.requests.len() - 1,
        "{gaps} gaps between {} calls",
        stub.requests.len()
    );
    let projects = steps.0.last().unwrap().1;
    assert_eq!((steps.0.len(), *steps.0.last().unwrap()), (projects + 2, (projects, projects)));
}

#[test]
fn sync_over_http_is_visible_to_a_running_server() {
    let catalog = catalog();
    let stub =
        Arc::new(Mutex::new(Stub { failures: vec![503, 421], ..Stub::over(catalog.funds()) }));
    stub.lock().unwrap().add_nav(
        catalog.find("KT25/75RMF").unwrap(),
        "2025-11-13",
        json!("12.3456"),
    );
    let address = stub::serve(Arc::clone(&stub));
    let timer = SystemTimer::new(FixedClock::at(noon())).faster(100);
    let request = SyncRequest {
        catalog: &catalog,
        today: TODAY,
        since: None,
        history_from: None,
        now: "2025-11-14T11:00:00Z",
        accept: &[],
    };
    let mut http = HttpClient::new(&address, "wrong".to_owned());
    let rejected = sync(
        &request,
        &mut http,
        &timer,
        &mut MemoryJournal::default(),
        &mut RecordedProgress::default(),
    );
    assert!(matches!(rejected.unwrap_err(), SyncError::InvalidKey { status: 401 }));
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("rmf.tsv");
    let store = FundStore::at(Some(file.clone())).unwrap();
    let before = store.version();
    let mut http = HttpClient::new(&address, stub::KEY.to_owned());
    let synced = sync(
        &request,
        &mut http,
        &timer,
        &mut MemoryJournal::default(),
        &mut RecordedProgress::default(),
    )
    .unwrap();
    replace_dataset(&file, &synced.dataset).unwrap();
    let latest = store.catalog().find("KT25/75RMF").unwrap().nav.latest().unwrap();
    assert_eq!((latest.date, latest.nav.to_string()), (date(2025, 11, 13), "12.3456".to_owned()));
    assert_ne!(store.version(), before);
}
