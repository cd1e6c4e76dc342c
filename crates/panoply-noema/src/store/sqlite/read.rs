//! Reading rows into domain types.

use std::collections::BTreeMap;

use rusqlite::{OptionalExtension, Params, Row, ToSql};

use super::Transaction;
use crate::card::{Card, Hold, Review, ReviewKind, StoredOutcome};
use crate::deck::{Deck, DeckName};
use crate::error::{NoemaError, Result};
use crate::fsrs::{Memory, Micros, Phase, Schedule, Zone};
use crate::ids::{ActionId, CardId, DeckId, MediaId, NoteId, NoteTypeId, ReviewId, SessionId};
use crate::learner::LearnerSettings;
use crate::media::{self, MediaFile};
use crate::note::{FIELD_SEPARATOR, Note, NoteType, PastContent};
use crate::search::Node;
use crate::store::{
    Action, LaneCount, LogEntry, QuarterHour, QueuedCard, SearchContext, SearchResult, Session,
    SortOrder, StoreReader, Tally,
};

pub(super) const DECK: &str =
    "id, name, description, options, filter, created, modified, version, deleted";
const NOTE: &str = "id, guid, note_type, fields, tags, source, created, modified, version, deleted";
pub(super) const CARD: &str = "id, note, ordinal, deck, position, phase, step, stability, difficulty, last_review, due, interval_days, reps, lapses, ease, flag, hold, held_until, sequence, created, modified, deleted, custom";
const REVIEW: &str = "r.id, r.card, r.rating, r.kind, r.interval, r.last_interval, r.factor, r.taken_ms, r.predicted, r.felt, r.token, r.outcome";

/// The first 512 bytes tell the format; SQLite reads no more of a blob than is asked for.
const MEDIA: &str = "SELECT f.id, f.name, f.added, length(c.bytes), substr(c.bytes, 1, 512)
    FROM media_file f JOIN media_content c ON c.id = f.content WHERE f.deleted IS NULL";

/// Bucket size of the counts in microseconds; every time zone offset is a multiple.
const QUARTER_HOUR: Micros = 900_000_000;

impl Transaction<'_> {
    pub(super) fn query_one<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>> {
        Ok(self.connection.prepare_cached(sql)?.query_row(params, read).optional()?)
    }

    pub(super) fn query_all<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>> {
        let mut statement = self.connection.prepare_cached(sql)?;
        let rows = statement.query_map(params, read)?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    pub(super) fn stored_secret(&self) -> Result<Vec<u8>> {
        self.query_one("SELECT value FROM meta WHERE key = 'secret'", (), |row| row.get(0))?
            .ok_or_else(|| NoemaError::store("the collection has no token secret"))
    }
}

