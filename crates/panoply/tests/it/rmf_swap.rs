//! Swap of the rmf dataset: a kill at every system call that makes a change durable or visible, a
//! scheduled sync in a server, a damaged file, and the age of the figures in `doctor`.

use std::collections::HashMap;
use std::fs;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use jiff::civil::Date;
use panoply_contract::clock::Clock as _;
use panoply_rmf::dataset::Dataset;
use panoply_store::SystemClock;
use serde_json::{Value, json};

use crate::place::Place;
use crate::rmf::stub;
use crate::rmf_faults::{api, arguments, before, bytes, figures, kept_or_clean, place, sync};

/// System calls that make a change of files durable or visible.
const STEPS: &str = "rename,fsync,unlink,unlinkat,rmdir";

/// `panoply rmf sync` under strace, against a fresh stub; the log goes to the place.
fn traced(place: &Place, options: &[&str]) -> std::process::ExitStatus {
    let address = stub::serve(Arc::new(Mutex::new(api())));
    let arguments = arguments(&address);
    let plain: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let program = place.panoply(&plain);
    let mut strace = Command::new("strace");
    strace.args(["-f", "-qq", "-y", "-o"]).arg(place.path("strace.log")).args(options);
    strace.arg(program.get_program()).args(program.get_args());
    for (name, value) in program.get_envs() {
        match value {
            Some(value) => strace.env(name, value),
            None => strace.env_remove(name),
        };
    }
    strace.env("KEY", stub::KEY).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // strace is installed, as for tests/outside/crash.py.
    strace.status().unwrap()
}

/// System calls on files of the packs' folder, each with its count within its thread.
fn kill_points(place: &Place) -> Vec<KillPoint> {
    let packs = place.home().join("packs").display().to_string();
    let mut counts: HashMap<(String, String), usize> = HashMap::new();
    let mut points = Vec::new();
    for line in place.read("strace.log").lines() {
        let Some((thread, rest)) = line.split_once(' ') else { continue };
        let Some((syscall, given)) = rest.trim_start().split_once('(') else { continue };
        let count = counts.entry((thread.to_owned(), syscall.to_owned())).or_default();
        *count += 1;
        if given.contains(&packs) {
            points.push((syscall.to_owned(), *count, given.to_owned()));
        }
    }
    points
}

type KillPoint = (String, usize, String);

/// The steps of an undisturbed sync: the journal of each project, the copy for the history, the new
/// file, and the removal of the journal, each written, synced and renamed.
fn steps() -> Vec<KillPoint> {
    let undisturbed = place();
    assert!(traced(&undisturbed, &["-e", &format!("trace={STEPS}")]).success());
    let points = kill_points(&undisturbed);
    let names = |part: &str| points.iter().any(|(.., given)| given.contains(part));
    assert!(names("rmf-sync/") && names("rmf-history/") && names("rmf.tsv"), "{points:?}");
    points
}

/// Kills a sync before each of the steps, every time in a fresh home: the old or the new figures are
/// whole, the next sync completes, and a rollback restores the original bytes.
fn killed_before(chosen: &[&KillPoint]) {
    let (mut killed, mut old, mut new) = (0, 0, 0);
    for (syscall, count, given) in chosen {
        let at = format!("{syscall} {count}: {given}");
        let place = place();
        let original = bytes(&place);
        let inject = format!("inject={syscall}:signal=KILL:when={count}");
        let ended = traced(&place, &["-e", &format!("trace={syscall}"), "-e", &inject]);
        killed += usize::from(!ended.success());
        let now = bytes(&place);
        assert!(Dataset::read(&now).is_ok(), "{at}");
        if now == original {
            old += 1;
        } else {
            new += 1;
            assert_eq!(kept_or_clean(&place), [""; 0], "{at}");
        }
        let history = place.run(&["rmf", "history"]).good();
        assert!(!history.contains("cannot be used"), "{at}: {history}");
        assert_eq!(sync(&place, api()).status, Some(0), "{at}");
        assert_eq!(kept_or_clean(&place), [""; 0], "{at}");
        place.run(&["rmf", "rollback", "1"]).good();
        assert!(bytes(&place) == original, "{at}: the first generation is the original file");
    }
    let all = chosen.len();
    // A thread may take another way the second time, and not come to its point.
    assert!(killed * 5 >= all * 4 && killed >= 3, "{killed} of {all} killed");
    assert!(old > 0 && new > 0, "{old} before the swap, {new} after");
}

#[test]
fn sync_killed_at_a_rename_of_the_swap_loses_no_figure() {
    let steps = steps();
    let last = steps.iter().rposition(|(_, _, given)| given.contains("rmf.tsv")).unwrap();
    let swap = |(syscall, _, given): &&KillPoint| {
        syscall == "rename" && (given.contains("rmf-history") || given.contains("rmf.tsv"))
    };
    let chosen: Vec<_> = steps.iter().filter(swap).chain(steps.get(last + 1)).collect();
    killed_before(&chosen);
}

