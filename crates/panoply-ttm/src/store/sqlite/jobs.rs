//! Jobs and their logs in SQLite, visible to all processes.

use panoply_contract::mutation::MutationRecord;
use panoply_store::mutations::HasMutations as _;
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::documents::{add, document, remove};
use super::{SqliteUserStore, changed, json_column};
use crate::ingest::plan::Extract;
use crate::jobs::{Job, JobStore, Request, Status};
use crate::papers::UserStoreError;
use crate::user_data::UserDocument;

impl JobStore for SqliteUserStore {
    fn add_job(&self, job: &Job) -> Result<(), UserStoreError> {
        let request = serde_json::to_string(&job.request)?;
        self.write_row(|connection| {
            let sql = "INSERT INTO ingest_job (id, status, dry_run, request, created)
                       VALUES (?1, ?2, ?3, ?4, ?5)";
            let row =
                params![job.id, job.status.as_str(), job.request.dry_run, request, job.created];
            connection.execute(sql, row).map(|_| ())
        })
    }

    fn save_job(&self, job: &Job) -> Result<(), UserStoreError> {
        self.write_row(|connection| keep(connection, job))
    }

    fn finish_job(
        &self,
        job: &Job,
        extracts: &[Extract],
        record: Option<&MutationRecord>,
    ) -> Result<usize, UserStoreError> {
        self.in_transaction(|transaction| {
            self.attach(transaction, record)?;
            let mut added = 0;
            for extract in extracts {
                added += usize::from(add(transaction, extract)?);
            }
            keep(transaction, job)?;
            if added > 0 {
                changed(transaction)?;
            }
            Ok(added)
        })
    }

    fn undo_job(
        &self,
        job: &Job,
        record: Option<&MutationRecord>,
    ) -> Result<usize, UserStoreError> {
        self.in_transaction(|transaction| {
            self.attach(transaction, record)?;
            let removed = remove(transaction, &job.id)?;
            keep(transaction, job)?;
            if removed > 0 {
                changed(transaction)?;
            }
            Ok(removed)
        })
    }

    fn job(&self, id: &str) -> Result<Option<Job>, UserStoreError> {
        let connection = self.open()?;
        let Some(connection) = connection.as_ref() else { return Ok(None) };
        let mut statement = connection.prepare_cached("SELECT * FROM ingest_job WHERE id = ?1")?;
        Ok(statement.query_row([id], job).optional()?)
    }

    fn jobs(&self) -> Result<Vec<Job>, UserStoreError> {
        self.rows("SELECT * FROM ingest_job ORDER BY created DESC, id", &[], job)
    }

    fn cancel_job(&self, id: &str, record: Option<&MutationRecord>) -> Result<(), UserStoreError> {
        self.in_transaction(|transaction| {
            self.attach(transaction, record)?;
            transaction.execute("UPDATE ingest_job SET cancel = 1 WHERE id = ?1", [id])?;
            Ok(())
        })
    }

    fn is_cancelled(&self, id: &str) -> Result<bool, UserStoreError> {
        let connection = self.open()?;
        let Some(connection) = connection.as_ref() else { return Ok(false) };
        let mut statement =
            connection.prepare_cached("SELECT cancel FROM ingest_job WHERE id = ?1")?;
        let cancelled: Option<bool> = statement.query_row([id], |row| row.get(0)).optional()?;
        Ok(cancelled.unwrap_or(false))
    }

    fn log(&self, job: &str, at: &str, line: &str) -> Result<(), UserStoreError> {
        self.write_row(|connection| {
            let sql = "INSERT INTO ingest_log (job, number, at, line)
                       SELECT ?1, coalesce(max(number), 0) + 1, ?2, ?3 FROM ingest_log WHERE job = ?1";
            connection.execute(sql, params![job, at, line]).map(|_| ())
        })
    }

    fn document_of(&self, sha256: &str) -> Result<Option<UserDocument>, UserStoreError> {
        let connection = self.open()?;
        let Some(connection) = connection.as_ref() else { return Ok(None) };
        let mut statement =
            connection.prepare_cached("SELECT * FROM ingest_document WHERE sha256 = ?1")?;
        Ok(statement.query_row([sha256], document).optional()?)
    }

    fn log_of(&self, job: &str) -> Result<Vec<(String, String)>, UserStoreError> {
        let sql = "SELECT at, line FROM ingest_log WHERE job = ?1 ORDER BY number";
        self.rows(sql, &[&job], |row| Ok((row.get(0)?, row.get(1)?)))
    }
}

impl SqliteUserStore {
    /// Commits a mutation record with the change.
    fn attach(
        &self,
        transaction: &Connection,
        record: Option<&MutationRecord>,
    ) -> Result<(), UserStoreError> {
        Ok(record.map_or(Ok(()), |one| self.mutations().insert(transaction, one))?)
    }

    fn write_row(
        &self,
        write: impl FnOnce(&Connection) -> rusqlite::Result<()>,
    ) -> Result<(), UserStoreError> {
        let connection = self.make()?;
        Ok(connection.as_ref().map_or(Ok(()), write)?)
    }
}

fn keep(connection: &Connection, job: &Job) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached(
        "UPDATE ingest_job SET status = ?2, detail = ?3, done_pages = ?4, all_pages = ?5,
           report = ?6, error = ?7, started = ?8, ended = ?9
         WHERE id = ?1",
    )?;
    let written = |value: &Option<serde_json::Value>| value.as_ref().map(ToString::to_string);
    statement.execute(params![
        job.id,
        job.status.as_str(),
        job.detail,
        job.done_pages,
        job.all_pages,
        written(&job.report),
        written(&job.error),
        job.started,
        job.ended,
    ])?;
    Ok(())
}

fn job(row: &Row<'_>) -> rusqlite::Result<Job> {
    let (status, request): (String, String) = (row.get("status")?, row.get("request")?);
    Ok(Job {
        id: row.get("id")?,
        status: Status::parse(&status).unwrap_or(Status::Error),
        detail: row.get("detail")?,
        // A request of a newer release may have unknown fields; show the job without them.
        request: serde_json::from_str(&request).unwrap_or_else(|_| Request::default()),
        done_pages: row.get("done_pages")?,
        all_pages: row.get("all_pages")?,
        report: json_column(row, "report")?,
        error: json_column(row, "error")?,
        created: row.get("created")?,
        started: row.get("started")?,
        ended: row.get("ended")?,
    })
}
