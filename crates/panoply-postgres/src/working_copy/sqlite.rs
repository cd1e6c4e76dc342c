//! The working copy in SQLite, and the tables that it has in common with PostgreSQL.

mod content;
mod copy;
mod pack;
pub(crate) mod rows;

pub(crate) use rusqlite::types::Value as Cell;

pub(crate) use self::content::Content;
pub(crate) use self::copy::{Changes, Copy};
#[cfg(test)]
pub(crate) use self::pack::assert_columns_are_listed;
pub(crate) use self::pack::{Column, CopiedPack, Kind, Table};
