//! Writing rows.

use std::collections::HashSet;
use std::rc::Rc;

#[cfg(feature = "tools")]
use panoply_contract::mutation::MutationRecord;
use rusqlite::Params;

use super::read::phase_code;
use super::text_index::ChangedNotes;
use super::undo::Table;
use super::{SCHEMA, TRIGGERS, Transaction};
use crate::card::{Card, Review};
use crate::deck::Deck;
use crate::error::{NoemaError, Result};
use crate::fsrs::Micros;
use crate::ids::{ActionId, CardId, DeckId, NoteId, NoteTypeId};
use crate::learner::LearnerSettings;
use crate::media::MediaFile;
use crate::note::{self, FIELD_SEPARATOR, Note, NoteType, PastContent};
use crate::numbers::len_to_u64;
use crate::store::{ExistingIds, Session, StoreReader as _, StoreWriter, Tally};

impl Transaction<'_> {
    /// Writes a row and records its before-image.
    fn put(&mut self, table: Table, id: i64, sql: &str, params: impl Params) -> Result<()> {
        self.touch(table, id)?;
        self.connection.prepare_cached(sql)?.execute(params)?;
        self.changed += 1;
        Ok(())
    }

    /// The next id of a table whose ids are not timestamps.
    fn next_row(&self, table: &str) -> Result<i64> {
        let sql = format!("SELECT ifnull(max(id), 0) + 1 FROM {table}");
        Ok(self.query_one(&sql, (), |row| row.get(0))?.unwrap_or(1))
    }

    fn is_deleted(&self, card: &Card) -> Result<bool> {
        let sql = "SELECT deleted IS NOT NULL FROM card WHERE id = ?1";
        Ok(self.query_one(sql, [card.id.0], |row| row.get(0))?.unwrap_or(false))
    }

    /// The batch of new rows in a bulk import; existing rows keep theirs.
    fn batch(&self) -> Option<i64> {
        self.bulk.then_some(self.action)
    }

    pub(super) fn tag_note(&self, note: NoteId, tags: &[String], deleted: bool) -> Result<()> {
        if !self.bulk {
            self.connection
                .prepare_cached("DELETE FROM note_tag WHERE note = ?1")?
                .execute([note.0])?;
        }
        if deleted {
            return Ok(());
        }
        let mut insert = self
            .connection
            .prepare_cached("INSERT OR IGNORE INTO note_tag (tag, note) VALUES (?1, ?2)")?;
        for tag in tags {
            insert.execute((tag.to_lowercase(), note.0))?;
        }
        Ok(())
    }

    pub(super) fn recount(&self) -> Result<()> {
        self.connection.execute_batch(
            "DELETE FROM lane_count; DELETE FROM due_count;
             INSERT INTO lane_count (deck, hold, phase, cards)
                SELECT deck, hold, phase, count(*) FROM card WHERE deleted IS NULL GROUP BY 1, 2, 3;
             INSERT INTO due_count (deck, hold, phase, bucket, cards)
                SELECT deck, hold, phase, iif(phase = 0, 0, due / 900000000), count(*)
                FROM card WHERE deleted IS NULL GROUP BY 1, 2, 3, 4;
             DELETE FROM quarter_hour;
             INSERT INTO quarter_hour (id, answers, passed, taken_ms, again, hard, good, easy, young,
                young_passed, mature, mature_passed, introduced)
                SELECT id / 900000, count(*), sum(rating > 1), sum(taken_ms),
                sum(rating = 1), sum(rating = 2), sum(rating = 3), sum(rating = 4),
                sum(kind IN (1, 3) AND last_interval < 21), sum(kind IN (1, 3) AND last_interval < 21 AND rating > 1),
                sum(kind IN (1, 3) AND last_interval >= 21), sum(kind IN (1, 3) AND last_interval >= 21 AND rating > 1),
                sum(kind = 0 AND last_interval = 0
                    AND NOT EXISTS (SELECT 1 FROM review f WHERE f.card = r.card AND f.rating > 0 AND f.id < r.id))
                FROM review r WHERE rating > 0 GROUP BY 1;",
        )?;
        Ok(())
    }

    pub(super) fn drop_triggers(&self) -> Result<()> {
        for (name, _) in statements("CREATE TRIGGER", TRIGGERS) {
            self.connection.execute_batch(&format!("DROP TRIGGER IF EXISTS {name}"))?;
        }
        Ok(())
    }

    pub(super) fn end_bulk(&self) -> Result<()> {
        for (name, statement) in indexes() {
            let sql = "SELECT 1 FROM sqlite_schema WHERE type = 'index' AND name = ?1";
            if self.query_one(sql, [name], |_| Ok(()))?.is_none() {
                self.connection.execute_batch(statement)?;
            }
        }
        self.recount()?;
        Ok(self.connection.execute_batch(TRIGGERS)?)
    }

    /// Building an index after the rows is faster than updating it per row.
    fn drop_indexes(&self) -> Result<()> {
        for (name, _) in indexes() {
            self.connection.execute_batch(&format!("DROP INDEX {name}"))?;
        }
        Ok(())
    }
}

