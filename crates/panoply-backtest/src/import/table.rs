//! Reads CSV as written by pandas and spreadsheets (RFC 4180).

use std::io::BufRead;

use csv::{ReaderBuilder, StringRecord};

use super::records::RecordOutcome;
use super::{Import, ImportControl};
use crate::error::{LogError, check_stop};

/// A row with its column names.
pub(crate) struct Row<'a> {
    /// The line number, from 1.
    pub(crate) number: u64,
    names: &'a StringRecord,
    cells: &'a StringRecord,
}

impl<'a> Row<'a> {
    /// Whether a column exists.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.names.iter().any(|known| known == name)
    }

    /// The value in a column; `None` if empty.
    pub(crate) fn cell(&self, name: &str) -> Option<&'a str> {
        self.at(self.names.iter().position(|known| known == name)?)
    }

    /// The value at an index; `None` if empty.
    pub(crate) fn at(&self, place: usize) -> Option<&'a str> {
        self.cells.get(place).filter(|cell| !cell.is_empty())
    }

    /// All non-empty values with their column names.
    pub(crate) fn cells(&self) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.names.iter().zip(self.cells.iter()).filter(|(_, cell)| !cell.is_empty())
    }
}

/// Calls `handle` with each row. Rejects unreadable rows, and rows that `handle` rejects.
pub(crate) fn each_row(
    source: impl BufRead,
    import: &mut Import,
    control: &mut ImportControl<'_>,
    mut handle: impl FnMut(&Row<'_>, &mut Import) -> RecordOutcome,
) -> Result<(), LogError> {
    let mut reader = ReaderBuilder::new().flexible(true).from_reader(source);
    let names = match reader.headers() {
        Ok(names) => names.clone(),
        Err(error) => return unreadable(1, &error, import),
    };
    let mut cells = StringRecord::new();
    let mut seen = 0_u64;
    loop {
        if seen.is_multiple_of(1024) {
            check_stop(control.stop)?;
            (control.progress)(reader.position().byte());
        }
        seen += 1;
        let number = reader.position().line();
        let outcome = match reader.read_record(&mut cells) {
            Ok(false) => break,
            Ok(true) => {
                let number = cells.position().map_or(number, csv::Position::line);
                let row = Row { number, names: &names, cells: &cells };
                handle(&row, import)?.map_err(|reason| (number, reason))
            }
            Err(error) if matches!(error.kind(), csv::ErrorKind::Io(_)) => {
                return unreadable(number, &error, import);
            }
            Err(_) => Err((number, "the line is not UTF-8".to_owned())),
        };
        if let Err((number, reason)) = outcome {
            import.reject(number, reason);
        }
    }
    (control.progress)(reader.position().byte());
    Ok(())
}

fn unreadable(line: u64, error: &csv::Error, import: &mut Import) -> Result<(), LogError> {
    if let csv::ErrorKind::Io(error) = error.kind() {
        return Err(LogError::Source(std::io::Error::new(error.kind(), error.to_string())));
    }
    import.reject(line, "the names of the columns are not UTF-8".to_owned());
    Ok(())
}
