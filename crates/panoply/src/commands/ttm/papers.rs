//! `panoply ttm import-papers`: imports papers, each file atomically.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::process::ExitCode;

use panoply_contract::operation::OperationSpec;
use panoply_ttm::papers::import::{self as read, ImportError, RejectedRecord};
use panoply_ttm::papers::{Imported, UserStoreError};
use panoply_ttm::search::{Engine, PaperImport};
use serde_json::{Value, json};

use super::super::{Session, operation};
use crate::cli::TtmImportPapers;
use crate::failure::Failure;
use crate::out::{Out, WARN, notice};
use crate::progress_bar::ProgressBar;

const IMPORT: OperationSpec = OperationSpec {
    name: "ttm/import-papers",
    pack: "ttm",
    permissions: &["kg:write"],
    data: &["ttm"],
};

pub(super) fn import(arguments: &TtmImportPapers, session: &Session) -> Result<ExitCode, Failure> {
    let files: Vec<String> =
        arguments.files.iter().map(|file| file.display().to_string()).collect();
    operation::run(session, &IMPORT, &json!({"files": files}), || {
        import_files(arguments, session).map(|told| (ExitCode::SUCCESS, json!(told)))
    })
}

/// Imports file by file and prints the result of each.
fn import_files(arguments: &TtmImportPapers, session: &Session) -> Result<Vec<Value>, Failure> {
    let user_store = super::user_store(session)?;
    let mut out = Out::new();
    let mut told = Vec::new();
    // A failed file does not undo the files before it.
    let outcome = arguments.files.iter().try_for_each(|file| {
        let (Imported { added, changed, unchanged }, refused) = import_file(user_store.as_ref(), file)?;
        let (name, left_out) = (file.display(), refused.len());
        let named = |RejectedRecord { place, pmid, why }: &RejectedRecord| {
            json!({"record": place, "pmid": pmid, "why": why})
        };
        told.push(json!({
            "file": name.to_string(), "added": added, "changed": changed,
            "unchanged": unchanged, "refused": left_out,
            "left_out": refused.iter().map(named).collect::<Vec<_>>(),
        }));
        if arguments.json {
            return Ok(());
        }
        for RejectedRecord { place, pmid, why } in refused {
            notice(format_args!("{WARN}left out{WARN:#} record {place} (PMID `{pmid}`): {why}"));
        }
        out.line(format_args!(
            "{name}: {added} papers added, {changed} updated, {unchanged} unchanged, {left_out} skipped",
        ))
    });
    let outcome = outcome.and_then(|()| update_index(user_store.as_ref()));
    if arguments.json {
        out.json(&told)?;
    }
    out.finish()?;
    outcome.map(|()| told)
}

/// Builds the search index now rather than at the next search.
fn update_index(user_store: &dyn PaperImport) -> Result<(), Failure> {
    let later = |error: &dyn std::fmt::Display| {
        Failure::work(format!("the papers are imported, but cannot be searched yet: {error}"))
            .hint("the next search tries again; see that the disk has room")
    };
    let engine = Engine::bundled().map_err(|error| later(&error))?;
    let mut bar = ProgressBar::new("making papers searchable");
    let made = user_store.update_index(engine.text_model(), &mut |done, all| bar.show(done, all));
    bar.clear();
    made.map_err(|error| later(&error))
}

fn import_file(
    user_store: &dyn PaperImport,
    file: &Path,
) -> Result<(Imported, Vec<RejectedRecord>), Failure> {
    let name = file.display();
    let unreadable = |error: io::Error| Failure::work(format!("`{name}` cannot be read: {error}"));
    let opened = File::open(file).map_err(unreadable)?;
    let total = opened.metadata().map_err(unreadable)?.len();
    take(user_store, opened, total).map_err(|error| {
        Failure::work(format!("`{name}`: {error}; nothing of it was imported"))
            .hint("save the records in PubMed as `PubMed` (.nbib or .txt), or fetch them as XML")
    })
}

/// Error of the reader or of the store.
#[derive(Debug)]
enum NotImported {
    File(ImportError),
    UserStore(UserStoreError),
}

impl From<UserStoreError> for NotImported {
    fn from(error: UserStoreError) -> Self {
        Self::UserStore(error)
    }
}

impl std::fmt::Display for NotImported {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::File(error) => error.fmt(f),
            Self::UserStore(error) => error.fmt(f),
        }
    }
}

/// Reads all records of a file, or none on an error, with a progress bar.
fn take(
    user_store: &dyn PaperImport,
    file: File,
    total: u64,
) -> Result<(Imported, Vec<RejectedRecord>), NotImported> {
    let bytes = Cell::new(0);
    let mut counted = Counted { file, bytes: &bytes };
    let mut bar = ProgressBar::new("reading");
    let mut outcome = Ok(Vec::new());
    let imported = user_store.import_papers(&mut |keep| {
        let mut records = 0_u64;
        outcome = read::read(&mut counted, &mut |record| {
            records += 1;
            if records.is_multiple_of(BAR_EVERY) {
                bar.show_as(&format!("{records} records"), bytes.get(), total);
            }
            keep(record).map_err(|error| ImportError::Sink(error.to_string()))
        });
        bar.clear();
        match &outcome {
            Ok(_) => Ok(()),
            Err(error) => Err(UserStoreError(error.to_string().into())),
        }
    });
    let refused = outcome.map_err(NotImported::File)?;
    Ok((imported?, refused))
}

/// Records between two updates of the bar.
const BAR_EVERY: u64 = 250;

/// Reader that counts bytes.
struct Counted<'r> {
    file: File,
    bytes: &'r Cell<u64>,
}

impl Read for Counted<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read(buffer)?;
        self.bytes.set(self.bytes.get() + count as u64);
        Ok(count)
    }
}
