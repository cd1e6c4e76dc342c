//! The command line: every command, flag and word of help.

mod audit;

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::builder::styling::{AnsiColor, Styles};
use clap::{ArgGroup, Args, Parser, Subcommand, ValueEnum};
use panoply_contract::context::Lang;
use panoply_contract::kernel::Offer;

pub use self::audit::Audit;
use crate::env_vars;

/// Expert tools for AI agents, in packs, over the Model Context Protocol.
#[derive(Debug, Parser)]
#[command(name = "panoply", version, styles = STYLES, after_help = environment_help())]
#[command(max_term_width = 100, arg_required_else_help = true, disable_help_subcommand = true)]
pub struct Cli {
    /// Folder for settings, audit log, keys and what packs keep
    #[arg(long, global = true, value_name = "FOLDER", help_heading = "Everywhere")]
    pub home: Option<PathBuf>,

    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What the program can do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Serve a client that starts this program: requests on standard input, replies on output
    Stdio(Stdio),
    /// Serve clients over HTTP, at /mcp and /mcp/PACK
    Http(Http),
    /// Call a tool, as an agent would
    Call(Call),
    /// List the tools
    Tools(Tools),
    /// Show one tool's whole contract
    Describe(Describe),
    /// Print docs/tools.md, made from what the tools declare
    Docs(Docs),
    /// Check the tools against the contract
    #[command(subcommand)]
    Contract(Contract),
    /// Look at the log of all calls
    #[command(subcommand)]
    Audit(Audit),
    /// Make, list and revoke API keys for HTTP
    #[command(subcommand)]
    Keys(Keys),
    /// UK Capital Gains Tax: read transactions, report, explain, import, look up rates
    #[command(subcommand)]
    Cgt(Cgt),
    /// Say what is installed, where data are kept, and what is missing
    Doctor(Doctor),
    /// Copy the home into a new folder, also while servers use it
    Backup(Backup),
    /// Put a backup into the home, once every file of it agrees with its manifest
    Restore(Restore),
    /// Connect a client: print or write its configuration
    Setup(Setup),
    /// Thai Retirement Mutual Funds: newer figures, and pictures of them
    #[command(subcommand)]
    Rmf(Rmf),
    /// Cards and reviews: replay histories, take collections in and out
    #[command(subcommand)]
    Noema(Noema),
    /// Event logs of backtests: import, report, export, list, complete and delete runs
    #[command(subcommand)]
    Backtest(Backtest),
    /// Thai traditional medicine: import papers, see that everything answers
    #[command(subcommand)]
    Ttm(Ttm),
    /// Print completions for a shell
    Completions(Completions),
}

/// `panoply stdio`.
#[derive(Debug, Args)]
pub struct Stdio {
    /// Packs, listing and mode.
    #[command(flatten)]
    pub serving: Serving,
    /// What the client that starts this program may do
    #[arg(long, value_enum, default_value = "owner")]
    pub profile: KeyProfile,
}

/// What both servers can be told.
#[derive(Debug, Default, Args)]
pub struct Serving {
    /// Packs to serve [default: all]
    #[arg(value_name = "PACK")]
    pub packs: Vec<String>,
    /// Which tools to list; those not listed can still be found and called [default: core]
    #[arg(long, value_enum)]
    pub tools: Option<ToolsOffer>,
    /// Hide and refuse every tool that changes data
    #[arg(long)]
    pub read_only: bool,
}

/// `panoply http`.
#[derive(Debug, Args)]
pub struct Http {
    /// Packs, listing and mode.
    #[command(flatten)]
    pub serving: Serving,
    /// Where to listen; port 0 picks a free one [default: 127.0.0.1:8642]
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub listen: Option<SocketAddr>,
    /// A second address for /healthz, /readyz and /metrics, which needs no key
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub admin_addr: Option<SocketAddr>,
    /// Go on accepting for so long after SIGTERM, while /readyz says no [default: 0]
    #[arg(long, value_name = "SECONDS")]
    pub lame_duck: Option<u64>,
    /// A name this server is reached by, such as tools.example.com; may be repeated
    #[arg(long, value_name = "HOST")]
    pub allowed_host: Vec<String>,
    /// A web page's origin that may use it, such as https://app.example.com; may be repeated
    #[arg(long, value_name = "ORIGIN")]
    pub allowed_origin: Vec<String>,
}

