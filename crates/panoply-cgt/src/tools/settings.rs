//! What an operator can choose for this pack: the table `[pack.cgt]` of the settings.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::dialect::ErrorForm;

/// The settings. All may be left out.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// How errors are sent: `protocol` (JSON-RPC errors, as the contract of this pack says) or
    /// `result` (results that say they are errors).
    pub errors: ErrorForm,
    /// Exempt amounts in pounds by the year a tax year starts in; go before the bundled ones.
    pub exempt_amounts: BTreeMap<String, i64>,
    /// Units of a currency for a pound by month and currency, such as
    /// `{"2010-01": {"USD": "1.6"}}`; go before HMRC's.
    pub fx_rates: BTreeMap<String, BTreeMap<String, String>>,
}

/// Everything that is wrong with the settings.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{}", .0.join("; "))]
pub struct BadSettings(pub Vec<String>);
