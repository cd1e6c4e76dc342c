//! `panoply noema`: cards and reviews.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// `panoply noema`.
#[derive(Debug, Subcommand)]
pub enum Noema {
    /// Replay review histories with other scheduler settings
    Replay(NoemaReplay),
    /// Import an Anki package (.apkg, .colpkg) or a text file (.csv, .tsv, .json, .md)
    Import(NoemaImport),
    /// Export an Anki package or a text file, by file extension
    Export(NoemaExport),
}

/// `panoply noema replay`.
#[derive(Debug, Args)]
pub struct NoemaReplay {
    /// JSON file with `sequences`: scheduler settings, and reviews with `at` and `rating`
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `panoply noema import`.
#[derive(Debug, Args)]
pub struct NoemaImport {
    /// Package or text file
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Deck for the notes of a text file [default: Imported]
    #[arg(long, value_name = "NAME")]
    pub deck: Option<String>,
}

/// `panoply noema export`.
#[derive(Debug, Args)]
pub struct NoemaExport {
    /// Destination file
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Only this deck and its subdecks
    #[arg(long, value_name = "NAME")]
    pub deck: Option<String>,
}
