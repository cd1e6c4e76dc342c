//! Gains and losses on other assets as arguments, and the days by which gains on residential
//! property are reported.

use jiff::ToSpan;
use jiff::civil::{Date, date};
use panoply_contract::prelude::*;
use serde_json::json;

use super::arguments::{NumberText, pounds_or_none};
use super::dialect::EXAMPLE_KEY;
use super::explain_matching::date_of;
use crate::estimate::OtherGain;
use crate::parameters::{AssetClass, Parameters};
use crate::tax_year::TaxYear;

/// Gain or loss on another asset.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct OtherGainParam {
    /// Kind of asset; `general` covers cryptoassets, unlisted shares and land that is not residential, `business_assets` gains with business asset disposal relief.
    class: AssetClass,
    /// Date of disposal, YYYY-MM-DD; required in a year in which the rates of the class changed.
    #[schemars(length(min = 1, max = 40))]
    date: Option<String>,
    /// Date of completion of a sale of residential property, YYYY-MM-DD; by default the date of disposal.
    #[schemars(length(min = 1, max = 40))]
    completed: Option<String>,
    /// Gain in pounds; default 0.
    gain: Option<NumberText>,
    /// Allowable loss in pounds, as a positive number; default 0.
    loss: Option<NumberText>,
}

impl OtherGainParam {
    pub(super) fn read(
        &self,
        year: TaxYear,
        parameters: &Parameters,
    ) -> Result<OtherGain, ToolError> {
        let date = self.date.as_deref().map(|text| date_of("date", text)).transpose()?;
        let class = self.class.as_str();
        let invalid = |message: String, hint: &str| {
            ToolError::validation("INVALID_OTHER_GAIN", message)
                .hint(hint.to_owned())
                .detail("value", class)
                .detail(
                    EXAMPLE_KEY,
                    json!({"class": "general", "date": "2024-12-01", "gain": "5000"}),
                )
        };
        if date.is_some_and(|date| TaxYear::of(date) != year) {
            return Err(invalid(
                format!("a gain on `{class}` is not dated in {year}"),
                "give gains of the requested tax year only",
            ));
        }
        match parameters.rates(self.class, year).len() {
            0 if parameters.exempt_amount(year).is_some() => Err(invalid(
                format!("`{class}` has no Capital Gains Tax rate in {year}"),
                "leave it out: carried interest is charged to income tax from 2026/27",
            )),
            0 | 1 => Ok(()),
            _ if date.is_some() => Ok(()),
            _ => Err(invalid(
                format!("the rates on `{class}` changed within {year}, and the gain has no date"),
                "add `date`, the day of disposal",
            )),
        }?;
        Ok(OtherGain {
            class: self.class,
            date,
            gain: pounds_or_none("gain", self.gain.as_ref())?,
            loss: pounds_or_none("loss", self.loss.as_ref())?,
        })
    }

    /// Days by which the gain must be reported and paid on account.
    pub(super) fn property_return(&self) -> Result<Option<PropertyReturn>, ToolError> {
        let text = self.completed.as_deref().or(self.date.as_deref());
        let date = text.map(|text| date_of("completed", text)).transpose()?;
        let gain = pounds_or_none("gain", self.gain.as_ref())?;
        let is_charged = self.class == AssetClass::ResidentialProperty && !gain.is_zero();
        Ok(date.filter(|_| is_charged).and_then(|completed| {
            let due = property_return_due(completed)?;
            Some(PropertyReturn {
                completed: completed.to_string(),
                due: due.to_string(),
                law: LAW,
            })
        }))
    }
}

/// Return of a gain on UK residential property.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct PropertyReturn {
    /// Day of completion.
    completed: String,
    /// Day by which the gain is reported and the tax paid on account.
    due: String,
    /// Statutory reference.
    law: &'static str,
}

const LAW: &str = "FA 2019 Sch.2 paras 3, 6; FA 2022 s.7";

/// A resident reports a gain on UK residential property within 30 days of a completion from 6 April
/// 2020 on, and within 60 days of one from 27 October 2021 on; before, with the annual return.
fn property_return_due(completed: Date) -> Option<Date> {
    if completed < date(2020, 4, 6) {
        return None;
    }
    let days = if completed < date(2021, 10, 27) { 30 } else { 60 };
    completed.checked_add(days.days()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn property_returns_are_due_60_days_after_completion_and_30_before_october_2021() {
        let cases = [
            (date(2020, 4, 5), None),
            (date(2020, 4, 6), Some(date(2020, 5, 6))),
            (date(2021, 10, 26), Some(date(2021, 11, 25))),
            (date(2021, 10, 27), Some(date(2021, 12, 26))),
            (date(2024, 11, 1), Some(date(2024, 12, 31))),
        ];
        for (completed, due) in cases {
            assert_eq!(property_return_due(completed), due, "{completed}");
        }
    }
}
