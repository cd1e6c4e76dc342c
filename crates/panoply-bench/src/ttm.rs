//! The ttm pack: the load of its facts, and its graph and safety tools through the whole
//! pipeline. Search has a bench of its own.

use std::hint::black_box;
use std::sync::Arc;

use panoply_contract::clock::Clock;
use panoply_contract::kernel::{Kernel, Settings};
use panoply_contract::testing::kernel_in_memory;
use panoply_store::SystemClock;
use panoply_ttm::eval::MemoryReports;
use panoply_ttm::knowledge::Knowledge;
use panoply_ttm::papers::NoPapers;
use panoply_ttm::tools::pack;
use serde_json::{Value, json};

use crate::{Outcome, child, report};

const RUNS: usize = 40;
const GOAL_LOAD_MILLIS: f64 = 150.0;
const GOAL_GRAPH_MILLIS: f64 = 2.0;
const GOAL_SAFETY_MILLIS: f64 = 1.0;

pub(crate) fn run() -> Outcome {
    report::heading(
        "The ttm pack",
        &format!("median of {RUNS} first calls, each of a kernel that has kept no reply"),
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

/// Does one thing `times` times, for an instruction counter: a load, or the calls of a tool.
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
        // A kernel keeps replies; a new one has none.
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
        vec![pack(Arc::new(NoPapers), Arc::new(MemoryReports::default()))],
        clock,
        Settings::default(),
    )
    .map_err(|violations| format!("{violations:?}").into())
}
