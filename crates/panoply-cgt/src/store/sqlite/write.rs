//! Changes portfolios inside a transaction.

use panoply_contract::mutation::MutationRecord;
use panoply_store::mutations::MutationTable;
use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension as _, params};

use super::read;
use crate::import::KnownRows;
use crate::portfolio::{Account, Entry, Wrapper};
use crate::store::{PortfolioError, PortfolioWriter, Undone};

/// Writes in an open transaction.
pub(super) struct Writer<'a> {
    pub(super) connection: &'a Connection,
    pub(super) mutations: &'a MutationTable,
}

/// A transaction before a change.
struct Image {
    number: i64,
    /// With the change that had made it so.
    before: Option<(Entry, i64)>,
    /// The change of the transaction afterwards; `None` when it was removed.
    after_change: Option<i64>,
}

impl PortfolioWriter for Writer<'_> {
    fn attach(&self, record: &MutationRecord) -> Result<(), PortfolioError> {
        Ok(self.mutations.insert(self.connection, record)?)
    }

    fn create(&self, id: &str, name: &str, now: i64) -> Result<(), PortfolioError> {
        let taken: Option<i64> = self
            .connection
            .prepare_cached("SELECT 1 FROM portfolio WHERE name = ?1 OR id = ?2")?
            .query_row(params![name, id], |row| row.get(0))
            .optional()?;
        if taken.is_some() {
            return Err(PortfolioError::NameTaken(name.to_owned()));
        }
        let sql = "INSERT INTO portfolio (id, name, created, next_entry, next_change) \
                   VALUES (?1, ?2, ?3, 1, 1)";
        self.connection.prepare_cached(sql)?.execute(params![id, name, now])?;
        Ok(())
    }

    fn delete(&self, id: &str) -> Result<usize, PortfolioError> {
        read::head(self.connection, id)?;
        let entries = read::count(self.connection, id)?;
        self.connection.prepare_cached("DELETE FROM portfolio WHERE id = ?1")?.execute([id])?;
        Ok(entries)
    }

    fn require(&self, id: &str) -> Result<String, PortfolioError> {
        Ok(read::head(self.connection, id)?.1)
    }

    fn accounts(&self, id: &str) -> Result<Vec<Account>, PortfolioError> {
        read::accounts(self.connection, id)
    }

    fn count(&self, id: &str) -> Result<usize, PortfolioError> {
        read::count(self.connection, id)
    }

    fn known_rows(&self, id: &str) -> Result<KnownRows, PortfolioError> {
        read::known_rows(self.connection, id)
    }

    fn ensure_account(
        &self,
        id: &str,
        name: &str,
        wrapper: Option<Wrapper>,
    ) -> Result<bool, PortfolioError> {
        let accounts = read::accounts(self.connection, id)?;
        if let Some(known) = accounts.iter().find(|account| account.name == name) {
            return match wrapper {
                Some(given) if given != known.wrapper => Err(PortfolioError::OtherWrapper {
                    name: name.to_owned(),
                    known: known.wrapper,
                    given,
                }),
                Some(_) | None => Ok(false),
            };
        }
        let sql = "INSERT INTO account (portfolio, name, wrapper) VALUES (?1, ?2, ?3)";
        let wrapper = wrapper.unwrap_or_default().as_str();
        self.connection.prepare_cached(sql)?.execute(params![id, name, wrapper])?;
        Ok(true)
    }

    fn set_wrapper(&self, id: &str, name: &str, wrapper: Wrapper) -> Result<(), PortfolioError> {
        let sql = "UPDATE account SET wrapper = ?3 WHERE portfolio = ?1 AND name = ?2";
        let changed =
            self.connection.prepare_cached(sql)?.execute(params![id, name, wrapper.as_str()])?;
        if changed == 0 { Err(PortfolioError::NoAccount(name.to_owned())) } else { Ok(()) }
    }

    fn begin(&self, id: &str, now: i64, summary: &str) -> Result<i64, PortfolioError> {
        self.begin_change(id, now, summary, None)
    }

    fn add(&self, id: &str, change: i64, entry: Entry) -> Result<i64, PortfolioError> {
        let number = self.next(id, "next_entry")?;
        self.remember(id, change, number, None, Some(change))?;
        self.put(id, change, &Entry { id: number, ..entry })?;
        Ok(number)
    }

    fn edit(
        &self,
        id: &str,
        change: i64,
        number: i64,
        edit: &dyn Fn(&mut Entry),
    ) -> Result<(), PortfolioError> {
        let (mut entry, last) = self.stored(id, number)?;
        self.remember(id, change, number, Some((&entry, last)), Some(change))?;
        edit(&mut entry);
        self.put(id, change, &entry)
    }

    fn remove(&self, id: &str, change: i64, number: i64) -> Result<(), PortfolioError> {
        let (entry, last) = self.stored(id, number)?;
        self.remember(id, change, number, Some((&entry, last)), None)?;
        self.erase(id, number)
    }

    fn undo(&self, id: &str, change: Option<i64>, now: i64) -> Result<Undone, PortfolioError> {
        read::head(self.connection, id)?;
        let undoes = match change {
            Some(change) => self.undoable(id, change)?,
            None => self.last_change(id)?,
        };
        let summary = format!("undid change {undoes}");
        let change = self.begin_change(id, now, &summary, Some(undoes))?;
        let images = self.images(id, undoes)?;
        for image in &images {
            let Image { number, before, after_change } = image;
            let current = read::stored(self.connection, id, *number)?;
            if current.as_ref().map(|(_, last)| *last) != *after_change {
                return Err(PortfolioError::ChangedSince { change: undoes, entry: *number });
            }
            let current = current.as_ref().map(|(entry, last)| (entry, *last));
            let restored = before.as_ref().map(|(_, last)| *last);
            self.remember(id, change, *number, current, restored)?;
            match before {
                Some((entry, last)) => self.put(id, *last, entry)?,
                None => self.erase(id, *number)?,
            }
        }
        self.mark_undone(id, undoes)?;
        Ok(Undone { undoes, change, entries: images.len() })
    }
}

