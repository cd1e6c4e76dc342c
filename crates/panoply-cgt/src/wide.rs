//! `a × b ÷ c` with a 256-bit intermediate product.

/// `a × b ÷ c`, rounded half up; `None` when `c` is zero or on overflow.
pub(crate) fn mul_div(a: u128, b: u128, c: u128) -> Option<u128> {
    if c == 0 {
        return None;
    }
    let (quotient, remainder) = match a.checked_mul(b) {
        Some(product) => (product / c, product % c),
        None => divide(multiply(a, b), c)?,
    };
    // `remainder ≥ c / 2`, in a form that cannot overflow.
    if remainder >= c - remainder { quotient.checked_add(1) } else { Some(quotient) }
}

/// 256-bit number: high and low 128 bits.
type Wide = (u128, u128);

const HALF: u32 = 64;
const LOW: u128 = (1 << HALF) - 1;

/// Schoolbook multiplication with 64-bit digits.
const fn multiply(a: u128, b: u128) -> Wide {
    let (a1, a0) = (a >> HALF, a & LOW);
    let (b1, b0) = (b >> HALF, b & LOW);
    let low = a0 * b0;
    let (middle, carry) = (a1 * b0).overflowing_add(a0 * b1);
    let (low, low_carry) = low.overflowing_add(middle << HALF);
    let high = a1 * b1 + (middle >> HALF) + ((carry as u128) << HALF) + low_carry as u128;
    (high, low)
}

/// Bitwise long division. Slow, but reached only by products beyond 128 bits.
fn divide((high, low): Wide, divisor: u128) -> Option<(u128, u128)> {
    if high >= divisor {
        return None;
    }
    let (mut remainder, mut quotient) = (high, 0_u128);
    for bit in (0..128).rev() {
        let overflows = remainder >> 127 == 1;
        remainder = (remainder << 1) | ((low >> bit) & 1);
        quotient <<= 1;
        if overflows || remainder >= divisor {
            remainder = remainder.wrapping_sub(divisor);
            quotient |= 1;
        }
    }
    Some((quotient, remainder))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn mul_div_handles_256_bit_intermediates() {
        // Verified with Python integers: round-half-up of a * b / c.
        let cases = [
            (10, 1, 4, Some(3)),
            (9, 1, 4, Some(2)),
            (u128::MAX, u128::MAX, u128::MAX, Some(u128::MAX)),
            (u128::MAX, 3, 7, Some(145_835_300_108_973_627_198_589_117_470_757_804_909)),
            (
                10_u128.pow(38),
                10_u128.pow(38),
                3 * 10_u128.pow(38),
                Some(33_333_333_333_333_333_333_333_333_333_333_333_333),
            ),
            (u128::MAX, 2, 1, None),
            (1, 1, 0, None),
        ];
        for (a, b, c, expected) in cases {
            assert_eq!(mul_div(a, b, c), expected, "{a} * {b} / {c}");
        }
    }

    proptest! {
        #[test]
        fn mul_div_inverts_multiplication(a: u128, b in 1_u128.., ) {
            prop_assert_eq!(mul_div(a, b, b), Some(a));
        }

        #[test]
        fn wide_division_agrees_with_native_division(a: u64, b: u64, c in 1_u128..) {
            let product = u128::from(a) * u128::from(b);
            prop_assert_eq!(divide((0, product), c), Some((product / c, product % c)));
        }
    }
}
