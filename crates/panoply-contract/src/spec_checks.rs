//! Contract rules that are checked at compile time.
//!
//! Everything here is `const fn`, hence the loops over bytes: iterators and string methods
//! are not available to the compiler's evaluator.

#![expect(
    clippy::indexing_slicing,
    reason = "const fns have no `get`; a slip here stops a build, not a server"
)]

use crate::permission;
use crate::spec::{CachePolicy, Category, ToolSpec};

/// Clients truncate longer descriptions.
const MAX_DESCRIPTION_BYTES: usize = 2048;
/// Minimum length required by the contract.
const MIN_DESCRIPTION_BYTES: usize = 50;
/// Cursor hides tools whose server and tool names together reach 60 characters.
const MAX_NAME_BYTES: usize = 50;
/// "Set removal date (minimum 90 days)".
const MIN_NOTICE_DAYS: i64 = 90;

#[expect(clippy::panic, reason = "in a const, a panic is how a compile error is raised")]
pub(crate) const fn fail_build(breach: &'static str) -> ! {
    panic!("{}", breach)
}

pub(crate) const fn first_breach(spec: &ToolSpec) -> Option<&'static str> {
    if !is_tool_name(spec.name) {
        return Some(
            "name: expected two or more lower-case words joined by `-` or by `_`, at most 50 characters",
        );
    }
    if spec.title.is_empty() {
        return Some("title: expected a short name for people");
    }
    let description = &spec.description;
    let length = description.does.len() + description.when.len() + description.returns.len();
    if description.does.is_empty() || description.when.is_empty() || description.returns.is_empty()
    {
        return Some("description: expected what it does, when to use it, and what it returns");
    }
    if length < MIN_DESCRIPTION_BYTES {
        return Some("description: expected at least 50 characters");
    }
    if length > MAX_DESCRIPTION_BYTES {
        return Some("description: expected at most 2048 characters");
    }
    if description.asks.is_empty() {
        return Some("description: expected at least one example use");
    }
    if !is_version(spec.version) {
        return Some("version: expected a semantic version such as 1.2.3");
    }
    if !all_are_permissions(spec.permissions) {
        return Some(
            "permissions: expected `resource:action` with a known action, such as `cards:create`",
        );
    }
    if spec.tags.is_empty() {
        return Some("tags: expected at least one");
    }
    if spec.examples.is_empty() {
        return Some("examples: expected at least one");
    }
    if let Some(breach) = cache_breach(spec) {
        return Some(breach);
    }
    if matches!(spec.category, Category::Mutation) && spec.data.is_empty() {
        return Some(
            "data: a mutation names the data it changes, so that cached replies about them end",
        );
    }
    if !matches!(spec.category, Category::Mutation) && spec.annotations.destructive {
        return Some("annotations: only a mutation can be destructive");
    }
    if let Some(limit) = &spec.rate_limit
        && (limit.max_calls == 0 || limit.window.is_zero())
    {
        return Some("rate_limit: expected at least one call in a window longer than nothing");
    }
    if let Some(deprecation) = &spec.deprecated {
        let (Some(announced), Some(removal)) =
            (day_number(deprecation.announced), day_number(deprecation.removal_date))
        else {
            return Some("deprecated: expected dates as YYYY-MM-DD");
        };
        if removal - announced < MIN_NOTICE_DAYS {
            return Some("deprecated: the removal date is at least 90 days after the announcement");
        }
    }
    None
}

const fn cache_breach(spec: &ToolSpec) -> Option<&'static str> {
    match spec.cache {
        CachePolicy::Never => None,
        CachePolicy::For(ttl) | CachePolicy::Tenant(ttl) | CachePolicy::Shared(ttl) => {
            if matches!(spec.category, Category::Mutation) {
                Some("cache: a mutation is never cached")
            } else if ttl.as_secs() == 0 {
                Some("cache: a cacheable tool needs a time to live of at least a second")
            } else if !spec.idempotent {
                Some("cache: a tool whose results vary cannot be cached")
            } else {
                None
            }
        }
    }
}

