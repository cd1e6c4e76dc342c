//! Imports Parquet files that [`super::write()`] wrote, in the order in which the events arrived.

use std::fs::File;
use std::path::Path;

use parquet::column::reader::ColumnReader;
use parquet::data_type::{ByteArray, ByteArrayType, DataType, Int64Type};
use parquet::file::metadata::KeyValue;
use parquet::file::reader::{FileReader as _, RowGroupReader, SerializedFileReader};

use super::write::failed;
use super::{
    ARRIVAL, CATEGORY, EVENT_ID, EVENT_TYPE, ORIGINAL, PARENT, PROPERTIES, RUN, RUN_ID, SEVERITY,
    TIMESTAMP,
};
use crate::error::{LogError, check_stop};
use crate::event::{Category, Event, EventType, Guid, Parent, Severity};
use crate::import::{Import, ImportControl};
use crate::line;
use crate::run::RunHeader;
use crate::timestamp::Timestamp;

/// Reads the files into the import, merged by arrival.
pub fn read(
    files: &[&Path],
    import: &mut Import,
    control: &mut ImportControl<'_>,
) -> Result<(), LogError> {
    let mut sources: Vec<Source> = Vec::new();
    for path in files {
        let (source, header) = Source::open(path)?;
        // The events of another run than the one that the caller named are rejected one by one.
        if import.run().is_none_or(|named| named == source.run) {
            import.set_header(source.run, header)?;
        }
        sources.push(source);
    }
    let mut done = 0_u64;
    loop {
        let mut next: Option<(i64, usize)> = None;
        for (place, source) in sources.iter_mut().enumerate() {
            if let Some(arrival) = source.arrival()? {
                next = Some(next.map_or((arrival, place), |own| own.min((arrival, place))));
            }
        }
        let Some(source) = next.and_then(|(_, place)| sources.get_mut(place)) else { break };
        if done.is_multiple_of(1024) {
            check_stop(control.stop)?;
            (control.progress)(done);
        }
        done += 1;
        source.send(done, import)?;
    }
    Ok(())
}

/// One file, and its current row group.
struct Source {
    reader: SerializedFileReader<File>,
    run: Guid,
    event_type: EventType,
    next_group: usize,
    rows: Rows,
    row: usize,
}

/// The columns of a row group.
#[derive(Default)]
struct Rows {
    arrivals: Vec<i64>,
    times: Vec<i64>,
    ids: Vec<ByteArray>,
    severities: Vec<ByteArray>,
    categories: Vec<ByteArray>,
    parents: Vec<Option<ByteArray>>,
    json: Vec<ByteArray>,
    originals: Vec<Option<ByteArray>>,
}

fn foreign(path: &Path, what: &str) -> LogError {
    let message =
        format!("`{}` is not a file of `backtest export --parquet`: {what}", path.display());
    LogError::Source(std::io::Error::new(std::io::ErrorKind::InvalidData, message))
}

impl Source {
    /// Opens a file. Returns the metadata of its run, too.
    fn open(path: &Path) -> Result<(Self, RunHeader), LogError> {
        let file = File::open(path).map_err(LogError::Source)?;
        let reader = SerializedFileReader::new(file).map_err(failed)?;
        let footer = reader.metadata().file_metadata().key_value_metadata();
        let value = |key: &str| {
            let found = footer.into_iter().flatten().find(|own: &&KeyValue| own.key == key);
            found.and_then(|own| own.value.clone()).unwrap_or_default()
        };
        let (run, event_type) = (value(RUN_ID), value(EVENT_TYPE));
        let run = Guid::parse(&run).ok_or_else(|| foreign(path, "its footer names no run"))?;
        let event_type = EventType::parse(&event_type)
            .ok_or_else(|| foreign(path, "its footer names no event type"))?;
        let header = match value(RUN).as_str() {
            "" => RunHeader::default(),
            json => serde_json::from_str(json)
                .map_err(|_| foreign(path, "the description of its run is damaged"))?,
        };
        let source = Self { reader, run, event_type, next_group: 0, rows: Rows::default(), row: 0 };
        Ok((source, header))
    }

    /// The arrival number of the next event.
    fn arrival(&mut self) -> Result<Option<i64>, LogError> {
        while self.row >= self.rows.arrivals.len() {
            if self.next_group >= self.reader.num_row_groups() {
                return Ok(None);
            }
            let group = self.reader.get_row_group(self.next_group).map_err(failed)?;
            self.rows = Rows::read(group.as_ref())?;
            (self.next_group, self.row) = (self.next_group + 1, 0);
        }
        Ok(self.rows.arrivals.get(self.row).copied())
    }

