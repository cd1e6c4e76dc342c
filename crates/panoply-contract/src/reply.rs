//! What a handler gives back: data, a text for people, evidence, and what could come next.

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

/// A successful answer. It cannot be made without a text and evidence.
#[derive(Debug)]
pub struct Reply<T> {
    /// The answer itself, in the pack's own shape.
    pub data: T,
    /// Everything around it.
    pub notes: Notes,
}

/// Everything around an answer that does not depend on its type.
#[derive(Clone, Debug)]
pub struct Notes {
    /// A sentence or two for a person.
    pub text: String,
    /// Rows to look at, under the text.
    pub table: Option<Table>,
    /// Pictures, sounds and documents beside the text.
    pub attachments: Vec<Attachment>,
    /// What the kernel computes the hints from.
    pub evidence: Evidence,
    /// Calls worth making next.
    pub next: Vec<NextAction>,
    /// Things the answer is about.
    pub related: Vec<RelatedResource>,
    /// Defaults that were applied.
    pub assumptions: Vec<String>,
    /// What would have made the answer better.
    pub context_needed: Vec<String>,
    /// Made by [`calculus::risk`](crate::calculus::risk).
    pub risks: Vec<RiskFactor>,
    /// Which suggestions come before which.
    pub dependencies: Vec<Dependency>,
    /// How suggestions sit with stored preferences.
    pub preferences: Vec<PreferenceAlignment>,
    /// What to be careful about.
    pub warnings: Vec<Warning>,
    /// Other ways that were considered.
    pub alternatives: Vec<Alternative>,
    /// Limits on the suggestions.
    pub constraints: Vec<String>,
    /// The pack's own members of the result's `_meta`.
    pub meta: Map<String, Value>,
}

impl<T: Serialize> Reply<T> {
    /// An answer with its text and the evidence for it.
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
        };
        Self { data, notes }
    }

    /// Puts rows under the text.
    #[must_use]
    pub fn table(mut self, table: Table) -> Self {
        self.notes.table = Some(table);
        self
    }

    /// Adds a picture, sound or document.
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

    /// Names something the answer is about.
    #[must_use]
    pub fn related(mut self, resource: RelatedResource) -> Self {
        self.notes.related.push(resource);
        self
    }

    /// Says which default was applied.
    #[must_use]
    pub fn assuming(mut self, assumption: impl Into<String>) -> Self {
        self.notes.assumptions.push(assumption.into());
        self
    }

    /// Says what would have made the answer better.
    #[must_use]
    pub fn needing(mut self, context: impl Into<String>) -> Self {
        self.notes.context_needed.push(context.into());
        self
    }

    /// Adds a risk, if it is large enough to mention.
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

    /// Adds a member to the result's `_meta`.
    #[must_use]
    pub fn meta(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.notes.meta.insert(key.to_owned(), value.into());
        self
    }

    /// The same answer with its data as JSON, which is what the pipeline works with.
    pub(crate) fn erase(self) -> Result<Reply<Json>, ToolError> {
        Ok(Reply { data: Json::of(&self.data)?, notes: self.notes })
    }
}

/// A call worth making next. The kernel drops it when the caller may not make it.
#[derive(Clone, Debug)]
pub struct NextAction {
    /// A tool's name.
    pub tool: &'static str,
    /// Its arguments.
    pub arguments: Value,
    /// How urgent it is.
    pub priority: Level,
    /// What it would do, for a person.
    pub why: String,
    /// What it is good for.
    pub category: Option<ActionCategory>,
    /// What will have happened.
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

    /// Gives it another priority.
    #[must_use]
    pub const fn priority(mut self, priority: Level) -> Self {
        self.priority = priority;
        self
    }

    /// Says what it is good for.
    #[must_use]
    pub const fn category(mut self, category: ActionCategory) -> Self {
        self.category = Some(category);
        self
    }

    /// Says what will have happened.
    #[must_use]
    pub fn outcome(mut self, outcome: impl Into<String>) -> Self {
        self.outcome = Some(outcome.into());
        self
    }
}

/// Something beside the text of an answer.
#[derive(Clone, Debug)]
pub enum Attachment {
    /// A picture.
    Image {
        /// Its bytes.
        bytes: Vec<u8>,
        /// Such as `image/png`.
        mime_type: &'static str,
    },
    /// A sound.
    Audio {
        /// Its bytes.
        bytes: Vec<u8>,
        /// Such as `audio/wav`.
        mime_type: &'static str,
    },
    /// A document of text, with the address it can be read at.
    Document {
        /// Its address.
        uri: String,
        /// Such as `text/markdown`.
        mime_type: &'static str,
        /// What it says.
        text: String,
    },
}
