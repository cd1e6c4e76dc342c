//! `panoply keys`: API keys for HTTP. Only a hash is stored, so a key is shown once.

use std::fs;
use std::process::ExitCode;
use std::sync::{Arc, OnceLock};

use jiff::Timestamp;
use panoply_contract::clock::Clock as _;
use panoply_contract::permission::{Grants, Profile};
use panoply_contract::table::Table;
use panoply_contract::tenant::{Principal, Tenants};
use panoply_mcp::auth::{Account, Accounts, ApiKey, KeyHash, KeyStore, KeysUnavailable};
use panoply_store::keys::{CreatedKey, KeyRecord, NewKey};
use panoply_store::{ApiKeys, Home, StoreError, SystemClock, Users};
use serde_json::{Value, json};

use super::Session;
use super::backup::record;
use crate::cli::{KeyProfile, Keys};
use crate::config::Config;
use crate::failure::Failure;
use crate::out::{BOLD, FAINT, Out, notice};
use crate::stores;

pub(super) fn run(keys: &Keys, session: &Session) -> Result<ExitCode, Failure> {
    let config = session.config()?;
    let now = SystemClock::new().now();
    match keys {
        Keys::Create { name, profile, user, workspace, expires, json } => {
            let tenants = match user {
                Some(user) => super::users::open(&config)?
                    .tenants_of(user, workspace.as_deref())
                    .map_err(super::users::failed)?,
                // Replicas have no local tenant in common.
                None if stores::is_server() => {
                    return Err(Failure::usage("a key for a database server needs a user")
                        .hint("name one with --user"));
                }
                None => Tenants::default(),
            };
            let new = NewKey {
                label: name.clone(),
                tenants,
                profile: (*profile).into(),
                expires: expires
                    .map(|days| now + std::time::Duration::from_secs(u64::from(days) * 86_400)),
            };
            let store = open(&config)?;
            // Set before the key is created, so that a running server requires keys from then on.
            require_keys(&config)?;
            let created = store.create(new, now).map_err(failed)?;
            let about =
                json!({"id": created.record.id, "profile": created.record.profile.as_str()});
            record(&config.home.required()?, "panoply keys create", &about)?;
            print_created(created, now, *json)
        }
        Keys::List { json } => list(open_if_there(&config)?.as_deref(), now, *json),
        Keys::Revoke { id } => {
            let revoked = revoke(open_if_there(&config)?.as_deref(), id, now)?;
            record(&config.home.required()?, "panoply keys revoke", &json!({"id": id}))?;
            Ok(revoked)
        }
    }
}

fn print_created(created: CreatedKey, now: Timestamp, json: bool) -> Result<ExitCode, Failure> {
    let mut out = Out::new();
    if json {
        let mut record = as_json(&created.record, now);
        if let Some(record) = record.as_object_mut() {
            record.insert("key".to_owned(), created.text.into());
        }
        out.json(&record)?;
    } else {
        // Only the key goes to standard output, for scripts.
        notice(format_args!(
            "Key {BOLD}{}{BOLD:#} ({}) for `{}`. It is shown this once; send it as `Authorization: Bearer KEY`.",
            created.record.id,
            created.record.profile.as_str(),
            created.record.label
        ));
        out.line(created.text)?;
    }
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}

fn list(store: Option<&dyn ApiKeys>, now: Timestamp, json: bool) -> Result<ExitCode, Failure> {
    let records = match store {
        Some(store) => store.list().map_err(failed)?,
        None => Vec::new(),
    };
    let mut out = Out::new();
    if json {
        out.json(&records.iter().map(|record| as_json(record, now)).collect::<Vec<_>>())?;
    } else if records.is_empty() {
        out.line(
            "There are no keys. Over HTTP on loopback every local client is the owner until the first key is created.",
        )?;
        out.line(format_args!("{FAINT}Create one with `panoply keys create NAME`.{FAINT:#}"))?;
    } else {
        let headings = Table::new(["id", "name", "profile", "state", "created"]);
        let table = records.iter().fold(headings, |table, record| {
            let created = record.created.strftime("%Y-%m-%d").to_string();
            let profile = record.profile.as_str();
            table.row([record.id.as_str(), &record.label, profile, &state(record, now), &created])
        });
        out.line(table.render(usize::MAX))?;
    }
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}

