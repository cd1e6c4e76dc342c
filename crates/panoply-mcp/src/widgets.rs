//! Widget pages: HTML resources at the `ui://` URIs that tools declare.
//!
//! Each page is one file, built from `widgets/` and embedded in the program. A tool whose URI has
//! no file gets a generic page that shows any reply as a sentence and a table: a host that finds
//! no resource at the URI shows an error.

use std::collections::BTreeMap;

use panoply_contract::context::Caller;
use panoply_contract::kernel::{Kernel, Scope};
use panoply_contract::resource::{Resource, ResourceBody, ResourceContent};
use serde_json::{Map, json};

/// MIME type by which MCP Apps hosts and ChatGPT recognise a widget.
const MIME_TYPE: &str = "text/html;profile=mcp-app";

/// A widget page, named by its URI: `ui://panoply/{name}-v1.html`.
struct WidgetPage {
    name: &'static str,
    /// Description for the model, which does not see the page.
    shows: &'static str,
    html: &'static str,
}

const GENERIC: WidgetPage = WidgetPage {
    name: "plain",
    shows: "The reply as a sentence and a table.",
    html: include_str!("widgets/plain.html"),
};

const WIDGET_PAGES: &[WidgetPage] = &[
    WidgetPage {
        name: "rmf-fund-list",
        shows: "A table of funds with NAV, returns and risk. The reader can sort it, turn pages and open a fund, so do not repeat the rows.",
        html: include_str!("../../../widgets/dist/rmf-fund-list.html"),
    },
    WidgetPage {
        name: "rmf-fund-card",
        shows: "One fund: NAV, risk, returns beside the benchmark, holdings, fees and papers. Do not repeat the figures.",
        html: include_str!("../../../widgets/dist/rmf-fund-card.html"),
    },
    WidgetPage {
        name: "rmf-fund-comparison",
        shows: "The funds side by side, with the best of each line marked. Do not repeat the table.",
        html: include_str!("../../../widgets/dist/rmf-fund-comparison.html"),
    },
    WidgetPage {
        name: "rmf-performance-chart",
        shows: "The NAV as a line with its return, lowest and highest. The reader can change the span.",
        html: include_str!("../../../widgets/dist/rmf-performance-chart.html"),
    },
    WidgetPage {
        name: "rmf-saving-plan",
        shows: "The range of outcomes of a saving plan by year, with falls, tax saved and assumptions. Do not repeat the table.",
        html: include_str!("../../../widgets/dist/rmf-saving-plan.html"),
    },
    WidgetPage {
        name: "cgt-report",
        shows: "Each tax year with its sales, the purchases they were matched with, and the pools. Do not repeat the tables.",
        html: include_str!("../../../widgets/dist/cgt-report.html"),
    },
    WidgetPage {
        name: "ttm-graph",
        shows: "Herbs, constituents and indications as a graph, and the paths as a table. The reader can start from any of them.",
        html: include_str!("../../../widgets/dist/ttm-graph.html"),
    },
    WidgetPage {
        name: "noema-review",
        shows: "The card. The reader turns it and rates it on the page, so do not ask again.",
        html: include_str!("../../../widgets/dist/noema-review.html"),
    },
    WidgetPage {
        name: "noema-forecast",
        shows: "Cards due on each of the next days as bars.",
        html: include_str!("../../../widgets/dist/noema-forecast.html"),
    },
    WidgetPage {
        name: "backtest-run",
        shows: "What is in the run, profit and drawdown over time, trades, and the events around one of them.",
        html: include_str!("../../../widgets/dist/backtest-run.html"),
    },
];

/// Lists the widget pages of the tools that this caller may call.
pub(crate) fn list(kernel: &Kernel, scope: &Scope, caller: &Caller) -> Vec<Resource> {
    let page = |(uri, title): (&'static str, &'static str)| Resource {
        uri: uri.to_owned(),
        name: uri.rsplit('/').next().unwrap_or(uri).to_owned(),
        title: title.to_owned(),
        description: file_at(uri).shows.to_owned(),
        mime_type: MIME_TYPE.to_owned(),
        size: u64::try_from(file_at(uri).html.len()).ok(),
    };
    declared(kernel, scope, caller).into_iter().map(page).collect()
}

