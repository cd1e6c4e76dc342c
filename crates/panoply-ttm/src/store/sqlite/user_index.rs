//! SQLite implementation of the user index.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use panoply_store::sqlite;
use rusqlite::{Connection, OptionalExtension as _, Row};

use super::indexer::{is_built_with, model_mismatch, read};
use super::term_counts::unpacked;
use crate::papers::UserStoreError;
use crate::search::{
    Document, DocumentEntry, DocumentTable, Facet, IMPORTED, Kind, KnownTerm, TextModel, UserIndex,
};
use crate::text::terms::Term;

/// User index in a SQLite file, with a pool of read connections.
#[derive(Debug)]
pub(super) struct SqliteUserIndex {
    file: PathBuf,
    fingerprint: [u8; 32],
    table: DocumentTable,
    idle: Mutex<Vec<Connection>>,
}

impl SqliteUserIndex {
    /// Loads the document table of an index built with this text model.
    pub(super) fn open(file: &Path, text_model: &TextModel) -> Result<Self, UserStoreError> {
        let mut user_index = Self {
            file: file.to_owned(),
            fingerprint: *text_model.fingerprint(),
            table: DocumentTable::default(),
            idle: Mutex::default(),
        };
        user_index.table = DocumentTable::of(user_index.with(entries)?);
        Ok(user_index)
    }

    fn with<T>(
        &self,
        ask: impl FnOnce(&Connection) -> Result<T, UserStoreError>,
    ) -> Result<T, UserStoreError> {
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let waiting = idle().pop();
        let connection = match waiting {
            Some(connection) => connection,
            None => sqlite::open_read_only(&self.file)
                .map_err(|error| UserStoreError(Box::new(error)))?,
        };
        let answer = ask(&connection);
        idle().push(connection);
        answer
    }
}

impl UserIndex for SqliteUserIndex {
    fn table(&self) -> &DocumentTable {
        &self.table
    }

