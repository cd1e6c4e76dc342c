//! `ttm://eval/` resources: reports as Markdown (`{id}`) and JSON (`{id}.json`).

use std::sync::Arc;

use futures::future::BoxFuture;
use panoply_contract::context::CallContext;
use panoply_contract::error::ToolError;
use panoply_contract::resource::{ResourceContent, ResourceProvider, ResourceTemplate};

use super::common::READ;
use super::resources::content;
use crate::eval::{ADDRESS, ReportStore};

/// Serves stored reports.
pub(crate) struct Reports {
    pub(crate) reports: Arc<dyn ReportStore>,
}

impl ResourceProvider for Reports {
    fn permissions(&self) -> &'static [&'static str] {
        READ
    }

    fn templates(&self) -> Vec<ResourceTemplate> {
        let template = |end: &str, name: &str, mime_type: &str, of: &str| ResourceTemplate {
            uri_template: format!("{ADDRESS}{{id}}{end}"),
            name: name.to_owned(),
            title: format!("A report of eval_run{of}"),
            description: format!(
                "Evaluation report{of}: every question with its results, by the id in report_uri."
            ),
            mime_type: mime_type.to_owned(),
        };
        vec![
            template("", "ttm-eval", "text/markdown", ""),
            template(".json", "ttm-eval-json", "application/json", " as JSON"),
        ]
    }

    fn recorded_as(&self, uri: &str) -> Option<&'static str> {
        uri.starts_with(ADDRESS).then_some("resource.eval.report")
    }

    fn read<'a>(
        &'a self,
        uri: &'a str,
        _: &'a CallContext,
    ) -> BoxFuture<'a, Option<Result<ResourceContent, ToolError>>> {
        Box::pin(async move {
            let asked = uri.strip_prefix(ADDRESS)?;
            let (id, as_json) = match asked.strip_suffix(".json") {
                Some(id) => (id, true),
                None => (asked, false),
            };
            Some(self.report(uri, id, as_json))
        })
    }
}

impl Reports {
    fn report(&self, uri: &str, id: &str, as_json: bool) -> Result<ResourceContent, ToolError> {
        let stored = self
            .reports
            .report(id)
            .map_err(|error| ToolError::system("cannot read the stored reports").cause(error))?;
        let Some(stored) = stored else {
            let shown: String = id.chars().take(60).collect();
            return Err(ToolError::not_found(
                "NOT_FOUND",
                format!("report `{shown}` does not exist"),
            )
            .hint("run `eval_run` again: the same set, seed and data give the same report"));
        };
        Ok(match as_json {
            true => content(uri, "application/json", stored.json),
            false => content(uri, "text/markdown", stored.markdown),
        })
    }
}
