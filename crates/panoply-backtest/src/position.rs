//! Average-cost accounting of a position in a netting account.
//!
//! Closing realizes against the average price, a fill through zero opens the opposite side at the
//! fill price, and commissions reduce realized profit when they are paid.

use rust_decimal::Decimal;

/// Quantity, average price and realized profit of one security.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Position {
    /// Signed: negative when short.
    pub quantity: Decimal,
    /// Average price of the open quantity; zero when flat.
    pub average: Decimal,
    /// Realized profit net of commissions.
    pub realized: Decimal,
}

impl Position {
    /// Books a fill of a signed quantity. Returns `None` and books nothing when a result exceeds
    /// the 28 digits of [`Decimal`].
    pub fn fill(&mut self, signed: Decimal, price: Decimal, commission: Decimal) -> Option<()> {
        let held = self.quantity;
        let quantity = held.checked_add(signed)?;
        let mut realized = self.realized.checked_sub(commission)?;
        let grows = held.is_zero() || held.is_sign_negative() == signed.is_sign_negative();
        let average = if grows {
            let worth = self.average.checked_mul(held)?.checked_add(price.checked_mul(signed)?)?;
            if quantity.is_zero() { Decimal::ZERO } else { worth.checked_div(quantity)? }
        } else {
            let closed = if signed.abs() < held.abs() { -signed } else { held };
            let earned = price.checked_sub(self.average)?.checked_mul(closed)?;
            realized = realized.checked_add(earned)?;
            if quantity.is_zero() {
                Decimal::ZERO
            } else if quantity.is_sign_negative() == held.is_sign_negative() {
                self.average
            } else {
                price
            }
        };
        *self = Self { quantity, average, realized };
        Some(())
    }
}

/// Parses plain or scientific notation.
pub(crate) fn decimal(text: &str) -> Option<Decimal> {
    let text = text.trim();
    text.parse().ok().or_else(|| Decimal::from_scientific(text).ok())
}

/// The nearest double. `Decimal`'s own conversion is not correctly rounded.
pub(crate) fn to_f64(decimal: Decimal) -> f64 {
    decimal.to_string().parse().unwrap_or(f64::NAN)
}

/// Serializes a [`Decimal`] as text, so that no digit is lost.
pub(crate) mod decimal_text {
    use rust_decimal::Decimal;
    use serde::{Deserialize as _, Deserializer, Serializer};

    pub(crate) fn serialize<S: Serializer>(
        amount: &Decimal,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&amount.normalize())
    }

    pub(crate) fn deserialize<'a, D: Deserializer<'a>>(
        deserializer: D,
    ) -> Result<Decimal, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fills_are_booked_at_average_cost() {
        // Signed quantity, price, commission; then quantity, average, realized.
        let cases = [
            [("10", "100", "1"), ("10", "100", "-1")],
            [("10", "110", "1"), ("20", "105", "-2")],
            [("-5", "120", "0.5"), ("15", "105", "72.5")],
            [("-25", "100", "0"), ("-10", "100", "-2.5")],
            [("10", "90", "0"), ("0", "0", "97.5")],
        ];
        let mut position = Position::default();
        for [(signed, price, commission), (quantity, average, realized)] in cases {
            let of = |text| decimal(text).unwrap();
            position.fill(of(signed), of(price), of(commission)).unwrap();
            let expected =
                Position { quantity: of(quantity), average: of(average), realized: of(realized) };
            assert_eq!(position, expected, "after {signed} at {price}");
        }
    }

    #[test]
    fn fill_that_overflows_the_decimal_range_is_not_booked() {
        let mut position = Position::default();
        let most = Decimal::MAX;
        assert_eq!(position.fill(most, most, Decimal::ZERO), None);
        assert_eq!(position, Position::default());
    }

    #[test]
    fn decimal_accepts_plain_and_scientific_notation() {
        for (text, expected) in
            [("9.64e-05", Some("0.0000964")), (" 12.50 ", Some("12.50")), ("x", None), ("", None)]
        {
            let read = decimal(text).map(|decimal| decimal.to_string());
            assert_eq!(read.as_deref(), expected, "{text:?}");
        }
    }
}
