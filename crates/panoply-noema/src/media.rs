//! Media files of notes: types by content, names, size limits.
//!
//! A file is shown only if its content is one of the known picture, sound and video formats. Other
//! files of a package, such as scripts and fonts, are stored for export and never served.

use crate::fsrs::Micros;
use crate::ids::MediaId;

/// Largest file that a caller may add, in bytes.
pub const MAX_FILE_BYTES: usize = 64 << 20;
/// Longest name in bytes, as in Anki.
pub const MAX_NAME_BYTES: usize = 120;

/// A stored media file.
#[derive(Clone, Debug, PartialEq)]
pub struct MediaFile {
    /// Identifier.
    pub id: MediaId,
    /// Name, as fields reference it.
    pub name: String,
    /// Size in bytes.
    pub size: u64,
    /// Format; `None` if it is not shown.
    pub format: Option<MediaFormat>,
    /// When it was added.
    pub added: Micros,
}

/// What a file is shown as.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum MediaKind {
    /// Picture.
    Image,
    /// Sound.
    Audio,
    /// Video.
    Video,
}

/// A known format.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct MediaFormat {
    /// What it is shown as.
    pub kind: MediaKind,
    /// MIME type.
    pub mime: &'static str,
    /// File name extensions, the usual one first.
    pub extensions: &'static [&'static str],
}

macro_rules! formats {
    ($($name:ident: $kind:ident $mime:literal [$($extension:literal),+];)+) => {
        $(const $name: MediaFormat = MediaFormat {
            kind: MediaKind::$kind,
            mime: $mime,
            extensions: &[$($extension),+],
        };)+
        /// All known formats.
        pub const FORMATS: &[MediaFormat] = &[$($name),+];
    };
}

formats! {
    PNG: Image "image/png" ["png"];
    JPEG: Image "image/jpeg" ["jpg", "jpeg"];
    GIF: Image "image/gif" ["gif"];
    WEBP: Image "image/webp" ["webp"];
    AVIF: Image "image/avif" ["avif"];
    BMP: Image "image/bmp" ["bmp"];
    SVG: Image "image/svg+xml" ["svg"];
    MP3: Audio "audio/mpeg" ["mp3"];
    OGG: Audio "audio/ogg" ["ogg", "oga", "opus", "spx"];
    WAV: Audio "audio/wav" ["wav"];
    FLAC: Audio "audio/flac" ["flac"];
    M4A: Audio "audio/mp4" ["m4a", "aac"];
    MP4: Video "video/mp4" ["mp4", "m4v", "mov"];
    WEBM: Video "video/webm" ["webm", "mkv"];
    OGV: Video "video/ogg" ["ogv"];
}

/// Why a file cannot be added.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum InvalidMedia {
    /// The name is a path or has characters that file systems refuse.
    #[error("`{0}` is not a file name")]
    Name(String),
    /// The file is empty.
    #[error("`{0}` is empty")]
    Empty(String),
    /// The file is too large.
    #[error("`{name}` has {size} bytes; at most {limit} are stored")]
    TooLarge {
        /// Name.
        name: String,
        /// Its size.
        size: usize,
        /// Largest size.
        limit: usize,
    },
    /// The content is not a known format.
    #[error("`{0}` is not a picture, sound or video in a known format")]
    UnknownFormat(String),
    /// The content does not match the extension.
    #[error("the content of `{name}` is {mime}, which does not match its name")]
    WrongExtension {
        /// Name.
        name: String,
        /// MIME type of the content.
        mime: &'static str,
    },
    /// An SVG with scripts or references to other files.
    #[error("`{0}` contains a script, an event handler or a reference to another file")]
    ActiveContent(String),
    /// Another file has this name.
    #[error("another file with other content is called `{0}`")]
    NameTaken(String),
}

