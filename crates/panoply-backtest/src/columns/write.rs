//! Writes the Parquet files of a sealed run.

use std::collections::BTreeSet;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, TimeUnit, Type as Physical, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::Type;

use super::{
    ARRIVAL, CATEGORY, EVENT_ID, EVENT_TYPE, FIXED, ORIGINAL, PARENT, PROPERTIES, RUN, RUN_ID,
    SEVERITY, TIMESTAMP,
};
use crate::error::{LogError, Stop, check_stop};
use crate::event::{Event, EventType, Guid, Parent};
use crate::line;
use crate::number::Number;
use crate::query::reader::SealedRun;
use crate::scan::{self, Token};

/// Events of a row group: what is held in memory per type.
const ROW_GROUP: usize = 1 << 16;
const ZSTD_LEVEL: i32 = 3;

/// Writes the files below `folder`, and returns their paths. Fails if one of them exists.
pub fn write(run: &SealedRun, folder: &Path, stop: Stop<'_>) -> Result<Vec<PathBuf>, LogError> {
    let mut files: Vec<TypeFile> = Vec::new();
    for event_type in EventType::ALL {
        if run.head().count_of(*event_type) > 0 {
            files.push(TypeFile::create(run, *event_type, folder)?);
        }
    }
    for (arrival, seq) in run.arrivals()?.into_iter().enumerate() {
        if arrival % 1024 == 0 {
            check_stop(stop)?;
        }
        let event = run.original_event(&run.event(seq)?)?;
        let file = files.iter_mut().find(|file| file.event_type == event.event_type);
        let Some(file) = file else { return Err(LogError::Damaged("an event has no type")) };
        file.push(i64::try_from(arrival).unwrap_or(i64::MAX), run.id(), &event)?;
    }
    files.into_iter().map(TypeFile::close).collect()
}

/// A nullable column of one row group.
struct Column<T> {
    values: Vec<T>,
    /// 1 for a value, 0 for null.
    levels: Vec<i16>,
}

impl<T> Default for Column<T> {
    fn default() -> Self {
        Self { values: Vec::new(), levels: Vec::new() }
    }
}

impl<T> Column<T> {
    fn push(&mut self, value: Option<T>) {
        self.levels.push(i16::from(value.is_some()));
        self.values.extend(value);
    }

    fn clear(&mut self) {
        self.values.clear();
        self.levels.clear();
    }
}

/// A property's column.
struct Property {
    path: String,
    name: String,
    values: PropertyValues,
}

enum PropertyValues {
    Numbers(Column<f64>),
    Texts(Column<ByteArray>),
}

/// The file of one event type.
struct TypeFile {
    event_type: EventType,
    path: PathBuf,
    writer: SerializedFileWriter<File>,
    arrivals: Vec<i64>,
    times: Vec<i64>,
    ids: Vec<ByteArray>,
    severities: Vec<ByteArray>,
    categories: Vec<ByteArray>,
    parents: Column<ByteArray>,
    json: Vec<ByteArray>,
    originals: Column<ByteArray>,
    properties: Vec<Property>,
}

impl TypeFile {
    fn create(run: &SealedRun, event_type: EventType, folder: &Path) -> Result<Self, LogError> {
        let folder = folder
            .join(format!("runId={}", run.id()))
            .join(format!("eventType={}", event_type.as_str()));
        std::fs::create_dir_all(&folder).map_err(LogError::Source)?;
        let path = folder.join("part-0.parquet");
        let file = File::create_new(&path).map_err(LogError::Source)?;
        let properties = properties_of(run, event_type);
        let about = |key: &str, value: String| KeyValue::new(key.to_owned(), value);
        let header = serde_json::to_string(&run.head().header).map_err(LogError::store)?;
        let settings = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::try_new(ZSTD_LEVEL).map_err(failed)?))
            .set_key_value_metadata(Some(vec![
                about(RUN_ID, run.id().to_string()),
                about(EVENT_TYPE, event_type.as_str().to_owned()),
                about(RUN, header),
            ]));
        let schema = Arc::new(schema(&properties).map_err(failed)?);
        let writer = SerializedFileWriter::new(file, schema, Arc::new(settings.build()));
        Ok(Self {
            event_type,
            path,
            writer: writer.map_err(failed)?,
            arrivals: Vec::new(),
            times: Vec::new(),
            ids: Vec::new(),
            severities: Vec::new(),
            categories: Vec::new(),
            parents: Column::default(),
            json: Vec::new(),
            originals: Column::default(),
            properties,
        })
    }

    fn push(&mut self, arrival: i64, run: Guid, event: &Event<'_>) -> Result<(), LogError> {
        self.arrivals.push(arrival);
        self.times.push(event.timestamp.nanos());
        self.ids.push(bytes(&event.id.to_string()));
        self.severities.push(bytes(event.severity.as_str()));
        self.categories.push(bytes(event.category.as_str()));
        let parent = match event.parent {
            Parent::Id(id) => Some(bytes(&id.to_string())),
            Parent::None | Parent::Unreadable => None,
        };
        self.parents.push(parent);
        self.json.push(bytes(&event.properties));
        // A line that is not what the other columns give is kept as it was.
        let original =
            event.original.as_deref().filter(|own| *own != line::format_line(run, event));
        self.originals.push(original.map(bytes));
        for property in &mut self.properties {
            let token = scan::at_path(&event.properties, &property.path);
            match &mut property.values {
                PropertyValues::Numbers(column) => column.push(
                    token
                        .and_then(|own| own.number_text())
                        .and_then(Number::parse)
                        .map(Number::to_f64),
                ),
                PropertyValues::Texts(column) => column.push(token.and_then(text_of)),
            }
        }
        if self.arrivals.len() >= ROW_GROUP { self.flush() } else { Ok(()) }
    }

    /// Writes the events since the last flush as a row group.
    fn flush(&mut self) -> Result<(), LogError> {
        if self.arrivals.is_empty() {
            return Ok(());
        }
        let mut group = self.writer.next_row_group().map_err(failed)?;
        put_integers(&mut group, &self.arrivals)?;
        put_texts(&mut group, &self.ids, None)?;
        put_integers(&mut group, &self.times)?;
        put_texts(&mut group, &self.severities, None)?;
        put_texts(&mut group, &self.categories, None)?;
        put_texts(&mut group, &self.parents.values, Some(&self.parents.levels))?;
        for property in &mut self.properties {
            match &mut property.values {
                PropertyValues::Numbers(column) => {
                    put::<DoubleType>(&mut group, &column.values, Some(&column.levels))?;
                    column.clear();
                }
                PropertyValues::Texts(column) => {
                    put_texts(&mut group, &column.values, Some(&column.levels))?;
                    column.clear();
                }
            }
        }
        put_texts(&mut group, &self.json, None)?;
        put_texts(&mut group, &self.originals.values, Some(&self.originals.levels))?;
        group.close().map_err(failed)?;
        self.arrivals.clear();
        self.times.clear();
        for column in [&mut self.ids, &mut self.severities, &mut self.categories, &mut self.json] {
            column.clear();
        }
        self.parents.clear();
        self.originals.clear();
        Ok(())
    }

    fn close(mut self) -> Result<PathBuf, LogError> {
        self.flush()?;
        self.writer.close().map_err(failed)?;
        Ok(self.path)
    }
}

