//! UK tax parameters by year: exempt amounts, rates, bands, reporting limits, SA108 boxes.
//!
//! Loaded from `data/cgt/uk_parameters.json`, where each block names its statute. A year missing
//! there has no figure.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use jiff::civil::Date;
use serde::Deserialize;

use crate::money::Money;
use crate::security::SecurityClass;
use crate::tax_year::TaxYear;

/// All parameters.
#[derive(Clone, Debug, Deserialize)]
pub struct Parameters {
    /// Date on which the figures were verified.
    pub as_of: Date,
    exempt_amount: ByYear,
    rates_on_shares: RateTable,
    rates_on_residential_property: RateTable,
    rates_on_carried_interest: RateTable,
    rates_on_business_assets: RateTable,
    basic_rate_band: ByYear,
    reporting: Reporting,
    income_tax: IncomeTaxTable,
    treaty_dividends: TreatyTable,
    /// Boxes of form SA108.
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
    last_year: Option<i16>,
    periods: Vec<RatePeriod>,
}

/// Kind of asset, by its rates of tax.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, serde::Serialize)]
#[cfg_attr(feature = "tools", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum AssetClass {
    /// Shares, cryptoassets, land that is not residential, and everything else.
    General,
    /// Residential property.
    ResidentialProperty,
    /// Carried interest.
    CarriedInterest,
    /// Gains with business asset disposal relief, formerly entrepreneurs' relief.
    BusinessAssets,
}

impl AssetClass {
    /// Name in arguments and replies.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::General => "general",
            Self::ResidentialProperty => "residential_property",
            Self::CarriedInterest => "carried_interest",
            Self::BusinessAssets => "business_assets",
        }
    }
}

/// Capital gains tax rates from a date on, in percent.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq)]
pub struct RatePeriod {
    /// First day.
    pub from: Date,
    /// Within the basic rate band.
    pub basic: u32,
    /// Above the basic rate band.
    pub higher: u32,
}

#[derive(Clone, Debug, Deserialize)]
struct Reporting {
    law: String,
    proceeds_limit: i64,
    proceeds_limit_from: i16,
    before_that_times_exempt_amount: i64,
}

#[derive(Clone, Debug, Deserialize)]
struct IncomeTaxTable {
    law: String,
    /// Rules by the first year in which they apply.
    from: BTreeMap<i16, IncomeTaxRules>,
}

/// Rates in hundredths of a percent: basic or ordinary, higher or upper, additional.
#[derive(Clone, Copy, Debug, Deserialize)]
struct IncomeTaxRules {
    dividend_allowance: i64,
    dividend_rates: [u32; 3],
    savings_rates: [u32; 3],
    savings_allowance: i64,
    savings_allowance_higher: i64,
    starting_rate_limit: i64,
    higher_rate_limit: i64,
}

#[derive(Clone, Debug, Deserialize)]
struct TreatyTable {
    law: String,
    percent: BTreeMap<String, u32>,
}

/// Taxation of interest and dividends in a year.
#[derive(Clone, Copy, Debug)]
pub struct IncomeTaxYear {
    rules: IncomeTaxRules,
    band: Money,
}

impl IncomeTaxYear {
    /// Dividend allowance.
    pub const fn dividend_allowance(&self) -> Money {
        Money::pounds(self.rules.dividend_allowance)
    }

    /// Rates on dividends in hundredths of a percent: ordinary, upper, additional.
    pub fn dividend_rates(&self) -> [u128; 3] {
        self.rules.dividend_rates.map(u128::from)
    }

    /// Rates on interest in hundredths of a percent: basic, higher, additional.
    pub fn savings_rates(&self) -> [u128; 3] {
        self.rules.savings_rates.map(u128::from)
    }

    /// Savings allowance of a person without income at higher rates.
    pub const fn savings_allowance(&self) -> Money {
        Money::pounds(self.rules.savings_allowance)
    }

    /// Savings allowance of a person with income at the higher rate; none at the additional rate.
    pub const fn savings_allowance_higher(&self) -> Money {
        Money::pounds(self.rules.savings_allowance_higher)
    }

    /// Income up to which the starting rate for savings of 0 % applies.
    pub const fn starting_rate_limit(&self) -> Money {
        Money::pounds(self.rules.starting_rate_limit)
    }

    /// Taxable income above which the additional rates apply.
    pub const fn higher_rate_limit(&self) -> Money {
        Money::pounds(self.rules.higher_rate_limit)
    }

    /// Basic rate band of a person without Gift Aid or pension contributions.
    pub const fn standard_band(&self) -> Money {
        self.band
    }
}

/// Box numbers of a section of SA108: number of disposals, proceeds, allowable costs, gains, losses.
pub type SectionBoxes = [String; 5];

/// Boxes of form SA108.
#[derive(Clone, Debug, Deserialize)]
pub struct Sa108Boxes {
    first_form: i16,
    crypto_from: i16,
    /// Residential property.
    pub property: SectionBoxes,
    /// Gains on carried interest.
    pub carried_interest: String,
    crypto: SectionBoxes,
    other: SectionBoxes,
    listed: SectionBoxes,
    unlisted: SectionBoxes,
    /// Losses brought forward and used.
    pub losses_brought_forward_used: String,
    /// Losses to carry forward.
    pub losses_to_carry_forward: String,
    /// Adjustment to Capital Gains Tax.
    pub adjustment_to_capital_gains_tax: String,
}

impl Sa108Boxes {
    /// Whether the box numbers of a year's form are known.
    pub fn has_numbers(&self, year: TaxYear) -> bool {
        year.start() >= self.first_form
    }

