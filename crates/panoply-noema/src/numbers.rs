//! Numeric conversions. All casts of the crate are here.

/// Converts a count.
#[expect(clippy::cast_precision_loss, reason = "no count here comes near 2^53")]
pub const fn to_f64(count: i64) -> f64 {
    count as f64
}

/// Converts a length.
pub fn len_to_f64(length: usize) -> f64 {
    to_f64(i64::try_from(length).unwrap_or(i64::MAX))
}

/// Converts an unsigned count.
#[expect(clippy::cast_precision_loss, reason = "no count here comes near 2^53")]
pub const fn u64_to_f64(count: u64) -> f64 {
    count as f64
}

/// Converts a length to the type that replies use.
pub fn len_to_u64(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}

/// Rounds to the nearest integer, ties to even; saturates.
#[expect(clippy::cast_possible_truncation, reason = "float casts saturate, which is the rule here")]
pub fn round_to_i64(value: f64) -> i64 {
    value.round_ties_even() as i64
}

/// [`round_to_i64`], clamped to zero and above.
pub fn round_to_u32(value: f64) -> u32 {
    u32::try_from(round_to_i64(value).max(0)).unwrap_or(u32::MAX)
}

/// Converts to the precision of Anki and of the `fsrs` crate.
#[expect(clippy::cast_possible_truncation, reason = "Anki and the fsrs crate use f32")]
pub const fn to_f32(value: f64) -> f32 {
    value as f32
}

/// Rounds to `places` decimals for display.
pub fn round_to(value: f64, places: i32) -> f64 {
    let scale = 10_f64.powi(places);
    (value * scale).round() / scale
}
