//! Path sandbox: callers may name only regular files under folders that the operator allowed. Every
//! path from a caller passes through this module, for reading and for creating.
//!
//! A path is opened component by component with `openat` and `O_NOFOLLOW`: symbolic links are
//! refused. Each step starts from the previous folder's file descriptor, which prevents replacing a
//! folder with a link between check and open (TOCTOU).

#[cfg(unix)]
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Component, Path, PathBuf};
#[cfg(unix)]
use std::time::Duration;

use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};

pub use self::FileAccessError as Refused;

/// Allowed folders. Empty by default: calls cannot name any file.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Roots(Vec<PathBuf>);

/// Why access is refused. No variant reveals whether a file outside the roots exists.
#[derive(Debug, thiserror::Error)]
pub enum FileAccessError {
    /// No folder is allowed.
    #[error(
        "no folder is allowed for files; the operator lists them as `roots` of the pack in config.toml"
    )]
    NoRoots,
    /// A relative path or another scheme.
    #[error("`{0}` is not an absolute path or a `file://` URI of this machine")]
    NotAbsolute(String),
    /// The path contains `..`.
    #[error("`{0}` contains `..`; use a path without it")]
    Climbs(String),
    /// The path is outside the allowed folders.
    #[error("`{0}` is not under a folder that the operator allowed")]
    Outside(String),
    /// A component is a symbolic link or a file.
    #[error("`{0}` is a symbolic link, or its path contains one or a file; links are not followed")]
    Link(String),
    /// A folder, pipe or device.
    #[error("`{0}` is not a regular file")]
    NotAFile(String),
    /// The file exceeds the size limit.
    #[error("`{0}` has {1} bytes; the limit is {2}")]
    TooLarge(String, u64, u64),
    /// Existing files are never overwritten.
    #[error("`{0}` already exists; choose another name")]
    Exists(String),
    /// Any other read error.
    #[error("`{0}` cannot be read: {1}")]
    Unreadable(String, #[source] io::Error),
    /// Any other write error.
    #[error("`{0}` cannot be written: {1}")]
    Unwritable(String, #[source] io::Error),
}

impl Roots {
    /// Resolves the folders once; symbolic links in the configuration are followed here only.
    pub fn of(folders: &[PathBuf]) -> io::Result<Self> {
        folders.iter().map(|folder| folder.canonicalize()).collect::<io::Result<_>>().map(Self)
    }

    /// Opens a file of at most `max_bytes` by path or `file://` URI.
    pub fn open(&self, name_or_uri: &str, max_bytes: u64) -> Result<File, FileAccessError> {
        let shown: String = name_or_uri.chars().take(200).collect();
        let (root, rest) = self.allowed(name_or_uri)?;
        let file = walk(root, &rest).map_err(|error| match error.kind() {
            io::ErrorKind::NotADirectory => FileAccessError::Link(shown.clone()),
            _ => FileAccessError::Unreadable(shown.clone(), error),
        })?;
        let about =
            file.metadata().map_err(|error| FileAccessError::Unreadable(shown.clone(), error))?;
        if !about.is_file() {
            return Err(FileAccessError::NotAFile(shown));
        }
        if about.len() > max_bytes {
            return Err(FileAccessError::TooLarge(shown, about.len(), max_bytes));
        }
        Ok(file)
    }

    /// The root that contains the file, and the path relative to it.
    fn allowed(&self, name_or_uri: &str) -> Result<(&Path, PathBuf), FileAccessError> {
        let shown: String = name_or_uri.chars().take(200).collect();
        if self.0.is_empty() {
            return Err(FileAccessError::NoRoots);
        }
        let path =
            path_of(name_or_uri).ok_or_else(|| FileAccessError::NotAbsolute(shown.clone()))?;
        if path.components().any(|part| part == Component::ParentDir) {
            return Err(FileAccessError::Climbs(shown));
        }
        let under = |root: &PathBuf| path.strip_prefix(root).ok().map(Path::to_owned);
        let found = self.0.iter().find_map(|root| Some((root.as_path(), under(root)?)));
        found.ok_or(FileAccessError::Outside(shown))
    }

    /// Atomically creates a file readable by its owner only; never overwrites a file. `marker`
    /// identifies the mutation: a retry with the same marker accepts the file it created before.
    /// Call [`NewFile::settle`] once the mutation is recorded.
    #[cfg(unix)]
    pub fn create(
        &self,
        name_or_uri: &str,
        marker: &str,
        bytes: &[u8],
    ) -> Result<NewFile, FileAccessError> {
        let shown: String = name_or_uri.chars().take(200).collect();
        let (root, rest) = self.allowed(name_or_uri)?;
        let name = rest.file_name().ok_or_else(|| FileAccessError::NotAFile(shown.clone()))?;
        let folder =
            walk(root, rest.parent().unwrap_or(Path::new(""))).map_err(|error| {
                match error.kind() {
                    io::ErrorKind::NotADirectory => FileAccessError::Link(shown.clone()),
                    _ => FileAccessError::Unwritable(shown.clone(), error),
                }
            })?;
        NewFile::make(folder, name, marker, bytes).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => FileAccessError::Exists(shown),
            _ => FileAccessError::Unwritable(shown, error),
        })
    }

    /// Not supported outside Unix.
    #[cfg(not(unix))]
    pub fn create(&self, name_or_uri: &str, _: &str, _: &[u8]) -> Result<NewFile, FileAccessError> {
        let shown = name_or_uri.chars().take(200).collect();
        Err(FileAccessError::Unwritable(
            shown,
            io::Error::other("creating files by path is supported on Unix only"),
        ))
    }

    /// Reads a file as text; refuses it if it grows over the limit while being read.
    pub fn text(&self, name_or_uri: &str, max_bytes: u64) -> Result<String, FileAccessError> {
        let file = self.open(name_or_uri, max_bytes)?;
        let shown = || name_or_uri.chars().take(200).collect::<String>();
        let mut text = String::new();
        file.take(max_bytes + 1)
            .read_to_string(&mut text)
            .map_err(|error| FileAccessError::Unreadable(shown(), error))?;
        match u64::try_from(text.len()) {
            Ok(read) if read <= max_bytes => Ok(text),
            _ => Err(FileAccessError::TooLarge(shown(), max_bytes + 1, max_bytes)),
        }
    }
}

