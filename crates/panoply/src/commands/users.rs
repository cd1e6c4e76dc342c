//! `panoply users`: persons and workspaces with data of their own.

mod erase;
mod export;

use std::process::ExitCode;
use std::sync::Arc;

use jiff::Timestamp;
use panoply_contract::clock::Clock as _;
use panoply_contract::table::Table;
use panoply_contract::tenant::{Principal, TenantId, TenantKind};
use panoply_store::users::{TenantRecord, UsersError};
use panoply_store::{Home, StoreError, SystemClock, Users};
use serde_json::{Value, json};

use super::Session;
use super::backup::record;
use crate::cli;
use crate::config::Config;
use crate::failure::Failure;
use crate::out::{FAINT, Out};
use crate::stores;

pub(super) fn run(command: &cli::Users, session: &Session) -> Result<ExitCode, Failure> {
    let config = session.config()?;
    let now = SystemClock::new().now();
    match command {
        cli::Users::Add { name, issuer, subject, json } => {
            let subject = issuer.as_deref().zip(subject.as_deref());
            let subject = subject.map(|(issuer, subject)| Principal::of_subject(issuer, subject));
            let added = open(&config)?.add(name, subject.as_ref(), now).map_err(failed)?;
            record_change(&config, "add", &added.id, &json!({}))?;
            print_added(&added, *json)
        }
        cli::Users::List { json } => list(open(&config)?.as_ref(), *json),
        cli::Users::Grant { name, workspace, operator, withdraw } => {
            let users = open(&config)?;
            let granted =
                grant(users.as_ref(), name, workspace.as_deref(), *operator, *withdraw, now)?;
            forget_shares_without_members(&config.home.required()?, users.as_ref())?;
            let person = users.person(name).map_err(failed)?.id;
            let about = json!({"workspace": workspace, "operator": operator, "withdraw": withdraw});
            record_change(&config, "grant", &person, &about)?;
            said(granted)
        }
        cli::Users::Remove { name } => {
            let users = open(&config)?;
            users.remove(name, now).map_err(failed)?;
            let person = users.person(name).map_err(failed)?.id;
            let home = config.home.required()?;
            forget_shares(&home, &person)?;
            forget_shares_without_members(&home, users.as_ref())?;
            record_change(&config, "remove", &person, &json!({}))?;
            said(format!(
                "The keys and tokens of `{name}` no longer work. The data are kept and no longer shared."
            ))
        }
        cli::Users::Export { name, folder } => {
            let (home, users) = (config.home.required()?, open(&config)?);
            let tenant = users.tenant(name).map_err(failed)?;
            let written = export::export(&home, users.as_ref(), &tenant, folder)?;
            said(format!("{} files in {}", written.len(), folder.display()))
        }
        cli::Users::Erase { name, .. } => {
            let home = config.home.required()?;
            let users = open(&config)?;
            let erased = erase::erase(&home, users.as_ref(), name, now)?;
            forget_shares_without_members(&home, users.as_ref())?;
            said(format!(
                "`{name}` is erased. Audit rows keep the pseudonym {erased}, which nothing links to the name any more; older backups still have the data."
            ))
        }
    }
}

fn grant(
    users: &dyn Users,
    name: &str,
    workspace: Option<&str>,
    operator: bool,
    withdraw: bool,
    now: Timestamp,
) -> Result<String, Failure> {
    let mut said_lines = Vec::new();
    if let Some(workspace) = workspace {
        match withdraw {
            true => users.leave(name, workspace),
            false => users.join(name, workspace, now),
        }
        .map_err(failed)?;
        let is = if withdraw { "is no longer" } else { "is" };
        said_lines.push(format!("`{name}` {is} a member of the workspace `{workspace}`."));
    }
    if operator {
        users.set_operator(name, !withdraw).map_err(failed)?;
        let is = if withdraw { "is no longer" } else { "is" };
        said_lines.push(format!("`{name}` {is} an operator of this server."));
    }
    Ok(said_lines.join("\n"))
}

/// Records a change of users in the audit log, by tenant id: rows name no person.
fn record_change(
    config: &Config,
    change: &str,
    tenant: &TenantId,
    about: &Value,
) -> Result<(), Failure> {
    let about = json!({"tenant": tenant.as_str(), "change": about});
    record(&config.home.required()?, &format!("panoply users {change}"), &about)
}

