//! Tenants: whose data a call acts on. A principal proves who calls, a tenant owns data, a profile
//! says what the caller may do.
//!
//! A tenant is a person or a workspace. Data of a pack belong to one of the two
//! ([`Tenancy`]). The local tenant is the home itself: stdio, the command line, open loopback
//! servers and keys without a user act on it.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, LazyLock};

use sha2::{Digest as _, Sha256};

/// Id of a tenant: `local`, `person-` or `team-` and 32 hexadecimal digits. It has no characters
/// with a meaning in paths, so it is also the name of the tenant's folder, and it does not contain
/// the name of a person.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct TenantId(Arc<str>);

/// Kind of a tenant.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum TenantKind {
    /// One person.
    Person,
    /// A workspace that persons share.
    Workspace,
}

impl TenantKind {
    const fn prefix(self) -> &'static str {
        match self {
            Self::Person => "person-",
            Self::Workspace => "team-",
        }
    }
}

static LOCAL: LazyLock<Arc<str>> = LazyLock::new(|| "local".into());

impl TenantId {
    /// The tenant of the home itself.
    pub fn local() -> Self {
        Self(Arc::clone(&LOCAL))
    }

    /// A tenant with a random number.
    pub fn new(kind: TenantKind, random: [u8; 16]) -> Self {
        Self(format!("{}{}", kind.prefix(), hex(&random)).into())
    }

    /// Parses an id; refuses every other text.
    pub fn parse(text: &str) -> Option<Self> {
        let is_number = |digits: &str| {
            digits.len() == 32
                && digits.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
        };
        if text == &**LOCAL {
            return Some(Self::local());
        }
        [TenantKind::Person, TenantKind::Workspace]
            .into_iter()
            .any(|kind| text.strip_prefix(kind.prefix()).is_some_and(is_number))
            .then(|| Self(text.into()))
    }

    /// Whether this is the tenant of the home itself.
    pub fn is_local(&self) -> bool {
        Arc::ptr_eq(&self.0, &LOCAL) || *self.0 == **LOCAL
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for TenantId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The tenants a caller acts for.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Tenants {
    /// Whose cards and preferences.
    pub person: TenantId,
    /// Whose runs, documents and portfolios.
    pub workspace: TenantId,
}

impl Default for Tenants {
    fn default() -> Self {
        Self::of(TenantId::local())
    }
}

impl Tenants {
    /// A person without a shared workspace.
    pub fn of(person: TenantId) -> Self {
        Self { workspace: person.clone(), person }
    }

    /// The partition of a credential: `person-…/key:ID`, with a shared workspace
    /// `person-…@team-…/key:ID`. Of the local tenant it is the credential alone.
    pub fn partition(&self, credential: &str) -> String {
        let Self { person, workspace } = self;
        match (person.is_local(), person == workspace) {
            (true, true) => credential.to_owned(),
            (false, true) => format!("{person}/{credential}"),
            (_, false) => format!("{person}@{workspace}/{credential}"),
        }
    }
}

/// Versions of a caller's data by pack, as of the admission. A store that returns them with the
/// credential spares a query per call; without one, each pack is asked.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct DataVersions(Option<Arc<BTreeMap<String, u64>>>);

impl DataVersions {
    /// These versions, by the name of the pack.
    pub fn new(versions: BTreeMap<String, u64>) -> Self {
        Self(Some(Arc::new(versions)))
    }

    /// The version of a pack's data; `None` if the admission did not return it.
    pub fn of(&self, pack: &str) -> Option<u64> {
        self.0.as_ref()?.get(pack).copied()
    }
}

/// Whose data the tools of a pack read and change.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Tenancy {
    /// None: they compute from their input and public data.
    #[default]
    Global,
    /// The caller's own.
    Person,
    /// Those of the caller's workspace.
    Workspace,
}

impl Tenancy {
    /// The tenant that a pack of this tenancy uses for a caller.
    pub fn tenant(self, tenants: &Tenants) -> TenantId {
        match self {
            Self::Global => TenantId::local(),
            Self::Person => tenants.person.clone(),
            Self::Workspace => tenants.workspace.clone(),
        }
    }
}

/// The identity that a credential proves, as `user_…`. Made from an issuer and a subject, or from
/// a key; never the text of a token itself.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Principal(Arc<str>);

impl Principal {
    /// The user who started the program.
    pub fn local() -> Self {
        static LOCAL: LazyLock<Arc<str>> = LazyLock::new(|| "user_local".into());
        Self(Arc::clone(&LOCAL))
    }

    /// The subject of a verified token. Issuer and subject are hashed: a subject that looks like
    /// another principal must not become it, and an e-mail address must not appear in logs.
    pub fn of_subject(issuer: &str, subject: &str) -> Self {
        Self(format!("user_{}", short_hash(&[issuer, subject])).into())
    }

    /// A named user of keys.
    pub fn of_tenant(tenant: &TenantId) -> Self {
        Self(format!("user_{tenant}").into())
    }

    /// The user that an older key without a user was created for.
    pub fn of_key(user_id: &str) -> Self {
        Self(user_id.into())
    }

    /// The principal as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Identifies a workspace named in a token, apart from workspaces of the same name elsewhere.
pub fn workspace_key(issuer: &str, name: &str) -> String {
    short_hash(&["workspace", issuer, name])
}

/// Hash of texts that contain no NUL, as 32 hexadecimal digits.
fn short_hash(parts: &[&str]) -> String {
    let digest: [u8; 32] = Sha256::digest(parts.join("\0")).into();
    let (half, _) = digest.split_at(16);
    hex(half)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tenant_ids_are_safe_as_folder_names() {
        let made = TenantId::new(TenantKind::Person, [0xab; 16]);
        assert_eq!(made.as_str(), format!("person-{}", "ab".repeat(16)));
        assert_eq!(TenantId::parse(made.as_str()), Some(made.clone()));
        assert!(TenantId::parse("local").is_some_and(|tenant| tenant.is_local()));
        let upper = format!("person-{}", "AB".repeat(16));
        let long = format!("{made}0");
        for bad in ["", ".", "..", "person-", "person-../../etc", "ann", &upper, &long] {
            assert_eq!(TenantId::parse(bad), None, "id: {bad:?}");
        }
    }

    #[test]
    fn partitions_of_tenants_never_equal_those_of_the_local_tenant() {
        let person = TenantId::new(TenantKind::Person, [1; 16]);
        let team = TenantId::new(TenantKind::Workspace, [2; 16]);
        let shared = Tenants { person: person.clone(), workspace: team.clone() };
        assert_eq!(Tenants::default().partition("key:a"), "key:a");
        assert_eq!(Tenants::of(person.clone()).partition("key:a"), format!("{person}/key:a"));
        assert_eq!(shared.partition("key:a"), format!("{person}@{team}/key:a"));
        assert_eq!(Tenancy::Person.tenant(&shared), person);
        assert_eq!(Tenancy::Workspace.tenant(&shared), team);
        assert!(Tenancy::Global.tenant(&shared).is_local());
    }

    #[test]
    fn a_subject_cannot_take_the_identity_of_another_principal() {
        for subject in ["user_local", "user_7", "local", "person-00"] {
            let principal = Principal::of_subject("https://i", subject);
            assert!(!principal.as_str().contains(subject), "subject: {subject}");
        }
        let ann = |issuer: &str| Principal::of_subject(issuer, "ann@example.com");
        assert_ne!(ann("https://i"), ann("https://other"));
        assert_eq!(ann("https://i"), ann("https://i"));
    }
}
