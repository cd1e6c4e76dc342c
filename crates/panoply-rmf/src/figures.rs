//! Statistics over figures: means, medians, percent changes, deviations.
//!
//! Money and returns are exact decimals. Only square roots use floating point; their results are
//! rounded to four places so that the same data yield the same digits on every platform.

use rust_decimal::prelude::ToPrimitive;
use rust_decimal::{Decimal, RoundingStrategy};

/// Decimal places of computed figures.
pub const COMPUTED_PLACES: u32 = 4;

/// Rounds to [`COMPUTED_PLACES`], half away from zero, without trailing zeros.
pub fn rounded(value: Decimal) -> Decimal {
    round_to(value, COMPUTED_PLACES)
}

/// Rounds to `places`, half away from zero, without trailing zeros.
pub fn round_to(value: Decimal, places: u32) -> Decimal {
    value.round_dp_with_strategy(places, RoundingStrategy::MidpointAwayFromZero).normalize()
}

/// Converts a float to a rounded decimal; `None` when it is not finite or too large.
pub fn rounded_float(value: f64) -> Option<Decimal> {
    Decimal::from_f64_retain(value).map(rounded)
}

/// Converts to the nearest double. Up to 15 digits survive a round trip, more than any figure here
/// has.
pub fn to_f64(value: Decimal) -> f64 {
    let mantissa = value.mantissa();
    match (i64::try_from(mantissa), u8::try_from(value.scale())) {
        // Both operands are exact doubles here, so the quotient is the nearest one.
        (Ok(mantissa), Ok(scale)) if mantissa.unsigned_abs() < 1 << 53 && scale <= 22 => {
            exact_double(mantissa) / 10_f64.powi(i32::from(scale))
        }
        _ => value.to_f64().unwrap_or_default(),
    }
}

fn exact_double(whole: i64) -> f64 {
    Decimal::from(whole).to_f64().unwrap_or_default()
}

/// Change from `from` to `to`, in percent of `from`; `None` when `from` is zero.
pub fn percent_change(from: Decimal, to: Decimal) -> Option<Decimal> {
    (to - from).checked_div(from).map(|share| rounded(share * Decimal::ONE_HUNDRED))
}

/// Arithmetic mean; `None` for an empty slice.
pub fn mean(values: &[Decimal]) -> Option<Decimal> {
    let sum: Decimal = values.iter().sum();
    sum.checked_div(Decimal::from(values.len()))
}

/// Median; `None` for an empty slice.
pub fn median(values: &[Decimal]) -> Option<Decimal> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    let middle = sorted.len() / 2;
    let upper = *sorted.get(middle)?;
    if sorted.len() % 2 == 1 {
        return Some(upper);
    }
    let lower = *sorted.get(middle.checked_sub(1)?)?;
    Some((lower + upper) / Decimal::TWO)
}

/// Sample standard deviation (divisor n − 1); `None` for fewer than two values.
pub fn sample_deviation(values: &[f64]) -> Option<f64> {
    let divisor = values.len().checked_sub(1).filter(|divisor| *divisor > 0)?;
    let mean = values.iter().sum::<f64>() / count(values.len());
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    Some((squares / count(divisor)).sqrt())
}

/// Converts a count to a double.
pub fn count(n: usize) -> f64 {
    u32::try_from(n).map_or(f64::MAX, f64::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decimal(text: &str) -> Decimal {
        text.parse().unwrap()
    }

    #[test]
    fn decimal_converts_to_the_nearest_double() {
        let cases = [
            ("15.626", 15.626),
            ("-0.2079", -0.2079),
            ("17650315264", 17_650_315_264.0),
            ("4.789999999999999", 4.789_999_999_999_999),
            ("0", 0.0),
            ("1000", 1000.0),
        ];
        for (text, expected) in cases {
            assert_eq!(to_f64(decimal(text)).to_bits(), f64::to_bits(expected), "text: {text}");
        }
    }

    #[test]
    fn percent_change_is_relative_to_the_start_value() {
        let cases =
            [("15.8339", "15.626", Some("-1.313")), ("10", "10", Some("0")), ("0", "1", None)];
        for (from, to, expected) in cases {
            let change = percent_change(decimal(from), decimal(to));
            assert_eq!(change, expected.map(decimal), "{from} to {to}");
        }
    }

    #[test]
    fn median_of_an_even_count_is_the_mean_of_the_middle_two() {
        let values = |texts: &[&str]| texts.iter().map(|text| decimal(text)).collect::<Vec<_>>();
        assert_eq!(median(&values(&["5.3", "1", "6.65"])), Some(decimal("5.3")));
        assert_eq!(median(&values(&["5.3", "6.65"])), Some(decimal("5.975")));
        assert_eq!(median(&[]), None);
        assert_eq!(mean(&[]), None);
    }

    #[test]
    fn sample_deviation_divides_by_n_minus_one() {
        // Squared distances from the mean 5 add up to 32; divided by n − 1 = 7.
        let deviation = sample_deviation(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]).unwrap();
        assert!((deviation - (32.0_f64 / 7.0).sqrt()).abs() < 1e-12);
        assert_eq!(sample_deviation(&[1.0]), None);
    }
}
