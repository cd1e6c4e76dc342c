//! Income of investments by tax year: dividends, interest and excess reportable income in pounds,
//! by country, with the allowances, the tax and the relief for foreign tax.
//!
//! Savings income is taxed after other income and dividends last (ITA 2007 s.16). The starting rate
//! for savings, the savings allowance and the dividend allowance are rates of 0 % that use up the
//! band (s.12, s.12A, s.13A). Relief for foreign tax is at most the tax that the treaty allows, and
//! at most the UK tax that the income causes (TIOPA 2010 s.33, s.36).

use jiff::civil::Date;

use crate::engine::EngineError;
use crate::eri::ReportedIncomeTable;
use crate::fx::{Month, Rates};
use crate::money::{Money, Product};
use crate::parameters::IncomeTaxYear;
use crate::security::{Country, IncomeKind, Securities, Security};
use crate::tax_year::TaxYear;
use crate::transaction::{Amount, Kind, Row, Ticker};

/// Income of one day.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct IncomeEntry {
    /// Day on which it counts as income.
    pub date: Date,
    /// Holding.
    pub ticker: Ticker,
    /// Where it comes from.
    pub source: IncomeSource,
    /// Kind for tax.
    pub kind: IncomeKind,
    /// Origin for the return.
    pub origin: Origin,
    /// Before tax, in pounds.
    pub gross: Money,
    /// Tax withheld, in pounds.
    pub tax: Money,
}

/// Where income comes from.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum IncomeSource {
    /// Cash dividend or distribution.
    Dividend,
    /// Interest.
    Interest,
    /// Shares instead of cash.
    StockDividend,
    /// Distribution reinvested within the fund.
    Accumulation,
    /// Excess reportable income of an offshore fund.
    ExcessReportable,
}

impl IncomeSource {
    /// Identifier in replies.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Dividend => "dividend",
            Self::Interest => "interest",
            Self::StockDividend => "stock_dividend",
            Self::Accumulation => "accumulation",
            Self::ExcessReportable => "excess_reportable_income",
        }
    }
}

/// Origin of income for the return.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Origin {
    /// The United Kingdom.
    Uk,
    /// Another country.
    Foreign(Country),
    /// Foreign by its currency or the tax withheld, but of an unknown country.
    Unknown,
}

/// Collects the income of all years, by date and ticker, or reports all missing rates.
pub fn entries(
    rows: &[Row],
    rates: &Rates,
    table: &ReportedIncomeTable,
) -> Result<Vec<IncomeEntry>, Vec<EngineError>> {
    let securities = Securities::of(rows);
    let (mut found, mut errors) = (Vec::new(), Vec::new());
    for row in rows {
        match entry(row, &securities, rates, table) {
            Ok(entry) => found.extend(entry),
            Err(error) => errors.push(error),
        }
    }
    found.sort_by(|a, b| (a.date, &a.ticker).cmp(&(b.date, &b.ticker)));
    if errors.is_empty() { Ok(found) } else { Err(errors) }
}

fn entry(
    row: &Row,
    securities: &Securities,
    rates: &Rates,
    table: &ReportedIncomeTable,
) -> Result<Option<IncomeEntry>, EngineError> {
    let transaction = &row.transaction;
    let none = Security::default();
    let security = securities.get(&transaction.ticker).unwrap_or(&none);
    let mut date = transaction.date;
    let (source, total, tax) = match &transaction.kind {
        Kind::Dividend { total, tax } => (IncomeSource::Dividend, *total, *tax),
        Kind::Interest { total, tax } => (IncomeSource::Interest, *total, *tax),
        Kind::Scrip { total, .. } => (IncomeSource::StockDividend, *total, Amount::NONE),
        Kind::Accumulation { total, tax, .. } => match reported_on(security, date, table) {
            Some(income_date) => {
                date = income_date;
                (IncomeSource::ExcessReportable, *total, *tax)
            }
            None => (IncomeSource::Accumulation, *total, *tax),
        },
        _ => return Ok(None),
    };
    let kind = match source {
        IncomeSource::Interest => IncomeKind::Interest,
        _ => security.income(),
    };
    let origin = match security.country() {
        Some(Country::UK) => Origin::Uk,
        Some(country) => Origin::Foreign(country),
        None if total.currency().is_foreign() || !tax.is_none() => Origin::Unknown,
        None => Origin::Uk,
    };
    let gross = pounds(row, total, date, rates)?;
    let tax = pounds(row, tax, date, rates)?;
    let ticker = transaction.ticker.clone();
    Ok(Some(IncomeEntry { date, ticker, source, kind, origin, gross, tax }))
}

