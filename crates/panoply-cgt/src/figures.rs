//! Figures newer than those compiled in: the files of a data pack.

use std::collections::BTreeMap;

use crate::eri::ReportedIncomeTable;
use crate::fx::Rates;
use crate::parameters::Parameters;

/// Tax parameters, in the form of `data/cgt/uk_parameters.json`.
pub const PARAMETERS: &str = "uk_parameters.json";
/// HMRC's monthly rates as lines of `month,currency,units_per_gbp`.
pub const RATES: &str = "fx_rates.csv";
/// Excess reportable income, in the form of `data/cgt/eri_per_unit.csv`.
pub const REPORTED_INCOME: &str = "eri_per_unit.csv";

/// Figures that replace or extend those compiled in.
#[derive(Clone, Debug, Default)]
pub struct NewerFigures {
    pub(crate) parameters: Option<Parameters>,
    pub(crate) rates: Rates,
    pub(crate) reported_income: ReportedIncomeTable,
    /// Changes with the figures; 0 for those compiled in.
    pub(crate) version: u64,
}

impl NewerFigures {
    /// Reads the files of a data pack by name, or reports all that is wrong with them. `version`
    /// identifies the data pack.
    pub fn read(files: &BTreeMap<String, String>, version: u64) -> Result<Self, Vec<String>> {
        let mut figures = Self { version, ..Self::default() };
        let mut bad = Vec::new();
        for (name, text) in files {
            let about = |lines: Vec<String>| lines.into_iter().map(move |line| (name, line));
            let problems = match name.as_str() {
                PARAMETERS => parameters(text).map(|read| figures.parameters = Some(read)),
                RATES => Rates::default().with_published(text).map(|read| figures.rates = read),
                REPORTED_INCOME => ReportedIncomeTable::default()
                    .with_list(text)
                    .map(|read| figures.reported_income = read),
                _ => Err(vec![format!("is none of {PARAMETERS}, {RATES}, {REPORTED_INCOME}")]),
            };
            let problems = problems.err().unwrap_or_default();
            bad.extend(about(problems).map(|(name, line)| format!("{name}: {line}")));
        }
        if bad.is_empty() { Ok(figures) } else { Err(bad) }
    }
}

/// Parameters that know every year that those compiled in know.
fn parameters(text: &str) -> Result<Parameters, Vec<String>> {
    let read: Parameters = serde_json::from_str(text).map_err(|error| vec![error.to_string()])?;
    let Some(bundled) = Parameters::bundled() else { return Ok(read) };
    if read.as_of < bundled.as_of {
        return Err(vec![format!(
            "is of {}, older than the figures of the program, which are of {}",
            read.as_of, bundled.as_of
        )]);
    }
    match (read.years(), bundled.years()) {
        (Some((first, last)), Some((from, to))) if first <= from && to <= last => Ok(read),
        (_, years) => {
            let (from, to) = years.unwrap_or_default();
            Err(vec![format!("lacks years: the program knows {from} to {to}")])
        }
    }
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::*;
    use crate::currency::Currency;
    use crate::fx::{Month, RateSource};

    fn files(some: &[(&str, &str)]) -> BTreeMap<String, String> {
        some.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect()
    }

    #[test]
    fn newer_rates_are_hmrcs_and_extend_the_table() {
        let read = NewerFigures::read(&files(&[(RATES, "2027-01,USD,1.3125\n")]), 1).unwrap();
        let usd = Currency::parse("USD").unwrap();
        let month = Month::of(date(2027, 1, 15));
        let rate = read.rates.monthly(usd, month).unwrap();
        assert_eq!(
            (rate.units_per_pound.to_string(), rate.source),
            ("1.3125".to_owned(), RateSource::Hmrc)
        );
        assert_eq!(read.rates.span().unwrap().1, month);
    }

    #[test]
    fn older_or_incomplete_parameters_and_unknown_files_are_refused() {
        let own = include_str!("../../../data/cgt/uk_parameters.json");
        assert!(NewerFigures::read(&files(&[(PARAMETERS, own)]), 1).is_ok());
        let bundled = Parameters::bundled().unwrap();
        let older = own.replacen(&bundled.as_of.to_string(), "2020-01-01", 1);
        let (_, last) = bundled.years().unwrap();
        let lacking = own.replacen(&format!("\"{last}\":"), "\"1900\":", 1);
        for (name, text, expected) in [
            (PARAMETERS, older.as_str(), "older than the figures"),
            (PARAMETERS, lacking.as_str(), "lacks years"),
            (PARAMETERS, "{}", "missing field"),
            (RATES, "2027-13,USD,1\n", "line 1"),
            (REPORTED_INCOME, "x\ny", "line 2"),
            ("other.csv", "", "is none of"),
        ] {
            let bad = NewerFigures::read(&files(&[(name, text)]), 1).unwrap_err();
            assert!(bad[0].contains(expected), "{name}: {bad:?}");
        }
    }
}
