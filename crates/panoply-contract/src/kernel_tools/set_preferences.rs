//! `set-preferences`: changes some preferences of the person.

use super::{KernelHandle, shares};
use crate::preferences::{Preferences, StoredPreferences};
use crate::prelude::*;

/// What the specs of `get-preferences` and `set-preferences` have in common.
pub(super) const MUTATION: ToolSpec = ToolSpec {
    data: &["preferences"],
    tags: &["preferences"],
    idempotent: true,
    ..shares::MUTATION
};

const SPEC: ToolSpec = ToolSpec {
    name: "set-preferences",
    title: "Set preferences",
    description: Description {
        does: "Sets preferences of the person, which later calls use as defaults. Members that are not given stay; `clear` names those to remove.",
        when: "Use this when the person states a lasting preference or fact about themselves, such as their time zone, income or purchases of funds, and wants it remembered.",
        returns: "Returns all preferences with their new version.",
        asks: &["Remember that I study 20 minutes a day", "My base currency is THB"],
    },
    permissions: &["preferences:update"],
    examples: &[
        Example {
            shows: "minutes of study and a favourite",
            params: r#"{"preferences": {"studyMinutes": 20, "favourites": ["K-USA-A(A)"]}}"#,
            expect: Expect::Data(r#"{"preferences": {"studyMinutes": 20}}"#),
        },
        Example {
            shows: "an unknown time zone",
            params: r#"{"preferences": {"timeZone": "Siam/Bangkok"}}"#,
            expect: Expect::Error("BAD_PREFERENCE"),
        },
    ],
    ..MUTATION
}
.checked();

/// A change of preferences.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Params {
    /// What to set.
    #[serde(default)]
    preferences: Preferences,
    /// Names of preferences to remove, such as `favourites`; `*` removes all.
    #[serde(default)]
    #[schemars(length(max = 20), inner(length(min = 1, max = 40)))]
    clear: Vec<String>,
}

/// The preferences after the change.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// What the person has set.
    preferences: Preferences,
}

pub(crate) struct SetPreferences {
    pub(super) kernel_handle: KernelHandle,
}

impl Tool for SetPreferences {
    type Params = Params;
    type Output = Output;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, params: Params, cx: &CallContext) -> Result<Reply<Output>, ToolError> {
        let kernel = self.kernel_handle.kernel()?;
        let store = kernel.services.preferences.as_ref();
        let tenant = &cx.caller.tenants.person;
        check(&params.preferences)?;
        let StoredPreferences { preferences: before, .. } = store.get(tenant)?;
        let after = changed(&before, &params)?;
        let done = if cx.dry_run { "Would set" } else { "Set" };
        let text =
            format!("{done} preferences; later calls use them where an argument is missing.");
        let reply = Reply::new(Output { preferences: after.clone() }, text, evidence());
        let reply =
            shares::commit(cx, reply, |record| store.set(tenant, &after, record).map(|_| true))?;
        kernel.preference_cache.remove(tenant);
        Ok(reply)
    }
}

pub(super) fn evidence() -> Evidence {
    Evidence::from(Source::new(SourceClass::Exact, "the stored preferences"))
        .changes(NextChange::WithNextAction)
}

/// The preferences with the given members replaced and the named ones removed.
fn changed(before: &Preferences, params: &Params) -> Result<Preferences, ToolError> {
    let object = |preferences: &Preferences| match serde_json::to_value(preferences) {
        Ok(serde_json::Value::Object(members)) => Ok(members),
        other => Err(ToolError::system(format!("preferences are not an object: {other:?}"))),
    };
    let mut members = object(before)?;
    for name in &params.clear {
        if name == "*" {
            members.clear();
        } else {
            members.remove(name);
        }
    }
    members.extend(object(&params.preferences)?);
    serde_json::from_value(members.into())
        .map_err(|error| ToolError::system("preferences cannot be read back").cause(error))
}

/// Checks what a schema cannot: dates and time zones.
fn check(preferences: &Preferences) -> Result<(), ToolError> {
    if let Some(zone) = &preferences.time_zone
        && jiff::tz::TimeZone::get(zone).is_err()
    {
        return Err(bad(&format!("`{zone}` is not an IANA time zone, such as `Asia/Bangkok`")));
    }
    let purchases = preferences.fund_purchases.iter().map(|one| &one.date);
    let exams = preferences.exams.iter().map(|one| &one.date);
    for date in purchases.chain(exams).chain(&preferences.birth_date) {
        if date.parse::<jiff::civil::Date>().is_err() {
            return Err(bad(&format!("`{date}` is not a date, such as `2026-12-15`")));
        }
    }
    Ok(())
}

fn bad(message: &str) -> ToolError {
    ToolError::validation("BAD_PREFERENCE", message).hint("correct it and call again")
}
