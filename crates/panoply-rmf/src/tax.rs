//! Thai personal income tax saved by buying RMF units. Not tax advice.
//!
//! Every figure of the law is in a dated table with its source. A year after the last table uses
//! the last table and is marked.

use rust_decimal::Decimal;

use crate::figures::round_to;

/// Legal source of a rule.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct RuleSource {
    /// The rule.
    pub rule: &'static str,
    /// Citation.
    pub citation: &'static str,
}

/// Rules on RMF purchases, from one tax year on.
#[derive(Clone, Copy, Debug)]
pub struct RmfRules {
    /// First tax year (common era).
    pub from_year: i16,
    /// Last year the rules were verified for.
    pub checked_to: i16,
    /// Maximum deduction in percent of assessable income.
    pub percent_of_income: i64,
    /// Cap on all retirement savings together, in baht.
    pub group_cap: i64,
    /// Legal sources.
    pub sources: &'static [RuleSource],
}

/// Rules since the 2020 reform, which removed the minimum of 3 % or 5,000 baht and raised 15 % to
/// 30 %.
pub const RMF_RULES: &[RmfRules] = &[RmfRules {
    from_year: 2020,
    checked_to: 2025,
    percent_of_income: 30,
    group_cap: 500_000,
    sources: &[RuleSource {
        rule: "up to 30 % of assessable income, and up to 500,000 baht together with provident fund, government pension fund, SSF, pension insurance, private teachers' fund and National Savings Fund; no minimum",
        citation: "Ministerial Regulation No. 126 under the Revenue Code, as amended from tax year 2020; kasikornasset.com, conditions of investing in RMF",
    }],
}];

/// Personal income tax rates, from one tax year on.
#[derive(Clone, Copy, Debug)]
pub struct IncomeTax {
    /// First tax year.
    pub from_year: i16,
    /// Last year the rates were verified for.
    pub checked_to: i16,
    /// Tax bands, ascending; the last has no upper limit.
    pub bands: &'static [Band],
    /// Personal allowance, in baht.
    pub personal_allowance: i64,
    /// Employment expenses: percentage of income …
    pub expense_percent: i64,
    /// … up to this cap, in baht.
    pub expense_cap: i64,
    /// Legal source.
    pub source: RuleSource,
}

/// Tax band.
#[derive(Clone, Copy, Debug)]
pub struct Band {
    /// Upper limit in baht; `None` for the last band.
    pub up_to: Option<i64>,
    /// Rate in percent.
    pub rate: i64,
}

/// Rates since 2017.
pub const INCOME_TAX: &[IncomeTax] = &[IncomeTax {
    from_year: 2017,
    checked_to: 2025,
    bands: &[
        Band { up_to: Some(150_000), rate: 0 },
        Band { up_to: Some(300_000), rate: 5 },
        Band { up_to: Some(500_000), rate: 10 },
        Band { up_to: Some(750_000), rate: 15 },
        Band { up_to: Some(1_000_000), rate: 20 },
        Band { up_to: Some(2_000_000), rate: 25 },
        Band { up_to: Some(5_000_000), rate: 30 },
        Band { up_to: None, rate: 35 },
    ],
    personal_allowance: 60_000,
    expense_percent: 50,
    expense_cap: 100_000,
    source: RuleSource {
        rule: "bands from 0 % up to 150,000 baht to 35 % over 5,000,000; expenses of employment 50 %, at most 100,000; personal allowance 60,000",
        citation: "Revenue Code (Thailand), schedule of personal income tax and sections 42 bis and 47, from tax year 2017",
    },
}];

/// First tax year with complete rules.
pub const FIRST_YEAR: i16 = 2020;

/// Income and savings of a tax year, in baht.
#[derive(Clone, Debug)]
pub struct Situation {
    /// Tax year.
    pub year: i16,
    /// Assessable income.
    pub income: Decimal,
    /// Expenses; `None` for the standard employment expenses.
    pub expenses: Option<Decimal>,
    /// Deductions other than the personal allowance and retirement savings.
    pub other_deductions: Decimal,
    /// Contributions to other retirement savings that share the cap.
    pub other_retirement: Decimal,
    /// RMF units already bought this year.
    pub bought: Decimal,
    /// Planned purchase; `None` for the whole remaining allowance.
    pub planned: Option<Decimal>,
}

