//! Preferences of a person: typed, stored per tenant, and used as defaults of arguments.
//!
//! A default is applied before the input is hashed and validated, so that the audit, the cache and
//! the handler see the same arguments, and an explicit argument always takes precedence.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use foldhash::fast::RandomState;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::context::Lang;
use crate::error::ToolError;
use crate::mutation::MutationRecord;
use crate::tenant::TenantId;

/// Preferences that a person has set. A member that is absent is not set.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Preferences {
    /// Language of replies, where the client names none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<PreferredLanguage>,
    /// IANA time zone, such as `Asia/Bangkok`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 60))]
    pub time_zone: Option<String>,
    /// Currency to report in, such as `THB`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = r"^[A-Z]{3}$"))]
    pub base_currency: Option<String>,
    /// How much loss the person accepts for more return.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub risk_tolerance: Option<RiskTolerance>,
    /// UK taxable income of the year in pounds, such as "37700".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = r"^\d{1,12}(\.\d{1,2})?$"))]
    pub uk_taxable_income: Option<String>,
    /// Date of birth, `YYYY-MM-DD`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = r"^\d{4}-\d{2}-\d{2}$"))]
    pub birth_date: Option<String>,
    /// Purchases of RMF units.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 500))]
    pub fund_purchases: Vec<FundPurchase>,
    /// Minutes of study a day.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1440))]
    pub study_minutes: Option<u16>,
    /// Exams to prepare for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 50))]
    pub exams: Vec<Exam>,
    /// Codes and ids of what the person follows: funds, decks, runs, herbs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 200), inner(length(min = 1, max = 120)))]
    pub favourites: Vec<String>,
}

/// A language that replies exist in.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PreferredLanguage {
    /// English.
    En,
    /// Thai.
    Th,
}

impl From<PreferredLanguage> for Lang {
    fn from(language: PreferredLanguage) -> Self {
        match language {
            PreferredLanguage::En => Self::En,
            PreferredLanguage::Th => Self::Th,
        }
    }
}

/// How much loss a person accepts.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RiskTolerance {
    /// Hardly any.
    Low,
    /// A bad year.
    Medium,
    /// Several bad years.
    High,
}

/// A purchase of RMF units, as `check_rmf_holding` takes it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FundPurchase {
    /// Date, `YYYY-MM-DD`.
    #[schemars(regex(pattern = r"^\d{4}-\d{2}-\d{2}$"))]
    pub date: String,
    /// Amount in baht.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 1_000_000_000.0))]
    pub amount: Option<f64>,
    /// Tax that it saved, in baht.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 1_000_000_000.0))]
    pub tax_saved: Option<f64>,
}

/// An exam to prepare for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Exam {
    /// Its name.
    #[schemars(length(min = 1, max = 120))]
    pub name: String,
    /// Its date, `YYYY-MM-DD`.
    #[schemars(regex(pattern = r"^\d{4}-\d{2}-\d{2}$"))]
    pub date: String,
}

/// A preference that can be the default of an argument.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Preference {
    /// [`Preferences::uk_taxable_income`].
    UkTaxableIncome,
    /// [`Preferences::birth_date`].
    BirthDate,
    /// [`Preferences::fund_purchases`].
    FundPurchases,
    /// [`Preferences::study_minutes`].
    StudyMinutes,
}

impl Preference {
    /// Its name in the tools.
    pub const fn name(self) -> &'static str {
        match self {
            Self::UkTaxableIncome => "ukTaxableIncome",
            Self::BirthDate => "birthDate",
            Self::FundPurchases => "fundPurchases",
            Self::StudyMinutes => "studyMinutes",
        }
    }

    /// The value that the person has set.
    pub fn value(self, preferences: &Preferences) -> Option<Value> {
        match self {
            Self::UkTaxableIncome => preferences.uk_taxable_income.as_ref().map(|text| json!(text)),
            Self::BirthDate => preferences.birth_date.as_ref().map(|date| json!(date)),
            Self::FundPurchases => {
                (!preferences.fund_purchases.is_empty()).then(|| json!(preferences.fund_purchases))
            }
            Self::StudyMinutes => preferences.study_minutes.map(|minutes| json!(minutes)),
        }
    }
}

/// An argument whose default is a preference.
#[derive(Clone, Copy, Debug)]
pub struct PreferredArgument {
    /// The tool.
    pub tool: &'static str,
    /// Its argument.
    pub argument: &'static str,
    /// The default.
    pub preference: Preference,
}

/// Stored preferences. The version rises with each change.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StoredPreferences {
    /// What the person has set.
    pub preferences: Preferences,
    /// 0 before the first change.
    pub version: u32,
}

