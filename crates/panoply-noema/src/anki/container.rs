//! The zip container of a package: format detection and media, within size limits.

use std::io::{Cursor, Read, Seek};
use std::sync::{Mutex, PoisonError};

use zip::ZipArchive;

use super::proto::{self, MediaEntries, MediaEntry, PackageMetadata};
use super::{Package, tables};
use crate::error::{NoemaError, Result};
use crate::media;
use crate::numbers::len_to_u64;

/// Size limits of a package, checked while decompressing.
#[derive(Clone, Copy, Debug)]
pub struct PackageLimits {
    /// Decompressed collection, in bytes.
    pub collection: u64,
    /// One decompressed media file, in bytes.
    pub medium: u64,
    /// All decompressed media files, in bytes.
    pub media: u64,
    /// Zip members.
    pub files: usize,
}

impl Default for PackageLimits {
    fn default() -> Self {
        const MIB: u64 = 1 << 20;
        Self { collection: 1024 * MIB, medium: 128 * MIB, media: 16 * 1024 * MIB, files: 200_000 }
    }
}

/// A file or buffer that holds a package.
pub trait PackageSource: Read + Seek + Send {}

impl<T: Read + Seek + Send> PackageSource for T {}

/// Reads an `.apkg` or `.colpkg` of any of the three formats.
pub fn read(bytes: &[u8], limits: PackageLimits) -> Result<Package> {
    open(Box::new(Cursor::new(bytes.to_vec())), limits)
}

/// [`read`] for a file. The media stay in it and are read one at a time.
pub fn open(source: Box<dyn PackageSource>, limits: PackageLimits) -> Result<Package> {
    let mut zip = ZipArchive::new(source).map_err(|error| {
        file_error(format!("this is not an Anki package: it cannot be read as a zip ({error})"))
    })?;
    if zip.len() > limits.files {
        return Err(file_error(format!(
            "the package has {} files, at most {} are read",
            zip.len(),
            limits.files
        )));
    }
    let format = Format::of(&mut zip)?;
    let collection = member(&mut zip, format.collection(), limits.collection)?
        .ok_or_else(|| file_error(format!("the package has no `{}`", format.collection())))?;
    let collection = match format {
        Format::Latest => decompress(&collection, limits.collection, format.collection())?,
        Format::Legacy1 | Format::Legacy2 => collection,
    };
    let mut package = tables::read(&collection)?;
    let entries = media_entries(&mut zip, format, limits, &mut package)?;
    package.media = PackageMedia { zip: Mutex::new(Some(zip)), format, limits, entries };
    Ok(package)
}

/// The media files of a package, read one at a time.
pub struct PackageMedia {
    zip: Mutex<Option<Zip>>,
    format: Format,
    limits: PackageLimits,
    /// Zip member and file name of each.
    entries: Vec<(String, String)>,
}

impl Default for PackageMedia {
    fn default() -> Self {
        Self {
            zip: Mutex::new(None),
            format: Format::Legacy2,
            limits: PackageLimits::default(),
            entries: Vec::new(),
        }
    }
}

impl std::fmt::Debug for PackageMedia {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PackageMedia").field("entries", &self.entries).finish_non_exhaustive()
    }
}

impl PackageMedia {
    /// Number of files.
    pub const fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Passes name and content of each file to `visit`.
    pub fn for_each(&self, visit: &mut dyn FnMut(&str, &[u8]) -> Result<()>) -> Result<()> {
        let mut zip = self.zip.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(zip) = zip.as_mut() else { return Ok(()) };
        let mut total = 0;
        for (member_name, name) in &self.entries {
            let Some(bytes) = member(zip, member_name, self.limits.medium)? else { continue };
            let bytes = match self.format {
                Format::Latest => decompress(&bytes, self.limits.medium, name)?,
                Format::Legacy1 | Format::Legacy2 => bytes,
            };
            total += len_to_u64(bytes.len());
            if total > self.limits.media {
                return Err(file_error(format!(
                    "the media of the package are larger than {} bytes",
                    self.limits.media
                )));
            }
            visit(name, &bytes)?;
        }
        Ok(())
    }
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Format {
    Legacy1,
    Legacy2,
    Latest,
}

impl Format {
    fn of(zip: &mut Zip) -> Result<Self> {
        let meta = member(zip, "meta", 1 << 16)?;
        let meta = meta.map(|meta| proto::decode::<PackageMetadata>(&meta, "meta")).transpose()?;
        match meta.map(|meta| meta.version) {
            // Packages older than `meta` are told apart by the name of the collection file.
            None if zip.index_for_name("collection.anki21").is_some() => Ok(Self::Legacy2),
            None | Some(0 | 1) => Ok(Self::Legacy1),
            Some(2) => Ok(Self::Legacy2),
            Some(3) => Ok(Self::Latest),
            Some(other) => Err(file_error(format!(
                "the package has format {other}, which is newer than this program; export it from Anki with support for older versions"
            ))),
        }
    }