/// Which tools a server lists.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ToolsOffer {
    /// The core tools of each pack
    Core,
    /// Everything
    All,
    /// Only `search-tools` and `describe-tool`
    Lazy,
}

impl From<ToolsOffer> for Offer {
    fn from(offer: ToolsOffer) -> Self {
        match offer {
            ToolsOffer::Core => Self::Core,
            ToolsOffer::All => Self::All,
            ToolsOffer::Lazy => Self::Lazy,
        }
    }
}

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

/// `panoply keys`.
#[derive(Debug, Subcommand)]
pub enum Keys {
    /// Make a key and show it, this once
    Create {
        /// What it is for, in a few words
        name: String,
        /// What it may do
        #[arg(long, value_enum, default_value = "agent")]
        profile: KeyProfile,
        /// Days until it stops working [default: never]
        #[arg(long, value_name = "DAYS", value_parser = clap::value_parser!(u16).range(1..=3650))]
        expires: Option<u16>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// List the keys, without their secrets
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Make a key stop working, at once
    Revoke {
        /// The key's id, as `list` shows it
        id: String,
    },
}

/// `panoply cgt`.
#[derive(Debug, Subcommand)]
pub enum Cgt {
    /// Read transactions and list them, or every mistake in them
    Parse(CgtParse),
    /// Gains and losses by tax year, as a table, JSON or PDF
    Report(CgtReport),
    /// Why a sale has the gain it has
    Explain(CgtExplain),
    /// Turn brokers' exports into transactions
    Import(CgtImport),
    /// HMRC's rate for a currency in a month
    Fx(CgtFx),
}

/// `panoply cgt parse`.
#[derive(Debug, Args)]
pub struct CgtParse {
    /// Files of transactions, or `-` for standard input
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `panoply cgt report`.
#[derive(Debug, Args)]
#[command(group(ArgGroup::new("documents").multiple(true)))]
pub struct CgtReport {
    /// Files of transactions, or `-` for standard input
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// The tax year by the year it starts in: 2024 is 2024/25 [default: all with sales]
    #[arg(long)]
    pub year: Option<i64>,
    /// How figures are rounded
    #[arg(long, value_enum, default_value = "per-leg")]
    pub rounding: CgtRounding,
    /// How the computation goes.
    #[command(flatten)]
    pub options: CgtOptions,
    /// Print JSON
    #[arg(long, conflicts_with = "documents")]
    pub json: bool,
    /// Write a PDF to this file, which must not be there yet
    #[arg(long, value_name = "PATH", group = "documents")]
    pub pdf: Option<PathBuf>,
    /// Write a page of HTML to this file, which must not be there yet
    #[arg(long, value_name = "PATH", group = "documents")]
    pub html: Option<PathBuf>,
    /// With --pdf or --html: whose report it is
    #[arg(long, requires = "documents")]
    pub name: Option<String>,
}

/// `panoply cgt explain`.
#[derive(Debug, Args)]
pub struct CgtExplain {
    /// Files of transactions, or `-` for standard input
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// The day of the sale, YYYY-MM-DD
    #[arg(long)]
    pub date: String,
    /// The holding
    #[arg(long)]
    pub ticker: String,
    /// How the computation goes.
    #[command(flatten)]
    pub options: CgtOptions,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `panoply cgt import`.
#[derive(Debug, Args)]
pub struct CgtImport {
    /// Brokers' exports
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// Whose they are, such as trading212 [default: recognised]
    #[arg(long)]
    pub broker: Option<String>,
    /// Schwab's equity awards
    #[arg(long, value_name = "FILE")]
    pub awards: Option<PathBuf>,
    /// Write the transactions to this file, which must not be there yet
    #[arg(long, short, value_name = "PATH")]
    pub output: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `panoply cgt fx`.
#[derive(Debug, Args)]
pub struct CgtFx {
    /// The currency, such as USD
    pub currency: String,
    /// The month, such as 2024-03
    pub month: String,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// How a computation goes.
#[derive(Debug, Args)]
pub struct CgtOptions {
    /// Match sales of more than was held with later purchases instead of refusing them
    #[arg(long)]
    pub allow_short: bool,
    /// What to do with a split on a day with trades
    #[arg(long, value_enum, default_value = "refuse")]
    pub same_day_split: CgtSplit,
}

/// What to do with a split on a day with trades.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum CgtSplit {
    /// Ask: nobody can tell which came first
    Refuse,
    /// The trades are in new shares
    BeforeTrades,
    /// The trades are in old shares
    AfterTrades,
}

/// How figures are rounded.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum CgtRounding {
    /// To the penny, match by match
    PerLeg,
    /// Not at all
    Exact,
    /// Proceeds down and costs up to whole pounds
    WholePounds,
}

/// What a key may do.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum KeyProfile {
    /// Everything
    Owner,
    /// Everything but deleting, administering and guarded writes
    Agent,
    /// Only reading
    Reader,
}

/// `panoply doctor`.
#[derive(Debug, Args)]
pub struct Doctor {
    /// Read every page and row of every file, and the whole audit chain
    #[arg(long)]
    pub deep: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `panoply backup`.
#[derive(Debug, Args)]
pub struct Backup {
    /// A folder that does not exist yet
    pub folder: PathBuf,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `panoply restore`.
#[derive(Debug, Args)]
pub struct Restore {
    /// A folder that `panoply backup` made
    pub folder: PathBuf,
    /// Replace data that are in the home; they are moved aside into a folder of it
    #[arg(long)]
    pub replace: bool,
    /// Only compare every file with the manifest
    #[arg(long, conflicts_with = "replace")]
    pub check: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `panoply setup`.
#[derive(Debug, Args)]
pub struct Setup {
    /// The client to connect
    #[arg(value_enum)]
    pub client: Client,
    /// Serve only this pack; may be repeated [default: all]
    #[arg(long = "pack", value_name = "PACK")]
    pub packs: Vec<String>,
    /// The entry's name in the client's configuration
    #[arg(long, default_value = "panoply")]
    pub name: String,
    /// Write it into the client's file, after a backup, instead of printing it
    #[arg(long)]
    pub write: bool,
    /// Take the entry out of the client's file again, after a backup
    #[arg(long, conflicts_with = "write")]
    pub remove: bool,
    /// The address under which a client on the Internet reaches this server
    #[arg(long, value_name = "URL")]
    pub url: Option<String>,
}

/// A client that can be connected.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum Client {
    /// Claude Desktop, and the command for Claude Code
    Claude,
    /// Cursor
    Cursor,
    /// Visual Studio Code
    Vscode,
    /// ChatGPT
    Chatgpt,
}

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

/// `panoply rmf`.
#[derive(Debug, Subcommand)]
pub enum Rmf {
    /// Bring the figures up to date from the Thai SEC's Open API; can be interrupted and run again
    Sync(RmfSync),
    /// Draw a fund's NAV as SVG
    Chart(RmfChart),
    /// Pack a snapshot of figures into the file that ships with the program
    PackData(RmfPackData),
}

/// `panoply rmf sync`.
#[derive(Debug, Args)]
pub struct RmfSync {
    /// The environment variable that holds the key of the API
    #[arg(long, value_name = "VARIABLE")]
    pub key_env: String,
    /// Fetch NAVs from this day on [default: from each fund's last one]
    #[arg(long, value_name = "DATE", value_parser = crate::commands::rmf::date)]
    pub since: Option<jiff::civil::Date>,
    /// Where the API is, for tests
    #[arg(long, value_name = "URL", hide = true)]
    pub base_url: Option<String>,
}

/// `panoply rmf chart`.
#[derive(Debug, Args)]
pub struct RmfChart {
    /// The fund's code; case, blanks and punctuation do not matter
    #[arg(value_name = "FUND")]
    pub fund: String,
    /// How many days with a published NAV
    #[arg(long, default_value_t = 365, value_parser = clap::value_parser!(u16).range(1..=5000))]
    pub days: u16,
    /// Draw SVG, which stays sharp at any size [default, unless the file's name ends in .png]
    #[arg(long, conflicts_with = "png")]
    pub svg: bool,
    /// Paint PNG, which everything shows; needs --out
    #[arg(long)]
    pub png: bool,
    /// The file to write [default: standard output]
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// `panoply rmf pack-data`.
#[derive(Debug, Args)]
pub struct RmfPackData {
    /// The funds: one JSON object a line
    #[arg(long, value_name = "FILE")]
    pub funds: PathBuf,
    /// Their NAVs: a table of symbol, date and NAV
    #[arg(long, value_name = "FILE")]
    pub navs: PathBuf,
    /// The file to write
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
}

/// `panoply backtest`.
#[derive(Debug, Subcommand)]
pub enum Backtest {
    /// Bring events in and complete their runs
    Import(BacktestImport),
    /// Give a run's lines back as they were imported
    Export {
        /// The run's id
        run: String,
        /// Write to this file, which must not be there yet [default: standard output]
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
    /// What a run earned, how deep it fell, and its trades
    Report(BacktestReport),
    /// List the runs
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Complete an open run: from then on it can be queried and never changes
    Seal {
        /// The run's id
        run: String,
    },
    /// Delete a run and all its events
    Delete {
        /// The run's id
        run: String,
    },
}

/// `panoply backtest import`.
#[derive(Debug, Args)]
pub struct BacktestImport {
    /// Files of events: native JSONL, or what an engine writes
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// What wrote the files; `auto` looks at how they begin
    #[arg(long, value_enum, default_value = "auto")]
    pub format: BacktestFormat,
    /// A JSON file that says which column is what, for any other CSV or JSONL
    #[arg(long, value_name = "MAP.json", conflicts_with = "format")]
    pub map: Option<PathBuf>,
    /// The security, for files that name none [default: the name of the file]
    #[arg(long, value_name = "NAME")]
    pub symbol: Option<String>,
    /// A JSON file that says which run it is: runId, startTime, endTime, strategyName
    #[arg(long, value_name = "RUN.json")]
    pub run: Option<PathBuf>,
    /// Leave the runs open for more events
    #[arg(long)]
    pub open: bool,
    /// Print what was found as JSON
    #[arg(long)]
    pub json: bool,
}

/// `panoply backtest report`.
#[derive(Debug, Args)]
pub struct BacktestReport {
    /// The run's id
    pub run: String,
    /// Write a page with curves and trades to this file, which must not be there yet
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Print the figures as JSON
    #[arg(long)]
    pub json: bool,
}

/// What wrote a file of events.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum BacktestFormat {
    /// Whatever the file looks like
    Auto,
    /// Native JSONL, as `panoply backtest export` writes it
    Native,
    /// nautilus_trader: event dicts, one a line or in one array
    Nautilus,
    /// freqtrade: a backtest result, as .zip or .json
    Freqtrade,
    /// LEAN (QuantConnect): order events
    Lean,
    /// backtesting.py: CSV of trades, or of the equity curve
    BacktestingPy,
    /// StockSharp: debug JSONL
    Stocksharp,
}

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
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub enum TtmLang {
    /// Thai
    Th,
    /// English
    En,
    /// That of the question
    Auto,
}

/// What can be found.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
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

/// `panoply completions`.
#[derive(Debug, Args)]
pub struct Completions {
    /// The shell
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default().bold())
    .placeholder(AnsiColor::Cyan.on_default());

/// The variables, under the help.
fn environment_help() -> String {
    let widest = env_vars::OURS.iter().map(|variable| variable.name.len()).max().unwrap_or(0);
    let lines = env_vars::OURS
        .iter()
        .map(|variable| format!("  {:widest$}  {}", variable.name, variable.does));
    format!(
        "Environment (a flag wins over a variable, a variable over config.toml):\n{}",
        lines.collect::<Vec<_>>().join("\n")
    )
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_command_and_flag_has_help() {
        fn silent(command: &clap::Command, path: &str) -> Vec<String> {
            let path = format!("{path} {}", command.get_name());
            let arguments =
                command.get_arguments().filter(|argument| argument.get_help().is_none());
            let mut found: Vec<String> =
                arguments.map(|argument| format!("{path} {}", argument.get_id())).collect();
            if command.get_about().is_none() {
                found.push(path.clone());
            }
            found.extend(command.get_subcommands().flat_map(|below| silent(below, &path)));
            found
        }
        assert_eq!(silent(&Cli::command(), ""), Vec::<String>::new());
    }
}
