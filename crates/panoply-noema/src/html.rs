//! HTML of fields and cards: removal of markup, and references to media.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::{Captures, Regex};

/// Removes markup and decodes the common entities.
pub fn strip(html: &str) -> String {
    if !html.contains(['<', '&', '\n', '\r']) {
        return html.trim().to_owned();
    }
    static MARKUP: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"(?is)<!--.*?-->|<style.*?</style>|<script.*?</script>|<[^<>]*>").ok()
    });
    let broken = html.replace("<br>", "\n").replace("<hr id=answer>", "\n").replace("</div>", "\n");
    let bare = MARKUP
        .as_ref()
        .map_or_else(|| broken.clone(), |markup| markup.replace_all(&broken, "").into_owned());
    let entities = [
        ("&nbsp;", " "),
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#39;", "'"),
        ("&amp;", "&"),
    ];
    let text = entities.iter().fold(bare, |text, (entity, letter)| text.replace(entity, letter));
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    lines.join("\n")
}

/// The text of a side for a reader without HTML: pictures, sounds and videos are named. Never empty.
pub fn shown(html: &str) -> String {
    static MEDIUM: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"(?is)<(img|audio|video|source|object|embed)\b[^>]*>|\[sound:([^\]]+)\]|\[anki:play:[^\]]*\]|\[anki:tts[^\]]*\].*?\[/anki:tts\]").ok()
    });
    let named = MEDIUM.as_ref().map_or_else(
        || html.into(),
        |medium| medium.replace_all(html, |found: &Captures<'_>| placeholder(found)),
    );
    let text = strip(&named);
    if text.is_empty() { "(this side of the card has no text)".to_owned() } else { text }
}

/// `[image: heart.png]` in place of a tag.
fn placeholder(found: &Captures<'_>) -> String {
    if let Some(sound) = found.get(2) {
        return format!("[audio: {}]", sound.as_str());
    }
    let tag = found.get(0).map_or("", |tag| tag.as_str());
    if tag.starts_with("[anki:tts") {
        return "[speech]".to_owned();
    }
    let kind = match found.get(1).map(|name| name.as_str().to_lowercase()).as_deref() {
        Some("img") => "image",
        Some("audio") => "audio",
        Some("video") => "video",
        Some(_) => "medium",
        None => return String::new(),
    };
    let name = attribute(tag, "alt").filter(|alt| !alt.trim().is_empty());
    let name = name.or_else(|| attribute(tag, "src")).or_else(|| attribute(tag, "data"));
    match name {
        // A picture inside the page has a long address and no name.
        Some(name) if !name.starts_with("data:") => format!("[{kind}: {name}]"),
        _ => format!("[{kind}]"),
    }
}

/// Language and text of each `[anki:tts lang=en_US]text[/anki:tts]`.
pub fn speech(html: &str) -> Vec<(String, String)> {
    static SPEECH: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"(?s)\[anki:tts lang=([^\]\s]*)[^\]]*\](.*?)\[/anki:tts\]").ok()
    });
    let Some(speech) = SPEECH.as_ref() else { return Vec::new() };
    let part = |found: &Captures<'_>, index: usize| {
        found.get(index).map_or_else(String::new, |part| part.as_str().to_owned())
    };
    speech.captures_iter(html).map(|found| (part(&found, 1), part(&found, 2))).collect()
}

/// Removes what could run in a page: scripts, frames, forms, event handlers and script addresses.
/// A second line of defence: pages also show cards without rights.
pub fn inert(html: &str) -> String {
    static ACTIVE: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(
            r#"(?is)<script\b.*?(?:</script\s*>|$)|</?(?:script|iframe|frame|object|embed|form|input|button|link|meta|base|canvas)\b[^>]*>|\son[a-z]+\s*=\s*(?:"[^"]*"|'[^']*'|[^\s>]+)|(?:javascript|vbscript)\s*:"#,
        )
        .ok()
    });
    let Some(active) = ACTIVE.as_ref() else { return String::new() };
    let mut text = html.to_owned();
    // Removing one part may join the parts of another.
    while active.is_match(&text) {
        text = active.replace_all(&text, "").into_owned();
    }
    text
}

/// The value of an attribute of a tag.
pub(crate) fn attribute(tag: &str, wanted: &str) -> Option<String> {
    static ATTRIBUTE: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r#"(?is)([a-z-]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>"']+))"#).ok()
    });
    ATTRIBUTE.as_ref()?.captures_iter(tag).find_map(|found| {
        let name = found.get(1)?.as_str();
        let value = found.iter().skip(2).flatten().next()?;
        name.eq_ignore_ascii_case(wanted).then(|| decode(value.as_str()))
    })
}

