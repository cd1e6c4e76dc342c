//! Data packs: signed archives with newer figures of a pack, which need no new program.
//!
//! A data pack is a ZIP with `manifest`, a C2SP signed note whose text is JSON with the size and
//! SHA-256 of each file, and the files. It is kept whole in `data/PACK/VERSION.zip` of the home;
//! `data/PACK/active` names the version in use. Both are replaced by a rename, so that a crash
//! leaves the old or the new one.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Cursor, Read as _, Write as _};
use std::path::PathBuf;

use jiff::Timestamp;
use panoply_store::Home;
use panoply_store::audit_log::{PublicKey, SigningKey};
use panoply_store::files::replace_file;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use zip::write::SimpleFileOptions;

/// Largest archive and largest file in it.
pub(crate) const MAX_BYTES: u64 = 256 << 20;
const MANIFEST: &str = "manifest";
const MAX_MANIFEST_BYTES: u64 = 1 << 20;
const FORMAT: u32 = 1;

/// What a data pack is and holds.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Manifest {
    format: u32,
    /// Pack whose figures these are.
    pub(crate) pack: String,
    /// Version; later ones sort after earlier ones.
    pub(crate) version: String,
    pub(crate) created: Timestamp,
    /// What is new, in a sentence.
    pub(crate) about: String,
    pub(crate) files: Vec<FileEntry>,
}

/// A file of a data pack.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FileEntry {
    pub(crate) name: String,
    pub(crate) bytes: u64,
    pub(crate) sha256: String,
}

/// A data pack whose files are as its manifest says.
#[derive(Clone, Debug)]
pub(crate) struct DataPack {
    pub(crate) manifest: Manifest,
    pub(crate) files: BTreeMap<String, String>,
    /// The manifest as it was signed.
    note: String,
}

/// Why a data pack cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BadDataPack {
    #[error("{0}")]
    Unusable(String),
    #[error("cannot be read or written: {0}")]
    Io(#[from] io::Error),
}

fn unusable(what: impl Into<String>) -> BadDataPack {
    BadDataPack::Unusable(what.into())
}

impl DataPack {
    /// Reads an archive and checks every file against the manifest, not yet who signed it.
    pub(crate) fn read(bytes: &[u8]) -> Result<Self, BadDataPack> {
        let damaged = |error: zip::result::ZipError| unusable(format!("is no archive: {error}"));
        let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).map_err(damaged)?;
        let note = text_of(&mut archive, MANIFEST, MAX_MANIFEST_BYTES)?;
        let json = note.split("\n\n").next().unwrap_or_default();
        let manifest: Manifest = serde_json::from_str(json)
            .map_err(|error| unusable(format!("its manifest cannot be read: {error}")))?;
        manifest.check()?;
        let mut files = BTreeMap::new();
        for FileEntry { name, bytes, sha256 } in &manifest.files {
            let text = text_of(&mut archive, name, *bytes)?;
            if u64::try_from(text.len()) != Ok(*bytes) || checksum(text.as_bytes()) != *sha256 {
                return Err(unusable(format!("`{name}` is not what was signed")));
            }
            files.insert(name.clone(), text);
        }
        if archive.len() != files.len() + 1 {
            return Err(unusable("it holds files that its manifest does not name"));
        }
        Ok(Self { manifest, files, note })
    }

    /// Fails unless one of the keys signed it.
    pub(crate) fn verify(&self, keys: &[PublicKey]) -> Result<(), BadDataPack> {
        let refusals: Vec<&str> =
            keys.iter().filter_map(|key| key.verify_note(&self.note).err()).collect();
        match refusals.last() {
            _ if refusals.len() < keys.len() => Ok(()),
            Some(why) => Err(unusable(format!("its signature was refused: {why}"))),
            None => Err(unusable("no key is trusted to sign data packs")),
        }
    }

    /// Changes with the content.
    pub(crate) fn fingerprint(&self) -> u64 {
        let digest = Sha256::digest(self.note.as_bytes());
        digest.iter().take(8).fold(0, |sum, byte| sum << 8 | u64::from(*byte))
    }

    /// Builds and signs an archive.
    pub(crate) fn build(
        pack: &str,
        version: &str,
        about: &str,
        created: Timestamp,
        files: &BTreeMap<String, String>,
        key: &SigningKey,
    ) -> Result<Vec<u8>, BadDataPack> {
        let entries = files.iter().map(|(name, text)| FileEntry {
            name: name.clone(),
            bytes: u64::try_from(text.len()).unwrap_or(u64::MAX),
            sha256: checksum(text.as_bytes()),
        });
        let manifest = Manifest {
            format: FORMAT,
            pack: pack.to_owned(),
            version: version.to_owned(),
            created,
            about: about.to_owned(),
            files: entries.collect(),
        };
        manifest.check()?;
        let json = serde_json::to_string_pretty(&manifest)
            .map_err(|error| unusable(format!("its manifest cannot be written: {error}")))?;
        let note = key.sign_note(&format!("{json}\n"));
        let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
        let failed = |error: zip::result::ZipError| unusable(error.to_string());
        let all = [(MANIFEST, note.as_str())].into_iter();
        for (name, text) in
            all.chain(files.iter().map(|(name, text)| (name.as_str(), text.as_str())))
        {
            archive.start_file(name, SimpleFileOptions::default()).map_err(failed)?;
            archive.write_all(text.as_bytes())?;
        }
        Ok(archive.finish().map_err(failed)?.into_inner())
    }
}

