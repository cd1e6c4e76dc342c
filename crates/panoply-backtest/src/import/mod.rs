//! Importers: convert the files of backtesting engines to events of runs.

pub mod backtesting_py;
pub mod backtrader;
mod event_builder;
mod fills;
pub mod format;
pub mod freqtrade;
pub mod lean;
pub mod mapped;
pub mod native;
pub mod nautilus;
mod records;
pub mod stocksharp;
mod table;
pub mod vectorbt;

use std::collections::BTreeMap;
use std::io::BufRead;
use std::sync::Arc;
use std::time::Duration;

use self::format::Format;
use self::mapped::Mapping;
use crate::error::{LogError, Stop};
use crate::event::{Event, Guid};
use crate::ingest::{OpenRun, SealReport};
use crate::run::RunHeader;
use crate::sealed::seal::Progress;
use crate::store::Store;
use crate::timestamp::Timestamp;

/// Progress reporting and cancellation of an import.
pub struct ImportControl<'a> {
    /// Called with the number of bytes read.
    pub progress: &'a mut dyn FnMut(u64),
    /// The cancellation check.
    pub stop: Stop<'a>,
}

/// The format of a source file.
pub enum SourceFormat<'a> {
    /// A known format.
    Known(Format),
    /// CSV with a mapping.
    MappedCsv(&'a Mapping),
    /// JSONL with a mapping.
    MappedJsonl(&'a Mapping),
}

/// Reads a file into a run. Native events name their own run unless the import does; `symbol` is
/// the security of files that name none.
pub fn read(
    source: impl BufRead,
    format: &SourceFormat<'_>,
    run: Guid,
    symbol: &str,
    import: &mut Import,
    control: &mut ImportControl<'_>,
) -> Result<(), LogError> {
    match format {
        SourceFormat::Known(Format::Native) => {
            native::read(source, import, control.progress, control.stop)
        }
        SourceFormat::Known(Format::Nautilus) => nautilus::read(source, run, import, control),
        SourceFormat::Known(Format::Freqtrade) => freqtrade::read(source, run, import, control),
        SourceFormat::Known(Format::Lean) => lean::read(source, run, import, control),
        SourceFormat::Known(Format::BacktestingPy) => {
            backtesting_py::read(source, symbol, run, import, control)
        }
        SourceFormat::Known(Format::StockSharp) => {
            stocksharp::read(source, symbol, run, import, control)
        }
        SourceFormat::Known(Format::Backtrader) => backtrader::read(source, run, import, control),
        SourceFormat::Known(Format::Vectorbt) => {
            vectorbt::read(source, symbol, run, import, control)
        }
        SourceFormat::MappedCsv(mapping) => mapped::read_csv(source, mapping, run, import, control),
        SourceFormat::MappedJsonl(mapping) => {
            mapped::read_jsonl(source, mapping, run, import, control)
        }
    }
}

/// Currencies of prices and amounts in files of engines that name none.
#[derive(Clone, Debug, Default)]
pub struct Currencies {
    /// Of the account, and of securities without one of their own.
    pub default: Option<String>,
    /// By security.
    pub by_symbol: BTreeMap<String, String>,
}

/// An import into one or more runs.
pub struct Import {
    store: Arc<dyn Store>,
    /// The run that the caller named; otherwise each event names its own.
    run: Option<Guid>,
    /// Header of every run that has none of its own in `headers`.
    header: RunHeader,
    headers: BTreeMap<Guid, RunHeader>,
    currencies: Currencies,
    now: Timestamp,
    monotonic: Arc<dyn Fn() -> Duration + Send + Sync>,
    runs: BTreeMap<Guid, OpenRun>,
    /// Rejected lines before any run was open.
    unassigned: Vec<(u64, String)>,
}

impl Import {
    /// An import into a store. `now` is the creation time of new runs, `monotonic` a clock.
    pub fn new(
        store: Arc<dyn Store>,
        run: Option<Guid>,
        header: RunHeader,
        now: Timestamp,
        monotonic: Arc<dyn Fn() -> Duration + Send + Sync>,
    ) -> Self {
        Self {
            store,
            run,
            header,
            headers: BTreeMap::new(),
            currencies: Currencies::default(),
            now,
            monotonic,
            runs: BTreeMap::new(),
            unassigned: Vec::new(),
        }
    }

    /// Gives each of several runs its own header, for the events that name it.
    #[must_use]
    pub fn with_headers(self, headers: BTreeMap<Guid, RunHeader>) -> Self {
        Self { headers, ..self }
    }

    /// Names the currencies of files that name none.
    #[must_use]
    pub fn with_currencies(self, currencies: Currencies) -> Self {
        Self { currencies, ..self }
    }

    /// The currency of a security, or of the account when `None`, in files that name none.
    pub(crate) fn currency_of(&self, symbol: Option<&str>) -> Option<&str> {
        let own = symbol.and_then(|symbol| self.currencies.by_symbol.get(symbol));
        own.or(self.currencies.default.as_ref()).map(String::as_str)
    }

    /// The run that the caller named.
    pub const fn run(&self) -> Option<Guid> {
        self.run
    }

    /// Sets a run's header from its file. Fields that the caller set take precedence.
    pub fn set_header(&mut self, run: Guid, header: RunHeader) -> Result<(), LogError> {
        self.open_as(run, self.header_of(run).or(header)).map(|_| ())
    }

    /// Adds an event to the run it names, or to the one the caller named.
    pub fn event(
        &mut self,
        line: u64,
        run: Option<Guid>,
        event: &Event<'_>,
    ) -> Result<(), LogError> {
        let run = match (run, self.run) {
            (Some(own), Some(named)) if own != named => {
                self.reject(line, format!("the event belongs to run `{own}`, not to `{named}`"));
                return Ok(());
            }
            (Some(run), _) | (None, Some(run)) => run,
            (None, None) => {
                self.reject(line, "the event names no run, and none was given".to_owned());
                return Ok(());
            }
        };
        let now = (self.monotonic)();
        self.open(run)?.push(line, event, now)
    }

    /// Records a rejected line.
    pub fn reject(&mut self, line: u64, reason: String) {
        match self.runs.values_mut().next() {
            Some(run) => run.reject(line, reason),
            None => self.unassigned.push((line, reason)),
        }
    }

    fn open(&mut self, id: Guid) -> Result<&mut OpenRun, LogError> {
        self.open_as(id, self.header_of(id))
    }

    fn header_of(&self, id: Guid) -> RunHeader {
        self.headers.get(&id).unwrap_or(&self.header).clone()
    }

    fn open_as(&mut self, id: Guid, header: RunHeader) -> Result<&mut OpenRun, LogError> {
        match self.runs.entry(id) {
            std::collections::btree_map::Entry::Occupied(entry) => Ok(entry.into_mut()),
            std::collections::btree_map::Entry::Vacant(entry) => {
                let mut run = OpenRun::open(Arc::clone(&self.store), id, header, self.now)?;
                for (line, reason) in self.unassigned.drain(..) {
                    run.reject(line, reason);
                }
                Ok(entry.insert(run))
            }
        }
    }

    /// Stores all pending events durably. Returns the number of events of each run.
    pub fn acknowledge(&mut self) -> Result<Vec<(Guid, u64)>, LogError> {
        // A named run is created even if no line contained an event.
        if let Some(run) = self.run {
            self.open(run)?;
        }
        self.runs.iter_mut().map(|(id, run)| Ok((*id, run.acknowledge()?))).collect()
    }

    /// Seals all runs of the import. Returns their reports.
    pub fn seal(
        mut self,
        progress: Progress<'_>,
        stop: Stop<'_>,
    ) -> Result<Vec<(Guid, SealReport)>, LogError> {
        self.acknowledge()?;
        let runs = std::mem::take(&mut self.runs);
        runs.into_iter().map(|(id, run)| Ok((id, run.seal(progress, stop)?))).collect()
    }

    /// Rejected lines that belong to no run.
    pub fn unassigned(&self) -> &[(u64, String)] {
        &self.unassigned
    }
}