fn revoke(store: Option<&dyn ApiKeys>, id: &str, now: Timestamp) -> Result<ExitCode, Failure> {
    let revoked = match store {
        Some(store) => store.revoke(id, now).map_err(failed)?,
        None => false,
    };
    if !revoked {
        let records =
            store.map(|store| store.list()).transpose().map_err(failed)?.unwrap_or_default();
        let ids = records.iter().map(|record| record.id.as_str());
        return Err(Failure::unknown("key", id, ids, "see the ids with `panoply keys list`"));
    }
    let mut out = Out::new();
    out.line(format_args!("Key {id} no longer works."))?;
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}

/// Opens the key store if it exists: reading must not create it.
pub(super) fn open_if_there(config: &Config) -> Result<Option<Arc<dyn ApiKeys>>, Failure> {
    if stores::is_server() {
        return open(config).map(Some);
    }
    let there = config.home.folder.as_ref().map(|folder| Home::at(folder).keys());
    // `exists` is false for an inaccessible file; opening it reports the error.
    let missing = there.as_ref().is_none_or(|file| matches!(file.try_exists(), Ok(false)));
    if missing { Ok(None) } else { open(config).map(Some) }
}

fn open(config: &Config) -> Result<Arc<dyn ApiKeys>, Failure> {
    let folder = config.home.folder.as_ref().ok_or_else(|| {
        Failure::work("there is no folder for keys").hint("name a folder with --home")
    })?;
    let home = Home::at(folder);
    home.create().map_err(failed)?;
    stores::keys(&home).map_err(failed)
}

/// Records that keys are required from now on.
pub(super) fn require_keys(config: &Config) -> Result<(), Failure> {
    let Some(folder) = &config.home.folder else { return Ok(()) };
    let marker = Home::at(folder).keys_required();
    let text = "A key was made here. While this file exists, panoply http asks for one.\n";
    fs::write(&marker, text).map_err(|error| {
        Failure::work(format!("cannot write `{}`: {error}", marker.display()))
            .hint("make the home folder writable")
    })
}

/// Key store of the server. Keys may be created while it runs.
pub(super) struct StoredKeys {
    home: Option<Home>,
    store: OnceLock<Arc<dyn ApiKeys>>,
    users: OnceLock<Arc<dyn Users>>,
    /// Whether unknown subjects of tokens get an account.
    new_users: bool,
}

impl StoredKeys {
    pub(super) fn new(config: &Config) -> Self {
        Self {
            home: config.home.folder.as_ref().map(Home::at),
            store: OnceLock::new(),
            users: OnceLock::new(),
            new_users: config.oauth.as_ref().is_some_and(|oauth| oauth.new_users),
        }
    }

    /// Whether a key was ever created. An inaccessible home counts as yes.
    pub(super) fn are_required(&self) -> bool {
        if stores::is_server() {
            return true;
        }
        let Some(home) = &self.home else { return false };
        !matches!(home.keys_required().try_exists(), Ok(false))
    }

    fn store(&self) -> Result<Option<&Arc<dyn ApiKeys>>, StoreError> {
        if let Some(store) = self.store.get() {
            return Ok(Some(store));
        }
        let Some(home) = &self.home else { return Ok(None) };
        if !stores::is_server() && matches!(home.keys().try_exists(), Ok(false)) {
            return Ok(None);
        }
        let opened = stores::keys(home)?;
        Ok(Some(self.store.get_or_init(|| opened)))
    }

