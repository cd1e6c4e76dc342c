//! Files of this machine that a call may name: regular ones, under folders that the operator
//! allowed.
//!
//! The way to a file is walked folder by folder, and a link on it is refused, not followed. Each
//! step starts from the folder that the last one opened, so that nobody can swap a folder for a
//! link between the check and the opening.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Component, Path, PathBuf};

use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};

/// Folders under which files may be read. None by default: then no call can name a file.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Roots(Vec<PathBuf>);

/// Why a file is not read. Nothing here tells whether a file outside the roots exists.
#[derive(Debug, thiserror::Error)]
pub enum Refused {
    /// No folder is allowed.
    #[error("no folder is allowed for files; the operator lists them as `roots` in `[pack.ttm]`")]
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
    /// Anything else.
    #[error("`{0}` cannot be read: {1}")]
    Unreadable(String, #[source] io::Error),
}

impl Roots {
    /// These folders, as they are now: a link among them is followed once, here.
    pub fn of(folders: &[PathBuf]) -> io::Result<Self> {
        folders.iter().map(|folder| folder.canonicalize()).collect::<io::Result<_>>().map(Self)
    }

    /// Opens a file by its path or `file://` address. It has at most `largest` bytes.
    pub fn open(&self, named: &str, largest: u64) -> Result<File, Refused> {
        let shown: String = named.chars().take(200).collect();
        if self.0.is_empty() {
            return Err(Refused::NoRoots);
        }
        let path = path_of(named).ok_or_else(|| Refused::NotAbsolute(shown.clone()))?;
        if path.components().any(|part| part == Component::ParentDir) {
            return Err(Refused::Climbs(shown));
        }
        let under = self.0.iter().find_map(|root| Some((root, path.strip_prefix(root).ok()?)));
        let Some((root, rest)) = under else { return Err(Refused::Outside(shown)) };
        let file = walk(root, rest).map_err(|error| match error.kind() {
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
}
