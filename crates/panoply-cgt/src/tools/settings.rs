//! Settings of this pack: the table `[pack.cgt]`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Deserialize;

use super::dialect::ErrorForm;
use crate::figures::NewerFigures;

/// Settings; all are optional.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// How errors are sent: `protocol` (JSON-RPC errors, as this pack's contract specifies) or
    /// `result` (results with `isError`).
    pub errors: ErrorForm,
    /// Exempt amounts in pounds by first calendar year of a tax year; override the bundled ones.
    pub exempt_amounts: BTreeMap<String, i64>,
    /// Units per pound by month and currency, such as `{"2010-01": {"USD": "1.6"}}`; override
    /// HMRC's.
    pub fx_rates: BTreeMap<String, BTreeMap<String, String>>,
    /// CSV files of excess reportable income per unit, `isin,period_end,currency,eri_per_unit`; their
    /// rows add to the bundled ones and replace those of the same period.
    pub reported_income: Vec<PathBuf>,
    /// Figures of a data pack, which the settings above override.
    #[serde(skip)]
    pub figures: NewerFigures,
}

/// All problems with the settings.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{}", .0.join("; "))]
pub struct SettingsError(pub Vec<String>);