/// Day of the income when an accumulation is dated at the end of a reporting period of its fund.
fn reported_on(security: &Security, date: Date, table: &ReportedIncomeTable) -> Option<Date> {
    let isin = security.isin.as_ref()?;
    let periods = table.of_fund(isin.as_str());
    let period = periods.into_iter().find(|period| period.period_end == date)?;
    period.income_date()
}

fn pounds(row: &Row, amount: Amount, date: Date, rates: &Rates) -> Result<Money, EngineError> {
    let own = row.transaction.date;
    let (ticker, location) = (row.transaction.ticker.clone(), row.location.clone());
    // The month of deemed income may not be published yet.
    let known = rates.monthly(amount.currency(), Month::of(date)).is_ok();
    let rate = rates.of_amount(amount, if known { date } else { own });
    let rate = rate.map_err(|error| EngineError::MissingRate {
        location: location.clone(),
        date: own,
        ticker: ticker.clone(),
        error,
    })?;
    let pounds = Product::of(amount.value()).divided_by(rate.units_per_pound);
    pounds.ok_or(EngineError::TooLarge { location, date: own, ticker })
}

/// Income of a year by kind and origin, each total rounded to the penny.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct IncomeTotal {
    /// Kind.
    pub kind: IncomeKind,
    /// Origin.
    pub origin: Origin,
    /// Before tax.
    pub gross: Money,
    /// Tax withheld.
    pub tax: Money,
}

/// Totals of a year, dividends first, then by origin.
pub fn totals(entries: &[IncomeEntry], year: TaxYear) -> Vec<IncomeTotal> {
    let mut totals: Vec<IncomeTotal> = Vec::new();
    for entry in entries.iter().filter(|entry| TaxYear::of(entry.date) == year) {
        let same =
            |total: &&mut IncomeTotal| (total.kind, total.origin) == (entry.kind, entry.origin);
        match totals.iter_mut().find(same) {
            Some(total) => {
                total.gross += entry.gross;
                total.tax += entry.tax;
            }
            None => totals.push(IncomeTotal {
                kind: entry.kind,
                origin: entry.origin,
                gross: entry.gross,
                tax: entry.tax,
            }),
        }
    }
    for total in &mut totals {
        (total.gross, total.tax) = (total.gross.to_pence(), total.tax.to_pence());
    }
    totals.sort_by_key(|total| (total.kind, total.origin));
    totals
}

/// Taxable income by its order in the bands.
#[derive(Clone, Copy, Debug, Default)]
pub struct TaxableIncome {
    /// Other income after the personal allowance.
    pub other: Money,
    /// Personal allowance that other income does not use.
    pub allowance_left: Money,
    /// Interest.
    pub interest: Money,
    /// Dividends.
    pub dividends: Money,
}

/// Tax on interest and dividends.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct IncomeTax {
    /// Interest within the personal allowance, the starting rate and the savings allowance.
    pub interest_untaxed: Money,
    /// Dividends within the personal allowance and the dividend allowance.
    pub dividends_untaxed: Money,
    /// Savings allowance of the year.
    pub savings_allowance: Money,
    /// Tax on interest.
    pub interest_tax: Money,
    /// Tax on dividends.
    pub dividend_tax: Money,
}

impl IncomeTax {
    /// Tax on both.
    pub fn total(&self) -> Money {
        self.interest_tax + self.dividend_tax
    }
}

