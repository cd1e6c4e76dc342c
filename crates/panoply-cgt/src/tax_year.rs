//! UK tax years, which start on 6 April (ITA 2007 s.4(4)).

use std::fmt;

use jiff::civil::Date;

/// A UK tax year, named by its first calendar year: `2024` is 2024/25.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct TaxYear(i16);

/// The year is not a supported tax year.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("`{0}` is not a tax year from 1900/01 to 2100/01, such as 2024 or 2024/25")]
pub struct InvalidTaxYear(pub String);

impl TaxYear {
    /// First supported year.
    pub const FIRST: i16 = 1900;
    /// Last supported year.
    pub const LAST: i16 = 2100;

    /// The tax year that starts in `year`.
    pub fn starting(year: i64) -> Result<Self, InvalidTaxYear> {
        match i16::try_from(year) {
            Ok(start) if (Self::FIRST..=Self::LAST).contains(&start) => Ok(Self(start)),
            _ => Err(InvalidTaxYear(year.to_string())),
        }
    }

    /// Parses `2024` or `2024/25`.
    pub fn parse(text: &str) -> Result<Self, InvalidTaxYear> {
        let bad = || InvalidTaxYear(text.to_owned());
        let start = text.get(..4).unwrap_or_default();
        let year = Self::starting(start.parse().map_err(|_| bad())?).map_err(|_| bad())?;
        if text == start || text == year.to_string() { Ok(year) } else { Err(bad()) }
    }

    /// The tax year of a date.
    pub fn of(date: Date) -> Self {
        let before = (date.month(), date.day()) < (4, 6);
        Self(date.year() - i16::from(before))
    }

    /// Calendar year in which it starts.
    pub const fn start(self) -> i16 {
        self.0
    }

    /// 6 April.
    pub fn first_day(self) -> Date {
        Date::new(self.0, 4, 6).unwrap_or(Date::MAX)
    }

    /// 5 April of the next year.
    pub fn last_day(self) -> Date {
        Date::new(self.0 + 1, 4, 5).unwrap_or(Date::MAX)
    }
}

impl fmt::Display for TaxYear {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{:02}", self.0, (self.0 + 1) % 100)
    }
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::*;

    #[test]
    fn tax_year_prints_as_start_slash_short_end() {
        let cases = [
            ("2024", Some("2024/25")),
            ("2024/25", Some("2024/25")),
            ("1999/00", Some("1999/00")),
            ("2024/26", None),
            ("2024/2025", None),
            ("1899", None),
            ("", None),
            ("20é4", None),
        ];
        for (input, expected) in cases {
            let parsed = TaxYear::parse(input).ok().map(|year| year.to_string());
            assert_eq!(parsed.as_deref(), expected, "input: {input:?}");
        }
    }

    #[test]
    fn tax_year_runs_from_6_april_to_5_april() {
        assert_eq!(TaxYear::of(date(2024, 4, 5)).to_string(), "2023/24");
        assert_eq!(TaxYear::of(date(2024, 4, 6)).to_string(), "2024/25");
        let year = TaxYear::parse("2024").unwrap();
        assert_eq!((year.first_day(), year.last_day()), (date(2024, 4, 6), date(2025, 4, 5)));
    }
}
