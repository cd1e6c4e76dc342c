//! What a reader of the report must know: exempt disposals, income added to the cost, gains of a
//! person who was not resident.

use super::residence::{self, accrues};
use super::{Computation, Disposal};
use crate::tax_year::TaxYear;

/// Entries that a remark lists.
const MAX_LISTED: usize = 10;

/// All remarks about a year, or about all years.
pub(super) fn all(computation: &Computation, year: Option<TaxYear>) -> Vec<String> {
    let remarks = [
        exempt_remark(computation, year),
        added_income(computation, year),
        absence(computation, year),
    ];
    remarks.into_iter().flatten().collect()
}

/// Disposals of exempt securities in a year, or in all.
pub(super) fn exempt(
    computation: &Computation,
    year: Option<TaxYear>,
) -> impl Iterator<Item = &Disposal> {
    let of = move |disposal: &&Disposal| year.is_none_or(|year| TaxYear::of(disposal.date) == year);
    computation.exempt.iter().filter(of)
}

fn exempt_remark(computation: &Computation, year: Option<TaxYear>) -> Option<String> {
    let texts: Vec<String> = exempt(computation, year)
        .map(|disposal| format!("{} on {}", disposal.ticker, disposal.date))
        .collect();
    listed(&texts).map(|list| {
        format!("disposals of gilts and qualifying corporate bonds are exempt and left out (TCGA 1992 s.115): {list}")
    })
}

fn added_income(computation: &Computation, year: Option<TaxYear>) -> Option<String> {
    // Cost of later years too: it is in the pool from the period end on.
    let until = |date| year.is_none_or(|year| date <= year.last_day());
    let texts: Vec<String> = computation
        .added_income
        .iter()
        .filter(|added| until(added.period_end))
        .map(|added| {
            format!("{} {} {} to {}", added.ticker, added.amount, added.currency, added.period_end)
        })
        .collect();
    listed(&texts).map(|list| {
        format!(
            "excess reportable income by ISIN was added to the cost (SI 2009/3001 reg.99): {list}"
        )
    })
}

fn absence(computation: &Computation, year: Option<TaxYear>) -> Option<String> {
    let away = computation.absence?;
    let of = |disposal: &&Disposal| {
        let accrued = accrues(disposal, computation.absence).map(TaxYear::of);
        away.covers(disposal.date) && (year.is_none() || accrued.is_none() || accrued == year)
    };
    let texts: Vec<String> = computation
        .disposals
        .iter()
        .filter(of)
        .map(|disposal| format!("{} on {}", disposal.ticker, disposal.date))
        .collect();
    let list = listed(&texts)?;
    let law = residence::LAW;
    Some(match (away.is_temporary(), away.returned) {
        (true, Some(returned)) => format!(
            "disposals while not resident accrue in {}, the year of return within five years ({law}); shares that were acquired after leaving are not charged, check them: {list}",
            TaxYear::of(returned)
        ),
        _ => format!(
            "disposals while not resident are not charged ({law}), unless the person returns within five years: {list}"
        ),
    })
}

/// The first texts as one, and how many more there are; `None` for none.
fn listed(texts: &[String]) -> Option<String> {
    let shown: Vec<&str> = texts.iter().take(MAX_LISTED).map(String::as_str).collect();
    let more = texts.len() - shown.len();
    let list = shown.join(", ");
    match (shown.is_empty(), more) {
        (true, _) => None,
        (false, 0) => Some(list),
        (false, more) => Some(format!("{list} and {more} more")),
    }
}