/// Reads the page at `uri` if a tool that this caller may call declares it.
pub(crate) fn read(
    kernel: &Kernel,
    scope: &Scope,
    caller: &Caller,
    uri: &str,
) -> Option<ResourceContent> {
    if !uri.starts_with("ui://") || !declared(kernel, scope, caller).contains_key(uri) {
        return None;
    }
    let file = file_at(uri);
    Some(ResourceContent {
        uri: uri.to_owned(),
        mime_type: MIME_TYPE.to_owned(),
        body: ResourceBody::Text(file.html.to_owned()),
        meta: about(file),
    })
}

/// Returns the HTML of a file name such as `rmf-fund-list-v1.html`.
pub(crate) fn html_of(file_name: &str) -> Option<&'static str> {
    file(file_name).map(|file| file.html)
}

/// Metadata of a page: the MCP Apps keys, then the equivalent ChatGPT keys.
/// The CSP allows no network.
fn about(file: &WidgetPage) -> Map<String, serde_json::Value> {
    let meta = json!({
        "ui": {"csp": {"connectDomains": [], "resourceDomains": []}, "prefersBorder": true},
        "openai/widgetDescription": file.shows,
        "openai/widgetPrefersBorder": true,
        "openai/widgetCSP": {"connect_domains": [], "resource_domains": []},
    });
    match meta {
        serde_json::Value::Object(meta) => meta,
        _ => Map::new(),
    }
}

fn file_at(uri: &str) -> &'static WidgetPage {
    file(uri.rsplit('/').next().unwrap_or(uri)).unwrap_or(&GENERIC)
}

fn file(file_name: &str) -> Option<&'static WidgetPage> {
    let (name, version) = file_name.strip_suffix(".html")?.rsplit_once("-v")?;
    let is_version = !version.is_empty() && version.bytes().all(|byte| byte.is_ascii_digit());
    WIDGET_PAGES.iter().find(|page| is_version && page.name == name)
}

/// Each URI once, with the title of the first tool that declares it.
fn declared(
    kernel: &Kernel,
    scope: &Scope,
    caller: &Caller,
) -> BTreeMap<&'static str, &'static str> {
    let mut pages = BTreeMap::new();
    for entry in kernel.callable(scope, caller) {
        if let Some(widget) = entry.spec.widget {
            pages.entry(widget.resource_uri).or_insert(entry.spec.title);
        }
    }
    pages
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widget_page_is_found_by_name_and_version() {
        let cases = [
            ("ui://panoply/rmf-fund-list-v1.html", "rmf-fund-list"),
            ("ui://panoply/rmf-fund-list-v27.html", "rmf-fund-list"),
            ("ui://panoply/rmf-fund-list.html", "plain"),
            ("ui://panoply/rmf-fund-list-v.html", "plain"),
            ("ui://panoply/rmf-fund-list-vx.html", "plain"),
            ("ui://fixture/count-v1.html", "plain"),
            ("", "plain"),
        ];
        for (uri, name) in cases {
            assert_eq!(file_at(uri).name, name, "uri: {uri:?}");
        }
    }

    #[test]
    fn widget_pages_are_self_contained_and_small() {
        for page in WIDGET_PAGES.iter().chain([&GENERIC]) {
            assert!(page.html.starts_with("<!doctype html>"), "{}", page.name);
            assert!(page.html.len() <= 150 * 1024, "{}", page.name);
            for asking in [" src=", "<link", "@import", "url(", "fetch(", "XMLHttpRequest"] {
                assert!(!page.html.contains(asking), "{} has {asking}", page.name);
            }
        }
    }
}
