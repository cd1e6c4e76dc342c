//! `panoply ttm`: Thai traditional medicine.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

/// `panoply ttm`.
#[derive(Debug, Subcommand)]
pub enum Ttm {
    /// Answer a question in Thai or English with numbered citations, or explain why not
    Ask(TtmAsk),
    /// Search herbs, formulations, papers and other entities, in Thai or English
    Search(TtmSearch),
    /// Import papers: PubMed XML or MEDLINE (.nbib), optionally gzipped
    ImportPapers(TtmImportPapers),
    /// Evaluate search and answers on questions with relevance judgements
    Eval(TtmEval),
    /// Import documents (PDF or text): print the plan, then apply it
    Ingest(TtmIngest),
    /// List ingest jobs; show, cancel or roll back one
    Jobs(TtmJobs),
    /// Read a document on standard input within resource limits (internal)
    #[command(hide = true)]
    ReadDocument(TtmRead),
    /// Check graph, search and safety rules
    Doctor {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

/// `panoply ttm search`.
#[derive(Debug, Args)]
pub struct TtmSearch {
    /// Query; several words need no quotes
    #[arg(value_name = "QUERY", required = true)]
    pub query: Vec<String>,
    /// Language of titles and snippets
    #[arg(long, value_enum, default_value_t = TtmLang::Auto)]
    pub lang: TtmLang,
    /// Maximum number of hits, from 1 to 100
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub top_k: u8,
    /// Only hits of this kind
    #[arg(long, value_enum)]
    pub kind: Option<TtmKind>,
    /// Print the JSON of the tool `hybrid_search`
    #[arg(long)]
    pub json: bool,
}

/// `panoply ttm ask`.
#[derive(Debug, Args)]
pub struct TtmAsk {
    /// Question, in one argument or several
    #[arg(value_name = "QUESTION", required = true)]
    pub question: Vec<String>,
    /// Language of the answer [default: language of the question]
    #[arg(long, value_enum)]
    pub lang: Option<TtmLang>,
    /// Number of documents to retrieve [default: 5]
    #[arg(long, value_name = "N")]
    pub top_k: Option<u8>,
    /// Print the JSON of the tool `rag_answer`
    #[arg(long)]
    pub json: bool,
}

/// A language, or the language of the question.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum TtmLang {
    /// Thai
    Th,
    /// English
    En,
    /// Language of the question
    Auto,
}

/// Kind of entity.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum TtmKind {
    /// Herb or other crude drug
    Herb,
    /// Formulation of the National List
    Formulation,
    /// Chemical constituent
    Constituent,
    /// Disease or symptom
    Indication,
    /// Contraindication or caution
    Caution,
    /// Paper
    Paper,
    /// Chunk of an imported document
    Chunk,
}

/// `panoply ttm import-papers`.
#[derive(Debug, Args)]
pub struct TtmImportPapers {
    /// Files exported by PubMed
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `panoply ttm eval`.
#[derive(Debug, Args)]
pub struct TtmEval {
    /// Question set: smoke, curated or custom [default: curated, or custom with --file]
    #[arg(long)]
    pub set: Option<String>,
    /// Split of curated: held (held-out), tune, all, or lay (everyday wording) [default: held]
    #[arg(long)]
    pub split: Option<String>,
    /// Custom questions, one JSON object per line
    #[arg(long, value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Metrics, such as R@k,MRR,nDCG@k,factuality,citation_precision,withholding_recall
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub metrics: Vec<String>,
    /// Rank cutoff k [default: 10]
    #[arg(long)]
    pub k: Option<u64>,
    /// Random seed of the sample [default: 0]
    #[arg(long)]
    pub seed: Option<u64>,
    /// Maximum number of questions
    #[arg(long)]
    pub limit: Option<u64>,
    /// Write the report to this file: JSON for the extension .json, else Markdown
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `panoply ttm ingest`.
#[derive(Debug, Args)]
pub struct TtmIngest {
    /// PDF files, or UTF-8 text files (.txt, .md)
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// Apply the plan with this hash, as printed by a run without --apply
    #[arg(long, value_name = "PLAN")]
    pub apply: Option<String>,
    /// Text extraction
    #[arg(long, value_enum, default_value_t = TtmOcr::Auto)]
    pub ocr: TtmOcr,
    /// Language of the files
    #[arg(long, value_enum, default_value_t = TtmLang::Auto)]
    pub lang: TtmLang,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Text extraction.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum TtmOcr {
    /// Text layer if usable, else tesseract
    Auto,
    /// Text layer only
    Textlayer,
    /// Tesseract only
    Tesseract,
}

/// `panoply ttm jobs`.
#[derive(Debug, Args)]
pub struct TtmJobs {
    /// Job id
    pub id: Option<String>,
    /// Cancel the job
    #[arg(long, requires = "id", conflicts_with_all = ["roll_back", "log"])]
    pub cancel: bool,
    /// Roll back the job: remove all facts that it added
    #[arg(long, alias = "rollback", requires = "id", conflicts_with = "log")]
    pub roll_back: bool,
    /// Print the log of the job
    #[arg(long, requires = "id")]
    pub log: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `panoply ttm read-document`.
#[derive(Debug, Args)]
pub struct TtmRead {
    /// Reader options as JSON
    pub options: String,
    /// Empty scratch folder
    pub scratch: PathBuf,
}
