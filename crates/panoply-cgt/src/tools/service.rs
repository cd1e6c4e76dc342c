//! Exchange rates, tax parameters and portfolios shared by the tools, with the operator's
//! overrides.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use jiff::tz::TimeZone;
use panoply_contract::prelude::*;

use super::settings::{Settings, SettingsError};
use crate::engine::{Computation, Options};
use crate::eri::{self, ReportedIncomeTable};
use crate::fx::Rates;
use crate::parameters::Parameters;
use crate::store::PortfolioStore;
use crate::tax_year::TaxYear;
use crate::transaction::Row;

/// A Finance Act changes tax law about once a year.
const LAW_HALF_LIFE: Duration = Duration::from_secs(2 * 365 * 86_400);

/// Exchange rates, tax parameters and stored portfolios.
pub(super) struct CgtService {
    pub(super) rates: Rates,
    pub(super) parameters: Parameters,
    pub(super) reported_income: ReportedIncomeTable,
    pub(super) portfolios: Arc<dyn PortfolioStore>,
}

impl CgtService {
    pub(super) fn new(
        settings: &Settings,
        portfolios: Arc<dyn PortfolioStore>,
    ) -> Result<Self, SettingsError> {
        let mut bad = Vec::new();
        let mut exempt = BTreeMap::new();
        for (year, pounds) in &settings.exempt_amounts {
            match TaxYear::parse(year) {
                Ok(year) if *pounds >= 0 => drop(exempt.insert(year.start(), *pounds)),
                Ok(_) => bad.push(format!("exempt_amounts: {pounds} in `{year}` is below zero")),
                Err(error) => bad.push(format!("exempt_amounts: {error}")),
            }
        }
        let mut table = String::new();
        for (month, rates) in &settings.fx_rates {
            for (currency, rate) in rates {
                let _ = writeln!(table, "{month},{currency},{rate}");
            }
        }
        let newer = &settings.figures;
        let mut reported_income = newer.reported_income.clone();
        for path in &settings.reported_income {
            let name = path.display();
            match std::fs::read_to_string(path) {
                Err(error) => bad.push(format!("reported_income: cannot read `{name}`: {error}")),
                Ok(csv) => match reported_income.clone().with_list(&csv) {
                    Ok(table) => reported_income = table,
                    Err(lines) => {
                        bad.extend(
                            lines.iter().map(|line| format!("reported_income: {name}: {line}")),
                        );
                    }
                },
            }
        }
        let rates = newer.rates.clone().with_table(&table);
        let Some(parameters) = newer.parameters.as_ref().or_else(|| Parameters::bundled()) else {
            return Err(SettingsError(vec![
                "the bundled tax parameters cannot be read".to_owned(),
            ]));
        };
        match rates {
            Ok(rates) if bad.is_empty() => {
                let parameters = parameters.clone().with_exempt_amounts(&exempt);
                Ok(Self { rates, parameters, reported_income, portfolios })
            }
            Ok(_) => Err(SettingsError(bad)),
            Err(lines) => {
                bad.extend(lines.into_iter().map(|line| format!("fx_rates: {line}")));
                Err(SettingsError(bad))
            }
        }
    }

    /// Computes gains and holdings with excess reportable income, or returns an error with all problems.
    pub(super) fn compute(&self, rows: &[Row], options: Options) -> Result<Computation, ToolError> {
        eri::compute(rows, &self.rates, &self.reported_income, options)
            .map_err(|errors| super::errors::engine_error(&errors))
    }

    /// Evidence of figures computed from the user's transactions.
    pub(super) fn evidence(&self, rows: usize) -> Evidence {
        let count = u64::try_from(rows).unwrap_or(u64::MAX);
        let evidence =
            Evidence::from(Source::new(SourceClass::UserSupplied, "the transactions given"))
                .and_source(Source::new(
                    SourceClass::Authoritative,
                    "HMRC monthly rates and UK tax parameters",
                ))
                .complete(count, count)
                .changes(NextChange::WithNextAction);
        match self.parameters.as_of.to_zoned(TimeZone::UTC) {
            Ok(day) => evidence.as_of(day.timestamp(), LAW_HALF_LIFE),
            Err(_) => evidence,
        }
    }
}