#[test]
#[ignore = "a sync for each of some twenty steps takes minutes: ./test --long"]
fn sync_killed_before_every_step_loses_no_figure() {
    let steps = steps();
    // The journal is written alike for each project: its first steps and its last stand for all.
    let swap = steps.iter().position(|(.., given)| given.contains("rmf-history")).unwrap();
    let chosen: Vec<_> =
        steps.iter().take(3).chain(steps.iter().skip(swap.saturating_sub(2))).collect();
    killed_before(&chosen);
}

/// Waits until a call of the server shows what is wanted.
fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    for _ in 0..300 {
        if holds() {
            return;
        }
        std::thread::sleep(Duration::from_millis(300));
    }
    unreachable!("not in 90 seconds: {what}");
}

/// Current date in Thailand.
fn today() -> Date {
    let thailand = jiff::tz::TimeZone::fixed(jiff::tz::offset(7));
    SystemClock::new().now().to_zoned(thailand).date()
}

#[test]
fn server_syncs_on_schedule_and_fetches_ten_years() {
    let place = place();
    let mut stub = api();
    // Nine years before the clock of this machine, so within the ten that a scheduled sync fetches.
    let long_ago = today().saturating_sub(jiff::Span::new().years(9)).to_string();
    stub.add_nav(&before()[0], &long_ago, json!("11.25"));
    let address = stub::serve(Arc::new(Mutex::new(stub)));
    fs::write(
        place.home().join("config.toml"),
        format!("[pack.rmf]\nsync = \"every 1s\"\nkey_env = \"KEY\"\nbase_url = \"{address}\"\n"),
    )
    .unwrap();
    let mut command = place.panoply(&["http", "--listen", "127.0.0.1:0", "rmf"]);
    let server = panoply_testkit::client::HttpServer::spawn(command.env("KEY", stub::KEY));
    let client = server.client();
    let call = |tool: &str, arguments: Value| {
        let call = json!({"name": tool, "arguments": arguments});
        client.rpc("/mcp", "tools/call", call)["result"]["structuredContent"].clone()
    };
    assert_eq!(call("get_rmf_data_status", json!({}))["navTo"], "2025-11-10", "before the sync");
    eventually("the server serves the NAV of 13 November", || {
        call("get_rmf_data_status", json!({}))["navTo"] == "2025-11-13"
    });
    let fund = funds_of(&place).into_iter().find(|fund| fund.symbol == "ABAPAC-RMF").unwrap();
    assert_eq!(fund.nav.points()[0].date.to_string(), long_ago);
    let history = place.run(&["rmf", "history"]).good();
    assert!(history.contains("     1  12 funds"), "{history}");
}

fn funds_of(place: &Place) -> Vec<panoply_rmf::fund::Fund> {
    Dataset::read(&bytes(place)).unwrap().funds
}

#[test]
fn reply_of_a_tool_names_the_damaged_file_and_the_remedy() {
    let place = place();
    fs::write(figures(&place), "half a fi").unwrap();
    let server = place.http(&["rmf"]);
    let call = json!({"name": "get_rmf_funds", "arguments": {}});
    let reply = server.client().rpc("/mcp", "tools/call", call);
    assert_eq!(reply["result"]["isError"], true, "{reply}");
    let text = reply["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("packs/rmf.tsv") && text.contains("panoply rmf rollback"), "{text}");
    assert!(text.contains("damaged"), "{text}");
    assert!(!text.contains(&place.home().display().to_string()), "no path of the machine: {text}");
}

#[test]
fn doctor_tells_the_age_of_the_figures() {
    let place = Place::new();
    let today = today();
    // `data/rmf/README.md`: NAVs of 2025-11-06 to 2025-11-10, returns of 2025-09-30.
    let age = today - jiff::civil::date(2025, 11, 10);
    let expected = format!(
        "bundled, NAV 2025-11-06 to 2025-11-10 ({} days old), returns to 2025-09-30, 0 funds in quarantine",
        age.get_days()
    );
    let said = place.run(&["doctor", "--json"]).json();
    let findings = said["findings"].as_array().unwrap();
    let line = findings.iter().find(|finding| finding["about"] == "rmf figures").unwrap();
    assert_eq!(line["says"], expected, "{line}");
    assert_ne!(line["state"], "well", "old figures are not well: {line}");
    assert!(line["todo"].as_str().unwrap().contains("panoply rmf sync"), "{line}");
    // As after a sync of today.
    let mut funds = before();
    let point = panoply_rmf::nav::NavPoint { date: today, nav: "15.889".parse().unwrap() };
    funds[0].nav = panoply_rmf::nav::NavSeries::new(vec![point]).unwrap();
    fs::create_dir_all(place.home().join("packs")).unwrap();
    let dataset = Dataset::new(panoply_rmf::dataset::Provenance::default(), funds);
    panoply_rmf::store::replace_dataset(&figures(&place), &dataset).unwrap();
    let said = place.run(&["doctor", "--json"]).json();
    let findings = said["findings"].as_array().unwrap();
    let line = findings.iter().find(|finding| finding["about"] == "rmf figures").unwrap();
    assert_eq!(line["state"], "well", "{line}");
    assert!(line["says"].as_str().unwrap().contains("(0 days old)"), "{line}");
}
