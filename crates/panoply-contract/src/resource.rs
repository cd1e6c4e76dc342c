//! Documents and data that clients can read by address.

use futures::future::BoxFuture;

use crate::context::CallContext;
use crate::error::ToolError;

/// One address that is always there.
#[derive(Clone, Debug, PartialEq)]
pub struct Resource {
    /// Its address.
    pub uri: String,
    /// A short name.
    pub name: String,
    /// A name for people.
    pub title: String,
    /// What it holds.
    pub description: String,
    /// Such as `text/markdown`.
    pub mime_type: String,
    /// How many bytes, when known.
    pub size: Option<u64>,
}

/// A family of addresses, such as `kg://herb/{id}`.
#[derive(Clone, Debug, PartialEq)]
pub struct ResourceTemplate {
    /// The address with `{names}` in it.
    pub uri_template: String,
    /// A short name.
    pub name: String,
    /// A name for people.
    pub title: String,
    /// What such an address holds.
    pub description: String,
    /// Such as `application/json`.
    pub mime_type: String,
}

/// What was found at an address.
#[derive(Clone, Debug, PartialEq)]
pub struct ResourceContent {
    /// The address that was read.
    pub uri: String,
    /// Its type.
    pub mime_type: String,
    /// What it holds.
    pub body: ResourceBody,
    /// The content's `_meta`, such as a widget's content security policy.
    pub meta: serde_json::Map<String, serde_json::Value>,
}

/// Text or bytes.
#[derive(Clone, Debug, PartialEq)]
pub enum ResourceBody {
    /// Text.
    Text(String),
    /// Bytes.
    Bytes(Vec<u8>),
}

/// Serves some addresses. A pack has as many providers as it has kinds of address.
pub trait ResourceProvider: Send + Sync + 'static {
    /// What a caller must be allowed to read here.
    fn permissions(&self) -> &'static [&'static str] {
        &[]
    }

    /// The addresses that are always there.
    fn resources(&self) -> Vec<Resource> {
        Vec::new()
    }

    /// The families of addresses.
    fn templates(&self) -> Vec<ResourceTemplate> {
        Vec::new()
    }

    /// The name under which reading `uri` is recorded in the audit log, for packs whose contract
    /// wants that. The document then carries its audit in `_meta`; its input is `{"uri": …}`.
    fn recorded_as(&self, _uri: &str) -> Option<&'static str> {
        None
    }

    /// What is at `uri`; `None` when this provider does not serve such addresses.
    fn read<'a>(
        &'a self,
        uri: &'a str,
        cx: &'a CallContext,
    ) -> BoxFuture<'a, Option<Result<ResourceContent, ToolError>>>;
}

/// Suggests values for an argument while a person types.
pub trait Completer: Send + Sync + 'static {
    /// Values for `argument` of `of` that start like `typed`, best first; `None` when this
    /// completer does not know the argument.
    fn complete(
        &self,
        of: CompletionTarget<'_>,
        argument: &str,
        typed: &str,
    ) -> Option<Vec<String>>;
}

/// What a person is typing.
#[derive(Clone, Debug)]
pub struct Completion {
    /// What the argument belongs to.
    pub of: CompletionSubject,
    /// The argument.
    pub argument: String,
    /// The text so far.
    pub typed: String,
}

/// What an argument belongs to, kept while it waits for its turn.
#[derive(Clone, Debug)]
pub enum CompletionSubject {
    /// A prompt, by name.
    Prompt(String),
    /// A resource template, by its template.
    Template(String),
}

impl CompletionSubject {
    /// The same for a completer.
    pub fn target(&self) -> CompletionTarget<'_> {
        match self {
            Self::Prompt(name) => CompletionTarget::Prompt(name),
            Self::Template(template) => CompletionTarget::Template(template),
        }
    }
}

/// What an argument belongs to.
#[derive(Clone, Copy, Debug)]
pub enum CompletionTarget<'a> {
    /// A prompt, by name.
    Prompt(&'a str),
    /// A resource template, by its template.
    Template(&'a str),
}