impl StoreReader for Transaction<'_> {
    fn version(&self) -> Result<u64> {
        let others: i64 = self.query_one("PRAGMA data_version", (), |row| row.get(0))?.unwrap_or(0);
        Ok((others.cast_unsigned() << 32) + self.own_changes)
    }

    fn deck_by_name(&self, folded: &str) -> Result<Option<Deck>> {
        let sql = format!("SELECT {DECK} FROM deck WHERE folded = ?1 AND deleted IS NULL");
        self.query_one(&sql, [folded], deck)
    }

    fn deck(&self, id: DeckId) -> Result<Option<Deck>> {
        self.query_one(&format!("SELECT {DECK} FROM deck WHERE id = ?1"), [id.0], deck)
    }

    fn decks(&self) -> Result<Vec<Deck>> {
        self.query_all(
            &format!("SELECT {DECK} FROM deck WHERE deleted IS NULL ORDER BY folded"),
            (),
            deck,
        )
    }

    fn note_type(&self, id: NoteTypeId) -> Result<Option<NoteType>> {
        self.query_one("SELECT * FROM note_type WHERE id = ?1", [id.0], note_type)
    }

    fn note_types(&self) -> Result<Vec<NoteType>> {
        self.query_all("SELECT * FROM note_type ORDER BY id", (), note_type)
    }

    fn note(&self, id: NoteId) -> Result<Option<Note>> {
        self.query_one(&format!("SELECT {NOTE} FROM note WHERE id = ?1"), [id.0], note)
    }

    fn note_by_guid(&self, guid: &str) -> Result<Option<Note>> {
        self.query_one(
            &format!("SELECT {NOTE} FROM note WHERE guid = ?1 AND deleted IS NULL"),
            [guid],
            note,
        )
    }

    fn notes_with_checksum(&self, checksum: i64) -> Result<Vec<Note>> {
        let sql =
            format!("SELECT {NOTE} FROM note WHERE checksum = ?1 AND deleted IS NULL ORDER BY id");
        self.query_all(&sql, [checksum], note)
    }

    fn past_contents(&self, note: NoteId) -> Result<Vec<PastContent>> {
        let sql = "SELECT version, fields, tags, replaced FROM past_content WHERE note = ?1 ORDER BY version DESC";
        self.query_all(sql, [note.0], |row| {
            Ok(PastContent {
                version: row.get(0)?,
                fields: split_fields(&row.get::<_, String>(1)?),
                tags: split_tags(&row.get::<_, String>(2)?),
                replaced: row.get(3)?,
            })
        })
    }

    fn card(&self, id: CardId) -> Result<Option<Card>> {
        self.query_one(&format!("SELECT {CARD} FROM card WHERE id = ?1"), [id.0], card)
    }

    fn cards_of(&self, note: NoteId) -> Result<Vec<Card>> {
        let sql =
            format!("SELECT {CARD} FROM card WHERE note = ?1 AND deleted IS NULL ORDER BY ordinal");
        self.query_all(&sql, [note.0], card)
    }

    fn cards_in(&self, deck: DeckId) -> Result<Vec<Card>> {
        let sql =
            format!("SELECT {CARD} FROM card WHERE deck = ?1 AND deleted IS NULL ORDER BY id");
        self.query_all(&sql, [deck.0], card)
    }

    fn for_each_note(&self, visit: &mut dyn FnMut(Note) -> Result<()>) -> Result<()> {
        let sql = format!("SELECT {NOTE} FROM note WHERE deleted IS NULL ORDER BY id");
        let mut statement = self.connection.prepare_cached(&sql)?;
        let mut rows = statement.query(())?;
        while let Some(row) = rows.next()? {
            visit(note(row)?)?;
        }
        Ok(())
    }

    fn answered_cards(&self) -> Result<Vec<Card>> {
        let sql = format!(
            "SELECT {CARD} FROM card WHERE stability IS NOT NULL AND deleted IS NULL ORDER BY id"
        );
        self.query_all(&sql, (), card)
    }

    fn search(
        &self,
        query: &Node,
        context: SearchContext,
        order: SortOrder,
        offset: u64,
        limit: u64,
    ) -> Result<SearchResult> {
        self.find(query, context, order, offset, limit)
    }

    fn lanes(&self, deck: DeckId, until: Micros) -> Result<Vec<LaneCount>> {
        let sql = "SELECT hold, phase, cards, ifnull((SELECT sum(d.cards) FROM due_count d
            WHERE d.deck = l.deck AND d.hold = l.hold AND d.phase = l.phase AND d.bucket <= ?2), 0)
            FROM lane_count l WHERE deck = ?1 AND cards > 0";
        self.query_all(sql, (deck.0, until.div_euclid(QUARTER_HOUR)), |row| {
            Ok(LaneCount {
                hold: hold(row, 0)?,
                phase: phase(row, 1)?,
                cards: row.get(2)?,
                due: row.get(3)?,
            })
        })
    }

    fn ended_burials(&self, now: Micros) -> Result<Vec<Card>> {
        let sql = format!(
            "SELECT {CARD} FROM card WHERE hold IN (2, 3) AND held_until <= ?1 AND deleted IS NULL"
        );
        self.query_all(&sql, [now], card)
    }

    fn queued_cards(
        &self,
        deck: DeckId,
        phase: Phase,
        now: Micros,
        until: Micros,
        limit: u64,
    ) -> Result<Vec<QueuedCard>> {
        // Available cards have no hold or an expired burial. Each branch is an ordered index scan,
        // so SQLite merges them and stops at the limit.
        let sql = "SELECT id, note, ordinal, due FROM card
                WHERE deck = ?1 AND hold = 0 AND phase = ?2 AND due <= ?4 AND deleted IS NULL
            UNION ALL SELECT id, note, ordinal, due FROM card
                WHERE deck = ?1 AND hold = 2 AND phase = ?2 AND due <= ?4 AND deleted IS NULL
                  AND held_until <= ?3
            UNION ALL SELECT id, note, ordinal, due FROM card
                WHERE deck = ?1 AND hold = 3 AND phase = ?2 AND due <= ?4 AND deleted IS NULL
                  AND held_until <= ?3
            ORDER BY due, note, ordinal LIMIT ?5";
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        self.query_all(sql, (deck.0, phase_code(phase), now, until, limit), |row| {
            Ok(QueuedCard {
                card: CardId(row.get(0)?),
                note: NoteId(row.get(1)?),
                deck,
                ordinal: row.get(2)?,
                due: row.get(3)?,
            })
        })
    }

    fn due_dates(&self, deck: Option<DeckId>, until: Micros) -> Result<Vec<Micros>> {
        let sql = "SELECT due FROM card WHERE (?1 IS NULL OR deck = ?1) AND hold = 0 AND phase > 0
            AND due <= ?2 AND deleted IS NULL ORDER BY due";
        self.query_all(sql, (deck.map(|deck| deck.0), until), |row| row.get(0))
    }

    fn tally(&self, deck: DeckId, day: i64) -> Result<Tally> {
        let sql = "SELECT new, reviews FROM tally WHERE deck = ?1 AND day = ?2";
        let found = self.query_one(sql, (deck.0, day), |row| {
            Ok(Tally { new: row.get(0)?, reviews: row.get(1)? })
        })?;
        Ok(found.unwrap_or_default())
    }

    fn reviews_of(&self, card: CardId) -> Result<Vec<Review>> {
        self.query_all(
            &format!("SELECT {REVIEW} FROM review r WHERE r.card = ?1 ORDER BY r.id"),
            [card.0],
            review,
        )
    }

    fn log(&self, from: Micros, to: Micros, decks: Option<&[DeckId]>) -> Result<Vec<LogEntry>> {
        let ids: Option<Vec<String>> =
            decks.map(|decks| decks.iter().map(|deck| deck.0.to_string()).collect());
        let inside = ids.map_or_else(String::new, |ids| {
            format!("AND card IN (SELECT id FROM card WHERE deck IN ({}))", ids.join(", "))
        });
        let sql = format!(
            "SELECT id, card, rating, kind, last_interval, taken_ms FROM review
            WHERE id >= ?1 AND id < ?2 {inside} ORDER BY id"
        );
        self.query_all(&sql, (from.div_euclid(1000), to.div_euclid(1000)), |row| {
            Ok(LogEntry {
                at: row.get::<_, i64>(0)?.saturating_mul(1000),
                card: CardId(row.get(1)?),
                rating: row.get(2)?,
                kind: ReviewKind::from_code(row.get(3)?),
                last_interval: saturate_i32(row.get(4)?),
                taken_ms: saturate_i32(row.get(5)?),
            })
        })
    }

    fn quarter_hours(&self, from: Micros, to: Micros) -> Result<Vec<QuarterHour>> {
        let sql =
            "SELECT * FROM quarter_hour WHERE id >= ?1 AND id < ?2 AND answers > 0 ORDER BY id";
        let end = to.div_euclid(QUARTER_HOUR) + i64::from(to.rem_euclid(QUARTER_HOUR) > 0);
        self.query_all(sql, (from.div_euclid(QUARTER_HOUR), end), |row| {
            let count = |column: usize| row.get::<_, i64>(column).map(i64::cast_unsigned);
            Ok(QuarterHour {
                start: row.get::<_, i64>(0)?.saturating_mul(QUARTER_HOUR),
                answers: count(1)?,
                passed: count(2)?,
                taken_ms: row.get(3)?,
                ratings: [count(4)?, count(5)?, count(6)?, count(7)?],
                young: (count(8)?, count(9)?),
                mature: (count(10)?, count(11)?),
                introduced: count(12)?,
            })
        })
    }

    fn reviews_between(&self, from: Micros, to: Micros) -> Result<Vec<(Review, DeckId)>> {
        let sql = format!(
            "SELECT {REVIEW}, c.deck FROM review r JOIN card c ON c.id = r.card
            WHERE r.id >= ?1 AND r.id < ?2 ORDER BY r.id"
        );
        self.query_all(&sql, (from.div_euclid(1000), to.div_euclid(1000)), |row| {
            Ok((review(row)?, DeckId(row.get(12)?)))
        })
    }

    fn review_with_token(&self, card: CardId, token: &str) -> Result<Option<Review>> {
        let sql = format!("SELECT {REVIEW} FROM review r WHERE r.card = ?1 AND r.token = ?2");
        self.query_one(&sql, (card.0, token), review)
    }

    fn last_review_time(&self) -> Result<Option<Micros>> {
        let last =
            self.query_one("SELECT max(id) FROM review", (), |row| row.get::<_, Option<i64>>(0))?;
        Ok(last.flatten().map(|millis| millis.saturating_mul(1000)))
    }

    fn session(&self, id: SessionId) -> Result<Option<Session>> {
        self.query_one("SELECT * FROM session WHERE id = ?1", [id.0], |row| {
            Ok(Session {
                id: SessionId(row.get(0)?),
                deck: row.get::<_, Option<i64>>(1)?.map(DeckId),
                started: row.get(2)?,
                ended: row.get(3)?,
                card_limit: row.get(4)?,
                answered: row.get(5)?,
                passed: row.get(6)?,
                taken_ms: row.get(7)?,
            })
        })
    }

    fn action(&self, id: ActionId) -> Result<Option<Action>> {
        self.query_one(
            "SELECT id, tool, summary, at, undone, changed, actor FROM action WHERE id = ?1",
            [id.0],
            action,
        )
    }

    fn actions(&self, limit: u32) -> Result<Vec<Action>> {
        let sql = "SELECT id, tool, summary, at, undone, changed, actor FROM action ORDER BY id DESC LIMIT ?1";
        self.query_all(sql, [limit], action)
    }

    fn tags(&self) -> Result<BTreeMap<String, u64>> {
        let sql = "SELECT tag, count(*) FROM note_tag GROUP BY tag";
        let rows = self.query_all(sql, (), |row| {
            Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?.cast_unsigned()))
        })?;
        Ok(rows.into_iter().collect())
    }

    fn media_files(&self) -> Result<Vec<MediaFile>> {
        self.query_all(&format!("{MEDIA} ORDER BY f.name"), (), media_file)
    }

    fn media_file(&self, name: &str) -> Result<Option<MediaFile>> {
        self.query_one(&format!("{MEDIA} AND f.name = ?1"), [name], media_file)
    }

    fn media(&self, name: &str) -> Result<Option<Vec<u8>>> {
        let sql = "SELECT c.bytes FROM media_file f JOIN media_content c ON c.id = f.content
            WHERE f.deleted IS NULL AND f.name = ?1";
        self.query_one(sql, [name], |row| row.get(0))
    }

    fn learner(&self) -> Result<LearnerSettings> {
        let sql = "SELECT settings FROM learner WHERE id = 1";
        Ok(self.query_one(sql, (), |row| json(row, 0))?.unwrap_or_default())
    }

    fn learner_zone(&self) -> Result<Zone> {
        Ok(self.learner()?.time_zone.unwrap_or(self.default_zone))
    }

    fn next_due(&self, deck: DeckId, after: Micros) -> Result<Option<Micros>> {
        // One lookup per phase in the index on lanes.
        let sql = "SELECT min(due) FROM (
            SELECT min(due) AS due FROM card WHERE deck = ?1 AND hold = 0 AND phase = 1 AND due > ?2 AND deleted IS NULL
            UNION ALL SELECT min(due) FROM card WHERE deck = ?1 AND hold = 0 AND phase = 2 AND due > ?2 AND deleted IS NULL
            UNION ALL SELECT min(due) FROM card WHERE deck = ?1 AND hold = 0 AND phase = 3 AND due > ?2 AND deleted IS NULL)";
        Ok(self.query_one(sql, (deck.0, after), |row| row.get(0))?.flatten())
    }

    fn secret(&self) -> Result<Vec<u8>> {
        self.secret.map_or_else(|| self.stored_secret(), |secret| Ok(secret.to_vec()))
    }
}

