//! Numbers as people write them: plain decimals, kept exactly as they were written.

use rust_decimal::Decimal;

/// A number with this many digits still fits everywhere; nobody trades with more.
const MOST_DIGITS: usize = 28;

/// Why a text is not a number we take. Each has an answer of its own.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum BadNumber {
    /// Nothing that looks like a number.
    #[error("is not a number")]
    NotANumber,
    /// Below zero.
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
    /// More digits than can be computed with exactly.
    #[error("has more than {MOST_DIGITS} digits")]
    TooLong,
}

impl BadNumber {
    /// What to write instead; starts with a verb.
    pub const fn hint(self) -> &'static str {
        match self {
            Self::NotANumber => "write digits with an optional decimal point",
            Self::Negative => {
                "write a positive number: whether shares come or go is said by the action"
            }
            Self::Comma => "leave out the comma",
            Self::Sign => "write the amount without a sign, and the currency code after it",
            Self::BarePoint => "write a digit before and after the point",
            Self::TooLong => "round it to fewer decimals",
        }
    }
}

/// Reads `12`, `12.50`, `0.001`; keeps trailing zeros, so that printing gives the text back.
pub fn parse(text: &str) -> Result<Decimal, BadNumber> {
    let mut mantissa: i128 = 0;
    let mut digits = 0_usize;
    let mut point: Option<usize> = None;
    for byte in text.bytes() {
        match byte {
            b'0'..=b'9' => {
                digits += 1;
                if digits > MOST_DIGITS {
                    return Err(complaint(text));
                }
                mantissa = mantissa * 10 + i128::from(byte - b'0');
            }
            b'.' if point.is_none() && digits > 0 => point = Some(digits),
            _ => return Err(complaint(text)),
        }
    }
    let scale = digits - point.unwrap_or(digits);
    if digits == 0 || point == Some(digits) {
        return Err(complaint(text));
    }
    let scale = u32::try_from(scale).map_err(|_| BadNumber::TooLong)?;
    Decimal::try_from_i128_with_scale(mantissa, scale).map_err(|_| BadNumber::TooLong)
}

fn complaint(text: &str) -> BadNumber {
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let has_sign = |c: char| matches!(c, '£' | '$' | '€' | '¥');
    let rest_is_digits = |text: &str| parse(text).is_ok();
    if digits == 0 {
        BadNumber::NotANumber
    } else if text.contains(has_sign) {
        BadNumber::Sign
    } else if text.strip_prefix(['-', '−']).is_some_and(rest_is_digits) {
        BadNumber::Negative
    } else if text.contains(',') && rest_is_digits(&text.replace(',', "")) {
        BadNumber::Comma
    } else if !text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
        BadNumber::NotANumber
    } else if digits > MOST_DIGITS {
        BadNumber::TooLong
    } else if text.starts_with('.') || text.ends_with('.') {
        BadNumber::BarePoint
    } else {
        BadNumber::NotANumber
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
            ("", BadNumber::NotANumber),
            ("x", BadNumber::NotANumber),
            ("-1", BadNumber::Negative),
            ("1,000", BadNumber::Comma),
            ("£5", BadNumber::Sign),
            ("$5.20", BadNumber::Sign),
            (".5", BadNumber::BarePoint),
            ("5.", BadNumber::BarePoint),
            ("1.2.3", BadNumber::NotANumber),
            ("1e5", BadNumber::NotANumber),
            ("12345678901234567890123456789", BadNumber::TooLong),
            ("١٢", BadNumber::NotANumber),
        ];
        for (text, expected) in cases {
            assert_eq!(parse(text), Err(expected), "text: {text:?}");
        }
    }
}
