//! `panoply ttm`: Thai traditional medicine.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

/// `panoply ttm`.
#[derive(Debug, Subcommand)]
pub enum Ttm {
    /// Ask a question in Thai or English: an answer with numbered citations, or why there is none
    Ask(TtmAsk),
    /// Look for herbs, formulations, papers and the rest, in Thai or English
    Search(TtmSearch),
    /// Take papers in: PubMed XML or MEDLINE (.nbib), gzipped or not, with their abstracts
    ImportPapers(TtmImportPapers),
    /// Measure search and answers on questions with judged answers
    Eval(TtmEval),
    /// Show what PDFs and texts of yours would add to the graph, and add it
    Ingest(TtmIngest),
    /// List the jobs that take documents in, look at one, stop it or take it back
    Jobs(TtmJobs),
    /// Read a file on standard input, page by page, within limits; started by the program itself
    #[command(hide = true)]
    ReadDocument(TtmRead),
    /// See that graph, search and safety answer as they should
    Doctor {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

/// `panoply ttm search`.
#[derive(Debug, Args)]
pub struct TtmSearch {
    /// The question; several words need no quotes
    #[arg(value_name = "QUERY", required = true)]
    pub query: Vec<String>,
    /// The language of titles and snippets
    #[arg(long, value_enum, default_value_t = TtmLang::Auto)]
    pub lang: TtmLang,
    /// How many hits at most, from 1 to 100
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub top_k: u8,
    /// Only hits of this kind
    #[arg(long, value_enum)]
    pub kind: Option<TtmKind>,
    /// Print JSON, as the tool `hybrid_search` gives it
    #[arg(long)]
    pub json: bool,
}

/// `panoply ttm ask`.
#[derive(Debug, Args)]
pub struct TtmAsk {
    /// The question, in one argument or several
    #[arg(value_name = "QUESTION", required = true)]
    pub question: Vec<String>,
    /// The language of the answer [default: that of the question]
    #[arg(long, value_enum)]
    pub lang: Option<TtmLang>,
    /// How many documents to read [default: 5]
    #[arg(long, value_name = "N")]
    pub top_k: Option<u8>,
    /// Print JSON, as the tool `rag_answer` gives it
    #[arg(long)]
    pub json: bool,
}

/// A language, or that of the question.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum TtmLang {
    /// Thai
    Th,
    /// English
    En,
    /// That of the question
    Auto,
}

/// What can be found.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum TtmKind {
    /// A plant or other drug
    Herb,
    /// A medicine of the National List
    Formulation,
    /// A substance in herbs
    Constituent,
    /// A disease or symptom
    Indication,
    /// Something to be careful about
    Caution,
    /// A paper
    Paper,
    /// A piece of a text of your own
    Chunk,
}

/// `panoply ttm import-papers`.
#[derive(Debug, Args)]
pub struct TtmImportPapers {
    /// Files as PubMed gives them out
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `panoply ttm eval`.
#[derive(Debug, Args)]
pub struct TtmEval {
    /// Which questions: smoke, curated or custom [default: curated, or custom with --file]
    #[arg(long)]
    pub set: Option<String>,
    /// Of curated: held, which tuned nothing, tune, or all [default: held]
    #[arg(long)]
    pub split: Option<String>,
    /// Questions of your own, one JSON object a line
    #[arg(long, value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// What to measure, such as R@k,MRR,nDCG@k,factuality,citation_precision,withholding_recall
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub metrics: Vec<String>,
    /// How many hits are looked at [default: 10]
    #[arg(long)]
    pub k: Option<u64>,
    /// Chooses the questions of a sample [default: 0]
    #[arg(long)]
    pub seed: Option<u64>,
    /// At most so many questions
    #[arg(long)]
    pub limit: Option<u64>,
    /// Write the report there, as Markdown or, where it ends in .json, as JSON
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `panoply ttm ingest`.
#[derive(Debug, Args)]
pub struct TtmIngest {
    /// PDFs, or texts in UTF-8 (.txt, .md)
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// Add the plan of this hash, which a run without --apply showed
    #[arg(long, value_name = "PLAN")]
    pub apply: Option<String>,
    /// What pages are read with
    #[arg(long, value_enum, default_value_t = TtmOcr::Auto)]
    pub ocr: TtmOcr,
    /// The language of the files
    #[arg(long, value_enum, default_value_t = TtmLang::Auto)]
    pub lang: TtmLang,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// What pages are read with.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum TtmOcr {
    /// The text layer where it is text, else tesseract
    Auto,
    /// The text layer only
    Textlayer,
    /// Tesseract only
    Tesseract,
}

/// `panoply ttm jobs`.
#[derive(Debug, Args)]
pub struct TtmJobs {
    /// One job, by its id
    pub id: Option<String>,
    /// Stop it
    #[arg(long, requires = "id", conflicts_with_all = ["roll_back", "log"])]
    pub cancel: bool,
    /// Take away all that it added
    #[arg(long, alias = "rollback", requires = "id", conflicts_with = "log")]
    pub roll_back: bool,
    /// Print its log
    #[arg(long, requires = "id")]
    pub log: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `panoply ttm read-document`.
#[derive(Debug, Args)]
pub struct TtmRead {
    /// How to read it, as JSON
    pub options: String,
    /// An empty folder to work in
    pub scratch: PathBuf,
}
