//! `get_events_by_entity`: everything about one order, security, position or indicator.

use std::sync::Arc;

use panoply_contract::prelude::*;
use serde_json::json;

use super::events::Format;
use super::handles;
use super::page::{self, EventQueryResult, PageRequest};
use super::service::{Backtests, tool_error};
use super::words::{EntityType, EventType, MaxTokens, PageIndex, PageSize, RunId};
use crate::query::selection::Filter;

const SPEC: ToolSpec = ToolSpec {
    name: "get_events_by_entity",
    title: "Events by entity",
    description: Description {
        does: "Retrieves all events about one order, security, position or indicator of a backtest run, in order of time.",
        when: "Use this when tracing the life of one thing, such as an order from placing to fill. The order's id may be the GUID, the engine's own id, or a handle.",
        returns: "Returns an EventQueryResult with the total count and whether there is more.",
        asks: &["What happened to order 4f516d50-66a0-5e3e-bebe-ddcd2232fdd4?", "Show all position updates of EURUSD"],
    },
    version: "1.0.0",
    aliases: &["backtest_get_events_by_entity"],
    permissions: &["backtests:read"],
    category: Category::Query,
    response_time: ResponseTime::Medium,
    cache: CachePolicy::For(Duration::from_secs(3600)),
    idempotent: true,
    data: &["backtests"],
    examples: &[
        Example {
            shows: "the life of one order",
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
    rate_limit: None,
    deprecated: None,
    annotations: Annotations::CLOSED,
    listing: Listing::Core,
    widget: None,
}
.checked();

/// Which events.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
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
    /// Number of events per page.
    #[serde(default)]
    page_size: PageSize,
    /// Zero-based page index.
    #[serde(default)]
    page_index: PageIndex,
    /// `table` writes columns and rows, with what all rows share said once.
    format: Option<Format>,
    /// Only these: members such as `timestamp`, or properties such as `Price` and `Data.Close`.
    #[schemars(length(max = 50), inner(length(min = 1, max = 200)))]
    fields: Option<Vec<String>>,
    /// Short names (e17, o42) instead of GUIDs; later calls accept them for the same run.
    #[serde(default)]
    handles: bool,
    /// So many events evenly spread over all that match, instead of a page.
    #[schemars(range(min = 1, max = 1000))]
    sample: Option<u64>,
    /// Events of the page to skip: how a page that was cut short goes on.
    #[schemars(range(min = 0, max = 1000))]
    #[serde(default)]
    skip: u64,
    /// Budget for the reply, in tokens of about four bytes.
    #[serde(default)]
    max_tokens: MaxTokens,
}

/// See the module.
pub(crate) struct GetEventsByEntity {
    pub(crate) backtests: Arc<Backtests>,
}

impl Tool for GetEventsByEntity {
    type Params = Params;
    type Output = EventQueryResult;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(
        &self,
        params: Params,
        _: &CallContext,
    ) -> Result<Reply<EventQueryResult>, ToolError> {
        let run = self.backtests.run(&params.run_id.0)?;
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
        let again = page::arguments(json!({
            "runId": params.run_id.0, "entityType": format!("{:?}", params.entity_type),
            "entityValue": params.entity_value, "eventTypes": params.event_types,
            "pageSize": params.page_size, "pageIndex": params.page_index,
            "fields": params.fields, "handles": params.handles,
        }));
        let shown: String = params.entity_value.chars().take(60).collect();
        let what = format!("events about {shown}");
        let request = PageRequest {
            page_size: params.page_size,
            page_index: params.page_index,
            skip: params.skip,
            sample: params.sample,
            style: page::style(params.format, params.fields, params.handles, params.max_tokens),
        };
        page::reply(&run, &selection, &request, SPEC.name, again, &what)
    }
}
