//! Reads rows back, newest first.

use std::path::Path;

use panoply_contract::audit::{AuditFilter, AuditRow, AuditView, LOCAL_PARTITIONS, Status};
use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};

use super::row::{COLUMNS, StoredRow};
use crate::error::StoreError;
use crate::sqlite;

pub(super) fn read(
    connection: &Connection,
    file: &Path,
    filter: &AuditFilter,
) -> Result<Vec<AuditRow>, StoreError> {
    let (sql, parameters) = query(filter);
    let stored = || {
        let mut statement = connection.prepare_cached(&sql)?;
        let rows = statement.query_map(params_from_iter(parameters), StoredRow::of)?;
        rows.collect::<rusqlite::Result<Vec<StoredRow>>>()
    };
    let stored = stored().map_err(sqlite::about(file))?;
    stored.into_iter().map(|row| row.into_row(file)).collect()
}

/// Condition of a view, as [`AuditView::includes`] decides it.
fn visible(view: &AuditView) -> (&'static str, Vec<Value>) {
    let text = |text: &str| Value::Text(text.to_owned());
    match view {
        AuditView::All => ("1", Vec::new()),
        AuditView::Person(person) if person.is_local() => {
            let sql = "(instr(partition, ?) = 1 OR instr(partition, ?) = 1 \
                       OR instr(partition, ?) = 1 OR instr(partition, ?) = 1)";
            (sql, LOCAL_PARTITIONS.map(text).to_vec())
        }
        AuditView::Person(person) => ("instr(partition, ?) = 1", vec![text(person.as_str())]),
        AuditView::Partition(partition) => ("partition = ?", vec![text(partition)]),
    }
}

/// Conditions are constant SQL; caller input is only bound as parameters.
fn query(filter: &AuditFilter) -> (String, Vec<Value>) {
    let integer = |number: u64| Value::Integer(i64::try_from(number).unwrap_or(i64::MAX));
    let text = |text: &Option<String>| text.clone().map(Value::Text);
    let status = filter.errors_only.then(|| Value::Text(Status::Error.as_str().to_owned()));
    let conditions = [
        ("tool = ?", text(&filter.tool)),
        ("trace_id = ?", text(&filter.trace_id)),
        ("status = ?", status),
        ("sequence < ?", filter.before.map(integer)),
    ];
    let mut sql = format!("SELECT {COLUMNS} FROM audit");
    let mut parameters = Vec::new();
    sql += " WHERE ";
    let (condition, values) = visible(&filter.view);
    sql += condition;
    parameters.extend(values);
    for (condition, value) in conditions {
        if let Some(value) = value {
            sql += " AND ";
            sql += condition;
            parameters.push(value);
        }
    }
    sql += " ORDER BY sequence DESC LIMIT ?";
    parameters.push(integer(filter.limit as u64));
    (sql, parameters)
}
