//! Updates the search tables in batches. Each batch is one transaction, so a crash loses no work
//! and several processes can share it.

use std::collections::BTreeMap;
use std::collections::hash_map::Entry;
use std::sync::mpsc;

use rusqlite::{Connection, OptionalExtension as _, TransactionBehavior, params};

use super::documents::chunk_with_title;
use super::find;
use super::term_counts::{packed, unpacked};
use crate::catalog::HerbCatalog;
use crate::papers::UserStoreError;
use crate::search::{
    ByTerm, Document, DocumentFeatures, Facet, Kind, TextModel, chunk_document, record_document,
};
use crate::text::terms::Term;

/// Documents per transaction.
const BATCH_SIZE: usize = if cfg!(test) { 40 } else { 4_000 };
/// Documents analysed by one thread while another writes the previous ones.
const CHUNK_SIZE: usize = 500;

/// Indexes all pending documents. `progress` receives the number of finished documents and the
/// total.
pub(super) fn update(
    connection: &mut Connection,
    text_model: &TextModel,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<(), UserStoreError> {
    if is_up_to_date(connection, text_model)? {
        return Ok(());
    }
    rebuild_if_model_changed(connection, text_model)?;
    let shipped = HerbCatalog::bundled().map_err(|error| UserStoreError(error.into()))?;
    let mut terms = Terms::default();
    let total = left(connection)?;
    loop {
        let done = total.saturating_sub(left(connection)?);
        progress(done, total);
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        if !is_built_with(&transaction, text_model.fingerprint())? {
            return Err(model_mismatch());
        }
        let ids = pending(&transaction)?;
        if ids.is_empty() {
            return Ok(());
        }
        let mut documents = Vec::with_capacity(ids.len());
        for id in &ids {
            remove(&transaction, id, &mut terms)?;
            // Bundled papers are searched in memory, together with the imported record.
            if shipped.paper(id).is_none() {
                documents.extend(read(&transaction, id)?);
            }
        }
        write_all(&transaction, &documents, text_model, &mut terms)?;
        terms.write(&transaction)?;
        let done = "DELETE FROM search_pending WHERE id = ?1";
        let mut done = transaction.prepare_cached(done)?;
        for id in &ids {
            done.execute([id])?;
        }
        drop(done);
        transaction.commit()?;
    }
}

fn left(connection: &Connection) -> Result<u64, UserStoreError> {
    let sql = "SELECT count(*) FROM search_pending";
    let left: i64 = connection.query_row(sql, [], |row| row.get(0))?;
    Ok(left.unsigned_abs())
}

/// Checks without a write lock: usually nothing is pending.
fn is_up_to_date(connection: &Connection, text_model: &TextModel) -> Result<bool, UserStoreError> {
    Ok(is_built_with(connection, text_model.fingerprint())? && left(connection)? == 0)
}

/// Returns whether the tables were built with this text model.
pub(super) fn is_built_with(
    connection: &Connection,
    fingerprint: &[u8; 32],
) -> Result<bool, UserStoreError> {
    let sql = "SELECT EXISTS (SELECT 1 FROM search_form WHERE learnt_from = ?1)";
    let mut statement = connection.prepare_cached(sql)?;
    Ok(statement.query_row([fingerprint.as_slice()], |row| row.get(0))?)
}

/// Error if another program version rebuilt the tables concurrently.
pub(super) fn model_mismatch() -> UserStoreError {
    let why = "another version of the program rebuilt the search index; \
               run only one version at a time and restart";
    UserStoreError(why.into())
}

/// Clears the tables if they were built with another text model: their terms and vectors are not
/// comparable.
fn rebuild_if_model_changed(
    connection: &mut Connection,
    text_model: &TextModel,
) -> Result<(), UserStoreError> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    if is_built_with(&transaction, text_model.fingerprint())? {
        return Ok(());
    }
    let reset = "
        DELETE FROM search_form;
        DELETE FROM search_document;
        DELETE FROM search_term;
        DELETE FROM search_bag;
        DELETE FROM search_about;
        INSERT INTO search_index (search_index) VALUES ('delete-all');
        INSERT OR IGNORE INTO search_pending (id) SELECT pmid FROM paper;
        INSERT OR IGNORE INTO search_pending (id) SELECT document || '#' || number FROM ingest_chunk;";
    transaction.execute_batch(reset)?;
    let form = "INSERT INTO search_form (learnt_from) VALUES (?1)";
    transaction.execute(form, [text_model.fingerprint().as_slice()])?;
    Ok(transaction.commit()?)
}

/// Writes documents; analysis and writing are pipelined.
fn write_all(
    connection: &Connection,
    documents: &[Document],
    text_model: &TextModel,
    terms: &mut Terms,
) -> Result<(), UserStoreError> {
    let (done, next) = mpsc::sync_channel(1);
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let mut pieces = documents.chunks(CHUNK_SIZE);
            // A closed channel means that the writer failed.
            pieces.all(|piece| done.send(text_model.place(piece)).is_ok())
        });
        for piece in documents.chunks(CHUNK_SIZE) {
            let placed = next.recv().map_err(|error| UserStoreError(Box::new(error)))?;
            for (document, placed) in piece.iter().zip(placed) {
                put(connection, document, &placed, terms)?;
            }
        }
        Ok(())
    })
}

fn pending(connection: &Connection) -> Result<Vec<String>, UserStoreError> {
    let sql = format!("SELECT id FROM search_pending ORDER BY id LIMIT {BATCH_SIZE}");
    let mut statement = connection.prepare_cached(&sql)?;
    let ids = statement.query_map([], |row| row.get(0))?;
    Ok(ids.collect::<Result<_, _>>()?)
}

