//! Pounds, and parcels of shares with what they cost.
//!
//! Money is counted in whole attopounds (10⁻¹⁸ of a pound). A division that does not come out
//! even is rounded there, and what one side loses the other keeps: [`Parcel::take`] gives a
//! share of the cost away and leaves *the rest* behind. So parts always add up to the whole,
//! and an empty pool has cost nothing, to the last digit.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Neg, Sub, SubAssign};

use rust_decimal::Decimal;

use crate::wide::mul_div;

/// Decimals that are kept.
const DECIMALS: u32 = 18;
const POUND: i128 = 1_000_000_000_000_000_000;
const PENNY: i128 = POUND / 100;
/// Two million roundings of half an attopound. A figure this close to a half penny or a whole
/// pound *is* that half penny or pound, seen through roundings far below.
const DUST: i128 = 1_000_000;
/// A trillion pounds. A hundred million of these still add up without overflow.
const LARGEST: u128 = 1_000_000_000_000 * POUND.unsigned_abs();

/// An amount in pounds sterling.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Money(i128);

impl Money {
    /// Nothing.
    pub const ZERO: Self = Self(0);

    /// Whole pounds.
    pub const fn pounds(pounds: i64) -> Self {
        Self(pounds as i128 * POUND)
    }

    /// A decimal number of pounds; `None` above a trillion.
    pub fn of(decimal: Decimal) -> Option<Self> {
        let size = Product::of(decimal.abs()).divided_by(Decimal::ONE)?;
        Some(if decimal.is_sign_negative() { -size } else { size })
    }

    /// Whether it is nothing, dust aside.
    pub const fn is_zero(self) -> bool {
        self.0.abs() <= DUST
    }

    /// Whether it is a loss.
    pub const fn is_negative(self) -> bool {
        self.0 < -DUST
    }

    /// The larger of the two.
    #[must_use]
    pub fn at_least(self, least: Self) -> Self {
        self.max(least)
    }

    /// To the penny, halves away from zero.
    #[must_use]
    pub const fn to_pence(self) -> Self {
        let pence = (self.0.abs() + PENNY / 2 + DUST) / PENNY;
        Self(pence * PENNY * self.0.signum())
    }

    /// To the pound below.
    #[must_use]
    pub const fn pounds_down(self) -> Self {
        Self((self.0 + DUST).div_euclid(POUND) * POUND)
    }

    /// To the pound above.
    #[must_use]
    pub const fn pounds_up(self) -> Self {
        Self(-(-self.0 + DUST).div_euclid(POUND) * POUND)
    }

    /// `part ÷ whole` of it; `None` when `whole` is zero or the result does not fit.
    pub fn share(self, part: u128, whole: u128) -> Option<Self> {
        if part == whole && whole > 0 {
            return Some(self);
        }
        let size = mul_div(self.0.unsigned_abs(), part, whole)?;
        let size = i128::try_from(size).ok()?;
        Some(Self(if self.0 < 0 { -size } else { size }))
    }

    /// This many hundredths of it, such as 24 for a rate of tax.
    #[must_use]
    pub fn percent(self, percent: u32) -> Self {
        self.share(u128::from(percent), 100).unwrap_or_default()
    }

    /// Its decimals as far as they are worth showing: two at least, ten at most.
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

    /// To the penny, as a decimal that other programs read.
    pub fn to_decimal(self) -> Decimal {
        Decimal::try_from_i128_with_scale(self.to_pence().0 / PENNY, 2).unwrap_or_default()
    }
}

/// Pounds and pence, halves away from zero: `1234.50`, `-3.00`, never `-0.00`.
impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pence = self.to_pence().0 / PENNY;
        let sign = if pence < 0 { "-" } else { "" };
        let pence = pence.unsigned_abs();
        f.pad(&format!("{sign}{}.{:02}", pence / 100, pence % 100))
    }
}

// Sums saturate: `LARGEST` keeps them a hundred million rows away from that.
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

/// Shares of one company and what they cost. The Section 104 pool is one, and so is a day's
/// purchase while it waits to be matched, and a day's proceeds while they are apportioned.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Parcel {
    /// How many, in grains (see `engine::normalize`).
    pub grains: u128,
    /// What they cost, or brought.
    pub value: Money,
}

impl Parcel {
    /// Takes some shares out with their part of the value; `None` when there are not that many.
    pub fn take(&mut self, grains: u128) -> Option<Money> {
        let left = self.grains.checked_sub(grains)?;
        let value = if left == 0 { self.value } else { self.value.share(grains, self.grains)? };
        self.grains = left;
        self.value -= value;
        Some(value)
    }

    /// Puts another parcel in.
    pub fn put(&mut self, other: Self) {
        self.grains = self.grains.saturating_add(other.grains);
        self.value += other.value;
    }
}

/// A product of decimals, exact: rounding is left to the one division at the end.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Product {
    mantissa: u128,
    scale: u32,
}

impl Product {
    /// A decimal that is not negative.
    pub(crate) fn of(decimal: Decimal) -> Self {
        Self { mantissa: decimal.mantissa().unsigned_abs(), scale: decimal.scale() }
    }

    /// The product; `None` when it has more digits than fit.
    pub(crate) fn times(self, decimal: Decimal) -> Option<Self> {
        let product = |left: Self, right: Self| {
            let mantissa = left.mantissa.checked_mul(right.mantissa)?;
            Some(Self { mantissa, scale: left.scale + right.scale })
        };
        // Trailing zeros are in the way of very long numbers only.
        product(self, Self::of(decimal))
            .or_else(|| product(self.trimmed(), Self::of(decimal).trimmed()))
    }

    /// The sum; `None` when it has more digits than fit.
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
        let size = i128::try_from(attopounds).ok().filter(|_| attopounds <= LARGEST)?;
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