/// Decodes the entities of an attribute.
fn decode(value: &str) -> String {
    value.replace("&quot;", "\"").replace("&#39;", "'").replace("&amp;", "&")
}

static NAMED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r#"(?is)\[sound:([^\]]+)\]|\b(?:src|data)\s*=\s*(?:"([^"]+)"|'([^']+)'|([^\s>"']+))|url\(\s*["']?([^"')]+)"#).ok()
});

/// Renames media files in references.
pub fn rename_media<'a>(html: &'a str, renamed: &BTreeMap<String, String>) -> Cow<'a, str> {
    let Some(named) = NAMED.as_ref().filter(|_| !renamed.is_empty()) else {
        return Cow::Borrowed(html);
    };
    named.replace_all(html, |found: &Captures<'_>| {
        let whole = found.get(0).map_or("", |whole| whole.as_str());
        let name = found.iter().skip(1).flatten().next().map_or("", |name| name.as_str());
        match renamed.get(&percent_decode(&decode(name.trim()))) {
            Some(new) => whole.replacen(name, new, 1),
            None => whole.to_owned(),
        }
    })
}

/// Names of the media files that fields or templates reference, in order and without repetition.
pub fn media_names(html: &str) -> Vec<String> {
    let Some(named) = NAMED.as_ref().filter(|_| html.contains(['<', '[', '('])) else {
        return Vec::new();
    };
    let mut names: Vec<String> = Vec::new();
    for found in named.captures_iter(html) {
        let Some(name) = found.iter().skip(1).flatten().next() else { continue };
        let name = percent_decode(&decode(name.as_str().trim()));
        let local = !name.contains("://") && !name.starts_with("data:");
        if local && !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// Decodes `%20`; a name with an invalid escape stays as it is.
pub fn percent_decode(name: &str) -> String {
    if !name.contains('%') {
        return name.to_owned();
    }
    let mut bytes = Vec::with_capacity(name.len());
    let mut rest = name.as_bytes();
    while let [first, tail @ ..] = rest {
        rest = tail;
        let escaped = match (first, tail) {
            (b'%', [high, low, ..]) => {
                let digit = |byte: &u8| char::from(*byte).to_digit(16);
                digit(high)
                    .zip(digit(low))
                    .and_then(|(high, low)| u8::try_from(high * 16 + low).ok())
            }
            _ => None,
        };
        match escaped {
            Some(byte) => {
                bytes.push(byte);
                rest = tail.get(2..).unwrap_or_default();
            }
            None => bytes.push(*first),
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_side_without_text_names_its_media() {
        let cases = [
            (r#"<img src="heart.png">"#, "[image: heart.png]"),
            (r#"<IMG alt='the heart' src=heart.png>"#, "[image: the heart]"),
            (r#"<img src="data:image/png;base64,AAAA">"#, "[image]"),
            ("Listen: [sound:ม้า 1.mp3]", "Listen: [audio: ม้า 1.mp3]"),
            ("<video src=a.mp4></video>", "[video: a.mp4]"),
            ("<div></div>", "(this side of the card has no text)"),
            ("", "(this side of the card has no text)"),
            ("a &lt; b", "a < b"),
        ];
        for (html, expected) in cases {
            assert_eq!(shown(html), expected, "html: {html:?}");
        }
    }

    #[test]
    fn inert_html_contains_nothing_that_runs() {
        let cases = [
            ("<b>a</b><script>x()</script>b", "<b>a</b>b"),
            ("<scr<script></script>ipt>x()</script>", ""),
            ("<img src=a.png onerror=alert(1)>", "<img src=a.png>"),
            ("<a href=\"JavaScript:x()\">a</a>", "<a href=\"x()\">a</a>"),
            ("<iframe src=x></iframe>a", "a"),
            ("<script>never closed", ""),
            ("once = 1", "once = 1"),
        ];
        for (html, expected) in cases {
            assert_eq!(inert(html), expected, "html: {html:?}");
        }
    }

    #[test]
    fn media_names_are_local_decoded_and_unique() {
        let html = r#"<img src="a%20b.png"><img src='a b.png'>[sound:x.mp3]<img src=https://e.org/i.png><img src="R&amp;B.jpg"><style>@font-face{src:url("_f.woff")}</style>"#;
        assert_eq!(media_names(html), ["a b.png", "x.mp3", "R&B.jpg", "_f.woff"]);
        assert_eq!(percent_decode("100%"), "100%");
    }
}
