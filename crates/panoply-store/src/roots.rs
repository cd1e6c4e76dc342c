//! Files of this machine that a call may name: regular ones, under folders that the operator
//! allowed. Every path from a caller goes through here, to be read or to be made.
//!
//! The way to a file is walked folder by folder, and a link on it is refused, not followed. Each
//! step starts from the folder that the last one opened, so that nobody can swap a folder for a
//! link between the check and the opening.

#[cfg(unix)]
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Component, Path, PathBuf};
#[cfg(unix)]
use std::time::Duration;

use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};

/// Folders under which files may be read. None by default: then no call can name a file.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Roots(Vec<PathBuf>);

/// Why a file is not read. Nothing here tells whether a file outside the roots exists.
#[derive(Debug, thiserror::Error)]
pub enum Refused {
    /// No folder is allowed.
    #[error(
        "no folder is allowed for files; the operator lists them as `roots` of the pack in config.toml"
    )]
    NoRoots,
    /// Not a whole path.
    #[error("`{0}` is not an absolute path or a `file://` address of this machine")]
    NotAbsolute(String),
    /// It climbs.
    #[error("`{0}` has `..` in it; write the path without")]
    Climbs(String),
    /// It is somewhere else.
    #[error("`{0}` is not under a folder that the operator allowed")]
    Outside(String),
    /// There is a link on the way.
    #[error(
        "`{0}` is a link, or the way to it leads over one or over a file; links are not followed"
    )]
    Link(String),
    /// A folder, a pipe, a device.
    #[error("`{0}` is not a regular file")]
    NotAFile(String),
    /// Too much.
    #[error("`{0}` has {1} bytes; at most {2} are read")]
    TooLarge(String, u64, u64),
    /// Nothing is ever written over a file.
    #[error("`{0}` is there already; choose another name")]
    Exists(String),
    /// Anything else.
    #[error("`{0}` cannot be read: {1}")]
    Unreadable(String, #[source] io::Error),
    /// Anything else on the way out.
    #[error("`{0}` cannot be written: {1}")]
    Unwritable(String, #[source] io::Error),
}

impl Roots {
    /// These folders, as they are now: a link among them is followed once, here.
    pub fn of(folders: &[PathBuf]) -> io::Result<Self> {
        folders.iter().map(|folder| folder.canonicalize()).collect::<io::Result<_>>().map(Self)
    }

    /// Opens a file by its path or `file://` address. It has at most `largest` bytes.
    pub fn open(&self, named: &str, largest: u64) -> Result<File, Refused> {
        let shown: String = named.chars().take(200).collect();
        let (root, rest) = self.allowed(named)?;
        let file = walk(root, &rest).map_err(|error| match error.kind() {
            io::ErrorKind::NotADirectory => Refused::Link(shown.clone()),
            _ => Refused::Unreadable(shown.clone(), error),
        })?;
        let about = file.metadata().map_err(|error| Refused::Unreadable(shown.clone(), error))?;
        if !about.is_file() {
            return Err(Refused::NotAFile(shown));
        }
        if about.len() > largest {
            return Err(Refused::TooLarge(shown, about.len(), largest));
        }
        Ok(file)
    }

    /// The root that a name is under, and the rest of its path.
    fn allowed(&self, named: &str) -> Result<(&Path, PathBuf), Refused> {
        let shown: String = named.chars().take(200).collect();
        if self.0.is_empty() {
            return Err(Refused::NoRoots);
        }
        let path = path_of(named).ok_or_else(|| Refused::NotAbsolute(shown.clone()))?;
        if path.components().any(|part| part == Component::ParentDir) {
            return Err(Refused::Climbs(shown));
        }
        let under = |root: &PathBuf| path.strip_prefix(root).ok().map(Path::to_owned);
        let found = self.0.iter().find_map(|root| Some((root.as_path(), under(root)?)));
        found.ok_or(Refused::Outside(shown))
    }

    /// Makes a file that only its owner may read, whole or not at all, and never over another.
    /// `marker` names the change: repeated with the same one, a file that it made before is taken
    /// for its own. [`NewFile::settle`] once the change is recorded.
    #[cfg(unix)]
    pub fn create(&self, named: &str, marker: &str, bytes: &[u8]) -> Result<NewFile, Refused> {
        let shown: String = named.chars().take(200).collect();
        let (root, rest) = self.allowed(named)?;
        let name = rest.file_name().ok_or_else(|| Refused::NotAFile(shown.clone()))?;
        let folder =
            walk(root, rest.parent().unwrap_or(Path::new(""))).map_err(|error| {
                match error.kind() {
                    io::ErrorKind::NotADirectory => Refused::Link(shown.clone()),
                    _ => Refused::Unwritable(shown.clone(), error),
                }
            })?;
        NewFile::make(folder, name, marker, bytes).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => Refused::Exists(shown),
            _ => Refused::Unwritable(shown, error),
        })
    }

    /// Files are made on Unix only.
    #[cfg(not(unix))]
    pub fn create(&self, named: &str, _: &str, _: &[u8]) -> Result<NewFile, Refused> {
        let shown = named.chars().take(200).collect();
        Err(Refused::Unwritable(shown, io::Error::other("files are made by path on Unix only")))
    }

    /// The text of such a file. It may grow while it is read, and is refused then.
    pub fn text(&self, named: &str, largest: u64) -> Result<String, Refused> {
        let file = self.open(named, largest)?;
        let shown = || named.chars().take(200).collect::<String>();
        let mut text = String::new();
        file.take(largest + 1)
            .read_to_string(&mut text)
            .map_err(|error| Refused::Unreadable(shown(), error))?;
        match u64::try_from(text.len()) {
            Ok(read) if read <= largest => Ok(text),
            _ => Err(Refused::TooLarge(shown(), largest + 1, largest)),
        }
    }
}

