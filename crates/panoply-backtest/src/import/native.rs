//! Importer for the native JSONL, also the format of exports and of streams over HTTP.

use std::io::BufRead;

use super::Import;
use crate::error::{LogError, Stop, check_stop};
use crate::line::{self, Line, Lines};

/// Reads all lines; `progress` receives the number of bytes read.
pub fn read(
    source: impl BufRead,
    import: &mut Import,
    progress: &mut dyn FnMut(u64),
    stop: Stop<'_>,
) -> Result<(), LogError> {
    let mut lines = Lines::new(source);
    let mut seen = 0_u64;
    loop {
        let bytes = lines.bytes();
        let Some((number, text)) = lines.next_line()? else { break };
        if seen.is_multiple_of(4096) {
            check_stop(stop)?;
            progress(bytes);
        }
        seen += 1;
        match text {
            Line::Invalid(reason) => import.reject(number, reason.to_owned()),
            Line::Text(text) => match line::parse(text) {
                Ok((run, event)) => import.event(number, run, &event)?,
                Err(reason) => import.reject(number, reason),
            },
        }
    }
    progress(lines.bytes());
    Ok(())
}
