//! The tools of this pack and its registration.

mod aggregate_metrics;
mod compare_runs;
mod describe_run;
mod dialect;
mod event_table;
mod events;
mod get_context;
mod get_events_by_entity;
mod get_events_by_type;
mod get_performance;
mod get_state_delta;
mod get_state_snapshot;
mod get_validation_errors;
mod handles;
mod list_backtest_runs;
mod list_trades;
mod money;
mod page;
mod params;
mod performance_series;
mod query_event_sequence;
mod query_events;
mod query_runs;
mod query_spec;
mod reconcile_run;
mod service;
mod sharing;
mod sized_json;
mod state;
mod trade_filter;
mod walk_forward;
mod wire_number;

use std::sync::Arc;

use panoply_contract::pack::{Pack, PackInfo};
use panoply_contract::tenant::Tenancy;

use self::service::BacktestService;
use crate::store::Store;

const INFO: PackInfo = PackInfo {
    name: "backtest",
    title: "Backtest event logs",
    instructions: "Debug a trading strategy from its event log. Begin with `list_backtest_runs` and `describe_run`; prefer `aggregate_metrics` and `get_state_snapshot` to reading events; ask for `format: \"table\"` and `handles: true` to save tokens.",
};

/// The backtest pack on a store.
pub fn pack(store: Arc<dyn Store>) -> Pack {
    let shareable = sharing::ShareableRuns { store: Arc::clone(&store) };
    pack_of(BacktestService::new(store)).with_sharing(shareable)
}

fn pack_of(service: Arc<BacktestService>) -> Pack {
    let versions = Arc::clone(&service);
    Pack::new(INFO, dialect::BacktestDialect)
        .with_search_terms(include_str!("../search_terms.tsv"))
        .with_listed_texts(include_str!("../listed_texts.tsv"))
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
        .tool(&query_events::SPEC, &service, query_events::call)
        .tool(&list_trades::SPEC, &service, list_trades::call)
        .tool(&get_performance::SPEC, &service, get_performance::call)
        .tool(&query_runs::SPEC, &service, query_runs::call)
        .with_data_version(move || versions.version())
        .with_blocking_store()
        .with_tenancy(Tenancy::Workspace)
}