/// Reads a paper or chunk as a search document.
pub(super) fn read(connection: &Connection, id: &str) -> Result<Option<Document>, UserStoreError> {
    match id.split_once('#') {
        None => Ok(find(connection, id)?.as_ref().map(record_document)),
        Some((document, number)) => {
            let found = chunk_with_title(connection, document, number)?;
            Ok(found.map(|(chunk, title)| chunk_document(&chunk, &title)))
        }
    }
}

/// Removes a document from the tables.
fn remove(connection: &Connection, id: &str, terms: &mut Terms) -> Result<(), UserStoreError> {
    let row: Option<i64> = connection
        .prepare_cached("SELECT row FROM search_document WHERE id = ?1")
        .and_then(|mut statement| statement.query_row([id], |row| row.get(0)).optional())?;
    let Some(row) = row else { return Ok(()) };
    let bag: Option<Vec<u8>> = connection
        .prepare_cached("SELECT bag FROM search_bag WHERE row = ?1")
        .and_then(|mut statement| statement.query_row([row], |row| row.get(0)).optional())?;
    for (place, _) in unpacked(&bag.unwrap_or_default()) {
        *terms.fewer.entry(place).or_default() -= 1;
    }
    for sql in [
        "DELETE FROM search_index WHERE rowid = ?1",
        "DELETE FROM search_about WHERE row = ?1",
        "DELETE FROM search_bag WHERE row = ?1",
        "DELETE FROM search_document WHERE row = ?1",
    ] {
        let mut statement = connection.prepare_cached(sql)?;
        statement.execute([row])?;
    }
    Ok(())
}

fn put(
    connection: &Connection,
    document: &Document,
    placed: &DocumentFeatures,
    terms: &mut Terms,
) -> Result<(), UserStoreError> {
    let vector: Vec<u8> = placed.vector.iter().map(|number| number.cast_unsigned()).collect();
    let mut statement = connection.prepare_cached(
        "INSERT INTO search_document (id, kind, year, words, trigrams, vector)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )?;
    let (words, trigrams) = (f64::from(placed.words.length), f64::from(placed.trigrams.length));
    let kind = document.kind();
    statement.execute(params![
        document.id,
        kind.as_str(),
        year(document),
        words,
        trigrams,
        vector
    ])?;
    let row = connection.last_insert_rowid();
    let mut all: Vec<(i64, u8)> = Vec::new();
    let mut digits = itoa::Buffer::new();
    let mut places = |bag: &[(Term, u8)]| -> Result<String, UserStoreError> {
        let mut text = String::with_capacity(bag.len() * 6);
        for (term, steps) in bag {
            let place = terms.place(connection, *term)?;
            all.push((place, *steps));
            text.push_str(digits.format(place));
            text.push(' ');
        }
        Ok(text)
    };
    let (words, trigrams) = (places(&placed.words.terms)?, places(&placed.trigrams.terms)?);
    let sql = "INSERT INTO search_index (rowid, words, trigrams) VALUES (?1, ?2, ?3)";
    let mut statement = connection.prepare_cached(sql)?;
    statement.execute(params![row, words, trigrams])?;
    all.sort_unstable();
    let sql = "INSERT INTO search_bag (row, bag) VALUES (?1, ?2)";
    let mut statement = connection.prepare_cached(sql)?;
    statement.execute(params![row, packed(&all)])?;
    let sql = "INSERT OR IGNORE INTO search_about (id, row) VALUES (?1, ?2)";
    let mut statement = connection.prepare_cached(sql)?;
    for link in &document.links {
        statement.execute(params![link.to, row])?;
    }
    Ok(())
}

fn year(document: &Document) -> Option<u16> {
    let year = document.facets.iter().find(|(facet, _)| *facet == Facet::Year);
    (document.kind() == Kind::Paper).then(|| year?.1.parse().ok()).flatten()
}

/// Pending changes of document frequencies.
#[derive(Debug, Default)]
struct Terms {
    met: ByTerm<Met>,
    /// Decrements by term place, for removed documents.
    fewer: BTreeMap<i64, i64>,
}

#[derive(Debug)]
struct Met {
    place: i64,
    more: i64,
}

impl Terms {
    /// Returns the place of a term and counts one more document.
    fn place(&mut self, connection: &Connection, term: Term) -> Result<i64, UserStoreError> {
        let met = match self.met.entry(term) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => new.insert(Met { place: place_of(connection, term)?, more: 0 }),
        };
        met.more += 1;
        Ok(met.place)
    }

    /// Writes the changed document frequencies.
    fn write(&mut self, connection: &Connection) -> Result<(), UserStoreError> {
        let mut changed = std::mem::take(&mut self.fewer);
        for met in self.met.values_mut().filter(|met| met.more > 0) {
            *changed.entry(met.place).or_default() += std::mem::take(&mut met.more);
        }
        let sql = "UPDATE search_term SET documents = documents + ?2 WHERE place = ?1";
        let mut statement = connection.prepare_cached(sql)?;
        for (place, by) in changed {
            statement.execute([place, by])?;
        }
        Ok(())
    }
}

fn place_of(connection: &Connection, term: Term) -> Result<i64, UserStoreError> {
    let number = term.number().cast_signed();
    let mut known = connection.prepare_cached("SELECT place FROM search_term WHERE number = ?1")?;
    let place = known.query_row([number], |row| row.get(0)).optional()?;
    if let Some(place) = place {
        return Ok(place);
    }
    let sql = "INSERT INTO search_term (number, documents) VALUES (?1, 0)";
    connection.prepare_cached(sql).and_then(|mut new| new.execute([number]))?;
    Ok(connection.last_insert_rowid())
}
