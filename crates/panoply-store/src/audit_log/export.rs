//! Writes the rows of the log that a view includes as JSON lines, sealed segments first.

use std::io::{self, Write};
use std::path::Path;

use panoply_contract::audit::AuditView;

use super::row::ChainedRow;
use super::seal::SealError;
use super::segment::{self, Segment, Unreadable};
use super::verify;
use crate::sqlite;

/// Writes every existing row of a view to `output`; returns the pruned segments.
pub fn export(
    log: &Path,
    view: &AuditView,
    output: &mut dyn Write,
) -> Result<Vec<Segment>, SealError> {
    let folder = segment::folder_of(log);
    let failed = |source| SealError::Io { path: log.to_owned(), source };
    let about = sqlite::about(log);
    let mut connection = sqlite::open_read_only(log)?;
    // One read transaction: rows sealed concurrently are still read from the log.
    let snapshot = connection.transaction().map_err(&about)?;
    let mut pruned = Vec::new();
    for segment in segment::headers(&snapshot).map_err(&about)? {
        if segment.pruned_at.is_some() {
            pruned.push(segment);
            continue;
        }
        let path = folder.join(&segment.file);
        let unreadable = |source| SealError::Io { path: path.clone(), source };
        let altered = || {
            unreadable(io::Error::new(
                io::ErrorKind::InvalidData,
                "does not match the checksum of the sealed segment",
            ))
        };
        let bytes = segment::read(&folder, &segment).map_err(|error| match error {
            Unreadable::Missing => unreadable(io::ErrorKind::NotFound.into()),
            Unreadable::Altered => altered(),
            Unreadable::Io(source) => unreadable(source),
        })?;
        for row in segment::rows(&bytes) {
            line(output, view, &row.ok_or_else(altered)?).map_err(failed)?;
        }
    }
    let sql = verify::select(&snapshot).map_err(&about)?;
    let mut statement = snapshot.prepare(&sql).map_err(&about)?;
    let mut rows = statement.query([i64::MIN]).map_err(&about)?;
    while let Some(row) = rows.next().map_err(&about)? {
        line(output, view, &ChainedRow::of(row).map_err(&about)?).map_err(failed)?;
    }
    Ok(pruned)
}

fn line(output: &mut dyn Write, view: &AuditView, row: &ChainedRow) -> io::Result<()> {
    if !view.includes(&row.row.partition) {
        return Ok(());
    }
    serde_json::to_writer(&mut *output, row)?;
    output.write_all(b"\n")
}
