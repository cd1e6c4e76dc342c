//! Reproducible floating-point arithmetic.
//!
//! The logarithm of the standard library is platform-dependent in its last bit, which would change
//! reply hashes. IEEE 754 addition, multiplication, division and square root are exact.

/// Natural logarithm of a positive number.
pub(super) fn ln(value: f64) -> f64 {
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

/// SplitMix64 pseudo-random numbers.
#[derive(Clone, Debug)]
pub(super) struct SplitMix64(u64);

impl SplitMix64 {
    pub(super) const fn seeded(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns the next 64 bits.
    pub(super) const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// Returns −1 or 1 (Rademacher distribution), sufficient for a random projection.
    pub(super) const fn sign(&mut self) -> f32 {
        if self.next() & 1 == 0 { 1.0 } else { -1.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
