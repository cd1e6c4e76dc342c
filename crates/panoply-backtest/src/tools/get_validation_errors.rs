//! `get_validation_errors`: events that violate a validation rule.

use panoply_contract::prelude::*;
use serde_json::json;

use super::page::{self, EventQueryResult, page_params};
use super::params::RunId;
use super::query_spec::QuerySpec;
use super::service::{BacktestService, tool_error};
use crate::query::selection::Filter;
use crate::validate::ProblemSeverity;

pub(super) const SPEC: ToolSpec = QuerySpec {
    name: "get_validation_errors",
    title: "Validation errors",
    description: Description {
        does: "Retrieves the events of a backtest run that failed validation; invalid events are stored, not rejected.",
        when: "Use this when figures look wrong, or before trusting a run: missing prices, order ids that are not GUIDs, parents that do not exist.",
        returns: "Returns an EventQueryResult whose events have validationErrors, each with Field, Error and Severity.",
        asks: &["Is the data of this run clean?", "Which events have no order id?"],
    },
    aliases: &["backtest_get_validation_errors"],
    category: Category::Query,
    examples: &[
        Example {
            shows: "what is wrong with the sample run",
            params: r#"{"runId": "d91a7ddb-8986-54b3-8bd4-42d1dab9869e", "severityFilter": "Error", "pageSize": 1, "fields": ["eventId", "validationErrors"]}"#,
            expect: Expect::Data(r#"{"events": [{"eventId": "3b9c6f42-7a43-5bb6-8ca4-e6c964256f20", "validationErrors": [{"Field": "Properties.OrderId", "Error": "Invalid GUID format", "Severity": "Error"}, {"Field": "Properties.Price", "Error": "Missing required field", "Severity": "Warning"}]}], "metadata": {"totalCount": 10}}"#),
        },
    ],
    tags: &["backtest", "data quality"],
    listing: Listing::Core,
    widget: None,
}
.checked();

/// Filter by error severity.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema)]
#[schemars(inline)]
enum SeverityFilter {
    /// Events that cannot be used for their purpose.
    Error,
    /// Events with missing or inconsistent information.
    Warning,
}

page_params! {
    /// The validation errors to return.
    Params {
        /// Unique identifier of the backtest run (GUID).
        run_id: RunId,
        /// Filter by error severity.
        severity_filter: Option<SeverityFilter>,
    }
}

pub(super) fn call(
    service: &BacktestService,
    params: Params,
    _: &CallContext,
) -> Result<Reply<EventQueryResult>, ToolError> {
    let run = service.run(&params.run_id.0)?;
    let severity = params.severity_filter.map(|filter| match filter {
        SeverityFilter::Error => ProblemSeverity::Error,
        SeverityFilter::Warning => ProblemSeverity::Warning,
    });
    let filter = Filter { problems: Some(severity), ..Filter::default() };
    let whole = run.between(None, None).map_err(tool_error)?;
    let selection = run.select(&filter, whole).map_err(tool_error)?;
    let own = json!({
        "runId": params.run_id.0, "severityFilter": params.severity_filter,
    });
    page::reply(&run, &selection, &params.page(), SPEC.name, own, "events with validation errors")
}
