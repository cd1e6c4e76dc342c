//! Importer for backtrader: the transactions of its `PyFolio` analyzer as CSV, and the file of
//! `WriterFile(csv=True)` with bars and the value of the account.
//!
//! zipline and others write transactions in the same columns. They have no commission; each fill
//! says so unless the file has a column `commission`.

use std::io::{BufRead, Read};

use super::event_builder::EventBuilder;
use super::fills::{Fill, FillBook};
use super::records::RecordOutcome;
use super::table::{self, Row};
use super::{Import, ImportControl};
use crate::error::LogError;
use crate::event::{EventType, Guid};
use crate::position::decimal;
use crate::timestamp::Timestamp;

/// Reads transactions, or the file of a writer, which starts with a ruler.
pub fn read(
    mut source: impl BufRead,
    run: Guid,
    import: &mut Import,
    control: &mut ImportControl<'_>,
) -> Result<(), LogError> {
    let is_writer = source.fill_buf().map_err(LogError::Source)?.starts_with(b"=");
    if is_writer {
        writer(source, run, import, control)
    } else {
        transactions(source, run, import, control)
    }
}

fn transactions(
    source: impl BufRead,
    run: Guid,
    import: &mut Import,
    control: &mut ImportControl<'_>,
) -> Result<(), LogError> {
    let mut book = FillBook::default();
    table::each_row(source, import, control, |row, import| match transaction(row) {
        Err(reason) => Ok(Err(reason)),
        Ok(fill) => book.send(&fill, row.number, run, import),
    })
}

fn transaction(row: &Row<'_>) -> Result<Fill, String> {
    let cell = |name: &str| row.cell(name).ok_or_else(|| format!("there is no `{name}`"));
    let number = |name: &str| {
        let text = cell(name)?;
        decimal(text).ok_or_else(|| format!("`{name}` is `{text}`, not a number"))
    };
    // pandas writes the index, here the time, into the first column.
    let time = row.at(0).ok_or("there is no time")?;
    let time = Timestamp::parse(time).map_err(|error| error.to_string())?;
    Ok(Fill {
        time,
        order: row.cell("order_id").map_or_else(|| format!("row {}", row.number), str::to_owned),
        symbol: cell("symbol")?.to_owned(),
        signed: number("amount")?,
        price: number("price")?,
        commission: row.cell("commission").and_then(decimal),
    })
}

/// The columns of a writer's table: the bars of each data feed, and the account.
#[derive(Default)]
struct Columns {
    /// The column with the name of each data feed.
    feeds: Vec<usize>,
    /// The column with the cash of the broker.
    cash: Option<usize>,
}

impl Columns {
    fn of(names: &[&str]) -> Self {
        let at = |place: usize, expected: &[&str]| {
            expected.iter().enumerate().all(|(n, name)| names.get(place + n) == Some(name))
        };
        let feeds = (0..names.len()).filter(|place| at(place + 1, &["len", "datetime", "open"]));
        let cash = (0..names.len()).find(|place| at(*place, &["cash", "value"]));
        Self { feeds: feeds.collect(), cash }
    }
}

/// Reads the table of a writer; what follows the second ruler is a summary in another form.
fn writer(
    source: impl BufRead,
    run: Guid,
    import: &mut Import,
    control: &mut ImportControl<'_>,
) -> Result<(), LogError> {
    let mut columns = None;
    let mut bytes = 0;
    for (number, line) in (1_u64..).zip(lines(source)) {
        let line = line.map_err(LogError::Source)?;
        bytes += line.len() as u64 + 1;
        if number.is_multiple_of(1024) {
            crate::error::check_stop(control.stop)?;
            (control.progress)(bytes);
        }
        if line.starts_with('=') {
            if columns.is_some() {
                break;
            }
            continue;
        }
        let cells: Vec<&str> = line.trim_end().split(',').collect();
        let Some(columns) = &columns else {
            columns = Some(Columns::of(&cells));
            continue;
        };
        if let Err(reason) = writer_row(columns, &cells, number, run, import)? {
            import.reject(number, reason);
        }
    }
    (control.progress)(bytes);
    Ok(())
}

/// Lines of at most a megabyte.
fn lines(source: impl BufRead) -> impl Iterator<Item = std::io::Result<String>> {
    const MAX_LINE: u64 = 1 << 20;
    let mut source = source;
    std::iter::from_fn(move || {
        let mut line = Vec::new();
        match source.by_ref().take(MAX_LINE).read_until(b'\n', &mut line) {
            Err(error) => Some(Err(error)),
            Ok(0) => None,
            Ok(_) => Some(Ok(String::from_utf8_lossy(&line).trim_end().to_owned())),
        }
    })
}

fn writer_row(
    columns: &Columns,
    cells: &[&str],
    number: u64,
    run: Guid,
    import: &mut Import,
) -> RecordOutcome {
    let cell = |place: usize| cells.get(place).copied().unwrap_or_default();
    let mut last = None;
    for feed in &columns.feeds {
        let name = cell(*feed);
        // A feed that has ended repeats nothing: its cells are empty.
        let Ok(time) = Timestamp::parse(cell(feed + 2)) else { continue };
        last = last.max(Some(time));
        let data = ["Open", "High", "Low", "Close", "Volume"];
        let data: Vec<(&str, &str)> =
            (feed + 3..).zip(data).map(|(n, own)| (own, cell(n))).collect();
        EventBuilder::new(time, EventType::MarketDataEvent)
            .text("SecuritySymbol", name)
            .text("DataType", "Bar")
            .object("Data", &data)
            .send(import, run, number, &format!("bar {name} {number}"))?;
    }
    let Some(time) = last else { return Ok(Err("no data feed has a time".to_owned())) };
    if let Some(cash) = columns.cash {
        let after = [("Cash", cell(cash)), ("Equity", cell(cash + 1))];
        let name = format!("account {number}");
        EventBuilder::account(time, &after).send(import, run, number, &name)?;
    }
    Ok(Ok(()))
}