/// Bulk imports from this size on rebuild the indexes.
const INDEX_REBUILD_MIN_ROWS: usize = 20_000;

/// Non-unique indexes with their CREATE statements.
fn indexes() -> impl Iterator<Item = (&'static str, &'static str)> {
    statements("CREATE INDEX", SCHEMA)
}

/// Object names and lines of the statements that start with `what`.
fn statements(
    what: &'static str,
    sql: &'static str,
) -> impl Iterator<Item = (&'static str, &'static str)> {
    sql.lines().filter(move |line| line.starts_with(what)).filter_map(|line| {
        let name = line.split(' ').nth(2)?;
        Some((name, line))
    })
}

impl StoreWriter for Transaction<'_> {
    fn put_deck(&mut self, deck: &Deck) -> Result<()> {
        let options = deck.options.as_ref().map(json).transpose()?;
        let filter = deck.filter.as_ref().map(json).transpose()?;
        let batch = self.batch();
        let sql =
            "INSERT INTO deck (id, name, folded, description, options, filter, created, modified,
                version, deleted, batch)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
            ON CONFLICT (id) DO UPDATE SET name = ?2, folded = ?3, description = ?4, options = ?5,
                filter = ?6, modified = ?8, version = ?9, deleted = ?10";
        let row = (
            deck.id.0,
            deck.name.as_str(),
            deck.name.folded(),
            &deck.description,
            options,
            filter,
            deck.created,
            deck.modified,
            deck.version,
            deck.deleted,
            batch,
        );
        self.put(Table::Deck, deck.id.0, sql, row)
    }

    fn put_note_type(&mut self, note_type: &NoteType) -> Result<()> {
        let (fields, templates) = (json(&note_type.fields)?, json(&note_type.templates)?);
        let config = json(&note_type.config)?;
        let batch = self.batch();
        let sql = "INSERT INTO note_type (id, name, cloze, fields, templates, css, batch, config)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
            ON CONFLICT (id) DO UPDATE SET name = ?2, cloze = ?3, fields = ?4, templates = ?5,
                css = ?6, config = ?8";
        let row = (
            note_type.id.0,
            &note_type.name,
            note_type.cloze,
            fields,
            templates,
            &note_type.css,
            batch,
            config,
        );
        self.put(Table::NoteType, note_type.id.0, sql, row)
    }

    fn delete_note_type(&mut self, id: NoteTypeId) -> Result<()> {
        self.put(Table::NoteType, id.0, "DELETE FROM note_type WHERE id = ?1", [id.0])
    }

    fn put_ordinal(&mut self, card: CardId, ordinal: u32) -> Result<()> {
        let sql = "UPDATE card SET ordinal = ?2 WHERE id = ?1";
        self.put(Table::Card, card.0, sql, (card.0, ordinal))
    }

    fn put_note(&mut self, note: &Note) -> Result<()> {
        let fields = note.fields.join(&FIELD_SEPARATOR.to_string());
        let tags = note::join_tags(&note.tags);
        let checksum = note::checksum(note.fields.first().map_or("", String::as_str));
        let batch = self.batch();
        let sql = "INSERT INTO note (id, guid, note_type, fields, tags, checksum, source, created, modified,
                version, deleted, batch)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)
            ON CONFLICT (id) DO UPDATE SET guid = ?2, note_type = ?3, fields = ?4, tags = ?5,
                checksum = ?6, source = ?7, modified = ?9, version = ?10, deleted = ?11";
        let row = (
            note.id.0,
            &note.guid,
            note.note_type.0,
            fields,
            tags,
            checksum,
            &note.source,
            note.created,
            note.modified,
            note.version,
            note.deleted,
            batch,
        );
        self.put(Table::Note, note.id.0, sql, row)?;
        self.changed_notes.add(note.id.0);
        self.tag_note(note.id, &note.tags, note.deleted.is_some())
    }

    fn put_past_content(&mut self, note: NoteId, past: &PastContent) -> Result<()> {
        let id = self.next_row("past_content")?;
        let row = (
            id,
            note.0,
            past.version,
            past.fields.join(&FIELD_SEPARATOR.to_string()),
            past.tags.join(" "),
            past.replaced,
        );
        self.put(
            Table::PastContent,
            id,
            "INSERT INTO past_content (id, note, version, fields, tags, replaced)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            row,
        )
    }

    fn put_card(&mut self, card: &Card) -> Result<()> {
        let batch = self.batch();
        self.touch(Table::Card, card.id.0)?;
        // Setting `deleted` makes SQLite update every partial index on it, even if the value is
        // unchanged.
        let sets_deleted = self.bulk || card.deleted.is_some() || self.is_deleted(card)?;
        let deleted = if sets_deleted { ", deleted = ?22" } else { "" };
        let sql = format!(
            "INSERT INTO card (id, note, ordinal, deck, position, phase, step, stability, difficulty,
                last_review, due, interval_days, reps, lapses, ease, flag, hold, held_until,
                sequence, created, modified, deleted, batch, custom)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13,
                ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24)
            ON CONFLICT (id) DO UPDATE SET deck = ?4, position = ?5, phase = ?6, step = ?7,
                stability = ?8, difficulty = ?9, last_review = ?10, due = ?11, interval_days = ?12,
                reps = ?13, lapses = ?14, ease = ?15, flag = ?16, hold = ?17, held_until = ?18,
                sequence = ?19, modified = ?21, custom = ?24{deleted}"
        );
        let schedule = &card.schedule;
        let memory = schedule.memory;
        self.connection.prepare_cached(&sql)?.execute(rusqlite::params![
            card.id.0,
            card.note.0,
            card.ordinal,
            card.deck.0,
            card.position,
            phase_code(schedule.phase),
            schedule.step,
            memory.map(|memory| memory.stability),
            memory.map(|memory| memory.difficulty),
            schedule.last_review,
            schedule.due,
            schedule.interval_days,
            card.reps,
            card.lapses,
            card.ease,
            card.flag,
            card.hold.code(),
            card.held_until,
            card.sequence,
            card.created,
            card.modified,
            card.deleted,
            batch,
            card.custom,
        ])?;
        self.changed += 1;
        Ok(())
    }

    fn put_review(&mut self, review: &Review) -> Result<()> {
        let (token, outcome) = review
            .stored_outcome
            .as_ref()
            .map(|stored_outcome| (&stored_outcome.token, &stored_outcome.outcome))
            .unzip();
        let batch = self.batch();
        let sql = "INSERT INTO review (id, card, rating, kind, interval, last_interval, factor,
                taken_ms, predicted, felt, token, outcome, batch)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)";
        let row = (
            review.id.0,
            review.card.0,
            review.rating,
            review.kind.code(),
            review.interval,
            review.last_interval,
            review.factor,
            review.taken_ms,
            review.predicted,
            review.felt,
            token,
            outcome,
            batch,
        );
        self.put(Table::Review, review.id.0, sql, row)
    }

    fn replace_review(&mut self, review: &Review) -> Result<()> {
        // Not an UPDATE: triggers count what is inserted and deleted.
        self.touch(Table::Review, review.id.0)?;
        self.connection
            .prepare_cached("DELETE FROM review WHERE id = ?1 AND card = ?2")?
            .execute((review.id.0, review.card.0))?;
        self.put_review(review)
    }

    fn put_tally(&mut self, deck: DeckId, day: i64, tally: Tally) -> Result<()> {
        let known = self.query_one(
            "SELECT id FROM tally WHERE deck = ?1 AND day = ?2",
            (deck.0, day),
            |row| row.get(0),
        )?;
        let id = match known {
            Some(id) => id,
            None => self.next_row("tally")?,
        };
        let sql = "INSERT INTO tally (id, deck, day, new, reviews)
            VALUES (?1, ?2, ?3, ?4, ?5)
            ON CONFLICT (id) DO UPDATE SET new = ?4, reviews = ?5";
        self.put(Table::Tally, id, sql, (id, deck.0, day, tally.new, tally.reviews))
    }

    fn put_session(&mut self, session: &Session) -> Result<()> {
        let sql =
            "INSERT INTO session (id, deck, started, ended, card_limit, answered, passed, taken_ms)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
            ON CONFLICT (id) DO UPDATE SET ended = ?4, answered = ?6, passed = ?7, taken_ms = ?8";
        let row = (
            session.id.0,
            session.deck.map(|deck| deck.0),
            session.started,
            session.ended,
            session.card_limit,
            session.answered,
            session.passed,
            session.taken_ms,
        );
        self.put(Table::Session, session.id.0, sql, row)
    }

    fn put_learner(&mut self, settings: &LearnerSettings) -> Result<()> {
        let sql = "INSERT INTO learner (id, settings)
            VALUES (1, ?1)
            ON CONFLICT (id) DO UPDATE SET settings = ?1";
        let settings = json(settings)?;
        self.put(Table::Learner, 1, sql, [settings])
    }

    fn changes(&self) -> u64 {
        self.changed
    }

    fn put_media(&mut self, name: &str, bytes: &[u8], now: Micros) -> Result<MediaFile> {
        self.connection
            .prepare_cached("INSERT INTO media_content (added, bytes) VALUES (?1, ?2)")?
            .execute((now, bytes))?;
        let content = self.connection.last_insert_rowid();
        let id = self.next_row("media_file")?;
        let batch = self.batch();
        let sql = "INSERT INTO media_file (id, name, content, added, deleted, batch)
            VALUES (?1, ?2, ?3, ?4, NULL, ?5)";
        self.put(Table::MediaFile, id, sql, (id, name, content, now, batch))?;
        self.media_file(name)?.ok_or_else(|| NoemaError::store("a media file was not stored"))
    }

    fn delete_media(&mut self, name: &str, now: Micros) -> Result<bool> {
        let Some(file) = self.media_file(name)? else { return Ok(false) };
        let sql = "UPDATE media_file SET deleted = ?2 WHERE id = ?1";
        self.put(Table::MediaFile, file.id.0, sql, (file.id.0, now))?;
        Ok(true)
    }

    fn next_id(&mut self, now: Micros) -> Result<i64> {
        if self.last_id == 0 {
            let sql = "SELECT max(ifnull((SELECT max(id) FROM card), 0), ifnull((SELECT max(id) FROM note), 0),
                ifnull((SELECT max(id) FROM deck), 0), ifnull((SELECT max(id) FROM review), 0),
                ifnull((SELECT max(id) FROM session), 0), ifnull((SELECT max(id) FROM note_type), 0))";
            self.last_id = self.query_one(sql, (), |row| row.get(0))?.unwrap_or(0);
        }
        self.last_id = (self.last_id + 1).max(now.div_euclid(1000));
        Ok(self.last_id)
    }

    fn begin_bulk(&mut self, rows: usize) -> Result<Rc<ExistingIds>> {
        if let Some(known) = &self.known {
            return Ok(Rc::clone(known));
        }
        let ids = |table: &str| -> Result<HashSet<i64>> {
            let ids = self.query_all(&format!("SELECT id FROM {table}"), (), |row| row.get(0))?;
            Ok(ids.into_iter().collect())
        };
        let sql = "SELECT guid, id FROM note WHERE deleted IS NULL";
        let guids = self.query_all(sql, (), |row| Ok((row.get(0)?, NoteId(row.get(1)?))))?;
        let known = Rc::new(ExistingIds {
            notes: ids("note")?,
            cards: ids("card")?,
            reviews: ids("review")?,
            guids: guids.into_iter().collect(),
        });
        if rows > INDEX_REBUILD_MIN_ROWS && rows > known.cards.len() + known.notes.len() {
            self.drop_indexes()?;
        }
        self.drop_triggers()?;
        self.bulk = true;
        self.changed_notes = ChangedNotes::Many;
        self.known = Some(Rc::clone(&known));
        Ok(known)
    }

    fn undo(&mut self, action: ActionId, now: Micros) -> Result<u64> {
        self.undo_action(action, now)
    }

    #[cfg(feature = "tools")]
    fn record_call(&mut self, record: &MutationRecord) -> Result<()> {
        let mutations = self
            .mutations
            .ok_or_else(|| NoemaError::store("a call is recorded in a write transaction only"))?;
        Ok(mutations.insert(self.connection, record)?)
    }

    fn purge(&mut self, before: Micros) -> Result<u64> {
        let expired = "deleted IS NOT NULL AND deleted < ?1";
        for (table, of) in [("review", "card"), ("past_content", "note")] {
            let sql =
                format!("DELETE FROM {table} WHERE {of} IN (SELECT id FROM {of} WHERE {expired})");
            self.connection.execute(&sql, [before])?;
        }
        let mut deleted = 0;
        for table in ["card", "note", "deck", "media_file"] {
            let sql = format!("DELETE FROM {table} WHERE {expired}");
            deleted += self.connection.execute(&sql, [before])?;
        }
        let sql = "DELETE FROM media_content WHERE added < ?1 AND id NOT IN (SELECT content FROM media_file)";
        self.connection.execute(sql, [before])?;
        // Undoing such an action would restore only part of its rows.
        self.connection.execute("DELETE FROM action WHERE id < ?1", [before.div_euclid(1000)])?;
        Ok(len_to_u64(deleted))
    }
}

fn json(value: &impl serde::Serialize) -> Result<String> {
    serde_json::to_string(value).map_err(|error| NoemaError::store(error.to_string()))
}
