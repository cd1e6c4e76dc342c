//! Benchmarks of the ttm pack: loading of its facts, and its graph and safety tools through the
//! whole pipeline. `ttm_search` measures search.

use std::hint::black_box;
use std::sync::Arc;

use panoply_contract::clock::Clock;
use panoply_contract::kernel::{Kernel, Settings};
use panoply_contract::testing::kernel_in_memory;
use panoply_store::SystemClock;
use panoply_ttm::eval::MemoryReportStore;
use panoply_ttm::knowledge::Knowledge;
use panoply_ttm::papers::NoPapers;
use panoply_ttm::tools::pack;
use rustix::time::{ClockId, clock_gettime};
use serde_json::{Value, json};

use crate::{Outcome, child, report};

const RUNS: usize = 40;
/// Processes that search once each.
const FRESH_RUNS: usize = 15;
const GOAL_LOAD_MILLIS: f64 = 150.0;
const GOAL_GRAPH_MILLIS: f64 = 2.0;
const GOAL_SAFETY_MILLIS: f64 = 1.0;

pub(crate) fn run() -> Outcome {
    report::heading(
        "The ttm pack",
        &format!("median of {RUNS} first calls, each with an empty reply cache"),
    );
    let clock = SystemClock::new();
    let millis_since = |start| clock.monotonic().saturating_sub(start).as_secs_f64() * 1e3;
    let mut loads = Vec::new();
    for _ in 0..RUNS {
        let start = clock.monotonic();
        black_box(Knowledge::read()?);
        loads.push(millis_since(start));
    }
    report::figure(
        "load of facts, graph and names",
        report::median(loads),
        "ms",
        Some(GOAL_LOAD_MILLIS),
    );
    let (mut worked, mut passed) = (Vec::new(), Vec::new());
    for _ in 0..FRESH_RUNS {
        let told = child::spawn(&["ttm-first-search"])?.wait_with_output()?;
        let told = String::from_utf8(told.stdout)?;
        let (cpu, clock) = told.trim().split_once(' ').ok_or("the child measured nothing")?;
        worked.push(cpu.parse()?);
        passed.push(clock.parse()?);
    }
    let first = "the first search of a process, from nothing";
    report::figure(first, report::median(passed), "ms", Some(GOAL_LOAD_MILLIS));
    report::figure("  CPU time of all threads", report::median(worked), "ms", None);
    Knowledge::bundled()?;
    for Case { shows, tool, input, goal } in cases() {
        let mut times = Vec::new();
        for _ in 0..RUNS {
            let kernel = kernel()?;
            times.push(child::on_one_thread(async {
                let start = clock.monotonic();
                child::call(&kernel, tool, &input).await?;
                Outcome::Ok(millis_since(start))
            })??);
        }
        report::figure(shows, report::median(times), "ms", Some(goal));
    }
    Ok(())
}

/// One search in a new process, which loads facts, graph, dictionary, index and vectors. Prints
/// CPU and wall-clock milliseconds.
pub(crate) fn first_search() -> Outcome {
    let clock = SystemClock::new();
    let kernel = kernel()?;
    let (worked, start) = (clock_gettime(ClockId::ProcessCPUTime), clock.monotonic());
    let input = json!({"query": "ขมิ้นชันกับวาร์ฟาริน"});
    child::on_one_thread(child::call(&kernel, "hybrid_search", &input))??;
    let passed = clock.monotonic().saturating_sub(start).as_secs_f64() * 1e3;
    let after = clock_gettime(ClockId::ProcessCPUTime);
    let nanos = (after.tv_sec - worked.tv_sec) * 1_000_000_000 + after.tv_nsec - worked.tv_nsec;
    report::line(&format!("{:.2} {passed:.2}", nanos as f64 / 1e6));
    Ok(())
}

/// Repeats a load or a tool call `times` times, for an instruction counter.
pub(crate) async fn count(what: &str, times: u64) -> Outcome {
    if what == "ttm-load" {
        for _ in 0..times {
            black_box(Knowledge::read()?);
        }
        return Ok(());
    }
    Knowledge::bundled()?;
    let cases = cases();
    let wanted = what.trim_start_matches("ttm-");
    let case = cases.iter().find(|case| case.tool == wanted).ok_or("unknown tool")?;
    for _ in 0..times {
        // A new kernel has an empty reply cache.
        child::call(&kernel()?, case.tool, &case.input).await?;
    }
    Ok(())
}

struct Case {
    shows: &'static str,
    tool: &'static str,
    input: Value,
    goal: f64,
}

fn cases() -> [Case; 5] {
    let herb = json!({"type": "herb", "id": "H:turmeric"});
    [
        Case {
            shows: "query_kg, herb->constituent->indication",
            tool: "query_kg",
            input: json!({"start": herb, "pattern": "herb->constituent->indication"}),
            goal: GOAL_GRAPH_MILLIS,
        },
        Case {
            shows: "query_kg, everything within three hops",
            tool: "query_kg",
            input: json!({"start": herb}),
            goal: GOAL_GRAPH_MILLIS,
        },
        Case {
            shows: "query_kg, six hops over anything from pregnancy",
            tool: "query_kg",
            input: json!({"start": {"type": "caution", "id": "PREG"}, "pattern": "*--*--*--*--*--*--*", "max_depth": 6}),
            goal: GOAL_GRAPH_MILLIS,
        },
        Case {
            shows: "find_contraindications, a herb with a medicine",
            tool: "find_contraindications",
            input: json!({"herb_ids": ["H:turmeric"], "drugs": ["warfarin"]}),
            goal: GOAL_SAFETY_MILLIS,
        },
        Case {
            shows: "find_contraindications, the formulation with most herbs",
            tool: "find_contraindications",
            input: json!({"formulation_ids": ["F:nlem-04"]}),
            goal: GOAL_SAFETY_MILLIS,
        },
    ]
}

fn kernel() -> Outcome<Arc<Kernel>> {
    let clock = Arc::new(SystemClock::new());
    kernel_in_memory(
        vec![pack(Arc::new(NoPapers), Arc::new(MemoryReportStore::default()))],
        clock,
        Settings::default(),
    )
    .map_err(|violations| format!("{violations:?}").into())
}
