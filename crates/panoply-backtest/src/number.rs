//! Exact decimal numbers: a mantissa and a decimal scale.
//!
//! `0.1 + 0.2` equals `0.3` here. A number with more than eighteen digits falls back to a double.
//! `rust_decimal` is not used: it has 28 digits in 16 bytes, and columns store one `i64` per value.

use std::cmp::Ordering;

/// A finite number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// `mantissa / 10^scale`, exactly.
    Exact { mantissa: i64, scale: u8 },
    /// The nearest double.
    Double(f64),
}

/// Largest number of fraction digits that is represented exactly.
const MAX_SCALE: i32 = 18;

impl Number {
    /// Parses a JSON number. Returns `None` for text that is not a finite JSON number, such as `NaN`
    /// and `1e400`.
    pub fn parse(text: &str) -> Option<Self> {
        exact(text.as_bytes()).or_else(|| double(text).map(Self::Double))
    }

    /// The nearest double.
    pub fn to_f64(self) -> f64 {
        match self {
            Self::Exact { mantissa, scale } => decimal_to_f64(i128::from(mantissa), scale),
            Self::Double(value) => value,
        }
    }

    /// The order by value, with all digits of exact numbers. A total order: an exact number comes
    /// before a double that is as near as doubles can tell.
    pub fn compare(self, other: Self) -> Ordering {
        match (self, other) {
            (Self::Exact { mantissa: a, scale: s }, Self::Exact { mantissa: b, scale: t }) => {
                if s == t {
                    return a.cmp(&b);
                }
                // Eighteen more digits fit in 128 bits.
                let scaled = |mantissa: i64, by: u8| {
                    i128::from(mantissa).saturating_mul(10_i128.saturating_pow(u32::from(by)))
                };
                scaled(a, t.saturating_sub(s)).cmp(&scaled(b, s.saturating_sub(t)))
            }
            (Self::Double(a), Self::Double(b)) => a.total_cmp(&b),
            (Self::Exact { .. }, Self::Double(b)) => {
                self.to_f64().total_cmp(&b).then(Ordering::Less)
            }
            (Self::Double(a), Self::Exact { .. }) => {
                a.total_cmp(&other.to_f64()).then(Ordering::Greater)
            }
        }
    }

    /// The order for a comparison: like [`compare`](Self::compare), but an exact number equals a
    /// double that is as near as doubles can tell.
    pub fn compare_loosely(self, other: Self) -> Ordering {
        match (self, other) {
            (Self::Exact { .. }, Self::Exact { .. }) => self.compare(other),
            _ => self.to_f64().partial_cmp(&other.to_f64()).unwrap_or(Ordering::Equal),
        }
    }

    /// The same value in one form: values of a column have the scale of their block, or are doubles.
    pub fn normalized(self) -> Self {
        match self {
            Self::Exact { mut mantissa, mut scale } => {
                while scale > 0 && mantissa % 10 == 0 {
                    mantissa /= 10;
                    scale -= 1;
                }
                Self::Exact { mantissa, scale }
            }
            Self::Double(value) => Self::parse(&value.to_string()).unwrap_or(self),
        }
    }

    /// In decimal notation.
    pub fn to_text(self) -> String {
        match self {
            Self::Exact { mantissa, scale } => decimal_text(i128::from(mantissa), scale),
            Self::Double(value) => value.to_string(),
        }
    }
}

/// Parses digits with an optional fraction and a small exponent.
fn exact(text: &[u8]) -> Option<Number> {
    let (negative, digits) = match text.split_first()? {
        (b'-', rest) => (true, rest),
        _ => (false, text),
    };
    let (mut mantissa, mut scale, mut in_fraction, mut any) = (0_i64, 0_i32, false, false);
    let mut rest = digits;
    // Eighteen digits cannot overflow.
    let is_short = digits.len() <= 18;
    while let Some((byte, after)) = rest.split_first() {
        match byte {
            b'0'..=b'9' => {
                let digit = i64::from(byte - b'0');
                mantissa = if is_short {
                    mantissa.wrapping_mul(10).wrapping_add(digit)
                } else {
                    mantissa.checked_mul(10)?.checked_add(digit)?
                };
                scale += i32::from(in_fraction);
                any = true;
            }
            b'.' if !in_fraction && any => in_fraction = true,
            b'e' | b'E' if any => {
                scale -= exponent(after)?;
                break;
            }
            _ => return None,
        }
        rest = after;
    }
    if !any || text.ends_with(b".") {
        return None;
    }
    while scale < 0 {
        mantissa = mantissa.checked_mul(10)?;
        scale += 1;
    }
    while scale > 0 && mantissa % 10 == 0 {
        mantissa /= 10;
        scale -= 1;
    }
    let mantissa = if negative { -mantissa } else { mantissa };
    let scale = u8::try_from(scale).ok().filter(|_| scale <= MAX_SCALE)?;
    Some(Number::Exact { mantissa, scale })
}

