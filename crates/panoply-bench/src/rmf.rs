//! Benchmarks of the rmf pack: each tool through the whole pipeline, loading of the data, and the
//! memory of a server with this pack only.

use std::sync::Arc;

use panoply_contract::clock::Clock;
use panoply_contract::kernel::{Kernel, Settings};
use panoply_contract::testing::kernel_in_memory;
use panoply_rmf::store::FundStore;
use panoply_rmf::tools::pack;
use panoply_store::SystemClock;
use serde_json::{Value, json};

use crate::{Outcome, child, report, startup};

const RUNS: usize = 40;
/// Goal of the issue for the contract's tools; the others are held to it too, but for the simulation.
const GOAL_CALL_MILLIS: f64 = 0.4;
/// A thousand simulated paths of ten years.
const GOAL_SIMULATION_MILLIS: f64 = 30.0;
const GOAL_LOAD_MILLIS: f64 = 30.0;
const GOAL_REPLY_KILOBYTES: f64 = 8.0;
/// The first of the calls are those of the contract.
const CONTRACT_TOOLS: usize = 6;

pub(crate) fn run() -> Outcome {
    report::heading(
        "The rmf pack",
        &format!("median of {RUNS} first calls, each with an empty reply cache"),
    );
    let clock = SystemClock::new();
    let millis_since = |start| clock.monotonic().saturating_sub(start).as_secs_f64() * 1e3;
    let mut loads = Vec::new();
    for _ in 0..RUNS {
        let start = clock.monotonic();
        FundStore::bundled()?;
        loads.push(millis_since(start));
    }
    report::figure("load of 403 funds", report::median(loads), "ms", Some(GOAL_LOAD_MILLIS));
    let store = Arc::new(FundStore::bundled()?);
    for (tool, arguments) in calls() {
        let mut times = Vec::new();
        for _ in 0..RUNS {
            let kernel = kernel(&store)?;
            times.push(child::on_one_thread(async {
                let start = clock.monotonic();
                child::call(&kernel, tool, &arguments).await?;
                Outcome::Ok(millis_since(start))
            })??);
        }
        let goal = match tool {
            "simulate_rmf_plan" => GOAL_SIMULATION_MILLIS,
            _ => GOAL_CALL_MILLIS,
        };
        report::figure(tool, report::median(times), "ms", Some(goal));
    }
    let kernel = kernel(&store)?;
    for (tool, arguments) in calls().iter().take(CONTRACT_TOOLS) {
        let bytes = child::on_one_thread(child::reply_bytes(&kernel, tool, arguments))??;
        let label = format!("{tool}, whole reply");
        report::figure(&label, bytes as f64 / 1024.0, "KB", Some(GOAL_REPLY_KILOBYTES));
    }
    startup::memory_of(&["rmf"])
}

fn kernel(store: &Arc<FundStore>) -> Outcome<Arc<Kernel>> {
    let clock = Arc::new(SystemClock::new());
    kernel_in_memory(vec![pack(Arc::clone(store))], clock, Settings::default())
        .map_err(|violations| format!("{violations:?}").into())
}

fn calls() -> [(&'static str, Value); 15] {
    let bought = json!([{"date": "2020-03-02", "amount": 50_000}]);
    [
        ("get_rmf_funds", json!({})),
        ("search_rmf_funds", json!({"category": "EQUITY"})),
        ("get_rmf_fund_detail", json!({"fundCode": "ABAPAC-RMF"})),
        ("get_rmf_fund_performance", json!({"period": "1y"})),
        ("get_rmf_fund_nav_history", json!({"fundCode": "ABAPAC-RMF", "days": 365})),
        ("compare_rmf_funds", json!({"fundCodes": ["ABAPAC-RMF", "B-ASIARMF", "ERMF"]})),
        ("get_rmf_peer_rank", json!({"fundCode": "ABAPAC-RMF"})),
        ("get_rmf_risk_metrics", json!({"fundCode": "ABAPAC-RMF"})),
        ("calc_rmf_tax_benefit", json!({"annualIncome": 1_200_000})),
        ("check_rmf_holding", json!({"birthDate": "1970-05-01", "purchases": bought})),
        ("get_rmf_data_status", json!({})),
        ("get_rmf_fund_nav_series", json!({"fundCode": "ABAPAC-RMF"})),
        ("screen_rmf_funds", json!({"search": "gold", "sortBy": "5y"})),
        ("compare_rmf_holdings", json!({"fundCodes": ["ABAPAC-RMF", "B-ASIARMF"]})),
        ("simulate_rmf_plan", json!({"fundCode": "ABAPAC-RMF", "monthly": 5_000, "years": 10})),
    ]
}