/// Two or more words of `[a-z0-9]`, all joined by `-` or all by `_`, starting with a letter.
pub(crate) const fn is_tool_name(name: &str) -> bool {
    let bytes = name.as_bytes();
    if bytes.is_empty() || bytes.len() > MAX_NAME_BYTES || !bytes[0].is_ascii_lowercase() {
        return false;
    }
    let mut joiner = 0;
    let mut index = 1;
    while index < bytes.len() {
        let byte = bytes[index];
        let joins = byte == b'-' || byte == b'_';
        if joins {
            let doubled = bytes[index - 1] == byte;
            let mixed = joiner != 0 && joiner != byte;
            if doubled || mixed || index + 1 == bytes.len() {
                return false;
            }
            joiner = byte;
        } else if !byte.is_ascii_lowercase() && !byte.is_ascii_digit() {
            return false;
        }
        index += 1;
    }
    joiner != 0
}

/// Three numbers joined by dots.
const fn is_version(version: &str) -> bool {
    let bytes = version.as_bytes();
    let (mut dots, mut index, mut digits) = (0, 0, 0);
    while index < bytes.len() {
        if bytes[index] == b'.' {
            if digits == 0 {
                return false;
            }
            dots += 1;
            digits = 0;
        } else if bytes[index].is_ascii_digit() {
            digits += 1;
        } else {
            return false;
        }
        index += 1;
    }
    dots == 2 && digits > 0
}

const fn all_are_permissions(permissions: &[&str]) -> bool {
    let mut index = 0;
    while index < permissions.len() {
        if !permission::is_permission(permissions[index]) {
            return false;
        }
        index += 1;
    }
    true
}