    /// Opens the users, whose file is created if unknown subjects get accounts.
    fn users(&self) -> Result<Option<&dyn Users>, StoreError> {
        if let Some(users) = self.users.get() {
            return Ok(Some(users.as_ref()));
        }
        let Some(home) = &self.home else { return Ok(None) };
        if !stores::is_server() && !self.new_users && matches!(home.keys().try_exists(), Ok(false))
        {
            return Ok(None);
        }
        let opened = stores::users(home)?;
        Ok(Some(self.users.get_or_init(|| opened).as_ref()))
    }

    /// All users as JSON, as `panoply users list --json` prints them.
    pub(super) fn list_users(&self) -> Result<Vec<Value>, StoreError> {
        match self.users()? {
            Some(users) => super::users::all_as_json(users),
            None => Ok(Vec::new()),
        }
    }

    pub(super) fn list(&self) -> Result<Vec<KeyRecord>, StoreError> {
        self.store()?.map_or_else(|| Ok(Vec::new()), |store| store.list())
    }
}

impl KeyStore for StoredKeys {
    fn key(&self, id: &str) -> Result<Option<ApiKey>, KeysUnavailable> {
        let unavailable = |error: StoreError| {
            tracing::error!(error = error.chain(), "keys cannot be read, so none is accepted");
            KeysUnavailable
        };
        let Some(store) = self.store().map_err(unavailable)? else { return Ok(None) };
        let Some(record) = store.find(id).map_err(unavailable)? else { return Ok(None) };
        let Ok(hash) = KeyHash::parse(&record.hash) else {
            tracing::error!(id = record.id, "the hash of a key is damaged");
            return Err(KeysUnavailable);
        };
        Ok(Some(ApiKey {
            hash,
            grants: Grants::of(record.profile),
            revoked: record.revoked.is_some(),
            id: record.id,
            name: record.label,
            principal: Principal::of_key(&record.user_id),
            tenants: record.tenants,
            operator: record.profile == Profile::Operator,
            expires: record.expires,
        }))
    }
}

impl Accounts for StoredKeys {
    fn account(
        &self,
        subject: &Principal,
        workspace: Option<&str>,
    ) -> Result<Option<Account>, KeysUnavailable> {
        let now = SystemClock::new().now();
        let find = || match self.users()? {
            Some(users) => users.account(subject, workspace, self.new_users, now),
            None => Ok(None),
        };
        let found = find().map_err(|error: StoreError| {
            tracing::error!(error = error.chain(), "users cannot be read, so none is admitted");
            KeysUnavailable
        })?;
        Ok(found
            .filter(|account| !account.disabled)
            .map(|account| Account { tenants: account.tenants, operator: account.operator }))
    }
}

impl From<KeyProfile> for Profile {
    fn from(profile: KeyProfile) -> Self {
        match profile {
            KeyProfile::Owner => Self::Owner,
            KeyProfile::Agent => Self::Agent,
            KeyProfile::Reader => Self::Reader,
            KeyProfile::Operator => Self::Operator,
        }
    }
}

fn as_json(record: &KeyRecord, now: Timestamp) -> Value {
    let time = |timestamp: Option<Timestamp>| timestamp.map(|timestamp| timestamp.to_string());
    json!({
        "id": record.id,
        "name": record.label,
        "profile": record.profile.as_str(),
        "userId": record.user_id,
        "person": record.tenants.person.as_str(),
        "workspace": record.tenants.workspace.as_str(),
        "works": record.works_at(now),
        "created": record.created.to_string(),
        "expires": time(record.expires),
        "revoked": time(record.revoked),
    })
}

fn state(record: &KeyRecord, now: Timestamp) -> String {
    let day = |timestamp: Timestamp| timestamp.strftime("%Y-%m-%d").to_string();
    match (record.revoked, record.expires) {
        (Some(revoked), _) => format!("revoked {}", day(revoked)),
        (None, Some(expires)) if expires <= now => format!("expired {}", day(expires)),
        (None, Some(expires)) => format!("works until {}", day(expires)),
        (None, None) => "works".to_owned(),
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it is what map_err hands over")]
fn failed(error: StoreError) -> Failure {
    Failure::work(error.chain())
}
