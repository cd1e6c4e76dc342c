//! User documents in SQLite: added and removed per job.

use rusqlite::{Connection, OptionalExtension as _, Row, ToSql, TransactionBehavior, params};

use super::{SqliteUserStore, json_column, json_list};
use crate::ingest::plan::Extract;
use crate::papers::UserStoreError;
use crate::user_data::{Chunk, DocumentStore, Fact, UserDocument};

impl SqliteUserStore {
    /// Runs `work` in one transaction.
    pub(super) fn in_transaction<T>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, UserStoreError>,
    ) -> Result<T, UserStoreError> {
        let mut connection = self.make()?;
        let Some(connection) = connection.as_mut() else {
            return Err(rusqlite::Error::InvalidQuery.into());
        };
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let done = work(&transaction)?;
        transaction.commit()?;
        Ok(done)
    }

    pub(super) fn rows<T>(
        &self,
        sql: &str,
        with: &[&dyn ToSql],
        read: fn(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, UserStoreError> {
        let connection = self.open()?;
        let Some(connection) = connection.as_ref() else { return Ok(Vec::new()) };
        let mut statement = connection.prepare_cached(sql)?;
        let rows = statement.query_map(with, read)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}

impl DocumentStore for SqliteUserStore {
    fn documents(&self) -> Result<Vec<UserDocument>, UserStoreError> {
        self.rows("SELECT * FROM ingest_document ORDER BY id", &[], document)
    }

    fn chunks(&self, of: Option<&str>) -> Result<Vec<Chunk>, UserStoreError> {
        let sql = "SELECT * FROM ingest_chunk WHERE document = coalesce(?1, document)
                   ORDER BY document, number";
        self.rows(sql, &[&of], chunk)
    }

    fn facts(&self, of: Option<&str>) -> Result<Vec<Fact>, UserStoreError> {
        let sql = "SELECT fact FROM ingest_fact WHERE document = coalesce(?1, document)
                   ORDER BY document, number";
        let facts = self.rows(sql, &[&of], |row| row.get::<_, String>(0))?;
        Ok(facts.iter().map(|fact| serde_json::from_str(fact)).collect::<Result<_, _>>()?)
    }
}

/// Returns a chunk with the title of its document.
pub(super) fn chunk_with_title(
    connection: &Connection,
    of: &str,
    number: &str,
) -> Result<Option<(Chunk, String)>, UserStoreError> {
    let sql = "SELECT c.*, d.title FROM ingest_chunk c JOIN ingest_document d ON d.id = c.document
               WHERE c.document = ?1 AND c.number = CAST(?2 AS INTEGER)";
    let mut statement = connection.prepare_cached(sql)?;
    let read = |row: &Row<'_>| Ok((chunk(row)?, row.get("title")?));
    Ok(statement.query_row([of, number], read).optional()?)
}

/// Removes the documents of a job.
pub(super) fn remove(connection: &Connection, job: &str) -> Result<usize, UserStoreError> {
    let of_job = "(SELECT id FROM ingest_document WHERE job = ?1)";
    for table in ["ingest_fact", "ingest_chunk"] {
        let sql = format!("DELETE FROM {table} WHERE document IN {of_job}");
        connection.execute(&sql, [job])?;
    }
    Ok(connection.execute("DELETE FROM ingest_document WHERE job = ?1", [job])?)
}

pub(super) fn add(connection: &Connection, extract: &Extract) -> Result<bool, UserStoreError> {
    let Extract { document, chunks, facts } = extract;
    let mut statement = connection.prepare_cached(
        "INSERT INTO ingest_document (id, sha256, name, title, lang, pages, job)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT (id) DO NOTHING",
    )?;
    let UserDocument { id, sha256, name, title, lang, pages, job } = document;
    let new = statement.execute(params![id, sha256, name, title, lang, pages, job]);
    if new? == 0 {
        // An id is 48 bits of the hash: two documents may have one.
        let sql = "SELECT sha256 FROM ingest_document WHERE id = ?1";
        let known: String = connection.query_row(sql, [id], |row| row.get(0))?;
        return match known == *sha256 {
            true => Ok(false),
            false => Err(UserStoreError(format!("another document has the id `{id}`").into())),
        };
    }
    let mut statement = connection
        .prepare_cached(
            "INSERT INTO ingest_chunk (document, number, page, start, \"end\", lang, reader, text, about)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        )?;
    for chunk in chunks {
        let Chunk { number, page, start, end, lang, reader, text, about, .. } = chunk;
        let row = params![id, number, page, start, end, lang, reader, text, json_list(about)];
        statement.execute(row)?;
    }
    let mut statement = connection
        .prepare_cached("INSERT INTO ingest_fact (document, number, fact) VALUES (?1, ?2, ?3)")?;
    for (number, fact) in (1_i64..).zip(facts) {
        let fact = serde_json::to_string(fact)?;
        statement.execute(params![id, number, fact])?;
    }
    Ok(true)
}

pub(super) fn document(row: &Row<'_>) -> rusqlite::Result<UserDocument> {
    Ok(UserDocument {
        id: row.get("id")?,
        sha256: row.get("sha256")?,
        name: row.get("name")?,
        title: row.get("title")?,
        lang: row.get("lang")?,
        pages: row.get("pages")?,
        job: row.get("job")?,
    })
}

fn chunk(row: &Row<'_>) -> rusqlite::Result<Chunk> {
    Ok(Chunk {
        document: row.get("document")?,
        number: row.get("number")?,
        page: row.get("page")?,
        start: row.get("start")?,
        end: row.get("end")?,
        lang: row.get("lang")?,
        reader: row.get("reader")?,
        text: row.get("text")?,
        about: json_column(row, "about")?,
    })
}
