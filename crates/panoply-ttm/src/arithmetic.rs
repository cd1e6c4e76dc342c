//! Reproducible floating-point arithmetic.
//!
//! The logarithm of the standard library is platform-dependent in its last bit, which would change
//! reply hashes. IEEE 754 addition, multiplication, division and square root are exact.

/// Natural logarithm of a positive number.
pub(crate) fn ln(value: f64) -> f64 {
    const LN_2: f64 = std::f64::consts::LN_2;
    if value <= 0.0 || !value.is_finite() {
        return 0.0;
    }
    let mut mantissa = value;
    let mut halvings = 0.0;
    while mantissa > std::f64::consts::SQRT_2 {
        mantissa /= 2.0;
        halvings += 1.0;
    }
    while mantissa < std::f64::consts::FRAC_1_SQRT_2 {
        mantissa *= 2.0;
        halvings -= 1.0;
    }
    // ln m = 2 artanh((m − 1) / (m + 1)); the argument is below 0.172.
    let ratio = (mantissa - 1.0) / (mantissa + 1.0);
    let square = ratio * ratio;
    let mut power = ratio;
    let mut sum = 0.0;
    let mut odd = 1.0;
    for _ in 0..12 {
        sum += power / odd;
        power *= square;
        odd += 2.0;
    }
    2.0 * sum + halvings * LN_2
}

/// Computes `exp` with IEEE-exact operations only. The standard library delegates to the platform,
/// whose last bit may differ, and reply hashes must be identical everywhere.
pub(crate) fn exp(value: f64) -> f64 {
    let value = value.clamp(-60.0, 60.0);
    // exp(v) = exp(v / 1024)^1024; the Taylor series converges quickly for a small argument.
    let small = value / 1024.0;
    let mut term = 1.0;
    let mut sum = 1.0;
    let mut place = 1.0;
    for _ in 0..10 {
        term *= small / place;
        sum += term;
        place += 1.0;
    }
    (0..10).fold(sum, |power, _| power * power)
}

/// Rounds to four digits: lower digits are rounding noise and would make replies differ.
pub(crate) fn round4(value: f64) -> f64 {
    (value * 1e4).round() / 1e4
}

/// Rounds to six digits: lower digits depend on the summation order.
pub(crate) fn round6(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

/// SplitMix64 pseudo-random numbers (Steele, Lea and Flood 2014), identical on every machine.
#[derive(Clone, Debug)]
pub(crate) struct SplitMix64(u64);

impl SplitMix64 {
    pub(crate) const fn seeded(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns the next 64 bits.
    pub(crate) const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// Returns a number below `bound`, or 0.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % (bound as u64).max(1)).unwrap_or_default()
    }

    /// Returns −1 or 1 (Rademacher distribution), sufficient for a random projection.
    pub(crate) const fn sign(&mut self) -> f32 {
        if self.next() & 1 == 0 { 1.0 } else { -1.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exp_matches_published_tables() {
        // Abramowitz and Stegun, table 4.4.
        for (value, expected) in [
            (0.0, 1.0),
            (1.0, std::f64::consts::E),
            (-2.0, 0.135_335_283_236_613),
            (10.0, 22_026.465_794_806_72),
        ] {
            assert!((exp(value) / expected - 1.0).abs() < 1e-10, "{value}: {}", exp(value));
        }
    }

    #[test]
    fn ln_agrees_with_the_standard_library() {
        for value in [1e-9, 0.1, 0.5, 0.999, 1.0, 1.5, 2.0, 10.0, 12_345.678, 1e12] {
            let value: f64 = value;
            assert!((ln(value) - value.ln()).abs() < 1e-12, "{value}");
        }
    }

    #[test]
    fn splitmix64_matches_the_reference_implementation() {
        // The first value of the reference implementation for seed 0.
        assert_eq!(SplitMix64::seeded(0).next(), 0xe220_a839_7b1d_cdaf);
    }
}
