//! Rows of comma-separated text, as pandas and spreadsheets write it (RFC 4180).

use std::io::BufRead;

use csv::{ReaderBuilder, StringRecord};

use super::records::RecordOutcome;
use super::{Import, ImportControl};
use crate::error::{LogError, check_stop};

/// A row under the names of its columns.
pub(crate) struct Row<'a> {
    /// The line it begins in, from 1.
    pub(crate) number: u64,
    names: &'a StringRecord,
    cells: &'a StringRecord,
}

impl<'a> Row<'a> {
    /// Whether there is a column of this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.names.iter().any(|known| known == name)
    }

    /// What is in the column of this name; nothing when it is empty.
    pub(crate) fn cell(&self, name: &str) -> Option<&'a str> {
        self.at(self.names.iter().position(|known| known == name)?)
    }

    /// What is in the column at this place; nothing when it is empty.
    pub(crate) fn at(&self, place: usize) -> Option<&'a str> {
        self.cells.get(place).filter(|cell| !cell.is_empty())
    }

    /// Every cell that is not empty, with the name of its column.
    pub(crate) fn cells(&self) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.names.iter().zip(self.cells.iter()).filter(|(_, cell)| !cell.is_empty())
    }
}

/// Hands each row over. A row that cannot be read, and one that `take` does not want, is
/// reported.
pub(crate) fn each_row(
    source: impl BufRead,
    import: &mut Import,
    control: &mut ImportControl<'_>,
    mut take: impl FnMut(&Row<'_>, &mut Import) -> RecordOutcome,
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
                take(&row, import)?.map_err(|reason| (number, reason))
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
