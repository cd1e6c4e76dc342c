//! A position by average cost, as a netting account books it.
//!
//! Closing takes the average price of what is held, a fill through zero opens the other side at
//! its own price, and commissions come off what is realized when they are paid.

use rust_decimal::Decimal;

/// What is held of one security, and what it has earned.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Position {
    /// Signed: below zero when short.
    pub quantity: Decimal,
    /// The average price of what is held; zero when nothing is.
    pub average: Decimal,
    /// Locked in so far, commissions taken off.
    pub realized: Decimal,
}

impl Position {
    /// Books a fill of a signed quantity. `None` when the numbers are too large for 28 digits;
    /// nothing is booked then.
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

/// A decimal in plain or scientific writing.
pub fn decimal(text: &str) -> Option<Decimal> {
    let text = text.trim();
    text.parse().ok().or_else(|| Decimal::from_scientific(text).ok())
}

/// The nearest double, for a reply.
pub fn to_f64(decimal: Decimal) -> f64 {
    decimal.to_string().parse().unwrap_or(f64::NAN)
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