/// A created file with a second hard link, which identifies the mutation that created it.
#[derive(Debug)]
pub struct NewFile {
    #[cfg(unix)]
    folder: File,
    #[cfg(unix)]
    link: OsString,
}

#[cfg(unix)]
impl NewFile {
    fn make(folder: File, name: &OsStr, marker: &str, bytes: &[u8]) -> io::Result<Self> {
        use rustix::fs::{AtFlags, Mode, OFlags, linkat, openat, statat, unlinkat};
        use std::io::Write as _;
        let link = OsString::from(format!(".panoply-{marker}.part"));
        let own = Self { folder, link };
        let at = |name: &OsStr| statat(&own.folder, name, AtFlags::SYMLINK_NOFOLLOW);
        if let (Ok(made), Ok(there)) = (at(&own.link), at(name))
            && (made.st_dev, made.st_ino) == (there.st_dev, there.st_ino)
        {
            return Ok(own);
        }
        // A file that a crash left incomplete is written again.
        let _ = unlinkat(&own.folder, &own.link, AtFlags::empty());
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW;
        let mode = Mode::RUSR | Mode::WUSR;
        let mut file = File::from(openat(&own.folder, &own.link, flags | OFlags::CLOEXEC, mode)?);
        remove_stale_links(&own.folder, &file);
        let written = file.write_all(bytes).and_then(|()| file.sync_all()).and_then(|()| {
            linkat(&own.folder, &own.link, &own.folder, name, AtFlags::empty())?;
            own.folder.sync_all()
        });
        if let Err(error) = written {
            let _ = unlinkat(&own.folder, &own.link, AtFlags::empty());
            return Err(error);
        }
        Ok(own)
    }

    /// Removes the second link after the mutation is recorded.
    pub fn settle(self) {
        // After a crash before this line the link stays: hidden, a second name of the same file,
        // and removed by `remove_stale_links` when the folder gets its next file.
        let _ = rustix::fs::unlinkat(&self.folder, &self.link, rustix::fs::AtFlags::empty());
    }
}

/// Lifetime of the second link: equal to that of an idempotency key.
#[cfg(unix)]
const LINK_LIFETIME: Duration = Duration::from_secs(24 * 3600);

