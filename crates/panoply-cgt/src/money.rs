//! Pounds, and parcels of shares with their cost.
//!
//! Money is a whole number of attopounds (10⁻¹⁸ of a pound). [`Parcel::take`] rounds the share it
//! removes and leaves the exact remainder, so parts add up to the whole and an empty pool has a
//! cost of zero. `rust_decimal` cannot give that: a division rounds to 28 significant digits, so
//! the size of the residue depends on the amount. Exact fractions were rejected because their
//! denominators grow with every sale from a pool.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Neg, Sub, SubAssign};

use rust_decimal::Decimal;

use crate::wide::mul_div;

/// Decimal places of the internal unit.
const DECIMALS: u32 = 18;
const POUND: i128 = 1_000_000_000_000_000_000;
const PENNY: i128 = POUND / 100;
/// Two million roundings of half an attopound. A figure this close to a half penny or a whole pound
/// is treated as that value.
const ROUNDING_TOLERANCE: i128 = 1_000_000;
/// One trillion pounds. A hundred million such amounts add up without overflow.
const MAX_ATTOPOUNDS: u128 = 1_000_000_000_000 * POUND.unsigned_abs();

/// An amount in pounds sterling.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Money(i128);

impl Money {
    /// Zero.
    pub const ZERO: Self = Self(0);

    /// Whole pounds.
    pub const fn pounds(pounds: i64) -> Self {
        Self(pounds as i128 * POUND)
    }

    /// Converts a decimal; `None` above a trillion pounds.
    pub fn of(decimal: Decimal) -> Option<Self> {
        let size = Product::of(decimal.abs()).divided_by(Decimal::ONE)?;
        Some(if decimal.is_sign_negative() { -size } else { size })
    }

    /// Whether the amount is zero within the rounding tolerance.
    pub const fn is_zero(self) -> bool {
        self.0.abs() <= ROUNDING_TOLERANCE
    }

    /// Whether the amount is a loss.
    pub const fn is_negative(self) -> bool {
        self.0 < -ROUNDING_TOLERANCE
    }

    /// The larger of the two amounts.
    #[must_use]
    pub fn at_least(self, least: Self) -> Self {
        self.max(least)
    }

    /// Rounds to the penny, half away from zero.
    #[must_use]
    pub const fn to_pence(self) -> Self {
        let pence = (self.0.abs() + PENNY / 2 + ROUNDING_TOLERANCE) / PENNY;
        Self(pence * PENNY * self.0.signum())
    }

    /// Rounds down to whole pounds.
    #[must_use]
    pub const fn pounds_down(self) -> Self {
        Self((self.0 + ROUNDING_TOLERANCE).div_euclid(POUND) * POUND)
    }

    /// Rounds up to whole pounds.
    #[must_use]
    pub const fn pounds_up(self) -> Self {
        Self(-(-self.0 + ROUNDING_TOLERANCE).div_euclid(POUND) * POUND)
    }

    /// `part ÷ whole` of the amount; `None` when `whole` is zero or on overflow.
    pub fn share(self, part: u128, whole: u128) -> Option<Self> {
        if part == whole && whole > 0 {
            return Some(self);
        }
        let size = mul_div(self.0.unsigned_abs(), part, whole)?;
        let size = i128::try_from(size).ok()?;
        Some(Self(if self.0 < 0 { -size } else { size }))
    }

    /// The size in internal units; `None` for a negative amount.
    pub(crate) fn attopounds(self) -> Option<u128> {
        u128::try_from(self.0).ok()
    }

    /// A percentage of the amount, such as 24 for a tax rate of 24 %.
    #[must_use]
    pub const fn percent(self, percent: u32) -> Self {
        let percent = percent as i128;
        // Dividing first cannot overflow for rates up to 100 %; the remainder keeps it exact.
        Self(self.0 / 100 * percent + self.0 % 100 * percent / 100)
    }

