//! Commands that call, list and document tools.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use panoply_contract::context::Lang;

/// `panoply call`.
#[derive(Debug, Args)]
pub struct Call {
    /// The tool's name or alias
    pub tool: String,
    /// Its arguments as a JSON object, or `-` to read them from standard input
    #[arg(value_name = "JSON")]
    pub input: Option<String>,
    /// One argument; dots reach into objects, commas or repetition make lists
    #[arg(long = "arg", value_name = "NAME=VALUE")]
    pub arguments: Vec<String>,
    /// One argument whose value is the text of a file
    #[arg(long = "arg-file", value_name = "NAME=PATH")]
    pub files: Vec<String>,
    /// Print the structured reply as JSON
    #[arg(long)]
    pub json: bool,
    /// With --json: also what stands beside the reply, such as hints and audit
    #[arg(long, requires = "json")]
    pub meta: bool,
    /// Show what a tool that changes data would do, and do nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Make a repeated change happen once
    #[arg(long, value_name = "KEY")]
    pub idempotency_key: Option<String>,
    /// The language to answer in
    #[arg(long, value_enum, default_value = "en")]
    pub lang: Language,
}

/// A language the tools speak.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum Language {
    /// English
    En,
    /// Thai
    Th,
}

impl From<Language> for Lang {
    fn from(language: Language) -> Self {
        match language {
            Language::En => Self::En,
            Language::Th => Self::Th,
        }
    }
}

/// `panoply tools`.
#[derive(Debug, Args)]
pub struct Tools {
    /// Only the tools of this pack; may be repeated
    #[arg(long = "pack", value_name = "PACK")]
    pub packs: Vec<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `panoply describe`.
#[derive(Debug, Args)]
pub struct Describe {
    /// The tool's name or alias
    pub tool: String,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `panoply docs`.
#[derive(Debug, Args)]
pub struct Docs {
    /// Compare with the file instead of printing, and fail when they differ
    #[arg(long)]
    pub check: bool,
    /// The file to compare with
    #[arg(long, value_name = "FILE", default_value = "docs/tools.md", requires = "check")]
    pub file: PathBuf,
}

/// `panoply contract`.
#[derive(Debug, Subcommand)]
pub enum Contract {
    /// Call each tool with its own examples and check all lines of the contract
    Check {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}