/// Checks a file to add and returns its format.
pub fn check(name: &str, bytes: &[u8]) -> Result<MediaFormat, InvalidMedia> {
    if !is_safe_name(name) || name.len() > MAX_NAME_BYTES {
        return Err(InvalidMedia::Name(name.chars().take(80).collect()));
    }
    if bytes.is_empty() {
        return Err(InvalidMedia::Empty(name.to_owned()));
    }
    if bytes.len() > MAX_FILE_BYTES {
        let (size, limit) = (bytes.len(), MAX_FILE_BYTES);
        return Err(InvalidMedia::TooLarge { name: name.to_owned(), size, limit });
    }
    let format = sniff(bytes).ok_or_else(|| InvalidMedia::UnknownFormat(name.to_owned()))?;
    let extension = name.rsplit_once('.').map(|(_, extension)| extension.to_lowercase());
    // Containers such as MP4 and Ogg hold sound or video; the name decides.
    let named = extension.and_then(|extension| by_extension(&extension));
    match named {
        Some(named) if named == format || same_container(named, format) => {}
        _ => return Err(InvalidMedia::WrongExtension { name: name.to_owned(), mime: format.mime }),
    }
    if format == SVG && has_active_content(bytes) {
        return Err(InvalidMedia::ActiveContent(name.to_owned()));
    }
    Ok(named.unwrap_or(format))
}

/// The format of a stored file, by content and extension; `None` if it is not shown.
pub fn format_of(name: &str, start: &[u8]) -> Option<MediaFormat> {
    let format = sniff(start)?;
    let extension = name.rsplit_once('.').map(|(_, extension)| extension.to_lowercase());
    let named = extension.and_then(|extension| by_extension(&extension));
    Some(named.filter(|named| same_container(*named, format)).unwrap_or(format))
}

fn by_extension(extension: &str) -> Option<MediaFormat> {
    FORMATS.iter().copied().find(|format| format.extensions.contains(&extension))
}

fn same_container(one: MediaFormat, other: MediaFormat) -> bool {
    let container = |format: MediaFormat| match format {
        MP4 | M4A => 1,
        OGG | OGV => 2,
        _ => 0,
    };
    container(one) != 0 && container(one) == container(other)
}

/// Number of bytes that [`format_of`] needs.
pub const SNIFFED_BYTES: usize = 512;

/// The format of a content, by its first bytes.
fn sniff(bytes: &[u8]) -> Option<MediaFormat> {
    let at = |offset: usize, wanted: &[u8]| {
        bytes.get(offset..).is_some_and(|rest| rest.starts_with(wanted))
    };
    let starts = |wanted: &[u8]| at(0, wanted);
    Some(match () {
        () if starts(b"\x89PNG\r\n\x1a\n") => PNG,
        () if starts(b"\xff\xd8\xff") => JPEG,
        () if starts(b"GIF87a") || starts(b"GIF89a") => GIF,
        () if starts(b"RIFF") && at(8, b"WEBP") => WEBP,
        () if starts(b"RIFF") && at(8, b"WAVE") => WAV,
        () if starts(b"BM") && at(6, &[0, 0, 0, 0]) => BMP,
        () if at(4, b"ftypavif") || at(4, b"ftypavis") => AVIF,
        () if at(4, b"ftypM4A") || starts(b"\xff\xf1") || starts(b"\xff\xf9") => M4A,
        () if at(4, b"ftyp") => MP4,
        () if starts(b"OggS") => OGG,
        () if starts(b"fLaC") => FLAC,
        () if starts(b"ID3")
            || starts(b"\xff\xfb")
            || starts(b"\xff\xf3")
            || starts(b"\xff\xf2")
            || starts(b"\xff\xfa") =>
        {
            MP3
        }
        () if starts(b"\x1a\x45\xdf\xa3") => WEBM,
        () => return is_svg(bytes).then_some(SVG),
    })
}

/// Whether the first element is `svg`, after a declaration, a doctype and comments.
fn is_svg(bytes: &[u8]) -> bool {
    let head = bytes.get(..bytes.len().min(SNIFFED_BYTES)).unwrap_or_default();
    let text = String::from_utf8_lossy(head).to_lowercase();
    let mut rest = text.trim_start_matches('\u{feff}').trim_start();
    loop {
        let end = if rest.starts_with("<!--") {
            "-->"
        } else if rest.starts_with("<?") || rest.starts_with("<!doctype") {
            ">"
        } else {
            return rest.starts_with("<svg");
        };
        match rest.split_once(end) {
            Some((_, after)) => rest = after.trim_start(),
            None => return false,
        }
    }
}