    /// Formats with two to ten decimals.
    pub fn exact(self) -> String {
        const STEP: i128 = POUND / 10_000_000_000;
        let steps = (self.0.abs() + STEP / 2) / STEP;
        let per_pound = POUND / STEP;
        let mut decimals = format!("{:010}", steps % per_pound);
        while decimals.len() > 2 && decimals.ends_with('0') {
            decimals.pop();
        }
        let sign = if self.0 < 0 && steps > 0 { "-" } else { "" };
        format!("{sign}{}.{decimals}", steps / per_pound)
    }
}

/// Pounds and pence, rounded half away from zero: `1234.50`, `-3.00`, never `-0.00`.
impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pence = self.to_pence().0 / PENNY;
        let sign = if pence < 0 { "-" } else { "" };
        let pence = pence.unsigned_abs();
        f.pad(&format!("{sign}{}.{:02}", pence / 100, pence % 100))
    }
}

// Sums saturate. `MAX_ATTOPOUNDS` per amount leaves room for a hundred million of them.
impl Add for Money {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl Sub for Money {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl Neg for Money {
    type Output = Self;
    fn neg(self) -> Self {
        Self(self.0.saturating_neg())
    }
}

impl AddAssign for Money {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl SubAssign for Money {
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

impl Sum for Money {
    fn sum<I: Iterator<Item = Self>>(amounts: I) -> Self {
        amounts.fold(Self::ZERO, Add::add)
    }
}

/// Shares with their cost: the Section 104 pool, a day's unmatched purchases, or a day's proceeds
/// during apportionment.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Parcel {
    /// Number of shares in grains (see `engine::normalize`).
    pub grains: u128,
    /// Cost or proceeds.
    pub value: Money,
}

impl Parcel {
    /// Removes shares with their proportion of the value; `None` when there are too few.
    pub fn take(&mut self, grains: u128) -> Option<Money> {
        let left = self.grains.checked_sub(grains)?;
        let value = if left == 0 { self.value } else { self.value.share(grains, self.grains)? };
        self.grains = left;
        self.value -= value;
        Some(value)
    }

    /// Adds another parcel.
    pub fn put(&mut self, other: Self) {
        self.grains = self.grains.saturating_add(other.grains);
        self.value += other.value;
    }
}

/// Exact product of decimals; only the final division rounds.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Product {
    mantissa: u128,
    scale: u32,
}

impl Product {
    /// Takes a non-negative decimal.
    pub(crate) fn of(decimal: Decimal) -> Self {
        Self { mantissa: decimal.mantissa().unsigned_abs(), scale: decimal.scale() }
    }

    /// Product; `None` on overflow.
    pub(crate) fn times(self, decimal: Decimal) -> Option<Self> {
        let product = |left: Self, right: Self| {
            let mantissa = left.mantissa.checked_mul(right.mantissa)?;
            Some(Self { mantissa, scale: left.scale + right.scale })
        };
        // Trailing zeros matter for very long numbers only.
        product(self, Self::of(decimal))
            .or_else(|| product(self.trimmed(), Self::of(decimal).trimmed()))
    }

    /// Sum; `None` on overflow.
    pub(crate) fn plus(self, other: Self) -> Option<Self> {
        let scale = self.scale.max(other.scale);
        let widened =
            |number: Self| number.mantissa.checked_mul(10_u128.checked_pow(scale - number.scale)?);
        Some(Self { mantissa: widened(self)?.checked_add(widened(other)?)?, scale })
    }

    /// Pounds at this many units a pound; `None` when it is over a trillion pounds.
    pub(crate) fn divided_by(self, units_per_pound: Decimal) -> Option<Money> {
        let rate = Self::of(units_per_pound);
        let attopounds =
            attopounds(self, rate).or_else(|| attopounds(self.trimmed(), rate.trimmed()))?;
        let size = i128::try_from(attopounds).ok().filter(|_| attopounds <= MAX_ATTOPOUNDS)?;
        Some(Money(size))
    }

    /// The number as it would be written.
    pub(crate) fn to_text(self) -> String {
        let trimmed = self.trimmed();
        let digits = format!("{:0>width$}", trimmed.mantissa, width = trimmed.scale as usize + 1);
        match digits.split_at_checked(digits.len() - trimmed.scale as usize) {
            Some((whole, "")) => whole.to_owned(),
            Some((whole, decimals)) => format!("{whole}.{decimals}"),
            None => digits,
        }
    }