/// Stores preferences. Methods may block: they run in a lane.
pub trait PreferenceStore: Send + Sync + 'static {
    /// The preferences of a tenant; the default if there are none.
    fn get(&self, tenant: &TenantId) -> Result<StoredPreferences, ToolError>;

    /// Replaces them, with the record of the call; returns the new version.
    fn set(
        &self,
        tenant: &TenantId,
        preferences: &Preferences,
        record: Option<&MutationRecord>,
    ) -> Result<u32, ToolError>;

    /// Whether the methods may block.
    fn blocks(&self) -> bool {
        true
    }
}

/// Preferences in memory, for tests and servers without a home.
#[derive(Debug, Default)]
pub struct MemoryPreferenceStore(Mutex<BTreeMap<TenantId, StoredPreferences>>);

impl PreferenceStore for MemoryPreferenceStore {
    fn get(&self, tenant: &TenantId) -> Result<StoredPreferences, ToolError> {
        Ok(lock(&self.0).get(tenant).cloned().unwrap_or_default())
    }

    fn set(
        &self,
        tenant: &TenantId,
        preferences: &Preferences,
        _: Option<&MutationRecord>,
    ) -> Result<u32, ToolError> {
        let mut all = lock(&self.0);
        let stored = all.entry(tenant.clone()).or_default();
        stored.version += 1;
        stored.preferences = preferences.clone();
        Ok(stored.version)
    }

    fn blocks(&self) -> bool {
        false
    }
}

/// Another process may have changed preferences that were read longer ago than this.
const MAX_AGE: Duration = Duration::from_secs(2);
/// Tenants in the cache; it is cleared when full.
const MAX_TENANTS: usize = 10_000;

/// Preferences read recently, by tenant.
#[derive(Debug, Default)]
pub(crate) struct PreferenceCache(
    Mutex<HashMap<TenantId, (Duration, Arc<StoredPreferences>), RandomState>>,
);

impl PreferenceCache {
    pub(crate) fn get(&self, tenant: &TenantId, now: Duration) -> Option<Arc<StoredPreferences>> {
        let cache = lock(&self.0);
        let (read_at, stored) = cache.get(tenant)?;
        (now.saturating_sub(*read_at) < MAX_AGE).then(|| Arc::clone(stored))
    }

    pub(crate) fn insert(
        &self,
        tenant: TenantId,
        now: Duration,
        stored: StoredPreferences,
    ) -> Arc<StoredPreferences> {
        let stored = Arc::new(stored);
        let mut cache = lock(&self.0);
        if cache.len() >= MAX_TENANTS {
            cache.clear();
        }
        cache.insert(tenant, (now, Arc::clone(&stored)));
        stored
    }

    pub(crate) fn remove(&self, tenant: &TenantId) {
        lock(&self.0).remove(tenant);
    }
}

/// Adds the preferred arguments of a tool that the caller has not given; returns those added.
pub(crate) fn apply(
    arguments: &[PreferredArgument],
    tool: &str,
    preferences: &Preferences,
    input: &mut Value,
) -> Vec<PreferredArgument> {
    let Some(input) = input.as_object_mut() else { return Vec::new() };
    let mut added = Vec::new();
    for one in arguments.iter().filter(|one| one.tool == tool) {
        let is_missing = input.get(one.argument).is_none_or(Value::is_null);
        if is_missing && let Some(value) = one.preference.value(preferences) {
            input.insert(one.argument.to_owned(), value);
            added.push(*one);
        }
    }
    added
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ARGUMENTS: [PreferredArgument; 2] = [
        PreferredArgument {
            tool: "plan",
            argument: "minutes",
            preference: Preference::StudyMinutes,
        },
        PreferredArgument { tool: "other", argument: "born", preference: Preference::BirthDate },
    ];

    #[test]
    fn explicit_argument_takes_precedence_over_a_preference() {
        let preferences = Preferences { study_minutes: Some(20), ..Preferences::default() };
        let cases = [
            (json!({}), json!({"minutes": 20}), 1),
            (json!({"minutes": null}), json!({"minutes": 20}), 1),
            (json!({"minutes": 5}), json!({"minutes": 5}), 0),
        ];
        for (mut input, expected, added) in cases {
            assert_eq!(apply(&ARGUMENTS, "plan", &preferences, &mut input).len(), added);
            assert_eq!(input, expected);
        }
        let mut input = json!({});
        assert!(apply(&ARGUMENTS, "other", &preferences, &mut input).is_empty(), "not set");
        assert!(apply(&ARGUMENTS, "plan", &Preferences::default(), &mut input).is_empty());
        assert_eq!(input, json!({}));
    }

    #[test]
    fn cached_preferences_expire() {
        let cache = PreferenceCache::default();
        let tenant = TenantId::local();
        let stored = StoredPreferences { version: 3, ..StoredPreferences::default() };
        cache.insert(tenant.clone(), Duration::from_secs(10), stored);
        assert!(cache.get(&tenant, Duration::from_secs(11)).is_some_and(|one| one.version == 3));
        assert_eq!(cache.get(&tenant, Duration::from_secs(12)), None);
        cache.remove(&tenant);
        assert_eq!(cache.get(&tenant, Duration::from_secs(10)), None);
    }
}