/// Days since 1970-01-01 of a date written `YYYY-MM-DD`.
const fn day_number(date: &str) -> Option<i64> {
    let bytes = date.as_bytes();
    if bytes.len() != 10 || bytes[4] != b'-' || bytes[7] != b'-' {
        return None;
    }
    let (Some(year), Some(month), Some(day)) =
        (digits(bytes, 0, 4), digits(bytes, 5, 7), digits(bytes, 8, 10))
    else {
        return None;
    };
    if month < 1 || month > 12 || day < 1 || day > 31 {
        return None;
    }
    // Howard Hinnant's days_from_civil: March starts the year, so leap days fall at its end.
    let shifted_year = if month <= 2 { year - 1 } else { year };
    let era = shifted_year / 400;
    let year_of_era = shifted_year - era * 400;
    let month_from_march = (month + 9) % 12;
    let day_of_year = (153 * month_from_march + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    Some(era * 146_097 + day_of_era - 719_468)
}

const fn digits(bytes: &[u8], from: usize, to: usize) -> Option<i64> {
    let (mut value, mut index) = (0, from);
    while index < to {
        if !bytes[index].is_ascii_digit() {
            return None;
        }
        value = value * 10 + (bytes[index] - b'0') as i64;
        index += 1;
    }
    Some(value)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::spec::{Annotations, Deprecation, Description, RateLimit};
    use crate::testing::SAMPLE_SPEC;

    #[test]
    fn a_tool_name_is_two_or_more_words_in_one_case() {
        let cases = [
            ("create-card", true),
            ("get_rmf_fund_nav_history", true),
            ("query_kg", true),
            ("card", false),
            ("Create-Card", false),
            ("create--card", false),
            ("create-card-", false),
            ("get_rmf-funds", false),
            ("tool.query_kg", false),
            ("-card", false),
            ("2-cards", false),
            ("", false),
            ("a-name-that-goes-on-and-on-until-no-client-takes-it", false),
        ];
        for (name, expected) in cases {
            assert_eq!(is_tool_name(name), expected, "name: {name:?}");
        }
    }

    #[test]
    fn every_breach_of_a_spec_is_reported() {
        let (long, empty) = (Box::leak("x".repeat(3000).into_boxed_str()), Duration::ZERO);
        let description = |does, asks| Description { does, when: "When?", returns: "What?", asks };
        let cached = |ttl| CachePolicy::For(Duration::from_secs(ttl));
        let leaving = |announced, removal_date| {
            Some(Deprecation { since: "1.1.0", announced, replacement: "x", removal_date })
        };
        let cases: Vec<(&str, ToolSpec)> = vec![
            ("name", ToolSpec { name: "Sample", ..SAMPLE_SPEC }),
            ("title", ToolSpec { title: "", ..SAMPLE_SPEC }),
            ("at least 50", ToolSpec { description: description("Short.", &["a"]), ..SAMPLE_SPEC }),
            ("at most 2048", ToolSpec { description: description(long, &["a"]), ..SAMPLE_SPEC }),
            ("what it does", ToolSpec { description: description("", &["a"]), ..SAMPLE_SPEC }),
            (
                "example use",
                ToolSpec {
                    description: description(SAMPLE_SPEC.description.does, &[]),
                    ..SAMPLE_SPEC
                },
            ),
            ("version", ToolSpec { version: "one", ..SAMPLE_SPEC }),
            ("permissions", ToolSpec { permissions: &["samples"], ..SAMPLE_SPEC }),
            ("tags", ToolSpec { tags: &[], ..SAMPLE_SPEC }),
            ("examples", ToolSpec { examples: &[], ..SAMPLE_SPEC }),
            (
                "never cached",
                ToolSpec {
                    cache: cached(9),
                    category: Category::Mutation,
                    data: &["x"],
                    ..SAMPLE_SPEC
                },
            ),
            ("time to live", ToolSpec { cache: cached(0), ..SAMPLE_SPEC }),
            ("vary", ToolSpec { cache: cached(9), idempotent: false, ..SAMPLE_SPEC }),
            ("names the data", ToolSpec { category: Category::Mutation, ..SAMPLE_SPEC }),
            (
                "destructive",
                ToolSpec {
                    annotations: Annotations { destructive: true, open_world: false },
                    ..SAMPLE_SPEC
                },
            ),
            (
                "rate_limit",
                ToolSpec {
                    rate_limit: Some(RateLimit { max_calls: 0, window: Duration::MAX }),
                    ..SAMPLE_SPEC
                },
            ),
            (
                "rate_limit",
                ToolSpec {
                    rate_limit: Some(RateLimit { max_calls: 1, window: empty }),
                    ..SAMPLE_SPEC
                },
            ),
            ("YYYY-MM-DD", ToolSpec { deprecated: leaving("soon", "2027-01-01"), ..SAMPLE_SPEC }),
            (
                "90 days",
                ToolSpec { deprecated: leaving("2026-11-15", "2027-02-12"), ..SAMPLE_SPEC },
            ),
        ];
        assert_eq!(SAMPLE_SPEC.breach(), None);
        assert_eq!(
            ToolSpec { deprecated: leaving("2026-11-15", "2027-02-13"), ..SAMPLE_SPEC }.breach(),
            None
        );
        for (expected, spec) in cases {
            let breach = spec.breach().unwrap_or("nothing");
            assert!(breach.contains(expected), "expected {expected:?}, got {breach:?}");
        }
    }

    #[test]
    fn a_version_is_three_numbers() {
        for (version, expected) in [
            ("1.2.3", true),
            ("10.0.12", true),
            ("1.2", false),
            ("1..2", false),
            ("1.2.3-rc", false),
            ("", false),
        ] {
            assert_eq!(is_version(version), expected, "version: {version:?}");
        }
    }

    #[test]
    fn day_numbers_agree_with_the_calendar_library() {
        for text in ["1970-01-01", "2000-02-29", "2026-11-15", "2100-03-01", "1999-12-31"] {
            let date: jiff::civil::Date = text.parse().unwrap();
            let expected = jiff::civil::date(1970, 1, 1).until(date).unwrap().get_days();
            assert_eq!(day_number(text), Some(i64::from(expected)), "date: {text}");
        }
        for text in ["2026-13-01", "2026-1-01", "tomorrow!!", "2026/01/01"] {
            assert_eq!(day_number(text), None, "date: {text}");
        }
    }
}