    const fn trimmed(mut self) -> Self {
        while self.scale > 0 && self.mantissa.is_multiple_of(10) {
            self.mantissa /= 10;
            self.scale -= 1;
        }
        self
    }
}

/// `amount ÷ rate` in attopounds; `None` when a number on the way does not fit.
fn attopounds(amount: Product, rate: Product) -> Option<u128> {
    let (up, down) = (DECIMALS + rate.scale, amount.scale);
    let ten_to = |power: u32| 10_u128.checked_pow(power);
    if up >= down {
        mul_div(amount.mantissa, ten_to(up - down)?, rate.mantissa)
    } else {
        mul_div(amount.mantissa, 1, rate.mantissa.checked_mul(ten_to(down - up)?)?)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn money(text: &str) -> Money {
        Money::of(text.parse().unwrap()).unwrap()
    }

    #[test]
    fn money_prints_pence_rounded_half_away_from_zero() {
        let cases = [
            ("0", "0.00"),
            ("0.005", "0.01"),
            ("-0.005", "-0.01"),
            ("-0.004", "0.00"),
            ("1234.5", "1234.50"),
            ("2.675", "2.68"),
        ];
        for (amount, shown) in cases {
            assert_eq!(money(amount).to_string(), shown, "amount: {amount}");
        }
    }

    #[test]
    fn whole_pound_rounding_ignores_division_residue() {
        let dust = Money(1);
        let cases = [
            ("512.5", "512.00", "513.00"),
            ("600", "600.00", "600.00"),
            ("-3.2", "-4.00", "-3.00"),
        ];
        for (amount, down, up) in cases {
            for amount in [money(amount), money(amount) + dust, money(amount) - dust] {
                assert_eq!(amount.pounds_down().to_string(), down, "{amount:?} down");
                assert_eq!(amount.pounds_up().to_string(), up, "{amount:?} up");
            }
        }
    }

    #[test]
    fn exact_money_prints_at_most_ten_decimals() {
        assert_eq!(money("10").share(1, 3).unwrap().exact(), "3.3333333333");
        assert_eq!(money("-2.5").exact(), "-2.50");
        assert_eq!((money("10") - Money(1)).exact(), "10.00");
        assert_eq!(Money(-1).exact(), "0.00");
    }

    #[test]
    fn conversion_divides_once() {
        let dollars = Product::of("12".parse().unwrap());
        // HMRC, USD, July 2024.
        assert_eq!(dollars.divided_by("1.2728".parse().unwrap()).unwrap().to_string(), "9.43");
        let price = Product::of("0.1".parse().unwrap()).times("0.30".parse().unwrap()).unwrap();
        assert_eq!(price.to_text(), "0.03");
        assert_eq!(Product::of("1000000000001".parse().unwrap()).divided_by(Decimal::ONE), None);
    }

    #[test]
    fn two_fills_cost_the_same_as_one() {
        let whole = Product::of("10".parse().unwrap()).times("3.333".parse().unwrap()).unwrap();
        let part = |shares: &str| {
            Product::of(shares.parse().unwrap()).times("3.333".parse().unwrap()).unwrap()
        };
        let pieces = part("4.7").plus(part("5.3")).unwrap();
        let rate = "1.2614".parse().unwrap();
        assert_eq!(pieces.divided_by(rate), whole.divided_by(rate));
    }

    proptest! {
        #[test]
        fn parcel_parts_sum_to_the_whole(
            value in -1_000_000_000_i64..1_000_000_000,
            parts in prop::collection::vec(1_u64..1_000_000, 1..20),
        ) {
            let grains = parts.iter().map(|part| u128::from(*part)).sum();
            let value = Money(i128::from(value) * PENNY);
            let mut parcel = Parcel { grains, value };
            let taken: Money =
                parts.iter().map(|part| parcel.take(u128::from(*part)).unwrap()).sum();
            prop_assert_eq!(taken, value);
            prop_assert_eq!(parcel, Parcel::default());
        }
    }
}
