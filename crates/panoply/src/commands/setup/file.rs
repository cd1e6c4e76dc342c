//! Reads and replaces a client's file; every change leaves a backup.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use panoply_contract::clock::Clock as _;
use panoply_store::SystemClock;

use super::clients::ClientFile;
use super::json_text::Refused;
use crate::failure::Failure;

/// Backups are looked at from the newest to this many.
const MAX_BACKUPS_READ: usize = 50;

pub(super) fn path_of(client: &ClientFile) -> Result<PathBuf, Failure> {
    client.path.clone().ok_or_else(|| {
        Failure::work(format!(
            "cannot tell where {} keeps its settings: HOME is not set",
            client.title
        ))
        .hint("name the file with --file, or run it without --write and copy what it prints")
    })
}

pub(super) fn read_text(path: &Path) -> Result<Option<String>, Failure> {
    match std::fs::read(path) {
        Ok(bytes) => String::from_utf8(bytes)
            .map(Some)
            .map_err(|_| refused_file(path, &Refused::NotParsed("it is not UTF-8".to_owned()))),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Failure::work(format!("cannot read `{}`: {error}", path.display()))),
    }
}

pub(super) fn refused_file(path: &Path, refused: &Refused) -> Failure {
    let path = path.display();
    let what = match refused {
        Refused::NotParsed(why) => format!("`{path}` is not valid: {why}"),
        Refused::NotAnObject => format!("`{path}` does not have the shape that its client reads"),
        Refused::Ambiguous => format!("`{path}` has a name twice"),
        Refused::MixedLineEnds => format!("`{path}` mixes the line ends CRLF and LF"),
    };
    Failure::work(format!("{what}; it was not touched"))
        .hint("fix the file, or run without --write and copy what is printed into it")
}

/// Contents of the backups of a file, newest first. Their names sort by time.
pub(super) fn backups(path: &Path) -> Vec<String> {
    let real = real_path(path);
    let prefix = format!("{}.backup-", file_name(&real));
    let Some(entries) = real.parent().and_then(|folder| std::fs::read_dir(folder).ok()) else {
        return Vec::new();
    };
    let mut found: Vec<PathBuf> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| file_name(path).starts_with(&prefix))
        .collect();
    found.sort();
    let newest = found.iter().rev().take(MAX_BACKUPS_READ);
    newest.filter_map(|path| std::fs::read_to_string(path).ok()).collect()
}

/// Backs up the file and replaces it atomically by a rename.
pub(super) fn replace(
    path: &Path,
    old: Option<&str>,
    new: &str,
) -> Result<Option<PathBuf>, Failure> {
    let real = real_path(path);
    if let Some(folder) = real.parent() {
        std::fs::create_dir_all(folder).map_err(|error| failed("make", folder, &error))?;
    }
    let backup = old.map(|_| back_up(&real)).transpose()?;
    let fresh = sibling(&real, "new");
    std::fs::write(&fresh, new).map_err(|error| failed("write", &fresh, &error))?;
    if let Ok(about) = std::fs::metadata(&real) {
        std::fs::set_permissions(&fresh, about.permissions())
            .map_err(|error| failed("set the permissions of", &fresh, &error))?;
    }
    std::fs::rename(&fresh, &real).map_err(|error| failed("replace", &real, &error))?;
    Ok(backup)
}

/// Backs up the file and deletes it.
pub(super) fn remove_file(path: &Path) -> Result<Option<PathBuf>, Failure> {
    let real = real_path(path);
    let backup = back_up(&real)?;
    std::fs::remove_file(&real).map_err(|error| failed("delete", &real, &error))?;
    Ok(Some(backup))
}

fn back_up(real: &Path) -> Result<PathBuf, Failure> {
    let backup = sibling(real, "backup");
    std::fs::copy(real, &backup).map_err(|error| failed("write", &backup, &error))?;
    Ok(backup)
}

/// Follows links, so that a file in a dotfiles repository stays there.
fn real_path(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// A new name beside the file.
fn sibling(real: &Path, kind: &str) -> PathBuf {
    let timestamp = SystemClock::new().now().strftime("%Y%m%dT%H%M%S%.3fZ").to_string();
    real.with_file_name(format!("{}.{kind}-{timestamp}", file_name(real)))
}

fn failed(what: &str, path: &Path, error: &io::Error) -> Failure {
    Failure::work(format!("cannot {what} `{}`: {error}", path.display()))
}
