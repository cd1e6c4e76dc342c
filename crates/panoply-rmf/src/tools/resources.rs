//! MCP resources (`rmf://about`, `rmf://fund/{fundCode}`) and completion of fund codes.

use std::sync::Arc;

use futures::future::BoxFuture;
use panoply_contract::context::CallContext;
use panoply_contract::error::ToolError;
use panoply_contract::resource::{
    Completer, CompletionTarget, Resource, ResourceBody, ResourceContent, ResourceProvider,
    ResourceTemplate,
};
use panoply_contract::tenant::Tenants;
use percent_encoding::percent_decode_str;
use serde_json::Map;

use super::fund_detail::FundDetail;
use super::locale::Locale;
use super::service::READ_PERMISSIONS;
use crate::store::FundStore;

const ABOUT: &str = "rmf://about";
const FUND: &str = "rmf://fund/{fundCode}";
/// Maximum number of completions in MCP.
const MAX_SUGGESTIONS: usize = 100;

/// Serves `rmf://about` and `rmf://fund/…`.
pub(crate) struct FundResources {
    pub(crate) store: Arc<FundStore>,
}

impl ResourceProvider for FundResources {
    fn permissions(&self) -> &'static [&'static str] {
        READ_PERMISSIONS
    }

    fn resources(&self) -> Vec<Resource> {
        vec![Resource {
            uri: ABOUT.to_owned(),
            name: "rmf-about".to_owned(),
            title: "Provenance the RMF figures".to_owned(),
            description:
                "Source, licence, dates and known faults of the figures that ship with the program."
                    .to_owned(),
            mime_type: "text/markdown".to_owned(),
            size: u64::try_from(README.len()).ok(),
        }]
    }

    fn templates(&self) -> Vec<ResourceTemplate> {
        vec![ResourceTemplate {
            uri_template: FUND.to_owned(),
            name: "rmf-fund".to_owned(),
            title: "An RMF fund".to_owned(),
            description: "Everything known about one fund, by its code (percent-encoded)."
                .to_owned(),
            mime_type: "application/json".to_owned(),
        }]
    }

    fn read<'a>(
        &'a self,
        uri: &'a str,
        cx: &'a CallContext,
    ) -> BoxFuture<'a, Option<Result<ResourceContent, ToolError>>> {
        Box::pin(async move {
            if uri == ABOUT {
                return Some(Ok(content(uri, "text/markdown", README.to_owned())));
            }
            if let Some((_, page)) = COMPONENTS.iter().find(|(component, _)| *component == uri) {
                return Some(Ok(content(uri, "text/html;profile=mcp-app", (*page).to_owned())));
            }
            let code = percent_decoded(uri.strip_prefix("rmf://fund/")?);
            let catalog = self.store.catalog();
            let unknown = |unknown| Locale(cx.lang).unknown_fund(unknown);
            Some(catalog.find(&code).map_err(unknown).and_then(|fund| {
                let text =
                    serde_json::to_string_pretty(&FundDetail::of(fund)).map_err(|error| {
                        ToolError::system("a fund could not be written as JSON").cause(error)
                    })?;
                Ok(content(uri, "application/json", text))
            }))
        })
    }
}

/// Pages under the URIs of the contract, for hosts that read the template named by a result. The
/// same pages are listed as `ui://` resources.
const COMPONENTS: [(&str, &str); 5] = [
    ("component://rmf-fund-list", include_str!("../../../../widgets/dist/rmf-fund-list.html")),
    ("component://rmf-fund-card", include_str!("../../../../widgets/dist/rmf-fund-card.html")),
    (
        "component://rmf-performance-chart",
        include_str!("../../../../widgets/dist/rmf-performance-chart.html"),
    ),
    (
        "component://rmf-fund-comparison",
        include_str!("../../../../widgets/dist/rmf-fund-comparison.html"),
    ),
    ("component://rmf-saving-plan", include_str!("../../../../widgets/dist/rmf-saving-plan.html")),
];

const README: &str = include_str!("../../../../data/rmf/README.md");

fn content(uri: &str, mime_type: &str, text: String) -> ResourceContent {
    ResourceContent {
        uri: uri.to_owned(),
        mime_type: mime_type.to_owned(),
        body: ResourceBody::Text(text),
        meta: Map::new(),
    }
}

/// Completes fund codes.
pub(crate) struct FundCodeCompleter {
    pub(crate) store: Arc<FundStore>,
}

impl Completer for FundCodeCompleter {
    fn complete(
        &self,
        of: CompletionTarget<'_>,
        argument: &str,
        typed: &str,
        _: &Tenants,
    ) -> Option<Vec<String>> {
        let ours = match of {
            CompletionTarget::Prompt(name) => name == super::prompts::REVIEW_RMF.name,
            CompletionTarget::Template(template) => template == FUND,
        };
        (ours && argument == "fundCode").then(|| {
            let mut codes = self.store.catalog().complete(typed);
            codes.truncate(MAX_SUGGESTIONS);
            codes
        })
    }
}

/// Decodes a percent-encoded URI segment; invalid sequences stay unchanged.
fn percent_decoded(part: &str) -> String {
    percent_decode_str(part).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::super::service::percent_encoded;
    use super::*;

    #[test]
    fn fund_codes_round_trip_through_uris() {
        let store = FundStore::bundled().unwrap();
        for fund in store.catalog().funds() {
            assert_eq!(percent_decoded(&percent_encoded(&fund.symbol)), fund.symbol);
        }
        assert_eq!(percent_decoded("50%"), "50%");
        assert_eq!(percent_decoded("%zz%F"), "%zz%F");
    }
}
