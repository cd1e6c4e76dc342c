//! Files that are replaced as a whole.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;

use crate::sqlite::create_private_folder;

/// Replaces a file of this user atomically: after a crash it is the old or the new one. Its folder is
/// created if needed.
pub fn replace_file(file: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    if let Some(folder) = folder {
        create_private_folder(folder)?;
    }
    let partial = file.with_extension(format!("new-{}", std::process::id()));
    let mut written = File::create(&partial)?;
    written.write_all(bytes)?;
    written.sync_all()?;
    fs::rename(&partial, file)?;
    match folder {
        // Other systems cannot open a folder and do not need to sync it.
        Some(folder) if cfg!(unix) => File::open(folder)?.sync_all(),
        Some(_) | None => Ok(()),
    }
}
