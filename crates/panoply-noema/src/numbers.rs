//! Conversions between counts and measures, in one place, so that no other file casts.

/// A count as a measure.
#[expect(clippy::cast_precision_loss, reason = "no count here comes near 2^53")]
pub const fn to_f64(count: i64) -> f64 {
    count as f64
}

/// A length as a measure.
pub fn len_to_f64(length: usize) -> f64 {
    to_f64(i64::try_from(length).unwrap_or(i64::MAX))
}

/// The round_to_i64 number next to `value`, ties to the even one; what does not fit is cut off.
#[expect(clippy::cast_possible_truncation, reason = "float casts saturate, which is the rule here")]
pub fn round_to_i64(value: f64) -> i64 {
    value.round_ties_even() as i64
}

/// As [`round_to_i64`], from zero up.
pub fn round_to_u32(value: f64) -> u32 {
    u32::try_from(round_to_i64(value).max(0)).unwrap_or(u32::MAX)
}

/// A measure in the precision of Anki and of the fitting crate.
#[expect(clippy::cast_possible_truncation, reason = "the other side keeps half the digits")]
pub const fn to_f32(value: f64) -> f32 {
    value as f32
}

/// Rounded to so many places after the point, for people and agents to read.
pub fn round_to(value: f64, places: i32) -> f64 {
    let scale = 10_f64.powi(places);
    (value * scale).round() / scale
}
