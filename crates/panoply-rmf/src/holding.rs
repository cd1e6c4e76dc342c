//! Redemption rules: whether and when RMF units can be sold without repaying tax. Not tax advice.
//!
//! Three conditions: the holder is 55; five years have passed since the first purchase, counted to
//! the day; units were bought at least every other calendar year until then.

use jiff::Span;
use jiff::civil::Date;
use rust_decimal::Decimal;

use crate::tax::RuleSource;

/// Minimum age for redemption.
pub const MIN_AGE: i16 = 55;
/// Minimum years between the first purchase and redemption.
pub const MIN_YEARS_HELD: i16 = 5;
/// Maximum number of consecutive calendar years without a purchase.
pub const MAX_GAP_YEARS: i16 = 1;

/// Legal sources of the rules.
pub const SOURCES: &[RuleSource] = &[
    RuleSource {
        rule: "sell at 55 or later and five years after the first purchase; buy at least every other year",
        citation: "Ministerial Regulation No. 126 under the Revenue Code, as amended from tax year 2020; kasikornasset.com, conditions of investing in RMF",
    },
    RuleSource {
        rule: "a breach before five years: all tax saved is paid back and the gain is taxed; after five years: the tax saved in the last five years is paid back",
        citation: "kasikornasset.com, conditions of investing in RMF",
    },
];

/// A holder's birth date and purchases.
#[derive(Clone, Debug)]
pub struct Holding {
    /// Date of birth.
    pub born: Date,
    /// Purchase dates, in any order.
    pub purchases: Vec<Date>,
}

/// A purchase with what it saved, for the cost of a breach.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lot {
    /// Date of the purchase.
    pub date: Date,
    /// Amount, in baht.
    pub amount: Option<Decimal>,
    /// Tax saved by it, in baht.
    pub tax_saved: Option<Decimal>,
}

/// Status of one lot on a day.
#[derive(Clone, Debug, PartialEq)]
pub struct LotStatus {
    /// The lot.
    pub lot: Lot,
    /// Years since the purchase, completed.
    pub years_held: i16,
    /// Whether selling on the day repays the tax that this lot saved.
    pub repays: bool,
    /// Tax to repay for it, in baht; `None` when it is not known.
    pub repayment: Option<Decimal>,
}

/// Status of each lot, oldest first.
pub fn lots(check: &RedemptionCheck, lots: &[Lot], on: Date) -> Vec<LotStatus> {
    // The exemptions of the last five years are those of the sale's tax year and the four before.
    let first_year = match check.consequence {
        Consequence::None => i16::MAX,
        Consequence::RepayAllAndTaxGain => i16::MIN,
        Consequence::RepayLastFiveYears => on.year() - (MIN_YEARS_HELD - 1),
    };
    let mut sorted = lots.to_vec();
    sorted.sort_by_key(|lot| lot.date);
    let status = |lot: Lot| {
        let repays = lot.date.year() >= first_year;
        let repayment = if repays { lot.tax_saved } else { Some(Decimal::ZERO) };
        LotStatus { lot, years_held: age(lot.date, on), repays, repayment }
    };
    sorted.into_iter().map(status).collect()
}

/// Tax to repay for all lots, in baht; `None` when one of them is not known.
pub fn repayment(lots: &[LotStatus]) -> Option<Decimal> {
    lots.iter().map(|lot| lot.repayment).sum()
}

/// Result of the redemption rules on one day.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RedemptionCheck {
    /// Whether units can be sold on that day without consequences.
    pub may_redeem: bool,
    /// Age in completed years.
    pub age: i16,
    /// The holder's 55th birthday.
    pub of_age_on: Date,
    /// Date of the first purchase.
    pub first_purchase: Date,
    /// Fifth anniversary of the first purchase.
    pub held_enough_on: Date,
    /// First day on which both the age and the holding period are met.
    pub earliest: Date,
    /// Gaps between purchases that break the rule.
    pub gaps: Vec<Gap>,
    /// Last calendar year in which a purchase avoids a gap; `None` when units can be sold already
    /// or a gap exists.
    pub buy_again_by: Option<i16>,
    /// First day if only calendar years with a purchase count towards the five years, where that is
    /// later than `earliest`: descriptions of the rule differ.
    pub strict_earliest: Option<Date>,
    /// The next day on which something changes, with what.
    pub next: Option<(Date, NextEvent)>,
    /// Consequence of selling on that day.
    pub consequence: Consequence,
}