impl Manifest {
    fn check(&self) -> Result<(), BadDataPack> {
        if self.format != FORMAT {
            return Err(unusable(format!(
                "has format {}, and this program reads {FORMAT}: upgrade it",
                self.format
            )));
        }
        if !is_name(&self.version) || !self.files.iter().all(|file| is_name(&file.name)) {
            return Err(unusable(
                "a name or version has characters other than letters, digits, `.`, `-`, `_`",
            ));
        }
        if self.about.contains("\n\n") || self.files.is_empty() {
            return Err(unusable("it has no files, or its description is more than a paragraph"));
        }
        if self.files.iter().map(|file| file.bytes).sum::<u64>() > MAX_BYTES {
            return Err(unusable(format!("it has more than {} MB", MAX_BYTES >> 20)));
        }
        Ok(())
    }
}

/// Whether there is no such file, or no folder where it would be.
fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Whether a text can name a file in a folder and nothing beyond.
fn is_name(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    (1..=100).contains(&text.len()) && !text.starts_with('.') && text.bytes().all(is_plain)
}

/// A file of an archive, refused beyond `limit`: a small archive can unpack to much more.
fn text_of(
    archive: &mut zip::ZipArchive<Cursor<&[u8]>>,
    name: &str,
    limit: u64,
) -> Result<String, BadDataPack> {
    let file = archive
        .by_name(name)
        .map_err(|error| unusable(format!("has no readable `{name}`: {error}")))?;
    let mut bytes = Vec::new();
    file.take(limit + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| unusable(format!("`{name}` is damaged: {error}")))?;
    if u64::try_from(bytes.len()).is_ok_and(|length| length > limit) {
        return Err(unusable(format!("`{name}` is larger than announced")));
    }
    String::from_utf8(bytes).map_err(|_| unusable(format!("`{name}` is no text in UTF-8")))
}

fn checksum(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The data packs of one pack in a home.
#[derive(Clone, Debug)]
pub(crate) struct Installed {
    folder: PathBuf,
}

impl Installed {
    pub(crate) fn of(home: &Home, pack: &str) -> Self {
        Self { folder: home.folder().join("data").join(pack) }
    }

    /// The file that names the version in use; it changes with each update and rollback.
    pub(crate) fn active_file(&self) -> PathBuf {
        self.folder.join("active")
    }

    /// The version in use; `None` for the figures of the program.
    pub(crate) fn active(&self) -> io::Result<Option<String>> {
        match fs::read_to_string(self.active_file()) {
            Ok(version) => Ok(Some(version.trim().to_owned()).filter(|version| is_name(version))),
            Err(error) if is_missing(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Installed versions, oldest first.
    pub(crate) fn versions(&self) -> io::Result<Vec<String>> {
        let entries = match fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if is_missing(&error) => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut versions = Vec::new();
        for entry in entries {
            let name = entry?.file_name().to_string_lossy().into_owned();
            versions.extend(name.strip_suffix(".zip").map(ToOwned::to_owned));
        }
        versions.sort();
        Ok(versions)
    }

    pub(crate) fn read(&self, version: &str) -> Result<DataPack, BadDataPack> {
        DataPack::read(&fs::read(self.archive(version))?)
    }

    /// The data pack in use.
    pub(crate) fn read_active(&self) -> Result<Option<DataPack>, BadDataPack> {
        self.active()?.map(|version| self.read(&version)).transpose()
    }

    /// Keeps the archive and uses it from the next call on.
    pub(crate) fn install(&self, pack: &DataPack, archive: &[u8]) -> io::Result<()> {
        replace_file(&self.archive(&pack.manifest.version), archive)?;
        self.activate(Some(&pack.manifest.version))
    }

    /// Uses an installed version, or the figures of the program.
    pub(crate) fn activate(&self, version: Option<&str>) -> io::Result<()> {
        replace_file(&self.active_file(), format!("{}\n", version.unwrap_or_default()).as_bytes())
    }

    fn archive(&self, version: &str) -> PathBuf {
        self.folder.join(format!("{version}.zip"))
    }
}
