//! Thai personal income tax saved by buying RMF units. Not tax advice.
//!
//! Every figure of the law is in a dated table with its source. A year after the last table uses
//! the last table and is marked.

use std::collections::BTreeMap;

use rust_decimal::Decimal;

use crate::deductions::Saving;
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
    /// Deductions other than the personal allowance and savings.
    pub other_deductions: Decimal,
    /// Paid into other savings.
    pub savings: BTreeMap<Saving, Decimal>,
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
    /// Other savings: what was paid, its cap and what counts.
    pub lines: Vec<SavingLine>,
    /// Deductible part of the savings that share the joint cap with RMF.
    pub joint_counted: Decimal,
    /// Joint cap minus the other savings that share it.
    pub group_room: Decimal,
    /// Deductible Thai ESG purchases that are still possible.
    pub esg_room: Decimal,
    /// Purchases, of all kinds together, that still lower the tax.
    pub useful: Decimal,
    /// Taxable income by band, without the purchase.
    pub bands_before: Vec<BandAmount>,
    /// Taxable income by band, with the purchase.
    pub bands_after: Vec<BandAmount>,
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

/// A saving other than RMF, in baht.
#[derive(Clone, Debug, PartialEq)]
pub struct SavingLine {
    /// The saving.
    pub saving: Saving,
    /// Paid.
    pub paid: Decimal,
    /// Cap; zero in a year without this deduction.
    pub cap: Decimal,
    /// Part within its own cap.
    pub counted: Decimal,
}

