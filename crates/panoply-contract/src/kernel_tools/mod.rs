//! The kernel tools of every server: tool search, tool description, calls by name, metrics,
//! audit trail, sharing and preferences.

mod call_tool;
mod describe_tool;
mod get_audit_trail;
mod get_preferences;
mod get_tool_metrics;
mod list_shares;
pub(crate) mod schemas;
mod search_index;
mod search_tools;
mod set_preferences;
mod share_item;
mod shares;
mod withdraw_share;

use std::sync::{Arc, OnceLock, Weak};

pub use self::call_tool::CALL_TOOL;
pub(crate) use self::call_tool::target;
use crate::audit::AuditLog;
use crate::context::CallContext;
use crate::dialect::Unified;
use crate::error::ToolError;
use crate::kernel::Kernel;
use crate::pack::{Pack, PackInfo};
use crate::registry::ToolEntry;

/// Name of the kernel pack, which is in every scope.
pub const PACK: &str = "kernel";
/// The tools of a lazy listing.
pub const DISCOVERY_TOOLS: [&str; 3] = ["search-tools", "describe-tool", CALL_TOOL];

const INFO: PackInfo = PackInfo {
    name: PACK,
    title: "Panoply itself",
    instructions: "Find unlisted tools with `search-tools`, read one's contract with `describe-tool`, call it with `call-tool`.",
};

/// The kernel's own pack.
pub(crate) fn pack(kernel_handle: KernelHandle, audit: Arc<dyn AuditLog>) -> Pack {
    Pack::new(INFO, Unified)
        .with(search_tools::SearchTools::new(kernel_handle.clone()))
        .with(describe_tool::DescribeTool::new(kernel_handle.clone()))
        .with(call_tool::CallTool::new(kernel_handle.clone()))
        .with(get_tool_metrics::GetToolMetrics::new(kernel_handle.clone()))
        .with(get_audit_trail::GetAuditTrail::new(audit))
        .with(share_item::ShareItem { kernel_handle: kernel_handle.clone() })
        .with(withdraw_share::WithdrawShare { kernel_handle: kernel_handle.clone() })
        .with(list_shares::ListShares { kernel_handle: kernel_handle.clone() })
        .with(get_preferences::GetPreferences { kernel_handle: kernel_handle.clone() })
        .with(set_preferences::SetPreferences { kernel_handle })
        .with_resources(schemas::Schemas)
        .with_search_terms(include_str!("search_terms.tsv"))
        .with_listed_texts(include_str!("listed_texts.tsv"))
}

/// Weak reference to the kernel, set after its construction.
#[derive(Clone)]
pub(crate) struct KernelHandle(Arc<OnceLock<Weak<Kernel>>>);

impl KernelHandle {
    pub(crate) const fn new(kernel: Arc<OnceLock<Weak<Kernel>>>) -> Self {
        Self(kernel)
    }

    fn kernel(&self) -> Result<Arc<Kernel>, ToolError> {
        self.0
            .get()
            .and_then(Weak::upgrade)
            .ok_or_else(|| ToolError::system("the kernel has been dropped"))
    }

    /// Applies `look` to the tool of this name, if the caller may call it.
    fn with_tool<T>(
        &self,
        name: &str,
        cx: &CallContext,
        look: impl FnOnce(&ToolEntry) -> T,
    ) -> Result<T, ToolError> {
        let kernel = self.kernel()?;
        let visible = |entry: &&ToolEntry| kernel.is_open_to(entry, &cx.caller.grants);
        kernel.registry().get(name).filter(visible).map(look).ok_or_else(|| {
            let shown: String = name.chars().take(100).collect();
            let similar = kernel.registry().suggest_similar(name, &cx.caller);
            let hint = match similar.first() {
                Some(name) => format!("did you mean `{name}`?"),
                None => "find tools with `search-tools`".to_owned(),
            };
            ToolError::not_found("UNKNOWN_TOOL", format!("there is no tool `{shown}`"))
                .hint(hint)
                .detail("nearest", similar)
        })
    }
}