fn has_active_content(svg: &[u8]) -> bool {
    use std::sync::LazyLock;
    static ACTIVE: LazyLock<Option<regex::Regex>> = LazyLock::new(|| {
        regex::Regex::new(
            r#"(?i)<\s*(?:\w+:)?(?:script|foreignobject|iframe|embed|object|use|image|set|animate)\b|\son\w+\s*=|javascript:|<!entity|@import|url\(\s*["']?\s*(?:https?:)?//|href\s*=\s*["']?\s*[^#"'\s]"#,
        )
        .ok()
    });
    let text = String::from_utf8_lossy(svg);
    ACTIVE.as_ref().is_none_or(|active| active.is_match(&text))
}

/// Whether a media name is a plain file name without path components.
pub fn is_safe_name(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= 255
        && !name.starts_with('.')
        && !name.contains(['/', '\\', ':', '\0'])
        && !name.chars().any(char::is_control)
}

/// A name for a file whose own name another file has: the stem with a hash of the content, as Anki
/// does.
pub fn renamed(name: &str, bytes: &[u8]) -> String {
    use sha2::Digest as _;
    let digest = sha2::Sha256::digest(bytes);
    let hash: String = digest.iter().take(20).map(|byte| format!("{byte:02x}")).collect();
    match name.rsplit_once('.') {
        Some((stem, extension)) => {
            let stem: String = stem.chars().take(60).collect();
            format!("{stem}-{hash}.{extension}")
        }
        None => format!("{name}-{hash}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_path_components_are_rejected() {
        for (name, plain) in [
            ("dot.png", true),
            ("ภาพ 1.jpg", true),
            ("../../etc/passwd", false),
            ("/etc/passwd", false),
            ("C:\\x", false),
            (".bashrc", false),
            ("a\0b", false),
            ("", false),
        ] {
            assert_eq!(is_safe_name(name), plain, "name: {name:?}");
        }
    }

    #[test]
    fn content_decides_the_format_and_must_match_the_name() {
        let svg = br#"<?xml version="1.0"?><!-- a --><svg xmlns="http://www.w3.org/2000/svg"><path d="M0 0"/></svg>"#;
        let cases: [(&str, &[u8], Option<&str>); 9] = [
            ("a.png", b"\x89PNG\r\n\x1a\nrest", Some("image/png")),
            ("a.jpg", b"\x89PNG\r\n\x1a\nrest", None),
            ("a.exe", b"MZ", None),
            ("a.png", b"<html><script>alert(1)</script>", None),
            ("a.mp3", b"ID3\x04", Some("audio/mpeg")),
            ("a.m4a", b"\0\0\0\x20ftypisom", Some("audio/mp4")),
            ("a.mp4", b"\0\0\0\x20ftypisom", Some("video/mp4")),
            ("a.svg", svg, Some("image/svg+xml")),
            ("a.opus", b"OggS\0", Some("audio/ogg")),
        ];
        for (name, bytes, expected) in cases {
            let mime = check(name, bytes).ok().map(|format| format.mime);
            assert_eq!(mime, expected, "{name}");
        }
    }

    #[test]
    fn svg_with_active_content_is_refused() {
        for inside in [
            "<script>alert(1)</script>",
            "<svg:script href='x'/>",
            "<rect onclick = \"x()\"/>",
            "<a href='javascript:x'>a</a>",
            "<image href='https://example.org/a.png'/>",
            "<style>@import 'x.css'</style>",
            "<foreignObject><iframe/></foreignObject>",
            "<a xlink:href=\"https://example.org\">a</a>",
        ] {
            let svg = format!("<svg>{inside}</svg>");
            let refused = check("a.svg", svg.as_bytes());
            assert_eq!(refused, Err(InvalidMedia::ActiveContent("a.svg".to_owned())), "{inside}");
        }
        let inner = br##"<svg><g id="a"/><a href="#a"/><path fill="url(#b)"/></svg>"##;
        assert!(check("a.svg", inner).is_ok());
    }
}
