//! Documents of this pack: one address a fund, and one about the figures; and the completion
//! of fund codes.

use std::sync::Arc;

use futures::future::BoxFuture;
use panoply_contract::context::CallContext;
use panoply_contract::error::ToolError;
use panoply_contract::resource::{
    Completer, CompletionTarget, Resource, ResourceBody, ResourceContent, ResourceProvider,
    ResourceTemplate,
};
use percent_encoding::percent_decode_str;
use serde_json::Map;

use super::answer::READ;
use super::fund_detail::FundDetail;
use crate::store::Shelf;

const ABOUT: &str = "rmf://about";
const FUND: &str = "rmf://fund/{fundCode}";
/// MCP allows this many suggestions.
const MOST_SUGGESTIONS: usize = 100;

/// Serves `rmf://about` and `rmf://fund/…`.
pub(crate) struct FundDocuments {
    pub(crate) shelf: Arc<Shelf>,
}

impl ResourceProvider for FundDocuments {
    fn permissions(&self) -> &'static [&'static str] {
        READ
    }

    fn resources(&self) -> Vec<Resource> {
        vec![Resource {
            uri: ABOUT.to_owned(),
            name: "rmf-about".to_owned(),
            title: "About the RMF figures".to_owned(),
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
        _: &'a CallContext,
    ) -> BoxFuture<'a, Option<Result<ResourceContent, ToolError>>> {
        Box::pin(async move {
            if uri == ABOUT {
                return Some(Ok(content(uri, "text/markdown", README.to_owned())));
            }
            let code = percent_decoded(uri.strip_prefix("rmf://fund/")?);
            let book = self.shelf.book();
            Some(book.find(&code).map_err(ToolError::from).and_then(|fund| {
                let text =
                    serde_json::to_string_pretty(&FundDetail::of(fund)).map_err(|error| {
                        ToolError::system("a fund could not be written as JSON").cause(error)
                    })?;
                Ok(content(uri, "application/json", text))
            }))
        })
    }
}

const README: &str = include_str!("../../../../data/rmf/README.md");

fn content(uri: &str, mime_type: &str, text: String) -> ResourceContent {
    ResourceContent {
        uri: uri.to_owned(),
        mime_type: mime_type.to_owned(),
        body: ResourceBody::Text(text),
        meta: Map::new(),
    }
}

/// Suggests fund codes.
pub(crate) struct FundCodes {
    pub(crate) shelf: Arc<Shelf>,
}

impl Completer for FundCodes {
    fn complete(
        &self,
        of: CompletionTarget<'_>,
        argument: &str,
        typed: &str,
    ) -> Option<Vec<String>> {
        let ours = match of {
            CompletionTarget::Prompt(name) => name == super::prompts::REVIEW_RMF.name,
            CompletionTarget::Template(template) => template == FUND,
        };
        (ours && argument == "fundCode").then(|| {
            let mut codes = self.shelf.book().complete(typed);
            codes.truncate(MOST_SUGGESTIONS);
            codes
        })
    }
}

/// The text of a percent-encoded part; what is not encoded properly stays as it is.
fn percent_decoded(part: &str) -> String {
    percent_decode_str(part).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::super::answer::percent_encoded;
    use super::*;

    #[test]
    fn fund_codes_round_trip_through_uris() {
        let shelf = Shelf::bundled().unwrap();
        for fund in shelf.book().funds() {
            assert_eq!(percent_decoded(&percent_encoded(&fund.symbol)), fund.symbol);
        }
        assert_eq!(percent_decoded("50%"), "50%");
        assert_eq!(percent_decoded("%zz%F"), "%zz%F");
    }
}
