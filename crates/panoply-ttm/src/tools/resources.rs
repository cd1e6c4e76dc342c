//! Resources of the pack: herbs, formulations and papers in the contract's shape, and id
//! completion.
//!
//! A read is audited like a call; its input is `{"uri": …}`.

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
use serde::Serialize;
use serde_json::Map;

use super::common::{READ, candidates, describe_mismatch};
use super::documents::{FormulationDocument, HerbDocument, PaperDocument};
use super::user_documents;
use crate::graph::NodeType;
use crate::jobs::{JOB_URI, JobService};
use crate::knowledge::{Knowledge, KnowledgeService};
use crate::names::NameMatch;
use crate::search::UserStore;
use crate::user_data::DOCUMENT_URI;

const ABOUT: &str = "ttm://about";
/// Limit of the MCP specification.
const MAX_SUGGESTIONS: usize = 100;

/// A URI family.
struct Family {
    start: &'static str,
    template: &'static str,
    recorded_as: &'static str,
    node_type: NodeType,
    name: &'static str,
    title: &'static str,
    description: &'static str,
}

const FAMILIES: [Family; 3] = [
    Family {
        start: "kg://herb/",
        template: "kg://herb/{id}",
        recorded_as: "resource.kg.herb",
        node_type: NodeType::Herb,
        name: "kg-herb",
        title: "A herb",
        description: "A herb with its names, parts, constituents, indications, cautions and sources, by id such as H:turmeric.",
    },
    Family {
        start: "kg://formulation/",
        template: "kg://formulation/{id}",
        recorded_as: "resource.kg.formulation",
        node_type: NodeType::Formulation,
        name: "kg-formulation",
        title: "A formulation",
        description: "A medicine of the Thai National List with its herbs, indications, cautions and sources, by id such as F:nlem-25.",
    },
    Family {
        start: "paper://pmid/",
        template: "paper://pmid/{id}",
        recorded_as: "resource.paper.pmid",
        node_type: NodeType::Paper,
        name: "paper-pmid",
        title: "A paper",
        description: "Metadata of a paper in PubMed, and its abstract where you imported it, by PMID.",
    },
];

/// Serves the resources of the pack.
pub(crate) struct Documents {
    pub(crate) store: Arc<dyn UserStore>,
    pub(crate) knowledge: Arc<KnowledgeService>,
    pub(crate) jobs: Option<JobService>,
}

impl ResourceProvider for Documents {
    fn permissions(&self) -> &'static [&'static str] {
        READ
    }

    fn resources(&self) -> Vec<Resource> {
        vec![Resource {
            uri: ABOUT.to_owned(),
            name: "ttm-about".to_owned(),
            title: "About the facts on Thai traditional medicine".to_owned(),
            description:
                "Sources, licences, formats and limits of the facts that ship with the program."
                    .to_owned(),
            mime_type: "text/markdown".to_owned(),
            size: u64::try_from(README.len()).ok(),
        }]
    }

    fn templates(&self) -> Vec<ResourceTemplate> {
        let template = |family: &Family| ResourceTemplate {
            uri_template: family.template.to_owned(),
            name: family.name.to_owned(),
            title: family.title.to_owned(),
            description: family.description.to_owned(),
            mime_type: "application/json".to_owned(),
        };
        FAMILIES.iter().map(template).chain(user_documents::templates()).collect()
    }

    fn recorded_as(&self, uri: &str) -> Option<&'static str> {
        let family = FAMILIES.iter().find(|family| uri.starts_with(family.start));
        let document = uri.starts_with(DOCUMENT_URI).then_some("resource.doc");
        let job = uri.starts_with(JOB_URI).then_some("resource.ttm-job");
        family.map(|found| found.recorded_as).or(document).or(job)
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
            if let Some(path) = uri.strip_prefix(DOCUMENT_URI) {
                let read = user_documents::read(self.store.as_ref(), path);
                return Some(read.map(|text| content(uri, "application/json", text)));
            }
            if let Some(path) = uri.strip_prefix(JOB_URI) {
                return Some(user_documents::read_job(self.jobs.as_ref(), uri, path));
            }
            let family = FAMILIES.iter().find(|family| uri.starts_with(family.start))?;
            let id = percent_decode_str(uri.strip_prefix(family.start)?).decode_utf8_lossy();
            Some(
                self.document(family.node_type, &id)
                    .map(|text| content(uri, "application/json", text)),
            )
        })
    }
}

