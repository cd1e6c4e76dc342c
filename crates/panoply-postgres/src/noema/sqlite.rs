//! The working copy in SQLite, and the tables that it has in common with PostgreSQL.

mod copy;
mod rows;
mod tables;

pub(super) use self::copy::{Changes, Copy};
