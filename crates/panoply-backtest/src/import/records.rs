//! Reads JSON objects from a source: JSONL, or the elements of one array.

use std::io::{BufRead, Read};

use serde_json::value::RawValue;

use super::{Import, ImportControl};
use crate::error::{LogError, check_stop};
use crate::line::{Line, Lines};

/// Maximum size of a file that is read as a whole.
pub(crate) const MAX_DOCUMENT_BYTES: u64 = 1 << 30;

/// The outcome of one record: accepted, or the reason for rejection.
pub(crate) type RecordOutcome = Result<Result<(), String>, LogError>;

/// Calls `handle` with each object and its number: the line, or the index in the array from 1.
/// Rejects values that are not objects, and objects that `handle` rejects.
pub(crate) fn each_object(
    mut source: impl BufRead,
    import: &mut Import,
    control: &mut ImportControl<'_>,
    mut handle: impl FnMut(u64, &str, &mut Import) -> RecordOutcome,
) -> Result<(), LogError> {
    let starts_with_bracket = loop {
        let buffer = source.fill_buf()?;
        let blank = buffer.len() - buffer.trim_ascii_start().len();
        match buffer.get(blank) {
            Some(first) => break *first == b'[',
            None if buffer.is_empty() => break false,
            None => {
                // Blank lines before an array are not counted.
                source.consume(blank);
            }
        }
    };
    if starts_with_bracket {
        return each_element(&document(source)?, import, control, handle);
    }
    let mut lines = Lines::new(source);
    let mut seen = 0_u64;
    loop {
        let bytes = lines.bytes();
        let Some((number, line)) = lines.next_line()? else { break };
        if seen.is_multiple_of(4096) {
            check_stop(control.stop)?;
            (control.progress)(bytes);
        }
        seen += 1;
        let outcome = match line {
            Line::Invalid(reason) => Err(reason.to_owned()),
            Line::Text(text) => match object(text) {
                Ok(object) => handle(number, object, import)?,
                Err(reason) => Err(reason),
            },
        };
        if let Err(reason) = outcome {
            import.reject(number, reason);
        }
    }
    (control.progress)(lines.bytes());
    Ok(())
}

fn each_element(
    text: &str,
    import: &mut Import,
    control: &mut ImportControl<'_>,
    mut handle: impl FnMut(u64, &str, &mut Import) -> RecordOutcome,
) -> Result<(), LogError> {
    let elements: Vec<&RawValue> = match serde_json::from_str(text) {
        Ok(elements) => elements,
        Err(error) => {
            import.reject(error.line() as u64, format!("not an array of JSON objects: {error}"));
            return Ok(());
        }
    };
    let mut bytes = 0;
    for (number, element) in (1_u64..).zip(elements) {
        check_stop(control.stop)?;
        bytes += element.get().len() as u64;
        (control.progress)(bytes);
        let outcome = match object(element.get()) {
            Ok(object) => handle(number, object, import)?,
            Err(reason) => Err(reason),
        };
        if let Err(reason) = outcome {
            import.reject(number, reason);
        }
    }
    Ok(())
}

/// Checks that the text is one complete JSON object.
fn object(text: &str) -> Result<&str, String> {
    match serde_json::from_str::<&RawValue>(text) {
        Ok(value) if value.get().starts_with('{') => Ok(value.get()),
        Ok(_) => Err("not a JSON object".to_owned()),
        Err(error) if error.is_eof() => Err("the line ends in the middle of its JSON".to_owned()),
        Err(error) => Err(format!("not JSON at column {}", error.column())),
    }
}

/// Reads the whole source as text.
pub(crate) fn document(source: impl Read) -> Result<String, LogError> {
    let mut text = String::new();
    let read = source.take(MAX_DOCUMENT_BYTES).read_to_string(&mut text)?;
    if read as u64 == MAX_DOCUMENT_BYTES {
        let message = "the file exceeds 1 GiB and must be read as a whole; split it";
        return Err(LogError::Source(std::io::Error::other(message)));
    }
    Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}