    const fn collection(self) -> &'static str {
        match self {
            Self::Legacy1 => "collection.anki2",
            Self::Legacy2 => "collection.anki21",
            Self::Latest => "collection.anki21b",
        }
    }
}

type Zip = ZipArchive<Box<dyn PackageSource>>;

/// Zip members and names of the media files.
fn media_entries(
    zip: &mut Zip,
    format: Format,
    limits: PackageLimits,
    package: &mut Package,
) -> Result<Vec<(String, String)>> {
    let Some(list) = member(zip, "media", limits.medium)? else { return Ok(Vec::new()) };
    let mut names = match format {
        Format::Latest => {
            let list = decompress(&list, limits.medium, "media")?;
            latest_names(&list)?
        }
        Format::Legacy1 | Format::Legacy2 => legacy_names(&list)?,
    };
    names.retain(|(member_name, name)| {
        let reason = if !media::is_safe_name(name) {
            format!("medium `{}`: its name is a path", name.escape_debug())
        } else if zip.index_for_name(member_name).is_none() {
            format!("medium `{name}`: it is not in the package")
        } else {
            return true;
        };
        package.left_out.push(reason);
        false
    });
    Ok(names)
}

/// Parses the JSON media map, `{"0": "dot.png"}`.
fn legacy_names(list: &[u8]) -> Result<Vec<(String, String)>> {
    let names: std::collections::BTreeMap<String, String> = serde_json::from_slice(list)
        .map_err(|error| file_error(format!("the list of media cannot be read: {error}")))?;
    Ok(names.into_iter().collect())
}

/// Pairs each media name with its zip member: its position in the list unless the entry names one.
fn latest_names(list: &[u8]) -> Result<Vec<(String, String)>> {
    let list: MediaEntries = proto::decode(list, "media")?;
    let named = |(position, entry): (usize, MediaEntry)| {
        let member = entry.legacy_zip_filename.filter(|number| *number > 0);
        (member.map_or_else(|| position.to_string(), |number| number.to_string()), entry.name)
    };
    Ok(list.entries.into_iter().enumerate().map(named).collect())
}

fn member(zip: &mut Zip, name: &str, limit: u64) -> Result<Option<Vec<u8>>> {
    let Some(index) = zip.index_for_name(name) else { return Ok(None) };
    let file = zip
        .by_index(index)
        .map_err(|error| file_error(format!("`{name}` in the package cannot be read: {error}")))?;
    read_limited(file, limit, name).map(Some)
}

fn decompress(packed: &[u8], limit: u64, name: &str) -> Result<Vec<u8>> {
    let decoder = ruzstd::decoding::StreamingDecoder::new(packed)
        .map_err(|error| file_error(format!("`{name}` in the package is not zstd: {error}")))?;
    read_limited(decoder, limit, name)
}

/// Reads at most `limit` bytes: the sizes in the headers are not trusted.
fn read_limited(from: impl Read, limit: u64, name: &str) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(limit + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| file_error(format!("`{name}` in the package is damaged: {error}")))?;
    if len_to_u64(bytes.len()) > limit {
        return Err(file_error(format!("`{name}` in the package is larger than {limit} bytes")));
    }
    Ok(bytes)
}

pub(super) fn file_error(message: String) -> NoemaError {
    NoemaError::File(message)
}
