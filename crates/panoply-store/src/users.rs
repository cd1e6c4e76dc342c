//! Users and workspaces: who has a tenant, who is a member of which workspace, who operates the
//! server.

use jiff::Timestamp;
use panoply_contract::tenant::{Principal, TenantId, TenantKind, Tenants};

use crate::error::StoreError;

/// The users and workspaces of a server.
pub trait Users: Send + Sync + 'static {
    /// Adds a person, with the principal of a token's subject if it logs in with tokens.
    fn add(
        &self,
        name: &str,
        subject: Option<&Principal>,
        now: Timestamp,
    ) -> Result<TenantRecord, UsersError>;

    /// Makes a person a member of a workspace, which is created with its first member.
    fn join(&self, user: &str, workspace: &str, now: Timestamp) -> Result<(), UsersError>;

    /// Ends a membership; keys for the workspace stop working.
    fn leave(&self, user: &str, workspace: &str) -> Result<(), UsersError>;

    /// Grants or withdraws the operation of the server.
    fn set_operator(&self, user: &str, operator: bool) -> Result<(), UsersError>;

    /// Removes a person's access: keys and tokens stop working. The data stay.
    fn remove(&self, user: &str, now: Timestamp) -> Result<(), UsersError>;

    /// Begins to erase a person, or a workspace without members: access ends, and the mark lets an
    /// interrupted erasure go on.
    fn begin_erase(&self, name: &str, now: Timestamp) -> Result<TenantRecord, UsersError>;

    /// Workspaces whose last member left or was removed, so that no owner is left to withdraw their
    /// shares. Those of a token are not among them, because the issuer keeps their members.
    fn workspaces_without_members(&self) -> Result<Vec<TenantRecord>, StoreError>;

    /// Deletes name, keys and memberships of a person or workspace, last of all: afterwards nothing
    /// links the id in audit rows to the name.
    fn forget(&self, tenant: &TenantId) -> Result<(), StoreError>;

    /// All persons and workspaces, by kind and name.
    fn list(&self) -> Result<Vec<TenantRecord>, StoreError>;

    /// Names of the workspaces of a person.
    fn workspaces(&self, person: &TenantId) -> Result<Vec<String>, StoreError>;

    /// The person of this name, or else the workspace.
    fn tenant(&self, name: &str) -> Result<TenantRecord, UsersError>;

    /// The person of this name.
    fn person(&self, name: &str) -> Result<TenantRecord, UsersError>;

    /// The tenants of a person, or of a person in a workspace.
    fn tenants_of(&self, user: &str, workspace: Option<&str>) -> Result<Tenants, UsersError>;

    /// The account of a token's subject; `None` for an unknown one. With `create` an unknown
    /// subject gets an account. `workspace` is the key of a workspace that the token names.
    fn account(
        &self,
        subject: &Principal,
        workspace: Option<&str>,
        create: bool,
        now: Timestamp,
    ) -> Result<Option<Account>, StoreError>;
}

/// A person or workspace.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct TenantRecord {
    /// Its id.
    pub id: TenantId,
    /// Its kind.
    pub kind: TenantKind,
    /// Name chosen by the operator.
    pub name: String,
    /// Whether it was created from a token.
    pub from_token: bool,
    /// Whether the person operates the server.
    pub operator: bool,
    /// When it was created.
    pub created: Timestamp,
    /// When the user was removed: no credential works since.
    pub disabled: Option<Timestamp>,
    /// When erasing began.
    pub erasing: Option<Timestamp>,
}

/// The account of an admitted token.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Account {
    /// Whose data its calls act on.
    pub tenants: Tenants,
    /// Whether the person operates the server.
    pub operator: bool,
    /// Whether the user was removed.
    pub disabled: bool,
}

/// Why users could not be changed.
#[derive(Debug, thiserror::Error)]
pub enum UsersError {
    /// The store.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The name is taken.
    #[error("the name `{0}` is taken")]
    Taken(String),
    /// There is no person of this name.
    #[error("there is no user `{0}`")]
    UnknownUser(String),
    /// The workspace still has members.
    #[error("the workspace `{0}` has members")]
    HasMembers(String),
    /// The person is not a member of a workspace of this name.
    #[error("`{user}` is not a member of the workspace `{workspace}`")]
    NotAMember {
        /// The person.
        user: String,
        /// The workspace.
        workspace: String,
    },
    /// The name does not fit.
    #[error("`{0}` is not a name: use 1 to 40 letters, digits, `-`, `_`, `.` or `@`")]
    BadName(String),
}

/// Name of a tenant that was created from a token: the part of its key that is unique enough.
pub fn token_name(key: &str) -> String {
    let digits: String = key.trim_start_matches("user_").chars().take(12).collect();
    format!("oauth-{digits}")
}

/// The name, if it has the form of one.
pub fn checked_name(name: &str) -> Result<&str, UsersError> {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.@".contains(&byte);
    let fits = (1..=40).contains(&name.len()) && name.bytes().all(allowed);
    if fits { Ok(name) } else { Err(UsersError::BadName(name.chars().take(60).collect())) }
}

/// The error of a person who is not a member of a workspace.
pub fn not_a_member(user: &str, workspace: &str) -> UsersError {
    UsersError::NotAMember { user: user.to_owned(), workspace: workspace.to_owned() }
}