/// Consecutive calendar years without a purchase.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Gap {
    /// First year.
    pub from: i16,
    /// Last year.
    pub to: i16,
}

/// What happens on a day that matters.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum NextEvent {
    /// Last day to buy without breaking the rule.
    LastDayToBuy,
    /// The holder turns 55.
    TurnsFiftyFive,
    /// Five years since the first purchase.
    FiveYears,
}

/// Consequence of selling.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Consequence {
    /// None.
    None,
    /// All tax relief is repaid, and the gain is taxable income.
    RepayAllAndTaxGain,
    /// The tax relief of the last five years is repaid.
    RepayLastFiveYears,
}

/// Why the rules cannot be evaluated.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum HoldingError {
    /// There is no purchase.
    #[error("there is no purchase")]
    NoPurchase,
    /// A purchase precedes the date of birth.
    #[error("the purchase of {purchase} is before the birth on {born}")]
    BeforeBirth {
        /// Purchase date.
        purchase: Date,
        /// Date of birth.
        born: Date,
    },
    /// A purchase is later than the day in question.
    #[error("the purchase of {purchase} is after {on}")]
    InTheFuture {
        /// Purchase date.
        purchase: Date,
        /// The day in question.
        on: Date,
    },
    /// Adding years to the date leaves the calendar.
    #[error("{date} is too far from today")]
    OutOfCalendar {
        /// The date.
        date: Date,
    },
}

/// Evaluates the rules on the day `on`.
pub fn check(holding: &Holding, on: Date) -> Result<RedemptionCheck, HoldingError> {
    let mut purchases = holding.purchases.clone();
    purchases.sort_unstable();
    let (Some(first), Some(last)) = (purchases.first().copied(), purchases.last().copied()) else {
        return Err(HoldingError::NoPurchase);
    };
    if first < holding.born {
        return Err(HoldingError::BeforeBirth { purchase: first, born: holding.born });
    }
    if last > on {
        return Err(HoldingError::InTheFuture { purchase: last, on });
    }
    let of_age_on = years_after(holding.born, MIN_AGE)?;
    let held_enough_on = years_after(first, MIN_YEARS_HELD)?;
    let earliest = of_age_on.max(held_enough_on);
    // Purchases after the units became free can neither break the rule nor mend it.
    let before_free: Vec<Date> =
        purchases.iter().copied().filter(|date| *date <= earliest).collect();
    let gaps = gaps(&before_free, on.min(earliest));
    let may_redeem = on >= earliest && gaps.is_empty();
    let buy_again_by = last.year() + MAX_GAP_YEARS + 1;
    let consequence = match (may_redeem, on >= held_enough_on) {
        (true, _) => Consequence::None,
        (false, false) => Consequence::RepayAllAndTaxGain,
        (false, true) => Consequence::RepayLastFiveYears,
    };
    Ok(RedemptionCheck {
        may_redeem,
        age: age(holding.born, on),
        of_age_on,
        first_purchase: first,
        held_enough_on,
        earliest,
        buy_again_by: (on < earliest && gaps.is_empty()).then_some(buy_again_by),
        strict_earliest: strict_earliest(&before_free, of_age_on, earliest),
        next: next_event(
            on,
            [
                (on < earliest && gaps.is_empty())
                    .then(|| Date::new(buy_again_by, 12, 31).ok())
                    .flatten()
                    .map(|day| (day, NextEvent::LastDayToBuy)),
                Some((of_age_on, NextEvent::TurnsFiftyFive)),
                Some((held_enough_on, NextEvent::FiveYears)),
            ],
        ),
        gaps,
        consequence,
    })
}

/// Gaps longer than [`MAX_GAP_YEARS`]. The year of `until` is not over, so a purchase in it is
/// still possible.
fn gaps(purchases: &[Date], until: Date) -> Vec<Gap> {
    let years = purchases.iter().map(|date| date.year());
    let ends = purchases.iter().skip(1).map(|date| date.year()).chain([until.year()]);
    years
        .zip(ends)
        .filter(|(from, to)| to - from - 1 > MAX_GAP_YEARS)
        .map(|(from, to)| Gap { from: from + 1, to: to - 1 })
        .collect()
}

