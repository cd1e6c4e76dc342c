CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
INSERT INTO meta VALUES ('secret', randomblob(32)), ('note changes', 0);

CREATE TABLE deck (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL, folded TEXT NOT NULL, description TEXT NOT NULL,
    options TEXT, filter TEXT, created INTEGER NOT NULL, modified INTEGER NOT NULL,
    version INTEGER NOT NULL, deleted INTEGER, batch INTEGER
) STRICT;
CREATE UNIQUE INDEX deck_by_name ON deck (folded) WHERE deleted IS NULL;

CREATE TABLE note_type (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL, cloze INTEGER NOT NULL, fields TEXT NOT NULL,
    templates TEXT NOT NULL, css TEXT NOT NULL, batch INTEGER
) STRICT;

CREATE TABLE note (
    id INTEGER PRIMARY KEY, guid TEXT NOT NULL, note_type INTEGER NOT NULL, fields TEXT NOT NULL,
    tags TEXT NOT NULL, checksum INTEGER NOT NULL, source TEXT, created INTEGER NOT NULL,
    modified INTEGER NOT NULL, version INTEGER NOT NULL, deleted INTEGER, batch INTEGER
) STRICT;
CREATE UNIQUE INDEX note_by_guid ON note (guid) WHERE deleted IS NULL;
CREATE INDEX note_by_checksum ON note (checksum);
CREATE INDEX note_by_deletion ON note (deleted) WHERE deleted IS NOT NULL;
CREATE INDEX note_by_batch ON note (batch) WHERE batch IS NOT NULL;

-- Follows from note.tags; lower case, so that a tag and what is under it are a range.
CREATE TABLE note_tag (tag TEXT NOT NULL, note INTEGER NOT NULL, PRIMARY KEY (tag, note)) STRICT, WITHOUT ROWID;
CREATE INDEX note_tag_by_note ON note_tag (note);

CREATE TABLE past_content (
    id INTEGER PRIMARY KEY, note INTEGER NOT NULL, version INTEGER NOT NULL, fields TEXT NOT NULL,
    tags TEXT NOT NULL, replaced INTEGER NOT NULL
) STRICT;
CREATE INDEX past_content_by_note ON past_content (note, version);

CREATE TABLE card (
    id INTEGER PRIMARY KEY, note INTEGER NOT NULL, ordinal INTEGER NOT NULL, deck INTEGER NOT NULL,
    position INTEGER NOT NULL, phase INTEGER NOT NULL, step INTEGER NOT NULL, stability REAL,
    difficulty REAL, last_review INTEGER, due INTEGER NOT NULL, interval_days INTEGER NOT NULL,
    reps INTEGER NOT NULL, lapses INTEGER NOT NULL, ease INTEGER NOT NULL, flag INTEGER NOT NULL,
    hold INTEGER NOT NULL, held_until INTEGER, sequence INTEGER NOT NULL, created INTEGER NOT NULL,
    modified INTEGER NOT NULL, deleted INTEGER, batch INTEGER, custom TEXT NOT NULL
) STRICT;
-- Without deleted cards, so that a search by note need not look at the card itself.
CREATE INDEX card_by_note ON card (note) WHERE deleted IS NULL;
-- New cards keep their position in `due`, so that one index gives every lane in its order.
-- It has all that the queue needs, so that no card is looked up for it.
CREATE INDEX card_by_lane ON card (deck, hold, phase, due, note, ordinal) WHERE deleted IS NULL;
CREATE INDEX card_by_deletion ON card (deleted) WHERE deleted IS NOT NULL;
CREATE INDEX card_by_batch ON card (batch) WHERE batch IS NOT NULL;
CREATE INDEX card_by_burial ON card (held_until) WHERE hold IN (2, 3);

CREATE TABLE review (
    id INTEGER PRIMARY KEY, card INTEGER NOT NULL, rating INTEGER NOT NULL, kind INTEGER NOT NULL,
    interval INTEGER NOT NULL, last_interval INTEGER NOT NULL, factor INTEGER NOT NULL,
    taken_ms INTEGER NOT NULL, predicted REAL, felt REAL, token TEXT, outcome TEXT, batch INTEGER
) STRICT;
CREATE INDEX review_by_card ON review (card);
CREATE INDEX review_by_batch ON review (batch) WHERE batch IS NOT NULL;

CREATE TABLE tally (
    id INTEGER PRIMARY KEY, deck INTEGER NOT NULL, day INTEGER NOT NULL, new INTEGER NOT NULL,
    reviews INTEGER NOT NULL, UNIQUE (deck, day)
) STRICT;

CREATE TABLE session (
    id INTEGER PRIMARY KEY, deck INTEGER, started INTEGER NOT NULL, ended INTEGER,
    card_limit INTEGER, answered INTEGER NOT NULL, passed INTEGER NOT NULL, taken_ms INTEGER NOT NULL
) STRICT;

CREATE TABLE media (name TEXT PRIMARY KEY, bytes BLOB NOT NULL, batch INTEGER) STRICT, WITHOUT ROWID;

CREATE TABLE action (
    id INTEGER PRIMARY KEY, tool TEXT NOT NULL, summary TEXT NOT NULL, at INTEGER NOT NULL,
    undone INTEGER, changed INTEGER NOT NULL, bulk INTEGER NOT NULL, images TEXT NOT NULL
) STRICT;

-- Counts that are kept as cards change. A bucket is a quarter of an hour.
CREATE TABLE lane_count (
    deck INTEGER NOT NULL, hold INTEGER NOT NULL, phase INTEGER NOT NULL, cards INTEGER NOT NULL,
    PRIMARY KEY (deck, hold, phase)
) STRICT, WITHOUT ROWID;
CREATE TABLE due_count (
    deck INTEGER NOT NULL, hold INTEGER NOT NULL, phase INTEGER NOT NULL, bucket INTEGER NOT NULL,
    cards INTEGER NOT NULL, PRIMARY KEY (deck, hold, phase, bucket)
) STRICT, WITHOUT ROWID;
CREATE TABLE quarter_hour (
    id INTEGER PRIMARY KEY, answers INTEGER NOT NULL, passed INTEGER NOT NULL, taken_ms INTEGER NOT NULL,
    again INTEGER NOT NULL, hard INTEGER NOT NULL, good INTEGER NOT NULL, easy INTEGER NOT NULL,
    young INTEGER NOT NULL, young_passed INTEGER NOT NULL, mature INTEGER NOT NULL,
    mature_passed INTEGER NOT NULL, introduced INTEGER NOT NULL
) STRICT;
