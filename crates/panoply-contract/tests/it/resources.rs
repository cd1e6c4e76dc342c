//! Resources and completions: reading, permissions, and panicking providers.

use std::sync::{Arc, Mutex, mpsc};

use futures::future::BoxFuture;
use panoply_contract::context::Caller;
use panoply_contract::ids::TraceId;
use panoply_contract::kernel::{Kernel, Scope};
use panoply_contract::permission::Grants;
use panoply_contract::prelude::*;
use panoply_contract::resource::{
    Completer, Completion, CompletionSubject, CompletionTarget, Resource, ResourceBody,
    ResourceContent, ResourceProvider, ResourceTemplate,
};
use panoply_contract::tenant::Tenants;
use serde_json::Map;

use crate::tools::*;

/// Serves `note://one`, panics for `note://bad`, does not serve `other://…`.
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
        _: &Tenants,
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
async fn resources_are_read_and_unknown_uris_are_refused() {
    let kernel = kernel();
    let found = read(&kernel, "note://one", Caller::local_owner()).await.unwrap();
    assert_eq!(found.body, ResourceBody::Text("one".to_owned()));
    let schema = read(&kernel, "panoply://schemas/agent-hints", Caller::local_owner()).await;
    let ResourceBody::Text(schema) = schema.unwrap().body else { panic!("not text") };
    let schema: serde_json::Value = serde_json::from_str(&schema).unwrap();
    assert!(schema["properties"]["suggestedNextActions"].is_object(), "{schema}");
    let error = read(&kernel, "other://x", Caller::local_owner()).await.unwrap_err();
    assert_eq!(error.code, "RESOURCE_NOT_FOUND");
}

#[tokio::test]
async fn resources_are_hidden_from_callers_without_permission() {
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

async fn complete(kernel: &Kernel, argument: &str, typed: &str) -> Result<Vec<String>, ToolError> {
    let trace = TraceId::parse("4bf92f3577b34da6a3ce929d0e0e4736").unwrap();
    let cx = CallContext::local(Arc::clone(kernel.clock()), trace);
    let of = CompletionSubject::Prompt("p".to_owned());
    let asked = Completion { of, argument: argument.to_owned(), typed: typed.to_owned() };
    kernel.complete(&Scope::All, &asked, &cx).await
}

#[tokio::test]
async fn completions_come_from_the_first_matching_completer() {
    let kernel = kernel();
    assert_eq!(complete(&kernel, "colour", "r").await.unwrap(), ["red", "rose"]);
    assert_eq!(complete(&kernel, "size", "r").await.unwrap(), Vec::<String>::new());
}

/// Locks its store and panics for the argument `bad`.
struct Stored(Arc<Mutex<()>>);

impl Completer for Stored {
    fn complete(
        &self,
        _: CompletionTarget<'_>,
        argument: &str,
        _: &str,
        _: &Tenants,
    ) -> Option<Vec<String>> {
        assert_ne!(argument, "bad", "a secret path");
        let _store = self.0.lock().unwrap();
        Some(vec!["found".to_owned()])
    }
}

/// Single worker thread: a completer that blocks it would hang the test.
#[tokio::test]
async fn completions_time_out_while_the_store_is_locked() {
    let store = Arc::new(Mutex::new(()));
    let pack = published().with_completer(Stored(Arc::clone(&store))).with_blocking_store();
    let (kernel, clock) = kernel_of(pack);
    let (release, released) = mpsc::channel::<()>();
    let (locked, is_locked) = mpsc::channel();
    let holder = std::thread::spawn(move || {
        let _lock = store.lock().unwrap();
        locked.send(()).unwrap();
        // Returns when the sender is dropped.
        released.recv().unwrap_err();
    });
    is_locked.recv().unwrap();
    let asking: Vec<_> = (0..8)
        .map(|_| {
            let kernel = Arc::clone(&kernel);
            tokio::spawn(async move { complete(&kernel, "name", "f").await })
        })
        .collect();
    while clock.sleeping() < 8 {
        tokio::task::yield_now().await;
    }
    clock.advance(MINUTE);
    for one in asking {
        assert_eq!(one.await.unwrap().unwrap_err().code, "TIMEOUT");
    }
    drop(release);
    holder.join().unwrap();
    assert_eq!(complete(&kernel, "name", "f").await.unwrap(), ["found"]);
    let error = complete(&kernel, "bad", "f").await.unwrap_err();
    assert!(error.code == "INTERNAL_ERROR" && !error.message.contains("secret"));
}
