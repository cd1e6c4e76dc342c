//! Text layer of a PDF.

use std::panic::{AssertUnwindSafe, catch_unwind};

use pdf_extract::{Document, Error, Object, output_doc_page};

use super::ReadError;
use super::hidden::hidden_text;
use super::lines::Lines;

/// A parsed PDF.
pub(super) struct Pdf {
    document: Document,
    pages: u32,
}

impl Pdf {
    /// Parses the structure.
    pub(super) fn open(bytes: &[u8]) -> Result<Self, ReadError> {
        if !bytes
            .get(..1024.min(bytes.len()))
            .is_some_and(|head| head.windows(5).any(|five| five == b"%PDF-"))
        {
            return Err(ReadError::new(
                "NOT_A_PDF",
                "not a PDF: the file does not start with `%PDF-`",
                "provide a PDF, or plain text with `doc_type` = `text`",
            ));
        }
        let opened = catch_unwind(AssertUnwindSafe(|| {
            let mut document = Document::load_mem(bytes)?;
            if document.is_encrypted() {
                // Many papers are encrypted with an empty user password to forbid printing.
                document.decrypt("")?;
            }
            spell_out_widths(&mut document);
            let pages = document.get_pages().len();
            Ok((document, u32::try_from(pages).unwrap_or(u32::MAX)))
        }));
        match opened {
            Ok(Ok((document, pages))) if pages > 0 => Ok(Self { document, pages }),
            Ok(Ok(_)) => Err(broken("it has no pages")),
            Ok(Err(Error::Decryption(_) | Error::UnsupportedSecurityHandler(_))) => {
                Err(ReadError::new(
                    "ENCRYPTED_PDF",
                    "the PDF is encrypted and needs a password",
                    "save a copy without a password",
                ))
            }
            Ok(Err(error)) => Err(broken(&error.to_string())),
            Err(_) => Err(broken("its structure is invalid")),
        }
    }

    pub(super) const fn pages(&self) -> u32 {
        self.pages
    }

    /// Returns the metadata title, if meaningful.
    pub(super) fn title(&self) -> Option<String> {
        let info = self.document.trailer.get(b"Info").ok()?;
        let info = match info {
            Object::Reference(id) => self.document.get_dictionary(*id).ok()?,
            Object::Dictionary(info) => info,
            _ => return None,
        };
        let title = info.get(b"Title").ok()?;
        let title = pdf_extract::decode_text_string(title).ok()?;
        let title: String = title.chars().filter(|one| !one.is_control()).take(300).collect();
        let title = title.trim();
        (!title.is_empty() && !is_file_name(title)).then(|| title.to_owned())
    }

    /// Returns why a page has text that a person does not see, if it has.
    pub(super) fn hidden_text(&self, page: u32) -> Option<&'static str> {
        catch_unwind(AssertUnwindSafe(|| hidden_text(&self.document, page))).ok().flatten()
    }

    /// Returns the text of a page; `None` if its content stream cannot be interpreted.
    pub(super) fn text(&self, page: u32) -> Option<String> {
        let read = catch_unwind(AssertUnwindSafe(|| {
            let mut lines = Lines::default();
            output_doc_page(&self.document, &mut lines, page).ok()?;
            Some(lines.text())
        }));
        read.ok().flatten()
    }
}

/// Returns whether a title is a file name set by the authoring program.
fn is_file_name(title: &str) -> bool {
    let lower = title.to_lowercase();
    let endings = [".html", ".htm", ".doc", ".docx", ".odt", ".pdf", ".tex", ".indd", ".rtf"];
    lower == "untitled" || endings.iter().any(|ending| lower.ends_with(ending))
}

/// Maximum number of glyphs in a width range.
const MAX_RANGE_LENGTH: i64 = 65_536;

/// Expands glyph width ranges (`first last width`) to lists (`first [width …]`). pdf-extract 0.12.1
/// misreads ranges and then inserts spaces inside words.
fn spell_out_widths(document: &mut Document) {
    let lists: Vec<_> = document
        .objects
        .values()
        .filter_map(|object| object.as_dict().ok()?.get(b"W").ok()?.as_reference().ok())
        .collect();
    for id in lists {
        if let Some(Object::Array(widths)) = document.objects.get_mut(&id) {
            *widths = spelt_out(widths);
        }
    }
    for object in document.objects.values_mut() {
        let Ok(dictionary) = object.as_dict_mut() else { continue };
        let is_font =
            dictionary.get(b"Type").and_then(Object::as_name).is_ok_and(|name| name == b"Font");
        if let (true, Ok(Object::Array(widths))) = (is_font, dictionary.get_mut(b"W")) {
            *widths = spelt_out(widths);
        }
    }
}

fn spelt_out(widths: &[Object]) -> Vec<Object> {
    let mut out = Vec::new();
    let mut rest = widths;
    loop {
        rest = match rest {
            [first, list @ Object::Array(_), rest @ ..] => {
                out.extend([first.clone(), list.clone()]);
                rest
            }
            [Object::Integer(first), Object::Integer(last), width, rest @ ..]
                if (0..MAX_RANGE_LENGTH).contains(&(last - first)) =>
            {
                let count = usize::try_from(last - first + 1).unwrap_or_default();
                let list = Object::Array(vec![width.clone(); count]);
                out.extend([Object::Integer(*first), list]);
                rest
            }
            [] => return out,
            // Not a valid width array.
            _ => return widths.to_vec(),
        };
    }
}

fn broken(why: &str) -> ReadError {
    let why: String = why.chars().take(200).collect();
    ReadError::new(
        "BROKEN_PDF",
        format!("the PDF cannot be read: {why}"),
        "open it in a viewer and print it to a new PDF",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn width_ranges_are_expanded_and_other_arrays_unchanged() {
        let number = |value: i64| Object::Integer(value);
        let list = |values: &[i64]| Object::Array(values.iter().map(|one| number(*one)).collect());
        let widths = [number(3), list(&[9]), number(11), number(13), number(5)];
        let expected = [number(3), list(&[9]), number(11), list(&[5, 5, 5])];
        assert_eq!(spelt_out(&widths), expected);
        let odd = [number(1), number(0), number(5)];
        assert_eq!(spelt_out(&odd), odd);
        assert!(spelt_out(&[]).is_empty());
    }
}
