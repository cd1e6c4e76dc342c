//! All data of a tenant's pack, in a file or in the database, to move and compare them.

use std::path::Path;

use panoply_store::StoreError;
use panoply_store::mutations::HasMutations as _;
use panoply_store::sqlite::about;
use panoply_store::transfer::{ComparedTable, Side};
use rusqlite::types::Value as Cell;
use sha2::{Digest as _, Sha256};

use super::copy::{Changes, overwrite};
use super::pack::CopiedPack;
use super::rows;
use crate::server::Statements;
use crate::values;

/// Rows of all tables, with what a collection has once.
#[derive(Default)]
pub(crate) struct Content {
    pub(crate) head: Vec<Cell>,
    pub(crate) changes: Changes,
}

impl Content {
    /// The content of a file; empty if there is none.
    pub(crate) fn of_file<P: CopiedPack>(file: &Path) -> Result<Self, StoreError> {
        if !file.exists() {
            return Ok(Self::default());
        }
        P::open(file)?.with_connection(|connection| {
            let mut read = || {
                let snapshot = connection.transaction()?;
                let rows = P::TABLES.iter().map(|table| rows::all(&snapshot, table));
                let rows = rows.collect::<rusqlite::Result<_>>()?;
                Ok(Self { head: P::head(&snapshot)?, changes: Changes::rows(rows) })
            };
            read().map_err(about(file))
        })
    }

    /// Replaces the content of a file.
    pub(crate) fn write_file<P: CopiedPack>(&self, file: &Path) -> Result<(), StoreError> {
        P::open(file)?.with_connection(|connection| {
            overwrite::<P>(connection, &self.head, &self.changes).map_err(about(file))
        })
    }

    /// Statements that write the content to the database, as this version.
    pub(crate) fn statements<P: CopiedPack>(
        &self,
        tenant: &str,
        version: i64,
    ) -> Result<Statements, StoreError> {
        let mut statements = Vec::new();
        for (table, rows) in P::TABLES.iter().zip(&self.changes.rows) {
            let changed = (rows.clone(), Vec::new());
            statements.extend(rows::write(P::PACK, table, changed, tenant, version)?);
        }
        let columns = (3..).zip(P::HEAD);
        let head: String =
            columns.map(|(place, (name, _))| format!(", {name} = ${place}")).collect();
        let sql = format!("UPDATE {}.collection SET version = $2{head} WHERE tenant = $1", P::PACK);
        let mut values = values![tenant.to_owned(), version];
        values.extend(rows::single_values(P::HEAD, &self.head));
        statements.push((sql, values));
        Ok(statements)
    }

    /// Whether it has nothing that a new collection has not.
    pub(crate) fn is_new<P: CopiedPack>(&self) -> bool {
        P::TABLES.iter().zip(&self.changes.rows).all(|(table, rows)| P::is_seed(table, rows))
    }

    /// Both sides, table by table.
    pub(crate) fn compare<P: CopiedPack>(&self, target: &Self) -> Vec<ComparedTable> {
        let none = Vec::new();
        let tables = P::TABLES.iter().enumerate().map(|(place, table)| {
            let rows = |of: &Self| side(of.changes.rows.get(place).unwrap_or(&none));
            ComparedTable { table: table.name, source: rows(self), target: rows(target) }
        });
        let head = (!P::HEAD.is_empty()).then(|| {
            let rows = |of: &Self| match of.head.is_empty() {
                true => side(&[]),
                false => side(std::slice::from_ref(&of.head)),
            };
            ComparedTable { table: "collection", source: rows(self), target: rows(target) }
        });
        head.into_iter().chain(tables).collect()
    }
}

/// Number and hash of rows, whatever their order.
fn side(rows: &[Vec<Cell>]) -> Side {
    let mut hashes: Vec<[u8; 32]> = rows.iter().map(|row| hash(row)).collect();
    hashes.sort_unstable();
    let mut all = Sha256::new();
    for hash in &hashes {
        all.update(hash);
    }
    let sha256 = all.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    Side { rows: rows.len(), sha256 }
}

/// Hash of a row: of each cell its type, its length and its bytes.
fn hash(row: &[Cell]) -> [u8; 32] {
    let mut hash = Sha256::new();
    for cell in row {
        let (kind, bytes) = match cell {
            Cell::Null => (0, Vec::new()),
            Cell::Integer(number) => (1, number.to_be_bytes().to_vec()),
            Cell::Real(number) => (2, number.to_bits().to_be_bytes().to_vec()),
            Cell::Text(text) => (3, text.clone().into_bytes()),
            Cell::Blob(bytes) => (4, bytes.clone()),
        };
        hash.update([kind]);
        hash.update(u64::try_from(bytes.len()).unwrap_or(u64::MAX).to_be_bytes());
        hash.update(bytes);
    }
    hash.finalize().into()
}
