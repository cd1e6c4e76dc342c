//! `get_events_by_type`: events of one type in a time range, in pages.

use panoply_contract::prelude::*;
use serde_json::json;

use super::page::{self, EventQueryResult, page_params};
use super::params::{EventType, RunId, Severity};
use super::query_spec::QuerySpec;
use super::service::{BacktestService, seq_range, tool_error};
use crate::query::selection::Filter;

pub(super) const SPEC: ToolSpec = QuerySpec {
    name: "get_events_by_type",
    title: "Events by type",
    description: Description {
        does: "Retrieves the events of one type of a backtest run, optionally within a time window and of one severity, page by page.",
        when: "Use this when you know what kind of thing to look at: rejections, fills, risk events. For everything about one order or security use `get_events_by_entity`; for sums use `aggregate_metrics`.",
        returns: "Returns an EventQueryResult: the events in order of time, with the total count and whether there is more.",
        asks: &["Which orders were rejected on 16 May?", "Show the first fifty trades of the run"],
    },
    aliases: &["backtest_get_events_by_type"],
    category: Category::Query,
    examples: &[
        Example {
            shows: "the first rejections of the sample run",
            params: r#"{"runId": "d91a7ddb-8986-54b3-8bd4-42d1dab9869e", "eventType": "OrderRejection", "pageSize": 2, "fields": ["eventId"]}"#,
            expect: Expect::Data(r#"{"events": [{"eventId": "f9739e31-8448-5dc3-ba8c-cfa73036a27b"}, {"eventId": "048acdbc-9126-52ae-8057-8935cd43be57"}], "metadata": {"totalCount": 22, "returnedCount": 2, "hasMore": true}}"#),
        },
        Example {
            shows: "a range that ends before it starts",
            params: r#"{"runId": "d91a7ddb-8986-54b3-8bd4-42d1dab9869e", "eventType": "TradeExecution", "startTime": "2017-05-02T00:00:00Z", "endTime": "2017-05-01T00:00:00Z"}"#,
            expect: Expect::Error("INVALID_TIME_RANGE"),
        },
        Example {
            shows: "a run that is not there",
            params: r#"{"runId": "a1b2c3d4-e5f6-7890-abcd-ef1234567890", "eventType": "TradeExecution"}"#,
            expect: Expect::Error("RUN_NOT_FOUND"),
        },
    ],
    tags: &["backtest", "events"],
    listing: Listing::Core,
    widget: None,
}
.checked();

page_params! {
    /// The events to return.
    Params {
        /// Unique identifier of the backtest run (GUID).
        run_id: RunId,
        /// Type of events to retrieve.
        event_type: EventType,
        /// Start of time range (inclusive), ISO 8601.
        #[schemars(length(max = 64))]
        start_time: Option<String>,
        /// End of time range (inclusive), ISO 8601.
        #[schemars(length(max = 64))]
        end_time: Option<String>,
        /// Filter by severity level.
        #[schemars(extend("x-listed" = false))]
        severity: Option<Severity>,
        /// Filter by category.
        #[schemars(extend("x-listed" = false))]
        category: Option<super::params::Category>,
    }
}

pub(super) fn call(
    service: &BacktestService,
    params: Params,
    cx: &CallContext,
) -> Result<Reply<EventQueryResult>, ToolError> {
    let run = service.run(&params.run_id.0)?;
    let range = seq_range(&run, params.start_time.as_deref(), params.end_time.as_deref(), cx)?;
    let filter = Filter {
        types: vec![params.event_type.into()],
        severity: params.severity.map(Into::into),
        category: params.category.map(Into::into),
        ..Filter::default()
    };
    let selection = run.select(&filter, range).map_err(tool_error)?;
    let own = json!({
        "runId": params.run_id.0, "eventType": params.event_type,
        "startTime": params.start_time, "endTime": params.end_time,
        "severity": params.severity, "category": params.category,
    });
    let what = format!("{} events", filter.types.first().map_or("", |kind| kind.as_str()));
    page::reply(&run, &selection, &params.page(), SPEC.name, own, &what)
}
