//! The tools of this pack and its registration.

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
mod query_tool;
mod reconcile_run;
mod service;
mod sized_json;
mod state;

use std::sync::Arc;

use panoply_contract::pack::{Pack, PackInfo};

use self::query_tool::QueryTool;
use self::service::BacktestService;
use crate::store::Store;

const INFO: PackInfo = PackInfo {
    name: "backtest",
    title: "Backtest event logs",
    instructions: "Debug a trading strategy from its event log. Begin with `list_backtest_runs` and `describe_run`; prefer `aggregate_metrics` and `get_state_snapshot` to reading events; ask for `format: \"table\"` and `handles: true` to save tokens.",
};

/// The backtest pack on a store.
pub fn pack(store: Arc<dyn Store>) -> Pack {
    let service = BacktestService::new(store);
    let versions = Arc::clone(&service);
    Pack::new(INFO, dialect::BacktestDialect)
        .with(QueryTool::new(&service, &get_events_by_type::SPEC, get_events_by_type::call))
        .with(QueryTool::new(&service, &get_events_by_entity::SPEC, get_events_by_entity::call))
        .with(QueryTool::new(&service, &aggregate_metrics::SPEC, aggregate_metrics::call))
        .with(QueryTool::new(&service, &get_state_snapshot::SPEC, get_state_snapshot::call))
        .with(QueryTool::new(&service, &query_event_sequence::SPEC, query_event_sequence::call))
        .with(QueryTool::new(&service, &get_validation_errors::SPEC, get_validation_errors::call))
        .with(QueryTool::new(&service, &list_backtest_runs::SPEC, list_backtest_runs::call))
        .with(QueryTool::new(&service, &describe_run::SPEC, describe_run::call))
        .with(QueryTool::new(&service, &get_state_delta::SPEC, get_state_delta::call))
        .with(QueryTool::new(&service, &compare_runs::SPEC, compare_runs::call))
        .with(QueryTool::new(&service, &reconcile_run::SPEC, reconcile_run::call))
        .with(QueryTool::new(&service, &get_context::SPEC, get_context::call))
        .with_data_version(move || versions.version())
        .with_blocking_store()
}
