//! Sharing of runs with other tenants.

use std::collections::BTreeSet;
use std::sync::Arc;

use panoply_contract::error::ToolError;
use panoply_contract::pack::Pack;
use panoply_contract::sharing::Shareable;

use super::service::{BacktestService, tool_error};
use crate::event::Guid;
use crate::store::Store;
use crate::store::shared::SharedRuns;

/// The runs of a store.
pub(super) struct ShareableRuns {
    pub(super) store: Arc<dyn Store>,
}

impl Shareable for ShareableRuns {
    fn kind(&self) -> &'static str {
        "run"
    }

    fn name_of(&self, item: &str) -> Result<Option<String>, ToolError> {
        let Some(id) = Guid::parse(item) else { return Ok(None) };
        let found = self.store.run(id).map_err(tool_error)?;
        Ok(found.map(|run| run.header.strategy_name.unwrap_or_else(|| run.id.to_string())))
    }

    fn view(&self, items: &BTreeSet<String>) -> Result<Pack, ToolError> {
        let runs = items.iter().filter_map(|item| Guid::parse(item)).collect();
        let shared = SharedRuns::new(Arc::clone(&self.store), runs);
        Ok(super::pack_of(BacktestService::shared(Arc::new(shared))))
    }
}
