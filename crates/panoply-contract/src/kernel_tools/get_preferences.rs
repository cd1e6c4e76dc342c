//! `get-preferences`: what the person has set, and which arguments default to it.

use super::KernelHandle;
use super::set_preferences::{MUTATION, evidence};
use crate::preferences::Preferences;
use crate::prelude::*;

const SPEC: ToolSpec = ToolSpec {
    name: "get-preferences",
    title: "Preferences",
    description: Description {
        does: "Returns the preferences that the person has set: language, time zone, currency, risk tolerance, income, purchases of funds, minutes of study, exams, favourites.",
        when: "Use this before asking the person for something that they may have told before.",
        returns: "Returns the preferences, their version and the arguments of tools that default to them.",
        asks: &["What do you know about me?", "Which settings have I made?"],
    },
    permissions: &["preferences:read"],
    category: Category::Query,
    examples: &[Example {
        shows: "nothing set yet",
        params: "{}",
        expect: Expect::Data(r#"{"preferences": {}, "version": 0}"#),
    }],
    ..MUTATION
}
.checked();

/// No arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Params {}

/// The preferences.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// What the person has set.
    preferences: Preferences,
    /// Rises with each change; 0 before the first.
    version: u32,
    /// Arguments that default to a preference.
    defaults: Vec<Default>,
}

/// An argument and its default.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Default {
    /// The tool.
    tool: &'static str,
    /// Its argument.
    argument: &'static str,
    /// The preference.
    preference: &'static str,
}

pub(crate) struct GetPreferences {
    pub(super) kernel_handle: KernelHandle,
}

impl Tool for GetPreferences {
    type Params = Params;
    type Output = Output;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, _: Params, cx: &CallContext) -> Result<Reply<Output>, ToolError> {
        let kernel = self.kernel_handle.kernel()?;
        let stored = kernel.services.preferences.get(&cx.caller.tenants.person)?;
        let packs = kernel.registry().packs().iter();
        let defaults = packs
            .flat_map(|pack| pack.preferred_arguments)
            .map(|one| Default {
                tool: one.tool,
                argument: one.argument,
                preference: one.preference.name(),
            })
            .collect();
        let json = serde_json::to_string(&stored.preferences)
            .map_err(|error| ToolError::system("preferences cannot be written").cause(error))?;
        let text = match stored.version {
            0 => "No preferences are set; `set-preferences` sets them.".to_owned(),
            version => format!("Preferences, version {version}: {json}"),
        };
        let output = Output { preferences: stored.preferences, version: stored.version, defaults };
        Ok(Reply::new(output, text, evidence()))
    }
}