    /// Section of a class on a year's form; `None` for exempt securities.
    pub fn section(&self, class: SecurityClass, year: TaxYear) -> Option<Section> {
        Some(match class {
            SecurityClass::Listed => Section::Listed,
            SecurityClass::Unlisted => Section::Unlisted,
            SecurityClass::Crypto if year.start() >= self.crypto_from => Section::Crypto,
            SecurityClass::Crypto | SecurityClass::Other => Section::Other,
            SecurityClass::Gilt | SecurityClass::Qcb => return None,
        })
    }

    /// Box numbers of a section.
    pub const fn boxes(&self, section: Section) -> &SectionBoxes {
        match section {
            Section::Property => &self.property,
            Section::Crypto => &self.crypto,
            Section::Other => &self.other,
            Section::Listed => &self.listed,
            Section::Unlisted => &self.unlisted,
        }
    }
}

/// Section of form SA108, in the order of the form.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Section {
    /// Residential property and carried interest.
    Property,
    /// Cryptoassets, from 2024/25 on.
    Crypto,
    /// Other property, assets and gains.
    Other,
    /// Listed shares and securities.
    Listed,
    /// Unlisted shares and securities.
    Unlisted,
}

impl Section {
    /// Heading on the form.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Property => "Residential property (and carried interest)",
            Self::Crypto => "Cryptoassets",
            Self::Other => "Other property, assets and gains",
            Self::Listed => "Listed shares and securities",
            Self::Unlisted => "Unlisted shares and securities",
        }
    }
}

static BUNDLED: LazyLock<Option<Parameters>> = LazyLock::new(|| {
    serde_json::from_str(include_str!("../../../data/cgt/uk_parameters.json")).ok()
});

impl Parameters {
    /// Parameters bundled with the program; `None` if the file were invalid, which a test excludes.
    pub fn bundled() -> Option<&'static Self> {
        BUNDLED.as_ref()
    }

    /// Overrides exempt amounts.
    #[must_use]
    pub fn with_exempt_amounts(mut self, own: &BTreeMap<i16, i64>) -> Self {
        self.exempt_amount.pounds.extend(own.iter().map(|(year, pounds)| (*year, *pounds)));
        self
    }

    /// Annual exempt amount.
    pub fn exempt_amount(&self, year: TaxYear) -> Option<Money> {
        self.exempt_amount.pounds.get(&year.start()).map(|pounds| Money::pounds(*pounds))
    }

    /// Statute of the exempt amounts.
    pub fn exempt_amount_law(&self) -> &str {
        &self.exempt_amount.law
    }

    /// First and last year with an exempt amount.
    pub fn years(&self) -> Option<(i16, i16)> {
        let years = &self.exempt_amount.pounds;
        Some((*years.keys().next()?, *years.keys().next_back()?))
    }

    /// Basic rate band.
    pub fn basic_rate_band(&self, year: TaxYear) -> Option<Money> {
        self.basic_rate_band.pounds.get(&year.start()).map(|pounds| Money::pounds(*pounds))
    }

    /// Statute of the basic rate band.
    pub fn basic_rate_band_law(&self) -> &str {
        &self.basic_rate_band.law
    }

    /// Rates on a class of assets in a year: one period, or two when they changed within it. Empty
    /// for unknown years.
    pub fn rates(&self, class: AssetClass, year: TaxYear) -> Vec<RatePeriod> {
        let table = match class {
            AssetClass::General => &self.rates_on_shares,
            AssetClass::ResidentialProperty => &self.rates_on_residential_property,
            AssetClass::CarriedInterest => &self.rates_on_carried_interest,
            AssetClass::BusinessAssets => &self.rates_on_business_assets,
        };
        if table.last_year.is_some_and(|last| year.start() > last) {
            return Vec::new();
        }
        let periods = &table.periods;
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

    /// Taxation of interest and dividends in a year; `None` before the dividend allowance of 2016/17
    /// and for unknown years.
    pub fn income_tax(&self, year: TaxYear) -> Option<IncomeTaxYear> {
        let band = self.basic_rate_band(year)?;
        let (_, rules) = self.income_tax.from.range(..=year.start()).next_back()?;
        Some(IncomeTaxYear { rules: *rules, band })
    }

    /// Statute of the taxation of interest and dividends.
    pub fn income_tax_law(&self) -> &str {
        &self.income_tax.law
    }

    /// Highest tax on dividends by the treaty with a country, in percent; `None` when not known.
    pub fn treaty_dividend_percent(&self, country: &str) -> Option<u32> {
        self.treaty_dividends.percent.get(country).copied()
    }

    /// Source of the treaty rates.
    pub fn treaty_law(&self) -> &str {
        &self.treaty_dividends.law
    }

    /// Statute of the rates.
    pub fn rates_law(&self) -> &str {
        &self.rates_on_shares.law
    }

    /// Proceeds above this limit must be reported even without tax due.
    pub fn proceeds_limit(&self, year: TaxYear) -> Option<Money> {
        let rule = &self.reporting;
        if year.start() >= rule.proceeds_limit_from {
            return self.exempt_amount(year).map(|_| Money::pounds(rule.proceeds_limit));
        }
        let exempt = self.exempt_amount.pounds.get(&year.start())?;
        Some(Money::pounds(exempt.saturating_mul(rule.before_that_times_exempt_amount)))
    }

    /// Statute of the duty to report.
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
                .rates(AssetClass::General, year(start))
                .iter()
                .map(|period| (period.basic, period.higher))
                .collect()
        };
        let property = parameters.rates(AssetClass::ResidentialProperty, year("2024"));
        assert_eq!((property.len(), property[0].higher), (1, 24));
        assert!(parameters.rates(AssetClass::CarriedInterest, year("2026")).is_empty());
        assert_eq!(parameters.rates(AssetClass::BusinessAssets, year("2026"))[0].basic, 18);
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
