//! Resources that clients can read by URI.

use futures::future::BoxFuture;

use crate::context::CallContext;
use crate::error::ToolError;
use crate::tenant::Tenants;

/// A static resource.
#[derive(Clone, Debug, PartialEq)]
pub struct Resource {
    /// Its URI.
    pub uri: String,
    /// A short name.
    pub name: String,
    /// Display name.
    pub title: String,
    /// Description or content.
    pub description: String,
    /// Such as `text/markdown`.
    pub mime_type: String,
    /// Size in bytes, if known.
    pub size: Option<u64>,
}

/// A resource template, such as `kg://herb/{id}`.
#[derive(Clone, Debug, PartialEq)]
pub struct ResourceTemplate {
    /// URI template.
    pub uri_template: String,
    /// A short name.
    pub name: String,
    /// Display name.
    pub title: String,
    /// Description.
    pub description: String,
    /// Such as `application/json`.
    pub mime_type: String,
}

/// Content of a resource.
#[derive(Clone, Debug, PartialEq)]
pub struct ResourceContent {
    /// The URI that was read.
    pub uri: String,
    /// MIME type.
    pub mime_type: String,
    /// Description or content.
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

/// Serves resources of one URI scheme or path prefix.
pub trait ResourceProvider: Send + Sync + 'static {
    /// Permissions required to read.
    fn permissions(&self) -> &'static [&'static str] {
        &[]
    }

    /// Static resources.
    fn resources(&self) -> Vec<Resource> {
        Vec::new()
    }

    /// Resource templates.
    fn templates(&self) -> Vec<ResourceTemplate> {
        Vec::new()
    }

    /// Tool name for auditing reads of `uri`, for packs whose contract requires it. The content
    /// then has its audit in `_meta`; the hashed input is `{"uri": …}`.
    fn recorded_as(&self, _uri: &str) -> Option<&'static str> {
        None
    }

    /// Reads `uri`; `None` when this provider does not serve it.
    fn read<'a>(
        &'a self,
        uri: &'a str,
        cx: &'a CallContext,
    ) -> BoxFuture<'a, Option<Result<ResourceContent, ToolError>>>;
}

/// Argument completion.
pub trait Completer: Send + Sync + 'static {
    /// Values for `argument` of `of` that match the prefix `typed`, best first; `None` for an
    /// unknown argument. `tenants` are those of the caller.
    fn complete(
        &self,
        of: CompletionTarget<'_>,
        argument: &str,
        typed: &str,
        tenants: &Tenants,
    ) -> Option<Vec<String>>;
}

/// A completion request.
#[derive(Clone, Debug)]
pub struct Completion {
    /// The prompt or template of the argument.
    pub of: CompletionSubject,
    /// The argument.
    pub argument: String,
    /// The text so far.
    pub typed: String,
}

/// Owned form of [`CompletionTarget`], for requests that wait for a lane.
#[derive(Clone, Debug)]
pub enum CompletionSubject {
    /// A prompt, by name.
    Prompt(String),
    /// A resource template, by its template.
    Template(String),
}

impl CompletionSubject {
    /// Borrows as a [`CompletionTarget`].
    pub fn target(&self) -> CompletionTarget<'_> {
        match self {
            Self::Prompt(name) => CompletionTarget::Prompt(name),
            Self::Template(template) => CompletionTarget::Template(template),
        }
    }
}

/// The prompt or template of an argument.
#[derive(Clone, Copy, Debug)]
pub enum CompletionTarget<'a> {
    /// A prompt, by name.
    Prompt(&'a str),
    /// A resource template, by its template.
    Template(&'a str),
}
