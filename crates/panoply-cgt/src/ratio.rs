//! Non-negative fractions: split factors, and quantities without a finite decimal.

use std::fmt;

use rust_decimal::Decimal;

/// Decimals printed for a non-terminating fraction.
const DECIMALS_SHOWN: u32 = 12;

/// Non-negative fraction in lowest terms.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Hash)]
pub struct Ratio {
    numerator: u128,
    denominator: u128,
}

impl Ratio {
    /// One.
    pub const ONE: Self = Self { numerator: 1, denominator: 1 };
    /// Zero.
    pub const ZERO: Self = Self { numerator: 0, denominator: 1 };

    /// `numerator ÷ denominator`; `None` when the denominator is zero.
    pub fn new(numerator: u128, denominator: u128) -> Option<Self> {
        if denominator == 1 {
            return Some(Self { numerator, denominator });
        }
        let common = gcd(numerator, denominator);
        (denominator != 0)
            .then(|| Self { numerator: numerator / common, denominator: denominator / common })
    }

    /// Converts a decimal; `None` when negative.
    pub fn of(decimal: Decimal) -> Option<Self> {
        let mantissa = u128::try_from(decimal.mantissa()).ok()?;
        Self::new(mantissa, 10_u128.checked_pow(decimal.scale())?)
    }

    /// Numerator.
    pub const fn numerator(self) -> u128 {
        self.numerator
    }

    /// Denominator.
    pub const fn denominator(self) -> u128 {
        self.denominator
    }

    /// Whether it is zero.
    pub const fn is_zero(self) -> bool {
        self.numerator == 0
    }

    /// Reciprocal; `None` for zero.
    pub fn inverse(self) -> Option<Self> {
        Self::new(self.denominator, self.numerator)
    }

    /// Sum; `None` on overflow.
    pub fn plus(self, other: Self) -> Option<Self> {
        let denominator = lcm(self.denominator, other.denominator)?;
        let widened = |ratio: Self| ratio.numerator.checked_mul(denominator / ratio.denominator);
        Self::new(widened(self)?.checked_add(widened(other)?)?, denominator)
    }

    /// Difference; `None` when negative or on overflow.
    pub fn minus(self, other: Self) -> Option<Self> {
        let denominator = lcm(self.denominator, other.denominator)?;
        let widened = |ratio: Self| ratio.numerator.checked_mul(denominator / ratio.denominator);
        Self::new(widened(self)?.checked_sub(widened(other)?)?, denominator)
    }

    /// Product; `None` on overflow.
    pub fn times(self, other: Self) -> Option<Self> {
        if other == Self::ONE {
            return Some(self);
        }
        // Cross-cancelling first keeps the product in lowest terms and small.
        let left = gcd(self.numerator, other.denominator).max(1);
        let right = gcd(other.numerator, self.denominator).max(1);
        let numerator = (self.numerator / left).checked_mul(other.numerator / right)?;
        let denominator = (self.denominator / right).checked_mul(other.denominator / left)?;
        Some(Self { numerator, denominator })
    }
}

/// Decimal notation, truncated to twelve decimals when non-terminating.
impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, mut rest) =
            (self.numerator / self.denominator, self.numerator % self.denominator);
        if rest == 0 {
            return write!(f, "{whole}");
        }
        let limit = if self.terminates() { u32::MAX } else { DECIMALS_SHOWN };
        let mut decimals = String::new();
        for _ in 0..limit {
            let Some(shifted) = rest.checked_mul(10).filter(|_| rest > 0) else { break };
            let digit = u32::try_from(shifted / self.denominator).unwrap_or_default();
            decimals.extend(char::from_digit(digit, 10));
            rest = shifted % self.denominator;
        }
        write!(f, "{whole}.{decimals}")
    }
}

impl Ratio {
    /// Whether the decimal expansion terminates: the denominator has factors 2 and 5 only.
    const fn terminates(self) -> bool {
        let mut rest = self.denominator;
        while rest.is_multiple_of(2) {
            rest /= 2;
        }
        while rest.is_multiple_of(5) {
            rest /= 5;
        }
        rest == 1
    }
}

/// Greatest common divisor; 1 for two zeros.
pub(crate) const fn gcd(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    if a == 0 { 1 } else { a }
}

/// Least common multiple; `None` on overflow.
pub(crate) const fn lcm(a: u128, b: u128) -> Option<u128> {
    (a / gcd(a, b)).checked_mul(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ratio(numerator: u128, denominator: u128) -> Ratio {
        Ratio::new(numerator, denominator).unwrap()
    }

    #[test]
    fn ratio_prints_as_a_decimal() {
        let cases = [
            (ratio(0, 5), "0"),
            (ratio(10, 5), "2"),
            (ratio(1, 8), "0.125"),
            (ratio(100, 3), "33.333333333333"),
            (ratio(1, 1_000_000_000_000_000_000), "0.000000000000000001"),
        ];
        for (ratio, expected) in cases {
            assert_eq!(ratio.to_string(), expected);
        }
    }

    #[test]
    fn ratio_product_is_in_lowest_terms() {
        assert_eq!(ratio(2, 3).times(ratio(3, 4)), Some(ratio(1, 2)));
        assert_eq!(ratio(1, 3).inverse(), Some(ratio(3, 1)));
        assert_eq!(ratio(u128::MAX, 1).times(ratio(2, 1)), None);
        assert_eq!(Ratio::ZERO.inverse(), None);
        assert_eq!(ratio(1, 6).plus(ratio(1, 3)), Some(ratio(1, 2)));
        assert_eq!(Ratio::of("0.25".parse().unwrap()), Some(ratio(1, 4)));
    }
}
