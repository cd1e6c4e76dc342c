//! Reads portfolios.

use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use crate::import::KnownRows;
use crate::portfolio::{Account, Entry, Provenance, Wrapper};
use crate::store::{Change, Portfolio, PortfolioError, Summary};
use crate::transaction::Ticker;

/// All portfolios, by name.
pub(super) fn list(connection: &Connection) -> Result<Vec<Summary>, PortfolioError> {
    let sql = "SELECT id, name, created FROM portfolio ORDER BY name, id";
    let mut statement = connection.prepare_cached(sql)?;
    let found: Vec<(String, String, i64)> = statement
        .query_map((), |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
        .collect::<rusqlite::Result<_>>()?;
    found.into_iter().map(|head| summary(connection, head)).collect()
}

/// A portfolio with all its transactions.
pub(super) fn load(connection: &Connection, id: &str) -> Result<Portfolio, PortfolioError> {
    let head = head(connection, id)?;
    let entries = entries(connection, id)?;
    Ok(Portfolio { summary: summary(connection, head)?, entries })
}

/// The last changes of a portfolio, newest first.
pub(super) fn changes(
    connection: &Connection,
    id: &str,
    limit: usize,
) -> Result<Vec<Change>, PortfolioError> {
    head(connection, id)?;
    let sql = "SELECT id, at, summary, undoes, undone FROM change \
               WHERE portfolio = ?1 ORDER BY id DESC LIMIT ?2";
    let mut statement = connection.prepare_cached(sql)?;
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let rows = statement.query_map(params![id, limit], |row| {
        Ok(Change {
            id: row.get(0)?,
            at: row.get(1)?,
            summary: row.get(2)?,
            undoes: row.get(3)?,
            undone: row.get(4)?,
        })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// The data version.
pub(super) fn version(connection: &Connection) -> Result<i64, PortfolioError> {
    let mut statement = connection.prepare_cached("SELECT number FROM version")?;
    Ok(statement.query_row((), |row| row.get(0))?)
}

/// Id, name and time of creation.
pub(super) fn head(
    connection: &Connection,
    id: &str,
) -> Result<(String, String, i64), PortfolioError> {
    let sql = "SELECT id, name, created FROM portfolio WHERE id = ?1";
    let mut statement = connection.prepare_cached(sql)?;
    let found =
        statement.query_row([id], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).optional()?;
    found.ok_or_else(|| PortfolioError::NotFound(id.to_owned()))
}

fn summary(
    connection: &Connection,
    (id, name, created): (String, String, i64),
) -> Result<Summary, PortfolioError> {
    let accounts = accounts(connection, &id)?;
    let entries = count(connection, &id)?;
    Ok(Summary { id, name, created, accounts, entries })
}

/// Number of transactions.
pub(super) fn count(connection: &Connection, id: &str) -> Result<usize, PortfolioError> {
    let mut statement =
        connection.prepare_cached("SELECT count(*) FROM entry WHERE portfolio = ?1")?;
    let count: i64 = statement.query_row([id], |row| row.get(0))?;
    Ok(usize::try_from(count).unwrap_or(usize::MAX))
}

/// Accounts by name.
pub(super) fn accounts(connection: &Connection, id: &str) -> Result<Vec<Account>, PortfolioError> {
    let sql = "SELECT name, wrapper FROM account WHERE portfolio = ?1 ORDER BY name";
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map([id], |row| {
        let wrapper: String = row.get(1)?;
        let wrapper = Wrapper::parse(&wrapper).ok_or_else(|| {
            let why = format!("unknown wrapper `{wrapper}`");
            rusqlite::Error::FromSqlConversionFailure(1, Type::Text, why.into())
        })?;
        Ok(Account { name: row.get(0)?, wrapper })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

const ENTRY: &str = "id, account, line, file, file_line, broker, broker_id, isin, key";

fn entries(connection: &Connection, id: &str) -> Result<Vec<Entry>, PortfolioError> {
    let sql = format!("SELECT {ENTRY} FROM entry WHERE portfolio = ?1 ORDER BY id");
    let mut statement = connection.prepare_cached(&sql)?;
    let rows = statement.query_map([id], entry)?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// A transaction, and the last change that touched it.
pub(super) fn stored(
    connection: &Connection,
    portfolio: &str,
    id: i64,
) -> Result<Option<(Entry, i64)>, PortfolioError> {
    let sql = format!("SELECT {ENTRY}, change FROM entry WHERE portfolio = ?1 AND id = ?2");
    let mut statement = connection.prepare_cached(&sql)?;
    let found = statement
        .query_row(params![portfolio, id], |row| Ok((entry(row)?, row.get(9)?)))
        .optional()?;
    Ok(found)
}

fn entry(row: &Row<'_>) -> rusqlite::Result<Entry> {
    Ok(Entry {
        id: row.get(0)?,
        account: row.get(1)?,
        line: row.get(2)?,
        provenance: Provenance {
            file: row.get(3)?,
            line: row.get(4)?,
            broker: row.get(5)?,
            broker_id: row.get(6)?,
            isin: row.get(7)?,
            key: row.get(8)?,
        },
    })
}

/// Rows of a portfolio that an import must know.
pub(super) fn known_rows(connection: &Connection, id: &str) -> Result<KnownRows, PortfolioError> {
    let mut known = KnownRows::default();
    for entry in entries(connection, id)? {
        if let Some(key) = entry.provenance.key {
            *known.keys.entry(key).or_default() += 1;
        }
        let ticker = entry.line.split(' ').nth(2).and_then(|word| Ticker::parse(word).ok());
        if let (Some(isin), Some(ticker)) = (entry.provenance.isin, ticker) {
            known.tickers.entry(isin).or_insert(ticker);
        }
    }
    Ok(known)
}
