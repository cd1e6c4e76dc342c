//! The figures of UK tax law by year: exempt amounts, rates, bands, limits, boxes of the return.
//!
//! They come from `data/cgt/uk_parameters.json`, where each block names its law. A year that is
//! not there has no figure; none is invented.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use jiff::civil::Date;
use serde::Deserialize;

use crate::money::Money;
use crate::tax_year::TaxYear;

/// Everything in the file.
#[derive(Clone, Debug, Deserialize)]
pub struct Parameters {
    /// The day the figures were checked.
    pub as_of: Date,
    exempt_amount: ByYear,
    rates_on_shares: RateTable,
    basic_rate_band: ByYear,
    reporting: Reporting,
    /// The boxes of form SA108.
    pub sa108: Sa108Boxes,
}

#[derive(Clone, Debug, Deserialize)]
struct ByYear {
    law: String,
    pounds: BTreeMap<i16, i64>,
}

#[derive(Clone, Debug, Deserialize)]
struct RateTable {
    law: String,
    periods: Vec<RatePeriod>,
}

/// Rates of tax on gains on shares from a day on, in percent.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq)]
pub struct RatePeriod {
    /// The first day.
    pub from: Date,
    /// Inside the basic rate band.
    pub basic: u32,
    /// Above it.
    pub higher: u32,
}

#[derive(Clone, Debug, Deserialize)]
struct Reporting {
    law: String,
    proceeds_limit: i64,
    proceeds_limit_from: i16,
    before_that_times_exempt_amount: i64,
}

/// Box numbers of form SA108 for listed shares, and for losses.
#[derive(Clone, Debug, Deserialize)]
pub struct Sa108Boxes {
    /// How many disposals.
    pub number_of_disposals: String,
    /// What they brought.
    pub disposal_proceeds: String,
    /// What they had cost, with the costs of selling.
    pub allowable_costs: String,
    /// The gains alone.
    pub gains_before_losses: String,
    /// The losses alone.
    pub losses_in_the_year: String,
    /// Losses of earlier years that were used.
    pub losses_brought_forward_used: String,
    /// Losses for later years.
    pub losses_to_carry_forward: String,
    /// What the form cannot compute.
    pub adjustment_to_capital_gains_tax: String,
}

static BUNDLED: LazyLock<Option<Parameters>> = LazyLock::new(|| {
    serde_json::from_str(include_str!("../../../data/cgt/uk_parameters.json")).ok()
});

impl Parameters {
    /// The figures that ship with the program; `None` if the file were broken, which a test
    /// rules out.
    pub fn bundled() -> Option<&'static Self> {
        BUNDLED.as_ref()
    }

    /// The same with exempt amounts of one's own.
    #[must_use]
    pub fn with_exempt_amounts(mut self, own: &BTreeMap<i16, i64>) -> Self {
        self.exempt_amount.pounds.extend(own.iter().map(|(year, pounds)| (*year, *pounds)));
        self
    }

    /// What a person may gain in a year without tax.
    pub fn exempt_amount(&self, year: TaxYear) -> Option<Money> {
        self.exempt_amount.pounds.get(&year.start()).map(|pounds| Money::pounds(*pounds))
    }

    /// The law behind exempt amounts.
    pub fn exempt_amount_law(&self) -> &str {
        &self.exempt_amount.law
    }

    /// The first and last year with an exempt amount.
    pub fn years(&self) -> Option<(i16, i16)> {
        let years = &self.exempt_amount.pounds;
        Some((*years.keys().next()?, *years.keys().next_back()?))
    }

    /// Income up to this is taxed at the basic rate.
    pub fn basic_rate_band(&self, year: TaxYear) -> Option<Money> {
        self.basic_rate_band.pounds.get(&year.start()).map(|pounds| Money::pounds(*pounds))
    }

    /// The law behind the basic rate band.
    pub fn basic_rate_band_law(&self) -> &str {
        &self.basic_rate_band.law
    }

    /// The rates that apply in a year: one period, or two when they changed inside it. Empty
    /// before the first we know.
    pub fn rates(&self, year: TaxYear) -> Vec<RatePeriod> {
        let periods = &self.rates_on_shares.periods;
        let current = periods.iter().rfind(|period| period.from <= year.first_day());
        let changes = periods
            .iter()
            .filter(|period| year.first_day() < period.from && period.from <= year.last_day());
        match current {
            Some(current) if self.exempt_amount(year).is_some() => {
                std::iter::once(current).chain(changes).copied().collect()
            }
            _ => Vec::new(),
        }
    }

    /// The law behind the rates.
    pub fn rates_law(&self) -> &str {
        &self.rates_on_shares.law
    }

    /// Proceeds above this must be reported even without tax to pay.
    pub fn proceeds_limit(&self, year: TaxYear) -> Option<Money> {
        let rule = &self.reporting;
        if year.start() >= rule.proceeds_limit_from {
            return self.exempt_amount(year).map(|_| Money::pounds(rule.proceeds_limit));
        }
        let exempt = self.exempt_amount.pounds.get(&year.start())?;
        Some(Money::pounds(exempt.saturating_mul(rule.before_that_times_exempt_amount)))
    }

    /// The law behind the duty to report.
    pub fn reporting_law(&self) -> &str {
        &self.reporting.law
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn year(text: &str) -> TaxYear {
        TaxYear::parse(text).unwrap()
    }

    #[test]
    fn bundled_exempt_amounts_match_gov_uk() {
        let parameters = Parameters::bundled().unwrap();
        // gov.uk, Capital Gains Tax: tax-free allowances.
        let cases = [
            ("2008", Some("9600.00")),
            ("2022", Some("12300.00")),
            ("2023", Some("6000.00")),
            ("2024", Some("3000.00")),
            ("2030", None),
            ("2007", None),
        ];
        for (start, expected) in cases {
            let amount = parameters.exempt_amount(year(start)).map(|amount| amount.to_string());
            assert_eq!(amount.as_deref(), expected, "{start}");
        }
    }

    #[test]
    fn tax_year_with_a_rate_change_has_two_periods() {
        let parameters = Parameters::bundled().unwrap();
        let rates = |start: &str| -> Vec<(u32, u32)> {
            parameters
                .rates(year(start))
                .iter()
                .map(|period| (period.basic, period.higher))
                .collect()
        };
        assert_eq!(rates("2023"), [(10, 20)]);
        assert_eq!(rates("2024"), [(10, 20), (18, 24)]);
        assert_eq!(rates("2025"), [(18, 24)]);
        assert_eq!(rates("2010"), [(18, 18), (18, 28)]);
        assert_eq!(rates("2007"), []);
        assert_eq!(rates("2030"), []);
    }

    #[test]
    fn reporting_limit_changed_in_2023() {
        let parameters = Parameters::bundled().unwrap();
        assert_eq!(parameters.proceeds_limit(year("2022")), Some(Money::pounds(49_200)));
        assert_eq!(parameters.proceeds_limit(year("2023")), Some(Money::pounds(50_000)));
        assert_eq!(parameters.proceeds_limit(year("2040")), None);
    }

    #[test]
    fn exempt_amounts_can_be_overridden() {
        let own = BTreeMap::from([(2030, 1500)]);
        let parameters = Parameters::bundled().unwrap().clone().with_exempt_amounts(&own);
        assert_eq!(parameters.exempt_amount(year("2030")), Some(Money::pounds(1500)));
    }
}