impl Writer<'_> {
    fn begin_change(
        &self,
        id: &str,
        now: i64,
        summary: &str,
        undoes: Option<i64>,
    ) -> Result<i64, PortfolioError> {
        let change = self.next(id, "next_change")?;
        let sql = "INSERT INTO change (portfolio, id, at, summary, undoes, undone) \
                   VALUES (?1, ?2, ?3, ?4, ?5, 0)";
        let row = params![id, change, now, summary, undoes];
        self.connection.prepare_cached(sql)?.execute(row)?;
        Ok(change)
    }

    /// Takes the next number of a counter.
    fn next(&self, id: &str, counter: &str) -> Result<i64, PortfolioError> {
        let sql = format!(
            "UPDATE portfolio SET {counter} = {counter} + 1 WHERE id = ?1 RETURNING {counter} - 1"
        );
        let mut statement = self.connection.prepare_cached(&sql)?;
        let number = statement.query_row([id], |row| row.get(0)).optional()?;
        number.ok_or_else(|| PortfolioError::NotFound(id.to_owned()))
    }

    fn undoable(&self, id: &str, change: i64) -> Result<i64, PortfolioError> {
        let sql = "SELECT undone FROM change WHERE portfolio = ?1 AND id = ?2";
        let mut statement = self.connection.prepare_cached(sql)?;
        match statement.query_row(params![id, change], |row| row.get(0)).optional()? {
            None => Err(PortfolioError::NoChange(change)),
            Some(true) => Err(PortfolioError::AlreadyUndone(change)),
            Some(false) => Ok(change),
        }
    }

    fn last_change(&self, id: &str) -> Result<i64, PortfolioError> {
        let sql =
            "SELECT max(id) FROM change WHERE portfolio = ?1 AND undone = 0 AND undoes IS NULL";
        let mut statement = self.connection.prepare_cached(sql)?;
        let last: Option<i64> = statement.query_row([id], |row| row.get(0))?;
        last.ok_or(PortfolioError::NothingToUndo)
    }

    /// Marks a change as undone. What it undid itself is thereby done again.
    fn mark_undone(&self, id: &str, change: i64) -> Result<(), PortfolioError> {
        self.connection
            .prepare_cached("UPDATE change SET undone = 1 WHERE portfolio = ?1 AND id = ?2")?
            .execute(params![id, change])?;
        let sql = "UPDATE change SET undone = 0 WHERE portfolio = ?1 AND id = \
                   (SELECT undoes FROM change WHERE portfolio = ?1 AND id = ?2)";
        self.connection.prepare_cached(sql)?.execute(params![id, change])?;
        Ok(())
    }

    /// Transactions before a change.
    fn images(&self, id: &str, change: i64) -> Result<Vec<Image>, PortfolioError> {
        let sql = "SELECT entry, before, before_change, after_change FROM image \
                   WHERE portfolio = ?1 AND change = ?2";
        let mut statement = self.connection.prepare_cached(sql)?;
        let rows = statement.query_map(params![id, change], |row| {
            let (before, last): (Option<String>, Option<i64>) = (row.get(1)?, row.get(2)?);
            let before = before.map(|text| serde_json::from_str(&text)).transpose();
            let before = before.map_err(|error| {
                rusqlite::Error::FromSqlConversionFailure(1, Type::Text, Box::new(error))
            })?;
            Ok(Image { number: row.get(0)?, before: before.zip(last), after_change: row.get(3)? })
        })?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// Keeps the state before a change; of several edits in one change, that before the first.
    fn remember(
        &self,
        id: &str,
        change: i64,
        number: i64,
        before: Option<(&Entry, i64)>,
        after_change: Option<i64>,
    ) -> Result<(), PortfolioError> {
        let (before, before_change) = before.unzip();
        let before = before
            .map(serde_json::to_string)
            .transpose()
            .map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))?;
        let sql = "INSERT INTO image \
                   (portfolio, change, entry, before, before_change, after_change) \
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6) \
                   ON CONFLICT DO UPDATE SET after_change = excluded.after_change";
        let row = params![id, change, number, before, before_change, after_change];
        self.connection.prepare_cached(sql)?.execute(row)?;
        Ok(())
    }

    fn stored(&self, id: &str, number: i64) -> Result<(Entry, i64), PortfolioError> {
        read::stored(self.connection, id, number)?.ok_or(PortfolioError::NoEntry(number))
    }

    fn put(&self, id: &str, change: i64, entry: &Entry) -> Result<(), PortfolioError> {
        let sql = "INSERT OR REPLACE INTO entry (portfolio, id, account, line, file, file_line, \
                   broker, broker_id, isin, key, change) \
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";
        let from = &entry.provenance;
        self.connection.prepare_cached(sql)?.execute(params![
            id,
            entry.id,
            entry.account,
            entry.line,
            from.file,
            from.line,
            from.broker,
            from.broker_id,
            from.isin,
            from.key,
            change,
        ])?;
        Ok(())
    }

    fn erase(&self, id: &str, number: i64) -> Result<(), PortfolioError> {
        let sql = "DELETE FROM entry WHERE portfolio = ?1 AND id = ?2";
        self.connection.prepare_cached(sql)?.execute(params![id, number])?;
        Ok(())
    }
}