/// A file that was made, and beside it the link that proves who made it.
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

    /// The change is recorded, so the proof may go.
    pub fn settle(self) {
        // After a crash before this line the link stays: hidden, a second name of the same file,
        // and removed by `remove_stale_links` when the folder gets its next file.
        let _ = rustix::fs::unlinkat(&self.folder, &self.link, rustix::fs::AtFlags::empty());
    }
}

/// How long a retry may find the link that proves who made a file: as long as its key is kept.
#[cfg(unix)]
const LINK_LIFETIME: Duration = Duration::from_secs(24 * 3600);

/// Removes the links of calls that crashed and whose keys have expired. The file `new` was made
/// just now: its timestamp is that of the file system, with which the others are compared.
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
    /// The change is recorded.
    pub fn settle(self) {}
}

/// What a path may not show of itself in an address; letters beyond ASCII never may.
const HIDDEN: &AsciiSet = &CONTROLS.add(b' ').add(b'%').add(b'?').add(b'#');

/// The `file://` address of an absolute path.
pub fn file_uri(path: &Path) -> String {
    format!("file://{}", utf8_percent_encode(&path.to_string_lossy(), HIDDEN))
}

/// The path of an absolute path or of a `file://` address without a host.
fn path_of(named: &str) -> Option<PathBuf> {
    let path = match named.split_once("://") {
        Some(("file", rest)) => {
            let rest = rest.strip_prefix("localhost").unwrap_or(rest);
            PathBuf::from(&*percent_decode_str(rest).decode_utf8_lossy())
        }
        Some(_) => return None,
        None => PathBuf::from(named),
    };
    (path.is_absolute() && !named.contains('\0')).then_some(path)
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
    // NONBLOCK, because opening a pipe would wait for somebody to write.
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
    Err(io::Error::other("files by path are read on Unix only"))
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
            (at("allowed/../secret"), Some("has `..` in it")),
            (format!("file://{}", at("allowed/%2E%2E/secret")), Some("has `..` in it")),
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
        for (named, expected) in cases {
            match (roots.text(&named, 4), expected) {
                (Ok(text), None) => assert_eq!(text, "four"),
                (Err(error), Some(expected)) => {
                    assert!(error.to_string().contains(expected), "{named}: {error}");
                }
                (given, _) => panic!("{named}: {given:?}"),
            }
        }
        let large = roots.text(&at("allowed/deep/a"), 3).unwrap_err();
        assert!(large.to_string().contains("has 4 bytes; at most 3"), "{large}");
        let none = Roots::default().text(&at("allowed/deep/a"), 4).unwrap_err();
        assert!(matches!(none, Refused::NoRoots), "{none}");
    }

    #[test]
    fn a_file_is_made_once_and_never_over_another() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().canonicalize().unwrap();
        let roots = Roots::of(std::slice::from_ref(&base)).unwrap();
        let named = base.join("deck.csv").display().to_string();
        let made = roots.create(&named, "one", b"cards").unwrap();
        let mode = std::fs::metadata(&named).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        // A crash before the change was recorded: the same change finds its own file.
        drop(made);
        roots.create(&named, "one", b"cards").unwrap().settle();
        assert_eq!(std::fs::read(&named).unwrap(), b"cards");
        assert_eq!(std::fs::read_dir(&base).unwrap().count(), 1);
        let other = roots.create(&named, "two", b"others").unwrap_err();
        assert!(matches!(other, Refused::Exists(_)), "{other}");
        symlink("/tmp", base.join("way")).unwrap();
        let cases = [
            (format!("{}/way/x", base.display()), "links are not followed"),
            ("/tmp/.bash_aliases".to_owned(), "not under a folder"),
            (format!("{}/gone/x", base.display()), "cannot be written"),
            (base.display().to_string(), "not a regular file"),
        ];
        for (named, expected) in cases {
            let refused = roots.create(&named, "three", b"x").unwrap_err().to_string();
            assert!(refused.contains(expected), "{named}: {refused}");
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
