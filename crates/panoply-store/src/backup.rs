//! Online backup of a home, and restore.
//!
//! Each database is copied in one read transaction, so each file is consistent in itself. The
//! audit log is copied last, so it has a row for every mutation in the other copies.
//! `manifest.json` lists every file with its length and SHA-256. It is written after all other
//! files are synced, and restore verifies every file against it first.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
use rusqlite::backup::Backup;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::audit_log::{self, SegmentLock};
use crate::error::StoreError;
use crate::home::Home;
use crate::sqlite::{self, Durability};

/// File name of the manifest.
pub const MANIFEST: &str = "manifest.json";
const FORMAT: u32 = 1;

/// Contents of a backup.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Manifest {
    /// Version of the manifest format.
    pub format: u32,
    /// Version of the program that created the backup.
    pub program: String,
    /// When the backup was started.
    pub made: Timestamp,
    /// Every file.
    pub files: Vec<BackupFile>,
}

/// One file of a backup.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct BackupFile {
    /// Path relative to the home and to the backup folder.
    pub path: String,
    /// Length in bytes.
    pub bytes: u64,
    /// SHA-256 as 64 hexadecimal digits.
    pub sha256: String,
}

/// Why a backup could not be created or restored.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// A file of the home.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// An I/O error.
    #[error("`{}`: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The target folder of a new backup is not empty.
    #[error("`{}` is not empty: name a folder that does not exist yet", .0.display())]
    NotEmpty(PathBuf),
    /// The folder is not a backup.
    #[error("`{}` holds no backup: {what}", folder.display())]
    NoBackup {
        /// The folder.
        folder: PathBuf,
        /// The reason.
        what: String,
    },
    /// A file does not match the manifest.
    #[error("the backup is damaged: `{0}` does not match the manifest; nothing was restored")]
    Damaged(String),
    /// Another process has a file open.
    #[error("`{}` is in use: stop every server over this home first", .0.display())]
    InUse(PathBuf),
    /// The home already contains data.
    #[error("`{}` already contains data: restore into another home, or pass `--replace`", .0.display())]
    HasData(PathBuf),
}

fn at(path: &Path) -> impl Fn(io::Error) -> BackupError + '_ {
    move |source| BackupError::Io { path: path.to_owned(), source }
}

/// Copies a home into a new folder.
pub fn back_up(
    home: &Home,
    to: &Path,
    program: &str,
    now: Timestamp,
) -> Result<Manifest, BackupError> {
    if fs::read_dir(to).is_ok_and(|mut entries| entries.next().is_some()) {
        return Err(BackupError::NotEmpty(to.to_owned()));
    }
    sqlite::create_private_folder(to).map_err(at(to))?;
    let mut files = Vec::new();
    // The catalog of runs is copied before the runs it lists; the audit log last.
    let mut first: Vec<PathBuf> =
        vec![home.keys(), home.kernel(), home.folder().join("config.toml")];
    first.extend(
        ["noema.db", "cgt.db", "backtest.db", "ttm.db", "ttm-eval.db"]
            .map(|name| home.packs().join(name)),
    );
    for file in &first {
        files.extend(copy(home, file, to)?);
    }
    // Of each tenant the catalogs come before the runs: `pack_files` lists them in this order.
    for (_, file) in home.all_pack_files() {
        if !first.contains(&file) {
            files.extend(copy(home, &file, to)?);
        }
    }
    // Prevents sealing and pruning between copying the log and its segments.
    let log = home.audit_log();
    let segments = audit_log::segment_folder(&log);
    let _lock = segments
        .is_dir()
        .then(|| SegmentLock::take(&segments))
        .transpose()
        .map_err(at(&segments))?;
    files.extend(copy(home, &log, to)?);
    for file in audit_log::segment_files(&log) {
        files.extend(copy(home, &file, to)?);
    }
    let manifest = Manifest { format: FORMAT, program: program.to_owned(), made: now, files };
    let path = to.join(MANIFEST);
    let text = serde_json::to_vec_pretty(&manifest)
        .map_err(|error| BackupError::Io { path: path.clone(), source: error.into() })?;
    write_new(&path, &text)?;
    Ok(manifest)
}

/// Copies one file; `None` when it does not exist.
fn copy(home: &Home, file: &Path, to: &Path) -> Result<Option<BackupFile>, BackupError> {
    let Ok(below) = file.strip_prefix(home.folder()) else { return Ok(None) };
    if !file.exists() {
        return Ok(None);
    }
    let target = to.join(below);
    if let Some(folder) = target.parent() {
        sqlite::create_private_folder(folder).map_err(at(folder))?;
    }
    let is_database = file.extension().is_some_and(|end| end == "db" || end == "open");
    if is_database {
        match copy_database(file, &target) {
            // A run sealed concurrently is in the backup as a sealed run.
            Err(_) if !file.exists() => return Ok(None),
            copied => copied?,
        }
    } else {
        // Sealed runs and figures are immutable: they are only ever replaced by a rename.
        write_new(&target, &fs::read(file).map_err(at(file))?)?;
    }
    let path = below.components().map(|part| part.as_os_str().to_string_lossy());
    let (bytes, sha256) = digest(&target)?;
    Ok(Some(BackupFile { path: path.collect::<Vec<_>>().join("/"), bytes, sha256 }))
}

