//! `panoply noema`: cards and reviews.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// `panoply noema`.
#[derive(Debug, Subcommand)]
pub enum Noema {
    /// Replay histories of reviews: what other settings would have done
    Replay(NoemaReplay),
    /// Take a package of Anki (.apkg, .colpkg) or a text (.csv, .tsv, .json, .md) in
    Import(NoemaImport),
    /// Write a package that Anki opens, or a text, by the end of the file's name
    Export(NoemaExport),
}

/// `panoply noema replay`.
#[derive(Debug, Args)]
pub struct NoemaReplay {
    /// JSON with `sequences`: settings of the scheduler, and reviews with `at` and `rating`
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `panoply noema import`.
#[derive(Debug, Args)]
pub struct NoemaImport {
    /// The package or text
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The deck that notes of a text go into [default: Imported]
    #[arg(long, value_name = "NAME")]
    pub deck: Option<String>,
}

/// `panoply noema export`.
#[derive(Debug, Args)]
pub struct NoemaExport {
    /// Where to write it
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Only this deck and those under it
    #[arg(long, value_name = "NAME")]
    pub deck: Option<String>,
}
