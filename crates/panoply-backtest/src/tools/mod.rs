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
mod query_spec;
mod reconcile_run;
mod service;
mod sized_json;
mod state;

use std::sync::Arc;

use panoply_contract::pack::{Pack, PackInfo};

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
        .tool(&get_events_by_type::SPEC, &service, get_events_by_type::call)
        .tool(&get_events_by_entity::SPEC, &service, get_events_by_entity::call)
        .tool(&aggregate_metrics::SPEC, &service, aggregate_metrics::call)
        .tool(&get_state_snapshot::SPEC, &service, get_state_snapshot::call)
        .tool(&query_event_sequence::SPEC, &service, query_event_sequence::call)
        .tool(&get_validation_errors::SPEC, &service, get_validation_errors::call)
        .tool(&list_backtest_runs::SPEC, &service, list_backtest_runs::call)
        .tool(&describe_run::SPEC, &service, describe_run::call)
        .tool(&get_state_delta::SPEC, &service, get_state_delta::call)
        .tool(&compare_runs::SPEC, &service, compare_runs::call)
        .tool(&reconcile_run::SPEC, &service, reconcile_run::call)
        .tool(&get_context::SPEC, &service, get_context::call)
        .with_data_version(move || versions.version())
        .with_blocking_store()
}