    fn known(&self, terms: &[Term]) -> Result<Vec<KnownTerm>, UserStoreError> {
        self.with(|connection| {
            if !is_built_with(connection, &self.fingerprint)? {
                return Err(model_mismatch());
            }
            let sql = "SELECT place, documents FROM search_term
                       WHERE number = ?1 AND documents > 0";
            let mut statement = connection.prepare_cached(sql)?;
            let mut known = Vec::new();
            for term in terms {
                let row = |row: &Row<'_>| {
                    let documents: i64 = row.get(1)?;
                    let documents = usize::try_from(documents).unwrap_or_default();
                    Ok(KnownTerm { term: *term, place: row.get(0)?, documents })
                };
                let number = term.number().cast_signed();
                known.extend(statement.query_row([number], row).optional()?);
            }
            Ok(known)
        })
    }

    fn for_each_containing(
        &self,
        term: &KnownTerm,
        take: &mut dyn FnMut(i64) -> bool,
    ) -> Result<(), UserStoreError> {
        self.with(|connection| {
            let sql = "SELECT rowid FROM search_index WHERE search_index MATCH ?1";
            let mut statement = connection.prepare_cached(sql)?;
            let mut rows = statement.query([format!("\"{}\"", term.place)])?;
            while let Some(row) = rows.next()? {
                if !take(row.get(0)?) {
                    break;
                }
            }
            Ok(())
        })
    }

    fn frequencies(
        &self,
        row: i64,
        terms: &[KnownTerm],
    ) -> Result<Option<Vec<(Term, u8)>>, UserStoreError> {
        self.with(|connection| {
            let sql = "SELECT bag FROM search_bag WHERE row = ?1";
            let mut statement = connection.prepare_cached(sql)?;
            let found = |row: &Row<'_>| Ok(among(row.get_ref(0)?.as_blob()?, terms));
            Ok(statement.query_row([row], found).optional()?)
        })
    }

    fn about(&self, id: &str) -> Result<Vec<i64>, UserStoreError> {
        self.with(|connection| {
            let sql = "SELECT row FROM search_about WHERE id = ?1 ORDER BY row";
            let mut statement = connection.prepare_cached(sql)?;
            let rows = statement.query_map([id], |row| row.get(0))?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    fn row(&self, id: &str) -> Result<Option<i64>, UserStoreError> {
        self.with(|connection| {
            let sql = "SELECT row FROM search_document WHERE id = ?1";
            let mut statement = connection.prepare_cached(sql)?;
            Ok(statement.query_row([id], |row| row.get(0)).optional()?)
        })
    }

    fn document(&self, row: i64) -> Result<Option<Document>, UserStoreError> {
        self.with(|connection| {
            let sql = "SELECT id FROM search_document WHERE row = ?1";
            let mut statement = connection.prepare_cached(sql)?;
            let id: Option<String> = statement.query_row([row], |row| row.get(0)).optional()?;
            id.map_or(Ok(None), |id| read(connection, &id))
        })
    }
}

/// Intersects encoded term counts with sorted terms.
fn among(bag: &[u8], terms: &[KnownTerm]) -> Vec<(Term, u8)> {
    let mut found = Vec::new();
    let mut terms = terms.iter().peekable();
    for (place, steps) in unpacked(bag) {
        while terms.next_if(|term| term.place < place).is_some() {}
        let Some(term) = terms.peek() else { break };
        if term.place == place {
            found.push((term.term, steps));
        }
    }
    found.sort_unstable();
    found
}

/// Returns the entries: papers by PMID, then chunks in order.
fn entries(connection: &Connection) -> Result<Vec<DocumentEntry>, UserStoreError> {
    let sql = "SELECT row, id, kind, year, words, trigrams, vector FROM search_document";
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query([])?;
    let mut shared = HashSet::new();
    let mut entries: Vec<(Order, DocumentEntry)> = Vec::new();
    while let Some(row) = rows.next()? {
        entries.push(entry(row, &mut shared)?);
    }
    entries.sort_by(|one, other| one.0.cmp(&other.0));
    Ok(entries.into_iter().map(|(_, entry)| entry).collect())
}

/// Sort key: kind, document, number.
type Order = (Kind, String, u64);

/// Interned facet lists.
type Shared = HashSet<Arc<[(Facet, String)]>>;

fn entry(row: &Row<'_>, shared: &mut Shared) -> rusqlite::Result<(Order, DocumentEntry)> {
    let id: String = row.get("id")?;
    let kind: String = row.get("kind")?;
    let kind = Kind::parse(&kind).unwrap_or(Kind::Chunk);
    let mut facets = vec![(Facet::Source, IMPORTED.to_owned())];
    let year: Option<u16> = row.get("year")?;
    facets.extend(year.map(|year| (Facet::Year, year.to_string())));
    let order = match id.split_once('#') {
        None => (kind, String::new(), id.parse().unwrap_or(u64::MAX)),
        Some((document, number)) => {
            facets.push((Facet::Source, document.to_owned()));
            (kind, document.to_owned(), number.parse().unwrap_or(u64::MAX))
        }
    };
    let facets = shared.get(facets.as_slice()).cloned().unwrap_or_else(|| {
        let new: Arc<[(Facet, String)]> = facets.into();
        shared.insert(Arc::clone(&new));
        new
    });
    #[expect(clippy::cast_possible_truncation, reason = "written as f32")]
    let length = |name: &str| Ok::<f32, rusqlite::Error>(row.get::<_, f64>(name)? as f32);
    let vector = row.get_ref("vector")?.as_blob()?.iter().map(|byte| byte.cast_signed()).collect();
    let entry = DocumentEntry {
        row: row.get("row")?,
        kind,
        facets,
        words: length("words")?,
        trigrams: length("trigrams")?,
        vector,
    };
    Ok((order, entry))
}