/// Tax saved by a purchase, in baht.
#[derive(Clone, Debug, PartialEq)]
pub struct Benefit {
    /// Allowance by percentage of income.
    pub income_limit: Decimal,
    /// Cap on all retirement savings minus the other contributions.
    pub group_room: Decimal,
    /// Remaining deductible amount.
    pub room_left: Decimal,
    /// Planned purchase.
    pub planned: Decimal,
    /// Deductible part of the purchase.
    pub deductible: Decimal,
    /// Part of the purchase that is not deductible.
    pub excess: Decimal,
    /// Taxable income without the purchase.
    pub taxable_before: Decimal,
    /// Taxable income with the purchase.
    pub taxable_after: Decimal,
    /// Tax without the purchase.
    pub tax_before: Decimal,
    /// Tax with the purchase.
    pub tax_after: Decimal,
    /// Tax saved.
    pub tax_saved: Decimal,
    /// Marginal tax rate without the purchase, in percent.
    pub marginal_rate: i64,
    /// Tax saved in percent of the deductible part.
    pub saved_percent: Option<Decimal>,
    /// Rules applied.
    pub rules: RmfRules,
    /// Rates applied.
    pub rates: IncomeTax,
    /// Whether the year is later than the last verified one.
    pub beyond_checked: bool,
}

/// No rules exist for the year.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("there are no rules for tax year {year}")]
pub struct UnknownTaxYear {
    /// Tax year.
    pub year: i16,
}

impl PartialEq for RmfRules {
    fn eq(&self, other: &Self) -> bool {
        self.from_year == other.from_year
    }
}

impl PartialEq for IncomeTax {
    fn eq(&self, other: &Self) -> bool {
        self.from_year == other.from_year
    }
}

/// Computes the tax saved by a purchase.
pub fn benefit(situation: &Situation) -> Result<Benefit, UnknownTaxYear> {
    let year = situation.year;
    let rules = RMF_RULES.iter().rev().find(|rules| rules.from_year <= year);
    let rates = INCOME_TAX.iter().rev().find(|rates| rates.from_year <= year);
    let (Some(rules), Some(rates)) = (rules, rates) else { return Err(UnknownTaxYear { year }) };
    let share = Decimal::new(rules.percent_of_income, 2);
    let income_limit = baht(situation.income * share);
    let group_room = not_negative(Decimal::from(rules.group_cap) - situation.other_retirement);
    let room_left = not_negative(income_limit.min(group_room) - situation.bought);
    let planned = situation.planned.unwrap_or(room_left);
    let deductible = planned.min(room_left);
    let counted_before = situation.bought.min(income_limit.min(group_room));
    let taxable_before = taxable(situation, rates, counted_before);
    let taxable_after = taxable(situation, rates, counted_before + deductible);
    let (tax_before, tax_after) = (tax_on(taxable_before, rates), tax_on(taxable_after, rates));
    let tax_saved = tax_before - tax_after;
    let saved_percent =
        tax_saved.checked_div(deductible).map(|share| round_to(share * Decimal::ONE_HUNDRED, 2));
    Ok(Benefit {
        income_limit,
        group_room,
        room_left,
        planned,
        deductible,
        excess: planned - deductible,
        taxable_before,
        taxable_after,
        tax_before,
        tax_after,
        tax_saved,
        marginal_rate: marginal_rate(taxable_before, rates),
        saved_percent,
        rules: *rules,
        rates: *rates,
        beyond_checked: year > rules.checked_to.min(rates.checked_to),
    })
}

fn taxable(situation: &Situation, rates: &IncomeTax, rmf: Decimal) -> Decimal {
    let standard = (situation.income * Decimal::new(rates.expense_percent, 2))
        .min(Decimal::from(rates.expense_cap));
    let deductions = situation.expenses.unwrap_or(standard)
        + Decimal::from(rates.personal_allowance)
        + situation.other_deductions
        + situation.other_retirement
        + rmf;
    baht(not_negative(situation.income - deductions))
}

