//! `get_events_by_entity`: all events of one order, security, position or indicator.

use panoply_contract::prelude::*;
use serde_json::json;

use super::handles;
use super::page::{self, EventQueryResult, page_params};
use super::params::{EntityType, EventType, RunId};
use super::query_spec::QuerySpec;
use super::service::{BacktestService, tool_error};
use crate::query::selection::Filter;

pub(super) const SPEC: ToolSpec = QuerySpec {
    name: "get_events_by_entity",
    title: "Events by entity",
    description: Description {
        does: "Retrieves all events about one order, security, position or indicator of a backtest run, in order of time.",
        when: "Use this when tracing one order, security, position or indicator, such as an order from placement to fill. The order's id may be the GUID, the engine's own id, or a handle.",
        returns: "Returns an EventQueryResult with the total count and whether there is more.",
        asks: &["What happened to order 4f516d50-66a0-5e3e-bebe-ddcd2232fdd4?", "Show all position updates of EURUSD"],
    },
    aliases: &["backtest_get_events_by_entity"],
    category: Category::Query,
    examples: &[
        Example {
            shows: "all events of one order",
            params: r#"{"runId": "d91a7ddb-8986-54b3-8bd4-42d1dab9869e", "entityType": "OrderId", "entityValue": "4f516d50-66a0-5e3e-bebe-ddcd2232fdd4", "fields": ["eventType"]}"#,
            expect: Expect::Data(r#"{"events": [{"eventType": "StateChange"}, {"eventType": "TradeExecution"}], "metadata": {"totalCount": 2, "hasMore": false}}"#),
        },
        Example {
            shows: "a security that is not in the run",
            params: r#"{"runId": "d91a7ddb-8986-54b3-8bd4-42d1dab9869e", "entityType": "SecuritySymbol", "entityValue": "NONE"}"#,
            expect: Expect::Data(r#"{"events": [], "metadata": {"totalCount": 0}}"#),
        },
    ],
    tags: &["backtest", "events"],
    listing: Listing::Core,
    widget: None,
}
.checked();

page_params! {
    /// The entity whose events to return.
    Params {
        /// Unique identifier of the backtest run (GUID).
        run_id: RunId,
        /// Type of entity to query.
        entity_type: EntityType,
        /// Value of the entity identifier.
        #[schemars(length(min = 1, max = 500))]
        entity_value: String,
        /// Filter by event types (empty = all types).
        #[schemars(length(max = 7))]
        event_types: Option<Vec<EventType>>,
    }
}

pub(super) fn call(
    service: &BacktestService,
    params: Params,
    _: &CallContext,
) -> Result<Reply<EventQueryResult>, ToolError> {
    let run = service.run(&params.run_id.0)?;
    let mut value = params.entity_value.clone();
    if params.entity_type == EntityType::OrderId
        && let Some(seq) = handles::number(&value, 'o')
    {
        value = handles::order_at(&run, seq)?;
    }
    let types = params.event_types.clone().unwrap_or_default();
    let filter = Filter {
        types: types.iter().map(|kind| (*kind).into()).collect(),
        entity: Some((params.entity_type.entity(), value)),
        ..Filter::default()
    };
    let whole = run.between(None, None).map_err(tool_error)?;
    let selection = run.select(&filter, whole).map_err(tool_error)?;
    let own = json!({
        "runId": params.run_id.0, "entityType": format!("{:?}", params.entity_type),
        "entityValue": params.entity_value, "eventTypes": params.event_types,
    });
    let shown: String = params.entity_value.chars().take(60).collect();
    let what = format!("events about {shown}");
    page::reply(&run, &selection, &params.page(), SPEC.name, own, &what)
}
