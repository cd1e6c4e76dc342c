//! Finds text of a PDF page that a person does not see: invisible, white or tiny.
//!
//! Such text is a way to slip statements into a document unnoticed. A scan whose whole text layer
//! is invisible is not suspicious: that is how scanners store recognised text.

use pdf_extract::content::{Content, Operation};
use pdf_extract::{Dictionary, Document, Object, ObjectId};

/// Smallest legible font size in points.
const MIN_SIZE: f64 = 3.0;
/// Smallest brightness that counts as white.
const WHITE: f64 = 0.98;
/// Maximum nesting of form objects.
const MAX_DEPTH: usize = 4;

/// Numbers of text operators on a page by visibility.
#[derive(Debug, Default)]
struct Shown {
    visible: usize,
    invisible: usize,
    white: usize,
    tiny: usize,
}

/// Returns why a page has hidden text, if it has.
pub(super) fn hidden_text(document: &Document, page: u32) -> Option<&'static str> {
    let id = *document.get_pages().get(&page)?;
    let content = document.get_and_decode_page_content(id).ok()?;
    let (own, inherited) = document.get_page_resources(id).ok()?;
    let inherited = inherited.into_iter().filter_map(|id| document.get_dictionary(id).ok());
    let resources: Vec<&Dictionary> = own.into_iter().chain(inherited).collect();
    let mut shown = Shown::default();
    Scan { document, resources }.run(&content.operations, State::default(), 0, &mut shown);
    match shown {
        Shown { white: 1.., .. } => Some("white text"),
        Shown { tiny: 1.., .. } => Some("text under 3 points"),
        Shown { invisible: 1.., visible: 1.., .. } => Some("invisible text beside visible text"),
        _ => None,
    }
}

/// Graphics state as far as it concerns visibility.
#[derive(Clone, Debug)]
struct State {
    white: bool,
    invisible: bool,
    size: f64,
    scale: f64,
}

impl Default for State {
    fn default() -> Self {
        Self { white: false, invisible: false, size: 0.0, scale: 1.0 }
    }
}

struct Scan<'d> {
    document: &'d Document,
    resources: Vec<&'d Dictionary>,
}

impl Scan<'_> {
    fn run(&self, operations: &[Operation], start: State, depth: usize, shown: &mut Shown) {
        let mut state = start;
        let mut saved: Vec<State> = Vec::new();
        let mut text_scale = 1.0;
        for Operation { operator, operands } in operations {
            let numbers: Vec<f64> = operands.iter().filter_map(number).collect();
            match operator.as_str() {
                "q" => saved.push(state.clone()),
                "Q" => state = saved.pop().unwrap_or_default(),
                "cm" => state.scale *= scale(&numbers),
                "BT" => text_scale = 1.0,
                "Tm" => text_scale = scale(&numbers),
                "Tf" => state.size = numbers.last().copied().unwrap_or(0.0),
                "Tr" => state.invisible = operands.first().is_some_and(is_invisible_mode),
                "g" | "rg" | "sc" | "scn" => {
                    state.white = !numbers.is_empty() && is_white(&numbers);
                }
                "k" => state.white = numbers.iter().all(|ink| *ink <= 1.0 - WHITE),
                "cs" => state.white = false,
                "Tj" | "TJ" | "'" | "\"" if operands.iter().any(has_text) => {
                    state.count(text_scale, shown);
                }
                "Do" => self.form(operands, &state, depth, shown),
                _ => {}
            }
        }
    }

    /// Scans a form object that the page draws.
    fn form(&self, operands: &[Object], state: &State, depth: usize, shown: &mut Shown) {
        let name = operands.first().and_then(|name| name.as_name().ok());
        let Some(name) = name.filter(|_| depth < MAX_DEPTH) else { return };
        let drawn = self.resources.iter().find_map(|resources| {
            let objects = self.resolved(resources.get(b"XObject").ok()?).as_dict().ok()?;
            self.resolved(objects.get(name).ok()?).as_stream().ok()
        });
        let Some(stream) = drawn else { return };
        let is_form = stream.dict.get(b"Subtype").and_then(Object::as_name);
        let content = stream.decompressed_content().unwrap_or_else(|_| stream.content.clone());
        if let (Ok(b"Form"), Ok(content)) = (is_form, Content::decode(&content)) {
            let own = stream.dict.get(b"Resources").ok();
            let own = own.and_then(|own| self.resolved(own).as_dict().ok());
            let resources = own.into_iter().chain(self.resources.iter().copied()).collect();
            let inner = Scan { document: self.document, resources };
            inner.run(&content.operations, state.clone(), depth + 1, shown);
        }
    }

    fn resolved<'o>(&'o self, object: &'o Object) -> &'o Object {
        let target: Option<ObjectId> = object.as_reference().ok();
        target.and_then(|id| self.document.get_object(id).ok()).unwrap_or(object)
    }
}