/// Taxable income within one band, in baht.
#[derive(Clone, Debug, PartialEq)]
pub struct BandAmount {
    /// Rate in percent.
    pub rate: i64,
    /// Upper limit; `None` for the last band.
    pub up_to: Option<i64>,
    /// Income within the band.
    pub amount: Decimal,
    /// Tax on it.
    pub tax: Decimal,
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
    let lines = saving_lines(situation);
    let counted = |joint: bool| -> Decimal {
        let of = lines.iter().filter(|line| line.saving.shares_joint_cap() == joint);
        of.map(|line| line.counted).sum()
    };
    let joint_counted = counted(true).min(Decimal::from(rules.group_cap));
    let savings = joint_counted + counted(false);
    let group_room = not_negative(Decimal::from(rules.group_cap) - joint_counted);
    let room_left = not_negative(income_limit.min(group_room) - situation.bought);
    let planned = situation.planned.unwrap_or(room_left);
    let deductible = planned.min(room_left);
    let counted_before = situation.bought.min(income_limit.min(group_room));
    let taxable_before = taxable(situation, rates, savings + counted_before);
    let taxable_after = taxable(situation, rates, savings + counted_before + deductible);
    let (tax_before, tax_after) = (tax_on(taxable_before, rates), tax_on(taxable_after, rates));
    let tax_saved = tax_before - tax_after;
    let saved_percent =
        tax_saved.checked_div(deductible).map(|share| round_to(share * Decimal::ONE_HUNDRED, 2));
    let esg = lines.iter().find(|line| line.saving == Saving::ThaiEsg);
    let esg_room = esg.map_or(Decimal::ZERO, |line| line.cap - line.counted);
    Ok(Benefit {
        income_limit,
        joint_counted,
        group_room,
        esg_room,
        useful: not_negative(taxable_before - free_income(rates)),
        bands_before: by_band(taxable_before, rates),
        bands_after: by_band(taxable_after, rates),
        lines,
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

/// Every kind of saving that has a cap this year or was paid.
fn saving_lines(situation: &Situation) -> Vec<SavingLine> {
    let line = |saving: Saving| {
        let paid = situation.savings.get(&saving).copied().unwrap_or_default();
        let cap = saving.cap(situation.year).map(|cap| cap.amount(situation.income));
        if cap.is_none() && paid.is_zero() {
            return None;
        }
        let cap = cap.unwrap_or_default();
        Some(SavingLine { saving, paid, cap, counted: paid.min(cap) })
    };
    Saving::ALL.into_iter().filter_map(line).collect()
}

/// Income that is not taxed: the end of the band of 0 %.
fn free_income(rates: &IncomeTax) -> Decimal {
    let free = rates.bands.iter().filter(|band| band.rate == 0).filter_map(|band| band.up_to);
    free.max().map(Decimal::from).unwrap_or_default()
}

/// Splits a net income into the bands.
fn by_band(net_income: Decimal, rates: &IncomeTax) -> Vec<BandAmount> {
    let mut from = Decimal::ZERO;
    let mut bands = Vec::new();
    for band in rates.bands {
        let to = band.up_to.map_or(net_income, |end| net_income.min(Decimal::from(end)));
        let amount = not_negative(to - from);
        from = from.max(to);
        if !amount.is_zero() {
            let tax = baht(amount * Decimal::new(band.rate, 2));
            bands.push(BandAmount { rate: band.rate, up_to: band.up_to, amount, tax });
        }
    }
    bands
}

/// How to split a budget between RMF and Thai ESG, in baht. The tax saved is the same per baht, so
/// the lock-up decides.
#[derive(Clone, Debug, PartialEq)]
pub struct Split {
    /// Thai ESG purchases.
    pub thai_esg: Decimal,
    /// RMF purchases.
    pub rmf: Decimal,
    /// Tax saved by both.
    pub tax_saved: Decimal,
    /// Part of the budget that saves no tax.
    pub without_benefit: Decimal,
    /// Whether Thai ESG comes first, because its money is free earlier.
    pub esg_first: bool,
}

/// Years that Thai ESG units are held.
const ESG_YEARS: i16 = 5;

/// Splits `budget`, or everything that still lowers the tax. `age` is the buyer's.
pub fn best_split(found: &Benefit, budget: Option<Decimal>, age: Option<i16>) -> Split {
    let most = found.useful.min(found.room_left + found.esg_room);
    let amount = budget.unwrap_or(most).min(most);
    // RMF is free at 55 and after five years, Thai ESG after five years.
    let esg_first = age.is_none_or(|age| age + ESG_YEARS < 55);
    let (thai_esg, rmf) = if esg_first {
        let esg = amount.min(found.esg_room);
        (esg, amount - esg)
    } else {
        let rmf = amount.min(found.room_left);
        (amount - rmf, rmf)
    };
    let after = not_negative(found.taxable_before - amount);
    Split {
        thai_esg,
        rmf,
        tax_saved: found.tax_before - tax_on(after, &found.rates),
        without_benefit: not_negative(budget.unwrap_or_default() - amount),
        esg_first,
    }
}

fn taxable(situation: &Situation, rates: &IncomeTax, savings: Decimal) -> Decimal {
    let standard = baht(situation.income * Decimal::new(rates.expense_percent, 2))
        .min(Decimal::from(rates.expense_cap));
    let deductions = situation.expenses.unwrap_or(standard)
        + Decimal::from(rates.personal_allowance)
        + situation.other_deductions
        + savings;
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
            savings: BTreeMap::new(),
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
                savings: [(Saving::GovernmentPensionFund, other.into())].into(),
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
    fn savings_count_up_to_their_own_cap_and_year() {
        let tax = |year, income, saving, paid: i64| {
            let savings = [(saving, Decimal::from(paid))].into();
            let found = benefit(&Situation { year, savings, ..situation(income) }).unwrap();
            (found.tax_before, found.room_left)
        };
        let cases = [
            (2025, 6_000_000, Saving::ProvidentFund, 900_000, (1_384_000, 0)),
            (2025, 1_200_000, Saving::Ssf, 200_000, (125_000, 360_000)),
            (2024, 1_200_000, Saving::Ssf, 200_000, (83_000, 300_000)),
            (2025, 2_000_000, Saving::PensionInsurance, 400_000, (275_000, 300_000)),
            (2026, 2_000_000, Saving::ThaiEsg, 300_000, (250_000, 500_000)),
            (2027, 2_000_000, Saving::ThaiEsg, 300_000, (300_000, 500_000)),
            (2033, 2_000_000, Saving::ThaiEsg, 300_000, (325_000, 500_000)),
        ];
        for (year, income, saving, paid, (before, room)) in cases {
            assert_eq!(
                tax(year, income, saving, paid),
                (before.into(), room.into()),
                "{saving:?} {year}"
            );
        }
    }

    #[test]
    fn split_puts_the_shorter_lock_up_first_and_stops_where_no_tax_is_left() {
        let found = benefit(&situation(1_200_000)).unwrap();
        let young = best_split(&found, Some(400_000.into()), Some(35));
        assert_eq!((young.thai_esg, young.rmf), (300_000.into(), 100_000.into()));
        let older = best_split(&found, Some(400_000.into()), Some(52));
        assert_eq!((older.thai_esg, older.rmf), (40_000.into(), 360_000.into()));
        assert_eq!(young.tax_saved, older.tax_saved, "a baht saves the same in both");
        // 1,040,000 taxable, less 400,000: tax on 640,000 is 48,500.
        assert_eq!(young.tax_saved, (125_000 - 48_500).into());
        let poor = benefit(&situation(320_000)).unwrap();
        let all = best_split(&poor, Some(90_000.into()), None);
        assert_eq!((all.thai_esg + all.rmf, all.without_benefit), (10_000.into(), 80_000.into()));
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
