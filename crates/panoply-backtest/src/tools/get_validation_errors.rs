//! `get_validation_errors`: events that broke a rule when they were written.

use std::sync::Arc;

use panoply_contract::prelude::*;
use serde_json::json;

use super::page::{self, EventQueryResult, page_params};
use super::params::RunId;
use super::service::{BacktestService, tool_error};
use crate::query::selection::Filter;
use crate::validate::ProblemSeverity;

const SPEC: ToolSpec = ToolSpec {
    name: "get_validation_errors",
    title: "Validation errors",
    description: Description {
        does: "Retrieves the events of a backtest run that failed validation when they were written; they were kept all the same.",
        when: "Use this when figures look wrong, or before trusting a run: missing prices, order ids that are no GUIDs, parents that do not exist.",
        returns: "Returns an EventQueryResult whose events have validationErrors, each with Field, Error and Severity.",
        asks: &["Is the data of this run clean?", "Which events have no order id?"],
    },
    version: "1.0.0",
    aliases: &["backtest_get_validation_errors"],
    permissions: &["backtests:read"],
    category: Category::Query,
    response_time: ResponseTime::Medium,
    cache: CachePolicy::For(Duration::from_secs(3600)),
    idempotent: true,
    data: &["backtests"],
    examples: &[
        Example {
            shows: "what is wrong with the sample run",
            params: r#"{"runId": "d91a7ddb-8986-54b3-8bd4-42d1dab9869e", "severityFilter": "Error", "pageSize": 1, "fields": ["eventId", "validationErrors"]}"#,
            expect: Expect::Data(r#"{"events": [{"eventId": "3b9c6f42-7a43-5bb6-8ca4-e6c964256f20", "validationErrors": [{"Field": "Properties.OrderId", "Error": "Invalid GUID format", "Severity": "Error"}, {"Field": "Properties.Price", "Error": "Missing required field", "Severity": "Warning"}]}], "metadata": {"totalCount": 10}}"#),
        },
    ],
    tags: &["backtest", "data quality"],
    rate_limit: None,
    deprecated: None,
    annotations: Annotations::CLOSED,
    listing: Listing::Core,
    widget: None,
}
.checked();

/// Filter by error severity.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema)]
#[schemars(inline)]
enum SeverityFilter {
    /// Events that cannot be used for what they are.
    Error,
    /// Events that say less than they should.
    Warning,
}

page_params! {
    /// Which events.
    Params {
        /// Unique identifier of the backtest run (GUID).
        run_id: RunId,
        /// Filter by error severity.
        severity_filter: Option<SeverityFilter>,
    }
}

/// See the module.
pub(crate) struct GetValidationErrors {
    pub(crate) service: Arc<BacktestService>,
}

impl Tool for GetValidationErrors {
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
        let run = self.service.run(&params.run_id.0)?;
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
        page::reply(
            &run,
            &selection,
            &params.page(),
            SPEC.name,
            own,
            "events with validation errors",
        )
    }
}