/// Tax on interest and dividends by the rules of a year.
pub fn tax(rules: &IncomeTaxYear, band: Money, income: TaxableIncome) -> IncomeTax {
    let least = |amount: Money| amount.at_least(Money::ZERO);
    // An allowance that is left reduces interest before dividends, whose rates are lower.
    let on_interest = income.allowance_left.min(income.interest);
    let on_dividends = (income.allowance_left - on_interest).min(income.dividends);
    let (interest, dividends) = (income.interest - on_interest, income.dividends - on_dividends);
    let total = income.other + interest + dividends;
    let higher_limit = rules.higher_rate_limit() + least(band - rules.standard_band());
    let savings_allowance = match () {
        () if total > higher_limit => Money::ZERO,
        () if total > band => rules.savings_allowance_higher(),
        () => rules.savings_allowance(),
    };
    let starting = least(rules.starting_rate_limit() - income.other).min(interest);
    let free_interest = (starting + savings_allowance).min(interest);
    let free_dividends = rules.dividend_allowance().min(dividends);
    let slice = |from: Money, amount: Money, rates: [u128; 3]| {
        let below = |limit: Money| least(limit - from).min(amount);
        let (basic, to_limit) = (below(band), below(higher_limit));
        let parts = [basic, to_limit - basic, amount - to_limit];
        let taxed = parts.into_iter().zip(rates);
        // Rates are in hundredths of a percent.
        let tax: Money = taxed.filter_map(|(part, rate)| part.share(rate, 10_000)).sum();
        tax.to_pence()
    };
    let after_interest = income.other + interest;
    IncomeTax {
        interest_untaxed: on_interest + free_interest,
        dividends_untaxed: on_dividends + free_dividends,
        savings_allowance,
        interest_tax: slice(
            income.other + free_interest,
            interest - free_interest,
            rules.savings_rates(),
        ),
        dividend_tax: slice(
            after_interest + free_dividends,
            dividends - free_dividends,
            rules.dividend_rates(),
        ),
    }
}

/// Relief for the foreign tax of one total.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Relief {
    /// Foreign tax that the treaty allows; all of it when the treaty's rate is not known.
    pub admissible: Money,
    /// Relief: at most the UK tax on the income.
    pub relief: Money,
}

