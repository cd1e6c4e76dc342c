//! `panoply noema`: replays review histories, imports and exports collections.

use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use panoply_noema::anki;
use panoply_noema::collection;
use panoply_noema::deck::DeckName;
use panoply_noema::error::NoemaError;
use panoply_noema::fsrs::replay::{Histories, Replayed, replay};
use panoply_noema::statistics;
use panoply_noema::store::Store;
use panoply_noema::text_notes::{self, TextFormat};
use serde_json::json;

use super::{Session, call};
use crate::app;
use crate::cli::{Noema, NoemaExport, NoemaImport, NoemaReplay};
use crate::failure::Failure;
use crate::out::Out;
use crate::progress_bar::ProgressBar;
use crate::stores;

pub(super) fn run(noema: &Noema, session: &Session) -> Result<ExitCode, Failure> {
    match noema {
        Noema::Replay(arguments) => play(arguments)?,
        Noema::Import(arguments) => return import(arguments, session),
        Noema::Export(arguments) => export(arguments, session)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn play(arguments: &NoemaReplay) -> Result<(), Failure> {
    let bytes = read(&arguments.file)?;
    let histories: Histories = serde_json::from_slice(&bytes).map_err(|error| {
        Failure::work(format!("`{}` cannot be read: {error}", arguments.file.display()))
            .hint("give it `sequences` with `reviews`, each with `at` and `rating`")
    })?;
    let replayed = replay(&histories).map_err(|error| Failure::work(error.to_string()))?;
    let mut out = Out::new();
    if arguments.json {
        out.json(&replayed)?;
    } else {
        print(&replayed, &mut out)?;
    }
    out.finish()
}

fn print(replayed: &Replayed, out: &mut Out) -> Result<(), Failure> {
    for sequence in &replayed.sequences {
        out.line(&sequence.name)?;
        for review in &sequence.reviews {
            out.line(format_args!(
                "  {:10}  stability {:10.3}  difficulty {:6.3}  due {}",
                review.state.as_str(),
                review.stability,
                review.difficulty,
                review.due
            ))?;
        }
    }
    Ok(())
}

/// Imports through the tools: with an audit row, and undoable as one action.
fn import(arguments: &NoemaImport, session: &Session) -> Result<ExitCode, Failure> {
    let file = arguments.file.canonicalize().map_err(|error| {
        Failure::work(format!("`{}` cannot be read: {error}", arguments.file.display()))
    })?;
    let path = file.to_string_lossy();
    let (tool, input) = match text_format(&file) {
        None => ("import-package", json!({"path": path})),
        Some(format) => {
            let deck = arguments.deck.as_deref().unwrap_or("Imported");
            let format = format.as_str();
            ("import-cards", json!({"path": path, "format": format, "deckName": deck}))
        }
    };
    // Naming a file on the command line grants access to it.
    let mut config = session.config()?;
    let folder = file.parent().unwrap_or(&file).to_string_lossy().into_owned();
    let settings = config.pack_settings.entry("noema".to_owned()).or_default();
    match settings.get_mut("roots").and_then(toml::Value::as_array_mut) {
        Some(roots) => roots.push(folder.into()),
        None => {
            settings.insert("roots".to_owned(), vec![folder].into());
        }
    }
    call::show(&call::answer_with(&config, tool, input)?, false, false)
}

fn export(arguments: &NoemaExport, session: &Session) -> Result<(), Failure> {
    let store = open(session)?;
    let now = app::clock().now().as_microsecond();
    let deck = arguments.deck.as_deref().map(DeckName::parse).transpose();
    let deck = deck.map_err(|error| Failure::usage(error.to_string()))?;
    let mut bar = ProgressBar::new("exporting");
    let (bytes, notes) = store
        .read(|reader| {
            let id = match &deck {
                None => None,
                Some(name) => Some(
                    collection::deck_by_name(reader, name)?
                        .ok_or_else(|| NoemaError::DeckNotFound(name.to_string()))?
                        .id,
                ),
            };
            let (decks, _) = statistics::scope(reader, id)?;
            match text_format(&arguments.file) {
                None => {
                    let (bytes, exported) = anki::export(reader, &decks, now, &mut |done, all| {
                        bar.show(done as u64, all as u64);
                        Ok(())
                    })?;
                    Ok((bytes, exported.notes))
                }
                Some(format) => {
                    let notes = collection::notes_as_text(reader, &decks)?;
                    Ok((text_notes::write(&notes, format)?.into_bytes(), notes.len()))
                }
            }
        })
        .map_err(failed)?;
    bar.clear();
    fs::write(&arguments.file, &bytes).map_err(|error| {
        Failure::work(format!("`{}` cannot be written: {error}", arguments.file.display()))
    })?;
    let mut out = Out::new();
    out.line(format_args!("{notes} notes in {}", arguments.file.display()))?;
    out.finish()
}

/// Text format by file extension; `None` for a package.
fn text_format(file: &Path) -> Option<TextFormat> {
    match file.extension()?.to_str()?.to_lowercase().as_str() {
        "csv" => Some(TextFormat::Csv),
        "tsv" | "txt" => Some(TextFormat::Tsv),
        "json" => Some(TextFormat::Json),
        "md" | "markdown" => Some(TextFormat::Markdown),
        _ => None,
    }
}

fn open(session: &Session) -> Result<Arc<dyn Store>, Failure> {
    stores::cards(&session.required_home()?, &panoply_contract::tenant::TenantId::local())
        .map_err(|error| Failure::work(error.to_string()).hint("run `panoply doctor`"))
}

fn read(file: &Path) -> Result<Vec<u8>, Failure> {
    fs::read(file)
        .map_err(|error| Failure::work(format!("`{}` cannot be read: {error}", file.display())))
}

fn failed(problem: NoemaError) -> Failure {
    Failure::work(problem.to_string())
}