fn exponent(text: &[u8]) -> Option<i32> {
    let (sign, digits) = match text.split_first()? {
        (b'-', rest) => (-1, rest),
        (b'+', rest) => (1, rest),
        _ => (1, text),
    };
    if digits.is_empty() || digits.len() > 2 || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let value = digits.iter().fold(0, |value, digit| value * 10 + i32::from(digit - b'0'));
    Some(sign * value)
}

/// Accepts JSON numbers only: `str::parse` would also accept `inf` and `.5`.
fn double(text: &str) -> Option<f64> {
    let starts = text.trim_start_matches('-').starts_with(|c: char| c.is_ascii_digit());
    let plain =
        text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E'));
    if !starts || !plain || text.ends_with('.') {
        return None;
    }
    text.parse().ok().filter(|value: &f64| value.is_finite())
}

/// An exact sum.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sum {
    /// `mantissa / 10^scale`, exactly.
    Exact { mantissa: i128, scale: u8 },
    /// The fallback after adding a double or an overflow.
    Double(f64),
}

impl Sum {
    pub const ZERO: Self = Self::Exact { mantissa: 0, scale: 0 };

    pub fn add(&mut self, number: Number) {
        let other = match number {
            Number::Exact { mantissa, scale } => {
                Self::Exact { mantissa: i128::from(mantissa), scale }
            }
            Number::Double(value) => Self::Double(value),
        };
        self.merge(other);
    }

    pub fn merge(&mut self, other: Self) {
        *self = match (*self, other) {
            (Self::Exact { mantissa: a, scale: s }, Self::Exact { mantissa: b, scale: t }) => {
                let scale = s.max(t);
                match (rescale(a, scale - s), rescale(b, scale - t)) {
                    (Some(a), Some(b)) => match a.checked_add(b) {
                        Some(mantissa) => Self::Exact { mantissa, scale },
                        None => Self::Double(decimal_to_f64(a, scale) + decimal_to_f64(b, scale)),
                    },
                    _ => Self::Double(decimal_to_f64(a, s) + decimal_to_f64(b, t)),
                }
            }
            (a, b) => Self::Double(a.to_f64() + b.to_f64()),
        };
    }

    /// The nearest double.
    pub fn to_f64(self) -> f64 {
        match self {
            Self::Exact { mantissa, scale } => decimal_to_f64(mantissa, scale),
            Self::Double(value) => value,
        }
    }

    #[must_use]
    pub fn negated(self) -> Self {
        match self {
            Self::Exact { mantissa, scale } => {
                Self::Exact { mantissa: mantissa.wrapping_neg(), scale }
            }
            Self::Double(value) => Self::Double(-value),
        }
    }

    /// The sum in decimal notation.
    pub fn to_text(self) -> String {
        match self {
            Self::Exact { mantissa, scale } => decimal_text(mantissa, scale),
            Self::Double(value) => value.to_string(),
        }
    }
}

fn rescale(mantissa: i128, by: u8) -> Option<i128> {
    mantissa.checked_mul(10_i128.checked_pow(u32::from(by))?)
}

/// Powers of ten that are exact as doubles.
const POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
];

/// The nearest double, correctly rounded.
fn decimal_to_f64(mantissa: i128, scale: u8) -> f64 {
    // 2^53 and 10^22 are exact as doubles, so the single division rounds once.
    const EXACT: i128 = 1 << 53;
    if mantissa.abs() <= EXACT && scale <= 22 {
        #[expect(clippy::cast_precision_loss, reason = "at most 2^53, which a double holds")]
        return mantissa as f64 / POWERS.get(usize::from(scale)).copied().unwrap_or(f64::NAN);
    }
    format!("{mantissa}e-{scale}").parse().unwrap_or(f64::NAN)
}

fn decimal_text(mantissa: i128, scale: u8) -> String {
    let digits = mantissa.unsigned_abs().to_string();
    let scale = usize::from(scale);
    let sign = if mantissa < 0 { "-" } else { "" };
    if scale == 0 {
        return format!("{sign}{digits}");
    }
    let padded = format!("{digits:0>width$}", width = scale + 1);
    let (whole, fraction) = padded.split_at(padded.len() - scale);
    let fraction = fraction.trim_end_matches('0');
    if fraction.is_empty() { format!("{sign}{whole}") } else { format!("{sign}{whole}.{fraction}") }
}

/// A number as JSON that prints the same decimal value, if a double has all its digits. `None` for a
/// number that would change: the comparison is with the printer of the reply, because of several
/// shortest forms of one double different printers choose different ones.
#[cfg(feature = "tools")]
pub(crate) fn lossless(text: &str) -> Option<serde_json::Number> {
    const SAFE_INTEGER: u64 = 1 << 53;
    let parsed = Number::parse(text)?;
    if let Number::Exact { mantissa, scale: 0 } = parsed {
        let is_safe = mantissa.unsigned_abs() <= SAFE_INTEGER;
        let is_integer = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
        if is_safe && is_integer {
            return Some(mantissa.into());
        }
    }
    let number = serde_json::Number::from_f64(parsed.to_f64())?;
    let is_same = match parsed {
        // Up to fifteen digits always round-trip; more are compared.
        Number::Exact { mantissa, .. } if mantissa.unsigned_abs() < 1_000_000_000_000_000 => true,
        Number::Exact { .. } => Number::parse(&number.to_string()) == Some(parsed),
        Number::Double(_) => significant_digits(text) == significant_digits(&number.to_string()),
    };
    is_same.then_some(number)
}