/// Relief for each total, in the same order. The UK tax on a source is what it adds to that on the
/// sources not yet relieved; the highest foreign rate comes first (TIOPA 2010 s.36).
pub fn reliefs(
    totals: &[IncomeTotal],
    treaty_percent: impl Fn(&IncomeTotal) -> Option<u32>,
    rules: &IncomeTaxYear,
    band: Money,
    income: TaxableIncome,
) -> Vec<Relief> {
    let admissible = |total: &IncomeTotal| match treaty_percent(total) {
        Some(percent) => total.tax.min(total.gross.percent(percent).to_pence()),
        None => total.tax,
    };
    let mut reliefs: Vec<Relief> = totals
        .iter()
        .map(|total| Relief { admissible: admissible(total), relief: Money::ZERO })
        .collect();
    let mut order: Vec<usize> = (0..totals.len()).collect();
    order.retain(|index| totals.get(*index).is_some_and(|total| total.origin != Origin::Uk));
    let foreign_rate = |index: &usize| {
        let total = totals.get(*index)?;
        let basis = total.gross.attopounds().filter(|gross| *gross > 0)?;
        Some(total.tax.attopounds()?.saturating_mul(10_000) / basis)
    };
    order.sort_by_key(|index| std::cmp::Reverse(foreign_rate(index)));
    let mut left = income;
    for index in order {
        let (Some(total), Some(relief)) = (totals.get(index), reliefs.get_mut(index)) else {
            continue;
        };
        let before = tax(rules, band, left).total();
        match total.kind {
            IncomeKind::Dividend => left.dividends -= total.gross,
            IncomeKind::Interest => left.interest -= total.gross,
        }
        let caused = (before - tax(rules, band, left).total()).at_least(Money::ZERO);
        relief.relief = relief.admissible.min(caused);
    }
    reliefs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dsl;
    use crate::parameters::Parameters;

    fn of(year: &str, other: i64, interest: i64, dividends: i64) -> IncomeTax {
        let parameters = Parameters::bundled().unwrap();
        let year = TaxYear::parse(year).unwrap();
        let income = TaxableIncome {
            other: Money::pounds(other),
            interest: Money::pounds(interest),
            dividends: Money::pounds(dividends),
            ..TaxableIncome::default()
        };
        let rules = parameters.income_tax(year).unwrap();
        tax(&rules, parameters.basic_rate_band(year).unwrap(), income)
    }

    #[test]
    fn tax_on_dividends_and_interest_equals_published_examples() {
        // (year, other taxable income, interest, dividends, tax on interest, tax on dividends)
        let cases = [
            // abishel.co.uk, dividend tax increase 2026: salary 12,570 and dividends 37,700.
            ("2026", 0, 0, 37_700, "0.00", "3999.00"),
            ("2025", 0, 0, 37_700, "0.00", "3255.00"),
            // gov.uk, tax on dividends: wages 29,570 and dividends 3,000 in 2025/26.
            ("2025", 17_000, 0, 3_000, "0.00", "218.75"),
            // gov.uk, tax on savings interest: wages 16,000 and interest 200: nothing.
            ("2025", 3_430, 200, 0, "0.00", "0.00"),
            // gov.uk, tax on savings interest: wages 60,000 and interest 1,100: tax on 600.
            ("2025", 47_430, 1_100, 0, "240.00", "0.00"),
        ];
        for (year, other, interest, dividends, on_interest, on_dividends) in cases {
            let tax = of(year, other, interest, dividends);
            let found = (tax.interest_tax.to_string(), tax.dividend_tax.to_string());
            assert_eq!(
                found,
                (on_interest.to_owned(), on_dividends.to_owned()),
                "{year} {other} {interest} {dividends}"
            );
        }
    }

    #[test]
    fn allowances_use_up_the_band() {
        // By hand for 2024/25: 37,200 other and 1,000 dividends; 500 in the allowance fill the band
        // of 37,700, so that the other 500 are taxed at 33.75 %.
        assert_eq!(of("2024", 37_200, 0, 1_000).dividend_tax.to_string(), "168.75");
        // Above 125,140 there is no savings allowance.
        assert_eq!(of("2024", 130_000, 1_000, 0).interest_tax.to_string(), "450.00");
        assert!(
            Parameters::bundled().unwrap().income_tax(TaxYear::parse("2015").unwrap()).is_none()
        );
    }

    #[test]
    fn relief_is_limited_by_the_treaty_and_by_the_uk_tax() {
        // By hand for 2024/25: 20,000 other income, US dividends of 2,000 with 30 % withheld. The
        // treaty allows 15 %: 300; the UK tax is (2,000 - 500) x 8.75 % = 131.25.
        let rows = dsl::parse("2024-01-01 SECURITY A ISIN US0378331005\n2024-06-01 BUY A 1 @ 1\n2024-07-01 DIVIDEND A TOTAL 2000 TAX 600").unwrap();
        let entries = entries(&rows, &Rates::default(), &ReportedIncomeTable::default()).unwrap();
        let parameters = Parameters::bundled().unwrap();
        let year = TaxYear::parse("2024").unwrap();
        let totals = totals(&entries, year);
        let income = TaxableIncome {
            other: Money::pounds(20_000),
            dividends: Money::pounds(2_000),
            ..TaxableIncome::default()
        };
        let rules = parameters.income_tax(year).unwrap();
        let band = parameters.basic_rate_band(year).unwrap();
        let found = reliefs(&totals, |_| Some(15), &rules, band, income);
        assert_eq!(found[0].admissible, Money::pounds(300));
        assert_eq!(found[0].relief.to_string(), "131.25");
        let higher = TaxableIncome { other: Money::pounds(60_000), ..income };
        assert_eq!(
            reliefs(&totals, |_| Some(15), &rules, band, higher)[0].relief,
            Money::pounds(300)
        );
    }

    #[test]
    fn bond_funds_pay_interest_and_reported_income_counts_six_months_later() {
        let rows = dsl::parse("2023-01-01 SECURITY B ISIN IE00004FVB93 INCOME interest\n2023-11-30 ACCUMULATION B 10 TOTAL 64.333 USD RATE 1\n2024-03-01 DIVIDEND U TOTAL 5\n2024-03-01 DIVIDEND X TOTAL 7 USD RATE 1\n2024-04-05 INTEREST BANK TOTAL 3").unwrap();
        let entries = entries(&rows, &Rates::default(), &ReportedIncomeTable::default()).unwrap();
        let shown: Vec<String> = entries
            .iter()
            .map(|entry| {
                format!(
                    "{} {} {} {:?} {}",
                    entry.date,
                    entry.ticker,
                    entry.kind.as_str(),
                    entry.origin,
                    entry.gross
                )
            })
            .collect();
        assert_eq!(
            shown,
            [
                "2024-03-01 U dividend Uk 5.00",
                "2024-03-01 X dividend Unknown 7.00",
                "2024-04-05 BANK interest Uk 3.00",
                "2024-05-31 B interest Foreign(Country([73, 69])) 64.33",
            ]
        );
    }
}
