//! Commands that call, list and document tools.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use panoply_contract::context::Lang;

/// `panoply call`.
#[derive(Debug, Args)]
pub struct Call {
    /// Name or alias of the tool
    pub tool: String,
    /// Arguments as a JSON object, or `-` to read them from standard input
    #[arg(value_name = "JSON")]
    pub input: Option<String>,
    /// One argument; dots address nested objects, commas or repetition form lists
    #[arg(long = "arg", value_name = "NAME=VALUE")]
    pub arguments: Vec<String>,
    /// One argument with the content of a file as its value
    #[arg(long = "arg-file", value_name = "NAME=PATH")]
    pub files: Vec<String>,
    /// Print the structured reply as JSON
    #[arg(long)]
    pub json: bool,
    /// With --json: include `_meta`, such as hints and audit
    #[arg(long, requires = "json")]
    pub meta: bool,
    /// Show what a mutation would do, without doing it
    #[arg(long)]
    pub dry_run: bool,
    /// Idempotency key: a repeated call with the same key runs once
    #[arg(long, value_name = "KEY")]
    pub idempotency_key: Option<String>,
    /// Language of the reply
    #[arg(long, value_enum, default_value = "en")]
    pub lang: Language,
}

/// Language of replies.
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
    /// Only tools of this pack; may be repeated
    #[arg(long = "pack", value_name = "PACK")]
    pub packs: Vec<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `panoply describe`.
#[derive(Debug, Args)]
pub struct Describe {
    /// Name or alias of the tool
    pub tool: String,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `panoply docs`.
#[derive(Debug, Args)]
pub struct Docs {
    /// Compare with the file instead of printing; fail if they differ
    #[arg(long)]
    pub check: bool,
    /// File to compare with
    #[arg(long, value_name = "FILE", default_value = "docs/tools.md", requires = "check")]
    pub file: PathBuf,
}

/// `panoply contract`.
#[derive(Debug, Subcommand)]
pub enum Contract {
    /// Call each tool with its examples and check all rules of the contract
    Check {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Ask judged questions and compare the stated confidence with how often replies are right
    Calibration {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}
