//! Benchmarks of the cgt pack: portfolios of up to a million transactions with time, memory and
//! growth, the start of `cgt-mcp`, a small call, and cgt-calc on the same portfolio.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use panoply_cgt::dsl;
use panoply_cgt::engine::report::{Rounding, report as years_of};
use panoply_cgt::engine::{Options, compute};
use panoply_cgt::fx::Rates;
use panoply_cgt::parameters::Parameters;
use panoply_cgt::tools::{Settings, pack};
use panoply_contract::clock::Clock;
use panoply_contract::kernel::Settings as KernelSettings;
use panoply_contract::testing::kernel_in_memory;
use panoply_store::SystemClock;
use serde_json::json;

use crate::{Outcome, child, portfolio, report, startup};

/// Transactions, runs, and the goal in milliseconds of processor time.
const SIZES: [(u64, usize, f64); 3] =
    [(10_000, 9, 10.0), (100_000, 5, 100.0), (1_000_000, 3, 1_000.0)];
/// Peak memory of a million transactions.
const GOAL_MEGABYTES: f64 = 300.0;
const GOAL_START_MILLIS: f64 = 20.0;
/// 99th percentile.
const GOAL_SMALL_CALL_MILLIS: f64 = 0.3;
/// Least ratio of cgt-calc's processor time to ours.
const GOAL_PEER_RATIO: f64 = 150.0;
const SMALL_CALLS: usize = 2_000;
const PEER_TRADES: u64 = 10_000;
const PEER_YEAR: &str = "2023";

pub(crate) fn run() -> Outcome {
    report::heading(
        "The cgt pack",
        "reading, matching and reporting all years, each run in a process of its own; median",
    );
    let mut nanos_a_row = Vec::new();
    for (count, runs, goal) in SIZES {
        let measured: Vec<Measured> =
            (0..runs).map(|_| in_a_process(count)).collect::<Outcome<_>>()?;
        let median = |of: fn(&Measured) -> f64| report::median(measured.iter().map(of).collect());
        let name = format!("{count} transactions");
        report::figure(&name, median(|run| run.millis), "ms", None);
        let processor = median(|run| run.processor_millis);
        report::figure(&format!("{name}, processor time"), processor, "ms", Some(goal));
        let goal = (count == 1_000_000).then_some(GOAL_MEGABYTES);
        report::figure(&format!("{name}, peak memory"), median(|run| run.megabytes), "MB", goal);
        let rows = f64::from(u32::try_from(count)?);
        nanos_a_row.push(processor * 1e6 / rows);
    }
    if let [.., hundred_thousand, million] = nanos_a_row.as_slice() {
        let growth = million / hundred_thousand;
        report::figure("a row of a million / a row of 100,000", growth, "×", None);
    }
    let program = startup::sibling_program("cgt-mcp")?;
    let start = startup::median_start(&program, &[])?;
    report::figure("start of cgt-mcp to its first reply", start, "ms", Some(GOAL_START_MILLIS));
    small_calls()?;
    peer()
}

/// Cost of one run.
struct Measured {
    millis: f64,
    processor_millis: f64,
    megabytes: f64,
}

fn in_a_process(count: u64) -> Outcome<Measured> {
    let mut child = child::spawn(&["cgt", &count.to_string()])?;
    let mut said = String::new();
    child.stdout.take().ok_or("no output")?.read_to_string(&mut said)?;
    child.wait()?;
    let figures: Vec<f64> = said.split_whitespace().map(str::parse).collect::<Result<_, _>>()?;
    match figures.as_slice() {
        [millis, processor_millis, megabytes] => Ok(Measured {
            millis: *millis,
            processor_millis: *processor_millis,
            megabytes: *megabytes,
        }),
        _ => Err(format!("not a measurement: {said}").into()),
    }
}

/// One run in a child process; prints its figures.
pub(crate) fn measure(count: u64) -> Outcome {
    let text = portfolio::lines(count);
    let measured = work(&text)?;
    report::line(&format!(
        "{} {} {}",
        measured.millis,
        measured.processor_millis,
        peak_megabytes()?
    ));
    Ok(())
}