fn copy_database(file: &Path, target: &Path) -> Result<(), BackupError> {
    let original = sqlite::open_read_only(file)?;
    let mut copy = sqlite::open(target, Durability::Full)?;
    // All pages in one step, that is one read transaction: a writer cannot restart the copy.
    Backup::new(&original, &mut copy)
        .and_then(|work| work.run_to_completion(i32::MAX, Duration::ZERO, None))
        .and_then(|()| copy.pragma_update(None, "journal_mode", "DELETE"))
        .map_err(sqlite::about(file))?;
    drop(copy);
    File::open(target).and_then(|file| file.sync_all()).map_err(at(target))
}

fn write_new(path: &Path, bytes: &[u8]) -> Result<(), BackupError> {
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let write = || {
        let mut file = options.open(path)?;
        file.write_all(bytes)?;
        file.sync_all()
    };
    write().map_err(at(path))
}

fn digest(path: &Path) -> Result<(u64, String), BackupError> {
    let mut file = File::open(path).map_err(at(path))?;
    let (mut hash, mut length, mut buffer) = (Sha256::new(), 0_u64, vec![0; 1 << 16]);
    loop {
        let read = file.read(&mut buffer).map_err(at(path))?;
        if read == 0 {
            break;
        }
        hash.update(buffer.get(..read).unwrap_or_default());
        length += read as u64;
    }
    let hex = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    Ok((length, hex))
}

/// Reads the manifest of a backup and verifies every file against it.
pub fn verify(folder: &Path) -> Result<Manifest, BackupError> {
    let none = |what: String| BackupError::NoBackup { folder: folder.to_owned(), what };
    let text =
        fs::read(folder.join(MANIFEST)).map_err(|error| none(format!("{MANIFEST}: {error}")))?;
    let manifest: Manifest =
        serde_json::from_slice(&text).map_err(|error| none(format!("{MANIFEST}: {error}")))?;
    if manifest.format != FORMAT {
        return Err(none(format!(
            "its format is {}, this program supports {FORMAT}",
            manifest.format
        )));
    }
    for file in &manifest.files {
        let path = Path::new(&file.path);
        let plain = path.components().all(|part| matches!(part, Component::Normal(_)));
        if !plain || path.as_os_str().is_empty() {
            return Err(none(format!("`{}` is not a relative path inside a home", file.path)));
        }
        let (bytes, sha256) = digest(&folder.join(path))?;
        if (bytes, &sha256) != (file.bytes, &file.sha256) {
            return Err(BackupError::Damaged(file.path.clone()));
        }
    }
    Ok(manifest)
}

/// How restore treats data already in the home.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ExistingData {
    /// Fail and leave them in place.
    Keep,
    /// Move them into a new folder inside the home.
    MoveAside,
}

/// Restores a backup into a home.
pub fn restore(
    folder: &Path,
    home: &Home,
    existing: ExistingData,
) -> Result<Manifest, BackupError> {
    let manifest = verify(folder)?;
    let there: Vec<PathBuf> = home
        .kernel_files()
        .into_iter()
        .map(|(_, file)| file)
        .chain(home.all_pack_files().into_iter().map(|(_, file)| file))
        .chain(audit_log::segment_files(&home.audit_log()))
        .filter(|file| file.exists())
        .collect();
    for file in there.iter().filter(|file| file.extension().is_some_and(|end| end == "db")) {
        if sqlite::is_in_use(file) {
            return Err(BackupError::InUse(file.clone()));
        }
    }
    if !there.is_empty() && existing == ExistingData::Keep {
        return Err(BackupError::HasData(home.folder().to_owned()));
    }
    home.create()?;
    let aside = home.folder().join(format!("replaced-{}", replaced_folder_suffix(&manifest)));
    for file in &there {
        move_aside(home, file, &aside)?;
    }
    for file in &manifest.files {
        let (from, target) = (folder.join(&file.path), home.folder().join(&file.path));
        // Existing settings of the home take precedence over those of the backup.
        if target.exists() {
            continue;
        }
        if let Some(folder) = target.parent() {
            sqlite::create_private_folder(folder).map_err(at(folder))?;
        }
        write_new(&target, &fs::read(&from).map_err(at(&from))?)?;
    }
    Ok(manifest)
}

fn replaced_folder_suffix(manifest: &Manifest) -> String {
    let unique = random_suffix(manifest);
    format!("{}-{unique}", manifest.made.as_second())
}

/// Distinguishes repeated restores of one backup.
fn random_suffix(manifest: &Manifest) -> String {
    let mut random = [0; 4];
    // Without randomness fall back to the number of files; a collision is reported as an error.
    match getrandom::fill(&mut random) {
        Ok(()) => random.iter().map(|byte| format!("{byte:02x}")).collect(),
        Err(_) => manifest.files.len().to_string(),
    }
}

/// Moves a database file with its WAL, shared-memory and journal files.
fn move_aside(home: &Home, file: &Path, aside: &Path) -> Result<(), BackupError> {
    for ending in ["", "-wal", "-shm", "-journal"] {
        let mut name = file.as_os_str().to_owned();
        name.push(ending);
        let from = PathBuf::from(name);
        let Ok(below) = from.strip_prefix(home.folder()) else { continue };
        if !from.exists() {
            continue;
        }
        let target = aside.join(below);
        if let Some(folder) = target.parent() {
            sqlite::create_private_folder(folder).map_err(at(folder))?;
        }
        fs::rename(&from, &target).map_err(at(&from))?;
    }
    Ok(())
}
