//! Outcome of moving the data of a tenant from one store to another: both sides, table by table.

/// Rows of one side of a table.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Side {
    /// Number of rows.
    pub rows: usize,
    /// SHA-256 over the sorted SHA-256 of all rows, in hexadecimal digits.
    pub sha256: String,
}

/// Both sides of a table, read after the move.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ComparedTable {
    /// Name of the table.
    pub table: &'static str,
    /// Where the data came from.
    pub source: Side,
    /// Where they are now.
    pub target: Side,
}

/// What was done.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Outcome {
    /// The target was empty and has the rows of the source now.
    Copied,
    /// The target had the rows of the source already.
    Unchanged,
    /// The target has other rows, and nothing was changed.
    Differs,
}

/// The data of a pack, or of the kernel.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Transferred {
    /// Whose data.
    pub pack: &'static str,
    /// What was done.
    pub outcome: Outcome,
    /// All tables.
    pub tables: Vec<ComparedTable>,
}

/// From where to where.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Direction {
    /// From the files of a home to a database server.
    ToServer,
    /// From a database server to the files of a home.
    ToFiles,
}
