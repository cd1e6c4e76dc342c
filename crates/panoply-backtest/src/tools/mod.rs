//! The tools of this pack. Which there are, and what they share.

mod aggregate_metrics;
mod compare_runs;
mod describe_run;
mod dialect;
mod events;
mod get_context;
mod get_events_by_entity;
mod get_events_by_type;
mod get_state_delta;
mod get_state_snapshot;
mod get_validation_errors;
mod handles;
mod list_backtest_runs;
mod page;
mod params;
mod query_event_sequence;
mod reconcile_run;
mod service;
mod sized_json;
mod state;

use std::sync::Arc;

use panoply_contract::pack::{Pack, PackInfo};

pub use self::service::BacktestService;
use crate::store::Store;

const INFO: PackInfo = PackInfo {
    name: "backtest",
    title: "Backtest event logs",
    instructions: "Debug a trading strategy from its event log. Begin with `list_backtest_runs` and `describe_run`; prefer `aggregate_metrics` and `get_state_snapshot` to reading events; ask for `format: \"table\"` and `handles: true` to save tokens.",
};

/// The pack over a store.
pub fn pack(store: Arc<dyn Store>) -> Pack {
    let service = BacktestService::new(store);
    let own = || Arc::clone(&service);
    let versions = own();
    Pack::new(INFO, dialect::BacktestDialect)
        .with(get_events_by_type::GetEventsByType { service: own() })
        .with(get_events_by_entity::GetEventsByEntity { service: own() })
        .with(aggregate_metrics::AggregateMetrics { service: own() })
        .with(get_state_snapshot::GetStateSnapshot { service: own() })
        .with(query_event_sequence::QueryEventSequence { service: own() })
        .with(get_validation_errors::GetValidationErrors { service: own() })
        .with(list_backtest_runs::ListBacktestRuns { service: own() })
        .with(describe_run::DescribeRun { service: own() })
        .with(get_state_delta::GetStateDelta { service: own() })
        .with(compare_runs::CompareRuns { service: own() })
        .with(reconcile_run::ReconcileRun { service: own() })
        .with(get_context::GetContext { service: own() })
        .with_data_version(move || versions.version())
        .with_blocking_store()
}