pub(super) fn failed(error: ParquetError) -> LogError {
    LogError::Source(std::io::Error::other(error))
}

fn bytes(text: &str) -> ByteArray {
    ByteArray::from(text)
}

fn text_of(token: Token<'_>) -> Option<ByteArray> {
    match token {
        Token::Bool(value) => Some(bytes(if value { "true" } else { "false" })),
        Token::Text(_) => token.text().map(|text| bytes(&text)),
        _ => None,
    }
}

/// The columns of a type's properties. Readers ignore the case of names, so that a name that occurs
/// twice gets a prefix.
fn properties_of(run: &SealedRun, event_type: EventType) -> Vec<Property> {
    let code = event_type.code();
    let numbers = run.head().columns.iter().filter(|own| own.event_type() == event_type);
    let numbers = numbers.map(|own| (own.path.clone(), true));
    let texts = run.head().text_columns.iter().filter(|own| own.event_type == code);
    let texts = texts.map(|own| (own.path.clone(), false));
    let mut taken: BTreeSet<String> = FIXED.iter().map(|name| name.to_lowercase()).collect();
    let mut found = Vec::new();
    for (path, is_number) in numbers.chain(texts) {
        let mut name = path.clone();
        while !taken.insert(name.to_lowercase()) {
            name = if is_number { format!("number.{name}") } else { format!("text.{name}") };
        }
        let values = if is_number {
            PropertyValues::Numbers(Column::default())
        } else {
            PropertyValues::Texts(Column::default())
        };
        found.push(Property { path, name, values });
    }
    found
}

fn schema(properties: &[Property]) -> Result<Type, ParquetError> {
    let text = |name: &str, repetition| {
        Type::primitive_type_builder(name, Physical::BYTE_ARRAY)
            .with_repetition(repetition)
            .with_logical_type(Some(LogicalType::String))
            .build()
            .map(Arc::new)
    };
    let integer = |name: &str, logical| {
        Type::primitive_type_builder(name, Physical::INT64)
            .with_repetition(Repetition::REQUIRED)
            .with_logical_type(logical)
            .build()
            .map(Arc::new)
    };
    let number = |name: &str| {
        Type::primitive_type_builder(name, Physical::DOUBLE)
            .with_repetition(Repetition::OPTIONAL)
            .build()
            .map(Arc::new)
    };
    let (required, optional) = (Repetition::REQUIRED, Repetition::OPTIONAL);
    let mut fields = vec![
        integer(ARRIVAL, None)?,
        text(EVENT_ID, required)?,
        integer(TIMESTAMP, Some(LogicalType::timestamp(true, TimeUnit::NANOS)))?,
        text(SEVERITY, required)?,
        text(CATEGORY, required)?,
        text(PARENT, optional)?,
    ];
    for property in properties {
        fields.push(match property.values {
            PropertyValues::Numbers(_) => number(&property.name)?,
            PropertyValues::Texts(_) => text(&property.name, optional)?,
        });
    }
    fields.extend([text(PROPERTIES, required)?, text(ORIGINAL, optional)?]);
    Type::group_type_builder("event").with_fields(fields).build()
}

type Group<'a> = SerializedRowGroupWriter<'a, File>;

fn put_integers(group: &mut Group<'_>, values: &[i64]) -> Result<(), LogError> {
    put::<Int64Type>(group, values, None)
}

fn put_texts(
    group: &mut Group<'_>,
    values: &[ByteArray],
    levels: Option<&[i16]>,
) -> Result<(), LogError> {
    put::<ByteArrayType>(group, values, levels)
}

/// Writes the next column of a row group.
fn put<T: parquet::data_type::DataType>(
    group: &mut Group<'_>,
    values: &[T::T],
    levels: Option<&[i16]>,
) -> Result<(), LogError> {
    let column = group.next_column().map_err(failed)?;
    let Some(mut column) = column else {
        return Err(LogError::Damaged("the columns differ from their schema"));
    };
    column.typed::<T>().write_batch(values, levels, None).map_err(failed)?;
    column.close().map_err(failed)
}