impl State {
    fn count(&self, text_scale: f64, shown: &mut Shown) {
        let size = self.size * text_scale * self.scale;
        if self.invisible {
            shown.invisible += 1;
        } else if self.white {
            shown.white += 1;
        } else if size.abs() < MIN_SIZE {
            shown.tiny += 1;
        } else {
            shown.visible += 1;
        }
    }
}

/// Length of the transformed vertical unit vector, which scales the font size.
fn scale(matrix: &[f64]) -> f64 {
    match matrix {
        [_, _, across, up, ..] => across.hypot(*up),
        _ => 1.0,
    }
}

fn is_white(components: &[f64]) -> bool {
    match components {
        [cyan, magenta, yellow, black] => {
            [cyan, magenta, yellow, black].iter().all(|ink| **ink <= 1.0 - WHITE)
        }
        light => light.iter().all(|part| *part >= WHITE),
    }
}

/// Text rendering modes without paint: 3 (neither fill nor stroke) and 7 (clip only).
const fn is_invisible_mode(mode: &Object) -> bool {
    matches!(mode, Object::Integer(3 | 7))
}

#[expect(clippy::cast_precision_loss, reason = "operands of a page are small")]
fn number(object: &Object) -> Option<f64> {
    match object {
        Object::Integer(value) => Some(*value as f64),
        Object::Real(value) => Some(f64::from(*value)),
        _ => None,
    }
}

fn has_text(object: &Object) -> bool {
    match object {
        Object::String(bytes, _) => bytes.iter().any(|byte| !byte.is_ascii_whitespace()),
        Object::Array(parts) => parts.iter().any(has_text),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(content: &str) -> Option<&'static str> {
        let stream = format!("<< /Length {} >>\nstream\n{content}\nendstream", content.len());
        let objects = [
            "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
            "<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_owned(),
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 200 200] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>".to_owned(),
            stream,
            "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>".to_owned(),
        ];
        let mut pdf = "%PDF-1.4\n".to_owned();
        let mut offsets = Vec::new();
        for (number, object) in (1..).zip(&objects) {
            offsets.push(pdf.len());
            pdf.push_str(&format!("{number} 0 obj\n{object}\nendobj\n"));
        }
        let table = pdf.len();
        pdf.push_str("xref\n0 6\n0000000000 65535 f \n");
        offsets.iter().for_each(|offset| pdf.push_str(&format!("{offset:010} 00000 n \n")));
        pdf.push_str(&format!("trailer << /Size 6 /Root 1 0 R >>\nstartxref\n{table}\n%%EOF\n"));
        hidden_text(&Document::load_mem(pdf.as_bytes()).unwrap(), 1)
    }

    #[test]
    fn white_tiny_and_invisible_text_is_found() {
        let seen = "BT /F1 12 Tf 10 100 Td (seen) Tj ET";
        let cases = [
            (seen.to_owned(), None),
            (format!("{seen} 1 1 1 rg BT /F1 12 Tf (kratom) Tj ET"), Some("white text")),
            (format!("{seen} 1 g BT /F1 12 Tf (kratom) Tj ET"), Some("white text")),
            (format!("{seen} 0 0 0 0 k BT /F1 12 Tf (kratom) Tj ET"), Some("white text")),
            (format!("{seen} BT /F1 1 Tf (kratom) Tj ET"), Some("text under 3 points")),
            (
                format!("{seen} BT /F1 12 Tf 0.1 0 0 0.1 0 0 Tm (kratom) Tj ET"),
                Some("text under 3 points"),
            ),
            (
                format!("{seen} BT 3 Tr /F1 12 Tf (kratom) Tj ET"),
                Some("invisible text beside visible text"),
            ),
            // A searchable scan: the picture shows what the text says.
            ("BT 3 Tr /F1 12 Tf (scan) Tj ET".to_owned(), None),
            ("q 1 g 0 0 10 10 re f Q BT /F1 1 Tf 12 0 0 12 0 0 Tm (seen) Tj ET".to_owned(), None),
        ];
        for (content, expected) in cases {
            assert_eq!(verdict(&content), expected, "{content}");
        }
    }
}
