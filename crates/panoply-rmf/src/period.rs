//! Reference periods of factsheet returns.

use std::fmt;

/// Period up to the factsheet's date. Returns over three years and more are annualised, as the Thai
/// SEC and AIMC prescribe; shorter ones are cumulative.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Period {
    /// Since the start of the calendar year.
    Ytd,
    /// Three months.
    M3,
    /// Six months.
    M6,
    /// One year.
    Y1,
    /// Three years.
    Y3,
    /// Five years.
    Y5,
    /// Ten years.
    Y10,
    /// Since the fund's inception.
    SinceInception,
}

impl Period {
    /// All periods, in the order of factsheets.
    pub const ALL: [Self; 8] = [
        Self::Ytd,
        Self::M3,
        Self::M6,
        Self::Y1,
        Self::Y3,
        Self::Y5,
        Self::Y10,
        Self::SinceInception,
    ];

    /// Short name, as in `perf_ytd`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ytd => "ytd",
            Self::M3 => "3m",
            Self::M6 => "6m",
            Self::Y1 => "1y",
            Self::Y3 => "3y",
            Self::Y5 => "5y",
            Self::Y10 => "10y",
            Self::SinceInception => "since_inception",
        }
    }

    /// Parses [`Period::as_str`].
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|period| period.as_str() == name)
    }

    /// Name in the SEC's API.
    pub const fn sec_name(self) -> &'static str {
        match self {
            Self::Ytd => "year to date",
            Self::M3 => "3 months",
            Self::M6 => "6 months",
            Self::Y1 => "1 year",
            Self::Y3 => "3 years",
            Self::Y5 => "5 years",
            Self::Y10 => "10 years",
            Self::SinceInception => "inception date",
        }
    }

    /// Whether returns over the period are annualised.
    pub const fn annualised(self) -> bool {
        matches!(self, Self::Y3 | Self::Y5 | Self::Y10 | Self::SinceInception)
    }

    const fn index(self) -> usize {
        self as usize
    }
}

impl fmt::Display for Period {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// An optional value per period.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ByPeriod<T>([Option<T>; Period::ALL.len()]);

impl<T: Copy> ByPeriod<T> {
    /// The value of a period.
    pub fn get(&self, period: Period) -> Option<T> {
        self.0.get(period.index()).copied().flatten()
    }

    /// Sets or clears the value of a period.
    pub fn set(&mut self, period: Period, value: Option<T>) {
        if let Some(slot) = self.0.get_mut(period.index()) {
            *slot = value;
        }
    }
}

impl<T: Copy> Default for ByPeriod<T> {
    fn default() -> Self {
        Self([None; Period::ALL.len()])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn period_name_round_trips() {
        for period in Period::ALL {
            assert_eq!(Period::parse(period.as_str()), Some(period));
        }
        assert_eq!(Period::parse("2w"), None);
    }
}
