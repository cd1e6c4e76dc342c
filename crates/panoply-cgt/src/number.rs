//! Decimal numbers as written in input, with trailing zeros preserved.

use rust_decimal::Decimal;

/// Maximum number of digits that all computations support.
const MAX_DIGITS: usize = 28;

/// Why a text is not a valid number. Each reason has its own hint.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum NumberError {
    /// No digits.
    #[error("is not a number")]
    NotANumber,
    /// Negative.
    #[error("is negative")]
    Negative,
    /// `1,000`.
    #[error("has a comma in it")]
    Comma,
    /// `£5` or `$5`.
    #[error("has a currency sign in it")]
    Sign,
    /// `.5` or `5.`.
    #[error("has no digit on one side of the point")]
    BarePoint,
    /// More digits than can be computed exactly.
    #[error("has more than {MAX_DIGITS} digits")]
    TooLong,
}

impl NumberError {
    /// Suggested correction; starts with a verb.
    pub const fn hint(self) -> &'static str {
        match self {
            Self::NotANumber => "write digits with an optional decimal point",
            Self::Negative => {
                "write a positive number: the action says whether shares are bought or sold"
            }
            Self::Comma => "leave out the comma",
            Self::Sign => "write the amount without a sign, and the currency code after it",
            Self::BarePoint => "write a digit before and after the point",
            Self::TooLong => "round it to fewer decimals",
        }
    }
}

/// Parses `12`, `12.50` or `0.001`. Trailing zeros are preserved, so that printing is lossless.
pub fn parse(text: &str) -> Result<Decimal, NumberError> {
    let mut mantissa: i128 = 0;
    let mut digits = 0_usize;
    let mut point: Option<usize> = None;
    for byte in text.bytes() {
        match byte {
            b'0'..=b'9' => {
                digits += 1;
                if digits > MAX_DIGITS {
                    return Err(classify_error(text));
                }
                mantissa = mantissa * 10 + i128::from(byte - b'0');
            }
            b'.' if point.is_none() && digits > 0 => point = Some(digits),
            _ => return Err(classify_error(text)),
        }
    }
    let scale = digits - point.unwrap_or(digits);
    if digits == 0 || point == Some(digits) {
        return Err(classify_error(text));
    }
    let scale = u32::try_from(scale).map_err(|_| NumberError::TooLong)?;
    Decimal::try_from_i128_with_scale(mantissa, scale).map_err(|_| NumberError::TooLong)
}

fn classify_error(text: &str) -> NumberError {
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let has_sign = |c: char| matches!(c, '£' | '$' | '€' | '¥');
    let rest_is_digits = |text: &str| parse(text).is_ok();
    if digits == 0 {
        NumberError::NotANumber
    } else if text.contains(has_sign) {
        NumberError::Sign
    } else if text.strip_prefix(['-', '−']).is_some_and(rest_is_digits) {
        NumberError::Negative
    } else if text.contains(',') && rest_is_digits(&text.replace(',', "")) {
        NumberError::Comma
    } else if !text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
        NumberError::NotANumber
    } else if digits > MAX_DIGITS {
        NumberError::TooLong
    } else if text.starts_with('.') || text.ends_with('.') {
        NumberError::BarePoint
    } else {
        NumberError::NotANumber
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_trailing_zeros() {
        for text in ["0", "12", "12.50", "0.001", "150.00", "1234567890123456789.123456789"] {
            assert_eq!(parse(text).map(|number| number.to_string()).as_deref(), Ok(text));
        }
    }

    #[test]
    fn each_invalid_number_has_a_distinct_error() {
        let cases = [
            ("", NumberError::NotANumber),
            ("x", NumberError::NotANumber),
            ("-1", NumberError::Negative),
            ("1,000", NumberError::Comma),
            ("£5", NumberError::Sign),
            ("$5.20", NumberError::Sign),
            (".5", NumberError::BarePoint),
            ("5.", NumberError::BarePoint),
            ("1.2.3", NumberError::NotANumber),
            ("1e5", NumberError::NotANumber),
            ("12345678901234567890123456789", NumberError::TooLong),
            ("١٢", NumberError::NotANumber),
        ];
        for (text, expected) in cases {
            assert_eq!(parse(text), Err(expected), "text: {text:?}");
        }
    }
}