/// Removes links left by crashed calls whose idempotency keys have expired. Ages are relative to the
/// timestamp of the new file `new`, which uses the clock of the file system.
#[cfg(unix)]
fn remove_stale_links(folder: &File, new: &File) {
    use rustix::fs::{AtFlags, Dir, fstat, statat, unlinkat};
    use std::os::unix::ffi::OsStrExt as _;
    let (Ok(new), Ok(entries)) = (fstat(new), Dir::read_from(folder)) else { return };
    let oldest = new.st_mtime.saturating_sub_unsigned(LINK_LIFETIME.as_secs());
    for entry in entries.flatten() {
        let name = OsStr::from_bytes(entry.file_name().to_bytes());
        let is_link =
            name.as_bytes().starts_with(b".panoply-") && name.as_bytes().ends_with(b".part");
        let is_stale = || {
            statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)
                .is_ok_and(|found| found.st_mtime < oldest)
        };
        if is_link && is_stale() {
            let _ = unlinkat(folder, name, AtFlags::empty());
        }
    }
}

#[cfg(not(unix))]
impl NewFile {
    /// Not supported outside Unix.
    pub fn settle(self) {}
}

/// ASCII characters to percent-encode in a URI; other characters always are.
const URI_ESCAPES: &AsciiSet = &CONTROLS.add(b' ').add(b'%').add(b'?').add(b'#');

/// The `file://` URI of an absolute path.
pub fn file_uri(path: &Path) -> String {
    format!("file://{}", utf8_percent_encode(&path.to_string_lossy(), URI_ESCAPES))
}

/// Parses an absolute path or a `file://` URI without a host.
fn path_of(name_or_uri: &str) -> Option<PathBuf> {
    let path = match name_or_uri.split_once("://") {
        Some(("file", rest)) => {
            let rest = rest.strip_prefix("localhost").unwrap_or(rest);
            PathBuf::from(&*percent_decode_str(rest).decode_utf8_lossy())
        }
        Some(_) => return None,
        None => PathBuf::from(name_or_uri),
    };
    (path.is_absolute() && !name_or_uri.contains('\0')).then_some(path)
}

#[cfg(unix)]
fn walk(root: &Path, rest: &Path) -> io::Result<File> {
    use rustix::fs::{CWD, Mode, OFlags, openat};
    use rustix::io::Errno;
    let opened = |result: rustix::io::Result<_>| {
        result.map_err(|error| match error {
            Errno::LOOP | Errno::NOTDIR => io::ErrorKind::NotADirectory.into(),
            _ => io::Error::from(error),
        })
    };
    // NONBLOCK: opening a pipe would wait for a writer.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let mut at = opened(openat(CWD, root, flags | OFlags::DIRECTORY, Mode::empty()))?;
    let mut parts = rest.components().peekable();
    while let Some(part) = parts.next() {
        let more = if parts.peek().is_some() { OFlags::DIRECTORY } else { OFlags::empty() };
        at = opened(openat(&at, part.as_os_str(), flags | more, Mode::empty()))?;
    }
    Ok(File::from(at))
}