fn work(text: &str) -> Outcome<Measured> {
    let clock = SystemClock::new();
    let (start, processor) = (clock.monotonic(), processor_millis()?);
    let rows = dsl::parse(text).map_err(|problems| format!("{problems:?}"))?;
    let computation = compute(&rows, &Rates::default(), Options::default())
        .map_err(|errors| format!("{errors:?}"))?;
    let parameters = Parameters::bundled().ok_or("the parameters are bundled")?;
    let report = years_of(&computation, parameters, None, Rounding::PerLeg);
    let disposals: usize = report.years.iter().map(|year| year.disposals.len()).sum();
    if disposals == 0 {
        return Err("a portfolio without sales".into());
    }
    let millis = clock.monotonic().saturating_sub(start).as_secs_f64() * 1e3;
    Ok(Measured { millis, processor_millis: processor_millis()? - processor, megabytes: 0.0 })
}

/// CPU time of this thread.
fn processor_millis() -> Outcome<f64> {
    let counted = std::fs::read_to_string("/proc/thread-self/schedstat")?;
    let nanos: f64 = counted.split_whitespace().next().ok_or("no schedstat")?.parse()?;
    Ok(nanos / 1e6)
}

/// Peak resident memory of this process.
fn peak_megabytes() -> Outcome<f64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes: f64 =
        peak.and_then(|peak| peak.split_whitespace().next()).ok_or("no VmHWM")?.parse()?;
    Ok(kilobytes / 1024.0)
}

/// Reports of four transactions through the whole pipeline, each different from the others.
fn small_calls() -> Outcome {
    let clock = Arc::new(SystemClock::new());
    let pack = pack(&Settings::default())?;
    let kernel =
        kernel_in_memory(vec![pack], Arc::<SystemClock>::clone(&clock), KernelSettings::default())
            .map_err(|violations| format!("{violations:?}"))?;
    let times: Outcome<Vec<f64>> = child::on_one_thread(async {
        let mut times = Vec::new();
        for call in 0..SMALL_CALLS {
            let input = json!({"cgt_content": format!(
                "2024-01-15 BUY AAPL 100 @ 150.{call:04} USD FEES 5 USD\n2024-02-20 SELL AAPL 50 @ 160 USD\n2024-03-01 BUY AAPL 20 @ 140 USD\n2024-05-01 SELL AAPL 30 @ 170 USD"
            )});
            let start = clock.monotonic();
            child::call(&kernel, "calculate_report", &input).await?;
            times.push(clock.monotonic().saturating_sub(start).as_secs_f64() * 1e3);
        }
        Ok(times)
    })?;
    let mut times = times?;
    times.sort_by(f64::total_cmp);
    let p99 = times.get(times.len() * 99 / 100).copied().unwrap_or(f64::NAN);
    report::figure("calculate_report of four lines, median", report::median(times), "ms", None);
    report::figure("calculate_report of four lines, p99", p99, "ms", Some(GOAL_SMALL_CALL_MILLIS));
    Ok(())
}

/// The same trades in cgt-calc, which computes one tax year, and here, where all ten are computed.
fn peer() -> Outcome {
    let (csv, lines) = portfolio::for_cgt_calc(PEER_TRADES);
    let ours = (0..9).map(|_| Ok(work(&lines)?.processor_millis)).collect::<Outcome<Vec<f64>>>()?;
    let ours = report::median(ours);
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let python: PathBuf = root.join("target/tools/python/bin/python");
    if !python.exists() {
        report::remark("cgt-calc is not there: ./test installs it into target/tools/python");
        return Ok(());
    }
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("trades.csv");
    std::fs::write(&file, csv)?;
    let theirs = Command::new(python)
        .arg(root.join("tests/outside/cgt_peer_speed.py"))
        .arg(&file)
        .arg(PEER_YEAR)
        .output()?;
    let said = String::from_utf8_lossy(&theirs.stdout).into_owned();
    let millis: f64 = match said.split_whitespace().next() {
        Some(millis) => millis.parse()?,
        None => return Err(String::from_utf8_lossy(&theirs.stderr).into_owned().into()),
    };
    report::remark(&format!(
        "processor time for {} trades in pounds, without starting the program:",
        lines.lines().count()
    ));
    report::figure("cgt-calc 1.14.0, one tax year", millis, "ms", None);
    report::figure("ours, all years", ours, "ms", None);
    report::at_least("cgt-calc / ours", millis / ours, "×", GOAL_PEER_RATIO);
    Ok(())
}