fn print_added(added: &TenantRecord, json: bool) -> Result<ExitCode, Failure> {
    if json {
        let mut out = Out::new();
        out.json(&as_json(added, &[]))?;
        out.finish()?;
        return Ok(ExitCode::SUCCESS);
    }
    let name = &added.name;
    said(format!("User `{name}`. Create a key with `panoply keys create LABEL --user {name}`."))
}

fn list(users: &dyn Users, json: bool) -> Result<ExitCode, Failure> {
    let rows = with_workspaces(users).map_err(UsersError::from).map_err(failed)?;
    let mut out = Out::new();
    if json {
        out.json(&rows.iter().map(|(one, member)| as_json(one, member)).collect::<Vec<_>>())?;
    } else if rows.is_empty() {
        out.line("There are no users: every caller acts on the local tenant.")?;
        out.line(format_args!("{FAINT}Add one with `panoply users add NAME`.{FAINT:#}"))?;
    } else {
        let headings = Table::new(["name", "kind", "workspaces", "state", "tenant"]);
        let table = rows.iter().fold(headings, |table, (one, member)| {
            let (kind, state) = (kind(one.kind), state(one));
            table.row([one.name.as_str(), kind, &member.join(", "), state, one.id.as_str()])
        });
        out.line(table.render(usize::MAX))?;
    }
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}

/// All persons and workspaces, with the workspaces of each person.
fn with_workspaces(users: &dyn Users) -> Result<Vec<(TenantRecord, Vec<String>)>, StoreError> {
    let with_workspaces = |record: TenantRecord| {
        let member = users.workspaces(&record.id)?;
        Ok((record, member))
    };
    users.list()?.into_iter().map(with_workspaces).collect()
}

/// All persons and workspaces.
pub(super) fn all_as_json(users: &dyn Users) -> Result<Vec<Value>, StoreError> {
    let rows = with_workspaces(users)?;
    Ok(rows.iter().map(|(record, member)| as_json(record, member)).collect())
}

fn as_json(record: &TenantRecord, workspaces: &[String]) -> Value {
    json!({
        "name": record.name,
        "kind": kind(record.kind),
        "tenant": record.id.as_str(),
        "workspaces": workspaces,
        "operator": record.operator,
        "fromToken": record.from_token,
        "state": state(record),
        "created": record.created.to_string(),
    })
}

const fn kind(kind: TenantKind) -> &'static str {
    match kind {
        TenantKind::Person => "person",
        TenantKind::Workspace => "workspace",
    }
}

const fn state(record: &TenantRecord) -> &'static str {
    match (record.erasing.is_some(), record.disabled.is_some(), record.operator) {
        (true, _, _) => "erasing",
        (false, true, _) => "removed",
        (false, false, true) => "operator",
        (false, false, false) => "active",
    }
}

/// Ends all shares of and with a person.
fn forget_shares(home: &Home, person: &TenantId) -> Result<(), Failure> {
    stores::kernel(home)
        .and_then(|kernel_store| kernel_store.forget_shares(person))
        .map_err(|error| Failure::work(error.chain()))
}

/// Ends the shares of workspaces without members: no owner is left to withdraw them.
fn forget_shares_without_members(home: &Home, users: &dyn Users) -> Result<(), Failure> {
    let found = users.workspaces_without_members().map_err(|error| Failure::work(error.chain()))?;
    found.iter().try_for_each(|workspace| forget_shares(home, &workspace.id))
}

/// Opens the users of the home.
pub(super) fn open(config: &Config) -> Result<Arc<dyn Users>, Failure> {
    let home: Home = config.home.required()?;
    home.create().map_err(|error| Failure::work(error.chain()))?;
    stores::users(&home).map_err(|error| Failure::work(error.chain()))
}

#[expect(clippy::needless_pass_by_value, reason = "it is what map_err hands over")]
pub(super) fn failed(error: UsersError) -> Failure {
    let hint = match &error {
        UsersError::Store(error) => return Failure::work(error.chain()),
        UsersError::Taken(_) => "choose another name; see `panoply users list`",
        UsersError::UnknownUser(_) => {
            "see `panoply users list`, or add one with `panoply users add NAME`"
        }
        UsersError::HasMembers(_) => {
            "end each membership with `panoply users grant USER --workspace NAME --withdraw`"
        }
        UsersError::NotAMember { .. } => "add it with `panoply users grant USER --workspace NAME`",
        UsersError::BadName(_) => "choose a short name, such as `ann`",
    };
    Failure::work(error.to_string()).hint(hint)
}

pub(super) fn said(text: String) -> Result<ExitCode, Failure> {
    let mut out = Out::new();
    out.line(text)?;
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}
