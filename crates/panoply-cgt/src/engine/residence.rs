//! Time during which a person was not resident in the UK.
//!
//! The 30-day rule does not apply to shares acquired by a person who is not resident then (TCGA 1992
//! s.106A(5A)). Gains of that time on shares are not charged (s.1A(1)), unless the person returns
//! within five years: then they accrue in the period of return (s.1M; HMRC CG26500).

use jiff::ToSpan;
use jiff::civil::Date;

use super::Disposal;
use crate::tax_year::TaxYear;

/// Time of non-residence, by split years or whole tax years.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Absence {
    /// First day of non-residence.
    pub left: Date,
    /// First day of residence afterwards; `None` when the person has not returned.
    pub returned: Option<Date>,
}

/// Statute of temporary non-residence.
pub const LAW: &str = "TCGA 1992 s.1A, s.1M, s.106A(5A); HMRC CG26500";

impl Absence {
    /// Whether the person was not resident on a day.
    pub fn covers(&self, date: Date) -> bool {
        self.left <= date && self.returned.is_none_or(|returned| date < returned)
    }

    /// Whether the person returned within five years (FA 2013 Sch.45 para.110).
    pub fn is_temporary(&self) -> bool {
        let limit = self.left.checked_add(5.years()).ok();
        self.returned.zip(limit).is_some_and(|(returned, limit)| returned <= limit)
    }

    /// Day on which a gain of this day accrues; `None` when it is not charged.
    pub fn accrues(&self, date: Date) -> Option<Date> {
        match self.covers(date) {
            false => Some(date),
            true => self.returned.filter(|_| self.is_temporary()),
        }
    }
}

/// Day on which the gain of a disposal accrues; `None` when it is not charged.
pub(crate) fn accrues(disposal: &Disposal, absence: Option<Absence>) -> Option<Date> {
    absence.map_or(Some(disposal.date), |absence| absence.accrues(disposal.date))
}

/// Tax year to which the gain of a disposal belongs; `None` when it is not charged.
pub(crate) fn year_of(disposal: &Disposal, absence: Option<Absence>) -> Option<TaxYear> {
    accrues(disposal, absence).map(TaxYear::of)
}
