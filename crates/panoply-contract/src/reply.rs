//! The result of a handler: data, text, evidence and suggested next calls.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::error::ToolError;
use crate::evidence::Evidence;
use crate::hints::{
    ActionCategory, Alternative, Dependency, Level, PreferenceAlignment, RelatedResource,
    RiskFactor, Warning,
};
use crate::json::Json;
use crate::table::Table;

/// A successful result. Requires a text and evidence.
#[derive(Debug)]
pub struct Reply<T> {
    /// The data in the pack's own shape.
    pub data: T,
    /// Everything else.
    pub notes: Notes,
}

/// The parts of a result that do not depend on the type of its data.
#[derive(Clone, Debug)]
pub struct Notes {
    /// One or two sentences for the user.
    pub text: String,
    /// Table shown below the text.
    pub table: Option<Table>,
    /// Images, audio and embedded resources.
    pub attachments: Vec<Attachment>,
    /// Input for the computed hints.
    pub evidence: Evidence,
    /// Suggested next calls.
    pub next: Vec<NextAction>,
    /// Related resources.
    pub related: Vec<RelatedResource>,
    /// Defaults that were applied.
    pub assumptions: Vec<String>,
    /// Missing context that would improve the answer.
    pub context_needed: Vec<String>,
    /// Computed by [`calculus::risk`](crate::calculus::risk).
    pub risks: Vec<RiskFactor>,
    /// Ordering constraints of the suggestions.
    pub dependencies: Vec<Dependency>,
    /// Alignment of suggestions with stored preferences.
    pub preferences: Vec<PreferenceAlignment>,
    /// Warnings.
    pub warnings: Vec<Warning>,
    /// Alternatives that were considered.
    pub alternatives: Vec<Alternative>,
    /// Limits on the suggestions.
    pub constraints: Vec<String>,
    /// The pack's own members of the result's `_meta`.
    pub meta: Map<String, Value>,
    /// The size that the caller explicitly allowed, if it is not the usual limit.
    pub max_bytes: Option<usize>,
}

impl<T: Serialize> Reply<T> {
    /// Creates a result from data, text and evidence.
    pub fn new(data: T, text: impl Into<String>, evidence: Evidence) -> Self {
        let notes = Notes {
            text: text.into(),
            table: None,
            attachments: Vec::new(),
            evidence,
            next: Vec::new(),
            related: Vec::new(),
            assumptions: Vec::new(),
            context_needed: Vec::new(),
            risks: Vec::new(),
            dependencies: Vec::new(),
            preferences: Vec::new(),
            warnings: Vec::new(),
            alternatives: Vec::new(),
            constraints: Vec::new(),
            meta: Map::new(),
            max_bytes: None,
        };
        Self { data, notes }
    }

    /// Adds a table.
    #[must_use]
    pub fn table(mut self, table: Table) -> Self {
        self.notes.table = Some(table);
        self
    }

    /// Adds an attachment.
    #[must_use]
    pub fn attach(mut self, attachment: Attachment) -> Self {
        self.notes.attachments.push(attachment);
        self
    }

    /// Suggests a call.
    #[must_use]
    pub fn next(mut self, action: NextAction) -> Self {
        self.notes.next.push(action);
        self
    }

    /// Adds a related resource.
    #[must_use]
    pub fn related(mut self, resource: RelatedResource) -> Self {
        self.notes.related.push(resource);
        self
    }

    /// Adds an assumption.
    #[must_use]
    pub fn assuming(mut self, assumption: impl Into<String>) -> Self {
        self.notes.assumptions.push(assumption.into());
        self
    }

    /// Adds missing context.
    #[must_use]
    pub fn needing(mut self, context: impl Into<String>) -> Self {
        self.notes.context_needed.push(context.into());
        self
    }

    /// Adds a risk, if any.
    #[must_use]
    pub fn risk(mut self, risk: Option<RiskFactor>) -> Self {
        self.notes.risks.extend(risk);
        self
    }

    /// Adds a warning.
    #[must_use]
    pub fn warn(mut self, warning: Warning) -> Self {
        self.notes.warnings.push(warning);
        self
    }

    /// Allows a larger reply than usual, because the caller asked for it in a parameter.
    #[must_use]
    pub const fn up_to_bytes(mut self, bytes: usize) -> Self {
        self.notes.max_bytes = Some(bytes);
        self
    }

    /// Adds a member to the result's `_meta`.
    #[must_use]
    pub fn meta(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.notes.meta.insert(key.to_owned(), value.into());
        self
    }

    /// Serialises the data for the pipeline.
    pub(crate) fn erase(self) -> Result<Reply<Json>, ToolError> {
        Ok(Reply { data: Json::of(&self.data)?, notes: self.notes })
    }
}

/// A suggested next call. The kernel drops it if the caller lacks the permission.
#[derive(Clone, Debug)]
pub struct NextAction {
    /// A tool's name.
    pub tool: &'static str,
    /// Its arguments.
    pub arguments: Value,
    /// Priority.
    pub priority: Level,
    /// Reason, for the user.
    pub why: String,
    /// Category.
    pub category: Option<ActionCategory>,
    /// Expected outcome.
    pub outcome: Option<String>,
}

impl NextAction {
    /// A suggestion of medium priority.
    pub fn new(tool: &'static str, arguments: Value, why: impl Into<String>) -> Self {
        Self {
            tool,
            arguments,
            priority: Level::Medium,
            why: why.into(),
            category: None,
            outcome: None,
        }
    }

    /// Sets the priority.
    #[must_use]
    pub const fn priority(mut self, priority: Level) -> Self {
        self.priority = priority;
        self
    }

    /// Sets the category.
    #[must_use]
    pub const fn category(mut self, category: ActionCategory) -> Self {
        self.category = Some(category);
        self
    }

    /// Sets the expected outcome.
    #[must_use]
    pub fn outcome(mut self, outcome: impl Into<String>) -> Self {
        self.outcome = Some(outcome.into());
        self
    }
}

/// Additional content of a result.
#[derive(Clone, Debug)]
pub enum Attachment {
    /// An image.
    Image {
        /// Its bytes.
        bytes: Vec<u8>,
        /// Such as `image/png`.
        mime_type: &'static str,
    },
    /// Audio.
    Audio {
        /// Its bytes.
        bytes: Vec<u8>,
        /// Such as `audio/wav`.
        mime_type: &'static str,
    },
    /// An embedded text resource.
    Document {
        /// Its URI.
        uri: String,
        /// Such as `text/markdown`.
        mime_type: &'static str,
        /// Its content.
        text: String,
    },
}