fn next_event(on: Date, events: [Option<(Date, NextEvent)>; 3]) -> Option<(Date, NextEvent)> {
    events.into_iter().flatten().filter(|(day, _)| *day > on).min_by_key(|(day, _)| *day)
}

/// The anniversary after five calendar years with a purchase, if that is later than `earliest`.
/// `None` too when there are fewer such years yet: then no year was skipped that counts.
fn strict_earliest(purchases: &[Date], of_age_on: Date, earliest: Date) -> Option<Date> {
    let first = purchases.first()?;
    let years: std::collections::BTreeSet<i16> = purchases.iter().map(|date| date.year()).collect();
    let (from, to) = (years.first()?, years.last()?);
    let skipped = i16::try_from(years.len()).map(|bought| to - from + 1 - bought).ok()?;
    let counted = years_after(*first, MIN_YEARS_HELD.saturating_add(skipped)).ok()?;
    let strict = counted.max(of_age_on);
    (strict > earliest).then_some(strict)
}

fn years_after(date: Date, years: i16) -> Result<Date, HoldingError> {
    date.checked_add(Span::new().years(years)).map_err(|_| HoldingError::OutOfCalendar { date })
}

/// Completed years. Who was born on 29 February is a year older on 28 February of a common year,
/// like the anniversaries above.
fn age(born: Date, on: Date) -> i16 {
    let years = on.year() - born.year();
    let is_over = years_after(born, years).is_ok_and(|birthday| birthday <= on);
    years - i16::from(!is_over)
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::*;

    fn holding(born: Date, years: &[i16]) -> Holding {
        Holding { born, purchases: years.iter().map(|year| date(*year, 12, 15)).collect() }
    }

    #[test]
    fn redemption_requires_age_55_and_five_years() {
        let born = date(1970, 6, 1);
        let years: Vec<i16> = (2018..=2025).collect();
        let cases = [
            (date(2025, 12, 31), true, Consequence::None),
            (date(2025, 12, 20), true, Consequence::None),
        ];
        for (on, may, consequence) in cases {
            let verdict = check(&holding(born, &years), on).unwrap();
            assert_eq!((verdict.may_redeem, verdict.consequence), (may, consequence), "on {on}");
        }
        let young = check(&holding(date(1990, 1, 1), &years), date(2025, 12, 31)).unwrap();
        assert_eq!(young.consequence, Consequence::RepayLastFiveYears);
        assert_eq!(young.earliest, date(2045, 1, 1));
        assert_eq!(young.buy_again_by, Some(2027));
        let recent = check(&holding(born, &[2024, 2025]), date(2025, 12, 31)).unwrap();
        assert_eq!(recent.consequence, Consequence::RepayAllAndTaxGain);
        assert_eq!(recent.earliest, date(2029, 12, 15));
        assert_eq!(recent.age, 55);
    }

    #[test]
    fn holding_period_is_counted_to_the_day() {
        let holding = holding(date(1960, 1, 1), &[2020, 2021, 2022, 2023, 2024, 2025]);
        let holding = Holding { purchases: holding.purchases[..5].to_vec(), ..holding };
        assert!(!check(&holding, date(2025, 12, 14)).unwrap().may_redeem);
        assert!(check(&holding, date(2025, 12, 15)).unwrap().may_redeem);
    }

    #[test]
    fn anniversary_of_a_leap_day_is_28_february() {
        let holding = Holding {
            born: date(1968, 2, 29),
            purchases: vec![
                date(2016, 2, 29),
                date(2018, 1, 5),
                date(2020, 1, 5),
                date(2022, 1, 5),
            ],
        };
        let verdict = check(&holding, date(2023, 2, 28)).unwrap();
        assert_eq!(verdict.of_age_on, date(2023, 2, 28));
        assert_eq!(verdict.held_enough_on, date(2021, 2, 28));
        assert!(verdict.may_redeem);
    }

    #[test]
    fn purchase_gap_of_one_year_is_allowed_and_two_years_are_not() {
        let born = date(1965, 1, 1);
        let on = date(2026, 1, 1);
        assert!(
            check(&holding(born, &[2016, 2018, 2020]), on).unwrap().may_redeem,
            "55 in 2020, held by 2021"
        );
        let verdict = check(&holding(date(1968, 1, 1), &[2016, 2019, 2021, 2022]), on).unwrap();
        assert_eq!(verdict.gaps, [Gap { from: 2017, to: 2018 }]);
        assert!(!verdict.may_redeem);
        assert_eq!(verdict.buy_again_by, None);
    }

    #[test]
    fn eligible_holder_need_not_buy_again() {
        let verdict =
            check(&holding(date(1950, 1, 1), &[2010, 2012, 2014]), date(2026, 1, 1)).unwrap();
        assert!(verdict.may_redeem, "{verdict:?}");
    }

    #[test]
    fn purchase_after_freedom_does_not_turn_yes_into_no() {
        let mut holding = Holding {
            born: date(1966, 1, 1),
            purchases: vec![date(2015, 6, 1), date(2017, 6, 1), date(2019, 6, 1), date(2021, 1, 1)],
        };
        let on = date(2026, 11, 16);
        assert!(check(&holding, on).unwrap().may_redeem);
        holding.purchases.push(date(2026, 11, 1));
        let verdict = check(&holding, on).unwrap();
        assert!(verdict.may_redeem && verdict.gaps.is_empty(), "{verdict:?}");
    }

    #[test]
    fn age_agrees_with_the_leap_day_anniversary() {
        let purchases = vec![
            date(2016, 1, 5),
            date(2018, 1, 5),
            date(2020, 1, 5),
            date(2022, 1, 5),
            date(2024, 1, 5),
            date(2026, 1, 5),
        ];
        let holding = Holding { born: date(1972, 2, 29), purchases };
        let verdict = check(&holding, date(2027, 2, 28)).unwrap();
        assert_eq!((verdict.may_redeem, verdict.age), (true, 55));
        assert_eq!(check(&holding, date(2027, 2, 27)).unwrap().age, 54);
    }

    #[test]
    fn breach_repays_all_lots_before_five_years_and_those_of_five_tax_years_after() {
        let lot = |year: i16, saved: i64| Lot {
            date: date(year, 12, 15),
            amount: None,
            tax_saved: Some(saved.into()),
        };
        let cost = |years: &[i16], on: Date| {
            let all: Vec<Lot> = years.iter().map(|year| lot(*year, 1_000)).collect();
            let verdict = check(&holding(date(1990, 1, 1), years), on).unwrap();
            repayment(&lots(&verdict, &all, on))
        };
        assert_eq!(cost(&[2023, 2024, 2025], date(2026, 6, 1)), Some(3_000.into()), "all");
        let long: Vec<i16> = (2016..=2025).collect();
        // Tax years 2022 to 2026.
        assert_eq!(cost(&long, date(2026, 6, 1)), Some(4_000.into()));
        let unknown = Lot { date: date(2025, 1, 1), amount: None, tax_saved: None };
        let verdict = check(&holding(date(1990, 1, 1), &[2025]), date(2026, 1, 1)).unwrap();
        assert_eq!(repayment(&lots(&verdict, &[unknown], date(2026, 1, 1))), None);
    }

    #[test]
    fn next_date_and_the_stricter_count_are_given() {
        let verdict = check(&holding(date(1972, 6, 1), &[2022, 2024]), date(2026, 1, 1)).unwrap();
        assert_eq!(verdict.next, Some((date(2026, 12, 31), NextEvent::LastDayToBuy)));
        assert_eq!(verdict.earliest, date(2027, 12, 15));
        assert_eq!(verdict.strict_earliest, Some(date(2028, 12, 15)), "2023 was skipped");
        let steady = check(&holding(date(1990, 6, 1), &[2024, 2025]), date(2026, 1, 1)).unwrap();
        assert_eq!(steady.strict_earliest, None);
    }

    #[test]
    fn impossible_dates_are_rejected() {
        let born = date(1970, 1, 1);
        let on = date(2026, 1, 1);
        assert_eq!(check(&holding(born, &[]), on), Err(HoldingError::NoPurchase));
        assert!(matches!(
            check(&holding(born, &[1960]), on),
            Err(HoldingError::BeforeBirth { .. })
        ));
        assert!(matches!(
            check(&holding(born, &[2026]), on),
            Err(HoldingError::InTheFuture { .. })
        ));
        let far = Holding { born: Date::MAX, purchases: vec![Date::MAX] };
        assert!(matches!(check(&far, Date::MAX), Err(HoldingError::OutOfCalendar { .. })));
    }
}