fn deck(row: &Row<'_>) -> rusqlite::Result<Deck> {
    let name: String = row.get(1)?;
    Ok(Deck {
        id: DeckId(row.get(0)?),
        name: DeckName::parse(&name).map_err(|error| unreadable(1, error))?,
        description: row.get(2)?,
        options: json(row, 3)?,
        filter: json(row, 4)?,
        created: row.get(5)?,
        modified: row.get(6)?,
        version: row.get(7)?,
        deleted: row.get(8)?,
    })
}

fn media_file(row: &Row<'_>) -> rusqlite::Result<MediaFile> {
    let name: String = row.get(1)?;
    let start: Vec<u8> = row.get(4)?;
    Ok(MediaFile {
        id: MediaId(row.get(0)?),
        format: media::format_of(&name, &start),
        name,
        added: row.get(2)?,
        size: row.get::<_, i64>(3)?.cast_unsigned(),
    })
}

fn note_type(row: &Row<'_>) -> rusqlite::Result<NoteType> {
    Ok(NoteType {
        id: NoteTypeId(row.get(0)?),
        name: row.get(1)?,
        cloze: row.get(2)?,
        fields: json(row, 3)?,
        templates: json(row, 4)?,
        css: row.get(5)?,
        config: json(row, 7)?,
    })
}