/// The significant digits, without sign, point, exponent, and leading and trailing zeros.
#[cfg(feature = "tools")]
fn significant_digits(text: &str) -> String {
    let mantissa = text.split(['e', 'E']).next().unwrap_or_default();
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    digits.trim_matches('0').to_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn numbers_parse_exactly_and_invalid_text_is_rejected() {
        let exact = |mantissa, scale| Some(Number::Exact { mantissa, scale });
        let cases = [
            ("0", exact(0, 0)),
            ("-0.0", exact(0, 0)),
            ("175.50", exact(1755, 1)),
            ("-0.00026", exact(-26, 5)),
            ("1e3", exact(1000, 0)),
            ("12.5E-2", exact(125, 3)),
            ("1e30", Some(Number::Double(1e30))),
            ("123456789012345678901", Some(Number::Double(123_456_789_012_345_678_901.0))),
            ("1e400", None),
            ("NaN", None),
            ("inf", None),
            ("-", None),
            ("", None),
            (".5", None),
            ("5.", None),
            ("1.2.3", None),
            ("0x10", None),
            ("12 ", None),
            ("1e99999999999", None),
            ("57e34b60-66a0-5e3e-bebe-ddcd2232fdd4", None),
        ];
        for (text, expected) in cases {
            assert_eq!(Number::parse(text), expected, "text: {text:?}");
        }
    }

    #[test]
    fn numbers_of_seventeen_digits_are_told_apart() {
        let cases = [
            ("12345678901234567", Ordering::Less, "12345678901234568"),
            ("0.10000000000000001", Ordering::Greater, "0.1"),
            ("-0.10000000000000001", Ordering::Less, "-0.1"),
            ("1.50", Ordering::Equal, "15e-1"),
            ("9223372036854775807", Ordering::Greater, "0.000000000000000001"),
            ("2", Ordering::Less, "1e300"),
            ("-1e300", Ordering::Less, "-2"),
        ];
        for (a, expected, b) in cases {
            let (a, b) = (Number::parse(a).unwrap(), Number::parse(b).unwrap());
            assert_eq!(a.compare(b), expected, "{a:?} {b:?}");
            assert_eq!(b.compare(a), expected.reverse(), "{b:?} {a:?}");
            assert_eq!(a.compare_loosely(b), expected, "{a:?} {b:?}");
        }
        let (exact, double) = (Number::parse("3").unwrap(), Number::Double(3.0));
        assert_eq!(exact.compare(double), Ordering::Less);
        assert_eq!(exact.compare_loosely(double), Ordering::Equal);
    }

    #[test]
    fn sum_of_decimals_is_exact() {
        let mut sum = Sum::ZERO;
        for text in ["0.1", "0.2", "-0.3", "1000000000000.01"] {
            sum.add(Number::parse(text).unwrap());
        }
        assert_eq!(sum.to_text(), "1000000000000.01");
        assert_eq!(sum.to_f64().to_string(), "1000000000000.01");
        sum.add(Number::parse("1e300").unwrap());
        assert_eq!(sum, Sum::Double(1e300));
    }

    #[test]
    fn numbers_that_a_double_would_change_are_detected() {
        let cases = [
            ("175.50", true),
            ("0.1", true),
            ("9007199254740993", false),
            ("9007199254740992", true),
            ("0.12345678901234567890", false),
            ("1e30", true),
            ("1e400", false),
            ("123456789.123456789", false),
            // Two shortest forms: 814786633366918.25 is the double of both.
            ("814786633366918.3", false),
            ("-0.0", true),
            ("12345678901234567", false),
        ];
        for (text, expected) in cases {
            assert_eq!(lossless(text).is_some(), expected, "text: {text}");
        }
    }

    proptest! {
        #[test]
        fn lossless_numbers_print_the_same_value(mantissa in any::<i64>(), scale in 0_u8..18) {
            let text = decimal_text(i128::from(mantissa), scale);
            if let Some(number) = lossless(&text) {
                prop_assert_eq!(Number::parse(&number.to_string()), Number::parse(&text));
            }
        }

        #[test]
        fn to_f64_rounds_like_the_standard_library(mantissa in any::<i64>(), scale in 0_u8..18) {
            let text = decimal_text(i128::from(mantissa), scale);
            let number = Number::parse(&text).unwrap();
            prop_assert_eq!(number.to_f64().to_bits(), (text.parse::<f64>().unwrap() + 0.0).to_bits());
        }
    }
}