fn tax_on(net_income: Decimal, rates: &IncomeTax) -> Decimal {
    let mut tax = Decimal::ZERO;
    let mut from = Decimal::ZERO;
    for band in rates.bands {
        let to = band.up_to.map_or(net_income, |end| net_income.min(Decimal::from(end)));
        tax += not_negative(to - from) * Decimal::new(band.rate, 2);
        from = from.max(to);
    }
    baht(tax)
}

fn marginal_rate(net_income: Decimal, rates: &IncomeTax) -> i64 {
    let reaches = |band: &&Band| band.up_to.is_none_or(|end| net_income <= Decimal::from(end));
    rates.bands.iter().find(reaches).map_or(0, |band| band.rate)
}

fn not_negative(amount: Decimal) -> Decimal {
    amount.max(Decimal::ZERO)
}

fn baht(amount: Decimal) -> Decimal {
    round_to(amount, 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn situation(income: i64) -> Situation {
        Situation {
            year: 2025,
            income: income.into(),
            expenses: None,
            other_deductions: Decimal::ZERO,
            other_retirement: Decimal::ZERO,
            bought: Decimal::ZERO,
            planned: None,
        }
    }

    #[test]
    fn tax_saving_of_a_1_200_000_baht_salary_matches_the_worked_example() {
        let planned = Some(300_000.into());
        let found = benefit(&Situation { planned, ..situation(1_200_000) }).unwrap();
        assert_eq!(found.tax_before, 125_000.into());
        assert_eq!(found.tax_after, 63_500.into());
        assert_eq!(found.tax_saved, 61_500.into());
        assert_eq!(found.room_left, 360_000.into());
        assert_eq!(found.marginal_rate, 25);
    }

    #[test]
    fn remaining_allowance_respects_both_limits() {
        let cases = [
            // income, other retirement savings, bought, room
            (1_000_000, 0, 0, 300_000),
            (2_000_000, 0, 0, 500_000),
            (2_000_000, 400_000, 0, 100_000),
            (2_000_000, 600_000, 0, 0),
            (1_000_000, 0, 250_000, 50_000),
            (1_000_000, 0, 400_000, 0),
            (0, 0, 0, 0),
        ];
        for (income, other, bought, room) in cases {
            let found = benefit(&Situation {
                other_retirement: other.into(),
                bought: bought.into(),
                ..situation(income)
            })
            .unwrap();
            assert_eq!(found.room_left, room.into(), "income {income}, {other} elsewhere");
        }
    }

    #[test]
    fn excess_purchase_saves_no_tax() {
        let planned = Some(400_000.into());
        let found = benefit(&Situation { planned, ..situation(1_000_000) }).unwrap();
        assert_eq!((found.deductible, found.excess), (300_000.into(), 100_000.into()));
        let nothing = benefit(&situation(200_000)).unwrap();
        assert_eq!(nothing.tax_saved, Decimal::ZERO, "there is no tax on 40,000 baht");
        assert_eq!(nothing.room_left, 60_000.into());
    }

    #[test]
    fn every_tax_band_applies_its_rate() {
        let rates = &INCOME_TAX[0];
        let cases = [
            (150_000, 0),
            (300_000, 7_500),
            (500_000, 27_500),
            (750_000, 65_000),
            (1_000_000, 115_000),
            (2_000_000, 365_000),
            (5_000_000, 1_265_000),
            (6_000_000, 1_615_000),
        ];
        for (income, tax) in cases {
            assert_eq!(tax_on(income.into(), rates), tax.into(), "net income {income}");
        }
    }

    #[test]
    fn tax_year_without_rules_is_rejected_and_an_unchecked_one_is_marked() {
        assert_eq!(
            benefit(&Situation { year: 2016, ..situation(1) }),
            Err(UnknownTaxYear { year: 2016 })
        );
        assert!(benefit(&Situation { year: 2027, ..situation(1) }).unwrap().beyond_checked);
        assert!(!benefit(&situation(1)).unwrap().beyond_checked);
    }
}
