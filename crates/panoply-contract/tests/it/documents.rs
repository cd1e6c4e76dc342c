//! Resources and completions: found, refused, and safe when a provider panics.

use futures::future::BoxFuture;
use panoply_contract::context::Caller;
use panoply_contract::ids::TraceId;
use panoply_contract::kernel::{Kernel, Scope};
use panoply_contract::permission::Grants;
use panoply_contract::prelude::*;
use panoply_contract::resource::{
    Completer, CompletionTarget, Resource, ResourceBody, ResourceContent, ResourceProvider,
    ResourceTemplate,
};
use serde_json::Map;

use crate::tools::*;

/// `note://one` is there, `note://bad` panics, `other://…` is not served here.
struct Notes;

impl ResourceProvider for Notes {
    fn permissions(&self) -> &'static [&'static str] {
        &["notes:read"]
    }

    fn resources(&self) -> Vec<Resource> {
        let text = |text: &str| text.to_owned();
        let (name, title, description) = (text("one"), text("One"), text("The first note."));
        vec![Resource {
            uri: text("note://one"),
            name,
            title,
            description,
            mime_type: text("text/plain"),
            size: None,
        }]
    }

    fn templates(&self) -> Vec<ResourceTemplate> {
        Vec::new()
    }

    fn read<'a>(
        &'a self,
        uri: &'a str,
        _: &'a CallContext,
    ) -> BoxFuture<'a, Option<Result<ResourceContent, ToolError>>> {
        Box::pin(async move {
            let id = uri.strip_prefix("note://")?;
            assert_ne!(id, "bad", "a secret path");
            let body = ResourceBody::Text(id.to_owned());
            Some(Ok(ResourceContent {
                uri: uri.to_owned(),
                mime_type: "text/plain".to_owned(),
                body,
                meta: Map::new(),
            }))
        })
    }
}

struct Colours;

impl Completer for Colours {
    fn complete(
        &self,
        _: CompletionTarget<'_>,
        argument: &str,
        typed: &str,
    ) -> Option<Vec<String>> {
        let fits = |colour: &&&str| colour.starts_with(typed);
        (argument == "colour")
            .then(|| ["red", "rose", "blue"].iter().filter(fits).map(ToString::to_string).collect())
    }
}

fn kernel() -> std::sync::Arc<Kernel> {
    kernel_of(published().with_resources(Notes).with_completer(Colours)).0
}

async fn read(kernel: &Kernel, uri: &str, caller: Caller) -> Result<ResourceContent, ToolError> {
    let trace = TraceId::parse("4bf92f3577b34da6a3ce929d0e0e4736").unwrap();
    let mut cx = CallContext::local(std::sync::Arc::clone(kernel.clock()), trace);
    cx.caller = caller;
    kernel.read_resource(&Scope::All, uri, &cx).await
}

#[tokio::test]
async fn a_document_is_read_and_an_unknown_address_says_so() {
    let kernel = kernel();
    let found = read(&kernel, "note://one", Caller::local_owner()).await.unwrap();
    assert_eq!(found.body, ResourceBody::Text("one".to_owned()));
    let error = read(&kernel, "other://x", Caller::local_owner()).await.unwrap_err();
    assert_eq!(error.code, "RESOURCE_NOT_FOUND");
}

#[tokio::test]
async fn who_may_not_read_does_not_learn_what_is_there() {
    let kernel = kernel();
    let stranger = || Caller { grants: Grants::from_patterns([]), ..Caller::local_owner() };
    assert_eq!(
        read(&kernel, "note://one", stranger()).await.unwrap_err().code,
        "RESOURCE_NOT_FOUND"
    );
    assert!(kernel.resources(&Scope::All, &stranger()).is_empty());
    assert_eq!(kernel.resources(&Scope::All, &Caller::local_owner()).len(), 1);
}

#[tokio::test]
async fn a_provider_that_panics_is_a_system_error() {
    let error = read(&kernel(), "note://bad", Caller::local_owner()).await.unwrap_err();
    assert_eq!(error.code, "INTERNAL_ERROR");
    assert!(!error.message.contains("secret"));
}

#[test]
fn completions_come_from_whoever_knows_the_argument() {
    let kernel = kernel();
    let complete = |argument: &str, typed: &str| {
        kernel.complete(&Scope::All, CompletionTarget::Prompt("p"), argument, typed)
    };
    assert_eq!(complete("colour", "r"), ["red", "rose"]);
    assert_eq!(complete("size", "r"), Vec::<String>::new());
}
