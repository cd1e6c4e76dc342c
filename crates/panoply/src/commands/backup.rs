//! `panoply backup` and `panoply restore`: online backup of the home.

use std::process::ExitCode;

use panoply_contract::audit::AuditEntry;
use panoply_contract::clock::Clock as _;
use panoply_store::backup::{self, BackupError, ExistingData, Manifest};
use panoply_store::{Home, SystemClock};
use serde_json::{Value, json};

use super::{Session, block_on};
use crate::cli::{Backup, Restore};
use crate::failure::Failure;
use crate::out::{BOLD, FAINT, Out};
use crate::stores;

/// Runs `panoply backup`.
pub(super) fn run(command: &Backup, session: &Session) -> Result<ExitCode, Failure> {
    let home = session.required_home()?;
    if !home.folder().is_dir() {
        return Err(Failure::work(format!("there is no home at `{}`", home.folder().display()))
            .hint("name it with --home or PANOPLY_HOME"));
    }
    let now = SystemClock::new().now();
    let program = concat!("panoply ", env!("CARGO_PKG_VERSION"));
    let manifest = backup::back_up(&home, &command.folder, program, now)
        .map_err(|error| backup_failure(&error))?;
    record(&home, "panoply backup", &about(&manifest))?;
    print(&manifest, "Copied", &command.folder.display().to_string(), command.json)
}

/// Runs `panoply restore`.
pub(super) fn restore(command: &Restore, session: &Session) -> Result<ExitCode, Failure> {
    let home = session.required_home()?;
    if command.check {
        let manifest = backup::verify(&command.folder).map_err(|error| backup_failure(&error))?;
        return print(&manifest, "Checked", &command.folder.display().to_string(), command.json);
    }
    let existing = if command.replace { ExistingData::MoveAside } else { ExistingData::Keep };
    let manifest = backup::restore(&command.folder, &home, existing)
        .map_err(|error| backup_failure(&error))?;
    record(&home, "panoply restore", &about(&manifest))?;
    print(&manifest, "Restored", &home.folder().display().to_string(), command.json)
}

fn backup_failure(error: &BackupError) -> Failure {
    let hint = match error {
        BackupError::NotEmpty(_) => "name a new folder",
        BackupError::NoBackup { .. } => "name a folder that `panoply backup` made",
        BackupError::Damaged(_) => "take another backup; do not use this one",
        BackupError::InUse(_) => "stop the servers, then restore again",
        BackupError::HasData(_) => "add --replace: what is there is moved aside, not deleted",
        BackupError::Store(_) | BackupError::Io { .. } => {
            "see that the disk has room and `panoply doctor`"
        }
    };
    let mut message = error.to_string();
    if let BackupError::Store(error) = error {
        message = error.chain();
    }
    Failure::work(message).hint(hint)
}

fn about(manifest: &Manifest) -> Value {
    json!({"made": manifest.made, "files": manifest.files})
}

/// Records an operation of the command line in the audit log of the home.
pub(super) fn record(home: &Home, tool: &str, about: &Value) -> Result<(), Failure> {
    let failed = |error: panoply_contract::error::ToolError| Failure::work(error.message);
    let now = SystemClock::new().now();
    let entry = AuditEntry::of_maintenance(tool, about, now).map_err(failed)?;
    let log = stores::audit_log(home).map_err(|error| Failure::work(error.chain()))?;
    block_on(log.append(entry))?.map_err(failed)?;
    log.close();
    Ok(())
}

fn print(manifest: &Manifest, done: &str, place: &str, json: bool) -> Result<ExitCode, Failure> {
    let mut out = Out::new();
    let bytes: u64 = manifest.files.iter().map(|file| file.bytes).sum();
    if json {
        out.json(&json!({"done": done, "place": place, "bytes": bytes, "manifest": manifest}))?;
    } else {
        for file in &manifest.files {
            out.line(format_args!(
                "{FAINT}{}  {:>12}  {}{FAINT:#}",
                file.sha256, file.bytes, file.path
            ))?;
        }
        let count = manifest.files.len();
        out.line(format_args!("{BOLD}{done}{BOLD:#} {count} files, {bytes} bytes: {place}"))?;
    }
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}