#[cfg(not(unix))]
fn walk(_: &Path, _: &Path) -> io::Result<File> {
    Err(io::Error::other("reading files by path is supported on Unix only"))
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn only_a_regular_file_under_a_root_is_opened() {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().canonicalize().unwrap();
        let allowed = base.join("allowed");
        std::fs::create_dir_all(allowed.join("deep")).unwrap();
        std::fs::create_dir(base.join("allowed-not")).unwrap();
        for file in ["allowed/ก ข.jsonl", "allowed/deep/a", "secret", "allowed-not/a"] {
            std::fs::write(base.join(file), "four").unwrap();
        }
        symlink(base.join("secret"), allowed.join("link")).unwrap();
        symlink(&base, allowed.join("way")).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, allowed.join("pipe"), 0o600.into()).unwrap();
        let roots = Roots::of(&[allowed]).unwrap();
        let at = |rest: &str| format!("{}/{rest}", base.display());
        let cases = [
            (at("allowed/deep/a"), None),
            (at("allowed/./deep//a"), None),
            (at("allowed/ก ข.jsonl"), None),
            (format!("file://{}", at("allowed/%E0%B8%81%20%E0%B8%82.jsonl")), None),
            (format!("file://localhost{}", at("allowed/deep/a")), None),
            (format!("file://elsewhere{}", at("allowed/deep/a")), Some("not an absolute path")),
            (format!("https://{}", at("allowed/deep/a")), Some("not an absolute path")),
            ("allowed/deep/a".to_owned(), Some("not an absolute path")),
            (String::new(), Some("not an absolute path")),
            (at("allowed/../secret"), Some("contains `..`")),
            (format!("file://{}", at("allowed/%2E%2E/secret")), Some("contains `..`")),
            (at("secret"), Some("not under a folder")),
            (at("allowed-not/a"), Some("not under a folder")),
            ("/etc/passwd".to_owned(), Some("not under a folder")),
            (at("allowed/link"), Some("links are not followed")),
            (at("allowed/way/secret"), Some("links are not followed")),
            (at("allowed/pipe"), Some("not a regular file")),
            (at("allowed/deep"), Some("not a regular file")),
            (at("allowed"), Some("not a regular file")),
            ("/dev/zero".to_owned(), Some("not under a folder")),
            (at("allowed/gone"), Some("cannot be read")),
            (at("allowed/nul\0"), Some("not an absolute path")),
        ];
        for (name_or_uri, expected) in cases {
            match (roots.text(&name_or_uri, 4), expected) {
                (Ok(text), None) => assert_eq!(text, "four"),
                (Err(error), Some(expected)) => {
                    assert!(error.to_string().contains(expected), "{name_or_uri}: {error}");
                }
                (given, _) => panic!("{name_or_uri}: {given:?}"),
            }
        }
        let large = roots.text(&at("allowed/deep/a"), 3).unwrap_err();
        assert!(large.to_string().contains("has 4 bytes; the limit is 3"), "{large}");
        let none = Roots::default().text(&at("allowed/deep/a"), 4).unwrap_err();
        assert!(matches!(none, FileAccessError::NoRoots), "{none}");
    }

    #[test]
    fn create_is_idempotent_and_never_overwrites() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().canonicalize().unwrap();
        let roots = Roots::of(std::slice::from_ref(&base)).unwrap();
        let name_or_uri = base.join("deck.csv").display().to_string();
        let made = roots.create(&name_or_uri, "one", b"cards").unwrap();
        let mode = std::fs::metadata(&name_or_uri).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        // After a crash before recording, a retry of the same mutation accepts its own file.
        drop(made);
        roots.create(&name_or_uri, "one", b"cards").unwrap().settle();
        assert_eq!(std::fs::read(&name_or_uri).unwrap(), b"cards");
        assert_eq!(std::fs::read_dir(&base).unwrap().count(), 1);
        let other = roots.create(&name_or_uri, "two", b"others").unwrap_err();
        assert!(matches!(other, FileAccessError::Exists(_)), "{other}");
        symlink("/tmp", base.join("way")).unwrap();
        let cases = [
            (format!("{}/way/x", base.display()), "links are not followed"),
            ("/tmp/.bash_aliases".to_owned(), "not under a folder"),
            (format!("{}/gone/x", base.display()), "cannot be written"),
            (base.display().to_string(), "not a regular file"),
        ];
        for (name_or_uri, expected) in cases {
            let refused = roots.create(&name_or_uri, "three", b"x").unwrap_err().to_string();
            assert!(refused.contains(expected), "{name_or_uri}: {refused}");
        }
        assert_eq!(std::fs::read_dir(&base).unwrap().count(), 2);
    }

    #[cfg(unix)]
    #[test]
    fn links_that_a_crash_left_are_removed_once_their_keys_have_expired() {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().canonicalize().unwrap();
        let roots = Roots::of(std::slice::from_ref(&base)).unwrap();
        let named = |name: &str| base.join(name);
        let old = File::create(named(".panoply-old.part")).unwrap();
        old.set_modified(std::time::UNIX_EPOCH).unwrap();
        File::create(named(".panoply-recent.part")).unwrap();
        File::create(named("old.part")).unwrap().set_modified(std::time::UNIX_EPOCH).unwrap();
        roots.create(&named("deck.csv").display().to_string(), "one", b"x").unwrap().settle();
        let mut left: Vec<_> =
            std::fs::read_dir(&base).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, [".panoply-recent.part", "deck.csv", "old.part"]);
    }
}