impl Documents {
    fn document(&self, node_type: NodeType, id: &str) -> Result<String, ToolError> {
        let knowledge = self.knowledge.now()?;
        if node_type == NodeType::Paper {
            return self.paper(&knowledge, id.trim());
        }
        let meant = knowledge.names.resolve(&knowledge.graph, id, &[node_type]);
        let found = match meant {
            NameMatch::One(at) => knowledge.graph.node(at),
            _ => None,
        };
        let catalog = &knowledge.catalog;
        let herb = found.and_then(|node| catalog.herb(&node.id));
        let formulation = found.and_then(|node| catalog.formulation(&node.id));
        if let Some(herb) = herb {
            return json_text(&HerbDocument::of(&knowledge, herb));
        }
        if let Some(formulation) = formulation {
            return json_text(&FormulationDocument::of(&knowledge, formulation));
        }
        let wrong = describe_mismatch(&knowledge, id, node_type, &meant);
        Err(ToolError::not_found("NOT_FOUND", wrong)
            .hint("find ids with `hybrid_search` or `completion/complete`")
            .detail("candidates", candidates(&knowledge, &meant)))
    }

    /// The imported record takes precedence: it has the abstract.
    fn paper(&self, knowledge: &Knowledge, pmid: &str) -> Result<String, ToolError> {
        let imported = self
            .store
            .paper(pmid)
            .map_err(|error| ToolError::system("cannot read the imported papers").cause(error))?;
        let bundled = knowledge.catalog.paper(pmid);
        if imported.is_some() || bundled.is_some() {
            return json_text(&PaperDocument::of(bundled, imported.as_ref()));
        }
        let shown: String = pmid.chars().take(40).collect();
        let error = ToolError::not_found("NOT_FOUND", format!("PMID `{shown}` is not in the data"));
        let pointer = knowledge.catalog.references.iter().find(|one| one.pmid == pmid);
        Err(match pointer {
            Some(pointer) => error.hint(format!(
                "import its record with `panoply ttm import-papers`; it is only cited, by `{}` for {}",
                pointer.source, pointer.entity
            )),
            None => error.hint("import it with `panoply ttm import-papers`, or find papers with `hybrid_search`"),
        })
    }
}

pub(super) fn json_text(document: &impl Serialize) -> Result<String, ToolError> {
    serde_json::to_string_pretty(document)
        .map_err(|error| ToolError::system("cannot serialise the document").cause(error))
}

const README: &str = include_str!("../../../../data/ttm/README.md");

pub(crate) fn content(uri: &str, mime_type: &str, text: String) -> ResourceContent {
    ResourceContent {
        uri: uri.to_owned(),
        mime_type: mime_type.to_owned(),
        body: ResourceBody::Text(text),
        meta: Map::new(),
    }
}

/// Completes ids by id or name in either language.
pub(crate) struct Ids;

impl Completer for Ids {
    fn complete(
        &self,
        of: CompletionTarget<'_>,
        argument: &str,
        typed: &str,
        _: &Tenants,
    ) -> Option<Vec<String>> {
        let node_type = match of {
            CompletionTarget::Prompt(name) => (name == super::prompts::ABOUT_HERB.name
                && argument == "herb")
                .then_some(NodeType::Herb),
            CompletionTarget::Template(template) => {
                let family = FAMILIES.iter().find(|family| family.template == template);
                family.filter(|_| argument == "id").map(|family| family.node_type)
            }
        }?;
        let knowledge = Knowledge::bundled().ok()?;
        let found = knowledge.names.complete(&knowledge.graph, typed, node_type);
        let ids = found.into_iter().filter_map(|at| knowledge.graph.node(at));
        Some(ids.take(MAX_SUGGESTIONS).map(|node| node.id.clone()).collect())
    }
}