fn note(row: &Row<'_>) -> rusqlite::Result<Note> {
    Ok(Note {
        id: NoteId(row.get(0)?),
        guid: row.get(1)?,
        note_type: NoteTypeId(row.get(2)?),
        fields: split_fields(row.get_ref(3)?.as_str()?),
        tags: split_tags(row.get_ref(4)?.as_str()?),
        source: row.get(5)?,
        created: row.get(6)?,
        modified: row.get(7)?,
        version: row.get(8)?,
        deleted: row.get(9)?,
    })
}

pub(super) fn card(row: &Row<'_>) -> rusqlite::Result<Card> {
    let stability: Option<f64> = row.get(7)?;
    let difficulty: Option<f64> = row.get(8)?;
    let memory =
        stability.zip(difficulty).map(|(stability, difficulty)| Memory { stability, difficulty });
    Ok(Card {
        id: CardId(row.get(0)?),
        note: NoteId(row.get(1)?),
        ordinal: row.get(2)?,
        deck: DeckId(row.get(3)?),
        position: row.get(4)?,
        schedule: Schedule {
            phase: phase(row, 5)?,
            step: row.get(6)?,
            memory,
            last_review: row.get(9)?,
            due: row.get(10)?,
            interval_days: row.get(11)?,
        },
        reps: row.get(12)?,
        lapses: row.get(13)?,
        ease: row.get(14)?,
        flag: row.get(15)?,
        hold: hold(row, 16)?,
        held_until: row.get(17)?,
        sequence: row.get(18)?,
        created: row.get(19)?,
        modified: row.get(20)?,
        deleted: row.get(21)?,
        custom: row.get(22)?,
    })
}