    /// Sends the next event.
    fn send(&mut self, number: u64, import: &mut Import) -> Result<(), LogError> {
        let row = self.row;
        self.row += 1;
        let event = self.rows.event(row, self.event_type);
        let Some(event) = event else {
            import.reject(number, "the row has an unreadable id or word".to_owned());
            return Ok(());
        };
        import.event(number, Some(self.run), &event)
    }
}

impl Rows {
    fn read(group: &dyn RowGroupReader) -> Result<Self, LogError> {
        Ok(Self {
            arrivals: required::<Int64Type>(group, ARRIVAL)?,
            times: required::<Int64Type>(group, TIMESTAMP)?,
            ids: required::<ByteArrayType>(group, EVENT_ID)?,
            severities: required::<ByteArrayType>(group, SEVERITY)?,
            categories: required::<ByteArrayType>(group, CATEGORY)?,
            parents: optional(group, PARENT)?,
            json: required::<ByteArrayType>(group, PROPERTIES)?,
            originals: optional(group, ORIGINAL)?,
        })
    }

    fn event(&self, row: usize, event_type: EventType) -> Option<Event<'static>> {
        let text = |column: &'_ [ByteArray]| -> Option<String> {
            column.get(row)?.as_utf8().ok().map(str::to_owned)
        };
        let nullable = |column: &[Option<ByteArray>]| -> Option<Option<String>> {
            match column.get(row)? {
                None => Some(None),
                Some(own) => own.as_utf8().ok().map(|text| Some(text.to_owned())),
            }
        };
        let original = nullable(&self.originals)?;
        // The line has more than the columns: an unreadable parent, the producer's own problems.
        if let Some(original) = original {
            let (_, event) = line::parse(&original).ok()?;
            let properties = event.properties.into_owned().into();
            let original = event.original.map(|own| own.into_owned().into());
            return Some(Event {
                id: event.id,
                timestamp: event.timestamp,
                event_type: event.event_type,
                severity: event.severity,
                category: event.category,
                parent: event.parent,
                properties,
                original,
            });
        }
        let parent = match nullable(&self.parents)? {
            None => Parent::None,
            Some(id) => Parent::Id(Guid::parse(&id)?),
        };
        Some(Event {
            id: Guid::parse(&text(&self.ids)?)?,
            timestamp: Timestamp::from_nanos(*self.times.get(row)?),
            event_type,
            severity: Severity::parse(&text(&self.severities)?)?,
            category: Category::parse(&text(&self.categories)?)?,
            properties: text(&self.json)?.into(),
            parent,
            original: None,
        })
    }
}

/// The values of a column without nulls.
fn required<T: DataType>(group: &dyn RowGroupReader, name: &str) -> Result<Vec<T::T>, LogError> {
    Ok(column::<T>(group, name)?.0)
}

fn optional(group: &dyn RowGroupReader, name: &str) -> Result<Vec<Option<ByteArray>>, LogError> {
    let (values, levels) = column::<ByteArrayType>(group, name)?;
    let mut values = values.into_iter();
    Ok(levels.iter().map(|level| if *level > 0 { values.next() } else { None }).collect())
}

/// The values of a column, and the definition level of each row.
fn column<T: DataType>(
    group: &dyn RowGroupReader,
    name: &str,
) -> Result<(Vec<T::T>, Vec<i16>), LogError> {
    let missing = || {
        let message = format!("a Parquet file has no column `{name}` of the expected type");
        LogError::Source(std::io::Error::new(std::io::ErrorKind::InvalidData, message))
    };
    let schema = group.metadata().schema_descr();
    let place = schema.columns().iter().position(|own| own.name() == name).ok_or_else(missing)?;
    let rows = usize::try_from(group.metadata().num_rows()).unwrap_or_default();
    let reader: ColumnReader = group.get_column_reader(place).map_err(failed)?;
    let mut reader = T::get_column_reader(reader).ok_or_else(missing)?;
    let (mut values, mut levels) = (Vec::new(), Vec::new());
    let (mut done, is_nullable) = (0, schema.column(place).max_def_level() > 0);
    while done < rows {
        let wanted = is_nullable.then_some(&mut levels);
        let (records, _, _) =
            reader.read_records(rows - done, wanted, None, &mut values).map_err(failed)?;
        if records == 0 {
            return Err(missing());
        }
        done += records;
    }
    Ok((values, levels))
}
