//! Permissions (`resource:action`) and the profiles that grant them.

use std::borrow::Cow;
use std::fmt;

/// All actions of permissions. A closed list, so that profiles can be verified.
pub const ACTIONS: &[&str] =
    &["read", "create", "update", "delete", "approve", "import", "export", "write", "run", "admin"];

/// Whether `text` is `resource:action` with a known action; usable while compiling.
#[expect(
    clippy::indexing_slicing,
    reason = "const fns have no `get`; every index is below a length just compared"
)]
pub const fn is_permission(text: &str) -> bool {
    let bytes = text.as_bytes();
    let mut colon = 0;
    while colon < bytes.len() && bytes[colon] != b':' {
        if !bytes[colon].is_ascii_lowercase() && bytes[colon] != b'-' {
            return false;
        }
        colon += 1;
    }
    if colon == 0 || colon == bytes.len() {
        return false;
    }
    let mut index = 0;
    while index < ACTIONS.len() {
        if tail_equals(bytes, colon + 1, ACTIONS[index].as_bytes()) {
            return true;
        }
        index += 1;
    }
    false
}

#[expect(
    clippy::indexing_slicing,
    reason = "const fns have no `get`; the lengths were just compared"
)]
const fn tail_equals(bytes: &[u8], from: usize, expected: &[u8]) -> bool {
    if bytes.len() - from != expected.len() {
        return false;
    }
    let mut index = 0;
    while index < expected.len() {
        if bytes[from + index] != expected[index] {
            return false;
        }
        index += 1;
    }
    true
}

/// Permission to read what others share with the caller, for callers who may read no data of
/// their own tenant.
pub const SHARED_ITEMS: &str = "shared-items:read";

/// A named set of grants.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Profile {
    /// The owner of the machine or account.
    Owner,
    /// An agent acting for the owner: everything except delete, approve, administer and guarded
    /// writes.
    Agent,
    /// Read-only access.
    Reader,
    /// Operation of the server: health, metrics, audit rows and users; no data of a tenant, except
    /// for items that their owner shares with the operator.
    Operator,
}

impl Profile {
    /// Every profile.
    pub const ALL: [Self; 4] = [Self::Owner, Self::Agent, Self::Reader, Self::Operator];

    /// Its name in settings and key files.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Owner => "owner",
            Self::Agent => "agent",
            Self::Reader => "reader",
            Self::Operator => "operator",
        }
    }

    /// The profile of that name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|profile| profile.as_str() == name)
    }

    /// Granted permissions, listed explicitly so that startup detects a permission without a grant.
    pub const fn grants(self) -> &'static [&'static str] {
        match self {
            Self::Owner => &[
                "*:read",
                "*:create",
                "*:update",
                "*:delete",
                "*:approve",
                "*:import",
                "*:export",
                "*:write",
                "*:run",
                "*:admin",
            ],
            Self::Agent => &["*:read", "*:create", "*:update", "*:import", "*:export", "*:run"],
            Self::Reader => &["*:read"],
            Self::Operator => &[
                "tools:read",
                "metrics:read",
                "metrics:admin",
                "audit:read",
                "audit:admin",
                "users:read",
                "shares:read",
                SHARED_ITEMS,
            ],
        }
    }
}

/// The permissions of a caller.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Grants(Vec<Cow<'static, str>>);

impl Grants {
    /// The grants of a profile.
    pub fn of(profile: Profile) -> Self {
        Self(profile.grants().iter().copied().map(Cow::Borrowed).collect())
    }

    /// Parses patterns (`cards:read`, `cards:*`, `*:read`); ignores others, because a token may
    /// contain scopes of other services.
    pub fn from_patterns<'a>(patterns: impl IntoIterator<Item = &'a str>) -> Self {
        let well_formed = patterns.into_iter().filter(|pattern| is_pattern(pattern));
        Self(well_formed.map(|pattern| Cow::Owned(pattern.to_owned())).collect())
    }

    /// Whether `permission` is granted.
    pub fn allow(&self, permission: &str) -> bool {
        self.0.iter().any(|pattern| matches(pattern, permission))
    }

    /// Those of `required` that are not granted.
    pub fn missing<'a>(&self, required: &[&'a str]) -> Vec<&'a str> {
        required.iter().copied().filter(|permission| !self.allow(permission)).collect()
    }

    /// Whether all of `required` are granted.
    pub fn allow_all(&self, required: &[&str]) -> bool {
        required.iter().all(|permission| self.allow(permission))
    }
}

impl fmt::Display for Grants {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join(" "))
    }
}

fn is_pattern(pattern: &str) -> bool {
    let Some((resource, action)) = pattern.split_once(':') else { return false };
    let resource_fits = resource == "*"
        || (!resource.is_empty()
            && resource.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-'));
    resource_fits && (action == "*" || ACTIONS.contains(&action))
}

fn matches(pattern: &str, permission: &str) -> bool {
    let (Some((wanted_resource, wanted_action)), Some((resource, action))) =
        (pattern.split_once(':'), permission.split_once(':'))
    else {
        return false;
    };
    (wanted_resource == "*" || wanted_resource == resource)
        && (wanted_action == "*" || wanted_action == action)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_permission_names_a_resource_and_a_known_action() {
        let cases = [
            ("cards:create", true),
            ("kg:write", true),
            ("study-plans:read", true),
            ("cards:fly", false),
            ("cards", false),
            (":read", false),
            ("cards:", false),
            ("Cards:read", false),
            ("cards:read:all", false),
        ];
        for (text, expected) in cases {
            assert_eq!(is_permission(text), expected, "permission: {text:?}");
        }
    }

    #[test]
    fn a_reader_reads_and_nothing_else() {
        let reader = Grants::of(Profile::Reader);
        assert!(reader.allow("cards:read"));
        for action in ACTIONS.iter().filter(|action| **action != "read") {
            assert!(!reader.allow(&format!("cards:{action}")), "action: {action}");
        }
    }

    #[test]
    fn an_owner_may_do_every_known_action() {
        let owner = Grants::of(Profile::Owner);
        for action in ACTIONS {
            assert!(owner.allow(&format!("anything:{action}")), "action: {action}");
        }
    }

    #[test]
    fn scopes_that_are_not_patterns_grant_nothing() {
        let grants =
            Grants::from_patterns(["openid", "cards:read", "decks:*", "*:fly", "", "a:b:c"]);
        assert_eq!(grants.to_string(), "cards:read decks:*");
        assert_eq!(
            grants.missing(&["cards:read", "cards:create", "decks:delete"]),
            ["cards:create"]
        );
    }
}