fn review(row: &Row<'_>) -> rusqlite::Result<Review> {
    let token: Option<String> = row.get(10)?;
    let outcome: Option<String> = row.get(11)?;
    Ok(Review {
        id: ReviewId(row.get(0)?),
        card: CardId(row.get(1)?),
        rating: row.get(2)?,
        kind: ReviewKind::from_code(row.get(3)?),
        interval: row.get(4)?,
        last_interval: row.get(5)?,
        factor: row.get(6)?,
        taken_ms: row.get(7)?,
        predicted: row.get(8)?,
        felt: row.get(9)?,
        stored_outcome: token.zip(outcome).map(|(token, outcome)| StoredOutcome { token, outcome }),
    })
}

fn action(row: &Row<'_>) -> rusqlite::Result<Action> {
    Ok(Action {
        id: ActionId(row.get(0)?),
        tool: row.get(1)?,
        summary: row.get(2)?,
        at: row.get(3)?,
        undone: row.get(4)?,
        changes: row.get::<_, i64>(5)?.cast_unsigned(),
        actor: row.get(6)?,
    })
}

fn json<T: serde::de::DeserializeOwned>(row: &Row<'_>, column: usize) -> rusqlite::Result<T> {
    let text: Option<String> = row.get(column)?;
    serde_json::from_str(text.as_deref().unwrap_or("null"))
        .map_err(|error| unreadable(column, error))
}

fn unreadable(
    column: usize,
    error: impl std::error::Error + Send + Sync + 'static,
) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, rusqlite::types::Type::Text, Box::new(error))
}

fn phase(row: &Row<'_>, column: usize) -> rusqlite::Result<Phase> {
    let code: i64 = row.get(column)?;
    match code {
        0 => Ok(Phase::New),
        1 => Ok(Phase::Learning),
        2 => Ok(Phase::Review),
        3 => Ok(Phase::Relearning),
        other => Err(rusqlite::Error::IntegralValueOutOfRange(column, other)),
    }
}

fn hold(row: &Row<'_>, column: usize) -> rusqlite::Result<Hold> {
    let code = row.get(column)?;
    Hold::from_code(code).ok_or(rusqlite::Error::IntegralValueOutOfRange(column, code))
}

pub(super) const fn phase_code(phase: Phase) -> i64 {
    match phase {
        Phase::New => 0,
        Phase::Learning => 1,
        Phase::Review => 2,
        Phase::Relearning => 3,
    }
}

/// Saturates out-of-range intervals and times.
fn saturate_i32(number: i64) -> i32 {
    i32::try_from(number).unwrap_or(if number < 0 { i32::MIN } else { i32::MAX })
}

fn split_fields(text: &str) -> Vec<String> {
    text.split(FIELD_SEPARATOR).map(str::to_owned).collect()
}

fn split_tags(text: &str) -> Vec<String> {
    text.split(' ').filter(|tag| !tag.is_empty()).map(str::to_owned).collect()
}

/// A bound parameter.
pub(super) type Value = Box<dyn ToSql>;
